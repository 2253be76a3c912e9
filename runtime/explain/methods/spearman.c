/* spearman [B]: how far judge.map and judge.other agree, by the order of their sizes. */
#include "base/status.h"
#include "explain/methods/judged.h"

static heed_status prepare(heed_explain_run *run, heed_pass *pass, heed_error *error) {
  HEED_TRY(heed_judged_check(run, pass, "judge.map", false, "spearman", error));
  return heed_judged_check(run, pass, "judge.other", false, "spearman", error);
}

static heed_status compute(heed_explain_run *run, heed_error *error) {
  const uint32_t patches = run->pass.rows * run->pass.columns;
  const float *a = heed_explain_find(run, "judge.map")->data,
              *b = heed_explain_find(run, "judge.other")->data;
  float *to = heed_judged_add(run, "spearman", 0, error);
  if (!to) return HEED_OUT_OF_MEMORY;
  for (uint32_t i = 0; i < run->pass.batch; i++) {
    double rho;
    HEED_TRY(heed_map_spearman(run->context, a + (size_t)i * patches, b + (size_t)i * patches,
                               patches, &rho, error));
    to[i] = (float)rho;
  }
  return HEED_OK;
}

const heed_explain_method heed_method_spearman = {
    .name = "spearman", .scoreless = true, .prepare = prepare, .compute = compute};
