/* A ViT whose attention is changed, on Vulkan against the CPU: heads taken out with zeros or their
 * values' mean in their place, an offset, pairs of tokens cut, tokens dropped, gains, a
 * temperature. Every map, head output and logit within 1e-4. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heed/vulkan.h"
#include "model/files/safetensors.h"
#include "support/test.h"
#include "vulkan/vulkan_test.h"

#define MOST_VALUES 32

typedef struct changed_vit {
  heed_backend *backend;
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
  heed_value watched[MOST_VALUES];
  uint32_t watched_count;
} changed_vit;

static uint32_t pseudo_random(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 16;
}

/* Maps, head outputs and logits. */
static void watch(changed_vit *v) {
  heed_value_info info;
  heed_error error;
  for (uint32_t id = 1; id <= heed_graph_value_count(v->graph); id++) {
    assert_ok(heed_graph_value_info(v->graph, (heed_value){id}, &info));
    if (!info.name ||
        !(strstr(info.name, "attention.weights") || strstr(info.name, "attention.output")))
      continue;
    assert_true(v->watched_count < MOST_VALUES);
    v->watched[v->watched_count++] = (heed_value){id};
  }
}

/* One seed writes the same inputs on every backend: every eighth pair cut, every ninth token
 * dropped, head 0 of every layer taken out, an offset in its place, a gain for every head. */
static void write_changes(changed_vit *v, uint32_t seed) {
  heed_value_info info;
  heed_error error;
  for (uint32_t id = 1; id <= heed_graph_value_count(v->graph); id++) {
    assert_ok(heed_graph_value_info(v->graph, (heed_value){id}, &info));
    if (!info.is_input || strcmp(info.name, "pixel_values") == 0) continue;
    const size_t count = (size_t)heed_shape_count(&info.shape),
                 bytes = count * (info.dtype == HEED_F32 ? sizeof(float) : 1);
    const bool is_token_mask = strcmp(info.name, "token_mask") == 0;
    unsigned char *data = malloc(bytes);
    assert_non_null(data);
    for (size_t i = 0; i < count; i++) {
      const uint32_t random = pseudo_random(&seed);
      const bool is_gain = strstr(info.name, "gain") != NULL;
      const float offset = i % info.shape.dim[info.shape.rank - 1] < 8
                               ? (float)(random % 200) / 100.0f - 1.0f
                               : 0.0f,
                  value = is_gain ? (float)(random % 100) / 100.0f : offset;
      if (info.dtype == HEED_F32)
        memcpy(data + i * sizeof value, &value, sizeof value);
      else
        data[i] =
            is_token_mask ? random % 9 != 0 : random % 8 != 0 && i >= count / info.shape.dim[1];
    }
    assert_ok(heed_session_write(v->session, (heed_value){id}, data, bytes, &error));
    free(data);
  }
}

static void open_and_run(changed_vit *v, heed_model *model, const heed_build_desc *build,
                         const unsigned char *pixels, size_t pixel_bytes) {
  heed_error error;
  assert_ok(heed_model_build(model, build, &v->graph, &error));
  watch(v);
  const heed_plan_desc plan = {
      .struct_size = sizeof plan, .taps = v->watched, .tap_count = v->watched_count};
  assert_ok(heed_plan_create(v->graph, v->backend, &plan, &v->plan, &error));
  assert_ok(heed_session_create(v->plan, NULL, &v->session, &error));
  assert_ok(heed_session_write(v->session, heed_graph_find(v->graph, "pixel_values"), pixels,
                               pixel_bytes, &error));
  v->watched[v->watched_count++] = heed_graph_find(v->graph, "logits");
  write_changes(v, 20);
  assert_ok(heed_session_run(v->session, NULL, &error));
}

static void release(changed_vit *v) {
  heed_session_destroy(v->session);
  heed_plan_destroy(v->plan);
  heed_graph_destroy(v->graph);
  heed_backend_destroy(v->backend);
}

static float *read_all(const changed_vit *v, heed_value value, size_t *count) {
  heed_value_info info;
  heed_error error;
  assert_ok(heed_graph_value_info(v->graph, value, &info));
  *count = (size_t)heed_shape_count(&info.shape);
  float *values = malloc(*count * sizeof *values);
  assert_non_null(values);
  assert_ok(heed_session_read(v->session, value, 0, *count, values, &error));
  return values;
}

static void assert_same(const changed_vit *vulkan, const changed_vit *cpu, uint32_t which) {
  heed_value_info info;
  heed_error error;
  size_t count, same_count;
  float *found = read_all(vulkan, vulkan->watched[which], &count),
        *want = read_all(cpu, cpu->watched[which], &same_count);
  assert_int_equal(count, same_count);
  assert_ok(heed_graph_value_info(cpu->graph, cpu->watched[which], &info));
  for (size_t i = 0; i < count; i++)
    if (!(fabs((double)found[i] - (double)want[i]) <= 1e-4 * (1.0 + fabs((double)want[i]))))
      fail_msg("%s: element %zu: found %g, expected %g", info.name, i, (double)found[i],
               (double)want[i]);
  free(found);
  free(want);
}

static void check(heed_empty_row empty_row, float temperature) {
  heed_error error;
  heed_context *context;
  heed_model *model;
  heed_safetensors *io;
  size_t size[3];
  unsigned char *bytes[3] = {test_read_vector("vit/micro_32/config.json", &size[0]),
                             test_read_vector("vit/micro_32/model.safetensors", &size[1]),
                             test_read_vector("vit/micro_32/io.safetensors", &size[2])};
  const heed_model_file files[] = {{"config.json", {size[0], bytes[0], NULL, NULL}},
                                   {"model.safetensors", {size[1], bytes[1], NULL, NULL}}};
  const heed_model_desc desc = {sizeof desc, files, 2};
  const heed_source source = {size[2], bytes[2], NULL, NULL};
  const heed_vulkan_desc vulkan_desc = HEED_VULKAN_DESC_INIT;
  changed_vit vulkan = {0}, cpu = {0};
  assert_ok(heed_context_create(NULL, &context, &error));
  assert_ok(heed_model_open(context, &desc, &model, &error));
  assert_ok(heed_safetensors_open(context, &source, "io", &io, &error));
  const heed_safetensors_tensor *pixels = heed_safetensors_find(io, "pixel_values");
  const heed_build_desc build = {.struct_size = sizeof build,
                                 .batch = pixels->shape.dim[0],
                                 .intervene = true,
                                 .empty_row = empty_row,
                                 .temperature = temperature};
  assert_ok(heed_vulkan_backend_create(context, &vulkan_desc, &vulkan.backend, &error));
  assert_ok(heed_cpu_backend_create(context, NULL, &cpu.backend, &error));
  open_and_run(&vulkan, model, &build, bytes[2] + pixels->offset, (size_t)pixels->bytes);
  open_and_run(&cpu, model, &build, bytes[2] + pixels->offset, (size_t)pixels->bytes);
  assert_true(cpu.watched_count > 4);
  for (uint32_t i = 0; i < cpu.watched_count; i++) assert_same(&vulkan, &cpu, i);
  assert_int_equal(heed_vulkan_message_count(vulkan.backend), 0);
  release(&vulkan);
  release(&cpu);
  heed_safetensors_destroy(io);
  heed_model_destroy(model);
  heed_context_destroy(context);
  for (int i = 0; i < 3; i++) free(bytes[i]);
}

static void test_heads_out_pairs_cut_tokens_dropped(void **state) {
  (void)state;
  vulkan_test_need_device();
  check(HEED_EMPTY_ROW_ZERO, 0.0f);
}

static void test_the_mean_in_place_of_heads_and_a_temperature(void **state) {
  (void)state;
  vulkan_test_need_device();
  check(HEED_EMPTY_ROW_MEAN, 0.7f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_heads_out_pairs_cut_tokens_dropped),
      cmocka_unit_test(test_the_mean_in_place_of_heads_and_a_temperature)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
