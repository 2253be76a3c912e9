/* What the readers of preprocessing share. */
#ifndef HEED_MODEL_IMAGE_PREPROCESS_CONFIG_H
#define HEED_MODEL_IMAGE_PREPROCESS_CONFIG_H

#include "model/config/config.h"
#include "model/config/fields.h"
#include "model/image/processor.h"

/* What the class does for a model of images of this size and to->channels, which stays. Of another
 * number of channels than three each has the mean of the class's three. */
void heed_preprocess_defaults(const heed_processor *class, uint32_t image_size,
                              heed_preprocess *to);
/* A number for each channel, or one for all, as a list or not: *to is left alone when absent. A
 * list of another length fits where its numbers are equal. */
heed_status heed_preprocess_numbers(const heed_fields *fields, const char *key, bool positive,
                                    uint32_t channels, float *to);
/* One of Pillow's filters, by number or name: *to is left alone when absent. */
heed_status heed_preprocess_resample(const heed_fields *fields, const char *key, uint32_t *to);

/* The object of an image processor of transformers; `class` is that of the model's family. */
heed_status heed_preprocess_transformers(const heed_fields *fields, const heed_processor *class,
                                         uint32_t image_size, heed_preprocess *to);
/* The class that the object names, NULL where heed does not know it; *type is what it says, NULL:
 * nothing. */
const heed_processor *heed_preprocess_class(const heed_fields *fields, const char **type);

#endif
