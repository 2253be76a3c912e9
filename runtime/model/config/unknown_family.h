/* The config of a model whose family heed does not know: labels and preprocessing. */
#ifndef HEED_MODEL_CONFIG_UNKNOWN_FAMILY_H
#define HEED_MODEL_CONFIG_UNKNOWN_FAMILY_H

#include "model/config/config.h"

/* Reads config.json, the image processor's file, names.json and hints.json where they are among
 * `files`. Frees with heed_config_destroy. Statuses: INVALID_FILE, IO, OUT_OF_MEMORY. */
heed_status heed_unnamed_open(const heed_context *context, const heed_model_file *files,
                              uint32_t count, heed_config **config, heed_error *error);
/* The preprocessing for images of a model of side x side pixels of so many channels: the file's,
 * else that of ViT. With a range pixels are numbers of 0 to range, and the model normalises them.
 * Statuses: INVALID_FILE, UNSUPPORTED. */
heed_status heed_unnamed_preprocess(const heed_config *config, uint32_t side, uint32_t channels,
                                    float range, heed_preprocess *preprocess, heed_error *error);
/* How the tokens of maps lie: as the graph has them; in heed's order, which is another; as the
 * graph has them, which nothing tells; put there from windows or the like; and from keys of several
 * patches. */
enum {
  HEED_ORDER_OWN,
  HEED_ORDER_CHANGED,
  HEED_ORDER_ASSUMED,
  HEED_ORDER_PLACED,
  HEED_ORDER_MERGED
};
/* What that assumes of images because no file says it, and of the order of tokens, in words behind
 * `before`; else the text stays as it is. */
void heed_unnamed_assumed(const heed_config *config, float range, uint32_t order,
                          const char *before, char *text, size_t size);
/* Which stage of the graph hints ask for, from 1 on; 0: none. */
uint32_t heed_unnamed_stage(const heed_config *config);
/* The side of images that config.json says, or else preprocessor_config.json; 0: neither. */
uint32_t heed_unnamed_side(const heed_config *config);
/* That of the config's id2label, or NULL. Valid as long as the config. */
const char *heed_unnamed_label(const heed_config *config, uint32_t index);

#endif
