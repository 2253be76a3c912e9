/* The pooling attention of a ViT: a learned query, the probe, attends to the final states; an MLP
 * follows (Lee et al. 2019; Zhai et al. 2022). Its map is pool.attention.weights. */
#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "heed/ops.h"
#include "model/vit/builder.h"

/* The probe for each image: the role over and over. */
static heed_status read_repeated(void *user, uint64_t first, uint64_t count, void *to,
                                 heed_error *error) {
  const heed_role_ref *ref = user;
  float *out = to;
  while (count) {
    const uint64_t at = first % ref->count, left = ref->count - at,
                   here = count < left ? count : left;
    HEED_TRY(heed_role_read(ref, at, here, out, error));
    out += here;
    first += here;
    count -= here;
  }
  return HEED_OK;
}

static heed_value define_probe(heed_vit_builder *b) {
  const heed_role_ref *ref = heed_vit_ref(b->model, HEED_ROLE_PROBE);
  void *kept = heed_graph_keep(b->graph, ref, sizeof *ref);
  const heed_constant_desc desc = {sizeof desc, NULL,
                                   HEED_F32,    HEED_SHAPE(b->desc.batch, 1, b->model->dims.width),
                                   NULL,        kept ? read_repeated : NULL,
                                   kept};
  return heed_define_constant(b->graph, &desc);
}

/* `parts` roles, each a pair, as one map of x whose heads are apart: [parts, B, H, T, D]. */
static heed_value split_heads(heed_vit_builder *b, heed_value x, heed_role role, uint32_t parts) {
  const heed_vit_dimensions *dims = &b->model->dims;
  heed_weight weights = {.count = parts}, biases = {.count = parts};
  for (uint32_t i = 0; i < parts; i++) {
    weights.part[i] = *heed_vit_ref(b->model, (heed_role)(role + 2 * i));
    biases.part[i] = *heed_vit_ref(b->model, (heed_role)(role + 2 * i + 1));
  }
  const heed_linear_desc desc = {
      .struct_size = sizeof desc,
      .x = x,
      .weight =
          heed_vit_define(b, &weights, HEED_SHAPE(parts * dims->width, dims->width), 1.0f, NULL),
      .bias = heed_vit_define(b, &biases, HEED_SHAPE(parts * dims->width), 1.0f, NULL),
      .heads = dims->pool_heads,
      .parts = parts};
  return heed_define_linear(b->graph, &desc);
}

/* Part `index` of the heads, normed where the model does: [B, H, T, D]. */
static heed_value take_part(heed_vit_builder *b, heed_value heads, uint32_t index, uint32_t tokens,
                            heed_role norm) {
  const heed_vit_dimensions *dims = &b->model->dims;
  const uint32_t depth = dims->width / dims->pool_heads;
  const heed_shape shape = HEED_SHAPE(b->desc.batch, dims->pool_heads, tokens, depth);
  const heed_value part =
      heed_define_view(b->graph, heads, index * heed_shape_count(&shape), &shape);
  const heed_role_ref *refs = heed_vit_ref(b->model, norm);
  return norm && refs->tensor ? heed_vit_norm(b, part, refs, depth) : part;
}

/* Which tokens the probe may read where all are offered: the patches. */
static heed_status mask_prefix(heed_vit_builder *b, uint32_t tokens, heed_value *mask,
                               heed_error *error) {
  uint8_t *allowed = heed_alloc(b->model->base.context, tokens, 1);
  if (!allowed) return heed_fail_memory(error, "model: pool", tokens);
  for (uint32_t t = b->model->dims.prefix_tokens; t < tokens; t++) allowed[t] = 1;
  const heed_constant_desc desc = {.struct_size = sizeof desc,
                                   .dtype = HEED_U8,
                                   .shape = HEED_SHAPE(1, 1, 1, tokens),
                                   .data = heed_graph_keep(b->graph, allowed, tokens)};
  heed_free(b->model->base.context, allowed);
  if (!desc.data) return heed_fail_memory(error, "model: pool", tokens);
  *mask = heed_define_constant(b->graph, &desc);
  return HEED_OK;
}

static void name(heed_vit_builder *b, heed_value value, const char *text) {
  heed_graph_name(b->graph, value, text);
}

heed_status heed_vit_pool_attention(heed_vit_builder *b, heed_value states, heed_value *pooled,
                                    heed_error *error) {
  const heed_vit_dimensions *dims = &b->model->dims;
  const uint32_t patches = b->patches, width = dims->width;
  const heed_rules *rules = &b->model->roles.rules;
  const bool skip = dims->prefix_tokens && !rules->pool_heads && !rules->probe_reads_all,
             mask = skip && b->desc.intervene;
  const uint32_t tokens = patches + (skip && !mask ? 0 : dims->prefix_tokens);
  heed_attention_desc attention = {.struct_size = sizeof attention,
                                   .key_padding = b->token_mask,
                                   .empty_row = b->desc.empty_row,
                                   .merge_heads = true};
  if (mask) HEED_TRY(mask_prefix(b, tokens, &attention.mask, error));
  if (skip && !mask) {
    const heed_select_rows_desc select = {sizeof select, states, dims->prefix_tokens, patches};
    states = heed_define_select_rows(b->graph, &select);
  }
  const heed_value heads = split_heads(b, states, HEED_ROLE_PROBE_KEY_WEIGHT, 2);
  attention.query = take_part(b, split_heads(b, define_probe(b), HEED_ROLE_PROBE_QUERY_WEIGHT, 1),
                              0, 1, HEED_ROLE_PROBE_QUERY_NORM_WEIGHT);
  attention.key = take_part(b, heads, 0, tokens, HEED_ROLE_PROBE_KEY_NORM_WEIGHT);
  attention.value = take_part(b, heads, 1, tokens, (heed_role)0);
  const heed_attention_values values = heed_define_attention(b->graph, &attention);
  name(b, attention.query, "pool.query");
  name(b, attention.key, "pool.key");
  name(b, attention.value, "pool.value");
  name(b, values.output, "pool.attention.output");
  name(b, values.weights, "pool.attention.weights");
  name(b, values.logits, "pool.attention.logits");
  const heed_value x =
      heed_vit_project(b, values.output, heed_vit_ref(b->model, HEED_ROLE_PROBE_OUTPUT_WEIGHT),
                       width, width, HEED_ACTIVATION_NONE, (heed_value){0}, NULL);
  const heed_value hidden = heed_vit_project(
      b, heed_vit_norm(b, x, heed_vit_ref(b->model, HEED_ROLE_PROBE_NORM_WEIGHT), width),
      heed_vit_ref(b->model, HEED_ROLE_PROBE_FC1_WEIGHT), width, dims->pool_mlp_width,
      dims->pool_activation, (heed_value){0}, NULL);
  *pooled = heed_vit_project(b, hidden, heed_vit_ref(b->model, HEED_ROLE_PROBE_FC2_WEIGHT),
                             dims->pool_mlp_width, width, HEED_ACTIVATION_NONE, x, NULL);
  return HEED_OK;
}
