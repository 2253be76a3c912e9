/* What heed takes from <string.h> and <stdlib.h> beyond the plainest, in the place of libc's, which
 * are made for long texts: bit masks, Two-Way search and smoothsort are 4 KB of module. Here texts
 * are names, and qsort orders one row of weights at most. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A loop that copies is not to become a call of the function that it is in. */
#if defined(__clang__)
#define LOOP(name) __attribute__((no_builtin(#name)))
#else
#define LOOP(name)
#endif

/* Eight bytes, wherever they lie and whatever they are. */
typedef uint64_t __attribute__((aligned(1), may_alias)) word;

LOOP(memcpy) void *memcpy(void *restrict to, const void *restrict from, size_t count) {
  unsigned char *at = to;
  const unsigned char *source = from;
  for (; count >= sizeof(word); count -= sizeof(word)) {
    *(word *)at = *(const word *)source;
    at += sizeof(word);
    source += sizeof(word);
  }
  while (count-- > 0) *at++ = *source++;
  return to;
}

LOOP(strlen) size_t strlen(const char *text) {
  size_t length = 0;
  while (text[length]) length++;
  return length;
}

char *strchr(const char *text, int c) {
  for (; *text != (char)c; text++)
    if (!*text) return NULL;
  return (char *)text;
}

void *memchr(const void *block, int c, size_t count) {
  for (const unsigned char *at = block; count > 0; at++, count--)
    if (*at == (unsigned char)c) return (void *)at;
  return NULL;
}

size_t strcspn(const char *text, const char *stops) {
  size_t count = 0;
  while (text[count] && !strchr(stops, text[count])) count++;
  return count;
}

char *strpbrk(const char *text, const char *stops) {
  text += strcspn(text, stops);
  return *text ? (char *)text : NULL;
}

char *strstr(const char *text, const char *part) {
  for (const size_t length = strlen(part);; text++) {
    if (strncmp(text, part, length) == 0) return (char *)text;
    if (!*text) return NULL;
  }
}

static void swap(unsigned char *a, unsigned char *b, size_t size) {
  for (; size > 0; size--, a++, b++) {
    const unsigned char kept = *a;
    *a = *b;
    *b = kept;
  }
}

/* Heap sort (Williams 1964). */
void qsort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *)) {
  unsigned char *const base = items;
  for (size_t root = count / 2, end = count; end > 1;) {
    if (root > 0)
      root--;
    else
      swap(base, base + --end * size, size);
    for (size_t at = root, child; (child = 2 * at + 1) < end; at = child) {
      if (child + 1 < end && compare(base + child * size, base + (child + 1) * size) < 0) child++;
      if (compare(base + at * size, base + child * size) >= 0) break;
      swap(base + at * size, base + child * size, size);
    }
  }
}
