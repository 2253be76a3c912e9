/* Asserts of what heed owes to itself: ids, slots, sizes. What a caller may get wrong is an error
 * with a sentence, never an assert. HEED_ASSERTS (a CMake option; on in the presets dev, san,
 * tsan and fuzz) stops the program where one does not hold; otherwise they cost nothing, and the
 * condition is not computed. */
#ifndef HEED_BASE_ASSERT_H
#define HEED_BASE_ASSERT_H

#if defined(HEED_ASSERTS)
#include <stdio.h>
#include <stdlib.h>

_Noreturn static inline void heed_assert_failed(const char *condition, const char *file, int line) {
  fprintf(stderr, "%s:%d: assertion failed (expected %s)\n", file, line, condition);
  abort();
}
#define HEED_ASSERT(condition) \
  ((condition) ? (void)0 : heed_assert_failed(#condition, __FILE__, __LINE__))
#else
#define HEED_ASSERT(condition) ((void)sizeof((condition) ? 1 : 0)) /* names in it count as used */
#endif

#endif
