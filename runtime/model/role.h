/* What each tensor of a ViT is for, whatever it is called.
 *
 * Four styles of names: Hugging Face before and after its refactoring of 2025, DINOv2's, timm's
 * (query, key and value in one). A model may sit under a prefix ("vit.", "deit.", "timm_model."
 * ...); Hugging Face heads then lie outside of it. */
#ifndef HEED_MODEL_ROLE_H
#define HEED_MODEL_ROLE_H

#include "model/checkpoint.h"
#include "model/config.h"

typedef enum heed_role {
  HEED_ROLE_CLS_TOKEN,           /* [1, 1, C] */
  HEED_ROLE_DISTILLATION_TOKEN,  /* [1, 1, C], optional */
  HEED_ROLE_REGISTER_TOKENS,     /* [1, R, C], optional */
  HEED_ROLE_POSITION_EMBEDDINGS, /* [1, position_rows, C] */
  HEED_ROLE_PATCH_WEIGHT,        /* [C, channels, P, P] */
  HEED_ROLE_PATCH_BIAS,          /* [C] */
  HEED_ROLE_NORM1_WEIGHT,        /* per layer from here; [C] */
  HEED_ROLE_NORM1_BIAS,
  HEED_ROLE_QUERY_WEIGHT, /* [C, C] */
  HEED_ROLE_QUERY_BIAS,   /* [C], optional: all three in every layer, or none */
  HEED_ROLE_KEY_WEIGHT,
  HEED_ROLE_KEY_BIAS,
  HEED_ROLE_VALUE_WEIGHT,
  HEED_ROLE_VALUE_BIAS,
  HEED_ROLE_ATTENTION_OUTPUT_WEIGHT, /* [C, C] */
  HEED_ROLE_ATTENTION_OUTPUT_BIAS,   /* [C] */
  HEED_ROLE_LAYER_SCALE1,            /* [C], optional: both in every layer, or none */
  HEED_ROLE_NORM2_WEIGHT,            /* [C] */
  HEED_ROLE_NORM2_BIAS,
  HEED_ROLE_FC1_WEIGHT,        /* [mlp_width, C] */
  HEED_ROLE_FC1_BIAS,          /* [mlp_width] */
  HEED_ROLE_FC2_WEIGHT,        /* [C, mlp_width] */
  HEED_ROLE_FC2_BIAS,          /* [C] */
  HEED_ROLE_LAYER_SCALE2,      /* [C]; the last one per layer */
  HEED_ROLE_FINAL_NORM_WEIGHT, /* [C] */
  HEED_ROLE_FINAL_NORM_BIAS,
  HEED_ROLE_CLASSIFIER_WEIGHT, /* [classes, C] ([classes, 2 C] for DINOv2), optional: both or none,
                                  as the heads below */
  HEED_ROLE_CLASSIFIER_BIAS,   /* [classes] */
  HEED_ROLE_DISTILLATION_CLASSIFIER_WEIGHT,
  HEED_ROLE_DISTILLATION_CLASSIFIER_BIAS,
  HEED_ROLE_POOLER_WEIGHT, /* [C, C] */
  HEED_ROLE_POOLER_BIAS,   /* [C] */
  HEED_ROLE_COUNT
} heed_role;

typedef enum heed_style {
  HEED_STYLE_HF = 0,
  HEED_STYLE_HF_NEW = 1,
  HEED_STYLE_DINOV2 = 2,
  HEED_STYLE_TIMM = 3,
  HEED_STYLE_COUNT
} heed_style;

#define HEED_PREFIX_SIZE 128
typedef struct heed_roles {
  heed_checkpoint *checkpoint;
  heed_style style;
  heed_family family;
  const heed_rules *rules; /* of the family */
  /* timm's names, which others' files have too, and no config of timm: the family may be another */
  bool assumed;
  /* bit g: the parts of that group (role.c) are in the file or must be */
  uint32_t groups;
  char prefix[HEED_PREFIX_SIZE]; /* of the model's tensors; "" or ends with a dot */
  char outer[HEED_PREFIX_SIZE];  /* of Hugging Face heads */
} heed_roles;

/* Detects style, prefix and family from the names. Statuses: UNSUPPORTED: no ViT, or several. */
heed_status heed_roles_detect(heed_checkpoint *checkpoint, const heed_config *config,
                              heed_roles *roles, heed_error *error);

/* Where a role's elements are: rows of a tensor when the file keeps several roles in one. */
typedef struct heed_role_ref {
  heed_checkpoint_tensor *tensor; /* NULL: optional and absent */
  uint64_t first;                 /* element of the tensor */
  uint64_t count;                 /* elements, also when absent */
} heed_role_ref;

/* The tensor for a role, not yet used; NULL when it is optional and absent. INVALID_FILE when it is
 * missing. */
heed_status heed_roles_find(const heed_roles *roles, heed_role role, uint32_t layer,
                            heed_checkpoint_tensor **tensor, heed_error *error);
/* What a role is called, whatever the file's style: the Hugging Face name without a prefix, with
 * '#' for the layer's number. */
const char *heed_role_pattern(heed_role role);
/* Whether the file has a tensor for the role. */
bool heed_roles_have(const heed_roles *roles, heed_role role, uint32_t layer);
/* Whether the file must have it: it is never optional, or others of its group are there. */
bool heed_roles_need(const heed_roles *roles, heed_role role);
#define HEED_NAME_SIZE 320
/* What the file calls a role, or would call it: the first of its names. "" where the style has
 * none. */
void heed_roles_name(const heed_roles *roles, heed_role role, uint32_t layer,
                     char name[HEED_NAME_SIZE]);
/* The tensor of this name, which has no role: "mask_token", under the model's prefix. NULL: there
 * is none. */
heed_checkpoint_tensor *heed_roles_named(const heed_roles *roles, const char *part);
/* Resolves a role (`layer` is ignored where there is none), checks the shape and marks the tensor
 * as used. Statuses: INVALID_FILE (missing, wrong shape), UNSUPPORTED (dtype). */
heed_status heed_checkpoint_role(const heed_roles *roles, heed_role role, uint32_t layer,
                                 const heed_shape *expected, heed_role_ref *ref, heed_error *error);
/* A tensor of the model that nothing reads could change its results: UNSUPPORTED, naming the first
 * one that is neither a head nor what training leaves. To be asked once every role has been
 * resolved. */
heed_status heed_roles_check_unused(const heed_roles *roles, heed_error *error);

/* Up to three roles read as if joined along axis 0: query, key and value as one projection. An
 * absent part reads as zeros. */
typedef struct heed_weight {
  heed_role_ref part[3];
  uint32_t count;
} heed_weight;
/* A heed_constant_read; user is a heed_weight. */
heed_status heed_weight_read(void *user, uint64_t first, uint64_t count, void *to,
                             heed_error *error);

typedef struct heed_vit_dimensions {
  uint32_t width, layers, heads, mlp_width;
  uint32_t image_size, patch, channels;
  uint32_t classes; /* 0: no classifier */
  uint32_t registers;
  bool distillation;
  uint32_t prefix_tokens; /* CLS, distillation, registers */
  uint32_t position_rows; /* rows of the position embeddings: position_prefix + patches */
  /* how many of the first rows are for prefix tokens: all, only CLS, or none */
  uint32_t position_prefix;
  float epsilon;
  heed_activation activation;
} heed_vit_dimensions;
/* Sizes from the config (as heed_config_open makes it, with or without a file), and from the
 * tensors' shapes where it does not say. Statuses: INVALID_FILE, UNSUPPORTED. */
heed_status heed_roles_dimensions(const heed_roles *roles, const heed_config *config,
                                  heed_vit_dimensions *dimensions, heed_error *error);

#endif
