/* Pixels from those around them (ROAD: Rong et al. 2022): each missing pixel is the weighted mean
 * of its neighbours, which is a linear system of the missing ones. It is symmetric once a row is
 * taken times the sum of its weights, and definite as long as a pixel is known; solved by conjugate
 * gradients in double. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "heed/explain.h"

#define PRECISION 1e-10
#define BESIDE (1.0 / 6.0)
#define DIAGONAL (1.0 / 12.0)

/* Missing pixels that lie side by side: [first, end) of a plane with a border of one pixel. */
typedef struct run {
  size_t first, end;
} run;

/* The system: rows of vectors are `stride` apart, and 0 in the border and where a pixel is known.
 */
typedef struct plane {
  uint32_t height, width;
  size_t stride, count; /* of a vector */
  run *runs;
  size_t run_count;
  double *weight; /* of a pixel's neighbours inside the picture */
  double *x, *residual, *direction, *product;
} plane;

/* What the eight neighbours of a pixel add up to, by their weights. */
static double around(const double *at, size_t stride) {
  return BESIDE * (at[-1] + at[1] + *(at - stride) + at[stride]) +
         DIAGONAL * (*(at - stride - 1) + *(at - stride + 1) + at[stride - 1] + at[stride + 1]);
}

/* product = the system times the direction. */
static void apply(const plane *p) {
  for (size_t r = 0; r < p->run_count; r++)
    for (size_t i = p->runs[r].first; i < p->runs[r].end; i++)
      p->product[i] = p->weight[i] * p->direction[i] - around(p->direction + i, p->stride);
}

static double dot(const plane *p, const double *a, const double *b) {
  double sum = 0.0;
  for (size_t r = 0; r < p->run_count; r++)
    for (size_t i = p->runs[r].first; i < p->runs[r].end; i++) sum += a[i] * b[i];
  return sum;
}

/* a += factor b */
static void add(const plane *p, double *a, double factor, const double *b) {
  for (size_t r = 0; r < p->run_count; r++)
    for (size_t i = p->runs[r].first; i < p->runs[r].end; i++) a[i] += factor * b[i];
}

/* Conjugate gradients from x = 0; the right side is in `residual`. */
static void solve(const plane *p, size_t unknowns) {
  const double first = dot(p, p->residual, p->residual);
  double now = first;
  memcpy(p->direction, p->residual, p->count * sizeof *p->direction);
  for (size_t step = 0; step < 2 * unknowns && now > PRECISION * PRECISION * first; step++) {
    apply(p);
    const double curve = dot(p, p->direction, p->product), before = now;
    if (!(curve > 0.0)) return;
    add(p, p->x, now / curve, p->direction);
    add(p, p->residual, -now / curve, p->product);
    now = dot(p, p->residual, p->residual);
    for (size_t r = 0; r < p->run_count; r++)
      for (size_t i = p->runs[r].first; i < p->runs[r].end; i++)
        p->direction[i] = p->residual[i] + now / before * p->direction[i];
  }
}

/* Where pixel (y, x) stands in a vector. */
static size_t place(const plane *p, uint32_t y, uint32_t x) {
  return (y + (size_t)1) * p->stride + x + 1;
}

static void fill_channel(const plane *p, const uint8_t *missing, size_t unknowns, float *pixels) {
  memset(p->x, 0, p->count * sizeof *p->x);
  memset(p->residual, 0, p->count * sizeof *p->residual);
  memset(p->direction, 0, p->count * sizeof *p->direction);
  for (uint32_t y = 0; y < p->height; y++)
    for (uint32_t x = 0; x < p->width; x++) {
      const size_t at = (size_t)y * p->width + x;
      if (!missing[at]) p->direction[place(p, y, x)] = (double)pixels[at];
    }
  for (size_t r = 0; r < p->run_count; r++)
    for (size_t i = p->runs[r].first; i < p->runs[r].end; i++)
      p->residual[i] = around(p->direction + i, p->stride);
  solve(p, unknowns);
  for (uint32_t y = 0; y < p->height; y++)
    for (uint32_t x = 0; x < p->width; x++) {
      const size_t at = (size_t)y * p->width + x;
      if (missing[at]) pixels[at] = (float)p->x[place(p, y, x)];
    }
}

/* Runs and weights; returns the missing pixels. */
static size_t find_runs(plane *p, const uint8_t *missing) {
  size_t unknowns = 0;
  for (uint32_t y = 0; y < p->height; y++)
    for (uint32_t x = 0; x < p->width; x++) p->direction[place(p, y, x)] = 1.0;
  for (uint32_t y = 0; y < p->height; y++)
    for (uint32_t x = 0; x < p->width; x++) {
      const uint8_t *at = missing + (size_t)y * p->width + x;
      const size_t to = place(p, y, x);
      if (!*at) continue;
      if (!x || !at[-1]) p->runs[p->run_count++] = (run){to, to};
      p->runs[p->run_count - 1].end = to + 1;
      p->weight[to] = around(p->direction + to, p->stride);
      unknowns++;
    }
  return unknowns;
}

static heed_status open_plane(heed_context *context, plane *p, heed_error *error) {
  size_t vectors = 0;
  double *memory = NULL;
  p->stride = p->width + (size_t)2;
  if (heed_size_mul(p->stride, p->height + (size_t)2, &p->count) &&
      heed_size_mul(p->count, 5, &vectors))
    memory = heed_alloc(context, vectors, sizeof *memory);
  p->weight = memory;
  p->runs = memory ? heed_alloc_raw(context, p->count, sizeof *p->runs) : NULL;
  if (!p->runs) return heed_fail_memory(error, "imputation", p->count * 5 * sizeof *memory);
  p->x = memory + p->count;
  p->residual = p->x + p->count;
  p->direction = p->residual + p->count;
  p->product = p->direction + p->count;
  return HEED_OK;
}

heed_status heed_pixels_fill(heed_context *context, float *pixels, uint32_t channels,
                             uint32_t height, uint32_t width, const uint8_t *missing,
                             heed_error *error) {
  plane p = {.height = height, .width = width};
  const size_t all = (size_t)height * width;
  heed_status status = open_plane(context, &p, error);
  const size_t unknowns = status == HEED_OK ? find_runs(&p, missing) : 0;
  if (status == HEED_OK && unknowns == all)
    status = heed_fail(error, HEED_INVALID_ARGUMENT,
                       "imputation: no pixel is known (found %zu of %zu missing)", unknowns, all);
  for (uint32_t c = 0; c < channels && status == HEED_OK && unknowns; c++)
    fill_channel(&p, missing, unknowns, pixels + c * all);
  heed_free(context, p.weight);
  heed_free(context, p.runs);
  return status;
}
