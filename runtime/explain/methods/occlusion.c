/* occlusion [B, N]: the score with a square of patches covered by the picture's mean colour, at
 * each patch that of its square (Zeiler and Fergus 2014, section 4.2); and occlusion.probability
 * [B, N] of a target that is one logit. */
#include <string.h>

#include "base/alloc.h"
#include "base/hooks.h"
#include "base/status.h"
#include "base/tensor.h"
#include "explain/variant.h"

enum { USUAL = 2 };

static uint32_t side_of(const heed_explain_run *run) {
  return run->desc->square ? run->desc->square : USUAL;
}

/* One by one, of all pictures at a time. */
typedef struct covering {
  heed_explain_run *run;
  heed_pass variant;
  float *pictures, *mean; /* [B, channels, height, width], [B, channels] */
  float *scores, *probabilities;
  uint32_t row, column, rows, columns; /* the square, in patches */
} covering;

static void find_means(covering *c, const float *pixels) {
  const size_t plane = (size_t)c->run->pass.height * c->run->pass.width;
  for (size_t i = 0; i < (size_t)c->run->pass.batch * c->run->info.channels; i++) {
    double sum = 0.0;
    for (size_t p = 0; p < plane; p++) sum += (double)pixels[i * plane + p];
    c->mean[i] = (float)(sum / (double)plane);
  }
}

/* Covers the square, or with `back` lets it be seen again. */
static void cover(const covering *c, const float *back) {
  const heed_pass *pass = &c->run->pass;
  const size_t patch = c->run->info.patch, wide = c->columns * patch;
  for (size_t i = 0; i < (size_t)pass->batch * c->run->info.channels; i++)
    for (size_t y = 0; y < c->rows * patch; y++) {
      const size_t at = (i * pass->height + c->row * patch + y) * pass->width + c->column * patch;
      if (back) memcpy(c->pictures + at, back + at, wide * sizeof *back);
      for (size_t x = 0; !back && x < wide; x++) c->pictures[at + x] = c->mean[i];
    }
}

static heed_status read_answers(const covering *c, heed_error *error) {
  const heed_pass *pass = &c->run->pass;
  const size_t patches = (size_t)pass->rows * pass->columns;
  for (uint32_t b = 0; b < pass->batch; b++) {
    heed_answer answer;
    HEED_TRY(heed_answer_read(c->run, &c->variant, b, &answer, error));
    for (size_t y = c->row; y < c->row + c->rows; y++)
      for (size_t x = c->column; x < c->column + c->columns; x++) {
        const size_t at = b * patches + y * pass->columns + x;
        c->scores[at] = (float)answer.score;
        if (c->probabilities) c->probabilities[at] = (float)answer.probability;
      }
  }
  return HEED_OK;
}

static heed_status run_squares(covering *c, const float *pixels, heed_error *error) {
  const heed_pass *pass = &c->run->pass;
  const heed_hooks *hooks = c->run->desc->hooks;
  const uint32_t side = side_of(c->run), down = (pass->rows + side - 1) / side,
                 across = (pass->columns + side - 1) / side;
  for (uint32_t i = 0; i < down * across; i++) {
    HEED_TRY(heed_check_cancel(hooks, "occlusion", error));
    c->row = i / across * side;
    c->column = i % across * side;
    c->rows = pass->rows - c->row < side ? pass->rows - c->row : side;
    c->columns = pass->columns - c->column < side ? pass->columns - c->column : side;
    cover(c, NULL);
    HEED_TRY(heed_variant_write(&c->variant, "pixel_values", c->pictures, error));
    HEED_TRY(heed_explain_session(c->run, c->variant.session, error));
    HEED_TRY(read_answers(c, error));
    cover(c, pixels);
    heed_report_progress(hooks, "occlusion", i + 1, (uint64_t)down * across);
  }
  return HEED_OK;
}

static heed_status open_covering(covering *c, const float *pixels, heed_error *error) {
  const heed_pass *pass = &c->run->pass;
  const size_t planes = (size_t)pass->batch * c->run->info.channels,
               count = planes * pass->height * pass->width;
  c->pictures = heed_alloc_raw(c->run->context, count, sizeof *c->pictures);
  c->mean = heed_alloc_raw(c->run->context, planes, sizeof *c->mean);
  if (!c->pictures || !c->mean)
    return heed_fail_memory(error, "occlusion", count * sizeof *c->pictures);
  memcpy(c->pictures, pixels, count * sizeof *pixels);
  find_means(c, pixels);
  return heed_variant_open(c->run, false, 0, &c->variant, error);
}

static heed_status compute(heed_explain_run *run, heed_error *error) {
  const uint32_t patches = run->pass.rows * run->pass.columns;
  const heed_shape shape = HEED_SHAPE(run->pass.batch, patches);
  const float *pixels = heed_explain_find(run, "pixel_values")->data;
  covering c = {.run = run};
  if (!(c.scores = heed_explain_add(run, "occlusion", HEED_F32, &shape, error)) ||
      (heed_answer_is_logit(run) && !(c.probabilities = heed_explain_add(
                                          run, "occlusion.probability", HEED_F32, &shape, error))))
    return HEED_OUT_OF_MEMORY;
  heed_status status = open_covering(&c, pixels, error);
  if (status == HEED_OK) status = run_squares(&c, pixels, error);
  heed_variant_close(&c.variant);
  heed_free(run->context, c.pictures);
  heed_free(run->context, c.mean);
  return status;
}

const heed_explain_method heed_method_occlusion = {.name = "occlusion", .compute = compute};
