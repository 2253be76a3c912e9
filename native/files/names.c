/* What the name of a path tells. See names.h. */
#define _POSIX_C_SOURCE 200809L
#include "files/names.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

bool heed_ends_with(const char *text, const char *end) {
  const size_t length = strlen(text), want = strlen(end);
  return length >= want && strcmp(text + length - want, end) == 0;
}

bool heed_ends_with_any_case(const char *text, const char *end) {
  const size_t length = strlen(text), want = strlen(end);
  return length >= want && strcasecmp(text + length - want, end) == 0;
}

bool heed_is_directory(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static bool has_end(const char *name, const char *const *ends) {
  for (; *ends; ends++) {
    const size_t length = strlen(name), end = strlen(*ends);
    if (length > end && strcasecmp(name + length - end, *ends) == 0) return true;
  }
  return false;
}

bool heed_is_picture_name(const char *name) {
  static const char *const ends[] = {".png",  ".jpg", ".jpeg", ".jpe",  ".jfif", ".webp",
                                     ".gif",  ".bmp", ".tif",  ".tiff", ".heic", ".heif",
                                     ".avif", ".jxl", ".svg",  NULL};
  return has_end(name, ends);
}
