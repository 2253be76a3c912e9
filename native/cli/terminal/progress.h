/* How far a run over many images is: a line on the terminal of stderr, "images: 120 of 2000, 35 a
 * second, 0:54 left". Where stderr is no terminal, or --quiet is given, nothing is shown. */
#ifndef HEED_CLI_TERMINAL_PROGRESS_H
#define HEED_CLI_TERMINAL_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cli_progress {
  bool shown, drawn; /* whether there is a terminal; whether the line is on it */
  uint64_t total;
  double start, last; /* seconds: of the first step, of what is drawn */
  uint64_t first;     /* done at the start: what came before loaded the model */
} cli_progress;

/* Whether stderr is a terminal that is not to stay quiet. */
bool cli_progress_wanted(bool quiet);
/* Of one image nothing is shown. */
void cli_progress_begin(cli_progress *progress, uint64_t total, bool quiet);
/* So many of the total are done: draws the line, a few times a second. */
void cli_progress_step(cli_progress *progress, uint64_t done);
/* Takes the line off the terminal, before something else is printed and at the end. */
void cli_progress_clear(cli_progress *progress);

/* The line, without its ends, of `done` images of which those after the `first` took `seconds`. */
#define CLI_PROGRESS_SIZE 96
void cli_progress_text(uint64_t done, uint64_t total, uint64_t first, double seconds,
                       char text[CLI_PROGRESS_SIZE]);

#endif
