/* attention in three dispatches a piece: scores, norm, values. Pieces are some heads, or some rows
 * of one head, whose scores fit the scratch; a piece reads and writes the same scratch as the one
 * before. */
#include <string.h>

#include "base/alloc.h"
#include "gpu/ops/attention_parts.h"
#include "params/attention_norm.h"
#include "params/attention_scores.h"
#include "params/attention_values.h"

#define SCRATCH_BYTES ((uint64_t)8 << 20) /* of scores; the weights take the same again */
#define MOST_ROWS 16
#define NARROW_ROWS \
  256 /* of a piece whose keys are those of its rows: few, so that their keys are few */

typedef struct piece {
  uint32_t first_slice, slices, first_row, rows;
  /* those that position leaves to any of its rows; the first a multiple of 4 */
  uint32_t first_key, keys;
  uint32_t stride; /* keys rounded up to 4 */
  uint64_t bytes;  /* of its scores */
  bool listed;     /* rows are entries of the list of wanted rows: no output */
} piece;

/* What tuning tries: queries of a tile, bytes of scores. */
static const struct {
  uint32_t rows;
  uint64_t bytes;
} candidates[] = {{16, (uint64_t)8 << 20},
                  {16, (uint64_t)1 << 20},
                  {16, (uint64_t)256 << 10},
                  {8, (uint64_t)8 << 20},
                  {8, (uint64_t)1 << 20}};

uint32_t heed_gpu_split_candidates(void) {
  return (uint32_t)(sizeof candidates / sizeof *candidates);
}

static bool is_chosen(const heed_gpu_attention_job *job) {
  return job->builder->limits->cpu && job->choice && job->choice <= heed_gpu_split_candidates();
}
static uint32_t tile_rows(const heed_gpu_attention_job *job, uint32_t rows) {
  return rows >= 12  ? (is_chosen(job) ? candidates[job->choice - 1].rows : MOST_ROWS)
         : rows >= 3 ? 4
                     : 1;
}
static uint32_t width(const heed_gpu_builder *builder) {
  const uint32_t lanes = builder->limits->lanes;
  return !builder->limits->cpu ? 32 : lanes < 4 ? 4 : lanes > 16 ? 16 : lanes;
}

static void add_scores(const heed_gpu_attention_job *job, const piece *p) {
  heed_gpu_builder *builder = job->builder;
  const heed_attention_desc *desc = job->desc;
  const heed_attention_sizes *s = &job->sizes;
  const uint32_t va = job->node->input[HEED_ATTENTION_INPUT_VA];
  heed_gpu_dispatch dispatch = {.shader = va ? HEED_SHADER_attention_scores_additive
                                             : HEED_SHADER_attention_scores};
  heed_attention_scores_params params = {
      .heads = s->heads,
      .key_heads = s->key_heads,
      .queries = s->queries,
      .keys = s->keys,
      .depth = s->depth,
      .stride = p->stride,
      .first_slice = p->first_slice,
      .first_row = p->first_row,
      .rows = p->rows,
      .piece_key = p->first_key,
      .scale = desc->scale,
      .softcap = desc->softcap,
      .offset = job->offset,
      .window_left = job->window_left,
      .window_right = job->window_right,
      .query_origin = heed_gpu_read(builder, &dispatch, 0, desc->query.id),
      .key_origin = heed_gpu_read(builder, &dispatch, 1, desc->key.id),
      .mask_origin = heed_gpu_read(builder, &dispatch, 2, desc->mask.id),
      .key_padding_origin = heed_gpu_read(builder, &dispatch, 3, desc->key_padding.id),
      .query_padding_origin = heed_gpu_read(builder, &dispatch, 4, desc->query_padding.id),
      .bias_origin = heed_gpu_read(builder, &dispatch, 5, desc->bias.id),
  };
  memcpy(params.mask_stride, s->mask_stride, sizeof params.mask_stride);
  memcpy(params.bias_stride, s->bias_stride, sizeof params.bias_stride);
  if (va) {
    params.va_origin = heed_gpu_read(builder, &dispatch, 8, va);
    heed_gpu_as_single_texels(builder, &dispatch, 8);
  }
  if (p->listed)
    heed_gpu_read_data(builder, &dispatch, 6, desc->rows, (uint64_t)s->rows * sizeof *desc->rows);
  else
    heed_gpu_read(builder, &dispatch, 6, 0);
  heed_gpu_scratch(builder, &dispatch, 7, 0, p->bytes, true);
  uint32_t flags = job->flags | (p->listed ? HEED_ATTENTION_ROWS : 0);
  if (dispatch.binding[0].half) flags |= HEED_ATTENTION_QUERY_HALF;
  if (dispatch.binding[1].half) flags |= HEED_ATTENTION_KEY_HALF;
  if (!va && (s->depth | params.query_origin | params.key_origin) % 4 == 0) {
    flags |= HEED_ATTENTION_VECTOR;
    if (heed_gpu_can_texel(builder, heed_gpu_float_bytes(&dispatch.binding[0])) &&
        heed_gpu_can_texel(builder, heed_gpu_float_bytes(&dispatch.binding[1]))) {
      dispatch.shader = HEED_SHADER_attention_scores_texel;
      heed_gpu_as_texels(&dispatch, 0);
      heed_gpu_as_texels(&dispatch, 1);
    }
  }
  const uint32_t lanes = width(builder), rows = tile_rows(job, p->rows),
                 keys4 = p->keys > lanes * 4 ? 2 : 1;
  heed_gpu_set_tile(&dispatch, rows, lanes * keys4 * 4);
  HEED_GPU_DISPATCH(builder, &dispatch, &params, heed_gpu_divide(p->keys, lanes * keys4 * 4),
                    heed_gpu_divide(p->rows, rows), p->slices, lanes, rows, keys4, flags);
}

static void add_norm(const heed_gpu_attention_job *job, const piece *p) {
  heed_gpu_builder *builder = job->builder;
  const bool stores = p->listed || job->desc->row_count == 0;
  const bool weights = stores && job->wants_weights, logits = stores && job->wants_logits;
  heed_gpu_dispatch dispatch = {.shader = HEED_SHADER_attention_norm};
  heed_gpu_scratch(builder, &dispatch, 0, 0, p->bytes, false);
  heed_gpu_scratch(builder, &dispatch, 1, p->bytes, p->bytes, true);
  /* either some rows of one slice, or all rows of some: what is stored lies side by side */
  const uint64_t first =
                     ((uint64_t)p->first_slice * job->sizes.rows + p->first_row) * job->sizes.keys,
                 count = (uint64_t)p->slices * p->rows * job->sizes.keys;
  const heed_attention_norm_params params = {
      .keys = p->keys,
      .stride = p->stride,
      .rows = p->slices * p->rows,
      .threshold = job->desc->threshold,
      .weights_origin = heed_gpu_write_some(
          builder, &dispatch, 2, weights ? job->node->output[HEED_ATTENTION_RESULT_WEIGHTS] : 0,
          first, count),
      .logits_origin = heed_gpu_write_some(
          builder, &dispatch, 3, logits ? job->node->output[HEED_ATTENTION_RESULT_LOGITS] : 0,
          first, count),
  };
  if (heed_gpu_can_texel(builder, p->bytes)) {
    dispatch.shader = HEED_SHADER_attention_norm_texel;
    heed_gpu_as_texels(&dispatch, 0);
  }
  const uint32_t flags =
      (job->flags & HEED_ATTENTION_GUARD) | (weights ? HEED_ATTENTION_WEIGHTS : 0) |
      (logits ? HEED_ATTENTION_LOGITS : 0) | (p->listed ? HEED_ATTENTION_NO_OUTPUT : 0);
  uint32_t groups[2];
  heed_gpu_rows rows = heed_gpu_share_rows(builder, p->slices * p->rows, p->stride / 4);
  /* its rounds differ from row to row, and they are data: where barriers are to be provable, no
   * lanes share a row */
  if (job->desc->norm == HEED_NORM_SPARSEMAX && builder->limits->provable_barriers) {
    rows.lanes = 1;
    rows.subgroups = false;
  } else if (job->desc->norm == HEED_NORM_SPARSEMAX && !builder->limits->cpu) {
    rows.lanes = rows.width;
  }
  if (rows.subgroups)
    heed_gpu_by_subgroups(builder, &dispatch, HEED_SHADER_attention_norm_subgroup);
  heed_gpu_spread(builder, (uint64_t)p->slices * p->rows, rows.width / rows.lanes, groups);
  heed_gpu_set_tile(&dispatch, rows.width / rows.lanes, rows.lanes);
  HEED_GPU_DISPATCH(builder, &dispatch, &params, groups[0], groups[1], 1, rows.width, rows.lanes,
                    flags, (uint32_t)job->desc->norm, (uint32_t)job->desc->empty_row);
}

static void add_values(const heed_gpu_attention_job *job, const piece *p) {
  heed_gpu_builder *builder = job->builder;
  const heed_attention_sizes *s = &job->sizes;
  heed_gpu_dispatch dispatch = {.shader = HEED_SHADER_attention_values};
  heed_gpu_scratch(builder, &dispatch, 0, p->bytes, p->bytes, false);
  const heed_attention_values_params params = {
      .heads = s->heads,
      .key_heads = s->key_heads,
      .queries = s->queries,
      .keys = s->keys,
      .depth = s->value_depth,
      .stride = p->stride,
      .piece_key = p->first_key,
      .first_slice = p->first_slice,
      .first_row = p->first_row,
      .rows = p->rows,
      .offset = job->offset,
      .window_left = job->window_left,
      .window_right = job->window_right,
      .value_origin = heed_gpu_read(builder, &dispatch, 1, job->desc->value.id),
      .output_origin = heed_gpu_write(builder, &dispatch, 2, job->node->output[0]),
  };
  uint32_t flags = job->flags;
  if (dispatch.binding[1].half) flags |= HEED_ATTENTION_VALUE_HALF;
  if (dispatch.binding[2].half) flags |= HEED_ATTENTION_OUTPUT_HALF;
  if ((s->value_depth | params.output_origin) % 4 == 0) flags |= HEED_ATTENTION_VECTOR_OUT;
  if ((s->value_depth | params.value_origin) % 4 == 0) {
    flags |= HEED_ATTENTION_VECTOR;
    if (heed_gpu_can_texel(builder, heed_gpu_float_bytes(&dispatch.binding[1])) &&
        heed_gpu_can_texel(builder, 2 * p->bytes)) {
      dispatch.shader = HEED_SHADER_attention_values_texel;
      heed_gpu_as_texels(&dispatch, 0);
      heed_gpu_as_texels(&dispatch, 1);
    }
  }
  const uint32_t lanes = width(builder), rows = tile_rows(job, p->rows),
                 columns4 = heed_gpu_divide(s->value_depth, 4);
  const uint32_t columns = columns4 > lanes ? 2 : 1;
  heed_gpu_set_tile(&dispatch, rows, lanes * columns * 4);
  HEED_GPU_DISPATCH(builder, &dispatch, &params, heed_gpu_divide(columns4, lanes * columns),
                    heed_gpu_divide(p->rows, rows), p->slices, lanes, rows, columns, flags);
}

static void add_piece(const heed_gpu_attention_job *job, piece *p) {
  p->bytes = heed_align_up((uint64_t)p->slices * p->rows * p->stride * sizeof(float),
                           HEED_ARENA_ALIGNMENT);
  add_scores(job, p);
  add_norm(job, p);
  if (!p->listed) add_values(job, p);
}

/* Whether a piece needs no more keys than position leaves to its rows: nothing is stored or
 * averaged over the others. */
static bool narrows(const heed_gpu_attention_job *job, bool listed) {
  const bool position =
      (job->flags & (HEED_ATTENTION_CAUSAL | HEED_ATTENTION_LEFT | HEED_ATTENTION_RIGHT)) != 0;
  const bool stores = (job->wants_weights || job->wants_logits) && job->desc->row_count == 0;
  return position && !listed && !stores && !(job->flags & HEED_ATTENTION_FILLS);
}

static void find_keys(const heed_gpu_attention_job *job, piece *p, bool narrow) {
  uint32_t first = 0, end = job->sizes.keys, unused;
  if (narrow) { /* both ends only rise from row to row */
    heed_attention_key_range(job->desc, job->sizes.queries, job->sizes.keys, p->first_row, &first,
                             &unused);
    heed_attention_key_range(job->desc, job->sizes.queries, job->sizes.keys,
                             p->first_row + p->rows - 1, &unused, &end);
  }
  p->first_key = first / 4 * 4;
  p->keys = end > p->first_key ? end - p->first_key : 1;
  p->stride = (p->keys + 3) / 4 * 4;
}

/* All pieces of `rows` rows a slice. */
static void add_pieces(const heed_gpu_attention_job *job, uint32_t rows, bool listed) {
  const uint32_t slices = job->sizes.batch * job->sizes.heads;
  const bool narrow = narrows(job, listed);
  piece p = {.listed = listed};
  const uint64_t row_bytes = ((uint64_t)job->sizes.keys + 3) / 4 * 4 * sizeof(float);
  const uint64_t range = job->builder->limits->range,
                 wanted = is_chosen(job) ? candidates[job->choice - 1].bytes : SCRATCH_BYTES;
  uint64_t fit = (range < wanted ? range : wanted) / row_bytes; /* rows of all keys */
  if (fit < MOST_ROWS) fit = MOST_ROWS;
  const uint64_t most_rows = narrow && fit > NARROW_ROWS ? NARROW_ROWS : fit;
  const uint32_t rows_once =
      rows < most_rows ? rows : (uint32_t)(most_rows / MOST_ROWS * MOST_ROWS);
  uint32_t slices_once = fit / rows_once < slices ? (uint32_t)(fit / rows_once) : slices;
  if (slices_once > job->builder->limits->groups) slices_once = job->builder->limits->groups;
  for (p.first_slice = 0; p.first_slice < slices && job->builder->status == HEED_OK;
       p.first_slice += slices_once) {
    p.slices = slices - p.first_slice < slices_once ? slices - p.first_slice : slices_once;
    for (p.first_row = 0; p.first_row < rows && job->builder->status == HEED_OK;
         p.first_row += rows_once) {
      p.rows = rows - p.first_row < rows_once ? rows - p.first_row : rows_once;
      find_keys(job, &p, narrow);
      add_piece(job, &p);
    }
  }
}

void heed_gpu_attention_split(const heed_gpu_attention_job *job) {
  add_pieces(job, job->sizes.queries, false);
  if (job->desc->row_count && (job->wants_weights || job->wants_logits))
    add_pieces(job, job->desc->row_count, true);
}
