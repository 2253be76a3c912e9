/* ledger: the score as a sum over heads and source tokens, MLPs, embeddings and biases (direct
 * logit attribution; Elhage et al. 2021, Gandelsman et al. 2024). Statistics of norms, attention
 * and |e| are held at their values: then the score is linear in the states, and its gradient r goes
 * back through the graph from node to node. What a branch adds is r times what it gave.
 *
 * heads[l,h,s] = v_h[s] . sum over t of A[h,t,s] u_t,h, with u = W_o^T r: no map is kept. */
#include "explain/methods/ledger.h"

#include "backend/session.h"
#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "heed/ops.h"

/* The states of a level: parts[t] = r_t . x_t of them. */
static heed_status add_states(ledger_walk *w, uint32_t level, float *parts, heed_error *error) {
  const heed_value states = heed_pass_states(w->pass, level);
  if (!w->ran) return ledger_hold(w, states, (heed_value){0}, &w->arrived, error);
  ledger_add_products(w, states, (heed_value){0}, &w->arrived, parts, NULL);
  if (w->once) heed_held_drop(w->run, w->pass, states, (heed_value){0});
  return HEED_OK;
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

/* The walk of a picture, from the numbers [width] that its score is made of. */
static heed_status walk_picture(ledger_walk *w, const float *row, heed_error *error) {
  double constant = 0.0;
  ledger_rows seed;
  HEED_TRY(make_seed(w, &seed, error));
  heed_target_seed(w->run, w->b, row, seed.width, seed.d, &constant);
  w->bias[w->run->info.layers] = (float)constant;
  const heed_status status = walk_all(w, &seed, error);
  ledger_rows_free(w, &seed);
  return status;
}

static heed_status add_all(heed_explain_run *run, ledger_walk *to, heed_error *error) {
  const uint32_t batch = run->pass.batch, layers = run->info.layers, heads = run->info.heads,
                 tokens = run->pass.tokens;
  if (!(to->heads = add(run, "ledger.heads", HEED_SHAPE(batch, layers, heads, tokens), error)) ||
      !(to->mlps = add(run, "ledger.mlps", HEED_SHAPE(batch, layers), error)) ||
      !(to->embeddings = add(run, "ledger.embeddings", HEED_SHAPE(batch, tokens), error)) ||
      !(to->bias = add(run, "ledger.bias", HEED_SHAPE(batch, layers + 1), error)) ||
      !(to->tokens = add(run, "ledger.tokens", HEED_SHAPE(batch, tokens), error)) ||
      (run->info.pool_heads && !(to->pool = add(run, "ledger.pool", HEED_SHAPE(batch), error))))
    return HEED_OUT_OF_MEMORY;
  return HEED_OK;
}

static heed_status walk_pictures(const ledger_walk *first, const float *rows, size_t width,
                                 heed_error *error) {
  const heed_explain_run *run = first->run;
  const uint32_t layers = run->info.layers, heads = run->info.heads, tokens = run->pass.tokens;
  for (uint32_t b = 0; b < run->pass.batch; b++) {
    ledger_walk walk = *first;
    walk.b = b;
    walk.once = !run->pass.session && b + 1 == run->pass.batch;
    walk.heads += (size_t)b * layers * heads * tokens;
    walk.mlps += (size_t)b * layers;
    walk.embeddings += (size_t)b * tokens;
    walk.bias += (size_t)b * (layers + 1);
    walk.tokens += (size_t)b * tokens;
    if (walk.pool) walk.pool += b;
    HEED_TRY(walk_picture(&walk, rows + b * width, error));
  }
  return HEED_OK;
}

/* Whether the walk finds all that it reads in what was held. */
static bool has_all(const heed_explain_run *run) {
  bool all = heed_backend_can_stand(run->desc->backend) && !run->info.pool_heads;
  for (uint32_t l = 0; l < run->info.layers; l++) {
    const heed_value weights = heed_graph_tap(run->pass.graph, HEED_TAP_WEIGHTS, l);
    const heed_attention_desc *attention =
        run->pass.graph->nodes[heed_graph_record(run->pass.graph, weights.id)->node].desc;
    all = all &&
          (!attention->bias.id ||
           heed_graph_record(run->pass.graph, attention->bias.id)->kind == HEED_VALUE_CONSTANT);
  }
  return all;
}

static heed_status compute(heed_explain_run *run, heed_error *error) {
  const heed_value value = heed_target_value(run, &run->pass);
  ledger_walk walk = {.run = run, .pass = &run->pass, .ran = true};
  uint32_t width;
  (void)ledger_size(&walk, value, &width);
  HEED_TRY(add_all(run, &walk, error));
  float *rows = heed_alloc_raw(run->context, (size_t)run->pass.batch * width, sizeof *rows);
  heed_status status = rows ? heed_session_read(run->pass.session, value, 0,
                                                (uint64_t)run->pass.batch * width, rows, error)
                            : heed_fail_memory(error, "ledger", width * sizeof *rows);
  /* The walk of many tokens takes as much memory as the run, which need not stay. */
  if (status == HEED_OK && has_all(run) && heed_explain_is_last(run, &heed_method_ledger))
    heed_pass_end(&run->pass);
  if (status == HEED_OK) status = walk_pictures(&walk, rows, width, error);
  heed_free(run->context, rows);
  return status;
}

const heed_explain_method heed_method_ledger = {
    .name = "ledger", .prepare = prepare, .compute = compute};
