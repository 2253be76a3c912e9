/* See curves.h. Of K steps, step k has n_k = floor(k N / K + 1/2) patches that left or came. A
 * patch leaves as a token, so that the sequence is shorter, or as pixels, which become 0. Source of
 * the curves: Petsiuk et al. 2018 (RISE), who change pixels. */
#include "explain/methods/curves.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "explain/methods/judged.h"

enum { MOST_STEPS = 1 << 20 };

/* One of the two curves of a method, its numbers [B, K + 1]. */
typedef struct curve {
  float *score, *probability; /* the second is NULL for a target that is no logit */
} curve;

typedef struct curves {
  heed_explain_run *run;
  uint32_t steps, patches;
  bool deletion;
  uint32_t *order;   /* [B, N] */
  uint8_t *stays;    /* [N] */
  float *embeddings; /* [B, T, C] of the whole sequences */
  float *changed;    /* [B, ...]: what a variant is given */
  int32_t *tokens, *pairs;
} curves;

static uint32_t steps_of(const heed_explain_run *run) {
  return run->desc->steps ? run->desc->steps : 10;
}

heed_status heed_curves_prepare(heed_explain_run *run, heed_pass *pass, const char *name,
                                heed_error *error) {
  const heed_target *target = &run->target;
  if (steps_of(run) > MOST_STEPS)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "%s: too many steps (found %u, expected at most %u)", name, steps_of(run),
                     (uint32_t)MOST_STEPS);
  if (target->kind == HEED_TARGET_STATE &&
      (target->token >= run->info.prefix_tokens || target->level == 0))
    return heed_fail(error, HEED_UNSUPPORTED,
                     "%s: the target is a state that leaves with its patch, or is before the first "
                     "layer (found \"%s\", expected a logit, or a token below %u after a layer)",
                     name, run->desc->target, run->info.prefix_tokens);
  HEED_TRY(heed_judged_check(run, pass, "judge.map", false, name, error));
  return heed_pass_keep(run, pass, heed_pass_states(pass, 0), name, error);
}

/* --------------------------------------------------------------------------------------- a step */

/* Patches in the pictures of step k. */
static uint32_t present(const curves *c, uint32_t k) {
  const uint64_t moved = (2 * (uint64_t)k * c->patches + c->steps) / (2 * (uint64_t)c->steps);
  return c->deletion ? c->patches - (uint32_t)moved : (uint32_t)moved;
}

/* Marks the `count` patches that are in picture b: the last in order, or the first. */
static void mark(const curves *c, uint32_t b, uint32_t count) {
  const uint32_t *order = c->order + (size_t)b * c->patches,
                 first = c->deletion ? c->patches - count : 0;
  memset(c->stays, 0, c->patches);
  for (uint32_t i = first; i < first + count; i++) c->stays[order[i]] = 1;
}

static heed_status note(const curves *c, const heed_pass *pass, uint32_t k, const curve *to,
                        heed_error *error) {
  for (uint32_t b = 0; b < c->run->pass.batch; b++) {
    heed_answer answer;
    const size_t at = (size_t)b * (c->steps + 1) + k;
    HEED_TRY(heed_answer_read(c->run, pass, b, &answer, error));
    to->score[at] = (float)answer.score;
    if (to->probability) to->probability[at] = (float)answer.probability;
  }
  return HEED_OK;
}

/* The rows of the tokens that are in picture b, and their numbers. */
static void shorten(const curves *c, uint32_t b, uint32_t length) {
  const uint32_t prefix = c->run->info.prefix_tokens, all = c->run->pass.tokens;
  const size_t width = c->run->info.width;
  const float *from = c->embeddings + (size_t)b * all * width;
  float *to = c->changed + (size_t)b * length * width;
  int32_t *tokens = c->tokens + (size_t)b * length;
  uint32_t at = 0;
  for (uint32_t t = 0; t < all; t++) {
    if (t >= prefix && !c->stays[t - prefix]) continue;
    memcpy(to + at * width, from + t * width, width * sizeof *to);
    tokens[at++] = (int32_t)t;
  }
}

/* What the model says of each pair of a query and a key. */
static void fill_pairs(const curves *c, uint32_t length) {
  const int32_t all = (int32_t)c->run->pass.tokens;
  int32_t *to = c->pairs;
  for (uint32_t b = 0; b < c->run->pass.batch; b++) {
    const int32_t *tokens = c->tokens + (size_t)b * length;
    for (uint32_t i = 0; i < length; i++)
      for (uint32_t j = 0; j < length; j++) *to++ = tokens[i] * all + tokens[j];
  }
}

static heed_status write_tokens(curves *c, const heed_pass *variant, uint32_t length,
                                heed_error *error) {
  HEED_TRY(heed_variant_write(variant, "embeddings", c->changed, error));
  HEED_TRY(heed_variant_write(variant, "tokens", c->tokens, error));
  if (!heed_graph_find(variant->graph, "pairs").id) return HEED_OK;
  if (!c->pairs) {
    const size_t all = c->run->pass.tokens;
    c->pairs = heed_judged_room(c->run, c->run->pass.batch * all, all * sizeof *c->pairs, error);
    if (!c->pairs) return HEED_OUT_OF_MEMORY;
  }
  fill_pairs(c, length);
  return heed_variant_write(variant, "pairs", c->pairs, error);
}

/* With some patches alone, as a sequence of their tokens. */
static heed_status run_tokens(curves *c, uint32_t count, heed_pass *variant, heed_error *error) {
  HEED_TRY(heed_variant_open(c->run, true, count, variant, error));
  for (uint32_t b = 0; b < c->run->pass.batch; b++) {
    mark(c, b, count);
    shorten(c, b, variant->tokens);
  }
  HEED_TRY(write_tokens(c, variant, variant->tokens, error));
  return heed_explain_session(c->run, variant->session, error);
}

static heed_status trace_tokens(curves *c, const curve *to, heed_error *error) {
  for (uint32_t k = 0; k <= c->steps; k++) {
    heed_pass variant = {0};
    uint32_t count = present(c, k);
    if (count < c->run->info.fewest_patches) count = c->run->info.fewest_patches;
    heed_status status = count < c->patches ? run_tokens(c, count, &variant, error) : HEED_OK;
    if (status == HEED_OK)
      status = note(c, count < c->patches ? &variant : &c->run->pass, k, to, error);
    heed_variant_close(&variant);
    HEED_TRY(status);
  }
  return HEED_OK;
}

/* A picture whose absent patches are 0. */
static void blank(const curves *c, float *picture) {
  const heed_pass *pass = &c->run->pass;
  const uint32_t patch = c->run->info.patch;
  for (uint32_t row = 0; row < c->run->info.channels * pass->height; row++) {
    const uint32_t y = row % pass->height / patch;
    float *line = picture + (size_t)row * pass->width;
    for (uint32_t i = 0; i < pass->columns && y < pass->rows; i++)
      if (!c->stays[y * pass->columns + i]) memset(line + i * patch, 0, patch * sizeof *line);
  }
}

static heed_status trace_pixels(curves *c, heed_pass *variant, const curve *to, heed_error *error) {
  const heed_named_tensor *pixels = heed_explain_find(c->run, "pixel_values");
  const size_t count = (size_t)heed_shape_count(&pixels->shape), each = count / c->run->pass.batch;
  HEED_TRY(heed_variant_open(c->run, false, 0, variant, error));
  for (uint32_t k = 0; k <= c->steps; k++) {
    const uint32_t there = present(c, k);
    if (there < c->patches) {
      memcpy(c->changed, pixels->data, count * sizeof *c->changed);
      for (uint32_t b = 0; b < c->run->pass.batch; b++) {
        mark(c, b, there);
        blank(c, c->changed + b * each);
      }
      HEED_TRY(heed_variant_write(variant, "pixel_values", c->changed, error));
      HEED_TRY(heed_explain_session(c->run, variant->session, error));
    }
    HEED_TRY(note(c, there < c->patches ? variant : &c->run->pass, k, to, error));
  }
  return HEED_OK;
}

/* -------------------------------------------------------------------------------------- results */

/* The area below each row of a curve, by the trapezoid rule over the share of patches. */
static void fill_areas(const curves *c, const float *numbers, float *areas) {
  for (uint32_t b = 0; b < c->run->pass.batch; b++, numbers += c->steps + 1) {
    double sum = -0.5 * ((double)numbers[0] + (double)numbers[c->steps]);
    for (uint32_t k = 0; k <= c->steps; k++) sum += (double)numbers[k];
    areas[b] = (float)(sum / c->steps);
  }
}

static heed_status add_areas(const curves *c, const char *name, const char *form, const curve *made,
                             heed_error *error) {
  char text[64];
  float *areas;
  snprintf(text, sizeof text, "%s.%s.area", name, form);
  if (!(areas = heed_judged_add(c->run, text, 0, error))) return HEED_OUT_OF_MEMORY;
  fill_areas(c, made->score, areas);
  if (!made->probability) return HEED_OK;
  snprintf(text, sizeof text, "%s.%s.probability.area", name, form);
  if (!(areas = heed_judged_add(c->run, text, 0, error))) return HEED_OUT_OF_MEMORY;
  fill_areas(c, made->probability, areas);
  return HEED_OK;
}

static heed_status add_curve(const curves *c, const char *name, const char *form, curve *made,
                             heed_error *error) {
  char text[64];
  *made = (curve){NULL, NULL};
  snprintf(text, sizeof text, "%s.%s", name, form);
  if (!(made->score = heed_judged_add(c->run, text, c->steps + 1, error)))
    return HEED_OUT_OF_MEMORY;
  if (!heed_answer_is_logit(c->run)) return HEED_OK;
  snprintf(text, sizeof text, "%s.%s.probability", name, form);
  made->probability = heed_judged_add(c->run, text, c->steps + 1, error);
  return made->probability ? HEED_OK : HEED_OUT_OF_MEMORY;
}

static heed_status open_curves(curves *c, heed_error *error) {
  const heed_explain_run *run = c->run;
  const size_t batch = run->pass.batch, tokens = run->pass.tokens, width = run->info.width,
               pixels = (size_t)run->info.channels * run->pass.height * run->pass.width,
               most = pixels > tokens * width ? pixels : tokens * width;
  const float *map = heed_explain_find(run, "judge.map")->data;
  if (!(c->order = heed_judged_room(run, batch * c->patches, sizeof *c->order, error)) ||
      !(c->stays = heed_judged_room(run, c->patches, 1, error)) ||
      !(c->embeddings = heed_judged_room(run, batch * tokens, width * sizeof(float), error)) ||
      !(c->changed = heed_judged_room(run, batch, most * sizeof(float), error)) ||
      !(c->tokens = heed_judged_room(run, batch * tokens, sizeof *c->tokens, error)))
    return HEED_OUT_OF_MEMORY;
  for (uint32_t b = 0; b < batch; b++) {
    heed_map_order(map + (size_t)b * c->patches, c->patches, c->order + (size_t)b * c->patches);
    HEED_TRY(heed_pass_read(&run->pass, heed_pass_states(&run->pass, 0), b,
                            c->embeddings + b * tokens * width, error));
  }
  return HEED_OK;
}

static heed_status trace(curves *c, const char *name, heed_error *error) {
  const heed_curve_kind kind = c->run->desc->curves;
  curve made;
  heed_pass variant = {0};
  HEED_TRY(open_curves(c, error));
  if (kind != HEED_CURVES_PIXELS) {
    HEED_TRY(add_curve(c, name, "tokens", &made, error));
    HEED_TRY(trace_tokens(c, &made, error));
    HEED_TRY(add_areas(c, name, "tokens", &made, error));
  }
  if (kind == HEED_CURVES_TOKENS) return HEED_OK;
  HEED_TRY(add_curve(c, name, "pixels", &made, error));
  const heed_status status = trace_pixels(c, &variant, &made, error);
  heed_variant_close(&variant);
  HEED_TRY(status);
  return add_areas(c, name, "pixels", &made, error);
}

heed_status heed_curves_compute(heed_explain_run *run, const char *name, bool deletion,
                                heed_error *error) {
  curves c = {.run = run,
              .steps = steps_of(run),
              .patches = run->pass.rows * run->pass.columns,
              .deletion = deletion};
  const heed_status status = trace(&c, name, error);
  heed_free(run->context, c.order);
  heed_free(run->context, c.stays);
  heed_free(run->context, c.embeddings);
  heed_free(run->context, c.changed);
  heed_free(run->context, c.tokens);
  heed_free(run->context, c.pairs);
  return status;
}
