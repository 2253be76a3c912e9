/* A graph on the kernels of a backend: lowered, planned, run once. See lower.h, heed/onnx.h. */
#include <string.h>

#include "base/alloc.h"
#include "base/desc.h"
#include "base/status.h"
#include "model/files/safetensors.h"
#include "onnx/evaluate/result.h"
#include "onnx/lower/lower.h"

typedef heed_lower_value value;

static heed_status write_inputs(heed_lower *l, const heed_onnx_evaluate_desc *desc,
                                heed_session *session) {
  heed_safetensors *given;
  HEED_TRY(heed_safetensors_open(l->file->context, &desc->inputs, desc->name, &given, l->error));
  heed_status status = HEED_OK;
  for (size_t i = 0; i < l->value_count && status == HEED_OK; i++) {
    const value *v = l->values[i];
    if (v->kind != HEED_LOWER_INPUT || !v->uses || v->array) continue;
    const char *name = l->file->makers[v->input].name;
    const heed_safetensors_tensor *tensor = heed_safetensors_find(given, name);
    float *data = heed_alloc_raw(l->file->context, (size_t)tensor->count, sizeof *data);
    status = data ? heed_safetensors_read(given, tensor, 0, tensor->count, data, l->error)
                  : heed_fail_memory(l->error, name, (size_t)tensor->count * sizeof *data);
    if (status == HEED_OK)
      status = heed_session_write(session, v->made, data, (size_t)tensor->count * sizeof *data,
                                  l->error);
    heed_free(l->file->context, data);
  }
  heed_safetensors_destroy(given);
  return status == HEED_OK ? heed_lower_write_given(l, session, l->error) : status;
}

/* A value of the session as an array of a type. */
static heed_status read_value(heed_lower *l, heed_session *session, heed_value from, uint32_t type,
                              uint32_t rank, const uint64_t *dims, heed_onnx_array **to) {
  float run[1024];
  const size_t most = sizeof run / sizeof *run;
  HEED_TRY(heed_onnx_make(&l->call, type, rank, dims, to));
  for (uint64_t done = 0; done < (*to)->count;) {
    const uint64_t left = (*to)->count - done, here = left < most ? left : most;
    HEED_TRY(heed_session_read(session, from, done, here, run, l->error));
    for (uint64_t i = 0; i < here; i++) heed_onnx_set(*to, done + i, (double)run[i]);
    done += here;
  }
  return HEED_OK;
}

static heed_status give_output(heed_lower *l, heed_session *session, const heed_onnx_value *output,
                               heed_onnx_result *result) {
  const value *v;
  uint32_t type;
  HEED_TRY(heed_lower_output(l, output, &v, &type));
  if (!v) return heed_lower_put_known(l, output, result);
  heed_onnx_array *array = NULL;
  const heed_status status = read_value(l, session, v->made, type, v->rank, v->dims, &array);
  return heed_onnx_put(result, &l->evaluator, array, status, output->name, l->error);
}

static heed_status give_maps(heed_lower *l, heed_session *session, heed_onnx_result *result) {
  for (uint32_t i = 0; i < l->file->attentions->count; i++) {
    const heed_value weights = heed_lower_weights(l, i);
    heed_value_info info;
    char name[32];
    uint64_t dims[HEED_MAX_RANK];
    heed_onnx_array *array = NULL;
    if (!weights.id || heed_graph_value_info(l->graph, weights, &info) != HEED_OK) continue;
    for (uint32_t k = 0; k < info.shape.rank; k++) dims[k] = info.shape.dim[k];
    heed_onnx_map_name(i, name);
    const heed_status status =
        read_value(l, session, weights, HEED_ONNX_FLOAT, info.shape.rank, dims, &array);
    HEED_TRY(heed_onnx_put(result, &l->evaluator, array, status, name, l->error));
  }
  return HEED_OK;
}

static heed_status give_all(heed_lower *l, const heed_onnx_evaluate_desc *desc,
                            heed_session *session, heed_onnx_result *result) {
  const heed_onnx_graph *graph = &l->file->model.graph;
  static const heed_onnx_node none = {.name = "", .op = "output", .domain = ""};
  l->call = (heed_onnx_call){.evaluator = &l->evaluator, .node = &none, .error = l->error};
  if (session) {
    HEED_TRY(write_inputs(l, desc, session));
    HEED_TRY(heed_session_run(session, desc->hooks, l->error));
  }
  for (uint32_t i = 0; i < graph->output_count; i++)
    HEED_TRY(give_output(l, session, &graph->outputs[i], result));
  if (desc->attentions && session) HEED_TRY(give_maps(l, session, result));
  return heed_onnx_finish(result, l->error);
}

static heed_status run(heed_lower *l, const heed_onnx_evaluate_desc *desc,
                       heed_onnx_result *result) {
  const uint32_t count = l->file->attentions->count;
  heed_value *taps = heed_lower_take(l, count, sizeof *taps);
  heed_plan_desc wanted = {.struct_size = sizeof wanted, .taps = taps};
  heed_plan *plan = NULL;
  heed_session *session = NULL;
  if (!taps) return l->status;
  for (uint32_t i = 0; desc->attentions && i < count; i++)
    if (heed_lower_weights(l, i).id) taps[wanted.tap_count++] = heed_lower_weights(l, i);
  if (heed_graph_value_count(l->graph) > 0) {
    HEED_TRY(heed_plan_create(l->graph, desc->backend, &wanted, &plan, l->error));
    const heed_status status = heed_session_create(plan, desc->hooks, &session, l->error);
    if (status != HEED_OK) {
      heed_plan_destroy(plan);
      return status;
    }
  }
  const heed_status status = give_all(l, desc, session, result);
  heed_session_destroy(session);
  heed_plan_destroy(plan);
  return status;
}

static heed_status lower_and_run(heed_onnx *file, const heed_onnx_evaluate_desc *desc,
                                 heed_onnx_result *result, uint32_t *refused, heed_error *error) {
  heed_lower l = {.file = file, .error = error};
  const heed_onnx_graph *graph = &file->model.graph;
  heed_lower_limit(&l, desc->inputs.size, desc->most_elements, desc->most_steps);
  heed_status status = heed_lower_graph(&l, &desc->inputs, desc->name, desc->attentions);
  for (uint32_t i = 0; status == HEED_UNSUPPORTED && i < graph->node_count; i++)
    if (l.call.node == &graph->nodes[i]) *refused = i;
  if (status == HEED_OK) status = run(&l, desc, result);
  heed_onnx_result_note(result, l.unrounded);
  heed_lower_close(&l);
  return status;
}

heed_status heed_lower_evaluate(heed_onnx *file, const heed_onnx_evaluate_desc *desc,
                                heed_onnx_result **result, uint32_t *refused, heed_error *error) {
  heed_onnx_result *made;
  *result = NULL;
  *refused = UINT32_MAX;
  HEED_TRY(heed_onnx_result_create(file, &made, error));
  const heed_status status = lower_and_run(file, desc, made, refused, error);
  if (status == HEED_OK)
    *result = made;
  else
    heed_onnx_result_destroy(made);
  return status;
}

heed_status heed_onnx_evaluate(heed_onnx *file, const heed_onnx_evaluate_desc *desc,
                               heed_onnx_result **result, heed_error *error) {
  heed_onnx_evaluate_desc full;
  heed_error own;
  uint32_t refused;
  if (desc) HEED_TRY(heed_desc_read(&full, sizeof full, desc, "onnx", error));
  if (!file || !desc || !result || !full.backend)
    return heed_onnx_reference(file, desc, result, error);
  if (!full.name) full.name = "inputs";
  if (!error) error = &own;
  const heed_status status = heed_lower_evaluate(file, &full, result, &refused, error);
  return full.parts && refused != UINT32_MAX
             ? heed_lower_evaluate_parts(file, &full, refused, result, error)
             : status;
}
