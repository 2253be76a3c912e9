/* One-op graphs on every backend present. */
#include "support/op_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BACKENDS 32

typedef struct entry {
  char name[64];
  test_backend_opener open;
  uint32_t index;
  double tolerance;
  heed_backend *backend;
} entry;

static struct {
  entry entries[MOST_BACKENDS];
  uint32_t count;
  heed_context *context;
} all;

static const uint32_t thread_counts[] = {1, 3};

static heed_status open_cpu(heed_context *context, uint32_t index, heed_backend **backend,
                            heed_error *error) {
  heed_cpu_desc desc = HEED_CPU_DESC_INIT;
  desc.level = heed_cpu_level(index / 2);
  desc.threads = thread_counts[index % 2];
  return heed_cpu_backend_create(context, &desc, backend, error);
}

void test_backend_add(const char *name, test_backend_opener open, uint32_t index,
                      double tolerance) {
  if (all.count == MOST_BACKENDS)
    fail_msg("too many backends (found %s beyond %d)", name, MOST_BACKENDS);
  entry *e = &all.entries[all.count++];
  snprintf(e->name, sizeof e->name, "%s", name);
  e->open = open;
  e->index = index;
  e->tolerance = tolerance;
}

uint32_t op_test_share(uint32_t cases) {
  const uint32_t share = cases / test_backend_slowness();
  return share ? share : 1;
}

/* A level that differs from another by its products of int8 alone. */
static bool has_dot(const char *level) { return strstr(level, "vnni") || strstr(level, "dot"); }

uint32_t test_backend_count(void) {
  if (!all.count) test_backend_add_more();
  if (all.count) return all.count;
  for (uint32_t i = 0; heed_cpu_level(i); i++)
    for (uint32_t t = 0; t < 2 && (test_backend_wants_int8() || !has_dot(heed_cpu_level(i))); t++) {
      char name[64];
      snprintf(name, sizeof name, "cpu %s %u threads", heed_cpu_level(i), thread_counts[t]);
      test_backend_add(name, open_cpu, 2 * i + t, 0.0);
    }
  return all.count;
}

const char *test_backend_name(uint32_t index) { return all.entries[index].name; }

/* What a backend has to say, messages of Vulkan validation above all. */
static void print_warning(heed_log_level level, const char *line, void *user) {
  (void)user;
  if (level >= HEED_LOG_WARNING) fprintf(stderr, "%s\n", line);
}

heed_context *test_backend_context(void) {
  heed_error error;
  heed_context_desc desc = HEED_CONTEXT_DESC_INIT;
  desc.log = print_warning;
  if (!all.context) assert_ok(heed_context_create(&desc, &all.context, &error));
  return all.context;
}

heed_backend *test_backend_get(uint32_t index) {
  heed_error error;
  entry *e = &all.entries[index];
  if (!e->backend) assert_ok(e->open(test_backend_context(), e->index, &e->backend, &error));
  return e->backend;
}

int test_backend_close_all(void **state) {
  (void)state;
  bool clean = true;
  for (uint32_t i = 0; i < all.count; i++) {
    if (all.entries[i].backend) clean = test_backend_is_clean(all.entries[i].backend) && clean;
    heed_backend_destroy(all.entries[i].backend);
  }
  heed_context_destroy(all.context);
  memset(&all, 0, sizeof all);
  if (!clean) exit(EXIT_FAILURE); /* cmocka prints a failed teardown, and leaves the exit code 0 */
  return 0;
}

void op_test_begin(op_test *test) {
  heed_error error;
  memset(test, 0, sizeof *test);
  test->tolerance = 2e-5;
  assert_ok(heed_graph_create(test_backend_context(), &test->graph, &error));
}

void op_test_end(op_test *test) { heed_graph_destroy(test->graph); }

heed_value op_test_input(op_test *test, heed_dtype dtype, heed_shape shape, const void *data) {
  char name[32];
  snprintf(name, sizeof name, "input %u", test->input_count);
  const heed_value value = heed_define_input(test->graph, name, dtype, &shape);
  const size_t bytes = (size_t)heed_shape_count(&shape) * heed_dtype_size(dtype);
  assert_true(test->input_count < OP_TEST_TENSORS);
  test->inputs[test->input_count++] = (op_test_tensor){value, data, bytes, NULL, 0};
  return value;
}

heed_value op_test_constant(op_test *test, heed_dtype dtype, heed_shape shape, const void *data) {
  const heed_constant_desc desc = {sizeof desc, NULL, dtype, shape, data, NULL, NULL};
  return heed_define_constant(test->graph, &desc);
}

void op_test_expect(op_test *test, heed_value value, const double *expected) {
  heed_error error = {HEED_OK, ""};
  heed_value_info info;
  assert_ok(heed_graph_status(test->graph, &error));
  assert_ok(heed_graph_value_info(test->graph, value, &info));
  assert_true(test->result_count < OP_TEST_TENSORS);
  heed_graph_output(test->graph, value);
  test->results[test->result_count++] =
      (op_test_tensor){value, NULL, 0, expected, (size_t)heed_shape_count(&info.shape)};
}

static bool close_enough(double found, double expected, double tolerance) {
  if (isnan(expected) || isinf(expected)) return isnan(expected) ? isnan(found) : found == expected;
  return fabs(found - expected) <= tolerance + tolerance * fabs(expected);
}

static heed_session *run_on(op_test *test, heed_backend *backend, heed_plan **plan,
                            const char *what) {
  heed_error error = {HEED_OK, ""};
  heed_session *session = NULL;
  const heed_plan_desc desc = {sizeof desc, NULL, 0, test->attention};
  if (heed_plan_create(test->graph, backend, &desc, plan, &error) != HEED_OK)
    fail_msg("%s, %s: %s", what, heed_backend_device(backend), error.message);
  assert_ok(heed_session_create(*plan, NULL, &session, &error));
  for (uint32_t i = 0; i < test->input_count; i++)
    assert_ok(heed_session_write(session, test->inputs[i].value, test->inputs[i].data,
                                 test->inputs[i].bytes, &error));
  assert_ok(heed_session_run(session, NULL, &error));
  return session;
}

static double element(heed_dtype dtype, const void *data, size_t i) {
  if (dtype == HEED_I32) return (double)((const int32_t *)data)[i];
  return dtype == HEED_U8 ? (double)((const uint8_t *)data)[i] : (double)((const float *)data)[i];
}

static void compare(const op_test *test, heed_session *session, uint32_t result, double tolerance,
                    const char *what, const char *backend) {
  const op_test_tensor *r = &test->results[result];
  heed_error error = {HEED_OK, ""};
  heed_value_info info;
  void *found = malloc(r->count * sizeof(float)); /* the widest of a graph's dtypes */
  assert_non_null(found);
  assert_ok(heed_graph_value_info(test->graph, r->value, &info));
  assert_ok(heed_session_read(session, r->value, 0, r->count, found, &error));
  for (size_t i = 0; r->expected && i < r->count; i++) {
    const double v = element(info.dtype, found, i);
    if (!close_enough(v, r->expected[i], tolerance))
      fail_msg("%s: result %u, element %zu of %zu: found %.9g, expected %.9g, on %s", what, result,
               i, r->count, v, r->expected[i], backend);
  }
  free(found);
}

void op_test_run_on(op_test *test, uint32_t backend, const char *what) {
  heed_plan *plan = NULL;
  heed_session *session = run_on(test, test_backend_get(backend), &plan, what);
  const double tolerance = fmax(test->tolerance, all.entries[backend].tolerance);
  for (uint32_t r = 0; r < test->result_count; r++)
    compare(test, session, r, tolerance, what, test_backend_name(backend));
  heed_session_destroy(session);
  heed_plan_destroy(plan);
}

void op_test_run(op_test *test, const char *what) {
  const uint32_t count = test->only_backend_below ? test->only_backend_below : test_backend_count();
  for (uint32_t b = 0; b < count && b < test_backend_count(); b++) op_test_run_on(test, b, what);
}

bool op_test_has_mode(op_test *test, heed_attention_mode mode) {
  heed_error error = {HEED_OK, ""};
  heed_plan *plan = NULL;
  bool has = test_backend_count() > 0;
  const heed_plan_desc desc = {sizeof desc, NULL, 0, mode};
  assert_ok(heed_plan_create(test->graph, test_backend_get(0), &desc, &plan, &error));
  for (uint32_t i = 0; i < heed_plan_step_count(plan); i++) {
    heed_plan_step step;
    heed_plan_step_info(plan, i, &step);
    if (strcmp(step.op, "attention") == 0)
      has = has && (step.mode[0] == 's') == (mode == HEED_ATTENTION_MODE_STREAMED) &&
            step.mode[0] != '\0';
  }
  heed_plan_destroy(plan);
  return has;
}

/* The bits of all results on one level with so many threads. */
static void read_bits(op_test *test, const char *level, uint32_t threads, float *const *to,
                      const char *what) {
  heed_error error = {HEED_OK, ""};
  heed_backend *backend = NULL;
  heed_plan *plan = NULL;
  const heed_cpu_desc desc = {sizeof desc, threads, level};
  assert_ok(heed_cpu_backend_create(test_backend_context(), &desc, &backend, &error));
  heed_session *session = run_on(test, backend, &plan, what);
  for (uint32_t r = 0; r < test->result_count; r++)
    assert_ok(heed_session_read(session, test->results[r].value, 0, test->results[r].count, to[r],
                                &error));
  heed_session_destroy(session);
  heed_plan_destroy(plan);
  heed_backend_destroy(backend);
}

void op_test_same_bits(op_test *test, const char *what) {
  static const uint32_t threads[] = {2, 3, 7};
  float *one[OP_TEST_TENSORS], *more[OP_TEST_TENSORS];
  for (uint32_t r = 0; r < test->result_count; r++) {
    one[r] = op_test_zeros(test->results[r].count);
    more[r] = op_test_zeros(test->results[r].count);
  }
  for (uint32_t l = 0; heed_cpu_level(l); l++) {
    read_bits(test, heed_cpu_level(l), 1, one, what);
    for (uint32_t t = 0; t < 3; t++) {
      read_bits(test, heed_cpu_level(l), threads[t], more, what);
      for (uint32_t r = 0; r < test->result_count; r++)
        if (memcmp(one[r], more[r], test->results[r].count * sizeof(float)) != 0)
          fail_msg("%s: result %u: other bits with %u threads than with 1, on cpu %s", what, r,
                   threads[t], heed_cpu_level(l));
    }
  }
  for (uint32_t r = 0; r < test->result_count; r++) {
    free(one[r]);
    free(more[r]);
  }
}

float *op_test_random(test_random *random, size_t count, float scale) {
  float *values = op_test_zeros(count);
  for (size_t i = 0; i < count; i++) values[i] = scale * test_random_normal(random);
  return values;
}

float *op_test_zeros(size_t count) {
  float *values = calloc(count ? count : 1, sizeof *values);
  assert_non_null(values);
  return values;
}

double *op_test_doubles(size_t count) {
  double *values = calloc(count ? count : 1, sizeof *values);
  assert_non_null(values);
  return values;
}
