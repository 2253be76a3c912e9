/* The name that a mistyped one may stand for. See nearest.h. */
#include "nearest.h"

#include <stdint.h>
#include <string.h>

#define MOST_LETTERS 32

/* Letters that are left out, put in or replaced, and neighbours that are exchanged, to make `a` of
 * `b`. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length) {
  size_t rows[3][MOST_LETTERS + 1], *before = rows[0], *last = rows[1], *row = rows[2];
  for (size_t j = 0; j <= b_length; j++) last[j] = j;
  for (size_t i = 1; i <= a_length; i++) {
    row[0] = i;
    for (size_t j = 1; j <= b_length; j++) {
      size_t least = last[j - 1] + (a[i - 1] != b[j - 1]);
      if (last[j] + 1 < least) least = last[j] + 1;
      if (row[j - 1] + 1 < least) least = row[j - 1] + 1;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
          before[j - 2] + 1 < least)
        least = before[j - 2] + 1;
      row[j] = least;
    }
    size_t *free_row = before;
    before = last;
    last = row;
    row = free_row;
  }
  return last[b_length];
}

cli_nearest cli_nearest_to(const char *word, size_t length) {
  const size_t dashes = strspn(word, "-");
  if (dashes > length) return (cli_nearest){word, 0, 0, NULL};
  return (cli_nearest){word + dashes, length - dashes, SIZE_MAX, NULL};
}

void cli_nearest_try(cli_nearest *nearest, const char *name) {
  const char *letters = name + strspn(name, "-");
  const size_t length = strlen(letters), typed = nearest->length;
  if (typed < 2 || typed > MOST_LETTERS || length < 2 || length > MOST_LETTERS) return;
  size_t found = distance(nearest->word, typed, letters, length);
  /* an abbreviation is nearer than what it looks like */
  if (typed >= 3 && typed < length && strncmp(nearest->word, letters, typed) == 0) found = 1;
  if (found * 3 > typed && !(found == 1 && typed == 2)) return;
  if (found >= nearest->distance) return;
  nearest->distance = found;
  nearest->name = name;
}
