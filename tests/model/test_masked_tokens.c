/* Tokens that nothing may attend to: a model whose registers are masked is the model without them,
 * and the pooling attention leaves out what is masked. */
#include <math.h>

#include "support/named_model.h"

/* A model built for interventions; every mask allows and every gain is 1 until written. */
typedef struct running {
  test_bytes bytes;
  heed_backend *backend;
  heed_model *model;
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
} running;

static heed_value find_value(const running *r, const char *name, uint64_t *count) {
  heed_value_info info;
  const heed_value value = heed_graph_find(r->graph, name);
  assert_int_equal(heed_graph_value_info(r->graph, value, &info), HEED_OK);
  *count = heed_shape_count(&info.shape);
  return value;
}

static void write_value(const running *r, const char *name, const void *data, size_t size) {
  uint64_t count;
  const heed_value value = find_value(r, name, &count);
  assert_ok(heed_session_write(r->session, value, data, (size_t)count * size, &error));
}

static float *read_value(const running *r, const char *name, uint64_t *count) {
  const heed_value value = find_value(r, name, count);
  float *data = malloc((size_t)*count * sizeof *data);
  assert_ok(heed_session_read(r->session, value, 0, *count, data, &error));
  return data;
}

/* Writes what changes nothing: masks and gains of 1. */
static void change_nothing(const running *r) {
  enum { MOST_BYTES = 1 << 16 };
  static unsigned char ones[MOST_BYTES];
  static float gains[64];
  memset(ones, 1, sizeof ones);
  for (size_t i = 0; i < sizeof gains / sizeof *gains; i++) gains[i] = 1.0f;
  for (uint32_t id = 1; id <= heed_graph_value_count(r->graph); id++) {
    heed_value_info info;
    assert_ok(heed_graph_value_info(r->graph, (heed_value){id}, &info));
    if (!info.is_input) continue;
    assert_true(info.dtype != HEED_U8 || heed_shape_count(&info.shape) <= MOST_BYTES);
    if (info.dtype == HEED_U8)
      write_value(r, info.name, ones, 1);
    else if (strstr(info.name, "gain"))
      write_value(r, info.name, gains, sizeof *gains);
  }
}

/* Opens the model for images of `side` x `side` pixels and writes one. */
static running open_running(const model *m, const char *config, const char *level,
                            const char *const *tap_names, uint32_t tap_count, uint32_t side) {
  static float pixels[3 * 24 * 24];
  running r = {.bytes = save(m)};
  const heed_model_file files[] = {{"model.safetensors", test_source(r.bytes.data, r.bytes.size)},
                                   {"config.json", test_source(config, strlen(config))}};
  const heed_model_desc desc = {sizeof desc, files, 2};
  const heed_build_desc build = {
      .struct_size = sizeof build, .height = side, .width = side, .intervene = true};
  const heed_cpu_desc cpu = {sizeof cpu, 1, level};
  heed_value taps[8];
  for (size_t i = 0; i < sizeof pixels / sizeof *pixels; i++)
    pixels[i] = (float)((i * 7919) % 1000) / 500.0f - 1.0f;
  assert_ok(heed_cpu_backend_create(context, &cpu, &r.backend, &error));
  assert_ok(heed_model_open(context, &desc, &r.model, &error));
  assert_ok(heed_model_build(r.model, &build, &r.graph, &error));
  for (uint32_t i = 0; i < tap_count; i++) taps[i] = heed_graph_find(r.graph, tap_names[i]);
  const heed_plan_desc plan = {.struct_size = sizeof plan, .taps = taps, .tap_count = tap_count};
  assert_ok(heed_plan_create(r.graph, r.backend, &plan, &r.plan, &error));
  assert_ok(heed_session_create(r.plan, NULL, &r.session, &error));
  change_nothing(&r);
  write_value(&r, "pixel_values", pixels, sizeof *pixels);
  return r;
}

static void close_running(running *r) {
  heed_session_destroy(r->session);
  heed_plan_destroy(r->plan);
  heed_graph_destroy(r->graph);
  heed_model_destroy(r->model);
  heed_backend_destroy(r->backend);
  free(r->bytes.data);
}

/* ----------------------------------------------------------------------------------- registers */

/* timm's rules, for both: positions have the same rule with registers and without. */
#define CONFIG \
  "{\"architecture\":\"vit_x\",\"model_args\":{\"img_size\":20,\"patch_size\":4,\"num_heads\":3}}"

/* The sum over the keys has two vectors of partial sums, per block of 64 vectors. So many registers
 * move the patches by whole pairs of vectors, and leave them in the block of CLS: each partial sum
 * then has the same terms in the same order, with zeros between. With another number the order is
 * another, and the last bits differ. */
enum { PATCHES = 36, CHANNELS = 24, HEADS = 3 };
static uint32_t register_count(const char *level) { return strcmp(level, "scalar") == 0 ? 16 : 32; }

/* Rows of CLS and of the patches are the same bits. */
static void expect_rows(const char *what, uint32_t registers, const float *without,
                        const float *with, size_t length) {
  if (memcmp(without, with, length * sizeof *with) != 0 ||
      memcmp(without + length, with + (1 + registers) * length, PATCHES * length * sizeof *with) !=
          0)
    fail_msg("%s: other bits than without registers", what);
}

static void check_registers(const char *level) {
  static const char *const taps[] = {"layer.0.attention.weights", "layer.1.attention.weights"};
  model m;
  uint64_t count;
  const uint32_t registers = register_count(level);
  unsigned char mask[1 + 32 + PATCHES];
  take_vector(&m, "timm");
  running without = open_running(&m, CONFIG, level, taps, 2, 24);
  add(&m, "reg_token", 0.5f, HEED_SHAPE(1, registers, CHANNELS));
  running with = open_running(&m, CONFIG, level, taps, 2, 24);
  assert_ok(heed_session_run(without.session, NULL, &error));
  assert_ok(heed_session_run(with.session, NULL, &error));
  float *plain = read_value(&without, "last_hidden_state", &count),
        *seen = read_value(&with, "last_hidden_state", &count);
  assert_true(memcmp(plain, seen, CHANNELS * sizeof *plain) != 0);
  memset(mask, 1, sizeof mask);
  memset(mask + 1, 0, registers);
  write_value(&with, "token_mask", mask, 1);
  assert_ok(heed_session_run(with.session, NULL, &error));
  float *masked = read_value(&with, "last_hidden_state", &count);
  expect_rows("last_hidden_state", registers, plain, masked, CHANNELS);
  for (int layer = 0; layer < 2; layer++) {
    const uint32_t keys = 1 + PATCHES, all = keys + registers;
    float *few = read_value(&without, taps[layer], &count),
          *many = read_value(&with, taps[layer], &count);
    for (uint32_t i = 0; i < HEADS * keys; i++) {
      const uint32_t query = i % keys ? i % keys + registers : 0;
      const float *row = many + ((size_t)(i / keys) * all + query) * all;
      assert_memory_equal(row, few + (size_t)i * keys, sizeof *row);
      assert_memory_equal(row + 1 + registers, few + (size_t)i * keys + 1, PATCHES * sizeof *row);
      for (uint32_t k = 1; k <= registers; k++) assert_true(row[k] == 0.0f);
    }
    free(few);
    free(many);
  }
  free(plain);
  free(seen);
  free(masked);
  close_running(&without);
  close_running(&with);
  free_model(&m);
}

static void masked_registers_are_no_registers(void **state) {
  (void)state;
  for (uint32_t l = 0; heed_cpu_level(l); l++) check_registers(heed_cpu_level(l));
}

/* ------------------------------------------------------------------------- the pooling attention
 */

/* softmax of q k / sqrt(D) over the keys that the mask leaves, in double. */
static void check_pool(const running *r, const unsigned char *mask, uint32_t heads,
                       uint32_t depth) {
  uint64_t count;
  float *weights = read_value(r, "pool.attention.weights", &count),
        *query = read_value(r, "pool.query", &count), *key = read_value(r, "pool.key", &count);
  const uint32_t keys = (uint32_t)(count / ((size_t)heads * depth));
  assert_int_equal(keys, PATCHES);
  for (uint32_t h = 0; h < heads; h++) {
    double e[PATCHES], sum = 0.0;
    for (uint32_t k = 0; k < keys; k++) {
      double dot = 0.0;
      for (uint32_t d = 0; d < depth; d++)
        dot += (double)query[h * depth + d] * (double)key[((size_t)h * keys + k) * depth + d];
      sum += e[k] = mask[k] ? exp(dot / sqrt(depth)) : 0.0;
    }
    for (uint32_t k = 0; k < keys; k++)
      if (!(fabs((double)weights[h * keys + k] - e[k] / sum) <= 2e-6))
        fail_msg("head %u key %u: found %g, expected %g", h, k, (double)weights[h * keys + k],
                 e[k] / sum);
  }
  free(weights);
  free(query);
  free(key);
}

static void the_pooling_attention_leaves_out_what_is_masked(void **state) {
  (void)state;
  static const char config[] =
      "{\"model_type\":\"siglip\",\"vision_config\":{\"hidden_size\":24,\"num_hidden_layers\":2,"
      "\"num_attention_heads\":4,\"intermediate_size\":40,\"image_size\":20,\"patch_size\":4}}";
  static const char *const taps[] = {"pool.attention.weights", "pool.query", "pool.key"};
  unsigned char mask[PATCHES];
  uint64_t count;
  model m;
  take_vector(&m, "siglip");
  running r = open_running(&m, config, NULL, taps, 3, 24);
  memset(mask, 1, sizeof mask);
  assert_ok(heed_session_run(r.session, NULL, &error));
  check_pool(&r, mask, 4, 6);
  float *before = read_value(&r, taps[0], &count);
  mask[0] = mask[7] = mask[35] = 0;
  write_value(&r, "token_mask", mask, 1);
  assert_ok(heed_session_run(r.session, NULL, &error));
  check_pool(&r, mask, 4, 6);
  float *after = read_value(&r, taps[0], &count);
  assert_true(before[7] > 0.0f && after[7] == 0.0f);
  free(before);
  free(after);
  /* its layers have heads to change; the pooling attention has none */
  assert_true(heed_graph_find(r.graph, "layer.0.attention.gain").id);
  assert_false(heed_graph_find(r.graph, "pool.attention.gain").id);
  assert_false(heed_graph_find(r.graph, "pool.attention.mask").id);
  close_running(&r);
  free_model(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(masked_registers_are_no_registers),
      cmocka_unit_test(the_pooling_attention_leaves_out_what_is_masked)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
