/* Adjoints of ops that move elements: each element goes back where it came from. */
#include "base/tensor.h"
#include "graph/gradient/adjoint.h"

HEED_ADJOINT(permute) {
  const heed_permute_desc *desc = node->desc;
  const uint32_t rank = heed_gradient_shape(g, desc->x)->rank;
  uint32_t back[HEED_MAX_RANK] = {0};
  for (uint32_t i = 0; i < rank; i++) back[desc->order[i]] = i;
  heed_gradient_add(g, desc->x,
                    heed_gradient_permute(g, heed_gradient_of(g, node->output[0]), back));
}

HEED_ADJOINT(select_rows) {
  const heed_select_rows_desc *desc = node->desc;
  const heed_slice_desc wider = {.struct_size = sizeof wider,
                                 .x = heed_gradient_of(g, node->output[0]),
                                 .shape = *heed_gradient_shape(g, desc->x),
                                 .start = {0, -(int32_t)desc->first},
                                 .step = {1, 1, 1}};
  heed_gradient_add(g, desc->x, heed_define_slice(g->graph, &wider));
}

HEED_ADJOINT(concat) {
  const heed_concat_desc *desc = node->desc;
  const heed_value y = heed_gradient_of(g, node->output[0]);
  int32_t start = 0;
  for (uint32_t i = 0; i < desc->count; i++) {
    const heed_shape x = *heed_gradient_shape(g, desc->x[i]);
    heed_slice_desc part = {
        .struct_size = sizeof part, .x = y, .shape = *heed_gradient_shape(g, y)};
    part.shape.dim[desc->axis] = x.dim[desc->axis];
    for (uint32_t k = 0; k < x.rank; k++) part.step[k] = 1;
    part.start[desc->axis] = start;
    start += (int32_t)x.dim[desc->axis];
    if (heed_gradient_wants(g, desc->x[i]))
      heed_gradient_add(
          g, desc->x[i],
          heed_gradient_unbroadcast(g, heed_define_slice(g->graph, &part), desc->x[i]));
  }
}

/* The turn by the opposite angle. */
HEED_ADJOINT(rotary) {
  heed_rotary_desc back = *(const heed_rotary_desc *)node->desc;
  const heed_value x = back.x;
  back.x = heed_gradient_of(g, node->output[0]);
  back.sin = heed_graph_scaled_constant(g->graph, back.sin, -1.0f);
  heed_gradient_add(g, x, heed_define_rotary(g->graph, &back));
}
