/* Decimal text to double, independent of the locale. */
#ifndef HEED_BASE_DECIMAL_H
#define HEED_BASE_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>

/* The double of the number in text, written as JSON writes it: [-]digits[.digits][e[+-]digits],
 * which the caller has checked. It is the nearest one (ties to even) for up to 19 digits whose last
 * one stands between 10^-27 and 10^27, and the nearest one or its neighbour elsewhere. False when
 * it is too large for a double; too small gives a zero. */
bool heed_decimal_to_double(const char *text, size_t length, double *value);

#endif
