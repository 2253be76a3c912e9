/* The tensors' names in names.json and hints.json, {"query": "blocks.{i}.attn.qkv.* 1/3", ...}, as
 * a style of names. The keys are the roles of names/role_list.h in small letters, of a pair with or
 * without ".weight" and ".bias". */
#ifndef HEED_MODEL_CONFIG_NAMED_H
#define HEED_MODEL_CONFIG_NAMED_H

#include "model/config/config.h"
#include "model/config/fields.h"

/* Reads the names of both files, after their facts. Statuses: INVALID_FILE, OUT_OF_MEMORY. */
heed_status heed_config_take_names(heed_config *config, heed_error *error);

/* What such a file calls a role, of a bias the pair: "query". */
void heed_role_key(heed_role role, char key[64]);

/* The pattern of a role, which begins with '='; NULL: there is none. */
const char *heed_named_pattern(const heed_names *names, heed_role role);

/* Whether the names are a whole style: that of the first norm and of the patches are there. */
bool heed_named_whole(const heed_names *names);

#endif
