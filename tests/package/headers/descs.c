/* Every desc struct has an initialiser in every language that the headers promise. descs.sh
 * compares this list with the headers. */
#include "heed/native.h"
#include "heed/vulkan.h"

/* A statement each: the desc has its size, and zeros after it. */
#define CHECK(type)                                \
  {                                                \
    const type desc = HEED_DESC(type);             \
    if (desc.struct_size != sizeof desc) return 1; \
  }

int main(void) {
  CHECK(heed_context_desc)
  CHECK(heed_hooks)
  CHECK(heed_constant_desc)
  CHECK(heed_activation_desc)
  CHECK(heed_add_desc)
  CHECK(heed_concat_desc)
  CHECK(heed_select_rows_desc)
  CHECK(heed_softmax_desc)
  CHECK(heed_layer_norm_desc)
  CHECK(heed_linear_desc)
  CHECK(heed_patch_embedding_desc)
  CHECK(heed_embedding_desc)
  CHECK(heed_permute_desc)
  CHECK(heed_attention_mask_desc)
  CHECK(heed_attention_desc)
  CHECK(heed_linear_attention_desc)
  CHECK(heed_recurrent_desc)
  CHECK(heed_multi_head_attention_desc)
  CHECK(heed_transformer_block_desc)
  CHECK(heed_luong_attention_desc)
  CHECK(heed_cpu_desc)
  CHECK(heed_plan_desc)
  CHECK(heed_stream_desc)
  CHECK(heed_attention_map_desc)
  CHECK(heed_model_desc)
  CHECK(heed_build_desc)
  CHECK(heed_rollout_desc)
  CHECK(heed_figure_desc)
  CHECK(heed_decoder_desc)
  CHECK(heed_auto_desc)
  CHECK(heed_multiply_desc) {
    const heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
    if (desc.struct_size != sizeof desc || desc.device != -1) return 1;
  }
  return 0;
}
