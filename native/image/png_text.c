/* Orientation in the chunks of a PNG, where Pillow's ImageOps.exif_transpose finds it: eXIf; text
 * chunks of three kinds with "exif", "Raw profile type exif" (ImageMagick's hexadecimal digits) and
 * "XML:com.adobe.xmp". Of one keyword the last chunk counts.
 *
 * libpng is not asked for texts, as it unpacks all of them. Here those of these keywords alone are
 * unpacked, and no more than is allowed. */
#include <string.h>

#include <zlib.h>

#include "base/utf8.h"
#include "image/decoding.h"

#define MOST_TEXT ((size_t)1 << 20) /* bytes of one text, as in Pillow */
#define MOST_TEXTS (16 * MOST_TEXT) /* of all that are unpacked */
#define CHUNK_AROUND 12             /* length, name and checksum */

enum { EXIF, RAW_PROFILE, XMP, KEYWORDS };
static const char *const keywords[KEYWORDS] = {"exif", "Raw profile type exif",
                                               "XML:com.adobe.xmp"};

typedef struct png_texts {
  heed_context *context;
  const uint8_t *at[KEYWORDS]; /* NULL: there is none */
  size_t size[KEYWORDS];
  uint8_t *unpacked[KEYWORDS]; /* that memory, where it is not the file's */
  size_t left;                 /* of MOST_TEXTS */
} png_texts;

static void set_text(png_texts *texts, int keyword, const uint8_t *at, size_t size,
                     uint8_t *unpacked) {
  heed_free(texts->context, texts->unpacked[keyword]);
  texts->at[keyword] = at;
  texts->size[keyword] = size;
  texts->unpacked[keyword] = unpacked;
}

static voidpf take_memory(voidpf context, uInt count, uInt size) {
  return heed_alloc_raw(context, count, size);
}
static void give_memory(voidpf context, voidpf memory) { heed_free(context, memory); }

/* *unpacked stays NULL where the bytes are no stream, or too much; of one that is cut short it is
 * what there is, as in Pillow. False: no memory. */
static bool unpack(png_texts *texts, const uint8_t *at, size_t size, uint8_t **unpacked,
                   size_t *count) {
  const size_t room = texts->left < MOST_TEXT ? texts->left : MOST_TEXT;
  z_stream stream = {.zalloc = take_memory, .zfree = give_memory, .opaque = texts->context};
  uint8_t *to = heed_alloc_raw(texts->context, room + 1, 1);
  if (!to) return false;
  stream.next_in = (z_const Bytef *)at;
  stream.avail_in = (uInt)size;
  stream.next_out = to;
  stream.avail_out = (uInt)room;
  int result = inflateInit(&stream);
  if (result == Z_OK) {
    result = inflate(&stream, Z_FINISH);
    texts->left -= room - stream.avail_out;
    (void)inflateEnd(&stream);
  }
  *count = room - stream.avail_out;
  const bool cut =
      (result == Z_OK || result == Z_BUF_ERROR) && !stream.avail_in && stream.avail_out;
  if (result == Z_STREAM_END || cut)
    *unpacked = to;
  else
    heed_free(texts->context, to);
  return result != Z_MEM_ERROR;
}

/* The keyword that begins a text chunk, and what follows it and its NUL; -1: another. */
static int keyword_of(const uint8_t **data, size_t *size) {
  for (int i = 0; i < KEYWORDS; i++) {
    const size_t length = strlen(keywords[i]) + 1;
    if (*size < length || memcmp(*data, keywords[i], length) != 0) continue;
    *data += length;
    *size -= length;
    return i;
  }
  return -1;
}

/* What stands before the text of an iTXt chunk, behind its keyword: two bytes and two strings. */
static bool skip_languages(const uint8_t **data, size_t *size) {
  *data += 2;
  *size -= 2;
  for (int i = 0; i < 2; i++) {
    const uint8_t *end = memchr(*data, 0, *size);
    if (!end) return false;
    *size -= (size_t)(end + 1 - *data);
    *data = end + 1;
  }
  return true;
}

/* A text chunk; `kind` is the first letter of its name. False: no memory. */
static bool take_text(png_texts *texts, char kind, const uint8_t *data, size_t size) {
  const int keyword = keyword_of(&data, &size);
  uint8_t *unpacked = NULL;
  if (keyword < 0 || size < (kind == 't' ? 0 : kind == 'z' ? 1 : 2)) return true;
  const bool packed = kind == 'z' || (kind == 'i' && data[0]);
  if (kind == 'z' ? data[0] != 0 : kind == 'i' && data[0] && data[1] != 0) return true;
  if (kind == 'z') data++, size--;
  if (kind == 'i' && !skip_languages(&data, &size)) return true;
  if (packed) {
    if (!unpack(texts, data, size, &unpacked, &size)) return false;
    data = unpacked;
    if (!data && kind == 'i') return true; /* a zTXt that is broken is an empty one */
    if (!data) size = 0;
  }
  if (kind == 'i' && !heed_utf8_valid((const char *)data, size))
    heed_free(texts->context, unpacked);
  else
    set_text(texts, keyword, data ? data : (const uint8_t *)"", size, unpacked);
  return true;
}

static uint32_t big_endian(const uint8_t *at) {
  return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Goes through the chunks; those whose checksum is wrong are passed over. False: no memory. */
static bool find_texts(png_texts *texts, const uint8_t *bytes, size_t size) {
  for (size_t at = 8; at < size && size - at >= CHUNK_AROUND;) {
    const uint8_t *chunk = bytes + at, *data = chunk + 8;
    const size_t length = big_endian(chunk);
    if (length > size - at - CHUNK_AROUND || memcmp(chunk + 4, "IEND", 4) == 0) break;
    at += length + CHUNK_AROUND;
    const bool exif = memcmp(chunk + 4, "eXIf", 4) == 0,
               text = memcmp(chunk + 5, "EXt", 3) == 0 && chunk[4] == 't',
               other = memcmp(chunk + 5, "TXt", 3) == 0 && (chunk[4] == 'z' || chunk[4] == 'i');
    if ((!exif && !text && !other) ||
        crc32(crc32(0, Z_NULL, 0), chunk + 4, (uInt)length + 4) != big_endian(data + length))
      continue;
    if (exif)
      set_text(texts, EXIF, data, length, NULL);
    else if (!take_text(texts, (char)chunk[4], data, length))
      return false;
  }
  return true;
}

static int hex_digit(uint8_t digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  digit |= 0x20;
  return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* The bytes of a raw profile: what follows its third line break. False: no memory. */
static bool read_profile(png_texts *texts, uint32_t *orientation) {
  const uint8_t *at = texts->at[RAW_PROFILE], *end = at + texts->size[RAW_PROFILE];
  uint8_t *to = heed_alloc_raw(texts->context, texts->size[RAW_PROFILE] / 2 + 1, 1);
  size_t digits = 0;
  bool whole = true;
  if (!to) return false;
  for (int line = 0; line < 3 && at < end; line++) {
    const uint8_t *next = memchr(at, '\n', (size_t)(end - at));
    at = next ? next + 1 : end;
  }
  for (; at < end && whole; at++) {
    if (memchr(" \t\n\r\f\v", *at, 6)) continue;
    const int digit = hex_digit(*at);
    whole = digit >= 0;
    if (whole) to[digits / 2] = (uint8_t)(digits % 2 ? to[digits / 2] << 4 | digit : digit);
    digits += whole;
  }
  *orientation = whole && digits % 2 == 0 ? heed_exif_find(to, digits / 2) : 0;
  heed_free(texts->context, to);
  return true;
}

heed_status heed_png_orientation(heed_context *context, const uint8_t *bytes, size_t size,
                                 uint32_t *orientation, heed_error *error) {
  png_texts texts = {.context = context, .left = MOST_TEXTS};
  uint32_t found = 0;
  bool done = find_texts(&texts, bytes, size);
  if (done && texts.at[EXIF])
    found = heed_exif_find(texts.at[EXIF], texts.size[EXIF]);
  else if (done && texts.at[RAW_PROFILE])
    done = read_profile(&texts, &found);
  if (!found && texts.at[XMP]) found = heed_xmp_orientation(texts.at[XMP], texts.size[XMP]);
  *orientation = found >= 1 && found <= 8 ? found : 1;
  for (int i = 0; i < KEYWORDS; i++) heed_free(context, texts.unpacked[i]);
  return done ? HEED_OK : heed_fail_memory(error, "picture: orientation", MOST_TEXT);
}
