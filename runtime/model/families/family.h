/* A family of ViTs: names, rules and defaults that belong together. Data alone, one file per family
 * in model/families/. */
#ifndef HEED_MODEL_FAMILIES_FAMILY_H
#define HEED_MODEL_FAMILIES_FAMILY_H

#include "heed/model.h"
#include "model/families/rules.h"
#include "model/names/names.h"

static inline bool heed_is_text(heed_tower tower) { return tower == HEED_TOWER_TEXT; }

enum { HEED_DEFAULT_FULL_LAYERS = 4 };

/* What the family's config means where it leaves a key out; 0: the key must be there. */
typedef struct heed_config_defaults {
  const char *types; /* the model types that it is of, separated by '|'; NULL: all others */
  uint16_t width, layers, heads, mlp_width, image_size, patch, registers;
  uint16_t positions, vocabulary; /* of a text tower */
  uint16_t end;                   /* the id that ends a text; 0: the largest id does */
  uint16_t patches;   /* of a square, in the place of image_size: num_patches says them */
  uint16_t mlp_ratio; /* of a family whose config gives the MLP's width so */
  float epsilon;      /* of the norms; 0: that of the rules */
  const char *gated;  /* the key that says whether the MLP is gated, false by default; or NULL */
  uint16_t window;    /* side of a window in pixels; 0: the family has none */
  uint8_t merge;      /* side of the squares of patches that become one token later; 0: none do */
  /* layers whose attention knows no windows, up to the first 0 */
  uint8_t full_layers[HEED_DEFAULT_FULL_LAYERS];
  bool any_size;        /* there is no key of an image's size */
  uint8_t stage_window; /* side of shifted windows in patches, of layers in stages; 0: none are */
  bool biased;          /* query, key and value have biases, though they have a key of their own */
  uint8_t frames,
      tubelet;          /* of a model of videos: of pixel_values, and of a token; 0: it is none */
  bool rms, query_norm; /* the norms are RMS norms; queries and keys are normed */
} heed_config_defaults;

/* What the family's config calls things where most call them otherwise; NULL: as most do. */
typedef struct heed_config_keys {
  const char *width, *layers, *heads, *epsilon, *biases, *image_size, *channels, *frames,
      *mlp_width;
  /* those that most have not: which norm it is, whether queries and keys have one, whether the
   * final states have none (true by default) */
  const char *norm, *query_norm, *no_final_norm;
  /* What it has besides, separated by '|': keys that other rules read, that tensors tell or that
   * change no state. */
  const char *others;
} heed_config_keys;

typedef struct heed_family {
  const char *name;  /* heed_model_info.family */
  const char *types; /* config.json's model_type, separated by '|' */
  const heed_names *names;
  /* Names of timm's architectures that are of the family, separated by '|'; '*' stands for any
   * text. */
  const char *architectures;
  const char *anchor; /* a part of the anchor that must have been found; NULL: any */
  /* The model's own part of its prefix, "vit.": heads lie beside it. A file with it is of the
   * family. */
  const char *inner;
  /* Tensors that no other family has: any of these makes a file one of the family. They are
   * separated by '|'; ":n" = of n axes. */
  const char *marks;
  const char *excludes; /* the same of tensors that no file of the family has; or NULL */
  /* The same of tensors that others have too. What no mark tells is guessed by them. */
  const char *hints;
  heed_groups has, lacks; /* HEED_GROUP: what a file of the family must have, must not have */
  heed_groups hints_have; /* HEED_GROUP: what it must have besides, to be guessed by its hints */
  heed_groups hints_lack; /* the same of what it must not have */
  /* What is said where neither a config nor a mark tells the family; or NULL: nothing is guessed */
  const char *assumption;
  const char *processor; /* defaults of preprocessing: the class without "ImageProcessor" */
  heed_rules rules;
  uint8_t tower;     /* heed_tower: which part of a model it is */
  bool fallback;     /* also takes files that nothing makes a family's */
  bool inner_shared; /* others have the same inner part: it hints at the family */
  bool head;         /* its config means a pooling attention unless vision_use_head says false */
  const heed_config_defaults *typed; /* of some of its types, the last without types; or NULL */
  heed_config_defaults defaults;     /* of all others */
  heed_config_keys keys;
} heed_family;

#define HEED_FAMILY(name) extern const heed_family heed_family_##name;
#include "model/families/family_list.h"
#undef HEED_FAMILY

/* In the order of the list; NULL after the last. */
const heed_family *heed_family_get(uint32_t index);
/* The first family that names the type; NULL: none does. */
const heed_family *heed_family_of_type(const char *type, heed_tower tower);

/* The defaults of a type's config. */
const heed_config_defaults *heed_family_defaults(const heed_family *family, const char *type);

#endif
