/* JPEG bytes -> RGB, 8 bit, through libjpeg-turbo, with errors as in png_read.c. What the file
 * promises is held against what it holds before memory and time are spent. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h> /* its numbers depend on what jpeglib.h defines */

#include "image/decoding.h"

/* A progressive file may hold any number of scans over all pixels: so many times the pixels that a
 * picture may have. */
#define JPEG_SCANNED 16
/* What several scans add up to stands in memory whole, 2 bytes a coefficient. */
#define JPEG_COEFFICIENT_BYTES 4
/* Up to here a picture of arithmetic codes may be of any length: they are the only ones below a bit
 * a block. */
#define JPEG_MAX_PACKED_PIXELS ((uint64_t)1 << 24)

typedef struct jpeg_decoding {
  struct jpeg_decompress_struct jpeg;
  struct jpeg_error_mgr errors;
  jmp_buf jump;
  decoding *work;
  uint8_t *line; /* one row of CMYK, or NULL */
} jpeg_decoding;

static void jpeg_on_error(j_common_ptr jpeg) {
  jpeg_decoding *work = jpeg->client_data;
  decoding *to = work->work;
  char message[JMSG_LENGTH_MAX];
  jpeg->err->format_message(jpeg, message);
  if (to->status == HEED_OK && jpeg->err->msg_code == JERR_OUT_OF_MEMORY)
    to->status = heed_fail_memory(to->error, to->name, 1);
  if (to->status == HEED_OK)
    to->status = heed_fail(to->error, HEED_INVALID_FILE,
                           "%s: not a valid JPEG (found \"%s\", expected a complete image)",
                           to->name, message);
  longjmp(work->jump, 1);
}

/* libjpeg fills what is missing with grey and only warns; a picture with wrong pixels must not
 * pass. Harmless warnings do. */
static void jpeg_on_message(j_common_ptr jpeg, int level) {
  if (level >= 0) return;
  decoding *to = ((jpeg_decoding *)jpeg->client_data)->work;
  const int code = jpeg->err->msg_code;
  if (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER)
    to->status =
        heed_fail(to->error, HEED_INVALID_FILE,
                  "%s: truncated JPEG (found %zu bytes, expected more)", to->name, to->size);
  if (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE ||
      code == JWRN_MUST_RESYNC)
    jpeg_on_error(jpeg);
}

static void jpeg_on_output(j_common_ptr jpeg) { (void)jpeg; }

/* The scans of a JPEG, and the bytes that all of them have after their headers. */
typedef struct jpeg_scans {
  uint32_t count;
  uint64_t bytes;
} jpeg_scans;

/* Goes from marker to marker as libjpeg does: bytes between are passed over, FF 00 and repeated FF
 * are no markers, SOI, TEM and RST have no length. */
static jpeg_scans jpeg_count_scans(const uint8_t *bytes, size_t size) {
  jpeg_scans found = {0, 0};
  bool in_scan = false;
  for (size_t at = 2, start = 2; at < size;) {
    const uint8_t *next = memchr(bytes + at, 0xFF, size - at);
    at = next ? (size_t)(next - bytes) : size;
    const size_t marker_at = at;
    while (at < size && bytes[at] == 0xFF) at++;
    const int marker = at < size ? bytes[at++] : 0xD9;
    if (marker == 0 || marker == 1 || (marker >= 0xD0 && marker <= 0xD8)) continue;
    if (in_scan) found.bytes += marker_at - start;
    if (marker == 0xD9 || size - at < 2) break;
    at += (size_t)bytes[at] << 8 | bytes[at + 1];
    in_scan = marker == 0xDA;
    found.count += in_scan;
    start = at;
  }
  return found;
}

/* Blocks of 8 x 8 coefficients, all components together. */
static uint64_t jpeg_count_blocks(const struct jpeg_decompress_struct *jpeg) {
  uint64_t blocks = 0;
  for (int c = 0; c < jpeg->num_components; c++)
    blocks += (uint64_t)jpeg->comp_info[c].width_in_blocks * jpeg->comp_info[c].height_in_blocks;
  return blocks;
}

/* What the header and the scans promise against what the file holds, before memory and time are
 * spent on it. */
static heed_status jpeg_check_scans(jpeg_decoding *work) {
  struct jpeg_decompress_struct *jpeg = &work->jpeg;
  const decoding *to = work->work;
  const jpeg_scans scans = jpeg_count_scans(to->bytes, to->size);
  const uint64_t pixels = (uint64_t)jpeg->image_width * jpeg->image_height,
                 blocks = jpeg_count_blocks(jpeg);
  const uint64_t most = to->most.pixels;
  if (scans.count > to->most.scans || scans.count * pixels > JPEG_SCANNED * most)
    return heed_fail(
        to->error, HEED_INVALID_FILE,
        "%s: too many scans in the JPEG (found %u of %u x %u pixels, expected about 10)", to->name,
        scans.count, jpeg->image_width, jpeg->image_height);
  /* A Huffman code is a bit at least, and every block has one. */
  if (blocks / 8 > scans.bytes && (!jpeg->arith_code || pixels > JPEG_MAX_PACKED_PIXELS))
    return heed_fail(to->error, HEED_INVALID_FILE,
                     "%s: truncated JPEG (found %llu bytes of pixels, expected at least %llu)",
                     to->name, (unsigned long long)scans.bytes, (unsigned long long)(blocks / 8));
  if (jpeg_has_multiple_scans(jpeg) && blocks * 128 > JPEG_COEFFICIENT_BYTES * most)
    return heed_fail(to->error, HEED_INVALID_FILE,
                     "%s: the JPEG is too large for one of several scans (found %llu bytes of "
                     "coefficients, expected at most %llu)",
                     to->name, (unsigned long long)blocks * 128,
                     (unsigned long long)(JPEG_COEFFICIENT_BYTES * most));
  return HEED_OK;
}

/* Of the markers APP1, which are the ones that are saved: the first EXIF block, else the last XMP
 * packet, as Pillow has them. */
static void jpeg_take_orientation(jpeg_decoding *work) {
  static const char xmp[] = "http://ns.adobe.com/xap/1.0/";
  uint32_t of_exif = 0, of_xmp = 0;
  bool exif = false;
  for (jpeg_saved_marker_ptr marker = work->jpeg.marker_list; marker; marker = marker->next) {
    const size_t size = marker->data_length;
    if (!exif && size >= 6 && memcmp(marker->data, "Exif\0\0", 6) == 0) {
      of_exif = heed_exif_find(marker->data, size);
      exif = true;
    } else if (size >= sizeof xmp && memcmp(marker->data, xmp, sizeof xmp) == 0) {
      of_xmp = heed_xmp_orientation(marker->data + sizeof xmp, size - sizeof xmp);
    }
  }
  work->work->orientation = of_exif ? of_exif : of_xmp;
}

/* a b / 255, rounded, as Pillow computes it. */
static uint32_t multiply_255(uint32_t a, uint32_t b) {
  const uint32_t t = a * b + 128;
  return ((t >> 8) + t) >> 8;
}

/* Adobe's CMYK holds 255 - ink, so that it is C'K'/255 and so on; Pillow's own two steps are kept
 * for the same rounding. */
static void cmyk_to_rgb(const uint8_t *cmyk, uint8_t *rgb, uint32_t width) {
  for (uint32_t x = 0; x < width; x++, cmyk += 4, rgb += 3) {
    const uint32_t light = cmyk[3];
    for (int c = 0; c < 3; c++) rgb[c] = (uint8_t)(light - multiply_255(255u - cmyk[c], light));
  }
}

static heed_status jpeg_choose_color(jpeg_decoding *work) {
  const int components = work->jpeg.num_components;
  if (components != 1 && components != 3 && components != 4)
    return heed_fail(work->work->error, HEED_UNSUPPORTED,
                     "%s: JPEG colours not supported (found %d components, expected 1, 3 or 4)",
                     work->work->name, components);
  work->jpeg.out_color_space = components == 4 ? JCS_CMYK : JCS_RGB;
  if (components != 4) return HEED_OK;
  work->line = heed_alloc_raw(work->work->context, work->jpeg.image_width, 4);
  return work->line ? HEED_OK
                    : heed_fail_memory(work->work->error, work->work->name,
                                       (size_t)work->jpeg.image_width * 4);
}

/* The smallest of 1/2, 1/4 and 1/8 that leaves both sides long enough: the inverse transform of a
 * block then gives 4 x 4, 2 x 2 or 1 x 1 pixels. */
static void jpeg_choose_scale(jpeg_decoding *work) {
  struct jpeg_decompress_struct *jpeg = &work->jpeg;
  const uint32_t least = work->work->most.least_side;
  const uint32_t side =
      jpeg->image_width < jpeg->image_height ? jpeg->image_width : jpeg->image_height;
  jpeg->scale_num = jpeg->scale_denom = 1;
  while (least && jpeg->scale_denom < 8 && side / (2 * jpeg->scale_denom) >= least)
    jpeg->scale_denom *= 2;
  work->work->picture.part = jpeg->scale_denom;
  jpeg_calc_output_dimensions(jpeg);
}

static heed_status jpeg_decode(jpeg_decoding *work) {
  struct jpeg_decompress_struct *jpeg = &work->jpeg;
  if (setjmp(work->jump)) return work->work->status;
  jpeg_create_decompress(jpeg);
  jpeg_mem_src(jpeg, work->work->bytes, (unsigned long)work->work->size);
  jpeg_save_markers(jpeg, JPEG_APP0 + 1, 0xFFFF);
  (void)jpeg_read_header(jpeg, TRUE);
  jpeg_take_orientation(work);
  HEED_TRY(heed_decoding_check_size(work->work, jpeg->image_width, jpeg->image_height));
  HEED_TRY(jpeg_check_scans(work));
  HEED_TRY(jpeg_choose_color(work));
  jpeg_choose_scale(work);
  HEED_TRY(heed_decoding_make_room(work->work, jpeg->output_width, jpeg->output_height));
  (void)jpeg_start_decompress(jpeg);
  while (jpeg->output_scanline < jpeg->output_height) {
    uint8_t *to = pixel_row(work->work, jpeg->output_scanline);
    JSAMPROW row = work->line ? work->line : to;
    (void)jpeg_read_scanlines(jpeg, &row, 1);
    if (work->line) cmyk_to_rgb(work->line, to, jpeg->output_width);
  }
  (void)jpeg_finish_decompress(jpeg);
  return HEED_OK;
}

heed_status heed_decode_jpeg(decoding *work) {
  jpeg_decoding own;
  memset(&own, 0, sizeof own); /* so that destroying what was never created does nothing */
  own.work = work;
  own.jpeg.err = jpeg_std_error(&own.errors);
  own.jpeg.client_data = &own;
  own.errors.error_exit = jpeg_on_error;
  own.errors.emit_message = jpeg_on_message;
  own.errors.output_message = jpeg_on_output;
  const heed_status status = jpeg_decode(&own);
  jpeg_destroy_decompress(&own.jpeg);
  heed_free(work->context, own.line);
  return status;
}
