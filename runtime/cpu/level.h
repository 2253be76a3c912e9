/* What the tables of a level share; cpu_backend.c picks a table. Most have the level's own kernels
 * for all, and other products of int8 or bf16: level_dot.c, level_signed.c, level_bf16.c. */
#ifndef HEED_CPU_LEVEL_H
#define HEED_CPU_LEVEL_H

#include "cpu/cpu_op.h"
#include "cpu/simd/f32xN.h"
#include "cpu/weights/bf16.h"
#include "cpu/weights/int8.h"

extern const heed_cpu_op *const HEED_CPU_SYMBOL(heed_cpu_ops)[HEED_OP_KIND_COUNT];
extern const heed_cpu_form *const HEED_CPU_SYMBOL(heed_cpu_forms)[];

extern const heed_cpu_int8 HEED_CPU_SYMBOL(heed_cpu_int8_plain);
extern const heed_cpu_int8 HEED_CPU_SYMBOL(heed_cpu_int8_bytes);
extern const heed_cpu_int8 HEED_CPU_SYMBOL(heed_cpu_int8_signed);
extern const heed_cpu_bf16 HEED_CPU_SYMBOL(heed_cpu_bf16);

extern const heed_cpu_level_table HEED_CPU_SYMBOL(heed_cpu_level);
extern const heed_cpu_level_table HEED_CPU_SYMBOL(heed_cpu_level_bytes);
extern const heed_cpu_level_table HEED_CPU_SYMBOL(heed_cpu_level_signed);
extern const heed_cpu_level_table HEED_CPU_SYMBOL(heed_cpu_level_bf16);

/* The fields that do not differ. */
#define HEED_CPU_LEVEL_FIELDS                                                   \
  .panel_columns = HEED_TILE_COLUMNS, .forms = HEED_CPU_SYMBOL(heed_cpu_forms), \
  .ops = HEED_CPU_SYMBOL(heed_cpu_ops)

#endif
