/* Decimal text to double, exact and independent of the locale. */
#ifndef HEED_BASE_DECIMAL_H
#define HEED_BASE_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>

/* The double nearest to the number in text (ties to even), written as JSON writes it:
 * [-]digits[.digits][e[+-]digits], which the caller has checked. False when it is too large for a
 * double; too small gives a zero. */
bool heed_decimal_to_double(const char *text, size_t length, double *value);

#endif
