/* Hugging Face's Swin and SwinV2. Source: transformers' modeling_swin.py, modeling_swinv2.py. */
#include "model/names/names.h"

#define ROWS(ROW)                                                                 \
  ROW("embeddings.patch_embeddings.projection.", PATCH_WEIGHT)                    \
  ROW("?embeddings.norm.", EMBEDDED_NORM_WEIGHT)                                  \
  ROW("?>downsample.norm.", MERGE_NORM_WEIGHT)                                    \
  ROW("?>downsample.reduction.weight", MERGE_WEIGHT)                              \
  ROW("#layernorm_before.", NORM1_WEIGHT)                                         \
  ROW("#attention.self.query.?", QUERY_WEIGHT)                                    \
  ROW("#attention.self.key.?", KEY_WEIGHT)                                        \
  ROW("#attention.self.value.?", VALUE_WEIGHT)                                    \
  ROW("?#attention.self.logit_scale", LOGIT_SCALE)                                \
  ROW("?#attention.self.continuous_position_bias_mlp.0.", POSITION_HIDDEN_WEIGHT) \
  ROW("?#attention.self.continuous_position_bias_mlp.2.weight", POSITION_OUTPUT)  \
  ROW("?#attention.self.relative_position_bias_table", POSITION_BIAS)             \
  ROW("#attention.output.dense.", ATTENTION_OUTPUT_WEIGHT)                        \
  ROW("#layernorm_after.", NORM2_WEIGHT)                                          \
  ROW("#intermediate.dense.", FC1_WEIGHT)                                         \
  ROW("#output.dense.", FC2_WEIGHT)                                               \
  ROW("?layernorm.", FINAL_NORM_WEIGHT)                                           \
  ROW("?/classifier.", CLASSIFIER_WEIGHT)

HEED_NAMES(swin, "encoder.layers.#blocks.#layernorm_before.weight", NULL, ROWS);
