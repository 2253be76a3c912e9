/* What every test includes: cmocka, the error-checking macros, files, random numbers, the counting
 * allocator. */
#ifndef HEED_TESTS_SUPPORT_TEST_H
#define HEED_TESTS_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "heed/heed.h"

/* Fails the test with the error's sentence when the call does not return HEED_OK. Uses a variable
 * `error` in scope. */
#define assert_ok(call)                                                           \
  do {                                                                            \
    const heed_status assert_ok_ = (call);                                        \
    if (assert_ok_ != HEED_OK)                                                    \
      fail_msg("%s: %s: %s", #call, heed_status_name(assert_ok_), error.message); \
  } while (0)

/* Fails unless the call returns `status` and the sentence contains `part`. */
#define assert_fails(call, expected, part)                                                   \
  do {                                                                                       \
    error.message[0] = '\0';                                                                 \
    const heed_status assert_fails_ = (call);                                                \
    if (assert_fails_ != (expected))                                                         \
      fail_msg("%s: found %s (%s), expected %s", #call, heed_status_name(assert_fails_),     \
               error.message, heed_status_name(expected));                                   \
    if (!strstr(error.message, (part)))                                                      \
      fail_msg("%s: the sentence \"%s\" does not say \"%s\"", #call, error.message, (part)); \
  } while (0)

/* A file of tests/vectors, whole, in malloc'ed memory; fails the test when it cannot be read. */
unsigned char *test_read_vector(const char *name, size_t *size);
unsigned char *test_read_file(const char *path, size_t *size);

/* xorshift64*: the same numbers everywhere. */
typedef struct test_random {
  uint64_t state;
} test_random;
uint64_t test_random_next(test_random *random);
float test_random_uniform(test_random *random, float low, float high);
float test_random_normal(test_random *random);
uint32_t test_random_below(test_random *random, uint32_t bound);

/* Whether this run takes the next case of a test. HEED_TEST_PART=K/N, K from 0: each N-th case from
 * the K-th on, so that N runs take each case once. Without it, every case. */
bool test_takes(void);

/* Counts live blocks; fails the n-th allocation (1 = first, 0 = never). */
typedef struct test_allocator {
  size_t live, total, fail_at;
} test_allocator;
heed_context_desc test_context_desc(test_allocator *allocator);

/* Batch and size of pixel_values, of frames too. */
static inline heed_build_desc test_pixel_sizes(const heed_shape *pixels) {
  const uint32_t *end = pixels->dim + pixels->rank;
  return (heed_build_desc){.struct_size = sizeof(heed_build_desc),
                           .batch = pixels->dim[0],
                           .height = end[-2],
                           .width = end[-1],
                           .frames = pixels->rank == 5 ? pixels->dim[1] : 0};
}

#endif
