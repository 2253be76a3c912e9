/* PNG bytes -> RGB, 8 bit, or grey of 16 bits, through libpng, which jumps out of itself into the
 * one function that called setjmp; everything that must be freed is reached from a struct outside
 * of it. It stays silent. */
#include <png.h>
#include <setjmp.h>
#include <string.h>

#include "image/decoding.h"

static void png_on_error(png_structp png, png_const_charp message) {
  decoding *work = png_get_error_ptr(png);
  if (work->status == HEED_OK)
    work->status = heed_fail(work->error, HEED_INVALID_FILE,
                             "%s: not a valid PNG (found \"%s\", expected a complete image)",
                             work->name, message);
  png_longjmp(png, 1);
}

static void png_on_warning(png_structp png, png_const_charp message) {
  (void)png;
  (void)message;
}

static void png_on_read(png_structp png, png_bytep to, size_t count) {
  decoding *work = png_get_io_ptr(png);
  if (work->size - work->at < count) {
    work->status =
        heed_fail(work->error, HEED_INVALID_FILE,
                  "%s: truncated PNG (found %zu bytes, expected more)", work->name, work->size);
    png_error(png, "cut short");
  }
  memcpy(to, work->bytes + work->at, count);
  work->at += count;
}

static png_voidp png_on_alloc(png_structp png, png_alloc_size_t size) {
  decoding *work = png_get_mem_ptr(png);
  void *pointer = heed_alloc_raw(work->context, size, 1);
  if (!pointer) work->status = heed_fail_memory(work->error, work->name, size);
  return pointer;
}

static void png_on_free(png_structp png, png_voidp pointer) {
  decoding *work = png_get_mem_ptr(png);
  heed_free(work->context, pointer);
}

/* Grey of 16 bits as uint16_t of this machine, without alpha. */
static void png_ask_for_grey(decoding *work, png_structp png) {
  const uint16_t one = 1;
  work->picture.channels = 1;
  work->picture.samples = HEED_SAMPLES_U16;
  if (*(const uint8_t *)&one == 1) png_set_swap(png);
  png_set_strip_alpha(png);
}

/* Everything to RGB of 8 bits, as Pillow does: alpha dropped, 16-bit colour cut to its high byte,
 * 16-bit grey scaled by 1/257. */
static void png_ask_for_rgb(png_structp png, png_infop info) {
  const int color = png_get_color_type(png, info), depth = png_get_bit_depth(png, info);
  if (color == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
  if (color == PNG_COLOR_TYPE_GRAY && depth < 8) png_set_expand_gray_1_2_4_to_8(png);
  if (depth == 16 && color == PNG_COLOR_TYPE_GRAY)
    png_set_scale_16(png);
  else if (depth == 16)
    png_set_strip_16(png);
  if (color == PNG_COLOR_TYPE_GRAY || color == PNG_COLOR_TYPE_GRAY_ALPHA) png_set_gray_to_rgb(png);
  png_set_strip_alpha(png);
}

/* Texts, profiles and palettes that are suggested may unpack to gigabytes, and nothing here asks
 * for them: png_text.c finds the orientation. */
static void png_skip_chunks(png_structp png) {
#ifdef PNG_SET_UNKNOWN_CHUNKS_SUPPORTED
  /* all that libpng knows but IHDR, PLTE, tRNS, IDAT, IEND */
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
#else
  (void)png;
#endif
}

/* Deflate packs at most 1032 to 1: a header that promises more than the file can hold is found
 * before memory is asked for. */
static heed_status png_check_length(const decoding *work, png_structp png, png_infop info) {
  const uint64_t promised = (uint64_t)png_get_image_height(png, info) * png_get_rowbytes(png, info);
  if (promised / 1032 <= work->size) return HEED_OK;
  return heed_fail(work->error, HEED_INVALID_FILE,
                   "%s: truncated PNG (found %zu bytes, expected at least %llu)", work->name,
                   work->size, (unsigned long long)(promised / 1032));
}

static heed_status png_decode(decoding *work, png_structp png, png_infop info) {
  if (setjmp(png_jmpbuf(png))) return work->status;
  /* so that heed_decoding_check_size is the one that says what is too large */
  png_set_user_limits(png, 0x7FFFFFFF, 0x7FFFFFFF);
  png_set_read_fn(png, work, png_on_read);
  png_skip_chunks(png);
  png_read_info(png, info);
  const uint32_t width = png_get_image_width(png, info), height = png_get_image_height(png, info);
  /* before png_read_update_info makes room for rows */
  HEED_TRY(heed_decoding_check_size(work, width, height));
  HEED_TRY(png_check_length(work, png, info));
  if (heed_keeps_grey(work) && png_get_bit_depth(png, info) == 16 &&
      !(png_get_color_type(png, info) & PNG_COLOR_MASK_COLOR))
    png_ask_for_grey(work, png);
  else
    png_ask_for_rgb(png, info);
  const int passes = png_set_interlace_handling(png);
  png_read_update_info(png, info);
  HEED_TRY(heed_decoding_make_room(work, width, height));
  const size_t expected = width * heed_pixel_bytes(&work->picture);
  if (png_get_rowbytes(png, info) != expected)
    return heed_fail(work->error, HEED_UNSUPPORTED,
                     "%s: PNG not convertible to RGB (found %zu bytes per row, expected %zu)",
                     work->name, (size_t)png_get_rowbytes(png, info), expected);
  for (int pass = 0; pass < passes; pass++)
    for (uint32_t y = 0; y < height; y++) png_read_row(png, pixel_row(work, y), NULL);
  png_read_end(png, info);
  if (work->status != HEED_OK) return work->status;
  return heed_png_orientation(work->context, work->bytes, work->size, &work->orientation,
                              work->error);
}

heed_status heed_decode_png(decoding *work) {
  png_structp png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, work, png_on_error,
                                             png_on_warning, work, png_on_alloc, png_on_free);
  png_infop info = png ? png_create_info_struct(png) : NULL;
  const heed_status status =
      info ? png_decode(work, png, info) : heed_fail_memory(work->error, work->name, 1);
  png_destroy_read_struct(&png, &info, NULL);
  return status;
}
