/* Tensors of .safetensors as inputs of a graph. See evaluate.h. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/status.h"
#include "base/utf8.h"
#include "model/files/source.h"
#include "onnx/evaluate/evaluate.h"

#define SHAPE_TEXT (24 * HEED_ONNX_MAX_RANK)

/* The type of a tensor in .safetensors for an input of a type; 0: another. */
static uint32_t type_of(const char *safetensors, uint32_t input) {
  for (uint32_t type = input ? input : 1; type < (input ? input + 1 : 32); type++) {
    const char *name = heed_onnx_type_safetensors(type);
    if (name && strcmp(name, safetensors) == 0) return type;
  }
  return 0;
}

/* The shape of a tensor of .safetensors, whose reader keeps 6 axes: more are read from its header
 * again. */
static heed_status read_shape(const heed_onnx *file, const heed_source *source,
                              const heed_safetensors_tensor *tensor, heed_onnx_array *shape,
                              heed_error *error) {
  unsigned char length[8];
  uint64_t size = 0;
  heed_json *json = NULL;
  *shape = (heed_onnx_array){.rank = tensor->shape.rank};
  for (uint32_t i = 0; i < shape->rank; i++) shape->dims[i] = tensor->shape.dim[i];
  if (shape->rank) return HEED_OK;
  HEED_TRY(heed_source_read(source, tensor->name, 0, length, sizeof length, error));
  for (uint32_t i = sizeof length; i-- > 0;) size = size << 8 | length[i];
  char *text = heed_alloc_raw(file->context, (size_t)size, 1);
  if (!text) return heed_fail_memory(error, file->name, (size_t)size);
  heed_status status =
      heed_source_read(source, tensor->name, sizeof length, text, (size_t)size, error);
  if (status == HEED_OK)
    status = heed_json_parse(file->context, text, (size_t)size, tensor->name, &json, error);
  const heed_json_value list =
      json ? heed_json_get(json, heed_json_get(json, heed_json_root(json), tensor->name), "shape")
           : 0;
  for (heed_json_value v = json ? heed_json_first(json, list) : 0; v && status == HEED_OK;
       v = heed_json_next(json, list, v))
    if (shape->rank == HEED_ONNX_MAX_RANK)
      status =
          heed_fail(error, HEED_UNSUPPORTED, "%s: input %.*s: too many axes (expected at most %d)",
                    file->name, HEED_CUT(tensor->name), HEED_ONNX_MAX_RANK);
    else
      heed_json_u64(json, v, &shape->dims[shape->rank++]);
  heed_json_destroy(json);
  heed_free(file->context, text);
  return status;
}

/* "[2, 3, ?]" of at most 8 axes; ?: a size that the file leaves open. */
#define OPEN UINT64_MAX
static const char *shape_text(uint32_t rank, const uint64_t *dims, char text[SHAPE_TEXT]) {
  int at = snprintf(text, SHAPE_TEXT, "[");
  for (uint32_t i = 0; i < rank; i++) {
    const size_t room = (size_t)(SHAPE_TEXT - at);
    at += dims[i] == OPEN
              ? snprintf(text + at, room, "%s?", i ? ", " : "")
              : snprintf(text + at, room, "%s%llu", i ? ", " : "", (unsigned long long)dims[i]);
  }
  snprintf(text + at, (size_t)(SHAPE_TEXT - at), "]");
  return text;
}

heed_status heed_onnx_check_input(const heed_onnx *file, const heed_onnx_value *input,
                                  const heed_source *source, const heed_safetensors_tensor *tensor,
                                  heed_onnx_array *shape, heed_error *error) {
  char found[SHAPE_TEXT], expected[SHAPE_TEXT], type[16];
  uint64_t dims[HEED_ONNX_MAX_RANK];
  HEED_TRY(read_shape(file, source, tensor, shape, error));
  bool fits = !input->shaped || input->rank == shape->rank;
  for (uint32_t i = 0; fits && input->shaped && i < input->rank; i++)
    fits = input->dims[i] < 0 || (uint64_t)input->dims[i] == shape->dims[i];
  shape->type = type_of(tensor->dtype_name, input->type);
  if (fits && shape->type) return HEED_OK;
  for (uint32_t i = 0; i < input->rank; i++)
    dims[i] = input->dims[i] < 0 ? OPEN : (uint64_t)input->dims[i];
  return heed_fail(
      error, HEED_INVALID_FILE, "%s: input %.*s does not fit (found %s %s, expected %s%s%s)",
      file->name, heed_utf8_cut(input->name, 100), input->name, tensor->dtype_name,
      shape_text(shape->rank, shape->dims, found), heed_onnx_type_name(input->type, type),
      input->shaped ? " " : "", input->shaped ? shape_text(input->rank, dims, expected) : "");
}

heed_status heed_onnx_read_stored(heed_onnx_evaluator *e, const heed_onnx_value *input,
                                  const heed_source *source, const heed_safetensors_tensor *tensor,
                                  heed_onnx_array **to, heed_error *error) {
  heed_onnx_array shape;
  const heed_onnx_node none = {.name = input->name, .op = "input", .domain = ""};
  heed_onnx_call call = {.evaluator = e, .node = &none, .error = error};
  unsigned char bytes[4096];
  HEED_TRY(heed_onnx_check_input(e->file, input, source, tensor, &shape, error));
  HEED_TRY(heed_onnx_make(&call, shape.type, shape.rank, shape.dims, to));
  const uint32_t size = heed_onnx_type_size(shape.type);
  for (uint64_t done = 0; done < (*to)->count;) {
    const uint64_t left = (*to)->count - done, most = sizeof bytes / size,
                   here = left < most ? left : most;
    HEED_TRY(heed_source_read(source, input->name, tensor->offset + done * size, bytes,
                              (size_t)(here * size), error));
    for (uint64_t i = 0; i < here; i++)
      heed_onnx_cell_read(shape.type, bytes + i * size, &(*to)->data[done + i]);
    done += here;
  }
  return HEED_OK;
}

heed_status heed_onnx_read_input(heed_onnx_evaluator *e, const heed_onnx_value *input,
                                 const heed_source *source, const heed_safetensors_tensor *tensor,
                                 heed_error *error) {
  heed_onnx_array **slot = &e->values[input->id];
  heed_onnx_drop(e, *slot);
  *slot = NULL;
  HEED_TRY(heed_onnx_read_stored(e, input, source, tensor, slot, error));
  if (e->batch == 0 && (*slot)->rank) e->batch = (*slot)->dims[0];
  return HEED_OK;
}

heed_status heed_onnx_read_inputs(heed_onnx_evaluator *e, const heed_onnx_evaluate_desc *desc,
                                  const heed_safetensors *given, heed_error *error) {
  const heed_onnx_graph *graph = &e->file->model.graph;
  for (uint32_t i = 0; i < graph->input_count; i++) {
    const heed_onnx_value *input = &graph->inputs[i];
    const heed_safetensors_tensor *tensor = heed_safetensors_find(given, input->name);
    if (tensor) HEED_TRY(heed_onnx_read_input(e, input, &desc->inputs, tensor, error));
    if (!tensor && !e->file->makers[input->id].tensor)
      return heed_fail(error, HEED_INVALID_FILE, "%s: missing tensor %.*s (an input of %s)",
                       desc->name, HEED_CUT(input->name), e->file->name);
  }
  return HEED_OK;
}
