/* Ops alone, to be timed. */
#include "check/bench.h"

static const heed_layer_case *const ops[] = {
#define HEED_OP(name) &heed_case_##name,
#include "graph/op_list.h"
#undef HEED_OP
};

const heed_bench_op *heed_bench_get_op(uint32_t index) {
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
    if (ops[i]->bench && index-- == 0) return &ops[i]->bench->op;
  return NULL;
}

heed_status heed_bench_define(heed_graph *graph, const heed_bench_op *op,
                              const heed_bench_shape *shape, heed_error *error) {
  ((const heed_bench_case *)op)->define(graph, shape);
  return heed_graph_status(graph, error);
}

static heed_status read_ramp(void *user, uint64_t first, uint64_t count, void *to,
                             heed_error *error) {
  (void)user, (void)error;
  for (uint64_t i = 0; i < count; i++)
    ((float *)to)[i] = (float)((first + i) * 2654435761u % 1024) / 8192.0f - 0.0625f;
  return HEED_OK;
}

heed_value heed_bench_constant(heed_graph *graph, heed_shape shape) {
  const heed_constant_desc desc = {
      .struct_size = sizeof desc, .dtype = HEED_F32, .shape = shape, .read = read_ramp};
  return heed_define_constant(graph, &desc);
}
