/* What every test includes. */
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"

unsigned char *test_read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file) fail_msg("cannot open %s", path);
  fseek(file, 0, SEEK_END);
  const long length = ftell(file);
  fseek(file, 0, SEEK_SET);
  unsigned char *bytes = malloc((size_t)length + 1);
  assert_non_null(bytes);
  assert_int_equal(fread(bytes, 1, (size_t)length, file), length);
  bytes[length] = 0;
  fclose(file);
  *size = (size_t)length;
  return bytes;
}

unsigned char *test_read_vector(const char *name, size_t *size) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", HEED_TEST_VECTORS, name);
  return test_read_file(path, size);
}

uint64_t test_random_next(test_random *random) {
  uint64_t x = random->state ? random->state : 0x9E3779B97F4A7C15u;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  random->state = x;
  return x * 0x2545F4914F6CDD1Du;
}

float test_random_uniform(test_random *random, float low, float high) {
  return low + (high - low) * (float)(test_random_next(random) >> 40) / 16777216.0f;
}

float test_random_normal(test_random *random) { /* Box-Muller */
  const double u = ((double)(test_random_next(random) >> 11) + 0.5) / 9007199254740992.0;
  const double v = (double)(test_random_next(random) >> 11) / 9007199254740992.0;
  return (float)(sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v));
}

uint32_t test_random_below(test_random *random, uint32_t bound) {
  return (uint32_t)(test_random_next(random) >> 33) % bound;
}

static void *counting_alloc(size_t size, size_t alignment, void *user) {
  test_allocator *allocator = user;
  allocator->total++;
  if (allocator->fail_at && allocator->total == allocator->fail_at) return NULL;
  void *pointer = heed_system_alloc(size, alignment);
  if (pointer) allocator->live++;
  return pointer;
}

static void counting_free(void *pointer, void *user) {
  test_allocator *allocator = user;
  allocator->live--;
  heed_system_free(pointer);
}

heed_context_desc test_context_desc(test_allocator *allocator) {
  heed_context_desc desc = HEED_CONTEXT_DESC_INIT;
  desc.allocator.alloc = counting_alloc;
  desc.allocator.free = counting_free;
  desc.allocator.user = allocator;
  return desc;
}

bool test_takes(void) {
  static unsigned next;
  const char *text = getenv("HEED_TEST_PART");
  unsigned part, parts;
  if (!text) return true;
  if (sscanf(text, "%u/%u", &part, &parts) != 2 || part >= parts)
    fail_msg("HEED_TEST_PART: not a part of a whole (found %s, expected K/N, K below N)", text);
  return next++ % parts == part;
}
