/* See row_kernels.h. */
#include "explain/row_kernels.h"

DEFINE_ROW_KERNELS(16, )

#define CHOOSE(name) name##_16
DEFINE_ROW_FUNCTIONS(CHOOSE)
