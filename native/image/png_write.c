/* RGB, 8 bit -> a PNG file, through libpng. */
#include <errno.h>
#include <png.h>
#include <setjmp.h>
#include <string.h>

#include "base/status.h"
#include "files/output.h"
#include "image/image.h"

typedef struct png_writing {
  heed_file_write output;
  png_structp png;
  png_infop info;
  int reason; /* errno of the write that failed */
} png_writing;

static void on_error(png_structp png, png_const_charp message) {
  (void)message; /* the sentence is made from errno */
  png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message) {
  (void)png;
  (void)message;
}

static void on_write(png_structp png, png_bytep bytes, size_t count) {
  png_writing *writing = png_get_io_ptr(png);
  errno = 0;
  if (fwrite(bytes, 1, count, writing->output.file) == count) return;
  writing->reason = errno;
  png_error(png, "write");
}

static void on_flush(png_structp png) { (void)png; }

/* False when libpng jumped out. Only `writing` is used after the jump. */
static bool write_rows(png_writing *writing, const uint8_t *pixels, uint32_t width,
                       uint32_t height) {
  if (setjmp(png_jmpbuf(writing->png))) return false;
  png_set_user_limits(writing->png, 0x7FFFFFFF, 0x7FFFFFFF);
  png_set_write_fn(writing->png, writing, on_write, on_flush);
  png_set_IHDR(writing->png, writing->info, width, height, 8, PNG_COLOR_TYPE_RGB,
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(writing->png, writing->info);
  for (uint32_t y = 0; y < height; y++) png_write_row(writing->png, pixels + (size_t)y * width * 3);
  png_write_end(writing->png, writing->info);
  return true;
}

heed_status heed_png_write(const char *path, const uint8_t *pixels, uint32_t width, uint32_t height,
                           heed_error *error) {
  if (!pixels || width == 0 || height == 0 || width > INT32_MAX || height > INT32_MAX)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "%s: empty image (found %u x %u pixels, expected at least 1 x 1)", path, width,
                     height);
  png_writing writing = {.reason = 0};
  HEED_TRY(heed_file_write_begin(&writing.output, path, error));
  writing.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, on_error, on_warning);
  writing.info = writing.png ? png_create_info_struct(writing.png) : NULL;
  const bool ready = writing.info != NULL;
  const bool written = ready && write_rows(&writing, pixels, width, height);
  png_destroy_write_struct(&writing.png, &writing.info);
  if (written) return heed_file_write_commit(&writing.output, error);
  heed_file_write_abort(&writing.output);
  if (!ready || !writing.reason) return heed_fail_memory(error, path, (size_t)width * 3);
  return heed_fail(error, HEED_IO, "%s: writing failed (found \"%s\", expected a writable path)",
                   path, strerror(writing.reason));
}
