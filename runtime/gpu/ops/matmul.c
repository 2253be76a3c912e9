/* matmul on a GPU: one dispatch, four rows by four columns an invocation. */
#include "graph/ops/matmul.h"
#include "gpu/self_check_graph.h"
#include "gpu/split_values.h"
#include "params/matmul.h"

enum { SIDE = 4, LEADING = HEED_MAX_RANK - 2 };

/* Leading axis i from the back: its length, 1 where it is missing. */
static uint32_t leading(const heed_shape *shape, uint32_t i) {
  return i + 2 < shape->rank ? shape->dim[shape->rank - 3 - i] : 1;
}

static void list_axes(const heed_shape *a, const heed_shape *b, const heed_shape *y,
                      heed_matmul_params *params) {
  uint32_t a_step = a->dim[a->rank - 2] * a->dim[a->rank - 1],
           b_step = b->dim[b->rank - 2] * b->dim[b->rank - 1];
  for (uint32_t i = 0; i < LEADING; i++) {
    const uint32_t slot = LEADING - 1 - i;
    params->size[slot] = leading(y, i);
    params->a_step[slot] = leading(a, i) == 1 ? 0 : a_step;
    params->b_step[slot] = leading(b, i) == 1 ? 0 : b_step;
    a_step *= leading(a, i);
    b_step *= leading(b, i);
    params->batch *= params->size[slot];
  }
}

static void build(heed_gpu_builder *builder, const heed_node *node) {
  const heed_matmul_desc *desc = node->desc;
  const heed_shape *a = heed_gpu_shape(builder, desc->a.id),
                   *y = heed_gpu_shape(builder, node->output[0]);
  heed_gpu_dispatch dispatch = {.shader = HEED_SHADER_matmul};
  heed_matmul_params params = {
      .rows = y->dim[y->rank - 2],
      .columns = y->dim[y->rank - 1],
      .depth = a->dim[a->rank - (desc->transpose_a ? 2 : 1)],
      .batch = 1,
      .a_origin = heed_gpu_read(builder, &dispatch, 0, desc->a.id),
      .b_origin = heed_gpu_read(builder, &dispatch, 1, desc->b.id),
      .y_origin = heed_gpu_write(builder, &dispatch, 2, node->output[0]),
  };
  list_axes(a, heed_gpu_shape(builder, desc->b.id), y, &params);
  const uint64_t tiles = (uint64_t)heed_gpu_divide(params.rows, SIDE) *
                         heed_gpu_divide(params.columns, SIDE) * params.batch;
  const uint32_t width = heed_gpu_width(builder);
  uint32_t groups[2];
  heed_gpu_spread(builder, tiles, width, groups);
  HEED_GPU_DISPATCH(builder, &dispatch, &params, groups[0], groups[1], 1, width, desc->transpose_b,
                    desc->transpose_a);
}

/* Of two matrices the rows of a and y, unless a is transposed; a and b may be the same value, which
 * then stays whole. */
static heed_gpu_split_axes split_axes(const heed_gpu_builder *builder, const heed_node *node) {
  (void)builder;
  const heed_matmul_desc *desc = node->desc;
  const bool matrices = heed_gpu_shape(builder, node->output[0])->rank == 2;
  return (heed_gpu_split_axes){node->output[0],
                               desc->a.id != desc->b.id && !(matrices && desc->transpose_a), 0};
}

static bool is_unsplit(const heed_gpu_builder *builder, const heed_node *node, uint32_t value) {
  const heed_graph *graph = builder->plan->graph;
  const uint32_t rank = heed_graph_record(graph, node->output[0])->shape.rank;
  return heed_graph_record(graph, value)->shape.rank < rank ||
         (rank == 2 && value == ((const heed_matmul_desc *)node->desc)->b.id);
}

static void check(heed_gpu_check_graph *c) {
  const heed_matmul_desc scores = {
      .struct_size = sizeof scores, .a = c->tokens, .b = c->tokens, .transpose_b = true};
  const heed_matmul_desc turned = {
      .struct_size = sizeof turned, .a = c->tokens, .b = c->tokens, .transpose_a = true};
  heed_gpu_check_keep(c, heed_define_matmul(c->graph, &turned));
  const heed_matmul_desc mixed = {
      .struct_size = sizeof mixed,
      .a = heed_gpu_check_keep(c, heed_define_matmul(c->graph, &scores)),
      .b = heed_gpu_check_constant(c, HEED_SHAPE(HEED_GPU_CHECK_LENGTH, HEED_GPU_CHECK_ODD))};
  heed_gpu_check_keep(c, heed_define_matmul(c->graph, &mixed));
}

const heed_gpu_op heed_gpu_matmul = {
    .build = build, .check = check, .split_axes = split_axes, .is_unsplit = is_unsplit};
