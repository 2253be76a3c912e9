/* What was given in the place of a model: named, with how to go on. */
#ifndef HEED_NATIVE_FILES_GIVEN_H
#define HEED_NATIVE_FILES_GIVEN_H

#include "heed/base.h"

/* Refuses a path that is not there. Statuses: IO. */
heed_status heed_refuse_missing_model(const char *path, heed_error *error);

#endif
