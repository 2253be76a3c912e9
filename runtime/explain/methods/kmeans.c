/* kmeans I32 [B, N]: each picture's patches in groups of alike states, and kmeans.centres [B, K, C]
 * of unit states. */
#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "explain/methods/patches.h"

enum { USUAL = 5 };

static uint32_t clusters_of(const heed_explain_run *run) {
  return run->desc->clusters ? run->desc->clusters : USUAL;
}

static heed_status prepare(heed_explain_run *run, heed_pass *pass, heed_error *error) {
  const uint32_t patches = pass->rows * pass->columns;
  if (patches < clusters_of(run))
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "kmeans: too many clusters (found %u, expected at most the %u patches)",
                     clusters_of(run), patches);
  return heed_patches_keep(run, pass, "kmeans", error);
}

static heed_status compute(heed_explain_run *run, heed_error *error) {
  const uint32_t batch = run->pass.batch, patches = run->pass.rows * run->pass.columns,
                 width = run->info.width, clusters = clusters_of(run);
  int32_t *cluster = heed_explain_add(run, "kmeans", HEED_I32, &HEED_SHAPE(batch, patches), error);
  float *centres = cluster ? heed_explain_add(run, "kmeans.centres", HEED_F32,
                                              &HEED_SHAPE(batch, clusters, width), error)
                           : NULL;
  if (!centres) return HEED_OUT_OF_MEMORY;
  for (uint32_t b = 0; b < batch; b++) {
    float *states;
    heed_status status = heed_patches_read(run, &run->pass, b, &states, error);
    if (status == HEED_OK)
      status = heed_patches_cluster(run->context, states, patches, width, clusters,
                                    cluster + (size_t)b * patches,
                                    centres + (size_t)b * clusters * width, error);
    heed_free(run->context, states);
    HEED_TRY(status);
  }
  return HEED_OK;
}

const heed_explain_method heed_method_kmeans = {
    .name = "kmeans", .scoreless = true, .prepare = prepare, .compute = compute};
