/* What the proved code calls: the narrowest promises of what stands there in heed. */
#include "base/utf8.h"
#include "model/files/source.h"
#include "proofs/proof.h"

void fill_with_anything(void *bytes, size_t count) {
  unsigned char *to = bytes;
  for (size_t i = 0; i < count; i++) to[i] = nondet_byte();
}

/* Bytes of a file are any bytes; what is not in the file is refused, and reading may fail. */
heed_status heed_source_read(const heed_source *source, const char *where, uint64_t offset,
                             void *to, size_t count, heed_error *error) {
  (void)where;
  (void)error;
  claim(count == 0 || __CPROVER_w_ok(to, count), "there is room for the bytes that are read");
  if (offset > source->size || count > source->size - offset || nondet_bool())
    return HEED_INVALID_FILE;
  fill_with_anything(to, count);
  return HEED_OK;
}

heed_status heed_fail(heed_error *error, heed_status status, const char *format, ...) {
  (void)error;
  (void)format;
  claim(status != HEED_OK, "a failure has a status");
  return status;
}

heed_status heed_fail_memory(heed_error *error, const char *where, size_t bytes) {
  (void)error;
  (void)where;
  (void)bytes;
  return HEED_OUT_OF_MEMORY;
}

/* A sentence cuts what it quotes: it must be a text. */
int heed_utf8_cut(const char *text, int limit) {
  (void)limit;
  claim(__CPROVER_r_ok(text, 1), "a sentence quotes a text");
  return 0;
}

bool heed_u64_mul(uint64_t a, uint64_t b, uint64_t *out) {
  return !__builtin_mul_overflow(a, b, out);
}

bool heed_u64_add(uint64_t a, uint64_t b, uint64_t *out) {
  return !__builtin_add_overflow(a, b, out);
}
