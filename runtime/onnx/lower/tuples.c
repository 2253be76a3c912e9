/* Entries of several axes together, by tuples of indices that are known: those axes are one. See
 * lower.h. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "onnx/lower/lower.h"

typedef heed_lower_value value;

/* x as [entries, ...] and which of its entries each tuple names. */
typedef struct named {
  value *entries;
  heed_onnx_array *at; /* the axes of the tuples but the last */
} named;

static bool refuse(heed_lower *l, heed_status status, const char *why) {
  heed_lower_refuse(l, status, "%s", why);
  return false;
}

static bool read_tuples(heed_lower *l, value *x, named *to) {
  value *indices = heed_lower_input(l, 1);
  const heed_onnx_array *tuples =
      heed_lower_is(indices, HEED_LOWER_CONSTANT) ? heed_lower_elements(l, indices) : NULL;
  uint64_t dims[HEED_ONNX_MAX_RANK] = {1};
  if (l->status != HEED_OK) return false;
  const uint64_t depth = tuples && indices->rank ? indices->dims[indices->rank - 1] : 0;
  if (!depth) return refuse(l, HEED_UNSUPPORTED, "these indices have no kernel");
  if (depth > x->rank || heed_onnx_is_float(tuples->type))
    return refuse(l, HEED_INVALID_FILE, "its indices do not fit its input");
  to->at = heed_lower_array(l, indices->rank - 1, indices->dims);
  if (!to->at) return false;
  to->at->type = HEED_ONNX_INT64;
  for (uint64_t k = 0; k < depth; k++) {
    const int64_t size = (int64_t)x->dims[k];
    dims[0] *= x->dims[k];
    for (uint64_t i = 0; i < to->at->count; i++) {
      const int64_t found = tuples->data[i * depth + k].i;
      if (found < -size || found >= size) return refuse(l, HEED_INVALID_FILE, "index out of range");
      to->at->data[i].i = (k ? to->at->data[i].i * size : 0) + (found < 0 ? found + size : found);
    }
  }
  const uint32_t rest = x->rank - (uint32_t)depth;
  if (rest) memcpy(dims + 1, x->dims + depth, rest * sizeof *dims);
  to->entries = heed_lower_reshape(l, x, rest + 1, dims);
  return to->entries != NULL;
}

static void lower_gather(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0);
  named from;
  (void)kind;
  if (!x) return;
  if (heed_onnx_integer(&l->call, "batch_dims", 0) != 0)
    heed_lower_refuse(l, HEED_UNSUPPORTED, "these indices have no kernel");
  else if (read_tuples(l, x, &from))
    heed_lower_bind(l, 0, heed_lower_gather(l, from.entries, 0, from.at, NULL, false), 0);
}

/* ------------------------------------------------------------------------------------- scatter */

/* What joins an entry with its update, and what stands for the update where there is none; false:
 * the update takes its place. */
static bool joins(const char *how, heed_lower_function *function, double *none) {
  static const struct {
    const char *how;
    heed_lower_function function;
    double none;
  } all[] = {{"add", HEED_LOWER_ADD, 0},
             {"mul", HEED_LOWER_MULTIPLY, 1},
             {"max", HEED_LOWER_MAXIMUM, -HUGE_VAL},
             {"min", HEED_LOWER_MINIMUM, HUGE_VAL}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (strcmp(how, all[i].how) != 0) continue;
    *function = all[i].function;
    *none = all[i].none;
    return true;
  }
  return false;
}

/* One entry of `number`. */
static value *entry_of(heed_lower *l, const value *entries, double number) {
  uint64_t dims[HEED_ONNX_MAX_RANK];
  memcpy(dims, entries->dims, sizeof dims);
  dims[0] = 1;
  heed_onnx_array *array = heed_lower_array(l, entries->rank, dims);
  for (uint64_t i = 0; array && i < array->count; i++) array->data[i].f = number;
  return heed_lower_of_array(l, array);
}

/* Of the entries of x, or of one that stands for all of them, and the updates behind those, which
 * is at each place; a later update replaces an earlier one, but none that is joined. */
static heed_onnx_array *places_of(heed_lower *l, const named *to, bool joined) {
  const uint64_t count = to->entries->dims[0], before = joined ? 1 : count;
  heed_onnx_array *places = heed_lower_array(l, 1, &count);
  if (!places) return NULL;
  places->type = HEED_ONNX_INT64;
  for (uint64_t i = 0; i < count; i++) places->data[i].i = joined ? 0 : (int64_t)i;
  for (uint64_t i = 0; i < to->at->count; i++) {
    heed_onnx_cell *place = &places->data[to->at->data[i].i];
    if (joined && place->i) {
      refuse(l, HEED_UNSUPPORTED, "several updates of one entry have no kernel");
      return NULL;
    }
    place->i = (int64_t)(before + i);
  }
  return places;
}

static void lower_scatter(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0), *updates = heed_lower_input(l, 2);
  heed_lower_function function = HEED_LOWER_ADD;
  const char *how;
  double none = 0;
  uint64_t dims[HEED_ONNX_MAX_RANK];
  named to;
  (void)kind;
  if (!x || !updates) return;
  l->status = heed_onnx_read_reduction(&l->call, &how);
  if (l->status != HEED_OK || !read_tuples(l, x, &to)) return;
  const bool joined = joins(how, &function, &none);
  memcpy(dims, to.entries->dims, sizeof dims);
  const uint64_t each = dims[0] ? heed_lower_size(x) / dims[0] : 0;
  dims[0] = to.at->count;
  if (heed_lower_type(l, 0) != heed_lower_type(l, 2) ||
      heed_lower_size(updates) != to.at->count * each) {
    refuse(l, HEED_INVALID_FILE, "its updates do not fit its indices");
    return;
  }
  if (!to.at->count) {
    heed_lower_bind(l, 0, x, 0);
    return;
  }
  heed_onnx_array *places = places_of(l, &to, joined);
  value *const parts[] = {joined ? entry_of(l, to.entries, none) : to.entries,
                          heed_lower_reshape(l, updates, to.entries->rank, dims)};
  if (!places || !parts[0] || !parts[1]) return;
  value *y = heed_lower_gather(l, heed_lower_concat(l, parts, 2, 0), 0, places, NULL, false);
  if (joined) y = heed_lower_binary(l, function, to.entries, y);
  heed_lower_bind(l, 0, heed_lower_reshape(l, y, x->rank, x->dims), 0);
}

const heed_lower_op heed_lower_tuples[] = {
    {"GatherND", lower_gather, 0}, {"ScatterND", lower_scatter, 0}, {NULL, NULL, 0}};
