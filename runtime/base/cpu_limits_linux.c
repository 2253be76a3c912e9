/* What limits a process's CPUs on Linux: its affinity, and the quotas of its control groups. */
#undef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity */
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cpu_count.h"
#include "base/system.h"

#define PATH_SIZE 1024

/* A path and another below it: whether both fit into to[size]. */
static bool join(char *to, size_t size, const char *path, const char *below) {
  const int length = snprintf(to, size, "%s%s", path, below);
  return length >= 0 && (size_t)length < size;
}

/* A file read without a stream, which would allocate. */
typedef struct reader {
  int file; /* below 0: there is none */
  size_t at, length;
  char bytes[1024];
} reader;

static void open_reader(reader *r, const char *folder, const char *name) {
  char path[4 * PATH_SIZE];
  r->file = join(path, sizeof path, folder, name) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  r->at = r->length = 0;
}

static void close_reader(reader *r) {
  if (r->file >= 0) close(r->file);
}

/* The next byte, or -1 at the end. */
static int next_byte(reader *r) {
  if (r->file >= 0 && r->at == r->length) {
    const ssize_t count = read(r->file, r->bytes, sizeof r->bytes);
    r->length = count > 0 ? (size_t)count : 0;
    r->at = 0;
  }
  return r->at == r->length ? -1 : (unsigned char)r->bytes[r->at++];
}

/* The next line, without its end; of one that is too long, only that it was there: "". */
static bool next_line(reader *r, char *line, size_t size) {
  size_t length = 0;
  int byte = next_byte(r);
  if (byte < 0) return false;
  for (; byte >= 0 && byte != '\n'; byte = next_byte(r), length++)
    if (length + 1 < size) line[length] = (char)byte;
  line[length < size ? length : 0] = 0;
  return true;
}

/* A number of microseconds, or two of them, in the first line of a file; "" where there is none. */
static void read_text(const char *folder, const char *name, char *text, size_t size) {
  reader r;
  open_reader(&r, folder, name);
  if (!next_line(&r, text, size)) text[0] = 0;
  close_reader(&r);
}

/* Whether a list such as "cpu,cpuacct" has this name. */
static bool lists(const char *list, const char *name) {
  const size_t length = strlen(name);
  for (const char *at = list; at; at = strchr(at, ',')) {
    if (*at == ',') at++;
    if (strncmp(at, name, length) == 0 && (at[length] == ',' || !at[length])) return true;
  }
  return false;
}

static bool is_octal(char c) { return c >= '0' && c <= '7'; }

/* "\040" in a path of mountinfo is a space. */
static void unescape(char *path) {
  char *to = path;
  for (const char *at = path; *at; to++)
    if (at[0] == '\\' && is_octal(at[1]) && is_octal(at[2]) && is_octal(at[3])) {
      *to = (char)((at[1] - '0') * 64 + (at[2] - '0') * 8 + (at[3] - '0'));
      at += 4;
    } else
      *to = *at++;
  *to = 0;
}

/* The quota of one control group, whose files are in this folder; 0 if it has none. */
static double quota_in(const char *folder, bool second) {
  char text[80];
  if (second)
    read_text(folder, "/cpu.max", text, sizeof text);
  else {
    read_text(folder, "/cpu.cfs_quota_us", text, sizeof text / 2);
    size_t length = strlen(text);
    text[length++] = ' ';
    read_text(folder, "/cpu.cfs_period_us", text + length, sizeof text / 2);
  }
  return heed_cpu_quota_read(text);
}

/* A mounted hierarchy of control groups. */
typedef struct hierarchy {
  bool second;             /* version 2, else version 1's of the controller cpu */
  char top[PATH_SIZE];     /* the control group that is mounted */
  char mounted[PATH_SIZE]; /* where */
} hierarchy;

/* Reads a line of mountinfo: "36 35 98:0 TOP MOUNTED OPTIONS ... - TYPE SOURCE OPTIONS". */
static bool read_mount(const char *line, hierarchy *mount) {
  char type[16], options[1024];
  const char *kind = strstr(line, " - ");
  if (!kind || sscanf(line, "%*s %*s %*s %1023s %1023s", mount->top, mount->mounted) != 2 ||
      sscanf(kind, " - %15s %*s %1023s", type, options) != 2)
    return false;
  unescape(mount->top);
  unescape(mount->mounted);
  mount->second = strcmp(type, "cgroup2") == 0;
  return mount->second || (strcmp(type, "cgroup") == 0 && lists(options, "cpu"));
}

/* The path of this process in the hierarchy: of a line "0::/PATH" in version 2, and of
 * "4:cpu,cpuacct:/PATH" in version 1. */
static const char *own_path(char *line, bool second) {
  char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
  if (!path || path[1] != '/') return NULL;
  *path++ = 0;
  const bool fits = second ? !controllers[1] : lists(controllers + 1, "cpu");
  return fits ? path : NULL;
}

/* The least quota from this control group up to the one that is mounted; 0: none. */
static double least_up(const char *root, const hierarchy *mount, const char *path) {
  char stem[2 * PATH_SIZE], folder[3 * PATH_SIZE];
  double least = 0;
  const size_t top = strcmp(mount->top, "/") == 0 ? 0 : strlen(mount->top);
  if (strncmp(path, mount->top, top) != 0 || (top && path[top] && path[top] != '/')) return 0;
  if (!join(stem, sizeof stem, root, mount->mounted) ||
      !join(folder, sizeof folder, stem, path + top))
    return 0;
  for (;;) {
    const double quota = quota_in(folder, mount->second);
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
    char *last = strrchr(folder + strlen(stem), '/');
    if (!last) return least;
    *last = 0;
  }
}

/* The least quota of this process in one hierarchy; 0: none. */
static double quota_of(const char *root, const hierarchy *mount) {
  char line[2 * PATH_SIZE];
  double least = 0;
  reader r;
  open_reader(&r, root, "/proc/self/cgroup");
  while (next_line(&r, line, sizeof line)) {
    const char *path = own_path(line, mount->second);
    if (!path) continue;
    least = least_up(root, mount, path);
    break;
  }
  close_reader(&r);
  return least;
}

double heed_system_cpu_quota(const char *root) {
  char line[4 * PATH_SIZE];
  double least = 0;
  hierarchy mount;
  reader r;
  open_reader(&r, root, "/proc/self/mountinfo");
  while (next_line(&r, line, sizeof line)) {
    const double quota = read_mount(line, &mount) ? quota_of(root, &mount) : 0;
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
  }
  close_reader(&r);
  return least;
}

uint32_t heed_system_allowed_cpus(void) {
  cpu_set_t
      sets[16]; /* 16,384 CPUs: where the mask is shorter than the kernel's, it answers none */
  memset(sets, 0, sizeof sets);
  if (sched_getaffinity(0, sizeof sets, sets) != 0) return 0;
  return (uint32_t)CPU_COUNT_S(sizeof sets, sets);
}
