/* norms [B, L + 1, T]: the Euclidean norm of every token's state, level by level. */
#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "explain/method.h"

static heed_status prepare(heed_explain_run *run, heed_pass *pass, heed_error *error) {
  return heed_pass_keep_states(run, pass, "norms", error);
}

static heed_status compute(heed_explain_run *run, heed_error *error) {
  const uint32_t levels = run->info.layers + 1, tokens = run->pass.tokens, width = run->info.width;
  float *norms =
      heed_explain_add(run, "norms", HEED_F32, &HEED_SHAPE(run->pass.batch, levels, tokens), error);
  if (!norms) return HEED_OUT_OF_MEMORY;
  float *states = heed_alloc_raw(run->context, (size_t)tokens * width, sizeof *states);
  if (!states) return heed_fail_memory(error, "norms", (size_t)tokens * width * sizeof *states);
  heed_status status = HEED_OK;
  for (uint32_t i = 0; i < run->pass.batch * levels && status == HEED_OK; i++) {
    status = heed_pass_read(&run->pass, heed_pass_states(&run->pass, i % levels), i / levels,
                            states, error);
    if (status == HEED_OK) heed_patches_norms(states, tokens, width, norms);
    norms += tokens;
  }
  heed_free(run->context, states);
  return status;
}

const heed_explain_method heed_method_norms = {
    .name = "norms", .scoreless = true, .prepare = prepare, .compute = compute};
