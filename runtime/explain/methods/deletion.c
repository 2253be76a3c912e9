/* deletion.tokens and deletion.pixels [B, K + 1]: the score as the patches leave in the order of
 * judge.map, .probability of them and .area [B]. */
#include "explain/methods/curves.h"

static heed_status prepare(heed_explain_run *run, heed_pass *pass, heed_error *error) {
  return heed_curves_prepare(run, pass, "deletion", error);
}

static heed_status compute(heed_explain_run *run, heed_error *error) {
  return heed_curves_compute(run, "deletion", true, error);
}

const heed_explain_method heed_method_deletion = {
    .name = "deletion", .prepare = prepare, .compute = compute};
