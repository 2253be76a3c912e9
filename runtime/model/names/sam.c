/* Hugging Face's SAM: its image encoder. Source: transformers' modeling_sam.py. */
#include "model/names/names.h"

#define ROWS(ROW)                              \
  ROW("?pos_embed", POSITION_EMBEDDINGS)       \
  ROW("patch_embed.projection.", PATCH_WEIGHT) \
  ROW("#layer_norm1.", NORM1_WEIGHT)           \
  ROW("#attn.qkv.@0/3", QUERY_WEIGHT)          \
  ROW("#attn.qkv.@1/3", KEY_WEIGHT)            \
  ROW("#attn.qkv.@2/3", VALUE_WEIGHT)          \
  ROW("?#attn.rel_pos_h", RELATIVE_ROWS)       \
  ROW("?#attn.rel_pos_w", RELATIVE_COLUMNS)    \
  ROW("#attn.proj.", ATTENTION_OUTPUT_WEIGHT)  \
  ROW("#layer_norm2.", NORM2_WEIGHT)           \
  ROW("#mlp.lin1.", FC1_WEIGHT)                \
  ROW("#mlp.lin2.", FC2_WEIGHT)

HEED_NAMES(sam, "layers.#layer_norm1.weight", NULL, ROWS);
