/* Picture -> pixel_values: grey where the model is, resize, centre crop, rescale, normalise.
 *
 * Size rules are those of the Hugging Face image processors and of torchvision, which agree: the
 * long side is rounded down. Their centre crops do not, see heed_crop_rule; zeros lie around a
 * picture smaller than its crop. A picture that is fitted whole has its other side rounded to the
 * nearest, and the mean colour around it, or grey where it lies in the corner. */
#include "model/image/preprocess.h"

#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/status.h"
#include "model/image/resize.h"

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

static bool in_corner(const heed_preprocess *preprocess) {
  return preprocess->resize == HEED_RESIZE_CORNER || preprocess->resize == HEED_RESIZE_CORNER_MEAN;
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

/* transformers' Idefics 2: the long side first, which cuts the short one down; the least side last.
 */
static void sides_within(const heed_preprocess *preprocess, uint64_t *width, uint64_t *height) {
  const double aspect = (double)*width / (double)*height;
  if (*width >= *height && *width > preprocess->width) {
    *width = preprocess->width;
    *height = (uint64_t)((double)*width / aspect);
  } else if (*height > *width && *height > preprocess->height) {
    *height = preprocess->height;
    *width = (uint64_t)((double)*height * aspect);
  }
  if (*width < preprocess->short_side) *width = preprocess->short_side;
  if (*height < preprocess->short_side) *height = preprocess->short_side;
}

/* transformers' SigLIP 2: the largest scale of a bisection whose sides, each rounded up to patches,
 * have no more of them. */
static void patch_sides(const heed_preprocess *preprocess, uint64_t *width, uint64_t *height) {
  const double side = preprocess->multiple, across = (double)*width, down = (double)*height;
  double low = 1e-5 / 10.0, high = 100.0, columns, rows;
  while (high - low >= 1e-5) {
    const double scale = (low + high) / 2.0;
    columns = fmax(ceil(across * scale / side), 1.0);
    rows = fmax(ceil(down * scale / side), 1.0);
    if (columns * rows <= preprocess->patches)
      low = scale;
    else
      high = scale;
  }
  *width = (uint64_t)(fmax(ceil(across * low / side), 1.0) * side);
  *height = (uint64_t)(fmax(ceil(down * low / side), 1.0) * side);
}

/* transformers' Qwen2-VL, smart_resize: each side to the nearest multiple; if that has too many
 * pixels or too few, by the scale that has just as many, down or up. */
static void pixel_sides(const heed_preprocess *preprocess, uint64_t *width, uint64_t *height) {
  const double side = preprocess->multiple, across = (double)*width, down = (double)*height;
  double w = rint(across / side) * side, h = rint(down / side) * side;
  if (w * h > preprocess->most_pixels) {
    const double shrink = sqrt(across * down / preprocess->most_pixels);
    w = fmax(floor(across / shrink / side), 1.0) * side;
    h = fmax(floor(down / shrink / side), 1.0) * side;
  } else if (w * h < preprocess->least_pixels) {
    const double stretch = sqrt(preprocess->least_pixels / (across * down));
    w = ceil(across * stretch / side) * side;
    h = ceil(down * stretch / side) * side;
  }
  *width = (uint64_t)w;
  *height = (uint64_t)h;
}

/* transformers' Pixtral: the long side is cut first. */
static void tile_sides(const heed_preprocess *preprocess, uint64_t *width, uint64_t *height) {
  const double most = preprocess->width,
               ratio = fmax((double)*height / most, (double)*width / most);
  const uint64_t side = preprocess->multiple;
  if (ratio > 1.0) {
    *width = (uint64_t)floor((double)*width / ratio);
    *height = (uint64_t)floor((double)*height / ratio);
  }
  *width = *width > side ? ((*width - 1) / side + 1) * side : side;
  *height = *height > side ? ((*height - 1) / side + 1) * side : side;
}

static uint32_t channels_of(const heed_preprocess *preprocess) {
  return preprocess->channels ? preprocess->channels : 3;
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
  } else if (preprocess->resize == HEED_RESIZE_WHOLE || preprocess->resize == HEED_RESIZE_COVER ||
             in_corner(preprocess)) {
    const bool covers = preprocess->resize == HEED_RESIZE_COVER;
    w = fitted_side(width, height, preprocess->width, preprocess->height, covers);
    h = fitted_side(height, width, preprocess->height, preprocess->width, covers);
  } else if (preprocess->resize == HEED_RESIZE_MULTIPLES && preprocess->multiple) {
    multiple_sides(preprocess, &w, &h);
  } else if (preprocess->resize == HEED_RESIZE_WITHIN) {
    sides_within(preprocess, &w, &h);
  } else if (preprocess->resize == HEED_RESIZE_PATCHES && preprocess->multiple &&
             preprocess->patches) {
    patch_sides(preprocess, &w, &h);
  } else if (preprocess->resize == HEED_RESIZE_PIXELS && preprocess->multiple &&
             preprocess->least_pixels && preprocess->most_pixels) {
    pixel_sides(preprocess, &w, &h);
  } else if (preprocess->resize == HEED_RESIZE_TILES && preprocess->multiple && preprocess->width) {
    tile_sides(preprocess, &w, &h);
  } else if (preprocess->resize != HEED_RESIZE_NONE) {
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "preprocess: unknown resize (found %d, expected 0 to 4, 6, 7 or 11, 5 and a "
                     "multiple, 8, a multiple and patches, 9, a multiple and pixels, or 10, a "
                     "multiple and a width)",
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
  if (in_corner(preprocess)) return 0;
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
  const uint32_t channels = channels_of(preprocess), most = 3 * MAX_OUT_PIXELS;
  if ((uint64_t)w * h > MAX_OUT_PIXELS || (uint64_t)w * h > most / channels)
    return heed_fail(
        error, HEED_INVALID_ARGUMENT,
        "preprocess: pixel_values too large (found %u x %u, expected at most %u pixels)", w, h,
        channels > 3 ? most / channels : MAX_OUT_PIXELS);
  *out_width = w;
  *out_height = h;
  return HEED_OK;
}

static uint32_t sample_bytes(const heed_image *image) {
  return image->samples == HEED_SAMPLES_U8 ? 1 : image->samples == HEED_SAMPLES_U16 ? 2 : 4;
}

/* Whether the model's channels can be made of those of the image: as they are, grey as colours, or
 * colours of 8 bits as grey. */
static bool has_channels(const heed_image *image, uint32_t channels) {
  const bool colour =
      image->samples == HEED_SAMPLES_U8 && (image->channels == 3 || image->channels == 4);
  return image->channels == channels || (image->channels == 1 && channels == 3) ||
         (colour && (channels == 1 || channels == 3));
}

static heed_status check_numbers(const heed_preprocess *preprocess, heed_error *error) {
  for (uint32_t c = 0; c < channels_of(preprocess); c++)
    if (!(fabsf(preprocess->std[c]) > 0.0f) || !isfinite(preprocess->std[c]) ||
        !isfinite(preprocess->mean[c]) || !isfinite(preprocess->rescale))
      return heed_fail(error, HEED_INVALID_ARGUMENT,
                       "preprocess: invalid rescale, mean or std (found %g, %g, %g, expected "
                       "finite and std not 0)",
                       (double)preprocess->rescale, (double)preprocess->mean[c],
                       (double)preprocess->std[c]);
  return HEED_OK;
}

static heed_status check_image(const heed_preprocess *preprocess, const heed_image *image,
                               heed_error *error) {
  const uint32_t found = image->channels, wanted = channels_of(preprocess);
  if (wanted > HEED_MOST_CHANNELS || image->samples > HEED_SAMPLES_F32)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "preprocess: unknown channels or samples (found %u channels, samples %d, "
                     "expected at most %d, and 0 to 2)",
                     wanted, (int)image->samples, HEED_MOST_CHANNELS);
  if (!image->pixels || !found || found > HEED_MOST_CHANNELS || !has_channels(image, wanted) ||
      image->stride / sample_bytes(image) / found < image->width) {
    char expected[24] = "1, 3 or 4";
    if (wanted != 3)
      snprintf(expected, sizeof expected, wanted == 1 ? "1, or 3 or 4 of 8 bits" : "%u", wanted);
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "preprocess: invalid image (found %u channels, %zu bytes per row, expected %s "
                     "and full rows)",
                     found, image->stride, expected);
  }
  return check_numbers(preprocess, error);
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

/* Where the resized window lies in pixel_values [channels, height, width]. */
typedef struct frame {
  const heed_preprocess *preprocess;
  const heed_resize_window *window;
  uint32_t left, top, width, height;
} frame;

/* What a sample becomes: values of 16 bits count as those of 8 bits times 257, and floats are taken
 * as they are. */
static float value_of(const heed_preprocess *preprocess, heed_samples samples, uint32_t channel,
                      double sample) {
  const double rescale = samples == HEED_SAMPLES_F32   ? 1.0
                         : samples == HEED_SAMPLES_U16 ? (double)preprocess->rescale / 257.0
                                                       : (double)preprocess->rescale;
  return (float)((sample * rescale - (double)preprocess->mean[channel]) /
                 (double)preprocess->std[channel]);
}

/* Beside a picture, of a channel: black; the mean colour around one that is fitted whole; grey or
 * the mean colour beside one in the corner. */
static float beside(const heed_preprocess *preprocess, uint32_t channel, float black) {
  const heed_resize_mode mode = preprocess->resize;
  if (mode == HEED_RESIZE_WHOLE || mode == HEED_RESIZE_CORNER_MEAN) return 0.0f;
  if (mode != HEED_RESIZE_CORNER) return black;
  return (0.5f - preprocess->mean[channel]) / preprocess->std[channel];
}

static void normalise_floats(const frame *f, heed_samples samples, const float *resized, uint32_t c,
                             float *plane) {
  const uint32_t channels = channels_of(f->preprocess), row = f->window->width;
  for (uint32_t y = 0; y < f->window->height; y++)
    for (uint32_t x = 0; x < row; x++)
      plane[(size_t)(f->top + y) * f->width + f->left + x] = value_of(
          f->preprocess, samples, c, (double)resized[((size_t)y * row + x) * channels + c]);
}

static void normalise_bytes(const frame *f, const uint8_t *resized, size_t stride, uint32_t c,
                            const float table[256], float *plane) {
  const uint32_t channels = channels_of(f->preprocess);
  for (uint32_t y = 0; y < f->window->height; y++) {
    const uint8_t *from = resized + y * stride + c;
    float *to = plane + (size_t)(f->top + y) * f->width + f->left;
    for (uint32_t x = 0; x < f->window->width; x++) to[x] = table[from[(size_t)x * channels]];
  }
}

/* The resized window, [its height, its width, channels] with rows of `stride` bytes, and what lies
 * beside it. */
static void normalise(const frame *f, heed_samples samples, const void *resized, size_t stride,
                      float *pixel_values) {
  const heed_preprocess *preprocess = f->preprocess;
  const bool whole = f->window->width == f->width && f->window->height == f->height;
  for (uint32_t c = 0; c < channels_of(preprocess); c++) {
    float table[256];
    for (int v = 0; v < 256; v++) table[v] = value_of(preprocess, samples, c, v);
    float *plane = pixel_values + (size_t)c * f->width * f->height;
    const float around = beside(preprocess, c, table[0]);
    for (size_t i = 0; !whole && i < (size_t)f->width * f->height; i++) plane[i] = around;
    if (samples == HEED_SAMPLES_U8)
      normalise_bytes(f, resized, stride, c, table, plane);
    else
      normalise_floats(f, samples, resized, c, plane);
  }
}

/* Pillow's convert("L"): the weights of ITU-R 601-2 in 16 bits. Alpha is dropped. */
static heed_status make_grey(heed_context *context, const heed_image *image, heed_image *grey,
                             uint8_t **pixels, heed_error *error) {
  *pixels = heed_alloc_raw(context, image->height, image->width);
  if (!*pixels) return heed_fail_memory(error, "preprocess: grey", image->width);
  for (uint32_t y = 0; y < image->height; y++) {
    const uint8_t *from = image->pixels + y * image->stride;
    uint8_t *to = *pixels + (size_t)y * image->width;
    for (uint32_t x = 0; x < image->width; x++, from += image->channels)
      to[x] = (uint8_t)((from[0] * 19595u + from[1] * 38470u + from[2] * 7471u + 0x8000u) >> 16);
  }
  *grey = (heed_image){*pixels, image->width, image->height, 1, image->width};
  return HEED_OK;
}

/* The frame's window of an image whose channels are the model's, or which is grey. */
static heed_status fill_frame(heed_context *context, const frame *f, const heed_image *image,
                              float *pixel_values, heed_error *error) {
  const bool bytes = image->samples == HEED_SAMPLES_U8;
  const size_t count = (size_t)f->window->width * f->window->height; /* at most MAX_OUT_PIXELS */
  const uint32_t channels = channels_of(f->preprocess);
  if (bytes && image->channels == channels && heed_resample_name(f->preprocess->resample) &&
      image->width == f->window->full_width &&
      image->height == f->window->full_height) { /* of the right size: nothing is copied */
    normalise(f, image->samples,
              image->pixels + f->window->y * image->stride + (size_t)f->window->x * channels,
              image->stride, pixel_values);
    return HEED_OK;
  }
  void *resized = heed_alloc_raw(context, count, channels * (bytes ? 1 : sizeof(float)));
  if (!resized) return heed_fail_memory(error, "preprocess", count * channels);
  const heed_status status =
      heed_resize(context, image, f->preprocess->resample, f->window, channels, resized, error);
  if (status == HEED_OK)
    normalise(f, image->samples, resized, (size_t)f->window->width * channels, pixel_values);
  heed_free(context, resized);
  return status;
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
  const frame f = {preprocess, &window, x < 0 ? (uint32_t)-x : 0, y < 0 ? (uint32_t)-y : 0,
                   width,      height};
  uint8_t *pixels = NULL;
  heed_image own = *image;
  heed_status status = HEED_OK;
  if (channels_of(preprocess) == 1 && image->channels > 1)
    status = make_grey(context, image, &own, &pixels, error);
  if (status == HEED_OK) status = fill_frame(context, &f, &own, pixel_values, error);
  heed_free(context, pixels);
  if (status != HEED_OK || !region) return status;
  const double scale_x = (double)image->width / (double)window.full_width,
               scale_y = (double)image->height / (double)window.full_height;
  *region =
      (heed_region){(double)x * scale_x, (double)y * scale_y, width * scale_x, height * scale_y};
  return HEED_OK;
}
