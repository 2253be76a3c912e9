/* One sort for tables read from files: n log n on any input, in place, without recursion or memory
 * of its own. */
#ifndef HEED_BASE_SORT_H
#define HEED_BASE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether item a goes before item b. */
typedef bool (*heed_sort_less)(const void *user, uint32_t a, uint32_t b);

/* Sorts `count` item numbers. Not stable: let `less` break ties by the number. */
void heed_sort(uint32_t *items, size_t count, heed_sort_less less, const void *user);

#endif
