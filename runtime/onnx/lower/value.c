/* Expressions: how they are made, and what constants hold. See lower.h. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "onnx/lower/lower.h"

typedef heed_lower_value value;

value *heed_lower_refuse(heed_lower *l, heed_status status, const char *why, ...) {
  char text[256];
  va_list values;
  if (l->status != HEED_OK) return NULL;
  va_start(values, why);
  vsnprintf(text, sizeof text, why, values);
  va_end(values);
  l->status = heed_onnx_refuse(&l->call, status, "%s", text);
  return NULL;
}

void *heed_lower_take(heed_lower *l, uint64_t count, size_t size) {
  void *taken = l->status == HEED_OK ? heed_onnx_take(&l->arena, count, size) : NULL;
  if (!taken && l->status == HEED_OK)
    l->status = heed_fail_memory(l->error, l->file->name, (size_t)count * size);
  return taken;
}

/* The evaluator's are those of folding; the outputs of a run are arrays of it too. */
void heed_lower_limit(heed_lower *l, uint64_t input_bytes, uint64_t most_elements,
                      uint64_t most_steps) {
  heed_onnx_limit(&l->evaluator, l->file, input_bytes, most_elements, most_steps, true);
  l->batch = l->file->batch;
  l->work = (heed_budget){.most = most_steps ? most_steps : HEED_ONNX_MOST_STEPS};
  /* of four bytes each, and the evaluator's of eight */
  l->elements.most =
      most_elements ? most_elements : 2 * heed_onnx_default_elements(l->file, input_bytes);
}

/* What kernels would compute is not computed yet: it has the limit of a run. */
bool heed_lower_spend(heed_lower *l, uint64_t a, uint64_t b, uint64_t c) {
  if (l->status == HEED_OK) l->status = heed_onnx_spend_steps(&l->call, &l->work, a, b, c);
  return l->status == HEED_OK;
}

/* Sizes are counted as the evaluator counts them, so that a small file cannot ask for days. */
static bool has_room(heed_lower *l, uint32_t rank, const uint64_t *dims) {
  uint64_t count = 1;
  if (rank > HEED_ONNX_MAX_RANK) {
    heed_lower_refuse(l, HEED_UNSUPPORTED, "too many axes (found %u, expected at most %d)", rank,
                      HEED_ONNX_MAX_RANK);
    return false;
  }
  for (uint32_t i = 0; i < rank; i++)
    if (dims[i] == 0 || dims[i] > INT32_MAX || !heed_u64_mul(count, dims[i], &count) ||
        count > HEED_ONNX_MOST_ELEMENTS) {
      heed_lower_refuse(l, HEED_UNSUPPORTED,
                        "values of such a size have no kernel (found an axis of %llu)",
                        (unsigned long long)dims[i]);
      return false;
    }
  if (!heed_budget_spend(&l->elements, count)) {
    heed_lower_refuse(l, HEED_UNSUPPORTED,
                      "its values are too large (expected at most %llu elements together)",
                      (unsigned long long)l->elements.most);
    return false;
  }
  return heed_lower_spend(l, count, 1, 1);
}

value *heed_lower_new(heed_lower *l, heed_lower_kind kind, uint32_t rank, const uint64_t *dims,
                      value *const *x, uint32_t count) {
  if (l->status != HEED_OK || !has_room(l, rank, dims)) return NULL;
  for (uint32_t i = 0; i < count; i++)
    if (!x[i]) return NULL;
  value *made = heed_lower_take(l, 1, sizeof *made);
  if (!made) return NULL;
  const heed_onnx_graph *graph = &l->file->model.graph;
  const size_t node = (size_t)(l->call.node - graph->nodes);
  *made = (value){.kind = kind,
                  .rank = rank,
                  .count = count,
                  .node = node < graph->node_count ? l->call.node : NULL};
  if (rank) memcpy(made->dims, dims, rank * sizeof *dims);
  made->x = heed_lower_take(l, count, sizeof *made->x);
  if (!made->x) return NULL;
  if (count) memcpy(made->x, x, count * sizeof(value *));
  if (!heed_grow(l->file->context, &l->values, &l->value_room, l->value_count + 1,
                 sizeof(value *))) {
    l->status = heed_fail_memory(l->error, l->file->name, l->value_count * sizeof(value *));
    return NULL;
  }
  l->values[l->value_count++] = made;
  return made;
}

/* ----------------------------------------------------------------------------------- constants */

value *heed_lower_of_array(heed_lower *l, heed_onnx_array *array) {
  if (!array || l->status != HEED_OK) return NULL;
  value *made = heed_lower_new(l, HEED_LOWER_CONSTANT, array->rank, array->dims, NULL, 0);
  if (made) made->array = array;
  return made;
}

value *heed_lower_of_weight(heed_lower *l, const heed_onnx_weight *weight) {
  heed_onnx_weight *kept = heed_lower_take(l, 1, sizeof *kept);
  if (!kept) return NULL;
  *kept = *weight;
  l->status = heed_onnx_weight_prepare(l->file, kept, l->error);
  if (l->status != HEED_OK) return NULL;
  value *made = heed_lower_new(l, HEED_LOWER_CONSTANT, kept->rank, kept->dims, NULL, 0);
  if (made) made->weight = kept;
  return made;
}

heed_onnx_array *heed_lower_array(heed_lower *l, uint32_t rank, const uint64_t *dims) {
  heed_onnx_array *made = NULL;
  if (l->status != HEED_OK) return NULL;
  if (!heed_grow(l->file->context, &l->owned, &l->owned_room, l->owned_count + 1,
                 sizeof *l->owned)) {
    l->status = heed_fail_memory(l->error, l->file->name, l->owned_count * sizeof *l->owned);
    return NULL;
  }
  l->status = heed_onnx_make(&l->call, HEED_ONNX_FLOAT, rank, dims, &made);
  if (made) l->owned[l->owned_count++] = made;
  return made;
}

static heed_status read_weight(heed_lower *l, const heed_onnx_weight *weight, heed_onnx_array *to) {
  float run[256];
  const size_t most = sizeof run / sizeof *run;
  for (uint64_t done = 0; done < to->count;) {
    const uint64_t left = to->count - done, here = left < most ? left : most;
    HEED_TRY(heed_onnx_weight_floats(l->file, weight, done, here, run, l->error));
    for (uint64_t i = 0; i < here; i++) to->data[done + i].f = (double)run[i];
    done += here;
  }
  return HEED_OK;
}

/* Whole numbers are read as such; floats as the weight has them, dequantised or turned. */
const heed_onnx_array *heed_lower_elements(heed_lower *l, value *constant) {
  if (!constant || l->status != HEED_OK) return NULL;
  if (constant->array || !constant->weight) return constant->array;
  const heed_onnx_weight *weight = constant->weight;
  if (heed_onnx_weight_is_plain(weight)) {
    heed_onnx_array *loaded = NULL;
    if (!heed_grow(l->file->context, &l->owned, &l->owned_room, l->owned_count + 1,
                   sizeof *l->owned))
      l->status = heed_fail_memory(l->error, l->file->name, l->owned_count * sizeof *l->owned);
    else
      l->status = heed_onnx_load(&l->call, weight->data, &loaded);
    if (loaded) l->owned[l->owned_count++] = loaded;
    constant->array = loaded;
    return loaded;
  }
  heed_onnx_array *made = heed_lower_array(l, constant->rank, constant->dims);
  if (made) l->status = read_weight(l, weight, made);
  constant->array = l->status == HEED_OK ? made : NULL;
  return constant->array;
}

const float *heed_lower_floats(heed_lower *l, value *constant) {
  const heed_onnx_array *array = heed_lower_elements(l, constant);
  float *to = array ? heed_lower_take(l, array->count, sizeof *to) : NULL;
  for (uint64_t i = 0; to && i < array->count; i++) to[i] = (float)heed_onnx_number(array, i);
  return to;
}

value *heed_lower_map(heed_lower *l, value *constant, double (*f)(double x, double by), double by) {
  const heed_onnx_array *from = heed_lower_elements(l, constant);
  heed_onnx_array *to = from ? heed_lower_array(l, constant->rank, constant->dims) : NULL;
  for (uint64_t i = 0; to && i < to->count; i++)
    heed_onnx_set(to, i, f(heed_onnx_number(from, i), by));
  return heed_lower_of_array(l, to);
}

/* ----------------------------------------------------------------------------------- questions */

bool heed_lower_is(const value *v, heed_lower_kind kind) { return v && v->kind == kind; }

bool heed_lower_is_function(const value *v, heed_lower_kind kind, int function) {
  return v && v->kind == kind && v->function == function;
}

uint64_t heed_lower_size(const value *v) {
  uint64_t count = 1;
  for (uint32_t i = 0; i < v->rank; i++) count *= v->dims[i];
  return count;
}

value *heed_lower_number(heed_lower *l, double number) {
  heed_onnx_array *array = heed_lower_array(l, 0, NULL);
  if (array) array->data[0].f = number;
  return heed_lower_of_array(l, array);
}

bool heed_lower_is_number(heed_lower *l, value *v, double *number) {
  if (!heed_lower_is(v, HEED_LOWER_CONSTANT) || heed_lower_size(v) != 1) return false;
  const heed_onnx_array *array = heed_lower_elements(l, v);
  if (array) *number = heed_onnx_number(array, 0);
  return array != NULL;
}

bool heed_lower_is_vector(const value *v, uint32_t *axis) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < v->rank; i++)
    if (v->dims[i] != 1) {
      *axis = i;
      found++;
    }
  return found == 1;
}
