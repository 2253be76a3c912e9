/* patch: the score of each picture B with one value taken from picture A, source.pixel_values, and
 * everything after it following (activation patching; Meng et al. 2022, Heimersheim & Nanda 2024).
 * The values are a token's state at a level, the output of a head before its projection, and a
 * token's MLP output. A sweep starts at its site: it runs what follows the site, many patches at a
 * time. */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "explain/method.h"
#include "explain/suffix.h"
#include "explain/walk.h"
#include "heed/ops.h"

enum { BATCH = 8 }; /* patches that run at a time */

/* The patches of one site: what follows it, and the pictures' own values there. */
typedef struct sweep {
  heed_explain_run *run;
  heed_graph *whole; /* the model for a batch of patches */
  uint32_t batch, b; /* patches at a time; the picture */
  double own;        /* its score */
  heed_suffix suffix;
  heed_plan *plan;
  heed_session *session;
  uint32_t first;                /* the lowest level that a patch changes */
  size_t size[HEED_SUFFIX_CUTS]; /* elements of a cut for one patch */
  float *b_values[HEED_SUFFIX_CUTS], *a_values, *patched; /* [size[i]], [size[0]], [batch, size] */
  float *out;                                             /* the numbers of the target value */
  size_t out_size;
} sweep;

/* Writes patch number `index` over picture B's values `to` of the first cut. */
typedef void patch_writer(const sweep *s, uint32_t index, float *to);

static void write_row(const sweep *s, uint32_t token, float *to) {
  const size_t width = s->run->info.width;
  memcpy(to + token * width, s->a_values + token * width, width * sizeof *to);
}

static void write_head(const sweep *s, uint32_t head, float *to) {
  const uint32_t heads = s->run->info.heads;
  const size_t all = s->size[0] / s->run->pass.tokens, depth = all / heads;
  for (size_t t = 0; t < s->run->pass.tokens; t++)
    memcpy(to + t * all + head * depth, s->a_values + t * all + head * depth, depth * sizeof *to);
}

/* The linear map that ends a layer's MLP. */
static const heed_linear_desc *find_mlp(const heed_pass *pass, uint32_t layer, heed_value *out) {
  return heed_walk_mlp(pass->graph, heed_pass_states(pass, layer + 1), out);
}

static heed_status prepare(heed_explain_run *run, heed_pass *pass, heed_error *error) {
  HEED_TRY(heed_explain_check_source(run, "patch", error));
  HEED_TRY(heed_pass_keep_states(run, pass, "patch", error));
  for (uint32_t l = 0; l < run->info.layers; l++) {
    heed_value out = {0};
    const heed_linear_desc *mlp = find_mlp(pass, l, &out);
    HEED_TRY(
        heed_pass_keep(run, pass, heed_graph_tap(pass->graph, HEED_TAP_HEADS, l), "patch", error));
    HEED_TRY(heed_pass_keep(run, pass, out, "patch", error));
    HEED_TRY(heed_pass_keep(run, pass, mlp ? mlp->residual : (heed_value){0}, "patch", error));
  }
  return run->target.kind == HEED_TARGET_STATE && pass == &run->source
             ? heed_pass_keep(run, pass, heed_target_value(run, pass), "patch", error)
             : HEED_OK;
}

static float *make(const sweep *s, size_t count, heed_error *error) {
  float *made = heed_alloc_raw(s->run->context, count, sizeof *made);
  if (!made) (void)heed_fail_memory(error, "patch", count * sizeof *made);
  return made;
}

static void close_sweep(sweep *s) {
  heed_context *context = s->run->context;
  heed_session_destroy(s->session);
  heed_plan_destroy(s->plan);
  heed_suffix_close(context, &s->suffix);
  for (uint32_t i = 0; i < HEED_SUFFIX_CUTS; i++) heed_free(context, s->b_values[i]);
  heed_free(context, s->a_values);
  heed_free(context, s->patched);
  heed_free(context, s->out);
}

/* Whether the target is a state that no patch here changes. */
static bool is_before(const sweep *s) {
  return s->run->target.kind == HEED_TARGET_STATE && s->run->target.level < s->first;
}

static bool is_cut(const sweep *s) { return s->suffix.wanted.id == s->suffix.cuts[0].id; }

static heed_status open_sweep(sweep *s, heed_error *error) {
  size_t most = 0;
  s->suffix.from = s->whole;
  s->suffix.wanted = heed_target_value(s->run, &s->run->pass);
  for (uint32_t i = 0; i < s->suffix.cut_count; i++) {
    s->size[i] =
        (size_t)(heed_shape_count(&heed_graph_record(s->whole, s->suffix.cuts[i].id)->shape) /
                 s->batch);
    if (s->size[i] > most) most = s->size[i];
    if (!(s->b_values[i] = make(s, s->size[i], error))) return HEED_OUT_OF_MEMORY;
  }
  s->out_size =
      (size_t)(heed_shape_count(&heed_graph_record(s->whole, s->suffix.wanted.id)->shape) /
               s->batch);
  if (!(s->a_values = make(s, s->size[0], error)) ||
      !(s->patched = make(s, s->batch * most, error)) ||
      !(s->out = make(s, s->batch * s->out_size, error)))
    return HEED_OUT_OF_MEMORY;
  if (is_before(s) || is_cut(s)) return HEED_OK;
  HEED_TRY(heed_suffix_open(s->run->context, &s->suffix, error));
  const heed_plan_desc desc = {.struct_size = sizeof desc};
  HEED_TRY(heed_plan_create(s->suffix.graph, s->run->desc->backend, &desc, &s->plan, error));
  return heed_session_create(s->plan, NULL, &s->session, error);
}

/* The score by the numbers of the target value. */
static heed_status score(const sweep *s, const float *out, float *to, heed_error *error) {
  const heed_target *target = &s->run->target;
  double made;
  if (target->kind == HEED_TARGET_STATE) {
    *to = out[(size_t)target->token * s->run->info.width + target->channel];
    return HEED_OK;
  }
  HEED_TRY(heed_target_row(s->run, s->b, out, (uint32_t)s->out_size, &made, error));
  *to = (float)made;
  return HEED_OK;
}

/* Patches [first, first + count): their scores. */
static heed_status run_patches(sweep *s, patch_writer *write, uint32_t first, uint32_t count,
                               float *scores, heed_error *error) {
  for (uint32_t i = s->suffix.cut_count; i-- > 0;) { /* the first cut last: it stays in `patched` */
    for (size_t k = 0; k < s->batch; k++) {
      memcpy(s->patched + k * s->size[i], s->b_values[i], s->size[i] * sizeof *s->patched);
      if (i == 0 && k < count) write(s, first + (uint32_t)k, s->patched + k * s->size[0]);
    }
    if (s->session)
      HEED_TRY(heed_session_write(s->session, s->suffix.inputs[i], s->patched,
                                  s->batch * s->size[i] * sizeof *s->patched, error));
  }
  const float *out = s->patched;
  if (s->session) {
    HEED_TRY(heed_session_run(s->session, NULL, error));
    HEED_TRY(
        heed_session_read(s->session, s->suffix.output, 0, s->batch * s->out_size, s->out, error));
    out = s->out;
  }
  for (size_t k = 0; k < count; k++) HEED_TRY(score(s, out + k * s->out_size, &scores[k], error));
  return HEED_OK;
}

/* The values of the picture at the cuts were read; scores [count]. */
static heed_status sweep_all(sweep *s, patch_writer *write, uint32_t count, float *scores,
                             heed_error *error) {
  for (uint32_t i = 0; i < count && is_before(s); i++) scores[i] = (float)s->own;
  for (uint32_t i = 0; i < count && !is_before(s); i += s->batch)
    HEED_TRY(
        run_patches(s, write, i, count - i < s->batch ? count - i : s->batch, scores + i, error));
  return HEED_OK;
}

static heed_status read_cuts(sweep *s, heed_error *error) {
  for (uint32_t i = 0; i < s->suffix.cut_count; i++)
    HEED_TRY(heed_pass_read(&s->run->pass, s->suffix.cuts[i], s->b, s->b_values[i], error));
  return heed_pass_read(&s->run->source, s->suffix.cuts[0], s->b, s->a_values, error);
}

/* What A's MLP gives, put in the place of what B's gives: x' of B + (out - x') of A. The sums are
 * exact, so that equal pictures give equal bits. */
static heed_status move_mlp(sweep *s, heed_value residual, heed_error *error) {
  float *x = make(s, 2 * s->size[0], error), *x_a = x ? x + s->size[0] : NULL;
  heed_status status =
      x ? heed_pass_read(&s->run->pass, residual, s->b, x, error) : HEED_OUT_OF_MEMORY;
  if (status == HEED_OK) status = heed_pass_read(&s->run->source, residual, s->b, x_a, error);
  for (size_t i = 0; i < s->size[0] && status == HEED_OK; i++)
    s->a_values[i] = (float)((double)x[i] + ((double)s->a_values[i] - (double)x_a[i]));
  heed_free(s->run->context, x);
  return status;
}

/* The tensors, and the scores of B and A beside them. */
typedef struct patch_results {
  float *scores, *states, *heads, *mlps;
} patch_results;

typedef enum site { STATES, HEADS, MLPS } site;

static heed_status sweep_site(heed_explain_run *run, heed_graph *whole, uint32_t batch, site kind,
                              uint32_t at, const patch_results *to, heed_error *error) {
  const heed_pass *pass = &run->pass;
  const uint32_t layers = run->info.layers, tokens = pass->tokens, heads = run->info.heads;
  const heed_linear_desc *mlp = NULL;
  sweep s = {.run = run, .whole = whole, .batch = batch, .first = kind == STATES ? at : at + 1};
  s.suffix.cut_count = kind == HEADS ? 2 : 1;
  s.suffix.cuts[0] =
      kind == HEADS ? heed_graph_tap(pass->graph, HEED_TAP_HEADS, at) : heed_pass_states(pass, at);
  s.suffix.cuts[1] = heed_pass_states(pass, at);
  if (kind == MLPS) mlp = find_mlp(pass, at, &s.suffix.cuts[0]);
  heed_status status = open_sweep(&s, error);
  for (s.b = 0; s.b < pass->batch && status == HEED_OK; s.b++) {
    status = heed_target_score(run, pass, s.b, &s.own, error);
    if (status == HEED_OK) status = read_cuts(&s, error);
    if (status == HEED_OK && mlp) status = move_mlp(&s, mlp->residual, error);
    const size_t row = (size_t)s.b * layers + at;
    if (status != HEED_OK) break;
    if (kind == HEADS)
      status = sweep_all(&s, write_head, heads, to->heads + row * heads, error);
    else if (kind == MLPS)
      status = sweep_all(&s, write_row, tokens, to->mlps + row * tokens, error);
    else
      status = sweep_all(&s, write_row, tokens, to->states + (row + s.b) * tokens, error);
  }
  close_sweep(&s);
  return status;
}

static heed_status sweep_sites(heed_explain_run *run, const patch_results *to, heed_error *error) {
  const heed_pass *pass = &run->pass;
  const uint32_t batch = pass->tokens < BATCH ? pass->tokens : BATCH, layers = run->info.layers;
  const heed_build_desc build = {
      .struct_size = sizeof build, .batch = batch, .height = pass->height, .width = pass->width};
  heed_graph *whole;
  HEED_TRY(heed_model_build(run->desc->model, &build, &whole, error));
  heed_status status = HEED_OK;
  for (uint32_t i = 0; i <= layers && status == HEED_OK; i++) {
    status = sweep_site(run, whole, batch, STATES, i, to, error);
    if (status == HEED_OK && i < layers)
      status = sweep_site(run, whole, batch, HEADS, i, to, error);
    if (status == HEED_OK && i < layers) status = sweep_site(run, whole, batch, MLPS, i, to, error);
  }
  heed_graph_destroy(whole);
  return status;
}

static heed_status compute(heed_explain_run *run, heed_error *error) {
  const uint32_t batch = run->pass.batch, layers = run->info.layers, tokens = run->pass.tokens;
  patch_results to;
  if (!(to.scores =
            heed_explain_add(run, "patch.scores", HEED_F32, &HEED_SHAPE(batch, 2), error)) ||
      !(to.states = heed_explain_add(run, "patch.states", HEED_F32,
                                     &HEED_SHAPE(batch, layers + 1, tokens), error)) ||
      !(to.heads = heed_explain_add(run, "patch.heads", HEED_F32,
                                    &HEED_SHAPE(batch, layers, run->info.heads), error)) ||
      !(to.mlps = heed_explain_add(run, "patch.mlps", HEED_F32, &HEED_SHAPE(batch, layers, tokens),
                                   error)))
    return HEED_OUT_OF_MEMORY;
  for (uint32_t b = 0; b < batch; b++) {
    double own, other;
    HEED_TRY(heed_target_score(run, &run->pass, b, &own, error));
    HEED_TRY(heed_target_score(run, &run->source, b, &other, error));
    to.scores[2 * b] = (float)own;
    to.scores[2 * b + 1] = (float)other;
  }
  return sweep_sites(run, &to, error);
}

const heed_explain_method heed_method_patch = {
    .name = "patch", .source = true, .prepare = prepare, .compute = compute};
