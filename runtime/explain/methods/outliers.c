/* outliers U8 [B, L + 1, N]: patches whose state is far longer than those of the others of the
 * level, and outliers.bound [B, L + 1], the length from which on (Darcet et al. 2024). */
#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "explain/method.h"

static heed_status prepare(heed_explain_run *run, heed_pass *pass, heed_error *error) {
  return heed_pass_keep_states(run, pass, "outliers", error);
}

/* states and norms: room for one level. */
static heed_status find_all(heed_explain_run *run, float *states, float *norms, uint8_t *outlier,
                            float *bound, heed_error *error) {
  const heed_pass *pass = &run->pass;
  const uint32_t levels = run->info.layers + 1, patches = pass->rows * pass->columns,
                 width = run->info.width;
  for (uint32_t i = 0; i < pass->batch * levels; i++) {
    HEED_TRY(heed_pass_read(pass, heed_pass_states(pass, i % levels), i / levels, states, error));
    heed_patches_norms(states + (size_t)(pass->tokens - patches) * width, patches, width, norms);
    HEED_TRY(heed_patches_outliers(run->context, norms, patches, outlier + (size_t)i * patches,
                                   &bound[i], error));
  }
  return HEED_OK;
}

static heed_status compute(heed_explain_run *run, heed_error *error) {
  const uint32_t batch = run->pass.batch, levels = run->info.layers + 1,
                 patches = run->pass.rows * run->pass.columns;
  const size_t count = (size_t)run->pass.tokens * run->info.width;
  uint8_t *outlier =
      heed_explain_add(run, "outliers", HEED_U8, &HEED_SHAPE(batch, levels, patches), error);
  float *bound =
      outlier ? heed_explain_add(run, "outliers.bound", HEED_F32, &HEED_SHAPE(batch, levels), error)
              : NULL;
  if (!bound) return HEED_OUT_OF_MEMORY;
  float *room = heed_alloc_raw(run->context, count + patches, sizeof *room);
  if (!room) return heed_fail_memory(error, "outliers", (count + patches) * sizeof *room);
  const heed_status status = find_all(run, room, room + count, outlier, bound, error);
  heed_free(run->context, room);
  return status;
}

const heed_explain_method heed_method_outliers = {
    .name = "outliers", .scoreless = true, .prepare = prepare, .compute = compute};
