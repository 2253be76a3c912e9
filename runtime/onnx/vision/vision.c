/* Image, layers, grid and classes of a lowered graph. See vision.h. */
#include "onnx/vision/vision.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "base/tensor.h"
#include "graph/graph.h"
#include "graph/ops/linear.h"
#include "graph/ops/matmul.h"
#include "graph/ops/patch_embedding.h"
#include "model/config/unknown_family.h"
#include "onnx/file/file.h"
#include "onnx/lower/lower.h"
#include "onnx/vision/ending.h"
#include "onnx/vision/pixels.h"
#include "onnx/vision/placed.h"
#include "onnx/vision/states.h"
#include "onnx/vision/token_order.h"

#define MOST_PREFIX 16 /* tokens before the patches */

/* One search, and why it fails. */
typedef struct search {
  const heed_onnx *file;
  heed_onnx_lowered *lowered;
  const heed_lower_changes *changes; /* or NULL */
  heed_graph *graph;
  heed_vision *vision;
  heed_error *error;
  heed_token_order order;    /* token NULL: not known */
  uint32_t stage;            /* that is asked for, from 0 on */
  heed_placed_layer *placed; /* [layers], or NULL: maps are those of the image as they are */
  uint32_t joined;           /* attentions that are heads of one layer */
  const bool *of_maps; /* by place in the order of the lowering: made of maps and constants alone */
} search;

/* Of a file that takes nothing else an image may have any number of channels. */
static bool is_image(const search *s, const heed_value_record *record) {
  heed_onnx_port other;
  return record->kind == HEED_VALUE_INPUT && record->dtype == HEED_F32 && record->shape.rank == 4 &&
         (record->shape.dim[1] == 3 || !heed_onnx_takes(s->file, 1, &other));
}

/* The only image among the inputs. */
static heed_status find_image(search *s) {
  heed_vision *vision = s->vision;
  uint32_t count = 0;
  for (uint32_t id = 1; id <= s->graph->value_count; id++) {
    const heed_value_record *record = heed_graph_record(s->graph, id);
    if (!is_image(s, record) || count++) continue;
    vision->image = id;
    vision->batch = record->shape.dim[0];
    vision->channels = record->shape.dim[1];
    vision->height = record->shape.dim[2];
    vision->width = record->shape.dim[3];
  }
  if (count == 1) return HEED_OK;
  *vision = (heed_vision){.parameters = vision->parameters};
  return heed_fail(s->error, HEED_UNSUPPORTED,
                   "%s: no vision transformer (found %u inputs of images [B, C, H, W], expected "
                   "one; heed eval runs the graph)",
                   s->file->name, count);
}

static const heed_lower_value *image_of(const search *s) {
  const heed_lower *l = heed_onnx_lowered_parts(s->lowered);
  for (size_t i = 0; i < l->order_count; i++)
    if (l->order[i]->kind == HEED_LOWER_INPUT && l->order[i]->made.id == s->vision->image)
      return l->order[i];
  return NULL;
}

static heed_status find_pixels(search *s) {
  const heed_lower_value *image = image_of(s);
  return image ? heed_pixels_find(heed_onnx_lowered_parts(s->lowered), image, &s->vision->range,
                                  s->error)
               : HEED_OK;
}

/* The map of an attention as [B, H, Tq, Tk], also where it gives a few rows alone or has five axes;
 * false: it has none. */
static bool find_map(search *s, const heed_token_places *places, uint32_t index, heed_value *map,
                     heed_shape *shape) {
  heed_value_info info;
  *map = heed_onnx_lowered_weights(s->lowered, index);
  *shape = (heed_shape){0};
  if (!map->id || heed_graph_value_info(s->graph, *map, &info) != HEED_OK) return false;
  const bool four = heed_placed_shape(&places[index], &info.shape, shape);
  const heed_lower_changes *c = s->changes;
  if (c && c->rows && !c->placed && index / c->joined < c->layers) shape->dim[2] = c->tokens;
  return four;
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

static heed_status refuse_windows(const search *s, uint32_t index, uint32_t found) {
  return heed_fail(
      s->error, HEED_UNSUPPORTED,
      "%s: attention %u (%.80s) is over windows of the image, or parts of it (found %u "
      "beside each other, expected one for each image; heed eval runs the graph)",
      s->file->name, index, heed_onnx_attention_name(s->file, index), found);
}

static heed_status refuse_tokens(const search *s, uint32_t index, const char *why) {
  return heed_fail(s->error, HEED_UNSUPPORTED,
                   "%s: attention %u (%.80s) is not over the patches of the image (%s; heed eval "
                   "runs the graph)",
                   s->file->name, index, heed_onnx_attention_name(s->file, index), why);
}

/* Whether a map is of as many heads and patches of each image as the first. */
static bool is_alike(const heed_shape *a, const heed_shape *b) {
  return a->dim[1] == b->dim[1] &&
         (uint64_t)a->dim[0] * a->dim[2] == (uint64_t)b->dim[0] * b->dim[2];
}

/* The stage of an attention among the `count` found so far, which begin with the maps of `first`;
 * count: it begins another. */
static uint32_t stage_of(const heed_shape *first, uint32_t count, const heed_shape *shape) {
  uint32_t i = 0;
  while (i < count && !is_alike(&first[i], shape)) i++;
  return i;
}

/* One more layer of the stage that is asked for. */
static heed_status add_placed(search *s, const heed_token_places *places, uint32_t index,
                              const heed_placed_layer *layer, const char *why) {
  heed_vision *vision = s->vision;
  const heed_placed_layer *before = vision->layers ? &s->placed[vision->layers - 1] : NULL;
  if (!why && before && (layer->patch != before->patch || layer->prefix != before->prefix))
    why = "its patches are others";
  if (!why && before && places[index].level <= places[before->attention].level)
    why = "beside it are others";
  if (why) return refuse_tokens(s, index, why);
  s->placed[vision->layers] = *layer;
  s->placed[vision->layers++].attention = index;
  if (vision->order == HEED_ORDER_OWN && !layer->straight) vision->order = HEED_ORDER_CHANGED;
  if (vision->order != HEED_ORDER_MERGED && layer->windows > 1) vision->order = HEED_ORDER_PLACED;
  if (layer->merged > 1) vision->order = HEED_ORDER_MERGED;
  return HEED_OK;
}

static heed_status finish_placed(search *s, uint32_t stages, const heed_shape *first) {
  heed_vision *vision = s->vision;
  if (!vision->layers)
    return heed_fail(s->error, HEED_UNSUPPORTED,
                     "%s: unknown stage (found %u, expected at most %u; heed inspect lists the "
                     "attentions)",
                     s->file->name, s->stage + 1, stages);
  vision->heads = first[s->stage].dim[1];
  vision->tokens = s->placed->windows * first[s->stage].dim[2];
  vision->patch = s->placed->patch;
  vision->prefix_tokens = s->placed->prefix;
  vision->stages = stages;
  vision->joined = s->joined = 1;
  vision->placed = true;
  return HEED_OK;
}

/* Layers over windows and the like, or of a later stage: those of as many heads and patches,
 * wherever they stand. A stage begins with an attention whose tokens have places. */
static heed_status find_placed(search *s, const heed_token_places *places) {
  heed_vision *vision = s->vision;
  heed_lower *l = heed_onnx_lowered_parts(s->lowered);
  heed_shape shape, *first = heed_lower_take(l, l->file->attentions->count, sizeof *first);
  heed_value map;
  uint32_t stages = 0;
  s->placed = heed_lower_take(l, l->file->attentions->count, sizeof *s->placed);
  vision->layers = 0;
  vision->order = HEED_ORDER_OWN;
  for (uint32_t i = 0; l->status == HEED_OK && heed_onnx_attention_name(s->file, i); i++) {
    heed_placed_layer layer;
    if (!find_map(s, places, i, &map, &shape)) return refuse_map(s, i, &shape);
    const uint32_t stage = stage_of(first, stages, &shape);
    if (stage < stages && stage != s->stage) continue;
    const char *why = heed_placed_find(l, &places[i], vision->batch, vision->height, vision->width,
                                       &shape, &layer);
    if (stage == stages && why && i > 0) continue;
    if (stage == stages) first[stages++] = shape;
    if (l->status == HEED_OK && stage == s->stage) HEED_TRY(add_placed(s, places, i, &layer, why));
  }
  return l->status == HEED_OK ? finish_placed(s, stages, first) : l->status;
}

/* Whether an attention is of windows, or of keys that are not its queries, whose places are known.
 * Of the first one it is enough that some are. */
static bool is_placed(search *s, uint32_t index, const heed_token_places *places,
                      const heed_shape *shape) {
  heed_placed_layer layer;
  const heed_vision *vision = s->vision;
  if (shape->dim[0] == vision->batch && shape->dim[2] == shape->dim[3]) return false;
  if (index == 0) return places->count > 0;
  return !heed_placed_find(heed_onnx_lowered_parts(s->lowered), places, vision->batch,
                           vision->height, vision->width, shape, &layer);
}

/* The attentions from the first on that are as the first. None of their kind may follow behind
 * another, as the numbers of layers would then be wrong. */
static heed_status find_layers(search *s, const heed_token_places *places) {
  heed_vision *vision = s->vision;
  heed_shape first = {0}, shape;
  heed_value map;
  if (s->stage) return find_placed(s, places);
  for (uint32_t i = 0; heed_onnx_attention_name(s->file, i); i++) {
    const bool found = find_map(s, places, i, &map, &shape);
    if (i == 0) first = shape;
    if (found && is_alike(&first, &shape) && is_placed(s, i, &places[i], &shape))
      return find_placed(s, places);
    if (i == 0 && found && shape.dim[0] != vision->batch)
      return refuse_windows(s, i, shape.dim[0] / (vision->batch ? vision->batch : 1));
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

/* Whether a value [..., T, T] is the map of one of the layers, also where only rows of it go out;
 * of layers that stand apart, of any attention. */
static bool is_layers(const search *s, uint32_t id) {
  const heed_lower *l = heed_onnx_lowered_parts(s->lowered);
  const uint32_t root = heed_graph_root(s->graph, id),
                 count = s->placed ? l->file->attentions->count : s->vision->layers;
  bool found = false;
  for (uint32_t i = 0; !found && i < count; i++) {
    const heed_value map = heed_onnx_lowered_weights(s->lowered, i);
    const heed_lower_value *whole = l->maps[i];
    if (!whole) continue;
    found = heed_graph_root(s->graph, map.id) == root ||
            (whole->kind != HEED_LOWER_ATTENTION && whole->made.id &&
             heed_graph_root(s->graph, whole->made.id) == root);
  }
  return found;
}

/* Whether the weights of a product are of maps alone, as where heads are mixed behind the softmax,
 * or where the graph makes a rollout of its own. */
static bool is_of_maps(const search *s, const heed_node *node) {
  const heed_lower *l = heed_onnx_lowered_parts(s->lowered);
  for (size_t i = 0; i < l->order_count; i++)
    if (l->order[i]->kind == HEED_LOWER_MATMUL && l->order[i]->made.id == node->output[0])
      return s->of_maps && s->of_maps[l->order[i]->x[0]->at];
  return false;
}

/* Whether the last axes are those of a layer's map. */
static bool may_be_map(const search *s, const heed_shape *shape) {
  const uint32_t least = s->vision->tokens - s->vision->prefix_tokens, most = s->vision->tokens;
  if (shape->rank < 2) return false;
  const uint32_t rows = shape->dim[shape->rank - 2], columns = shape->dim[shape->rank - 1];
  bool is = rows >= least && rows <= most && columns >= least && columns <= most;
  for (uint32_t i = 0; s->placed && !is && i < s->vision->layers; i++) {
    const heed_placed_layer *layer = &s->placed[i];
    const uint32_t each = most / layer->windows;
    is = rows == each && columns == each / (layer->merged * layer->merged);
  }
  return is;
}

/* Tokens that are weighed by others are an attention, whatever makes the weights: a layer whose
 * attention the finder does not name would lack its map. */
static heed_status refuse_unknown(const search *s) {
  for (size_t n = 0; n < s->graph->node_count; n++) {
    const heed_node *node = &s->graph->nodes[n];
    if (node->op != HEED_OP_KIND_matmul) continue;
    const uint32_t weights = node->input[HEED_MATMUL_INPUT_A];
    const heed_shape *shape = &heed_graph_record(s->graph, weights)->shape;
    if (!may_be_map(s, shape) || is_layers(s, weights) || is_of_maps(s, node)) continue;
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

static bool same_places(const heed_place *a, const heed_place *b, uint32_t count) {
  return memcmp(a, b, count * sizeof *a) == 0;
}

/* The patches among the tokens, as the graph leads to each of them from the pixels. */
static heed_status find_order(search *s, const heed_token_places *places) {
  heed_vision *vision = s->vision;
  heed_lower *l = heed_onnx_lowered_parts(s->lowered);
  if (!places[0].count || places[0].count != vision->tokens) return HEED_OK;
  for (uint32_t i = 0; i < vision->layers; i++) {
    heed_token_order other;
    if (!places[i].count) continue;
    if (places[i].apart) return refuse_windows(s, i, vision->heads);
    if (places[i].channels) return refuse_tokens(s, i, "it is over channels, each of all tokens");
    const char *why = heed_token_order_find(l, places[i].query, vision->tokens, vision->height,
                                            vision->width, i ? &other : &s->order);
    if (l->status != HEED_OK) return l->status;
    if (!why && places[i].key && !same_places(places[i].query, places[i].key, vision->tokens))
      why = "its keys lie in another order than its queries";
    if (!why && i && memcmp(other.token, s->order.token, vision->tokens * sizeof *other.token) != 0)
      return find_placed(s, places);
    if (why) return refuse_tokens(s, i, why);
  }
  if (s->order.prefix > MOST_PREFIX)
    return heed_fail(s->error, HEED_UNSUPPORTED,
                     "%s: the attention's tokens are not the patches of the image and at most %u "
                     "before them (found %u tokens of %u x %u pixels; heed eval runs the graph)",
                     s->file->name, MOST_PREFIX, vision->tokens, vision->height, vision->width);
  vision->prefix_tokens = s->order.prefix;
  vision->patch = s->order.patch;
  vision->order = s->order.straight ? HEED_ORDER_OWN : HEED_ORDER_CHANGED;
  return HEED_OK;
}

/* Attentions of which none reads what another gives are heads of one layer, where they read the
 * same state. */
static heed_status find_joined(search *s, const heed_token_places *places) {
  heed_vision *vision = s->vision;
  const heed_lower_value **states = heed_states_find(heed_onnx_lowered_parts(s->lowered));
  if (!states) return heed_onnx_lowered_parts(s->lowered)->status;
  s->joined = 1;
  while (s->joined < vision->layers && places[s->joined].level == places[0].level) s->joined++;
  for (uint32_t i = 0; places[0].level && i < vision->layers; i++) {
    const bool first = i % s->joined == 0;
    const uint32_t before = i ? places[i - 1].level : 0;
    if (vision->layers % s->joined ||
        (first ? places[i].level <= before : places[i].level != before))
      return refuse_tokens(s, i, "beside it are others, and heed cannot tell heads from layers");
    if (!first && states[i] != states[i - 1])
      return refuse_tokens(s, i, "beside it is one of another state, so they are not heads");
  }
  vision->joined = s->joined;
  vision->layers /= s->joined;
  vision->heads *= s->joined;
  return HEED_OK;
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

/* Whether an output is made of maps alone. */
static bool is_map(const search *s, uint32_t id) {
  const heed_lower *l = heed_onnx_lowered_parts(s->lowered);
  for (size_t i = 0; i < l->order_count; i++)
    if (l->order[i]->made.id == id && s->of_maps && s->of_maps[i]) return true;
  return false;
}

/* The logits of an output: what its softmax or sigmoid reads, or itself. */
static heed_value before_ending(search *s, heed_value output) {
  heed_lower *l = heed_onnx_lowered_parts(s->lowered);
  const heed_lower_value *from = NULL, *logits;
  bool minus;
  for (size_t i = 0; i < l->order_count; i++)
    if (l->order[i]->made.id == output.id) from = l->order[i];
  if (!from) return output;
  logits = heed_ending_logits(l, from, &s->vision->each_class, &minus);
  if (!minus) return logits->made;
  static const float factor = -1.0f;
  const heed_multiply_desc desc = {sizeof desc, logits->made,
                                   heed_lower_emit_vector(l, &factor, 1)};
  return heed_define_multiply(s->graph, &desc);
}

/* The output [B, classes]: the only one but for maps; of others the one that is called so. */
static void name_logits(search *s) {
  heed_graph *graph = s->graph;
  heed_value found = heed_graph_find(graph, "logits"), other = {0};
  uint32_t outputs = 0;
  for (uint32_t id = 1; id <= graph->value_count; id++) {
    if (!graph->values[id - 1].output || is_map(s, id)) continue;
    outputs++;
    other.id = id;
  }
  if (outputs == 1) found = other;
  if (!found.id) return;
  const heed_value_record *record = heed_graph_record(graph, found.id);
  const bool embeds =
      record->name && (strstr(record->name, "embed") || strstr(record->name, "feat"));
  if (!record->output || record->shape.rank != 2 || embeds) return;
  const heed_shape shape = record->shape;
  heed_value logits = before_ending(s, found);
  s->vision->classes = shape.dim[1];
  if (logits.id != found.id && record->name && strcmp(record->name, "logits") == 0)
    heed_graph_name(graph, found, "probabilities");
  if (!heed_shape_equal(&heed_graph_record(graph, logits.id)->shape, &shape))
    logits = heed_define_reshape(graph, logits, &shape);
  heed_graph_name(graph, logits, "logits");
  heed_graph_output(graph, logits);
}

/* What is made of maps and constants alone, in the arena of the lowering. */
static const bool *find_of_maps(const search *s) {
  heed_lower *l = heed_onnx_lowered_parts(s->lowered);
  bool *of_maps = heed_lower_take(l, l->order_count + 1, sizeof *of_maps);
  for (size_t i = 0; of_maps && i < l->order_count; i++) {
    const heed_lower_value *v = l->order[i];
    bool any = v->kind == HEED_LOWER_SOFTMAX && (v->owner || v->axis != UINT32_MAX), all = true;
    const bool is_map = any;
    for (uint32_t k = 0; k < v->count && !is_map; k++) {
      const bool is = of_maps[v->x[k]->at];
      any = any || is;
      all = all && (is || v->x[k]->kind == HEED_LOWER_CONSTANT);
    }
    of_maps[i] = any && all;
  }
  return of_maps;
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
    heed_value attended = heed_graph_find(graph, name);
    snprintf(name, sizeof name, "layer.%u.attention.changed", (unsigned)layer);
    const heed_value changed = heed_graph_find(graph, name);
    if (changed.id) attended = (heed_value){heed_graph_root(graph, changed.id)};
    const uint32_t output = attended.id ? output_of(graph, attended.id) : 0;
    snprintf(name, sizeof name, "layer.%u.output", (unsigned)layer);
    if (output && !graph->values[output - 1].output)
      heed_graph_name(graph, (heed_value){output}, name);
  }
}

/* Image, layers and grid, or a sentence. */
static heed_status find_parts(search *s) {
  heed_value_info info;
  heed_token_places *places;
  heed_vision *vision = s->vision;
  HEED_TRY(find_image(s));
  HEED_TRY(find_pixels(s));
  HEED_TRY(heed_places_find(heed_onnx_lowered_parts(s->lowered), image_of(s), &places));
  HEED_TRY(find_layers(s, places));
  if (!s->placed) HEED_TRY(find_order(s, places));
  HEED_TRY(refuse_unknown(s));
  if (!s->placed) HEED_TRY(find_joined(s, places));
  for (uint32_t i = 0; i < s->file->attentions->count; i++)
    vision->mixed = vision->mixed || s->file->attentions->items[i].heads_mixed;
  const uint32_t index = s->placed ? s->placed->attention : 0;
  char name[48];
  snprintf(name, sizeof name, "layer.%u.attention.output", (unsigned)index);
  if (heed_graph_value_info(s->graph, heed_graph_find(s->graph, name), &info) == HEED_OK)
    vision->states = s->joined * info.shape.dim[info.shape.rank - 1];
  else
    vision->states = s->joined * heed_lower_heads_width(heed_onnx_lowered_parts(s->lowered), index);
  if (s->order.token || s->placed) return HEED_OK;
  vision->order = HEED_ORDER_ASSUMED;
  return find_grid(s);
}

heed_status heed_vision_find(const heed_onnx *file, heed_onnx_lowered *lowered, uint32_t stage,
                             const heed_lower_changes *changes, heed_vision *vision,
                             heed_error *error) {
  heed_error own;
  search s = {.file = file,
              .lowered = lowered,
              .changes = changes,
              .stage = stage ? stage - 1 : 0,
              .graph = heed_onnx_lowered_graph(lowered),
              .vision = vision,
              .error = error ? error : &own};
  heed_lower *l = heed_onnx_lowered_parts(lowered);
  l->error = l->call.error = s.error;
  s.of_maps = find_of_maps(&s);
  *vision = (heed_vision){.stage = stage};
  for (uint32_t id = 1; id <= s.graph->value_count; id++) {
    const heed_value_record *record = heed_graph_record(s.graph, id);
    if (record->kind == HEED_VALUE_CONSTANT) vision->parameters += heed_shape_count(&record->shape);
  }
  const heed_status status = find_parts(&s);
  if (status != HEED_OK) {
    vision->patch = vision->layers = vision->heads = vision->tokens = 0;
    vision->prefix_tokens = vision->pool_heads = vision->states = 0;
  }
  if (vision->image) name_logits(&s);
  if (s.joined <= 1 && !s.placed) name_layers(s.graph, vision);
  if (status == HEED_OK && s.placed)
    heed_placed_apply(l, s.placed, vision->layers, vision->tokens, changes ? changes->rows : NULL,
                      changes ? changes->row_count : 0);
  else if (status == HEED_OK)
    heed_token_order_apply(l, &s.order, vision->tokens, vision->layers, s.joined,
                           changes && changes->rows);
  l->error = l->call.error = NULL;
  return status == HEED_OK ? heed_graph_status(s.graph, error) : status;
}
