/* The WebAssembly modules' snprintf beside libc's: every conversion that heed's sentences use, over
 * random numbers. */
#include "support/test.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int web_snprintf(char *to, size_t size, const char *format, ...);
int web_vsnprintf(char *to, size_t size, const char *format, va_list arguments);
#undef snprintf /* clang makes them macros where calls are checked */
#undef vsnprintf
#define snprintf web_snprintf
#define vsnprintf web_vsnprintf
#include "../../web/wasm/format.c"
#undef snprintf
#undef vsnprintf

#define SAME(...)                                                           \
  do {                                                                      \
    char ours[96], theirs[96];                                              \
    const int length = snprintf(theirs, sizeof theirs, __VA_ARGS__);        \
    assert_int_equal(web_snprintf(ours, sizeof ours, __VA_ARGS__), length); \
    assert_string_equal(ours, theirs);                                      \
  } while (0)

static uint64_t next(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static void test_whole_numbers(void **state) {
  (void)state;
  uint64_t seed = 1;
  SAME("%d %d %d %u %u", 0, INT32_MIN, INT32_MAX, 0u, UINT32_MAX);
  SAME("%lld %lld %llu", (long long)INT64_MIN, (long long)INT64_MAX,
       (unsigned long long)UINT64_MAX);
  for (int i = 0; i < 10000; i++) {
    const uint64_t x = next(&seed) >> (i % 64);
    SAME("%d|%u|%5u|%05u|%04u", (int)x, (unsigned)x, (unsigned)x, (unsigned)x, (unsigned)x % 100);
    SAME("%lld|%llu|%zu|%0*llu", (long long)x, (unsigned long long)x, (size_t)x, (int)(x % 20),
         (unsigned long long)x);
    SAME("%" PRIu64 "|%" PRIu32 "|%02X|%04x", x, (uint32_t)x, (unsigned)x, (unsigned)x);
  }
}

static void test_text(void **state) {
  (void)state;
  SAME("%s|%.*s|%.3s|%8s|%c%c|%%", "heads", 2, "layer", "tokens", "x", 'a', 'b');
  SAME("%s: found %s, expected [%u, %u]%s", "vit.safetensors", "", 1u, 2u, ".");
  char unended[3] = {'a', 'b', 'c'};
  SAME("%.*s", 3, unended);
}

static void test_general_numbers(void **state) {
  (void)state;
  uint64_t seed = 7;
  const double known[] = {0.0,
                          -0.0,
                          1.0,
                          -1.0,
                          10.0,
                          0.1,
                          0.0001,
                          0.00001,
                          123456.0,
                          1234567.0,
                          999999.5,
                          0.5,
                          100.0,
                          1e10,
                          1e-10,
                          1e300,
                          1e-300,
                          5e-324,
                          1.7976931348623157e308};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    SAME("%g|%.3g|%9g", known[i], known[i], known[i]);
  SAME("%g %g", (double)INFINITY, (double)-INFINITY);
  for (int i = 0; i < 20000; i++) {
    const double x = ((double)(next(&seed) >> 11) * 0x1p-52 - 1.0) *
                     pow(10.0, (double)(next(&seed) % 61) - 30.0);
    SAME("%g|%.3g|%.9g", x, x, (double)(float)x);
  }
}

static void test_what_does_not_fit_is_cut(void **state) {
  (void)state;
  char text[5] = "....";
  assert_int_equal(web_snprintf(text, 4, "%u", 123456u), 6);
  assert_string_equal(text, "123");
  assert_int_equal(web_snprintf(text, 1, "ab"), 2);
  assert_string_equal(text, "");
  assert_int_equal(web_snprintf(NULL, 0, "%s", "abc"), 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_whole_numbers),
      cmocka_unit_test(test_text),
      cmocka_unit_test(test_general_numbers),
      cmocka_unit_test(test_what_does_not_fit_is_cut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
