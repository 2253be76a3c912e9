/* What the machine that this runs on has, of what levels ask for: machine_x86.c, machine_arm.c,
 * machine_wasm.c. The rows of the built level_list.h name these by their ends. */
#ifndef HEED_CPU_MACHINE_H
#define HEED_CPU_MACHINE_H

#include <stdbool.h>

static inline bool heed_cpu_has_always(void) { return true; }
bool heed_cpu_has_avx2(void);
bool heed_cpu_has_avx2vnni(void);
bool heed_cpu_has_avx512(void);
bool heed_cpu_has_avx512vnni(void);
bool heed_cpu_has_avx512bf16(void);
bool heed_cpu_has_neondot(void);
bool heed_cpu_has_unsigned_dot(void);
bool heed_cpu_has_signed_dot(void);

/* How an engine takes the bytes of WebAssembly's relaxed dot product, whose first operand is
 * signed: a choice of its own, found by value (weights/int8_relaxed.c). Whatever else comes out is
 * not used. */
typedef enum heed_cpu_int8_dot {
  HEED_INT8_DOT_NONE,
  HEED_INT8_DOT_UNSIGNED,
  HEED_INT8_DOT_SIGNED
} heed_cpu_int8_dot;
heed_cpu_int8_dot heed_cpu_int8_probe(void);

#endif
