/* Image, layers, grid and classes of a lowered graph. See vision.h. */
#include "onnx/vision.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "base/tensor.h"
#include "graph/graph.h"
#include "graph/ops/linear.h"
#include "graph/ops/matmul.h"
#include "graph/ops/patch_embedding.h"
#include "onnx/file.h"
#include "onnx/lower.h"
#include "onnx/pixels.h"

#define MOST_PREFIX 16 /* tokens before the patches */

/* One search, and why it fails. */
typedef struct search {
  const heed_onnx *file;
  heed_onnx_lowered *lowered;
  heed_graph *graph;
  heed_vision *vision;
  heed_error *error;
} search;

static bool is_image(const heed_value_record *record) {
  return record->kind == HEED_VALUE_INPUT && record->shape.rank == 4 && record->shape.dim[1] == 3;
}

/* The only image among the inputs. */
static heed_status find_image(search *s) {
  heed_vision *vision = s->vision;
  uint32_t count = 0;
  for (uint32_t id = 1; id <= s->graph->value_count; id++) {
    const heed_value_record *record = heed_graph_record(s->graph, id);
    if (!is_image(record) || count++) continue;
    vision->image = id;
    vision->batch = record->shape.dim[0];
    vision->channels = record->shape.dim[1];
    vision->height = record->shape.dim[2];
    vision->width = record->shape.dim[3];
  }
  if (count == 1) return HEED_OK;
  *vision = (heed_vision){.parameters = vision->parameters};
  return heed_fail(s->error, HEED_UNSUPPORTED,
                   "%s: no vision transformer (found %u inputs of images [B, 3, H, W], expected "
                   "one; heed eval runs the graph)",
                   s->file->name, count);
}

static heed_status find_pixels(search *s) {
  heed_lower *l = heed_onnx_lowered_parts(s->lowered);
  for (size_t i = 0; i < l->order_count; i++)
    if (l->order[i]->kind == HEED_LOWER_INPUT && l->order[i]->made.id == s->vision->image)
      return heed_pixels_find(l, l->order[i], &s->vision->range, s->error);
  return HEED_OK;
}

/* The map of an attention as [B, H, Tq, Tk]; false: it has none. */
static bool find_map(search *s, uint32_t index, heed_value *map, heed_shape *shape) {
  heed_value_info info;
  *map = heed_onnx_lowered_weights(s->lowered, index);
  *shape = (heed_shape){0};
  if (!map->id || heed_graph_value_info(s->graph, *map, &info) != HEED_OK) return false;
  *shape = info.shape;
  const uint32_t batch = s->vision->batch;
  if (shape->rank == 3 && batch && shape->dim[0] % batch == 0) {
    const heed_shape whole = HEED_SHAPE(batch, shape->dim[0] / batch, shape->dim[1], shape->dim[2]);
    *map = heed_define_reshape(s->graph, *map, &whole);
    *shape = whole;
  }
  return map->id && shape->rank == 4;
}

static void name_part(search *s, const char *from, uint32_t layer, const char *part) {
  char name[48], own[48];
  snprintf(own, sizeof own, "layer.%u.%s", (unsigned)layer, part);
  snprintf(name, sizeof name, "%s.%s", from, part);
  heed_graph_name(s->graph, heed_graph_find(s->graph, own), name);
}

/* An attention of one query behind the layers: that of a pooling token. */
static void take_pool(search *s, uint32_t index, const heed_shape *shape) {
  static const char *const parts[] = {
      "query", "key", "value", "attention.weights", "attention.logits", "attention.output"};
  char name[48];
  snprintf(name, sizeof name, "layer.%u.attention.weights", (unsigned)index);
  if (!heed_graph_find(s->graph, name).id) return; /* it is in general ops */
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) name_part(s, "pool", index, parts[i]);
  s->vision->pool_heads = shape->dim[1];
}

static heed_status refuse_map(const search *s, uint32_t index, const heed_shape *found) {
  char text[HEED_SHAPE_TEXT_SIZE] = "none";
  if (found->rank) heed_shape_text(found, text);
  return heed_fail(s->error, HEED_UNSUPPORTED,
                   "%s: attention %u (%.80s) has no map of the tokens of an image (found %s, "
                   "expected [B, H, T, T] of every layer; heed eval runs the graph)",
                   s->file->name, index, heed_onnx_attention_name(s->file, index), text);
}

/* The attentions from the first on that are as the first. None of their kind may follow behind
 * another, as the numbers of layers would then be wrong. */
static heed_status find_layers(search *s) {
  heed_vision *vision = s->vision;
  heed_shape first = {0}, shape;
  heed_value map;
  for (uint32_t i = 0; heed_onnx_attention_name(s->file, i); i++) {
    const bool found = find_map(s, i, &map, &shape);
    if (i == 0) first = shape;
    const bool same = found && heed_shape_equal(&first, &shape) && shape.dim[2] == shape.dim[3];
    if (!found || (same && i != vision->layers) || (i == 0 && !same))
      return refuse_map(s, i, &shape);
    if (same) {
      char name[48];
      snprintf(name, sizeof name, "layer.%u.attention.weights", (unsigned)i);
      heed_graph_name(s->graph, map, name);
      vision->layers++;
    } else if (i == vision->layers && shape.dim[2] == 1 && shape.dim[3] <= first.dim[2] &&
               !heed_onnx_attention_name(s->file, i + 1)) {
      take_pool(s, i, &shape);
    }
  }
  if (!vision->layers)
    return heed_fail(s->error, HEED_UNSUPPORTED,
                     "%s: no vision transformer (found no attention, expected one in each layer; "
                     "heed eval runs the graph)",
                     s->file->name);
  vision->heads = first.dim[1];
  vision->tokens = first.dim[2];
  return HEED_OK;
}

/* Whether a value [..., T, T] is the map of one of the layers. */
static bool is_layers(const search *s, uint32_t id) {
  bool found = false;
  for (uint32_t i = 0; !found && i < s->vision->layers; i++) {
    const heed_value map = heed_onnx_lowered_weights(s->lowered, i);
    found = heed_graph_root(s->graph, map.id) == heed_graph_root(s->graph, id);
  }
  return found;
}

/* Tokens that are weighed by others are an attention, whatever makes the weights: a layer whose
 * attention the finder does not name would lack its map. */
static heed_status refuse_unknown(const search *s) {
  for (size_t n = 0; n < s->graph->node_count; n++) {
    const heed_node *node = &s->graph->nodes[n];
    if (node->op != HEED_OP_KIND_matmul) continue;
    const uint32_t weights = node->input[HEED_MATMUL_INPUT_A];
    const heed_shape *shape = &heed_graph_record(s->graph, weights)->shape;
    if (shape->rank < 2 || shape->dim[shape->rank - 1] != s->vision->tokens ||
        shape->dim[shape->rank - 2] != s->vision->tokens || is_layers(s, weights))
      continue;
    return heed_fail(s->error, HEED_UNSUPPORTED,
                     "%s: a layer would lack its map: weights of all tokens are no softmax of the "
                     "%u attentions that were found (heed eval runs the graph)",
                     s->file->name, s->vision->layers);
  }
  return HEED_OK;
}

/* The patch of the convolution that reads the image, whose kernel is its stride; 0: none does. */
static uint32_t find_patch(const search *s) {
  for (size_t n = 0; n < s->graph->node_count; n++) {
    const heed_node *node = &s->graph->nodes[n];
    if (node->op != HEED_OP_KIND_patch_embedding) continue;
    const uint32_t weight = node->input[HEED_PATCH_EMBEDDING_INPUT_WEIGHT];
    const heed_shape *shape = &heed_graph_record(s->graph, weight)->shape;
    if (heed_graph_root(s->graph, node->input[HEED_PATCH_EMBEDDING_INPUT_IMAGE]) ==
        s->vision->image)
      return shape->dim[2] == shape->dim[3] ? shape->dim[2] : 0;
  }
  return 0;
}

static bool try_grid(heed_vision *vision, uint32_t patch, uint32_t prefix) {
  if (vision->height % patch || vision->width % patch || prefix >= vision->tokens) return false;
  const uint64_t patches = (uint64_t)(vision->height / patch) * (vision->width / patch);
  if (patches != vision->tokens - prefix) return false;
  vision->patch = patch;
  vision->prefix_tokens = prefix;
  return true;
}

static heed_status find_grid(search *s) {
  heed_vision *vision = s->vision;
  const uint32_t known = find_patch(s), least = known ? known : 2,
                 most = known                            ? known
                        : vision->height < vision->width ? vision->height
                                                         : vision->width;
  for (uint32_t prefix = 0; prefix <= MOST_PREFIX; prefix++)
    for (uint32_t patch = least; patch <= most; patch++)
      if (try_grid(vision, patch, prefix)) return HEED_OK;
  return heed_fail(s->error, HEED_UNSUPPORTED,
                   "%s: the attention's tokens are not the patches of the image and at most %u "
                   "before them (found %u tokens of %u x %u pixels; heed eval runs the graph)",
                   s->file->name, MOST_PREFIX, vision->tokens, vision->height, vision->width);
}

/* Whether an output may be the map of an attention, of one head or of several layers. */
static bool is_square(const heed_shape *shape) {
  return shape->rank >= 3 && shape->dim[shape->rank - 1] == shape->dim[shape->rank - 2];
}

/* The output [B, classes]: the only one but for maps; of others the one that is called so. */
static void name_logits(heed_graph *graph, heed_vision *vision) {
  heed_value found = heed_graph_find(graph, "logits"), other = {0};
  uint32_t outputs = 0;
  for (uint32_t id = 1; id <= graph->value_count; id++) {
    if (!graph->values[id - 1].output || is_square(&graph->values[id - 1].shape)) continue;
    outputs++;
    other.id = id;
  }
  if (outputs == 1) found = other;
  if (!found.id) return;
  const heed_value_record *record = heed_graph_record(graph, found.id);
  const bool embeds =
      record->name && (strstr(record->name, "embed") || strstr(record->name, "feat"));
  if (!record->output || record->shape.rank != 2 || embeds) return;
  vision->classes = record->shape.dim[1];
  heed_graph_name(graph, found, "logits");
}

/* What a layer gives: the last sum with the state that its attention's projection made. */
static uint32_t output_of(const heed_graph *graph, uint32_t attended) {
  uint32_t state = 0, found = 0;
  for (size_t n = 0; n < graph->node_count; n++) {
    const heed_node *node = &graph->nodes[n];
    if (node->op != HEED_OP_KIND_linear) continue;
    const uint32_t residual = node->input[HEED_LINEAR_INPUT_RESIDUAL];
    if (residual && heed_graph_root(graph, node->input[HEED_LINEAR_INPUT_X]) == attended)
      state = node->output[0];
    if (state && residual && heed_graph_root(graph, residual) == heed_graph_root(graph, state))
      found = node->output[0];
  }
  return found;
}

static void name_layers(heed_graph *graph, const heed_vision *vision) {
  for (uint32_t layer = 0; layer < vision->layers; layer++) {
    char name[48];
    snprintf(name, sizeof name, "layer.%u.attention.output", (unsigned)layer);
    const heed_value attended = heed_graph_find(graph, name);
    const uint32_t output = attended.id ? output_of(graph, attended.id) : 0;
    snprintf(name, sizeof name, "layer.%u.output", (unsigned)layer);
    if (output && !graph->values[output - 1].output)
      heed_graph_name(graph, (heed_value){output}, name);
  }
}

/* Image, layers and grid, or a sentence. */
static heed_status find_parts(search *s) {
  heed_value_info info;
  HEED_TRY(find_image(s));
  HEED_TRY(find_pixels(s));
  HEED_TRY(find_layers(s));
  HEED_TRY(refuse_unknown(s));
  if (heed_graph_value_info(s->graph, heed_graph_find(s->graph, "layer.0.attention.output"),
                            &info) == HEED_OK)
    s->vision->states = info.shape.dim[info.shape.rank - 1];
  return find_grid(s);
}

heed_status heed_vision_find(const heed_onnx *file, heed_onnx_lowered *lowered, heed_vision *vision,
                             heed_error *error) {
  heed_error own;
  search s = {file, lowered, heed_onnx_lowered_graph(lowered), vision, error ? error : &own};
  *vision = (heed_vision){0};
  for (uint32_t id = 1; id <= s.graph->value_count; id++) {
    const heed_value_record *record = heed_graph_record(s.graph, id);
    if (record->kind == HEED_VALUE_CONSTANT) vision->parameters += heed_shape_count(&record->shape);
  }
  const heed_status status = find_parts(&s);
  if (status != HEED_OK) {
    vision->patch = vision->layers = vision->heads = vision->tokens = 0;
    vision->prefix_tokens = vision->pool_heads = vision->states = 0;
  }
  if (vision->image) name_logits(s.graph, vision);
  name_layers(s.graph, vision);
  return status == HEED_OK ? heed_graph_status(s.graph, error) : status;
}
