/* Masks of tokens that values carry: from an embedding with padding through the ops that keep the
 * tokens to every attention of an encoder-decoder, as Keras combines them. With queries mapped to
 * zero all scores are equal, so each row of the weights is one over the number of keys that it may
 * see: the oracle is the mask itself. */
#include <stdlib.h>
#include <string.h>

#include "support/op_test.h"

enum { BATCH = 2, SOURCE = 5, TARGET = 4, WIDTH = 6, HEADS = 2, ROWS = 9 };

static const int32_t source_ids[BATCH * SOURCE] = {7, 3, 8, 0, 0, 0, 1, 0, 5, 2},
                                        target_ids[BATCH * TARGET] = {1, 5, 8, 0, 4, 0, 2, 6};
static const float zeros[WIDTH * WIDTH], numbers[ROWS * WIDTH];

typedef struct tokens {
  const int32_t *ids;
  uint32_t count;
} tokens;
static const tokens source = {source_ids, SOURCE}, target = {target_ids, TARGET};

/* Weights [B, H, Tq, Tk] of equal scores. */
static double *expected_weights(tokens query, tokens key, bool causal) {
  double *weights = op_test_doubles((size_t)BATCH * HEADS * query.count * key.count), *at = weights;
  for (uint32_t b = 0; b < BATCH; b++)
    for (uint32_t h = 0; h < HEADS; h++)
      for (uint32_t q = 0; q < query.count; q++, at += key.count) {
        double seen = 0.0;
        for (uint32_t k = 0; k < key.count; k++)
          seen += at[k] =
              query.ids[b * query.count + q] && key.ids[b * key.count + k] && (!causal || k <= q);
        for (uint32_t k = 0; k < key.count && seen > 0.0; k++) at[k] /= seen;
      }
  return weights;
}

static heed_value vector(op_test *test) {
  return op_test_constant(test, HEED_F32, HEED_SHAPE(WIDTH), zeros);
}
static heed_value square(op_test *test) {
  return op_test_constant(test, HEED_F32, HEED_SHAPE(WIDTH, WIDTH), zeros);
}

/* Embedding, positions, norm, a linear layer and its activation. */
static heed_value embed(op_test *test, tokens of, const float *positions) {
  const heed_embedding_desc embedding = {
      sizeof embedding, op_test_input(test, HEED_I32, HEED_SHAPE(BATCH, of.count), of.ids),
      op_test_constant(test, HEED_F32, HEED_SHAPE(ROWS, WIDTH), numbers), true, 0};
  const heed_add_desc add = {
      sizeof add, heed_define_embedding(test->graph, &embedding),
      op_test_constant(test, HEED_F32, HEED_SHAPE(of.count, WIDTH), positions)};
  const heed_layer_norm_desc norm = {sizeof norm, heed_define_add(test->graph, &add), vector(test),
                                     vector(test), 1e-5f};
  const heed_linear_desc linear = {.struct_size = sizeof linear,
                                   .x = heed_define_layer_norm(test->graph, &norm),
                                   .weight = square(test)};
  const heed_activation_desc activation = {sizeof activation,
                                           heed_define_linear(test->graph, &linear),
                                           HEED_ACTIVATION_GELU, HEED_ACTIVATION_VALUE};
  return heed_define_activation(test->graph, &activation);
}

static heed_attention_values attend(op_test *test, heed_value query, heed_value memory,
                                    heed_causal causal) {
  heed_multi_head_attention_desc desc = {.struct_size = sizeof desc,
                                         .query = query,
                                         .key_value = memory,
                                         .heads = HEADS,
                                         .causal = causal,
                                         .residual = query};
  desc.q_weight = desc.k_weight = desc.v_weight = desc.o_weight = square(test);
  return heed_define_multi_head_attention(test->graph, &desc);
}

static void test_three_masks(void **state) {
  (void)state;
  op_test test;
  double *encoder_self = expected_weights(source, source, false),
         *decoder_self = expected_weights(target, target, true);
  double *cross = expected_weights(target, source, false);
  op_test_begin(&test);
  const heed_value none = {0};
  const heed_attention_values encoder =
      attend(&test, embed(&test, source, numbers), none, HEED_CAUSAL_NONE);
  const heed_attention_values decoder =
      attend(&test, embed(&test, target, numbers), none, HEED_CAUSAL_TOP_LEFT);
  op_test_expect(&test, encoder.weights, encoder_self);
  op_test_expect(&test, decoder.weights, decoder_self);
  op_test_expect(&test, attend(&test, decoder.output, encoder.output, HEED_CAUSAL_NONE).weights,
                 cross);
  op_test_run(&test, "carried masks");
  op_test_end(&test);
  free(encoder_self);
  free(decoder_self);
  free(cross);
}

/* Luong's attention masks the encoder's states only: they come from a recurrent layer, which hands
 * the mask on. */
static void test_recurrent(void **state) {
  (void)state;
  op_test test;
  double weights[BATCH * TARGET * SOURCE];
  static const float gates[4 * WIDTH * WIDTH], both[WIDTH * 2 * WIDTH];
  for (uint32_t b = 0; b < BATCH; b++) {
    double real = 0.0;
    for (uint32_t k = 0; k < SOURCE; k++) real += source_ids[b * SOURCE + k] != 0;
    for (uint32_t t = 0; t < TARGET; t++)
      for (uint32_t k = 0; k < SOURCE; k++)
        weights[(b * TARGET + t) * SOURCE + k] = source_ids[b * SOURCE + k] ? 1.0 / real : 0.0;
  }
  op_test_begin(&test);
  heed_recurrent_desc lstm = {.struct_size = sizeof lstm, .x = embed(&test, source, numbers)};
  lstm.weight_ih = lstm.weight_hh =
      op_test_constant(&test, HEED_F32, HEED_SHAPE(4 * WIDTH, WIDTH), gates);
  const heed_luong_attention_desc luong = {
      .struct_size = sizeof luong,
      .decoder = embed(&test, target, numbers),
      .encoder = heed_define_lstm(test.graph, &lstm).y,
      .score = HEED_SCORE_DOT,
      .wc = op_test_constant(&test, HEED_F32, HEED_SHAPE(WIDTH, 2 * WIDTH), both)};
  const heed_luong_attention_values values = heed_define_luong_attention(test.graph, &luong);
  op_test_expect(&test, values.weights, weights);
  assert_int_equal(heed_graph_mask_of(test.graph, values.output).id,
                   heed_graph_mask_of(test.graph, luong.decoder).id);
  op_test_run(&test, "carried masks, recurrent");
  op_test_end(&test);
}

/* A padding that is given stands before the one carried; ops that move tokens drop the mask. */
static void test_given_and_dropped(void **state) {
  (void)state;
  static const uint8_t all[BATCH * SOURCE] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  op_test test;
  double weights[BATCH * HEADS * SOURCE * SOURCE];
  for (size_t i = 0; i < sizeof weights / sizeof *weights; i++) weights[i] = 1.0 / (double)SOURCE;
  op_test_begin(&test);
  const heed_value x = embed(&test, source, numbers),
                   padding = op_test_input(&test, HEED_U8, HEED_SHAPE(BATCH, SOURCE), all);
  heed_multi_head_attention_desc desc = {.struct_size = sizeof desc,
                                         .query = x,
                                         .heads = HEADS,
                                         .key_padding = padding,
                                         .query_padding = padding};
  desc.q_weight = desc.k_weight = desc.v_weight = desc.o_weight = square(&test);
  op_test_expect(&test, heed_define_multi_head_attention(test.graph, &desc).weights, weights);
  const heed_select_rows_desc rows = {sizeof rows, x, 1, 2};
  const heed_permute_desc turned = {sizeof turned, x, {0, 2, 1}};
  const heed_concat_desc joined = {sizeof joined, {x, x}, 2, 1};
  assert_int_not_equal(heed_graph_mask_of(test.graph, x).id, 0);
  assert_int_equal(heed_graph_mask_of(test.graph, heed_define_select_rows(test.graph, &rows)).id,
                   0);
  assert_int_equal(heed_graph_mask_of(test.graph, heed_define_permute(test.graph, &turned)).id, 0);
  assert_int_equal(heed_graph_mask_of(test.graph, heed_define_concat(test.graph, &joined)).id, 0);
  op_test_run(&test, "padding given beside a carried mask");
  heed_graph_carry_mask(test.graph, x, (heed_value){0});
  assert_int_equal(heed_graph_mask_of(test.graph, x).id, 0);
  op_test_end(&test);
}

static void test_wrong(void **state) {
  (void)state;
  heed_error error = {HEED_OK, ""};
  op_test test;
  op_test_begin(&test);
  const heed_value x = op_test_input(&test, HEED_F32, HEED_SHAPE(BATCH, SOURCE, WIDTH), numbers);
  heed_graph_carry_mask(test.graph, x,
                        op_test_input(&test, HEED_U8, HEED_SHAPE(BATCH, TARGET), zeros));
  assert_fails(heed_graph_status(test.graph, &error), HEED_INVALID_ARGUMENT,
               "carry_mask: mask does not fit the value (found U8 [2, 4] for [2, 5, 6]");
  op_test_end(&test);
  op_test_begin(&test);
  heed_graph_carry_mask(test.graph, (heed_value){77}, (heed_value){0});
  assert_fails(heed_graph_status(test.graph, &error), HEED_INVALID_ARGUMENT,
               "carry_mask: value: unknown value");
  op_test_end(&test);
  op_test_begin(&test);
  const heed_add_desc add = {sizeof add, embed(&test, source, numbers),
                             embed(&test, source, numbers)};
  assert_int_equal(heed_define_add(test.graph, &add).id, 0);
  assert_fails(heed_graph_status(test.graph, &error), HEED_INVALID_ARGUMENT,
               "add: inputs carry different padding masks");
  op_test_end(&test);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_three_masks), cmocka_unit_test(test_recurrent),
      cmocka_unit_test(test_given_and_dropped), cmocka_unit_test(test_wrong)};
  return cmocka_run_group_tests_name("carried masks", tests, NULL, test_backend_close_all);
}
