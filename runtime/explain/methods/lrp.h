/* What CP-LRP and AttnLRP have in common: input times a changed gradient. */
#ifndef HEED_EXPLAIN_METHODS_LRP_H
#define HEED_EXPLAIN_METHODS_LRP_H

#include "explain/backward.h"

/* Adds <name>.pixel_values [B, channels, height, width] and <name>.tokens [B, T], of the
 * embeddings. */
heed_status heed_lrp(heed_explain_run *run, const char *name, const heed_gradient_rules *rules,
                     heed_error *error);

#endif
