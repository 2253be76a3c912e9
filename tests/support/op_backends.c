/* No further backends: for a test program that does not link tests/vulkan/op_backends.c, which has
 * the same functions. The linker takes an object of an archive where it needs one. */
#include "support/op_test.h"

void test_backend_add_more(void) {}

bool test_backend_is_clean(const heed_backend *backend) { return backend != NULL; }

uint32_t test_backend_slowness(void) { return 1; }

bool test_backend_is_half(void) { return false; }
