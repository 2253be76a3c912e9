/* See hints.h. */
#include "files/hints.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

static bool is_word(const char *text, size_t length) {
  for (size_t i = 0; i < length; i++)
    if ((unsigned char)text[i] < 0x20 || text[i] == '"' || text[i] == '\\') return false;
  return length > 0;
}

static bool is_number(const char *text, size_t length) {
  return strspn(text, "0123456789.eE+-") >= length && text[0] >= '0' && text[0] <= '9';
}

heed_status heed_hints_json(const heed_context *context, const char *hints, char **json,
                            heed_error *error) {
  const size_t size = 8 * strlen(hints) + 8; /* quotes around each part */
  char *text = *json = heed_alloc_raw(context, size, 1);
  size_t at = 0;
  if (!text) return heed_fail_memory(error, "hints", size);
  for (const char *from = hints; from; from = strchr(from, ',')) {
    from += from > hints;
    const size_t key = strcspn(from, "=,"), length = strcspn(from + key, ",");
    const char *value = from + key + 1;
    if (from[key] != '=' || !is_word(from, key) || !is_word(value, length - 1))
      return heed_fail(error, HEED_INVALID_ARGUMENT,
                       "hints: invalid hint (found \"%.100s\", expected KEY=VALUE,KEY=VALUE, such "
                       "as heads=4,norm=after)",
                       from);
    const char *quote = is_number(value, length - 1) ? "" : "\"";
    at += (size_t)snprintf(text + at, size - at, "%s\"%.*s\":%s%.*s%s", at ? "," : "{", (int)key,
                           from, quote, (int)(length - 1), value, quote);
  }
  memcpy(text + at, "}", 2);
  return HEED_OK;
}
