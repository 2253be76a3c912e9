/* CLIP's text tower in the names of OpenAI and of open_clip, whose projection is stored [C, E] or
 * is a linear map. Sources: openai/CLIP's model.py; open_clip's transformer.py. */
#include "model/names.h"

static const heed_name rows[] = {
    {"token_embedding.weight", HEED_ROLE_TOKEN_EMBEDDINGS},
    {"positional_embedding<", HEED_ROLE_POSITION_EMBEDDINGS},
    {"#ln_1.", HEED_ROLE_NORM1_WEIGHT},
    {"#attn.in_proj_@0/3", HEED_ROLE_QUERY_WEIGHT},
    {"#attn.in_proj_@1/3", HEED_ROLE_KEY_WEIGHT},
    {"#attn.in_proj_@2/3", HEED_ROLE_VALUE_WEIGHT},
    {"#attn.out_proj.", HEED_ROLE_ATTENTION_OUTPUT_WEIGHT},
    {"?#ls_1.gamma", HEED_ROLE_LAYER_SCALE1},
    {"#ln_2.", HEED_ROLE_NORM2_WEIGHT},
    {"#mlp.c_fc.", HEED_ROLE_FC1_WEIGHT},
    {"#mlp.c_proj.", HEED_ROLE_FC2_WEIGHT},
    {"?#ls_2.gamma", HEED_ROLE_LAYER_SCALE2},
    {"ln_final.", HEED_ROLE_FINAL_NORM_WEIGHT},
    {"?text_projection^|text_projection.weight", HEED_ROLE_PROJECTION_WEIGHT},
    {"?text_projection.bias", HEED_ROLE_PROJECTION_BIAS},
    {0}};

const heed_names heed_names_open_clip_text = {"transformer.resblocks.#ln_1.weight", rows, NULL};
