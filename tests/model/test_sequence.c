/* Encoder-decoder models against PyTorch in double precision (tests/vectors/sequence/make.py), on
 * every backend present: the whole at once, and greedy decoding with kept keys, values and states,
 * which must give the same. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/op_test.h"
#include "support/sequence_test.h"
#include "support/vector_file.h"

static heed_error error;

static const char *const models[] = {"transformer", "captioner", "lstm", "gru", "lstm_dot"};
#define MODELS (sizeof models / sizeof *models)

/* Vulkan sums in another order than the oracle, and has an exp of its own. */
static double tolerance_of(const heed_backend *backend) {
  return strcmp(heed_backend_name(backend), "cpu") == 0 ? 2e-5 : 1e-4;
}

static void compare(const char *what, const char *backend, const float *found,
                    const float *expected, size_t count, double tolerance) {
  for (size_t i = 0; i < count; i++) {
    const double a = (double)found[i], b = (double)expected[i];
    if (!(fabs(a - b) <= tolerance + tolerance * fabs(b)))
      fail_msg("%s, %s: element %zu: found %.9g, expected %.9g", what, backend, i, a, b);
  }
}

typedef struct oracle {
  vector_file file;
  void *source;
  int32_t *tokens;
  float *logits;
  heed_shape source_shape, tokens_shape, logits_shape;
} oracle;

static oracle oracle_open(const char *model, bool features) {
  char path[96];
  oracle o = {.source = NULL};
  snprintf(path, sizeof path, "sequence/%s/expect.safetensors", model);
  o.file = vector_file_open(path);
  o.source = vector_file_read(&o.file, "source", features ? HEED_F32 : HEED_I32, &o.source_shape);
  o.tokens = vector_file_read(&o.file, "tokens", HEED_I32, &o.tokens_shape);
  o.logits = vector_file_read(&o.file, "logits", HEED_F32, &o.logits_shape);
  return o;
}

static void oracle_close(oracle *o) {
  free(o->source);
  free(o->tokens);
  free(o->logits);
  vector_file_close(&o->file);
}

static size_t source_bytes(const oracle *o) {
  return (size_t)heed_shape_count(&o->source_shape) * 4;
}

/* Weights of side.layer.which, when the oracle has them. */
static void compare_attention(const oracle *o, const char *what, const char *backend,
                              const char *name, const float *found, size_t count,
                              double tolerance) {
  heed_shape shape;
  char text[160];
  float *expected = vector_file_read(&o->file, name, HEED_F32, &shape);
  snprintf(text, sizeof text, "%s: %s", what, name);
  if (heed_shape_count(&shape) != count)
    fail_msg("%s: found %zu elements, expected %llu", text, count,
             (unsigned long long)heed_shape_count(&shape));
  compare(text, backend, found, expected, count, tolerance);
  free(expected);
}

/* ---------------------------------------------------------------------------------------- whole */

/* Target inputs: the begin token, then all tokens but the last. */
static int32_t *target_inputs(const oracle *o, int32_t begin) {
  const size_t batch = o->tokens_shape.dim[0], length = o->tokens_shape.dim[1];
  int32_t *inputs = malloc(batch * length * sizeof *inputs);
  for (size_t b = 0; b < batch; b++)
    for (size_t t = 0; t < length; t++)
      inputs[b * length + t] = t ? o->tokens[b * length + t - 1] : begin;
  return inputs;
}

static uint32_t find_taps(const heed_graph *graph, heed_value *taps, uint32_t most) {
  uint32_t count = 0;
  for (uint32_t id = 1; id <= heed_graph_value_count(graph) && count < most; id++) {
    heed_value_info info;
    const heed_value value = {id};
    if (heed_graph_value_info(graph, value, &info) == HEED_OK && strstr(info.name, ".weights"))
      taps[count++] = value;
  }
  return count;
}

static void check_taps(const oracle *o, const char *model, const char *backend,
                       heed_session *session, const heed_value *taps, uint32_t count,
                       double tolerance) {
  for (uint32_t i = 0; i < count; i++) {
    heed_value_info info;
    char name[64];
    assert_int_equal(heed_graph_value_info(heed_session_graph(session), taps[i], &info), HEED_OK);
    snprintf(name, sizeof name, "%.*s", (int)(strlen(info.name) - strlen(".weights")), info.name);
    const size_t size = (size_t)heed_shape_count(&info.shape);
    float *found = malloc(size * sizeof *found);
    assert_ok(heed_session_read(session, taps[i], 0, size, found, &error));
    compare_attention(o, model, backend, name, found, size, tolerance);
    free(found);
  }
}

static void check_whole(const heed_model *model, const char *name, const oracle *o,
                        uint32_t index) {
  heed_backend *backend = test_backend_get(index);
  heed_model_info info;
  heed_model_get_info(model, &info);
  const heed_build_desc build = {.struct_size = sizeof build,
                                 .batch = o->tokens_shape.dim[0],
                                 .source_length = o->source_shape.dim[1],
                                 .target_length = o->tokens_shape.dim[1]};
  heed_graph *graph;
  heed_value taps[16];
  assert_ok(heed_model_build(model, &build, &graph, &error));
  const heed_plan_desc desc = {sizeof desc, taps, find_taps(graph, taps, 16),
                               HEED_ATTENTION_MODE_AUTO};
  assert_int_equal(desc.tap_count, strcmp(info.family, "transformer") == 0
                                       ? info.encoder_layers + 2 * info.decoder_layers
                                       : 1);
  heed_plan *plan;
  heed_session *session;
  assert_ok(heed_plan_create(graph, backend, &desc, &plan, &error));
  assert_ok(heed_session_create(plan, NULL, &session, &error));
  int32_t *inputs = target_inputs(o, info.begin);
  const size_t tokens = (size_t)heed_shape_count(&o->tokens_shape),
               count = (size_t)heed_shape_count(&o->logits_shape);
  float *logits = malloc(count * sizeof *logits);
  assert_ok(heed_session_write(
      session, heed_graph_find(graph, info.features ? "source_features" : "source_tokens"),
      o->source, source_bytes(o), &error));
  assert_ok(heed_session_write(session, heed_graph_find(graph, "target_tokens"), inputs,
                               tokens * sizeof *inputs, &error));
  assert_ok(heed_session_run(session, NULL, &error));
  assert_ok(heed_session_read(session, heed_graph_find(graph, "logits"), 0, count, logits, &error));
  compare(name, test_backend_name(index), logits, o->logits, count, tolerance_of(backend));
  check_taps(o, name, test_backend_name(index), session, taps, desc.tap_count,
             tolerance_of(backend));
  free(logits);
  free(inputs);
  heed_session_destroy(session);
  heed_plan_destroy(plan);
  heed_graph_destroy(graph);
}

/* ------------------------------------------------------------------------------------- decoding */

static void check_maps(heed_decoder *decoder, const heed_model_info *info, const oracle *o,
                       const char *name, const char *backend, double tolerance) {
  static const struct {
    const char *side, *end;
    heed_decoder_attention which;
  } kinds[] = {{"encoder", "self", HEED_ATTENTION_ENCODER},
               {"decoder", "self", HEED_ATTENTION_DECODER},
               {"decoder", "cross", HEED_ATTENTION_CROSS}};
  uint32_t seen = 0;
  for (uint32_t k = 0; k < 3; k++)
    for (uint32_t layer = 0; layer < 4; layer++) {
      const heed_shape shape = heed_decoder_attention_shape(decoder, kinds[k].which, layer);
      if (!shape.rank) continue;
      char text[64];
      const uint64_t count = heed_shape_count(&shape);
      float *found = malloc((size_t)count * sizeof *found);
      snprintf(text, sizeof text, "%s.%u.%s", kinds[k].side, layer, kinds[k].end);
      assert_ok(heed_decoder_read_attention(decoder, kinds[k].which, layer, found, count, &error));
      compare_attention(o, name, backend, text, found, (size_t)count, tolerance);
      assert_fails(
          heed_decoder_read_attention(decoder, kinds[k].which, layer, found, count + 1, &error),
          HEED_INVALID_ARGUMENT, "wrong size (found");
      free(found);
      seen++;
    }
  assert_int_equal(seen, strcmp(info->family, "transformer") == 0
                             ? info->encoder_layers + 2 * info->decoder_layers
                             : 1);
}

static void check_decoder(const heed_model *model, const char *name, const oracle *o,
                          uint32_t index) {
  heed_backend *backend = test_backend_get(index);
  const double tolerance = tolerance_of(backend);
  heed_model_info info;
  heed_model_get_info(model, &info);
  const heed_decoder_desc desc = {
      sizeof desc, o->tokens_shape.dim[0], o->source_shape.dim[1], 0, true, true};
  heed_decoder *decoder;
  assert_ok(heed_decoder_create(model, backend, &desc, NULL, &decoder, &error));
  for (int again = 0; again < 2; again++) {
    uint32_t length;
    assert_ok(heed_decoder_run(decoder, o->source, source_bytes(o), NULL, &error));
    const int32_t *tokens = heed_decoder_tokens(decoder, &length);
    assert_int_equal(length, o->tokens_shape.dim[1]);
    assert_memory_equal(tokens, o->tokens,
                        (size_t)heed_shape_count(&o->tokens_shape) * sizeof *tokens);
    compare(name, test_backend_name(index), heed_decoder_logits(decoder), o->logits,
            (size_t)heed_shape_count(&o->logits_shape), tolerance);
    check_maps(decoder, &info, o, name, test_backend_name(index), tolerance);
  }
  heed_decoder_destroy(decoder);
}

static void equals_the_oracle(void **state) {
  (void)state;
  for (size_t m = 0; m < MODELS; m++) {
    sequence_test test;
    sequence_test_open(&test, models[m]);
    heed_model_info info;
    assert_ok(heed_sequence_open(test_backend_context(), &test.desc, &test.model, &error));
    heed_model_get_info(test.model, &info);
    assert_int_equal(info.tensors_unused, 0);
    oracle o = oracle_open(models[m], info.features > 0);
    for (uint32_t i = 0; i < test_backend_count(); i++) {
      check_whole(test.model, models[m], &o, i);
      check_decoder(test.model, models[m], &o, i);
    }
    oracle_close(&o);
    sequence_test_close(&test);
  }
}

/* ---------------------------------------------------------------------------------- wrong input */

/* A config with the first `from` replaced. The caller frees. */
static char *edited(const sequence_test *test, const char *from, const char *to) {
  const size_t size = (size_t)test->file[0].source.size, room = size + strlen(to) + 1;
  char *text = malloc(room), *at;
  char *whole = calloc(size + 1, 1);
  memcpy(whole, test->config, size);
  at = strstr(whole, from);
  if (!at) fail_msg("the config has no %s", from);
  snprintf(text, room, "%.*s%s%s", (int)(at - whole), whole, to, at + strlen(from));
  free(whole);
  return text;
}

static const struct {
  const char *model, *from, *to, *sentence;
  heed_status status;
} wrong_configs[] = {
    {"transformer", "\"d_model\"", "\"dmodel\"", "missing key d_model", HEED_INVALID_FILE},
    {"transformer", "\"nhead\": 2", "\"nhead\": 3",
     "d_model is not a multiple of nhead (found 16 and 3)", HEED_INVALID_FILE},
    {"transformer", "\"nhead\": 2", "\"nhead\": -2", "nhead is not valid", HEED_INVALID_FILE},
    {"transformer", "\"relu\"", "\"swiglu\"",
     "activation is not supported (found swiglu, expected relu or gelu)", HEED_UNSUPPORTED},
    {"transformer", "sinusoidal", "rotary", "positions is not supported", HEED_UNSUPPORTED},
    {"transformer", "\"dim_feedforward\": 24", "\"dim_feedforward\": 25",
     "linear1.weight has the wrong shape (found [24, 16], expected [25, 16])", HEED_INVALID_FILE},
    {"transformer", "\"num_decoder_layers\": 2", "\"num_decoder_layers\": 3",
     "decoder.layers.2.self_attn.in_proj_weight is missing", HEED_INVALID_FILE},
    {"transformer", "\"source_vocab_size\": 11", "\"num_features\": 11",
     "feature_projection.weight is missing", HEED_INVALID_FILE},
    {"transformer", "\"source_vocab_size\": 11", "\"none\": 11", "ambiguous source",
     HEED_INVALID_FILE},
    {"transformer", "\"bos_token_id\": 1", "\"bos_token_id\": 0", "the begin token is padding",
     HEED_UNSUPPORTED},
    {"transformer", "\"eos_token_id\": 2", "\"eos_token_id\": 13",
     "eos_token_id out of range (found 13, expected less than 13)", HEED_INVALID_FILE},
    {"transformer", "\"max_length\": 12", "\"max_length\": 0", "max_length is not valid",
     HEED_INVALID_FILE},
    {"captioner", "\"max_length\": 12", "\"max_length\": 99",
     "source_positions.weight has the wrong shape", HEED_INVALID_FILE},
    {"captioner", "\"norm_first\": true", "\"norm_first\": 3", "norm_first is not valid",
     HEED_INVALID_FILE},
    {"lstm", "\"lstm\"", "\"rnn\"", "cell is not supported (found rnn, expected lstm or gru)",
     HEED_UNSUPPORTED},
    {"lstm", "\"lstm\"", "\"gru\"",
     "encoder.weight_ih_l0 has the wrong shape (found [32, 8], expected [24, 8])",
     HEED_INVALID_FILE},
    {"lstm", "\"general\"", "\"cosine\"", "attention is not supported", HEED_UNSUPPORTED},
    {"lstm", "\"num_layers\": 2", "\"num_layers\": 3", "encoder.weight_ih_l2 is missing",
     HEED_INVALID_FILE},
    {"lstm", "\"num_layers\": 2", "\"num_layers\": 64", "encoder.weight_ih_l2 is missing",
     HEED_INVALID_FILE},
    {"lstm", "\"num_layers\": 2", "\"num_layers\": 65",
     "num_layers is not supported (found 65, expected at most 64)", HEED_UNSUPPORTED},
    {"transformer", "\"relu\"", "1", "activation is not valid", HEED_INVALID_FILE},
    {"transformer", "\"scale_embedding\": true", "\"scale_embedding\": 1",
     "scale_embedding is not valid", HEED_INVALID_FILE},
    {"lstm", "\"bidirectional\": true", "\"bidirectional\": 1", "bidirectional is not valid",
     HEED_INVALID_FILE},
    {"transformer", "\"d_model\"", "\"layer_norm_eps\": \"x\", \"d_model\"",
     "layer_norm_eps is not valid", HEED_INVALID_FILE},
    {"transformer", "\"d_model\"", "\"layer_norm_eps\": -1, \"d_model\"",
     "layer_norm_eps is not valid (found a number at byte", HEED_INVALID_FILE},
    {"lstm", "\"num_layers\"", "\"attention_size\": 0, \"num_layers\"",
     "attention_size is not valid", HEED_INVALID_FILE},
    {"lstm", "\"num_layers\"", "\"score_size\": 0, \"num_layers\"", "score_size is not valid",
     HEED_INVALID_FILE},
    {"lstm", "\"general\"", "\"concat\"", "attention.wa.weight has the wrong shape",
     HEED_INVALID_FILE},
};

static void wrong_configs_get_their_sentence(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof wrong_configs / sizeof *wrong_configs; i++) {
    sequence_test test;
    sequence_test_open(&test, wrong_configs[i].model);
    char *config = edited(&test, wrong_configs[i].from, wrong_configs[i].to);
    test.file[0].source.bytes = config;
    test.file[0].source.size = strlen(config);
    assert_fails(heed_sequence_open(test_backend_context(), &test.desc, &test.model, &error),
                 wrong_configs[i].status, wrong_configs[i].sentence);
    assert_null(test.model);
    free(config);
    sequence_test_close(&test);
  }
}

/* Operations of a part for targets of this length, and the bytes that they touch. */
static heed_plan_step cost_of(const heed_model *model, heed_model_part part,
                              uint32_t target_length) {
  const heed_build_desc build = {.struct_size = sizeof build,
                                 .part = part,
                                 .source_length = 5,
                                 .target_length = target_length};
  heed_plan_step sum = {.flops = 0};
  heed_graph *graph;
  heed_plan *plan;
  assert_ok(heed_model_build(model, &build, &graph, &error));
  assert_ok(heed_plan_create(graph, test_backend_get(0), NULL, &plan, &error));
  for (uint32_t i = 0; i < heed_plan_step_count(plan); i++) {
    heed_plan_step step;
    heed_plan_step_info(plan, i, &step);
    sum.flops += step.flops;
    sum.bytes += step.bytes;
  }
  heed_plan_destroy(plan);
  heed_graph_destroy(graph);
  return sum;
}

/* Of a step with kept keys and values the cost is a line over the length of the target, or the same
 * at any for a recurrent model; of the whole anew it is a parabola. */
static void a_step_costs_a_line(void **state) {
  (void)state;
  for (size_t m = 0; m < MODELS; m++) {
    sequence_test test;
    heed_plan_step step[3], whole[3];
    sequence_test_open(&test, models[m]);
    assert_ok(heed_sequence_open(test_backend_context(), &test.desc, &test.model, &error));
    for (uint32_t i = 0; i < 3; i++) {
      step[i] = cost_of(test.model, HEED_PART_STEP, 3u << i);
      whole[i] = cost_of(test.model, HEED_PART_WHOLE, 3u << i);
    }
    heed_model_info info;
    heed_model_get_info(test.model, &info);
    assert_int_equal(step[2].flops - step[1].flops, 2 * (step[1].flops - step[0].flops));
    assert_int_equal(step[2].bytes - step[1].bytes, 2 * (step[1].bytes - step[0].bytes));
    assert_true(step[2].flops < whole[2].flops);
    if (strcmp(info.family, "transformer") == 0)
      assert_true(whole[2].flops - whole[1].flops > 2 * (whole[1].flops - whole[0].flops));
    else
      assert_int_equal(step[2].flops, step[0].flops);
    sequence_test_close(&test);
  }
}

/* Which kind the files are of is the config's word alone. */
static void the_config_names_the_kind(void **state) {
  (void)state;
  static const struct {
    const char *config, *sentence;
  } others[] = {{"{\"architectures\": [\"ViTForImageClassification\"]}", "config.json"},
                {"{\"architectures\": [\"Mamba\"]}", "config.json"},
                {"[]", "it is not an object"}};
  sequence_test test;
  heed_model_info info;
  sequence_test_open(&test, "gru");
  assert_ok(heed_sequence_open(test_backend_context(), &test.desc, &test.model, &error));
  heed_model_get_info(test.model, &info);
  assert_int_equal(info.kind, HEED_MODEL_ENCODER_DECODER);
  assert_int_equal(info.layers, info.encoder_layers + info.decoder_layers);
  heed_model_destroy(test.model);
  const heed_model_file weights = test.file[1];
  test.desc.files = &weights;
  test.desc.file_count = 1;
  assert_fails(heed_sequence_open(test_backend_context(), &test.desc, &test.model, &error),
               HEED_INVALID_FILE, "config.json: missing");
  assert_fails(heed_model_open(test_backend_context(), &test.desc, &test.model, &error),
               HEED_UNSUPPORTED, "model.safetensors: no ViT");
  test.desc = (heed_model_desc){sizeof test.desc, test.file, 2};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    test.file[0].source.bytes = others[i].config;
    test.file[0].source.size = strlen(others[i].config);
    assert_int_not_equal(
        heed_sequence_open(test_backend_context(), &test.desc, &test.model, &error), HEED_OK);
    assert_non_null(strstr(error.message, others[i].sentence));
    assert_null(test.model);
  }
  sequence_test_close(&test);
}

/* What a vision transformer has and an encoder-decoder lacks. */
static void has_nothing_of_the_other_kind(void **state) {
  (void)state;
  sequence_test test;
  heed_preprocess preprocess;
  sequence_test_open(&test, "gru");
  assert_ok(heed_sequence_open(test_backend_context(), &test.desc, &test.model, &error));
  heed_model_preprocess(test.model, &preprocess);
  assert_int_equal(preprocess.resize, HEED_RESIZE_NONE);
  assert_int_equal(preprocess.width, 0);
  assert_string_equal(heed_model_label(test.model, 0), "unknown class");
  assert_null(heed_model_absent(test.model, 0));
  assert_fails(heed_model_preprocess_at(test.model, 16, 16, &preprocess, &error), HEED_UNSUPPORTED,
               "size: an encoder-decoder takes no images");
  sequence_test_close(&test);
}

static void wrong_calls_get_their_sentence(void **state) {
  (void)state;
  sequence_test test;
  heed_graph *graph;
  heed_decoder *decoder = NULL;
  sequence_test_open(&test, "transformer");
  assert_ok(heed_sequence_open(test_backend_context(), &test.desc, &test.model, &error));
  heed_build_desc build = {.struct_size = sizeof build, .source_length = 13, .target_length = 1};
  assert_fails(heed_model_build(test.model, &build, &graph, &error), HEED_INVALID_ARGUMENT,
               "invalid length (found source 13 and target 1, expected at most 12)");
  build = (heed_build_desc){.struct_size = sizeof build, .part = (heed_model_part)3};
  assert_fails(heed_model_build(test.model, &build, &graph, &error), HEED_INVALID_ARGUMENT,
               "unknown part");
  const heed_build_desc of_pictures[] = {
      {.struct_size = sizeof build, .height = 16},
      {.struct_size = sizeof build, .width = 16},
      {.struct_size = sizeof build, .row_count = 1},
      {.struct_size = sizeof build, .intervene = true},
      {.struct_size = sizeof build, .temperature = 2.0f},
      {.struct_size = sizeof build, .classes_only = true},
      {.struct_size = sizeof build, .empty_row = HEED_EMPTY_ROW_MEAN}};
  for (size_t i = 0; i < sizeof of_pictures / sizeof *of_pictures; i++)
    assert_fails(heed_model_build(test.model, &of_pictures[i], &graph, &error),
                 HEED_INVALID_ARGUMENT, "takes a part and lengths alone");
  heed_decoder_desc desc = {sizeof desc, 1, 3, 13, false, false};
  assert_fails(heed_decoder_create(test.model, test_backend_get(0), &desc, NULL, &decoder, &error),
               HEED_INVALID_ARGUMENT, "invalid length");
  assert_null(decoder);
  desc.max_length = 4;
  assert_ok(heed_decoder_create(test.model, test_backend_get(0), &desc, NULL, &decoder, &error));
  int32_t source[3] = {3, 11, 4};
  assert_fails(heed_decoder_run(decoder, source, sizeof source, NULL, &error),
               HEED_INVALID_ARGUMENT, "source token 1 out of range (found 11, expected 0 to 10)");
  assert_fails(heed_decoder_run(decoder, source, 8, NULL, &error), HEED_INVALID_ARGUMENT,
               "wrong source size (found 8 bytes, expected 12)");
  source[1] = 10;
  uint32_t length;
  assert_ok(heed_decoder_run(decoder, source, sizeof source, NULL, &error));
  heed_decoder_tokens(decoder, &length);
  assert_true(length >= 1 && length <= 4);
  assert_null(heed_decoder_logits(decoder));
  assert_int_equal(heed_decoder_attention_shape(decoder, HEED_ATTENTION_CROSS, 0).rank, 0);
  heed_decoder_destroy(decoder);
  sequence_test_close(&test);
}

/* Weights of NaN are refused; the largest numbers of both signs make NaN of their sums. */
static void a_logit_that_is_no_number_is_told(void **state) {
  (void)state;
  sequence_test test;
  heed_decoder *decoder;
  sequence_test_open(&test, "gru");
  const int32_t source[2] = {3, 4};
  const size_t size = (size_t)test.file[1].source.size,
               header = 8 + test.weights[0] + 256u * test.weights[1];
  for (size_t i = header; i < size; i++) test.weights[i] = 0xff;
  const heed_decoder_desc desc = {sizeof desc, 1, 2, 4, false, false};
  assert_ok(heed_sequence_open(test_backend_context(), &test.desc, &test.model, &error));
  assert_fails(heed_decoder_create(test.model, test_backend_get(0), &desc, NULL, &decoder, &error),
               HEED_INVALID_FILE, "is not finite (found NaN");
  heed_model_destroy(test.model);
  for (size_t i = header; i < size; i++)
    test.weights[i] = (i - header) % 12 == 7 ? 0xff : 0x7f; /* 3.4e38 twice, then -3.4e38 */
  assert_ok(heed_sequence_open(test_backend_context(), &test.desc, &test.model, &error));
  assert_ok(heed_decoder_create(test.model, test_backend_get(0), &desc, NULL, &decoder, &error));
  assert_fails(heed_decoder_run(decoder, source, sizeof source, NULL, &error), HEED_INVALID_FILE,
               "a logit is not a number at step 0");
  heed_decoder_destroy(decoder);
  sequence_test_close(&test);
}

static bool stop_at_once(void *user) {
  (void)user;
  return true;
}

static void can_be_cancelled(void **state) {
  (void)state;
  sequence_test test;
  heed_decoder *decoder;
  sequence_test_open(&test, "gru");
  const int32_t source[2] = {3, 4};
  assert_ok(heed_sequence_open(test_backend_context(), &test.desc, &test.model, &error));
  const heed_decoder_desc desc = {sizeof desc, 1, 2, 4, false, false};
  const heed_hooks hooks = {sizeof hooks, NULL, stop_at_once, NULL};
  assert_ok(heed_decoder_create(test.model, test_backend_get(0), &desc, NULL, &decoder, &error));
  assert_fails(heed_decoder_run(decoder, source, sizeof source, &hooks, &error), HEED_CANCELLED,
               "decode");
  heed_decoder_destroy(decoder);
  sequence_test_close(&test);
}

/* --------------------------------------------------------------------------------------- memory */

static heed_status open_and_decode(heed_context *context, sequence_test *test) {
  heed_backend *backend = NULL;
  heed_decoder *decoder = NULL;
  const int32_t source[3] = {3, 4, 0};
  const heed_cpu_desc cpu = {sizeof cpu, 1, "scalar"};
  const heed_decoder_desc desc = {sizeof desc, 1, 3, 3, true, true};
  heed_status status = heed_cpu_backend_create(context, &cpu, &backend, &error);
  if (status == HEED_OK) status = heed_sequence_open(context, &test->desc, &test->model, &error);
  if (status == HEED_OK)
    status = heed_decoder_create(test->model, backend, &desc, NULL, &decoder, &error);
  if (status == HEED_OK) status = heed_decoder_run(decoder, source, sizeof source, NULL, &error);
  heed_decoder_destroy(decoder);
  heed_model_destroy(test->model);
  test->model = NULL;
  heed_backend_destroy(backend);
  return status;
}

static void every_allocation_may_fail(const char *name) {
  sequence_test test;
  sequence_test_open(&test, name);
  heed_status status = HEED_OUT_OF_MEMORY;
  for (size_t n = 1; status != HEED_OK; n++) {
    test_allocator allocator = {0, 0, n};
    const heed_context_desc desc = test_context_desc(&allocator);
    heed_context *context = NULL;
    status = heed_context_create(&desc, &context, &error);
    if (status == HEED_OK) status = open_and_decode(context, &test);
    heed_context_destroy(context);
    if (status != HEED_OK && status != HEED_OUT_OF_MEMORY)
      fail_msg("%s, allocation %zu: %s", name, n, error.message);
    if (allocator.live) fail_msg("%s, allocation %zu: %zu blocks left", name, n, allocator.live);
  }
  sequence_test_close(&test);
}

static void survives_missing_memory(void **state) {
  (void)state;
  every_allocation_may_fail("transformer");
  every_allocation_may_fail("lstm");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equals_the_oracle),
      cmocka_unit_test(wrong_configs_get_their_sentence),
      cmocka_unit_test(the_config_names_the_kind),
      cmocka_unit_test(has_nothing_of_the_other_kind),
      cmocka_unit_test(wrong_calls_get_their_sentence),
      cmocka_unit_test(can_be_cancelled),
      cmocka_unit_test(a_logit_that_is_no_number_is_told),
      cmocka_unit_test(survives_missing_memory),
      cmocka_unit_test(a_step_costs_a_line),
  };
  return cmocka_run_group_tests_name("sequence", tests, NULL, test_backend_close_all);
}
