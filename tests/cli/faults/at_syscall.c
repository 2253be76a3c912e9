/* at_syscall KIND N PROGRAM ARGUMENTS...: runs a program and does KIND at its N-th point of that
 * kind; N = 0 counts them and prints the number to the descriptor 3. Linux on x86-64. Exit code:
 * the program's, or 128 and the signal that ended it; 125: no such tool here. The kinds:
 *
 * - kill: SIGKILL before a call that changes a file, which is one that creates, writes, renames,
 *   truncates, synchronises, closes or removes it. Of what a call writes, also after each eighth.
 * - fail, short, interrupt: a read of a file fails with EIO, gives one byte, fails with EINTR.
 *
 * Files of the system (libraries, locale, fonts, devices) do not count, nor what lies under
 * HEED_NOT_COUNTED, such as a driver's own cache. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#if !defined(__x86_64__) || !defined(__linux__)
int main(void) { return 125; }
#else

enum kind { KILL, FAIL, SHORT, INTERRUPT, KINDS };
static const char *const names[KINDS] = {"kill", "fail", "short", "interrupt"};

enum { MOST_FILES = 1024, PARTS = 8 /* of a write */ };
static bool read_counts[MOST_FILES], write_counts[MOST_FILES];

static bool of_system(const char *path) {
  static const char *const places[] = {"/lib", "/usr", "/etc", "/proc", "/sys", "/dev", "/var"};
  const char *other = getenv("HEED_NOT_COUNTED");
  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    if (strncmp(path, places[i], strlen(places[i])) == 0) return true;
  return other && *other && strncmp(path, other, strlen(other)) == 0;
}

static void read_path(pid_t child, unsigned long long at, char path[256]) {
  struct iovec here = {path, 255}, there = {(void *)(size_t)at, 255};
  ssize_t got = process_vm_readv(child, &here, 1, &there, 1, 0);
  if (got < 0) { /* the path ends near the end of its page */
    here.iov_len = there.iov_len = 4096 - at % 4096;
    got = process_vm_readv(child, &here, 1, &there, 1, 0);
  }
  path[got > 0 ? got : 0] = 0;
}

/* At its entry: does the call count? */
static bool counts(enum kind kind, const struct user_regs_struct *call, const char *opened) {
  const unsigned long long file = call->rdi;
  const bool known = file < MOST_FILES;
  if (kind != KILL)
    return (call->orig_rax == SYS_read || call->orig_rax == SYS_pread64) && known &&
           read_counts[file];
  switch (call->orig_rax) {
    case SYS_openat: return (call->rdx & O_CREAT) != 0 && !of_system(opened);
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
    case SYS_ftruncate:
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_fchmod:
    case SYS_close: return known && write_counts[file];
    case SYS_rename:
    case SYS_renameat:
    case SYS_renameat2:
    case SYS_unlink:
    case SYS_unlinkat:
    case SYS_mkdir:
    case SYS_mkdirat:
    case SYS_rmdir: return true;
    default: return false;
  }
}

/* The points of a call that counts: a write may end after each of its parts. */
static unsigned long long points_of(enum kind kind, const struct user_regs_struct *call) {
  const bool writes = call->orig_rax == SYS_write || call->orig_rax == SYS_pwrite64;
  return kind == KILL && writes && call->rdx >= PARTS ? PARTS : 1;
}

static int start(char **arguments) {
  if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(125);
  raise(SIGSTOP);
  execvp(arguments[0], arguments);
  _exit(127);
}

static void keep_descriptors(const struct user_regs_struct *entry,
                             const struct user_regs_struct *end, const char *opened) {
  const long long result = (long long)end->rax;
  if (entry->orig_rax == SYS_openat && result >= 0 && result < MOST_FILES) {
    const bool own = !of_system(opened);
    read_counts[result] = own && (entry->rdx & O_ACCMODE) != O_WRONLY;
    write_counts[result] = own && (entry->rdx & O_ACCMODE) != O_RDONLY;
  } else if (entry->orig_rax == SYS_close && entry->rdi < MOST_FILES) {
    read_counts[entry->rdi] = write_counts[entry->rdi] = false;
  }
}

static int trace(pid_t child, enum kind kind, unsigned long long wanted) {
  unsigned long long found = 0;
  bool inside = false, spoils = false, cut = false; /* cut: killed once a part is written */
  struct user_regs_struct entry = {0}, now;
  char opened[256] = "";
  int status;
  if (waitpid(child, &status, 0) != child ||
      ptrace(PTRACE_SETOPTIONS, child, NULL,
             PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC) != 0)
    return 125;
  int signal = 0;
  for (;;) {
    if (ptrace(PTRACE_SYSCALL, child, NULL, (void *)(size_t)signal) != 0 && errno != ESRCH)
      return 125;
    if (waitpid(child, &status, 0) != child) return 125;
    if (WIFEXITED(status) || WIFSIGNALED(status)) break;
    signal = 0;
    if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
      if (WSTOPSIG(status) != SIGTRAP) signal = WSTOPSIG(status);
      continue;
    }
    if (ptrace(PTRACE_GETREGS, child, NULL, &now) != 0) return 125;
    inside = !inside;
    if (inside) {
      entry = now;
      if (now.orig_rax == SYS_openat) read_path(child, now.rsi, opened);
      const unsigned long long before = found;
      if (counts(kind, &now, opened)) found += points_of(kind, &now);
      spoils = before < wanted && wanted <= found;
      if (!spoils) continue;
      cut = kind == KILL && wanted - before > 1;
      if (cut) {
        now.rdx = now.rdx * (wanted - before - 1) / PARTS;
        ptrace(PTRACE_SETREGS, child, NULL, &now);
      } else if (kind == KILL) {
        kill(child, SIGKILL);
      } else if (kind == SHORT) {
        now.rdx = now.rdx ? 1 : 0;
        ptrace(PTRACE_SETREGS, child, NULL, &now);
      } else {
        now.orig_rax = (unsigned long long)-1;
        ptrace(PTRACE_SETREGS, child, NULL, &now);
      }
      continue;
    }
    keep_descriptors(&entry, &now, opened);
    if (cut) kill(child, SIGKILL);
    if (spoils && (kind == FAIL || kind == INTERRUPT)) {
      now.rax = (unsigned long long)-(long long)(kind == FAIL ? EIO : EINTR);
      ptrace(PTRACE_SETREGS, child, NULL, &now);
    }
    spoils = false;
  }
  if (wanted == 0) dprintf(3, "%llu\n", found);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int count, char **arguments) {
  int kind = 0;
  while (count > 3 && kind < KINDS && strcmp(arguments[1], names[kind]) != 0) kind++;
  if (count < 4 || kind == KINDS) {
    fprintf(stderr, "usage: %s kill|fail|short|interrupt N PROGRAM ARGUMENTS...\n", arguments[0]);
    return 2;
  }
  const pid_t child = fork();
  if (child == 0) return start(arguments + 3);
  return child < 0 ? 125 : trace(child, (enum kind)kind, strtoull(arguments[2], NULL, 10));
}
#endif
