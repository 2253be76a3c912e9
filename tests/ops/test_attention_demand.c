/* attention: rows of the weights on demand, from kept query and key, after a run that stored none
 * of them: a row with its logits, one head, some rows, the mean over heads; against the definition
 * in double. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/attention_case.h"

#define CASES 120u
#define TOLERANCE 2e-5 /* computed on the CPU from the inputs, whatever ran the op */

typedef struct demand {
  const attention_case *c;
  const attention_tensors *t;
  heed_session *session;
  heed_value weights;
  const char *what;
} demand;

static void compare_row(const demand *d, const float *found, const double *expected, double share,
                        uint32_t head, uint32_t query) {
  for (uint32_t k = 0; k < d->c->keys; k++) {
    const double f = (double)found[k], e = expected[k] * share;
    const bool same = isnan(e)   ? isnan(f)
                      : isinf(e) ? f == e
                                 : fabs(f - e) <= TOLERANCE + TOLERANCE * fabs(e);
    if (!same)
      fail_msg("%s: head %u, query %u, key %u: found %.9g, expected %.9g", d->what, head, query, k,
               f, e);
  }
}

static const double *expected_row(const demand *d, const double *maps, uint32_t batch,
                                  uint32_t head, uint32_t query) {
  return maps + (((size_t)batch * d->c->heads + head) * d->c->queries + query) * d->c->keys;
}

static void check_row(const demand *d, uint32_t batch, uint32_t head, uint32_t query) {
  heed_error error;
  float *row = op_test_zeros(d->c->keys), *logits = op_test_zeros(d->c->keys);
  assert_ok(
      heed_session_attention_row(d->session, d->weights, batch, head, query, row, logits, &error));
  compare_row(d, row, expected_row(d, d->t->weights, batch, head, query), 1.0, head, query);
  compare_row(d, logits, expected_row(d, d->t->logits, batch, head, query), 1.0, head, query);
  free(row);
  free(logits);
}

/* All rows of a head, then two of them; the same of the mean over heads. */
static void check_maps(const demand *d, uint32_t batch, uint32_t head, bool mean) {
  heed_error error;
  const uint32_t keys = d->c->keys, queries = d->c->queries, two[] = {queries - 1, 0};
  float *map = op_test_zeros((size_t)queries * keys), *some = op_test_zeros((size_t)2 * keys);
  heed_attention_map_desc desc = {
      .struct_size = sizeof desc, .batch = batch, .head = head, .head_mean = mean};
  assert_ok(heed_session_attention_map(d->session, d->weights, &desc, map, &error));
  desc.rows = two;
  desc.row_count = 2;
  assert_ok(heed_session_attention_map(d->session, d->weights, &desc, some, &error));
  for (uint32_t r = 0; r < 2; r++)
    assert_memory_equal(some + (size_t)r * keys, map + (size_t)two[r] * keys, keys * sizeof *map);
  double *expected = op_test_doubles(keys);
  for (uint32_t i = 0; i < queries; i++) {
    memset(expected, 0, keys * sizeof *expected);
    for (uint32_t h = mean ? 0 : head; h <= (mean ? d->c->heads - 1 : head); h++)
      for (uint32_t k = 0; k < keys; k++)
        expected[k] += expected_row(d, d->t->weights, batch, h, i)[k];
    compare_row(d, map + (size_t)i * keys, expected, mean ? 1.0 / d->c->heads : 1.0, head, i);
  }
  free(expected);
  free(map);
  free(some);
}

static void refuse(const demand *d) {
  heed_error error;
  float nothing;
  const uint32_t beyond[] = {0, d->c->queries};
  heed_attention_map_desc desc = {.struct_size = sizeof desc, .rows = beyond, .row_count = 2};
  assert_fails(heed_session_attention_map(d->session, d->weights, &desc, &nothing, &error),
               HEED_INVALID_ARGUMENT, "out of range");
  desc = (heed_attention_map_desc){.struct_size = sizeof desc, .head = d->c->heads};
  assert_fails(heed_session_attention_map(d->session, d->weights, &desc, &nothing, &error),
               HEED_INVALID_ARGUMENT, "out of range");
  desc = (heed_attention_map_desc){
      .struct_size = sizeof desc, .batch = d->c->batch, .head_mean = true};
  assert_fails(heed_session_attention_map(d->session, d->weights, &desc, &nothing, &error),
               HEED_INVALID_ARGUMENT, "out of range");
  desc = (heed_attention_map_desc){.struct_size = sizeof desc, .row_count = 1};
  assert_fails(heed_session_attention_map(d->session, d->weights, &desc, &nothing, &error),
               HEED_INVALID_ARGUMENT, "out of range");
  desc.struct_size = 0;
  assert_fails(heed_session_attention_map(d->session, d->weights, &desc, &nothing, &error),
               HEED_INVALID_ARGUMENT, "struct_size");
  assert_fails(heed_session_attention_map(d->session, d->weights, NULL, &nothing, &error),
               HEED_INVALID_ARGUMENT, "NULL argument");
}

static void run_seed(uint64_t seed) {
  char what[300];
  heed_error error;
  heed_plan *plan;
  attention_tensors t;
  op_test test;
  attention_case c = attention_case_random(seed, 1);
  c.rows = false;
  /* query and key of the others are values inside the graph */
  c.score = c.score == HEED_SCORE_SCALED_DOT ? c.score : HEED_SCORE_DOT;
  c.with &= ~(unsigned)OFFSETS; /* so is the mask that they become */
  attention_case_describe(&c, seed, what, sizeof what);
  attention_case_make(&c, seed, &t);
  attention_case_define(&test, &c, &t, false);
  demand d = {.c = &c, .t = &t, .what = what};
  /* The weights follow the output, which is the first result. */
  d.weights = (heed_value){test.results[0].value.id + 1};
  const heed_plan_desc desc = {sizeof desc, NULL, 0, HEED_ATTENTION_MODE_STREAMED};
  assert_ok(heed_plan_create(test.graph, test_backend_get((uint32_t)(seed % test_backend_count())),
                             &desc, &plan, &error));
  assert_ok(heed_session_create(plan, NULL, &d.session, &error));
  for (uint32_t i = 0; i < test.input_count; i++)
    assert_ok(heed_session_write(d.session, test.inputs[i].value, test.inputs[i].data,
                                 test.inputs[i].bytes, &error));
  assert_ok(heed_session_run(d.session, NULL, &error));
  check_row(&d, c.batch - 1, c.heads - 1, c.queries / 2);
  check_maps(&d, c.batch - 1, c.heads / 2, false);
  check_maps(&d, 0, 0, true);
  refuse(&d);
  heed_session_destroy(d.session);
  heed_plan_destroy(plan);
  op_test_end(&test);
  attention_case_release(&t);
}

static void test_on_demand(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= op_test_share(CASES); seed++) run_seed(seed);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_on_demand)};
  return cmocka_run_group_tests_name("attention on demand", tests, NULL, test_backend_close_all);
}
