/* The reference cases of attention cut to broken shapes and attributes: each gets its sentence, and never a number. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/safetensors.h"
#include "support/op_test.h"
#include "support/weights.h"

#define MOST_TENSORS 16

/* A case file with one tensor replaced, added or left out, or with other attributes. */
typedef struct bad_case {
  const char *file;
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
    {"grouped_queries", NULL, "query", "F32 2 7 11 32", ARGUMENT, "key heads do not divide query heads (found 7 query heads for 2 key heads)"},
    {"grouped_queries", NULL, "query", "F32 2 1 11 32", ARGUMENT, "key heads do not divide query heads (found 1"},
    {"grouped_queries", NULL, "query", "F32 2 8 11", ARGUMENT, "attention: query"},
    {"grouped_queries", NULL, "query", "F32 1 8 11 32", ARGUMENT, "attention: key"},
    {"grouped_queries", NULL, "query", "F32 2 8 11 31", ARGUMENT, "attention: key"},
    {"grouped_queries", NULL, "key", "F32 2 3 13 32", ARGUMENT, "attention: value"},
    {"grouped_queries", NULL, "key", "F32 2 2 12 32", ARGUMENT, "attention: value"},
    {"grouped_queries", NULL, "value", "F32 2 2 14 32", ARGUMENT, "attention: value"},
    {"grouped_queries", NULL, "value", "F32 2 4 13 32", ARGUMENT, "attention: value"},
    {"grouped_queries", NULL, "value", "U8 2 2 13 32", ARGUMENT, "attention: value"},
    {"grouped_queries", NULL, "key", NULL, A_FILE, "tensor key is missing"},
    {"grouped_queries", NULL, "mask", "U8 2 2 11 13", ARGUMENT, "attention: mask: wrong shape (found [2, 2, 11, 13], expected [2, 8, 11, 13]"},
    {"grouped_queries", NULL, "keys", "F32 2 2 13 32", A_FILE, "a tensor that the op does not know (found \"keys\")"},
    /* one head of keys for all: [2,4,9,32] [2,1,15,32] [2,1,15,32] */
    {"multi_query", NULL, "key", "F32 2 3 15 32", ARGUMENT, "attention: value"},
    /* [2,2,7,16] [2,2,9,16] [2,2,9,16]: nothing may be empty */
    {"dot", NULL, "query", "F32 2 2 7 0", A_FILE, "tensor query is empty"},
    {"dot", NULL, "query", "F32 2 2 0 16", A_FILE, "tensor query is empty"},
    {"dot", NULL, "key", "F32 2 0 9 16", A_FILE, "tensor key is empty"},
    {"dot", NULL, "value", "F32 2 2 9 0", A_FILE, "tensor value is empty"},
    {"dot", NULL, "expect.weights", "F32 2 2 9 7", A_FILE, "expect.weights does not fit the result"},
    {"dot", NULL, "expect.scores", "F32 2 2 7 9", A_FILE, "a tensor that the op does not know (found \"expect.scores\")"},
    {"dot", "{\"score\": \"cosine\"}", NULL, NULL, HEED_UNSUPPORTED, "attribute score has a value not known here (found \"cosine\")"},
    {"dot", "{\"score\": 1}", NULL, NULL, A_FILE, "attribute score is off"},
    {"dot", "{\"score\": \"dot\", \"dropout\": 0.1}", NULL, NULL, HEED_UNSUPPORTED, "unknown attribute (found \"dropout\")"},
    {"dot", "{\"score\": \"dot\"", NULL, NULL, A_FILE, "attrs"},
    {"dot", "[1]", NULL, NULL, A_FILE, "attrs is not usable"},
    {"dot", "{\"scale\": \"big\"}", NULL, NULL, A_FILE, "attribute scale is off"},
    {"dot", "{\"scale\": 1e300}", NULL, NULL, ARGUMENT, "scale is off"},
    {"dot", "{\"score\": \"dot\", \"empty_row\": \"ignore\"}", NULL, NULL, HEED_UNSUPPORTED, "empty_row"},
    {"dot", "{\"norm\": \"hardmax\"}", NULL, NULL, HEED_UNSUPPORTED, "norm"},
    /* [2,2,11,32] [2,2,13,32] [2,2,13,32], mask [2,2,11,13] */
    {"mask_full", NULL, "mask", "U8 2 2 13 11", ARGUMENT, "attention: mask: wrong shape (found [2, 2, 13, 11]"},
    {"mask_full", NULL, "mask", "U8 2 2 1 13", ARGUMENT, "attention: mask: wrong shape"},
    {"mask_full", NULL, "mask", "U8 3 2 11 13", ARGUMENT, "attention: mask: wrong shape"},
    {"mask_full", NULL, "mask", "U8 11 13", ARGUMENT, "attention: mask"},
    {"mask_full", NULL, "mask", "F32 2 2 11 13", ARGUMENT, "attention: mask"},
    {"mask_full", NULL, "mask", "U8 2 2 11 0", A_FILE, "tensor mask is empty"},
    /* [2,2,6,32] [2,2,8,32], key_padding [2,8], query_padding [2,6] */
    {"mask_query_and_key_padding", NULL, "key_padding", "U8 2 6", ARGUMENT, "attention: key_padding"},
    {"mask_query_and_key_padding", NULL, "key_padding", "U8 1 8", ARGUMENT, "attention: key_padding"},
    {"mask_query_and_key_padding", NULL, "query_padding", "U8 2 8", ARGUMENT, "attention: query_padding"},
    {"mask_query_and_key_padding", NULL, "query_padding", "I32 2 6", ARGUMENT, "attention: query_padding"},
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
    {"additive", "{}", NULL, NULL, A_FILE, "a tensor that the op does not know"},
    {"mask_window", "{\"window\": [-2, 2]}", NULL, NULL, ARGUMENT, "window is off (found -2 left, 2 right"},
    {"mask_window", "{\"window\": [4, -7]}", NULL, NULL, ARGUMENT, "window is off (found 4 left, -7 right"},
    {"mask_window", "{\"window\": [4]}", NULL, NULL, A_FILE, "attribute window is off"},
    {"mask_window", "{\"window\": [4, 2, 1]}", NULL, NULL, A_FILE, "attribute window is off"},
    {"mask_window", "{\"window\": [4, 2147483648]}", NULL, NULL, A_FILE, "attribute window is off"},
    {"mask_window", "{\"window\": 4}", NULL, NULL, A_FILE, "attribute window is off"},
    {"sparse_softmax", "{\"norm\": \"sparse_softmax\", \"threshold\": 1.5}", NULL, NULL, ARGUMENT, "threshold is off"},
    {"sparse_softmax", "{\"norm\": \"sparse_softmax\", \"threshold\": -0.1}", NULL, NULL, ARGUMENT, "threshold is off"},
    {"softcap", "{\"softcap\": -5.0}", NULL, NULL, ARGUMENT, "softcap is off"},
    {"softcap", "{\"softcap\": 1e60}", NULL, NULL, ARGUMENT, "softcap is off"},
    {"mask_causal", "{\"causal\": true}", NULL, NULL, A_FILE, "attribute causal is off"},
    {"mask_causal", "{\"causal\": \"left\"}", NULL, NULL, HEED_UNSUPPORTED, "attribute causal has a value not known here (found \"left\")"},
};

/* "F32 2 7 11 32" */
static void read_shape(const char *text, heed_safetensors_item *item) {
  item->dtype = text[0] == 'F' ? HEED_F32 : text[0] == 'U' ? HEED_U8 : HEED_I32;
  item->shape = (heed_shape){0};
  for (const char *at = strchr(text, ' '); at; at = strchr(at + 1, ' ')) item->shape.dim[item->shape.rank++] = (uint32_t)strtoul(at + 1, NULL, 10);
}

/* The tensors of the file but for the broken one; data are of the items' sizes, all ones. */
static uint32_t list_items(const bad_case *bad, const heed_safetensors *file, heed_safetensors_item *items) {
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
  for (uint32_t i = 0; i < count; i++) assert_true(heed_shape_count(&items[i].shape) * 4 <= sizeof ones);
  return count;
}

static test_bytes break_file(const bad_case *bad) {
  char name[128];
  size_t size;
  heed_error error;
  heed_safetensors *file;
  test_bytes made = {NULL, 0};
  snprintf(name, sizeof name, "attention/%s.safetensors", bad->file);
  unsigned char *bytes = test_read_vector(name, &size);
  const heed_source source = test_source(bytes, size);
  assert_ok(heed_safetensors_open(test_backend_context(), &source, name, &file, &error));
  heed_safetensors_item items[MOST_TENSORS];
  const uint32_t count = list_items(bad, file, items);
  const heed_safetensors_pair metadata[] = {{"op", heed_safetensors_metadata(file, "op")},
                                            {"attrs", bad->attributes ? bad->attributes : heed_safetensors_metadata(file, "attrs")}};
  assert_ok(heed_safetensors_write(test_backend_context(), items, count, metadata, 2, test_bytes_append, &made, &error));
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
    const heed_status status = heed_check_case(test_backend_context(), test_backend_get(0), file.data, file.size, 0.0, NULL, NULL, &result, &error);
    if (status != cases[i].status || !strstr(error.message, cases[i].sentence))
      fail_msg("case %zu, %s, attributes %s, %s %s: found %s (%s), expected %s (%s)", i, cases[i].file, cases[i].attributes ? cases[i].attributes : "as they are",
               cases[i].tensor ? cases[i].tensor : "", cases[i].shape ? cases[i].shape : "", heed_status_name(status), error.message,
               heed_status_name(cases[i].status), cases[i].sentence);
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
    assert_ok(heed_check_case(test_backend_context(), test_backend_get(0), file.data, file.size, 0.0, NULL, NULL, &result, &error));
    free(file.data);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_gets_its_sentence), cmocka_unit_test(test_unbroken_files_run)};
  return cmocka_run_group_tests_name("bad attentions", tests, NULL, test_backend_close_all);
}
