/* The table of ops, expanded from the list. */
#include "graph/op.h"

#ifdef HEED_OPS_AS_LINKED
/* An op that nothing in the program defines is left out, with its shape rule: the definition of a
 * node and the op are one file of the library. */
#define HEED_OP(name) extern const heed_op heed_op_##name __attribute__((weak));
#include "graph/op_list.h"
#undef HEED_OP
#endif

const heed_op *const heed_ops[HEED_OP_KIND_COUNT] = {
#define HEED_OP(name) [HEED_OP_KIND_##name] = &heed_op_##name,
#include "graph/op_list.h"
#undef HEED_OP
};
