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
  if (factor.form != HEED_ACTIVATION_VALUE || factor.times.id) {
    heed_gradient_refuse(g, "the slope of an activation");
    return;
  }
  factor.form = g->rules.ratios ? HEED_ACTIVATION_RATIO : HEED_ACTIVATION_SLOPE;
  factor.times = heed_gradient_of(g, node->output[0]);
  heed_gradient_add(g, factor.x, heed_define_activation(g->graph, &factor));
}

HEED_ADJOINT(softmax) {
  const heed_softmax_desc *desc = node->desc;
  if (desc->gradient.id) {
    heed_gradient_refuse(g, "the slope of a softmax");
    return;
  }
  const heed_value y = {node->output[0]};
  heed_gradient_add(g, desc->x, heed_gradient_softmax(g, y, heed_gradient_of(g, y.id), 1.0f));
}

HEED_ADJOINT(layer_norm) {
  heed_layer_norm_desc back = *(const heed_layer_norm_desc *)node->desc;
  if (back.gradient.id) {
    heed_gradient_refuse(g, "the slope of a norm");
    return;
  }
  back.bias = (heed_value){0};
  back.held = g->rules.hold_norms;
  back.gradient = heed_gradient_of(g, node->output[0]);
  heed_gradient_add(g, back.x, heed_define_layer_norm(g->graph, &back));
}
