/* cplrp: conservative propagation (Ali et al. 2022). Attention weights, divisors of norms and gates
 * are held; an activation passes on its ratio. */
#include "explain/methods/lrp.h"

static heed_status compute(heed_explain_run *run, heed_error *error) {
  static const heed_gradient_rules rules = {.hold_norms = true,
                                            .ratios = true,
                                            .hold_gates = true,
                                            .products = 1.0f,
                                            .scores = 0.0f,
                                            .values = 1.0f};
  return heed_lrp(run, "cplrp", &rules, error);
}

const heed_explain_method heed_method_cplrp = {
    .name = "cplrp", .reverse = true, .compute = compute};
