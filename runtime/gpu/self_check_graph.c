/* The self-check's graph: the case of each op of the list, and one layer of a ViT with two heads on
 * a 20 x 12 picture, where each kernel waits for the one before. */
#include "gpu/self_check_graph.h"

#include "base/alloc.h"
#include "base/status.h"
#include "gpu/op.h"
#include "graph/graph.h"

#define NUMBERS 262144

enum {
  BATCH = HEED_GPU_CHECK_BATCH,
  WIDE = HEED_GPU_CHECK_WIDE,
  HEADS = HEED_GPU_CHECK_HEADS,
  TOKENS = 16,
  MODEL_TOKENS = 570,
  FEW_TOKENS = 100,
  HEAD_SIZE = 12,
  MLP = 37
};

typedef heed_gpu_check_graph checker;

heed_value heed_gpu_check_constant(checker *c, heed_shape shape) {
  const size_t count = (size_t)heed_shape_count(&shape);
  if (c->used + count > NUMBERS) c->used = 0;
  const heed_constant_desc desc = {
      .struct_size = sizeof desc, .dtype = HEED_F32, .shape = shape, .data = c->numbers + c->used};
  c->used += count;
  return heed_define_constant(c->graph, &desc);
}

heed_value heed_gpu_check_keep(checker *c, heed_value value) {
  heed_graph_output(c->graph, value);
  return value;
}

static heed_value project(checker *c, heed_value x, uint32_t depth, uint32_t columns,
                          heed_activation activation, heed_value residual, uint32_t heads) {
  const heed_linear_desc desc = {.struct_size = sizeof desc,
                                 .x = x,
                                 .weight = heed_gpu_check_constant(c, HEED_SHAPE(columns, depth)),
                                 .bias = heed_gpu_check_constant(c, HEED_SHAPE(columns)),
                                 .residual = residual,
                                 .activation = activation,
                                 .heads = heads,
                                 .parts = heads ? 3 : 0};
  return heed_define_linear(c->graph, &desc);
}

static heed_value linear(checker *c, heed_value x, uint32_t depth, uint32_t columns,
                         heed_activation activation, heed_value residual, uint32_t heads) {
  return heed_gpu_check_keep(c, project(c, x, depth, columns, activation, residual, heads));
}

static heed_value norm(checker *c, heed_value x, uint32_t width) {
  const heed_layer_norm_desc desc = {sizeof desc, x, heed_gpu_check_constant(c, HEED_SHAPE(width)),
                                     heed_gpu_check_constant(c, HEED_SHAPE(width)), 1e-6f};
  return heed_gpu_check_keep(c, heed_define_layer_norm(c->graph, &desc));
}

heed_value heed_gpu_check_attend(checker *c, heed_value qkv, heed_shape part,
                                 heed_attention_desc desc) {
  const uint64_t size = heed_shape_count(&part);
  desc.struct_size = sizeof desc;
  desc.query = heed_define_view(c->graph, qkv, 0, &part);
  desc.key = heed_define_view(c->graph, qkv, size, &part);
  desc.value = heed_define_view(c->graph, qkv, 2 * size, &part);
  desc.merge_heads = true;
  const heed_attention_values values = heed_define_attention(c->graph, &desc);
  heed_gpu_check_keep(c, values.weights);
  heed_gpu_check_keep(c, values.logits);
  return heed_gpu_check_keep(c, values.output);
}

/* ---- the layer */

static heed_value embed(checker *c) {
  const heed_concat_desc tokens = {
      sizeof tokens, {heed_gpu_check_constant(c, HEED_SHAPE(1, 1, WIDE)), c->patches}, 2, 1};
  const heed_add_desc positions = {sizeof positions,
                                   heed_gpu_check_keep(c, heed_define_concat(c->graph, &tokens)),
                                   heed_gpu_check_constant(c, HEED_SHAPE(1, TOKENS, WIDE))};
  return heed_gpu_check_keep(c, heed_define_add(c->graph, &positions));
}

static void define_layer(checker *c) {
  const heed_value none = {0}, x = embed(c);
  const heed_value qkv =
      linear(c, norm(c, x, WIDE), WIDE, 3 * WIDE, HEED_ACTIVATION_NONE, none, HEADS);
  const heed_value attended =
      heed_gpu_check_attend(c, qkv, HEED_SHAPE(BATCH, HEADS, TOKENS, HEAD_SIZE),
                            (heed_attention_desc){.norm = HEED_NORM_SOFTMAX});
  const heed_value y = linear(c, attended, WIDE, WIDE, HEED_ACTIVATION_NONE, x, 0);
  const heed_value hidden = linear(c, norm(c, y, WIDE), WIDE, MLP, HEED_ACTIVATION_GELU, none, 0);
  linear(c, hidden, MLP, WIDE, HEED_ACTIVATION_NONE, y, 0);
}

/* ---- the sizes of models */

/* A product of `rows` rows that is a result. */
static heed_value define_product(checker *c, uint32_t rows, uint32_t depth, uint32_t columns) {
  return linear(c, heed_gpu_check_constant(c, HEED_SHAPE(1, rows, depth)), depth, columns,
                HEED_ACTIVATION_GELU, (heed_value){0}, 0);
}

/* A product of a product that is none, so that it may be kept in fp16. */
static void define_products(checker *c, uint32_t rows, uint32_t depth, uint32_t columns) {
  const heed_value none = {0}, x = heed_gpu_check_constant(c, HEED_SHAPE(1, rows, WIDE));
  const heed_value hidden = project(c, x, WIDE, depth, HEED_ACTIVATION_GELU, none, 0);
  linear(c, hidden, depth, columns, HEED_ACTIVATION_NONE, none, 0);
}

/* Patches of 4 x 4 of a square picture. */
static void define_patches(checker *c, uint32_t side, uint32_t columns) {
  enum { CHANNELS = 3, PATCH = 4 };
  const heed_patch_embedding_desc desc = {
      .struct_size = sizeof desc,
      .image = heed_gpu_check_constant(c, HEED_SHAPE(1, CHANNELS, side, side)),
      .weight = heed_gpu_check_constant(c, HEED_SHAPE(columns, CHANNELS, PATCH, PATCH)),
      .bias = heed_gpu_check_constant(c, HEED_SHAPE(columns))};
  heed_gpu_check_keep(c, heed_define_patch_embedding(c->graph, &desc));
}

/* Query, key and value, [3, 1, 1, tokens, size]: a product that is no result, so that it may be
 * kept in fp16. */
typedef struct head {
  heed_value qkv;
  uint32_t tokens, size;
} head;

static head project_head(checker *c, uint32_t tokens, uint32_t size) {
  const heed_value x = heed_gpu_check_constant(c, HEED_SHAPE(1, tokens, WIDE));
  const heed_value qkv = project(c, x, WIDE, 3 * size, HEED_ACTIVATION_NONE, (heed_value){0}, 1);
  return (head){qkv, tokens, size};
}

/* An attention of all tokens to the first ones, whose logits are far apart by a scale of 1, with or
 * without maps. */
static void define_attention(checker *c, const head *h, uint32_t keys, float scale, bool maps) {
  const heed_shape query = HEED_SHAPE(1, 1, h->tokens, h->size),
                   key = HEED_SHAPE(1, 1, keys, h->size);
  const uint64_t part = (uint64_t)h->tokens * h->size;
  const heed_attention_desc desc = {.struct_size = sizeof desc,
                                    .query = heed_define_view(c->graph, h->qkv, 0, &query),
                                    .key = heed_define_view(c->graph, h->qkv, part, &key),
                                    .value = heed_define_view(c->graph, h->qkv, 2 * part, &key),
                                    .norm = HEED_NORM_SOFTMAX,
                                    .scale = scale,
                                    .merge_heads = true};
  const heed_attention_values values = heed_define_attention(c->graph, &desc);
  if (maps) heed_gpu_check_keep(c, values.weights);
  heed_gpu_check_keep(c, values.output);
}

static void define_self_attention(checker *c, uint32_t size, bool maps) {
  const head h = project_head(c, MODEL_TOKENS, size);
  define_attention(c, &h, MODEL_TOKENS, 1.0f, maps);
}

/* The lanes that share a row's keys depend on how many rows there are, and on the keys that each
 * lane then has. Few keys are the cheap way to the kernels of many heads: one, two, four lanes. */
static void define_lanes(checker *c) {
  static const uint32_t keys[] = {24, 48, FEW_TOKENS};
  const float scale = 0.25f; /* fewer keys leave more of fp16's rounding */
  const head narrow = project_head(c, FEW_TOKENS, 64), wide = project_head(c, FEW_TOKENS, 128);
  for (uint32_t i = 0; i < 3; i++) {
    define_attention(c, &narrow, keys[i], scale, false);
    define_attention(c, &narrow, keys[i], scale, true);
    define_attention(c, &wide, keys[i], scale, false);
  }
}

/* So many heads that large tiles of rows fill a device, each of few rows, with the same keys. */
static void define_heads(checker *c) {
  enum { MANY = 256, ROWS = 17, KEYS = 512, SIZE = 4 };
  const heed_attention_desc desc = {
      .struct_size = sizeof desc,
      .query = heed_gpu_check_constant(c, HEED_SHAPE(1, MANY, ROWS, SIZE)),
      .key = heed_gpu_check_constant(c, HEED_SHAPE(1, 1, KEYS, SIZE)),
      .value = heed_gpu_check_constant(c, HEED_SHAPE(1, 1, KEYS, SIZE)),
      .norm = HEED_NORM_SOFTMAX,
      .scale = 1.0f};
  heed_gpu_check_keep(c, heed_define_attention(c->graph, &desc).output);
}

/* The large tiles of a batch, the tiles and slices of a single picture and of its class, norms of
 * few rows and of many, attention that streams its keys, with parts that are joined. */
static void define_models(checker *c) {
  define_patches(c, 128, 2048);
  define_patches(c, 32, 96);
  norm(c, define_product(c, 2048, 40, 1024), 1024);
  define_products(c, 1024, 40, 2048);
  define_product(c, 50, 1040, 96);
  define_product(c, 1, 1040, 96);
  norm(c, heed_gpu_check_constant(c, HEED_SHAPE(1, 50, 768)), 768);
  norm(c, define_product(c, 4096, WIDE, 96), 96);
  define_self_attention(c, 64, false);
  define_self_attention(c, 64, true);
  define_self_attention(c, 128, false);
}

/* ---- graph, results */

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

/* Numbers, and a graph with tokens. */
static heed_status start(heed_context *context, checker *check, heed_error *error) {
  *check = (heed_gpu_check_graph){.context = context};
  check->numbers = heed_alloc(context, NUMBERS, sizeof *check->numbers);
  if (!check->numbers)
    return heed_fail_memory(error, "self-check", NUMBERS * sizeof *check->numbers);
  fill(check->numbers, NUMBERS);
  HEED_TRY(heed_graph_create(context, &check->graph, error));
  check->tokens = heed_define_input(check->graph, "tokens", HEED_F32,
                                    &HEED_SHAPE(BATCH, HEED_GPU_CHECK_LENGTH, HEED_GPU_CHECK_ODD));
  return HEED_OK;
}

heed_status heed_gpu_check_graph_create(heed_context *context, heed_gpu_check_sizes sizes,
                                        heed_gpu_check_graph *check, heed_error *error) {
  HEED_TRY(start(context, check, error));
  check->image = heed_define_input(
      check->graph, "image", HEED_F32,
      &HEED_SHAPE(BATCH, HEED_GPU_CHECK_CHANNELS, HEED_GPU_CHECK_HEIGHT, HEED_GPU_CHECK_WIDTH));
  check->ids =
      heed_define_input(check->graph, "ids", HEED_I32, &HEED_SHAPE(BATCH, HEED_GPU_CHECK_LENGTH));
  for (uint32_t op = 0; op < HEED_OP_KIND_COUNT; op++)
    if (heed_gpu_ops[op]->check) heed_gpu_ops[op]->check(check);
  define_layer(check);
  if (sizes >= HEED_GPU_CHECK_MODELS) define_models(check);
  if (sizes >= HEED_GPU_CHECK_GPU_MODELS) {
    define_lanes(check);
    define_heads(check);
  }
  return heed_graph_status(check->graph, error);
}

heed_status heed_gpu_check_graph_create_one(heed_context *context, uint32_t op,
                                            heed_gpu_check_graph *check, heed_error *error) {
  HEED_TRY(start(context, check, error));
  heed_gpu_ops[op]->check(check);
  return heed_graph_status(check->graph, error);
}

void heed_gpu_check_graph_free(heed_gpu_check_graph *check) {
  heed_graph_destroy(check->graph);
  heed_free(check->context, check->numbers);
}

uint32_t heed_gpu_check_next(const heed_gpu_check_graph *check, uint32_t id) {
  while (++id <= heed_graph_value_count(check->graph))
    if (heed_graph_record(check->graph, id)->output) return id;
  return 0;
}

static size_t floats_of(const checker *c, uint32_t id) {
  return (size_t)heed_shape_count(&heed_graph_record(c->graph, id)->shape);
}

size_t heed_gpu_check_count(const heed_gpu_check_graph *check) {
  size_t count = 0;
  for (uint32_t id = 0; (id = heed_gpu_check_next(check, id));) count += floats_of(check, id);
  return count;
}
