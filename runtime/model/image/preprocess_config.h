/* What the readers of preprocessing share. */
#ifndef HEED_MODEL_PREPROCESS_CONFIG_H
#define HEED_MODEL_PREPROCESS_CONFIG_H

#include "model/config/config.h"
#include "model/config/fields.h"
#include "model/image/processor.h"

/* What the class does for a model of images of this size. */
void heed_preprocess_defaults(const heed_processor *class, uint32_t image_size,
                              heed_preprocess *to);
/* Three numbers, a list of one, or a number: *to is left alone when absent. */
heed_status heed_preprocess_triple(const heed_fields *fields, const char *key, bool positive,
                                   float to[3]);
/* One of Pillow's filters, by number or name: *to is left alone when absent. */
heed_status heed_preprocess_resample(const heed_fields *fields, const char *key, uint32_t *to);

/* The object of an image processor of transformers; `class` is that of the model's family. */
heed_status heed_preprocess_transformers(const heed_fields *fields, const heed_processor *class,
                                         uint32_t image_size, heed_preprocess *to);
/* The class that the object names; NULL: none, or another. */
const heed_processor *heed_preprocess_class(const heed_fields *fields);

#endif
