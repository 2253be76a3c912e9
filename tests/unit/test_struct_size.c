/* struct_size: every function that takes a desc accepts one of an older version, which lacks the
 * last field, and one of a newer version, whose further fields are zero. The oracle is a whole desc
 * whose last fields are zero: status, sentence and result must be the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/tensor.h"
#include "graph/graph.h"
#include "plan/plan.h"
#include "support/sequence_test.h"

typedef struct outcome {
  heed_status status;
  char sentence[HEED_ERROR_MESSAGE_SIZE];
  uint64_t result; /* a hash of what the call made */
} outcome;

typedef struct entry {
  const char *name;
  const void *desc;
  size_t size, last; /* last: where the last field begins */
  outcome (*call)(const void *desc);
} entry;

static heed_context *context;
static heed_backend *backend;
static heed_error error;

static uint64_t mix(uint64_t hash, const void *data, size_t size) {
  const unsigned char *bytes = data;
  for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 1099511628211u;
  return hash;
}

static outcome ended(heed_status status, uint64_t result) {
  outcome out = {.status = status, .result = status == HEED_OK ? result : 0};
  if (status != HEED_OK) memcpy(out.sentence, error.message, sizeof out.sentence);
  return out;
}

/* ------------------------------------------------------------------------------------------ ops */

enum {
  X = 1,
  IMAGE,
  HEADS,
  IDS,
  GATES,
  MATRIX,
  VECTOR,
  KERNEL,
  STACKED,
  STACKED_BIAS,
  WIDE,
  WIDE_BIAS,
  JOINED,
  VALUES
}; /* ids of the graph below */
static const float zeros[4096];

static heed_graph *make_graph(void) {
  static const struct {
    const char *name;
    heed_dtype dtype;
    heed_shape shape;
  } inputs[] = {{"x", HEED_F32, {3, {2, 4, 8}}},
                {"image", HEED_F32, {4, {2, 3, 8, 8}}},
                {"heads", HEED_F32, {4, {2, 2, 4, 4}}},
                {"ids", HEED_I32, {2, {2, 4}}},
                {"gates", HEED_F32, {3, {2, 4, 8}}}};
  static const heed_shape constants[] = {{2, {8, 8}},  {1, {8}},    {4, {8, 3, 4, 4}},
                                         {2, {24, 8}}, {1, {24}},   {2, {32, 8}},
                                         {1, {32}},    {2, {8, 16}}};
  heed_graph *graph;
  assert_ok(heed_graph_create(context, &graph, &error));
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
    heed_define_input(graph, inputs[i].name, inputs[i].dtype, &inputs[i].shape);
  for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
    const heed_constant_desc desc = {
        .struct_size = sizeof desc, .shape = constants[i], .data = zeros};
    heed_define_constant(graph, &desc);
  }
  assert_int_equal(heed_graph_value_count(graph), VALUES - 1);
  return graph;
}

/* The nodes and their descs, and ends the graph. */
static outcome graph_ended(heed_graph *graph) {
  uint64_t hash = graph->value_count;
  for (size_t i = 0; i < graph->node_count; i++) {
    const heed_node *node = &graph->nodes[i];
    hash = mix(hash, node->input, sizeof node->input);
    hash = mix(hash, node->desc, heed_ops[node->op]->desc_size);
  }
  for (size_t i = VALUES - 1; i < graph->value_count; i++)
    hash = mix(hash, &graph->values[i].shape, sizeof(heed_shape));
  const outcome out = ended(heed_graph_status(graph, &error), hash);
  heed_graph_destroy(graph);
  return out;
}

/* One caller an op: a whole desc (static, so that padding is zero too) and the function. */
#define OP(name, type, ...)                                                        \
  static const heed_##type##_desc name##_desc = {sizeof name##_desc, __VA_ARGS__}; \
  static outcome call_##name(const void *desc) {                                   \
    heed_graph *graph = make_graph();                                              \
    heed_define_##name(graph, desc);                                               \
    return graph_ended(graph);                                                     \
  }
#define ENTRY(name, type, last_field) \
  { #name, &name##_desc, sizeof(heed_##type), offsetof(heed_##type, last_field), call_##name }

OP(constant, constant, .shape = {1, {8}}, .data = zeros, .read_user = &context)
OP(activation, activation, .x = {X}, .kind = HEED_ACTIVATION_GELU)
OP(add, add, .a = {X}, .b = {VECTOR})
OP(multiply, multiply, .a = {X}, .b = {VECTOR})
OP(concat, concat, .x = {{X}, {GATES}}, .count = 2, .axis = 2)
OP(select_rows, select_rows, .x = {X}, .first = 1, .count = 2)
OP(softmax, softmax, .x = {X})
OP(layer_norm, layer_norm, .x = {X}, .gain = {VECTOR}, .bias = {VECTOR}, .epsilon = 1e-5f,
   .rms = true)
OP(linear, linear, .x = {X}, .weight = {STACKED}, .heads = 2, .parts = 3)
OP(patch_embedding, patch_embedding, .image = {IMAGE}, .weight = {KERNEL}, .bias = {VECTOR})
OP(embedding, embedding, .ids = {IDS}, .table = {MATRIX}, .mask_padding = true, .padding_id = 3)
OP(permute, permute, .x = {X}, .order = {0, 2, 1})
OP(matmul, matmul, .a = {HEADS}, .b = {HEADS}, .transpose_b = true)
OP(elementwise, elementwise, .a = {X}, .kind = HEED_ELEMENTWISE_CLIP, .alpha = -1.0f, .beta = 1.0f)
OP(reduce, reduce, .x = {X}, .axes = 2, .last = true)
OP(slice, slice, .x = {X}, .shape = {3, {2, 4, 9}}, .step = {1, 1, 1}, .value = 3.0f)
OP(gather, gather, .x = {GATES}, .indices = {IDS}, .axis = 1, .elements = false)
OP(depthwise, depthwise, .x = {IMAGE}, .kind = HEED_DEPTHWISE_MEAN, .kernel = {2, 2},
   .before = {1, 1}, .count_padding = true)
OP(attention_mask, attention_mask, .key_ids = {IDS}, .padding_id = 3)
OP(attention, attention, .query = {HEADS}, .key = {HEADS}, .value = {HEADS}, .merge_heads = true)
OP(linear_attention, linear_attention, .query = {HEADS}, .key = {HEADS}, .value = {HEADS},
   .causal = true, .recurrent = true)
OP(lstm, recurrent, .x = {X}, .weight_ih = {WIDE}, .weight_hh = {WIDE}, .bias_hh = {WIDE_BIAS},
   .reverse = true)
OP(gru, recurrent, .x = {X}, .weight_ih = {STACKED}, .weight_hh = {STACKED},
   .bias_hh = {STACKED_BIAS}, .reverse = true)
OP(multi_head_attention, multi_head_attention, .query = {X}, .in_weight = {STACKED},
   .o_weight = {MATRIX}, .heads = 2, .residual = {GATES})
OP(transformer_block, transformer_block, .x = {X}, .heads = 2,
   .self = {.in = {{STACKED}, {0}}, .out = {{MATRIX}, {0}}}, .linear1 = {{MATRIX}, {0}},
   .linear2 = {{MATRIX}, {0}}, .norm1 = {{VECTOR}, {VECTOR}}, .norm2 = {{VECTOR}, {VECTOR}},
   .norm3 = {{VECTOR}, {VECTOR}})
OP(luong_attention, luong_attention, .decoder = {X}, .encoder = {GATES}, .score = HEED_SCORE_DOT,
   .wc = {JOINED}, .wc_bias = {VECTOR})

static const entry ops[] = {ENTRY(constant, constant_desc, read_user),
                            ENTRY(activation, activation_desc, kind),
                            ENTRY(add, add_desc, b),
                            ENTRY(multiply, multiply_desc, b),
                            ENTRY(concat, concat_desc, axis),
                            ENTRY(select_rows, select_rows_desc, count),
                            ENTRY(softmax, softmax_desc, x),
                            ENTRY(layer_norm, layer_norm_desc, rms),
                            ENTRY(linear, linear_desc, parts),
                            ENTRY(patch_embedding, patch_embedding_desc, bias),
                            ENTRY(embedding, embedding_desc, padding_id),
                            ENTRY(permute, permute_desc, order),
                            ENTRY(matmul, matmul_desc, transpose_b),
                            ENTRY(elementwise, elementwise_desc, beta),
                            ENTRY(reduce, reduce_desc, last),
                            ENTRY(slice, slice_desc, value),
                            ENTRY(gather, gather_desc, elements),
                            ENTRY(depthwise, depthwise_desc, count_padding),
                            ENTRY(attention_mask, attention_mask_desc, padding_id),
                            ENTRY(attention, attention_desc, causal_offsets),
                            ENTRY(linear_attention, linear_attention_desc, recurrent),
                            ENTRY(lstm, recurrent_desc, reverse),
                            ENTRY(gru, recurrent_desc, reverse),
                            ENTRY(multi_head_attention, multi_head_attention_desc, residual),
                            ENTRY(transformer_block, transformer_block_desc, norm3),
                            ENTRY(luong_attention, luong_attention_desc, wc_bias)};

/* -------------------------------------------------------------- context, backend, plan, session */

static const heed_context_desc context_desc = {.struct_size = sizeof context_desc,
                                               .log_user = &context};
static outcome call_context(const void *desc) {
  heed_context *made;
  const heed_status status = heed_context_create(desc, &made, &error);
  const outcome out = ended(status, made && made->log_user ? 2 : 1);
  heed_context_destroy(made);
  return out;
}

static const heed_cpu_desc cpu_desc = {
    .struct_size = sizeof cpu_desc, .threads = 2, .level = "scalar"};
static outcome call_cpu(const void *desc) {
  heed_backend *made;
  const heed_status status = heed_cpu_backend_create(context, desc, &made, &error);
  const char *device = made ? heed_backend_device(made) : "";
  const outcome out = ended(status, mix(1, device, strlen(device)));
  heed_backend_destroy(made);
  return out;
}

/* softmax(x), and a session of it. */
typedef struct small {
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
} small;

static small make_small(void) {
  small s = {.graph = make_graph()};
  const heed_softmax_desc desc = {sizeof desc, {X}};
  heed_graph_output(s.graph, heed_define_softmax(s.graph, &desc));
  assert_ok(heed_plan_create(s.graph, backend, NULL, &s.plan, &error));
  assert_ok(heed_session_create(s.plan, NULL, &s.session, &error));
  return s;
}

static void free_small(small *s) {
  heed_session_destroy(s->session);
  heed_plan_destroy(s->plan);
  heed_graph_destroy(s->graph);
}

static const heed_value plan_tap[] = {{X}};
static const heed_plan_desc plan_desc = {.struct_size = sizeof plan_desc,
                                         .taps = plan_tap,
                                         .tap_count = 1,
                                         .attention = HEED_ATTENTION_MODE_STREAMED,
                                         .passing_taps = true};
static outcome call_plan(const void *desc) {
  small s = make_small();
  heed_plan *plan;
  const heed_status status = heed_plan_create(s.graph, backend, desc, &plan, &error);
  heed_memory memory = {0};
  if (plan) heed_plan_memory(plan, &memory);
  const uint64_t how =
      plan ? (uint64_t)plan->attention << 32 | (uint64_t)plan->passing_taps << 40 : 0;
  const outcome out = ended(status, memory.arena + how);
  heed_plan_destroy(plan);
  free_small(&s);
  return out;
}

static uint64_t told;
static void tell(const char *phase, uint64_t done, uint64_t total, void *user) {
  (void)phase, (void)done, (void)total;
  told += user ? 1000 : 1;
}
static const heed_hooks session_hooks_desc = {
    .struct_size = sizeof session_hooks_desc, .progress = tell, .user = &context};
static outcome call_session_hooks(const void *desc) {
  small s = make_small();
  heed_session *session;
  told = 0;
  const heed_status status = heed_session_create(s.plan, desc, &session, &error);
  const outcome out = ended(status, told);
  heed_session_destroy(session);
  free_small(&s);
  return out;
}

#define run_hooks_desc session_hooks_desc
static outcome call_run_hooks(const void *desc) {
  small s = make_small();
  told = 0;
  const heed_status status = heed_session_run(s.session, desc, &error);
  const outcome out = ended(status, told);
  free_small(&s);
  return out;
}

static const heed_stream_desc stream_desc = {.struct_size = sizeof stream_desc, .in_flight = 3};
static outcome call_stream(const void *desc) {
  small s = make_small();
  heed_stream *stream;
  const heed_status status = heed_stream_create(s.session, desc, &stream, &error);
  const outcome out = ended(status, 1);
  heed_stream_destroy(stream);
  free_small(&s);
  return out;
}

static const uint32_t map_rows[] = {1, 3};
static const heed_attention_map_desc attention_map_desc = {
    .struct_size = sizeof attention_map_desc, .rows = map_rows, .row_count = 2};
static outcome call_attention_map(const void *desc) {
  heed_graph *graph = make_graph();
  const heed_attention_values values = heed_define_attention(graph, &attention_desc);
  heed_graph_output(graph, values.output);
  const heed_value taps[] = {{HEADS}, values.weights};
  const heed_plan_desc kept = {.struct_size = sizeof kept, .taps = taps, .tap_count = 2};
  heed_plan *plan;
  heed_session *session;
  assert_ok(heed_plan_create(graph, backend, &kept, &plan, &error));
  assert_ok(heed_session_create(plan, NULL, &session, &error));
  assert_ok(heed_session_run(session, NULL, &error));
  float to[16] = {0};
  const heed_status status = heed_session_attention_map(session, values.weights, desc, to, &error);
  const outcome out = ended(status, mix(1, to, sizeof to));
  heed_session_destroy(session);
  heed_plan_destroy(plan);
  heed_graph_destroy(graph);
  return out;
}

static const float other_map[9] = {0.1f, 0.1f, 0.8f, 0.6f, 0.1f, 0.3f, 0.2f, 0.3f, 0.5f};
static const float *const rollout_maps[] = {other_map};
static const heed_rollout_desc rollout_desc = {.struct_size = sizeof rollout_desc,
                                               .layers = 1,
                                               .heads = 1,
                                               .tokens = 3,
                                               .discard = 0.5f,
                                               .maps = rollout_maps};
static outcome call_rollout(const void *desc) {
  const float attention[9] = {0.2f, 0.3f, 0.5f, 0.6f, 0.1f, 0.3f, 0.1f, 0.1f, 0.8f};
  float rollout[9] = {0};
  const heed_status status = heed_map_rollout(context, desc, attention, rollout, &error);
  return ended(status, mix(1, rollout, sizeof rollout));
}

static const entry objects[] = {ENTRY(context, context_desc, log_user),
                                ENTRY(cpu, cpu_desc, level),
                                ENTRY(plan, plan_desc, passing_taps),
                                ENTRY(session_hooks, hooks, user),
                                ENTRY(run_hooks, hooks, user),
                                ENTRY(stream, stream_desc, output_count),
                                ENTRY(attention_map, attention_map_desc, row_count),
                                ENTRY(rollout, rollout_desc, maps)};

/* --------------------------------------------------------------------------------------- models */

static unsigned char *vit_bytes[2];
static heed_model_file vit_files[2];
static heed_model_desc model_desc = {sizeof model_desc, vit_files, 2};
static heed_model *vit;
static sequence_test sequence;

static outcome call_model(const void *desc) {
  heed_model *made;
  const heed_status status = heed_model_open(context, desc, &made, &error);
  heed_model_destroy(made);
  return ended(status, 1);
}

static const uint32_t build_rows[] = {0};
static const heed_build_desc build_desc = {.struct_size = sizeof build_desc,
                                           .batch = 2,
                                           .rows = build_rows,
                                           .row_count = 1,
                                           .classes_only = true};
static outcome call_build(const void *desc) {
  heed_graph *graph;
  const heed_status status = heed_model_build(vit, desc, &graph, &error);
  const outcome out = ended(status, graph ? graph->value_count + graph->node_count * 1000 : 0);
  heed_graph_destroy(graph);
  return out;
}

static const heed_build_desc layer_desc = {.struct_size = sizeof layer_desc, .height = 64};
static outcome call_layer(const void *desc) {
  heed_layer_info info = {0};
  const heed_status status = heed_model_layer(vit, desc, 1, &info, &error);
  return ended(status, mix(1, &info, sizeof info));
}

static float explain_pixels[3 * 32 * 32];
static const heed_named_tensor explain_inputs[] = {
    {"pixel_values", HEED_F32, {4, {1, 3, 32, 32}}, explain_pixels}};
/* Set once there are a model and a backend. */
static heed_explain_desc explain_desc = {.struct_size = sizeof explain_desc,
                                         .methods = "norms",
                                         .inputs = explain_inputs,
                                         .input_count = 1};
static outcome call_explain(const void *desc) {
  heed_explanation *explanation = NULL;
  const heed_status status = heed_explain(context, desc, &explanation, &error);
  uint64_t made = 1;
  const heed_named_tensor *tensor;
  for (uint32_t i = 0; explanation && (tensor = heed_explanation_get(explanation, i)) != NULL; i++)
    made = mix(made, tensor->data, (size_t)heed_shape_count(&tensor->shape) * sizeof(float));
  heed_explanation_destroy(explanation);
  return ended(status, made);
}

static const heed_build_desc sequence_build_desc = {
    .struct_size = sizeof sequence_build_desc, .batch = 2, .source_length = 4, .target_length = 3};
static outcome call_sequence_build(const void *desc) {
  heed_graph *graph;
  const heed_status status = heed_model_build(sequence.model, desc, &graph, &error);
  heed_value_info info = {0};
  if (graph)
    assert_int_equal(heed_graph_value_info(graph, heed_graph_find(graph, "logits"), &info),
                     HEED_OK);
  const outcome out = ended(status, mix(1, &info.shape, sizeof info.shape));
  heed_graph_destroy(graph);
  return out;
}

static const heed_decoder_desc decoder_desc = {.struct_size = sizeof decoder_desc,
                                               .source_length = 4,
                                               .max_length = 3,
                                               .logits = true,
                                               .attention = true};
static const int32_t source[4] = {1, 2, 3, 4};

static outcome decode(const void *desc, const heed_hooks *creating, const heed_hooks *running) {
  heed_decoder *decoder;
  uint64_t made = 0;
  told = 0;
  heed_status status =
      heed_decoder_create(sequence.model, backend, desc, creating, &decoder, &error);
  if (status == HEED_OK) {
    status = heed_decoder_run(decoder, source, sizeof source, running, &error);
    made = (heed_decoder_logits(decoder) ? 1u : 0u) +
           (heed_decoder_attention_shape(decoder, HEED_ATTENTION_CROSS, 0).rank ? 2u : 0u) +
           told * 16;
  }
  heed_decoder_destroy(decoder);
  return ended(status, made);
}
static outcome call_decoder(const void *desc) { return decode(desc, NULL, NULL); }
#define decoder_hooks_desc session_hooks_desc
static outcome call_decoder_hooks(const void *desc) { return decode(&decoder_desc, desc, NULL); }
#define decode_hooks_desc session_hooks_desc
static outcome call_decode_hooks(const void *desc) { return decode(&decoder_desc, NULL, desc); }

static const entry files[] = {ENTRY(model, model_desc, file_count),
                              ENTRY(build, build_desc, classes_only),
                              ENTRY(layer, build_desc, width),
                              ENTRY(explain, explain_desc, input_count),
                              ENTRY(sequence_build, build_desc, target_length),
                              ENTRY(decoder, decoder_desc, attention),
                              ENTRY(decoder_hooks, hooks, user),
                              ENTRY(decode_hooks, hooks, user)};

/* ---------------------------------------------------------------------------------------- tests */

static void set_struct_size(void *desc, size_t size) { memcpy(desc, &size, sizeof size); }

/* A block of `bytes` (so that a sanitizer sees what is read past it) that begins with `copied`
 * bytes of the desc. */
static outcome call_with(const entry *e, size_t bytes, size_t copied, int rest,
                         size_t struct_size) {
  unsigned char *desc = malloc(bytes);
  memset(desc, rest, bytes);
  memcpy(desc, e->desc, copied < bytes ? copied : bytes);
  if (bytes >= sizeof struct_size) set_struct_size(desc, struct_size);
  const outcome out = e->call(desc);
  free(desc);
  return out;
}

static void assert_same(const char *name, const char *what, const outcome *found,
                        const outcome *expected) {
  if (found->status != expected->status || found->result != expected->result ||
      strcmp(found->sentence, expected->sentence) != 0)
    fail_msg("%s, %s: found %s %llx \"%s\", expected %s %llx \"%s\"", name, what,
             heed_status_name(found->status), (unsigned long long)found->result, found->sentence,
             heed_status_name(expected->status), (unsigned long long)expected->result,
             expected->sentence);
}

static void assert_refused(const char *name, const char *what, const outcome *found) {
  if (found->status != HEED_INVALID_ARGUMENT || !strstr(found->sentence, "struct_size"))
    fail_msg("%s, %s: found %s \"%s\", expected INVALID_ARGUMENT and struct_size", name, what,
             heed_status_name(found->status), found->sentence);
}

static void check_entry(const entry *e) {
  enum { MORE = 16 };
  /* sizes of structs are multiples of that */
  const size_t size = e->size, older = e->last / sizeof(size_t) * sizeof(size_t);
  const outcome whole = call_with(e, size, size, 0, size),
                without = call_with(e, size, older, 0, size);
  const outcome exact = call_with(e, older, older, 0, older),
                filled = call_with(e, size, older, 0xFF, older);
  assert_same(e->name, "older", &exact, &without);
  assert_same(e->name, "older, other bytes behind", &filled, &without);
  const outcome newer = call_with(e, size + MORE, size, 0, size + MORE),
                unknown = call_with(e, size + MORE, size, 1, size + MORE);
  assert_same(e->name, "newer, new fields zero", &newer, &whole);
  assert_refused(e->name, "newer, new fields set", &unknown);
  const size_t refused[] = {0,
                            3,
                            sizeof(size_t) - 1,
                            size - 1,
                            size + 1,
                            (size_t)1 << 20,
                            SIZE_MAX,
                            SIZE_MAX - sizeof(size_t) + 1};
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    const outcome wrong = call_with(e, size, size, 0, refused[i]);
    char what[48];
    snprintf(what, sizeof what, "struct_size %zu", refused[i]);
    assert_refused(e->name, what, &wrong);
  }
}

#define CHECK_ALL(list) \
  for (size_t i = 0; i < sizeof(list) / sizeof *(list); i++) check_entry(&(list)[i])

static void test_ops(void **state) {
  (void)state;
  CHECK_ALL(ops);
}

static void test_objects(void **state) {
  (void)state;
  CHECK_ALL(objects);
}

static void test_models(void **state) {
  (void)state;
  CHECK_ALL(files);
}

/* What the table above calls with a whole desc must work, or there would be nothing to compare. */
static void test_whole_descs_are_accepted(void **state) {
  (void)state;
  const entry *lists[] = {ops, objects, files};
  const size_t counts[] = {sizeof ops / sizeof *ops, sizeof objects / sizeof *objects,
                           sizeof files / sizeof *files};
  for (int l = 0; l < 3; l++)
    for (size_t i = 0; i < counts[l]; i++) {
      const entry *e = &lists[l][i];
      const outcome whole = e->call(e->desc);
      if (whole.status != HEED_OK) fail_msg("%s: %s", e->name, whole.sentence);
    }
}

static int setup(void **state) {
  static const char *const names[] = {"config.json", "model.safetensors"};
  (void)state;
  size_t size;
  assert_ok(heed_context_create(NULL, &context, &error));
  const heed_cpu_desc one = {.struct_size = sizeof one, .threads = 1};
  assert_ok(heed_cpu_backend_create(context, &one, &backend, &error));
  for (int i = 0; i < 2; i++) {
    char path[64];
    snprintf(path, sizeof path, "vit/micro_32/%s", names[i]);
    vit_bytes[i] = test_read_vector(path, &size);
    vit_files[i] = (heed_model_file){names[i], {size, vit_bytes[i], NULL, NULL}};
  }
  assert_ok(heed_model_open(context, &model_desc, &vit, &error));
  explain_desc.model = vit;
  explain_desc.backend = backend;
  sequence_test_open(&sequence, "gru");
  assert_ok(heed_sequence_open(context, &sequence.desc, &sequence.model, &error));
  return 0;
}

static int teardown(void **state) {
  (void)state;
  sequence_test_close(&sequence);
  heed_model_destroy(vit);
  free(vit_bytes[0]);
  free(vit_bytes[1]);
  heed_backend_destroy(backend);
  heed_context_destroy(context);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_whole_descs_are_accepted),
      cmocka_unit_test(test_ops),
      cmocka_unit_test(test_objects),
      cmocka_unit_test(test_models),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
