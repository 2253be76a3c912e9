/* Pictures whose bytes promise far more than they hold: small files are made here that would take
 * gigabytes or minutes, and each is decoded in a process of its own, whose peak memory and
 * processor time are compared with those of a small picture. Honest large pictures, as flat as they
 * can be, are decoded all the same. */
#define _DEFAULT_SOURCE
#include "image/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jpeglib.h>
#include <png.h>
#include <zlib.h>

#include "support/test_context.h"

#define MOST_MEGABYTES 50.0
#define MOST_SECONDS 1.0
#define MOST_TIMES 3.0 /* of an honest picture's pixels */

/* ----------------------------------------------------------------------------------- bytes made */

typedef struct byte_buffer {
  uint8_t *bytes;
  size_t size, capacity;
} byte_buffer;

static void put(byte_buffer *to, const void *from, size_t count) {
  if (count == 0) return;
  if (to->size + count > to->capacity) {
    to->capacity = 2 * (to->size + count);
    to->bytes = realloc(to->bytes, to->capacity);
    assert_non_null(to->bytes);
  }
  memcpy(to->bytes + to->size, from, count);
  to->size += count;
}

static void put_number(byte_buffer *to, uint32_t number, int count) {
  for (int i = count - 1; i >= 0; i--) put(to, &(uint8_t){(uint8_t)(number >> 8 * i)}, 1);
}

static void drop(byte_buffer *of) {
  free(of->bytes);
  *of = (byte_buffer){NULL, 0, 0};
}

static void put_chunk(byte_buffer *to, const char *name, const byte_buffer *data) {
  put_number(to, (uint32_t)data->size, 4);
  const size_t start = to->size;
  put(to, name, 4);
  if (data->size) put(to, data->bytes, data->size);
  put_number(to, (uint32_t)crc32(0, to->bytes + start, (uInt)(to->size - start)), 4);
}

static void begin_png(byte_buffer *to, uint32_t width, uint32_t height, int depth, int color) {
  byte_buffer header = {NULL, 0, 0};
  put(to, "\x89PNG\r\n\x1A\n", 8);
  put_number(&header, width, 4);
  put_number(&header, height, 4);
  put(&header, (const uint8_t[]){(uint8_t)depth, (uint8_t)color, 0, 0, 0}, 5);
  put_chunk(to, "IHDR", &header);
  drop(&header);
}

/* `zeros` of them, deflated. */
static void put_deflated(byte_buffer *to, size_t zeros) {
  uLongf size = compressBound(zeros);
  uint8_t *plain = calloc(zeros, 1), *packed = malloc(size);
  assert_non_null(plain);
  assert_int_equal(compress2(packed, &size, plain, zeros, 9), Z_OK);
  put(to, packed, size);
  free(plain);
  free(packed);
}

static void end_png(byte_buffer *to, size_t zeros) {
  byte_buffer data = {NULL, 0, 0}, none = {NULL, 0, 0};
  put_deflated(&data, zeros);
  put_chunk(to, "IDAT", &data);
  put_chunk(to, "IEND", &none);
  drop(&data);
}

/* Segment with its length before it. */
static void put_segment(byte_buffer *to, int marker, const void *data, size_t size) {
  put(to, (const uint8_t[]){0xFF, (uint8_t)marker}, 2);
  put_number(to, (uint32_t)size + 2, 2);
  put(to, data, size);
}

/* 0xFF among the codes is followed by 0. */
static void put_stuffed(byte_buffer *to, uint8_t byte) {
  put(to, (const uint8_t[]){byte, 0}, byte == 0xFF ? 2 : 1);
}

/* A progressive JPEG of so many components whose scans are end-of-band runs alone: 15 bits for
 * 32,767 blocks of nothing. */
static void make_run_jpeg(byte_buffer *to, uint32_t side, int components, int scans,
                          size_t padding) {
  uint8_t quantization[65] = {0}, frame[6 + 9] = {8,
                                                  (uint8_t)(side >> 8),
                                                  (uint8_t)side,
                                                  (uint8_t)(side >> 8),
                                                  (uint8_t)side,
                                                  (uint8_t)components};
  /* one code of one bit: a run of 2^14 blocks and 14 bits more */
  const uint8_t huffman[18] = {0x10, 1, [17] = 0xE0};
  const uint32_t blocks = (side + 7) / 8 * ((side + 7) / 8);
  put(to, "\xFF\xD8", 2);
  memset(quantization + 1, 1, 64);
  put_segment(to, 0xDB, quantization, sizeof quantization);
  for (int c = 0; c < components && c < 3; c++)
    memcpy(frame + 6 + 3 * c, (const uint8_t[]){(uint8_t)(c + 1), 0x11, 0}, 3);
  put_segment(to, 0xC2, frame, 6 + 3 * (size_t)components);
  put_segment(to, 0xC4, huffman, sizeof huffman);
  for (; padding > 0; padding -= padding < 65000 ? padding : 65000) {
    static uint8_t comment[65000];
    put_segment(to, 0xFE, comment, padding < 65000 ? padding : 65000);
  }
  for (int scan = 0; scan < scans; scan++) {
    uint64_t bits = 0;
    int count = 0;
    put_segment(to, 0xDA, (const uint8_t[]){1, (uint8_t)(scan % components + 1), 0, 1, 63, 0}, 6);
    for (uint32_t done = 0; done < blocks; done += 32767) {
      bits = bits << 15 | 0x3FFF;
      for (count += 15; count >= 8; count -= 8) put_stuffed(to, (uint8_t)(bits >> (count - 8)));
    }
    if (count) put_stuffed(to, (uint8_t)(bits << (8 - count) | 0xFFu >> count));
  }
  put(to, "\xFF\xD9", 2);
}

/* ------------------------------------------------------------------------------------ measuring */

typedef struct cost {
  heed_status status;
  char message[HEED_ERROR_MESSAGE_SIZE];
  uint32_t width, height;
  double megabytes, seconds;
} cost;

extern void __gcov_dump(void) __attribute__((weak));

static double seconds_of(const struct rusage *usage) {
  return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
         1e-6 * (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

/* Of the pictures that are measured; all 0: the defaults. */
static heed_image_limits limits = {.struct_size = sizeof limits};

/* A picture of bytes, or of a file where there are none; in a child, so that the peak is its
 * alone. */
static cost measure(const byte_buffer *made, const char *path) {
  int ends[2];
  cost found = {.status = HEED_OK};
  assert_int_equal(pipe(ends), 0);
  fflush(NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    struct rusage before, after;
    heed_picture picture;
    getrusage(RUSAGE_SELF, &before);
    found.status = made ? heed_image_decode_within(context, "bomb", made->bytes, made->size,
                                                   &limits, &picture, &error)
                        : heed_image_load_within(context, path, &limits, &picture, &error);
    getrusage(RUSAGE_SELF, &after);
    if (found.status != HEED_OK) memcpy(found.message, error.message, sizeof found.message);
    found.width = picture.width;
    found.height = picture.height;
    found.megabytes = (double)(after.ru_maxrss - before.ru_maxrss) / 1024.0;
    found.seconds = seconds_of(&after) - seconds_of(&before);
    if (__gcov_dump) __gcov_dump(); /* counts of coverage, where they are taken */
    _exit(write(ends[1], &found, sizeof found) == (ssize_t)sizeof found ? 0 : 1);
  }
  close(ends[1]);
  const ssize_t got = read(ends[0], &found, sizeof found);
  close(ends[0]);
  int ended = 0;
  waitpid(child, &ended, 0);
  if (got != (ssize_t)sizeof found)
    fail_msg("the child that decoded ended early (wait status %d)", ended);
  return found;
}

static void assert_cheap(const char *name, const cost *found) {
  print_message("%s: %s, %.1f MB, %.2f s\n", name,
                found->status == HEED_OK ? "a picture" : found->message, found->megabytes,
                found->seconds);
  if (found->megabytes > MOST_MEGABYTES)
    fail_msg("%s: peak memory: found %.1f MB, expected at most %.0f", name, found->megabytes,
             MOST_MEGABYTES);
  if (found->seconds > MOST_SECONDS)
    fail_msg("%s: processor time: found %.2f s, expected at most %.0f", name, found->seconds,
             MOST_SECONDS);
}

static void assert_refused(const char *name, const cost *found, const char *part) {
  assert_cheap(name, found);
  if (found->status != HEED_INVALID_FILE || !strstr(found->message, part))
    fail_msg("%s: found %s \"%s\", expected INVALID_FILE with \"%s\"", name,
             heed_status_name(found->status), found->message, part);
}

static void assert_bytes_refused(const char *name, byte_buffer *bytes, const char *part) {
  const cost found = measure(bytes, NULL);
  assert_refused(name, &found, part);
  drop(bytes);
}

/* ---------------------------------------------------------------------------------------- bombs */

static void test_png_of_huge_sides(void **state) {
  (void)state;
  static const struct {
    uint32_t width, height;
    const char *part;
  } cases[] = {
      {0x7FFFFFFF, 0x7FFFFFFF,
       /* libpng refuses a row that 32 bits cannot count */
       sizeof(size_t) > 4 ? "too large (found 2147483647 x 2147483647 pixels" : "not a valid PNG"},
      {60000, 60000, "too large"},
      {1u << 28, 1, "too large"},
      {1, 1u << 28, "too large"},
      {16384, 16384, "truncated"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    byte_buffer bytes = {NULL, 0, 0};
    char name[64];
    begin_png(&bytes, cases[i].width, cases[i].height, 8, PNG_COLOR_TYPE_RGB);
    end_png(&bytes, 4);
    snprintf(name, sizeof name, "PNG of %u x %u", cases[i].width, cases[i].height);
    assert_bytes_refused(name, &bytes, cases[i].part);
  }
}

/* What a picture carries beside its pixels is never unpacked. */
static void test_png_of_packed_texts(void **state) {
  (void)state;
  static const struct {
    const char *chunk, *head;
    size_t head_size, zeros;
    int count;
  } cases[] = {{"zTXt", "k\0\0", 3, 7900000, 100},
               {"iTXt", "k\0\1\0\0\0", 6, 7900000, 100},
               {"iCCP", "p\0\0", 3, 7900000, 100},
               {"sPLT", "p\0\10", 3, 0, 20},
               {"tEXt", "k\0", 2, 0, 20},
               {"heED", "", 0, 0, 20},
               /* the keywords that are unpacked */
               {"zTXt", "Raw profile type exif\0\0", 23, 7900000, 100},
               {"iTXt", "XML:com.adobe.xmp\0\1\0\0\0", 22, 7900000, 100},
               {"zTXt", "Raw profile type exif\0\0", 23, 1000000, 1000}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    byte_buffer bytes = {NULL, 0, 0}, data = {NULL, 0, 0};
    begin_png(&bytes, 1, 1, 8, PNG_COLOR_TYPE_RGB);
    put(&data, cases[i].head, cases[i].head_size);
    if (cases[i].zeros) put_deflated(&data, cases[i].zeros);
    for (int k = 0; !cases[i].zeros && k < 300000; k++) put(&data, "\1\2\3\4\5\6", 6);
    for (int k = 0; k < cases[i].count; k++) {
      if (cases[i].head_size && cases[i].head_size < 10) data.bytes[0] = (uint8_t)('A' + k % 26);
      put_chunk(&bytes, cases[i].chunk, &data);
    }
    drop(&data);
    end_png(&bytes, 4);
    const cost found = measure(&bytes, NULL);
    assert_cheap(cases[i].chunk, &found);
    if (found.status != HEED_OK) fail_msg("%s: %s", cases[i].chunk, found.message);
    drop(&bytes);
  }
}

static void test_jpeg_of_empty_scans(void **state) {
  (void)state;
  static const struct {
    const char *name, *part;
    uint32_t side;
    int components, scans;
    size_t padding;
  } cases[] = {{"JPEG of 3 scans of nothing", "truncated", 16383, 3, 3, 0},
               {"JPEG of 498 scans of nothing", "scans", 16383, 1, 498, 0},
               {"JPEG of 3 scans and comments", "truncated", 16383, 3, 3, 700000},
               {"JPEG of 400 scans", "scans", 8000, 1, 400, 0},
               {"small JPEG of 600 scans", "scans", 64, 1, 600, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    byte_buffer bytes = {NULL, 0, 0};
    make_run_jpeg(&bytes, cases[i].side, cases[i].components, cases[i].scans, cases[i].padding);
    print_message("%zu bytes: ", bytes.size);
    assert_bytes_refused(cases[i].name, &bytes, cases[i].part);
  }
  /* coefficients of all scans are kept: 12.6 million blocks, with a bit in the file for each */
  byte_buffer bytes = {NULL, 0, 0}, zeros = {NULL, 0, 0};
  make_run_jpeg(&bytes, 16383, 3, 3, 0);
  for (int i = 0; i < 1700000; i++) put_number(&zeros, 0, 1);
  bytes.size -= 2;
  put(&bytes, zeros.bytes, zeros.size);
  put(&bytes, "\xFF\xD9", 2);
  drop(&zeros);
  assert_bytes_refused("JPEG of 1.6 GB of coefficients", &bytes,
                       "too large for one of several scans");
}

/* Files without end, or nearly: the first bytes say what is no picture, the size what is too
 * large. */
static void test_endless_files(void **state) {
  (void)state;
  char path[] = "/tmp/heed_test_image_bombs_XXXXXX";
  struct stat info;
  if (stat("/dev/zero", &info) == 0 && S_ISCHR(info.st_mode)) {
    const cost zeros = measure(NULL, "/dev/zero");
    assert_refused("/dev/zero", &zeros, "image format not supported");
  }
  const int file = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(write(file, "\x89PNG\r\n\x1A\n", 8), 8);
  /* a hole, which takes no room on the disk */
  assert_int_equal(ftruncate(file, (off_t)3 << 30), 0);
  close(file);
  const cost hole = measure(NULL, path);
  unlink(path);
  assert_refused("3 GiB after a PNG's first bytes", &hole, "file too large");
}

/* ------------------------------------------------------------------------------ honest pictures */

static void make_jpeg(byte_buffer *to, uint32_t width, uint32_t height, bool progressive,
                      bool flat) {
  struct jpeg_compress_struct jpeg;
  struct jpeg_error_mgr errors;
  unsigned char *bytes = NULL;
  unsigned long size = 0;
  JSAMPROW row = malloc((size_t)width * 3);
  test_random random = {5};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  jpeg_mem_dest(&jpeg, &bytes, &size);
  jpeg.image_width = width;
  jpeg.image_height = height;
  jpeg.input_components = 3;
  jpeg.in_color_space = JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg.optimize_coding = TRUE;
  if (progressive) jpeg_simple_progression(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  memset(row, 90, (size_t)width * 3);
  while (jpeg.next_scanline < jpeg.image_height) {
    for (size_t i = 0; !flat && i < (size_t)width * 3; i++)
      row[i] = (uint8_t)test_random_below(&random, 256);
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  put(to, bytes, size);
  free(bytes);
  free(row);
}

static void assert_decodes(const char *name, byte_buffer *bytes, uint32_t width, uint32_t height) {
  const cost found = measure(bytes, NULL);
  print_message("%s: %zu bytes, %.1f MB, %.2f s\n", name, bytes->size, found.megabytes,
                found.seconds);
  if (found.status != HEED_OK) fail_msg("%s: %s", name, found.message);
  const double pixels = 3.0 * width * height / (1 << 20);
  if (found.megabytes > MOST_TIMES * pixels)
    fail_msg("%s: peak memory: found %.1f MB, expected at most %.0f times the %.1f of its pixels",
             name, found.megabytes, MOST_TIMES, pixels);
  assert_int_equal(found.width, width);
  assert_int_equal(found.height, height);
  drop(bytes);
}

/* One colour packs best: what is flatter than this no encoder writes. */
static void test_large_pictures(void **state) {
  (void)state;
  byte_buffer bytes = {NULL, 0, 0};
  make_jpeg(&bytes, 6000, 4000, true, true);
  assert_decodes("24 MP progressive JPEG of one colour", &bytes, 6000, 4000);
  make_jpeg(&bytes, 2000, 1500, true, false);
  assert_decodes("3 MP progressive JPEG of noise", &bytes, 2000, 1500);
  make_jpeg(&bytes, 9000, 6000, false, true);
  assert_decodes("54 MP JPEG of one colour", &bytes, 9000, 6000);
  begin_png(&bytes, 6000, 4000, 16, PNG_COLOR_TYPE_RGB_ALPHA);
  end_png(&bytes, 4000u * (1 + 8 * 6000u));
  assert_decodes("24 MP PNG of 16 bits", &bytes, 6000, 4000);
  begin_png(&bytes, 9000, 6000, 1, PNG_COLOR_TYPE_GRAY);
  end_png(&bytes, 6000u * (1 + 9000u / 8));
  assert_decodes("54 MP PNG of 1 bit", &bytes, 9000, 6000);
}

/* ------------------------------------------------------------------------ at the limit and above
 */

/* Whether it is refused as too much; at the limit it is a picture, or something else is wrong with
 * it. */
static void assert_limit(const char *name, byte_buffer *bytes, bool refused, const char *part) {
  const cost found = measure(bytes, NULL);
  if (refused)
    assert_refused(name, &found, part);
  else if (found.status != HEED_OK && strstr(found.message, part))
    fail_msg("%s: %s", name, found.message);
  drop(bytes);
}

static void check_png(uint32_t width, uint32_t height, bool refused) {
  byte_buffer bytes = {NULL, 0, 0};
  char name[64];
  begin_png(&bytes, width, height, 8, PNG_COLOR_TYPE_RGB);
  end_png(&bytes, 4);
  snprintf(name, sizeof name, "PNG of %u x %u", width, height);
  assert_limit(name, &bytes, refused, "too large");
}

static void check_scans(uint32_t side, int components, int scans, bool refused, const char *part) {
  byte_buffer bytes = {NULL, 0, 0};
  char name[64];
  make_run_jpeg(&bytes, side, components, scans, 0);
  snprintf(name, sizeof name, "JPEG of %u x %u, %d components, %d scans", side, side, components,
           scans);
  assert_limit(name, &bytes, refused, part);
}

static void test_limits(void **state) {
  (void)state;
  check_png(16384, 16384, false); /* 2^28 pixels */
  check_png(16385, 16384, true);
  check_png(1u << 20, 1, false);
  check_png((1u << 20) + 1, 1, true);
  check_png(1, 1u << 20, false);
  check_png(1, (1u << 20) + 1, true);
  check_scans(64, 1, 500, false, "too many scans");
  check_scans(64, 1, 501, true, "too many scans");
  /* 8192^2 pixels 64 times are 2^32 */
  check_scans(8192, 1, 64, false, "too many scans");
  check_scans(8192, 1, 65, true, "too many scans");
}

static void test_other_limits(void **state) {
  (void)state;
  limits.pixels = 100;
  check_png(10, 10, false);
  check_png(101, 1, true);
  limits.pixels = UINT32_MAX;
  check_png(65536, 65535, false);
  check_png(65536, 65536, true);
  limits = (heed_image_limits){.struct_size = sizeof limits, .side = 7};
  check_png(7, 7, false);
  check_png(8, 1, true);
  check_png(1, 8, true);
  limits = (heed_image_limits){.struct_size = sizeof limits, .scans = 3};
  check_scans(64, 1, 3, false, "too many scans");
  check_scans(64, 1, 4, true, "too many scans");
  limits.scans = 1000;
  check_scans(64, 1, 1000, false, "too many scans");
  check_scans(64, 1, 1001, true, "too many scans");
  /* 16 pixels in the scans of each pixel; 192 blocks have 24,576 bytes of coefficients, 4 a pixel
   */
  limits = (heed_image_limits){.struct_size = sizeof limits, .pixels = 4096};
  check_scans(64, 1, 16, false, "too many scans");
  check_scans(64, 1, 17, true, "too many scans");
  check_scans(64, 3, 9, true, "too large for one of several scans");
  limits.pixels = 6144;
  check_scans(64, 3, 9, false, "too large for one of several scans");
  limits.pixels = 6143;
  check_scans(64, 3, 9, true, "too large for one of several scans");
  limits = (heed_image_limits){.struct_size = sizeof limits};
}

static void test_bytes(void **state) {
  (void)state;
  char path[] = "/tmp/heed_test_image_bombs_XXXXXX";
  byte_buffer bytes = {NULL, 0, 0};
  begin_png(&bytes, 5, 4, 8, PNG_COLOR_TYPE_RGB);
  end_png(&bytes, 4 * (1 + 5 * 3));
  const int file = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(write(file, bytes.bytes, bytes.size), (ssize_t)bytes.size);
  limits.bytes = (uint32_t)bytes.size;
  const cost at = measure(NULL, path);
  limits.bytes--;
  const cost above = measure(NULL, path);
  limits.bytes = 0;
  assert_int_equal(ftruncate(file, ((off_t)1 << 30) + 1), 0); /* a hole */
  close(file);
  const cost gigabyte = measure(NULL, path);
  unlink(path);
  drop(&bytes);
  assert_int_equal(at.status, HEED_OK);
  assert_refused("a byte more", &above, "file too large");
  assert_refused("1 GiB and a byte", &gigabyte, "file too large");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_png_of_huge_sides),   cmocka_unit_test(test_png_of_packed_texts),
      cmocka_unit_test(test_jpeg_of_empty_scans), cmocka_unit_test(test_endless_files),
      cmocka_unit_test(test_large_pictures),      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_other_limits),        cmocka_unit_test(test_bytes)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
