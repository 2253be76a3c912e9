/* The text towers of CLIP and SigLIP in Hugging Face's names. Sources: transformers'
 * modeling_clip.py, modeling_siglip.py. */
#include "model/names.h"

static const heed_name rows[] = {
    {"embeddings.token_embedding.weight", HEED_ROLE_TOKEN_EMBEDDINGS},
    {"embeddings.position_embedding.weight<", HEED_ROLE_POSITION_EMBEDDINGS},
    {"#layer_norm1.", HEED_ROLE_NORM1_WEIGHT},
    {"#self_attn.q_proj.", HEED_ROLE_QUERY_WEIGHT},
    {"#self_attn.k_proj.", HEED_ROLE_KEY_WEIGHT},
    {"#self_attn.v_proj.", HEED_ROLE_VALUE_WEIGHT},
    {"#self_attn.out_proj.", HEED_ROLE_ATTENTION_OUTPUT_WEIGHT},
    {"#layer_norm2.", HEED_ROLE_NORM2_WEIGHT},
    {"#mlp.fc1.", HEED_ROLE_FC1_WEIGHT},
    {"#mlp.fc2.", HEED_ROLE_FC2_WEIGHT},
    {"final_layer_norm.", HEED_ROLE_FINAL_NORM_WEIGHT},
    {"?/text_projection.weight|head.weight", HEED_ROLE_PROJECTION_WEIGHT},
    {"?head.bias", HEED_ROLE_PROJECTION_BIAS},
    {0}};

const heed_names heed_names_hugging_face_text = {"encoder.layers.#layer_norm1.weight", rows, NULL};
