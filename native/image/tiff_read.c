/* TIFF bytes -> samples, through libtiff. For models of one and three channels a page is a picture;
 * for others its samples are channels, and so are those of the pages behind it. */
#include <stdio.h>
#include <string.h>

#include "image/decoding.h"
#include "late/tiff.h"

#define MOST_PACKED 32768u /* to 1, of compressions but those of faxes, which pack rows to bits */
#define TILE_ROOM (UINT64_C(1) << 26) /* bytes of a tile beyond those of its page */

typedef struct page {
  uint32_t width, height;
  uint16_t samples, bits, format, photometric, planar;
  bool associated;        /* colours are multiplied by an alpha, the fourth sample */
  const uint16_t *map[3]; /* of a palette */
  size_t line;            /* bytes of a row of a plane */
  uint32_t planes;
  uint8_t *bytes; /* [planes, height, line] */
} page;

/* ---------------------------------------------------------------------------------------- libtiff
 */

static tmsize_t on_read(thandle_t user, void *to, tmsize_t count) {
  decoding *work = user;
  const size_t left = work->at < work->size ? work->size - work->at : 0,
               taken = (size_t)count < left ? (size_t)count : left;
  memcpy(to, work->bytes + (taken ? work->at : 0), taken);
  work->at += taken;
  return (tmsize_t)taken;
}

static tmsize_t on_write(thandle_t user, void *from, tmsize_t count) {
  (void)user;
  (void)from;
  (void)count;
  return 0;
}

static toff_t on_seek(thandle_t user, toff_t offset, int from) {
  decoding *work = user;
  const toff_t base = from == SEEK_CUR ? work->at : from == SEEK_END ? work->size : 0;
  work->at = (size_t)(base + offset);
  return work->at;
}

static int on_close(thandle_t user) {
  (void)user;
  return 0;
}

static toff_t on_size(thandle_t user) { return ((const decoding *)user)->size; }

/* The first complaint is the sentence. */
static int on_error(TIFF *tiff, void *user, const char *module, const char *format, va_list list) {
  decoding *work = user;
  char text[160];
  (void)tiff;
  (void)module;
  vsnprintf(text, sizeof text, format, list);
  for (char *at = text; *at; at++)
    if (*at < ' ' || *at > '~') *at = ' ';
  if (work->status == HEED_OK)
    work->status = heed_fail(work->error, HEED_INVALID_FILE,
                             "%s: not a valid TIFF (found \"%s\", expected a complete image)",
                             work->name, text);
  return 1;
}

static int on_warning(TIFF *tiff, void *user, const char *module, const char *format,
                      va_list list) {
  (void)tiff;
  (void)user;
  (void)module;
  (void)format;
  (void)list;
  return 1;
}

static heed_status fail_tiff(decoding *work, const char *found) {
  if (work->status != HEED_OK) return work->status;
  return heed_fail(work->error, HEED_INVALID_FILE,
                   "%s: not a valid TIFF (found %s, expected a complete image)", work->name, found);
}

/* ------------------------------------------------------------------------------------------ pages
 */

/* Kinds of colour and sample that are read. */
static heed_status check_kind(const decoding *work, const page *p) {
  const bool one = p->samples == 1, whole = p->format == SAMPLEFORMAT_UINT;
  const bool small = p->bits == 1 || p->bits == 2 || p->bits == 4;
  const bool bits = p->bits == 8 || p->bits == 16 || p->bits == 32 || (small && one);
  const bool format = whole || (p->format == SAMPLEFORMAT_INT && !small) ||
                      (p->format == SAMPLEFORMAT_IEEEFP && p->bits == 32);
  bool colour = p->photometric == PHOTOMETRIC_MINISBLACK ||
                p->photometric == PHOTOMETRIC_MINISWHITE || p->photometric == PHOTOMETRIC_RGB;
  if (p->photometric == PHOTOMETRIC_PALETTE) colour = one && whole && p->bits <= 8 && p->map[0];
  if (p->photometric == PHOTOMETRIC_SEPARATED) colour = p->samples == 4 && whole && p->bits == 8;
  if (bits && format && colour && p->samples >= (p->photometric == PHOTOMETRIC_RGB ? 3 : 1))
    return HEED_OK;
  return heed_fail(work->error, HEED_UNSUPPORTED,
                   "%s: kind of TIFF not supported (found photometric %u, %u samples of %u bits, "
                   "format %u, expected grey, RGB, CMYK or a palette)",
                   work->name, p->photometric, p->samples, p->bits, p->format);
}

static heed_status read_head(decoding *work, TIFF *tiff, page *p) {
  uint16_t extras = 0, compression = 0, *extra = NULL, *map[3] = {NULL, NULL, NULL};
  *p = (page){0};
  TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &p->width);
  TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &p->height);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &p->samples);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &p->bits);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &p->format);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &p->planar);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &compression);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, &extras, &extra);
  if (!TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &p->photometric))
    p->photometric = p->samples >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
  if (p->photometric == PHOTOMETRIC_YCBCR && compression == COMPRESSION_JPEG &&
      TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB))
    p->photometric = PHOTOMETRIC_RGB;
  if (TIFFGetField(tiff, TIFFTAG_COLORMAP, &map[0], &map[1], &map[2]))
    for (int c = 0; c < 3; c++) p->map[c] = map[c];
  p->associated = p->photometric == PHOTOMETRIC_RGB && p->bits == 8 && p->samples == 4 &&
                  extras == 1 && extra && extra[0] == EXTRASAMPLE_ASSOCALPHA;
  if (!p->width || !p->height) return fail_tiff(work, "no size");
  HEED_TRY(heed_decoding_check_size(work, p->width, p->height));
  if ((uint64_t)p->width * p->height * p->samples > UINT64_C(4) * work->most.pixels)
    return heed_fail(
        work->error, HEED_INVALID_FILE,
        "%s: image too large (found %u x %u pixels of %u samples, expected at most %llu "
        "samples)",
        work->name, p->width, p->height, p->samples, 4ULL * work->most.pixels);
  HEED_TRY(check_kind(work, p));
  p->planes = p->planar == PLANARCONFIG_SEPARATE ? p->samples : 1;
  p->line = ((size_t)p->width * (p->samples / p->planes) * p->bits + 7) / 8;
  const bool fax = compression == COMPRESSION_CCITTRLE || compression == COMPRESSION_CCITTFAX3 ||
                   compression == COMPRESSION_CCITTFAX4;
  if (!fax && (uint64_t)p->planes * p->height * p->line / MOST_PACKED > work->size)
    return heed_fail(work->error, HEED_INVALID_FILE,
                     "%s: truncated TIFF (found %zu bytes, expected those of %u x %u pixels)",
                     work->name, work->size, p->width, p->height);
  return HEED_OK;
}

static bool read_strips(TIFF *tiff, const page *p, uint32_t plane, uint8_t *to) {
  uint32_t rows = p->height;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &rows);
  if (rows == 0 || rows > p->height) rows = p->height;
  const uint32_t strips = (p->height - 1) / rows + 1;
  for (uint32_t i = 0; i < strips; i++) {
    const uint32_t first = i * rows, here = p->height - first < rows ? p->height - first : rows;
    const tmsize_t wanted = (tmsize_t)((size_t)here * p->line);
    if (TIFFReadEncodedStrip(tiff, plane * strips + i, to + first * p->line, wanted) != wanted)
      return false;
  }
  return true;
}

static bool read_tiles(TIFF *tiff, const page *p, uint32_t plane, uint8_t *tile, uint8_t *to) {
  uint32_t width = 0, height = 0;
  TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &width);
  TIFFGetField(tiff, TIFFTAG_TILELENGTH, &height);
  const size_t row = (size_t)TIFFTileRowSize(tiff), size = (size_t)TIFFTileSize(tiff);
  const size_t pixel = (size_t)(p->samples / p->planes) * p->bits; /* bits */
  if (!width || !height || width * pixel % 8 || row < width * pixel / 8) return false;
  for (uint32_t y = 0; y < p->height; y += height)
    for (uint32_t x = 0; x < p->width; x += width) {
      const uint32_t index = TIFFComputeTile(tiff, x, y, 0, (uint16_t)plane);
      const size_t at = x * pixel / 8, left = p->line - at, here = left < row ? left : row;
      if (TIFFReadEncodedTile(tiff, index, tile, (tmsize_t)size) != (tmsize_t)size) return false;
      for (uint32_t r = 0; r < height && y + r < p->height; r++)
        memcpy(to + (y + r) * p->line + at, tile + r * row, here);
      if (p->width - x <= width) break; /* before x passes 2^32 */
    }
  return true;
}

static heed_status read_page(decoding *work, TIFF *tiff, page *p) {
  HEED_TRY(read_head(work, tiff, p));
  const bool tiled = TIFFIsTiled(tiff);
  const uint64_t room = (uint64_t)p->planes * p->height * p->line;
  if (tiled ? TIFFTileSize64(tiff) > room + TILE_ROOM || TIFFTileSize64(tiff) == 0
            : TIFFScanlineSize64(tiff) != p->line)
    return fail_tiff(work, "rows or tiles of another size");
  uint8_t *tile = tiled ? heed_alloc(work->context, (size_t)TIFFTileSize64(tiff), 1) : NULL;
  p->bytes = heed_alloc(work->context, (size_t)p->planes * p->height, p->line);
  bool whole = p->bytes && (tile || !tiled);
  heed_status status = whole ? HEED_OK : heed_fail_memory(work->error, work->name, (size_t)room);
  for (uint32_t i = 0; i < p->planes && whole; i++) {
    uint8_t *to = p->bytes + (size_t)i * p->height * p->line;
    whole = tiled ? read_tiles(tiff, p, i, tile, to) : read_strips(tiff, p, i, to);
    if (!whole) status = fail_tiff(work, "data that ends early");
  }
  heed_free(work->context, tile);
  return status;
}

/* A sample as it is stored. */
static double sample_of(const page *p, uint32_t x, uint32_t y, uint32_t sample) {
  const uint32_t each = p->samples / p->planes;
  const uint8_t *row = p->bytes + ((p->planes > 1 ? (size_t)sample * p->height : 0) + y) * p->line;
  const size_t at = (size_t)x * each + (p->planes > 1 ? 0 : sample);
  if (p->bits < 8) {
    const size_t bit = at * p->bits;
    return row[bit / 8] >> (8 - p->bits - bit % 8) & ((1 << p->bits) - 1);
  }
  const bool is_signed = p->format == SAMPLEFORMAT_INT;
  if (p->bits == 8) return is_signed ? (double)(int8_t)row[at] : row[at];
  if (p->bits == 16) {
    uint16_t number;
    memcpy(&number, row + at * sizeof number, sizeof number);
    return is_signed ? (double)(int16_t)number : number;
  }
  uint32_t bits;
  float number;
  memcpy(&bits, row + at * sizeof bits, sizeof bits);
  memcpy(&number, &bits, sizeof number);
  return p->format == SAMPLEFORMAT_IEEEFP ? (double)number
         : is_signed                      ? (double)(int32_t)bits
                                          : bits;
}

/* --------------------------------------------------------------------------------------- pictures
 */

/* How samples of a page are kept where they are no colours of 8 bits. */
static heed_samples samples_of(const page *p) {
  if (p->format != SAMPLEFORMAT_UINT || p->bits == 32) return HEED_SAMPLES_F32;
  return p->bits == 16 ? HEED_SAMPLES_U16 : HEED_SAMPLES_U8;
}

static uint8_t *put(uint8_t *to, heed_samples samples, double value) {
  const float single = (float)value;
  if (samples == HEED_SAMPLES_U8) *to = (uint8_t)value;
  if (samples == HEED_SAMPLES_U16) memcpy(to, &(uint16_t){(uint16_t)value}, 2);
  if (samples == HEED_SAMPLES_F32) memcpy(to, &single, sizeof single);
  return to + heed_sample_bytes(samples);
}

static uint8_t clip(double value) { return value > 255 ? 255 : (uint8_t)value; }

/* Pillow's MULDIV255. */
static uint8_t times(uint32_t a, uint32_t b) {
  const uint32_t product = a * b + 128;
  return (uint8_t)(((product >> 8) + product) >> 8);
}

/* A pixel as RGB of 8 bits, as Pillow has it. */
static void colour_of(const page *p, uint32_t x, uint32_t y, uint8_t rgb[3]) {
  const bool grey =
      p->photometric == PHOTOMETRIC_MINISBLACK || p->photometric == PHOTOMETRIC_MINISWHITE;
  for (uint32_t c = 0; c < 3; c++) {
    const double value = sample_of(p, x, y, p->samples < 3 || grey ? 0 : c);
    if (p->photometric == PHOTOMETRIC_PALETTE)
      rgb[c] = (uint8_t)(p->map[c][(uint32_t)value] >> 8);
    else if (p->photometric == PHOTOMETRIC_SEPARATED) {
      const uint32_t paper = 255 - (uint32_t)sample_of(p, x, y, 3);
      rgb[c] = (uint8_t)(paper - times((uint32_t)value, paper));
    } else if (p->bits == 16)
      rgb[c] = (uint8_t)(grey ? ((uint32_t)value * 255 + 32895) >> 16 : (uint32_t)value >> 8);
    else
      rgb[c] = (uint8_t)(value * 255 / ((1 << p->bits) - 1));
    if (p->photometric == PHOTOMETRIC_MINISWHITE) rgb[c] = (uint8_t)(255 - rgb[c]);
  }
  const double alpha = p->associated ? sample_of(p, x, y, 3) : 255;
  for (uint32_t c = 0; c < 3 && alpha < 255; c++)
    rgb[c] = alpha > 0 ? clip((int)(255 * rgb[c]) / (int)alpha) : rgb[c];
}

/* The page as a picture in colour, or in grey of more than 8 bits. */
static heed_status take_picture(decoding *work, const page *p) {
  const bool grey = p->samples < 3, floats = samples_of(p) == HEED_SAMPLES_F32,
             kept = floats || (grey && p->bits == 16 && heed_keeps_grey(work));
  work->picture.channels = kept && grey ? 1 : 3;
  work->picture.samples = kept ? samples_of(p) : HEED_SAMPLES_U8;
  HEED_TRY(heed_decoding_make_room(work, p->width, p->height));
  uint8_t *to = work->picture.pixels;
  const double white = p->photometric == PHOTOMETRIC_MINISWHITE && !floats ? 65535 : 0;
  for (uint32_t y = 0; y < p->height; y++)
    for (uint32_t x = 0; x < p->width; x++) {
      if (!kept) {
        colour_of(p, x, y, to);
        to += 3;
        continue;
      }
      for (uint32_t c = 0; c < work->picture.channels; c++) {
        const double value = sample_of(p, x, y, c);
        to = put(to, work->picture.samples, white > 0 ? white - value : value);
      }
    }
  return HEED_OK;
}

/* The samples of a page as channels from `from` on. */
static heed_status take_channels(decoding *work, const page *p, uint32_t from) {
  const heed_samples samples = samples_of(p);
  if (from == 0) {
    work->picture.channels = work->most.channels;
    work->picture.samples = samples;
    if ((uint64_t)p->width * p->height * work->most.channels > UINT64_C(4) * work->most.pixels)
      return fail_tiff(work, "more channels than memory is for; --most-pixels takes more");
    HEED_TRY(heed_decoding_make_room(work, p->width, p->height));
  }
  if (p->width != work->picture.width || p->height != work->picture.height ||
      samples != work->picture.samples)
    return fail_tiff(work, "pages of several sizes or kinds for the channels of one image");
  const size_t pixel = heed_pixel_bytes(&work->picture), bytes = heed_sample_bytes(samples);
  for (uint32_t y = 0; y < p->height; y++)
    for (uint32_t x = 0; x < p->width; x++) {
      uint8_t *to = pixel_row(work, y) + x * pixel + from * bytes;
      for (uint32_t c = 0; c < p->samples; c++) to = put(to, samples, sample_of(p, x, y, c));
    }
  return HEED_OK;
}

/* The tag's, else XMP's. */
static uint32_t find_orientation(TIFF *tiff) {
  uint16_t tag = 0;
  uint32_t size = 0, found = 1;
  const uint8_t *packet = NULL;
  if (TIFFGetField(tiff, TIFFTAG_ORIENTATION, &tag))
    found = tag;
  else if (TIFFGetField(tiff, TIFFTAG_XMLPACKET, &size, &packet) && packet)
    found = heed_xmp_orientation(packet, size);
  return found >= 1 && found <= 8 ? found : 1;
}

/* Pages until the model's channels are there. */
static heed_status decode_channels(decoding *work, TIFF *tiff) {
  const uint32_t wanted = work->most.channels;
  uint32_t found = 0;
  page p;
  do {
    heed_status status = read_page(work, tiff, &p);
    if (status == HEED_OK && found + p.samples > wanted)
      status = heed_fail(work->error, HEED_INVALID_FILE,
                         "%s: wrong number of channels (found %u or more, expected the model's %u)",
                         work->name, found + p.samples, wanted);
    if (status == HEED_OK) status = take_channels(work, &p, found);
    heed_free(work->context, p.bytes);
    HEED_TRY(status);
    found += p.samples;
  } while (found < wanted && TIFFReadDirectory(tiff));
  if (work->status != HEED_OK) return work->status;
  if (found == wanted) return HEED_OK;
  return heed_fail(work->error, HEED_INVALID_FILE,
                   "%s: wrong number of channels (found %u, expected the model's %u, as samples or "
                   "pages)",
                   work->name, found, wanted);
}

static heed_status decode_pages(decoding *work, TIFF *tiff) {
  const uint32_t pages = TIFFNumberOfDirectories(tiff);
  if (work->most.frame >= pages)
    return heed_fail(work->error, HEED_INVALID_FILE,
                     "%s: page out of range (found %u, expected less than %u)", work->name,
                     work->most.frame, pages);
  if (!TIFFSetDirectory(tiff, (tdir_t)work->most.frame)) return fail_tiff(work, "no such page");
  work->orientation = find_orientation(tiff);
  if (work->most.channels != 1 && work->most.channels != 3) return decode_channels(work, tiff);
  work->picture.frames = pages;
  page p;
  heed_status status = read_page(work, tiff, &p);
  if (status == HEED_OK) status = take_picture(work, &p);
  heed_free(work->context, p.bytes);
  return status;
}

heed_status heed_decode_tiff(decoding *work) {
  HEED_TRY(heed_late_open_tiff(work->error));
  TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
  if (!options) return heed_fail_memory(work->error, work->name, 1);
  TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, work);
  TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, work);
  TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)1 << 30);
  /* m: not mapped, so that every byte comes through on_read */
  TIFF *tiff = TIFFClientOpenExt(work->name, "rm", work, on_read, on_write, on_seek, on_close,
                                 on_size, NULL, NULL, options);
  TIFFOpenOptionsFree(options);
  if (!tiff) return fail_tiff(work, "a broken head");
  const heed_status status = decode_pages(work, tiff);
  TIFFClose(tiff);
  return status;
}
