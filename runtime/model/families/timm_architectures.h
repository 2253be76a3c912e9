/* What the name of one of timm's architectures tells, and its files do not. */
#ifndef HEED_MODEL_FAMILIES_TIMM_ARCHITECTURES_H
#define HEED_MODEL_FAMILIES_TIMM_ARCHITECTURES_H

#include "model/families/rules.h"

/* Whether a name is of a list of patterns, separated by '|'; '*' in one stands for any text. */
bool heed_architecture_is(const char *architecture, const char *patterns);
/* Heads of a model of that width; 0: the name tells nothing. */
uint32_t heed_architecture_heads(const char *architecture, uint32_t width);
/* The side of the grid to which the rotary positions of a model of that width are scaled; 0: the
 * name tells nothing. */
uint32_t heed_architecture_reference(const char *architecture, uint32_t width);
/* Changes the rules that the name tells. UNSUPPORTED: an architecture of other blocks. `where`
 * begins the sentence. */
heed_status heed_architecture_rules(const char *architecture, const char *where, heed_rules *rules,
                                    heed_error *error);

#endif
