/* flipping [B, steps]: the target's probability, or the score of a target without, as pixels become
 * as dark as the darkest of the picture, `flip_pixels` a step in the order of judge.pixels (pixel
 * flipping: Bach et al. 2015). */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "explain/methods/judged.h"

static uint32_t pixels_a_step(const heed_explain_run *run) {
  return run->desc->flip_pixels ? run->desc->flip_pixels : 1;
}

static heed_status prepare(heed_explain_run *run, heed_pass *pass, heed_error *error) {
  return heed_judged_check_pixels(run, pass, "flipping", error);
}

static float smallest(const float *numbers, size_t count) {
  float least = numbers[0];
  for (size_t i = 1; i < count; i++)
    if (numbers[i] < least) least = numbers[i];
  return least;
}

/* Pixels [first, end) of the order, of all channels. */
static void flip(const heed_explain_run *run, const uint32_t *order, uint32_t first, uint32_t end,
                 float black, float *picture) {
  const size_t plane = (size_t)run->pass.height * run->pass.width;
  for (uint32_t c = 0; c < run->info.channels; c++)
    for (uint32_t i = first; i < end; i++) picture[c * plane + order[i]] = black;
}

/* What the steps need. */
typedef struct flips {
  float *map, *pictures, *black; /* [B, height, width], [B, channels, height, width], [B] */
  uint32_t *order;               /* [B, height, width] */
  heed_pass variant;
} flips;

static heed_status run_steps(heed_explain_run *run, flips *f, uint32_t steps, float *to,
                             heed_error *error) {
  const uint32_t plane = run->pass.height * run->pass.width, by = pixels_a_step(run);
  const size_t each = (size_t)plane * run->info.channels;
  for (uint32_t s = 0; s < steps; s++) {
    const uint32_t first = s * by, end = plane - first > by ? first + by : plane;
    for (uint32_t b = 0; b < run->pass.batch; b++)
      flip(run, f->order + (size_t)b * plane, first, end, f->black[b], f->pictures + b * each);
    HEED_TRY(heed_variant_write(&f->variant, "pixel_values", f->pictures, error));
    HEED_TRY(heed_explain_session(run, f->variant.session, error));
    for (uint32_t b = 0; b < run->pass.batch; b++) {
      heed_answer answer;
      HEED_TRY(heed_answer_read(run, &f->variant, b, &answer, error));
      to[(size_t)b * steps + s] = (float)heed_answer_number(run, &answer);
    }
  }
  return HEED_OK;
}

static heed_status open_flips(heed_explain_run *run, flips *f, heed_error *error) {
  const uint32_t plane = run->pass.height * run->pass.width, batch = run->pass.batch;
  const float *pixels = heed_explain_find(run, "pixel_values")->data;
  const size_t each = (size_t)plane * run->info.channels;
  if (!(f->map = heed_judged_pixels(run, error)) ||
      !(f->pictures = heed_judged_room(run, batch * each, sizeof(float), error)) ||
      !(f->black = heed_judged_room(run, batch, sizeof(float), error)) ||
      !(f->order = heed_judged_room(run, (size_t)batch * plane, sizeof *f->order, error)))
    return HEED_OUT_OF_MEMORY;
  memcpy(f->pictures, pixels, batch * each * sizeof *pixels);
  for (uint32_t b = 0; b < batch; b++) {
    f->black[b] = smallest(pixels + b * each, each);
    heed_map_order(f->map + (size_t)b * plane, plane, f->order + (size_t)b * plane);
  }
  return heed_variant_open(run, false, 0, &f->variant, error);
}

static heed_status compute(heed_explain_run *run, heed_error *error) {
  const uint32_t plane = run->pass.height * run->pass.width, by = pixels_a_step(run),
                 steps = plane / by + (plane % by != 0);
  flips f = {0};
  float *to = heed_judged_add(run, "flipping", steps, error);
  if (!to) return HEED_OUT_OF_MEMORY;
  heed_status status = open_flips(run, &f, error);
  if (status == HEED_OK) status = run_steps(run, &f, steps, to, error);
  heed_variant_close(&f.variant);
  heed_free(run->context, f.map);
  heed_free(run->context, f.pictures);
  heed_free(run->context, f.black);
  heed_free(run->context, f.order);
  return status;
}

const heed_explain_method heed_method_flipping = {
    .name = "flipping", .prepare = prepare, .compute = compute};
