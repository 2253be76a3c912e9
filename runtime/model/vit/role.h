/* The tensors of a ViT by what they are for, whatever they are called.
 *
 * Names are data (model/names/), and so are the facts that no tensor tells (model/families/). A
 * model may sit under a prefix ("vit.", "deit.", "timm_model." ...); Hugging Face heads then lie
 * outside of it. */
#ifndef HEED_MODEL_VIT_ROLE_H
#define HEED_MODEL_VIT_ROLE_H

#include "model/config/config.h"
#include "model/families/family.h"
#include "model/files/checkpoint.h"
#include "model/files/training.h"

#define HEED_PREFIX_SIZE 128
#define HEED_NAME_SIZE 320
typedef struct heed_roles {
  heed_checkpoint *checkpoint;
  heed_tower tower;
  const heed_names *names;
  const heed_names *named; /* what names.json calls roles, which is looked for first; or NULL */
  const heed_family *family;
  heed_rules rules;       /* the family's */
  heed_training training; /* what else the file tells, which weights win over */
  uint32_t hinted;        /* bits of heed_training_fact: those that were taken of it */
  const char *assumption; /* the family's, where it was made; or NULL */
  heed_groups groups;     /* HEED_GROUP: of which the file has a role, or must have all */
  heed_groups lacks;      /* HEED_GROUP: that the family or its rules have no use for */
  /* Of layers in stages: their blocks, and whether a stage has the merge before it, not after it;
   * 0: there are no stages */
  uint32_t stages, blocks[HEED_MOST_STAGES];
  bool merges_first;
  const char *layer; /* what layers are called, in the anchor that was found: "encoder.layer." */
  uint32_t layer_length;
  /* Of a linear map of pixels that are stored channels last: how many; 0: channels first */
  uint32_t patch_channels;
  uint32_t qkv_block; /* rows of query, key and value that lie together in one map; 0: all */
  char prefix[HEED_PREFIX_SIZE]; /* of the model's tensors; "" or ends with a dot */
  char outer[HEED_PREFIX_SIZE];  /* of Hugging Face heads */
} heed_roles;

/* Detects style, prefix and family. Statuses: UNSUPPORTED: no ViT, or several. */
heed_status heed_roles_detect(heed_checkpoint *checkpoint, const heed_config *config,
                              heed_roles *roles, heed_error *error);
/* The processor (image/processor.h) of those whose training wrote weights with timm's names, by
 * what else their file holds; NULL: nothing tells. */
const char *heed_roles_maker(const heed_roles *roles);

/* Where a file keeps a role. */
typedef struct heed_place {
  heed_checkpoint_tensor *tensor; /* NULL: nowhere */
  uint32_t part, parts;           /* rows part / parts of the tensor */
  uint32_t heads;                 /* tensors, one a head, that are joined; 0: it is one */
  bool transposed;                /* the tensor is [in, out] */
  bool flat;                      /* it lacks the leading axes of 1 */
} heed_place;

/* Where the elements of a role are. What is added here is added to put_role (define.c), too. */
typedef struct heed_role_ref {
  heed_checkpoint_tensor *tensor; /* NULL: optional and absent */
  uint64_t first;                 /* element of the tensor */
  uint64_t count;                 /* elements, also when absent */
  /* stored transposed: element (row, column) is first + column * stride + row of the tensor; 0: in
   * one piece */
  uint64_t stride;
  uint32_t columns;
  /* joined of one tensor a head (next_head), in rows; `diagonal`: each has columns of its own too;
   * 0: it is one tensor */
  uint32_t heads;
  bool diagonal;
  /* rows in blocks of this many, each followed by those of other roles: block b is block b * parts
   * + part of the tensor; 0: in one piece */
  uint32_t block, part, parts;
  /* pixels of a patch are stored channels last: [rows, P P, channels]; 0: channels first */
  uint32_t channels;
  /* [rows, frames, columns], whose frames are summed; with channels [rows, channels, frames,
   * columns], of which the role is [rows, frames, channels, columns]; 0: there are none */
  uint32_t frames;
} heed_role_ref;

/* Whether people wrote the model themselves: patches may be embedded by a linear map. */
static inline bool heed_roles_own(const heed_roles *roles) {
  return roles->named || roles->family->names == &heed_names_own;
}

/* The place of a role, not yet used; a tensor NULL when the role is optional and absent.
 * INVALID_FILE when it is missing. */
heed_status heed_roles_find(const heed_roles *roles, heed_role role, uint32_t layer,
                            heed_place *place, heed_error *error);
/* What a role is called, whatever the file's style: the Hugging Face name without a prefix, with
 * '#' for the layer's number. */
const char *heed_role_pattern(heed_role role);
/* The name of a role in every layer, as names.json has it: "blocks.{i}.attn.qkv.weight 1/3". ""
 * where the file has no tensor for it. */
void heed_roles_spelling(const heed_roles *roles, heed_role role, char name[HEED_NAME_SIZE]);
/* Whether the style has a name for the role. */
bool heed_roles_spell(const heed_roles *roles, heed_role role);
/* Whether the file has a tensor for the role. */
bool heed_roles_have(const heed_roles *roles, heed_role role, uint32_t layer);
/* Whether the file must have it: it is never optional, or others of its group are there. */
bool heed_roles_need(const heed_roles *roles, heed_role role);
/* What the file calls a role, or would call it: the first of its names. "" where the style has
 * none. */
void heed_roles_name(const heed_roles *roles, heed_role role, uint32_t layer,
                     char name[HEED_NAME_SIZE]);
/* The tensor of a name, spelled as in heed_names: "mask_token", under the model's prefix. NULL:
 * there is none. */
heed_checkpoint_tensor *heed_roles_named(const heed_roles *roles, const char *part);
/* The shape that the role has by that of its tensor: of its part, not transposed, with the leading
 * axes up to that rank. Rank 0: it cannot be split so. */
heed_shape heed_place_shape(const heed_place *place, uint32_t rank);
/* The tensor that the file has for a role, NULL when it has none, and the shape of the role. */
typedef struct heed_stored_role {
  const heed_checkpoint_tensor *tensor;
  heed_shape shape;
} heed_stored_role;
/* Of that rank. Statuses: INVALID_FILE, UNSUPPORTED. */
heed_status heed_roles_stored(const heed_roles *roles, heed_role role, uint32_t layer,
                              uint32_t rank, heed_stored_role *stored, heed_error *error);
/* HEED_GROUP: those of which the file has a role. */
heed_groups heed_roles_groups(const heed_roles *roles);
/* Whether the model is an encoder of MoCo v3's training: its small one has 12 heads. */
bool heed_roles_of_moco(const heed_roles *roles);
/* Whether a tensor of this name is what some role is called. */
bool heed_roles_name_one(const heed_roles *roles, const char *name);
/* Resolves a role (`layer` is ignored where there is none), checks the shape and marks the tensor
 * as used. Statuses: INVALID_FILE (missing, wrong shape), UNSUPPORTED (dtype). */
heed_status heed_checkpoint_role(const heed_roles *roles, heed_role role, uint32_t layer,
                                 const heed_shape *expected, heed_role_ref *ref, heed_error *error);
/* A tensor of the model that nothing reads could change its results: UNSUPPORTED, naming the first
 * one that is neither a head nor what training leaves. To be asked once every role has been
 * resolved. */
heed_status heed_roles_check_unused(const heed_roles *roles, heed_error *error);

/* Elements [first, first + count) of a role as floats; zeros of an absent one. */
heed_status heed_role_read(const heed_role_ref *ref, uint64_t first, uint64_t count, float *to,
                           heed_error *error);
/* Up to three roles read as if joined along axis 0: query, key and value as one projection. An
 * absent part reads as zeros. */
typedef struct heed_weight {
  heed_role_ref part[3];
  uint32_t count;
} heed_weight;
/* A heed_constant_read; user is a heed_weight. */
heed_status heed_weight_read(void *user, uint64_t first, uint64_t count, void *to,
                             heed_error *error);

/* The layers that share a grid. */
typedef struct heed_vit_stage {
  uint32_t first; /* of them */
  uint32_t width, heads, mlp_width;
  uint32_t window; /* side in patches */
} heed_vit_stage;

typedef struct heed_vit_dimensions {
  uint32_t width, layers, heads, mlp_width;
  uint32_t attention_width; /* of all heads together: C, but in a model that says otherwise */
  uint32_t query_norm;      /* numbers that a norm of queries spans: of a head, or of all */
  uint32_t hidden;          /* width of the classifier's hidden layer; 0: there is none */
  bool linear_patch;        /* patches are embedded by a linear map of their pixels */
  bool heads_guessed;       /* nothing tells their number */
  bool activation_guessed;  /* nothing tells it */
  bool image_guessed;       /* the same of the image's size */
  bool frames_guessed;      /* the same of the frames of a video */
  /* bits of heed_training_fact: what the training's arguments told, and what of them is not so */
  uint32_t hinted, contradicted;
  heed_activation pool_activation; /* of the pooling attention's MLP */
  uint32_t image_size, patch, channels;
  uint32_t frames, tubelet; /* of pixel_values, of a token; 0: it is no model of videos */
  uint32_t classes;         /* 0: no classifier */
  uint32_t pooled; /* numbers that the classifier reads: C or 2 C, or those of its hidden layer */
  uint32_t projection; /* E, of the embedding; 0: none */
  uint32_t vocabulary; /* of a text tower */
  uint32_t registers;
  bool distillation;
  uint32_t bias_rows;                  /* of a table of relative positions; 0: there is none */
  uint32_t bias_side;                  /* of the grid that it is for */
  uint32_t pool_heads, pool_mlp_width; /* of the pooling attention; 0: there is none */
  uint32_t prefix_tokens;              /* CLS, distillation, registers */
  /* rows of the position embeddings: position_prefix + patches; 0: there are none */
  uint32_t position_rows;
  /* how many of the first rows are for prefix tokens: all, only CLS, or none */
  uint32_t position_prefix;
  uint32_t reference; /* side of the grid to which rotary positions are scaled; 0: not scaled */
  uint32_t window;    /* side of the attention's windows in patches; 0: there are none */
  /* Of layers in stages: what is said of all layers is of the last stage, unless
   * heed_vit_layer_dimensions says it. embedded: width of the patches, 0: C. */
  uint32_t stages, embedded;
  heed_vit_stage stage[HEED_MOST_STAGES];
  /* of the layer that begins a stage: 4 times the width before, numbers that the norm spans; of
   * each: numbers of the hidden layer of computed positions */
  uint32_t merged, merge_norm, position_hidden;
  /* Of relative rows and columns that queries meet: distances in a layer's tables; bits of the
   * layers whose attention knows no windows. 0: there are none */
  uint32_t distances;
  uint64_t whole_layers;
  float epsilon;
  heed_activation activation;
} heed_vit_dimensions;
/* The heads of a layer of a stage; the sizes of all stages, of a model that has them. Statuses:
 * INVALID_FILE, UNSUPPORTED. */
heed_status heed_vit_stage_heads(const heed_roles *roles, uint32_t layer, uint32_t *heads,
                                 heed_error *error);
heed_status heed_vit_stages(const heed_roles *roles, const heed_config *config,
                            heed_vit_dimensions *d, heed_error *error);
/* The windows of layers whose tables of relative rows and columns show them, as one stage.
 * Statuses: INVALID_FILE, UNSUPPORTED. */
heed_status heed_vit_relative(const heed_roles *roles, const heed_config *config,
                              heed_vit_dimensions *d, heed_error *error);
/* SwinV2's stored distances as its network takes them, [1, 2 w - 1, 2 w - 1, 2], or NULL. */
heed_checkpoint_tensor *heed_vit_coordinates(const heed_roles *roles, uint32_t layer);
/* The stage of a layer. */
uint32_t heed_vit_stage_of(const heed_vit_dimensions *dims, uint32_t layer);
/* The same of a layer alone: of its stage, where there are any. */
void heed_vit_layer_dimensions(const heed_vit_dimensions *dims, uint32_t layer,
                               heed_vit_dimensions *of);
/* The shape of a role, and whether every layer has one. */
heed_shape heed_role_shape(heed_role role, const heed_vit_dimensions *d);
bool heed_role_layered(heed_role role);
/* Sizes from the config (as heed_config_open makes it, with or without a file), and from the
 * tensors' shapes where it does not say. Statuses: INVALID_FILE, UNSUPPORTED. */
heed_status heed_roles_dimensions(const heed_roles *roles, const heed_config *config,
                                  heed_vit_dimensions *dimensions, heed_error *error);

#endif
