/* The text towers of CLIP and SigLIP in Hugging Face's names. Sources: transformers'
 * modeling_clip.py, modeling_siglip.py. */
#include "model/names/names.h"

#define ROWS(ROW)                                                   \
  ROW("embeddings.token_embedding.weight", TOKEN_EMBEDDINGS)        \
  ROW("embeddings.position_embedding.weight<", POSITION_EMBEDDINGS) \
  ROW("#layer_norm1.", NORM1_WEIGHT)                                \
  ROW("#self_attn.q_proj.", QUERY_WEIGHT)                           \
  ROW("#self_attn.k_proj.", KEY_WEIGHT)                             \
  ROW("#self_attn.v_proj.", VALUE_WEIGHT)                           \
  ROW("#self_attn.out_proj.", ATTENTION_OUTPUT_WEIGHT)              \
  ROW("#layer_norm2.", NORM2_WEIGHT)                                \
  ROW("#mlp.fc1.", FC1_WEIGHT)                                      \
  ROW("#mlp.fc2.", FC2_WEIGHT)                                      \
  ROW("final_layer_norm.", FINAL_NORM_WEIGHT)                       \
  ROW("?/text_projection.weight|head.weight", PROJECTION_WEIGHT)    \
  ROW("?head.bias", PROJECTION_BIAS)

HEED_NAMES(hugging_face_text, "encoder.layers.#layer_norm1.weight", NULL, ROWS);
