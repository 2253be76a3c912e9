/* Files as POSIX has them. See os.h. */
#define _XOPEN_SOURCE 700
#include "files/os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heed/native.h"

static heed_os_info info_of(const struct stat *stat) {
  return (heed_os_info){.kind = S_ISREG(stat->st_mode)    ? HEED_OS_REGULAR
                                : S_ISDIR(stat->st_mode)  ? HEED_OS_FOLDER
                                : S_ISFIFO(stat->st_mode) ? HEED_OS_PIPE
                                                          : HEED_OS_DEVICE, /* no socket opens */
                        .size = (uint64_t)stat->st_size,
                        .links = (uint64_t)stat->st_nlink,
                        .volume = (uint64_t)stat->st_dev,
                        .number = (uint64_t)stat->st_ino,
                        .mode = stat->st_mode & 0777u};
}

bool heed_os_separates(char character) { return character == '/'; }

bool heed_os_look(const char *path, heed_os_info *info) {
  struct stat found;
  if (stat(path, &found) != 0) return false;
  *info = info_of(&found);
  return true;
}

bool heed_os_is_there(const char *path) {
  struct stat found;
  return lstat(path, &found) == 0;
}

bool heed_os_is_absent(const char *path) {
  return !heed_os_is_there(path) && (errno == ENOENT || errno == ENOTDIR);
}

bool heed_os_is_link(const char *path) {
  struct stat found;
  return lstat(path, &found) == 0 && S_ISLNK(found.st_mode);
}

/* ---------------------------------------------------------------------------------------- read */

int heed_os_open(const char *path) {
  return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

static int open_folder_of(const char *path) {
  char folder[HEED_PATH_SIZE];
  const char *slash = strrchr(path, '/');
  const size_t length = slash ? (size_t)(slash - path) : 0;
  if (!slash) return open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (length + 2 > sizeof folder) {
    errno = ENAMETOOLONG;
    return -1;
  }
  memcpy(folder, path, length);
  strcpy(folder + length, "/");
  return open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Goes down one name after the other; each is refused where it is a link. */
int heed_os_open_beneath(const char *path, const char *location) {
  int folder = open_folder_of(path);
  while (folder >= 0) {
    char name[NAME_MAX + 1];
    const size_t length = strcspn(location, "/");
    const bool last = location[length] == '\0';
    int next = -1;
    if (length < sizeof name) {
      memcpy(name, location, length);
      name[length] = '\0';
      next = openat(folder, name,
                    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (last ? 0 : O_DIRECTORY));
    } else {
      errno = ENAMETOOLONG;
    }
    const int reason = errno == EMLINK ? ELOOP : errno; /* as some systems say it of a link */
    close(folder);
    errno = reason;
    if (next < 0 || last) return next;
    folder = next;
    location += length + 1;
  }
  return folder;
}

bool heed_os_look_at(int descriptor, heed_os_info *info) {
  struct stat found;
  if (fstat(descriptor, &found) != 0) return false;
  *info = info_of(&found);
  return true;
}

ptrdiff_t heed_os_read(int descriptor, uint64_t offset, void *to, size_t count) {
  for (;;) {
    const ssize_t got = pread(descriptor, to, count, (off_t)offset);
    if (got >= 0 || errno != EINTR) return (ptrdiff_t)got;
  }
}

void heed_os_close(int descriptor) { close(descriptor); }

heed_os_folder *heed_os_folder_open(const char *path) { return (heed_os_folder *)opendir(path); }

const char *heed_os_folder_next(heed_os_folder *folder) {
  errno = 0;
  const struct dirent *entry = readdir((DIR *)folder);
  return entry ? entry->d_name : NULL;
}

void heed_os_folder_rewind(heed_os_folder *folder) { rewinddir((DIR *)folder); }

void heed_os_folder_close(heed_os_folder *folder) { closedir((DIR *)folder); }

/* ------------------------------------------------------------------------------------- streams */

FILE *heed_os_stream(const char *path, const char *mode) { return fopen(path, mode); }

FILE *heed_os_standard_in(void) { return stdin; }

FILE *heed_os_temporary(void) { return tmpfile(); }

bool heed_os_seek(FILE *file, uint64_t offset) {
  return fseeko(file, (off_t)offset, SEEK_SET) == 0;
}

bool heed_os_tell(FILE *file, uint64_t *offset) {
  const off_t at = ftello(file);
  *offset = (uint64_t)at;
  return at >= 0;
}

uint64_t heed_os_stream_size(FILE *file) {
  const off_t size = fseeko(file, 0, SEEK_END) == 0 ? ftello(file) : 0;
  rewind(file);
  return size > 0 ? (uint64_t)size : 0;
}

FILE *heed_os_create(const char *path, const unsigned *mode) {
  const int descriptor =
      open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode ? (mode_t)0600 : (mode_t)0666);
  if (descriptor < 0) return NULL;
  FILE *file = mode && fchmod(descriptor, (mode_t)*mode) != 0 ? NULL : fdopen(descriptor, "w+b");
  if (file) return file;
  const int reason = errno;
  close(descriptor);
  unlink(path);
  return errno = reason, NULL;
}

/* --------------------------------------------------------------------------------------- names */

#define MOST_LINKS 40

/* The target of the link at `path`, from its folder, in its place. */
static int follow(char path[HEED_PATH_SIZE]) {
  char target[HEED_PATH_SIZE];
  const ssize_t length = readlink(path, target, sizeof target - 1);
  if (length < 0) return errno;
  target[length] = '\0';
  char *slash = strrchr(path, '/'), *end = slash && target[0] != '/' ? slash + 1 : path;
  if ((size_t)(end - path) + (size_t)length >= HEED_PATH_SIZE) return ENAMETOOLONG;
  memcpy(end, target, (size_t)length + 1);
  return 0;
}

/* A link stays one and its target is written. realpath follows links to what is there; to what is
 * not yet, they are followed here. */
int heed_file_target(const char *path, char resolved[HEED_PATH_SIZE]) {
  struct stat info;
  if (strlen(path) >= HEED_PATH_SIZE) return ENAMETOOLONG;
  strcpy(resolved, path);
  for (int links = 0; links < MOST_LINKS; links++) {
    char *real = realpath(resolved, NULL);
    const bool fits = real && strlen(real) < HEED_PATH_SIZE;
    if (fits) strcpy(resolved, real);
    free(real);
    if (real) return fits ? 0 : ENAMETOOLONG;
    if (errno == ELOOP) return ELOOP;
    /* a pipe, by /dev/stdout: it is there and has no path */
    if (stat(resolved, &info) == 0) return 0;
    /* not there yet; what else is wrong shows when it is opened */
    if (lstat(resolved, &info) != 0 || !S_ISLNK(info.st_mode)) return 0;
    const int reason = follow(resolved);
    if (reason) return reason;
  }
  return ELOOP;
}

bool heed_os_replace(const char *from, const char *to) { return rename(from, to) == 0; }

void heed_os_remove(const char *path) { unlink(path); }

bool heed_os_make_folder(const char *path, unsigned mode) { return mkdir(path, (mode_t)mode) == 0; }

void heed_os_remove_folder(const char *path) { rmdir(path); }

long heed_os_process(void) { return (long)getpid(); }
