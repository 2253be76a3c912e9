/* Statuses and the sentences of errors. */
#ifndef HEED_BASE_STATUS_H
#define HEED_BASE_STATUS_H

#include "heed/heed.h"

#if defined(__MINGW32__)
#include <stdio.h> /* the formats of its own printf, which knows %zu; Windows' does not */
#define HEED_PRINTF(at, first) __attribute__((format(__MINGW_PRINTF_FORMAT, at, first)))
#elif defined(__GNUC__)
#define HEED_PRINTF(at, first) __attribute__((format(printf, at, first)))
#else
#define HEED_PRINTF(at, first)
#endif

/* Fills error (nullable) with the formatted sentence, cut to fit on a UTF-8 boundary, and returns
 * status. Keep the form "where: what was wrong (found ..., expected ...)". */
heed_status heed_fail(heed_error *error, heed_status status, const char *format, ...)
    HEED_PRINTF(3, 4);

/* The usual "out of memory" sentence. */
heed_status heed_fail_memory(heed_error *error, const char *where, size_t bytes);

/* Returns from the calling function when the expression is not HEED_OK. */
#define HEED_TRY(expression)                    \
  do {                                          \
    const heed_status heed_try_ = (expression); \
    if (heed_try_ != HEED_OK) return heed_try_; \
  } while (0)

#endif
