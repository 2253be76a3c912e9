/* names.json and hints.json: what a user says of a model. Either may have both: what its tensors
 * are called (model/vit/named.h), and facts that no tensor tells. Facts of hints.json are taken
 * before those of names.json, and these before what config.json says. */
#ifndef HEED_MODEL_CONFIG_FACTS_H
#define HEED_MODEL_CONFIG_FACTS_H

#include "model/config/config.h"

/* Reads both files where they are among `files`. Statuses: INVALID_FILE, UNSUPPORTED, IO,
 * OUT_OF_MEMORY. */
heed_status heed_config_take_facts(heed_config *config, const heed_model_file *files,
                                   uint32_t file_count, heed_error *error);

extern const char *const heed_said_files[HEED_SAID_FILES];

/* Whether a key is that of a fact; else it should be a role's. */
bool heed_is_fact(const char *key);
/* All of them, for sentences: "heads, norm, ...". */
extern const char heed_fact_names[];

/* The words of those facts that are one of some. */
const char *heed_pool_word(heed_pool pool);
extern const char *const heed_position_words[], *const heed_qkv_words[];

#endif
