/* See row_kernels.h. */
#include "explain/row_kernels.h"

DEFINE_ROW_KERNELS(16, )
DEFINE_ROW_KERNELS(32, __attribute__((target("avx2"))))
DEFINE_ROW_KERNELS(64, __attribute__((target("avx512f,avx512bw,avx512vl"))))

#define CHOOSE(name)                                                                    \
  (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") ? name##_64 \
   : __builtin_cpu_supports("avx2")                                         ? name##_32 \
                                                                            : name##_16)
DEFINE_ROW_FUNCTIONS(CHOOSE)
