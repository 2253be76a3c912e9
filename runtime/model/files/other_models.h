/* Models with parts of a ViT's names that heed's blocks do not compute. */
#ifndef HEED_MODEL_FILES_OTHER_MODELS_H
#define HEED_MODEL_FILES_OTHER_MODELS_H

#include "model/files/checkpoint.h"

/* UNSUPPORTED, with a sentence that names the kind of model, where a tensor tells it. Those that
 * would open as a plain ViT are always told; the rest only once opening `failed`. */
heed_status heed_refuse_other_models(const heed_checkpoint *checkpoint, bool failed,
                                     heed_error *error);

#endif
