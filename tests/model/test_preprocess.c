/* Preprocessing against Pillow: every filter on a small picture, and photographs through the usual
 * settings. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "image/image.h"
#include "model/image/resize.h"
#include "support/vector_file.h"
/* after it: its functions have errors of their own */
#include "support/test_context.h"

static heed_preprocess plain(heed_resize_mode mode, uint32_t side, uint32_t resample) {
  heed_preprocess made = {.resize = mode,
                          .width = side,
                          .height = side,
                          .short_side = side,
                          .resample = resample,
                          .rescale = 1.0f / 255.0f};
  for (int c = 0; c < 3; c++) made.mean[c] = made.std[c] = 0.5f;
  return made;
}

/* --------------------------------------------------------------------------------------- resize */

/* The windows of a resized picture are parts of the whole one. */
static void check_windows(const heed_image *image, uint32_t resample, uint32_t width,
                          uint32_t height, const uint8_t *whole) {
  test_random random = {width * 64 + height};
  for (int k = 0; k < 8; k++) {
    heed_resize_window window = {
        width, height, test_random_below(&random, width), test_random_below(&random, height), 0, 0};
    window.width = 1 + test_random_below(&random, width - window.x);
    window.height = 1 + test_random_below(&random, height - window.y);
    uint8_t *rgb = malloc((size_t)window.width * window.height * 3);
    assert_ok(heed_resize(context, image, resample, &window, 3, rgb, &error));
    for (uint32_t y = 0; y < window.height; y++)
      assert_memory_equal(rgb + (size_t)y * window.width * 3,
                          whole + ((size_t)(window.y + y) * width + window.x) * 3,
                          (size_t)window.width * 3);
    free(rgb);
  }
}

static void test_resize_equals_pillow(void **state) {
  (void)state;
  vector_file file = vector_file_open("preprocess/resize.safetensors");
  heed_shape shape;
  uint8_t *pixels = vector_file_read(&file, "picture", HEED_U8, &shape);
  const heed_image image = {pixels, shape.dim[1], shape.dim[0], 3, (size_t)shape.dim[1] * 3};
  uint32_t compared = 0;
  for (uint32_t i = 0; i < heed_safetensors_count(file.file); i++) {
    const char *name = heed_safetensors_get(file.file, i)->name;
    unsigned resample, width, height;
    if (sscanf(name, "resample.%u.%u.%u", &resample, &width, &height) != 3) continue;
    uint8_t *wanted = vector_file_read(&file, name, HEED_U8, &shape),
            *rgb = malloc((size_t)width * height * 3);
    const heed_resize_window window = {width, height, 0, 0, width, height};
    assert_ok(heed_resize(context, &image, resample, &window, 3, rgb, &error));
    for (size_t k = 0; k < (size_t)width * height * 3; k++)
      if (rgb[k] != wanted[k])
        fail_msg("%s: byte %zu is %d, expected %d", name, k, rgb[k], wanted[k]);
    check_windows(&image, resample, width, height, rgb);
    free(wanted);
    free(rgb);
    compared++;
  }
  assert_int_equal(compared, 36);
  free(pixels);
  vector_file_close(&file);
}

/* ---------------------------------------------------------------------------------- photographs */

/* Levels of 255 by which pixel_values differ from every 13th level stored; -1 when the tensor is
 * off. */
static double worst_level(const heed_preprocess *preprocess, const float *values,
                          const uint8_t *levels, size_t count) {
  double worst = 0.0;
  for (size_t i = 0; i < count; i++) {
    const size_t at = i * 13, c = at / (224 * 224);
    const double level =
        ((double)values[at] * (double)preprocess->std[c] + (double)preprocess->mean[c]) * 255.0;
    const double difference = fabs(level - levels[i]);
    if (!(difference <= worst)) worst = difference;
  }
  return worst;
}

static void check_photograph(const char *name) {
  static const char *const tensors[3] = {"square_bilinear_224", "square_bicubic_224",
                                         "short_side_256_bicubic_crop_224_imagenet"};
  heed_preprocess settings[3] = {plain(HEED_RESIZE_SQUASH, 224, 2),
                                 plain(HEED_RESIZE_SQUASH, 224, 3),
                                 plain(HEED_RESIZE_SHORT_SIDE, 256, 3)};
  static const float mean[3] = {0.485f, 0.456f, 0.406f}, std[3] = {0.229f, 0.224f, 0.225f};
  char path[256];
  heed_picture picture;
  settings[2].crop_width = settings[2].crop_height = 224;
  memcpy(settings[2].mean, mean, sizeof mean);
  memcpy(settings[2].std, std, sizeof std);
  snprintf(path, sizeof path, "%s/preprocess/%s", HEED_TEST_VECTORS, name);
  assert_ok(heed_image_load(context, path, &picture, &error));
  snprintf(path, sizeof path, "preprocess/%s.expect.safetensors", name);
  vector_file expect = vector_file_open(path);
  const heed_image image = heed_picture_view(&picture);
  float *values = malloc(sizeof *values * 3 * 224 * 224);
  for (int k = 0; k < 3; k++) {
    heed_shape shape;
    uint32_t width, height;
    uint8_t *levels = vector_file_read(&expect, tensors[k], HEED_U8, &shape);
    assert_ok(
        heed_preprocess_size(&settings[k], picture.width, picture.height, &width, &height, &error));
    assert_int_equal(width, 224);
    assert_int_equal(height, 224);
    assert_ok(heed_preprocess_image(context, &settings[k], &image, values, NULL, &error));
    const double worst = worst_level(&settings[k], values, levels, shape.dim[0]),
                 allowed = strstr(name, ".jpg") ? 3.001 : 0.001;
    if (!(worst <= allowed))
      fail_msg("%s, %s: off by %g levels, expected at most %g", name, tensors[k], worst, allowed);
    free(levels);
  }
  free(values);
  vector_file_close(&expect);
  heed_picture_free(context, &picture);
}

static void test_photographs(void **state) {
  (void)state;
  static const char *const names[] = {"rgb.png",          "gray16.png",      "palette.png",
                                      "rgb.jpg",          "progressive.jpg", "gray.jpg",
                                      "exif_rotated.jpg", "wide_900x31.png", "small_20x17.png",
                                      "tiny_1x1.png",     "exact_224.png"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) check_photograph(names[i]);
}

/* -------------------------------------------------------------------------------- sizes, region */

static void test_short_side(void **state) {
  (void)state;
  static const uint32_t cases[][5] = {/* picture, side, result */ {640, 427, 256, 383, 256},
                                      {427, 640, 256, 256, 383},
                                      {900, 31, 256, 7432, 256},
                                      {100, 100, 7, 7, 7},
                                      {3, 2, 2, 3, 2},
                                      {1, 1, 224, 224, 224},
                                      {10, 10000000, 1, 1, 1000000}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    heed_preprocess preprocess = plain(HEED_RESIZE_SHORT_SIDE, cases[i][2], 2);
    uint32_t width, height;
    assert_ok(heed_preprocess_size(&preprocess, cases[i][0], cases[i][1], &width, &height, &error));
    assert_int_equal(width, cases[i][3]);
    assert_int_equal(height, cases[i][4]);
  }
}

/* A crop larger than the picture: zeros around it, offset rounded down as Hugging Face's
 * center_crop rounds it. */
static void test_padded_crop(void **state) {
  (void)state;
  uint8_t pixels[5 * 4];
  float values[3 * 8 * 8];
  heed_region region;
  heed_preprocess preprocess = plain(HEED_RESIZE_NONE, 0, 3);
  preprocess.crop_width = preprocess.crop_height = 8;
  for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (uint8_t)(100 + i);
  const heed_image image = {pixels, 5, 4, 1, 5};
  assert_ok(heed_preprocess_image(context, &preprocess, &image, values, &region, &error));
  for (uint32_t i = 0; i < 3 * 8 * 8; i++) {
    const uint32_t x = i % 8, y = i / 8 % 8;
    const bool inside = x >= 2 && x < 7 && y >= 2 && y < 6;
    const double level = inside ? 100 + (y - 2) * 5 + (x - 2) : 0;
    if (fabs((double)values[i] - (level / 255.0 - 0.5) / 0.5) > 1e-6)
      fail_msg("value %u is %g, expected level %g", i, (double)values[i], level);
  }
  assert_true(region.x == -2.0 && region.y == -2.0 && region.width == 8.0 && region.height == 8.0);
}

/* ---------------------------------------------------------------------------------------- crops */

/* Offset and sizes of the crops of all pictures of 200 to 300 pixels, as Python's integers have
 * them: without resizing, and by timm's four crop_pct. */
static void test_crop_offsets(void **state) {
  (void)state;
  vector_file file = vector_file_open("preprocess/crops.safetensors");
  heed_shape shape;
  int32_t *rows = vector_file_read(&file, "sizes", HEED_I32, &shape);
  uint8_t *pixels = calloc(300 * 300, 1);
  float *values = malloc(sizeof *values * 3 * 224 * 224);
  assert_int_equal(shape.dim[0], 2 * (101 + 4 * 202));
  for (uint32_t i = 0; i < shape.dim[0]; i++) {
    const int32_t *row = rows + (size_t)8 * i;
    const uint32_t width = (uint32_t)row[1], height = (uint32_t)row[2];
    const heed_image image = {pixels, width, height, 1, width};
    const double scale_x = (double)width / row[4], scale_y = (double)height / row[5];
    heed_preprocess preprocess =
        plain(row[3] ? HEED_RESIZE_SHORT_SIDE : HEED_RESIZE_NONE, (uint32_t)row[3], 2);
    heed_region region;
    preprocess.crop_width = preprocess.crop_height = 224;
    preprocess.crop_rule = row[0] ? HEED_CROP_EVEN : HEED_CROP_DOWN;
    assert_ok(heed_preprocess_image(context, &preprocess, &image, values, &region, &error));
    if (fabs(region.width - 224 * scale_x) > 1e-9 || fabs(region.height - 224 * scale_y) > 1e-9 ||
        fabs(region.x - row[6] * scale_x) > 1e-9 || fabs(region.y - row[7] * scale_y) > 1e-9)
      fail_msg("%u x %u, short side %d, rule %d: found %g + %g, %g + %g, expected %d, %d", width,
               height, row[3], row[0], region.x, region.width, region.y, region.height, row[6],
               row[7]);
  }
  free(values);
  free(pixels);
  free(rows);
  vector_file_close(&file);
}

/* Pixels of crops by Pillow and numpy, both rules, larger and smaller than the crop. */
static void test_cropped_pixels(void **state) {
  (void)state;
  vector_file file = vector_file_open("preprocess/crops.safetensors");
  heed_shape shape;
  uint8_t *pixels = vector_file_read(&file, "picture", HEED_U8, &shape);
  const heed_image image = {pixels, shape.dim[1], shape.dim[0], 3, (size_t)shape.dim[1] * 3};
  float values[3 * 42 * 42];
  uint32_t compared = 0;
  for (uint32_t i = 0; i < heed_safetensors_count(file.file); i++) {
    const char *name = heed_safetensors_get(file.file, i)->name;
    unsigned rule, side, crop;
    if (sscanf(name, "crop.%u.%u.%u", &rule, &side, &crop) != 3) continue;
    uint8_t *wanted = vector_file_read(&file, name, HEED_U8, &shape);
    heed_preprocess preprocess = plain(side ? HEED_RESIZE_SHORT_SIDE : HEED_RESIZE_NONE, side, 3);
    preprocess.crop_width = preprocess.crop_height = crop;
    preprocess.crop_rule = rule ? HEED_CROP_EVEN : HEED_CROP_DOWN;
    assert_ok(heed_preprocess_image(context, &preprocess, &image, values, NULL, &error));
    for (uint32_t k = 0; k < 3 * crop * crop; k++) {
      const double level = wanted[k % (crop * crop) * 3 + k / (crop * crop)];
      if (fabs((double)values[k] - (level / 255.0 - 0.5) / 0.5) > 1e-6)
        fail_msg("%s: value %u is %g, expected level %g", name, k, (double)values[k], level);
    }
    free(wanted);
    compared++;
  }
  assert_int_equal(compared, 38);
  free(pixels);
  vector_file_close(&file);
}

/* Sizes of transformers' DPT: Python's round(), on doubles. */
static void test_multiples(void **state) {
  (void)state;
  static const uint32_t cases[][7] = {
      /* picture, size, multiple, result */
      {640, 480, 384, 384, 32, 512, 384}, {480, 640, 384, 384, 32, 384, 512},
      {640, 427, 518, 518, 14, 518, 350}, {1000, 999, 518, 518, 14, 518, 518},
      {53, 37, 32, 32, 16, 48, 32},       {40, 32, 32, 32, 16, 32, 32}, /* 40 / 16 = 2.5 */
      {56, 32, 32, 32, 16, 64, 32},                                     /* 3.5 */
      {300, 200, 384, 384, 1, 384, 256}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    heed_preprocess preprocess = plain(HEED_RESIZE_MULTIPLES, 0, 3);
    uint32_t width, height;
    preprocess.width = cases[i][2];
    preprocess.height = cases[i][3];
    preprocess.multiple = cases[i][4];
    assert_ok(heed_preprocess_size(&preprocess, cases[i][0], cases[i][1], &width, &height, &error));
    if (width != cases[i][5] || height != cases[i][6])
      fail_msg("case %zu: found %u x %u, expected %u x %u", i, width, height, cases[i][5],
               cases[i][6]);
  }
}

/* The whole picture, resized on its own, lies in the middle of zeros: one case, against plain loops
 * in double precision. */
static void check_whole(const uint32_t size[2], const uint32_t fitted[2], uint32_t width,
                        uint32_t height, heed_preprocess preprocess) {
  uint8_t *pixels = malloc((size_t)size[0] * size[1]),
          *rgb = malloc((size_t)fitted[0] * fitted[1] * 3);
  float *values = malloc(sizeof *values * 3 * width * height);
  const heed_image image = {pixels, size[0], size[1], 1, size[0]};
  const heed_resize_window window = {fitted[0], fitted[1], 0, 0, fitted[0], fitted[1]};
  const uint32_t left = (width - fitted[0] + 1) / 2, top = (height - fitted[1] + 1) / 2;
  uint32_t out_width, out_height;
  heed_region region;
  for (size_t i = 0; i < (size_t)size[0] * size[1]; i++) pixels[i] = (uint8_t)(30 + i * 37);
  preprocess.mean[1] = 0.25f;
  heed_preprocess_fit_whole(&preprocess);
  assert_ok(heed_preprocess_size(&preprocess, size[0], size[1], &out_width, &out_height, &error));
  assert_true(out_width == width && out_height == height);
  assert_ok(heed_preprocess_image(context, &preprocess, &image, values, &region, &error));
  assert_ok(heed_resize(context, &image, preprocess.resample, &window, 3, rgb, &error));
  for (uint32_t i = 0; i < 3 * width * height; i++) {
    const uint32_t x = i % width, y = i / width % height, c = i / width / height;
    const bool inside = x >= left && x < left + fitted[0] && y >= top && y < top + fitted[1];
    const double level = inside ? rgb[((size_t)(y - top) * fitted[0] + (x - left)) * 3 + c] : 0;
    const double expected = inside ? (level / 255.0 - (c == 1 ? 0.25 : 0.5)) / 0.5 : 0.0;
    if (inside ? fabs((double)values[i] - expected) > 1e-6 : (double)values[i] != 0.0)
      fail_msg("%u x %u: value %u is %.9g, expected %.9g", size[0], size[1], i, (double)values[i],
               expected);
  }
  const double scale_x = (double)size[0] / fitted[0], scale_y = (double)size[1] / fitted[1];
  assert_true(fabs(region.x + left * scale_x) < 1e-9 && fabs(region.y + top * scale_y) < 1e-9);
  assert_true(fabs(region.width - width * scale_x) < 1e-9 &&
              fabs(region.height - height * scale_y) < 1e-9);
  free(values);
  free(rgb);
  free(pixels);
}

static void test_whole(void **state) {
  (void)state;
  static const uint32_t cases[][2][2] = {
      /* picture, as it is fitted into 8 x 8 */
      {{16, 8}, {8, 4}},  {{5, 4}, {8, 6}}, {{4, 5}, {6, 8}},
      {{7, 7}, {8, 8}},   {{8, 8}, {8, 8}}, {{900, 3}, {8, 1}},
      {{3, 900}, {1, 8}}, {{1, 1}, {8, 8}}, {{640, 427}, {8, 5}}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    check_whole(cases[i][0], cases[i][1], 8, 8, plain(HEED_RESIZE_SQUASH, 8, 2));
    heed_preprocess cropped = plain(HEED_RESIZE_SHORT_SIDE, 11, 3);
    cropped.crop_width = cropped.crop_height = 8;
    check_whole(cases[i][0], cases[i][1], 8, 8, cropped);
  }
  heed_preprocess wide = plain(HEED_RESIZE_SQUASH, 8, 0);
  wide.width = 12;
  check_whole((uint32_t[]){6, 6}, (uint32_t[]){8, 8}, 12, 8, wide);
  /* all of it is seen already */
  heed_preprocess kept = plain(HEED_RESIZE_SHORT_SIDE, 8, 2), before = kept;
  heed_preprocess_fit_whole(&kept);
  assert_int_equal(kept.resize, before.resize);
  assert_int_equal(kept.crop_width, 0);
}

/* The same values as of a resize to the size that covers, aspect kept, and a centre crop. */
static void test_cover(void **state) {
  (void)state;
  enum { WIDTH = 60, HEIGHT = 12 };
  static const uint32_t cases[][2][2] = {
      /* picture, as it covers 60 x 12 */
      {{640, 427}, {60, 40}}, {{900, 31}, {348, 12}}, {{30, 6}, {60, 12}},  {{5, 1}, {60, 12}},
      {{6, 1}, {72, 12}},     {{1, 5}, {60, 300}},    {{60, 12}, {60, 12}}, {{61, 12}, {61, 12}}};
  static uint8_t pixels[640 * 427];
  static float covered[3 * WIDTH * HEIGHT], cropped[3 * WIDTH * HEIGHT];
  for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (uint8_t)(i * 37 + i / 640);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const uint32_t *size = cases[i][0], *fitted = cases[i][1];
    const heed_image image = {pixels, size[0], size[1], 1, size[0]};
    heed_preprocess cover = plain(HEED_RESIZE_COVER, 0, 3),
                    squash = plain(HEED_RESIZE_SQUASH, 0, 3);
    heed_region region, expected;
    cover.width = cover.crop_width = squash.crop_width = WIDTH;
    cover.height = cover.crop_height = squash.crop_height = HEIGHT;
    squash.width = fitted[0];
    squash.height = fitted[1];
    assert_ok(heed_preprocess_image(context, &cover, &image, covered, &region, &error));
    assert_ok(heed_preprocess_image(context, &squash, &image, cropped, &expected, &error));
    assert_memory_equal(covered, cropped, sizeof covered);
    assert_memory_equal(&region, &expected, sizeof region);
  }
}

static void test_region(void **state) {
  (void)state;
  static uint8_t pixels[640 * 427];
  static float values[3 * 224 * 224];
  const heed_image image = {pixels, 640, 427, 1, 640};
  heed_region region;
  heed_preprocess preprocess = plain(HEED_RESIZE_SHORT_SIDE, 256, 2);
  preprocess.crop_width = preprocess.crop_height = 224;
  assert_ok(heed_preprocess_image(context, &preprocess, &image, values, &region, &error));
  assert_true(fabs(region.x - 79.0 * 640 / 383) < 1e-9 && fabs(region.y - 16.0 * 427 / 256) < 1e-9);
  assert_true(fabs(region.width - 224.0 * 640 / 383) < 1e-9 &&
              fabs(region.height - 224.0 * 427 / 256) < 1e-9);
  preprocess = plain(HEED_RESIZE_SQUASH, 224, 2);
  assert_ok(heed_preprocess_image(context, &preprocess, &image, values, &region, &error));
  assert_true(region.x == 0.0 && region.y == 0.0 && fabs(region.width - 640.0) < 1e-9 &&
              fabs(region.height - 427.0) < 1e-9);
}

/* Grey, colour with alpha and padded rows give what plain RGB gives. */
static void test_channels(void **state) {
  (void)state;
  uint8_t rgb[12 * 9 * 3], rgba[9 * (12 * 4 + 5)], grey[12 * 9], spread[12 * 9 * 3];
  float a[3 * 7 * 7], b[3 * 7 * 7];
  for (uint32_t i = 0; i < 12 * 9; i++) {
    for (uint32_t c = 0; c < 3; c++)
      rgb[3 * i + c] = rgba[i / 12 * 53 + i % 12 * 4 + c] = (uint8_t)(i * 31 + c * 77);
    rgba[i / 12 * 53 + i % 12 * 4 + 3] = (uint8_t)i;
    grey[i] = spread[3 * i] = spread[3 * i + 1] = spread[3 * i + 2] = (uint8_t)(i * 53);
  }
  const heed_image images[4] = {
      {rgb, 12, 9, 3, 36}, {rgba, 12, 9, 4, 53}, {spread, 12, 9, 3, 36}, {grey, 12, 9, 1, 12}};
  for (uint32_t resample = 0; resample < 6; resample++) {
    const heed_preprocess preprocess = plain(HEED_RESIZE_SQUASH, 7, resample);
    for (int k = 0; k < 4; k += 2) {
      assert_ok(heed_preprocess_image(context, &preprocess, &images[k], a, NULL, &error));
      assert_ok(heed_preprocess_image(context, &preprocess, &images[k + 1], b, NULL, &error));
      assert_memory_equal(a, b, sizeof a);
    }
  }
}

/* The middle of a picture made a million times as large: the way to its columns is gone once, not
 * once a row. The steps are powers of two, so that their sums are exact and the columns known. */
static void test_nearest_far_to_the_right(void **state) {
  (void)state;
  uint8_t pixels[256];
  const uint32_t side = 512, full = 1u << 28;
  uint8_t *rgb = malloc((size_t)side * side * 3);
  const heed_image image = {pixels, 256, 1, 1, 256};
  const heed_resize_window window = {full, 1u << 20, (full - side) / 2, ((1u << 20) - side) / 2,
                                     side, side};
  for (int i = 0; i < 256; i++) pixels[i] = (uint8_t)i;
  const clock_t start = clock();
  assert_ok(heed_resize(context, &image, 0, &window, 3, rgb, &error));
  const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  for (uint32_t i = 0; i < side * side; i++)
    assert_int_equal(rgb[3 * i], i % side < side / 2 ? 127 : 128);
  free(rgb);
  if (seconds > 3.0) fail_msg("processor time: found %.1f s, expected at most 3", seconds);
}

/* -------------------------------------------------------------------------------------- limits */

static void check_size(heed_preprocess preprocess, uint32_t width, uint32_t height,
                       const char *part) {
  uint32_t to_width, to_height;
  if (!part)
    assert_ok(heed_preprocess_size(&preprocess, width, height, &to_width, &to_height, &error));
  else
    assert_fails(heed_preprocess_size(&preprocess, width, height, &to_width, &to_height, &error),
                 HEED_INVALID_ARGUMENT, part);
}

static void test_limits(void **state) {
  (void)state;
  heed_preprocess preprocess = plain(HEED_RESIZE_NONE, 0, 2);
  check_size(preprocess, 8192, 8192, NULL); /* 2^26 pixels */
  check_size(preprocess, 8193, 8192, "pixel_values too large");
  preprocess = plain(HEED_RESIZE_SQUASH, 4, 2);
  check_size(preprocess, 1u << 28, 1, NULL);
  check_size(preprocess, (1u << 28) + 1, 1, "invalid image");
}

/* -------------------------------------------------------------------------------------- refused */

static void test_refused(void **state) {
  (void)state;
  uint8_t pixels[48] = {0};
  float values[3 * 16];
  heed_image image = {pixels, 4, 4, 3, 12};
  uint32_t width, height;
  heed_preprocess preprocess = plain(HEED_RESIZE_SQUASH, 4, 6);
  preprocess.width = 3;
  assert_fails(heed_preprocess_image(context, &preprocess, &image, values, NULL, &error),
               HEED_INVALID_ARGUMENT, "unknown resample (found 6");
  for (int mode = 5; mode < 10; mode += 4) { /* 5 needs a multiple */
    preprocess = plain((heed_resize_mode)mode, 4, 2);
    assert_fails(heed_preprocess_size(&preprocess, 4, 4, &width, &height, &error),
                 HEED_INVALID_ARGUMENT, mode == 5 ? "unknown resize (found 5" : "(found 9");
  }
  preprocess = plain(HEED_RESIZE_WHOLE, 0, 2);
  assert_fails(heed_preprocess_size(&preprocess, 4, 4, &width, &height, &error),
               HEED_INVALID_ARGUMENT, "invalid resized image (found 0 x 0");
  preprocess = plain(HEED_RESIZE_SQUASH, 0, 2);
  assert_fails(heed_preprocess_size(&preprocess, 4, 4, &width, &height, &error),
               HEED_INVALID_ARGUMENT, "invalid resized image (found 0 x 0");
  preprocess = plain(HEED_RESIZE_SHORT_SIDE, 224, 2);
  assert_fails(heed_preprocess_size(&preprocess, 1, 1u << 27, &width, &height, &error),
               HEED_INVALID_ARGUMENT, "found 224 x 30064771072");
  assert_fails(heed_preprocess_size(&preprocess, 1, 1u << 20, &width, &height, &error),
               HEED_INVALID_ARGUMENT, "pixel_values too large");
  assert_fails(heed_preprocess_size(&preprocess, 0, 5, &width, &height, &error),
               HEED_INVALID_ARGUMENT, "invalid image (found 0 x 5");
  preprocess = plain(HEED_RESIZE_SQUASH, 4, 2);
  preprocess.std[1] = 0.0f;
  assert_fails(heed_preprocess_image(context, &preprocess, &image, values, NULL, &error),
               HEED_INVALID_ARGUMENT, "std");
  preprocess.std[1] = 0.5f;
  image.channels = 2;
  assert_fails(heed_preprocess_image(context, &preprocess, &image, values, NULL, &error),
               HEED_INVALID_ARGUMENT, "2 channels");
  image.channels = 4;
  assert_fails(heed_preprocess_image(context, &preprocess, &image, values, NULL, &error),
               HEED_INVALID_ARGUMENT, "12 bytes per row");
  image = (heed_image){NULL, 4, 4, 3, 12};
  assert_fails(heed_preprocess_image(context, &preprocess, &image, values, NULL, &error),
               HEED_INVALID_ARGUMENT, "invalid image (found 3 channels");
  image = (heed_image){pixels, 4, 0, 3, 12};
  assert_fails(heed_preprocess_image(context, &preprocess, &image, values, NULL, &error),
               HEED_INVALID_ARGUMENT, "invalid image (found 4 x 0");
  image.height = 4;
  preprocess.crop_width = 1u << 29;
  assert_fails(heed_preprocess_image(context, &preprocess, &image, values, NULL, &error),
               HEED_INVALID_ARGUMENT, "invalid crop (found 536870912 x 4");
}

/* No pixel is computed with numbers that are none. */
static void test_numbers_that_are_none(void **state) {
  (void)state;
  uint8_t pixels[48] = {0};
  float values[3 * 16];
  const heed_image image = {pixels, 4, 4, 3, 12};
  for (int i = 0; i < 4; i++) {
    heed_preprocess preprocess = plain(HEED_RESIZE_SQUASH, 4, 2);
    *(i == 0   ? &preprocess.std[2]
      : i == 1 ? &preprocess.std[0]
      : i == 2 ? &preprocess.mean[1]
               : &preprocess.rescale) = i == 1 ? NAN : INFINITY;
    assert_fails(heed_preprocess_image(context, &preprocess, &image, values, NULL, &error),
                 HEED_INVALID_ARGUMENT, "expected finite and std not 0");
  }
}

static void test_shrunk_too_much(void **state) {
  (void)state;
  const uint32_t width = 65536 * 2;
  uint8_t *pixels = calloc(width, 1);
  float values[3 * 4];
  const heed_image image = {pixels, width, 1, 1, width};
  heed_preprocess preprocess = plain(HEED_RESIZE_SQUASH, 2, 1);
  assert_fails(heed_preprocess_image(context, &preprocess, &image, values, NULL, &error),
               HEED_INVALID_ARGUMENT, "shrunk too much");
  memset(pixels, 255, width);
  /* the most that is allowed: all white stays white, though every weight is rounded */
  preprocess.width = 3;
  float row[3 * 6];
  assert_ok(heed_preprocess_image(context, &preprocess, &image, row, NULL, &error));
  for (int i = 0; i < 18; i++) assert_true((double)row[i] > 0.95);
  free(pixels);
}

static void check_out_of_memory(uint32_t resample, size_t allocations) {
  uint8_t pixels[20 * 30 * 3];
  float values[3 * 16 * 16];
  heed_preprocess preprocess = plain(HEED_RESIZE_SHORT_SIDE, 18, resample);
  preprocess.crop_width = preprocess.crop_height = 16;
  memset(pixels, 9, sizeof pixels);
  const heed_image image = {pixels, 20, 30, 3, 60};
  size_t n = 1;
  for (bool reached = true; reached; n++) {
    test_allocator allocator = {0, 0, 0};
    const heed_context_desc desc = test_context_desc(&allocator);
    heed_context *counted;
    assert_ok(heed_context_create(&desc, &counted, &error));
    allocator.fail_at = allocator.total + n;
    const heed_status status =
        heed_preprocess_image(counted, &preprocess, &image, values, NULL, &error);
    reached = allocator.total >= allocator.fail_at;
    assert_int_equal(status, reached ? HEED_OUT_OF_MEMORY : HEED_OK);
    heed_context_destroy(counted);
    assert_int_equal(allocator.live, 0);
  }
  assert_true(n > allocations);
}

static void test_out_of_memory(void **state) {
  (void)state;
  check_out_of_memory(3, 8);
  check_out_of_memory(0, 2);
}

/* ------------------------------------------------------------------------------------- channels */

/* A picture of the file resized by every filter, by its name. */
static uint32_t check_resized(const vector_file *file, const char *picture, const heed_image *image,
                              uint32_t channels) {
  const size_t length = strlen(picture);
  uint32_t compared = 0;
  for (uint32_t i = 0; i < heed_safetensors_count(file->file); i++) {
    const char *name = heed_safetensors_get(file->file, i)->name;
    const bool floats = image->samples != HEED_SAMPLES_U8;
    unsigned resample, width, height;
    heed_shape shape;
    if (strncmp(name, picture, length) != 0 ||
        sscanf(name + length, ".%u.%u.%u", &resample, &width, &height) != 3)
      continue;
    void *wanted = vector_file_read(file, name, floats ? HEED_F32 : HEED_U8, &shape);
    const size_t count = (size_t)width * height * channels;
    void *found = malloc(count * 4);
    const heed_resize_window window = {width, height, 0, 0, width, height};
    assert_ok(heed_resize(context, image, resample, &window, channels, found, &error));
    for (size_t k = 0; k < count; k++) {
      const double a = floats ? (double)((float *)found)[k] : ((uint8_t *)found)[k],
                   b = floats ? (double)((float *)wanted)[k] : ((uint8_t *)wanted)[k];
      /* a sum in double that another compiler contracts may round to the next float */
      if (!(fabs(a - b) <= (floats ? 1e-7 * fabs(b) : 0.0)))
        fail_msg("%s: sample %zu is %.9g, expected %.9g", name, k, a, b);
    }
    free(found);
    free(wanted);
    compared++;
  }
  return compared;
}

/* pixel_values of a model of one channel, of which 255 levels are told apart. */
static void check_grey(const heed_image *image, const uint8_t *wanted, const char *name) {
  const size_t count = (size_t)image->width * image->height;
  heed_preprocess preprocess = plain(HEED_RESIZE_NONE, 0, 2);
  preprocess.channels = 1;
  float *values = malloc(count * sizeof *values);
  assert_ok(heed_preprocess_image(context, &preprocess, image, values, NULL, &error));
  for (size_t i = 0; i < count; i++)
    if (values[i] != (float)((wanted[i] * (double)preprocess.rescale - 0.5) / 0.5))
      fail_msg("%s: pixel %zu is %g, expected level %d", name, i, (double)values[i], wanted[i]);
  free(values);
}

/* Colours become grey as Pillow's convert("L"), before they are resized. */
static void test_grey(void **state) {
  (void)state;
  vector_file file = vector_file_open("preprocess/channels.safetensors");
  static const char *const pictures[] = {"grey.rgb", "grey.rgba"};
  heed_shape shape;
  for (int p = 0; p < 2; p++) {
    char name[24];
    snprintf(name, sizeof name, "%s.l", pictures[p]);
    uint8_t *pixels = vector_file_read(&file, pictures[p], HEED_U8, &shape),
            *grey = vector_file_read(&file, name, HEED_U8, &shape);
    const uint32_t channels = p ? 4 : 3;
    const heed_image image = {pixels, 19, 13, channels, (size_t)19 * channels},
                     l = {grey, 19, 13, 1, 19};
    check_grey(&image, grey, pictures[p]);
    check_grey(&l, grey, name);
    assert_int_equal(check_resized(&file, pictures[p], &l, 1), 18);
    free(pixels);
    free(grey);
  }
  uint8_t *wanted = vector_file_read(&file, "lattice.l", HEED_U8, &shape),
          *lattice = malloc(18 * 18 * 18 * 3);
  for (uint32_t i = 0; i < 18 * 18 * 18; i++) {
    lattice[3 * i] = (uint8_t)(i / (18 * 18) * 15);
    lattice[3 * i + 1] = (uint8_t)(i / 18 % 18 * 15);
    lattice[3 * i + 2] = (uint8_t)(i % 18 * 15);
  }
  const heed_image image = {lattice, 18 * 18 * 18, 1, 3, (size_t)18 * 18 * 18 * 3};
  check_grey(&image, wanted, "lattice");
  free(lattice);
  free(wanted);
  vector_file_close(&file);
}

/* Samples of 16 bits, floats, and five channels of 8 bits are resized as Pillow resizes each. */
static void test_other_samples(void **state) {
  (void)state;
  vector_file file = vector_file_open("preprocess/channels.safetensors");
  static const struct {
    const char *name;
    uint32_t channels, bytes;
    heed_samples samples;
  } pictures[] = {{"float.16", 1, 2, HEED_SAMPLES_U16},
                  {"float.2", 2, 4, HEED_SAMPLES_F32},
                  {"five", 5, 1, HEED_SAMPLES_U8}};
  for (int p = 0; p < 3; p++) {
    heed_shape shape;
    const uint32_t channels = pictures[p].channels;
    uint8_t *pixels = vector_file_read(&file, pictures[p].name,
                                       pictures[p].bytes == 4 ? HEED_F32 : HEED_U8, &shape);
    const heed_image image = {
        pixels, 19, 13, channels, (size_t)19 * channels * pictures[p].bytes, pictures[p].samples};
    assert_int_equal(check_resized(&file, pictures[p].name, &image, channels), 18);
    free(pixels);
  }
  vector_file_close(&file);
}

/* What becomes of white: 255, 65535 and 1 alike, and each channel by its own mean and std. */
static void test_values_of_samples(void **state) {
  (void)state;
  const uint8_t bytes[5] = {255, 0, 255, 255, 255};
  const uint16_t whole[2] = {65535, 257 * 100};
  const float floats[5] = {1.0f, -2.0f, 0.5f, 3.0f, 1000.0f};
  float values[5];
  heed_preprocess p = plain(HEED_RESIZE_NONE, 0, 2);
  p.channels = 5;
  for (int c = 0; c < 5; c++) {
    p.mean[c] = 0.25f * (float)c;
    p.std[c] = 0.5f + (float)c;
  }
  const heed_image five = {bytes, 1, 1, 5, 5},
                   five_floats = {(const uint8_t *)floats, 1, 1, 5, 20, HEED_SAMPLES_F32},
                   grey = {(const uint8_t *)whole, 2, 1, 1, 4, HEED_SAMPLES_U16};
  assert_ok(heed_preprocess_image(context, &p, &five, values, NULL, &error));
  for (int c = 0; c < 5; c++)
    assert_true(fabs((double)values[c] - ((bytes[c] / 255.0 - 0.25 * c) / (0.5 + c))) <= 1e-6);
  assert_ok(heed_preprocess_image(context, &p, &five_floats, values, NULL, &error));
  for (int c = 0; c < 5; c++)
    assert_true(fabs((double)values[c] - (((double)floats[c] - 0.25 * c) / (0.5 + c))) <= 1e-6);
  p = plain(HEED_RESIZE_NONE, 0, 2);
  p.channels = 1;
  assert_ok(heed_preprocess_image(context, &p, &grey, values, NULL, &error));
  assert_true(fabs((double)values[0] - (1.0)) <= 1e-6);
  assert_true(fabs((double)values[1] - (100 / 127.5 - 1.0)) <= 1e-6);
  p.channels = 3; /* grey is spread over colours, whatever its samples */
  assert_ok(heed_preprocess_image(
      context, &p, &(heed_image){(const uint8_t *)whole, 1, 1, 1, 2, HEED_SAMPLES_U16}, values,
      NULL, &error));
  assert_true(fabs((double)values[0] - 1.0) <= 1e-6);
  assert_true(values[1] == values[0] && values[2] == values[0]);
}

/* Channels that a model cannot be given. */
static void test_channels_that_do_not_fit(void **state) {
  (void)state;
  static const struct {
    uint32_t model, image;
    heed_samples samples;
    const char *sentence;
  } cases[] = {{5, 3, HEED_SAMPLES_U8, "found 3 channels, 4096 bytes per row, expected 5"},
               {1, 2, HEED_SAMPLES_U8, "expected 1, or 3 or 4 of 8 bits"},
               {1, 3, HEED_SAMPLES_F32, "expected 1, or 3 or 4 of 8 bits"},
               {3, 4, HEED_SAMPLES_F32, "expected 1, 3 or 4"},
               {2, 1, HEED_SAMPLES_U8, "expected 2 and full rows"},
               {257, 257, HEED_SAMPLES_U8, "found 257 channels"},
               {3, 3, (heed_samples)3, "samples 3"}};
  static uint8_t pixels[4096];
  float values[16];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    heed_preprocess preprocess = plain(HEED_RESIZE_NONE, 0, 2);
    preprocess.channels = cases[i].model;
    const heed_image image = {pixels, 1, 1, cases[i].image, 4096, cases[i].samples};
    assert_fails(heed_preprocess_image(context, &preprocess, &image, values, NULL, &error),
                 HEED_INVALID_ARGUMENT, cases[i].sentence);
  }
}

/* What replaces parts of a preprocessing; what is refused changes nothing. */
static void test_changes(void **state) {
  (void)state;
  static const float three[3] = {0.1f, 0.2f, 0.3f}, two[2] = {0.5f, 0.5f}, zero = 0.0f;
  heed_preprocess p = plain(HEED_RESIZE_SHORT_SIDE, 18, 2), before;
  p.crop_width = p.crop_height = 16;
  before = p;
  heed_preprocess_options options = {.struct_size = sizeof options};
  assert_ok(heed_preprocess_change(&p, &options, &error));
  assert_memory_equal(&p, &before, sizeof p);
  options.mean = three;
  options.mean_count = 3;
  options.std = two;
  options.std_count = 1;
  options.resample = "box";
  options.crop = 0.875;
  options.rescale = 1.0f;
  assert_ok(heed_preprocess_change(&p, &options, &error));
  assert_true(p.mean[0] == 0.1f && p.mean[2] == 0.3f && p.std[2] == 0.5f && p.rescale == 1.0f);
  assert_int_equal(p.resample, 4);
  assert_int_equal(p.resize, HEED_RESIZE_SHORT_SIDE);
  assert_int_equal(p.short_side, 18); /* floor(16 / 0.875) */
  p.crop_height = 32;                 /* two sides: a share of each */
  assert_ok(heed_preprocess_change(&p, &options, &error));
  assert_int_equal(p.resize, HEED_RESIZE_COVER);
  assert_true(p.width == 18 && p.height == 36 && p.crop_width == 16 && p.crop_height == 32);
  options.crop = 0.0;
  options.squash = true;
  assert_ok(heed_preprocess_change(&p, &options, &error));
  assert_true(p.resize == HEED_RESIZE_SQUASH && p.width == 16 && p.height == 32 && !p.crop_width);
  const struct {
    heed_preprocess_options options;
    const char *sentence;
  } bad[] = {{{.mean = two, .mean_count = 2}, "wrong count of mean (found 2, expected 3"},
             {{.mean = NULL, .mean_count = 3}, "wrong count of mean"},
             {{.std = &zero, .std_count = 1}, "invalid std (found 0"},
             {{.resample = "cubic"}, "unknown resample (found \"cubic\""},
             {{.crop = 1.5}, "invalid crop (found 1.5"},
             {{.crop = 0.5, .squash = true}, "invalid crop (found 0.5 and squash"},
             {{.rescale = -1.0f}, "invalid rescale (found -1"}};
  before = p;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    heed_preprocess_options refused = bad[i].options;
    refused.struct_size = sizeof refused;
    assert_fails(heed_preprocess_change(&p, &refused, &error), HEED_INVALID_ARGUMENT,
                 bad[i].sentence);
    assert_memory_equal(&p, &before, sizeof p);
  }
  p = plain(HEED_RESIZE_NONE, 0, 2);
  assert_fails(heed_preprocess_change(&p, &options, &error), HEED_INVALID_ARGUMENT,
               "a crop needs a size of the input");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_resize_equals_pillow),
                                     cmocka_unit_test(test_photographs),
                                     cmocka_unit_test(test_short_side),
                                     cmocka_unit_test(test_padded_crop),
                                     cmocka_unit_test(test_crop_offsets),
                                     cmocka_unit_test(test_cropped_pixels),
                                     cmocka_unit_test(test_multiples),
                                     cmocka_unit_test(test_whole),
                                     cmocka_unit_test(test_cover),
                                     cmocka_unit_test(test_region),
                                     cmocka_unit_test(test_channels),
                                     cmocka_unit_test(test_nearest_far_to_the_right),
                                     cmocka_unit_test(test_limits),
                                     cmocka_unit_test(test_refused),
                                     cmocka_unit_test(test_numbers_that_are_none),
                                     cmocka_unit_test(test_shrunk_too_much),
                                     cmocka_unit_test(test_out_of_memory),
                                     cmocka_unit_test(test_grey),
                                     cmocka_unit_test(test_other_samples),
                                     cmocka_unit_test(test_values_of_samples),
                                     cmocka_unit_test(test_channels_that_do_not_fit),
                                     cmocka_unit_test(test_changes)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
