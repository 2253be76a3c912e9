/* A vision transformer that was opened: its config, its tensors by role, and what the graph builder
 * needs to know. */
#ifndef HEED_MODEL_VIT_H
#define HEED_MODEL_VIT_H

#include "model/model_type.h"
#include "model/role.h"

/* One layer's tensors; qkv joined along the rows. */
typedef struct heed_layer_refs {
  heed_role_ref norm1[2], norm2[2]; /* weight, bias */
  heed_role_ref query_norm[2], key_norm[2], gate[2];
  heed_weight qkv[2];
  heed_role_ref attention_output[2], fc1[2], fc2[2];
  heed_role_ref scale1, scale2;
} heed_layer_refs;

typedef struct heed_vit {
  heed_model base;
  heed_config *config;
  heed_roles roles;
  heed_vit_dimensions dims;
  heed_role_ref cls, distillation, registers, positions;
  heed_role_ref pre_norm[2], pool_norm[2], projection;
  heed_role_ref patch[2], final_norm[2], classifier[2], distillation_classifier[2], pooler[2];
  heed_layer_refs *layers; /* [dims.layers] */
  heed_preprocess preprocess;
  char rules[160], assumed[160]; /* heed_model_info's; assumed "" when nothing is */
  char (*class_names)[24]; /* "class N", for classes that the config does not name; [classes] or
                              NULL */
} heed_vit;

extern const heed_model_type heed_vit_type;

/* Builds the graph of heed_model_build; heed_model_type.build. */
heed_status heed_vit_build(const heed_model *model, const heed_build_desc *desc, heed_graph **graph,
                           heed_error *error);

#endif
