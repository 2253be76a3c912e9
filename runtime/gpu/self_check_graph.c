/* The self-check's graph: one case for each op of the list, and one layer of a ViT with two heads
 * on a 20 x 12 picture, where each kernel waits for the one before. The cases have odd sizes, where
 * kernels have tails. */
#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "gpu/self_check.h"
#include "graph/graph.h"

#define NUMBERS 16384

enum {
  BATCH = 2,
  CHANNELS = 3,
  HEIGHT = 12,
  WIDTH = 20,
  PATCH = 4,
  TOKENS = 16,
  WIDE = 24,
  HEADS = 2,
  HEAD_SIZE = 12,
  MLP = 37
};
/* Of the cases; LONG tokens are more than one chunk of linear attention. */
enum { LENGTH = 9, ODD = 37, ODD_HEAD = 7, HIDDEN = 13, LONG = 67, ROWS = 7, CLASSES = 5 };

typedef heed_vk_check_graph checker;

/* A constant of the next numbers, small enough that sums over the widest axis stay near 1. */
static heed_value constant(checker *c, heed_shape shape) {
  const size_t count = (size_t)heed_shape_count(&shape);
  if (c->used + count > NUMBERS) c->used = 0;
  const heed_constant_desc desc = {
      .struct_size = sizeof desc, .dtype = HEED_F32, .shape = shape, .data = c->numbers + c->used};
  c->used += count;
  return heed_define_constant(c->graph, &desc);
}

static heed_value keep(checker *c, heed_value value) {
  heed_graph_output(c->graph, value);
  return value;
}

static heed_value linear(checker *c, heed_value x, uint32_t depth, uint32_t columns,
                         heed_activation activation, heed_value residual, uint32_t heads) {
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

static heed_value norm(checker *c, heed_value x, uint32_t width) {
  const heed_layer_norm_desc desc = {sizeof desc, x, constant(c, HEED_SHAPE(width)),
                                     constant(c, HEED_SHAPE(width)), 1e-6f};
  return keep(c, heed_define_layer_norm(c->graph, &desc));
}

/* Attention whose query, key and value, each of shape `part`, lie in qkv one after the other. */
static heed_value attend(checker *c, heed_value qkv, heed_shape part, heed_attention_desc desc) {
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

/* ---- one case for each op of graph/op_list.h */

static void check_activation(checker *c) {
  const heed_activation_desc desc = {sizeof desc, c->tokens, HEED_ACTIVATION_TANH};
  keep(c, heed_define_activation(c->graph, &desc));
}

static void check_add(checker *c) {
  const heed_add_desc desc = {sizeof desc, c->tokens, constant(c, HEED_SHAPE(1, LENGTH, ODD))};
  keep(c, heed_define_add(c->graph, &desc));
}

static void check_attention(checker *c) {
  attend(c, c->image, HEED_SHAPE(BATCH, HEADS, LENGTH, ODD_HEAD),
         (heed_attention_desc){
             .norm = HEED_NORM_SPARSEMAX, .causal = HEED_CAUSAL_TOP_LEFT, .softcap = 3.0f});
}

static void check_attention_mask(checker *c) {
  const heed_attention_mask_desc desc = {
      .struct_size = sizeof desc, .query_ids = c->ids, .key_ids = c->ids, .causal = true};
  keep(c, heed_define_attention_mask(c->graph, &desc));
}

static void check_concat(checker *c) {
  const heed_concat_desc desc = {
      sizeof desc, {constant(c, HEED_SHAPE(1, 1, ODD)), c->tokens}, 2, 1};
  keep(c, heed_define_concat(c->graph, &desc));
}

static void check_embedding(checker *c) {
  const heed_embedding_desc desc = {
      .struct_size = sizeof desc, .ids = c->ids, .table = constant(c, HEED_SHAPE(ROWS, ODD))};
  keep(c, heed_define_embedding(c->graph, &desc));
}

static heed_recurrent_desc recurrent(checker *c, uint32_t gates) {
  return (heed_recurrent_desc){.struct_size = sizeof(heed_recurrent_desc),
                               .x = c->tokens,
                               .weight_ih = constant(c, HEED_SHAPE(gates * HIDDEN, ODD)),
                               .weight_hh = constant(c, HEED_SHAPE(gates * HIDDEN, HIDDEN)),
                               .bias_ih = constant(c, HEED_SHAPE(gates * HIDDEN)),
                               .bias_hh = constant(c, HEED_SHAPE(gates * HIDDEN)),
                               .h = constant(c, HEED_SHAPE(BATCH, HIDDEN))};
}

static void check_gru(checker *c) {
  heed_recurrent_desc desc = recurrent(c, 3);
  desc.reverse = true;
  const heed_recurrent_values values = heed_define_gru(c->graph, &desc);
  keep(c, values.y);
  keep(c, values.h);
}

static void check_layer_norm(checker *c) { norm(c, c->tokens, ODD); }

/* Few rows and columns, as a classifier has them. */
static void check_linear(checker *c) {
  linear(c, constant(c, HEED_SHAPE(BATCH, ODD)), ODD, CLASSES, HEED_ACTIVATION_NONE,
         (heed_value){0}, 0);
}

/* Over all tokens and causal, in chunks; then token by token. */
static void check_linear_attention(checker *c) {
  const heed_shape shape = HEED_SHAPE(1, HEADS, LONG, ODD_HEAD);
  heed_linear_attention_desc desc = {
      sizeof desc, constant(c, shape), constant(c, shape), constant(c, shape), false, false};
  keep(c, heed_define_linear_attention(c->graph, &desc));
  desc.causal = true;
  keep(c, heed_define_linear_attention(c->graph, &desc));
  desc.recurrent = true;
  keep(c, heed_define_linear_attention(c->graph, &desc));
}

static void check_lstm(checker *c) {
  heed_recurrent_desc desc = recurrent(c, 4);
  desc.c = constant(c, HEED_SHAPE(BATCH, HIDDEN));
  const heed_recurrent_values values = heed_define_lstm(c->graph, &desc);
  keep(c, values.y);
  keep(c, values.h);
  keep(c, values.c);
}

static void check_multiply(checker *c) {
  const heed_multiply_desc desc = {sizeof desc, c->tokens, constant(c, HEED_SHAPE(ODD))};
  keep(c, heed_define_multiply(c->graph, &desc));
}

static void check_patch_embedding(checker *c) {
  const heed_patch_embedding_desc desc = {sizeof desc, c->image,
                                          constant(c, HEED_SHAPE(WIDE, CHANNELS, PATCH, PATCH)),
                                          constant(c, HEED_SHAPE(WIDE))};
  c->patches = keep(c, heed_define_patch_embedding(c->graph, &desc));
}

static void check_permute(checker *c) {
  const heed_permute_desc desc = {sizeof desc, c->tokens, {0, 2, 1}};
  keep(c, heed_define_permute(c->graph, &desc));
}

static void check_select_rows(checker *c) {
  const heed_select_rows_desc desc = {sizeof desc, c->tokens, 3, 5};
  keep(c, heed_define_select_rows(c->graph, &desc));
}

static void check_softmax(checker *c) {
  const heed_softmax_desc desc = {sizeof desc, c->tokens};
  keep(c, heed_define_softmax(c->graph, &desc));
}

/* An op of the list without its case does not compile. */
static void (*const cases[HEED_OP_KIND_COUNT])(checker *c) = {
#define HEED_OP(name) check_##name,
#include "graph/op_list.h"
#undef HEED_OP
};

/* ---- the layer */

static heed_value embed(checker *c) {
  const heed_concat_desc tokens = {
      sizeof tokens, {constant(c, HEED_SHAPE(1, 1, WIDE)), c->patches}, 2, 1};
  const heed_add_desc positions = {sizeof positions, keep(c, heed_define_concat(c->graph, &tokens)),
                                   constant(c, HEED_SHAPE(1, TOKENS, WIDE))};
  return keep(c, heed_define_add(c->graph, &positions));
}

static void define_layer(checker *c) {
  const heed_value none = {0}, x = embed(c);
  const heed_value qkv =
      linear(c, norm(c, x, WIDE), WIDE, 3 * WIDE, HEED_ACTIVATION_NONE, none, HEADS);
  const heed_value attended = attend(c, qkv, HEED_SHAPE(BATCH, HEADS, TOKENS, HEAD_SIZE),
                                     (heed_attention_desc){.norm = HEED_NORM_SOFTMAX});
  const heed_value y = linear(c, attended, WIDE, WIDE, HEED_ACTIVATION_NONE, x, 0);
  const heed_value hidden = linear(c, norm(c, y, WIDE), WIDE, MLP, HEED_ACTIVATION_GELU, none, 0);
  linear(c, hidden, MLP, WIDE, HEED_ACTIVATION_NONE, y, 0);
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

heed_status heed_vk_check_graph_create(heed_context *context, heed_vk_check_graph *check,
                                       heed_error *error) {
  *check = (heed_vk_check_graph){.context = context};
  check->numbers = heed_alloc(context, NUMBERS, sizeof *check->numbers);
  if (!check->numbers)
    return heed_fail_memory(error, "self-check", NUMBERS * sizeof *check->numbers);
  fill(check->numbers, NUMBERS);
  HEED_TRY(heed_graph_create(context, &check->graph, error));
  check->image = heed_define_input(check->graph, "image", HEED_F32,
                                   &HEED_SHAPE(BATCH, CHANNELS, HEIGHT, WIDTH));
  check->tokens =
      heed_define_input(check->graph, "tokens", HEED_F32, &HEED_SHAPE(BATCH, LENGTH, ODD));
  check->ids = heed_define_input(check->graph, "ids", HEED_I32, &HEED_SHAPE(BATCH, LENGTH));
  for (uint32_t op = 0; op < HEED_OP_KIND_COUNT; op++) cases[op](check);
  define_layer(check);
  return heed_graph_status(check->graph, error);
}

void heed_vk_check_graph_free(heed_vk_check_graph *check) {
  heed_graph_destroy(check->graph);
  heed_free(check->context, check->numbers);
}

uint32_t heed_vk_check_next(const heed_vk_check_graph *check, uint32_t id) {
  while (++id <= heed_graph_value_count(check->graph))
    if (heed_graph_record(check->graph, id)->output) return id;
  return 0;
}

static size_t floats_of(const checker *c, uint32_t id) {
  return (size_t)heed_shape_count(&heed_graph_record(c->graph, id)->shape);
}

size_t heed_vk_check_count(const heed_vk_check_graph *check) {
  size_t count = 0;
  for (uint32_t id = 0; (id = heed_vk_check_next(check, id));) count += floats_of(check, id);
  return count;
}
