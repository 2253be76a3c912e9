/* The states of patches that methods of features read: last_hidden_state, or those after --layer,
 * without the tokens before the patches. */
#ifndef HEED_EXPLAIN_METHODS_PATCHES_H
#define HEED_EXPLAIN_METHODS_PATCHES_H

#include "explain/method.h"

/* Keeps them. what: the method, for the sentence of a model without. Statuses: as of
 * heed_pass_keep, and INVALID_ARGUMENT for a layer that the model lacks. */
heed_status heed_patches_keep(const heed_explain_run *run, heed_pass *pass, const char *what,
                              heed_error *error);
/* Those of picture b: [N, C], to be freed. Statuses: OUT_OF_MEMORY, those of a session. */
heed_status heed_patches_read(const heed_explain_run *run, const heed_pass *pass, uint32_t b,
                              float **states, heed_error *error);

#endif
