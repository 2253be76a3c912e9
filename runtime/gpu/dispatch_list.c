/* Asks the op of each node for its dispatches. */
#include "gpu/dispatch_list.h"

#include "base/status.h"
#include "gpu/split_values.h"

heed_status heed_gpu_builder_node(heed_gpu_builder *builder, const heed_node *node,
                                  heed_error *error) {
  builder->op = heed_ops[node->op]->name;
  builder->stage = node->stage;
  heed_gpu_split_build(builder, node);
  if (builder->status != HEED_OK && error) *error = builder->error;
  return builder->status;
}

heed_status heed_gpu_builder_plan(heed_gpu_builder *builder, heed_error *error) {
  for (builder->step = 0; builder->step < builder->plan->step_count; builder->step++) {
    const heed_node *node = heed_plan_node(builder->plan, builder->step);
    const size_t first = builder->dispatch_count;
    HEED_TRY(heed_gpu_builder_node(builder, node, error));
    const uint64_t flops = heed_ops[node->op]->flops(builder->plan->graph, node);
    for (size_t i = first; i < builder->dispatch_count; i++)
      builder->dispatches[i].flops = flops / (builder->dispatch_count - first);
  }
  return HEED_OK;
}
