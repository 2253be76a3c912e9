/* attnlrp: Achtibat et al. 2024. The factors of a product share its relevance, so that query and
 * key get a quarter each. */
#include "explain/methods/lrp.h"

static heed_status compute(heed_explain_run *run, heed_error *error) {
  static const heed_gradient_rules rules = {
      .hold_norms = true, .ratios = true, .products = 0.5f, .scores = 0.25f, .values = 0.5f};
  return heed_lrp(run, "attnlrp", &rules, error);
}

const heed_explain_method heed_method_attnlrp = {
    .name = "attnlrp", .reverse = true, .compute = compute};
