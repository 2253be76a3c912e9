/* Signals that end the program: what is half written is removed first. */
#if defined(__unix__) || defined(__APPLE__)
#define _XOPEN_SOURCE 700 /* sigaction */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "cli.h"
#include "heed/native.h"

#define SHELL_BASE 128 /* what shells add to the number of a signal */

static volatile sig_atomic_t deferred, arrived;

static void end(int number) {
  arrived = number;
  if (deferred) return;
  heed_file_abandon_all();
  _exit(SHELL_BASE + number);
}

void cli_signals_catch(void) {
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    struct sigaction action = {.sa_handler = end}, before;
    sigemptyset(&action.sa_mask);
    /* nohup and shells without job control ask to ignore them */
    if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaction(numbers[i], &action, NULL);
  }
  signal(SIGXFSZ, SIG_IGN); /* a file beyond the shell's limit is a write that fails */
}

void cli_signals_keep_pipe(void) { signal(SIGPIPE, SIG_IGN); }

void cli_signals_defer(bool defer) {
  deferred = defer;
  if (!defer && arrived) end(arrived);
}

bool cli_signals_arrived(void) { return arrived != 0; }
bool cli_interrupted(FILE *file) {
  if (arrived || !ferror(file) || errno != EINTR) return false;
  clearerr(file);
  return true;
}
#else
#include "cli.h"

void cli_signals_catch(void) {}
void cli_signals_keep_pipe(void) {}
void cli_signals_defer(bool defer) { (void)defer; }
bool cli_signals_arrived(void) { return false; }
bool cli_interrupted(FILE *file) {
  (void)file;
  return false;
}
#endif
