/* atp: what patching would change, to first order (attribution patching; Nanda 2023): (value of A -
 * value of B) times the gradient at B, summed over the site. The sites are those of patch. */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "explain/backward.h"
#include "explain/method.h"
#include "explain/walk.h"
#include "heed/ops.h"

typedef struct atp_results {
  float *states, *heads, *mlps;
} atp_results;

static heed_value heads_of(const heed_pass *pass, uint32_t layer) {
  return heed_graph_tap(pass->graph, HEED_TAP_HEADS, layer);
}

static heed_status prepare(heed_explain_run *run, heed_pass *pass, heed_error *error) {
  HEED_TRY(heed_explain_check_source(run, "atp", false, error));
  HEED_TRY(heed_pass_keep_states(run, pass, "atp", error));
  for (uint32_t l = 0; l < run->info.layers; l++) {
    heed_value out = {0};
    const heed_linear_desc *mlp = heed_walk_mlp(pass->graph, heed_pass_states(pass, l + 1), &out);
    HEED_TRY(heed_pass_keep(run, pass, heads_of(pass, l), "atp", error));
    HEED_TRY(heed_pass_keep(run, pass, out, "atp", error));
    HEED_TRY(heed_pass_keep(run, pass, mlp ? mlp->residual : (heed_value){0}, "atp", error));
    if (pass != &run->pass) continue;
    HEED_TRY(heed_backward_want(run, &run->backward, heads_of(pass, l), "atp", error));
    HEED_TRY(heed_backward_want(run, &run->backward, out, "atp", error));
  }
  for (uint32_t level = 0; level <= run->info.layers && pass == &run->pass; level++)
    HEED_TRY(heed_backward_want(run, &run->backward, heed_pass_states(pass, level), "atp", error));
  return HEED_OK;
}

/* One value of picture b: rows [T, width] of its change and of its gradient. `less` is taken away
 * from both pictures' values where it is one. */
typedef struct change {
  double *by; /* [T, width]: A - B */
  float *gradient, *room;
  size_t width;
} change;

static heed_status read_change(heed_explain_run *run, heed_value value, heed_value less, uint32_t b,
                               change *c, heed_error *error) {
  const size_t count = heed_backward_size(&run->backward, value);
  const heed_value values[] = {value, less};
  c->width = count / run->pass.tokens;
  for (size_t i = 0; i < count; i++) c->by[i] = 0.0;
  for (uint32_t n = 0; n < 2 && values[n].id; n++)
    for (uint32_t a = 0; a < 2; a++) {
      const double sign = n == a ? -1.0 : 1.0; /* A - B, less the same of `less` */
      HEED_TRY(heed_pass_read(a ? &run->source : &run->pass, values[n], b, c->room, error));
      for (size_t i = 0; i < count; i++) c->by[i] += sign * (double)c->room[i];
    }
  return heed_backward_gradient(&run->backward, value, b, c->gradient, error);
}

static double sum_row(const change *c, size_t token, size_t first, size_t count) {
  double sum = 0.0;
  for (size_t i = token * c->width + first; i < token * c->width + first + count; i++)
    sum += c->by[i] * (double)c->gradient[i];
  return sum;
}

static heed_status fill(heed_explain_run *run, uint32_t b, change *c, const atp_results *to,
                        heed_error *error) {
  const heed_pass *pass = &run->pass;
  const uint32_t layers = run->info.layers, heads = run->info.heads;
  const size_t tokens = pass->tokens;
  const heed_value none = {0};
  for (uint32_t level = 0; level <= layers; level++) {
    HEED_TRY(read_change(run, heed_pass_states(pass, level), none, b, c, error));
    for (size_t t = 0; t < tokens; t++)
      to->states[((size_t)b * (layers + 1) + level) * tokens + t] =
          (float)sum_row(c, t, 0, c->width);
  }
  for (uint32_t l = 0; l < layers; l++) {
    const size_t row = (size_t)b * layers + l;
    heed_value out;
    const heed_linear_desc *mlp = heed_walk_mlp(pass->graph, heed_pass_states(pass, l + 1), &out);
    HEED_TRY(read_change(run, heads_of(pass, l), none, b, c, error));
    for (size_t h = 0; h < heads; h++) {
      double sum = 0.0;
      for (size_t t = 0; t < tokens; t++)
        sum += sum_row(c, t, h * (c->width / heads), c->width / heads);
      to->heads[row * heads + h] = (float)sum;
    }
    HEED_TRY(read_change(run, out, mlp->residual, b, c, error));
    for (size_t t = 0; t < tokens; t++)
      to->mlps[row * tokens + t] = (float)sum_row(c, t, 0, c->width);
  }
  return HEED_OK;
}

static heed_status compute(heed_explain_run *run, heed_error *error) {
  const uint32_t batch = run->pass.batch, layers = run->info.layers, tokens = run->pass.tokens;
  atp_results to;
  if (!(to.states = heed_explain_add(run, "atp.states", HEED_F32,
                                     &HEED_SHAPE(batch, layers + 1, tokens), error)) ||
      !(to.heads = heed_explain_add(run, "atp.heads", HEED_F32,
                                    &HEED_SHAPE(batch, layers, run->info.heads), error)) ||
      !(to.mlps =
            heed_explain_add(run, "atp.mlps", HEED_F32, &HEED_SHAPE(batch, layers, tokens), error)))
    return HEED_OUT_OF_MEMORY;
  size_t most = 0;
  for (uint32_t l = 0; l <= layers; l++) {
    const heed_value values[] = {heed_pass_states(&run->pass, l),
                                 l < layers ? heads_of(&run->pass, l) : (heed_value){0}};
    for (uint32_t i = 0; i < 2 && values[i].id; i++) {
      const size_t size = heed_backward_size(&run->backward, values[i]);
      if (size > most) most = size;
    }
  }
  change c = {.by = heed_alloc(run->context, most, 2 * sizeof *c.by)};
  heed_status status = c.by ? HEED_OK : heed_fail_memory(error, "atp", most * 2 * sizeof *c.by);
  if (c.by) {
    c.gradient = (float *)(void *)(c.by + most);
    c.room = c.gradient + most;
  }
  for (uint32_t b = 0; b < batch && status == HEED_OK; b++) status = fill(run, b, &c, &to, error);
  heed_free(run->context, c.by);
  return status;
}

const heed_explain_method heed_method_atp = {
    .name = "atp", .source = true, .prepare = prepare, .compute = compute};
