/* CLIP in Hugging Face's names, which misspell the norm before the layers. Source: transformers'
 * modeling_clip.py. */
#include "model/names.h"

static const heed_name rows[] = {
    {"?embeddings.class_embedding<", HEED_ROLE_CLS_TOKEN},
    {"embeddings.position_embedding.weight<", HEED_ROLE_POSITION_EMBEDDINGS},
    {"embeddings.patch_embedding.?", HEED_ROLE_PATCH_WEIGHT},
    {"?pre_layrnorm.|pre_layernorm.", HEED_ROLE_PRE_NORM_WEIGHT},
    {"#layer_norm1.", HEED_ROLE_NORM1_WEIGHT},
    {"#self_attn.q_proj.", HEED_ROLE_QUERY_WEIGHT},
    {"#self_attn.k_proj.", HEED_ROLE_KEY_WEIGHT},
    {"#self_attn.v_proj.", HEED_ROLE_VALUE_WEIGHT},
    {"#self_attn.out_proj.", HEED_ROLE_ATTENTION_OUTPUT_WEIGHT},
    {"#layer_norm2.", HEED_ROLE_NORM2_WEIGHT},
    {"#mlp.fc1.", HEED_ROLE_FC1_WEIGHT},
    {"#mlp.fc2.", HEED_ROLE_FC2_WEIGHT},
    {"post_layernorm.", HEED_ROLE_FINAL_NORM_WEIGHT},
    {"?/visual_projection.weight", HEED_ROLE_PROJECTION},
    {"?/classifier.", HEED_ROLE_CLASSIFIER_WEIGHT},
    {0}};

const heed_names heed_names_hugging_face_clip = {"encoder.layers.#layer_norm1.weight", rows, NULL};
