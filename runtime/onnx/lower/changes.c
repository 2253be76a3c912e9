/* Inputs that change attention from run to run, as those of heed_build_desc.intervene: the same
 * names, shapes and meaning. See lower.h. */
#include <stdio.h>

#include "base/tensor.h"
#include "onnx/lower/lower.h"

typedef heed_lower_value value;

/* Whether an attention is a layer of the model; the others are behind them. */
static bool is_layer(const heed_lower *l, const value *v) {
  return l->changes && v->attention->found < l->changes->layers;
}

static heed_value input_of(heed_lower *l, const value *v, const char *what, heed_dtype dtype,
                           heed_shape shape) {
  char name[64];
  snprintf(name, sizeof name, "layer.%u.attention.%s", v->attention->found, what);
  return heed_define_input(l->graph, name, dtype, &shape);
}

static heed_value token_mask(heed_lower *l, const value *v) {
  const heed_value found = heed_graph_find(l->graph, "token_mask");
  const heed_shape shape = HEED_SHAPE((uint32_t)v->dims[0], l->changes->tokens);
  return found.id ? found : heed_define_input(l->graph, "token_mask", HEED_U8, &shape);
}

void heed_lower_change_scores(heed_lower *l, const value *v, heed_attention_desc *desc) {
  if (!l->changes) return;
  const heed_lower_changes *c = l->changes;
  const uint32_t heads = (uint32_t)v->x[0]->dims[1];
  if (is_layer(l, v) && c->temperature != 0.0f)
    desc->scale = (float)(v->attention->scale / (double)c->temperature);
  if (!c->intervene) return;
  if (v->attention->key->dims[2] != c->tokens) { /* a token that is dropped would stay here */
    heed_lower_refuse(l, HEED_UNSUPPORTED,
                      "an attention to %llu of the %u tokens takes no changes (expected a "
                      "config.json that names the model's family)",
                      (unsigned long long)v->attention->key->dims[2], (unsigned)c->tokens);
    return;
  }
  desc->key_padding = token_mask(l, v);
  desc->empty_row = c->empty_row;
  if (is_layer(l, v))
    desc->mask = input_of(l, v, "mask", HEED_U8, HEED_SHAPE(1, heads, c->tokens, c->tokens));
}

heed_value heed_lower_change_heads(heed_lower *l, const value *v, heed_value output) {
  if (!is_layer(l, v) || !l->changes->intervene) return output;
  const uint32_t batch = (uint32_t)v->dims[0], tokens = (uint32_t)v->dims[1],
                 width = (uint32_t)v->dims[2], heads = (uint32_t)v->x[0]->dims[1];
  const heed_shape joined = HEED_SHAPE(batch, tokens, width),
                   apart = HEED_SHAPE(batch, tokens, heads, width / heads),
                   each = HEED_SHAPE(heads, 1);
  const heed_add_desc add = {sizeof add, output,
                             input_of(l, v, "offset", HEED_F32, HEED_SHAPE(1, 1, width))};
  const heed_value gain =
      heed_define_view(l->graph, input_of(l, v, "gain", HEED_F32, HEED_SHAPE(heads)), 0, &each);
  const heed_multiply_desc multiply = {
      sizeof multiply, heed_define_view(l->graph, heed_define_add(l->graph, &add), 0, &apart),
      gain};
  return heed_define_view(l->graph, heed_define_multiply(l->graph, &multiply), 0, &joined);
}
