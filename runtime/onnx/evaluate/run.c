/* A graph with its inputs, run as it is. See heed/onnx.h, evaluate.h. */
#include "base/desc.h"
#include "base/status.h"
#include "onnx/evaluate/evaluate.h"
#include "onnx/evaluate/result.h"

/* Every node once, in the order of the file; a value goes when its last reader has run. */
static heed_status evaluate(heed_onnx_evaluator *e, const heed_onnx_evaluate_desc *desc,
                            const heed_onnx_attention_list *found, heed_onnx_result *result,
                            heed_error *error) {
  const heed_onnx_graph *graph = &e->file->model.graph;
  heed_safetensors *given;
  HEED_TRY(heed_onnx_evaluator_open(e, found, error));
  HEED_TRY(heed_safetensors_open(e->context, &desc->inputs, desc->name, &given, error));
  heed_status status = heed_onnx_read_inputs(e, desc, given, error);
  uint32_t next = 0; /* of the attentions, which are in the order of their nodes */
  heed_safetensors_destroy(given);
  for (uint32_t i = 0; status == HEED_OK && i < graph->node_count; i++) {
    if (desc->hooks && desc->hooks->cancel && desc->hooks->cancel(desc->hooks->user))
      return heed_fail(error, HEED_CANCELLED, "%s: cancelled", e->file->name);
    const heed_onnx_attention *item = next < found->count ? &found->items[next] : NULL;
    const bool here = item && item->node == i;
    status = heed_onnx_run_node(e, &graph->nodes[i], here && !item->weights ? &e->kept[next] : NULL,
                                error);
    next += here;
  }
  return status == HEED_OK ? heed_onnx_give_results(e, found, result, error) : status;
}

heed_status heed_onnx_reference(heed_onnx *file, const heed_onnx_evaluate_desc *desc,
                                heed_onnx_result **result, heed_error *error) {
  heed_onnx_evaluate_desc full;
  if (!file || !desc || !result)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "onnx: NULL argument (expected file, desc, result)");
  *result = NULL;
  HEED_TRY(heed_desc_read(&full, sizeof full, desc, "onnx", error));
  const heed_onnx_attention_list none = {0}, *found = full.attentions ? file->attentions : &none;
  heed_onnx_result *made;
  heed_onnx_evaluator e;
  if (!full.name) full.name = "inputs";
  HEED_TRY(heed_onnx_result_create(file, &made, error));
  heed_onnx_limit(&e, file, full.inputs.size, full.most_elements, full.most_steps, false);
  const heed_status status = evaluate(&e, &full, found, made, error);
  heed_onnx_evaluator_close(&e);
  if (status == HEED_OK)
    *result = made;
  else
    heed_onnx_result_destroy(made);
  return status;
}
