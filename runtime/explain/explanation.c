/* heed_explain: inputs checked, one run of the model with the values that the methods ask for, and
 * then the methods. */
#include <string.h>

#include "base/alloc.h"
#include "base/desc.h"
#include "base/hooks.h"
#include "base/share.h"
#include "base/status.h"
#include "base/tensor.h"
#include "explain/backward.h"
#include "explain/explainer.h"
#include "explain/held.h"
#include "explain/method.h"

static const heed_explain_method *const methods[] = {
#define HEED_METHOD(name) &heed_method_##name,
#include "explain/method_list.h"
#undef HEED_METHOD
};
enum { METHODS = sizeof methods / sizeof *methods };

/* rank 0: any with that many elements as the target has */
typedef struct input_rule {
  const char *name;
  heed_dtype dtype;
  uint32_t rank;
  const char *shape;
} input_rule;
static const input_rule inputs[] = {
    {"pixel_values", HEED_F32, 4, "[B, channels, height, width]"},
    {"source.pixel_values", HEED_F32, 4, "[B, channels, height, width]"},
    {"input_ids", HEED_I32, 2, "[texts, tokens]"},
    {"target.vector", HEED_F32, 1, "[channels]"},
    {"noise", HEED_F32, 4, "[samples, channels, height, width]"},
    {"judge.map", HEED_F32, 2, "[B, patches]"},
    {"judge.other", HEED_F32, 2, "[B, patches]"},
    {"judge.pixels", HEED_F32, 3, "[B, height, width]"},
    {"judge.mask", HEED_U8, 3, "[B, height, width]"},
};
enum { INPUTS = sizeof inputs / sizeof *inputs };

typedef struct result {
  char name[64];
  heed_named_tensor tensor;
  void *data;
} result;
struct heed_explanation {
  heed_context *context;
  result **results; /* each lies where it was made, as names and tensors are lent */
  size_t count, room;
};

const char *heed_explain_method_name(uint32_t index) {
  return index < METHODS ? methods[index]->name : NULL;
}

const char *heed_explain_input_name(uint32_t index) {
  return index < INPUTS ? inputs[index].name : NULL;
}

const heed_named_tensor *heed_explain_find(const heed_explain_run *run, const char *name) {
  for (uint32_t i = 0; i < run->desc->input_count; i++)
    if (strcmp(run->desc->inputs[i].name, name) == 0) return &run->desc->inputs[i];
  return NULL;
}

heed_status heed_explain_check_source(const heed_explain_run *run, const char *what, bool any,
                                      heed_error *error) {
  const heed_pass *a = &run->source, *b = &run->pass;
  if (!a->graph)
    return heed_fail(error, HEED_INVALID_FILE, "%s: missing tensor source.pixel_values", what);
  if ((any || a->batch == b->batch) && a->height == b->height && a->width == b->width)
    return HEED_OK;
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: source.pixel_values of another size (found %u of %ux%u pixels, expected "
                   "%u of %ux%u)",
                   what, a->batch, a->width, a->height, b->batch, b->width, b->height);
}

static heed_status check_inputs(const heed_explain_run *run, heed_error *error) {
  char text[HEED_SHAPE_TEXT_SIZE];
  for (uint32_t i = 0; i < INPUTS; i++) {
    const heed_named_tensor *input = heed_explain_find(run, inputs[i].name);
    if (input && (input->dtype != inputs[i].dtype || input->shape.rank != inputs[i].rank ||
                  heed_shape_count(&input->shape) == 0))
      return heed_fail(error, HEED_INVALID_FILE, "%s: invalid tensor (found %s %s, expected %s %s)",
                       inputs[i].name, heed_dtype_name(input->dtype),
                       heed_shape_text(&input->shape, text), heed_dtype_name(inputs[i].dtype),
                       inputs[i].shape);
  }
  if (heed_explain_find(run, "pixel_values")) return HEED_OK;
  return heed_fail(error, HEED_INVALID_FILE, "explain: missing tensor pixel_values");
}

bool heed_explain_listed(const char *list, const char *name) {
  for (;;) {
    const size_t length = strcspn(list, ",");
    if (length == strlen(name) && memcmp(list, name, length) == 0) return true;
    if (!list[length]) return false;
    list += length + 1;
  }
}

static heed_status check_methods(const char *list, heed_error *error) {
  for (;;) {
    const size_t length = strcspn(list, ",");
    size_t i = 0;
    while (i < METHODS &&
           (strlen(methods[i]->name) != length || memcmp(methods[i]->name, list, length) != 0))
      i++;
    if (i == METHODS) {
      char known[640] = "";
      for (i = 0; i < METHODS; i++) {
        if (i) strcat(known, i + 1 < METHODS ? ", " : " or ");
        strcat(known, methods[i]->name);
      }
      return heed_fail(error, HEED_INVALID_ARGUMENT,
                       "methods: unknown method (found \"%.*s\", expected %s)",
                       length < 64 ? (int)length : 64, list, known);
    }
    if (!list[length]) return HEED_OK;
    list += length + 1;
  }
}

heed_status heed_pass_keep(const heed_explain_run *run, heed_pass *pass, heed_value value,
                           const char *what, heed_error *error) {
  if (!value.id)
    return heed_fail(error, HEED_UNSUPPORTED, "%s: the model lacks a value that the method reads",
                     what);
  for (size_t i = 0; i < pass->kept_count; i++)
    if (pass->kept[i].id == value.id) return HEED_OK;
  if (!heed_grow(run->context, &pass->kept, &pass->kept_room, pass->kept_count + 1,
                 sizeof *pass->kept))
    return heed_fail_memory(error, what, sizeof *pass->kept);
  pass->kept[pass->kept_count++] = value;
  return HEED_OK;
}

heed_value heed_pass_states(const heed_pass *pass, uint32_t level) {
  return level ? heed_graph_tap(pass->graph, HEED_TAP_OUTPUT, level - 1)
               : heed_graph_tap(pass->graph, HEED_TAP_EMBEDDINGS, 0);
}

heed_status heed_pass_keep_states(const heed_explain_run *run, heed_pass *pass, const char *what,
                                  heed_error *error) {
  for (uint32_t level = 0; level <= run->info.layers; level++)
    HEED_TRY(heed_pass_keep(run, pass, heed_pass_states(pass, level), what, error));
  return HEED_OK;
}

heed_status heed_pass_read(const heed_pass *pass, heed_value value, uint32_t b, float *to,
                           heed_error *error) {
  heed_value_info info;
  HEED_TRY(heed_graph_value_info(pass->graph, value, &info));
  const uint64_t count = heed_shape_count(&info.shape) / info.shape.dim[0];
  return heed_session_read(pass->session, value, b * count, count, to, error);
}

void *heed_explain_add(heed_explain_run *run, const char *name, heed_dtype dtype,
                       const heed_shape *shape, heed_error *error) {
  heed_explanation *to = run->result;
  const uint64_t count = heed_shape_count(shape);
  const bool room =
      heed_grow(run->context, &to->results, &to->room, to->count + 1, sizeof *to->results);
  result *made = room ? heed_alloc(run->context, 1, sizeof *made) : NULL;
  void *data = made && count <= SIZE_MAX
                   ? heed_alloc(run->context, (size_t)count, heed_dtype_size(dtype))
                   : NULL;
  if (!data) {
    heed_free(run->context, made);
    (void)heed_fail_memory(error, name, (size_t)count * heed_dtype_size(dtype));
    return NULL;
  }
  strncpy(made->name, name, sizeof made->name - 1);
  made->data = data;
  made->tensor = (heed_named_tensor){made->name, dtype, *shape, data};
  to->results[to->count++] = made;
  return data;
}

static heed_status open_graph(heed_explain_run *run, heed_pass *pass,
                              const heed_named_tensor *pixels, heed_error *error) {
  const uint32_t *dim = pixels->shape.dim, patch = run->info.patch;
  if (dim[1] != run->info.channels || dim[2] < patch || dim[3] < patch)
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: wrong size (found %u channels of %ux%u pixels, expected %u of at least "
                     "%ux%u)",
                     pixels->name, dim[1], dim[3], dim[2], run->info.channels, patch, patch);
  pass->batch = dim[0];
  pass->height = dim[2];
  pass->width = dim[3];
  pass->rows = dim[2] / patch;
  pass->columns = dim[3] / patch;
  pass->tokens = run->info.prefix_tokens + pass->rows * pass->columns;
  const heed_build_desc build = {
      .struct_size = sizeof build, .batch = dim[0], .height = dim[2], .width = dim[3]};
  return heed_model_build(run->desc->model, &build, &pass->graph, error);
}

heed_status heed_explain_session(const heed_explain_run *run, heed_session *session,
                                 heed_error *error) {
  heed_hooks quiet = HEED_HOOKS_INIT;
  if (run->desc->hooks) {
    quiet.cancel = run->desc->hooks->cancel;
    quiet.user = run->desc->hooks->user;
  }
  return heed_session_run(session, &quiet, error);
}

static heed_status open_session(const heed_explain_run *run, heed_pass *pass, heed_error *error) {
  HEED_TRY(heed_held_keep(run, pass, error));
  const heed_plan_desc desc = {sizeof desc, pass->kept, (uint32_t)pass->kept_count,
                               HEED_ATTENTION_MODE_AUTO};
  HEED_TRY(heed_plan_create(pass->graph, run->desc->backend, &desc, &pass->plan, error));
  return heed_session_create(pass->plan, run->desc->hooks, &pass->session, error);
}

static heed_status run_pass(const heed_explain_run *run, heed_pass *pass,
                            const heed_named_tensor *pixels, heed_error *error) {
  if (!pass->session) HEED_TRY(open_session(run, pass, error));
  HEED_TRY(heed_session_write(pass->session, heed_graph_find(pass->graph, "pixel_values"),
                              pixels->data,
                              (size_t)heed_shape_count(&pixels->shape) * sizeof(float), error));
  return heed_held_run(run, pass, error);
}

void heed_pass_end(heed_pass *pass) {
  heed_session_destroy(pass->session);
  heed_plan_destroy(pass->plan);
  pass->session = NULL;
  pass->plan = NULL;
}

bool heed_explain_is_last(const heed_explain_run *run, const heed_explain_method *method) {
  size_t last = 0;
  for (size_t i = 0; i < METHODS; i++)
    if (heed_explain_listed(run->desc->methods, methods[i]->name)) last = i;
  return methods[last] == method && !run->desc->explainer;
}

void heed_pass_close(const heed_explain_run *run, heed_pass *pass) {
  heed_pass_end(pass);
  heed_graph_destroy(pass->graph);
  heed_free(run->context, pass->kept);
  heed_held_close(run, pass);
}

static heed_status prepare_methods(heed_explain_run *run, heed_error *error) {
  for (size_t i = 0; i < METHODS; i++) {
    const heed_explain_method *method = methods[i];
    if (!method->prepare || !heed_explain_listed(run->desc->methods, method->name)) continue;
    HEED_TRY(method->prepare(run, &run->pass, error));
    if (run->source.graph && method->source) HEED_TRY(method->prepare(run, &run->source, error));
  }
  return HEED_OK;
}

/* What the methods check, of a pass that was prepared before: what they keep goes to lists that are
 * dropped. */
static heed_status check_kept(heed_explain_run *run, heed_error *error) {
  const heed_pass prepared = run->pass;
  run->pass.kept = NULL;
  run->pass.held = NULL;
  run->pass.kept_count = run->pass.kept_room = run->pass.held_count = run->pass.held_room = 0;
  const heed_status status = prepare_methods(run, error);
  heed_free(run->context, run->pass.kept);
  heed_held_close(run, &run->pass);
  run->pass = prepared;
  return status;
}

/* Opens both passes, as far as a method wants the second, and prepares the methods. */
static heed_status open_passes(heed_explain_run *run, heed_error *error) {
  const heed_named_tensor *pixels = heed_explain_find(run, "pixel_values"),
                          *other = heed_explain_find(run, "source.pixel_values");
  bool source = false;
  for (size_t i = 0; i < METHODS; i++)
    source = source || (other && methods[i]->source &&
                        heed_explain_listed(run->desc->methods, methods[i]->name));
  const bool kept = heed_explainer_take(run, source);
  if (!kept) HEED_TRY(open_graph(run, &run->pass, pixels, error));
  if (source) HEED_TRY(open_graph(run, &run->source, other, error));
  HEED_TRY(heed_target_prepare(run, error));
  return kept ? check_kept(run, error) : prepare_methods(run, error);
}

static heed_status run_passes(heed_explain_run *run, heed_error *error) {
  const heed_named_tensor *other = heed_explain_find(run, "source.pixel_values");
  HEED_TRY(run_pass(run, &run->pass, heed_explain_find(run, "pixel_values"), error));
  return run->source.graph ? run_pass(run, &run->source, other, error) : HEED_OK;
}

/* Whether no listed method needs a score, and none is asked for. */
static bool wants_no_score(const heed_explain_desc *desc) {
  bool none = !desc->target;
  for (size_t i = 0; i < METHODS; i++)
    none = none && (methods[i]->scoreless || !heed_explain_listed(desc->methods, methods[i]->name));
  return none;
}

/* Whether all methods are computed from reverse passes. */
static bool is_all_reverse(const heed_explain_run *run) {
  bool all = !(run->wants_texts && run->target.texts);
  for (size_t i = 0; i < METHODS; i++)
    all =
        all && (methods[i]->reverse || !heed_explain_listed(run->desc->methods, methods[i]->name));
  return all;
}

/* Whether the reverse pass is all that is run: its own run gives the score, where what goes back
 * from the score asks nothing of the picture's values. */
static bool is_reverse_alone(const heed_explain_run *run) {
  return run->backward.count && run->target.kind != HEED_TARGET_LARGEST && is_all_reverse(run);
}

/* The reverse passes that methods asked for. Where the pass is done it goes first, so that its
 * values and theirs are not held together; the weights stay. */
static heed_status run_backward(heed_explain_run *run, heed_error *error) {
  heed_shared **weights;
  size_t count;
  if (!run->backward.count) return HEED_OK;
  HEED_TRY(heed_share_hold(run->context, &weights, &count, error));
  if (is_all_reverse(run) && !run->desc->explainer) heed_pass_end(&run->pass);
  const heed_status status = run->backward.session
                                 ? heed_backward_seed(run, &run->backward, error)
                                 : heed_backward_open(run, &run->backward, NULL, error);
  heed_share_let_go(run->context, weights, count);
  HEED_TRY(status);
  HEED_TRY(
      heed_backward_run(run, &run->backward, heed_explain_find(run, "pixel_values")->data, error));
  return run->wants_texts && run->target.texts ? heed_backward_open_texts(run, &run->texts, error)
                                               : HEED_OK;
}

static heed_status add_score(heed_explain_run *run, heed_error *error) {
  if (run->scoreless) return HEED_OK;
  float *score = heed_explain_add(run, "score", HEED_F32, &HEED_SHAPE(run->pass.batch), error);
  if (!score) return HEED_OUT_OF_MEMORY;
  for (uint32_t b = 0; b < run->pass.batch; b++) {
    double one;
    HEED_TRY(run->pass.session ? heed_target_score(run, &run->pass, b, &one, error)
                               : heed_backward_score(run, &run->backward, b, &one, error));
    score[b] = (float)one;
  }
  return HEED_OK;
}

static heed_status explain(heed_explain_run *run, heed_error *error) {
  HEED_TRY(check_methods(run->desc->methods, error));
  HEED_TRY(check_inputs(run, error));
  heed_model_get_info(run->desc->model, &run->info);
  if (run->info.kind != HEED_MODEL_VISION)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "explain: not a vision transformer (expected a model of images)");
  run->scoreless = wants_no_score(run->desc);
  HEED_TRY(heed_target_open(run, error));
  HEED_TRY(open_passes(run, error));
  if (is_reverse_alone(run)) {
    HEED_TRY(run_backward(run, error));
    HEED_TRY(add_score(run, error));
  } else {
    HEED_TRY(run_passes(run, error));
    HEED_TRY(heed_target_settle(run, error));
    HEED_TRY(add_score(run, error));
    HEED_TRY(run_backward(run, error));
  }
  for (size_t i = 0; i < METHODS; i++) {
    if (!heed_explain_listed(run->desc->methods, methods[i]->name)) continue;
    HEED_TRY(heed_check_cancel(run->desc->hooks, methods[i]->name, error));
    HEED_TRY(methods[i]->compute(run, error));
  }
  return HEED_OK;
}

heed_status heed_explain(heed_context *context, const heed_explain_desc *desc,
                         heed_explanation **explanation, heed_error *error) {
  heed_explain_desc full;
  if (!context || !explanation)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "explain: NULL argument (expected context and explanation)");
  HEED_TRY(heed_desc_read(&full, sizeof full, desc, "explain", error));
  if (!full.model || !full.backend || !full.methods || (full.input_count && !full.inputs))
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "explain: NULL argument (expected model, backend, methods and inputs)");
  heed_model_info info;
  heed_model_get_info(full.model, &info);
  if (info.frames)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "explain: a model of videos is not supported (found %u frames, expected one "
                     "picture)",
                     info.frames);
  if (info.stages)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "explain: a model with stages is not supported (found %u, expected layers of "
                     "one grid)",
                     info.stages);
  heed_explain_run run = {.context = context, .desc = &full};
  run.result = heed_alloc(context, 1, sizeof *run.result);
  if (!run.result) return heed_fail_memory(error, "explain", sizeof *run.result);
  run.result->context = context;
  const heed_status status = explain(&run, error);
  if (status == HEED_OK) heed_explainer_give(&run);
  heed_target_close(&run);
  heed_pass_close(&run, &run.pass);
  heed_pass_close(&run, &run.source);
  heed_backward_close(&run, &run.backward);
  heed_backward_close(&run, &run.texts);
  if (status == HEED_OK)
    *explanation = run.result;
  else
    heed_explanation_destroy(run.result);
  return status;
}

const heed_named_tensor *heed_explanation_get(const heed_explanation *explanation, uint32_t index) {
  return index < explanation->count ? &explanation->results[index]->tensor : NULL;
}

void heed_explanation_destroy(heed_explanation *explanation) {
  if (!explanation) return;
  for (size_t i = 0; i < explanation->count; i++) {
    heed_free(explanation->context, explanation->results[i]->data);
    heed_free(explanation->context, explanation->results[i]);
  }
  heed_free(explanation->context, explanation->results);
  heed_free(explanation->context, explanation);
}
