/* A model in words, by its facts alone: heed_model_describe of what is no heed_model. */
#ifndef HEED_MODEL_DESCRIBE_H
#define HEED_MODEL_DESCRIBE_H

#include "heed/model.h"

/* how: its preprocessing; unprepared: why it takes no images, or NULL. Writes and returns as
 * heed_model_describe. */
size_t heed_describe(const heed_model_info *info, const heed_preprocess *how,
                     const heed_error *unprepared, char *text, size_t size);

#endif
