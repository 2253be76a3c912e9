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

bool heed_vk_cache_file_replace(const char *from, const char *to) { return rename(from, to) == 0; }

void heed_vk_cache_file_remove(const char *path) { unlink(path); }

void heed_vk_cache_folder_make(const char *path) { mkdir(path, 0700); }

long heed_vk_cache_process(void) { return (long)getpid(); }
#else
/* Windows: a folder's rights are those of its files, and a user's own folders are for that user. */
#define WIN32_LEAN_AND_MEAN
#include "vulkan/host/cache_file.h"

#include <windows.h>

#define MOST 1024

static bool widen(const char *path, wchar_t wide[MOST]) {
  return MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, MOST) > 0;
}

FILE *heed_vk_cache_file_open(const char *path, bool *refused) {
  wchar_t wide[MOST];
  *refused = false;
  if (!widen(path, wide)) return NULL;
  const DWORD found = GetFileAttributesW(wide);
  *refused = found != INVALID_FILE_ATTRIBUTES && found & FILE_ATTRIBUTE_REPARSE_POINT;
  return *refused ? NULL : _wfopen(wide, L"rb");
}

FILE *heed_vk_cache_file_create(const char *path) {
  wchar_t wide[MOST];
  return widen(path, wide) ? _wfopen(wide, L"wb") : NULL;
}

bool heed_vk_cache_file_replace(const char *from, const char *to) {
  wchar_t source[MOST], target[MOST];
  return widen(from, source) && widen(to, target) &&
         MoveFileExW(source, target, MOVEFILE_REPLACE_EXISTING);
}

void heed_vk_cache_file_remove(const char *path) {
  wchar_t wide[MOST];
  if (widen(path, wide)) DeleteFileW(wide);
}

void heed_vk_cache_folder_make(const char *path) {
  wchar_t wide[MOST];
  if (widen(path, wide)) CreateDirectoryW(wide, NULL);
}

long heed_vk_cache_process(void) { return (long)GetCurrentProcessId(); }
#endif
