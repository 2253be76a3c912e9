/* Statuses and the sentences of errors. */
#ifndef HEED_BASE_STATUS_H
#define HEED_BASE_STATUS_H

#include "heed/base.h"

/* Returns from the calling function when the expression is not HEED_OK. */
#define HEED_TRY(expression)                    \
  do {                                          \
    const heed_status heed_try_ = (expression); \
    if (heed_try_ != HEED_OK) return heed_try_; \
  } while (0)

#endif
