/* The table of ops, expanded from the list. */
#include "graph/op.h"

const heed_op *const heed_ops[HEED_OP_KIND_COUNT] = {
#define HEED_OP(name) [HEED_OP_KIND_##name] = &heed_op_##name,
#include "graph/op_list.h"
#undef HEED_OP
    [HEED_OP_KIND_host] = &heed_op_host,
};
