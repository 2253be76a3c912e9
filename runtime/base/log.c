/* Lines for the context's log hook. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"

void heed_log(const heed_context *context, heed_log_level level, const char *format, ...) {
  if (!context->log) return;
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  heed_utf8_clean(line);
  context->log(level, line, context->log_user);
}
