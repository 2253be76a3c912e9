/* The system as POSIX has it. See system.h. */
#define _POSIX_C_SOURCE 200809L
#include "system.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

bool cli_system_begin(int *count, char ***words) {
  (void)count;
  (void)words;
  /* whole lines, so that results and messages of one terminal or log do not cut each other */
  setvbuf(stdout, NULL, _IOLBF, 0);
  return true;
}

bool cli_system_is_terminal(FILE *file) { return isatty(fileno(file)); }

FILE *cli_system_take_stdout(void) {
  fflush(stdout);
  const int out = dup(STDOUT_FILENO);
  return out >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0 ? fdopen(out, "w") : NULL;
}

bool cli_system_reader_left(FILE *file) {
  struct pollfd out = {.fd = fileno(file)};
  return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

bool cli_system_cache_folder(char *path, size_t size) {
  const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  int length = -1;
  if (xdg && *xdg == '/') /* the standard asks to ignore relative ones */
    length = snprintf(path, size, "%s/heed", xdg);
  else if (home && *home)
    length = snprintf(path, size, "%s/.cache/heed", home);
  return length > 0 && (size_t)length < size;
}

/* Linux's rusage also counts the program that started this one, as large as it was then; /proc does
 * not. */
int64_t cli_system_peak_bytes(void) {
  struct rusage usage;
  char line[128];
  long long kilobytes = 0;
  FILE *status = fopen("/proc/self/status", "r");
  while (status && !kilobytes && fgets(line, sizeof line, status))
    if (sscanf(line, "VmHWM: %lld kB", &kilobytes) != 1) kilobytes = 0;
  if (status) fclose(status);
  getrusage(RUSAGE_SELF, &usage);
  return (int64_t)(kilobytes ? kilobytes : usage.ru_maxrss) * 1024;
}

bool cli_system_thread(pthread_t *thread, const pthread_attr_t *attributes,
                       void *(*work)(void *user), void *user) {
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGSYS); /* of the sandbox: blocked, it ends the program without a word */
  pthread_sigmask(SIG_BLOCK, &all, &before);
  const bool started = pthread_create(thread, attributes, work, user) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started;
}

bool cli_memory_open(cli_memory *memory) {
  *memory = (cli_memory){.file = NULL};
  memory->file = open_memstream(&memory->bytes, &memory->size);
  return memory->file != NULL;
}

bool cli_memory_close(cli_memory *memory) {
  const bool whole = !ferror(memory->file);
  if (fclose(memory->file) == 0 && whole) return true;
  free(memory->bytes);
  memory->bytes = NULL;
  return false;
}
