/* The dispatches of a plan, node by node. */
#ifndef HEED_GPU_DISPATCH_LIST_H
#define HEED_GPU_DISPATCH_LIST_H

#include "gpu/builder.h"

/* Adds the dispatches of one node; of all steps of the plan. */
heed_status heed_gpu_builder_node(heed_gpu_builder *builder, const heed_node *node,
                                  heed_error *error);
heed_status heed_gpu_builder_plan(heed_gpu_builder *builder, heed_error *error);

#endif
