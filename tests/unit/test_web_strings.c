/* The WebAssembly modules' string functions and qsort beside libc's, over random short texts and
 * rows. */
#include "support/test.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *web_memcpy(void *restrict to, const void *restrict from, size_t count);
size_t web_strlen(const char *text);
char *web_strchr(const char *text, int c);
void *web_memchr(const void *block, int c, size_t count);
size_t web_strcspn(const char *text, const char *stops);
char *web_strpbrk(const char *text, const char *stops);
char *web_strstr(const char *text, const char *part);
void web_qsort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *));
#undef memcpy
#undef strlen
#undef strchr
#undef memchr
#undef strcspn
#undef strpbrk
#undef strstr
#define memcpy web_memcpy
#define strlen web_strlen
#define strchr web_strchr
#define memchr web_memchr
#define strcspn web_strcspn
#define strpbrk web_strpbrk
#define strstr web_strstr
#define qsort web_qsort
#include "../../web/wasm/strings.c"
#undef memcpy
#undef strlen
#undef strchr
#undef memchr
#undef strcspn
#undef strpbrk
#undef strstr
#undef qsort

static uint32_t next(uint32_t *seed) { return *seed = *seed * 1664525u + 1013904223u, *seed >> 16; }

static size_t fill(char *text, uint32_t *seed, uint32_t most) {
  const size_t length = next(seed) % (most + 1);
  for (size_t i = 0; i < length; i++) text[i] = "abc"[next(seed) % 3];
  text[length] = '\0';
  return length;
}

static void test_texts(void **state) {
  (void)state;
  uint32_t seed = 1;
  for (int i = 0; i < 20000; i++) {
    char text[12], part[4];
    const size_t length = fill(text, &seed, 11);
    fill(part, &seed, 3);
    const int c = "abcd\0"[next(&seed) % 5];
    if (web_strstr(text, part) != strstr(text, part) ||
        web_strcspn(text, part) != strcspn(text, part) ||
        web_strpbrk(text, part) != strpbrk(text, part) || web_strchr(text, c) != strchr(text, c) ||
        web_memchr(text, c, length) != memchr(text, c, length) || web_strlen(text) != length)
      fail_msg("\"%s\" and \"%s\", %d: other than libc", text, part, c);
  }
}

static void test_copy(void **state) {
  (void)state;
  uint32_t seed = 1;
  unsigned char from[64], ours[64], theirs[64];
  for (int i = 0; i < 5000; i++) {
    const size_t at = next(&seed) % 9, to = next(&seed) % 9, count = next(&seed) % 48;
    for (size_t k = 0; k < sizeof from; k++) {
      from[k] = (unsigned char)next(&seed);
      ours[k] = theirs[k] = (unsigned char)next(&seed);
    }
    assert_ptr_equal(web_memcpy(ours + to, from + at, count), ours + to);
    memcpy(theirs + to, from + at, count);
    assert_memory_equal(ours, theirs, sizeof ours);
  }
}

static int descending(const void *a, const void *b) {
  const float x = *(const float *)a, y = *(const float *)b;
  return (x < y) - (x > y);
}

static void test_sort(void **state) {
  (void)state;
  uint32_t seed = 1;
  for (int i = 0; i < 5000; i++) {
    float ours[40], theirs[40];
    const size_t count = next(&seed) % 41;
    for (size_t k = 0; k < count; k++) ours[k] = theirs[k] = (float)(next(&seed) % 30);
    web_qsort(ours, count, sizeof *ours, descending);
    qsort(theirs, count, sizeof *theirs, descending);
    if (memcmp(ours, theirs, count * sizeof *ours) != 0)
      fail_msg("row %d of %zu: not in order", i, count);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_texts), cmocka_unit_test(test_copy),
                                     cmocka_unit_test(test_sort)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
