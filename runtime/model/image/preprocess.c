/* Picture -> pixel_values: resize, centre crop, rescale, normalise.
 *
 * Resizing equals Pillow's Image.resize on 8-bit pixels, bit for bit (libImaging/Resample.c and,
 * for nearest, Geometry.c): separable filters whose support grows when shrinking, coefficients
 * rounded to 22 fractional bits, a pass over rows and then one over columns, each rounded and
 * clipped to 8 bits. Only the window that the crop keeps is computed, and only the source rows it
 * needs.
 * Size rules are those of the Hugging Face image processors and of torchvision, which agree: the
 * long side is rounded down. Their centre crops do not, see heed_crop_rule; zeros lie around a
 * picture smaller than its crop. A picture that is fitted whole has its other side rounded to the
 * nearest, and the mean colour around it. */
#include "model/image/preprocess.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
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
  int32_t *weights; /* [count, width] */
} resize_axis;

static void axis_free(heed_context *context, resize_axis *axis) {
  heed_free(context, axis->from);
  heed_free(context, axis->used);
  heed_free(context, axis->weights);
  memset(axis, 0, sizeof *axis);
}

/* The weights of one output, in Pillow's order of operations; scratch holds axis->width doubles. */
static void axis_weigh(resize_axis *axis, uint32_t i, double center, double scale,
                       const resize_filter *filter, uint32_t size, double *scratch) {
  const double support = filter->support * scale, step = 1.0 / scale;
  const double low = center - support + 0.5, high = center + support + 0.5;
  const uint32_t from = low < 0.0 ? 0 : (uint32_t)low,
                 end = high > (double)size ? size : (uint32_t)high;
  int32_t *weights = axis->weights + (size_t)i * axis->width;
  double sum = 0.0;
  axis->from[i] = from;
  axis->used[i] = end - from;
  for (uint32_t k = 0; k < end - from; k++) {
    scratch[k] = filter->at(((double)k + (double)from - center + 0.5) * step);
    sum += scratch[k];
  }
  for (uint32_t k = 0; k < end - from; k++) {
    const double weight =
        (sum != 0.0 ? scratch[k] / sum : scratch[k]) * (double)(1 << PRECISION_BITS);
    weights[k] = (int32_t)(weight < 0.0 ? weight - 0.5 : weight + 0.5);
  }
}

/* An axis of `size` pixels resized to `full`, outputs [first, first + count). */
static bool axis_make(heed_context *context, resize_axis *axis, uint32_t size, uint32_t full,
                      uint32_t first, uint32_t count, const resize_filter *filter) {
  const double ratio = (double)size / (double)full, scale = ratio < 1.0 ? 1.0 : ratio;
  const double wanted = ceil(filter->support * scale) * 2.0 + 1.0; /* below 2^19, see MAX_SHRINK */
  size_t weights;
  memset(axis, 0, sizeof *axis);
  axis->count = count;
  axis->width = (uint32_t)wanted;
  if (!heed_size_mul(count, axis->width, &weights)) return false;
  axis->from = heed_alloc_raw(context, count, sizeof *axis->from);
  axis->used = heed_alloc_raw(context, count, sizeof *axis->used);
  axis->weights = heed_alloc_raw(context, weights, sizeof *axis->weights);
  double *scratch = heed_alloc_raw(context, axis->width, sizeof *scratch);
  const bool made = axis->from && axis->used && axis->weights && scratch;
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

/* One row: to[i] = sum of weights x pixels; `step` bytes from pixel to pixel, grey is spread over
 * the three colours. */
static void resize_row(const resize_axis *axis, const uint8_t *from, uint32_t step, uint8_t *to) {
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

/* One output row out of `used` rows of `bytes` bytes. */
static void resize_column(const int32_t *weights, uint32_t used, const uint8_t *rows, size_t bytes,
                          uint8_t *to) {
  for (size_t x = 0; x < bytes; x++) {
    int32_t sum = 1 << (PRECISION_BITS - 1);
    for (uint32_t k = 0; k < used; k++) sum += rows[k * bytes + x] * weights[k];
    to[x] = clip_8(sum);
  }
}

/* A row without resizing: columns [first, first + count) as RGB. */
static void copy_row(const uint8_t *from, uint32_t step, uint32_t first, uint32_t count,
                     uint8_t *to) {
  from += (size_t)first * step;
  for (uint32_t i = 0; i < count; i++, from += step)
    for (uint32_t c = 0; c < 3; c++) to[3 * i + c] = from[step >= 3 ? c : 0];
}

/* --------------------------------------------------------------------------------------- passes */

/* Both passes. An axis without weights keeps its size. */
static heed_status resize_passes(heed_context *context, const heed_image *image,
                                 const heed_resize_window *window, const resize_axis *across,
                                 const resize_axis *down, uint8_t *rgb, heed_error *error) {
  const size_t bytes = (size_t)window->width * 3;
  const uint32_t first = down->weights ? down->from[0] : window->y;
  const uint32_t last = down->weights
                            ? down->from[window->height - 1] + down->used[window->height - 1]
                            : window->y + window->height;
  uint8_t *rows = rgb;
  if (down->weights) rows = heed_alloc_raw(context, last - first, bytes);
  if (!rows) return heed_fail_memory(error, "preprocess", bytes);
  for (uint32_t y = first; y < last; y++) {
    const uint8_t *from = image->pixels + y * image->stride;
    uint8_t *to = rows + (y - first) * bytes;
    if (across->weights)
      resize_row(across, from, image->channels, to);
    else
      copy_row(from, image->channels, window->x, window->width, to);
  }
  if (!down->weights) return HEED_OK;
  for (uint32_t y = 0; y < window->height; y++)
    resize_column(down->weights + (size_t)y * down->width, down->used[y],
                  rows + (down->from[y] - first) * bytes, bytes, rgb + y * bytes);
  heed_free(context, rows);
  return HEED_OK;
}

static heed_status resize_filtered(heed_context *context, const heed_image *image,
                                   const resize_filter *filter, const heed_resize_window *window,
                                   uint8_t *rgb, heed_error *error) {
  resize_axis across, down;
  memset(&across, 0, sizeof across);
  memset(&down, 0, sizeof down);
  heed_status status = HEED_OK;
  const bool made = (window->full_width == image->width ||
                     axis_make(context, &across, image->width, window->full_width, window->x,
                               window->width, filter)) &&
                    (window->full_height == image->height ||
                     axis_make(context, &down, image->height, window->full_height, window->y,
                               window->height, filter));
  if (!made)
    status = heed_fail_memory(error, "preprocess", sizeof(int32_t) * window->width);
  else
    status = resize_passes(context, image, window, &across, &down, rgb, error);
  axis_free(context, &across);
  axis_free(context, &down);
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

static heed_status resize_nearest(heed_context *context, const heed_image *image,
                                  const heed_resize_window *window, uint8_t *rgb,
                                  heed_error *error) {
  const double step_x = (double)image->width / (double)window->full_width,
               step_y = (double)image->height / (double)window->full_height;
  double position_x = step_x * 0.5, position_y = step_y * 0.5;
  uint32_t at_x = 0, at_y = 0;
  /* of every row: far to the right they are a long sum */
  uint32_t *columns = heed_alloc_raw(context, window->width, sizeof *columns);
  if (!columns) return heed_fail_memory(error, "preprocess", window->width * sizeof *columns);
  for (uint32_t x = 0; x < window->width; x++)
    columns[x] = nearest_position(&position_x, step_x, &at_x, window->x + x, image->width);
  for (uint32_t y = 0; y < window->height; y++) {
    const uint8_t *row =
        image->pixels +
        nearest_position(&position_y, step_y, &at_y, window->y + y, image->height) * image->stride;
    for (uint32_t x = 0; x < window->width; x++, rgb += 3)
      copy_row(row, image->channels, columns[x], 1, rgb);
  }
  heed_free(context, columns);
  return HEED_OK;
}

heed_status heed_resize_rgb(heed_context *context, const heed_image *image, uint32_t resample,
                            const heed_resize_window *window, uint8_t *rgb, heed_error *error) {
  if (resample >= RESAMPLE_COUNT)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "preprocess: unknown resample (found %u, expected 0 to 5)", resample);
  if (image->width / MAX_SHRINK >= window->full_width ||
      image->height / MAX_SHRINK >= window->full_height)
    return heed_fail(
        error, HEED_INVALID_ARGUMENT,
        "preprocess: image shrunk too much (found %u x %u to %u x %u, expected less than %u to 1)",
        image->width, image->height, window->full_width, window->full_height, MAX_SHRINK);
  if (resample != RESAMPLE_NEAREST)
    return resize_filtered(context, image, &filters[resample], window, rgb, error);
  return resize_nearest(context, image, window, rgb, error);
}

/* -------------------------------------------------------------------------------- preprocessing */

#define MAX_SIDE (1u << 28) /* of a picture, resized or not */
#define MAX_OUT_PIXELS (1u << 26)

static heed_status check_side(const char *what, uint64_t width, uint64_t height,
                              heed_error *error) {
  if (width >= 1 && height >= 1 && width <= MAX_SIDE && height <= MAX_SIDE) return HEED_OK;
  return heed_fail(error, HEED_INVALID_ARGUMENT,
                   "preprocess: invalid %s (found %llu x %llu, expected sides of 1 to %u)", what,
                   (unsigned long long)width, (unsigned long long)height, MAX_SIDE);
}

/* One side of a picture `side` x `other` that is made as large as fits into `most` x `other_most`,
 * or as small as covers it. */
static uint64_t fitted_side(uint64_t side, uint64_t other, uint64_t most, uint64_t other_most,
                            bool covers) {
  if (covers ? side * other_most <= other * most : side * other_most >= other * most) return most;
  /* to the nearest; below 2^58 in sides of MAX_SIDE */
  const uint64_t fitted = (2 * side * other_most + other) / (2 * other);
  return fitted > 0 ? fitted : 1;
}

/* transformers' DPT, in its order of operations, on doubles: halves go to the even multiple. */
static void multiple_sides(const heed_preprocess *preprocess, uint64_t *width, uint64_t *height) {
  const double across = (double)preprocess->width / (double)*width,
               down = (double)preprocess->height / (double)*height,
               scale = fabs(1.0 - across) < fabs(1.0 - down) ? across : down,
               multiple = preprocess->multiple;
  *width = (uint64_t)(rint(scale * (double)*width / multiple) * multiple);
  *height = (uint64_t)(rint(scale * (double)*height / multiple) * multiple);
}

/* The size after the resize step. */
static heed_status resized_size(const heed_preprocess *preprocess, uint32_t width, uint32_t height,
                                uint32_t *out_width, uint32_t *out_height, heed_error *error) {
  uint64_t w = width, h = height;
  HEED_TRY(check_side("image", w, h, error));
  if (preprocess->resize == HEED_RESIZE_SQUASH) {
    w = preprocess->width;
    h = preprocess->height;
  } else if (preprocess->resize == HEED_RESIZE_SHORT_SIDE) {
    const uint64_t side = preprocess->short_side;
    w = width <= height ? side : side * width / height;
    h = width <= height ? side * height / width : side;
  } else if (preprocess->resize == HEED_RESIZE_WHOLE || preprocess->resize == HEED_RESIZE_COVER) {
    const bool covers = preprocess->resize == HEED_RESIZE_COVER;
    w = fitted_side(width, height, preprocess->width, preprocess->height, covers);
    h = fitted_side(height, width, preprocess->height, preprocess->width, covers);
  } else if (preprocess->resize == HEED_RESIZE_MULTIPLES && preprocess->multiple) {
    multiple_sides(preprocess, &w, &h);
  } else if (preprocess->resize != HEED_RESIZE_NONE) {
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "preprocess: unknown resize (found %d, expected 0 to 4, or 5 and a multiple)",
                     (int)preprocess->resize);
  }
  HEED_TRY(check_side("resized image", w, h, error));
  *out_width = (uint32_t)w;
  *out_height = (uint32_t)h;
  return HEED_OK;
}

/* One axis of the centre crop: `first` of the resized axis of `full` pixels is the crop's pixel 0;
 * below 0 there are zeros. */
static int64_t crop_offset(const heed_preprocess *preprocess, uint32_t full, uint32_t crop) {
  const int64_t rest = (int64_t)full - (int64_t)crop, half = rest / 2;
  /* that a picture is fitted whole is neither's rule */
  const bool even =
      preprocess->crop_rule == HEED_CROP_EVEN && preprocess->resize != HEED_RESIZE_WHOLE;
  if (even) return rest > 0 && rest % 2 ? half + half % 2 : half;
  return rest >= 0 ? half : -((1 - rest) / 2);
}

heed_status heed_preprocess_size(const heed_preprocess *preprocess, uint32_t width, uint32_t height,
                                 uint32_t *out_width, uint32_t *out_height, heed_error *error) {
  uint32_t w = 0, h = 0;
  HEED_TRY(resized_size(preprocess, width, height, &w, &h, error));
  if (preprocess->crop_width) w = preprocess->crop_width;
  if (preprocess->crop_height) h = preprocess->crop_height;
  HEED_TRY(check_side("crop", w, h, error));
  if ((uint64_t)w * h > MAX_OUT_PIXELS)
    return heed_fail(
        error, HEED_INVALID_ARGUMENT,
        "preprocess: pixel_values too large (found %u x %u, expected at most %u pixels)", w, h,
        MAX_OUT_PIXELS);
  *out_width = w;
  *out_height = h;
  return HEED_OK;
}

static heed_status check_image(const heed_preprocess *preprocess, const heed_image *image,
                               heed_error *error) {
  const uint32_t channels = image->channels;
  if (!image->pixels || (channels != 1 && channels != 3 && channels != 4) ||
      image->stride / channels < image->width)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "preprocess: invalid image (found %u channels, %zu bytes per row, expected 1, "
                     "3 or 4 and full rows)",
                     channels, image->stride);
  for (int c = 0; c < 3; c++)
    if (!(fabsf(preprocess->std[c]) > 0.0f) || !isfinite(preprocess->std[c]) ||
        !isfinite(preprocess->mean[c]) || !isfinite(preprocess->rescale))
      return heed_fail(error, HEED_INVALID_ARGUMENT,
                       "preprocess: invalid rescale, mean or std (found %g, %g, %g, expected "
                       "finite and std not 0)",
                       (double)preprocess->rescale, (double)preprocess->mean[c],
                       (double)preprocess->std[c]);
  return HEED_OK;
}

void heed_preprocess_cover(heed_preprocess *preprocess, uint32_t height, uint32_t width) {
  heed_preprocess *p = preprocess;
  const bool squash = p->resize == HEED_RESIZE_SQUASH;
  const uint32_t rows = p->crop_height ? p->crop_height
                        : squash       ? p->height
                                       : 0,
                 columns = p->crop_width ? p->crop_width
                           : squash      ? p->width
                                         : 0;
  if (rows == height && columns == width) return;
  p->resize = HEED_RESIZE_COVER;
  p->width = p->crop_width = width;
  p->height = p->crop_height = height;
}

void heed_preprocess_fit_whole(heed_preprocess *preprocess) {
  const bool cropped = preprocess->crop_width && preprocess->crop_height;
  if (!cropped && preprocess->resize != HEED_RESIZE_SQUASH) return;
  if (cropped) {
    preprocess->width = preprocess->crop_width;
    preprocess->height = preprocess->crop_height;
  }
  preprocess->resize = HEED_RESIZE_WHOLE;
  preprocess->crop_width = preprocess->width;
  preprocess->crop_height = preprocess->height;
}

/* rgb, the part of the crop that the picture covers, at (left, top) of pixel_values [3, height,
 * width]; elsewhere black, or the mean colour around a picture that is fitted whole. */
static void normalise(const heed_preprocess *preprocess, const uint8_t *rgb,
                      const heed_resize_window *window, uint32_t left, uint32_t top, uint32_t width,
                      uint32_t height, float *pixel_values) {
  for (uint32_t c = 0; c < 3; c++) {
    float table[256];
    for (int v = 0; v < 256; v++)
      table[v] = (float)((v * (double)preprocess->rescale - (double)preprocess->mean[c]) /
                         (double)preprocess->std[c]);
    float *plane = pixel_values + (size_t)c * width * height;
    const float around = preprocess->resize == HEED_RESIZE_WHOLE ? 0.0f : table[0];
    for (size_t i = 0; i < (size_t)width * height; i++) plane[i] = around;
    for (uint32_t y = 0; y < window->height; y++)
      for (uint32_t x = 0; x < window->width; x++)
        plane[(size_t)(top + y) * width + left + x] =
            table[rgb[((size_t)y * window->width + x) * 3 + c]];
  }
}

heed_status heed_preprocess_image(heed_context *context, const heed_preprocess *preprocess,
                                  const heed_image *image, float *pixel_values, heed_region *region,
                                  heed_error *error) {
  uint32_t width = 0, height = 0;
  heed_resize_window window = {0, 0, 0, 0, 0, 0};
  HEED_TRY(check_image(preprocess, image, error));
  HEED_TRY(heed_preprocess_size(preprocess, image->width, image->height, &width, &height, error));
  HEED_TRY(resized_size(preprocess, image->width, image->height, &window.full_width,
                        &window.full_height, error));
  const int64_t x = crop_offset(preprocess, window.full_width, width),
                y = crop_offset(preprocess, window.full_height, height);
  window.x = x > 0 ? (uint32_t)x : 0;
  window.y = y > 0 ? (uint32_t)y : 0;
  window.width = window.full_width < width ? window.full_width : width;
  window.height = window.full_height < height ? window.full_height : height;
  const size_t count = (size_t)window.width * window.height; /* at most MAX_OUT_PIXELS */
  uint8_t *rgb = heed_alloc_raw(context, count, 3);
  if (!rgb) return heed_fail_memory(error, "preprocess", count * 3);
  const heed_status status =
      heed_resize_rgb(context, image, preprocess->resample, &window, rgb, error);
  if (status == HEED_OK)
    normalise(preprocess, rgb, &window, x < 0 ? (uint32_t)-x : 0, y < 0 ? (uint32_t)-y : 0, width,
              height, pixel_values);
  heed_free(context, rgb);
  if (status != HEED_OK || !region) return status;
  const double scale_x = (double)image->width / (double)window.full_width,
               scale_y = (double)image->height / (double)window.full_height;
  *region =
      (heed_region){(double)x * scale_x, (double)y * scale_y, width * scale_x, height * scale_y};
  return HEED_OK;
}
