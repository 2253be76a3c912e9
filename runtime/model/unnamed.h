/* The config of a model whose family heed does not know: labels and preprocessing. */
#ifndef HEED_MODEL_UNNAMED_H
#define HEED_MODEL_UNNAMED_H

#include "model/config.h"

/* What is assumed of images where no file says it, in words. */
#define HEED_UNNAMED_PREPROCESS "preprocessing of ViT (mean 0.5, std 0.5)"

/* Reads config.json and preprocessor_config.json where they are among `files`, as JSON alone. Frees
 * with heed_config_destroy. Statuses: INVALID_FILE, IO, OUT_OF_MEMORY. */
heed_status heed_unnamed_open(const heed_context *context, const heed_model_file *files,
                              uint32_t count, heed_config **config, heed_error *error);
/* The preprocessing for images of a model of side x side pixels: the file's, else that of ViT.
 * Statuses: INVALID_FILE, UNSUPPORTED. */
heed_status heed_unnamed_preprocess(const heed_config *config, uint32_t side,
                                    heed_preprocess *preprocess, heed_error *error);
/* The side of images that config.json says, or else preprocessor_config.json; 0: neither. */
uint32_t heed_unnamed_side(const heed_config *config);
/* That of the config's id2label, or NULL. Valid as long as the config. */
const char *heed_unnamed_label(const heed_config *config, uint32_t index);

#endif
