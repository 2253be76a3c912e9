/* Every reference case through heed_check_case, on every backend present. */
#include <stdio.h>
#include <stdlib.h>

#include "heed/check.h"
#include "support/op_test.h"

static const char *const cases[] = {
    "attention/additive",
    "attention/general",
    "attention/bias_and_mask_and_causal",
    "attention/bias_per_head",
    "attention/dot",
    "attention/explicit_scale",
    "attention/float_mask_lowest",
    "attention/float_mask_minus_inf",
    "attention/grouped_queries",
    "attention/head_dim_128",
    "attention/head_dim_256",
    "attention/head_dim_80",
    "attention/large_logits",
    "attention/mask_broadcast_all",
    "attention/mask_broadcast_heads",
    "attention/mask_causal",
    "attention/mask_causal_bottom_right_short_keys",
    "attention/mask_causal_cross_bottom_right",
    "attention/mask_causal_cross_top_left",
    "attention/mask_causal_padding",
    "attention/mask_empty_rows",
    "attention/mask_full",
    "attention/mask_key_padding",
    "attention/mask_query_and_key_padding",
    "attention/mask_window",
    "attention/mask_window_causal",
    "attention/multi_query",
    "attention/odd_dims",
    "attention/one_key",
    "attention/one_token",
    "attention/scaled_dot",
    "attention/softcap",
    "attention/sparse_softmax",
    "attention/sparsemax",
    "attention/vit_tiny_197",
    "layers/elu_plus_one",
    "layers/gelu",
    "layers/gelu_quick",
    "layers/gelu_tanh",
    "layers/layer_norm_eps1e-05",
    "layers/layer_norm_eps1e-12",
    "layers/layer_norm_no_bias",
    "layers/linear",
    "layers/patch_embedding",
    "layers/relu",
    "layers/rms_norm",
    "layers/rms_norm_bias",
    "layers/rotary_dinov3",
    "layers/rotary_eva02",
    "layers/rotary_mixed",
    "layers/rotary_partial",
    "layers/sigmoid",
    "layers/silu",
    "layers/softmax_last_axis",
    "layers/tanh",
    "layers/embedding",
    "layers/positional_encoding",
    "worked/i_have_a_pen",
    "worked/retrieval",
    "worked/seven_steps",
    "masks/encoder_self",
    "masks/decoder_self",
    "masks/encoder_decoder",
    "linear/full",
    "linear/causal",
    "recurrent/lstm",
    "recurrent/gru",
    "recurrent/lstm_stacked",
    "recurrent/gru_stacked",
    "mha/self",
    "mha/self_causal",
    "mha/self_padding",
    "mha/cross",
    "mha/no_bias",
    "mha/self_stacked",
    "mha/cross_apart",
    "blocks/encoder_post_norm_relu",
    "blocks/encoder_pre_norm_gelu",
    "blocks/decoder_post_norm_relu",
    "blocks/decoder_pre_norm_gelu",
    "luong/dot",
    "luong/general",
    "luong/concat",
    "convolution/three_by_three",
    "general/matmul",
    "general/power",
    "general/select",
    "general/log_sum_exp",
    "general/argmax",
    "general/slice",
    "general/pad",
    "general/gather",
    "general/gather_elements",
    "general/depthwise",
    "general/mean_pool",
    "general/max_pool",
};

static void test_cases(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char name[128];
    size_t size;
    snprintf(name, sizeof name, "%s.safetensors", cases[i]);
    unsigned char *bytes = test_read_vector(name, &size);
    for (uint32_t b = 0; b < test_backend_count(); b++) {
      heed_check_result result;
      heed_error error = {HEED_OK, ""};
      if (heed_check_case(test_backend_context(), test_backend_get(b), bytes, size, 0.0, NULL, NULL,
                          &result, &error) != HEED_OK)
        fail_msg("%s on %s: %s", cases[i], test_backend_name(b), error.message);
      if (!result.passed)
        fail_msg("%s on %s: %s differs by %.3g absolute, %.3g relative", cases[i],
                 test_backend_name(b), result.worst, result.max_abs, result.max_rel);
    }
    free(bytes);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};
  return cmocka_run_group_tests_name("cases", tests, NULL, test_backend_close_all);
}
