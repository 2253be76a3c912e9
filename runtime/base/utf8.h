/* UTF-8 (RFC 3629). */
#ifndef HEED_BASE_UTF8_H
#define HEED_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the character at text[at], at < size; 0 when it is not one: overlong, a surrogate, above
 * U+10FFFF or cut off. */
size_t heed_utf8_length(const char *text, size_t at, size_t size);
bool heed_utf8_valid(const char *text, size_t size);
/* Writes a code point (not a surrogate, at most U+10FFFF) as 1 to 4 bytes; returns how many. */
size_t heed_utf8_write(char *to, uint32_t point);

/* The code point of a whole character of this many bytes. */
uint32_t heed_utf8_point(const char *text, size_t length);
/* Makes one line of text that is safe to show, in place: each control, and each byte that is no
 * UTF-8, becomes '?'. */
void heed_utf8_clean(char *text);

/* Arguments for "%.*s": at most 200 bytes of a text that may be long, ending with a whole
 * character. */
#define HEED_CUT(text) heed_utf8_cut((text), 200), (text)
int heed_utf8_cut(const char *text, int limit);

#endif
