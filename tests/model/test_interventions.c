/* Attention that is changed from run to run, on every CPU level, against the whole ViT in double:
 * heads taken out, pairs cut, tokens dropped, offsets, gains of heads, a temperature. Shapes of
 * micro_32: B 2, T 5, C 32, H 4, L 2. tests/vulkan compares Vulkan with the CPU. */
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/files/safetensors.h"

enum {
  BATCH = 2,
  SIDE = 32,
  PATCH = 16,
  TOKENS = 5,
  WIDTH = 32,
  HEADS = 4,
  DEPTH = WIDTH / HEADS,
  LAYERS = 2,
  HIDDEN = 64,
  CLASSES = 5
};

typedef struct changes {
  unsigned char seen[BATCH][TOKENS], mask[LAYERS][HEADS][TOKENS][TOKENS];
  float offset[LAYERS][WIDTH], gain[LAYERS][HEADS], temperature;
  heed_empty_row empty_row;
  /* writes the inputs in the place of write_changes */
  void (*write)(heed_context *context, const heed_model *model, heed_session *session);
} changes;

typedef struct expected {
  double weights[LAYERS][BATCH][HEADS][TOKENS][TOKENS], logits[BATCH][CLASSES];
} expected;

typedef struct files {
  unsigned char *bytes[3];
  heed_model_file file[2];
  heed_context *context;
  heed_safetensors *weights, *io;
} files;

static void open_files(files *f) {
  static const char *const names[] = {"config.json", "model.safetensors", "io.safetensors"};
  heed_error error;
  size_t size[3];
  for (int i = 0; i < 3; i++) {
    char path[64];
    snprintf(path, sizeof path, "vit/micro_32/%s", names[i]);
    f->bytes[i] = test_read_vector(path, &size[i]);
    if (i < 2) f->file[i] = (heed_model_file){names[i], {size[i], f->bytes[i], NULL, NULL}};
  }
  const heed_source weights = {size[1], f->bytes[1], NULL, NULL},
                    io = {size[2], f->bytes[2], NULL, NULL};
  assert_ok(heed_context_create(NULL, &f->context, &error));
  assert_ok(heed_safetensors_open(f->context, &weights, "weights", &f->weights, &error));
  assert_ok(heed_safetensors_open(f->context, &io, "io", &f->io, &error));
}

static void close_files(files *f) {
  heed_safetensors_destroy(f->weights);
  heed_safetensors_destroy(f->io);
  heed_context_destroy(f->context);
  for (int i = 0; i < 3; i++) free(f->bytes[i]);
}

/* ------------------------------------------------------------------------------------ in double */

static const float *tensor(heed_safetensors *file, const char *name) {
  static float data[4][24576]; /* the last four stay */
  static int next;
  heed_error error;
  const heed_safetensors_tensor *found = heed_safetensors_find(file, name);
  assert_non_null(found);
  assert_true(found->count <= 24576);
  next = (next + 1) % 4;
  assert_ok(heed_safetensors_read(file, found, 0, found->count, data[next], &error));
  return data[next];
}

static const float *layer_tensor(files *f, int layer, const char *what) {
  char name[96];
  snprintf(name, sizeof name, "vit.encoder.layer.%d.%s", layer, what);
  return tensor(f->weights, name);
}

static void norm(const double *x, const float *weight, const float *bias, double *y) {
  double mean = 0.0, variance = 0.0;
  for (int c = 0; c < WIDTH; c++) mean += x[c] / (double)WIDTH;
  for (int c = 0; c < WIDTH; c++) variance += (x[c] - mean) * (x[c] - mean) / (double)WIDTH;
  for (int c = 0; c < WIDTH; c++)
    y[c] = (x[c] - mean) / sqrt(variance + 1e-12) * (double)weight[c] + (double)bias[c];
}

static void linear(const double *x, const float *weight, const float *bias, int from, int to,
                   double *y) {
  for (int i = 0; i < to; i++) {
    y[i] = (double)bias[i];
    for (int c = 0; c < from; c++) y[i] += (double)weight[i * from + c] * x[c];
  }
}

static void embed(files *f, int picture, double x[TOKENS][WIDTH]) {
  const float *pixels = tensor(f->io, "pixel_values") + picture * 3 * SIDE * SIDE,
              *weight = tensor(f->weights, "vit.embeddings.patch_embeddings.projection.weight");
  const float *bias = tensor(f->weights, "vit.embeddings.patch_embeddings.projection.bias");
  for (int p = 0; p < TOKENS - 1; p++)
    for (int c = 0; c < WIDTH; c++) {
      double sum = (double)bias[c];
      for (int i = 0; i < 3 * PATCH * PATCH; i++) {
        const int row = p / 2 * PATCH + i / PATCH % PATCH, column = p % 2 * PATCH + i % PATCH;
        sum += (double)weight[c * 3 * PATCH * PATCH + i] *
               (double)pixels[(i / (PATCH * PATCH) * SIDE + row) * SIDE + column];
      }
      x[p + 1][c] = sum;
    }
  const float *cls = tensor(f->weights, "vit.embeddings.cls_token"),
              *positions = tensor(f->weights, "vit.embeddings.position_embeddings");
  for (int c = 0; c < WIDTH; c++) x[0][c] = (double)cls[c];
  for (int i = 0; i < TOKENS * WIDTH; i++) x[i / WIDTH][i % WIDTH] += (double)positions[i];
}

/* One head of one picture: weights and what it gives. */
static void attend(const changes *change, int picture, int layer, int head,
                   double (*const qkv[3])[WIDTH], double weights[TOKENS][TOKENS],
                   double given[TOKENS][WIDTH]) {
  for (int i = 0; i < TOKENS; i++) {
    double sum = 0.0;
    for (int j = 0; j < TOKENS; j++) {
      double score = 0.0;
      for (int d = head * DEPTH; d < (head + 1) * DEPTH; d++) score += qkv[0][i][d] * qkv[1][j][d];
      const bool may = change->seen[picture][j] && change->mask[layer][head][i][j];
      weights[i][j] = may ? exp(score / sqrt(DEPTH) / (double)change->temperature) : 0.0;
      sum += weights[i][j];
    }
    const double empty = change->empty_row == HEED_EMPTY_ROW_MEAN ? 1.0 / (double)TOKENS : 0.0;
    for (int j = 0; j < TOKENS; j++) weights[i][j] = sum > 0.0 ? weights[i][j] / sum : empty;
    for (int d = head * DEPTH; d < (head + 1) * DEPTH; d++) {
      given[i][d] = (double)change->offset[layer][d];
      for (int j = 0; j < TOKENS; j++) given[i][d] += weights[i][j] * qkv[2][j][d];
      given[i][d] *= (double)change->gain[layer][head];
    }
  }
}

static void run_layer(files *f, const changes *change, int picture, int layer,
                      double x[TOKENS][WIDTH], expected *out) {
  static const char *const names[] = {"query", "key", "value"};
  double qkv[3][TOKENS][WIDTH], normed[TOKENS][WIDTH], given[TOKENS][WIDTH], made[HIDDEN],
      back[WIDTH];
  const float *scale = layer_tensor(f, layer, "layernorm_before.weight"),
              *shift = layer_tensor(f, layer, "layernorm_before.bias");
  for (int t = 0; t < TOKENS; t++) norm(x[t], scale, shift, normed[t]);
  for (int p = 0; p < 3; p++) {
    char weight[64], bias[64];
    snprintf(weight, sizeof weight, "attention.attention.%s.weight", names[p]);
    snprintf(bias, sizeof bias, "attention.attention.%s.bias", names[p]);
    const float *w = layer_tensor(f, layer, weight), *b = layer_tensor(f, layer, bias);
    for (int t = 0; t < TOKENS; t++) linear(normed[t], w, b, WIDTH, WIDTH, qkv[p][t]);
  }
  double(*const parts[3])[WIDTH] = {qkv[0], qkv[1], qkv[2]};
  for (int h = 0; h < HEADS; h++)
    attend(change, picture, layer, h, parts, out->weights[layer][picture][h], given);
  const float *w = layer_tensor(f, layer, "attention.output.dense.weight"),
              *b = layer_tensor(f, layer, "attention.output.dense.bias");
  for (int t = 0; t < TOKENS; t++) {
    linear(given[t], w, b, WIDTH, WIDTH, back);
    for (int c = 0; c < WIDTH; c++) x[t][c] += back[c];
  }
  scale = layer_tensor(f, layer, "layernorm_after.weight"),
  shift = layer_tensor(f, layer, "layernorm_after.bias");
  for (int t = 0; t < TOKENS; t++) norm(x[t], scale, shift, normed[t]);
  const float *fc1 = layer_tensor(f, layer, "intermediate.dense.weight"),
              *bias1 = layer_tensor(f, layer, "intermediate.dense.bias");
  const float *fc2 = layer_tensor(f, layer, "output.dense.weight"),
              *bias2 = layer_tensor(f, layer, "output.dense.bias");
  for (int t = 0; t < TOKENS; t++) {
    linear(normed[t], fc1, bias1, WIDTH, HIDDEN, made);
    for (int i = 0; i < HIDDEN; i++) made[i] *= 0.5 * (1.0 + erf(made[i] / sqrt(2.0)));
    linear(made, fc2, bias2, HIDDEN, WIDTH, back);
    for (int c = 0; c < WIDTH; c++) x[t][c] += back[c];
  }
}

static void expect(files *f, const changes *change, expected *out) {
  for (int picture = 0; picture < BATCH; picture++) {
    double x[TOKENS][WIDTH], normed[WIDTH];
    embed(f, picture, x);
    for (int layer = 0; layer < LAYERS; layer++) run_layer(f, change, picture, layer, x, out);
    norm(x[0], tensor(f->weights, "vit.layernorm.weight"), tensor(f->weights, "vit.layernorm.bias"),
         normed);
    linear(normed, tensor(f->weights, "classifier.weight"), tensor(f->weights, "classifier.bias"),
           WIDTH, CLASSES, out->logits[picture]);
  }
}

/* ---------------------------------------------------------------------------------- the program */

static void write_input(heed_graph *graph, heed_session *session, const char *name,
                        const void *data, size_t bytes) {
  heed_error error;
  assert_ok(heed_session_write(session, heed_graph_find(graph, name), data, bytes, &error));
}

static void write_changes(heed_graph *graph, heed_session *session, const changes *change) {
  write_input(graph, session, "token_mask", change->seen, sizeof change->seen);
  for (int layer = 0; layer < LAYERS; layer++) {
    char name[48];
    snprintf(name, sizeof name, "layer.%d.attention.mask", layer);
    write_input(graph, session, name, change->mask[layer], sizeof change->mask[layer]);
    snprintf(name, sizeof name, "layer.%d.attention.offset", layer);
    write_input(graph, session, name, change->offset[layer], sizeof change->offset[layer]);
    snprintf(name, sizeof name, "layer.%d.attention.gain", layer);
    write_input(graph, session, name, change->gain[layer], sizeof change->gain[layer]);
  }
}

static void assert_value(heed_graph *graph, heed_session *session, const char *name,
                         const double *want, size_t count, const char *level) {
  float found[LAYERS * BATCH * HEADS * TOKENS * TOKENS];
  heed_error error;
  assert_ok(heed_session_read(session, heed_graph_find(graph, name), 0, count, found, &error));
  for (size_t i = 0; i < count; i++)
    if (!(fabs((double)found[i] - want[i]) <= 2e-6 * (1.0 + fabs(want[i]))))
      fail_msg("%s on %s, element %zu: found %.9g, expected %.9g", name, level, i, (double)found[i],
               want[i]);
}

static void check_level(files *f, const changes *change, const char *level) {
  heed_backend *backend;
  heed_model *model;
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
  heed_error error;
  expected want;
  const heed_cpu_desc cpu = {sizeof cpu, 2, level};
  const heed_model_desc desc = {sizeof desc, f->file, 2};
  const heed_build_desc build = {.struct_size = sizeof build,
                                 .batch = BATCH,
                                 .intervene = true,
                                 .empty_row = change->empty_row,
                                 .temperature = change->temperature};
  assert_ok(heed_cpu_backend_create(f->context, &cpu, &backend, &error));
  assert_ok(heed_model_open(f->context, &desc, &model, &error));
  assert_ok(heed_model_build(model, &build, &graph, &error));
  const heed_value taps[] = {heed_graph_find(graph, "layer.0.attention.weights"),
                             heed_graph_find(graph, "layer.1.attention.weights")};
  const heed_plan_desc plan_desc = {sizeof plan_desc, taps, 2, HEED_ATTENTION_MODE_AUTO};
  assert_ok(heed_plan_create(graph, backend, &plan_desc, &plan, &error));
  assert_ok(heed_session_create(plan, NULL, &session, &error));
  write_input(graph, session, "pixel_values",
              f->bytes[2] + heed_safetensors_find(f->io, "pixel_values")->offset,
              sizeof(float) * BATCH * 3 * SIDE * SIDE);
  if (change->write)
    change->write(f->context, model, session);
  else
    write_changes(graph, session, change);
  assert_ok(heed_session_run(session, NULL, &error));
  expect(f, change, &want);
  assert_value(graph, session, "layer.0.attention.weights", &want.weights[0][0][0][0][0],
               sizeof want.weights / LAYERS / sizeof(double), level);
  assert_value(graph, session, "layer.1.attention.weights", &want.weights[1][0][0][0][0],
               sizeof want.weights / LAYERS / sizeof(double), level);
  assert_value(graph, session, "logits", &want.logits[0][0], (size_t)BATCH * CLASSES, level);
  heed_session_destroy(session);
  heed_plan_destroy(plan);
  heed_graph_destroy(graph);
  heed_model_destroy(model);
  heed_backend_destroy(backend);
}

static void check(changes *change, bool whole) {
  files f;
  open_files(&f);
  if (whole) { /* nothing changed: the model's own oracle */
    expected want;
    expect(&f, change, &want);
    const float *logits = tensor(f.io, "expect.logits");
    for (int i = 0; i < BATCH * CLASSES; i++)
      assert_true(fabs(want.logits[i / CLASSES][i % CLASSES] - (double)logits[i]) <= 1e-6);
  }
  for (uint32_t l = 0; heed_cpu_level(l); l++) check_level(&f, change, heed_cpu_level(l));
  close_files(&f);
}

static changes unchanged(void) {
  changes change = {.temperature = 1.0f};
  memset(change.seen, 1, sizeof change.seen);
  memset(change.mask, 1, sizeof change.mask);
  for (int i = 0; i < LAYERS * HEADS; i++) change.gain[i / HEADS][i % HEADS] = 1.0f;
  return change;
}

static void test_nothing_changed(void **state) {
  (void)state;
  changes change = unchanged();
  check(&change, true);
}

static void test_gains_of_heads(void **state) {
  (void)state;
  changes change = unchanged();
  const float gains[LAYERS][HEADS] = {{0.5f, 1.0f, 0.0f, 0.05f}, {1.0f, 0.3f, 0.95f, 1.0f}};
  memcpy(change.gain, gains, sizeof gains);
  check(&change, false);
}

static void everything(heed_empty_row empty_row) {
  changes change = unchanged();
  change.empty_row = empty_row;
  change.temperature = 0.7f;
  change.seen[0][3] = change.seen[1][1] = 0;
  memset(change.mask[0][1], 0, sizeof change.mask[0][1]);
  memset(change.mask[1][3], 0, sizeof change.mask[1][3]);
  for (int h = 0; h < HEADS; h++) change.mask[0][h][0][2] = change.mask[1][h][4][4] = 0;
  /* in the place of the head that is out, at half its size */
  for (int d = 0; d < DEPTH; d++) change.offset[0][DEPTH + d] = 0.1f * (float)d - 0.3f;
  change.gain[0][1] = 0.5f;
  change.gain[1][0] = 0.25f;
  check(&change, false);
}

static void test_everything_at_once_with_zeros(void **state) {
  (void)state;
  everything(HEED_EMPTY_ROW_ZERO);
}

static void test_everything_at_once_with_the_mean(void **state) {
  (void)state;
  everything(HEED_EMPTY_ROW_MEAN);
}

/* What stands in for head 1 of layer 0: its outputs' mean over the tokens is 0.1 d - 0.3. */
static void fill_outputs(float outputs[TOKENS][WIDTH]) {
  for (int t = 0; t < TOKENS; t++)
    for (int c = 0; c < WIDTH; c++)
      outputs[t][c] = 0.1f * (float)(c % DEPTH) - 0.3f + 0.5f * (float)(t - TOKENS / 2);
}

static void write_by_calls(heed_context *context, const heed_model *model, heed_session *session) {
  heed_changes *made;
  heed_model_info info;
  heed_error error;
  float outputs[TOKENS][WIDTH];
  fill_outputs(outputs);
  heed_model_get_info(model, &info);
  assert_ok(heed_changes_create(context, &info, TOKENS, &made, &error));
  assert_ok(heed_changes_ablate(made, 0, 1, &error));
  assert_ok(heed_changes_ablate(made, 1, 3, &error));
  assert_ok(heed_changes_replace(made, 0, &outputs[0][0], &error));
  assert_ok(heed_changes_gain(made, 0, 1, 0.5f, &error));
  assert_ok(heed_changes_gain(made, 1, 0, 0.25f, &error));
  assert_ok(heed_changes_drop(made, 3, &error));
  assert_ok(heed_changes_cut(made, 0, 2, &error));
  assert_ok(heed_changes_cut(made, 4, 4, &error));
  assert_true(heed_changes_allow(made, 0, 0, 2, 0) && !heed_changes_allow(made, 0, 0, 2, 3));
  assert_true(!heed_changes_allow(made, 1, 3, 2, 0) && !heed_changes_allow(made, 1, 0, 4, 4));
  assert_ok(heed_changes_write(made, session, &error));
  heed_changes_destroy(made);
}

static void test_changes_by_calls(void **state) {
  (void)state;
  changes change = unchanged();
  change.write = write_by_calls;
  change.seen[0][3] = change.seen[1][3] = 0;
  memset(change.mask[0][1], 0, sizeof change.mask[0][1]);
  memset(change.mask[1][3], 0, sizeof change.mask[1][3]);
  for (int l = 0; l < LAYERS; l++)
    for (int h = 0; h < HEADS; h++) change.mask[l][h][0][2] = change.mask[l][h][4][4] = 0;
  for (int d = 0; d < DEPTH; d++) change.offset[0][DEPTH + d] = 0.1f * (float)d - 0.3f;
  change.gain[0][1] = 0.5f;
  change.gain[1][0] = 0.25f;
  check(&change, false);
}

static void test_changes_that_are_none(void **state) {
  (void)state;
  const heed_model_info info = {.layers = LAYERS, .heads = HEADS, .width = WIDTH}, none = {0},
                        flat = {.layers = LAYERS, .heads = HEADS};
  heed_context *context;
  heed_changes *made;
  heed_error error;
  assert_ok(heed_context_create(NULL, &context, &error));
  assert_fails(heed_changes_create(context, &none, TOKENS, &made, &error), HEED_INVALID_ARGUMENT,
               "empty attention");
  assert_fails(heed_changes_create(context, &flat, TOKENS, &made, &error), HEED_INVALID_ARGUMENT,
               "tokens, width 0)");
  assert_ok(heed_changes_create(context, &info, TOKENS, &made, &error));
  assert_fails(heed_changes_ablate(made, 2, 0, &error), HEED_INVALID_ARGUMENT,
               "found 2.0, expected below 2.4");
  assert_fails(heed_changes_gain(made, 0, 4, 1.0f, &error), HEED_INVALID_ARGUMENT,
               "head out of range");
  assert_fails(heed_changes_gain(made, 0, 0, INFINITY, &error), HEED_INVALID_ARGUMENT,
               "expected a finite number");
  assert_fails(heed_changes_drop(made, TOKENS, &error), HEED_INVALID_ARGUMENT,
               "found 5, expected less than 5");
  assert_fails(heed_changes_cut(made, 0, TOKENS, &error), HEED_INVALID_ARGUMENT,
               "token out of range");
  heed_changes_destroy(made);
  heed_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing_changed),
                                     cmocka_unit_test(test_gains_of_heads),
                                     cmocka_unit_test(test_everything_at_once_with_zeros),
                                     cmocka_unit_test(test_everything_at_once_with_the_mean),
                                     cmocka_unit_test(test_changes_by_calls),
                                     cmocka_unit_test(test_changes_that_are_none)};
  return cmocka_run_group_tests_name("interventions", tests, NULL, NULL);
}
