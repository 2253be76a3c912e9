/* What a processor of x86-64 has. */
#include <cpuid.h>
#include <stdint.h>

#include "cpu/machine.h"

bool heed_cpu_has_avx2(void) {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

/* By cpuid: Clang 14 knows no name for it. AVX2 says that the system keeps the registers. */
bool heed_cpu_has_avx2vnni(void) {
  uint32_t a = 0, b = 0, c = 0, d = 0;
  return heed_cpu_has_avx2() && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 4 & 1);
}

bool heed_cpu_has_avx512(void) {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("fma");
}

bool heed_cpu_has_avx512vnni(void) {
  return heed_cpu_has_avx512() && __builtin_cpu_supports("avx512vnni");
}

bool heed_cpu_has_avx512bf16(void) {
  return heed_cpu_has_avx512vnni() && __builtin_cpu_supports("avx512bf16");
}
