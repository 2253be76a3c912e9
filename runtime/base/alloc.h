/* Memory and sizes: every size that comes from outside is computed with the checked helpers here,
 * and only here. */
#ifndef HEED_BASE_ALLOC_H
#define HEED_BASE_ALLOC_H

#include "base/context.h"

/* *out = a * b or a + b; false on overflow, *out then 0. */
bool heed_size_mul(size_t a, size_t b, size_t *out);
bool heed_size_add(size_t a, size_t b, size_t *out);
bool heed_u64_mul(uint64_t a, uint64_t b, uint64_t *out);
bool heed_u64_add(uint64_t a, uint64_t b, uint64_t *out);
/* Rounds up to a multiple of `alignment` (a power of two). Saturates at the largest multiple. */
uint64_t heed_align_up(uint64_t value, uint64_t alignment);

/* count * size bytes, zeroed, aligned to 64; NULL when out of memory, on overflow, or when count or
 * size is 0 (then ask for at least one). It is spent from the budget of the context, where there is
 * one. Free with heed_free, which accepts NULL. */
void *heed_alloc(const heed_context *context, size_t count, size_t size);
/* The same without zeroing: for large buffers that are written whole. */
void *heed_alloc_raw(const heed_context *context, size_t count, size_t size);
void heed_free(const heed_context *context, void *pointer);

/* Makes room for `need` elements in *array of `*capacity` elements of `size` bytes; contents kept,
 * new ones zeroed. False when out of memory, everything as before. */
bool heed_grow(const heed_context *context, void *array, size_t *capacity, size_t need,
               size_t size);

/* A copy of a string, or NULL when out of memory. */
char *heed_copy_string(const heed_context *context, const char *text, size_t length);

#endif
