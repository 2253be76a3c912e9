/* Expressions that are products by constants: linear maps and patches. Their matrices stay where
 * the file has them. See lower.h. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "onnx/lower/lower.h"

typedef heed_lower_value value;

/* ------------------------------------------------------------------------------------- reading */

static heed_status read_rows(const heed_lower_matrix *m, const heed_lower_rows *rows,
                             uint64_t first, uint64_t count, float *to, heed_error *error) {
  first += rows->first * m->columns;
  if (rows->weight) return heed_onnx_weight_floats(m->file, rows->weight, first, count, to, error);
  const uint64_t stored = rows->array->count / m->columns;
  for (uint64_t i = 0; i < count; i++) {
    const uint64_t at = first + i, from = at % m->columns * stored + at / m->columns;
    to[i] = (float)heed_onnx_number(rows->array, rows->turned ? from : at);
  }
  return HEED_OK;
}

heed_status heed_lower_read_matrix(void *user, uint64_t first, uint64_t count, void *to,
                                   heed_error *error) {
  const heed_lower_matrix *m = user;
  float *out = to;
  uint64_t done = 0, begin = 0; /* begin: the first element of the part */
  for (uint32_t p = 0; p < m->part_count && done < count; p++) {
    const uint64_t size = m->parts[p].count * m->columns, at = first + done;
    if (at < begin + size) {
      const uint64_t left = begin + size - at, here = count - done < left ? count - done : left;
      HEED_TRY(read_rows(m, &m->parts[p], at - begin, here, out + done, error));
      done += here;
    }
    begin += size;
  }
  for (uint64_t i = 0; m->row_scale && i < count; i++)
    out[i] *= m->row_scale[(first + i) / m->columns];
  return HEED_OK;
}

/* -------------------------------------------------------------------------------------- matrix */

/* A constant as the rows of a matrix: [rows, columns...], or turned [columns, rows]. */
static bool make_matrix(heed_lower *l, value *constant, bool turned, heed_lower_matrix *matrix) {
  heed_lower_rows *rows = heed_lower_take(l, 1, sizeof *rows);
  heed_onnx_weight *weight = heed_lower_take(l, 1, sizeof *weight);
  if (!rows || !weight) return false;
  *matrix = (heed_lower_matrix){.file = l->file, .parts = rows, .part_count = 1};
  matrix->rows = constant->dims[turned ? 1 : 0];
  matrix->columns = heed_lower_size(constant) / matrix->rows;
  rows->count = matrix->rows;
  if (constant->weight && !(turned && constant->weight->bits)) {
    *weight = *constant->weight;
    if (turned) weight->turned = !weight->turned;
    l->status = heed_onnx_weight_prepare(l->file, weight, l->error);
    rows->weight = weight;
  } else {
    rows->array = heed_lower_elements(l, constant);
    rows->turned = turned;
  }
  return l->status == HEED_OK;
}

/* -------------------------------------------------------------------------------------- linear */

/* What only moves elements around x moves what the map makes of it. */
static value *linear_before(heed_lower *l, const value *x, const heed_lower_matrix *matrix) {
  value *from = x->count ? x->x[0] : NULL;
  uint64_t dims[HEED_ONNX_MAX_RANK];
  memcpy(dims, x->dims, sizeof dims);
  dims[x->rank - 1] = matrix->rows;
  if (x->kind == HEED_LOWER_RESHAPE && from->rank && from->dims[from->rank - 1] == matrix->columns)
    return heed_lower_reshape(l, heed_lower_linear(l, from, matrix), x->rank, dims);
  if (x->kind == HEED_LOWER_PERMUTE && x->order[x->rank - 1] == x->rank - 1)
    return heed_lower_permute(l, heed_lower_linear(l, from, matrix), x->order);
  if (x->kind == HEED_LOWER_SCALE && !matrix->bias)
    return heed_lower_scale(l, heed_lower_linear(l, from, matrix), x->factor);
  return NULL;
}

value *heed_lower_linear(heed_lower *l, value *x, const heed_lower_matrix *matrix) {
  uint64_t dims[HEED_ONNX_MAX_RANK];
  if (!x || l->status != HEED_OK) return NULL;
  if (x->rank == 0 || x->dims[x->rank - 1] != matrix->columns)
    return heed_lower_refuse(l, HEED_INVALID_FILE, "its factors do not fit");
  value *before = linear_before(l, x, matrix);
  if (before || l->status != HEED_OK) return before;
  memcpy(dims, x->dims, sizeof dims);
  dims[x->rank - 1] = matrix->rows;
  heed_lower_spend(l, heed_lower_size(x), matrix->rows, 1);
  value *made = heed_lower_new(l, HEED_LOWER_LINEAR, x->rank, dims, &x, 1);
  heed_lower_matrix *kept = made ? heed_lower_take(l, 1, sizeof *kept) : NULL;
  if (!kept) return NULL;
  *kept = *matrix;
  made->matrix = kept;
  return made;
}

value *heed_lower_linear_of(heed_lower *l, value *x, value *weight, bool turned) {
  heed_lower_matrix matrix;
  if (!x || !weight || l->status != HEED_OK) return NULL;
  return make_matrix(l, weight, turned, &matrix) ? heed_lower_linear(l, x, &matrix) : NULL;
}

/* Columns [first, first + count) of what a map makes: rows of its matrix. */
value *heed_lower_linear_rows(heed_lower *l, const value *linear, uint64_t first, uint64_t count) {
  heed_lower_matrix matrix = *linear->matrix;
  uint64_t begin = 0;
  matrix.parts = heed_lower_take(l, matrix.part_count, sizeof *matrix.parts);
  matrix.part_count = 0;
  if (!matrix.parts) return NULL;
  for (uint32_t p = 0; p < linear->matrix->part_count; p++) {
    const heed_lower_rows *from = &linear->matrix->parts[p];
    const uint64_t low = first > begin ? first : begin,
                   end = first + count < begin + from->count ? first + count : begin + from->count;
    if (low < end) {
      heed_lower_rows *to = &matrix.parts[matrix.part_count++];
      *to = *from;
      to->first += low - begin;
      to->count = end - low;
    }
    begin += from->count;
  }
  matrix.rows = count;
  if (matrix.row_scale) matrix.row_scale += first;
  if (matrix.bias) matrix.bias += first;
  return heed_lower_linear(l, linear->x[0], &matrix);
}

/* ------------------------------------------------------------------------------------- patches */

value *heed_lower_patches(heed_lower *l, value *image, value *weight) {
  if (!image || !weight || l->status != HEED_OK) return NULL;
  heed_lower_matrix *matrix = heed_lower_take(l, 1, sizeof *matrix);
  if (!matrix || !make_matrix(l, weight, false, matrix)) return NULL;
  const uint64_t side = weight->dims[2], rows = image->dims[2] / side,
                 columns = image->dims[3] / side,
                 dims[] = {image->dims[0], rows * columns, weight->dims[0]};
  heed_lower_spend(l, dims[0] * dims[1], dims[2], matrix->columns);
  value *made = heed_lower_new(l, HEED_LOWER_PATCHES, 3, dims, &image, 1);
  if (!made) return NULL;
  made->matrix = matrix;
  made->first = side;
  const uint32_t order[] = {0, 2, 1};
  const uint64_t grid[] = {dims[0], dims[2], rows, columns};
  return heed_lower_reshape(l, heed_lower_permute(l, made, order), 4, grid);
}
