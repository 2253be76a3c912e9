/* Position embeddings for a grid of another size: one axis after the other. */
#include "model/families/positions.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

/* Keys' cubic convolution kernel (1981). */
static double cubic(double x, double a) {
  x = fabs(x);
  if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
  if (x < 2.0) return (((x - 5.0) * x + 8.0) * x - 4.0) * a;
  return 0.0;
}

/* The four taps around `centre`, clamped. */
static void add_taps(uint32_t from, double centre, double *weights) {
  const double base = floor(centre);
  for (int tap = -1; tap <= 2; tap++) {
    double index = base + tap;
    if (index < 0.0) index = 0.0;
    if (index > from - 1.0) index = from - 1.0;
    weights[(uint32_t)index] += cubic(centre - (base + tap), -0.75);
  }
}

static void plain(uint32_t from, uint32_t to, uint32_t at, double *weights) {
  add_taps(from, (at + 0.5) * from / to - 0.5, weights);
}

static void offset(uint32_t from, uint32_t to, uint32_t at, double *weights) {
  add_taps(from, (at + 0.5) * from / (to + 0.1) - 0.5, weights);
}

static void corners(uint32_t from, uint32_t to, uint32_t at, double *weights) {
  add_taps(from, to > 1 ? at * (from - 1.0) / (to - 1.0) : 0.0, weights);
}

static double triangle(double x, double unused) {
  (void)unused;
  return fmax(1.0 - fabs(x), 0.0);
}

/* By a kernel that is widened when shrinking, renormalised at the edges. */
static void widened(double (*kernel)(double, double), uint32_t from, uint32_t to, uint32_t at,
                    double *weights) {
  const double scale = (double)from / to, stretch = scale > 1.0 ? scale : 1.0,
               centre = (at + 0.5) * scale;
  double sum = 0.0;
  for (uint32_t i = 0; i < from; i++)
    sum += weights[i] = kernel((i + 0.5 - centre) / stretch, -0.5);
  for (uint32_t i = 0; i < from; i++) weights[i] /= sum;
}

static void antialiased(uint32_t from, uint32_t to, uint32_t at, double *weights) {
  widened(cubic, from, to, at, weights);
}

static void smooth(uint32_t from, uint32_t to, uint32_t at, double *weights) {
  widened(triangle, from, to, at, weights);
}

static void linear(uint32_t from, uint32_t to, uint32_t at, double *weights) {
  const double centre = fmax((at + 0.5) * from / to - 0.5, 0.0), share = centre - floor(centre);
  const uint32_t first = (uint32_t)centre;
  weights[first] += 1.0 - share;
  weights[first + (first + 1 < from)] += share;
}

static void linear_corners(uint32_t from, uint32_t to, uint32_t at, double *weights) {
  const double centre = to > 1 ? at * (from - 1.0) / (to - 1.0) : 0.0,
               share = centre - floor(centre);
  const uint32_t first = (uint32_t)centre;
  weights[first] += 1.0 - share;
  weights[first + (first + 1 < from)] += share;
}

static void nearest(uint32_t from, uint32_t to, uint32_t at, double *weights) {
  weights[(uint64_t)at * from / to] = 1.0;
}

/* 1 + q + ... of so many terms. */
static double series(double q, uint32_t terms) {
  double sum = 0.0;
  while (terms--) sum = sum * q + 1.0;
  return sum;
}

/* Both counts are odd, and their middle is distance 0. */
static void spread(uint32_t from, uint32_t to, uint32_t at, double *weights) {
  const uint32_t middle = from / 2, reach = to / 2, distance = at < reach ? reach - at : at - reach;
  double left = 1.01, right = 1.5, q = right;
  while (right - left > 1e-6) {
    q = (left + right) / 2.0;
    if (series(q, middle) > reach)
      right = q;
    else
      left = q;
  }
  uint32_t near = 0;
  while (near < middle && series(q, near + 1) < distance) near++;
  const uint32_t far = near < middle ? near + 1 : near;
  const double low = series(q, near),
               share = far > near ? (distance - low) / (series(q, far) - low) : 0.0;
  weights[at < reach ? middle - near : middle + near] += 1.0 - share;
  weights[at < reach ? middle - far : middle + far] += share;
}

/* Sources: transformers' modeling_vit.py, modeling_dinov2_with_registers.py, modeling_beit.py,
 * modeling_siglip2.py; timm's pos_embed.py, pos_embed_rel.py (without SciPy);
 * facebookresearch/dinov2's vision_transformer.py. */
const heed_position_rule heed_positions_plain = {plain, "exact", "bicubic"};
const heed_position_rule heed_positions_offset = {
    offset, "offset", "bicubic, with 0.1 patches added to the size for the scale"};
const heed_position_rule heed_positions_antialiased = {antialiased, "antialiased",
                                                       "bicubic, antialiased"};
const heed_position_rule heed_positions_corners = {corners, "corners", "bicubic, corners aligned"};
const heed_position_rule heed_positions_linear = {linear, "linear", "bilinear"};
const heed_position_rule heed_positions_linear_corners = {linear_corners, "linear_corners",
                                                          "bilinear, corners aligned"};
const heed_position_rule heed_positions_cut = {
    linear_corners, "cut", "bilinear, corners aligned, cut out of a square", .square = true};
const heed_position_rule heed_positions_smooth = {smooth, "smooth", "bilinear, antialiased"};
const heed_position_rule heed_positions_nearest = {nearest, "nearest", "nearest"};
const heed_position_rule heed_positions_spread = {spread, NULL, "bilinear over a geometric series"};

const char heed_position_names[] =
    "exact, offset, antialiased, corners, linear, linear_corners, cut, smooth or nearest";

const heed_position_rule *heed_positions_named(const char *name) {
  static const heed_position_rule *const rules[] = {
      &heed_positions_plain,   &heed_positions_offset, &heed_positions_antialiased,
      &heed_positions_corners, &heed_positions_linear, &heed_positions_linear_corners,
      &heed_positions_cut,     &heed_positions_smooth, &heed_positions_nearest};
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    if (strcmp(rules[i]->name, name) == 0) return rules[i];
  return NULL;
}

void heed_positions_sincos(uint32_t rows, uint32_t columns, uint32_t width, float *positions) {
  const uint32_t part = width / 4;
  for (uint32_t row = 0; row < rows; row++)
    for (uint32_t column = 0; column < columns; column++, positions += width)
      for (uint32_t i = 0; i < part; i++) {
        const double omega = pow(10000.0, -(double)i / (part - 1.0));
        positions[i] = (float)sin(column * omega);
        positions[part + i] = (float)cos(column * omega);
        positions[2 * part + i] = (float)sin(row * omega);
        positions[3 * part + i] = (float)cos(row * omega);
      }
}

void heed_positions_sines(uint32_t count, uint32_t width, float *positions) {
  for (uint32_t at = 0; at < count; at++, positions += width)
    for (uint32_t i = 0; i < width; i += 2) {
      const double angle = at * pow(10000.0, -(double)i / width);
      positions[i] = (float)sin(angle);
      positions[i + 1] = (float)cos(angle);
    }
}

/* Resizes the middle axis of [outer, from, inner] to `whole`, of which the first `to` are kept. */
static void resize_axis(const float *in, uint32_t outer, uint32_t from, size_t inner, uint32_t to,
                        uint32_t whole, const heed_position_rule *rule, double *weights,
                        float *out) {
  for (uint32_t t = 0; t < to; t++) {
    for (uint32_t i = 0; i < from; i++) weights[i] = 0.0;
    rule->weigh(from, whole, t, weights);
    for (uint32_t o = 0; o < outer; o++)
      for (size_t c = 0; c < inner; c++) {
        double sum = 0.0;
        for (uint32_t i = 0; i < from; i++)
          if (weights[i] != 0.0) sum += weights[i] * (double)in[((size_t)o * from + i) * inner + c];
        out[((size_t)o * to + t) * inner + c] = (float)sum;
      }
  }
}

heed_status heed_positions_resize(const heed_context *context, const float *grid, uint32_t side,
                                  uint32_t depth, uint32_t rows, uint32_t columns,
                                  const heed_position_rule *rule, float *resized,
                                  heed_error *error) {
  size_t count;
  if (!heed_size_mul(side, columns, &count) || !heed_size_mul(count, depth, &count))
    return heed_fail_memory(error, "positions", SIZE_MAX);
  float *between = heed_alloc_raw(context, count, sizeof *between);
  double *weights = heed_alloc(context, side, sizeof *weights);
  const bool have = between && weights;
  if (have) {
    const uint32_t longer = rows > columns ? rows : columns;
    resize_axis(grid, side, side, depth, columns, rule->square ? longer : columns, rule, weights,
                between);
    resize_axis(between, 1, side, (size_t)columns * depth, rows, rule->square ? longer : rows, rule,
                weights, resized);
  }
  heed_free(context, weights);
  heed_free(context, between);
  return have ? HEED_OK : heed_fail_memory(error, "positions", count * sizeof *between);
}
