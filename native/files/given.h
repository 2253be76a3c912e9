/* What was given in the place of a model: named, with how to go on. */
#ifndef HEED_NATIVE_FILES_GIVEN_H
#define HEED_NATIVE_FILES_GIVEN_H

#include "heed/heed.h"

bool heed_is_directory(const char *path);
bool heed_ends_with(const char *text, const char *end);
/* Whether a name ends as a picture's does, of whatever kind. */
bool heed_is_picture_name(const char *name);

/* Refuses a path that is not there. Statuses: IO. */
heed_status heed_refuse_missing_model(const char *path, heed_error *error);

#endif
