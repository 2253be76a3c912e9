/* Ctrl-C, Ctrl-Break and the end of the console or the session, as signals are elsewhere: what is
 * half written is removed first. See cli.h. */
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
/* after it */
#include <signal.h>

#include "cli.h"
#include "heed/native.h"

#define SHELL_BASE 128 /* what shells add to the number of a signal */

static volatile sig_atomic_t deferred, arrived;

/* No other thread goes on meanwhile. */
static void end(int number) {
  heed_file_abandon_all();
  TerminateProcess(GetCurrentProcess(), (UINT)(SHELL_BASE + number));
}

/* In a thread of its own. The system ends the program when it has returned from a closed console.
 */
static BOOL WINAPI take(DWORD event) {
  arrived = event == CTRL_C_EVENT ? SIGINT : SIGTERM;
  if (!deferred) end(arrived);
  if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT) Sleep(INFINITE); /* main ends it */
  return TRUE;
}

void cli_signals_catch(void) { SetConsoleCtrlHandler(take, TRUE); }

void cli_signals_catch_refused(const char *verb) { (void)verb; /* there is no sandbox */ }

void cli_signals_keep_pipe(void) { /* a write to a closed pipe fails anyway */
}

void cli_signals_defer(bool defer) {
  deferred = defer;
  if (!defer && arrived) end(arrived);
}

bool cli_signals_arrived(void) { return arrived != 0; }

bool cli_interrupted(FILE *file) {
  (void)file; /* nothing interrupts a read */
  return false;
}
