/* The worked examples of introductions to attention, computed: four words that attend to each
 * other, the retrieval of one vector among three, and self-attention in seven steps from inputs and
 * three projections. Expected numbers were worked out in double precision; where an older text
 * prints others, these are right. */
#include "example.h"

typedef struct worked_example {
  const char *title;
  uint32_t queries, keys, depth;
  const float *query, *key, *value;
  heed_score score;
  const float *scores, *weights, *output; /* what must come out */
} worked_example;

static bool work(const worked_example *w) {
  example e;
  float scores[16], weights[16], output[16];
  const size_t pairs = (size_t)w->queries * w->keys, results = (size_t)w->queries * w->depth;
  example_begin(&e);
  const heed_attention_desc desc = {
      .struct_size = sizeof desc,
      .query = example_input(&e, "query", HEED_F32, (heed_shape){4, {1, 1, w->queries, w->depth}},
                             w->query),
      .key = example_input(&e, "key", HEED_F32, (heed_shape){4, {1, 1, w->keys, w->depth}}, w->key),
      .value = example_input(&e, "value", HEED_F32, (heed_shape){4, {1, 1, w->keys, w->depth}},
                             w->value),
      .score = w->score};
  const heed_attention_values values = heed_define_attention(e.graph, &desc);
  heed_graph_output(e.graph, values.logits);
  heed_graph_output(e.graph, values.weights);
  heed_graph_output(e.graph, values.output);
  example_run(&e);
  example_read(&e, values.logits, scores);
  example_read(&e, values.weights, weights);
  example_read(&e, values.output, output);
  example_end(&e);
  printf("%s\n", w->title);
  example_print("  scores", scores, w->queries, w->keys);
  example_print("  weights", weights, w->queries, w->keys);
  example_print("  output", output, w->queries, w->depth);
  return example_agree("scores", scores, w->scores, pairs, 1e-5) &&
         example_agree("weights", weights, w->weights, pairs, 5.1e-5) &&
         example_agree("output", output, w->output, results, 5.1e-5);
}

static bool four_words(void) {
  static const float words[16] = {1.0f, 0.5f, 0.0f, 0.0f, 0.5f, 1.0f, 0.0f, 0.5f,
                                  0.0f, 0.0f, 1.0f, 0.5f, 0.0f, 0.5f, 0.5f, 1.0f};
  static const float scores[16] = {0.625f, 0.5f,   0.0f,   0.125f, 0.5f,   0.75f, 0.125f, 0.5f,
                                   0.0f,   0.125f, 0.625f, 0.5f,   0.125f, 0.5f,  0.5f,   0.75f};
  static const float weights[16] = {0.3307f, 0.2918f, 0.1770f, 0.2006f, 0.2518f, 0.3233f,
                                    0.1731f, 0.2518f, 0.1770f, 0.2006f, 0.3307f, 0.2918f,
                                    0.1731f, 0.2518f, 0.2518f, 0.3233f};
  static const float output[16] = {0.4766f, 0.5574f, 0.2773f, 0.4349f, 0.4135f, 0.5751f,
                                   0.2990f, 0.5000f, 0.2773f, 0.4349f, 0.4766f, 0.5574f,
                                   0.2990f, 0.5000f, 0.4135f, 0.5751f};
  const worked_example w = {"I have a pen: four word vectors, query = key = value, scaled dot "
                            "product (over 2, the root of 4 numbers)",
                            4,
                            4,
                            4,
                            words,
                            words,
                            words,
                            HEED_SCORE_SCALED_DOT,
                            scores,
                            weights,
                            output};
  return work(&w);
}

static bool retrieval(void) {
  static const float query[4] = {1.0f, -2.0f, 3.0f, -4.0f};
  static const float stored[12] = {1.0f, -2.0f, 3.0f,  -4.0f, -8.0f, 7.0f,
                                   6.0f, -5.0f, 10.0f, 9.0f,  12.0f, 11.0f};
  static const float scores[3] = {15.0f, 8.0f, -8.0f}, weights[3] = {0.9991f, 0.0009f, 0.0f},
                     output[4] = {0.9918f, -1.9918f, 3.0027f, -4.0009f};
  const worked_example w = {"retrieval: the query is the first of three stored vectors; dot "
                            "products 30, 16 and -16 before they are halved",
                            1,
                            3,
                            4,
                            query,
                            stored,
                            stored,
                            HEED_SCORE_SCALED_DOT,
                            scores,
                            weights,
                            output};
  return work(&w);
}

/* y [3, 3] = x [3, 4] weight [4, 3]. */
static void project(const float x[12], const float weight[12], float y[9]) {
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) {
      y[r * 3 + c] = 0.0f;
      for (int i = 0; i < 4; i++) y[r * 3 + c] += x[r * 4 + i] * weight[i * 3 + c];
    }
}

static bool seven_steps(void) {
  static const float x[12] = {1, 0, 1, 0, 0, 2, 0, 2, 1, 1, 1, 1};
  static const float query_weight[12] = {1, 0, 1, 1, 0, 0, 0, 0, 1, 0, 1, 1};
  static const float key_weight[12] = {0, 0, 1, 1, 1, 0, 0, 1, 0, 1, 1, 0};
  static const float value_weight[12] = {0, 2, 0, 0, 3, 0, 1, 0, 3, 1, 1, 0};
  static const float scores[9] = {2, 4, 4, 4, 16, 12, 4, 12, 10};
  static const float weights[9] = {0.0634f, 0.4683f, 0.4683f, 0.0f,   0.9820f,
                                   0.0180f, 0.0003f, 0.8805f, 0.1192f};
  static const float output[9] = {1.9366f, 6.6831f, 1.5951f, 2.0f,   7.9640f,
                                  0.0540f, 1.9997f, 7.7599f, 0.3584f};
  float query[9], key[9], value[9];
  project(x, query_weight, query);
  project(x, key_weight, key);
  project(x, value_weight, value);
  example_print("seven steps: 1 inputs, 2 weights, then 3 queries, keys and values; inputs", x, 3,
                4);
  example_print("  queries", query, 3, 3);
  example_print("  keys", key, 3, 3);
  example_print("  values", value, 3, 3);
  const worked_example w = {"4 scores (dot product), 5 softmax, 6 weighted values, 7 their sum",
                            3,
                            3,
                            3,
                            query,
                            key,
                            value,
                            HEED_SCORE_DOT,
                            scores,
                            weights,
                            output};
  return work(&w);
}

int main(void) {
  const bool words = four_words(), found = retrieval(), steps = seven_steps();
  return words && found && steps ? EXIT_SUCCESS : EXIT_FAILURE;
}
