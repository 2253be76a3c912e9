/* A process that reads files of others, with less power: seccomp's filter of calls, Landlock's
 * rules of files. Numbers and layouts are those of Linux's interface, which does not change; they
 * stand here since a C library without the kernel's headers, such as Debian's musl, has them
 * nowhere. */
#define _GNU_SOURCE /* syscall, O_PATH */
#include <errno.h>
#include <string.h>

#include "base/desc.h"
#include "base/status.h"
#include "heed/native.h"

#if HEED_HAS_SANDBOX
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --------------------------------------------------------------------------------------- calls */

typedef struct filter_step {
  uint16_t code;
  uint8_t if_true, if_false;
  uint32_t value;
} filter_step;

enum {
  LOAD = 0x20,     /* of the call: a word at an offset */
  IS = 0x15,       /* jump if equal */
  AT_LEAST = 0x35, /* jump if greater or equal */
  HAS = 0x45,      /* jump if a bit is set */
  RETURN = 0x06,
  AT_NUMBER = 0, /* offsets in the call */
  AT_MACHINE = 4,
  AT_FIRST = 16, /* low words of arguments */
  AT_SECOND = 24,
  MODE_FILTER = 2,         /* of prctl */
  SHARES_THREADS = 0x10000 /* of clone: a thread, no process */
};
#define ALLOW 0x7FFF0000u
#define REFUSE (0x00050000u | EPERM)
#define IS_MISSING (0x00050000u | ENOSYS)
#define SIGNAL 0x00030000u /* SIGSYS */

#if defined(__x86_64__)
#define MACHINE 0xC000003Eu
#define FOREIGN 0x40000000u /* calls of the x32 interface */
#elif defined(__aarch64__)
#define MACHINE 0xC00000B7u
#endif

#ifdef MACHINE
/* What a reader never calls, and a driver can do without. */
static const uint16_t refused[] = {
#ifdef SYS_fork
    SYS_fork,
    SYS_vfork,
    SYS_iopl,
    SYS_ioperm,
    SYS_modify_ldt,
    SYS_kexec_file_load,
#endif
    SYS_socket,
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_accept,
    SYS_accept4,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_mount,
    SYS_umount2,
    SYS_unshare,
    SYS_setns,
    SYS_chroot,
    SYS_pivot_root,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_open_by_handle_at,
    SYS_swapon,
    SYS_swapoff,
    SYS_reboot,
    SYS_acct,
    SYS_settimeofday,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_personality,
    SYS_quotactl,
    425, /* io_uring_setup, whose calls no filter sees */
    SYS_userfaultfd,
    438, /* pidfd_getfd */
    428,
    429,
    430,
    432,
    442 /* open_tree, move_mount, fsopen, fsmount, mount_setattr */
};

typedef struct filter {
  filter_step step[192];
  uint16_t count;
} filter;

static void put(filter *to, uint16_t code, uint32_t value, uint8_t if_true, uint8_t if_false) {
  to->step[to->count++] = (filter_step){code, if_true, if_false, value};
}

/* Of the number that is loaded. */
static void put_call(filter *to, uint32_t number, uint32_t result) {
  put(to, IS, number, 0, 1);
  put(to, RETURN, result, 0, 0);
}

static void make_filter(filter *to) {
  *to = (filter){.count = 0};
  put(to, LOAD, AT_MACHINE, 0, 0);
  put(to, IS, MACHINE, 1, 0);
  put(to, RETURN, REFUSE, 0, 0);
  put(to, LOAD, AT_NUMBER, 0, 0);
#ifdef FOREIGN
  put(to, AT_LEAST, FOREIGN, 0, 1);
  put(to, RETURN, REFUSE, 0, 0);
#endif
  put_call(to, SYS_execve, SIGNAL);
  put_call(to, SYS_execveat, SIGNAL);
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) put_call(to, refused[i], REFUSE);
  put_call(to, 435, IS_MISSING); /* clone3, whose flags no filter sees: libraries take clone then */
  put(to, IS, SYS_clone, 0, 4);
  put(to, LOAD, AT_FIRST, 0, 0);
  put(to, HAS, SHARES_THREADS, 0, 1);
  put(to, RETURN, ALLOW, 0, 0);
  put(to, RETURN, REFUSE, 0, 0);
  put(to, IS, SYS_ioctl, 0, 3);
  put(to, LOAD, AT_SECOND, 0, 0);
  put_call(to, TIOCSTI, REFUSE); /* would type into the terminal */
  put(to, RETURN, ALLOW, 0, 0);
}

static int confine_calls(void) {
  filter made;
  make_filter(&made);
  const struct {
    unsigned short count;
    filter_step *steps;
  } program = {made.count, made.step};
  return prctl(PR_SET_SECCOMP, MODE_FILTER, &program, 0, 0) == 0 ? 0 : errno;
}
#else
static int confine_calls(void) { return ENOSYS; }
#endif

/* --------------------------------------------------------------------------------------- files */

#define MAKE_RULES 444 /* of Landlock */
#define ADD_RULE 445
#define ENTER_RULES 446

enum {
  EXECUTE = 1 << 0,
  WRITE_FILE = 1 << 1,
  IN_FOLDERS = 0x1FF << 4, /* remove and make, of all kinds */
  MOVE = 1 << 13,          /* between folders; of version 2 */
  SHORTEN = 1 << 14,       /* of version 3 */
  IN_FILES = WRITE_FILE | SHORTEN
};

typedef struct rules {
  uint64_t files, network, scopes;
} rules;

/* By version: what it knows, so that more of it can be ruled. */
static rules rules_of(long version) {
  rules of = {EXECUTE | WRITE_FILE | IN_FOLDERS, 0, 0};
  if (version >= 2) of.files |= MOVE;
  if (version >= 3) of.files |= SHORTEN;
  if (version >= 4) of.network = 3; /* bind and connect, TCP */
  if (version >= 6) of.scopes = 3;  /* abstract sockets and signals of other processes */
  return of;
}

/* What is not there cannot be written. */
static void allow_writes(int set, uint64_t files, const char *path) {
  const int place = open(path, O_PATH | O_CLOEXEC);
  struct stat info;
  if (place >= 0 && fstat(place, &info) == 0) {
    struct __attribute__((packed)) {
      uint64_t allowed;
      int32_t place;
    } rule = {files & (S_ISDIR(info.st_mode) ? (uint64_t)~EXECUTE : IN_FILES), place};
    syscall(ADD_RULE, set, 1, &rule, 0);
  }
  if (place >= 0) close(place);
}

static int confine_files(const heed_sandbox_desc *desc) {
  const long version = syscall(MAKE_RULES, NULL, 0, 1);
  if (version < 0) return errno;
  const rules of = rules_of(version);
  const size_t size = version >= 6 ? sizeof of : version >= 4 ? 16 : 8;
  const int set = (int)syscall(MAKE_RULES, &of, size, 0);
  if (set < 0) return errno;
  for (uint32_t i = 0; i < desc->writable_count; i++)
    allow_writes(set, of.files, desc->writable[i]);
  const int reason = syscall(ENTER_RULES, set, 0) == 0 ? 0 : errno;
  close(set);
  return reason;
}

/* Either may be missing: kernels without it, containers that forbid it. */
static int confine(const heed_sandbox_desc *desc, uint32_t *parts) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  const int files = confine_files(desc), calls = confine_calls();
  *parts =
      (files ? 0u : (uint32_t)HEED_SANDBOX_FILES) | (calls ? 0u : (uint32_t)HEED_SANDBOX_CALLS);
  return *parts ? 0 : calls;
}
#else
static int confine(const heed_sandbox_desc *desc, uint32_t *parts) {
  (void)desc;
  (void)parts;
  return ENOSYS;
}
#endif

heed_status heed_sandbox_enter(const heed_sandbox_desc *desc, uint32_t *parts, heed_error *error) {
  heed_sandbox_desc full;
  uint32_t made = 0;
  HEED_TRY(heed_desc_read(&full, sizeof full, desc, "sandbox", error));
  if (full.writable_count && !full.writable)
    return heed_fail(error, HEED_INVALID_ARGUMENT, "sandbox: writable: NULL (expected %u folders)",
                     full.writable_count);
  const int reason = confine(&full, &made);
  if (parts) *parts = made;
  if (reason == 0) return HEED_OK;
  return heed_fail(error, HEED_UNSUPPORTED,
                   "sandbox: the process cannot be confined (found \"%s\", expected Linux with "
                   "seccomp or Landlock, and a build with HEED_SANDBOX)",
                   strerror(reason));
}
