/* A model that was opened: its config, its tensors by role, and what the graph builder needs to
 * know. */
#ifndef HEED_MODEL_MODEL_H
#define HEED_MODEL_MODEL_H

#include "base/context.h"
#include "model/role.h"

/* One layer's tensors; qkv joined along the rows. */
typedef struct heed_layer_refs {
  heed_role_ref norm1[2], norm2[2]; /* weight, bias */
  heed_weight qkv[2];
  heed_role_ref attention_output[2], fc1[2], fc2[2];
  heed_role_ref scale1, scale2;
} heed_layer_refs;

struct heed_model {
  heed_context *context;
  heed_config *config;
  heed_checkpoint *checkpoint;
  heed_roles roles;
  heed_vit_dimensions dims;
  heed_role_ref cls, distillation, registers, positions;
  heed_role_ref patch[2], final_norm[2], classifier[2], distillation_classifier[2], pooler[2];
  heed_layer_refs *layers; /* [dims.layers] */
  heed_preprocess preprocess;
  heed_model_info info;
  char (*class_names)[24]; /* "class N", for classes that the config does not name; [classes] or
                              NULL */
};

#endif
