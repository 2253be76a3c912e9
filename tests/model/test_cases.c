/* Reference cases of layers, masks, recurrent and composed attention through heed_check_case, on every backend present. */
#include <stdio.h>
#include <stdlib.h>

#include "support/op_test.h"

static const char *const cases[] = {
    "layers/embedding",
    "layers/positional_encoding",
    "masks/encoder_self",
    "masks/decoder_self",
    "masks/encoder_decoder",
    "linear/full",
    "linear/causal",
    "recurrent/lstm",
    "recurrent/gru",
    "mha/self",
    "mha/self_causal",
    "mha/cross",
    "mha/no_bias",
    "blocks/encoder_post_norm_relu",
    "blocks/encoder_pre_norm_gelu",
    "blocks/decoder_post_norm_relu",
    "blocks/decoder_pre_norm_gelu",
    "luong/dot",
    "luong/general",
    "luong/concat",
    "convolution/three_by_three",
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
      if (heed_check_case(test_backend_context(), test_backend_get(b), bytes, size, 0.0, NULL, NULL, &result, &error) != HEED_OK)
        fail_msg("%s on %s: %s", cases[i], test_backend_name(b), error.message);
      if (!result.passed)
        fail_msg("%s on %s: %s differs by %.3g absolute, %.3g relative", cases[i], test_backend_name(b), result.worst, result.max_abs, result.max_rel);
    }
    free(bytes);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};
  return cmocka_run_group_tests_name("cases", tests, NULL, test_backend_close_all);
}
