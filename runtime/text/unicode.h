/* What tokenizers ask of Unicode, from unicode_table.h. */
#ifndef HEED_TEXT_UNICODE_H
#define HEED_TEXT_UNICODE_H

#include "base/context.h"

typedef enum heed_char_class {
  HEED_CHAR_OTHER = 0,
  HEED_CHAR_LETTER = 1, /* general category L */
  HEED_CHAR_NUMBER = 2, /* N */
  HEED_CHAR_SPACE = 3   /* property White_Space */
} heed_char_class;
heed_char_class heed_unicode_class(uint32_t point);

/* Lower case without context: one code point, or two (of U+0130). Returns how many. */
size_t heed_unicode_lower(uint32_t point, uint32_t to[2]);

/* Code points that grow. */
typedef struct heed_points {
  uint32_t *at;
  size_t count, capacity;
} heed_points;
/* Each returns false when out of memory. */
bool heed_points_add(const heed_context *context, heed_points *points, uint32_t point);
/* Appends text that is UTF-8. */
bool heed_points_read(const heed_context *context, heed_points *points, const char *text,
                      size_t length);

/* Appends the canonical composition (NFC) of the points; compatibility ideographs of CJK stay as
 * they are. Source: Unicode Standard Annex 15. */
bool heed_unicode_compose(const heed_context *context, const heed_points *from, heed_points *to);

#endif
