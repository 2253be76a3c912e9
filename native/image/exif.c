/* EXIF orientation: finds the tag and turns the picture.
 *
 * A reader of our own because one 16-bit tag of the first directory is all that is needed, and EXIF
 * libraries parse far more of a block that comes from strangers. Every offset is checked against
 * the block. Source: TIFF 6.0 (header, IFD), Exif 2.32 (tag 0x0112). */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "image/decoding.h"

typedef struct tiff_block {
  const uint8_t *bytes;
  size_t size;
  bool big_endian;
} tiff_block;

/* The unsigned number of `count` (2 or 4) bytes at `at`; false past the end. */
static bool tiff_number(const tiff_block *block, size_t at, size_t count, uint32_t *value) {
  if (at > block->size || block->size - at < count) return false;
  *value = 0;
  for (size_t i = 0; i < count; i++)
    *value = *value << 8 | block->bytes[at + (block->big_endian ? i : count - 1 - i)];
  return true;
}

/* The value of a directory entry of type SHORT (3) or LONG (4) with one element; 0 otherwise. */
static uint32_t entry_value(const tiff_block *block, size_t entry) {
  uint32_t type, count, value;
  if (!tiff_number(block, entry + 2, 2, &type) || !tiff_number(block, entry + 4, 4, &count) ||
      count != 1)
    return 0;
  if (type != 3 && type != 4) return 0;
  return tiff_number(block, entry + 8, type == 3 ? 2 : 4, &value) ? value : 0;
}

uint32_t heed_exif_find(const uint8_t *bytes, size_t size) {
  if (size >= 6 && memcmp(bytes, "Exif\0\0", 6) == 0) bytes += 6, size -= 6;
  if (size < 8 || (memcmp(bytes, "II*\0", 4) != 0 && memcmp(bytes, "MM\0*", 4) != 0)) return 0;
  const tiff_block block = {bytes, size, bytes[0] == 'M'};
  uint32_t directory, entries, tag;
  if (!tiff_number(&block, 4, 4, &directory) || !tiff_number(&block, directory, 2, &entries))
    return 0;
  for (uint32_t i = 0; i < entries; i++) {
    const size_t entry = (size_t)directory + 2 + (size_t)12 * i;
    if (!tiff_number(&block, entry, 2, &tag)) return 0;
    if (tag != 0x0112) continue;
    const uint32_t value = entry_value(&block, entry);
    return value >= 1 && value <= 8 ? value : 1;
  }
  return 0;
}

uint32_t heed_exif_orientation(const uint8_t *bytes, size_t size) {
  const uint32_t found = heed_exif_find(bytes, size);
  return found ? found : 1;
}

uint32_t heed_xmp_orientation(const uint8_t *bytes, size_t size) {
  static const char name[] = "tiff:Orientation";
  const size_t length = sizeof name - 1;
  for (size_t at = 0; size - at > length + 1 && at < size; at++) {
    const uint8_t *next = memchr(bytes + at, name[0], size - at - length - 1);
    if (!next) return 0;
    at = (size_t)(next - bytes);
    if (memcmp(next, name, length) != 0) continue;
    const size_t skipped = next[length] == '>'                              ? 1
                           : next[length] == '=' && next[length + 1] == '"' ? 2
                                                                            : 0;
    if (!skipped || at + length + skipped >= size) continue;
    const uint8_t digit = next[length + skipped];
    if (digit >= '0' && digit <= '9') return digit == '0' ? 1 : digit - '0';
  }
  return 0;
}

/* The stored pixel (x, y) that is shown at (column, row) of the turned picture; width and height
 * are the stored ones. */
static void stored_position(uint32_t orientation, uint32_t width, uint32_t height, uint32_t column,
                            uint32_t row, uint32_t *x, uint32_t *y) {
  const bool swapped = orientation >= 5;
  *x = swapped ? row : column;
  *y = swapped ? column : row;
  if (orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8)
    *x = width - 1 - *x;
  if (orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7)
    *y = height - 1 - *y;
}

heed_status heed_picture_orient(heed_context *context, heed_picture *picture, uint32_t orientation,
                                heed_error *error) {
  if (orientation < 2 || orientation > 8) return HEED_OK;
  const uint32_t width = orientation >= 5 ? picture->height : picture->width;
  const uint32_t height = orientation >= 5 ? picture->width : picture->height;
  const size_t count = (size_t)width * height; /* as the stored picture, which is in memory */
  const size_t pixel = heed_pixel_bytes(picture);
  uint8_t *turned = heed_alloc_raw(context, count, pixel);
  if (!turned) return heed_fail_memory(error, "picture: orientation", count * pixel);
  for (uint32_t row = 0; row < height; row++) {
    for (uint32_t column = 0; column < width; column++) {
      uint32_t x, y;
      stored_position(orientation, picture->width, picture->height, column, row, &x, &y);
      memcpy(turned + ((size_t)row * width + column) * pixel,
             picture->pixels + ((size_t)y * picture->width + x) * pixel, pixel);
    }
  }
  heed_free(context, picture->pixels);
  picture->pixels = turned;
  picture->width = width;
  picture->height = height;
  return HEED_OK;
}
