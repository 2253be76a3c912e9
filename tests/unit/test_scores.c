/* Scores of a token with every token of one head, stage by stage, against their definitions written
 * out again in double. */
#include <math.h>
#include <string.h>

#include "support/test_context.h"

enum { TOKENS = 7, DEPTH = 5, HEADS = 3, LAYERS = 2 };

static void fill(test_random *random, float *to, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) to[i] = test_random_normal(random);
}

static void assert_near(double found, double expected, double allowed, const char *what) {
  if (!(fabs(found - expected) <= allowed * (1.0 + fabs(expected))))
    fail_msg("%s: found %.9g, expected %.9g", what, found, expected);
}

static void test_products(void **state) {
  (void)state;
  test_random random = {1};
  float one[DEPTH], all[TOKENS * DEPTH], scores[TOKENS];
  fill(&random, one, DEPTH);
  fill(&random, all, TOKENS * DEPTH);
  for (uint32_t scaled = 0; scaled < 2; scaled++) {
    heed_score_products(one, all, TOKENS, DEPTH, scaled, scores);
    for (uint32_t i = 0; i < TOKENS; i++) {
      double sum = 0.0;
      for (uint32_t d = DEPTH; d-- > 0;) sum += (double)one[d] * (double)all[i * DEPTH + d];
      assert_near((double)scores[i], scaled ? sum * pow(DEPTH, -0.5) : sum, 1e-6, "product");
    }
  }
}

/* Whether a query of head 1 in layer 1 may look at a key: token 5 is dropped, 2 does not look at 4,
 * and with `off` the whole head is taken out. */
static bool may_look(uint32_t query, uint32_t key, bool off) {
  return !off && key != 5 && !(query == 2 && key == 4);
}

/* Every row and column of the head: scores of what may be looked at divided, the others -Inf. */
static void check_mask(const heed_changes *changes, bool off) {
  test_random random = {2};
  for (uint32_t token = 0; token < TOKENS; token++)
    for (uint32_t reverse = 0; reverse < 2; reverse++) {
      float before[TOKENS], scores[TOKENS];
      fill(&random, before, TOKENS);
      memcpy(scores, before, sizeof scores);
      heed_score_mask(changes, 1, 1, token, reverse, 0.7, TOKENS, scores);
      for (uint32_t i = 0; i < TOKENS; i++) {
        const bool open = reverse ? may_look(i, token, off) : may_look(token, i, off);
        if (!open)
          assert_true(scores[i] == -INFINITY);
        else
          assert_near((double)scores[i], (double)before[i] / 0.7, 1e-6, "masked");
      }
    }
}

static void test_mask(void **state) {
  (void)state;
  const heed_model_info info = {.layers = LAYERS, .heads = HEADS, .width = HEADS * DEPTH};
  heed_changes *changes;

  assert_ok(heed_changes_create(context, &info, TOKENS, &changes, &error));
  assert_ok(heed_changes_drop(changes, 5, &error));
  assert_ok(heed_changes_cut(changes, 2, 4, &error));
  assert_ok(heed_changes_ablate(changes, 0, 1, &error)); /* another layer's */
  assert_ok(heed_changes_ablate(changes, 1, 2, &error)); /* another head */
  check_mask(changes, false);
  assert_ok(heed_changes_ablate(changes, 1, 1, &error));
  check_mask(changes, true);
  heed_changes_destroy(changes);
}

static void test_softmax(void **state) {
  (void)state;
  test_random random = {3};
  float scores[TOKENS];
  double weights[TOKENS], sum = 0.0, held = 0.0;
  fill(&random, scores, TOKENS);
  scores[3] = -INFINITY;
  heed_score_softmax(scores, TOKENS, weights);
  for (uint32_t i = 0; i < TOKENS; i++) sum += exp((double)scores[i]);
  for (uint32_t i = 0; i < TOKENS; i++) {
    assert_near(weights[i], exp((double)scores[i]) / sum, 1e-15, "softmax");
    held += weights[i];
  }
  assert_true(weights[3] == 0.0);
  assert_near(held, 1.0, 1e-15, "sum");
}

static void test_softmax_of_extremes(void **state) {
  (void)state;
  const float large[3] = {1e4f, 1e4f, -1e4f}, none[2] = {-INFINITY, -INFINITY},
              nan[2] = {1.0f, NAN};
  double weights[3];
  heed_score_softmax(large, 3, weights);
  assert_true(weights[0] == 0.5 && weights[1] == 0.5 && weights[2] == 0.0);
  heed_score_softmax(none, 2, weights);
  assert_true(weights[0] == 0.0 && weights[1] == 0.0);
  heed_score_softmax(nan, 2, weights);
  assert_true(isnan(weights[0]) && isnan(weights[1]));
}

static void test_values(void **state) {
  (void)state;
  test_random random = {4};
  float weights[TOKENS], values[TOKENS * DEPTH], scores[TOKENS];
  fill(&random, weights, TOKENS);
  fill(&random, values, TOKENS * DEPTH);
  for (uint32_t reverse = 0; reverse < 2; reverse++) {
    heed_score_values(weights, values, TOKENS, DEPTH, reverse, scores);
    for (uint32_t i = 0; i < TOKENS; i++) {
      double length = 0.0; /* by hypot, one number after the other */
      for (uint32_t d = 0; d < DEPTH; d++)
        length = hypot(length, (double)values[(reverse ? 0 : i * DEPTH) + d]);
      assert_near((double)scores[i], (double)weights[i] * length, 1e-6, "value");
    }
  }
}

/* Heads are open at a token by its bits: at 0 none, at 7 all. */
static void test_mean(void **state) {
  (void)state;
  enum { all = 1 << HEADS };
  test_random random = {5};
  float scores[HEADS * all], mean[all];
  fill(&random, scores, HEADS * all);
  for (uint32_t h = 0; h < HEADS; h++)
    for (uint32_t i = 0; i < all; i++)
      if (!(i >> h & 1)) scores[h * all + i] = -INFINITY;
  heed_score_mean(scores, HEADS, all, mean);
  assert_true(mean[0] == -INFINITY);
  for (uint32_t i = 1; i < all; i++) {
    double sum = 0.0, open = 0.0;
    for (uint32_t h = HEADS; h-- > 0;)
      if (i >> h & 1) sum += (double)scores[h * all + i], open += 1.0;
    assert_near((double)mean[i], sum / open, 1e-6, "mean");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_products), cmocka_unit_test(test_mask),
      cmocka_unit_test(test_softmax),  cmocka_unit_test(test_softmax_of_extremes),
      cmocka_unit_test(test_values),   cmocka_unit_test(test_mean)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
