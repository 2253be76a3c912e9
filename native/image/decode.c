/* PNG or JPEG bytes -> RGB, 8 bit, through libpng and libjpeg-turbo. Their errors jump out of the library into the one function per
 * format that called setjmp; everything that must be freed is reached from a struct outside of it. Both stay silent. */
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>
#include <png.h>

#include <jerror.h> /* its numbers depend on what jpeglib.h defines */

#include "base/alloc.h"
#include "base/status.h"
#include "image/image.h"

/* A picture being decoded: where from, where to, and what went wrong. */
typedef struct decoding {
  heed_context *context;
  const char *name;
  const uint8_t *bytes;
  size_t size, at;
  heed_picture picture;
  uint32_t orientation;
  heed_status status; /* of what made the library jump; OK = its own complaint */
  heed_error *error;
} decoding;

/* Refuses what is too large, then makes room for the pixels. */
static heed_status allocate_pixels(decoding *work, uint32_t width, uint32_t height) {
  if (width == 0 || height == 0)
    return heed_fail(work->error, HEED_INVALID_FILE, "%s: an empty picture (found %u x %u pixels, expected at least 1 x 1)", work->name,
                     width, height);
  if ((uint64_t)width * height > HEED_IMAGE_MAX_PIXELS)
    return heed_fail(work->error, HEED_INVALID_FILE, "%s: the picture is too large (found %u x %u pixels, expected at most %llu in all)",
                     work->name, width, height, (unsigned long long)HEED_IMAGE_MAX_PIXELS);
  const size_t count = (size_t)width * height;
  work->picture = (heed_picture){heed_alloc_raw(work->context, count, 3), width, height};
  if (!work->picture.pixels) return heed_fail_memory(work->error, work->name, count * 3);
  return HEED_OK;
}

static uint8_t *pixel_row(const decoding *work, uint32_t y) { return work->picture.pixels + (size_t)y * work->picture.width * 3; }

/* ------------------------------------------------------------------------------------------------------------------ PNG */

static void png_on_error(png_structp png, png_const_charp message) {
  decoding *work = png_get_error_ptr(png);
  if (work->status == HEED_OK)
    work->status =
        heed_fail(work->error, HEED_INVALID_FILE, "%s: not a valid PNG (found \"%s\", expected a whole picture)", work->name, message);
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
        heed_fail(work->error, HEED_INVALID_FILE, "%s: the PNG is cut short (found %zu bytes, expected more)", work->name, work->size);
    png_error(png, "cut short");
  }
  memcpy(to, work->bytes + work->at, count);
  work->at += count;
}

static png_voidp png_on_alloc(png_structp png, png_alloc_size_t size) {
  decoding *work = png_get_mem_ptr(png);
  void *pointer = heed_alloc_raw(work->context, size, 1);
  if (!pointer && work->status == HEED_OK) work->status = heed_fail_memory(work->error, work->name, size);
  return pointer;
}

static void png_on_free(png_structp png, png_voidp pointer) {
  decoding *work = png_get_mem_ptr(png);
  heed_free(work->context, pointer);
}

/* Everything to RGB of 8 bits, as Pillow does: alpha dropped, 16-bit colour cut to its high byte, 16-bit grey scaled by 1/257. */
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

/* Deflate packs at most 1032 to 1: a header that promises more than the file can hold is found before memory is asked for. */
static heed_status png_check_length(const decoding *work, png_structp png, png_infop info) {
  const uint64_t promised = (uint64_t)png_get_image_height(png, info) * png_get_rowbytes(png, info);
  if (promised / 1032 <= work->size) return HEED_OK;
  return heed_fail(work->error, HEED_INVALID_FILE, "%s: the PNG is cut short (found %zu bytes, expected at least %llu)", work->name,
                   work->size, (unsigned long long)(promised / 1032));
}

/* The orientation stands before or after the pixels. */
static void png_take_orientation(decoding *work, png_structp png, png_infop info) {
#ifdef PNG_eXIf_SUPPORTED
  png_uint_32 size = 0;
  png_bytep exif = NULL;
  if (png_get_eXIf_1(png, info, &size, &exif) && exif) work->orientation = heed_exif_orientation(exif, size);
#else
  (void)work, (void)png, (void)info;
#endif
}

static heed_status png_decode(decoding *work, png_structp png, png_infop info) {
  if (setjmp(png_jmpbuf(png))) return work->status;
  png_set_user_limits(png, 0x7FFFFFFF, 0x7FFFFFFF); /* so that allocate_pixels is the one that says what is too large */
  png_set_read_fn(png, work, png_on_read);
  png_read_info(png, info);
  const uint32_t width = png_get_image_width(png, info), height = png_get_image_height(png, info);
  if ((uint64_t)width * height <= HEED_IMAGE_MAX_PIXELS) HEED_TRY(png_check_length(work, png, info));
  png_ask_for_rgb(png, info);
  const int passes = png_set_interlace_handling(png);
  png_read_update_info(png, info);
  HEED_TRY(allocate_pixels(work, width, height));
  if (png_get_rowbytes(png, info) != (size_t)width * 3)
    return heed_fail(work->error, HEED_UNSUPPORTED, "%s: a kind of PNG that does not become RGB (found %zu bytes a row, expected %zu)",
                     work->name, (size_t)png_get_rowbytes(png, info), (size_t)width * 3);
  for (int pass = 0; pass < passes; pass++)
    for (uint32_t y = 0; y < height; y++) png_read_row(png, pixel_row(work, y), NULL);
  png_read_end(png, info);
  png_take_orientation(work, png, info);
  return work->status; /* libpng goes on without a chunk it had no memory for: the orientation would be lost */
}

static heed_status decode_png(decoding *work) {
  png_structp png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, work, png_on_error, png_on_warning, work, png_on_alloc, png_on_free);
  png_infop info = png ? png_create_info_struct(png) : NULL;
  const heed_status status = info ? png_decode(work, png, info) : heed_fail_memory(work->error, work->name, 1);
  png_destroy_read_struct(&png, &info, NULL);
  return status;
}

/* ----------------------------------------------------------------------------------------------------------------- JPEG */

/* A progressive file may hold any number of scans over all pixels; real encoders write about ten. */
#define JPEG_MAX_SCANS 500

typedef struct jpeg_decoding {
  struct jpeg_decompress_struct jpeg;
  struct jpeg_error_mgr errors;
  struct jpeg_progress_mgr progress;
  jmp_buf jump;
  decoding *work;
  uint8_t *line; /* one row of CMYK, or NULL */
} jpeg_decoding;

static void jpeg_on_error(j_common_ptr jpeg) {
  jpeg_decoding *work = jpeg->client_data;
  decoding *to = work->work;
  char message[JMSG_LENGTH_MAX];
  jpeg->err->format_message(jpeg, message);
  if (to->status == HEED_OK && jpeg->err->msg_code == JERR_OUT_OF_MEMORY) to->status = heed_fail_memory(to->error, to->name, 1);
  if (to->status == HEED_OK)
    to->status =
        heed_fail(to->error, HEED_INVALID_FILE, "%s: not a valid JPEG (found \"%s\", expected a whole picture)", to->name, message);
  longjmp(work->jump, 1);
}

/* libjpeg fills what is missing with grey and only warns; a picture with wrong pixels must not pass. Harmless warnings do. */
static void jpeg_on_message(j_common_ptr jpeg, int level) {
  if (level >= 0) return;
  decoding *to = ((jpeg_decoding *)jpeg->client_data)->work;
  const int code = jpeg->err->msg_code;
  if (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER)
    to->status = heed_fail(to->error, HEED_INVALID_FILE, "%s: the JPEG is cut short (found %zu bytes, expected more)", to->name, to->size);
  if (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE || code == JWRN_MUST_RESYNC) jpeg_on_error(jpeg);
}

static void jpeg_on_output(j_common_ptr jpeg) { (void)jpeg; }

static void jpeg_on_progress(j_common_ptr jpeg) {
  jpeg_decoding *work = jpeg->client_data;
  decoding *to = work->work;
  if (work->jpeg.input_scan_number <= JPEG_MAX_SCANS) return;
  to->status = heed_fail(to->error, HEED_INVALID_FILE, "%s: the JPEG has too many scans (found more than %d, expected about 10)", to->name,
                         JPEG_MAX_SCANS);
  jpeg_on_error(jpeg);
}

static void jpeg_take_orientation(jpeg_decoding *work) {
  for (jpeg_saved_marker_ptr marker = work->jpeg.marker_list; marker; marker = marker->next) {
    if (marker->marker != JPEG_APP0 + 1 || marker->data_length < 6 || memcmp(marker->data, "Exif\0\0", 6) != 0) continue;
    work->work->orientation = heed_exif_orientation(marker->data, marker->data_length);
    return;
  }
}

/* a b / 255, rounded, as Pillow computes it. */
static uint32_t multiply_255(uint32_t a, uint32_t b) {
  const uint32_t t = a * b + 128;
  return ((t >> 8) + t) >> 8;
}

/* Adobe's CMYK holds 255 - ink, so that it is C'K'/255 and so on; Pillow's own two steps are kept for the same rounding. */
static void cmyk_to_rgb(const uint8_t *cmyk, uint8_t *rgb, uint32_t width) {
  for (uint32_t x = 0; x < width; x++, cmyk += 4, rgb += 3) {
    const uint32_t light = cmyk[3];
    for (int c = 0; c < 3; c++) rgb[c] = (uint8_t)(light - multiply_255(255u - cmyk[c], light));
  }
}

static heed_status jpeg_choose_color(jpeg_decoding *work) {
  const int components = work->jpeg.num_components;
  if (components != 1 && components != 3 && components != 4)
    return heed_fail(work->work->error, HEED_UNSUPPORTED, "%s: a kind of JPEG that is not read (found %d components, expected 1, 3 or 4)",
                     work->work->name, components);
  work->jpeg.out_color_space = components == 4 ? JCS_CMYK : JCS_RGB;
  if (components != 4) return HEED_OK;
  work->line = heed_alloc_raw(work->work->context, work->jpeg.image_width, 4);
  return work->line ? HEED_OK : heed_fail_memory(work->work->error, work->work->name, (size_t)work->jpeg.image_width * 4);
}

static heed_status jpeg_decode(jpeg_decoding *work) {
  struct jpeg_decompress_struct *jpeg = &work->jpeg;
  if (setjmp(work->jump)) return work->work->status;
  jpeg_create_decompress(jpeg);
  jpeg->progress = &work->progress;
  jpeg_mem_src(jpeg, work->work->bytes, (unsigned long)work->work->size);
  jpeg_save_markers(jpeg, JPEG_APP0 + 1, 0xFFFF);
  (void)jpeg_read_header(jpeg, TRUE);
  jpeg_take_orientation(work);
  HEED_TRY(jpeg_choose_color(work));
  HEED_TRY(allocate_pixels(work->work, jpeg->image_width, jpeg->image_height));
  (void)jpeg_start_decompress(jpeg);
  while (jpeg->output_scanline < jpeg->output_height) {
    uint8_t *to = pixel_row(work->work, jpeg->output_scanline);
    JSAMPROW row = work->line ? work->line : to;
    (void)jpeg_read_scanlines(jpeg, &row, 1);
    if (work->line) cmyk_to_rgb(work->line, to, jpeg->image_width);
  }
  (void)jpeg_finish_decompress(jpeg);
  return HEED_OK;
}

static heed_status decode_jpeg(decoding *work) {
  jpeg_decoding own;
  memset(&own, 0, sizeof own); /* so that destroying what was never created does nothing */
  own.work = work;
  own.jpeg.err = jpeg_std_error(&own.errors);
  own.jpeg.client_data = &own;
  own.errors.error_exit = jpeg_on_error;
  own.errors.emit_message = jpeg_on_message;
  own.errors.output_message = jpeg_on_output;
  own.progress.progress_monitor = jpeg_on_progress;
  const heed_status status = jpeg_decode(&own);
  jpeg_destroy_decompress(&own.jpeg);
  heed_free(work->context, own.line);
  return status;
}

/* ----------------------------------------------------------------------------------------------------------------- both */

static heed_status decode_by_kind(decoding *work) {
  static const uint8_t png_magic[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'}, jpeg_magic[3] = {0xFF, 0xD8, 0xFF};
  if (work->size == 0)
    return heed_fail(work->error, HEED_INVALID_FILE, "%s: an empty file (found 0 bytes, expected a PNG or JPEG)", work->name);
  if (work->size >= 8 && memcmp(work->bytes, png_magic, 8) == 0) return decode_png(work);
  if (work->size >= 3 && memcmp(work->bytes, jpeg_magic, 3) == 0) return decode_jpeg(work);
  char found[16] = "";
  for (size_t i = 0; i < 4 && i < work->size; i++) snprintf(found + 3 * i, sizeof found - 3 * i, " %02X", work->bytes[i]);
  return heed_fail(work->error, HEED_INVALID_FILE, "%s: not a picture that can be read (found bytes%s, expected a PNG or JPEG)", work->name,
                   found);
}

heed_status heed_image_decode(heed_context *context, const char *name, const void *bytes, size_t size, heed_picture *picture,
                              heed_error *error) {
  decoding work = {context, name, bytes, size, 0, {NULL, 0, 0}, 1, HEED_OK, error};
  *picture = work.picture;
  heed_status status = decode_by_kind(&work);
  if (status == HEED_OK) status = heed_picture_orient(context, &work.picture, work.orientation, error);
  if (status == HEED_OK)
    *picture = work.picture;
  else
    heed_free(context, work.picture.pixels);
  return status;
}

/* In pieces, because a pipe has no size to ask for. */
static heed_status read_all(heed_context *context, const char *path, FILE *file, uint8_t **bytes, size_t *size, heed_error *error) {
  size_t capacity = 0;
  for (*size = 0;;) {
    if (!heed_grow(context, bytes, &capacity, *size + 65536, 1)) return heed_fail_memory(error, path, *size + 65536);
    errno = 0;
    const size_t count = fread(*bytes + *size, 1, capacity - *size, file);
    *size += count;
    if (ferror(file)) return heed_fail(error, HEED_IO, "%s: cannot be read (found \"%s\", expected a picture file)", path, strerror(errno));
    if (count == 0) return HEED_OK;
    if (*size > HEED_IMAGE_MAX_BYTES)
      return heed_fail(error, HEED_INVALID_FILE, "%s: the file is too large (found more than %zu bytes, expected a picture)", path,
                       HEED_IMAGE_MAX_BYTES);
  }
}

heed_status heed_image_load(heed_context *context, const char *path, heed_picture *picture, heed_error *error) {
  *picture = (heed_picture){NULL, 0, 0};
  errno = 0;
  FILE *file = fopen(path, "rb");
  if (!file) return heed_fail(error, HEED_IO, "%s: cannot be opened (found \"%s\", expected a picture file)", path, strerror(errno));
  uint8_t *bytes = NULL;
  size_t size = 0;
  heed_status status = read_all(context, path, file, &bytes, &size, error);
  fclose(file);
  if (status == HEED_OK) status = heed_image_decode(context, path, bytes, size, picture, error);
  heed_free(context, bytes);
  return status;
}

void heed_picture_free(heed_context *context, heed_picture *picture) {
  heed_free(context, picture->pixels);
  *picture = (heed_picture){NULL, 0, 0};
}

heed_image heed_picture_view(const heed_picture *picture) {
  return (heed_image){picture->pixels, picture->width, picture->height, 3, (size_t)picture->width * 3};
}
