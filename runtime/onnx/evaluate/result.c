/* The outputs of a run as the bytes of a .safetensors file. See result.h, heed/onnx.h. */
#include "onnx/evaluate/result.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/status.h"

struct heed_onnx_result {
  const heed_context *context;
  char name[16];
  heed_assembled made;
  heed_onnx_array **arrays; /* [room] */
  size_t room;
  uint32_t count, unrounded;
  char parts[256];
};

/* As heed_assembled_read. */
static heed_status read_result(void *user, uint32_t index, uint64_t offset, void *to, size_t count,
                               heed_error *error) {
  const heed_onnx_result *result = user;
  const heed_onnx_array *array = result->arrays[index];
  const uint32_t size = heed_onnx_type_size(array->type);
  unsigned char *bytes = to, element[8];
  (void)error;
  for (size_t i = 0; i < count; i++) {
    const uint64_t at = offset + i;
    if (i == 0 || at % size == 0)
      heed_onnx_cell_write(array->type, array->data[at / size], element);
    bytes[i] = element[at % size];
  }
  return HEED_OK;
}

heed_status heed_onnx_put(heed_onnx_result *result, heed_onnx_evaluator *e, heed_onnx_array *array,
                          heed_status status, const char *name, heed_error *error) {
  if (status == HEED_OK && !heed_grow(result->context, &result->arrays, &result->room,
                                      (size_t)result->count + 1, sizeof *result->arrays))
    status = heed_fail_memory(error, name, sizeof *result->arrays);
  if (status != HEED_OK) {
    heed_onnx_drop(e, array);
    return status;
  }
  result->arrays[result->count++] = array;
  return heed_assembled_add(&result->made, name, heed_onnx_type_safetensors(array->type),
                            array->rank, array->dims,
                            array->count * heed_onnx_type_size(array->type), error);
}

heed_status heed_onnx_give(heed_onnx_result *result, heed_onnx_evaluator *e, heed_onnx_id value,
                           const char *name, const heed_onnx_array *from, heed_error *error) {
  const heed_onnx_node none = {.name = name, .op = "output", .domain = ""};
  heed_onnx_call call = {.evaluator = e, .node = &none, .error = error};
  heed_onnx_array *copy;
  if (!from) HEED_TRY(heed_onnx_fetch(&call, value, &from));
  if (!heed_onnx_type_safetensors(from->type))
    return heed_onnx_refuse(&call, HEED_UNSUPPORTED, "a type that no output file has");
  HEED_TRY(heed_onnx_make(&call, from->type, from->rank, from->dims, &copy));
  memcpy(copy->data, from->data, (size_t)from->count * sizeof *from->data);
  return heed_onnx_put(result, e, copy, HEED_OK, name, error);
}

/* The evaluator's value, in the shape of a map. */
static heed_status give_map(heed_onnx_result *result, heed_onnx_evaluator *e, heed_onnx_id value,
                            const char *name, heed_error *error) {
  const heed_onnx_node none = {.name = name, .op = "output", .domain = ""};
  heed_onnx_call call = {.evaluator = e, .node = &none, .error = error};
  const heed_onnx_array *from;
  uint64_t whole[4];
  HEED_TRY(heed_onnx_fetch(&call, value, &from));
  heed_onnx_array map = *from;
  if (heed_onnx_map_shape(e->batch, map.rank, map.dims, whole)) {
    map.rank = 4;
    memcpy(map.dims, whole, sizeof whole);
  }
  return heed_onnx_give(result, e, value, name, &map, error);
}

void heed_onnx_map_name(uint32_t index, char name[32]) {
  snprintf(name, 32, "attention.%u", index);
}

heed_status heed_onnx_give_results(heed_onnx_evaluator *e, const heed_onnx_attention_list *found,
                                   heed_onnx_result *result, heed_error *error) {
  const heed_onnx_graph *graph = &e->file->model.graph;
  for (uint32_t i = 0; i < graph->output_count; i++)
    HEED_TRY(heed_onnx_give(result, e, graph->outputs[i].id, graph->outputs[i].name, NULL, error));
  for (uint32_t i = 0; i < found->count; i++) {
    char name[32];
    heed_onnx_array *kept = e->kept[i];
    heed_onnx_map_name(i, name);
    e->kept[i] = NULL;
    const heed_onnx_id weights = found->items[i].weights;
    /* Its node gave none, or lies in a branch that was not taken. */
    if (!kept && !e->values[weights] && !e->file->makers[weights].tensor) continue;
    HEED_TRY(kept ? heed_onnx_put(result, e, kept, HEED_OK, name, error)
                  : give_map(result, e, weights, name, error));
  }
  return heed_onnx_finish(result, error);
}

/* Outputs have the file's names: two of one name, or one like a map's, would make a file that no
 * reader takes. */
heed_status heed_onnx_finish(heed_onnx_result *result, heed_error *error) {
  heed_json *header;
  HEED_TRY(heed_assembled_finish(&result->made, error));
  const heed_status status =
      heed_json_parse(result->context, result->made.header + 8, result->made.header_size - 8,
                      result->name, &header, error);
  heed_json_destroy(header);
  if (status != HEED_INVALID_FILE) return status;
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: two outputs have one name (expected each of another name, and none like "
                   "attention.0, which the map of an attention has)",
                   result->name);
}

heed_status heed_onnx_result_create(const heed_onnx *file, heed_onnx_result **result,
                                    heed_error *error) {
  heed_onnx_result *made = heed_alloc(file->context, 1, sizeof *made);
  if (!made) return heed_fail_memory(error, file->name, sizeof *made);
  *made = (heed_onnx_result){.context = file->context, .name = "result"};
  made->made = (heed_assembled){
      .context = file->context, .where = made->name, .read = read_result, .user = made};
  *result = made;
  return HEED_OK;
}

void heed_onnx_result_note(heed_onnx_result *result, uint32_t unrounded) {
  result->unrounded = unrounded;
}

uint32_t heed_onnx_result_unrounded(const heed_onnx_result *result) { return result->unrounded; }

void heed_onnx_result_tell(heed_onnx_result *result, const char *parts) {
  snprintf(result->parts, sizeof result->parts, "%s", parts);
}

const char *heed_onnx_result_parts(const heed_onnx_result *result) { return result->parts; }

heed_source heed_onnx_result_source(heed_onnx_result *result) {
  return heed_assembled_source(&result->made);
}

void heed_onnx_result_destroy(heed_onnx_result *result) {
  if (!result) return;
  const heed_context *context = result->context;
  heed_onnx_evaluator e = {.context = context};
  for (uint32_t i = 0; i < result->count; i++) heed_onnx_drop(&e, result->arrays[i]);
  heed_free(context, result->arrays);
  heed_assembled_free(&result->made);
  heed_free(context, result);
}
