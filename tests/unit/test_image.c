/* Pictures in and PNG out. Expected pixels in vectors/image/expect.safetensors are Pillow's of the
 * same files; bad files are made here. */
#define _XOPEN_SOURCE 700
#include "image/image.h"

#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files/output.h"
#include "pickle/kind.h"
#include "support/vector_file.h"
/* after it: its functions have errors of their own */
#include "support/test_context.h"

/* A folder of our own, removed with what is in it by the test that made it. */
static char folder[64];
static void make_folder(void) {
  strcpy(folder, "/tmp/heed_test_image_XXXXXX");
  assert_non_null(mkdtemp(folder));
}

static const char *in_folder(const char *name) {
  static char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

/* ---------------------------------------------------------------------------- kinds of pictures */

static void check_against_pillow(const heed_safetensors_tensor *tensor, const vector_file *expect) {
  char path[256];
  heed_picture picture;
  heed_shape shape;
  snprintf(path, sizeof path, "%s/image/%s", HEED_TEST_VECTORS, tensor->name);
  assert_ok(heed_image_load(context, path, &picture, &error));
  uint8_t *wanted = vector_file_read(expect, tensor->name, HEED_U8, &shape);
  if (picture.height != shape.dim[0] || picture.width != shape.dim[1])
    fail_msg("%s: %u x %u", tensor->name, picture.width, picture.height);
  /* decoders may round a JPEG differently */
  const int allowed = strstr(tensor->name, ".jpg") ? 3 : 0;
  for (size_t i = 0; i < (size_t)tensor->count; i++)
    if (abs(picture.pixels[i] - wanted[i]) > allowed)
      fail_msg("%s: byte %zu is %d, expected %d", tensor->name, i, picture.pixels[i], wanted[i]);
  free(wanted);
  heed_picture_free(context, &picture);
}

static void test_equals_pillow(void **state) {
  (void)state;
  vector_file expect = vector_file_open("image/expect.safetensors");
  assert_int_equal(heed_safetensors_count(expect.file), 41);
  for (uint32_t i = 0; i < heed_safetensors_count(expect.file); i++)
    check_against_pillow(heed_safetensors_get(expect.file, i), &expect);
  vector_file_close(&expect);
}

/* The name says nothing: a JPEG under a PNG's name. */
static void test_kind_by_content(void **state) {
  (void)state;
  size_t size;
  heed_picture picture;
  unsigned char *bytes = test_read_vector("image/sampling_0.jpg", &size);
  assert_ok(heed_image_decode(context, "photo.png", bytes, size, &picture, &error));
  assert_int_equal(picture.width, 56);
  heed_picture_free(context, &picture);
  free(bytes);
}

/* ------------------------------------------------------------------------------------ PNGs made */

typedef struct byte_buffer {
  uint8_t bytes[65536];
  size_t size;
} byte_buffer;

static void buffer_write(png_structp png, png_bytep bytes, size_t count) {
  byte_buffer *buffer = png_get_io_ptr(png);
  assert_true(buffer->size + count <= sizeof buffer->bytes);
  memcpy(buffer->bytes + buffer->size, bytes, count);
  buffer->size += count;
}

static void buffer_flush(png_structp png) { (void)png; }

/* Writes rows of `row` bytes as they are. */
static void make_png(byte_buffer *to, uint32_t width, uint32_t height, int depth, int color,
                     int interlace, const uint8_t *pixels, size_t row) {
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  png_infop info = png_create_info_struct(png);
  png_color palette[16];
  png_bytep rows[64];
  to->size = 0;
  for (int i = 0; i < 16; i++)
    palette[i] = (png_color){(png_byte)(i * 16), (png_byte)(255 - i), (png_byte)(i * 3)};
  for (uint32_t y = 0; y < height; y++) {
    rows[y] = malloc(row);
    memcpy(rows[y], pixels + y * row, row);
  }
  png_set_write_fn(png, to, buffer_write, buffer_flush);
  png_set_IHDR(png, info, width, height, depth, color, interlace, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  if (color == PNG_COLOR_TYPE_PALETTE) png_set_PLTE(png, info, palette, 16);
  png_write_info(png, info);
  png_write_image(png, rows);
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  for (uint32_t y = 0; y < height; y++) free(rows[y]);
}

/* Every depth and colour: interlaced and not give the same picture. */
static void test_interlaced(void **state) {
  (void)state;
  static const int kinds[][3] = {{0, 1, 1},  {0, 2, 1},  {0, 4, 1},  {0, 8, 1},
                                 {0, 16, 1}, {2, 8, 3},  {2, 16, 3}, {3, 4, 1},
                                 {4, 8, 2},  {4, 16, 2}, {6, 8, 4},  {6, 16, 4}};
  static byte_buffer plain, woven;
  static uint8_t pixels[64 * 64 * 8];
  test_random random = {11};
  for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (uint8_t)test_random_below(&random, 256);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    for (uint32_t size = 1; size <= 21; size += 4) {
      const size_t row = ((size_t)(size + 2) * (size_t)(kinds[k][1] * kinds[k][2]) + 7) / 8;
      heed_picture a, b;
      make_png(&plain, size + 2, size, kinds[k][1], kinds[k][0], PNG_INTERLACE_NONE, pixels, row);
      make_png(&woven, size + 2, size, kinds[k][1], kinds[k][0], PNG_INTERLACE_ADAM7, pixels, row);
      assert_ok(heed_image_decode(context, "plain", plain.bytes, plain.size, &a, &error));
      assert_ok(heed_image_decode(context, "woven", woven.bytes, woven.size, &b, &error));
      assert_int_equal(a.width, size + 2);
      assert_memory_equal(a.pixels, b.pixels, (size_t)size * (size + 2) * 3);
      heed_picture_free(context, &a);
      heed_picture_free(context, &b);
    }
  }
}

/* ------------------------------------------------------------------------------------ bad files */

static void assert_refused(const void *bytes, size_t size, heed_status status, const char *part) {
  heed_picture picture = {(uint8_t *)1, 1, 1};
  assert_fails(heed_image_decode(context, "bad", bytes, size, &picture, &error), status, part);
  assert_null(picture.pixels);
  assert_true(strncmp(error.message, "bad: ", 5) == 0);
}

static void test_not_a_picture(void **state) {
  (void)state;
  assert_refused("", 0, HEED_INVALID_FILE, "empty file (found 0 bytes, expected a PNG, JPEG, ");
  assert_refused("a", 1, HEED_INVALID_FILE, "found bytes 61");
  assert_refused("Gif89a", 6, HEED_INVALID_FILE, "found bytes 47 69 66 38");
  assert_refused("\x89PNG\r\n\x1A", 7, HEED_INVALID_FILE, "image format not supported");
  assert_refused("\x89PNG\r\n\x1A\n", 8, HEED_INVALID_FILE, "truncated");
  assert_refused("\xFF\xD8\xFF", 3, HEED_INVALID_FILE, "truncated");
}

/* What is often given in a picture's place is named. */
static void test_other_kinds(void **state) {
  (void)state;
  static const struct {
    const char *bytes, *name;
  } kinds[] = {{"GIF89a..........", "found a GIF image"},
               {"....ftypavif....", "found an AVIF image"},
               {"....ftypheic....", "found a HEIC image"},
               {"....ftypmif1....", "found a HEIC or AVIF image"},
               {"BM....\0\0\0\0......", "found a BMP image"},
               {"GGUF............", "found a GGUF file"},
               {"PK\3\4............", "found a zip file"},
               {"\x80\2..............", "found a Python pickle"},
               {"\x40\1\0\0\0\0\0\0{\"......", "found a .safetensors file"},
               {"version https://git-lfs.github.com/spec/v1", "found a git-lfs pointer"}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    assert_refused(kinds[i].bytes, strlen(kinds[i].bytes) > 16 ? strlen(kinds[i].bytes) : 16,
                   HEED_INVALID_FILE, kinds[i].name);
}

/* Every prefix of a file is refused; nothing may be written to stderr, read past the end, or leaked
 * (sanitizer runs). */
static void test_truncated(void **state) {
  (void)state;
  static const char *const names[] = {"image/rgb.png", "image/palette_transparent.png",
                                      "image/sampling_2.jpg", "image/progressive.jpg",
                                      "image/cmyk.jpg"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    size_t size;
    unsigned char *bytes = test_read_vector(names[k], &size);
    for (size_t cut = 0; cut < size; cut++) {
      /* so that a sanitizer sees a read past the end */
      unsigned char *part = malloc(cut ? cut : 1);
      memcpy(part, bytes, cut);
      assert_refused(part, cut, HEED_INVALID_FILE, "found");
      free(part);
    }
    free(bytes);
  }
}

/* Any byte changed: a picture or a sentence, never a fault. */
static void test_corrupted(void **state) {
  (void)state;
  static const char *const names[] = {"image/rgba.png", "image/orientation_6.png",
                                      "image/orientation_6.jpg", "image/progressive.jpg"};
  test_random random = {2};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    size_t size;
    unsigned char *bytes = test_read_vector(names[k], &size);
    for (size_t at = 0; at < size; at++) {
      const unsigned char kept = bytes[at];
      heed_picture picture;
      bytes[at] = (unsigned char)(kept ^ (1 + test_random_below(&random, 255)));
      const heed_status status = heed_image_decode(context, "bad", bytes, size, &picture, &error);
      if (status != HEED_OK && status != HEED_INVALID_FILE && status != HEED_UNSUPPORTED &&
          status != HEED_OUT_OF_MEMORY)
        fail_msg("%s, byte %zu: %s", names[k], at, error.message);
      heed_picture_free(context, &picture);
      bytes[at] = kept;
    }
    free(bytes);
  }
}

/* A header that promises 60000 x 60000: refused by its size, whatever follows. */
static void test_too_large(void **state) {
  (void)state;
  static byte_buffer png;
  static const uint8_t row[30] = {0};
  make_png(&png, 10, 1, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, row, 30);
  static const uint8_t sides[3][4] = {
      {0, 0, 0xEA, 0x60}, {0, 0, 0x3A, 0x98}, {0, 0, 0, 0}}; /* 60000, 15000, 0 */
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < 4; i++) png.bytes[16 + i] = png.bytes[20 + i] = sides[k][i];
    uint32_t crc = 0xFFFFFFFFu; /* of "IHDR" and its 13 bytes */
    for (int i = 12; i < 29; i++) {
      crc ^= png.bytes[i];
      for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
    }
    for (int i = 0; i < 4; i++) png.bytes[29 + i] = (uint8_t)(~crc >> (24 - 8 * i));
    assert_refused(png.bytes, png.size, HEED_INVALID_FILE,
                   k == 2 ? "not a valid PNG"
                   : k    ? "truncated"
                       : "too large (found 60000 x 60000 pixels, expected at most 268435456 in all "
                         "and 1048576 per side)");
  }
  size_t size;
  unsigned char *jpeg = test_read_vector("image/gray.jpg", &size);
  for (size_t i = 0; i + 9 < size; i++)
    if (jpeg[i] == 0xFF && jpeg[i + 1] == 0xC0) memcpy(jpeg + i + 5, "\xEA\x60\xEA\x60", 4);
  assert_refused(jpeg, size, HEED_INVALID_FILE, "too large (found 60000 x 60000 pixels");
  for (size_t i = 0; i + 9 < size; i++)
    if (jpeg[i] == 0xFF && jpeg[i + 1] == 0xC0) memset(jpeg + i + 5, 0, 4);
  assert_refused(jpeg, size, HEED_INVALID_FILE, "not a valid JPEG");
  free(jpeg);
}

/* A pipe has no size: what it gives is read until its end. */
static heed_status load_piped(heed_context *with, const void *bytes, size_t size, size_t after,
                              const heed_image_limits *limits, heed_picture *picture) {
  int ends[2];
  char path[32];
  static char zeros[4096];
  assert_int_equal(pipe(ends), 0);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    close(ends[0]);
    bool good = write(ends[1], bytes, size) == (ssize_t)size;
    for (size_t left = after; good && left > 0; left -= sizeof zeros)
      good = write(ends[1], zeros, sizeof zeros) > 0;
    _exit(0);
  }
  close(ends[1]);
  snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
  const heed_status status = heed_image_load_within(with, path, limits, picture, &error);
  close(ends[0]);
  waitpid(child, NULL, 0);
  return status;
}

/* Limits of another version of the header, which are not read as those of this one. */
static void test_limits_of_no_version(void **state) {
  (void)state;
  const heed_image_limits limits = {.struct_size = 1};
  heed_picture picture;
  assert_fails(heed_image_decode_within(context, "x", "", 0, &limits, &picture, &error),
               HEED_INVALID_ARGUMENT, "image limits");
  assert_fails(heed_image_load_within(context, "x", &limits, &picture, &error),
               HEED_INVALID_ARGUMENT, "image limits");
}

static void test_pipe(void **state) {
  (void)state;
  size_t size;
  unsigned char *bytes = test_read_vector("image/rgb.png", &size);
  heed_picture picture;
  if (access("/proc/self/fd", F_OK) != 0) skip();
  assert_ok(load_piped(context, bytes, size, 0, NULL, &picture));
  heed_picture_free(context, &picture);
  heed_image_limits limits = {.struct_size = sizeof limits, .bytes = (uint32_t)size};
  assert_ok(load_piped(context, bytes, size, 0, &limits, &picture));
  heed_picture_free(context, &picture);
  limits.bytes--;
  assert_fails(load_piped(context, bytes, size, 0, &limits, &picture), HEED_INVALID_FILE,
               "file too large (found more than ");
  for (size_t n = 1;; n++) {
    test_allocator allocator = {0, 0, 0};
    const heed_context_desc desc = test_context_desc(&allocator);
    heed_context *counted;
    assert_ok(heed_context_create(&desc, &counted, &error));
    allocator.fail_at = allocator.total + n;
    /* more than the buffer first has */
    const heed_status status = load_piped(counted, bytes, size, 1 << 18, NULL, &picture);
    const bool reached = allocator.total >= allocator.fail_at;
    assert_int_equal(status, reached ? HEED_OUT_OF_MEMORY : HEED_OK);
    heed_picture_free(counted, &picture);
    heed_context_destroy(counted);
    assert_int_equal(allocator.live, 0);
    if (!reached) break;
  }
  free(bytes);
}

/* Pixels of a scaled JPEG are about the means of squares of the whole one. `off` is the mean
 * difference that Pillow's Image.draft has of them at 1/2, 1/4 and 1/8. */
static void test_scaled_jpegs(void **state) {
  (void)state;
  static const struct {
    const char *name;
    double off[4];
  } files[] = {{"gray.jpg", {0.0, 0.2661, 0.2679, 0.2696}},
               {"orientation_1.jpg", {0.0, 6.5990, 4.5462, 2.3955}},
               {"cmyk.jpg", {0.0, 0.9924, 2.2731, 5.0603}}};
  for (size_t n = 0; n < sizeof files / sizeof *files; n++) {
    char path[256];
    heed_picture whole, part;
    snprintf(path, sizeof path, "%s/image/%s", HEED_TEST_VECTORS, files[n].name);
    assert_ok(heed_image_load(context, path, &whole, &error));
    const uint32_t side = whole.width < whole.height ? whole.width : whole.height;
    for (uint32_t k = 0; k < 5; k++) {
      const heed_image_limits limits = {.struct_size = sizeof limits, .least_side = side >> k};
      const uint32_t by = k < 3 ? 1u << k : 8;
      assert_ok(heed_image_load_within(context, path, &limits, &part, &error));
      assert_int_equal(part.width, (whole.width + by - 1) / by);
      assert_int_equal(part.height, (whole.height + by - 1) / by);
      double sum = 0.0, off = 0.0;
      for (uint32_t y = 0; y < whole.height / by; y++)
        for (uint32_t x = 0; x < whole.width / by; x++)
          for (uint32_t c = 0; c < 3; c++) {
            double mean = 0.0;
            for (uint32_t i = 0; i < by * by; i++)
              mean += whole.pixels[((y * by + i / by) * whole.width + x * by + i % by) * 3 + c];
            off += fabs(mean / (by * by) - part.pixels[(y * part.width + x) * 3 + c]);
            sum += 1.0;
          }
      const double expected = files[n].off[k < 3 ? k : 3];
      if (fabs(off / sum - expected) > 0.1)
        fail_msg("%s: 1/%u differs by %g, expected %g", path, by, off / sum, expected);
      heed_picture_free(context, &part);
    }
    heed_picture_free(context, &whole);
  }
}

/* What other programs put into JPEGs: two components, marks that are no orientation. */
static void test_odd_jpegs(void **state) {
  (void)state;
  size_t size;
  unsigned char *jpeg = test_read_vector("image/orientation_6.jpg", &size);
  heed_picture plain, turned;
  assert_ok(heed_image_decode(context, "turned", jpeg, size, &turned, &error));
  unsigned char *mark = NULL;
  for (size_t i = 2; i + 10 < size && !mark; i++)
    if (jpeg[i] == 0xFF && jpeg[i + 1] == 0xE1) mark = jpeg + i;
  assert_non_null(mark);
  mark[4] = 'X'; /* no "Exif" */
  assert_ok(heed_image_decode(context, "plain", jpeg, size, &plain, &error));
  assert_int_equal(plain.width, turned.height);
  heed_picture_free(context, &plain);
  mark[4] = 'E';
  /* a short mark before that one */
  unsigned char *two = malloc(size + 6);
  const size_t before = (size_t)(mark - jpeg);
  memcpy(two, jpeg, before);
  memcpy(two + before, "\xFF\xE1\0\4Ex", 6);
  memcpy(two + before + 6, mark, size - before);
  assert_ok(heed_image_decode(context, "two", two, size + 6, &plain, &error));
  assert_int_equal(plain.width, turned.width);
  heed_picture_free(context, &plain);
  heed_picture_free(context, &turned);
  free(two);
  free(jpeg);
  static const unsigned char frame[] = {
      0xFF, 0xD8, 0xFF, 0xC0, 0, 14, 8, 0, 8, 0,  8, 2, 1, 0x11, 0, 2, 0x11, 0,    0xFF,
      0xDA, 0,    10,   2,    1, 0,  2, 0, 0, 63, 0, 0, 0, 0,    0, 0, 0,    0xFF, 0xD9};
  assert_refused(frame, sizeof frame, HEED_UNSUPPORTED,
                 "JPEG colours not supported (found 2 components, expected 1, 3 or 4)");
}

/* Files that say before they are read that they are too large. */
static void test_large_files(void **state) {
  (void)state;
  heed_picture picture;
  make_folder();
  FILE *file = fopen(in_folder("large.png"), "wb");
  assert_int_equal(fwrite("\x89PNG\r\n\x1A\n", 1, 8, file), 8);
  assert_int_equal(ftruncate(fileno(file), (off_t)3 << 30), 0);
  fclose(file);
  assert_fails(heed_image_load(context, in_folder("large.png"), &picture, &error),
               HEED_INVALID_FILE, "large.png: file too large (found 3221225472 bytes, expected");
  remove(in_folder("large.png"));
  rmdir(folder);
  test_allocator allocator = {0, 0, 0};
  const heed_context_desc desc = test_context_desc(&allocator);
  heed_context *counted;
  assert_ok(heed_context_create(&desc, &counted, &error));
  allocator.fail_at = allocator.total + 1;
  assert_int_equal(heed_picture_create(counted, "new", 2, 2, &picture, &error), HEED_OUT_OF_MEMORY);
  assert_null(picture.pixels);
  heed_context_destroy(counted);
  /* Three times its pixels is more than a size holds. */
  assert_fails(heed_picture_create(context, "new", UINT32_MAX, UINT32_MAX, &picture, &error),
               HEED_OUT_OF_MEMORY, "new: out of memory");
  assert_null(picture.pixels);
}

static void test_unreadable_files(void **state) {
  (void)state;
  heed_picture picture;
  make_folder();
  assert_fails(heed_image_load(context, in_folder("absent.png"), &picture, &error), HEED_IO,
               "absent.png: cannot open (found \"No such file");
  assert_fails(heed_image_load(context, folder, &picture, &error), HEED_IO, "Is a directory");
  FILE *file = fopen(in_folder("empty.png"), "wb");
  fclose(file);
  assert_fails(heed_image_load(context, in_folder("empty.png"), &picture, &error),
               HEED_INVALID_FILE, "empty.png: empty file");
  if (geteuid() != 0) { /* the superuser may read everything */
    chmod(in_folder("empty.png"), 0);
    assert_fails(heed_image_load(context, in_folder("empty.png"), &picture, &error), HEED_IO,
                 "Permission denied");
  }
  remove(in_folder("empty.png"));
  rmdir(folder);
}

/* Each allocation that goes through the context fails once. */
static void test_out_of_memory(void **state) {
  (void)state;
  static const char *const names[] = {"image/orientation_7.png", "image/orientation_5.jpg",
                                      "image/cmyk.jpg", "image/palette_4.png"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", HEED_TEST_VECTORS, names[k]);
    for (size_t n = 1;; n++) {
      test_allocator allocator = {0, 0, 0};
      const heed_context_desc desc = test_context_desc(&allocator);
      heed_context *counted;
      heed_picture picture;
      assert_ok(heed_context_create(&desc, &counted, &error));
      allocator.fail_at = allocator.total + n;
      const heed_status status = heed_image_load(counted, path, &picture, &error);
      const bool reached = allocator.total >= allocator.fail_at;
      if (reached)
        assert_int_equal(status, HEED_OUT_OF_MEMORY);
      else
        assert_int_equal(status, HEED_OK);
      heed_picture_free(counted, &picture);
      heed_context_destroy(counted);
      assert_int_equal(allocator.live, 0);
      if (!reached) break;
    }
  }
}

/* ----------------------------------------------------------------------------------------- EXIF */

static void test_exif_bounds(void **state) {
  (void)state;
  uint8_t block[] = {'E', 'x',  'i', 'f', 0, 0, 'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1,
                     1,   0x12, 0,   3,   0, 0, 0,   1,   0, 6,  0, 0, 0, 0, 0, 0};
  const uint8_t little[] = {'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 8, 0};
  assert_int_equal(heed_exif_orientation(block, sizeof block), 6);
  assert_int_equal(heed_exif_orientation(little, sizeof little), 8);
  for (size_t size = 0; size < sizeof little; size++)
    assert_int_equal(heed_exif_orientation(little, size), 1);
  block[25] = 9; /* not an orientation */
  assert_int_equal(heed_exif_orientation(block, sizeof block), 1);
  block[25] = 6;
  memset(block + 10, 0xFF, 4); /* a directory far outside */
  assert_int_equal(heed_exif_orientation(block, sizeof block), 1);
}

/* Every place where Pillow's exif_transpose finds an orientation, and some where it does not. */
static void test_places_of_orientation(void **state) {
  (void)state;
  vector_file file = vector_file_open("image/orientations.safetensors");
  uint32_t compared = 0;
  for (uint32_t i = 0; i < heed_safetensors_count(file.file); i++) {
    const char *name = heed_safetensors_get(file.file, i)->name;
    char turned[80];
    heed_picture picture;
    heed_shape shape, wanted_shape;
    if (strncmp(name, "file.", 5) != 0) continue;
    snprintf(turned, sizeof turned, "turned.%s", name + 5);
    uint8_t *bytes = vector_file_read(&file, name, HEED_U8, &shape),
            *wanted = vector_file_read(&file, turned, HEED_U8, &wanted_shape);
    assert_ok(heed_image_decode(context, name, bytes, shape.dim[0], &picture, &error));
    if (picture.height != wanted_shape.dim[0] || picture.width != wanted_shape.dim[1])
      fail_msg("%s: found %u x %u, expected %u x %u", name, picture.width, picture.height,
               wanted_shape.dim[1], wanted_shape.dim[0]);
    for (size_t k = 0; k < (size_t)3 * picture.width * picture.height; k++)
      if (abs(picture.pixels[k] - wanted[k]) > (strstr(name, "jpeg") ? 3 : 0))
        fail_msg("%s: byte %zu is %d, expected %d", name, k, picture.pixels[k], wanted[k]);
    heed_picture_free(context, &picture);
    free(bytes);
    free(wanted);
    compared++;
  }
  assert_int_equal(compared, 24 * 8);
  vector_file_close(&file);
}

/* ------------------------------------------------------------------------------------------ out */

static void test_png_round_trip(void **state) {
  (void)state;
  uint8_t pixels[17 * 5 * 3];
  heed_picture picture;
  for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (uint8_t)(i * 37);
  make_folder();
  for (int again = 0; again < 2; again++) { /* new, then replaced */
    assert_ok(heed_png_write(in_folder("out.png"), pixels, 17, 5, &error));
    assert_ok(heed_image_load(context, in_folder("out.png"), &picture, &error));
    assert_int_equal(picture.width, 17);
    assert_int_equal(picture.height, 5);
    assert_memory_equal(picture.pixels, pixels, sizeof pixels);
    heed_picture_free(context, &picture);
  }
  assert_int_equal(remove(in_folder("out.png")), 0);
  assert_int_equal(rmdir(folder), 0); /* no temporary file is left */
}

static void test_output_refused(void **state) {
  (void)state;
  const uint8_t pixel[3] = {1, 2, 3};
  make_folder();
  assert_fails(heed_png_write(in_folder("no/such/out.png"), pixel, 1, 1, &error), HEED_IO,
               "cannot create the file (found \"No such file");
  assert_fails(heed_png_write(folder, pixel, 1, 1, &error), HEED_IO, "Is a directory");
  assert_fails(heed_png_write(in_folder("out.png"), pixel, 0, 1, &error), HEED_INVALID_ARGUMENT,
               "found 0 x 1");
  if (geteuid() != 0) {
    chmod(folder, 0500);
    assert_fails(heed_png_write(in_folder("out.png"), pixel, 1, 1, &error), HEED_IO,
                 "Permission denied");
    chmod(folder, 0700);
  }
  assert_int_equal(rmdir(folder), 0);
}

/* /dev/full takes nothing: the error shows, and the device is still there (never renamed over). */
static void test_disk_full(void **state) {
  (void)state;
  static uint8_t pixels[300 * 300 * 3];
  struct stat info;
  test_random random = {4};
  if (stat("/dev/full", &info) != 0 || !S_ISCHR(info.st_mode)) skip();
  for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (uint8_t)test_random_below(&random, 256);
  assert_fails(heed_png_write("/dev/full", pixels, 300, 300, &error), HEED_IO, "No space left");
  /* only closing tells */
  assert_fails(heed_png_write("/dev/full", pixels, 1, 1, &error), HEED_IO, "No space left");
  assert_fails(heed_file_write("/dev/full", pixels, sizeof pixels, &error), HEED_IO,
               "No space left");
  assert_int_equal(stat("/dev/full", &info), 0);
  assert_true(S_ISCHR(info.st_mode));
}

/* Until commit the old file stands; abort leaves it; a link stays a link. */
static void test_output_is_whole_or_old(void **state) {
  (void)state;
  heed_output write;
  size_t size;
  struct stat info;
  char path[128], link[128];
  make_folder();
  strcpy(path, in_folder("file"));
  strcpy(link, in_folder("link"));
  assert_ok(heed_file_write(path, "old", 3, &error));
  assert_int_equal(symlink("file", link), 0);
  assert_ok(heed_output_begin(&write, path, &error));
  fputs("half", write.file);
  fflush(write.file);
  unsigned char *seen = test_read_file(path, &size);
  assert_string_equal((char *)seen, "old");
  free(seen);
  heed_output_abort(&write);
  assert_ok(heed_file_write(link, "new", 3, &error));
  seen = test_read_file(path, &size);
  assert_string_equal((char *)seen, "new");
  free(seen);
  assert_int_equal(lstat(link, &info), 0);
  assert_true(S_ISLNK(info.st_mode));
  remove(link);
  remove(path);
  assert_int_equal(rmdir(folder), 0);
}

/* What only its owner may read stays so when it is replaced; a link to what is not there yet stays
 * a link. */
static void test_output_keeps_permissions_and_links(void **state) {
  (void)state;
  struct stat info;
  char path[128], link[128], far[128];
  make_folder();
  strcpy(path, in_folder("file"));
  strcpy(link, in_folder("link"));
  strcpy(far, in_folder("far"));
  assert_ok(heed_file_write(path, "old", 3, &error));
  assert_int_equal(chmod(path, 0600), 0);
  assert_ok(heed_file_write(path, "new", 3, &error));
  assert_int_equal(stat(path, &info), 0);
  assert_int_equal(info.st_mode & 0777, 0600);
  assert_int_equal(info.st_size, 3);
  remove(path);
  assert_int_equal(symlink("file", link), 0);
  assert_int_equal(symlink(link, far), 0); /* by its whole path */
  assert_ok(heed_file_write(far, "new", 3, &error));
  assert_int_equal(lstat(far, &info), 0);
  assert_true(S_ISLNK(info.st_mode));
  assert_int_equal(lstat(link, &info), 0);
  assert_true(S_ISLNK(info.st_mode));
  assert_int_equal(lstat(path, &info), 0);
  assert_true(S_ISREG(info.st_mode));
  remove(link);
  assert_int_equal(symlink("far", link), 0); /* round and round */
  assert_fails(heed_file_write(link, "new", 3, &error), HEED_IO, "Too many levels");
  remove(link);
  remove(far);
  remove(path);
  assert_int_equal(rmdir(folder), 0);
}

/* The first bytes of safetensors are the length of a header: 640 begins as a pickle does, 2,815 as
 * a JPEG XL image. */
static void test_safetensors_of_any_length(void **state) {
  (void)state;
  for (unsigned length = 2; length < 70000; length++) {
    const char first[] = {(char)(length & 255),
                          (char)(length >> 8 & 255),
                          (char)(length >> 16),
                          0,
                          0,
                          0,
                          0,
                          0,
                          '{',
                          '"'};
    assert_string_equal(heed_file_kind(first, sizeof first), HEED_KIND_SAFETENSORS);
  }
  assert_string_equal(heed_file_kind("\x80\2}q\1(X\0\0\0", 10),
                      "a Python pickle, such as an older PyTorch .pt");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_equals_pillow),
                                     cmocka_unit_test(test_kind_by_content),
                                     cmocka_unit_test(test_safetensors_of_any_length),
                                     cmocka_unit_test(test_interlaced),
                                     cmocka_unit_test(test_not_a_picture),
                                     cmocka_unit_test(test_other_kinds),
                                     cmocka_unit_test(test_truncated),
                                     cmocka_unit_test(test_corrupted),
                                     cmocka_unit_test(test_too_large),
                                     cmocka_unit_test(test_limits_of_no_version),
                                     cmocka_unit_test(test_pipe),
                                     cmocka_unit_test(test_odd_jpegs),
                                     cmocka_unit_test(test_scaled_jpegs),
                                     cmocka_unit_test(test_large_files),
                                     cmocka_unit_test(test_unreadable_files),
                                     cmocka_unit_test(test_out_of_memory),
                                     cmocka_unit_test(test_exif_bounds),
                                     cmocka_unit_test(test_places_of_orientation),
                                     cmocka_unit_test(test_png_round_trip),
                                     cmocka_unit_test(test_output_refused),
                                     cmocka_unit_test(test_disk_full),
                                     cmocka_unit_test(test_output_is_whole_or_old),
                                     cmocka_unit_test(test_output_keeps_permissions_and_links)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
