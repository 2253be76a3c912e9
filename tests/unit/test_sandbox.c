/* heed_sandbox_enter: what a confined process may still do. Each case in a process of its own,
 * since there is no way back. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "heed/native.h"
#include "support/test.h"

static char folder[] = "/tmp/heed-sandbox-XXXXXX";
static char inside[64], outside[64], kept[80];

/* What this system has; 0: nothing, and the cases are skipped. */
static uint32_t parts_here;

static uint32_t enter(void) {
  const char *const writable[] = {inside, "/no such folder", "/dev/null"};
  const heed_sandbox_desc desc = {sizeof desc, writable, 3};
  uint32_t parts = 0;
  heed_error error;
  return heed_sandbox_enter(&desc, &parts, &error) == HEED_OK ? parts : 0;
}

/* The wait status of a process that enters and runs `act`, whose result is its exit code. */
static int confined(int (*act)(void)) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSYS, SIG_DFL); /* cmocka catches it */
    enter();
    _exit(act());
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  return status;
}

static void expect_exit(int (*act)(void), int code) {
  const int status = confined(act);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), code);
}

static void needs(uint32_t parts) {
  if ((parts_here & parts) == parts) return;
  print_message("skipped: no %s here\n", parts == HEED_SANDBOX_FILES ? "Landlock" : "seccomp");
  skip();
}

/* -------------------------------------------------------------------------------------- files */

static int open_in(const char *place, const char *name, int flags) {
  char path[160];
  snprintf(path, sizeof path, "%s/%s", place, name);
  const int file = open(path, flags, 0666);
  return file < 0 ? errno : (close(file), 0);
}

static int make_outside(void) { return open_in(outside, "new", O_CREAT | O_WRONLY); }
static int write_outside(void) { return open_in(outside, "kept", O_WRONLY); }
static int shorten_outside(void) { return truncate(kept, 0) == 0 ? 0 : errno; }
static int remove_outside(void) { return unlink(kept) == 0 ? 0 : errno; }
static int folder_outside(void) {
  char path[160];
  snprintf(path, sizeof path, "%s/made", outside);
  return mkdir(path, 0777) == 0 ? 0 : errno;
}
static int move_outside(void) {
  char from[160], to[160];
  snprintf(from, sizeof from, "%s/new", inside);
  snprintf(to, sizeof to, "%s/moved", outside);
  if (open_in(inside, "new", O_CREAT | O_WRONLY) != 0) return 0;
  return rename(from, to) == 0 ? 0 : errno;
}
static int read_outside(void) { return open_in(outside, "kept", O_RDONLY); }
static int write_inside(void) {
  char from[160], to[160];
  snprintf(from, sizeof from, "%s/part", inside);
  snprintf(to, sizeof to, "%s/whole", inside);
  if (open_in(inside, "part", O_CREAT | O_EXCL | O_RDWR) != 0) return 1;
  return rename(from, to) == 0 && unlink(to) == 0 ? 0 : errno;
}
static int write_device(void) { return open_in("/dev", "null", O_WRONLY); }

static void test_files(void **state) {
  (void)state;
  needs(HEED_SANDBOX_FILES);
  expect_exit(make_outside, EACCES);
  expect_exit(write_outside, EACCES);
  expect_exit(remove_outside, EACCES);
  expect_exit(folder_outside, EACCES);
  expect_exit(move_outside, EACCES);
  expect_exit(read_outside, 0);
  expect_exit(write_inside, 0);
  expect_exit(write_device, 0);
  const int shortened = WEXITSTATUS(confined(shorten_outside));
  assert_true(shortened == EACCES || shortened == 0); /* Landlock before version 3 has no rule */
}

/* -------------------------------------------------------------------------------------- calls */

static int open_socket(void) { return socket(AF_INET, SOCK_STREAM, 0) >= 0 ? 0 : errno; }
static int local_socket(void) { return socket(AF_UNIX, SOCK_STREAM, 0) >= 0 ? 0 : errno; }
static int make_process(void) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  return child > 0 ? 0 : errno;
}
static int trace(void) { return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 ? 0 : errno; }
static int ring(void) { return syscall(425, 1, NULL) >= 0 ? 0 : errno; }
static int type_into_terminal(void) { return ioctl(0, TIOCSTI, "x") == 0 ? 0 : errno; }
static int ask_terminal(void) {
  struct winsize size;
  return ioctl(-1, TIOCGWINSZ, &size) == 0 ? 0 : errno;
}

static void *nothing(void *user) { return user; }
static int make_thread(void) {
  pthread_t thread;
  void *result = NULL;
  return pthread_create(&thread, NULL, nothing, folder) == 0 &&
                 pthread_join(thread, &result) == 0 && result == folder
             ? 0
             : 1;
}

static int from_thread(void) {
  pthread_t thread;
  void *result = folder;
  if (pthread_create(&thread, NULL, (void *(*)(void *))(void (*)(void))open_socket, NULL) != 0)
    return 1;
  return pthread_join(thread, &result) == 0 ? (int)(intptr_t)result & 0xFF : 1;
}

static int start_program(void) {
  execl("/bin/true", "true", (char *)NULL);
  return errno;
}

static volatile sig_atomic_t refused;
static void note(int number) {
  (void)number;
  refused = 1;
  _exit(42);
}
static int start_program_caught(void) {
  signal(SIGSYS, note);
  return start_program();
}

static void test_calls(void **state) {
  (void)state;
  needs(HEED_SANDBOX_CALLS);
  expect_exit(open_socket, EPERM);
  expect_exit(local_socket, EPERM);
  expect_exit(make_process, EPERM);
  expect_exit(trace, EPERM);
  expect_exit(ring, EPERM);
  expect_exit(type_into_terminal, EPERM);
  expect_exit(ask_terminal, EBADF); /* as without */
  expect_exit(make_thread, 0);
  expect_exit(from_thread, EPERM);
  const int status = confined(start_program);
  assert_true(WIFSIGNALED(status));
  assert_int_equal(WTERMSIG(status), SIGSYS);
  expect_exit(start_program_caught, 42);
}

/* Twice is once, and a model runs as before. */
static int run_model(void) {
  heed_context *context;
  heed_backend *backend;
  heed_error error;
  if (enter() == 0) return 1;
  if (heed_context_create(NULL, &context, &error) != HEED_OK) return 2;
  const heed_cpu_desc desc = {.struct_size = sizeof desc, .threads = 2};
  if (heed_cpu_backend_create(context, &desc, &backend, &error) != HEED_OK) return 3;
  heed_backend_destroy(backend);
  heed_context_destroy(context);
  return 0;
}

static void test_twice(void **state) {
  (void)state;
  if (!parts_here) skip();
  expect_exit(run_model, 0);
}

static void test_arguments(void **state) {
  (void)state;
  heed_error error;
  uint32_t parts = 7;
  const heed_sandbox_desc desc = {sizeof desc, NULL, 2};
  assert_int_equal(heed_sandbox_enter(NULL, &parts, &error), HEED_INVALID_ARGUMENT);
  assert_int_equal(heed_sandbox_enter(&desc, NULL, &error), HEED_INVALID_ARGUMENT);
  assert_string_equal(error.message, "sandbox: writable: NULL (expected 2 folders)");
}

static int find_parts(void **state) {
  (void)state;
  if (!mkdtemp(folder)) return 1;
  snprintf(inside, sizeof inside, "%s/inside", folder);
  snprintf(outside, sizeof outside, "%s/outside", folder);
  snprintf(kept, sizeof kept, "%s/kept", outside);
  if (mkdir(inside, 0777) != 0 || mkdir(outside, 0777) != 0) return 1;
  FILE *file = fopen(kept, "w");
  if (!file || fputs("kept", file) < 0 || fclose(file) != 0) return 1;
  const pid_t child = fork();
  if (child == 0) _exit((int)enter());
  int status = 0;
  waitpid(child, &status, 0);
  parts_here = WIFEXITED(status) ? (uint32_t)WEXITSTATUS(status) : 0;
#if HEED_HAS_SANDBOX && (defined(__x86_64__) || defined(__aarch64__))
  /* what the kernel has is taken: a sandbox that never closes is no skip */
  if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 0 && !(parts_here & HEED_SANDBOX_CALLS)) return 1;
  if (syscall(444, NULL, 0, 1) > 0 && !(parts_here & HEED_SANDBOX_FILES)) return 1;
#endif
  return 0;
}

static int remove_folders(void **state) {
  (void)state;
  char path[160];
  snprintf(path, sizeof path, "%s/new", inside);
  unlink(path);
  unlink(kept);
  rmdir(inside);
  rmdir(outside);
  return rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_arguments), cmocka_unit_test(test_files),
                                     cmocka_unit_test(test_calls), cmocka_unit_test(test_twice)};
  return cmocka_run_group_tests(tests, find_parts, remove_folders);
}
