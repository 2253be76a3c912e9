/* What tar archives need with libarchive and without. See tars.h. */
#define _POSIX_C_SOURCE 200809L
#include "tars.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool survey_is_tar_name(const char *path) {
  static const char *const ends[] = {".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz", ".tar.zst"};
  const size_t length = strlen(path);
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    const size_t end = strlen(ends[i]);
    if (length > end && strcasecmp(path + length - end, ends[i]) == 0) return true;
  }
  return false;
}

void survey_member_free(survey_member *member) {
  free(member->path);
  free(member->label);
  free(member->bytes);
  free(member->why);
  *member = (survey_member){0};
}
