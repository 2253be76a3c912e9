/* The reference cases, of attention and of all the layers, cut to broken shapes and attributes:
 * each gets its sentence, and never a number. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heed/check.h"
#include "model/files/safetensors.h"
#include "support/op_test.h"
#include "support/weights.h"

#define MOST_TENSORS 32

/* A case file with one tensor replaced, added or left out, or with other attributes. */
typedef struct bad_case {
  const char *file;       /* of attention/, unless it names its folder */
  const char *attributes; /* NULL: as in the file */
  const char *tensor;     /* NULL: all as in the file */
  const char *shape;      /* "F32 2 7 11 32"; NULL: left out */
  heed_status status;
  const char *sentence; /* a part of it */
} bad_case;

#define ARGUMENT HEED_INVALID_ARGUMENT
#define A_FILE HEED_INVALID_FILE

/* The shapes of the files are in the comments: query, key and value, then the others. */
static const bad_case cases[] = {
    /* [2,8,11,32] [2,2,13,32] [2,2,13,32] */
    {"grouped_queries", NULL, "query", "F32 2 7 11 32", ARGUMENT,
     "key heads do not divide query heads (found 7 query heads for 2 key heads)"},
    {"grouped_queries", NULL, "query", "F32 2 1 11 32", ARGUMENT,
     "key heads do not divide query heads (found 1"},
    {"grouped_queries", NULL, "query", "F32 2 8 11", ARGUMENT, "attention: query"},
    {"grouped_queries", NULL, "query", "F32 1 8 11 32", ARGUMENT, "attention: key"},
    {"grouped_queries", NULL, "query", "F32 2 8 11 31", ARGUMENT, "attention: key"},
    {"grouped_queries", NULL, "key", "F32 2 3 13 32", ARGUMENT, "attention: value"},
    {"grouped_queries", NULL, "key", "F32 2 2 12 32", ARGUMENT, "attention: value"},
    {"grouped_queries", NULL, "value", "F32 2 2 14 32", ARGUMENT, "attention: value"},
    {"grouped_queries", NULL, "value", "F32 2 4 13 32", ARGUMENT, "attention: value"},
    {"grouped_queries", NULL, "value", "U8 2 2 13 32", ARGUMENT, "attention: value"},
    {"grouped_queries", NULL, "key", NULL, A_FILE, "tensor key is missing"},
    {"grouped_queries", NULL, "mask", "U8 2 2 11 13", ARGUMENT,
     "attention: mask: wrong shape (found [2, 2, 11, 13], expected [2, 8, 11, 13]"},
    {"grouped_queries", NULL, "keys", "F32 2 2 13 32", A_FILE, "unknown tensor (found \"keys\")"},
    /* one head of keys for all: [2,4,9,32] [2,1,15,32] [2,1,15,32] */
    {"multi_query", NULL, "key", "F32 2 3 15 32", ARGUMENT, "attention: value"},
    /* [2,2,7,16] [2,2,9,16] [2,2,9,16]: nothing may be empty */
    {"dot", NULL, "query", "F32 2 2 7 0", A_FILE, "tensor query is empty"},
    {"dot", NULL, "query", "F32 2 2 0 16", A_FILE, "tensor query is empty"},
    {"dot", NULL, "key", "F32 2 0 9 16", A_FILE, "tensor key is empty"},
    {"dot", NULL, "value", "F32 2 2 9 0", A_FILE, "tensor value is empty"},
    {"dot", NULL, "expect.weights", "F32 2 2 9 7", A_FILE,
     "expect.weights does not fit the result"},
    {"dot", NULL, "expect.scores", "F32 2 2 7 9", A_FILE,
     "unknown tensor (found \"expect.scores\")"},
    {"dot", "{\"score\": \"cosine\"}", NULL, NULL, HEED_UNSUPPORTED,
     "unknown value of attribute score (found \"cosine\")"},
    {"dot", "{\"score\": 1}", NULL, NULL, A_FILE, "invalid attribute score"},
    {"dot", "{\"score\": \"dot\", \"dropout\": 0.1}", NULL, NULL, HEED_UNSUPPORTED,
     "unknown attribute (found \"dropout\")"},
    {"dot", "{\"score\": \"dot\"", NULL, NULL, A_FILE, "attrs"},
    {"dot", "[1]", NULL, NULL, A_FILE, "invalid attrs"},
    {"dot", "{\"scale\": \"big\"}", NULL, NULL, A_FILE, "invalid attribute scale"},
    {"dot", "{\"scale\": 1e300}", NULL, NULL, ARGUMENT, "invalid scale"},
    {"dot", "{\"score\": \"dot\", \"empty_row\": \"ignore\"}", NULL, NULL, HEED_UNSUPPORTED,
     "empty_row"},
    {"dot", "{\"norm\": \"hardmax\"}", NULL, NULL, HEED_UNSUPPORTED, "norm"},
    /* [2,2,11,32] [2,2,13,32] [2,2,13,32], mask [2,2,11,13] */
    {"mask_full", NULL, "mask", "U8 2 2 13 11", ARGUMENT,
     "attention: mask: wrong shape (found [2, 2, 13, 11]"},
    {"mask_full", NULL, "mask", "U8 2 2 1 13", ARGUMENT, "attention: mask: wrong shape"},
    {"mask_full", NULL, "mask", "U8 3 2 11 13", ARGUMENT, "attention: mask: wrong shape"},
    {"mask_full", NULL, "mask", "U8 11 13", ARGUMENT, "attention: mask"},
    {"mask_full", NULL, "mask", "F32 2 2 11 13", ARGUMENT, "attention: mask"},
    {"mask_full", NULL, "mask", "U8 2 2 11 0", A_FILE, "tensor mask is empty"},
    /* [2,2,6,32] [2,2,8,32], key_padding [2,8], query_padding [2,6] */
    {"mask_query_and_key_padding", NULL, "key_padding", "U8 2 6", ARGUMENT,
     "attention: key_padding"},
    {"mask_query_and_key_padding", NULL, "key_padding", "U8 1 8", ARGUMENT,
     "attention: key_padding"},
    {"mask_query_and_key_padding", NULL, "query_padding", "U8 2 8", ARGUMENT,
     "attention: query_padding"},
    {"mask_query_and_key_padding", NULL, "query_padding", "I32 2 6", ARGUMENT,
     "attention: query_padding"},
    /* [2,3,11,32] [2,3,13,32], bias [1,3,11,13] */
    {"bias_per_head", NULL, "bias", "F32 1 3 11 12", ARGUMENT, "attention: bias: wrong shape"},
    {"bias_per_head", NULL, "bias", "F32 3 11 13", ARGUMENT, "attention: bias"},
    {"bias_per_head", NULL, "bias", "U8 1 3 11 13", ARGUMENT, "attention: bias"},
    /* w [16,16] */
    {"general", NULL, "w", "F32 16 15", ARGUMENT, "attention"},
    {"general", NULL, "w", "F32 15 16", ARGUMENT, "attention: w"},
    {"general", NULL, "w", "F32 256", ARGUMENT, "attention: w"},
    {"general", NULL, "w", NULL, A_FILE, "tensor w is missing"},
    /* wq [16,24] wk [16,24] b [24] va [24] */
    {"additive", NULL, "wq", "F32 16 23", ARGUMENT, "attention"},
    {"additive", NULL, "wk", "F32 17 24", ARGUMENT, "attention: wk"},
    {"additive", NULL, "b", "F32 23", ARGUMENT, "attention: b"},
    {"additive", NULL, "va", "F32 23", ARGUMENT, "attention: va"},
    {"additive", NULL, "va", "F32 1 24", ARGUMENT, "attention: va"},
    {"additive", NULL, "va", NULL, A_FILE, "tensor va is missing"},
    {"additive", "{}", NULL, NULL, A_FILE, "unknown tensor"},
    {"mask_window", "{\"window\": [-2, 2]}", NULL, NULL, ARGUMENT,
     "invalid window (found -2 left, 2 right"},
    {"mask_window", "{\"window\": [4, -7]}", NULL, NULL, ARGUMENT,
     "invalid window (found 4 left, -7 right"},
    {"mask_window", "{\"window\": [4]}", NULL, NULL, A_FILE, "invalid attribute window"},
    {"mask_window", "{\"window\": [4, 2, 1]}", NULL, NULL, A_FILE, "invalid attribute window"},
    {"mask_window", "{\"window\": [4, 2147483648]}", NULL, NULL, A_FILE,
     "invalid attribute window"},
    {"mask_window", "{\"window\": 4}", NULL, NULL, A_FILE, "invalid attribute window"},
    {"sparse_softmax", "{\"norm\": \"sparse_softmax\", \"threshold\": 1.5}", NULL, NULL, ARGUMENT,
     "invalid threshold"},
    {"sparse_softmax", "{\"norm\": \"sparse_softmax\", \"threshold\": -0.1}", NULL, NULL, ARGUMENT,
     "invalid threshold"},
    {"softcap", "{\"softcap\": -5.0}", NULL, NULL, ARGUMENT, "invalid softcap"},
    {"softcap", "{\"softcap\": 1e60}", NULL, NULL, ARGUMENT, "invalid softcap"},
    {"mask_causal", "{\"causal\": true}", NULL, NULL, A_FILE, "invalid attribute causal"},
    {"mask_causal", "{\"causal\": \"left\"}", NULL, NULL, HEED_UNSUPPORTED,
     "unknown value of attribute causal (found \"left\")"},
    /* query_ids [1,6], key_ids [1,6] */
    {"masks/decoder_self", NULL, "key_ids", "F32 1 6", ARGUMENT,
     "attention_mask: key_ids: wrong dtype"},
    {"masks/decoder_self", NULL, "key_ids", "I32 2 6", ARGUMENT, "attention_mask"},
    {"masks/decoder_self", NULL, "key_ids", "I32 6", ARGUMENT,
     "attention_mask: key_ids: wrong number of axes"},
    {"masks/decoder_self", NULL, "query_ids", "I32 1 7", A_FILE,
     "expect.mask does not fit the result (found U8 [1, 6, 6], expected U8 [1, 7, 6])"},
    {"masks/decoder_self", "{\"causal\": 1}", NULL, NULL, A_FILE, "invalid attribute causal"},
    {"masks/decoder_self", "{\"padding_id\": 4294967296}", NULL, NULL, A_FILE,
     "invalid padding_id"},
    {"masks/decoder_self", "{\"mask_zero\": true}", NULL, NULL, HEED_UNSUPPORTED,
     "unknown attribute (found \"mask_zero\")"},
    /* query [2,6,32] key_value [2,9,20] k_weight [32,20] */
    {"mha/cross", NULL, "key_value", "F32 2 9 21", ARGUMENT, "linear: weight: wrong shape"},
    {"mha/cross", NULL, "key_value", "F32 3 9 20", ARGUMENT, "attention: key"},
    {"mha/cross", NULL, "q_weight", NULL, A_FILE, "tensor q_weight is missing"},
    {"mha/cross", NULL, "o_weight", "F32 32 31", ARGUMENT, "linear: weight: wrong shape"},
    {"mha/cross", NULL, "v_bias", "F32 31", ARGUMENT, "linear: bias: wrong shape"},
    {"mha/cross", NULL, "key_padding", "U8 2 6", ARGUMENT, "attention: key_padding"},
    {"mha/cross", "{\"heads\": 5}", NULL, NULL, ARGUMENT, "heads do not divide the width"},
    {"mha/cross", "{\"heads\": 0}", NULL, NULL, A_FILE, "invalid heads"},
    {"mha/cross", "{}", NULL, NULL, A_FILE, "invalid heads"},
    {"mha/cross", "{\"heads\": 4, \"dropout\": 0.1}", NULL, NULL, HEED_UNSUPPORTED,
     "unknown attribute (found \"dropout\")"},
    /* x [2,5,32] memory [2,8,32] memory_key_padding [2,8] linear1.weight [64,32] */
    {"blocks/decoder_post_norm_relu", NULL, "memory", "F32 2 8 31", ARGUMENT, "wrong shape"},
    {"blocks/decoder_post_norm_relu", NULL, "memory", "F32 1 8 32", ARGUMENT, "attention: key"},
    {"blocks/decoder_post_norm_relu", NULL, "memory_key_padding", "U8 2 5", ARGUMENT,
     "attention: key_padding"},
    {"blocks/decoder_post_norm_relu", NULL, "self_attn.in_proj_weight", "F32 95 32", ARGUMENT,
     "linear"},
    {"blocks/decoder_post_norm_relu", NULL, "multihead_attn.in_proj_weight", "F32 95 32", ARGUMENT,
     "wrong shape of in_weight or in_bias"},
    {"blocks/decoder_post_norm_relu", NULL, "linear2.weight", "F32 32 63", ARGUMENT,
     "linear: weight"},
    {"blocks/decoder_post_norm_relu", NULL, "norm3.weight", NULL, A_FILE,
     "tensor norm3.weight is missing"},
    {"blocks/decoder_post_norm_relu", "{\"heads\": 4, \"norm\": \"middle\"}", NULL, NULL,
     HEED_UNSUPPORTED, "unknown value of attribute norm"},
    {"blocks/encoder_pre_norm_gelu", "{\"heads\": 4, \"activation\": \"swish\"}", NULL, NULL,
     HEED_UNSUPPORTED, "attribute activation"},
    {"blocks/encoder_pre_norm_gelu", "{\"heads\": 4, \"epsilon\": -1}", NULL, NULL, ARGUMENT,
     "invalid epsilon"},
    {"blocks/encoder_pre_norm_gelu", NULL, "memory", "F32 2 8 32", A_FILE,
     "unknown tensor (found \"memory\")"},
    /* x [2,9,10] weight_ih_l0 [80,10] weight_hh_l0 [80,20] */
    {"recurrent/lstm", NULL, "weight_ih_l0", "F32 79 10", ARGUMENT, "linear: bias: wrong shape"},
    {"recurrent/lstm", NULL, "weight_hh_l0", "F32 80 19", ARGUMENT, "lstm: weight_hh: wrong shape"},
    {"recurrent/lstm", NULL, "bias_hh_l0", "F32 60", ARGUMENT, "lstm: bias_hh: wrong shape"},
    {"recurrent/lstm", NULL, "h0", "F32 2 2 20", A_FILE,
     "lstm: wrong shape of h0 (found [2, 2, 20], expected [1, B, H])"},
    {"recurrent/lstm", NULL, "c0", "F32 1 20", ARGUMENT, "lstm: c: wrong shape"},
    {"recurrent/lstm", NULL, "weight_ih_l1", "F32 80 20", A_FILE, "tensor weight_hh_l1 is missing"},
    {"recurrent/lstm", NULL, "weight_ih_l2", "F32 80 20", A_FILE,
     "unknown tensor (found \"weight_ih_l2\")"},
    {"recurrent/gru", NULL, "c0", "F32 2 20", A_FILE, "unknown tensor (found \"c0\")"},
    {"recurrent/lstm_stacked", "{\"num_layers\": 3}", NULL, NULL, A_FILE,
     "found 3 and true, expected 2 and true"},
    {"recurrent/lstm_stacked", "{\"bidirectional\": false}", NULL, NULL, A_FILE,
     "num_layers or bidirectional contradicts the weights"},
    {"recurrent/lstm_stacked", NULL, "h0", "F32 2 2 4", A_FILE,
     "lstm: wrong shape of h0 (found [2, 2, 4], expected [4, B, H])"},
    {"recurrent/lstm_stacked", NULL, "weight_ih_l1_reverse", "F32 16 4", ARGUMENT,
     "linear: weight: wrong shape"},
    /* decoder [2,5,20] encoder [2,10,20] encoder_padding [2,10] wa [20,40] va [20] wc [20,40] */
    {"luong/concat", NULL, "wa", "F32 20 39", ARGUMENT, "part out of range"},
    {"luong/concat", NULL, "va", "F32 19", ARGUMENT, "attention: va"},
    {"luong/concat", NULL, "encoder", "F32 2 10 20 1", ARGUMENT,
     "luong_attention: wrong shape of decoder or encoder"},
    {"luong/concat", NULL, "encoder_padding", "U8 2 5", ARGUMENT, "attention: key_padding"},
    {"luong/concat", NULL, "wc", "F32 20 20", ARGUMENT, "linear: weight: wrong shape"},
    {"luong/concat", "{\"score\": \"scaled_dot\"}", NULL, NULL, HEED_UNSUPPORTED,
     "attribute score"},
    {"luong/dot", NULL, "encoder", "F32 2 10 19", ARGUMENT, "attention: key"},
    {"luong/dot", NULL, "wa", "F32 20 20", A_FILE, "unknown tensor (found \"wa\")"},
    /* [1,2,37,16] each */
    {"linear/causal", NULL, "key", "F32 1 2 36 16", ARGUMENT, "linear_attention"},
    {"linear/causal", NULL, "key", "F32 1 1 37 16", ARGUMENT, "linear_attention"},
    {"linear/causal", NULL, "value", "F32 1 2 37", ARGUMENT, "linear_attention"},
    {"linear/causal", "{\"window\": [1, 1]}", NULL, NULL, HEED_UNSUPPORTED,
     "unknown attribute (found \"window\")"},
    /* image [1,4,6,7] kernel [5,4,3,3] */
    {"convolution/three_by_three", NULL, "kernel", "F32 5 4 2 2", ARGUMENT, "K odd"},
    {"convolution/three_by_three", NULL, "kernel", "F32 5 3 3 3", ARGUMENT,
     "attention_as_convolution"},
    {"convolution/three_by_three", NULL, "image", "F32 4 6 7", ARGUMENT,
     "attention_as_convolution"},
    {"convolution/three_by_three", "{\"height\": 7, \"width\": 6}", NULL, NULL, A_FILE,
     "wrong image size"},
    {"layers/embedding", "{\"padding_id\": true}", NULL, NULL, A_FILE,
     "invalid attribute padding_id"},
    {"layers/embedding", NULL, "ids", "F32 1 6", ARGUMENT, "embedding: ids: wrong dtype"},
    {"layers/patch_embedding", NULL, "weight", "F32 24 3 16 8", ARGUMENT,
     "patch_embedding: weight"},
    {"layers/patch_embedding", "{\"patch\": 8}", NULL, NULL, A_FILE,
     "patch differs from the weight's"},
    {"layers/positional_encoding", "{\"length\": -1, \"width\": 16}", NULL, NULL, A_FILE,
     "positional_encoding: invalid size"},
    /* the readers of attributes and tensors themselves */
    {"mask_window", "{\"window\": [-2147483649, 2]}", NULL, NULL, A_FILE,
     "invalid attribute window"},
    {"mask_window", "{\"window\": [4, \"2\"]}", NULL, NULL, A_FILE, "invalid attribute window"},
    {"mask_window", "{\"window\": 4, \"causal\": 1}", NULL, NULL, A_FILE,
     "invalid attribute causal"},
    {"dot", NULL, "query", "I8 2 2 7 16", HEED_UNSUPPORTED,
     "tensor query cannot be used (this dtype)"},
    {"dot", NULL, "expect.output", "U8 2 2 7 16", A_FILE, "expect.output does not fit the result"},
    {"dot", NULL, "expect.output", "I8 2 2 7 16", HEED_UNSUPPORTED,
     "tensor expect.output cannot be used"},
    {"recurrent/lstm", NULL, "x", NULL, A_FILE, "tensor x is missing"},
    {"recurrent/lstm", NULL, "h0", "F32 2 20 1", A_FILE, "wrong shape of h0"},
    {"recurrent/lstm", NULL, "h0", "F32 20", A_FILE, "wrong shape of h0"},
    {"recurrent/lstm", NULL, "c0", "F32 2 2 20", A_FILE, "wrong shape of c0"},
    {"recurrent/lstm_stacked", NULL, "h0", "F32 4 4", A_FILE, "wrong shape of h0"},
    {"recurrent/lstm", "{\"bidirectional\": true}", NULL, NULL, A_FILE,
     "found 1 and true, expected 1 and false"},
};

/* "F32 2 7 11 32" */
static void read_shape(const char *text, heed_safetensors_item *item) {
  item->dtype = text[0] == 'F'   ? HEED_F32
                : text[0] == 'U' ? HEED_U8
                : text[1] == '8' ? HEED_I8
                                 : HEED_I32;
  item->shape = (heed_shape){0};
  for (const char *at = strchr(text, ' '); at; at = strchr(at + 1, ' '))
    item->shape.dim[item->shape.rank++] = (uint32_t)strtoul(at + 1, NULL, 10);
}

/* The tensors of the file but for the broken one; data are of the items' sizes, all ones. */
static uint32_t list_items(const bad_case *bad, const heed_safetensors *file,
                           heed_safetensors_item *items) {
  static unsigned char ones[1 << 19];
  bool replaced = false;
  uint32_t count = 0;
  memset(ones, 1, sizeof ones);
  for (uint32_t i = 0; i < heed_safetensors_count(file); i++) {
    const heed_safetensors_tensor *tensor = heed_safetensors_get(file, i);
    heed_safetensors_item item = {tensor->name, tensor->dtype, tensor->shape, ones};
    const bool broken = bad->tensor && strcmp(bad->tensor, tensor->name) == 0;
    replaced = replaced || broken;
    if (broken && !bad->shape) continue;
    if (broken) read_shape(bad->shape, &item);
    items[count++] = item;
  }
  if (bad->tensor && !replaced) {
    items[count] = (heed_safetensors_item){.name = bad->tensor, .data = ones};
    read_shape(bad->shape, &items[count++]);
  }
  assert_true(count < MOST_TENSORS);
  for (uint32_t i = 0; i < count; i++)
    assert_true(heed_shape_count(&items[i].shape) * 4 <= sizeof ones);
  return count;
}

static test_bytes break_file(const bad_case *bad) {
  char name[128];
  size_t size;
  heed_error error;
  heed_safetensors *file;
  test_bytes made = {NULL, 0};
  snprintf(name, sizeof name, "%s%s.safetensors", strchr(bad->file, '/') ? "" : "attention/",
           bad->file);
  unsigned char *bytes = test_read_vector(name, &size);
  const heed_source source = test_source(bytes, size);
  assert_ok(heed_safetensors_open(test_backend_context(), &source, name, &file, &error));
  heed_safetensors_item items[MOST_TENSORS];
  const uint32_t count = list_items(bad, file, items);
  const heed_safetensors_pair metadata[] = {
      {"op", heed_safetensors_metadata(file, "op")},
      {"attrs", bad->attributes ? bad->attributes : heed_safetensors_metadata(file, "attrs")}};
  assert_ok(heed_safetensors_write(test_backend_context(), items, count, metadata, 2,
                                   test_bytes_append, &made, &error));
  heed_safetensors_destroy(file);
  free(bytes);
  return made;
}

static void test_each_gets_its_sentence(void **state) {
  (void)state;
  assert_true(test_backend_count() > 0);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    heed_check_result result;
    heed_error error = {HEED_OK, ""};
    test_bytes file = break_file(&cases[i]);
    const heed_status status =
        heed_check_case(test_backend_context(), test_backend_get(0), file.data, file.size, 0.0,
                        NULL, NULL, &result, &error);
    if (status != cases[i].status || !strstr(error.message, cases[i].sentence))
      fail_msg("case %zu, %s, attributes %s, %s %s: found %s (%s), expected %s (%s)", i,
               cases[i].file, cases[i].attributes ? cases[i].attributes : "as they are",
               cases[i].tensor ? cases[i].tensor : "", cases[i].shape ? cases[i].shape : "",
               heed_status_name(status), error.message, heed_status_name(cases[i].status),
               cases[i].sentence);
    free(file.data);
  }
}

/* Each file runs when nothing is broken, so that a sentence is not about something else. */
static void test_unbroken_files_run(void **state) {
  (void)state;
  assert_true(test_backend_count() > 0);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (i && strcmp(cases[i].file, cases[i - 1].file) == 0) continue;
    const bad_case as_it_is = {.file = cases[i].file};
    heed_check_result result;
    heed_error error = {HEED_OK, ""};
    test_bytes file = break_file(&as_it_is);
    assert_ok(heed_check_case(test_backend_context(), test_backend_get(0), file.data, file.size,
                              0.0, NULL, NULL, &result, &error));
    free(file.data);
  }
}

/* x [2, 4] and what of it is expected, beside an op, its attributes and a tolerance. */
static heed_status check_written(heed_context *context, heed_backend *backend, const char *op,
                                 const char *attributes, const char *tolerance,
                                 heed_check_result *result, heed_error *of) {
  static const float ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  test_bytes made = {NULL, 0};
  const heed_safetensors_item items[] = {{"x", HEED_F32, HEED_SHAPE(2, 4), ones},
                                         {"expect.y", HEED_F32, HEED_SHAPE(2), ones}};
  const heed_safetensors_pair metadata[] = {
      {"op", op}, {"attrs", attributes}, {"tolerance", tolerance}};
  heed_error error;
  assert_ok(heed_safetensors_write(test_backend_context(), items, 2, metadata, tolerance ? 3 : 2,
                                   test_bytes_append, &made, &error));
  const heed_status status =
      heed_check_case(context, backend, made.data, made.size, 0.0, NULL, NULL, result, of);
  free(made.data);
  return status;
}

static void test_attributes_and_metadata(void **state) {
  (void)state;
  char many[2][1024] = {"{", "{"}; /* of 64 attributes, and of one more */
  for (int above = 0; above < 2; above++) {
    char *text = many[above];
    for (int i = 0; i < 64 + above; i++)
      snprintf(text + strlen(text), sizeof many[0] - strlen(text), "%s\"a%d\": 0", i ? "," : "", i);
    strcat(text, "}");
  }
  const struct {
    const char *op, *attributes, *tolerance, *sentence;
    heed_status status;
  } written[] = {
      {"reduce", "{\"axes\": [1]}", NULL, "", HEED_OK},
      {"reduce", "{\"axes\": [1]}", "4", "", HEED_OK},
      {"reduce", "{\"axes\": [1]}", "\"4\"", "invalid tolerance (found", A_FILE},
      {"reduce", "{\"axes\": [1]}", "four", "invalid tolerance (found", A_FILE},
      {"reduce", "{\"axes\": [1]}", "-1", "invalid tolerance (found", A_FILE},
      {"reduce", "{\"axes\": [1]}", "1e999", "invalid tolerance (found", A_FILE},
      {"reduce", "{\"axes\": [1, 1, 1, 1, 1, 1, 1]}", NULL, "invalid attribute axes", A_FILE},
      {"reduce", "{\"axes\": []}", NULL, "invalid attribute axes (found an array", A_FILE},
      {"reduce", "{\"axes\": [0.5]}", NULL, "invalid attribute axes", A_FILE},
      {"reduce", "{\"axes\": [-1]}", NULL, "invalid attribute axes", A_FILE},
      {"reduce", "{\"axes\": [4294967296]}", NULL, "invalid attribute axes", A_FILE},
      {"reduce", "{\"axes\": [2]}", NULL, "reduce:", ARGUMENT},
      {"reduce", "{\"axes\": [33]}", NULL, "reduce:", ARGUMENT},
      {"reduce", "{\"axes\": null}", NULL, "expect.y does not fit the result", A_FILE},
      {"reduce", many[0], NULL, "unknown attribute (found \"a0\")", HEED_UNSUPPORTED},
      {"reduce", many[1], NULL, "expected an object of at most 64 attributes", A_FILE},
      {"an_op_whose_name_is_longer_than_any_that_heed_knows_of", "{}", NULL, "unknown op",
       HEED_UNSUPPORTED},
      {"an_op", "{}", NULL, "unknown op (found \"an_op\")", HEED_UNSUPPORTED},
  };
  for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
    heed_check_result result;
    heed_error error = {HEED_OK, ""};
    const heed_status status =
        check_written(test_backend_context(), test_backend_get(0), written[i].op,
                      written[i].attributes, written[i].tolerance, &result, &error);
    if (status != written[i].status || !strstr(error.message, written[i].sentence))
      fail_msg("case %zu: found %s (%s), expected %s (%s)", i, heed_status_name(status),
               error.message, heed_status_name(written[i].status), written[i].sentence);
  }
}

static void test_arguments(void **state) {
  (void)state;
  heed_check_result result;
  heed_backend *backend = test_backend_get(0);
  heed_context *context = test_backend_context();
  assert_int_equal(heed_check_case(NULL, backend, "", 0, 0.0, NULL, NULL, &result, NULL), ARGUMENT);
  assert_int_equal(heed_check_case(context, NULL, "", 0, 0.0, NULL, NULL, &result, NULL), ARGUMENT);
  assert_int_equal(heed_check_case(context, backend, NULL, 0, 0.0, NULL, NULL, &result, NULL),
                   ARGUMENT);
  assert_int_equal(heed_check_case(context, backend, "", 0, 0.0, NULL, NULL, NULL, NULL), ARGUMENT);
  /* the reason may not be wanted */
  assert_int_equal(
      check_written(context, backend, "reduce", "{\"keep_axes\": 1}", NULL, &result, NULL), A_FILE);
}

/* Each allocation fails once: no other status comes of it, and nothing stays. */
static void test_memory(void **state) {
  (void)state;
  static const char *const files[] = {"dot", "recurrent/lstm_stacked", NULL};
  for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
    test_bytes file = {NULL, 0};
    if (files[f]) file = break_file(&(bad_case){.file = files[f]});
    bool done = false;
    for (size_t n = 1; !done; n++) {
      test_allocator allocator = {0};
      const heed_context_desc desc = test_context_desc(&allocator);
      heed_cpu_desc cpu = HEED_CPU_DESC_INIT;
      cpu.threads = 1;
      heed_context *failing;
      heed_backend *backend;
      heed_check_result result;
      heed_error error = {HEED_OK, ""};
      assert_ok(heed_context_create(&desc, &failing, &error));
      assert_ok(heed_cpu_backend_create(failing, &cpu, &backend, &error));
      allocator.total = 0;
      allocator.fail_at = n;
      const heed_status status = files[f] ? heed_check_case(failing, backend, file.data, file.size,
                                                            0.0, NULL, NULL, &result, &error)
                                          : check_written(failing, backend, "reduce",
                                                          "{\"axes\": [1]}", "4", &result, &error);
      done = allocator.total < n;
      allocator.fail_at = 0;
      if (status != (done ? HEED_OK : HEED_OUT_OF_MEMORY))
        fail_msg("%s, allocation %zu: found %s (%s), expected %s", files[f] ? files[f] : "reduce",
                 n, heed_status_name(status), error.message, done ? "ok" : "out of memory");
      heed_backend_destroy(backend);
      heed_context_destroy(failing);
      assert_int_equal(allocator.live, 0);
    }
    free(file.data);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_gets_its_sentence), cmocka_unit_test(test_unbroken_files_run),
      cmocka_unit_test(test_attributes_and_metadata), cmocka_unit_test(test_arguments),
      cmocka_unit_test(test_memory)};
  return cmocka_run_group_tests_name("bad attentions", tests, NULL, test_backend_close_all);
}
