/* Limits of model files in docs/limits.md, each at its number and one above. What is large is a
 * source whose bytes are made as they are read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/system.h"
#include "heed/onnx.h"
#include "heed/tokenizer.h"
#include "model/files/safetensors.h"
#include "support/onnx_file.h"
/* after it: its functions have errors of their own */
#include "support/test_context.h"

/* What begins with `head`, ends with `tail`, and is spaces between them. */
typedef struct padded {
  const char *head, *tail;
  size_t head_size, tail_size;
  uint64_t size;
} padded;

static heed_status read_padded(void *user, uint64_t offset, void *to, size_t count,
                               heed_error *unused) {
  const padded *p = user;
  const uint64_t tail = p->size - p->tail_size;
  unsigned char *bytes = to;
  (void)unused;
  memset(to, ' ', count);
  for (uint64_t at = offset; at < p->head_size && at - offset < count; at++)
    bytes[at - offset] = (unsigned char)p->head[at];
  for (uint64_t at = offset > tail ? offset : tail; at < p->size && at - offset < count; at++)
    bytes[at - offset] = (unsigned char)p->tail[at - tail];
  return HEED_OK;
}

static heed_source source_of(padded *p) { return (heed_source){p->size, NULL, read_padded, p}; }

/* A context without memory for more than 64 MiB at once: what is within a limit, and takes
 * gigabytes, ends with OUT_OF_MEMORY. */
static void *alloc_little(size_t size, size_t alignment, void *unused) {
  (void)unused;
  return size > (size_t)64 << 20 ? NULL : heed_system_alloc(size, alignment);
}
static void free_little(void *pointer, void *unused) {
  (void)unused;
  heed_system_free(pointer);
}
static heed_context *make_little_context(void) {
  heed_context_desc desc = HEED_CONTEXT_DESC_INIT;
  heed_context *little;
  desc.allocator.alloc = alloc_little;
  desc.allocator.free = free_little;
  assert_ok(heed_context_create(&desc, &little, &error));
  return little;
}

/* Refused with this part of a sentence; at the limit whatever else is said. */
static void check(const char *what, heed_status status, bool above, const char *part) {
  const bool refused = status != HEED_OK && strstr(error.message, part);
  if (refused != above)
    fail_msg("%s, %s the limit: found %s %s", what, above ? "above" : "at",
             heed_status_name(status), status == HEED_OK ? "" : error.message);
}

static void test_safetensors_header(void **state) {
  (void)state;
  for (uint32_t above = 0; above < 2; above++) {
    const uint64_t header = HEED_SAFETENSORS_MAX_HEADER + above;
    char head[9];
    for (int i = 0; i < 8; i++) head[i] = (char)(header >> 8 * i);
    head[8] = '{';
    padded file = {head, "}", sizeof head, 1, 8 + header};
    const heed_source source = source_of(&file);
    heed_safetensors *opened = NULL;
    const heed_status status =
        heed_safetensors_open(context, &source, "w.safetensors", &opened, &error);
    check("header", status, above, "header too large (found 100000001 bytes");
    if (!above) assert_int_equal(status, HEED_OK);
    heed_safetensors_destroy(opened);
  }
}

static void test_json_files(void **state) {
  (void)state;
  static const struct {
    const char *name, *head, *beside;
  } cases[] = {
      {"config.json", "{\"model_type\":\"vit\"", NULL},
      {"preprocessor_config.json", "{\"do_resize\":true", "config.json"},
      {"model.safetensors.index.json", "{\"weight_map\":{}", "config.json"},
  };
  const uint64_t most = 64u << 20;
  size_t config_size, weights_size;
  unsigned char *config = test_read_vector("vit/micro_32/config.json", &config_size),
                *weights = test_read_vector("vit/micro_32/model.safetensors", &weights_size);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (uint32_t above = 0; above < 2; above++) {
      padded file = {cases[i].head, "}", strlen(cases[i].head), 1, most + above};
      /* an index counts where the weights are in several files */
      const heed_model_file files[] = {
          {cases[i].name, source_of(&file)},
          {strstr(cases[i].name, "index") ? "model-00001-of-00001.safetensors"
                                          : "model.safetensors",
           {weights_size, weights, NULL, NULL}},
          {"config.json", {config_size, config, NULL, NULL}}};
      const heed_model_desc desc = {sizeof desc, files, cases[i].beside ? 3 : 2};
      heed_model *model = NULL;
      check(cases[i].name, heed_model_open(context, &desc, &model, &error), above,
            "too large (found 67108865 bytes, expected at most 67108864)");
      heed_model_destroy(model);
    }
  free(config);
  free(weights);
}

static void check_tokenizer(const char *what, const heed_model_file *files, uint32_t count,
                            bool above, const char *part) {
  const heed_model_desc desc = {sizeof desc, files, count};
  heed_tokenizer *tokenizer = NULL;
  check(what, heed_tokenizer_open(context, &desc, &tokenizer, &error), above, part);
  heed_tokenizer_destroy(tokenizer);
}

static void test_tokenizer_files(void **state) {
  (void)state;
  const uint64_t most = 64u << 20;
  static const char *const too_large =
      "too large (found 67108865 bytes, expected at most 67108864)";
  size_t size;
  unsigned char *vocabulary = test_read_vector("tokenizer/clip/vocab.json", &size);
  for (uint32_t above = 0; above < 2; above++) {
    static const char json[] = "{\"model\":{\"type\":\"BPE\",\"vocab\":{},\"merges\":[]}";
    padded whole = {json, "}", sizeof json - 1, 1, most + above},
           words = {"{\"a\":0", "}", 6, 1, most + above},
           merges = {"#version: 0.2", "\n", 13, 1, most + above};
    const heed_model_file one[] = {{"tokenizer.json", source_of(&whole)}},
                          two[] = {{"vocab.json", source_of(&words)},
                                   {"merges.txt", {1, "\n", NULL, NULL}}},
                          three[] = {{"vocab.json", {size, vocabulary, NULL, NULL}},
                                     {"merges.txt", source_of(&merges)}};
    check_tokenizer("tokenizer.json", one, 1, above, too_large);
    check_tokenizer("vocab.json", two, 2, above, too_large);
    check_tokenizer("merges.txt", three, 2, above, too_large);
  }
  free(vocabulary);
  for (uint32_t above = 0; above < 2; above++) {
    char text[96];
    snprintf(text, sizeof text, "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":%u}}}",
             1048575 + above);
    const heed_model_file file[] = {{"tokenizer.json", {strlen(text), text, NULL, NULL}}};
    check_tokenizer("id", file, 1, above, "a number below 1048576");
  }
}

/* Sizes of a config; the file has no weights for them. */
static void test_config_sizes(void **state) {
  (void)state;
  for (uint32_t above = 0; above < 2; above++) {
    char text[256];
    size_t size;
    heed_model *model = NULL;
    unsigned char *weights = test_read_vector("vit/micro_32/model.safetensors", &size);
    snprintf(text, sizeof text,
             "{\"model_type\":\"vit\",\"hidden_size\":%u,\"num_hidden_layers\":2,"
             "\"num_attention_heads\":2,\"intermediate_size\":8,\"image_size\":32,"
             "\"patch_size\":16}",
             1048576 + above);
    const heed_model_file files[] = {{"config.json", {strlen(text), text, NULL, NULL}},
                                     {"model.safetensors", {size, weights, NULL, NULL}}};
    const heed_model_desc desc = {sizeof desc, files, 2};
    const heed_status status = heed_model_open(context, &desc, &model, &error);
    assert_int_not_equal(status, HEED_OK);
    check("hidden_size", status, above, "hidden_size is not valid");
    free(weights);
  }
}

/* A graph of 2^24 patches: its positions take gigabytes, and are made when a session reads them. */
static void test_patches(void **state) {
  (void)state;
  size_t size, config_size;
  unsigned char *weights = test_read_vector("vit/micro_32/model.safetensors", &size),
                *config = test_read_vector("vit/micro_32/config.json", &config_size);
  const heed_model_file files[] = {{"config.json", {config_size, config, NULL, NULL}},
                                   {"model.safetensors", {size, weights, NULL, NULL}}};
  const heed_model_desc desc = {sizeof desc, files, 2};
  heed_context *little = make_little_context();
  heed_model *model;
  heed_graph *graph;
  assert_ok(heed_model_open(little, &desc, &model, &error));
  heed_build_desc build = {.struct_size = sizeof build, .height = 16 * 4096, .width = 16 * 4096};
  const heed_status at = heed_model_build(model, &build, &graph, &error);
  check("patches", at, false, "wrong image size");
  if (sizeof(size_t) > 4) assert_int_equal(at, HEED_OK); /* else tensors are too large */
  if (at == HEED_OK) heed_graph_destroy(graph);
  build.height = 16, build.width = 16 * ((1u << 24) + 1);
  assert_fails(heed_model_build(model, &build, &graph, &error), HEED_INVALID_ARGUMENT,
               "build: wrong image size (found 1 x 16777217 patches, expected 1 to 16777216)");
  heed_model_destroy(model);
  heed_context_destroy(little);
  free(weights);
  free(config);
}

/* Lines "a b", as often as a file may have. */
static void test_merges(void **state) {
  (void)state;
  static const char words[] =
      "{\"a\":0,\"b\":1,\"ab\":2,\"<|startoftext|>\":3,\"<|endoftext|>\":4}";
  const size_t most = (size_t)1 << 22;
  char *lines = malloc(4 * (most + 1));
  for (size_t i = 0; i <= most; i++) memcpy(lines + 4 * i, "a b\n", 4);
  for (uint32_t above = 0; above < 2; above++) {
    const heed_model_file files[] = {{"vocab.json", {sizeof words - 1, words, NULL, NULL}},
                                     {"merges.txt", {4 * (most + above), lines, NULL, NULL}}};
    check_tokenizer("merges", files, 2, above, "too many merges");
  }
  free(lines);
}

/* ----------------------------------------------------------------------------------------- ONNX */

static void check_onnx(const char *what, test_message file, bool above, const char *part) {
  const heed_onnx_desc desc = {
      sizeof desc, {file.size, file.data, NULL, NULL}, "m.onnx", NULL, NULL};
  heed_onnx *onnx = NULL;
  check(what, heed_onnx_open(context, &desc, &onnx, &error), above, part);
  heed_onnx_destroy(onnx);
  free(file.data);
}

static void put_relu(test_message *graph, const char *name) {
  test_put_node(graph, "Relu", name, "x", "y", NULL);
  test_put_value(graph, 11, "x");
  test_put_value(graph, 12, "y");
}

static void test_onnx(void **state) {
  (void)state;
  char *name = malloc(65537);
  for (uint32_t above = 0; above < 2; above++) {
    test_message named = {0}, listed = {0}, wide = {0}, tensor = {0};
    memset(name, 'n', 65536);
    name[65535 + above] = '\0';
    put_relu(&named, name);
    check_onnx("name", test_onnx_file(&named), above, "found 65536 bytes, expected at most 65535");
    test_put_node(&listed, "Relu", "n", "x", "y", NULL);
    for (uint32_t i = 0; i < 1000000 + above; i++) test_put_bytes(&listed, 11, "", 0);
    check_onnx("list", test_onnx_file(&listed), above, "found more than 1000000");
    put_relu(&wide, "n");
    for (uint32_t i = 0; i < 8 + above; i++) test_put_number(&tensor, 1, 1);
    test_put_number(&tensor, 2, 1);
    test_put_text(&tensor, 8, "w");
    test_put_bytes(&tensor, 9, "1234", 4);
    test_put_message(&wide, 5, &tensor);
    check_onnx("axes", test_onnx_file(&wide), above, "too many axes");
  }
  free(name);
}

/* Graphs in attributes of nodes of graphs ..., in the graph of the file. */
static void test_onnx_depth(void **state) {
  (void)state;
  for (uint32_t above = 0; above < 2; above++) {
    test_message inner = {0};
    put_relu(&inner, "n");
    for (uint32_t depth = 0; depth < 16 + above; depth++) {
      test_message attribute = {0}, node = {0}, outer = {0};
      test_put_text(&attribute, 1, "body");
      test_put_message(&attribute, 6, &inner);
      test_put_text(&node, 4, "Loop");
      test_put_message(&node, 5, &attribute);
      test_put_message(&outer, 1, &node);
      inner = outer;
    }
    check_onnx("nested graphs", test_onnx_file(&inner), above, "graphs are nested too deeply");
  }
}

/* Runs a graph without inputs, in double. */
static heed_status run_onnx(heed_context *within, test_message *graph, uint64_t most_elements,
                            uint64_t most_steps) {
  static const char nothing[] = "\2\0\0\0\0\0\0\0{}";
  test_message file = test_onnx_file(graph);
  const heed_onnx_desc desc = {
      sizeof desc, {file.size, file.data, NULL, NULL}, "m.onnx", NULL, NULL};
  const heed_onnx_evaluate_desc how = {.struct_size = sizeof how,
                                       .inputs = {sizeof nothing - 1, nothing, NULL, NULL},
                                       .most_elements = most_elements,
                                       .most_steps = most_steps};
  heed_onnx *onnx;
  heed_onnx_result *result;
  assert_ok(heed_onnx_open(within, &desc, &onnx, &error));
  const heed_status status = heed_onnx_evaluate(onnx, &how, &result, &error);
  heed_onnx_result_destroy(result);
  heed_onnx_destroy(onnx);
  free(file.data);
  return status;
}

/* a [2, 3] by b [3, 5]: 6, 15 and 10 elements, and 30 multiply-adds. */
static test_message product(void) {
  test_message graph = {0};
  test_put_floats(&graph, "a", 2, (const uint32_t[]){2, 3});
  test_put_floats(&graph, "b", 2, (const uint32_t[]){3, 5});
  test_put_node(&graph, "MatMul", "n", "a,b", "y", NULL);
  test_put_text(&graph, 12, "\x0A\x01y");
  return graph;
}

/* y: zeros of these sides. That is 2 elements for the sides, and those of y. */
static void put_zeros(test_message *graph, int64_t rows, int64_t columns) {
  const int64_t sides[] = {rows, columns};
  test_put_raw(graph, "sides", 7, 1, (const uint32_t[]){2}, sides, sizeof sides);
  test_put_node(graph, "ConstantOfShape", "zeros", "sides", "y", NULL);
}

/* As many elements as the caller asks for, and as there may be at most. */
static void test_onnx_elements(void **state) {
  (void)state;
  heed_context *little = make_little_context();
  for (uint32_t above = 0; above < 2; above++) {
    test_message graph = product(), large = {0};
    check("elements", run_onnx(context, &graph, 31 - above, 0), above,
          "its values are too large (expected at most 30 elements together)");
    put_zeros(&large, above ? 1 : 2, (1 << 29) * (1 + (int64_t)above) - 1);
    test_put_text(&large, 12, "\x0A\x01y");
    const heed_status status = run_onnx(little, &large, UINT64_MAX, 0);
    check("elements at most", status, above,
          "its values are too large (expected at most 1073741824 elements together)");
    assert_int_equal(status, above ? HEED_UNSUPPORTED : HEED_OUT_OF_MEMORY);
  }
  heed_context_destroy(little);
}

/* By default a graph takes 32 MiB, 32 times its file and 4096 times its inputs, which are 10 bytes.
 * The result is a copy of y. */
static void test_onnx_elements_by_default(void **state) {
  (void)state;
  test_message probe = {0};
  put_zeros(&probe, 1, 1);
  test_put_text(&probe, 12, "\x0A\x01y");
  test_message file = test_onnx_file(&probe);
  const int64_t most = (int64_t)((UINT64_C(32) << 20) + 32 * file.size + 4096 * 10) / 8;
  free(file.data);
  for (uint32_t above = 0; above < 2; above++) {
    test_message graph = {0};
    char sentence[96];
    put_zeros(&graph, 1, most / 2 + above); /* its sides are gone by then */
    test_put_text(&graph, 12, "\x0A\x01y");
    snprintf(sentence, sizeof sentence,
             "its values are too large (expected at most %lld elements together)", (long long)most);
    const heed_status status = run_onnx(context, &graph, 0, 0);
    check("elements by default", status, above, sentence);
    if (!above) assert_ok(status);
  }
}

/* A graph of so many steps that takes no time: the sum over i, j and z of a_i b_jz, where z has no
 * element. It counts 3 times i, 2 times i j, and the number that comes out; zeros count the rest.
 */
static test_message long_sum(int64_t steps) {
  const uint32_t i = 1 << 12, j = (uint32_t)(steps / (2 * i)) - 2;
  test_message graph = {0}, equation = {0}, attribute = {0};
  put_zeros(&graph, 1, steps - INT64_C(2) * i * j - 3 * i - 1 - 2);
  test_put_text(&attribute, 1, "equation");
  test_put_text(&attribute, 4, "i,jz->");
  test_put_number(&attribute, 20, 3);
  test_put_message(&equation, 5, &attribute);
  test_put_floats(&graph, "a", 1, &i);
  test_put_floats(&graph, "b", 2, (const uint32_t[]){j, 0});
  test_put_node(&graph, "Einsum", "n", "a,b", "s", &equation);
  test_put_text(&graph, 12, "\x0A\x01s");
  return graph;
}

/* The bytes of its file, and nearly so of others. */
static uint64_t size_of_sum(int64_t steps) {
  test_message graph = long_sum(steps), file = test_onnx_file(&graph);
  const uint64_t size = file.size;
  free(file.data);
  return size;
}

/* As many steps as the caller asks for, and by default 2^32 and a 16th of the bytes of the file
 * times those of the inputs. */
static void test_onnx_steps(void **state) {
  (void)state;
  /* the file grows with its steps, by a byte for 2048 of them: found by trying */
  int64_t most = INT64_C(1) << 32;
  for (int i = 0; i < 8; i++) most = (INT64_C(1) << 32) + (int64_t)(size_of_sum(most) * 10 / 16);
  char sentence[96];
  snprintf(sentence, sizeof sentence,
           "the graph computes too much (expected at most %lld steps in all)", (long long)most);
  for (uint32_t above = 0; above < 2; above++) {
    /* the result is a copy, which counts */
    test_message graph = product(), long_ = long_sum(most - 1 + above);
    check("steps", run_onnx(context, &graph, 0, 61 - above), above,
          "the graph computes too much (expected at most 60 steps in all)");
    const heed_status status = run_onnx(context, &long_, UINT64_MAX, 0);
    check("steps by default", status, above, sentence);
    if (!above) assert_ok(status);
  }
}

/* What lowering a graph ends with, as by default. */
static heed_status lower(test_message *graph) {
  test_message file = test_onnx_file(graph);
  const heed_onnx_desc desc = {
      sizeof desc, {file.size, file.data, NULL, NULL}, "m.onnx", NULL, NULL};
  const heed_onnx_lower_desc how = {.struct_size = sizeof how};
  heed_onnx *onnx;
  heed_onnx_lowered *lowered;
  assert_ok(heed_onnx_open(context, &desc, &onnx, &error));
  const heed_status status = heed_onnx_lower(onnx, &how, &lowered, &error);
  if (status == HEED_OK) heed_onnx_lowered_destroy(lowered);
  heed_onnx_destroy(onnx);
  free(file.data);
  return status;
}

/* Constants are folded within limits of their own: a graph that is only looked at takes seconds. */
static void test_onnx_folded(void **state) {
  (void)state;
  int64_t most = INT64_C(1) << 28;
  for (int i = 0; i < 8; i++) {
    test_message graph = long_sum(most);
    test_put_text(&graph, 12, "\x0A\x01y");
    test_message file = test_onnx_file(&graph);
    most = (INT64_C(1) << 28) + 16 * (int64_t)file.size;
    free(file.data);
  }
  char sentence[96];
  snprintf(sentence, sizeof sentence,
           "the graph computes too much (expected at most %lld steps in all)", (long long)most);
  for (uint32_t above = 0; above < 2; above++) {
    test_message graph = long_sum(most + above);
    test_put_text(&graph, 12, "\x0A\x01y"); /* what nothing asks for is not folded */
    const heed_status status = lower(&graph);
    check("folded steps by default", status, above, sentence);
    if (!above) assert_ok(status);
  }
}

/* What kernels will compute is not folded: a ViT-B of one image is more than 2^34 multiply-adds. */
static void test_onnx_kernels(void **state) {
  test_message graph = {0};
  (void)state;
  test_put_floats(&graph, "w", 2, (const uint32_t[]){512, 512});
  test_put_node(&graph, "MatMul", "n", "x,w", "y", NULL);
  test_put_shaped(&graph, 11, "x", 2, (const uint32_t[]){1 << 18, 512});
  test_put_text(&graph, 12, "\x0A\x01y");
  assert_ok(lower(&graph));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_safetensors_header),

                                     cmocka_unit_test(test_json_files),
                                     cmocka_unit_test(test_tokenizer_files),
                                     cmocka_unit_test(test_config_sizes),
                                     cmocka_unit_test(test_patches),
                                     cmocka_unit_test(test_merges),
                                     cmocka_unit_test(test_onnx),
                                     cmocka_unit_test(test_onnx_depth),
                                     cmocka_unit_test(test_onnx_elements),
                                     cmocka_unit_test(test_onnx_elements_by_default),
                                     cmocka_unit_test(test_onnx_steps),
                                     cmocka_unit_test(test_onnx_folded),
                                     cmocka_unit_test(test_onnx_kernels)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
