/* The words in which adjoints are written. */
#include "base/tensor.h"
#include "graph/gradient/adjoint.h"

const heed_shape *heed_gradient_shape(const heed_gradient *g, heed_value value) {
  static const heed_shape none;
  return value.id ? &heed_graph_record(g->graph, value.id)->shape : &none;
}

heed_value heed_gradient_sum(heed_gradient *g, heed_value sum, heed_value more) {
  const heed_add_desc desc = {sizeof desc, sum, more};
  return sum.id ? heed_define_add(g->graph, &desc) : more;
}

heed_value heed_gradient_product(heed_gradient *g, heed_value a, heed_value b) {
  const heed_multiply_desc desc = {sizeof desc, a, b};
  return heed_define_multiply(g->graph, &desc);
}

heed_value heed_gradient_number(heed_gradient *g, float number) {
  const heed_constant_desc desc = {.struct_size = sizeof desc,
                                   .dtype = HEED_F32,
                                   .shape = HEED_SHAPE(1),
                                   .data = heed_graph_keep(g->graph, &number, sizeof number)};
  return desc.data ? heed_define_constant(g->graph, &desc) : (heed_value){0};
}

heed_value heed_gradient_times(heed_gradient *g, heed_value x, float number) {
  return number == 1.0f ? x : heed_gradient_product(g, x, heed_gradient_number(g, number));
}

heed_value heed_gradient_permute(heed_gradient *g, heed_value x, const uint32_t *order) {
  heed_permute_desc desc = {.struct_size = sizeof desc, .x = x};
  for (uint32_t i = 0; i < heed_gradient_shape(g, x)->rank; i++) desc.order[i] = order[i];
  return heed_define_permute(g->graph, &desc);
}

heed_value heed_gradient_softmax(heed_gradient *g, heed_value y, heed_value gradient,
                                 float factor) {
  const heed_softmax_desc desc = {sizeof desc, y, gradient, factor};
  return heed_define_softmax(g->graph, &desc);
}

heed_value heed_gradient_unbroadcast(heed_gradient *g, heed_value x, heed_value like) {
  const heed_shape whole = *heed_gradient_shape(g, x), part = *heed_gradient_shape(g, like);
  heed_reduce_desc desc = {
      .struct_size = sizeof desc, .x = x, .kind = HEED_REDUCE_SUM, .keep_axes = true};
  for (uint32_t i = 0; i < whole.rank; i++) {
    const uint32_t missing = whole.rank - part.rank, have = i < missing ? 1 : part.dim[i - missing];
    if (have != whole.dim[i]) desc.axes |= 1u << i;
  }
  return heed_define_reshape(g->graph, desc.axes ? heed_define_reduce(g->graph, &desc) : x, &part);
}
