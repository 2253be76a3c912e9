/* Folders of tests. See folder.h. */
#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include "support/folder.h"

#include <windows.h>
/* after it */
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

#define MOST 4096

/* With the mark by which a path may be long. */
static bool widen(const char *path, wchar_t wide[MOST]) {
  wchar_t given[MOST];
  if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, given, MOST) == 0) return false;
  wcscpy(wide, L"\\\\?\\");
  const DWORD length = GetFullPathNameW(given, MOST - 4, wide + 4, NULL);
  return length > 0 && length < MOST - 4;
}

bool test_folder_add(const char *path) {
  wchar_t wide[MOST];
  return widen(path, wide) && CreateDirectoryW(wide, NULL);
}

bool test_folder_remove(const char *path) {
  wchar_t wide[MOST];
  return widen(path, wide) && RemoveDirectoryW(wide);
}

bool test_hard_link(const char *file, const char *name) {
  wchar_t from[MOST], to[MOST];
  return widen(file, from) && widen(name, to) && CreateHardLinkW(to, from, NULL);
}

bool test_folder_make(char *folder, size_t size, const char *stem) {
  const char *place = getenv("TEMP");
  for (int i = 0; i < 100; i++) {
    snprintf(folder, size, "%s/%s_%lu_%d", place ? place : ".", stem, GetCurrentProcessId(), i);
    for (char *at = folder; *at; at++)
      if (*at == '\\') *at = '/';
    if (test_folder_add(folder)) return true;
  }
  return false;
}
#else
#define _XOPEN_SOURCE 700
#include "support/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

bool test_folder_add(const char *path) { return mkdir(path, 0700) == 0; }

bool test_folder_remove(const char *path) { return rmdir(path) == 0; }

bool test_hard_link(const char *file, const char *name) { return link(file, name) == 0; }

bool test_folder_make(char *folder, size_t size, const char *stem) {
  snprintf(folder, size, "/tmp/%s_XXXXXX", stem);
  return mkdtemp(folder) != NULL;
}
#endif
