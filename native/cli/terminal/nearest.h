/* The name that a mistyped one may stand for. */
#ifndef HEED_CLI_TERMINAL_NEAREST_H
#define HEED_CLI_TERMINAL_NEAREST_H

#include <stddef.h>

/* The nearest of several names to a word, dashes left aside: one slip in three letters, or an
 * abbreviation. */
typedef struct cli_nearest {
  const char *word;
  size_t length, distance;
  const char *name; /* NULL: none is near */
} cli_nearest;

cli_nearest cli_nearest_to(const char *word, size_t length);
/* Of names that are equally near the first one stays. */
void cli_nearest_try(cli_nearest *nearest, const char *name);

#endif
