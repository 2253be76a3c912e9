/* ig [B, channels, height, width], ig.delta [B]: integrated gradients (Sundararajan et al. 2017)
 * from 0 after normalisation, the mean colour, by Gauss and Legendre's nodes on [0, 1]. delta is
 * how far their sum is from the difference of both scores. */
#include <math.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "explain/methods/changed_pixels.h"

#define PI 3.14159265358979323846
enum { STEPS = 50 };

/* Legendre's polynomial of degree n at x, and its derivative (Bonnet's recursion). */
static double legendre(uint32_t n, double x, double *slope) {
  double before = 1.0, p = x;
  for (uint32_t k = 2; k <= n; k++) {
    const double next = ((2.0 * k - 1.0) * x * p - (k - 1.0) * before) / k;
    before = p;
    p = next;
  }
  *slope = n * (x * p - before) / (x * x - 1.0);
  return p;
}

/* Nodes and weights [n] on [0, 1]: roots by Newton's method from Tricomi's estimate. */
static void fill_nodes(uint32_t n, double *nodes, double *weights) {
  for (uint32_t i = 0; i < n; i++) {
    double slope = 1.0, x = cos(PI * (i + 0.75) / (n + 0.5));
    for (int step = 0; step < 100; step++) {
      const double move = legendre(n, x, &slope) / slope;
      x -= move;
      if (fabs(move) < 1e-15) break;
    }
    (void)legendre(n, x, &slope);
    nodes[i] = 0.5 + 0.5 * x;
    weights[i] = 1.0 / ((1.0 - x * x) * slope * slope);
  }
}

typedef struct path {
  const double *nodes;
  size_t count; /* of pixels */
} path;

static void shrink(void *user, uint32_t step, const float *x, float *to) {
  const path *p = user;
  for (size_t i = 0; i < p->count; i++) to[i] = (float)(p->nodes[step] * (double)x[i]);
}

/* delta [B] += sign times the scores at x. */
static heed_status add_scores(heed_explain_run *run, heed_backward *backward, const float *x,
                              double sign, double *delta, heed_error *error) {
  HEED_TRY(heed_backward_run(run, backward, x, error));
  for (uint32_t b = 0; b < run->pass.batch; b++) {
    double score;
    HEED_TRY(heed_backward_score(run, backward, b, &score, error));
    delta[b] += sign * score;
  }
  return HEED_OK;
}

/* room: nodes [steps], weights [steps], delta [B], sum [count]. */
static heed_status integrate(heed_explain_run *run, heed_backward *backward, uint32_t steps,
                             double *room, float *to, float *to_delta, heed_error *error) {
  const heed_named_tensor *x = heed_explain_find(run, "pixel_values");
  const size_t count = (size_t)heed_shape_count(&x->shape), size = count / run->pass.batch;
  double *weights = room + steps, *delta = weights + steps, *sum = delta + run->pass.batch;
  path p = {room, count};
  for (size_t i = 0; i < count; i++) to[i] = 0.0f; /* the picture of zeros */
  HEED_TRY(add_scores(run, backward, to, 1.0, delta, error));
  HEED_TRY(add_scores(run, backward, x->data, -1.0, delta, error));
  fill_nodes(steps, room, weights);
  HEED_TRY(heed_pixels_sum(run, backward, steps, shrink, &p, weights, sum, error));
  for (size_t i = 0; i < count; i++) {
    const double one = sum[i] * (double)((const float *)x->data)[i];
    to[i] = (float)one;
    delta[i / size] += one;
  }
  for (uint32_t b = 0; b < run->pass.batch; b++) to_delta[b] = (float)delta[b];
  return HEED_OK;
}

static heed_status compute(heed_explain_run *run, heed_error *error) {
  const heed_named_tensor *x = heed_explain_find(run, "pixel_values");
  const uint32_t steps = run->desc->ig_steps ? run->desc->ig_steps : STEPS;
  const size_t count = 2 * (size_t)steps + run->pass.batch + (size_t)heed_shape_count(&x->shape);
  float *to = heed_explain_add(run, "ig", HEED_F32, &x->shape, error),
        *delta =
            to ? heed_explain_add(run, "ig.delta", HEED_F32, &HEED_SHAPE(run->pass.batch), error)
               : NULL;
  if (!delta) return HEED_OUT_OF_MEMORY;
  heed_backward backward = {.graph = NULL};
  double *room = heed_alloc(run->context, count, sizeof *room);
  heed_status status = room ? heed_pixels_open(run, &backward, "ig", error)
                            : heed_fail_memory(error, "ig", count * sizeof *room);
  if (status == HEED_OK) status = integrate(run, &backward, steps, room, to, delta, error);
  heed_backward_close(run, &backward);
  heed_free(run->context, room);
  return status;
}

/* The recursion takes steps * steps operations. */
static heed_status prepare(heed_explain_run *run, heed_pass *pass, heed_error *error) {
  (void)pass;
  if (run->desc->ig_steps <= HEED_IG_MOST_STEPS) return HEED_OK;
  return heed_fail(error, HEED_INVALID_ARGUMENT,
                   "ig: too many steps (found %u, expected at most %d)", run->desc->ig_steps,
                   HEED_IG_MOST_STEPS);
}

const heed_explain_method heed_method_ig = {
    .name = "ig", .reverse = true, .prepare = prepare, .compute = compute};
