/* Signals that end the program: what is half written is removed first. See cli.h. */
#define _XOPEN_SOURCE 700 /* sigaction */
#include <errno.h>
#include <signal.h>
#include <string.h>
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
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    struct sigaction action = {.sa_handler = end}, before;
    sigemptyset(&action.sa_mask);
    /* nohup and shells without job control ask to ignore them */
    if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaction(numbers[i], &action, NULL);
  }
  signal(SIGXFSZ, SIG_IGN); /* a file beyond the shell's limit is a write that fails */
}

static const char *confined; /* the verb */

static void say(const char *text) {
  if (write(STDERR_FILENO, text, strlen(text)) < 0) return; /* there is nowhere else to say it */
}

static void end_refused(int number) {
  (void)number;
  heed_file_abandon_all();
  say("heed ");
  say(confined);
  say(": sandbox: a program was to be started while files were read (found execve, expected "
      "none): a file took over a reader, or --sandbox off is needed\n");
  _exit(CLI_BAD_FILE);
}

void cli_signals_catch_refused(const char *verb) {
  struct sigaction action = {.sa_handler = end_refused};
  confined = verb;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSYS, &action, NULL);
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
