/* The error for a path that is no model: what the path is, and what the user can do. */
#ifndef HEED_NATIVE_FILES_MISSING_MODEL_H
#define HEED_NATIVE_FILES_MISSING_MODEL_H

#include "heed/base.h"

/* Refuses a path that is not there. Statuses: IO. */
heed_status heed_refuse_missing_model(const char *path, heed_error *error);

#endif
