/* What the engine of a module with relaxed SIMD has. */
#include "cpu/machine.h"

bool heed_cpu_has_unsigned_dot(void) { return heed_cpu_int8_probe() == HEED_INT8_DOT_UNSIGNED; }
bool heed_cpu_has_signed_dot(void) { return heed_cpu_int8_probe() == HEED_INT8_DOT_SIGNED; }
