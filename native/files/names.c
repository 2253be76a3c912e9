/* What the name of a path tells. See names.h. */
#define _POSIX_C_SOURCE 200809L
#include "files/names.h"

#include <string.h>
#include <strings.h>

#include "files/os.h"

bool heed_ends_with(const char *text, const char *end) {
  const size_t length = strlen(text), want = strlen(end);
  return length >= want && strcmp(text + length - want, end) == 0;
}

bool heed_ends_with_any_case(const char *text, const char *end) {
  const size_t length = strlen(text), want = strlen(end);
  return length >= want && strcasecmp(text + length - want, end) == 0;
}

bool heed_is_directory(const char *path) {
  heed_os_info info;
  return heed_os_look(path, &info) && info.kind == HEED_OS_FOLDER;
}

const char *heed_last_name(const char *path) {
  const char *name = path;
  for (; *path; path++)
    if (heed_os_separates(*path)) name = path + 1;
  return name;
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
