/* pca.*: principal components of each picture's patches, and the colours that they make. */
#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "explain/methods/patches.h"

static heed_status prepare(heed_explain_run *run, heed_pass *pass, heed_error *error) {
  if (pass->rows * pass->columns < 2)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "pca: too few patches (found %u, expected at least 2)",
                     pass->rows * pass->columns);
  return heed_patches_keep(run, pass, "pca", error);
}

/* All tensors, each zeroed; one that is NULL had no memory. */
static heed_status add_tensors(heed_explain_run *run, heed_pca *pca, heed_error *error) {
  const uint32_t pictures = run->pass.batch, patches = run->pass.rows * run->pass.columns,
                 width = run->info.width;
  const struct {
    const char *name;
    void *to; /* of a pointer to floats or, of U8, to bytes */
    heed_dtype dtype;
    heed_shape shape;
  } tensors[] = {
      {"pca.mean", &pca->mean, HEED_F32, HEED_SHAPE(pictures, width)},
      {"pca.components", &pca->components, HEED_F32, HEED_SHAPE(pictures, 3, width)},
      {"pca.variance", &pca->variance, HEED_F32, HEED_SHAPE(pictures, 3)},
      {"pca.scores", &pca->scores, HEED_F32, HEED_SHAPE(pictures, patches, 3)},
      {"pca.foreground", &pca->foreground, HEED_U8, HEED_SHAPE(pictures, patches)},
      {"pca.colours", &pca->colours, HEED_F32, HEED_SHAPE(pictures, 3, width)},
      {"pca.rgb", &pca->rgb, HEED_F32, HEED_SHAPE(pictures, patches, 3)},
  };
  for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++) {
    void *data = heed_explain_add(run, tensors[i].name, tensors[i].dtype, &tensors[i].shape, error);
    if (!data) return HEED_OUT_OF_MEMORY;
    if (tensors[i].dtype == HEED_U8)
      *(uint8_t **)tensors[i].to = data;
    else
      *(float **)tensors[i].to = data;
  }
  return HEED_OK;
}

static heed_status compute(heed_explain_run *run, heed_error *error) {
  const heed_patches grid = {run->pass.rows, run->pass.columns};
  const size_t patches = (size_t)grid.rows * grid.columns, width = run->info.width;
  heed_pca all;
  HEED_TRY(add_tensors(run, &all, error));
  for (size_t b = 0; b < run->pass.batch; b++) {
    const heed_pca one = {all.mean + b * width,         all.components + b * 3 * width,
                          all.variance + b * 3,         all.scores + b * patches * 3,
                          all.foreground + b * patches, all.colours + b * 3 * width,
                          all.rgb + b * patches * 3};
    float *states;
    heed_status status = heed_patches_read(run, &run->pass, (uint32_t)b, &states, error);
    if (status == HEED_OK)
      status = heed_patches_pca(run->context, states, &grid, 1, run->info.width, &one, error);
    heed_free(run->context, states);
    HEED_TRY(status);
  }
  return HEED_OK;
}

const heed_explain_method heed_method_pca = {
    .name = "pca", .scoreless = true, .prepare = prepare, .compute = compute};
