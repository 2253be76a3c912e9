#if defined(__unix__) || defined(__APPLE__)
#define _XOPEN_SOURCE 700 /* O_NOFOLLOW, fdopen */
#include "vulkan/host/cache_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

FILE *heed_vk_cache_file_open(const char *path, bool *refused) {
  struct stat info;
  const int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  *refused = descriptor < 0 && errno == ELOOP;
  if (descriptor < 0) return NULL;
  const bool ours = fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode) &&
                    info.st_uid == geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  FILE *file = ours ? fdopen(descriptor, "rb") : NULL;
  *refused = !ours;
  if (!file) close(descriptor);
  return file;
}

FILE *heed_vk_cache_file_create(const char *path) {
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  int descriptor = open(path, flags, 0600);
  if (descriptor < 0 && errno == EEXIST && unlink(path) == 0) descriptor = open(path, flags, 0600);
  FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
  if (descriptor >= 0 && !file) close(descriptor);
  return file;
}
#else
#include "vulkan/host/cache_file.h"

FILE *heed_vk_cache_file_open(const char *path, bool *refused) {
  *refused = false;
  return fopen(path, "rb");
}

FILE *heed_vk_cache_file_create(const char *path) { return fopen(path, "wb"); }
#endif
