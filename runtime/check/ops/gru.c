/* The reader of gru's case files. */
#include "check/recurrent_case.h"

static heed_status from_case(heed_case *test, heed_error *error) {
  return heed_recurrent_from_case(test, false, error);
}

static const char *const names[] = {"gru", NULL};
const heed_layer_case heed_case_gru = {.names = names, .from_case = from_case};
