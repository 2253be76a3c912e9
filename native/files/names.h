/* What the name of a path tells, before the file is opened. */
#ifndef HEED_NATIVE_FILES_NAMES_H
#define HEED_NATIVE_FILES_NAMES_H

#include <stdbool.h>

bool heed_is_directory(const char *path);
/* What follows the last folder of a path. */
const char *heed_last_name(const char *path);
bool heed_ends_with(const char *text, const char *end);
bool heed_ends_with_any_case(const char *text, const char *end);
/* Whether a name ends as a picture's does, of whatever kind. */
bool heed_is_picture_name(const char *name);

#endif
