/* attention on a GPU. On a GPU one kernel whose query rows stay in registers; on a software device,
 * whose compiler does not take that many registers, for large heads, the additive score and the
 * sparse norms, three dispatches. */
#include <string.h>

#include "gpu/device_rules.h"
#include "gpu/fp16_values.h"
#include "gpu/ops/attention_parts.h"
#include "gpu/self_check_graph.h"
#include "gpu/split_values.h"
#include "gpu/tile.h"
#include "graph/op_check.h"
#include "params/attention.h"
#include "params/attention_join.h"

#define LARGEST_DEPTH 128 /* of a query row in registers */
#define BINDINGS_WITH_WEIGHTS 11
#define BINDINGS_WITH_COUNTER 12 /* of attention by matrices */
#define KEYS 4                   /* of a block, unless tuning found another number */
#define WIDTH 64                 /* of a workgroup */
#define MOST_PARTS 16
#define LEAST_BLOCKS 4 /* of keys for a lane: fewer cost more in joining than they gain */

static uint32_t find_flags(const heed_attention_desc *desc) {
  uint32_t flags = 0;
  if (desc->mask.id) flags |= HEED_ATTENTION_MASK;
  if (desc->key_padding.id) flags |= HEED_ATTENTION_KEY_PADDING;
  if (desc->query_padding.id) flags |= HEED_ATTENTION_QUERY_PADDING;
  if (desc->bias.id) flags |= HEED_ATTENTION_BIAS;
  if (desc->causal != HEED_CAUSAL_NONE) flags |= HEED_ATTENTION_CAUSAL;
  if (desc->window && desc->window_left >= 0) flags |= HEED_ATTENTION_LEFT;
  if (desc->window && desc->window_right >= 0) flags |= HEED_ATTENTION_RIGHT;
  if (heed_attention_hides(desc)) flags |= HEED_ATTENTION_GUARD;
  if (desc->softcap > 0.0f) flags |= HEED_ATTENTION_SOFTCAP;
  if (desc->merge_heads) flags |= HEED_ATTENTION_MERGE;
  if ((flags & HEED_ATTENTION_GUARD) && desc->empty_row != HEED_EMPTY_ROW_ZERO)
    flags |= HEED_ATTENTION_FILLS;
  return flags;
}

/* A distance between the keys of a query and its own position. One that reaches past everything is
 * made shorter, so that sums with it stay in 32 bits. */
static int32_t clip(const heed_attention_sizes *sizes, int64_t distance) {
  const int64_t most = (int64_t)sizes->queries + sizes->keys;
  return (int32_t)(distance > most ? most : distance < -most ? -most : distance);
}

static void find_position(heed_gpu_attention_job *job) {
  const int64_t offset = heed_attention_offset(job->desc, job->sizes.queries, job->sizes.keys);
  job->offset = clip(&job->sizes, offset);
  job->window_left = job->offset - clip(&job->sizes, offset - job->desc->window_left);
  job->window_right = clip(&job->sizes, offset + job->desc->window_right) - job->offset;
}

static heed_attention_params make_params(const heed_gpu_attention_job *job) {
  const heed_attention_sizes *s = &job->sizes;
  heed_attention_params params = {
      .batch = s->batch,
      .heads = s->heads,
      .key_heads = s->key_heads,
      .queries = s->queries,
      .keys = s->keys,
      .rows = s->rows,
      .scale = job->desc->scale,
      .softcap = job->desc->softcap,
      .offset = job->offset,
      .window_left = job->window_left,
      .window_right = job->window_right,
  };
  memcpy(params.mask_stride, s->mask_stride, sizeof params.mask_stride);
  memcpy(params.bias_stride, s->bias_stride, sizeof params.bias_stride);
  return params;
}

/* Binds what both variants have. Returns the flags of how query, key and value can be read. */
static uint32_t bind_inputs(const heed_gpu_attention_job *job, heed_gpu_dispatch *dispatch,
                            heed_attention_params *params) {
  heed_gpu_builder *builder = job->builder;
  const heed_attention_desc *desc = job->desc;
  params->query_origin = heed_gpu_read(builder, dispatch, 0, desc->query.id);
  params->key_origin = heed_gpu_read(builder, dispatch, 1, desc->key.id);
  params->value_origin = heed_gpu_read(builder, dispatch, 2, desc->value.id);
  params->mask_origin = heed_gpu_read(builder, dispatch, 4, desc->mask.id);
  params->key_padding_origin = heed_gpu_read(builder, dispatch, 5, desc->key_padding.id);
  params->query_padding_origin = heed_gpu_read(builder, dispatch, 6, desc->query_padding.id);
  params->bias_origin = heed_gpu_read(builder, dispatch, 7, desc->bias.id);
  return ((job->sizes.depth | job->sizes.value_depth | params->key_origin | params->value_origin) %
                      4 ==
                  0
              ? HEED_ATTENTION_VECTOR
              : 0) |
         (dispatch->binding[0].half ? HEED_ATTENTION_QUERY_HALF : 0) |
         (dispatch->binding[1].half ? HEED_ATTENTION_KEY_HALF : 0) |
         (dispatch->binding[2].half ? HEED_ATTENTION_VALUE_HALF : 0);
}

/* Invocations that share the keys of a row, keys at a time, workgroups that share the keys, and
 * invocations that share a row's depth: 1, KEYS, 1 and 1 where rows alone fill the device and a row
 * fits the registers of a lane. apart: the last ones are in subgroups of their own. */
typedef struct share {
  uint32_t lanes, keys, parts, depth;
  bool apart;
} share;

/* What tuning tries of the first two and of the last, 0 being the table's. */
static const share candidates[] = {{1, 4, 1, 0, false}, {2, 4, 1, 0, false},  {4, 4, 1, 0, false},
                                   {8, 4, 1, 0, false}, {16, 4, 1, 0, false}, {1, 8, 1, 0, false},
                                   {4, 8, 1, 0, false}, {1, 4, 1, 1, false},  {1, 4, 1, 2, false},
                                   {1, 4, 1, 4, false}, {2, 4, 1, 4, false},  {4, 4, 1, 1, true},
                                   {1, 4, 1, 4, true},  {2, 4, 1, 2, true}};

static uint32_t count_candidates(const heed_gpu_limits *limits) {
  if (limits->cpu) return heed_gpu_split_candidates();
  if (limits->matrix.rows) return heed_gpu_attention_matrix_candidates(limits);
  return (uint32_t)(sizeof candidates / sizeof *candidates);
}

static heed_gpu_shape_key make_key(const heed_gpu_limits *limits, const heed_attention_sizes *s) {
  return (heed_gpu_shape_key){s->queries, s->keys,      s->depth,       s->batch * s->heads,
                              s->heads,   s->key_heads, s->value_depth, limits->half};
}

/* Numbers of a row's query and output that a lane holds, with keys in fp32 and in fp16, so that
 * nothing is spilled. Beside them lie the sums, and the keys that a compiler loads ahead. shuffles:
 * lanes that share the row meet by them. */
static uint32_t row_room(const heed_gpu_limits *limits, bool half, bool shuffles) {
  const heed_gpu_device_rules *rules = heed_gpu_rules(limits);
  if (!shuffles && rules->row_floor) return rules->row_floor;
  return half ? rules->row_half : rules->row_whole;
}

#define MOST_DEPTH_LANES 16

static uint32_t choose_depth_lanes(const heed_gpu_attention_job *job, uint32_t flags,
                                   uint32_t chosen) {
  const heed_attention_sizes *s = &job->sizes;
  const heed_gpu_limits *limits = job->builder->limits;
  const uint32_t room =
      row_room(limits, flags & HEED_ATTENTION_KEY_HALF, limits->tier != HEED_GPU_TIER_FLOOR);
  uint32_t lanes = 1;
  while (lanes < MOST_DEPTH_LANES && (s->depth | s->value_depth) % (8 * lanes) == 0 &&
         (chosen ? lanes < chosen : (s->depth + s->value_depth) / lanes > room))
    lanes *= 2;
  if (!chosen && lanes == 2 && heed_gpu_rules(limits)->four_lanes &&
      (s->depth | s->value_depth) % 16 == 0)
    lanes = 4;
  return lanes;
}

/* Of a row, lanes that lie apart: each in a subgroup of its own, which has a row for each of its
 * lanes. */
static bool can_lie_apart(const heed_gpu_attention_job *job, uint32_t rows, uint32_t lanes,
                          uint32_t depth_lanes) {
  const heed_gpu_limits *limits = job->builder->limits;
  return limits->required_lanes >= 4 && limits->required_lanes <= WIDTH &&
         rows >= limits->required_lanes && lanes * limits->required_lanes <= limits->invocations &&
         (job->sizes.depth | job->sizes.value_depth) % (4 * depth_lanes) == 0;
}

/* With scalar loads all lanes of a subgroup that read the same keys and values take no register for
 * them. So lanes that share rows lie apart there: with few registers, which have no room for whole
 * rows, four that share the depth; with many those that share the keys, and two the depth of heads
 * over 64. Returns those of the depth, or 0: none lie apart. */
#define APART_LANES 4

static uint32_t choose_apart(const heed_gpu_attention_job *job, uint32_t rows) {
  const heed_gpu_limits *limits = job->builder->limits;
  const uint32_t numbers = job->sizes.depth + job->sizes.value_depth;
  const heed_gpu_scalar_loads loads = heed_gpu_rules(limits)->scalar_loads;
  const bool few = loads == HEED_GPU_SCALARS_FEW_REGISTERS;
  const uint32_t depth = few ? APART_LANES : numbers > 128 ? 2 : 1;
  const bool gains = loads == HEED_GPU_SCALARS_MANY_REGISTERS || (few && numbers > 64);
  return gains && can_lie_apart(job, rows, APART_LANES, depth) ? depth : 0;
}

/* Lanes that load their own keys where others have scalars: fewer at a time leave registers for
 * four waves. */
static bool loads_keys(const heed_gpu_limits *limits, const share *all) {
  if (all->apart) return false;
  switch (heed_gpu_rules(limits)->scalar_loads) {
    case HEED_GPU_SCALARS_FEW_REGISTERS: return all->depth > 1;
    case HEED_GPU_SCALARS_MANY_REGISTERS: return all->lanes > 1 && all->depth == 1;
    case HEED_GPU_SCALARS_NONE: break;
  }
  return false;
}

/* Of a workgroup. */
static uint32_t count_rows(const heed_gpu_limits *limits, const share *all) {
  return all->apart ? limits->required_lanes : WIDTH / (all->lanes * all->depth);
}

/* Fours of a query that an invocation of a workgroup can park: what the shares of a logit and the
 * exponentials that lanes hand each other leave of shared memory. */
static uint32_t room_to_park(const heed_gpu_limits *limits, const share *all) {
  const uint32_t four = 4 * sizeof(float),
                 width = count_rows(limits, all) * all->lanes * all->depth;
  const uint32_t shares = all->depth > 1 ? width * four : 0,
                 exponentials =
                     all->depth > 1 && all->apart ? width / all->depth * all->keys * 4 : 0;
  const uint32_t taken = shares + exponentials;
  return taken < limits->shared ? (limits->shared - taken) / (width * four) : 0;
}

/* Fours of a query in shared memory, where a lane has all of a head of 64: what leaves room for
 * four waves, and so many bytes that four waves' parts fit, too. With scalar loads keys in fp16
 * leave enough unless each lane loads its own. */
static uint32_t choose_parked(const heed_gpu_attention_job *job, const share *all, uint32_t flags) {
  const heed_gpu_limits *limits = job->builder->limits;
  const heed_gpu_device_rules *rules = heed_gpu_rules(limits);
  if (job->sizes.depth != 64 || all->depth > 1) return 0;
  if (rules->scalar_loads && !loads_keys(limits, all) && (flags & HEED_ATTENTION_KEY_HALF))
    return 0;
  const uint32_t wanted = all->lanes > 1 ? rules->parked_shared : rules->parked,
                 room = room_to_park(limits, all);
  return wanted < room ? wanted : room;
}

/* Workgroups of WIDTH invocations. */
static uint64_t count_groups(const heed_gpu_attention_job *job, const share *all, uint32_t rows) {
  const uint32_t once = count_rows(job->builder->limits, all);
  return (uint64_t)job->sizes.batch * job->sizes.heads * heed_gpu_divide(rows, once) *
         (all->apart ? all->lanes * all->depth : 1);
}

static share choose_share(const heed_gpu_attention_job *job, uint32_t rows, uint32_t flags) {
  const heed_attention_sizes *s = &job->sizes;
  const heed_gpu_limits *limits = job->builder->limits;
  const uint64_t fill = limits->fill;
  share all = {1, KEYS, 1, 0, false};
  const bool chosen = job->choice && job->choice <= sizeof candidates / sizeof *candidates &&
                      (candidates[job->choice - 1].lanes == 1 ||
                       s->keys >= candidates[job->choice - 1].lanes * 2 * KEYS * LEAST_BLOCKS);
  if (chosen) all = candidates[job->choice - 1];
  if (!chosen) {
    all.depth = choose_apart(job, rows);
    all.apart = all.depth != 0;
  }
  all.apart = all.apart && can_lie_apart(job, rows, all.lanes * all.depth, all.depth);
  if (!all.apart) all.depth = choose_depth_lanes(job, flags, all.depth);
  const bool shuffles = all.depth > 1 && limits->tier != HEED_GPU_TIER_FLOOR;
  /* a row that lanes cannot share further leaves few registers for keys */
  if (!chosen && !all.apart &&
      (s->depth + s->value_depth) / all.depth >
          row_room(limits, flags & HEED_ATTENTION_KEY_HALF, shuffles))
    all.keys = KEYS / 2;
  const uint32_t most_lanes = all.apart ? APART_LANES : WIDTH;
  while (!chosen && all.lanes * all.depth < most_lanes &&
         count_groups(job, &all, rows) * 2 <= fill &&
         s->keys >= all.lanes * 2 * KEYS * LEAST_BLOCKS)
    all.lanes *= 2;
  all.apart = all.apart && all.lanes * all.depth > 1;
  const uint64_t groups = count_groups(job, &all, rows);
  if ((flags & HEED_ATTENTION_ONE_PASS) && groups * 2 <= fill) {
    const uint64_t most = s->keys / (all.lanes * all.keys * LEAST_BLOCKS),
                   wants = fill / groups < MOST_PARTS ? fill / groups : MOST_PARTS;
    all.parts = (uint32_t)(wants < most ? wants : most);
    if (all.parts < 1) all.parts = 1;
  }
  if (!chosen && loads_keys(limits, &all)) all.keys = KEYS / 2;
  return all;
}

static uint64_t part_bytes(const heed_attention_sizes *s, uint32_t parts) {
  return (uint64_t)parts * s->batch * s->heads * s->queries * (s->value_depth + 4) * sizeof(float);
}

static void add_join(const heed_gpu_attention_job *job, uint32_t parts) {
  heed_gpu_builder *builder = job->builder;
  const heed_attention_sizes *s = &job->sizes;
  heed_gpu_dispatch dispatch = {.shader = HEED_SHADER_attention_join};
  heed_gpu_scratch(builder, &dispatch, 0, 0, part_bytes(s, parts), false);
  const heed_attention_join_params params = {
      .batch = s->batch,
      .heads = s->heads,
      .queries = s->queries,
      .depth = s->value_depth,
      .parts = parts,
      .output_origin = heed_gpu_write(builder, &dispatch, 1, job->node->output[0]),
  };
  const uint32_t width = heed_gpu_width(builder);
  uint32_t groups[2];
  heed_gpu_spread(builder,
                  (uint64_t)s->batch * s->heads * s->queries * heed_gpu_divide(s->value_depth, 4),
                  width, groups);
  HEED_GPU_DISPATCH(builder, &dispatch, &params, groups[0], groups[1], 1, width,
                    job->desc->merge_heads, (uint32_t)job->desc->empty_row,
                    dispatch.binding[1].half);
}

static void add_matrices(const heed_gpu_attention_job *job, heed_gpu_dispatch *dispatch,
                         const heed_attention_params *params, const heed_gpu_attention_tile *tile,
                         uint32_t flags) {
  const heed_attention_sizes *s = &job->sizes;
  const heed_gpu_matrix *m = &job->builder->limits->matrix;
  const uint32_t rows = flags & HEED_ATTENTION_ROWS ? s->rows : s->queries,
                 once = tile->subgroups * tile->rows * m->rows;
  dispatch->tier = HEED_GPU_TIER_COOPERATIVE;
  dispatch->lanes = m->lanes;
  heed_gpu_set_tile(dispatch, once, tile->block);
  HEED_GPU_DISPATCH(job->builder, dispatch, params, heed_gpu_divide(rows, once), s->heads, s->batch,
                    tile->subgroups * m->lanes, s->depth, s->value_depth, tile->block, flags,
                    (uint32_t)job->desc->empty_row, tile->subgroups, m->rows, m->columns, m->depth,
                    m->lanes, tile->rows);
}

/* listed: only the wanted rows, and no output. */
static void add_fused(const heed_gpu_attention_job *job, bool weights, bool listed) {
  heed_gpu_builder *builder = job->builder;
  const heed_attention_sizes *s = &job->sizes;
  uint32_t flags = job->flags;
  heed_gpu_attention_tile tile;
  const bool plain =
      !weights && job->desc->empty_row != HEED_EMPTY_ROW_MEAN &&
      !(flags & (HEED_ATTENTION_MASK | HEED_ATTENTION_KEY_PADDING | HEED_ATTENTION_QUERY_PADDING |
                 HEED_ATTENTION_BIAS | HEED_ATTENTION_SOFTCAP));
  const bool matrices = builder->limits->bindings >= BINDINGS_WITH_COUNTER &&
                        heed_gpu_attention_matrices(builder->limits, s, job->choice, plain, &tile);
  heed_gpu_dispatch dispatch = {.shader = matrices && tile.reduces
                                              ? HEED_SHADER_attention_matrix_reduce
                                          : matrices ? HEED_SHADER_attention_matrix
                                          : weights  ? HEED_SHADER_attention_weights
                                                     : HEED_SHADER_attention};
  heed_attention_params params = make_params(job);
  flags |= bind_inputs(job, &dispatch, &params);
  params.output_origin = heed_gpu_write(builder, &dispatch, 3, listed ? 0 : job->node->output[0]);
  if (weights || matrices) {
    const bool stores_weights = weights && job->wants_weights,
               stores_logits = weights && job->wants_logits;
    params.weights_origin =
        heed_gpu_write(builder, &dispatch, 8,
                       stores_weights ? job->node->output[HEED_ATTENTION_RESULT_WEIGHTS] : 0);
    params.logits_origin = heed_gpu_write(
        builder, &dispatch, 9, stores_logits ? job->node->output[HEED_ATTENTION_RESULT_LOGITS] : 0);
    flags |=
        (stores_weights ? HEED_ATTENTION_WEIGHTS : 0) | (stores_logits ? HEED_ATTENTION_LOGITS : 0);
    heed_gpu_read(builder, &dispatch, 10, 0);
  }
  if (listed) {
    heed_gpu_read_data(builder, &dispatch, 10, job->desc->rows,
                       (uint64_t)s->rows * sizeof *job->desc->rows);
    flags |= HEED_ATTENTION_ROWS | HEED_ATTENTION_NO_OUTPUT;
  }
  if (dispatch.binding[3].half) flags |= HEED_ATTENTION_OUTPUT_HALF;
  if (!weights && job->desc->empty_row != HEED_EMPTY_ROW_MEAN) flags |= HEED_ATTENTION_ONE_PASS;
  if (matrices) {
    heed_gpu_count_past(builder, &dispatch, 11,
                        !dispatch.binding[0].half || !dispatch.binding[1].half);
    add_matrices(job, &dispatch, &params, &tile, flags);
    return;
  }
  const uint32_t rows = listed ? s->rows : s->queries;
  const share all = choose_share(job, rows, flags);
  const uint32_t lanes = all.lanes * all.depth;
  if (lanes > 1 && builder->limits->tier >= HEED_GPU_TIER_SUBGROUP)
    heed_gpu_by_subgroups(
        builder, &dispatch,
        weights ? HEED_SHADER_attention_weights_subgroup : HEED_SHADER_attention_subgroup);
  if (all.parts > 1) heed_gpu_scratch(builder, &dispatch, 3, 0, part_bytes(s, all.parts), true);
  const uint32_t once = count_rows(builder->limits, &all);
  heed_gpu_set_tile(&dispatch, once, all.lanes * all.keys);
  HEED_GPU_DISPATCH(builder, &dispatch, &params, heed_gpu_divide(rows, once) * all.parts, s->heads,
                    s->batch, once * lanes, lanes, s->depth, s->value_depth, all.keys, flags,
                    (uint32_t)job->desc->empty_row, all.parts, all.depth,
                    choose_parked(job, &all, flags), all.apart ? once : 1);
  if (all.parts > 1) add_join(job, all.parts);
}

/* Storage buffers of the one kernel with weights, or logits. */
static uint32_t count_bindings(const heed_gpu_limits *limits, const heed_plan *plan,
                               const heed_node *node) {
  const heed_attention_desc *desc = node->desc;
  if (!limits->counts_bound) return BINDINGS_WITH_WEIGHTS;
  const bool more[] = {desc->mask.id != 0,
                       desc->key_padding.id != 0,
                       desc->query_padding.id != 0,
                       desc->bias.id != 0,
                       heed_plan_wants(plan, node->output[HEED_ATTENTION_RESULT_WEIGHTS]),
                       heed_plan_wants(plan, node->output[HEED_ATTENTION_RESULT_LOGITS])};
  uint32_t count = 4; /* query, key, value; output or the list of rows */
  for (size_t i = 0; i < sizeof more / sizeof *more; i++) count += more[i];
  return count;
}

/* Streamed is the one kernel, resident the three dispatches. What the plan asks for, where the
 * device has it: rows in registers are not for software devices, large heads and the additive
 * score. */
static heed_attention_mode mode(const heed_gpu_limits *limits, const heed_plan *plan,
                                const heed_node *node) {
  const heed_attention_desc *desc = node->desc;
  const bool weights = heed_plan_wants(plan, node->output[HEED_ATTENTION_RESULT_WEIGHTS]) ||
                       heed_plan_wants(plan, node->output[HEED_ATTENTION_RESULT_LOGITS]);
  heed_attention_sizes sizes;
  heed_attention_get_sizes(plan->graph, desc, &sizes);
  const bool plain = desc->norm == HEED_NORM_SOFTMAX && desc->score != HEED_SCORE_ADDITIVE;
  /* pieces of rows store pieces of the weights; the one kernel binds them whole */
  const uint64_t stored = (uint64_t)sizes.heads * sizes.rows * sizes.keys * sizeof(float);
  const bool streams = !limits->cpu && plain &&
                       !(weights && stored > heed_gpu_split_room(limits)) &&
                       sizes.depth <= LARGEST_DEPTH && sizes.value_depth <= LARGEST_DEPTH &&
                       !(weights && limits->bindings < count_bindings(limits, plan, node));
  return streams && plan->attention != HEED_ATTENTION_MODE_RESIDENT ? HEED_ATTENTION_MODE_STREAMED
                                                                    : HEED_ATTENTION_MODE_RESIDENT;
}

static void build(heed_gpu_builder *builder, const heed_node *node) {
  heed_gpu_attention_job job = {.builder = builder, .desc = node->desc, .node = node};
  heed_attention_get_sizes(builder->plan->graph, job.desc, &job.sizes);
  job.sizes.batch = heed_gpu_shape(builder, job.desc->query.id)->dim[0];
  const heed_gpu_shape_key key = make_key(builder->limits, &job.sizes);
  job.choice = heed_gpu_find_choice(builder->limits, &key);
  job.wants_weights = heed_plan_wants(builder->plan, node->output[HEED_ATTENTION_RESULT_WEIGHTS]);
  job.wants_logits = heed_plan_wants(builder->plan, node->output[HEED_ATTENTION_RESULT_LOGITS]);
  job.flags = find_flags(job.desc);
  find_position(&job);
  const bool weights = job.wants_weights || job.wants_logits,
             listed = weights && job.desc->row_count != 0;
  if (mode(builder->limits, builder->plan, node) == HEED_ATTENTION_MODE_RESIDENT) {
    heed_gpu_attention_split(&job);
    return;
  }
  add_fused(&job, weights && !listed, false);
  if (listed) add_fused(&job, true, true);
}

/* A mean of values in fp16 is none past 65504, so that its kernels need no counter. */
static bool writes_fp16(const heed_plan *plan, const heed_gpu_limits *limits,
                        const heed_node *node) {
  const heed_attention_desc *desc = node->desc;
  return heed_op_last(heed_graph_record(plan->graph, desc->value.id)) % 4 == 0 &&
         heed_gpu_is_fp16(plan, limits, desc->value.id);
}

/* Key and value are read as fours together. */
static bool reads_fp16(const heed_graph *graph, const heed_node *node, uint32_t slot) {
  const heed_attention_desc *desc = node->desc;
  return desc->score != HEED_SCORE_ADDITIVE &&
         heed_op_last(heed_graph_record(graph, desc->key.id)) % 4 == 0 &&
         heed_op_last(heed_graph_record(graph, desc->value.id)) % 4 == 0 &&
         (slot == HEED_ATTENTION_INPUT_QUERY || slot == HEED_ATTENTION_INPUT_KEY ||
          slot == HEED_ATTENTION_INPUT_VALUE);
}

static bool has_key(const heed_gpu_shape_key *key) { return key->slices != 0; }

static bool get_key(const heed_graph *graph, const heed_node *node, const heed_gpu_limits *limits,
                    heed_gpu_shape_key *key) {
  const heed_attention_desc *desc = node->desc;
  heed_attention_sizes sizes;
  heed_attention_get_sizes(graph, desc, &sizes);
  *key = make_key(limits, &sizes);
  return desc->score != HEED_SCORE_ADDITIVE && desc->norm == HEED_NORM_SOFTMAX;
}

/* Without masks, which change what a tile costs little. */
static heed_value define(heed_graph *graph, const heed_gpu_shape_key *key) {
  const uint32_t batch = key->slices / key->heads;
  const heed_attention_desc attention = {
      .struct_size = sizeof attention,
      .query = heed_define_input(graph, "query", HEED_F32,
                                 &HEED_SHAPE(batch, key->heads, key->rows, key->depth)),
      .key = heed_define_input(graph, "key", HEED_F32,
                               &HEED_SHAPE(batch, key->key_heads, key->columns, key->depth)),
      .value =
          heed_define_input(graph, "value", HEED_F32,
                            &HEED_SHAPE(batch, key->key_heads, key->columns, key->value_depth)),
  };
  return heed_define_attention(graph, &attention).output;
}

static const heed_gpu_op_tune tune = {
    .get_key = get_key, .has_key = has_key, .count_candidates = count_candidates, .define = define};

static void check(heed_gpu_check_graph *c) {
  heed_gpu_check_attend(
      c, c->image,
      HEED_SHAPE(HEED_GPU_CHECK_BATCH, HEED_GPU_CHECK_HEADS, HEED_GPU_CHECK_LENGTH,
                 HEED_GPU_CHECK_ODD_HEAD),
      (heed_attention_desc){
          .norm = HEED_NORM_SPARSEMAX, .causal = HEED_CAUSAL_TOP_LEFT, .softcap = 3.0f});
}

const heed_gpu_op heed_gpu_attention = {.build = build,
                                        .check = check,
                                        .split_axes = heed_gpu_split_batch,
                                        .whole = 1u << HEED_ATTENTION_INPUT_VA,
                                        .writes_fp16 = writes_fp16,
                                        .reads_fp16 = reads_fp16,
                                        .mode = mode,
                                        .tune = &tune};
