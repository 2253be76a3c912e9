/* CLIP, SigLIP and BLIP in Hugging Face's names, which misspell the norm before the layers. Source:
 * transformers' modeling_clip.py, modeling_siglip.py, modeling_blip.py. */
#include "model/names.h"

static const heed_name rows[] = {
    {"?embeddings.class_embedding<", HEED_ROLE_CLS_TOKEN},
    {"embeddings.position_embedding.weight<|embeddings.position_embedding<",
     HEED_ROLE_POSITION_EMBEDDINGS},
    {"embeddings.patch_embedding.?", HEED_ROLE_PATCH_WEIGHT},
    {"?pre_layrnorm.|pre_layernorm.", HEED_ROLE_PRE_NORM_WEIGHT},
    {"#layer_norm1.", HEED_ROLE_NORM1_WEIGHT},
    {"#self_attn.q_proj.|#self_attn.qkv.@0/3", HEED_ROLE_QUERY_WEIGHT},
    {"#self_attn.k_proj.|#self_attn.qkv.@1/3", HEED_ROLE_KEY_WEIGHT},
    {"#self_attn.v_proj.|#self_attn.qkv.@2/3", HEED_ROLE_VALUE_WEIGHT},
    {"#self_attn.out_proj.|#self_attn.projection.", HEED_ROLE_ATTENTION_OUTPUT_WEIGHT},
    {"#layer_norm2.", HEED_ROLE_NORM2_WEIGHT},
    {"#mlp.fc1.", HEED_ROLE_FC1_WEIGHT},
    {"#mlp.fc2.", HEED_ROLE_FC2_WEIGHT},
    {"post_layernorm.", HEED_ROLE_FINAL_NORM_WEIGHT},
    {"?head.probe", HEED_ROLE_PROBE},
    {"?head.attention.in_proj_@0/3", HEED_ROLE_PROBE_QUERY_WEIGHT},
    {"?head.attention.in_proj_@1/3", HEED_ROLE_PROBE_KEY_WEIGHT},
    {"?head.attention.in_proj_@2/3", HEED_ROLE_PROBE_VALUE_WEIGHT},
    {"?head.attention.out_proj.", HEED_ROLE_PROBE_OUTPUT_WEIGHT},
    {"?head.layernorm.", HEED_ROLE_PROBE_NORM_WEIGHT},
    {"?head.mlp.fc1.", HEED_ROLE_PROBE_FC1_WEIGHT},
    {"?head.mlp.fc2.", HEED_ROLE_PROBE_FC2_WEIGHT},
    {"?/visual_projection.weight", HEED_ROLE_PROJECTION_WEIGHT},
    {"?/classifier.", HEED_ROLE_CLASSIFIER_WEIGHT},
    {0}};

const heed_names heed_names_hugging_face_clip = {"encoder.layers.#layer_norm1.weight", rows, NULL};
