/* A vision transformer that was opened: its config, its tensors by role, and what the graph builder
 * needs to know. */
#ifndef HEED_MODEL_VIT_VIT_H
#define HEED_MODEL_VIT_VIT_H

#include "base/assert.h"
#include "model/files/model_type.h"
#include "model/vit/role.h"

typedef struct heed_vit {
  heed_model base;
  heed_config *config;
  heed_roles roles;
  heed_vit_dimensions dims;
  /* [1 + dims.layers]: the roles of the model, then of each layer; a bias follows its weight */
  heed_role_ref (*refs)[HEED_ROLE_COUNT];
  char rules[360], assumed[1200]; /* heed_model_info's; assumed "" when nothing is */
  char (*class_names)[24];  /* "class N", for classes that the config does not name; [classes] or
                               NULL */
  const char **token_names; /* [dims.prefix_tokens], the text behind them */
} heed_vit;

/* A role's tensor; the reference after a weight's is its bias's. */
static inline const heed_role_ref *heed_vit_ref(const heed_vit *model, heed_role role) {
  HEED_ASSERT((uint32_t)role < HEED_ROLE_COUNT);
  return &model->refs[0][role];
}
static inline const heed_role_ref *heed_vit_layer_ref(const heed_vit *model, uint32_t layer,
                                                      heed_role role) {
  HEED_ASSERT(layer < model->dims.layers && (uint32_t)role < HEED_ROLE_COUNT);
  return &model->refs[1 + layer][role];
}

/* Whether the layer's attention is kept inside windows. */
bool heed_vit_has_windows(const heed_vit *model, uint32_t layer);

extern const heed_model_type heed_vit_type;

/* Builds the graph of heed_model_build; heed_model_type.build. */
heed_status heed_vit_build(const heed_model *model, const heed_build_desc *desc, heed_graph **graph,
                           heed_error *error);

#endif
