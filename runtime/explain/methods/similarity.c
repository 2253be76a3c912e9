/* similarity [B, N, N]: cosines of the states of each picture's patches. With source.pixel_values
 * also similarity.source [B, N, N'], with the patches of the picture there, whose grid may be
 * another, and match I32 [B, N], which of those belongs to each patch. */
#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "explain/methods/patches.h"

static heed_status prepare(heed_explain_run *run, heed_pass *pass, heed_error *error) {
  if (pass->batch != run->pass.batch)
    return heed_fail(error, HEED_INVALID_FILE,
                     "source.pixel_values: wrong number of pictures (found %u, expected %u)",
                     pass->batch, run->pass.batch);
  return heed_patches_keep(run, pass, "similarity", error);
}

/* Where the tensors lie; those of a second picture are NULL without one. */
typedef struct similarity_tensors {
  float *own, *source;
  int32_t *match;
} similarity_tensors;

static heed_status add_tensors(heed_explain_run *run, similarity_tensors *to, heed_error *error) {
  const uint32_t pictures = run->pass.batch, patches = run->pass.rows * run->pass.columns,
                 others = run->source.rows * run->source.columns;
  *to = (similarity_tensors){NULL, NULL, NULL};
  to->own =
      heed_explain_add(run, "similarity", HEED_F32, &HEED_SHAPE(pictures, patches, patches), error);
  if (!to->own) return HEED_OUT_OF_MEMORY;
  if (!run->source.graph) return HEED_OK;
  to->source = heed_explain_add(run, "similarity.source", HEED_F32,
                                &HEED_SHAPE(pictures, patches, others), error);
  if (!to->source) return HEED_OUT_OF_MEMORY;
  to->match = heed_explain_add(run, "match", HEED_I32, &HEED_SHAPE(pictures, patches), error);
  return to->match ? HEED_OK : HEED_OUT_OF_MEMORY;
}

static heed_status compare_with_source(const heed_explain_run *run, const similarity_tensors *to,
                                       const float *states, uint32_t b, heed_error *error) {
  const uint32_t patches = run->pass.rows * run->pass.columns,
                 others = run->source.rows * run->source.columns;
  float *similarity = to->source + (size_t)b * patches * others, *source;
  heed_status status = heed_patches_read(run, &run->source, b, &source, error);
  if (status == HEED_OK)
    status = heed_patches_similarity(run->context, states, patches, source, others, run->info.width,
                                     similarity, error);
  heed_free(run->context, source);
  if (status == HEED_OK)
    heed_patches_match(similarity, patches, others, to->match + (size_t)b * patches);
  return status;
}

static heed_status compute(heed_explain_run *run, heed_error *error) {
  const uint32_t patches = run->pass.rows * run->pass.columns;
  similarity_tensors to;
  HEED_TRY(add_tensors(run, &to, error));
  for (uint32_t b = 0; b < run->pass.batch; b++) {
    float *states;
    heed_status status = heed_patches_read(run, &run->pass, b, &states, error);
    if (status == HEED_OK)
      status = heed_patches_similarity(run->context, states, patches, NULL, 0, run->info.width,
                                       to.own + (size_t)b * patches * patches, error);
    if (status == HEED_OK && to.source) status = compare_with_source(run, &to, states, b, error);
    heed_free(run->context, states);
    HEED_TRY(status);
  }
  return HEED_OK;
}

const heed_explain_method heed_method_similarity = {.name = "similarity",
                                                    .scoreless = true,
                                                    .source = true,
                                                    .prepare = prepare,
                                                    .compute = compute};
