/* How far a run is. See progress.h. */
#define _POSIX_C_SOURCE 200809L
#include "progress.h"

#include <stdio.h>
#include <time.h>

#include "system.h"

#define SECONDS_BETWEEN 0.2
#define COLUMNS 60 /* that the line may take */

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

bool cli_progress_wanted(bool quiet) { return !quiet && cli_system_is_terminal(stderr); }

void cli_progress_begin(cli_progress *progress, uint64_t total, bool quiet) {
  *progress = (cli_progress){.shown = total > 1 && cli_progress_wanted(quiet), .total = total};
}

void cli_progress_text(uint64_t done, uint64_t total, uint64_t first, double seconds,
                       char text[CLI_PROGRESS_SIZE]) {
  const unsigned long long of = total, have = done;
  if (done <= first || !(seconds > 0.0)) {
    snprintf(text, CLI_PROGRESS_SIZE, "images: %llu of %llu", have, of);
    return;
  }
  const double rate = (double)(done - first) / seconds;
  const double left = (double)(total - done) / rate;
  if (left >= 359999.0) { /* 100 hours */
    snprintf(text, CLI_PROGRESS_SIZE, "images: %llu of %llu, %.3g a second", have, of, rate);
    return;
  }
  const unsigned rest = (unsigned)(left + 0.5), hours = rest / 3600, minutes = rest / 60 % 60;
  char hour[16] = "";
  if (hours) snprintf(hour, sizeof hour, "%u:", hours);
  snprintf(text, CLI_PROGRESS_SIZE, "images: %llu of %llu, %.*f a second, %s%0*u:%02u left", have,
           of, rate < 10.0 ? 2 : 0, rate, hour, hours ? 2 : 1, minutes, rest % 60);
}

void cli_progress_step(cli_progress *progress, uint64_t done) {
  if (!progress->shown) return;
  const double time = now();
  if (progress->start <= 0.0) {
    progress->start = time;
    progress->first = done;
  } else if (progress->drawn && time - progress->last < SECONDS_BETWEEN) {
    return;
  }
  char text[CLI_PROGRESS_SIZE];
  cli_progress_text(done, progress->total, progress->first, time - progress->start, text);
  fflush(stdout); /* which may be the same terminal */
  fprintf(stderr, "\r%-*s", COLUMNS, text);
  progress->last = time;
  progress->drawn = true;
}

void cli_progress_clear(cli_progress *progress) {
  if (progress->drawn) fprintf(stderr, "\r%-*s\r", COLUMNS, "");
  progress->drawn = false;
}
