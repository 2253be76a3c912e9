/* localisation.pointing U8, .mass and .rank [B]: whether judge.pixels lies inside of judge.mask. */
#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "explain/methods/judged.h"

static heed_status prepare(heed_explain_run *run, heed_pass *pass, heed_error *error) {
  HEED_TRY(heed_judged_check(run, pass, "judge.mask", true, "localisation", error));
  return heed_judged_check_pixels(run, pass, "localisation", error);
}

static heed_status compute(heed_explain_run *run, heed_error *error) {
  const uint32_t plane = run->pass.height * run->pass.width, batch = run->pass.batch;
  const uint8_t *mask = heed_explain_find(run, "judge.mask")->data;
  uint8_t *pointing =
      heed_explain_add(run, "localisation.pointing", HEED_U8, &HEED_SHAPE(batch), error);
  float *mass = pointing ? heed_judged_add(run, "localisation.mass", 0, error) : NULL,
        *rank = mass ? heed_judged_add(run, "localisation.rank", 0, error) : NULL,
        *map = rank ? heed_judged_pixels(run, error) : NULL;
  if (!map) return HEED_OUT_OF_MEMORY;
  heed_status status = HEED_OK;
  for (uint32_t b = 0; b < batch && status == HEED_OK; b++) {
    heed_localisation found;
    status = heed_map_localise(run->context, map + (size_t)b * plane, mask + (size_t)b * plane,
                               plane, &found, error);
    if (status != HEED_OK) break;
    pointing[b] = found.pointing;
    mass[b] = (float)found.mass;
    rank[b] = (float)found.rank;
  }
  heed_free(run->context, map);
  return status;
}

const heed_explain_method heed_method_localisation = {
    .name = "localisation", .scoreless = true, .prepare = prepare, .compute = compute};
