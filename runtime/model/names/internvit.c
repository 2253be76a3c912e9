/* InternViT as OpenGVLab publishes it, the vision tower of InternVL 1.5 to 3.5. Source:
 * OpenGVLab/InternVL's modeling_intern_vit.py. Rows of the fused projection are query, key, value.
 */
#include "model/names/names.h"

#define ROWS(ROW)                                           \
  ROW("embeddings.class_embedding", CLS_TOKEN)              \
  ROW("embeddings.position_embedding", POSITION_EMBEDDINGS) \
  ROW("embeddings.patch_embedding.", PATCH_WEIGHT)          \
  ROW("#norm1.", NORM1_WEIGHT)                              \
  ROW("#attn.qkv.@0/3?", QUERY_WEIGHT)                      \
  ROW("#attn.qkv.@1/3?", KEY_WEIGHT)                        \
  ROW("#attn.qkv.@2/3?", VALUE_WEIGHT)                      \
  ROW("?#attn.q_norm.", QUERY_NORM_WEIGHT)                  \
  ROW("?#attn.k_norm.", KEY_NORM_WEIGHT)                    \
  ROW("#attn.proj.", ATTENTION_OUTPUT_WEIGHT)               \
  ROW("#ls1", LAYER_SCALE1)                                 \
  ROW("#norm2.", NORM2_WEIGHT)                              \
  ROW("#mlp.fc1.", FC1_WEIGHT)                              \
  ROW("#mlp.fc2.", FC2_WEIGHT)                              \
  ROW("#ls2", LAYER_SCALE2)

HEED_NAMES(internvit, "encoder.layers.#norm1.weight", NULL, ROWS);
