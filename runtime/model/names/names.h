/* What a style of checkpoints calls each role: data alone, one file per style in model/names/. */
#ifndef HEED_MODEL_NAMES_NAMES_H
#define HEED_MODEL_NAMES_NAMES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef enum heed_role {
#define HEED_ROLE(name, group, shape, text) HEED_ROLE_##name,
#define HEED_ROLE_PAIR(name, group, bias_group, shape, text) \
  HEED_ROLE_##name##_WEIGHT, HEED_ROLE_##name##_BIAS,
#include "model/names/role_list.h"
#undef HEED_ROLE
#undef HEED_ROLE_PAIR
  HEED_ROLE_COUNT
} heed_role;

/* Roles that come together. */
typedef enum heed_group {
  HEED_GROUP_NONE = 0,
  HEED_GROUP_CLS,
  HEED_GROUP_DISTILLATION,
  HEED_GROUP_REGISTERS,
  HEED_GROUP_POSITIONS,
  HEED_GROUP_PATCH_BIAS,
  HEED_GROUP_PRE_NORM,
  HEED_GROUP_FREQUENCIES,
  HEED_GROUP_PERIODS,
  HEED_GROUP_QKV_BIASES,
  HEED_GROUP_KEY_BIAS,
  HEED_GROUP_POSITION_BIAS,
  HEED_GROUP_SHARED_POSITION_BIAS,
  HEED_GROUP_QUERY_KEY_NORMS,
  HEED_GROUP_ATTENTION_NORM,
  HEED_GROUP_LAYER_SCALES,
  HEED_GROUP_GATE,
  HEED_GROUP_MLP_NORM,
  HEED_GROUP_FINAL_NORM,
  HEED_GROUP_POOL_NORM,
  HEED_GROUP_PROBE,
  HEED_GROUP_PROBE_NORMS,
  HEED_GROUP_PROJECTION,
  HEED_GROUP_CLASSIFIER,
  HEED_GROUP_DISTILLATION_CLASSIFIER,
  HEED_GROUP_POOLER,
  HEED_GROUP_PROJECTION_BIAS,
  HEED_GROUP_PATCH_NORMS,
  HEED_GROUP_OUTPUT,
  HEED_GROUP_OUTPUT_BIAS,
  HEED_GROUP_HEAD_NORM,
  HEED_GROUP_HEAD_HIDDEN,
  HEED_GROUP_RELATIVE
} heed_group;
/* Bits of groups. */
typedef uint64_t heed_groups;
#define HEED_GROUP(name) ((heed_groups)1 << HEED_GROUP_##name)

/* A role and its pattern, names separated by '|'. In a name:
 *
 *   #     at the start: the layer, as the style's anchor spells it: "encoder.layer.3.", in an
 * anchor with two of them by stage and block: "layers.1.blocks.0."; elsewhere its number >     at
 * the start: the stage whose patches are merged before the layer, "encoder.layers.0."; only of the
 * first layer of a stage &     what the layers lie in: of "encoder.layers.3." it is "encoder." = at
 * the start: the whole name, without any prefix %     the number of a head: the tensors of all
 * heads are joined {a,b} either of both $n    one of heed_name_lists[n] /     at the start: beside
 * the model, not under its own part of the prefix . _   at the end: `weight` and `bias` follow, for
 * the two roles of a pair
 *   @k/n  the role is part k of the tensor's rows, of n equal parts
 *   ~k/n  the same, if the tensor has n rows for each column of the second linear map of the MLP
 *   ^     stored transposed: [in, out]
 *   <     may be stored without its leading axes of 1
 *   !     only if it has one axis where the role has one, more where it has more
 *
 * A '?' before the pattern: the file may lack the role; after it: may lack the bias of the pair. */
typedef struct heed_names {
  /* Names that every model of the style has and no other style, separated by '|'. '#' stands before
   * what follows the number of the first layer. NULL: the names of the first norm are, after any
   * name of layers. */
  const char *anchors;
  /* A file that has all of these names, separated by '&', has two classifiers. */
  const char *two_classifiers;
  const char *patterns; /* one after the other, up to "" */
  const uint8_t *roles; /* heed_role of each; of a pair the weight */
} heed_names;

/* Rows are ROW(pattern, ROLE). One text for all is smaller than a pointer to each. */
#define HEED_NAME_PATTERN(pattern, role) pattern "\0"
#define HEED_NAME_ROLE(pattern, role) HEED_ROLE_##role,
#define HEED_NAMES(name, anchors, two_classifiers, ROWS)                                   \
  const heed_names heed_names_##name = {anchors, two_classifiers, ROWS(HEED_NAME_PATTERN), \
                                        (const uint8_t[]){ROWS(HEED_NAME_ROLE)}}
static inline const char *heed_next_pattern(const char *pattern) {
  return pattern + strlen(pattern) + 1;
}

/* Lists of names that several rows share, each as the text behind an opening brace. */
extern const char *const heed_name_lists[];

extern const heed_names heed_names_hugging_face, heed_names_hugging_face_clip, heed_names_timm,
    heed_names_open_clip, heed_names_torchvision, heed_names_hugging_face_text,
    heed_names_open_clip_text, heed_names_own, heed_names_aimv2, heed_names_internvit,
    heed_names_moonvit, heed_names_pixtral, heed_names_swin, heed_names_swin_timm, heed_names_sam;

#endif
