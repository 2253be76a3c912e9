/* RGB or RGBA, 8 bit -> PNG, through libpng. */
#include <errno.h>
#include <png.h>
#include <setjmp.h>
#include <string.h>

#include "base/status.h"
#include "files/output.h"
#include "image/image.h"

#define MOST_TEXTS 8

typedef struct png_emitting {
  heed_png_sink sink;
  void *user;
  png_structp png;
  png_infop info;
} png_emitting;

static void on_error(png_structp png, png_const_charp message) {
  (void)message; /* the sentence is made by the sink's owner */
  png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message) {
  (void)png;
  (void)message;
}

static void on_write(png_structp png, png_bytep bytes, size_t count) {
  png_emitting *emitting = png_get_io_ptr(png);
  if (!emitting->sink(emitting->user, bytes, count)) png_error(png, "write");
}

static void on_flush(png_structp png) { (void)png; }

static bool is_ascii(const char *text) {
  while (*text && (unsigned char)*text < 128) text++;
  return *text == '\0';
}

/* tEXt where that can hold it, since more programs show it; iTXt for what is not ASCII. */
static void set_texts(png_emitting *emitting, const heed_png *image) {
  png_text texts[MOST_TEXTS];
  const size_t count = image->text_count < MOST_TEXTS ? image->text_count : MOST_TEXTS;
  memset(texts, 0, sizeof texts);
  for (size_t i = 0; i < count; i++) {
    texts[i].compression =
        is_ascii(image->texts[i].text) ? PNG_TEXT_COMPRESSION_NONE : PNG_ITXT_COMPRESSION_NONE;
    texts[i].key = (png_charp)(uintptr_t)image->texts[i].keyword; /* only read, but not const */
    texts[i].text = (png_charp)(uintptr_t)image->texts[i].text;
  }
  png_set_text(emitting->png, emitting->info, texts, (int)count);
}

/* False when libpng jumped out. Only `emitting` is used after the jump. */
static bool write_rows(png_emitting *emitting, const heed_png *image) {
  if (setjmp(png_jmpbuf(emitting->png))) return false;
  png_set_user_limits(emitting->png, 0x7FFFFFFF, 0x7FFFFFFF);
  png_set_write_fn(emitting->png, emitting, on_write, on_flush);
  png_set_IHDR(emitting->png, emitting->info, image->width, image->height, 8,
               image->alpha ? PNG_COLOR_TYPE_RGB_ALPHA : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (image->pixels_per_metre)
    png_set_pHYs(emitting->png, emitting->info, image->pixels_per_metre, image->pixels_per_metre,
                 PNG_RESOLUTION_METER);
  if (image->text_count) set_texts(emitting, image);
  png_write_info(emitting->png, emitting->info);
  const size_t stride = (size_t)image->width * (image->alpha ? 4 : 3);
  for (uint32_t y = 0; y < image->height; y++)
    png_write_row(emitting->png, image->pixels + y * stride);
  png_write_end(emitting->png, emitting->info);
  return true;
}

bool heed_png_emit(const heed_png *image, heed_png_sink sink, void *user) {
  png_emitting emitting = {.sink = sink, .user = user};
  emitting.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, on_error, on_warning);
  emitting.info = emitting.png ? png_create_info_struct(emitting.png) : NULL;
  const bool written = emitting.info && write_rows(&emitting, image);
  png_destroy_write_struct(&emitting.png, &emitting.info);
  return written;
}

typedef struct png_file {
  heed_output output;
  int reason; /* errno of the write that failed */
} png_file;

static bool to_file(void *user, const void *bytes, size_t count) {
  png_file *file = user;
  errno = 0;
  if (fwrite(bytes, 1, count, file->output.file) == count) return true;
  file->reason = errno;
  return false;
}

heed_status heed_png_save(const char *path, const heed_png *image, heed_error *error) {
  if (!image->pixels || image->width == 0 || image->height == 0 || image->width > INT32_MAX ||
      image->height > INT32_MAX)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "%s: nothing to write (found %u x %u pixels, expected at least 1 x 1)", path,
                     image->width, image->height);
  png_file file = {.reason = 0};
  HEED_TRY(heed_output_begin(&file.output, path, error));
  if (heed_png_emit(image, to_file, &file)) return heed_output_commit(&file.output, error);
  if (file.reason) return heed_output_failed(&file.output, file.reason, error);
  heed_output_abort(&file.output);
  return heed_fail_memory(error, path, (size_t)image->width * 3);
}

heed_status heed_png_write(const char *path, const uint8_t *pixels, uint32_t width, uint32_t height,
                           heed_error *error) {
  return heed_png_save(path, &(heed_png){.pixels = pixels, .width = width, .height = height},
                       error);
}

static bool to_stream(void *user, const void *bytes, size_t count) {
  return fwrite(bytes, 1, count, user) == count;
}

heed_status heed_png_put(FILE *to, const uint8_t *pixels, uint32_t width, uint32_t height,
                         uint32_t channels, heed_error *error) {
  if (!pixels || !width || !height || width > INT32_MAX || height > INT32_MAX ||
      (channels != 3 && channels != 4))
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "PNG: nothing to write (found %u x %u pixels of %u channels, expected at "
                     "least 1 x 1 of 3 or 4)",
                     width, height, channels);
  const heed_png image = {
      .pixels = pixels, .width = width, .height = height, .alpha = channels == 4};
  if (heed_png_emit(&image, to_stream, to)) return HEED_OK;
  return ferror(to) ? heed_fail(error, HEED_IO, "PNG: cannot write (%s)", strerror(errno))
                    : heed_fail_memory(error, "PNG", (size_t)width * channels);
}
