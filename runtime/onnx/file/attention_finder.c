/* The attention finder. See attention_finder.h. A softmax is an attention where its weights are the
 * left factor of a product, or turned the right one, or an output of the graph, and what it reads
 * is a product of two values that are not constants, with scales, masks and biases between them.
 * Heads may be mixed before the softmax and behind it, and weights be joined with others by gates.
 */
#include "onnx/file/attention_finder.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

#define MOST_STEPS 16 /* nodes between a softmax and its products */

static bool is_one_of(const char *op, const char *const *ops) {
  for (; *ops; ops++)
    if (strcmp(op, *ops) == 0) return true;
  return false;
}

/* Whether a value is computed from what changes; constants and their shapes are not. */
static bool is_computed(const heed_onnx *file, heed_onnx_id value) {
  return value && !heed_onnx_tensor_of(file, value);
}

static bool is_product(const heed_onnx_node *node) {
  return strcmp(node->op, "MatMul") == 0 || strcmp(node->op, "Einsum") == 0;
}

/* Up from the softmax to the product of query and key. */
static bool reads_scores(const heed_onnx *file, heed_onnx_id value) {
  static const char *const through[] = {"Add",  "Mul",       "Div",       "Cast", "Where",
                                        "Tanh", "Reshape",   "Identity",  "Sub",  "Clip",
                                        "Max",  "Transpose", "ScatterND", NULL};
  heed_onnx_id front[MOST_STEPS] = {value};
  uint32_t count = 1;
  for (uint32_t i = 0; i < count; i++) {
    const heed_onnx_node *node = file->makers[front[i]].node;
    if (!node) continue;
    const bool product = is_product(node), both = node->input_count == 2 &&
                                                  is_computed(file, node->in[0]) &&
                                                  is_computed(file, node->in[1]);
    if (product && both) return true;
    if (!product && !is_one_of(node->op, through)) continue;
    for (uint32_t k = 0; k < node->input_count && count < MOST_STEPS; k++)
      if (is_computed(file, node->in[k])) front[count++] = node->in[k];
  }
  return false;
}

/* Whether a value is an output of the graph with as many axes as maps have: scores of classes have
 * two. */
static bool is_output(const heed_onnx *file, heed_onnx_id value) {
  const heed_onnx_graph *graph = &file->model.graph;
  for (uint32_t i = 0; i < graph->output_count; i++)
    if (graph->outputs[i].id == value)
      return graph->outputs[i].shaped && graph->outputs[i].rank > 2;
  return false;
}

/* A value that the weights are, or that is made of them. */
typedef struct step {
  heed_onnx_id value;
  bool heads;  /* they are mixed */
  bool gated;  /* joined with others, whose rows sum to 1 again where a quotient follows */
  bool whole;  /* that is so */
  bool turned; /* keys before queries */
} step;

/* Whether a node takes the weights of `from`, its input k, to its values. */
static bool meets_values(const heed_onnx *file, const heed_onnx_node *node, uint32_t k,
                         const step *from) {
  if (!is_product(node) || node->input_count != 2 || !is_computed(file, node->in[1 - k]) ||
      (from->gated && !from->whole))
    return false;
  return from->turned ? k == 1 && !from->heads : k == 0;
}

/* What a node makes of weights; false: something else. */
static bool passes(const heed_onnx *file, const heed_onnx_node *node, uint32_t k, step *weights) {
  static const char *const through[] = {"Cast",    "Identity",  "Dropout", "Where",
                                        "Reshape", "Transpose", NULL},
                           *const gates[] = {"Mul", "Add", NULL};
  const bool two = node->input_count == 2, constant = two && !is_computed(file, node->in[1 - k]),
             mixes = is_product(node) && k == 0 && constant,
             biased = weights->heads && constant && strcmp(node->op, "Add") == 0,
             gate = !biased && is_one_of(node->op, gates),
             sums = weights->gated && k == 0 && strcmp(node->op, "Div") == 0;
  if (!node->output_count) return false;
  weights->value = node->out[0];
  weights->heads = weights->heads || mixes;
  weights->gated = weights->gated || gate;
  weights->whole = sums || (weights->whole && !gate);
  if (strcmp(node->op, "Transpose") == 0) weights->turned = !weights->turned;
  return mixes || biased || gate || sums || is_one_of(node->op, through);
}

/* Down from the softmax to a product that takes its weights, or to an output, which the last
 * weights of a cut graph are: nodes are in order, so that one pass over those behind it is enough.
 */
static bool weighs_values(const heed_onnx *file, uint32_t softmax, heed_onnx_attention *found) {
  const heed_onnx_graph *graph = &file->model.graph;
  step steps[MOST_STEPS] = {{.value = graph->nodes[softmax].out[0]}};
  const uint32_t end = graph->node_count - softmax < 64 ? graph->node_count : softmax + 64;
  uint32_t count = 1;
  for (uint32_t i = softmax + 1; i < end; i++) {
    const heed_onnx_node *node = &graph->nodes[i];
    for (uint32_t k = 0; k < node->input_count; k++)
      for (uint32_t n = 0; n < count; n++) {
        if (!node->in[k] || node->in[k] != steps[n].value) continue;
        if (meets_values(file, node, k, &steps[n])) {
          if (steps[n].gated) found->weights = steps[n].value;
          found->heads_mixed = steps[n].heads;
          return true;
        }
        step made = steps[n];
        if (count < MOST_STEPS && passes(file, node, k, &made)) steps[count++] = made;
        n = count;
      }
  }
  for (uint32_t n = 0; n < count; n++)
    if (!steps[n].heads && !steps[n].gated && is_output(file, steps[n].value)) return true;
  return false;
}

static heed_status add(const heed_onnx *file, heed_onnx_attention_list *list,
                       const heed_onnx_attention *found, heed_error *error) {
  if (!heed_grow(file->context, &list->items, &list->capacity, (size_t)list->count + 1,
                 sizeof *list->items))
    return heed_fail_memory(error, file->name, (size_t)(list->count + 1) * sizeof *list->items);
  list->items[list->count++] = *found;
  return HEED_OK;
}

heed_status heed_onnx_find_attentions(const heed_onnx *file, heed_onnx_attention_list *list,
                                      heed_error *error) {
  static const char *const whole[] = {"Attention", "MultiHeadAttention", NULL};
  const heed_onnx_graph *graph = &file->model.graph;
  for (uint32_t i = 0; i < graph->node_count; i++) {
    const heed_onnx_node *node = &graph->nodes[i];
    heed_onnx_attention found = {.scope = node->name, .node = i};
    if (strcmp(node->op, "Softmax") == 0 && node->input_count == 1 && node->output_count == 1 &&
        reads_scores(file, node->in[0])) {
      found.weights = node->out[0];
      if (weighs_values(file, i, &found)) HEED_TRY(add(file, list, &found, error));
    }
    if (is_one_of(node->op, whole)) HEED_TRY(add(file, list, &found, error));
  }
  return HEED_OK;
}

bool heed_onnx_map_shape(uint64_t batch, uint32_t rank, const uint64_t *dims, uint64_t whole[4]) {
  if (rank < 2 || rank > 3) return false;
  whole[0] = rank == 3 && batch && dims[0] % batch == 0 ? batch : 1;
  whole[1] = rank == 3 ? dims[0] / whole[0] : 1;
  whole[2] = dims[rank - 2];
  whole[3] = dims[rank - 1];
  return true;
}

const char *heed_onnx_attention_name(const heed_onnx *file, uint32_t index) {
  return index < file->attentions->count ? file->attentions->items[index].scope : NULL;
}

void heed_onnx_attention_list_free(const heed_onnx *file, heed_onnx_attention_list *list) {
  heed_free(file->context, list->items);
  *list = (heed_onnx_attention_list){0};
}
