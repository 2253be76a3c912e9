/* The table of one level, expanded from the list of ops; compiled once per level like the kernels
 * that it names. */
#include "cpu/gemm.h"
#include "cpu/simd/maths.h"

#define HEED_OP(name) extern const heed_cpu_op HEED_CPU_SYMBOL(heed_cpu_##name);
#include "graph/op_list.h"
#undef HEED_OP

#if defined(__wasm__) && !defined(HEED_INT8_DOT)
const heed_cpu_term_table heed_cpu_terms = HEED_CPU_TERMS;
#endif

/* A second table of the level has other products of int8, a third one products of bf16. */
#if defined(HEED_INT8_SIGNED)
#define TABLE HEED_CPU_SYMBOL(heed_cpu_level_signed)
#define NAME HEED_SIMD_NAME "sdot"
#define LABEL HEED_SIMD_LABEL " and dot products"
#define INT8 HEED_CPU_SYMBOL(heed_cpu_int8_signed)
#elif defined(HEED_INT8_DOT) && defined(HEED_SIMD_RELAXED)
#define TABLE HEED_CPU_SYMBOL(heed_cpu_level_bytes)
#define NAME HEED_SIMD_NAME "udot"
#define LABEL HEED_SIMD_LABEL " and dot products"
#define INT8 HEED_CPU_SYMBOL(heed_cpu_int8_bytes)
#elif defined(HEED_INT8_DOT) && defined(HEED_SIMD_NEON)
#define TABLE HEED_CPU_SYMBOL(heed_cpu_level_bytes)
#define NAME HEED_SIMD_NAME "dot"
#define LABEL HEED_SIMD_LABEL " and dot products"
#define INT8 HEED_CPU_SYMBOL(heed_cpu_int8_bytes)
#elif defined(HEED_BF16_LEVEL)
#include "cpu/bf16.h"
#define TABLE HEED_CPU_SYMBOL(heed_cpu_level_bf16)
#define NAME HEED_SIMD_NAME "bf16"
#define LABEL HEED_SIMD_LABEL " VNNI and BF16"
#define INT8 HEED_CPU_SYMBOL(heed_cpu_int8_bytes)
#elif defined(HEED_INT8_DOT)
#define TABLE HEED_CPU_SYMBOL(heed_cpu_level_bytes)
#define NAME HEED_SIMD_NAME "vnni"
#define LABEL HEED_SIMD_LABEL " VNNI"
#define INT8 HEED_CPU_SYMBOL(heed_cpu_int8_bytes)
#else
#define TABLE HEED_CPU_SYMBOL(heed_cpu_level)
#define NAME HEED_SIMD_NAME
#define LABEL HEED_SIMD_LABEL
#define INT8 HEED_CPU_SYMBOL(heed_cpu_int8_plain)
#endif

extern const heed_cpu_int8 INT8;
#if defined(HEED_BF16_LEVEL)
extern const heed_cpu_bf16 HEED_CPU_SYMBOL(heed_cpu_bf16);
#endif
extern const heed_cpu_level_table TABLE;

const heed_cpu_level_table TABLE = {
    .name = NAME,
    .label = LABEL,
    .panel_columns = HEED_TILE_COLUMNS,
    .pack_panel = heed_cpu_pack_panel,
    .int8 = &INT8,
#if defined(HEED_BF16_LEVEL)
    .bf16 = &HEED_CPU_SYMBOL(heed_cpu_bf16),
#endif
    .ops =
        {
#define HEED_OP(name) [HEED_OP_KIND_##name] = &HEED_CPU_SYMBOL(heed_cpu_##name),
#include "graph/op_list.h"
#undef HEED_OP
        },
};
