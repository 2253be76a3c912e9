/* What heed does with a ViT beside running it, on one vector of every family: attention in each
 * mode, rows on demand from query and key, inputs that change attention, rollout. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/vector_file.h"

enum { FILES = 2, TAPS = 32 };

typedef struct family {
  const char *folder, *config;
} family;

static const family families[] = {
#define VIT_VECTOR(folder, config) {#folder, config},
#include "vit_vectors.h"
#undef VIT_VECTOR
};

typedef struct run {
  vector_file io;
  unsigned char *bytes[FILES];
  heed_backend *backend;
  heed_model *model;
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
  heed_model_info info;
  heed_shape pixels;
  uint32_t tokens;
} run;

/* What is wanted of a session. */
typedef struct wanted {
  bool maps, parts, intervene; /* weights; query and key; inputs that change attention */
  heed_attention_mode mode;
} wanted;

static void open_model(run *r, const family *f) {
  const char *const names[FILES] = {"model.safetensors", f->config};
  heed_model_file files[FILES];
  heed_error error;
  char path[128];
  const uint32_t count = f->config ? 2 : 1;
  for (uint32_t i = 0; i < count; i++) {
    size_t size;
    snprintf(path, sizeof path, "vit/%s/%s", f->folder, names[i]);
    r->bytes[i] = test_read_vector(path, &size);
    files[i] = (heed_model_file){names[i], {size, r->bytes[i], NULL, NULL}};
  }
  const heed_model_desc desc = {sizeof desc, files, count};
  assert_ok(heed_model_open(r->io.context, &desc, &r->model, &error));
  heed_model_get_info(r->model, &r->info);
}

static heed_value find(const run *r, uint32_t layer, const char *what) {
  char name[48];
  snprintf(name, sizeof name, "layer.%u.%s", layer, what);
  const heed_value value = heed_graph_find(r->graph, name);
  assert_true(value.id != 0);
  return value;
}

static void write_input(run *r, const char *name, const void *data, size_t bytes) {
  heed_error error;
  assert_ok(heed_session_write(r->session, heed_graph_find(r->graph, name), data, bytes, &error));
}

static void open_run(run *r, const family *f, const wanted *want) {
  heed_error error;
  char path[128];
  memset(r, 0, sizeof *r);
  snprintf(path, sizeof path, "vit/%s/io_wide.safetensors", f->folder);
  r->io = vector_file_open(path);
  open_model(r, f);
  float *pixels = vector_file_read(&r->io, "pixel_values", HEED_F32, &r->pixels);
  heed_build_desc build = test_pixel_sizes(&r->pixels);
  build.intervene = want->intervene;
  assert_ok(heed_cpu_backend_create(r->io.context, NULL, &r->backend, &error));
  assert_ok(heed_model_build(r->model, &build, &r->graph, &error));
  heed_value taps[TAPS];
  uint32_t count = 0;
  for (uint32_t i = 0; i < r->info.layers; i++) {
    assert_true(count + 3 <= TAPS);
    if (want->maps) taps[count++] = find(r, i, "attention.weights");
    if (want->parts) taps[count++] = find(r, i, "query");
    if (want->parts) taps[count++] = find(r, i, "key");
  }
  const heed_plan_desc plan = {sizeof plan, taps, count, want->mode};
  assert_ok(heed_plan_create(r->graph, r->backend, &plan, &r->plan, &error));
  assert_ok(heed_session_create(r->plan, NULL, &r->session, &error));
  write_input(r, "pixel_values", pixels, (size_t)heed_shape_count(&r->pixels) * sizeof *pixels);
  free(pixels);
  heed_value_info info;
  assert_ok(heed_graph_value_info(r->graph, find(r, 0, "attention.weights"), &info));
  r->tokens = info.shape.dim[3];
}

static void close_run(run *r) {
  heed_session_destroy(r->session);
  heed_plan_destroy(r->plan);
  heed_graph_destroy(r->graph);
  heed_model_destroy(r->model);
  heed_backend_destroy(r->backend);
  vector_file_close(&r->io);
  for (uint32_t i = 0; i < FILES; i++) free(r->bytes[i]);
}

static void run_once(run *r) {
  heed_error error;
  assert_ok(heed_session_run(r->session, NULL, &error));
}

/* To be freed. */
static float *read_value(const run *r, heed_value value, uint64_t *count) {
  heed_error error;
  heed_value_info info;
  assert_ok(heed_graph_value_info(r->graph, value, &info));
  *count = heed_shape_count(&info.shape);
  float *data = malloc((size_t)*count * sizeof *data);
  assert_ok(heed_session_read(r->session, value, 0, *count, data, &error));
  return data;
}

static void assert_near(const float *found, const float *want, uint64_t count, const family *f,
                        const char *what) {
  double worst = 0.0;
  for (uint64_t i = 0; i < count; i++) {
    const double off = fabs((double)found[i] - (double)want[i]);
    if (!(off <= worst)) worst = off;
  }
  if (!(worst <= 2e-5))
    fail_msg("%s, %s: off by %g (expected at most 2e-5)", f->folder, what, worst);
}

/* expect.attention.<layer> or another value that the file expects; to be freed. */
static float *expected_map(const run *r, uint32_t layer) {
  char name[48];
  heed_shape shape;
  snprintf(name, sizeof name, "expect.attention.%u", layer);
  return vector_file_read(&r->io, name, HEED_F32, &shape);
}

static void test_modes(void **state) {
  (void)state;
  static const heed_attention_mode modes[] = {HEED_ATTENTION_MODE_RESIDENT,
                                              HEED_ATTENTION_MODE_STREAMED};
  for (size_t i = 0; i < sizeof families / sizeof *families; i++)
    for (size_t mode = 0; mode < 2; mode++)
      for (int maps = 0; maps < 2; maps++) {
        run r;
        uint64_t count;
        heed_shape shape;
        open_run(&r, &families[i], &(wanted){.maps = maps == 1, .mode = modes[mode]});
        run_once(&r);
        float *states = read_value(&r, heed_graph_find(r.graph, "last_hidden_state"), &count),
              *want = vector_file_read(&r.io, "expect.last_hidden_state", HEED_F32, &shape);
        assert_near(states, want, count, &families[i], "last_hidden_state");
        free(states);
        free(want);
        for (uint32_t layer = 0; maps && layer < r.info.layers; layer++) {
          float *map = read_value(&r, find(&r, layer, "attention.weights"), &count);
          want = expected_map(&r, layer);
          assert_near(map, want, count, &families[i], "map");
          free(map);
          free(want);
        }
        close_run(&r);
      }
}

static void test_rows_on_demand(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
    run r;
    heed_error error;
    open_run(&r, &families[i], &(wanted){.parts = true});
    run_once(&r);
    float *head = malloc((size_t)r.tokens * r.tokens * sizeof *head);
    for (uint32_t layer = 0; layer < r.info.layers; layer++) {
      float *want = expected_map(&r, layer);
      for (uint32_t h = 0; h < r.info.heads; h++) {
        const heed_attention_map_desc desc = {.struct_size = sizeof desc, .head = h};
        const uint64_t square = (uint64_t)r.tokens * r.tokens;
        assert_ok(heed_session_attention_map(r.session, find(&r, layer, "attention.weights"), &desc,
                                             head, &error));
        assert_near(head, want + h * square, square, &families[i], "map on demand");
      }
      free(want);
    }
    free(head);
    close_run(&r);
  }
}

/* Inputs that change nothing; `absent`: a token that none attends to, or UINT32_MAX. */
static void write_changes(run *r, uint32_t absent) {
  const size_t pairs = (size_t)r->info.heads * r->tokens * r->tokens,
               kept = (size_t)r->pixels.dim[0] * r->tokens;
  unsigned char *seen = malloc(pairs > kept ? pairs : kept);
  const uint32_t width = r->info.attention_width;
  float *zeros = calloc(width, sizeof *zeros), *ones = malloc(r->info.heads * sizeof *ones);
  memset(seen, 1, pairs > kept ? pairs : kept);
  for (uint32_t h = 0; h < r->info.heads; h++) ones[h] = 1.0f;
  for (uint32_t layer = 0; layer < r->info.layers; layer++) {
    char name[48];
    snprintf(name, sizeof name, "layer.%u.attention.mask", layer);
    write_input(r, name, seen, pairs);
    snprintf(name, sizeof name, "layer.%u.attention.offset", layer);
    write_input(r, name, zeros, width * sizeof *zeros);
    snprintf(name, sizeof name, "layer.%u.attention.gain", layer);
    write_input(r, name, ones, r->info.heads * sizeof *ones);
  }
  for (uint32_t b = 0; absent != UINT32_MAX && b < r->pixels.dim[0]; b++)
    seen[b * r->tokens + absent] = 0;
  write_input(r, "token_mask", seen, kept);
  free(seen);
  free(zeros);
  free(ones);
}

static void test_changes(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
    run r;
    uint64_t count;
    open_run(&r, &families[i], &(wanted){.maps = true, .intervene = true});
    write_changes(&r, UINT32_MAX);
    run_once(&r);
    for (uint32_t layer = 0; layer < r.info.layers; layer++) {
      float *map = read_value(&r, find(&r, layer, "attention.weights"), &count),
            *want = expected_map(&r, layer);
      assert_near(map, want, count, &families[i], "map with nothing changed");
      free(map);
      free(want);
    }
    const uint32_t absent = r.tokens - 1;
    write_changes(&r, absent);
    run_once(&r);
    for (uint32_t layer = 0; layer < r.info.layers; layer++) {
      float *map = read_value(&r, find(&r, layer, "attention.weights"), &count);
      for (uint64_t row = 0; row < count / r.tokens; row++) {
        double sum = 0.0;
        for (uint32_t k = 0; k < r.tokens; k++) sum += (double)map[row * r.tokens + k];
        if (map[row * r.tokens + absent] != 0.0f || fabs(sum - 1.0) > 1e-5)
          fail_msg("%s, layer %u: weight %g on a masked token, sum %g", families[i].folder, layer,
                   (double)map[row * r.tokens + absent], sum);
      }
      free(map);
    }
    close_run(&r);
  }
}

/* Abnar and Zuidema 2020, section 3: the product over layers of (mean over heads + 1) / 2. */
static void roll(const run *r, double *rolled) {
  const uint32_t n = r->tokens, heads = r->info.heads;
  double *next = malloc((size_t)n * n * sizeof *next);
  for (uint32_t i = 0; i < n * n; i++) rolled[i] = i % (n + 1) == 0;
  for (uint32_t layer = 0; layer < r->info.layers; layer++) {
    float *map = expected_map(r, layer);
    for (uint32_t q = 0; q < n; q++)
      for (uint32_t k = 0; k < n; k++) {
        double sum = 0.0;
        for (uint32_t t = 0; t < n; t++) {
          double mean = 0.0;
          for (uint32_t h = 0; h < heads; h++)
            mean += (double)map[((size_t)h * n + q) * n + t] / heads;
          sum += (0.5 * mean + 0.5 * (q == t)) * rolled[t * n + k];
        }
        next[q * n + k] = sum;
      }
    memcpy(rolled, next, (size_t)n * n * sizeof *next);
    free(map);
  }
  free(next);
}

/* Layers apart give the same bits as layers one after another. */
static void check_layers_apart(const run *r, const heed_rollout_desc *desc, const float *maps,
                               const float *all) {
  const size_t n = r->tokens, layer = n * n * r->info.heads;
  heed_error error;
  const float **apart = malloc(r->info.layers * sizeof *apart);
  float *found = malloc(n * n * sizeof *found), *start = calloc(n, sizeof *start),
        *row = malloc(2 * n * sizeof *row);
  for (uint32_t l = 0; l < r->info.layers; l++) apart[l] = maps + l * layer;
  heed_rollout_desc by_layers = *desc;
  by_layers.maps = apart;
  assert_ok(heed_map_rollout(r->io.context, &by_layers, NULL, found, &error));
  assert_memory_equal(found, all, n * n * sizeof *all);
  start[n / 2] = 1.0f;
  assert_ok(heed_map_rollout_row(r->io.context, desc, maps, start, row, &error));
  assert_ok(heed_map_rollout_row(r->io.context, &by_layers, NULL, start, row + n, &error));
  assert_memory_equal(row, row + n, n * sizeof *row);
  free(apart);
  free(found);
  free(start);
  free(row);
}

static void test_rollout(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
    run r;
    heed_error error;
    open_run(&r, &families[i], &(wanted){.maps = true});
    run_once(&r);
    const size_t square = (size_t)r.tokens * r.tokens, layer = r.info.heads * square;
    float *maps = malloc(r.info.layers * layer * sizeof *maps),
          *found = malloc(square * sizeof *found), *want = malloc(square * sizeof *want);
    double *rolled = malloc(square * sizeof *rolled);
    for (uint32_t l = 0; l < r.info.layers; l++)
      assert_ok(heed_session_read(r.session, find(&r, l, "attention.weights"), 0, layer,
                                  maps + l * layer, &error));
    const heed_rollout_desc desc = {.struct_size = sizeof desc,
                                    .layers = r.info.layers,
                                    .heads = r.info.heads,
                                    .tokens = r.tokens,
                                    .residual = 0.5f};
    assert_ok(heed_map_rollout(r.io.context, &desc, maps, found, &error));
    check_layers_apart(&r, &desc, maps, found);
    roll(&r, rolled);
    for (size_t e = 0; e < square; e++) want[e] = (float)rolled[e];
    assert_near(found, want, square, &families[i], "rollout");
    free(maps);
    free(found);
    free(want);
    free(rolled);
    close_run(&r);
  }
}

/* Without kept weights: rows of the first image's rollout from queries and keys. */
static void test_rollout_of_a_session(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
    run r;
    heed_error error;
    open_run(&r, &families[i], &(wanted){.parts = true});
    run_once(&r);
    const size_t n = r.tokens;
    heed_value *weights = malloc(r.info.layers * sizeof *weights);
    float *row = malloc(n * sizeof *row), *want = malloc(n * sizeof *want);
    double *rolled = malloc(n * n * sizeof *rolled);
    for (uint32_t l = 0; l < r.info.layers; l++) weights[l] = find(&r, l, "attention.weights");
    const heed_rollout_desc desc = {.struct_size = sizeof desc,
                                    .layers = r.info.layers,
                                    .heads = r.info.heads,
                                    .tokens = r.tokens};
    roll(&r, rolled);
    for (size_t q = 0; q < n; q += n / 2) {
      memset(row, 0, n * sizeof *row);
      row[q] = 1.0f;
      assert_ok(heed_session_rollout_row(r.session, &desc, weights, 0, row, row, &error));
      for (size_t k = 0; k < n; k++) want[k] = (float)rolled[q * n + k];
      assert_near(row, want, n, &families[i], "row of a rollout");
    }
    assert_fails(
        heed_session_rollout_row(r.session, &desc, weights, r.pixels.dim[0], row, row, &error),
        HEED_INVALID_ARGUMENT, "another attention");
    free(weights);
    free(row);
    free(want);
    free(rolled);
    close_run(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_modes),
                                     cmocka_unit_test(test_rows_on_demand),
                                     cmocka_unit_test(test_changes), cmocka_unit_test(test_rollout),
                                     cmocka_unit_test(test_rollout_of_a_session)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
