/* The table of one level, expanded from the lists of ops and of forms of weights; compiled once per
 * level like the kernels that it names. */
#include "cpu/level.h"

#define HEED_OP(name) extern const heed_cpu_op HEED_CPU_SYMBOL(heed_cpu_##name);
#include "graph/op_list.h"
#undef HEED_OP
#define HEED_FORM(name) extern const heed_cpu_form HEED_CPU_SYMBOL(heed_cpu_form_##name);
#include "cpu/weights/form_list.h"
#undef HEED_FORM

const heed_cpu_op *const HEED_CPU_SYMBOL(heed_cpu_ops)[HEED_OP_KIND_COUNT] = {
#define HEED_OP(name) [HEED_OP_KIND_##name] = &HEED_CPU_SYMBOL(heed_cpu_##name),
#include "graph/op_list.h"
#undef HEED_OP
    [HEED_OP_KIND_host] = &heed_cpu_host,
};

const heed_cpu_form *const HEED_CPU_SYMBOL(heed_cpu_forms)[] = {
#define HEED_FORM(name) &HEED_CPU_SYMBOL(heed_cpu_form_##name),
#include "cpu/weights/form_list.h"
#undef HEED_FORM
};

const heed_cpu_level_table HEED_CPU_SYMBOL(heed_cpu_level) = {
    HEED_CPU_LEVEL_FIELDS,
    .name = HEED_SIMD_NAME,
    .label = HEED_SIMD_LABEL,
    .int8 = &HEED_CPU_SYMBOL(heed_cpu_int8_plain),
};
