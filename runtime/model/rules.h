/* What the families of ViTs do differently and no tensor tells: one row of data a family. */
#ifndef HEED_MODEL_RULES_H
#define HEED_MODEL_RULES_H

#include "model/positions.h"

/* Whose rules a model follows. DINO in Hugging Face's names is HEED_FAMILY_VIT. */
typedef enum heed_family {
  HEED_FAMILY_VIT = 0,
  HEED_FAMILY_DEIT,
  HEED_FAMILY_DINOV2,
  HEED_FAMILY_DINOV2_REGISTERS,
  HEED_FAMILY_DINOV2_ORIGINAL, /* files of facebookresearch/dinov2 */
  HEED_FAMILY_DINOV2_ORIGINAL_REGISTERS,
  HEED_FAMILY_TIMM,
  HEED_FAMILY_COUNT
} heed_family;

/* Which tokens before the patches have a row of their own in the position embeddings. */
typedef enum heed_position_tokens {
  HEED_POSITION_TOKENS_ALL,
  HEED_POSITION_TOKENS_CLS,
  HEED_POSITION_TOKENS_ANY /* all, CLS alone or none: the number of rows tells */
} heed_position_tokens;

typedef struct heed_rules {
  const char *name; /* of the family: "vit" */
  const heed_position_rule *positions;
  heed_position_tokens position_tokens;
  bool layer_scale;      /* every layer has both scales */
  bool pools_patches;    /* the classifier reads the mean of the patches beside CLS */
  float epsilon;         /* of the norms, where no config says it */
  const char *processor; /* whose defaults prepare pictures: the class without "ImageProcessor" */
} heed_rules;

const heed_rules *heed_family_rules(heed_family family);

#endif
