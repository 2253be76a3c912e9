/* ledger: the score as a sum over heads and source tokens, MLPs, embeddings and biases (direct
 * logit attribution; Elhage et al. 2021, Gandelsman et al. 2024). Statistics of norms, attention
 * and |e| are held at their values: then the score is linear in the states, and its gradient r goes
 * back through the graph from node to node. What a branch adds is r times what it gave.
 *
 * heads[l,h,s] = v_h[s] . sum over t of A[h,t,s] u_t,h, with u = W_o^T r: no map is kept. */
#include "explain/methods/ledger.h"

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"

/* The states of a level: parts[t] = r_t . x_t of them. */
static heed_status add_states(ledger_walk *w, uint32_t level, float *parts, heed_error *error) {
  const heed_value states = heed_pass_states(w->pass, level);
  if (!w->ran) return ledger_hold(w, states, (heed_value){0}, HEED_HELD_FLOATS, &w->arrived, error);
  return ledger_add_products(w, states, (heed_value){0}, &w->arrived, parts, NULL, error);
}

/* From the value to the states of a level. */
static heed_status walk_to(ledger_walk *w, heed_value from, const ledger_rows *g, uint32_t level,
                           heed_error *error) {
  w->stop = heed_pass_states(w->pass, level);
  w->arrived = (ledger_rows){0};
  return ledger_back(w, from, g, error);
}

/* From the target to the states of the last layer, then layer by layer to the embeddings. */
static heed_status walk_all(ledger_walk *w, const ledger_rows *seed, heed_error *error) {
  const uint32_t layers = w->run->info.layers;
  heed_status status = walk_to(w, heed_target_value(w->run, w->pass), seed, layers, error);
  if (status == HEED_OK) status = add_states(w, layers, w->tokens, error);
  for (uint32_t l = layers; l-- > 0 && status == HEED_OK;) {
    ledger_rows r = w->arrived;
    status = walk_to(w, w->stop, &r, l, error);
    ledger_rows_free(w, &r);
  }
  if (status == HEED_OK) status = add_states(w, 0, w->embeddings, error);
  ledger_rows_free(w, &w->arrived);
  return status;
}

/* A row of the target's numbers, which the gradient starts from. */
static heed_status make_seed(const ledger_walk *w, ledger_rows *seed, heed_error *error) {
  uint32_t width;
  (void)ledger_size(w, heed_target_value(w->run, w->pass), &width);
  return ledger_rows_first(w, 1, width, seed, error);
}

static heed_status prepare(heed_explain_run *run, heed_pass *pass, heed_error *error) {
  ledger_walk walk = {.run = run, .pass = pass};
  ledger_rows seed;
  if (run->target.kind == HEED_TARGET_STATE)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "ledger: the target is a number of a state (expected a logit or vector)");
  HEED_TRY(make_seed(&walk, &seed, error));
  const heed_status status = walk_all(&walk, &seed, error);
  ledger_rows_free(&walk, &seed);
  return status;
}

static float *add(heed_explain_run *run, const char *name, heed_shape shape, heed_error *error) {
  return heed_explain_add(run, name, HEED_F32, &shape, error);
}

/* The walk of a picture, from the numbers that its score is made of. */
static heed_status walk_picture(ledger_walk *w, heed_error *error) {
  double constant = 0.0;
  ledger_rows seed;
  HEED_TRY(make_seed(w, &seed, error));
  float *row = heed_alloc_raw(w->run->context, seed.width, sizeof *row);
  heed_status status =
      row ? heed_pass_read(w->pass, heed_target_value(w->run, w->pass), w->b, row, error)
          : heed_fail_memory(error, "ledger", seed.width * sizeof *row);
  if (status == HEED_OK) {
    heed_target_seed(w->run, w->b, row, seed.width, seed.d, &constant);
    w->bias[w->run->info.layers] = (float)constant;
    status = walk_all(w, &seed, error);
  }
  heed_free(w->run->context, row);
  ledger_rows_free(w, &seed);
  return status;
}

static heed_status compute(heed_explain_run *run, heed_error *error) {
  const uint32_t batch = run->pass.batch, layers = run->info.layers, heads = run->info.heads,
                 tokens = run->pass.tokens;
  ledger_walk first = {.run = run, .pass = &run->pass, .ran = true};
  if (!(first.heads = add(run, "ledger.heads", HEED_SHAPE(batch, layers, heads, tokens), error)) ||
      !(first.mlps = add(run, "ledger.mlps", HEED_SHAPE(batch, layers), error)) ||
      !(first.embeddings = add(run, "ledger.embeddings", HEED_SHAPE(batch, tokens), error)) ||
      !(first.bias = add(run, "ledger.bias", HEED_SHAPE(batch, layers + 1), error)) ||
      !(first.tokens = add(run, "ledger.tokens", HEED_SHAPE(batch, tokens), error)) ||
      (run->info.pool_heads && !(first.pool = add(run, "ledger.pool", HEED_SHAPE(batch), error))))
    return HEED_OUT_OF_MEMORY;
  for (uint32_t b = 0; b < batch; b++) {
    ledger_walk walk = first;
    walk.b = b;
    walk.heads += (size_t)b * layers * heads * tokens;
    walk.mlps += (size_t)b * layers;
    walk.embeddings += (size_t)b * tokens;
    walk.bias += (size_t)b * (layers + 1);
    walk.tokens += (size_t)b * tokens;
    if (walk.pool) walk.pool += b;
    HEED_TRY(walk_picture(&walk, error));
  }
  return HEED_OK;
}

const heed_explain_method heed_method_ledger = {
    .name = "ledger", .prepare = prepare, .compute = compute};
