/* UTF-8 (RFC 3629, table of well-formed sequences: Unicode 15, table 3-7). */
#include "base/utf8.h"

#include <string.h>

#include "heed/base.h"

size_t heed_utf8_length(const char *text, size_t at, size_t size) {
  const unsigned char *bytes = (const unsigned char *)text + at;
  const unsigned lead = bytes[0];
  if (lead < 0x80u) return 1;
  const size_t length = lead >= 0xF0u ? 4 : lead >= 0xE0u ? 3 : 2;
  if (lead < 0xC2u || lead > 0xF4u || size - at < length) return 0;
  if (lead == 0xE0u && bytes[1] < 0xA0u) return 0;
  if (lead == 0xEDu && bytes[1] > 0x9Fu) return 0;
  if (lead == 0xF0u && bytes[1] < 0x90u) return 0;
  if (lead == 0xF4u && bytes[1] > 0x8Fu) return 0;
  for (size_t i = 1; i < length; i++)
    if ((bytes[i] & 0xC0u) != 0x80u) return 0;
  return length;
}

bool heed_utf8_valid(const char *text, size_t size) {
  for (size_t at = 0; at < size;) {
    const size_t length = heed_utf8_length(text, at, size);
    if (!length) return false;
    at += length;
  }
  return true;
}

size_t heed_utf8_write(char *to, uint32_t point) {
  static const unsigned leads[] = {0, 0, 0xC0u, 0xE0u, 0xF0u};
  const size_t length = point < 0x80u ? 1 : point < 0x800u ? 2 : point < 0x10000u ? 3 : 4;
  for (size_t i = length; i-- > 1; point >>= 6) to[i] = (char)(0x80u | (point & 0x3Fu));
  to[0] = (char)(leads[length] | point);
  return length;
}

uint32_t heed_utf8_point(const char *text, size_t length) {
  static const unsigned masks[] = {0, 0x7Fu, 0x1Fu, 0x0Fu, 0x07u};
  uint32_t point = (unsigned char)text[0] & masks[length];
  for (size_t i = 1; i < length; i++) point = point << 6 | ((unsigned char)text[i] & 0x3Fu);
  return point;
}

/* Whether a terminal obeys the character where it should show it: controls (C0, DEL, C1), those of
 * writing direction, separators of lines; or it is none: XML and cairo refuse U+FFFE and U+FFFF. */
static bool is_control(uint32_t point) {
  return (point | 1u) == 0xFFFFu || point < 0x20u || (point >= 0x7Fu && point <= 0x9Fu) ||
         point == 0x061Cu || point == 0x200Eu || point == 0x200Fu ||
         (point >= 0x2028u && point <= 0x202Eu) || (point >= 0x2066u && point <= 0x2069u);
}

size_t heed_text_next(const char *text, size_t size, uint32_t *point, bool *shown) {
  const size_t length = heed_utf8_length(text, 0, size);
  *point = length ? heed_utf8_point(text, length) : 0xFFFDu;
  *shown = length && !is_control(*point);
  return length ? length : 1;
}

void heed_utf8_clean(char *text) {
  const size_t size = strlen(text);
  char *to = text;
  for (size_t at = 0, length; at < size; at += length) {
    uint32_t point;
    bool shown;
    length = heed_text_next(text + at, size - at, &point, &shown);
    if (!shown)
      *to++ = '?';
    else
      for (size_t i = 0; i < length; i++) *to++ = text[at + i];
  }
  *to = '\0';
}

int heed_utf8_cut(const char *text, int limit) {
  int length = 0;
  while (length < limit && text[length]) length++;
  if (length == limit)
    while (length > 0 && ((unsigned char)text[length] & 0xC0u) == 0x80u) length--;
  return length;
}
