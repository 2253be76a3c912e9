/* road [B, percentages]: the target's probability, or the score of a target without, when the first
 * pixels by judge.pixels are made of those around them (Rong et al. 2022); road.kept U8: the target
 * is still the largest logit. */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "explain/methods/judged.h"

enum { DEFAULTS = 50 };

static uint32_t percentages(const heed_explain_run *run) {
  return run->desc->percent ? run->desc->percent_count : DEFAULTS;
}

static double percent_of(const heed_explain_run *run, uint32_t index) {
  return run->desc->percent ? run->desc->percent[index] : 2.0 * index + 1.0;
}

static heed_status prepare(heed_explain_run *run, heed_pass *pass, heed_error *error) {
  if (!percentages(run))
    return heed_fail(error, HEED_INVALID_ARGUMENT, "road: no percentages (expected one or more)");
  for (uint32_t i = 0; i < percentages(run); i++)
    if (!(percent_of(run, i) >= 0.0 && percent_of(run, i) < 100.0))
      return heed_fail(error, HEED_INVALID_ARGUMENT,
                       "road: percentage out of range (found %g, expected 0 to below 100)",
                       percent_of(run, i));
  return heed_judged_check_pixels(run, pass, "road", error);
}

typedef struct roads {
  float *map, *pictures; /* [B, height, width], [B, channels, height, width] */
  uint32_t *order;       /* [B, height, width] */
  uint8_t *missing;      /* [height, width] */
  heed_pass variant;
} roads;

/* All pictures without their first `count` pixels. */
static heed_status fill(const heed_explain_run *run, roads *r, uint32_t count, heed_error *error) {
  const uint32_t plane = run->pass.height * run->pass.width;
  const size_t each = (size_t)plane * run->info.channels;
  memcpy(r->pictures, heed_explain_find(run, "pixel_values")->data,
         run->pass.batch * each * sizeof *r->pictures);
  for (uint32_t b = 0; b < run->pass.batch; b++) {
    const uint32_t *order = r->order + (size_t)b * plane;
    memset(r->missing, 0, plane);
    for (uint32_t i = 0; i < count; i++) r->missing[order[i]] = 1;
    HEED_TRY(heed_pixels_fill(run->context, r->pictures + b * each, run->info.channels,
                              run->pass.height, run->pass.width, r->missing, error));
  }
  return HEED_OK;
}

static heed_status run_all(heed_explain_run *run, roads *r, float *scores, uint8_t *kept,
                           heed_error *error) {
  const uint32_t plane = run->pass.height * run->pass.width, count = percentages(run);
  for (uint32_t i = 0; i < count; i++) {
    HEED_TRY(fill(run, r, (uint32_t)(plane * percent_of(run, i) / 100.0), error));
    HEED_TRY(heed_variant_write(&r->variant, "pixel_values", r->pictures, error));
    HEED_TRY(heed_explain_session(run, r->variant.session, error));
    for (uint32_t b = 0; b < run->pass.batch; b++) {
      heed_answer answer;
      HEED_TRY(heed_answer_read(run, &r->variant, b, &answer, error));
      scores[(size_t)b * count + i] = (float)heed_answer_number(run, &answer);
      if (kept) kept[(size_t)b * count + i] = answer.kept;
    }
  }
  return HEED_OK;
}

static heed_status open_roads(heed_explain_run *run, roads *r, heed_error *error) {
  const uint32_t plane = run->pass.height * run->pass.width, batch = run->pass.batch;
  if (!(r->map = heed_judged_pixels(run, error)) ||
      !(r->pictures = heed_judged_room(run, (size_t)batch * plane,
                                       run->info.channels * sizeof(float), error)) ||
      !(r->order = heed_judged_room(run, (size_t)batch * plane, sizeof *r->order, error)) ||
      !(r->missing = heed_judged_room(run, plane, 1, error)))
    return HEED_OUT_OF_MEMORY;
  for (uint32_t b = 0; b < batch; b++)
    heed_map_order(r->map + (size_t)b * plane, plane, r->order + (size_t)b * plane);
  return heed_variant_open(run, false, 0, &r->variant, error);
}

static heed_status compute(heed_explain_run *run, heed_error *error) {
  const heed_shape shape = HEED_SHAPE(run->pass.batch, percentages(run));
  roads r = {0};
  uint8_t *kept = NULL;
  float *scores = heed_explain_add(run, "road", HEED_F32, &shape, error);
  if (!scores) return HEED_OUT_OF_MEMORY;
  if (heed_answer_is_logit(run) &&
      !(kept = heed_explain_add(run, "road.kept", HEED_U8, &shape, error)))
    return HEED_OUT_OF_MEMORY;
  heed_status status = open_roads(run, &r, error);
  if (status == HEED_OK) status = run_all(run, &r, scores, kept, error);
  heed_variant_close(&r.variant);
  heed_free(run->context, r.map);
  heed_free(run->context, r.pictures);
  heed_free(run->context, r.order);
  heed_free(run->context, r.missing);
  return status;
}

const heed_explain_method heed_method_road = {
    .name = "road", .prepare = prepare, .compute = compute};
