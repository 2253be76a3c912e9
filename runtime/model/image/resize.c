/* Pillow's resizing, of the window of the resized picture that is wanted.
 *
 * 8-bit samples equal Pillow's Image.resize bit for bit (libImaging/Resample.c and, for nearest,
 * Geometry.c): separable filters whose support grows when shrinking, coefficients rounded to 22
 * fractional bits, a pass over rows and then one over columns, each rounded and clipped to 8 bits.
 * Other samples are resized as Pillow's mode F: sums in double, floats between the passes, nothing
 * clipped. Only the source rows that the window needs are read. */
#include "model/image/resize.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"

#define PRECISION_BITS \
  22 /* of a coefficient: 32 bits less 8 of the pixel and 2 of sign and overshoot */
#define PI 3.14159265358979323846

/* -------------------------------------------------------------------------------------- filters */

static double filter_box(double x) { return x > -0.5 && x <= 0.5 ? 1.0 : 0.0; }

static double filter_bilinear(double x) {
  x = fabs(x);
  return x < 1.0 ? 1.0 - x : 0.0;
}

static double filter_hamming(double x) {
  x = fabs(x);
  if (x == 0.0) return 1.0;
  if (x >= 1.0) return 0.0;
  x *= PI;
  /* the float constants are Pillow's */
  return sin(x) / x * ((double)0.54f + (double)0.46f * cos(x));
}

static double filter_bicubic(double x) { /* Keys 1981 with a = -1/2 */
  const double a = -0.5;
  x = fabs(x);
  if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
  if (x < 2.0) return (((x - 5.0) * x + 8.0) * x - 4.0) * a;
  return 0.0;
}

static double sinc(double x) { return x == 0.0 ? 1.0 : sin(x * PI) / (x * PI); }
static double filter_lanczos(double x) {
  return x >= -3.0 && x < 3.0 ? sinc(x) * sinc(x / 3.0) : 0.0;
}

typedef struct resize_filter {
  double (*at)(double x);
  double support;
} resize_filter;

/* With more inputs to an output their rounded weights no longer add up to 1, and sums could pass 31
 * bits. */
#define MAX_SHRINK 65536u

/* By Pillow's numbers; 0 is nearest, which is no filter. */
#define RESAMPLE_NEAREST 0
#define RESAMPLE_COUNT 6
static const resize_filter filters[RESAMPLE_COUNT] = {
    {NULL, 0.0},           {filter_lanczos, 3.0}, {filter_bilinear, 1.0},
    {filter_bicubic, 2.0}, {filter_box, 0.5},     {filter_hamming, 1.0}};

/* ----------------------------------------------------------------------------------------- axes */

/* For outputs first .. first + count of an axis: the inputs [from[i], from[i] + used[i]) and their
 * weights. */
typedef struct resize_axis {
  uint32_t count, width; /* width: weights kept per output */
  uint32_t *from, *used;
  int32_t *weights; /* [count, width], of 8-bit samples; or NULL */
  double *exact;    /* the same of others */
} resize_axis;

static void axis_free(heed_context *context, resize_axis *axis) {
  heed_free(context, axis->from);
  heed_free(context, axis->used);
  heed_free(context, axis->weights);
  heed_free(context, axis->exact);
  memset(axis, 0, sizeof *axis);
}

/* The weights of one output, in Pillow's order of operations; scratch holds axis->width doubles. */
static void axis_weigh(resize_axis *axis, uint32_t i, double center, double scale,
                       const resize_filter *filter, uint32_t size, double *scratch) {
  const double support = filter->support * scale, step = 1.0 / scale;
  const double low = center - support + 0.5, high = center + support + 0.5;
  const uint32_t from = low < 0.0 ? 0 : (uint32_t)low,
                 end = high > (double)size ? size : (uint32_t)high;
  double sum = 0.0;
  HEED_ASSERT(i < axis->count && from < end && end <= size && end - from <= axis->width);
  axis->from[i] = from;
  axis->used[i] = end - from;
  for (uint32_t k = 0; k < end - from; k++) {
    scratch[k] = filter->at(((double)k + (double)from - center + 0.5) * step);
    sum += scratch[k];
  }
  for (uint32_t k = 0; k < end - from; k++) {
    const double share = sum != 0.0 ? scratch[k] / sum : scratch[k],
                 weight = share * (double)(1 << PRECISION_BITS);
    if (axis->exact)
      axis->exact[(size_t)i * axis->width + k] = share;
    else
      axis->weights[(size_t)i * axis->width + k] =
          (int32_t)(weight < 0.0 ? weight - 0.5 : weight + 0.5);
  }
}

/* An axis of `size` pixels resized to `full`, outputs [first, first + count). */
static bool axis_make(heed_context *context, resize_axis *axis, bool exact, uint32_t size,
                      uint32_t full, uint32_t first, uint32_t count, const resize_filter *filter) {
  const double ratio = (double)size / (double)full, scale = ratio < 1.0 ? 1.0 : ratio;
  const double wanted = ceil(filter->support * scale) * 2.0 + 1.0; /* below 2^19, see MAX_SHRINK */
  size_t weights;
  memset(axis, 0, sizeof *axis);
  axis->count = count;
  axis->width = (uint32_t)wanted;
  if (!heed_size_mul(count, axis->width, &weights)) return false;
  axis->from = heed_alloc_raw(context, count, sizeof *axis->from);
  axis->used = heed_alloc_raw(context, count, sizeof *axis->used);
  if (exact)
    axis->exact = heed_alloc_raw(context, weights, sizeof *axis->exact);
  else
    axis->weights = heed_alloc_raw(context, weights, sizeof *axis->weights);
  double *scratch = heed_alloc_raw(context, axis->width, sizeof *scratch);
  const bool made = axis->from && axis->used && (axis->weights || axis->exact) && scratch;
  for (uint32_t i = 0; made && i < count; i++)
    axis_weigh(axis, i, ((double)(first + i) + 0.5) * ratio, scale, filter, size, scratch);
  heed_free(context, scratch);
  if (!made) axis_free(context, axis);
  return made;
}

static uint8_t clip_8(int32_t sum) {
  sum >>= PRECISION_BITS;
  return (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

/* ------------------------------------------------------------------------------- 8-bit samples */

/* One row of RGB: to[i] = sum of weights x pixels; `step` bytes from pixel to pixel, grey is spread
 * over the three colours. */
static void resize_rgb_row(const resize_axis *axis, const uint8_t *from, uint32_t step,
                           uint8_t *to) {
  const uint32_t green = step >= 3 ? 1 : 0, blue = step >= 3 ? 2 : 0;
  for (uint32_t i = 0; i < axis->count; i++) {
    const int32_t *weights = axis->weights + (size_t)i * axis->width;
    const uint8_t *pixel = from + (size_t)axis->from[i] * step;
    int32_t r = 1 << (PRECISION_BITS - 1), g = r, b = r;
    for (uint32_t k = 0; k < axis->used[i]; k++, pixel += step) {
      r += pixel[0] * weights[k];
      g += pixel[green] * weights[k];
      b += pixel[blue] * weights[k];
    }
    to[3 * i] = clip_8(r), to[3 * i + 1] = clip_8(g), to[3 * i + 2] = clip_8(b);
  }
}

/* The same of any number of channels. */
static void resize_row(const resize_axis *axis, const uint8_t *from, uint32_t step,
                       uint32_t channels, uint8_t *to) {
  for (uint32_t i = 0; i < axis->count; i++)
    for (uint32_t c = 0; c < channels; c++, to++) {
      const int32_t *weights = axis->weights + (size_t)i * axis->width;
      const uint8_t *pixel = from + (size_t)axis->from[i] * step + (step > c ? c : 0);
      int32_t sum = 1 << (PRECISION_BITS - 1);
      for (uint32_t k = 0; k < axis->used[i]; k++, pixel += step) sum += *pixel * weights[k];
      *to = clip_8(sum);
    }
}

/* One output row out of `used` rows of `bytes` bytes. */
static void resize_column(const int32_t *weights, uint32_t used, const uint8_t *rows, size_t bytes,
                          uint8_t *to) {
  for (size_t x = 0; x < bytes; x++) {
    int32_t sum = 1 << (PRECISION_BITS - 1);
    for (uint32_t k = 0; k < used; k++) sum += rows[k * bytes + x] * weights[k];
    to[x] = clip_8(sum);
  }
}

/* A row without resizing: columns [first, first + count). */
static void copy_row(const uint8_t *from, uint32_t step, uint32_t first, uint32_t count,
                     uint32_t channels, uint8_t *to) {
  from += (size_t)first * step;
  for (uint32_t i = 0; i < count; i++, from += step)
    for (uint32_t c = 0; c < channels; c++) *to++ = from[step > c ? c : 0];
}

/* ------------------------------------------------------------------------------- other samples */

/* Columns [first, first + count) of row y, as floats. */
static void take_floats(const heed_image *image, uint32_t y, uint32_t first, uint32_t count,
                        uint32_t channels, float *to) {
  const uint8_t *row = image->pixels + y * image->stride;
  const uint32_t step = image->channels;
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t c = 0; c < channels; c++) {
      const size_t at = (size_t)(first + i) * step + (step > c ? c : 0);
      uint16_t whole;
      if (image->samples == HEED_SAMPLES_U16) {
        memcpy(&whole, row + at * sizeof whole, sizeof whole); /* rows may lie anyhow */
        *to++ = whole;
      } else {
        memcpy(to++, row + at * sizeof *to, sizeof *to);
      }
    }
}

static void resize_floats(const resize_axis *axis, const float *line, uint32_t channels,
                          float *to) {
  for (uint32_t i = 0; i < axis->count; i++)
    for (uint32_t c = 0; c < channels; c++) {
      const double *weights = axis->exact + (size_t)i * axis->width;
      const float *pixel = line + (size_t)axis->from[i] * channels + c;
      double sum = 0.0;
      for (uint32_t k = 0; k < axis->used[i]; k++, pixel += channels)
        sum += (double)*pixel * weights[k];
      *to++ = (float)sum;
    }
}

static void resize_float_column(const double *weights, uint32_t used, const float *rows,
                                size_t count, float *to) {
  for (size_t x = 0; x < count; x++) {
    double sum = 0.0;
    for (uint32_t k = 0; k < used; k++) sum += (double)rows[k * count + x] * weights[k];
    to[x] = (float)sum;
  }
}

/* --------------------------------------------------------------------------------------- passes */

/* Both passes. An axis without weights keeps its size. */
typedef struct resize_work {
  heed_context *context;
  const heed_image *image;
  const heed_resize_window *window;
  uint32_t channels;
  bool floats;
  resize_axis across, down;
  float *line; /* a row of the image, where it is not of 8 bits and is resized across */
} resize_work;

static bool is_resized(const resize_axis *axis) { return axis->from != NULL; }

/* Row y of the image, resized across. */
static void pass_row(const resize_work *work, uint32_t y, void *to) {
  const heed_image *image = work->image;
  const heed_resize_window *window = work->window;
  const uint8_t *from = image->pixels + y * image->stride;
  const bool resized = is_resized(&work->across);
  if (work->floats) {
    take_floats(image, y, resized ? 0 : window->x, resized ? image->width : window->width,
                work->channels, resized ? work->line : to);
    if (resized) resize_floats(&work->across, work->line, work->channels, to);
  } else if (!resized) {
    copy_row(from, image->channels, window->x, window->width, work->channels, to);
  } else if (work->channels == 3) {
    resize_rgb_row(&work->across, from, image->channels, to);
  } else {
    resize_row(&work->across, from, image->channels, work->channels, to);
  }
}

static void pass_column(const resize_work *work, uint32_t y, const uint8_t *rows, uint8_t *to) {
  const resize_axis *down = &work->down;
  const size_t count = (size_t)work->window->width * work->channels,
               first = (size_t)y * down->width, at = (down->from[y] - down->from[0]) * count;
  if (work->floats)
    resize_float_column(down->exact + first, down->used[y], (const float *)(const void *)rows + at,
                        count, (float *)(void *)to);
  else
    resize_column(down->weights + first, down->used[y], rows + at, count, to);
}

static heed_status resize_passes(const resize_work *work, uint8_t *to, heed_error *error) {
  const heed_resize_window *window = work->window;
  const resize_axis *down = &work->down;
  const size_t bytes = (size_t)window->width * work->channels * (work->floats ? sizeof(float) : 1);
  const bool resized = is_resized(down);
  const uint32_t last_row = window->height - 1, first = resized ? down->from[0] : window->y,
                 last = resized ? down->from[last_row] + down->used[last_row]
                                : window->y + window->height;
  uint8_t *rows = to;
  if (resized) rows = heed_alloc_raw(work->context, last - first, bytes);
  if (!rows) return heed_fail_memory(error, "preprocess", bytes);
  for (uint32_t y = first; y < last; y++) pass_row(work, y, rows + (y - first) * bytes);
  if (!resized) return HEED_OK;
  for (uint32_t y = 0; y < window->height; y++) pass_column(work, y, rows, to + y * bytes);
  heed_free(work->context, rows);
  return HEED_OK;
}

static heed_status resize_filtered(resize_work *work, const resize_filter *filter, uint8_t *to,
                                   heed_error *error) {
  const heed_image *image = work->image;
  const heed_resize_window *window = work->window;
  heed_context *context = work->context;
  heed_status status = HEED_OK;
  bool made = (window->full_width == image->width ||
               axis_make(context, &work->across, work->floats, image->width, window->full_width,
                         window->x, window->width, filter)) &&
              (window->full_height == image->height ||
               axis_make(context, &work->down, work->floats, image->height, window->full_height,
                         window->y, window->height, filter));
  if (made && work->floats && is_resized(&work->across)) {
    size_t count;
    made = heed_size_mul(image->width, work->channels, &count) &&
           (work->line = heed_alloc_raw(context, count, sizeof *work->line));
  }
  if (!made)
    status = heed_fail_memory(error, "preprocess", sizeof(double) * window->width);
  else
    status = resize_passes(work, to, error);
  axis_free(context, &work->across);
  axis_free(context, &work->down);
  heed_free(context, work->line);
  return status;
}

/* The input position of output `index`, by adding up as Pillow does: the sum of rounded steps is
 * not the rounded product. */
static uint32_t nearest_position(double *position, double step, uint32_t *at, uint32_t index,
                                 uint32_t size) {
  for (; *at < index; ++*at) *position += step;
  const uint32_t found = (uint32_t)*position;
  return found < size ? found : size - 1;
}

static heed_status resize_nearest(const resize_work *work, uint8_t *to, heed_error *error) {
  const heed_image *image = work->image;
  const heed_resize_window *window = work->window;
  const size_t bytes = work->channels * (work->floats ? sizeof(float) : 1);
  const double step_x = (double)image->width / (double)window->full_width,
               step_y = (double)image->height / (double)window->full_height;
  double position_x = step_x * 0.5, position_y = step_y * 0.5;
  uint32_t at_x = 0, at_y = 0;
  /* of every row: far to the right they are a long sum */
  uint32_t *columns = heed_alloc_raw(work->context, window->width, sizeof *columns);
  if (!columns) return heed_fail_memory(error, "preprocess", window->width * sizeof *columns);
  for (uint32_t x = 0; x < window->width; x++)
    columns[x] = nearest_position(&position_x, step_x, &at_x, window->x + x, image->width);
  for (uint32_t y = 0; y < window->height; y++) {
    const uint32_t row = nearest_position(&position_y, step_y, &at_y, window->y + y, image->height);
    for (uint32_t x = 0; x < window->width; x++, to += bytes)
      if (work->floats)
        take_floats(image, row, columns[x], 1, work->channels, (float *)(void *)to);
      else
        copy_row(image->pixels + row * image->stride, image->channels, columns[x], 1,
                 work->channels, to);
  }
  heed_free(work->context, columns);
  return HEED_OK;
}

const char *heed_resample_name(uint32_t resample) {
  static const char *const names[RESAMPLE_COUNT] = {"nearest", "lanczos", "bilinear",
                                                    "bicubic", "box",     "hamming"};
  return resample < RESAMPLE_COUNT ? names[resample] : NULL;
}

heed_status heed_resize(heed_context *context, const heed_image *image, uint32_t resample,
                        const heed_resize_window *window, uint32_t channels, void *to,
                        heed_error *error) {
  resize_work work = {.context = context,
                      .image = image,
                      .window = window,
                      .channels = channels,
                      .floats = image->samples != HEED_SAMPLES_U8};
  if (resample >= RESAMPLE_COUNT)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "preprocess: unknown resample (found %u, expected 0 to 5)", resample);
  if (image->width / MAX_SHRINK >= window->full_width ||
      image->height / MAX_SHRINK >= window->full_height)
    return heed_fail(
        error, HEED_INVALID_ARGUMENT,
        "preprocess: image shrunk too much (found %u x %u to %u x %u, expected less than %u to 1)",
        image->width, image->height, window->full_width, window->full_height, MAX_SHRINK);
  return resample == RESAMPLE_NEAREST ? resize_nearest(&work, to, error)
                                      : resize_filtered(&work, &filters[resample], to, error);
}
