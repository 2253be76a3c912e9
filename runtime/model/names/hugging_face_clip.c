/* CLIP, SigLIP and BLIP in Hugging Face's names, which misspell the norm before the layers. Source:
 * transformers' modeling_clip.py, modeling_siglip.py, modeling_blip.py. */
#include "model/names/names.h"

#define ROWS(ROW)                                                                                  \
  ROW("?embeddings.class_embedding<", CLS_TOKEN)                                                   \
  ROW("embeddings.position_embedding.weight<|embeddings.position_embedding<", POSITION_EMBEDDINGS) \
  ROW("embeddings.patch_embedding.?", PATCH_WEIGHT)                                                \
  ROW("?pre_layrnorm.|pre_layernorm.", PRE_NORM_WEIGHT)                                            \
  ROW("#layer_norm1.", NORM1_WEIGHT)                                                               \
  ROW("#self_attn.q_proj.|#self_attn.qkv.@0/3", QUERY_WEIGHT)                                      \
  ROW("#self_attn.k_proj.|#self_attn.qkv.@1/3", KEY_WEIGHT)                                        \
  ROW("#self_attn.v_proj.|#self_attn.qkv.@2/3", VALUE_WEIGHT)                                      \
  ROW("#self_attn.out_proj.|#self_attn.projection.", ATTENTION_OUTPUT_WEIGHT)                      \
  ROW("#layer_norm2.", NORM2_WEIGHT)                                                               \
  ROW("#mlp.fc1.", FC1_WEIGHT)                                                                     \
  ROW("#mlp.fc2.", FC2_WEIGHT)                                                                     \
  ROW("post_layernorm.", FINAL_NORM_WEIGHT)                                                        \
  ROW("?head.probe", PROBE)                                                                        \
  ROW("?head.attention.in_proj_@0/3", PROBE_QUERY_WEIGHT)                                          \
  ROW("?head.attention.in_proj_@1/3", PROBE_KEY_WEIGHT)                                            \
  ROW("?head.attention.in_proj_@2/3", PROBE_VALUE_WEIGHT)                                          \
  ROW("?head.attention.out_proj.", PROBE_OUTPUT_WEIGHT)                                            \
  ROW("?head.layernorm.", PROBE_NORM_WEIGHT)                                                       \
  ROW("?head.mlp.fc1.", PROBE_FC1_WEIGHT)                                                          \
  ROW("?head.mlp.fc2.", PROBE_FC2_WEIGHT)                                                          \
  ROW("?/visual_projection.weight", PROJECTION_WEIGHT)                                             \
  ROW("?/classifier.", CLASSIFIER_WEIGHT)

HEED_NAMES(hugging_face_clip, "encoder.layers.#layer_norm1.weight", NULL, ROWS);
