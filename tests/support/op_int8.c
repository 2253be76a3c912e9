/* For a test of an op without int8, which does not define it: test_linear_int8.c does. */
#include "support/op_test.h"

bool test_backend_wants_int8(void) { return false; }
