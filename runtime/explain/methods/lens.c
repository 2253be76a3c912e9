/* lens [B, L + 1, T]: what the head says of one token at any level, with that state's own
 * statistics (Vilas et al. 2023). The part of the graph behind the last states is made again for a
 * token: where it takes a row, a mean over tokens or what the pooling attention gathers, it takes
 * the token. */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "explain/method.h"
#include "explain/walk.h"
#include "heed/ops.h"

/* The head of one token, for all tokens of a level at a time. */
typedef struct lens_head {
  heed_explain_run *run;
  const heed_graph *from;
  heed_graph *graph;
  heed_value states, first; /* [T, 1, C]: the tokens, and the first one again and again */
  heed_value input;         /* the one of both that is read */
  bool beside;              /* a classifier reads the first token beside the mean */
  uint32_t classifiers;     /* 2: the second is that of token 1 */
  heed_value made[2];       /* [T, 1, width] */
  uint32_t width;
  bool scored; /* what is made is the score itself */
  heed_plan *plan;
  heed_session *session;
} lens_head;

/* A constant of the model's graph, from an element on. */
typedef struct borrowed {
  const heed_graph *graph;
  uint32_t id;
  uint64_t first;
} borrowed;

static heed_status read_borrowed(void *user, uint64_t first, uint64_t count, void *to,
                                 heed_error *error) {
  const borrowed *from = user;
  return heed_graph_read_constant(from->graph, from->id, from->first + first, count, to, error);
}

/* `rows` of a constant [N, ...] from one on. */
static heed_value borrow(lens_head *head, heed_value constant, uint32_t first, uint32_t rows) {
  if (!constant.id) return constant;
  heed_shape shape = heed_graph_record(head->from, constant.id)->shape;
  const uint64_t row = heed_shape_count(&shape) / shape.dim[0];
  shape.dim[0] = rows;
  const borrowed lent = {head->from, constant.id, first * row};
  const heed_constant_desc desc = {.struct_size = sizeof desc,
                                   .dtype = HEED_F32,
                                   .shape = shape,
                                   .read = read_borrowed,
                                   .read_user = heed_graph_keep(head->graph, &lent, sizeof lent)};
  return heed_define_constant(head->graph, &desc);
}

static heed_value borrow_all(lens_head *head, heed_value constant) {
  return borrow(head, constant, 0,
                constant.id ? heed_graph_record(head->from, constant.id)->shape.dim[0] : 0);
}

static heed_value again(lens_head *head, heed_value value);

/* The rows of the pooling attention's values, of one token: its weight is 1. */
static heed_value again_attention(lens_head *head, const heed_node *node) {
  const heed_attention_desc *attention = node->desc;
  const heed_value_record *value = heed_graph_record(head->from, attention->value.id);
  const heed_node *maker =
      value->kind == HEED_VALUE_VIEW ? heed_walk_node(head->from, (heed_value){value->base}) : NULL;
  if (!maker || maker->op != HEED_OP_KIND_linear) return (heed_value){0};
  const heed_linear_desc *linear = maker->desc;
  const uint32_t rows = value->shape.dim[1] * value->shape.dim[3],
                 part = (uint32_t)(value->offset / heed_shape_count(&value->shape));
  const heed_linear_desc desc = {.struct_size = sizeof desc,
                                 .x = again(head, linear->x),
                                 .weight = borrow(head, linear->weight, part * rows, rows),
                                 .bias = borrow(head, linear->bias, part * rows, rows)};
  return heed_define_linear(head->graph, &desc);
}

static heed_value again_linear(lens_head *head, const heed_node *node) {
  const heed_linear_desc *linear = node->desc;
  const heed_node *before = heed_walk_node(head->from, linear->x);
  if (before && before->op == HEED_OP_KIND_permute) /* a mean over tokens */
    return again(head, ((const heed_permute_desc *)before->desc)->x);
  const heed_linear_desc desc = {
      .struct_size = sizeof desc,
      .x = again(head, linear->x),
      .weight = borrow_all(head, linear->weight),
      .bias = borrow_all(head, linear->bias),
      .residual = linear->residual.id ? again(head, linear->residual) : linear->residual,
      .activation = linear->activation};
  return heed_define_linear(head->graph, &desc);
}

static heed_value again_layer_norm(lens_head *head, const heed_node *node) {
  const heed_layer_norm_desc *norm = node->desc;
  const heed_layer_norm_desc desc = {sizeof desc,
                                     again(head, norm->x),
                                     borrow_all(head, norm->gain),
                                     borrow_all(head, norm->bias),
                                     norm->epsilon,
                                     norm->rms};
  return heed_define_layer_norm(head->graph, &desc);
}

static heed_value again_select_rows(lens_head *head, const heed_node *node) {
  return again(head, ((const heed_select_rows_desc *)node->desc)->x);
}

/* The first token beside the mean. */
static heed_value again_concat(lens_head *head, const heed_node *node) {
  const heed_concat_desc *concat = node->desc;
  head->beside = true;
  head->input = head->first;
  const heed_value first = again(head, concat->x[0]);
  head->input = head->states;
  const heed_concat_desc desc = {sizeof desc, {first, again(head, concat->x[1])}, 2, 2};
  return heed_define_concat(head->graph, &desc);
}

static heed_value (*const makers[HEED_OP_KIND_COUNT])(lens_head *, const heed_node *) = {
    [HEED_OP_KIND_linear] = again_linear,
    [HEED_OP_KIND_layer_norm] = again_layer_norm,
    [HEED_OP_KIND_select_rows] = again_select_rows,
    [HEED_OP_KIND_concat] = again_concat,
    [HEED_OP_KIND_attention] = again_attention};

static heed_value again(lens_head *head, heed_value value) {
  const heed_value last = heed_pass_states(&head->run->pass, head->run->info.layers);
  if (heed_walk_whole(head->from, value).id == heed_walk_whole(head->from, last).id)
    return head->input;
  const heed_node *node = heed_walk_node(head->from, value);
  return node && makers[node->op] ? makers[node->op](head, node) : (heed_value){0};
}

/* The rows of a classifier that the score is made of, as one: sum of seed[n] times row n. */
static heed_value define_score(lens_head *head, heed_value constant, const double *seed,
                               double factor, heed_error *error) {
  if (!constant.id) return constant;
  const heed_shape *shape = &heed_graph_record(head->from, constant.id)->shape;
  const uint32_t outs = shape->dim[0], width = shape->rank == 1 ? 1 : shape->dim[1];
  float *row = heed_graph_keep(head->graph, NULL, width * sizeof *row),
        *one = heed_graph_keep(head->graph, NULL, width * sizeof *one);
  if (!row || !one) return (heed_value){0};
  for (uint32_t n = 0; n < outs; n++) {
    if (seed[n] == 0.0) continue;
    if (heed_graph_read_constant(head->from, constant.id, (uint64_t)n * width, width, one, error) !=
        HEED_OK)
      return (heed_value){0};
    for (uint32_t c = 0; c < width; c++)
      row[c] = (float)((double)row[c] + factor * seed[n] * (double)one[c]);
  }
  const heed_constant_desc desc = {.struct_size = sizeof desc,
                                   .dtype = HEED_F32,
                                   .shape = shape->rank == 1 ? HEED_SHAPE(1) : HEED_SHAPE(1, width),
                                   .data = row};
  return heed_define_constant(head->graph, &desc);
}

static heed_value define_classifier(lens_head *head, const heed_linear_desc *linear,
                                    const double *seed, double factor, heed_error *error) {
  const heed_linear_desc desc = {.struct_size = sizeof desc,
                                 .x = again(head, linear->x),
                                 .weight = define_score(head, linear->weight, seed, factor, error),
                                 .bias = define_score(head, linear->bias, seed, factor, error)};
  return heed_define_linear(head->graph, &desc);
}

/* Classifiers, of which the graph has only what the score is made of. Of two, each counts half. */
static heed_status define_classifiers(lens_head *head, const heed_node *node, uint32_t b,
                                      heed_error *error) {
  const heed_linear_desc *linear = node->desc;
  const uint32_t outs = heed_graph_record(head->from, linear->weight.id)->shape.dim[0];
  const heed_node *other =
      linear->residual.id ? heed_walk_node(head->from, linear->residual) : NULL;
  double constant, *seed = heed_alloc_raw(head->run->context, outs, sizeof *seed);
  if (!seed) return heed_fail_memory(error, "lens", outs * sizeof *seed);
  heed_target_seed(head->run, b, NULL, outs, seed, &constant);
  head->classifiers = other ? 2 : 1;
  if (other) head->made[0] = define_classifier(head, other->desc, seed, 2.0, error);
  head->made[other ? 1 : 0] = define_classifier(head, linear, seed, other ? 2.0 : 1.0, error);
  heed_free(head->run->context, seed);
  head->width = 1;
  head->scored = true;
  return HEED_OK;
}

static heed_status define_head(lens_head *head, uint32_t b, heed_error *error) {
  const heed_value value = heed_target_value(head->run, &head->run->pass);
  const heed_shape shape = HEED_SHAPE(head->run->pass.tokens, 1, head->run->info.width);
  heed_value_info info;
  head->states = head->input = heed_define_input(head->graph, "states", HEED_F32, &shape);
  head->first = heed_define_input(head->graph, "first", HEED_F32, &shape);
  if (strcmp(heed_graph_record(head->from, value.id)->name, "logits") == 0) {
    HEED_TRY(define_classifiers(head, heed_walk_node(head->from, value), b, error));
  } else {
    head->classifiers = 1;
    head->made[0] = again(head, value);
    HEED_TRY(heed_graph_value_info(head->from, value, &info));
    head->width = info.shape.dim[info.shape.rank - 1];
  }
  for (uint32_t i = 0; i < head->classifiers; i++) heed_graph_output(head->graph, head->made[i]);
  HEED_TRY(heed_graph_status(head->graph, error));
  if (head->made[0].id && (head->classifiers == 1 || head->made[1].id)) return HEED_OK;
  return heed_fail(error, HEED_UNSUPPORTED,
                   "lens: the read-out has another op than linear maps, norms and a pooling "
                   "attention");
}

static heed_status open_head(lens_head *head, uint32_t b, heed_error *error) {
  HEED_TRY(heed_graph_create(head->run->context, &head->graph, error));
  HEED_TRY(define_head(head, b, error));
  const heed_plan_desc desc = {.struct_size = sizeof desc};
  HEED_TRY(heed_plan_create(head->graph, head->run->desc->backend, &desc, &head->plan, error));
  return heed_session_create(head->plan, NULL, &head->session, error);
}

static void close_head(lens_head *head) {
  heed_session_destroy(head->session);
  heed_plan_destroy(head->plan);
  heed_graph_destroy(head->graph);
}

static heed_status write(const lens_head *head, heed_value to, const float *states,
                         heed_error *error) {
  return heed_session_write(head->session, to, states,
                            (size_t)head->run->pass.tokens * head->run->info.width * sizeof *states,
                            error);
}

/* One level: states [T, C] -> lens [T]. `made` is room for what the head gives. */
static heed_status look(const lens_head *head, uint32_t b, float *states, float *made, float *lens,
                        heed_error *error) {
  const uint32_t tokens = head->run->pass.tokens, width = head->run->info.width,
                 prefix = head->run->info.prefix_tokens;
  HEED_TRY(write(head, head->states, states, error));
  if (head->beside) {
    for (size_t t = 1; t < tokens; t++) memcpy(states + t * width, states, width * sizeof *states);
    HEED_TRY(write(head, head->first, states, error));
  }
  HEED_TRY(heed_session_run(head->session, NULL, error));
  for (uint32_t i = 0; i < head->classifiers; i++) {
    HEED_TRY(heed_session_read(head->session, head->made[i], 0, (uint64_t)tokens * head->width,
                               made, error));
    for (uint32_t t = 0; t < tokens; t++) {
      double score = (double)made[t];
      if (i == 1 && t != 1) continue;
      if (!head->scored)
        HEED_TRY(heed_target_row(head->run, b, made + (size_t)t * head->width, head->width, &score,
                                 error));
      lens[t] = (float)score;
    }
  }
  if (!head->beside) return HEED_OK;
  /* CLS itself stands beside the mean of the patches, in which the classifier is linear. */
  double sum = 0.0;
  for (uint32_t t = prefix; t < tokens; t++) sum += (double)lens[t];
  lens[0] = (float)(sum / (tokens - prefix));
  return HEED_OK;
}

static heed_status look_all(lens_head *head, uint32_t b, float *lens, heed_error *error) {
  const heed_pass *pass = &head->run->pass;
  const size_t count = (size_t)pass->tokens * head->run->info.width,
               outputs = (size_t)pass->tokens * head->width;
  float *states = heed_alloc_raw(head->run->context, count, sizeof *states),
        *made = heed_alloc_raw(head->run->context, outputs, sizeof *made);
  heed_status status =
      states && made ? HEED_OK : heed_fail_memory(error, "lens", count * sizeof *states);
  for (uint32_t level = 0; level <= head->run->info.layers && status == HEED_OK; level++) {
    status = heed_pass_read(pass, heed_pass_states(pass, level), b, states, error);
    if (status == HEED_OK)
      status = look(head, b, states, made, lens + (size_t)level * pass->tokens, error);
  }
  heed_free(head->run->context, states);
  heed_free(head->run->context, made);
  return status;
}

static heed_status prepare(heed_explain_run *run, heed_pass *pass, heed_error *error) {
  if (run->target.kind == HEED_TARGET_STATE)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "lens: the target is a number of a state (expected a logit or vector)");
  return heed_pass_keep_states(run, pass, "lens", error);
}

static heed_status compute(heed_explain_run *run, heed_error *error) {
  const uint32_t levels = run->info.layers + 1;
  float *lens = heed_explain_add(run, "lens", HEED_F32,
                                 &HEED_SHAPE(run->pass.batch, levels, run->pass.tokens), error);
  heed_status status = lens ? HEED_OK : HEED_OUT_OF_MEMORY;
  for (uint32_t b = 0; b < run->pass.batch && status == HEED_OK; b++) {
    lens_head head = {.run = run, .from = run->pass.graph};
    status = open_head(&head, b, error);
    if (status == HEED_OK)
      status = look_all(&head, b, lens + (size_t)b * levels * run->pass.tokens, error);
    close_head(&head);
  }
  return status;
}

const heed_explain_method heed_method_lens = {
    .name = "lens", .prepare = prepare, .compute = compute};
