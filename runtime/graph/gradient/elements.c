/* Adjoints of ops that work element by element or along the last axis. */
#include "base/tensor.h"
#include "graph/gradient/adjoint.h"

HEED_ADJOINT(add) {
  const heed_add_desc *desc = node->desc;
  const heed_value y = heed_gradient_of(g, node->output[0]);
  heed_gradient_add(g, desc->a, y);
  if (heed_gradient_wants(g, desc->b))
    heed_gradient_add(g, desc->b, heed_gradient_unbroadcast(g, y, desc->b));
}

/* Where one factor is a constant the rules of products have nothing to say. */
HEED_ADJOINT(multiply) {
  const heed_multiply_desc *desc = node->desc;
  const bool both = heed_gradient_wants(g, desc->a) && heed_gradient_wants(g, desc->b);
  const bool held = both && g->rules.hold_gates;
  const heed_value y =
      heed_gradient_times(g, heed_gradient_of(g, node->output[0]), both ? g->rules.products : 1.0f);
  if (heed_gradient_wants(g, desc->a))
    heed_gradient_add(g, desc->a, heed_gradient_product(g, y, desc->b));
  if (heed_gradient_wants(g, desc->b) && !held)
    heed_gradient_add(g, desc->b,
                      heed_gradient_unbroadcast(g, heed_gradient_product(g, y, desc->a), desc->b));
}

HEED_ADJOINT(activation) {
  heed_activation_desc factor = *(const heed_activation_desc *)node->desc;
  if (factor.form != HEED_ACTIVATION_VALUE) {
    heed_gradient_refuse(g, "the slope of an activation");
    return;
  }
  factor.form = g->rules.ratios ? HEED_ACTIVATION_RATIO : HEED_ACTIVATION_SLOPE;
  heed_gradient_add(g, factor.x,
                    heed_gradient_product(g, heed_gradient_of(g, node->output[0]),
                                          heed_define_activation(g->graph, &factor)));
}

/* y (g - sum of g y) */
HEED_ADJOINT(softmax) {
  const heed_value y = {node->output[0]}, gy = heed_gradient_of(g, y.id),
                   sum = heed_gradient_reduce(g, HEED_REDUCE_SUM, heed_gradient_product(g, gy, y));
  heed_gradient_add(g, ((const heed_softmax_desc *)node->desc)->x,
                    heed_gradient_product(g, y, heed_gradient_difference(g, gy, sum)));
}

/* 1 / sqrt(variance + epsilon) of each row; rms: about 0. */
static heed_value inverse_spread(heed_gradient *g, const heed_layer_norm_desc *desc) {
  const heed_shape *shape = heed_gradient_shape(g, desc->x);
  const float share = 1.0f / (float)shape->dim[shape->rank - 1];
  const heed_value centred =
      desc->rms ? desc->x
                : heed_gradient_difference(g, desc->x,
                                           heed_gradient_reduce(g, HEED_REDUCE_MEAN, desc->x));
  const heed_add_desc variance = {
      sizeof variance,
      heed_gradient_times(g, heed_gradient_reduce(g, HEED_REDUCE_SUM_SQUARE, centred), share),
      heed_gradient_number(g, desc->epsilon)};
  return heed_gradient_elementwise(
      g, HEED_ELEMENTWISE_RECIPROCAL,
      heed_gradient_elementwise(g, HEED_ELEMENTWISE_SQUARE_ROOT,
                                heed_define_add(g->graph, &variance), (heed_value){0}),
      (heed_value){0});
}

/* x without gain and bias. */
static heed_value unit(heed_gradient *g, const heed_layer_norm_desc *norm) {
  const uint32_t width = heed_gradient_shape(g, norm->gain)->dim[0];
  float *ones = heed_graph_keep(g->graph, NULL, width * sizeof *ones);
  for (uint32_t i = 0; ones && i < width; i++) ones[i] = 1.0f;
  const heed_constant_desc gain = {
      .struct_size = sizeof gain, .dtype = HEED_F32, .shape = HEED_SHAPE(width), .data = ones};
  if (!ones) return (heed_value){0};
  const heed_layer_norm_desc desc = {
      sizeof desc, norm->x, heed_define_constant(g->graph, &gain), {0}, norm->epsilon, norm->rms};
  return heed_define_layer_norm(g->graph, &desc);
}

/* With h = g gain and x^ = (x - mean) / s: (h - mean h - x^ mean of h x^) / s. Held: without the
 * last term; rms: without the mean. */
HEED_ADJOINT(layer_norm) {
  const heed_layer_norm_desc *desc = node->desc;
  const heed_value h = heed_gradient_product(g, heed_gradient_of(g, node->output[0]), desc->gain);
  heed_value x = h;
  if (!desc->rms) x = heed_gradient_difference(g, x, heed_gradient_reduce(g, HEED_REDUCE_MEAN, h));
  if (!g->rules.hold_norms) {
    const heed_value u = unit(g, desc), along = heed_gradient_reduce(
                                            g, HEED_REDUCE_MEAN, heed_gradient_product(g, h, u));
    x = heed_gradient_difference(g, x, heed_gradient_product(g, u, along));
  }
  heed_gradient_add(g, desc->x, heed_gradient_product(g, x, inverse_spread(g, desc)));
}
