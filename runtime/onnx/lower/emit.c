/* Expressions as a graph of heed: those that something needs, in the order in which they were made.
 * An activation and a residual become part of the linear map before them. See lower.h. */
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/status.h"
#include "base/utf8.h"
#include "onnx/lower/lower.h"

typedef heed_lower_value value;

heed_shape heed_lower_shape(heed_lower *l, const value *v) {
  heed_shape shape = {.rank = v->rank};
  if (v->rank > HEED_MAX_RANK) {
    heed_lower_refuse(l, HEED_UNSUPPORTED, "values of %u axes have no kernel", v->rank);
    return (heed_shape){0};
  }
  for (uint32_t i = 0; i < v->rank; i++) shape.dim[i] = (uint32_t)v->dims[i];
  if (v->rank == 0) shape = (heed_shape){1, {1}};
  return shape;
}

/* ----------------------------------------------------------------------------------- constants */

heed_value heed_lower_emit_vector(heed_lower *l, const float *data, uint64_t count) {
  if (!data) return (heed_value){0};
  const heed_constant_desc desc = {sizeof desc, NULL, HEED_F32, {1, {(uint32_t)count}},
                                   data,        NULL, NULL};
  return heed_define_constant(l->graph, &desc);
}

heed_value heed_lower_emit_rows(heed_lower *l, const heed_lower_matrix *matrix, heed_shape shape) {
  heed_lower_matrix *kept = heed_lower_take(l, 1, sizeof *kept);
  if (!kept) return (heed_value){0};
  *kept = *matrix;
  const heed_constant_desc desc = {sizeof desc, NULL, HEED_F32, shape, NULL, heed_lower_read_matrix,
                                   kept};
  return heed_define_constant(l->graph, &desc);
}

static heed_value emit_constant(heed_lower *l, value *v) {
  const float *floats = heed_lower_floats(l, v);
  if (!floats) return (heed_value){0};
  const heed_constant_desc desc = {sizeof desc, NULL, HEED_F32, heed_lower_shape(l, v),
                                   floats,      NULL, NULL};
  return heed_define_constant(l->graph, &desc);
}

/* ------------------------------------------------------------------------------- maps and norms */

static heed_value emit_linear(heed_lower *l, const value *v, heed_activation activation,
                              heed_value residual) {
  const heed_lower_matrix *m = v->matrix;
  const heed_shape shape = {2, {(uint32_t)m->rows, (uint32_t)m->columns}};
  const heed_linear_desc desc = {.struct_size = sizeof desc,
                                 .x = v->x[0]->made,
                                 .weight = heed_lower_emit_rows(l, m, shape),
                                 .bias = heed_lower_emit_vector(l, m->bias, m->rows),
                                 .residual = residual,
                                 .activation = activation};
  return heed_define_linear(l->graph, &desc);
}

static heed_value emit_patches(heed_lower *l, const value *v) {
  const heed_lower_matrix *m = v->matrix;
  const uint32_t side = (uint32_t)v->first;
  const heed_shape shape = {4,
                            {(uint32_t)m->rows, (uint32_t)(m->columns / side / side), side, side}};
  const heed_patch_embedding_desc desc = {sizeof desc, v->x[0]->made,
                                          heed_lower_emit_rows(l, m, shape),
                                          heed_lower_emit_vector(l, m->bias, m->rows)};
  return heed_define_patch_embedding(l->graph, &desc);
}

static heed_value emit_norm(heed_lower *l, const value *v) {
  const uint64_t width = v->dims[v->rank - 1];
  const float *gain = v->gain;
  if (!gain) {
    float *ones = heed_lower_take(l, width, sizeof *ones);
    for (uint64_t i = 0; ones && i < width; i++) ones[i] = 1.0f;
    gain = ones;
  }
  const heed_layer_norm_desc desc = {sizeof desc,
                                     v->x[0]->made,
                                     heed_lower_emit_vector(l, gain, width),
                                     heed_lower_emit_vector(l, v->bias, width),
                                     (float)v->factor,
                                     v->rms};
  return heed_define_layer_norm(l->graph, &desc);
}

/* ----------------------------------------------------------------------------------- attention */

static void name_of(heed_lower *l, heed_value v, uint32_t layer, const char *what) {
  char text[64];
  snprintf(text, sizeof text, "layer.%u.%s", layer, what);
  heed_graph_name(l->graph, v, text);
}

static heed_value emit_attention(heed_lower *l, value *v) {
  const heed_lower_attention *a = v->attention;
  heed_value qkv[3];
  heed_lower_emit_heads(l, v, qkv);
  const bool causal = a->causal, window = a->left >= 0 || a->right >= 0;
  heed_attention_desc desc = {
      .struct_size = sizeof desc,
      .query = qkv[0],
      .key = qkv[1],
      .value = qkv[2],
      .bias = a->bias ? a->bias->made : (heed_value){0},
      .scale = (float)a->scale,
      .softcap = (float)a->softcap,
      .causal = causal ? HEED_CAUSAL_TOP_LEFT : HEED_CAUSAL_NONE,
      .window = window,
      .window_left = window ? (int32_t)(a->left < INT32_MAX ? a->left : -1) : 0,
      .window_right = window ? (int32_t)(a->right < INT32_MAX ? a->right : -1) : 0,
      .causal_offset = causal || window ? (int32_t)a->offset : 0,
      .empty_row = a->nan_rows ? HEED_EMPTY_ROW_NAN : HEED_EMPTY_ROW_ZERO,
      .merge_heads = true};
  heed_lower_change_scores(l, v, &desc);
  const heed_attention_values values = heed_define_attention(l->graph, &desc);
  v->weights = values.weights;
  if (a->found == UINT32_MAX) return values.output;
  static const char *const names[] = {"query", "key", "value"};
  for (uint32_t p = 0; p < 3; p++) {
    heed_value_info info;
    if (heed_graph_value_info(l->graph, qkv[p], &info) == HEED_OK && !*info.name &&
        !info.is_constant)
      name_of(l, qkv[p], a->found, names[p]);
  }
  name_of(l, values.weights, a->found, "attention.weights");
  name_of(l, values.logits, a->found, "attention.logits");
  name_of(l, values.output, a->found, "attention.output");
  const heed_value changed = heed_lower_change_heads(l, v, values.output);
  if (changed.id != values.output.id) name_of(l, changed, a->found, "attention.changed");
  heed_graph_stage(l->graph, a->found + 1);
  return changed;
}

/* ------------------------------------------------------------------------------------- layout */

static heed_value emit_slice(heed_lower *l, const value *v) {
  const value *x = v->x[0];
  uint64_t before = 1, after = 1;
  for (uint32_t i = 0; i < v->axis; i++) before *= x->dims[i];
  for (uint32_t i = v->axis + 1; i < x->rank; i++) after *= x->dims[i];
  const heed_shape shape = heed_lower_shape(l, v),
                   three = {3, {(uint32_t)before, (uint32_t)x->dims[v->axis], (uint32_t)after}};
  if (before == 1 && x->kind != HEED_LOWER_CONSTANT)
    return heed_define_view(l->graph, x->made, v->first * after, &shape);
  if (before > UINT32_MAX || after > UINT32_MAX) return (heed_value){0};
  const heed_select_rows_desc desc = {sizeof desc, heed_define_reshape(l->graph, x->made, &three),
                                      (uint32_t)v->first, (uint32_t)v->dims[v->axis]};
  return heed_define_reshape(l->graph, heed_define_select_rows(l->graph, &desc), &shape);
}

static heed_value emit_concat(heed_lower *l, const value *v) {
  heed_value whole = v->x[0]->made;
  for (uint32_t i = 1; i < v->count;) {
    heed_concat_desc desc = {sizeof desc, {whole}, 1, v->axis};
    while (i < v->count && desc.count < HEED_CONCAT_MAX) desc.x[desc.count++] = v->x[i++]->made;
    whole = heed_define_concat(l->graph, &desc);
  }
  return whole;
}

static heed_value emit_permute(heed_lower *l, const value *v) {
  heed_permute_desc desc = {sizeof desc, v->x[0]->made, {0}};
  for (uint32_t i = 0; i < v->rank && i < HEED_MAX_RANK; i++) desc.order[i] = v->order[i];
  heed_lower_shape(l, v);
  return heed_define_permute(l->graph, &desc);
}

static heed_value emit_scale(heed_lower *l, const value *v) {
  float *factor = heed_lower_take(l, 1, sizeof *factor);
  if (!factor) return (heed_value){0};
  *factor = (float)v->factor;
  const heed_multiply_desc desc = {sizeof desc, v->x[0]->made,
                                   heed_lower_emit_vector(l, factor, 1)};
  return heed_define_multiply(l->graph, &desc);
}

static heed_value emit_rotary(heed_lower *l, const value *v) {
  const heed_rotary_desc desc = {.struct_size = sizeof desc,
                                 .x = v->x[0]->made,
                                 .cos = v->x[1]->made,
                                 .sin = v->x[2]->made,
                                 .interleaved = v->function != 0};
  return heed_define_rotary(l->graph, &desc);
}

/* ---------------------------------------------------------------------------------- arithmetic */

/* The linear map that a sum or activation takes over, perhaps behind a reshape. */
static value *absorbed_in(const value *x) {
  const value *from = x->kind == HEED_LOWER_RESHAPE && x->absorbed ? x->x[0] : x;
  return from->kind == HEED_LOWER_LINEAR && from->absorbed ? (value *)from : NULL;
}

static heed_value emit_binary(heed_lower *l, const value *v) {
  const heed_shape shape = heed_lower_shape(l, v);
  for (int k = 0; k < 2 && v->function == HEED_LOWER_ADD; k++) {
    const value *linear = absorbed_in(v->x[k]);
    if (!linear) continue;
    const heed_shape inner = heed_lower_shape(l, linear);
    const heed_value residual = heed_define_reshape(l->graph, v->x[1 - k]->made, &inner);
    return heed_define_reshape(l->graph, emit_linear(l, linear, HEED_ACTIVATION_NONE, residual),
                               &shape);
  }
  for (int k = 0; k < 2; k++) {
    const value *whole = v->x[k], *other = v->x[1 - k];
    if (whole->rank != v->rank || memcmp(whole->dims, v->dims, v->rank * sizeof *v->dims) != 0)
      continue;
    const heed_add_desc desc = {sizeof desc, whole->made, other->made};
    if (v->function == HEED_LOWER_ADD) return heed_define_add(l->graph, &desc);
    if (v->function == HEED_LOWER_MULTIPLY) return heed_define_multiply(l->graph, &desc);
  }
  return heed_lower_emit_general(l, v);
}

static heed_value emit_activation(heed_lower *l, const value *v) {
  const value *linear = absorbed_in(v->x[0]);
  if (linear) return emit_linear(l, linear, (heed_activation)v->function, (heed_value){0});
  const heed_activation_desc desc = {sizeof desc, v->x[0]->made, (heed_activation)v->function,
                                     HEED_ACTIVATION_VALUE};
  return heed_define_activation(l->graph, &desc);
}

static heed_value emit_softmax(heed_lower *l, const value *v) {
  if (v->owner) {
    const heed_shape shape = heed_lower_shape(l, v);
    return heed_define_reshape(l->graph, v->owner->weights, &shape);
  }
  const heed_value changed = heed_lower_change_softmax(l, v);
  if (changed.id) return changed;
  const heed_softmax_desc desc = {sizeof desc, v->x[0]->made};
  return heed_define_softmax(l->graph, &desc);
}

static heed_value emit(heed_lower *l, value *v) {
  const heed_shape shape = heed_lower_shape(l, v);
  switch (v->kind) {
    case HEED_LOWER_INPUT:
      return heed_define_input(l->graph, l->file->makers[v->input].name, HEED_F32, &shape);
    case HEED_LOWER_CONSTANT: return emit_constant(l, v);
    case HEED_LOWER_LINEAR: return emit_linear(l, v, HEED_ACTIVATION_NONE, (heed_value){0});
    case HEED_LOWER_PATCHES: return emit_patches(l, v);
    case HEED_LOWER_NORM: return emit_norm(l, v);
    case HEED_LOWER_ACTIVATION: return emit_activation(l, v);
    case HEED_LOWER_ATTENTION: return emit_attention(l, v);
    case HEED_LOWER_SOFTMAX: return emit_softmax(l, v);
    case HEED_LOWER_SCALE: return emit_scale(l, v);
    case HEED_LOWER_RESHAPE: return heed_define_reshape(l->graph, v->x[0]->made, &shape);
    case HEED_LOWER_PERMUTE: return emit_permute(l, v);
    case HEED_LOWER_SLICE: return emit_slice(l, v);
    case HEED_LOWER_CONCAT: return emit_concat(l, v);
    case HEED_LOWER_BINARY: return emit_binary(l, v);
    case HEED_LOWER_ROTARY: return emit_rotary(l, v);
    case HEED_LOWER_HOST: return heed_lower_emit_host(l, v);
    case HEED_LOWER_HOST_RESULT: return heed_lower_host_result(v);
    default: return heed_lower_emit_general(l, v);
  }
}

/* --------------------------------------------------------------------------------------- needs */

static void use(value *v, value *consumer) {
  v->uses++;
  v->consumer = consumer;
}

static void use_all(heed_lower *l) {
  for (size_t i = l->order_count; i-- > 0;) {
    value *v = l->order[i];
    for (uint32_t k = 0; k < v->count && !v->owner; k++) use(v->x[k], v);
    if (v->owner) use(v->owner, v);
  }
}

/* Whether a sigmoid is all but an output: its input, the logits, is a value of its own then. */
static bool is_last(const value *v) {
  while (v->consumer && v->uses == 1 && v->consumer->kind == HEED_LOWER_RESHAPE) v = v->consumer;
  return !v->consumer && v->uses == 1;
}

/* The sum or activation that can take a map's work over. */
static void absorb(value *linear) {
  value *by = linear->consumer, *through = NULL;
  if (linear->uses != 1 || !by) return;
  if (by->kind == HEED_LOWER_RESHAPE && by->uses == 1 && by->consumer) {
    through = by;
    by = by->consumer;
  }
  const bool sum = by->kind == HEED_LOWER_BINARY && by->function == HEED_LOWER_ADD &&
                   heed_lower_size(by) == heed_lower_size(linear);
  if (sum) {
    const value *other = by->x[by->x[0] == (through ? through : linear)];
    if (other->kind == HEED_LOWER_CONSTANT || heed_lower_size(other) != heed_lower_size(by) ||
        absorbed_in(other))
      return;
  } else if (through || by->kind != HEED_LOWER_ACTIVATION || is_last(by)) {
    return;
  }
  linear->absorbed = true;
  if (through) through->absorbed = true;
}

/* What is wanted: the outputs, and the weights of attentions. */
static heed_status use_roots(heed_lower *l, bool attentions) {
  const heed_onnx_graph *graph = &l->file->model.graph;
  const heed_onnx_attention_list *list = l->file->attentions;
  l->maps = heed_lower_take(l, list->count, sizeof *l->maps);
  if (!l->maps) return l->status;
  for (size_t i = 0; i < l->value_count; i++) {
    value *v = l->values[i];
    if (v->kind == HEED_LOWER_ATTENTION && v->attention->found != UINT32_MAX)
      l->maps[v->attention->found] = v;
    if (v->kind == HEED_LOWER_SOFTMAX && v->axis != UINT32_MAX && !v->owner) l->maps[v->axis] = v;
  }
  for (uint32_t i = 0; i < list->count; i++) {
    value *mixed = list->items[i].weights && l->maps[i] && l->maps[i]->kind == HEED_LOWER_SOFTMAX
                       ? heed_lower_bound(l, list->items[i].weights)
                       : NULL;
    if (mixed && mixed->kind != HEED_LOWER_CONSTANT && mixed->rank >= 2) l->maps[i] = mixed;
  }
  for (uint32_t i = 0; i < graph->output_count; i++) {
    value *v = heed_lower_bound(l, graph->outputs[i].id);
    if (v && v->kind != HEED_LOWER_CONSTANT && !v->array) use(v, NULL);
  }
  for (uint32_t i = 0; attentions && i < list->count; i++)
    if (l->maps[i]) use(l->maps[i], NULL);
  return HEED_OK;
}

static heed_status name_outputs(heed_lower *l) {
  const heed_onnx_graph *graph = &l->file->model.graph;
  for (uint32_t i = 0; i < graph->output_count; i++) {
    const value *v = heed_lower_bound(l, graph->outputs[i].id);
    heed_value_info info;
    if (!v || v->kind == HEED_LOWER_CONSTANT || v->array) continue;
    if (heed_graph_value_info(l->graph, v->made, &info) != HEED_OK) continue;
    if (info.is_constant)
      return heed_fail(l->error, HEED_UNSUPPORTED, "%s: output %.*s is a constant", l->file->name,
                       heed_utf8_cut(graph->outputs[i].name, 100), graph->outputs[i].name);
    if (!*info.name && !heed_graph_find(l->graph, graph->outputs[i].name).id)
      heed_graph_name(l->graph, v->made, graph->outputs[i].name);
    heed_graph_output(l->graph, v->made);
  }
  return HEED_OK;
}

/* Maps that are a softmax, with the axes of the others. */
static void shape_maps(heed_lower *l) {
  for (uint32_t i = 0; i < l->file->attentions->count && l->status == HEED_OK; i++) {
    value *map = l->maps[i];
    uint64_t whole[4];
    if (!map || map->kind == HEED_LOWER_ATTENTION) continue;
    map->weights = map->made;
    if (!map->made.id || !heed_onnx_map_shape(l->batch, map->rank, map->dims, whole)) continue;
    const heed_shape shape = {
        4, {(uint32_t)whole[0], (uint32_t)whole[1], (uint32_t)whole[2], (uint32_t)whole[3]}};
    map->weights = heed_define_reshape(l->graph, map->made, &shape);
    l->status = heed_graph_status(l->graph, l->error);
  }
}

heed_value heed_lower_weights(const heed_lower *l, uint32_t index) {
  HEED_ASSERT(index < l->file->attentions->count);
  const value *map = l->maps ? l->maps[index] : NULL;
  return map ? map->weights : (heed_value){0};
}

heed_status heed_lower_emit(heed_lower *l, bool attentions) {
  HEED_TRY(heed_graph_create((heed_context *)l->file->context, &l->graph, l->error));
  HEED_TRY(use_roots(l, attentions));
  HEED_TRY(heed_lower_arrange(l));
  use_all(l);
  for (size_t i = 0; i < l->order_count; i++) {
    if (l->order[i]->kind == HEED_LOWER_LINEAR) absorb(l->order[i]);
    if (l->order[i]->attention) heed_lower_absorb_heads(l->order[i]);
  }
  for (size_t i = 0; i < l->order_count && l->status == HEED_OK; i++) {
    value *v = l->order[i];
    if (v->absorbed) continue;
    l->call.node = v->node ? v->node : l->call.node;
    v->made = emit(l, v);
    if (l->status == HEED_OK) l->status = heed_graph_status(l->graph, l->error);
  }
  shape_maps(l);
  heed_lower_narrow_maps(l);
  if (l->status == HEED_OK) l->status = name_outputs(l);
  if (l->status == HEED_INVALID_ARGUMENT) l->status = HEED_UNSUPPORTED;
  return l->status;
}
