/* The self-check: one small graph with every kind of kernel in it runs here and on the CPU backend, and every result is compared.
 * It is a ViT of one layer with two heads on a 20 x 12 picture, and beside it what a ViT does not use: masks, causal attention,
 * softmax on its own, embeddings. Sizes are odd where a kernel has tails. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "graph/graph.h"
#include "vulkan/backend.h"

#define TOLERANCE 1e-4
#define TOLERANCE_HALF 2e-3 /* with weights in fp16 */
#define MOST_RESULTS 24
#define CONSTANT_FLOATS 16384

enum { BATCH = 2, CHANNELS = 3, HEIGHT = 12, WIDTH = 20, PATCH = 4, TOKENS = 16, WIDE = 24, HEADS = 2, HEAD_SIZE = 12, MLP = 37, CLASSES = 5 };

typedef struct checker {
  heed_context *context;
  heed_graph *graph;
  float *numbers; /* where constants and inputs come from */
  size_t used;
  heed_value results[MOST_RESULTS];
  uint32_t result_count;
  heed_value image, ids;
} checker;

/* What is remembered in the cache. */
typedef struct record {
  uint32_t kernels, passed;
  double max_error;
  char worst[48];
} record;

/* A constant of the next numbers, small enough that sums over the widest axis stay near 1. */
static heed_value constant(checker *c, heed_shape shape) {
  const size_t count = (size_t)heed_shape_count(&shape);
  if (c->used + count > CONSTANT_FLOATS) c->used = 0;
  const heed_constant_desc desc = {.struct_size = sizeof desc, .dtype = HEED_F32, .shape = shape, .data = c->numbers + c->used};
  c->used += count;
  return heed_define_constant(c->graph, &desc);
}

static heed_value keep(checker *c, heed_value value) {
  heed_graph_output(c->graph, value);
  if (value.id && c->result_count < MOST_RESULTS) c->results[c->result_count++] = value;
  return value;
}

static heed_value linear(checker *c, heed_value x, uint32_t depth, uint32_t columns, heed_activation activation, heed_value residual, uint32_t heads) {
  const heed_linear_desc desc = {.struct_size = sizeof desc,
                                 .x = x,
                                 .weight = constant(c, HEED_SHAPE(columns, depth)),
                                 .bias = constant(c, HEED_SHAPE(columns)),
                                 .residual = residual,
                                 .activation = activation,
                                 .heads = heads,
                                 .parts = heads ? 3 : 0};
  return keep(c, heed_define_linear(c->graph, &desc));
}

static heed_value norm(checker *c, heed_value x) {
  const heed_layer_norm_desc desc = {sizeof desc, x, constant(c, HEED_SHAPE(WIDE)), constant(c, HEED_SHAPE(WIDE)), 1e-6f};
  return keep(c, heed_define_layer_norm(c->graph, &desc));
}

static heed_value embed(checker *c) {
  const heed_patch_embedding_desc patches = {sizeof patches, c->image, constant(c, HEED_SHAPE(WIDE, CHANNELS, PATCH, PATCH)), constant(c, HEED_SHAPE(WIDE))};
  const heed_concat_desc tokens = {sizeof tokens, {constant(c, HEED_SHAPE(1, 1, WIDE)), keep(c, heed_define_patch_embedding(c->graph, &patches))}, 2, 1};
  const heed_add_desc positions = {sizeof positions, keep(c, heed_define_concat(c->graph, &tokens)), constant(c, HEED_SHAPE(1, TOKENS, WIDE))};
  return keep(c, heed_define_add(c->graph, &positions));
}

/* Attention over the parts of a stacked query, key, value. */
static heed_value attend(checker *c, heed_value qkv, heed_attention_desc desc) {
  const heed_shape part = HEED_SHAPE(BATCH, HEADS, TOKENS, HEAD_SIZE);
  const uint64_t size = heed_shape_count(&part);
  desc.struct_size = sizeof desc;
  desc.query = heed_define_view(c->graph, qkv, 0, &part);
  desc.key = heed_define_view(c->graph, qkv, size, &part);
  desc.value = heed_define_view(c->graph, qkv, 2 * size, &part);
  desc.merge_heads = true;
  const heed_attention_values values = heed_define_attention(c->graph, &desc);
  keep(c, values.weights);
  keep(c, values.logits);
  return keep(c, values.output);
}

static void define_vit(checker *c) {
  const heed_value none = {0};
  const heed_value x = embed(c), qkv = linear(c, norm(c, x), WIDE, 3 * WIDE, HEED_ACTIVATION_NONE, none, HEADS);
  const heed_value attended = attend(c, qkv, (heed_attention_desc){.norm = HEED_NORM_SOFTMAX});
  attend(c, qkv, (heed_attention_desc){.norm = HEED_NORM_SPARSEMAX, .causal = HEED_CAUSAL_TOP_LEFT, .softcap = 3.0f});
  const heed_value y = linear(c, attended, WIDE, WIDE, HEED_ACTIVATION_NONE, x, 0);
  const heed_value hidden = linear(c, norm(c, y), WIDE, MLP, HEED_ACTIVATION_GELU, none, 0);
  const heed_value out = linear(c, hidden, MLP, WIDE, HEED_ACTIVATION_NONE, y, 0);
  const heed_select_rows_desc first = {sizeof first, out, 0, 1};
  const heed_value logits = linear(c, keep(c, heed_define_select_rows(c->graph, &first)), WIDE, CLASSES, HEED_ACTIVATION_NONE, none, 0);
  const heed_softmax_desc softmax = {sizeof softmax, logits};
  const heed_activation_desc tanh_of = {sizeof tanh_of, keep(c, heed_define_softmax(c->graph, &softmax)), HEED_ACTIVATION_TANH};
  keep(c, heed_define_activation(c->graph, &tanh_of));
}

static void define_rest(checker *c) {
  const heed_embedding_desc rows = {.struct_size = sizeof rows, .ids = c->ids, .table = constant(c, HEED_SHAPE(7, WIDE))};
  const heed_multiply_desc gain = {sizeof gain, keep(c, heed_define_embedding(c->graph, &rows)), constant(c, HEED_SHAPE(WIDE))};
  const heed_permute_desc turned = {sizeof turned, keep(c, heed_define_multiply(c->graph, &gain)), {0, 2, 1}};
  keep(c, heed_define_permute(c->graph, &turned));
  const heed_attention_mask_desc mask = {.struct_size = sizeof mask, .query_ids = c->ids, .key_ids = c->ids, .causal = true};
  keep(c, heed_define_attention_mask(c->graph, &mask));
}

/* xorshift64*: the same numbers everywhere, in -0.5 .. 0.5. */
static void fill(float *numbers, size_t count) {
  uint64_t x = UINT64_C(0x9E3779B97F4A7C15);
  for (size_t i = 0; i < count; i++) {
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    numbers[i] = (float)((x * UINT64_C(0x2545F4914F6CDD1D)) >> 40) / 16777216.0f - 0.5f;
  }
}

static heed_status define(checker *c, heed_error *error) {
  c->numbers = heed_alloc(c->context, CONSTANT_FLOATS, sizeof *c->numbers);
  if (!c->numbers) return heed_fail_memory(error, "self-check", CONSTANT_FLOATS * sizeof *c->numbers);
  fill(c->numbers, CONSTANT_FLOATS);
  HEED_TRY(heed_graph_create(c->context, &c->graph, error));
  c->image = heed_define_input(c->graph, "image", HEED_F32, &HEED_SHAPE(BATCH, CHANNELS, HEIGHT, WIDTH));
  c->ids = heed_define_input(c->graph, "ids", HEED_I32, &HEED_SHAPE(BATCH, 9));
  define_vit(c);
  define_rest(c);
  return heed_graph_status(c->graph, error);
}

/* Where result i stands in the array of all results, in floats; the whole size for i = result_count. */
static size_t place_of(const checker *c, uint32_t i) {
  size_t at = 0;
  for (uint32_t k = 0; k < i; k++) at += (size_t)heed_shape_count(&heed_graph_record(c->graph, c->results[k].id)->shape);
  return at;
}

static heed_status read_result(const checker *c, heed_session *session, uint32_t i, float *to, heed_error *error) {
  const heed_value_record *value = heed_graph_record(c->graph, c->results[i].id);
  const uint64_t count = heed_shape_count(&value->shape);
  if (value->dtype != HEED_U8) return heed_session_read(session, c->results[i], 0, count, to, error);
  unsigned char *bytes = heed_alloc(c->context, (size_t)count, 1);
  if (!bytes) return heed_fail_memory(error, "self-check", (size_t)count);
  const heed_status status = heed_session_read(session, c->results[i], 0, count, bytes, error);
  for (size_t k = 0; k < count; k++) to[k] = (float)bytes[k];
  heed_free(c->context, bytes);
  return status;
}

static heed_status run_session(const checker *c, heed_session *session, float *to, heed_error *error) {
  static const int32_t ids[BATCH * 9] = {1, 2, 3, 6, 5, 4, 0, 0, 0, 6, 6, 1, 3, 2, 0, 0, 0, 0};
  const size_t pixels = (size_t)BATCH * CHANNELS * HEIGHT * WIDTH;
  HEED_TRY(heed_session_write(session, c->image, c->numbers, pixels * sizeof(float), error));
  HEED_TRY(heed_session_write(session, c->ids, ids, sizeof ids, error));
  HEED_TRY(heed_session_run(session, NULL, error));
  for (uint32_t i = 0; i < c->result_count; i++) HEED_TRY(read_result(c, session, i, to + place_of(c, i), error));
  return HEED_OK;
}

static heed_status run_on(const checker *c, heed_backend *backend, float *to, uint32_t *steps, heed_error *error) {
  heed_plan *plan = NULL;
  heed_session *session = NULL;
  heed_status status = heed_plan_create(c->graph, backend, NULL, &plan, error);
  if (status == HEED_OK) status = heed_session_create(plan, NULL, &session, error);
  if (status == HEED_OK) status = run_session(c, session, to, error);
  if (status == HEED_OK) *steps = heed_plan_step_count(plan);
  heed_session_destroy(session);
  heed_plan_destroy(plan);
  return status;
}

static const char *op_of(const checker *c, uint32_t i) { return heed_ops[c->graph->nodes[heed_graph_record(c->graph, c->results[i].id)->node].op]->name; }

/* Infinite where only one of the two is NaN or infinite, or they differ in sign. */
static double difference(float a, float b) {
  if ((isnan(a) && isnan(b)) || a == b) return 0.0;
  const double d = fabs((double)a - (double)b) / (1.0 + fabs((double)b));
  return isnan(d) ? (double)INFINITY : d;
}

static void compare(const checker *c, const float *found, const float *expected, double tolerance, record *result) {
  memset(result, 0, sizeof *result);
  snprintf(result->worst, sizeof result->worst, "%s", op_of(c, 0));
  for (uint32_t i = 0; i < c->result_count; i++)
    for (size_t k = place_of(c, i); k < place_of(c, i + 1); k++) {
      const double d = difference(found[k], expected[k]);
      if (d <= result->max_error) continue;
      result->max_error = d;
      snprintf(result->worst, sizeof result->worst, "%s", op_of(c, i));
    }
  result->passed = result->max_error <= tolerance;
}

static bool is_half(const heed_backend *vulkan) { return ((const heed_vk_backend *)vulkan)->device.limits.half; }

static heed_status compare_backends(const checker *c, heed_backend *vulkan, record *result, heed_error *error) {
  const size_t count = place_of(c, c->result_count);
  float *found = heed_alloc(c->context, count, 2 * sizeof *found);
  if (!found) return heed_fail_memory(error, "self-check", 2 * count * sizeof *found);
  heed_backend *cpu = NULL;
  uint32_t steps = 0;
  heed_status status = heed_cpu_backend_create(c->context, NULL, &cpu, error);
  if (status == HEED_OK) status = run_on(c, cpu, found + count, &steps, error);
  if (status == HEED_OK) status = run_on(c, vulkan, found, &steps, error);
  if (status == HEED_OK) {
    compare(c, found, found + count, is_half(vulkan) ? TOLERANCE_HALF : TOLERANCE, result);
    result->kernels = steps;
  }
  heed_backend_destroy(cpu);
  heed_free(c->context, found);
  return status;
}

static heed_status check_device(heed_context *context, heed_backend *vulkan, record *result, heed_error *error) {
  checker c = {.context = context};
  heed_status status = define(&c, error);
  if (status == HEED_OK) status = compare_backends(&c, vulkan, result, error);
  heed_graph_destroy(c.graph);
  heed_free(context, c.numbers);
  return status;
}

/* A result of an earlier run of the same kernels on the same device and driver. */
static bool remember(const heed_vk_cache *cache, const char *ending, record *result) {
  void *bytes;
  size_t size;
  heed_vk_cache_read(cache, ending, &bytes, &size);
  const bool found = bytes && size == sizeof *result;
  if (found) memcpy(result, bytes, size);
  heed_free(cache->context, bytes);
  result->worst[sizeof result->worst - 1] = '\0';
  return found;
}

heed_status heed_vulkan_self_check(heed_context *context, const heed_vulkan_desc *desc, heed_vulkan_check *check, heed_error *error) {
  if (!context || !check) return heed_fail(error, HEED_INVALID_ARGUMENT, "self-check: context or place for the result missing (found NULL)");
  memset(check, 0, sizeof *check);
  heed_backend *vulkan;
  HEED_TRY(heed_vulkan_backend_create(context, desc, &vulkan, error));
  const heed_vk_cache *cache = &((heed_vk_backend *)vulkan)->cache;
  record result;
  memset(&result, 0, sizeof result);
  heed_status status = HEED_OK;
  const char *ending = is_half(vulkan) ? "check16" : "check";
  check->remembered = remember(cache, ending, &result);
  if (!check->remembered) status = check_device(context, vulkan, &result, error);
  if (status == HEED_OK && !check->remembered) heed_vk_cache_write(cache, ending, &result, sizeof result);
  check->passed = status == HEED_OK && result.passed;
  check->kernels = result.kernels;
  check->max_error = result.max_error;
  snprintf(check->worst, sizeof check->worst, "%s", result.worst);
  heed_backend_destroy(vulkan);
  return status;
}
