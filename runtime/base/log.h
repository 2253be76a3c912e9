/* Lines for the context's log hook. */
#ifndef HEED_BASE_LOG_H
#define HEED_BASE_LOG_H

#include "base/context.h"
#include "base/status.h"

/* Formats one line and hands it to the context's log hook; nothing when there is none. */
void heed_log(const heed_context *context, heed_log_level level, const char *format, ...)
    HEED_PRINTF(3, 4);

#endif
