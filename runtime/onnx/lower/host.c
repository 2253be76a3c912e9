/* Nodes without a kernel, each as one node of the graph that the evaluator computes in double while
 * a session runs on the CPU (graph/host.h). The shapes of its outputs are those that it gives for
 * zeros: a run in which they are others ends with a sentence. See lower.h. */
#include "graph/host.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "base/tensor.h"
#include "onnx/lower/lower.h"

#define MOST_EXACT (INT64_C(1) << 24) /* all whole numbers up to here are floats */

typedef heed_lower_value value;

typedef struct host_input {
  const heed_onnx_array *known; /* NULL: computed, or left out */
  uint32_t slot;                /* of the graph's node; UINT32_MAX: not computed */
  heed_onnx_array shape;        /* type and shape of a computed one */
} host_input;

typedef struct host_output {
  uint32_t index; /* of the file's node */
  heed_onnx_array shape;
} host_output;

struct heed_lower_host {
  const heed_onnx *file;
  const heed_onnx_node *node;
  int64_t opset;
  uint64_t batch, bytes; /* bytes of the inputs as floats */
  host_input *inputs;    /* [in_count] */
  host_output outputs[HEED_NODE_OUTPUTS];
  uint32_t in_count, slot_count, output_count;
  heed_value made[HEED_NODE_OUTPUTS];
};

static heed_onnx_call call_of(const heed_lower_host *h, heed_onnx_evaluator *e, heed_error *error) {
  return (heed_onnx_call){
      .evaluator = e, .node = h->node, .opset = h->opset, .in_count = h->in_count, .error = error};
}

/* ----------------------------------------------------------------------------------------- runs */

static bool same_shape(const heed_onnx_array *a, const heed_onnx_array *b) {
  return a->type == b->type && a->rank == b->rank &&
         memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
}

/* An array of a computed input; `from` NULL: zeros. */
static heed_status make_input(heed_onnx_call *call, const heed_onnx_array *shape, const float *from,
                              heed_onnx_array **to) {
  HEED_TRY(heed_onnx_make(call, shape->type, shape->rank, shape->dims, to));
  for (uint64_t i = 0; from && i < (*to)->count; i++) heed_onnx_set(*to, i, (double)from[i]);
  return HEED_OK;
}

/* Calls the op; what it made is in call->out also after a failure. */
static heed_status evaluate(const heed_lower_host *h, heed_onnx_call *call,
                            const void *const *inputs) {
  heed_onnx_array *made[HEED_NODE_INPUTS] = {NULL};
  heed_status status = HEED_OK;
  for (uint32_t i = 0; i < h->in_count && status == HEED_OK; i++) {
    const host_input *input = &h->inputs[i];
    call->in[i] = input->known;
    if (input->slot == UINT32_MAX) continue;
    status =
        make_input(call, &input->shape, inputs ? inputs[input->slot] : NULL, &made[input->slot]);
    call->in[i] = made[input->slot];
  }
  if (status == HEED_OK) status = h->node->known->run(call);
  for (uint32_t i = 0; i < HEED_NODE_INPUTS; i++) heed_onnx_drop(call->evaluator, made[i]);
  return status;
}

static void drop_outputs(heed_onnx_call *call) {
  for (uint32_t i = 0; i < HEED_ONNX_MOST_OUTPUTS; i++)
    heed_onnx_drop(call->evaluator, call->out[i]);
}

/* Whole numbers and truth values are floats on kernels, which hold them exactly or not at all. */
static heed_status write_output(heed_onnx_call *call, const host_output *output, float *to) {
  const heed_onnx_array *from = call->out[output->index];
  if (!from || !same_shape(from, &output->shape))
    return heed_onnx_refuse(call, HEED_UNSUPPORTED,
                            "its shape depends on the numbers of its inputs (expected that of "
                            "zeros; --way reference runs the graph)");
  const bool whole = !heed_onnx_is_float(from->type);
  for (uint64_t i = 0; to && i < from->count; i++) {
    if (whole && (from->data[i].i > MOST_EXACT || from->data[i].i < -MOST_EXACT))
      return heed_onnx_refuse(call, HEED_UNSUPPORTED,
                              "a whole number that no float holds (found %lld; --way reference "
                              "runs the graph)",
                              (long long)from->data[i].i);
    to[i] = (float)heed_onnx_number(from, i);
  }
  return HEED_OK;
}

/* As heed_host_compute. */
static heed_status compute(const void *user, const void *const *inputs, void *const *outputs,
                           heed_error *error) {
  const heed_lower_host *h = user;
  heed_onnx_evaluator e;
  heed_error own;
  heed_onnx_limit(&e, h->file, h->bytes, 0, 0, false);
  e.batch = h->batch;
  heed_onnx_call call = call_of(h, &e, error ? error : &own);
  heed_status status = evaluate(h, &call, inputs);
  for (uint32_t i = 0; i < h->output_count && status == HEED_OK; i++)
    status = write_output(&call, &h->outputs[i], outputs[i]);
  drop_outputs(&call);
  return status;
}

/* ----------------------------------------------------------------------------------------- makes
 */

/* A copy that lives as long as the lowering. */
static const heed_onnx_array *keep(heed_lower *l, const heed_onnx_array *from, uint32_t type) {
  heed_onnx_array *to = heed_lower_array(l, from->rank, from->dims);
  if (!to) return NULL;
  to->type = type;
  memcpy(to->data, from->data, (size_t)from->count * sizeof *from->data);
  return to;
}

static bool take_input(heed_lower *l, heed_lower_host *h, uint32_t index, value **computed) {
  host_input *input = &h->inputs[index];
  input->slot = UINT32_MAX;
  if (!heed_lower_has_input(l, index)) return true;
  value *x = heed_lower_input(l, index);
  const uint32_t type = x ? heed_lower_type(l, index) : 0;
  if (!x) return false;
  if (x->kind == HEED_LOWER_CONSTANT || x->array) {
    const heed_onnx_array *from = x->array ? x->array : heed_lower_elements(l, x);
    input->known = from ? keep(l, from, type ? type : from->type) : NULL;
    return input->known && heed_onnx_check_type(&l->call, index, input->known->type) == HEED_OK;
  }
  if (h->slot_count == HEED_NODE_INPUTS || x->rank > HEED_MAX_RANK || !type) return false;
  input->shape = (heed_onnx_array){.type = type, .rank = x->rank, .count = heed_lower_size(x)};
  memcpy(input->shape.dims, x->dims, sizeof x->dims);
  h->bytes += input->shape.count * sizeof(float);
  input->slot = h->slot_count;
  computed[h->slot_count++] = x;
  return heed_onnx_check_type(&l->call, index, type) == HEED_OK;
}

/* Whether an output is one that kernels can take over. */
static bool take_output(heed_lower_host *h, uint32_t index, const heed_onnx_array *found) {
  if (!found || !found->count || found->rank > HEED_MAX_RANK ||
      h->output_count == HEED_NODE_OUTPUTS ||
      (heed_onnx_is_float(found->type) && !heed_onnx_is_kernel_float(found->type)))
    return false;
  host_output *output = &h->outputs[h->output_count++];
  *output = (host_output){index, *found};
  output->shape.data = NULL;
  return true;
}

/* The shapes that zeros give. */
static bool find_outputs(heed_lower *l, heed_lower_host *h) {
  heed_onnx_call call = call_of(h, &l->evaluator, l->error);
  const heed_status status = evaluate(h, &call, NULL);
  bool fits = status == HEED_OK;
  if (status == HEED_OUT_OF_MEMORY) l->status = status;
  for (uint32_t i = 0; fits && i < h->node->output_count; i++)
    if (heed_lower_has_output(l, i))
      fits = i < HEED_ONNX_MOST_OUTPUTS && take_output(h, i, call.out[i]);
  drop_outputs(&call);
  return fits && h->output_count;
}

static bool make(heed_lower *l, heed_lower_host *h) {
  value *computed[HEED_NODE_INPUTS];
  h->inputs = heed_lower_take(l, (uint64_t)h->in_count + 1, sizeof *h->inputs);
  if (!h->inputs || heed_onnx_check_counts(&l->call) != HEED_OK ||
      heed_onnx_check_attributes(&l->call) != HEED_OK)
    return false;
  for (uint32_t i = 0; i < h->in_count; i++)
    if (!take_input(l, h, i, computed)) return false;
  if (!find_outputs(l, h)) return false;
  const heed_onnx_array *first = &h->outputs[0].shape;
  value *host =
      heed_lower_new(l, HEED_LOWER_HOST, first->rank, first->dims, computed, h->slot_count);
  if (host) host->host = h;
  for (uint32_t i = 0; i < h->output_count; i++) {
    const heed_onnx_array *shape = &h->outputs[i].shape;
    value *made =
        heed_lower_new(l, HEED_LOWER_HOST_RESULT, shape->rank, shape->dims, (value *[]){host}, 1);
    if (made) made->function = (int)i;
    heed_lower_bind(l, h->outputs[i].index, made, shape->type);
  }
  return l->status == HEED_OK;
}

heed_status heed_lower_host_node(heed_lower *l) {
  const heed_onnx_node *node = l->call.node;
  const heed_error why = *l->error;
  const int64_t opset = l->call.opset;
  l->status = HEED_OK;
  heed_lower_host *h = heed_lower_take(l, 1, sizeof *h);
  if (!h) return l->status;
  *h = (heed_lower_host){.file = l->file,
                         .node = node,
                         .opset = opset,
                         .batch = l->batch,
                         .in_count = node->input_count};
  l->call = call_of(h, &l->evaluator, l->error);
  if (l->host_count < HEED_LOWER_MOST_HOSTS && !heed_onnx_is_if(node) && node->known &&
      node->input_count <= HEED_ONNX_MOST_INPUTS &&
      heed_lower_attention_at(l, node) == UINT32_MAX && make(l, h)) {
    l->hosts[l->host_count++] = node;
    return HEED_OK;
  }
  if (l->status != HEED_OK && l->status != HEED_UNSUPPORTED && l->status != HEED_INVALID_FILE)
    return l->status;
  *l->error = why;
  return l->status = HEED_UNSUPPORTED;
}

/* ----------------------------------------------------------------------------------------- rest */

heed_value heed_lower_emit_host(heed_lower *l, const value *v) {
  heed_lower_host *h = v->host;
  heed_host_desc desc = {.struct_size = sizeof desc,
                         .input_count = h->slot_count,
                         .output_count = h->output_count,
                         .compute = compute,
                         .user = h};
  for (uint32_t i = 0; i < h->slot_count; i++) desc.x[i] = v->x[i]->made;
  for (uint32_t i = 0; i < h->output_count; i++) {
    const heed_onnx_array *shape = &h->outputs[i].shape;
    desc.shape[i] = shape->rank ? (heed_shape){.rank = shape->rank} : HEED_SHAPE(1);
    for (uint32_t k = 0; k < shape->rank; k++) desc.shape[i].dim[k] = (uint32_t)shape->dims[k];
  }
  heed_define_host(l->graph, &desc, h->made);
  return h->made[0];
}

heed_value heed_lower_host_result(const value *v) { return v->x[0]->host->made[v->function]; }

uint32_t heed_lower_host_type(const value *v) {
  return v->x[0]->host->outputs[v->function].shape.type;
}

void heed_lower_tell_hosts(const heed_lower *l, char *text, size_t size) {
  size_t at = 0;
  text[0] = '\0';
  if (!l->host_count) return;
  at += (size_t)snprintf(text, size, "%u of %u nodes in double (", (unsigned)l->host_count,
                         (unsigned)l->file->model.graph.node_count);
  for (uint32_t i = 0; i < l->host_count && at + 64 < size; i++) {
    bool again = false;
    for (uint32_t k = 0; k < i; k++) again = again || strcmp(l->hosts[k]->op, l->hosts[i]->op) == 0;
    if (!again)
      at += (size_t)snprintf(text + at, size - at, "%s%.40s", i ? ", " : "", l->hosts[i]->op);
  }
  if (at < size) snprintf(text + at, size - at, ")");
}
