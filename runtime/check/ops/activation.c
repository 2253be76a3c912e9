/* The reader of activation's case files. */
#include <string.h>

#include "check/case.h"
#include "heed/ops.h"

/* In the order of heed_activation; index 0 is "none", which no case is named. */
static const char *const names[] = {"relu",    "gelu", "gelu_tanh",    "gelu_quick", "tanh",
                                    "sigmoid", "silu", "elu_plus_one", NULL};

static heed_status from_case(heed_case *test, heed_error *error) {
  (void)error;
  int kind = HEED_ACTIVATION_RELU;
  while (strcmp(names[kind - 1], heed_case_op(test)) != 0) kind++;
  const heed_activation_desc desc = {sizeof desc, heed_case_input(test, "x"), (heed_activation)kind,
                                     HEED_ACTIVATION_VALUE};
  heed_case_result(test, "y", heed_define_activation(heed_case_graph(test), &desc));
  return HEED_OK;
}

const heed_layer_case heed_case_activation = {.names = names, .from_case = from_case};
