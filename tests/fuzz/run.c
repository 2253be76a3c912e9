/* A run of a fuzzer, and what fails in it. See fuzz.h. */
#define _POSIX_C_SOURCE 200809L /* posix_memalign */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"

#define MOST_AT_ONCE ((size_t)64 << 20)

static struct {
  uint64_t allocations, reads;     /* so far */
  uint64_t no_allocation, no_read; /* which of them fails, from 1; 0: none */
  bool was_short;
} now;
static size_t live, most; /* bytes */

static void *take(size_t size, size_t alignment, void *user) {
  void *block;
  (void)user;
  if (alignment < sizeof block) alignment = sizeof block;
  if (++now.allocations != now.no_allocation && size <= MOST_AT_ONCE &&
      posix_memalign(&block, alignment, size ? size : 1) == 0) {
    live += malloc_usable_size(block);
    if (live > most) most = live;
    return block;
  }
  now.was_short = true;
  return NULL;
}

static void give(void *block, void *user) {
  (void)user;
  live -= malloc_usable_size(block);
  free(block);
}

heed_context *fuzz_context(void) {
  const heed_context_desc desc = {.struct_size = sizeof desc, .allocator = {take, give, NULL}};
  heed_context *context;
  heed_error error;
  return heed_context_create(&desc, &context, &error) == HEED_OK ? context : NULL;
}

static heed_status read_bytes(void *user, uint64_t offset, void *to, size_t count,
                              heed_error *error) {
  const test_bytes *from = user;
  if (offset > from->size || count > from->size - offset) {
    fprintf(stderr, "a read past the end\n");
    abort();
  }
  if (++now.reads == now.no_read) {
    now.was_short = true;
    snprintf(error->message, sizeof error->message, "a read fails, as it should here");
    return HEED_IO;
  }
  if (count) memcpy(to, from->data + offset, count);
  return HEED_OK;
}

heed_source fuzz_callback_source(test_bytes *bytes) {
  return (heed_source){.size = bytes->size, .read = read_bytes, .user = bytes};
}

double fuzz_most_memory(void) { return (double)most; }

bool fuzz_was_short(void) { return now.was_short; }

void fuzz_must(bool holds, const char *what) {
  if (holds || now.was_short) return;
  fprintf(stderr, "%s\n", what);
  abort();
}

void fuzz_must_refuse(heed_status status, const heed_error *error) {
  if (status == HEED_OK) return;
  const bool usual = status == HEED_INVALID_FILE || status == HEED_UNSUPPORTED;
  if (usual || (now.was_short && (status == HEED_OUT_OF_MEMORY || status == HEED_IO))) return;
  fprintf(stderr, "another status: %s: %s\n", heed_status_name(status), error->message);
  abort();
}

void fuzz_fail(const uint8_t *data, size_t size, uint64_t allocation, uint64_t read,
               uint64_t *allocations, uint64_t *reads) {
  memset(&now, 0, sizeof now);
  now.no_allocation = allocation;
  now.no_read = read;
  fuzz_read(data, size);
  *allocations = now.allocations;
  *reads = now.reads;
}

void fuzz_run(const uint8_t *data, size_t size) {
  uint64_t hash = UINT64_C(0xCBF29CE484222325);
  for (size_t i = 0; i < size; i++) hash = (hash ^ data[i]) * UINT64_C(0x100000001B3);
  uint64_t allocations, reads, what = hash >> 32;
  fuzz_fail(data, size, 0, 0, &allocations, &reads);
  if (what % 2) return;
  if (what % 8 == 0 && reads)
    fuzz_fail(data, size, 0, 1 + (what >> 4) % reads, &allocations, &reads);
  else
    fuzz_fail(data, size, allocations ? 1 + (what >> 4) % allocations : 0, 0, &allocations, &reads);
}
