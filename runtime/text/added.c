/* Tokens that a tokenizer has beside its vocabulary. See rules.h. */
#include "base/alloc.h"
#include "base/status.h"
#include "text/rules.h"

heed_status heed_tokenizer_add(heed_tokenizer *t, const char *where, const char *text,
                               size_t length, int32_t id, bool after, heed_error *error) {
  if (length > HEED_ADDED_MAX)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "%s: an added token is too long (found %zu bytes, expected at most %d)", where,
                     length, HEED_ADDED_MAX);
  if (!heed_grow(t->context, &t->added, &t->added_capacity, t->added_count + 1, sizeof *t->added))
    return heed_fail_memory(error, where, sizeof *t->added);
  heed_added_token *added = &t->added[t->added_count++];
  *added = (heed_added_token){.id = id, .after = after};
  return heed_points_read(t->context, &added->text, text, length)
             ? HEED_OK
             : heed_fail_memory(error, where, length * sizeof(uint32_t));
}
