/* GatherND and ScatterND: entries of several axes together, by tuples of indices. ScatterElements,
 * which was Scatter before opset 11: elements by indices along one axis. See evaluate.h. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "onnx/evaluate/evaluate.h"

typedef heed_onnx_array array;

/* The first `batch` axes of x and of the indices are the same ones; the next `depth` of x are what
 * a tuple counts along, and `inner` elements of x are an entry. */
typedef struct tuples {
  const array *x, *indices;
  uint32_t batch, depth;
  uint64_t count, each, inner; /* of all; and of one item of the batch */
} tuples;

static heed_status read_tuples(heed_onnx_call *call, uint32_t batch, tuples *t) {
  *t = (tuples){.x = heed_onnx_input(call, 0), .batch = batch};
  t->indices = t->x ? heed_onnx_input(call, 1) : NULL;
  if (!t->indices) return HEED_INVALID_FILE;
  const array *x = t->x, *indices = t->indices;
  bool fits = indices->rank > batch && !heed_onnx_is_float(indices->type);
  const uint64_t depth = fits ? indices->dims[indices->rank - 1] : 0;
  fits = fits && depth > 0 && batch + depth <= x->rank;
  for (uint32_t i = 0; fits && i < batch; i++) fits = indices->dims[i] == x->dims[i];
  if (!fits) return heed_onnx_refuse(call, HEED_INVALID_FILE, "its indices do not fit its input");
  const uint64_t items = heed_onnx_extent(x, 0, batch);
  t->depth = (uint32_t)depth;
  t->count = indices->count / depth;
  t->each = items ? t->count / items : 0;
  t->inner = heed_onnx_extent(x, batch + t->depth, x->rank - batch - t->depth);
  return HEED_OK;
}

/* The first element of the entry that a tuple names. */
static heed_status find_entry(heed_onnx_call *call, const tuples *t, uint64_t tuple, uint64_t *at) {
  *at = t->batch ? tuple / t->each : 0;
  for (uint32_t k = 0; k < t->depth; k++) {
    const int64_t size = (int64_t)t->x->dims[t->batch + k],
                  found = t->indices->data[tuple * t->depth + k].i;
    if (found < -size || found >= size)
      return heed_onnx_refuse(call, HEED_INVALID_FILE, "index out of range (found %lld of %lld)",
                              (long long)found, (long long)size);
    *at = *at * (uint64_t)size + (uint64_t)(found < 0 ? found + size : found);
  }
  *at *= t->inner;
  return HEED_OK;
}

static heed_status run_gather(heed_onnx_call *call) {
  const int64_t batch = heed_onnx_integer(call, "batch_dims", 0);
  uint64_t dims[2 * HEED_ONNX_MAX_RANK];
  uint32_t rank = 0;
  tuples t;
  if (batch < 0 || batch > HEED_ONNX_MAX_RANK)
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "batch_dims out of range");
  HEED_TRY(read_tuples(call, (uint32_t)batch, &t));
  for (uint32_t i = 0; i + 1 < t.indices->rank; i++) dims[rank++] = t.indices->dims[i];
  for (uint32_t i = t.batch + t.depth; i < t.x->rank; i++) dims[rank++] = t.x->dims[i];
  HEED_TRY(heed_onnx_output(call, 0, t.x->type, rank, dims));
  for (uint64_t i = 0; i < t.count; i++) {
    uint64_t at;
    HEED_TRY(find_entry(call, &t, i, &at));
    memcpy(call->out[0]->data + i * t.inner, t.x->data + at, (size_t)t.inner * sizeof *t.x->data);
  }
  return HEED_OK;
}

/* An element of x where `how` joins it with one of the updates. */
static void join(array *y, uint64_t at, const array *updates, uint64_t from, const char *how) {
  const double a = heed_onnx_number(y, at), b = heed_onnx_number(updates, from);
  const bool floats = heed_onnx_is_float(y->type);
  const int64_t i = floats ? 0 : y->data[at].i, k = floats ? 0 : updates->data[from].i;
  if (strcmp(how, "none") == 0)
    y->data[at] = updates->data[from];
  else if (strcmp(how, "max") == 0 || strcmp(how, "min") == 0)
    y->data[at] =
        (floats ? isnan(b) || (how[1] == 'a' ? b > a : b < a) : (how[1] == 'a' ? k > i : k < i))
            ? updates->data[from]
            : y->data[at];
  else if (floats)
    heed_onnx_set(y, at, strcmp(how, "add") == 0 ? a + b : a * b);
  else
    y->data[at].i = heed_onnx_wrap(
        y->type,
        (int64_t)(strcmp(how, "add") == 0 ? (uint64_t)i + (uint64_t)k : (uint64_t)i * (uint64_t)k));
}

heed_status heed_onnx_read_reduction(heed_onnx_call *call, const char **how) {
  static const char *const known[] = {"none", "add", "mul", "max", "min"};
  *how = heed_onnx_text(call, "reduction", "none");
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(*how, known[i]) == 0) return HEED_OK;
  return heed_onnx_refuse(call, HEED_UNSUPPORTED, "reduction %.60s is not supported", *how);
}

/* The output as a copy of x. */
static heed_status copy_out(heed_onnx_call *call, const array *x) {
  HEED_TRY(heed_onnx_output_like(call, 0, x));
  memcpy(call->out[0]->data, x->data, (size_t)x->count * sizeof *x->data);
  return HEED_OK;
}

static heed_status run_scatter(heed_onnx_call *call) {
  const char *how;
  tuples t;
  HEED_TRY(heed_onnx_read_reduction(call, &how));
  HEED_TRY(read_tuples(call, 0, &t));
  const array *updates = heed_onnx_input(call, 2);
  if (!updates) return HEED_INVALID_FILE;
  if (updates->type != t.x->type || updates->count != t.count * t.inner)
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "its updates do not fit its indices");
  HEED_TRY(copy_out(call, t.x));
  for (uint64_t i = 0; i < t.count; i++) {
    uint64_t at;
    HEED_TRY(find_entry(call, &t, i, &at));
    for (uint64_t k = 0; k < t.inner; k++)
      join(call->out[0], at + k, updates, i * t.inner + k, how);
  }
  return HEED_OK;
}

/* Whether indices have x's axes, none longer but `axis`, and updates their shape. */
static bool fits_elements(const array *x, const array *indices, const array *updates,
                          uint32_t axis) {
  if (indices->rank != x->rank || updates->rank != x->rank || updates->type != x->type ||
      heed_onnx_is_float(indices->type))
    return false;
  for (uint32_t i = 0; i < x->rank; i++)
    if (updates->dims[i] != indices->dims[i] || (i != axis && indices->dims[i] > x->dims[i]))
      return false;
  return true;
}

static heed_status run_scatter_elements(heed_onnx_call *call) {
  const array *x = heed_onnx_input(call, 0), *indices = x ? heed_onnx_input(call, 1) : NULL,
              *updates = indices ? heed_onnx_input(call, 2) : NULL;
  const char *how;
  uint32_t axis;
  if (!updates) return HEED_INVALID_FILE;
  HEED_TRY(heed_onnx_read_reduction(call, &how));
  HEED_TRY(heed_onnx_axis(call, heed_onnx_integer(call, "axis", 0), x->rank, &axis));
  if (!fits_elements(x, indices, updates, axis))
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "its indices do not fit its input");
  HEED_TRY(copy_out(call, x));
  heed_onnx_walk walk;
  heed_onnx_walk_start(&walk, indices);
  const int64_t size = (int64_t)x->dims[axis];
  for (uint64_t i = 0; i < indices->count; i++, heed_onnx_walk_next(&walk)) {
    const int64_t found = indices->data[i].i;
    uint64_t at = 0;
    if (found < -size || found >= size)
      return heed_onnx_refuse(call, HEED_INVALID_FILE, "index out of range (found %lld of %lld)",
                              (long long)found, (long long)size);
    for (uint32_t a = 0; a < x->rank; a++)
      at = at * x->dims[a] +
           (a == axis ? (uint64_t)(found < 0 ? found + size : found) : walk.index[a]);
    join(call->out[0], at, updates, i, how);
  }
  return HEED_OK;
}

const heed_onnx_op_entry heed_onnx_tuples[] = {{"GatherND", run_gather, 0},
                                               {"ScatterND", run_scatter, 0},
                                               {"ScatterElements", run_scatter_elements, 0},
                                               {"Scatter", run_scatter_elements, 0},
                                               {NULL, NULL, 0}};
