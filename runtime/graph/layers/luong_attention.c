/* luong_attention: global attention of decoder states over encoder states and the state made of
 * both, tanh(Wc [context; h]) (Luong et al. 2015, 3.1). Scores dot h . s, general h Wa s, concat va
 * . tanh(Wa [h; s]), the last one the additive score with Wa in two halves. */
#include "base/status.h"
#include "base/tensor.h"
#include "graph/graph.h"
#include "heed/ops.h"

/* Columns [first, first + count) of wa [A, ...] turned, [count, A], as the additive score takes its
 * maps. */
static heed_value turned_columns(heed_graph *graph, heed_value wa, uint32_t first, uint32_t count) {
  heed_value_info info;
  if (heed_graph_value_info(graph, wa, &info) != HEED_OK) return (heed_value){0};
  const heed_shape shape = HEED_SHAPE(count, info.shape.dim[0]);
  const uint64_t strides[2] = {1, info.shape.rank == 2 ? info.shape.dim[1] : 1};
  return heed_graph_strided_constant(graph, wa, first, &shape, strides);
}

static heed_status check(const heed_graph *graph, const heed_luong_attention_desc *desc,
                         heed_value_info *decoder, heed_value_info *encoder, heed_error *error) {
  if (heed_graph_value_info(graph, desc->decoder, decoder) != HEED_OK ||
      heed_graph_value_info(graph, desc->encoder, encoder) != HEED_OK || decoder->shape.rank != 3 ||
      encoder->shape.rank != 3)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "luong_attention: wrong shape of decoder or encoder (found %u and %u axes, "
                     "expected [B, T, C] both)",
                     decoder->shape.rank, encoder->shape.rank);
  if (desc->score == HEED_SCORE_SCALED_DOT || (unsigned)desc->score > HEED_SCORE_ADDITIVE)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "luong_attention: unknown score (found %d, expected dot, general or additive)",
                     (int)desc->score);
  return HEED_OK;
}

heed_luong_attention_values heed_define_luong_attention(heed_graph *graph,
                                                        const heed_luong_attention_desc *desc) {
  heed_luong_attention_values values = {{0}, {0}, {0}};
  heed_value_info decoder = {0}, encoder = {0};
  heed_error error;
  heed_luong_attention_desc full;
  if (heed_graph_status(graph, NULL) != HEED_OK ||
      !heed_graph_read_desc(graph, &full, sizeof full, desc, "luong_attention"))
    return values;
  desc = &full;
  if (check(graph, desc, &decoder, &encoder, &error) != HEED_OK) {
    heed_graph_fail(graph, &error);
    return values;
  }
  const uint32_t *d = decoder.shape.dim, *e = encoder.shape.dim;
  const heed_shape query = HEED_SHAPE(d[0], 1, d[1], d[2]), key = HEED_SHAPE(e[0], 1, e[1], e[2]);
  heed_attention_desc attention = {.struct_size = sizeof attention, .score = desc->score};
  attention.key_padding =
      desc->encoder_padding.id ? desc->encoder_padding : heed_graph_mask_of(graph, desc->encoder);
  attention.query = heed_define_reshape(graph, desc->decoder, &query);
  attention.key = attention.value = heed_define_reshape(graph, desc->encoder, &key);
  if (desc->score == HEED_SCORE_GENERAL) attention.w = desc->wa;
  if (desc->score == HEED_SCORE_ADDITIVE) {
    attention.wq = turned_columns(graph, desc->wa, 0, d[2]);
    attention.wk = turned_columns(graph, desc->wa, d[2], e[2]);
    attention.va = desc->va;
  }
  const heed_attention_values attended = heed_define_attention(graph, &attention);
  const heed_shape context = HEED_SHAPE(d[0], d[1], e[2]), weights = HEED_SHAPE(d[0], d[1], e[1]);
  values.context = heed_define_reshape(graph, attended.output, &context);
  values.weights = heed_define_reshape(graph, attended.weights, &weights);
  const heed_concat_desc both = {sizeof both, {values.context, desc->decoder}, 2, 2};
  const heed_linear_desc combine = {.struct_size = sizeof combine,
                                    .x = heed_define_concat(graph, &both),
                                    .weight = desc->wc,
                                    .bias = desc->wc_bias,
                                    .activation = HEED_ACTIVATION_TANH};
  values.output = heed_define_linear(graph, &combine);
  const heed_value mask = heed_graph_mask_of(graph, desc->decoder);
  if (mask.id && values.output.id) heed_graph_carry_mask(graph, values.output, mask);
  return values;
}
