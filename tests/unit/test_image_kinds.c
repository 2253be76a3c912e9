/* WebP, TIFF, grey of 16 bits and NumPy's arrays, as Pillow and numpy read the same files
 * (vectors/image/make_kinds.py); and what of them is refused. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/image.h"
#include "support/vector_file.h"
/* after it: its functions have errors of their own */
#include "support/test_context.h"

static vector_file vectors;

/* Whether this build reads a file of that name. */
static bool is_read(const char *name) {
  const char *kinds = heed_image_kinds();
  return strstr(name, ".webp")  ? strstr(kinds, "WebP") != NULL
         : strstr(name, ".tif") ? strstr(kinds, "TIFF") != NULL
                                : true;
}

static uint8_t *file_of(const char *name, size_t *size) {
  char full[96];
  heed_shape shape;
  snprintf(full, sizeof full, "file.%s", name);
  uint8_t *bytes = vector_file_read(&vectors, full, HEED_U8, &shape);
  *size = shape.dim[0];
  return bytes;
}

static heed_status decode(const char *name, uint32_t channels, uint32_t frame,
                          heed_picture *picture) {
  size_t size;
  uint8_t *bytes = file_of(name, &size);
  const heed_image_limits limits = {
      .struct_size = sizeof limits, .channels = channels, .frame = frame};
  const heed_status status =
      heed_image_decode_within(context, name, bytes, size, &limits, picture, &error);
  free(bytes);
  return status;
}

/* "rgb.turned_3.tif.0" */
static void check_rgb(const char *tensor) {
  char name[80];
  heed_shape shape;
  heed_picture picture;
  snprintf(name, sizeof name, "%s", tensor + 4);
  char *end = strrchr(name, '.');
  const uint32_t frame = (uint32_t)atoi(end + 1);
  *end = '\0';
  if (!is_read(name)) return;
  /* decoders may round these otherwise */
  const int allowed = strcmp(name, "jpeg.tif") == 0 ? 3 : strcmp(name, "lossy.webp") == 0;
  uint8_t *wanted = vector_file_read(&vectors, tensor, HEED_U8, &shape);
  assert_ok(decode(name, 0, frame, &picture));
  assert_true(picture.height == shape.dim[0] && picture.width == shape.dim[1]);
  assert_true(picture.channels == 3 && picture.samples == HEED_SAMPLES_U8);
  for (size_t i = 0; i < (size_t)picture.width * picture.height * 3; i++)
    if (abs(picture.pixels[i] - wanted[i]) > allowed)
      fail_msg("%s: byte %zu is %d, expected %d", tensor, i, picture.pixels[i], wanted[i]);
  assert_int_equal(picture.frames, strstr(name, "frames.") ? 3 : strstr(name, "pages.") ? 5 : 1);
  heed_picture_free(context, &picture);
  free(wanted);
}

static double sample_of(const heed_picture *picture, size_t index) {
  uint16_t whole;
  float single;
  if (picture->samples == HEED_SAMPLES_U8) return picture->pixels[index];
  memcpy(&whole, picture->pixels + 2 * index, sizeof whole);
  if (picture->samples == HEED_SAMPLES_U16) return whole;
  memcpy(&single, picture->pixels + 4 * index, sizeof single);
  return (double)single;
}

/* Samples that are no colours: all channels, or grey of 16 bits. */
static void check_samples(const char *tensor, uint32_t channels) {
  const char *name = strchr(tensor, '.') + 1;
  heed_shape shape;
  heed_picture picture;
  if (!is_read(name)) return;
  float *wanted = vector_file_read(&vectors, tensor, HEED_F32, &shape);
  assert_ok(decode(name, channels, 0, &picture));
  assert_true(picture.height == shape.dim[0] && picture.width == shape.dim[1] &&
              picture.channels == channels);
  assert_int_equal(picture.samples, strstr(name, "u1") || strstr(name, "pages") ? HEED_SAMPLES_U8
                                    : strstr(name, "u2") || strstr(name, "sixteen")
                                        ? HEED_SAMPLES_U16
                                        : HEED_SAMPLES_F32);
  for (size_t i = 0; i < (size_t)picture.width * picture.height * channels; i++)
    if (sample_of(&picture, i) != (double)wanted[i])
      fail_msg("%s: sample %zu is %.9g, expected %.9g", tensor, i, sample_of(&picture, i),
               (double)wanted[i]);
  assert_ok(heed_picture_show(context, &picture, &error)); /* for a figure */
  assert_true(picture.channels == 3 && picture.samples == HEED_SAMPLES_U8);
  heed_picture_free(context, &picture);
  free(wanted);
}

static void test_files(void **state) {
  (void)state;
  uint32_t colours = 0, others = 0;
  for (uint32_t i = 0; i < heed_safetensors_count(vectors.file); i++) {
    const char *name = heed_safetensors_get(vectors.file, i)->name;
    if (strncmp(name, "rgb.", 4) == 0) check_rgb(name), colours++;
    if (strncmp(name, "sixteen.", 8) == 0) check_samples(name, 1), others++;
    if (strncmp(name, "floats.", 7) == 0) check_samples(name, 5), others++;
  }
  assert_int_equal(colours, 30);
  assert_int_equal(others, 16);
}

/* For a model in colour grey of 16 bits becomes 8, as in PNGs; floats of one channel stay. */
static void test_grey_for_colours(void **state) {
  (void)state;
  static const char *const names[] = {"sixteen.png", "sixteen.tif"};
  heed_shape shape;
  float *wanted = vector_file_read(&vectors, "sixteen.sixteen.png", HEED_F32, &shape);
  for (int n = 0; n < 2; n++) {
    heed_picture picture;
    if (!is_read(names[n])) continue;
    assert_ok(decode(names[n], 3, 0, &picture));
    assert_true(picture.channels == 3 && picture.samples == HEED_SAMPLES_U8);
    for (size_t i = 0; i < 13 * 19; i++)
      for (size_t c = 0; c < 3; c++)
        assert_int_equal(picture.pixels[3 * i + c], (int)rint((double)wanted[i] / 257.0));
    heed_picture_free(context, &picture);
  }
  free(wanted);
}

static void test_refused(void **state) {
  (void)state;
  static const struct {
    const char *name;
    uint32_t channels, frame;
    const char *sentence;
  } cases[] = {
      {"frames.webp", 0, 3, "frames.webp: frame out of range (found 3, expected less than 3)"},
      {"lossless.webp", 0, 1, "frame out of range (found 1, expected less than 1)"},
      {"lossless.webp", 5, 0, "wrong number of channels (found 3, expected the model's 5"},
      {"sixteen.png", 5, 0, "wrong number of channels (found 3, expected the model's 5"},
      {"pages.tif", 0, 5, "page out of range (found 5, expected less than 5)"},
      {"pages.tif", 6, 0, "wrong number of channels (found 5, expected the model's 6"},
      {"pages.tif", 4, 2, "wrong number of channels (found 3, expected the model's 4"},
      {"rgb.tif", 2, 0, "wrong number of channels (found 3 or more, expected the model's 2)"},
      {"f4.npy", 3, 0, "wrong shape (found 5 x 13 x 19, expected 3 channels as the first or last"},
      {"f4.npy", 1, 0, "wrong shape (found 5 x 13 x 19, expected 1 channels"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    heed_picture picture;
    if (!is_read(cases[i].name)) continue;
    assert_fails(decode(cases[i].name, cases[i].channels, cases[i].frame, &picture),
                 HEED_INVALID_FILE, cases[i].sentence);
    assert_null(picture.pixels);
  }
}

/* Every file cut at many places: a sentence, never a picture with wrong pixels. */
static void test_truncated(void **state) {
  (void)state;
  static const char *const names[] = {"lossless.webp", "lossy.webp", "frames.webp", "tiff_lzw.tif",
                                      "pages.tif",     "jpeg.tif",   "f4.npy",      "packed.npz",
                                      "last.npz",      "sixteen.png"};
  for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
    size_t size;
    if (!is_read(names[n])) continue;
    uint8_t *bytes = file_of(names[n], &size);
    const bool many = !strstr(names[n], ".webp") && strstr(names[n], ".png") == NULL;
    const heed_image_limits limits = {.struct_size = sizeof limits, .channels = 5},
                            colours = {.struct_size = sizeof limits, .channels = 1};
    for (size_t cut = 0; cut < size; cut += 1 + size / 97) {
      heed_picture picture;
      const heed_status status = heed_image_decode_within(
          context, names[n], bytes, cut,
          many && !strstr(names[n], "jpeg") && !strstr(names[n], "lzw") ? &limits : &colours,
          &picture, &error);
      if (status == HEED_OK) fail_msg("%s: taken when cut at %zu of %zu", names[n], cut, size);
      assert_int_equal(status, HEED_INVALID_FILE);
    }
    free(bytes);
  }
}

/* A build without a library says so of its files. */
static void test_left_out(void **state) {
  (void)state;
  static const char *const cases[][2] = {{"lossless.webp", "this build is without libwebp"},
                                         {"rgb.tif", "this build is without libtiff"}};
  int left_out = 0;
  for (int i = 0; i < 2; i++) {
    heed_picture picture;
    if (is_read(cases[i][0])) continue;
    left_out++;
    print_message("skipped: images such as %s (%s)\n", cases[i][0], cases[i][1]);
    assert_fails(decode(cases[i][0], 3, 0, &picture), HEED_INVALID_FILE, cases[i][1]);
    assert_null(picture.pixels);
  }
  if (!left_out) skip(); /* this build reads all kinds */
}

/* Numbers of a .npy with this header and so many zero bytes behind it. */
static heed_status decode_header(const char *header, size_t data, uint32_t channels) {
  uint8_t bytes[512] = "\x93NUMPY\1";
  heed_picture picture;
  const size_t length = strlen(header);
  bytes[8] = (uint8_t)length;
  memcpy(bytes + 10, header, length);
  const heed_image_limits limits = {.struct_size = sizeof limits, .channels = channels};
  const heed_status status = heed_image_decode_within(context, "x.npy", bytes, 10 + length + data,
                                                      &limits, &picture, &error);
  heed_picture_free(context, &picture);
  return status;
}

static void test_headers(void **state) {
  (void)state;
  static const struct {
    const char *header, *sentence;
  } cases[] = {
      {"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }", "np.ascontiguousarray"},
      {"{'descr': '<c8', 'fortran_order': False, 'shape': (2, 2), }", "'descr' of |b1"},
      {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 2), }", "'descr' of |b1"},
      {"{'descr': '|O', 'fortran_order': False, 'shape': (2, 2), }", "'descr' of |b1"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }", "another number of axes"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2, 2, 2), }", "another number of"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 2), }", "at least one element"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 2), }", "'shape' of two, three"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 99999999999), }",
       "no more than memory has"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (9, 9), }", "truncated array"},
      {"{'descr': '<f4'}", "no order"},
      {"", "'descr' of |b1"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_fails(decode_header(cases[i].header, 64, 3), HEED_INVALID_FILE, cases[i].sentence);
  assert_fails(
      decode_header("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 1, 3), }", 36, 3),
      HEED_INVALID_FILE, "which axis has the channels is not clear (found 3 first and last");
  assert_ok(decode_header("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }", 16, 1));
  assert_ok(decode_header("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2, 1), }", 16, 3));
}

static void test_not_a_number(void **state) {
  (void)state;
  static const uint8_t infinite[4] = {0, 0, 0x80, 0x7F};
  size_t size;
  uint8_t *bytes = file_of("last.npy", &size);
  heed_picture picture;
  const heed_image_limits limits = {.struct_size = sizeof limits, .channels = 5};
  memcpy(bytes + size - 4, infinite, 4);
  assert_fails(heed_image_decode_within(context, "x.npy", bytes, size, &limits, &picture, &error),
               HEED_INVALID_FILE, "not a number (found NaN or an infinity at row 12, column 18)");
  free(bytes);
}

/* Sizes are refused before anything is made for them. */
static void test_limits(void **state) {
  (void)state;
  static const char *const names[] = {"lossless.webp", "frames.webp", "rgb.tif", "f4.npy"};
  for (int n = 0; n < 4; n++) {
    size_t size;
    if (!is_read(names[n])) continue;
    uint8_t *bytes = file_of(names[n], &size);
    heed_picture picture;
    heed_image_limits limits = {.struct_size = sizeof limits, .pixels = 13 * 19 - 1};
    limits.channels = strstr(names[n], "npy") ? 5 : 3;
    assert_fails(
        heed_image_decode_within(context, names[n], bytes, size, &limits, &picture, &error),
        HEED_INVALID_FILE, "image too large (found 19 x 13 pixels");
    limits.pixels = 0;
    limits.side = 18;
    assert_fails(
        heed_image_decode_within(context, names[n], bytes, size, &limits, &picture, &error),
        HEED_INVALID_FILE, "image too large");
    free(bytes);
  }
  size_t size;
  uint8_t *bytes = file_of("packed.npz", &size);
  heed_picture picture;
  const heed_image_limits few = {.struct_size = sizeof few, .channels = 5, .bytes = 4096},
                          many = {.struct_size = sizeof many, .channels = 257};
  assert_fails(heed_image_decode_within(context, "x.npz", bytes, size, &few, &picture, &error),
               HEED_INVALID_FILE, "array too large (found ");
  assert_fails(heed_image_decode_within(context, "x.npz", bytes, size, &many, &picture, &error),
               HEED_INVALID_ARGUMENT, "too many channels (found 257");
  assert_fails(heed_image_decode_within(context, "x.pt", bytes, size, NULL, &picture, &error),
               HEED_INVALID_FILE, "image format not supported (found a zip file");
  free(bytes);
}

/* A header that promises more pixels than the file can hold. */
static void test_promises(void **state) {
  (void)state;
  static const uint8_t side[4] = {0, 0x40, 0, 0}; /* 16384 */
  size_t size;
  uint8_t *bytes = file_of("tiff_lzw.tif", &size);
  heed_picture picture;
  if (!is_read("x.tif")) {
    free(bytes);
    return;
  }
  uint32_t directory;
  memcpy(&directory, bytes + 4, 4);
  for (uint32_t entry = 0; entry < bytes[directory]; entry++) {
    uint8_t *at = bytes + directory + 2 + 12 * entry;
    if ((at[0] == 0 || at[0] == 1) && at[1] == 1) { /* width and length, as 32-bit numbers */
      at[2] = 4;
      memcpy(at + 8, side, 4);
    }
  }
  /* some versions of libtiff refuse its head: "not a valid TIFF (found a broken head, ..." */
  assert_fails(heed_image_decode(context, "x.tif", bytes, size, &picture, &error),
               HEED_INVALID_FILE, " TIFF (found ");
  free(bytes);
}

static int open_vectors(void **state) {
  const int made = make_context(state);
  vectors = vector_file_open("image/kinds.safetensors");
  return made;
}

static int close_vectors(void **state) {
  vector_file_close(&vectors);
  return drop_context(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_files),        cmocka_unit_test(test_grey_for_colours),
      cmocka_unit_test(test_refused),      cmocka_unit_test(test_left_out),
      cmocka_unit_test(test_truncated),    cmocka_unit_test(test_headers),
      cmocka_unit_test(test_not_a_number), cmocka_unit_test(test_limits),
      cmocka_unit_test(test_promises)};
  return cmocka_run_group_tests(tests, open_vectors, close_vectors);
}
