/* Numbers as text, independent of the locale. */
#ifndef HEED_BASE_NUMBER_TEXT_H
#define HEED_BASE_NUMBER_TEXT_H

#include <stdint.h>

/* A number with `decimals` (0..9) digits after a point, whatever the locale; at most 31 characters.
 * Returns text. */
#define HEED_TEXT_NUMBER_SIZE 32
const char *heed_text_number(double value, uint32_t decimals, char text[HEED_TEXT_NUMBER_SIZE]);

#endif
