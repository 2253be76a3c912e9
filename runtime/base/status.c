/* Statuses and the sentences of errors. */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

const char *heed_status_name(heed_status status) {
  switch (status) {
#define HEED_STATUS_NAME(name, number, sentence) \
  case HEED_##name: return #name;
    HEED_STATUS_LIST(HEED_STATUS_NAME)
#undef HEED_STATUS_NAME
  }
  return "UNKNOWN";
}

const char *heed_status_sentence(heed_status status) {
  switch (status) {
#define HEED_STATUS_SENTENCE(name, number, sentence) \
  case HEED_##name: return sentence;
    HEED_STATUS_LIST(HEED_STATUS_SENTENCE)
#undef HEED_STATUS_SENTENCE
  }
  return "unknown status";
}

const char *heed_version(void) { return HEED_VERSION; }

/* A message that was cut must not end inside a UTF-8 sequence. */
static void trim_partial_character(char *text, size_t length) {
  size_t start = length;
  while (start > 0 && ((unsigned char)text[start - 1] & 0xC0u) == 0x80u) start--;
  if (start == 0) return;
  const unsigned char lead = (unsigned char)text[start - 1];
  const size_t want = lead >= 0xF0u ? 4 : lead >= 0xE0u ? 3 : lead >= 0xC0u ? 2 : 1;
  if (length - (start - 1) < want) text[start - 1] = '\0';
}

heed_status heed_fail(heed_error *error, heed_status status, const char *format, ...) {
  if (!error) return status;
  error->status = status;
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(error->message, sizeof error->message, format, arguments);
  va_end(arguments);
  if (length < 0)
    error->message[0] = '\0';
  else if ((size_t)length >= sizeof error->message)
    trim_partial_character(error->message, sizeof error->message - 1);
  /* One line, whatever names a hostile file brought along. */
  heed_utf8_clean(error->message);
  return status;
}

heed_status heed_fail_memory(heed_error *error, const char *where, size_t bytes) {
  return heed_fail(error, HEED_OUT_OF_MEMORY, "%s: out of memory (requested %zu bytes)", where,
                   bytes);
}
