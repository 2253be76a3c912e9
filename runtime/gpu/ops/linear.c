/* linear on a GPU: one product whose epilogue adds bias, activates, adds the residual, or writes
 * head-major. */
#include "graph/ops/linear.h"
#include "gpu/ops/linear_int8.h"
#include "gpu/self_check_graph.h"
#include "gpu/split_values.h"
#include "gpu/tile.h"
#include "graph/op_check.h"

#define MOST_SLICES 16
/* values of k: less costs more in adding up than it gains */
#define LEAST_SHARE 64
#define LEAST_MATRIX_SHARE 512

/* Values of k a workgroup sums: all, or so few that slices of the depth make up for workgroups that
 * are missing. Products in int8 stay whole: floats would lose digits of their parts. */
static uint32_t choose_share(const heed_gpu_builder *builder, uint32_t depth,
                             const heed_gpu_tile *tile) {
  const uint64_t groups = (uint64_t)tile->x * tile->y, fill = builder->limits->fill;
  const uint32_t beside = tile->int8 ? HEED_GPU_INT8_UNIT : 4;
  const uint32_t unit = tile->matrix   ? tile->step
                        : tile->sliced ? beside * tile->groups
                                       : beside,
                 least = tile->matrix   ? LEAST_MATRIX_SHARE
                         : tile->sliced ? 2 * LEAST_SHARE
                                        : LEAST_SHARE;
  uint64_t slices = 1;
  if (!tile->side && !tile->int8 && groups * 2 <= fill && depth >= 2 * least)
    slices = fill / groups < MOST_SLICES ? fill / groups : MOST_SLICES;
  if (slices > depth / least) slices = depth / least;
  return heed_gpu_divide(heed_gpu_divide(depth, slices ? (uint32_t)slices : 1), unit) * unit;
}

/* Rows of the weight that a dispatch is for: all, or those of one part of a head-major result. */
typedef struct part {
  uint32_t number, first, columns;
  bool alone;
} part;

/* converts: matrices make fp16 of x. */
static void bind_result(heed_gpu_builder *builder, const heed_node *node,
                        heed_gpu_dispatch *dispatch, const part *some, bool converts,
                        heed_linear_params *params) {
  const heed_linear_desc *desc = node->desc;
  params->bias_origin = heed_gpu_read(builder, dispatch, 2, desc->bias.id) + some->first;
  params->residual_origin = heed_gpu_read(builder, dispatch, 3, desc->residual.id);
  const uint64_t item = (uint64_t)params->tokens * some->columns; /* of the batch */
  if (some->alone)
    params->y_origin = heed_gpu_write_some(
        builder, dispatch, 4, node->output[0],
        (some->number * builder->piece.size + builder->piece.first) * item, params->batch * item);
  else
    params->y_origin = heed_gpu_write(builder, dispatch, 4, node->output[0]);
  heed_gpu_count_past(builder, dispatch, 5, converts || dispatch->binding[4].half);
}

/* Adds the slices up and does the rest of the node. */
static void add_sum(heed_gpu_builder *builder, const heed_node *node, const part *some,
                    heed_linear_params params) {
  const heed_linear_desc *desc = node->desc;
  heed_gpu_dispatch dispatch = {.shader = HEED_SHADER_linear_sum};
  const uint64_t slices = heed_gpu_divide(params.depth, params.slice);
  heed_gpu_scratch(builder, &dispatch, 0, 0, slices * params.rows * params.columns * sizeof(float),
                   false);
  bind_result(builder, node, &dispatch, some, false, &params);
  const uint32_t width = heed_gpu_width(builder);
  uint32_t groups[2];
  heed_gpu_spread(builder, (uint64_t)params.rows * heed_gpu_divide(params.columns, 4), width,
                  groups);
  HEED_GPU_DISPATCH(builder, &dispatch, &params, groups[0], groups[1], 1, width,
                    (uint32_t)desc->activation, desc->bias.id != 0, desc->residual.id != 0,
                    desc->heads != 0, dispatch.binding[4].half);
}

static heed_linear_params make_params(const heed_gpu_builder *builder, const heed_linear_desc *desc,
                                      const part *some) {
  const heed_shape *x = heed_gpu_shape(builder, desc->x.id),
                   *w = heed_gpu_shape(builder, desc->weight.id);
  heed_linear_params params = {.columns = some->columns,
                               .depth = w->dim[1],
                               .heads = 1,
                               .tokens = 1,
                               .head_size = 1,
                               .batch = 1};
  params.rows = heed_gpu_count(builder, desc->x.id) / params.depth;
  if (desc->heads) {
    params.batch = x->dim[0];
    params.tokens = x->dim[1];
    params.heads = desc->heads;
    params.head_size = w->dim[0] / desc->parts / desc->heads;
  }
  return params;
}

/* How x can be read: VECTOR of shaders/include/tile.glsl. */
static uint32_t find_reading(const heed_gpu_range *x, const heed_linear_params *params,
                             const heed_gpu_tile *tile, bool vector) {
  const bool eights = tile->matrix && !tile->side && params->depth % 8 == 0 &&
                      params->x_origin % 8 == 0 && x->offset % 16 == 0;
  return x->half ? (eights ? 3 : 2) : vector && eights ? 4 : vector;
}

/* Sums without the rest of the node. */
static void bind_slices(heed_gpu_builder *builder, heed_gpu_dispatch *dispatch, bool converts,
                        uint64_t count) {
  heed_gpu_scratch(builder, dispatch, 4, 0, count * sizeof(float), true);
  heed_gpu_count_past(builder, dispatch, 5, converts);
}

/* Whether x can be read as vec4 along the depth. */
static bool is_vector(const heed_linear_params *params) {
  return params->depth % 4 == 0 && params->x_origin % 4 == 0;
}

/* Binds x of a product of floats, and chooses its tile. */
static heed_gpu_tile begin(heed_gpu_builder *builder, uint32_t x, heed_linear_params *params,
                           heed_gpu_dispatch *dispatch) {
  dispatch->shader = HEED_SHADER_linear;
  params->x_origin = heed_gpu_read(builder, dispatch, 0, x);
  heed_gpu_tile tile = heed_gpu_choose_tile(builder, params->rows, params->columns, params->depth,
                                            &dispatch->binding[0], is_vector(params));
  if (tile.half)
    dispatch->shader = tile.matrix ? HEED_SHADER_linear_matrix : HEED_SHADER_linear_half;
  if (heed_gpu_choose_side(builder, params->rows, params->columns, &tile))
    dispatch->shader = HEED_SHADER_linear_matrix2;
  if (tile.texels) {
    dispatch->shader = HEED_SHADER_linear_texel;
    heed_gpu_as_texels(dispatch, 0);
  }
  return tile;
}

static void add_part(heed_gpu_builder *builder, const heed_node *node, const part *some) {
  const heed_linear_desc *desc = node->desc;
  const heed_quantised *int8 = heed_gpu_int8_of(builder->plan->graph, desc->weight.id);
  heed_linear_params params = make_params(builder, desc, some);
  heed_gpu_dispatch dispatch = {.binding_count = 0};
  heed_gpu_tile tile =
      int8 ? heed_gpu_int8_begin(builder, desc->x.id, int8, some->first, &params, &dispatch)
           : begin(builder, desc->x.id, &params, &dispatch);
  heed_gpu_slice_tile(builder, params.rows, params.depth, &tile);
  if (tile.scalar && tile.sliced)
    heed_gpu_by_subgroups(builder, &dispatch, HEED_SHADER_linear_int8_subgroup);
  const uint32_t share = choose_share(builder, params.depth, &tile);
  params.slice = tile.sliced ? share / tile.groups : share;
  tile.slices = heed_gpu_divide(params.depth, share);
  const bool split = tile.slices > 1,
             converts = tile.matrix && !tile.side && !int8 && !dispatch.binding[0].half;
  if (split)
    bind_slices(builder, &dispatch, converts, (uint64_t)tile.slices * params.rows * params.columns);
  else
    bind_result(builder, node, &dispatch, some, converts, &params);
  /* columns that lie side by side in y */
  const uint32_t run = desc->heads && !split ? params.head_size : params.columns;
  const bool vector_out =
      run % 4 == 0 && params.y_origin % 4 == 0 && params.residual_origin % 4 == 0;
  const uint32_t constants[6] = {
      find_reading(&dispatch.binding[0], &params, &tile, is_vector(&params)),
      split ? (uint32_t)HEED_ACTIVATION_NONE : (uint32_t)desc->activation,
      desc->bias.id == 0 || split                                      ? 0
      : vector_out && params.columns % 4 + params.bias_origin % 4 == 0 ? 2
                                                                       : 1,
      dispatch.binding[4].half ? 2 : vector_out,
      desc->residual.id != 0 && !split,
      desc->heads != 0 && !split};
  const uint32_t depth = heed_gpu_shape(builder, desc->weight.id)->dim[1];
  const heed_gpu_panels panels = {params.columns, depth,    tile.panel, tile.half, 0, 0,
                                  some->first,    tile.int8};
  heed_gpu_append_panels(builder, &dispatch, &tile, desc->weight.id, panels, constants, &params,
                         sizeof params, &params.first_panel);
  params.slice = share;
  if (split) add_sum(builder, node, some, params);
}

/* A piece of the batch is no one range of a head-major result, but one of each of its parts: those
 * become products of their own. */
static void build(heed_gpu_builder *builder, const heed_node *node) {
  const heed_linear_desc *desc = node->desc;
  const uint32_t columns = heed_gpu_shape(builder, desc->weight.id)->dim[0];
  const bool alone = desc->heads && builder->piece.size;
  part some = {0, 0, alone ? columns / desc->parts : columns, alone};
  for (; some.first < columns && builder->status == HEED_OK;
       some.first += some.columns, some.number++)
    add_part(builder, node, &some);
}

static heed_gpu_split_axes split_axes(const heed_gpu_builder *builder, const heed_node *node) {
  const heed_linear_desc *desc = node->desc;
  return desc->heads ? (heed_gpu_split_axes){desc->x.id, 1, desc->parts}
                     : heed_gpu_split_rows(builder, node);
}

/* The parts of a head-major result lie one after the other. */
static bool is_unsplit(const heed_gpu_builder *builder, const heed_node *node, uint32_t value) {
  (void)builder;
  return ((const heed_linear_desc *)node->desc)->heads && value == node->output[0];
}

static bool writes_fp16(const heed_plan *plan, const heed_gpu_limits *limits,
                        const heed_node *node) {
  (void)limits;
  const heed_linear_desc *desc = node->desc;
  return !desc->residual.id &&
         heed_op_last(heed_graph_record(plan->graph, node->output[0])) % 4 == 0;
}

static bool reads_fp16(const heed_graph *graph, const heed_node *node, uint32_t slot) {
  const heed_linear_desc *desc = node->desc;
  return slot == HEED_LINEAR_INPUT_X &&
         heed_op_last(heed_graph_record(graph, desc->weight.id)) % 4 == 0;
}

/* Products have no slices: those are of attentions. */
static bool has_key(const heed_gpu_shape_key *key) { return key->slices == 0; }

static bool get_key(const heed_graph *graph, const heed_node *node, const heed_gpu_limits *limits,
                    heed_gpu_shape_key *key) {
  const heed_linear_desc *desc = node->desc;
  if (heed_gpu_int8_of(graph, desc->weight.id)) return false;
  const uint32_t *weight = heed_graph_record(graph, desc->weight.id)->shape.dim;
  *key = (heed_gpu_shape_key){.rows = (uint32_t)(heed_op_count(graph, desc->x) / weight[1]),
                              .columns = weight[0],
                              .depth = weight[1],
                              .half = limits->half};
  return true;
}

/* Numbers, since a device is faster and cooler with zeros. */
static heed_status read_numbers(void *user, uint64_t first, uint64_t count, void *to,
                                heed_error *error) {
  (void)user, (void)error;
  for (uint64_t i = 0; i < count; i++)
    ((float *)to)[i] = (float)((int)((first + i) * 7 % 19) - 9) / 64.0f;
  return HEED_OK;
}

static heed_value define(heed_graph *graph, const heed_gpu_shape_key *key) {
  const heed_constant_desc constant = {.struct_size = sizeof constant,
                                       .dtype = HEED_F32,
                                       .shape = HEED_SHAPE(key->columns, key->depth),
                                       .read = read_numbers};
  const heed_linear_desc linear = {
      .struct_size = sizeof linear,
      .x = heed_define_input(graph, "x", HEED_F32, &HEED_SHAPE(1, key->rows, key->depth)),
      .weight = heed_define_constant(graph, &constant)};
  return heed_define_linear(graph, &linear);
}

static const heed_gpu_op_tune tune = {.get_key = get_key,
                                      .has_key = has_key,
                                      .count_candidates = heed_gpu_tile_candidates,
                                      .define = define};

static heed_status read_int8(void *user, uint64_t first, uint64_t count, void *to,
                             heed_error *error) {
  (void)user, (void)error;
  for (uint64_t i = 0; i < count; i++)
    ((int8_t *)to)[i] = (int8_t)((int)((first + i) * 61 % 255) - 127);
  return HEED_OK;
}

/* A weight in int8: every tile's tail, and rows that the widest tile takes. */
static void check_int8(heed_gpu_check_graph *c) {
  static const float scale[HEED_GPU_CHECK_ODD] = {0x1p-9f, 0x1p-8f, 0x1p-10f, [36] = 0x1p-9f};
  const heed_quantised_desc weight = {.struct_size = sizeof weight,
                                      .shape = HEED_SHAPE(HEED_GPU_CHECK_ODD, HEED_GPU_CHECK_ODD),
                                      .scale = scale,
                                      .read = read_int8};
  const heed_linear_desc desc = {.struct_size = sizeof desc,
                                 .x = c->tokens,
                                 .weight = heed_define_quantised(c->graph, &weight),
                                 .bias = heed_gpu_check_constant(c, HEED_SHAPE(HEED_GPU_CHECK_ODD)),
                                 .activation = HEED_ACTIVATION_GELU};
  heed_gpu_check_keep(c, heed_define_linear(c->graph, &desc));
}

/* Few rows and columns, as a classifier has them. */
static void check(heed_gpu_check_graph *c) {
  check_int8(c);
  const uint32_t classes = 5;
  const heed_linear_desc desc = {
      .struct_size = sizeof desc,
      .x = heed_gpu_check_constant(c, HEED_SHAPE(HEED_GPU_CHECK_BATCH, HEED_GPU_CHECK_ODD)),
      .weight = heed_gpu_check_constant(c, HEED_SHAPE(classes, HEED_GPU_CHECK_ODD)),
      .bias = heed_gpu_check_constant(c, HEED_SHAPE(classes))};
  heed_gpu_check_keep(c, heed_define_linear(c->graph, &desc));
}

const heed_gpu_op heed_gpu_linear = {
    .build = build,
    .check = check,
    .split_axes = split_axes,
    .whole = 1u << HEED_LINEAR_INPUT_WEIGHT | 1u << HEED_LINEAR_INPUT_BIAS,
    .is_unsplit = is_unsplit,
    .writes_fp16 = writes_fp16,
    .reads_fp16 = reads_fp16,
    .tune = &tune};
