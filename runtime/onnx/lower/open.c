/* A lowered graph for whoever plans and runs it himself. See heed/onnx.h, lower.h. */
#include <string.h>

#include "base/alloc.h"
#include "base/desc.h"
#include "base/status.h"
#include "graph/graph.h"
#include "onnx/evaluate/result.h"
#include "onnx/lower/lower.h"

heed_status heed_lower_visit_given(const heed_lower *l, heed_onnx_given give, void *user,
                                   heed_error *error) {
  heed_status status = HEED_OK;
  for (size_t i = 0; i < l->value_count && status == HEED_OK; i++) {
    const heed_lower_value *v = l->values[i];
    if (v->kind != HEED_LOWER_INPUT || !v->uses || !v->array) continue;
    const size_t count = (size_t)v->array->count;
    float *data = heed_alloc_raw(l->file->context, count, sizeof *data);
    if (!data) return heed_fail_memory(error, l->file->name, count * sizeof *data);
    for (size_t k = 0; k < count; k++) data[k] = (float)v->array->data[k].f;
    status = give(user, v->made, data, count * sizeof *data, error);
    heed_free(l->file->context, data);
  }
  return status;
}

/* As heed_onnx_given. */
static heed_status write_one(void *user, heed_value input, const float *data, size_t bytes,
                             heed_error *error) {
  return heed_session_write(user, input, data, bytes, error);
}

heed_status heed_lower_write_given(const heed_lower *l, heed_session *session, heed_error *error) {
  return heed_lower_visit_given(l, write_one, session, error);
}

heed_status heed_lower_output(heed_lower *l, const heed_onnx_value *output,
                              const heed_lower_value **computed, uint32_t *type) {
  heed_lower_value *v = heed_lower_bound(l, output->id);
  *computed = v && v->kind != HEED_LOWER_CONSTANT && !v->array ? v : NULL;
  if (!*computed) return HEED_OK;
  const uint32_t is = l->types[output->id];
  *type = output->type ? output->type : is;
  /* whole numbers of few bits are floats on kernels, exactly, and so are some others */
  double range[2];
  if ((!heed_onnx_is_float(*type) || !heed_onnx_is_float(is)) &&
      (*type != is || (heed_onnx_type_bits(is) > 8 && !heed_lower_is_whole(l, v, range))))
    return heed_fail(l->error, HEED_UNSUPPORTED, "%s: an output of whole numbers has no kernel",
                     l->file->name);
  return HEED_OK;
}

heed_status heed_lower_put_known(heed_lower *l, const heed_onnx_value *output,
                                 heed_onnx_result *result) {
  heed_lower_value *v = heed_lower_bound(l, output->id);
  const heed_onnx_array *known = v && !v->array ? heed_lower_elements(l, v) : v ? v->array : NULL;
  return v && !known
             ? l->status
             : heed_onnx_give(result, &l->evaluator, output->id, output->name, known, l->error);
}

struct heed_onnx_lowered {
  heed_lower lower;
  heed_assembled given; /* inputs of the sizes that were asked for */
  const heed_onnx *file;
  uint32_t *types; /* by tensor of those: its element type */
};

/* As heed_assembled_read: floats are 0, which nobody looks at, and whole numbers 1. */
static heed_status read_ones(void *user, uint32_t index, uint64_t offset, void *to, size_t count,
                             heed_error *error) {
  const heed_onnx_lowered *lowered = user;
  const uint32_t type = lowered->types[index], size = heed_onnx_type_size(type);
  unsigned char *bytes = to;
  (void)error;
  for (size_t i = 0; i < count; i++)
    bytes[i] = !heed_onnx_is_float(type) && (offset + i) % size == 0;
  return HEED_OK;
}

static heed_status add_input(heed_onnx_lowered *lowered, const heed_onnx_value *input,
                             const heed_onnx_lower_desc *desc, uint32_t *count, heed_error *error) {
  const char *type = heed_onnx_type_safetensors(input->type);
  uint64_t dims[HEED_ONNX_MAX_RANK], bytes = heed_onnx_type_size(input->type);
  if (lowered->file->makers[input->id].tensor) return HEED_OK;
  if (!type || !input->shaped)
    return heed_fail(error, HEED_UNSUPPORTED, "%s: input %.60s has no shape", lowered->file->name,
                     input->name);
  const bool image = input->rank == 4, last = heed_onnx_channels_last(input->rank, input->dims);
  const uint32_t sides[] = {last ? desc->height : 3, last ? desc->width : desc->height,
                            last ? 3 : desc->width};
  for (uint32_t i = 0; i < input->rank; i++) {
    const uint32_t other = i == 0 ? desc->batch : image ? sides[i - 1] : desc->length;
    dims[i] = input->dims[i] >= 0 ? (uint64_t)input->dims[i] : other;
    if (!heed_u64_mul(bytes, dims[i], &bytes))
      return heed_fail(error, HEED_INVALID_FILE, "%s: input %.60s is too large",
                       lowered->file->name, input->name);
  }
  lowered->types[(*count)++] = input->type;
  return heed_assembled_add(&lowered->given, input->name, type, input->rank, dims, bytes, error);
}

static heed_status make_inputs(heed_onnx_lowered *lowered, const heed_onnx_lower_desc *desc,
                               heed_error *error) {
  const heed_onnx_graph *graph = &lowered->file->model.graph;
  heed_onnx_lower_desc full = *desc;
  uint32_t count = 0;
  if (!full.batch) full.batch = 1;
  if (!full.height) full.height = 224;
  if (!full.width) full.width = 224;
  if (!full.length) full.length = 16;
  lowered->types =
      heed_alloc(lowered->file->context, (size_t)graph->input_count + 1, sizeof *lowered->types);
  if (!lowered->types) return heed_fail_memory(error, lowered->file->name, graph->input_count);
  lowered->given = (heed_assembled){.context = lowered->file->context,
                                    .where = lowered->file->name,
                                    .read = read_ones,
                                    .user = lowered};
  for (uint32_t i = 0; i < graph->input_count; i++)
    HEED_TRY(add_input(lowered, &graph->inputs[i], &full, &count, error));
  return heed_assembled_finish(&lowered->given, error);
}

static heed_status lower(heed_onnx_lowered *lowered, heed_onnx *file,
                         const heed_onnx_lower_desc *desc, heed_error *error) {
  heed_source inputs = desc->inputs;
  if (inputs.size == 0) {
    HEED_TRY(make_inputs(lowered, desc, error));
    inputs = heed_assembled_source(&lowered->given);
  }
  return heed_lower_graph(&lowered->lower, &inputs, desc->name ? desc->name : file->name, true);
}

heed_status heed_onnx_lower(heed_onnx *file, const heed_onnx_lower_desc *desc,
                            heed_onnx_lowered **lowered, heed_error *error) {
  return heed_onnx_lower_changed(file, desc, NULL, lowered, error);
}

/* Of the pictures whose size is asked for. */
static uint64_t picture_bytes(const heed_onnx_lower_desc *desc) {
  const uint64_t batch = desc->batch ? desc->batch : 1, height = desc->height ? desc->height : 224,
                 width = desc->width ? desc->width : 224;
  uint64_t bytes;
  return heed_u64_mul(height * width, 3 * sizeof(float) * batch, &bytes) ? bytes : UINT64_MAX;
}

heed_status heed_onnx_lower_changed(heed_onnx *file, const heed_onnx_lower_desc *desc,
                                    const heed_lower_changes *changes, heed_onnx_lowered **lowered,
                                    heed_error *error) {
  heed_onnx_lower_desc full;
  heed_error own;
  if (!file || !desc || !lowered)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "onnx: NULL argument (expected file, desc, lowered)");
  *lowered = NULL;
  HEED_TRY(heed_desc_read(&full, sizeof full, desc, "onnx", error));
  heed_onnx_lowered *made = heed_alloc(file->context, 1, sizeof *made);
  if (!made) return heed_fail_memory(error, file->name, sizeof *made);
  made->file = file;
  made->lower = (heed_lower){.file = file, .error = error ? error : &own};
  made->lower.picture = full.picture;
  made->lower.changes = changes;
  made->lower.takes_hosts = full.parts;
  heed_lower_limit(&made->lower, full.inputs.size, full.most_elements, full.most_steps);
  if (!full.inputs.size && !full.most_elements) /* a run has a picture; what is folded has none */
    made->lower.elements.most = 2 * heed_onnx_default_elements(file, picture_bytes(&full));
  const heed_status status = lower(made, file, &full, made->lower.error);
  made->lower.error = NULL;
  made->lower.changes = NULL; /* the caller's */
  if (status == HEED_OK)
    *lowered = made;
  else
    heed_onnx_lowered_destroy(made);
  return status;
}

void heed_onnx_lowered_destroy(heed_onnx_lowered *lowered) {
  if (!lowered) return;
  const heed_context *context = lowered->file->context;
  heed_lower_close(&lowered->lower);
  heed_assembled_free(&lowered->given);
  heed_free(context, lowered->types);
  heed_free(context, lowered);
}

heed_lower *heed_onnx_lowered_parts(heed_onnx_lowered *lowered) { return &lowered->lower; }

heed_graph *heed_onnx_lowered_graph(heed_onnx_lowered *lowered) { return lowered->lower.graph; }

/* As heed_graph.close. */
static void close_lowered(void *user) { heed_onnx_lowered_destroy(user); }

heed_graph *heed_onnx_lowered_release(heed_onnx_lowered *lowered) {
  heed_graph *graph = lowered->lower.graph;
  lowered->lower.graph = NULL;
  graph->close = close_lowered;
  graph->close_user = lowered;
  return graph;
}

heed_value heed_onnx_lowered_weights(const heed_onnx_lowered *lowered, uint32_t index) {
  return index < lowered->file->attentions->count ? heed_lower_weights(&lowered->lower, index)
                                                  : (heed_value){0};
}

bool heed_onnx_lowered_count(const heed_onnx_lowered *lowered, uint32_t index,
                             heed_onnx_op_count *count) {
  if (index >= lowered->lower.count_count) return false;
  *count = lowered->lower.counts[index];
  return true;
}

heed_status heed_onnx_lowered_write(const heed_onnx_lowered *lowered, heed_session *session,
                                    heed_error *error) {
  return heed_lower_write_given(&lowered->lower, session, error);
}

heed_status heed_onnx_lowered_given(const heed_onnx_lowered *lowered, heed_onnx_given give,
                                    void *user, heed_error *error) {
  return heed_lower_visit_given(&lowered->lower, give, user, error);
}

void heed_onnx_lowered_in_double(const heed_onnx_lowered *lowered, char *text, size_t size) {
  heed_lower_tell_hosts(&lowered->lower, text, size);
}

uint32_t heed_onnx_lowered_unrounded(const heed_onnx_lowered *lowered) {
  return lowered->lower.unrounded;
}

heed_status heed_onnx_lowered_output(heed_onnx_lowered *lowered, uint32_t index, heed_value *value,
                                     heed_error *error) {
  const heed_onnx_graph *graph = &lowered->file->model.graph;
  const heed_lower_value *computed = NULL;
  heed_error own;
  uint32_t type;
  lowered->lower.error = error ? error : &own;
  const heed_status status =
      index < graph->output_count
          ? heed_lower_output(&lowered->lower, &graph->outputs[index], &computed, &type)
          : HEED_OK;
  lowered->lower.error = NULL;
  *value = computed ? computed->made : (heed_value){0};
  return status;
}

static heed_status put_known(heed_lower *l, heed_onnx_result *result) {
  const heed_onnx_graph *graph = &l->file->model.graph;
  for (uint32_t i = 0; i < graph->output_count; i++) {
    const heed_lower_value *computed;
    uint32_t type;
    HEED_TRY(heed_lower_output(l, &graph->outputs[i], &computed, &type));
    if (!computed) HEED_TRY(heed_lower_put_known(l, &graph->outputs[i], result));
  }
  return heed_onnx_finish(result, l->error);
}

heed_status heed_onnx_lowered_known(heed_onnx_lowered *lowered, heed_onnx_result **result,
                                    heed_error *error) {
  heed_error own;
  *result = NULL;
  HEED_TRY(heed_onnx_result_create(lowered->file, result, error));
  lowered->lower.error = error ? error : &own;
  const heed_status status = put_known(&lowered->lower, *result);
  lowered->lower.error = NULL;
  if (status != HEED_OK) {
    heed_onnx_result_destroy(*result);
    *result = NULL;
  }
  return status;
}
