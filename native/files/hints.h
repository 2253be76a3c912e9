/* "heads=4,norm=after" as the text of a hints.json. */
#ifndef HEED_NATIVE_FILES_HINTS_H
#define HEED_NATIVE_FILES_HINTS_H

#include "heed/heed.h"

/* What is a number stays one, all else is a string. *json is to be freed with heed_free. Statuses:
 * INVALID_ARGUMENT (no KEY=VALUE), OUT_OF_MEMORY. */
heed_status heed_hints_json(const heed_context *context, const char *hints, char **json,
                            heed_error *error);

#endif
