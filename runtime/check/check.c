/* heed_check_case: one op's case file -> a one-op graph -> a run -> compared with what the file
 * expects. */
#include "heed/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/json.h"
#include "base/status.h"
#include "base/tensor.h"
#include "check/case.h"
#include "check/close.h"
#include "model/files/safetensors.h"

#define MAX_RESULTS 8
#define MAX_ATTRIBUTES 64

typedef struct case_tensor {
  const heed_safetensors_tensor *tensor;
  heed_value value; /* 0 until the op asked for it */
  void *data;       /* as the graph sees it: F32, U8 or I32 */
} case_tensor;

struct heed_case {
  heed_context *context;
  heed_safetensors *file;
  heed_json *attributes;
  char op[48];
  bool asked[MAX_ATTRIBUTES]; /* by position in the attributes' object */
  case_tensor *tensors;       /* [tensor_count] by position in the file */
  heed_graph *graph;
  struct {
    const char *name; /* "output" */
    heed_value value;
  } results[MAX_RESULTS];
  uint32_t result_count;
  heed_check_tolerance own; /* of the backend */
  heed_status status;
  heed_error error; /* the first one */
};

const char *heed_case_op(const heed_case *test) { return test->op; }
heed_graph *heed_case_graph(heed_case *test) { return test->graph; }

static void keep_failure(heed_case *test, const heed_error *error) {
  if (test->status != HEED_OK) return;
  test->status = error->status;
  test->error = *error;
}

/* ----------------------------------------------------------------------------------- attributes */

/* The attribute of this name, marked as asked for; 0 when absent or null. */
static heed_json_value find_attribute(heed_case *test, const char *name) {
  const heed_json_value root = heed_json_root(test->attributes);
  uint32_t index = 0;
  for (heed_json_value v = heed_json_first(test->attributes, root); v;
       v = heed_json_next(test->attributes, root, v), index++) {
    if (strcmp(heed_json_key(test->attributes, v, NULL), name) != 0) continue;
    test->asked[index] = true;
    return heed_json_kind_of(test->attributes, v) == HEED_JSON_NULL ? 0 : v;
  }
  return 0;
}

static void wrong_attribute(heed_case *test, const char *name, heed_json_value value,
                            const char *expected) {
  heed_error error;
  heed_fail(&error, HEED_INVALID_FILE, "%s: invalid attribute %s (found %s, expected %s)", test->op,
            name, heed_json_kind_name(heed_json_kind_of(test->attributes, value)), expected);
  keep_failure(test, &error);
}

double heed_case_number(heed_case *test, const char *name, double fallback) {
  const heed_json_value value = find_attribute(test, name);
  double number = fallback;
  if (value && !heed_json_double(test->attributes, value, &number))
    wrong_attribute(test, name, value, "a number");
  return number;
}

int64_t heed_case_integer(heed_case *test, const char *name, int64_t fallback) {
  const heed_json_value value = find_attribute(test, name);
  int64_t number = fallback;
  if (value && !heed_json_i64(test->attributes, value, &number))
    wrong_attribute(test, name, value, "a whole number");
  return number;
}

bool heed_case_flag(heed_case *test, const char *name, bool fallback) {
  const heed_json_value value = find_attribute(test, name);
  bool flag = fallback;
  if (value && !heed_json_bool(test->attributes, value, &flag))
    wrong_attribute(test, name, value, "true or false");
  return flag;
}

uint32_t heed_case_choice(heed_case *test, const char *name, const char *const *choices,
                          uint32_t fallback) {
  const heed_json_value value = find_attribute(test, name);
  const char *text;
  if (!value) return fallback;
  if (!heed_json_string(test->attributes, value, &text, NULL)) {
    wrong_attribute(test, name, value, "a text");
    return fallback;
  }
  for (uint32_t i = 0; choices[i]; i++)
    if (strcmp(choices[i], text) == 0) return i;
  heed_error error;
  heed_fail(&error, HEED_UNSUPPORTED, "%s: unknown value of attribute %s (found \"%s\")", test->op,
            name, text);
  keep_failure(test, &error);
  return fallback;
}

bool heed_case_pair(heed_case *test, const char *name, int32_t pair[2]) {
  const heed_json_value value = find_attribute(test, name);
  if (!value) return false;
  uint32_t found = 0;
  for (heed_json_value v = heed_json_first(test->attributes, value); v && found < 3;
       v = heed_json_next(test->attributes, value, v), found++) {
    int64_t number;
    if (found == 2 || !heed_json_i64(test->attributes, v, &number) || number < INT32_MIN ||
        number > INT32_MAX) {
      found = 3;
      break;
    }
    pair[found] = (int32_t)number;
  }
  if (found != 2) wrong_attribute(test, name, value, "two whole numbers");
  return true;
}

/* The whole numbers of a list from `least` to `most`. */
static uint32_t read_list(heed_case *test, const char *name, int64_t *values, uint32_t capacity,
                          int64_t least, int64_t most) {
  const heed_json_value value = find_attribute(test, name);
  uint32_t found = 0;
  if (!value) return 0;
  for (heed_json_value v = heed_json_first(test->attributes, value); v;
       v = heed_json_next(test->attributes, value, v), found++) {
    if (found == capacity || !heed_json_i64(test->attributes, v, &values[found]) ||
        values[found] < least || values[found] > most) {
      wrong_attribute(test, name, value, "a short list of whole numbers");
      return 0;
    }
  }
  if (!found) wrong_attribute(test, name, value, "a short list of whole numbers");
  return found;
}

uint32_t heed_case_list(heed_case *test, const char *name, uint32_t *values, uint32_t capacity) {
  int64_t numbers[HEED_MAX_RANK];
  const uint32_t most = capacity < HEED_MAX_RANK ? capacity : HEED_MAX_RANK,
                 found = read_list(test, name, numbers, most, 0, UINT32_MAX);
  for (uint32_t i = 0; i < found; i++) values[i] = (uint32_t)numbers[i];
  return found;
}

uint32_t heed_case_signed_list(heed_case *test, const char *name, int32_t values[HEED_MAX_RANK]) {
  int64_t numbers[HEED_MAX_RANK];
  const uint32_t found = read_list(test, name, numbers, HEED_MAX_RANK, INT32_MIN, INT32_MAX);
  for (uint32_t i = 0; i < found; i++) values[i] = (int32_t)numbers[i];
  return found;
}

bool heed_case_has(const heed_case *test, const char *name) {
  const heed_json_value value =
      heed_json_get(test->attributes, heed_json_root(test->attributes), name);
  return value && heed_json_kind_of(test->attributes, value) != HEED_JSON_NULL;
}

static heed_status want_all_attributes_asked(heed_case *test, heed_error *error) {
  const heed_json_value root = heed_json_root(test->attributes);
  uint32_t index = 0;
  for (heed_json_value v = heed_json_first(test->attributes, root); v;
       v = heed_json_next(test->attributes, root, v), index++)
    if (!test->asked[index])
      return heed_fail(error, HEED_UNSUPPORTED, "%s: unknown attribute (found \"%s\")", test->op,
                       heed_json_key(test->attributes, v, NULL));
  return HEED_OK;
}

/* -------------------------------------------------------------------------------------- tensors */

static bool is_expected(const char *name) { return strncmp(name, "expect.", 7) == 0; }

/* Reads a tensor into memory of the graph's dtype. */
static heed_status load(heed_case *test, case_tensor *slot, heed_dtype *dtype, heed_shape *shape,
                        heed_error *error) {
  const heed_safetensors_tensor *tensor = slot->tensor;
  if (tensor->unsupported || tensor->dtype == HEED_I8)
    return heed_fail(error, HEED_UNSUPPORTED, "%s: tensor %s cannot be used (%s)", test->op,
                     tensor->name, tensor->unsupported ? tensor->unsupported : "this dtype");
  *shape = tensor->shape;
  *dtype = tensor->dtype == HEED_F16 || tensor->dtype == HEED_BF16 ? HEED_F32 : tensor->dtype;
  const uint64_t count = heed_shape_count(shape);
  if (count == 0)
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: tensor %s is empty (expected at least one element)", test->op,
                     tensor->name);
  if (!slot->data)
    slot->data = count <= SIZE_MAX
                     ? heed_alloc_raw(test->context, (size_t)count, heed_dtype_size(*dtype))
                     : NULL;
  if (!slot->data) return heed_fail_memory(error, tensor->name, (size_t)tensor->bytes);
  return heed_safetensors_read(test->file, tensor, 0, count, slot->data, error);
}

static heed_value take(heed_case *test, const char *name, bool required, bool constant) {
  heed_error error;
  const heed_safetensors_tensor *tensor = heed_safetensors_find(test->file, name);
  if (!tensor) {
    if (required) {
      heed_fail(&error, HEED_INVALID_FILE, "%s: tensor %s is missing", test->op, name);
      keep_failure(test, &error);
    }
    return (heed_value){0};
  }
  case_tensor *slot = &test->tensors[tensor - heed_safetensors_get(test->file, 0)];
  if (slot->value.id || test->status != HEED_OK) return slot->value;
  heed_dtype dtype;
  heed_shape shape;
  if (load(test, slot, &dtype, &shape, &error) != HEED_OK) {
    keep_failure(test, &error);
    return (heed_value){0};
  }
  const heed_constant_desc desc = {sizeof desc, name, dtype, shape, slot->data, NULL, NULL};
  slot->value = constant ? heed_define_constant(test->graph, &desc)
                         : heed_define_input(test->graph, name, dtype, &shape);
  return slot->value;
}

heed_value heed_case_input(heed_case *test, const char *name) {
  return take(test, name, true, false);
}
heed_value heed_case_optional_input(heed_case *test, const char *name) {
  return take(test, name, false, false);
}
heed_value heed_case_constant(heed_case *test, const char *name) {
  return take(test, name, true, true);
}
heed_value heed_case_optional_constant(heed_case *test, const char *name) {
  return take(test, name, false, true);
}

void heed_case_result(heed_case *test, const char *name, heed_value value) {
  HEED_ASSERT(test->result_count < MAX_RESULTS);
  test->results[test->result_count].name = name;
  test->results[test->result_count++].value = value;
}

/* Every tensor is asked for by the op or is the expectation of one of its results. */
static heed_status want_all_tensors_asked(const heed_case *test, heed_error *error) {
  for (uint32_t i = 0; i < heed_safetensors_count(test->file); i++) {
    const char *name = test->tensors[i].tensor->name;
    bool known = test->tensors[i].value.id != 0;
    for (uint32_t r = 0; r < test->result_count && !known; r++)
      known = is_expected(name) && strcmp(name + 7, test->results[r].name) == 0;
    if (!known)
      return heed_fail(error, HEED_INVALID_FILE, "%s: unknown tensor (found \"%s\")", test->op,
                       name);
  }
  return HEED_OK;
}

/* ---------------------------------------------------------------------------------------- build */

static heed_status read_metadata(heed_case *test, heed_error *error) {
  const char *op = heed_safetensors_metadata(test->file, "op");
  if (!op) return heed_fail(error, HEED_INVALID_FILE, "case: metadata names no op");
  if (strlen(op) >= sizeof test->op)
    return heed_fail(error, HEED_UNSUPPORTED, "case: unknown op (found \"%.60s\")", op);
  memcpy(test->op, op, strlen(op) + 1);
  const char *attributes = heed_safetensors_metadata(test->file, "attrs");
  HEED_TRY(heed_json_parse(test->context, attributes ? attributes : "{}",
                           attributes ? strlen(attributes) : 2, "case: attrs", &test->attributes,
                           error));
  const heed_json_value root = heed_json_root(test->attributes);
  if (heed_json_kind_of(test->attributes, root) != HEED_JSON_OBJECT ||
      heed_json_count(test->attributes, root) > MAX_ATTRIBUTES)
    return heed_fail(error, HEED_INVALID_FILE,
                     "case: invalid attrs (found %s, expected an object of at most %d attributes)",
                     heed_json_kind_name(heed_json_kind_of(test->attributes, root)),
                     MAX_ATTRIBUTES);
  return HEED_OK;
}

typedef heed_status (*case_builder)(heed_case *test, heed_error *error);

static const heed_layer_case *const layers[] = {
#define HEED_OP(name) &heed_case_##name,
#include "graph/op_list.h"
#undef HEED_OP
#define HEED_CASE(name) &heed_case_##name,
#include "check/layer_list.h"
#undef HEED_CASE
};

static bool is_named(const char *const *names, const char *name) {
  for (; *names; names++)
    if (strcmp(*names, name) == 0) return true;
  return false;
}

/* What builds a case of this name: an op, else a layer composed of ops, else NULL. */
static case_builder find_builder(const char *name) {
  for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
    if (is_named(layers[i]->names, name)) return layers[i]->from_case;
  return NULL;
}

static heed_status build(heed_case *test, heed_error *error) {
  HEED_TRY(read_metadata(test, error));
  const case_builder from_case = find_builder(test->op);
  if (!from_case)
    return heed_fail(error, HEED_UNSUPPORTED, "case: unknown op (found \"%s\")", test->op);
  const uint32_t count = heed_safetensors_count(test->file);
  test->tensors = heed_alloc(test->context, (size_t)count + 1, sizeof *test->tensors);
  if (!test->tensors) return heed_fail_memory(error, "case", count * sizeof *test->tensors);
  for (uint32_t i = 0; i < count; i++)
    test->tensors[i].tensor = heed_safetensors_get(test->file, i);
  HEED_TRY(heed_graph_create(test->context, &test->graph, error));
  const heed_status built = from_case(test, error);
  if (test->status != HEED_OK) { /* the first failure, of which others may come */
    if (error) *error = test->error;
    return test->status;
  }
  if (built == HEED_OK) HEED_TRY(want_all_attributes_asked(test, error));
  HEED_TRY(heed_graph_status(test->graph, error));
  HEED_TRY(built);
  return want_all_tensors_asked(test, error);
}

/* -------------------------------------------------------------------------------------- compare */

static double element(heed_dtype dtype, const void *data, uint64_t i) {
  if (dtype == HEED_U8) return (double)((const uint8_t *)data)[i];
  if (dtype == HEED_I32) return (double)((const int32_t *)data)[i];
  return (double)((const float *)data)[i];
}

/* dtype: of `found`; `to`: the one that the file keeps `expected` in. */
static void compare(const char *name, heed_dtype dtype, heed_dtype to, const heed_shape *shape,
                    const void *found, const void *expected, heed_check_tolerance tolerance,
                    heed_check_result *result) {
  const uint64_t count = heed_shape_count(shape);
  double worst = -1.0, relative = 0.0;
  bool passed = true;
  for (uint64_t i = 0; i < count; i++) {
    const double whole = element(dtype, found, i), a = heed_check_round(to, whole),
                 b = element(dtype, expected, i);
    if (a == b || (isnan(a) && isnan(b))) {
      if (worst < 0.0) worst = 0.0;
      continue;
    }
    const double error = isfinite(a) && isfinite(b) ? fabs(a - b) : (double)INFINITY;
    passed = passed && heed_check_is_close(to, whole, b, tolerance);
    if (error > worst) worst = error;
    if (error / fmax(fabs(b), 1e-30) > relative && fabs(b) > tolerance.absolute)
      relative = error / fabs(b);
  }
  result->passed = result->passed && passed;
  if (relative > result->max_rel) result->max_rel = relative;
  if (worst < result->max_abs) return;
  result->max_abs = worst;
  result->shape = *shape;
  size_t length = strlen(name);
  if (length >= sizeof result->worst) length = sizeof result->worst - 1;
  memcpy(result->worst, name, length);
  result->worst[length] = '\0';
}

/* The tensor expect.<name> of a result, or NULL. */
static const heed_safetensors_tensor *expectation(const heed_case *test, uint32_t index) {
  char name[64];
  snprintf(name, sizeof name, "expect.%s", test->results[index].name);
  return heed_safetensors_find(test->file, name);
}

static heed_status compare_result(heed_case *test, heed_session *session, uint32_t index,
                                  heed_check_tolerance tolerance, heed_check_take take_result,
                                  void *take_user, heed_check_result *result, heed_error *error) {
  const char *name = test->results[index].name;
  heed_value_info info;
  HEED_TRY(heed_graph_value_info(test->graph, test->results[index].value, &info));
  const uint64_t count = heed_shape_count(&info.shape);
  const heed_safetensors_tensor *expected = expectation(test, index);
  case_tensor slot = {.tensor = expected};
  heed_dtype dtype = info.dtype;
  heed_shape shape = info.shape;
  heed_status status = expected ? load(test, &slot, &dtype, &shape, error) : HEED_OK;
  char text[2][HEED_SHAPE_TEXT_SIZE];
  if (status == HEED_OK && (dtype != info.dtype || !heed_shape_equal(&shape, &info.shape)))
    status = heed_fail(error, HEED_INVALID_FILE,
                       "%s: expect.%s does not fit the result (found %s %s, expected %s %s)",
                       test->op, name, heed_dtype_name(dtype), heed_shape_text(&shape, text[0]),
                       heed_dtype_name(info.dtype), heed_shape_text(&info.shape, text[1]));
  void *found = status == HEED_OK
                    ? heed_alloc_raw(test->context, (size_t)count, heed_dtype_size(info.dtype))
                    : NULL;
  if (status == HEED_OK)
    status = found ? heed_session_read(session, test->results[index].value, 0, count, found, error)
                   : heed_fail_memory(error, name, (size_t)count * 4);
  if (status == HEED_OK && expected)
    compare(name, dtype, expected->dtype, &shape, found, slot.data, tolerance, result);
  if (status == HEED_OK && take_result)
    status = take_result(take_user, name, info.dtype, &info.shape, found, error);
  heed_free(test->context, found);
  heed_free(test->context, slot.data);
  return status;
}

static heed_status run_session(heed_case *test, heed_plan *plan, heed_check_tolerance tolerance,
                               heed_check_take take_result, void *take_user,
                               heed_check_result *result, heed_error *error) {
  heed_session *session;
  HEED_TRY(heed_session_create(plan, NULL, &session, error));
  heed_status status = HEED_OK;
  for (uint32_t i = 0; i < heed_safetensors_count(test->file) && status == HEED_OK; i++) {
    const heed_value value = test->tensors[i].value;
    heed_value_info info;
    if (heed_graph_value_info(test->graph, value, &info) != HEED_OK || !info.is_input) continue;
    status = heed_session_write(session, value, test->tensors[i].data,
                                (size_t)heed_shape_count(&info.shape) * heed_dtype_size(info.dtype),
                                error);
  }
  if (status == HEED_OK) status = heed_session_run(session, NULL, error);
  for (uint32_t i = 0; i < test->result_count && status == HEED_OK; i++)
    if (take_result || expectation(test, i))
      status = compare_result(test, session, i, tolerance, take_result, take_user, result, error);
  heed_session_destroy(session);
  return status;
}

/* A number of the metadata, which stands for what the backend has otherwise. */
static heed_status read_number(const heed_case *test, const char *name, double *number,
                               heed_error *error) {
  const char *text = heed_safetensors_metadata(test->file, name);
  heed_json *json = NULL;
  double read = -1.0;
  if (!text) return HEED_OK;
  const heed_status parsed = heed_json_parse(test->context, text, strlen(text), name, &json, error);
  if (parsed == HEED_OUT_OF_MEMORY) return parsed;
  const bool is_number = parsed == HEED_OK && heed_json_double(json, heed_json_root(json), &read) &&
                         read >= 0.0 && !isinf(read);
  heed_json_destroy(json);
  if (!is_number)
    return heed_fail(error, HEED_INVALID_FILE,
                     "case: invalid %s (found \"%.40s\", expected a number of at least 0)", name,
                     text);
  *number = read;
  return HEED_OK;
}

/* The caller's tolerance, else the case's: one for both, or each alone. */
static heed_status read_tolerance(const heed_case *test, heed_check_tolerance *tolerance,
                                  heed_error *error) {
  double both = -1.0;
  if (tolerance->absolute != 0.0) return HEED_OK;
  *tolerance = test->own;
  HEED_TRY(read_number(test, "tolerance", &both, error));
  if (both >= 0.0) *tolerance = (heed_check_tolerance){both, both};
  HEED_TRY(read_number(test, "atol", &tolerance->absolute, error));
  return read_number(test, "rtol", &tolerance->relative, error);
}

static heed_status run(heed_case *test, heed_backend *backend, heed_check_tolerance tolerance,
                       heed_check_take take_result, void *take_user, heed_check_result *result,
                       heed_error *error) {
  HEED_TRY(build(test, error));
  HEED_TRY(read_tolerance(test, &tolerance, error));
  memcpy(result->op, test->op, sizeof result->op);
  heed_value wanted[MAX_RESULTS];
  uint32_t wanted_count = 0;
  for (uint32_t i = 0; i < test->result_count; i++)
    if (take_result || expectation(test, i)) wanted[wanted_count++] = test->results[i].value;
  if (!wanted_count)
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: nothing to compare (found no expect.* tensor of this op)", test->op);
  const heed_plan_desc desc = {sizeof desc, wanted, wanted_count, HEED_ATTENTION_MODE_AUTO};
  heed_plan *plan;
  HEED_TRY(heed_plan_create(test->graph, backend, &desc, &plan, error));
  const heed_status status =
      run_session(test, plan, tolerance, take_result, take_user, result, error);
  heed_plan_destroy(plan);
  return status;
}

heed_status heed_check_case(heed_context *context, heed_backend *backend, const void *bytes,
                            size_t size, double tolerance, heed_check_take take_result,
                            void *take_user, heed_check_result *result, heed_error *error) {
  if (!context || !backend || !bytes || !result)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "check: NULL argument (expected context, backend, bytes and result)");
  const double own = strcmp(heed_backend_name(backend), "cpu") == 0 ? 2e-5 : 1e-4;
  const heed_check_tolerance given = {tolerance, tolerance};
  *result = (heed_check_result){.passed = true};
  heed_case test = {.context = context, .own = {own, own}};
  const heed_source source = {size, bytes, NULL, NULL};
  heed_status status = heed_safetensors_open(context, &source, "case", &test.file, error);
  if (status == HEED_OK) status = run(&test, backend, given, take_result, take_user, result, error);
  const uint32_t count = test.tensors ? heed_safetensors_count(test.file) : 0;
  for (uint32_t i = 0; i < count; i++) heed_free(context, test.tensors[i].data);
  heed_free(context, test.tensors);
  heed_graph_destroy(test.graph);
  heed_json_destroy(test.attributes);
  heed_safetensors_destroy(test.file);
  return status;
}
