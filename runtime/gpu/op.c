/* The table of the ops, expanded from the list. */
#include "gpu/op.h"

const heed_gpu_op *const heed_gpu_ops[HEED_OP_KIND_COUNT] = {
#define HEED_OP(name) [HEED_OP_KIND_##name] = &heed_gpu_##name,
#include "graph/op_list.h"
#undef HEED_OP
    [HEED_OP_KIND_host] = &heed_gpu_host,
};
