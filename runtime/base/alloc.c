/* Memory and sizes. */
#include "base/alloc.h"

#include <string.h>

#include "base/budget.h"

bool heed_size_mul(size_t a, size_t b, size_t *out) {
  *out = 0;
  if (b != 0 && a > SIZE_MAX / b) return false;
  *out = a * b;
  return true;
}

bool heed_size_add(size_t a, size_t b, size_t *out) {
  *out = 0;
  if (a > SIZE_MAX - b) return false;
  *out = a + b;
  return true;
}

bool heed_u64_mul(uint64_t a, uint64_t b, uint64_t *out) {
  *out = 0;
  if (b != 0 && a > UINT64_MAX / b) return false;
  *out = a * b;
  return true;
}

bool heed_u64_add(uint64_t a, uint64_t b, uint64_t *out) {
  *out = 0;
  if (a > UINT64_MAX - b) return false;
  *out = a + b;
  return true;
}

uint64_t heed_align_up(uint64_t value, uint64_t alignment) {
  const uint64_t mask = alignment - 1;
  return value > UINT64_MAX - mask ? UINT64_MAX & ~mask : (value + mask) & ~mask;
}

void *heed_alloc_raw(const heed_context *context, size_t count, size_t size) {
  size_t bytes;
  if (!heed_size_mul(count, size, &bytes) || bytes == 0) return NULL;
  if (!heed_budget_allows(context, bytes)) return NULL;
  return context->allocator.alloc(bytes, 64, context->allocator.user);
}

void *heed_alloc(const heed_context *context, size_t count, size_t size) {
  void *pointer = heed_alloc_raw(context, count, size);
  if (pointer) memset(pointer, 0, count * size);
  return pointer;
}

void heed_free(const heed_context *context, void *pointer) {
  if (pointer) context->allocator.free(pointer, context->allocator.user);
}

bool heed_grow(const heed_context *context, void *array, size_t *capacity, size_t need,
               size_t size) {
  if (need <= *capacity) return true;
  size_t wanted = *capacity ? *capacity : 8;
  while (wanted < need) {
    if (wanted > SIZE_MAX / 2) return false;
    wanted *= 2;
  }
  void *old;
  memcpy(&old, array, sizeof old);
  void *grown = heed_alloc(context, wanted, size);
  if (!grown) return false;
  if (old) memcpy(grown, old, *capacity * size);
  heed_free(context, old);
  memcpy(array, &grown, sizeof grown);
  *capacity = wanted;
  return true;
}

char *heed_copy_string(const heed_context *context, const char *text, size_t length) {
  size_t bytes;
  if (!heed_size_add(length, 1, &bytes)) return NULL;
  char *copy = heed_alloc(context, bytes, 1);
  if (copy) memcpy(copy, text, length);
  return copy;
}
