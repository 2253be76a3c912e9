/* patch: the score of each picture B with one value taken from picture A, source.pixel_values, and
 * everything after it following (activation patching; Meng et al. 2022, Heimersheim & Nanda 2024).
 * The values are a token's state at a level, the output of a head before its projection, a token's
 * MLP output, and all states of a level. A sweep starts at its site: it runs what follows the site,
 * many patches at a time. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hooks.h"
#include "base/status.h"
#include "base/tensor.h"
#include "explain/method.h"
#include "explain/suffix.h"
#include "explain/walk.h"
#include "heed/ops.h"

enum { MOST = 8 }; /* patches that run at a time */

/* The patches of one site: what follows it, and the pictures' own values there. The last layer is
 * computed for the tokens alone that the score reads: its values have fewer rows than a picture's,
 * the first of them. */
typedef struct sweep {
  heed_explain_run *run;
  heed_pass whole;   /* the model for a batch of patches: its graph */
  uint32_t batch, b; /* patches at a time; the picture */
  double own;        /* its score */
  heed_suffix suffix;
  heed_plan *plan;
  heed_session *session;
  uint32_t first;                        /* the lowest level that a patch changes */
  heed_value own_cuts[HEED_SUFFIX_CUTS]; /* the suffix's cuts in the graph of the pictures */
  size_t size[HEED_SUFFIX_CUTS];         /* elements of a cut for one patch */
  size_t full[HEED_SUFFIX_CUTS];         /* and of a picture's value there */
  uint32_t rows;                         /* of the first cut */
  float *b_values[HEED_SUFFIX_CUTS], *a_values, *patched; /* [full[i]], [full[0]], [batch, size] */
  float *out;                                             /* the numbers of the target value */
  size_t out_size;
  uint64_t *done, total; /* runs */
} sweep;

/* Writes patch number `index` over picture B's values `to` of the first cut. */
typedef void patch_writer(const sweep *s, uint32_t index, float *to);

static void write_row(const sweep *s, uint32_t token, float *to) {
  const size_t width = s->run->info.width;
  memcpy(to + token * width, s->a_values + token * width, width * sizeof *to);
}

static void write_all(const sweep *s, uint32_t index, float *to) {
  (void)index;
  memcpy(to, s->a_values, s->size[0] * sizeof *to);
}

static void write_head(const sweep *s, uint32_t head, float *to) {
  const uint32_t heads = s->run->info.heads;
  const size_t all = s->size[0] / s->rows, depth = all / heads;
  for (size_t t = 0; t < s->rows; t++)
    memcpy(to + t * all + head * depth, s->a_values + t * all + head * depth, depth * sizeof *to);
}

/* The linear map that ends a layer's MLP. */
static const heed_linear_desc *find_mlp(const heed_pass *pass, uint32_t layer, heed_value *out) {
  return heed_walk_mlp(pass->graph, heed_pass_states(pass, layer + 1), out);
}

/* What is patched: rows of the table of sites. */
typedef enum site { STATES, HEADS, MLPS, LEVELS, SITES } site;
static const char *const site_names[SITES] = {"states", "heads", "mlps", "levels"};

/* The site of an entry "heads" or "heads.3" of a list; SITES: none. level: of the entry, or -1. */
static site read_site(const char *at, size_t length, int64_t *level) {
  for (site kind = STATES; kind < SITES; kind++) {
    const size_t name = strlen(site_names[kind]);
    if (length < name || memcmp(site_names[kind], at, name) != 0) continue;
    *level = -1;
    if (length == name) return kind;
    if (at[name] != '.' || length < name + 2 || length > name + 7) continue;
    *level = 0;
    size_t i = name + 1;
    for (; i < length && at[i] >= '0' && at[i] <= '9'; i++) *level = 10 * *level + (at[i] - '0');
    if (i == length) return kind;
  }
  return SITES;
}

static uint32_t levels_of(const heed_explain_run *run, site kind) {
  return run->info.layers + (kind == STATES || kind == LEVELS);
}

static heed_status check_sites(const heed_explain_run *run, heed_error *error) {
  for (const char *at = run->desc->sites; at;) {
    const size_t length = strcspn(at, ",");
    int64_t level;
    const site kind = read_site(at, length, &level);
    if (kind == SITES || level >= (int64_t)levels_of(run, kind))
      return heed_fail(
          error, HEED_INVALID_ARGUMENT,
          "patch: unknown site (found \"%.*s\", expected states, heads, mlps or levels, or "
          "one of their levels, such as heads.%u)",
          length < 64 ? (int)length : 64, at, run->info.layers - 1);
    at = at[length] ? at + length + 1 : NULL;
  }
  return HEED_OK;
}

/* Whether a site is asked for, at this level or with level -1 at any. */
static bool has_site(const heed_explain_run *run, site kind, int64_t level) {
  for (const char *at = run->desc->sites; at;) {
    const size_t length = strcspn(at, ",");
    int64_t own;
    if (read_site(at, length, &own) == kind && (level < 0 || own < 0 || own == level)) return true;
    at = at[length] ? at + length + 1 : NULL;
  }
  return !run->desc->sites && kind != LEVELS;
}

static heed_status prepare(heed_explain_run *run, heed_pass *pass, heed_error *error) {
  HEED_TRY(check_sites(run, error));
  HEED_TRY(heed_explain_check_source(run, "patch", run->desc->source_mean, error));
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

/* Elements of a value for one of its pictures. */
static size_t count_of(const heed_pass *pass, heed_value value) {
  const heed_shape *shape = &heed_graph_record(pass->graph, value.id)->shape;
  return (size_t)(heed_shape_count(shape) / shape->dim[0]);
}

static heed_status open_sweep(sweep *s, heed_error *error) {
  size_t most = 0;
  s->suffix.from = s->whole.graph;
  s->suffix.wanted = heed_target_value(s->run, &s->whole);
  s->rows = heed_graph_record(s->whole.graph, s->suffix.cuts[0].id)->shape.dim[1];
  for (uint32_t i = 0; i < s->suffix.cut_count; i++) {
    s->size[i] = count_of(&s->whole, s->suffix.cuts[i]);
    s->full[i] = count_of(&s->run->pass, s->own_cuts[i]);
    if (s->size[i] > most) most = s->size[i];
    if (!(s->b_values[i] = make(s, s->full[i], error))) return HEED_OUT_OF_MEMORY;
  }
  s->out_size = count_of(&s->whole, s->suffix.wanted);
  if (!(s->a_values = make(s, s->full[0], error)) ||
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
    HEED_TRY(heed_explain_session(s->run, s->session, error));
    HEED_TRY(
        heed_session_read(s->session, s->suffix.output, 0, s->batch * s->out_size, s->out, error));
    out = s->out;
  }
  for (size_t k = 0; k < count; k++) HEED_TRY(score(s, out + k * s->out_size, &scores[k], error));
  return HEED_OK;
}

/* The values of the picture at the cuts were read; scores [count], of which the first `changing`
 * need not be the picture's own. */
static heed_status sweep_all(sweep *s, patch_writer *write, uint32_t count, uint32_t changing,
                             float *scores, heed_error *error) {
  for (uint32_t i = 0; i < count; i++) scores[i] = (float)s->own;
  for (uint32_t i = 0; i < count; i += s->batch) {
    const uint32_t left = i < changing ? changing - i : 0;
    HEED_TRY(heed_check_cancel(s->run->desc->hooks, "patch", error));
    if (left)
      HEED_TRY(run_patches(s, write, i, left < s->batch ? left : s->batch, scores + i, error));
    heed_report_progress(s->run->desc->hooks, "patch", ++*s->done, s->total);
  }
  return HEED_OK;
}

/* A value of the picture that patches come from, or its mean over those pictures. */
static heed_status read_source(const sweep *s, heed_value value, float *to, heed_error *error) {
  const heed_pass *source = &s->run->source;
  if (!s->run->desc->source_mean) return heed_pass_read(source, value, s->b, to, error);
  const size_t count = s->full[0];
  double *sum = heed_alloc(s->run->context, count, sizeof *sum);
  if (!sum) return heed_fail_memory(error, "patch", count * sizeof *sum);
  heed_status status = HEED_OK;
  for (uint32_t a = 0; a < source->batch && status == HEED_OK; a++) {
    status = heed_pass_read(source, value, a, to, error);
    for (size_t i = 0; i < count && status == HEED_OK; i++) sum[i] += (double)to[i];
  }
  for (size_t i = 0; i < count; i++) to[i] = (float)(sum[i] / source->batch);
  heed_free(s->run->context, sum);
  return status;
}

static heed_status read_cuts(sweep *s, heed_error *error) {
  for (uint32_t i = 0; i < s->suffix.cut_count; i++)
    HEED_TRY(heed_pass_read(&s->run->pass, s->own_cuts[i], s->b, s->b_values[i], error));
  return read_source(s, s->own_cuts[0], s->a_values, error);
}

/* What A's MLP gives, put in the place of what B's gives: x' of B + (out - x') of A. The sums are
 * exact, so that equal pictures give equal bits. */
static heed_status move_mlp(sweep *s, heed_value residual, heed_error *error) {
  float *x = make(s, 2 * s->full[0], error), *x_a = x ? x + s->full[0] : NULL;
  heed_status status =
      x ? heed_pass_read(&s->run->pass, residual, s->b, x, error) : HEED_OUT_OF_MEMORY;
  if (status == HEED_OK) status = read_source(s, residual, x_a, error);
  for (size_t i = 0; i < s->full[0] && status == HEED_OK; i++)
    s->a_values[i] = (float)((double)x[i] + ((double)s->a_values[i] - (double)x_a[i]));
  heed_free(s->run->context, x);
  return status;
}

/* The patches of one site in one picture. */
static uint32_t patches_of(const heed_explain_run *run, site kind) {
  return kind == LEVELS ? 1 : kind == HEADS ? run->info.heads : run->pass.tokens;
}

static patch_writer *writer_of(site kind) {
  return kind == LEVELS ? write_all : kind == HEADS ? write_head : write_row;
}

/* As few runs as patches at a time allow, and no place in them left empty that need not be. */
static uint32_t batch_of(uint32_t count) {
  const uint32_t runs = (count + MOST - 1) / MOST;
  return (count + runs - 1) / runs;
}

/* Where a graph is cut. Of heads also at the states that their layer reads. */
static void find_cuts(const heed_pass *pass, site kind, uint32_t at, heed_value *cuts) {
  cuts[0] = cuts[1] = heed_pass_states(pass, at);
  if (kind == HEADS) cuts[0] = heed_graph_tap(pass->graph, HEED_TAP_HEADS, at);
  if (kind == MLPS) (void)find_mlp(pass, at, &cuts[0]);
}

static heed_status sweep_site(sweep *s, site kind, uint32_t at, float *to, heed_error *error) {
  heed_explain_run *run = s->run;
  const heed_pass *pass = &run->pass;
  const uint32_t count = patches_of(run, kind);
  heed_value out;
  const heed_linear_desc *mlp = kind == MLPS ? find_mlp(pass, at, &out) : NULL;
  s->first = kind == STATES || kind == LEVELS ? at : at + 1;
  s->suffix.cut_count = kind == HEADS ? 2 : 1;
  find_cuts(pass, kind, at, s->own_cuts);
  find_cuts(&s->whole, kind, at, s->suffix.cuts);
  heed_status status = open_sweep(s, error);
  const bool by_token = kind == STATES || kind == MLPS;
  const uint32_t changing = is_before(s) ? 0 : by_token && s->rows < count ? s->rows : count;
  for (s->b = 0; s->b < pass->batch && status == HEED_OK; s->b++) {
    status = heed_target_score(run, pass, s->b, &s->own, error);
    if (status == HEED_OK) status = read_cuts(s, error);
    if (status == HEED_OK && mlp) status = move_mlp(s, mlp->residual, error);
    if (status == HEED_OK)
      status = sweep_all(s, writer_of(kind), count, changing,
                         to + ((size_t)s->b * levels_of(run, kind) + at) * count, error);
  }
  close_sweep(s);
  return status;
}

static uint64_t runs_of(const heed_explain_run *run) {
  uint64_t runs = 0;
  for (site kind = STATES; kind < SITES; kind++) {
    const uint32_t count = patches_of(run, kind), batch = batch_of(count);
    for (uint32_t i = 0; i < levels_of(run, kind); i++)
      if (has_site(run, kind, i)) runs += (count + batch - 1) / batch;
  }
  return runs * run->pass.batch;
}

/* to [B, levels, patches] */
static heed_status sweep_levels(heed_explain_run *run, site kind, float *to, uint64_t *done,
                                heed_error *error) {
  const heed_pass *pass = &run->pass;
  const uint32_t batch = batch_of(patches_of(run, kind));
  const heed_build_desc build = {.struct_size = sizeof build,
                                 .batch = batch,
                                 .height = pass->height,
                                 .width = pass->width,
                                 .classes_only = run->target.kind != HEED_TARGET_STATE};
  heed_pass whole = {.batch = batch};
  HEED_TRY(heed_model_build(run->desc->model, &build, &whole.graph, error));
  heed_status status = HEED_OK;
  for (uint32_t i = 0; i < levels_of(run, kind) && status == HEED_OK; i++) {
    sweep s = {.run = run, .whole = whole, .batch = batch, .done = done, .total = runs_of(run)};
    if (has_site(run, kind, i)) status = sweep_site(&s, kind, i, to, error);
  }
  heed_graph_destroy(whole.graph);
  return status;
}

/* The scores of B and A; of several A their mean. */
static heed_status add_scores(heed_explain_run *run, heed_error *error) {
  const uint32_t batch = run->pass.batch, sources = run->desc->source_mean ? run->source.batch : 1;
  float *scores = heed_explain_add(run, "patch.scores", HEED_F32, &HEED_SHAPE(batch, 2), error);
  if (!scores) return HEED_OUT_OF_MEMORY;
  for (uint32_t b = 0; b < batch; b++) {
    double own, other, sum = 0.0;
    HEED_TRY(heed_target_score(run, &run->pass, b, &own, error));
    for (uint32_t a = 0; a < sources; a++) {
      HEED_TRY(heed_target_score(run, &run->source, run->desc->source_mean ? a : b, &other, error));
      sum += other;
    }
    scores[2 * b] = (float)own;
    scores[2 * b + 1] = (float)(sum / sources);
  }
  return HEED_OK;
}

static heed_status compute(heed_explain_run *run, heed_error *error) {
  uint64_t done = 0;
  HEED_TRY(add_scores(run, error));
  for (site kind = STATES; kind < SITES; kind++) {
    char name[32];
    if (!has_site(run, kind, -1)) continue;
    snprintf(name, sizeof name, "patch.%s", site_names[kind]);
    const heed_shape shape = {kind == LEVELS ? 2 : 3,
                              {run->pass.batch, levels_of(run, kind), patches_of(run, kind)}};
    float *to = heed_explain_add(run, name, HEED_F32, &shape, error);
    if (!to) return HEED_OUT_OF_MEMORY;
    const size_t count = (size_t)run->pass.batch * levels_of(run, kind) * patches_of(run, kind);
    for (size_t i = 0; i < count; i++) to[i] = NAN; /* levels that are not asked for */
    HEED_TRY(sweep_levels(run, kind, to, &done, error));
  }
  return HEED_OK;
}

const heed_explain_method heed_method_patch = {
    .name = "patch", .source = true, .prepare = prepare, .compute = compute};
