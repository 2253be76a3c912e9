/* Query, key and value of an attention. Where they are projections [B, T, H D] split into heads,
 * the linear map writes them head by head; and projections of one value are one map. See lower.h.
 */
#include <string.h>

#include "base/status.h"
#include "onnx/lower/lower.h"

typedef heed_lower_value value;

/* The sizes of axes that are longer than 1, and where they come from in an order. */
static uint32_t long_axes(const uint64_t *dims, const uint32_t *order, uint32_t rank,
                          uint64_t sizes[HEED_ONNX_MAX_RANK], uint32_t from[HEED_ONNX_MAX_RANK]) {
  uint32_t place[HEED_ONNX_MAX_RANK], count = 0, moved = 0;
  for (uint32_t i = 0; i < rank; i++) {
    place[i] = count;
    if (dims[i] != 1) sizes[count++] = dims[i];
  }
  for (uint32_t i = 0; i < rank; i++)
    if (dims[order[i]] != 1) from[moved++] = place[order[i]];
  return count;
}

/* Whether a permutation makes [B, H, T, D] of [B, T, H, D]; axes of 1 may stand anywhere. */
static bool splits_heads(const value *permute, const value *x) {
  static const uint32_t order[] = {0, 2, 1, 3};
  const uint64_t dims[] = {x->dims[0], x->dims[2], x->dims[1], x->dims[3]};
  uint64_t want[HEED_ONNX_MAX_RANK], sizes[HEED_ONNX_MAX_RANK];
  uint32_t to[HEED_ONNX_MAX_RANK], from[HEED_ONNX_MAX_RANK];
  const uint32_t count = long_axes(dims, order, 4, want, to);
  return long_axes(permute->x[0]->dims, permute->order, permute->rank, sizes, from) == count &&
         memcmp(sizes, want, count * sizeof *want) == 0 &&
         memcmp(from, to, count * sizeof *to) == 0;
}

/* The linear map at the end of what only moves its elements; or NULL. */
static value *map_of(const value *x) {
  while (x->kind == HEED_LOWER_RESHAPE || x->kind == HEED_LOWER_PERMUTE) x = x->x[0];
  return x->kind == HEED_LOWER_LINEAR ? (value *)x : NULL;
}

/* The map behind x [B, H, T, D], where nothing else reads it; or NULL. */
static value *map_behind(const value *x) {
  value *linear = map_of(x);
  const value *permute = NULL;
  if (!linear || linear->uses != 1 || linear->rank != 3 || linear->dims[0] != x->dims[0] ||
      linear->dims[1] != x->dims[2])
    return NULL;
  for (const value *v = x; v != linear; v = v->x[0]) {
    if (v->uses != 1 || (v->kind == HEED_LOWER_PERMUTE && permute)) return NULL;
    if (v->kind == HEED_LOWER_PERMUTE) permute = v;
  }
  const bool fits = permute ? splits_heads(permute, x) : x->dims[1] == 1 || x->dims[2] == 1;
  return fits ? linear : NULL;
}

void heed_lower_absorb_heads(value *attention) {
  for (uint32_t p = 0; p < 3; p++) {
    value *linear = map_behind(attention->x[p]);
    if (!linear) continue;
    for (value *v = attention->x[p]; v != linear; v = v->x[0]) v->absorbed = true;
    linear->absorbed = true;
  }
}

/* Several maps of one value, as one matrix. */
static bool join(heed_lower *l, value *const *maps, uint32_t count, heed_lower_matrix *joined) {
  uint32_t parts = 0;
  bool biased = false, scaled = false;
  *joined = (heed_lower_matrix){.file = l->file, .columns = maps[0]->matrix->columns};
  for (uint32_t p = 0; p < count; p++) {
    parts += maps[p]->matrix->part_count;
    joined->rows += maps[p]->matrix->rows;
    biased = biased || maps[p]->matrix->bias;
    scaled = scaled || maps[p]->matrix->row_scale;
  }
  joined->parts = heed_lower_take(l, parts, sizeof *joined->parts);
  float *bias = biased ? heed_lower_take(l, joined->rows, sizeof *bias) : NULL,
        *scale = scaled ? heed_lower_take(l, joined->rows, sizeof *scale) : NULL;
  if (l->status != HEED_OK) return false;
  uint64_t row = 0;
  for (uint32_t p = 0; p < count; p++) {
    const heed_lower_matrix *m = maps[p]->matrix;
    memcpy(joined->parts + joined->part_count, m->parts, m->part_count * sizeof *m->parts);
    joined->part_count += m->part_count;
    for (uint64_t i = 0; i < m->rows; i++, row++) {
      if (bias) bias[row] = m->bias ? m->bias[i] : 0.0f;
      if (scale) scale[row] = m->row_scale ? m->row_scale[i] : 1.0f;
    }
  }
  joined->bias = bias;
  joined->row_scale = scale;
  return true;
}

/* x[0 .. count) of an attention by one linear map; `to` are views of it. */
static void emit_stack(heed_lower *l, value *const *x, uint32_t count, heed_value *to) {
  value *maps[3] = {NULL};
  heed_lower_matrix m;
  for (uint32_t p = 0; p < count; p++) maps[p] = map_of(x[p]);
  if (!join(l, maps, count, &m)) return;
  const heed_shape shape = {2, {(uint32_t)m.rows, (uint32_t)m.columns}},
                   part = heed_lower_shape(l, x[0]);
  const heed_linear_desc desc = {.struct_size = sizeof desc,
                                 .x = maps[0]->x[0]->made,
                                 .weight = heed_lower_emit_rows(l, &m, shape),
                                 .bias = heed_lower_emit_vector(l, m.bias, m.rows),
                                 .heads = part.dim[1],
                                 .parts = count};
  const heed_value stacked = heed_define_linear(l->graph, &desc);
  for (uint32_t p = 0; p < count; p++)
    to[p] = heed_define_view(l->graph, stacked, p * heed_shape_count(&part), &part);
}

static bool same_source(const value *a, const value *b) {
  return a->absorbed && b->absorbed && map_of(a)->x[0] == map_of(b)->x[0] &&
         memcmp(a->dims, b->dims, 4 * sizeof *a->dims) == 0;
}

void heed_lower_emit_heads(heed_lower *l, const value *attention, heed_value to[3]) {
  value *const *x = attention->x;
  for (uint32_t p = 0, count; p < 3; p += count) {
    count = 1;
    while (p + count < 3 && same_source(x[p], x[p + count])) count++;
    if (x[p]->absorbed)
      emit_stack(l, x + p, count, to + p);
    else
      to[p] = x[p]->made;
  }
}
