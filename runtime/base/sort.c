/* Heap sort (Williams 1964): hostile input cannot make it slow, which a quick sort does not
 * promise. */
#include "base/sort.h"

static void sift_down(uint32_t *items, size_t root, size_t count, heed_sort_less less,
                      const void *user) {
  const uint32_t item = items[root];
  for (;;) {
    size_t child = 2 * root + 1;
    if (child >= count) break;
    if (child + 1 < count && less(user, items[child], items[child + 1])) child++;
    if (!less(user, item, items[child])) break;
    items[root] = items[child];
    root = child;
  }
  items[root] = item;
}

void heed_sort(uint32_t *items, size_t count, heed_sort_less less, const void *user) {
  for (size_t root = count / 2; root-- > 0;) sift_down(items, root, count, less, user);
  for (size_t end = count; end-- > 1;) {
    const uint32_t largest = items[0];
    items[0] = items[end];
    items[end] = largest;
    sift_down(items, 0, end, less, user);
  }
}
