/* Tokenizers: ids as the tokenizer of the npm package @huggingface/transformers gives them
 * (tests/vectors/tokenizer/make.mjs), truncation, texts of ids, and sentences for bad files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "heed/tokenizer.h"
#include "support/test.h"
#include "support/test_context.h"
#include "support/weights.h"
#include "text/unicode.h"

/* A tokenizer of some files of a folder of vectors. */
static heed_status open_files(const char *folder, const char *const *names, uint32_t count,
                              heed_tokenizer **tokenizer) {
  heed_model_file files[4];
  unsigned char *bytes[4];
  for (uint32_t i = 0; i < count; i++) {
    char path[64];
    size_t size;
    snprintf(path, sizeof path, "tokenizer/%s/%s", folder, names[i]);
    bytes[i] = test_read_vector(path, &size);
    files[i] = (heed_model_file){names[i], test_source(bytes[i], size)};
  }
  const heed_model_desc desc = {sizeof desc, files, count};
  const heed_status status = heed_tokenizer_open(context, &desc, tokenizer, &error);
  for (uint32_t i = 0; i < count; i++) free(bytes[i]);
  return status;
}

static heed_status open_text(const char *name, const char *text, heed_tokenizer **tokenizer) {
  const heed_model_file file = {name, test_source(text, strlen(text))};
  const heed_model_desc desc = {sizeof desc, &file, 1};
  return heed_tokenizer_open(context, &desc, tokenizer, &error);
}

static void check_ids(const heed_json *json, heed_json_value one, const heed_tokenizer *tokenizer) {
  enum { MOST = 512 };
  const heed_json_value list = heed_json_get(json, one, "ids");
  const char *text;
  size_t length;
  int32_t ids[MOST];
  uint32_t count, i = 0;
  assert_true(heed_json_string(json, heed_json_get(json, one, "text"), &text, &length));
  assert_ok(heed_tokenizer_encode(tokenizer, text, length, ids, MOST, &count, NULL, &error));
  for (heed_json_value v = heed_json_first(json, list); v; v = heed_json_next(json, list, v)) {
    int64_t id = -1;
    heed_json_i64(json, v, &id);
    if (i >= count || ids[i] != id)
      fail_msg("%s: id %u is %d (expected %d)", text, i, i < count ? ids[i] : -1, (int)id);
    i++;
  }
  if (i != count) fail_msg("%s: %u ids (expected %u)", text, count, i);
}

static void check_cases(const char *folder, const char *const *names, uint32_t count) {
  size_t size;
  heed_json *json;
  heed_tokenizer *tokenizer;
  unsigned char *text = test_read_vector("tokenizer/cases.json", &size);
  assert_ok(heed_json_parse(context, text, size, "cases.json", &json, &error));
  assert_ok(open_files(folder, names, count, &tokenizer));
  const heed_json_value list = heed_json_get(json, heed_json_root(json), folder);
  assert_true(heed_json_count(json, list) > 30);
  for (heed_json_value v = heed_json_first(json, list); v; v = heed_json_next(json, list, v))
    check_ids(json, v, tokenizer);
  heed_tokenizer_destroy(tokenizer);
  heed_json_destroy(json);
  free(text);
}

static void same_ids(void **state) {
  (void)state;
  static const char *const json[] = {"tokenizer.json"}, *const pair[] = {"vocab.json",
                                                                         "merges.txt"};
  check_cases("clip", json, 1);
  check_cases("clip", pair, 2);
  check_cases("gpt2", json, 1);
  check_cases("gemma", json, 1);
}

static void truncation(void **state) {
  (void)state;
  static const char *const json[] = {"tokenizer.json"};
  heed_tokenizer *tokenizer;
  int32_t all[64], some[64];
  uint32_t count, whole;
  assert_ok(open_files("clip", json, 1, &tokenizer));
  const heed_tokenizer_info *info = heed_tokenizer_get_info(tokenizer);
  assert_string_equal(info->kind, "byte-level BPE");
  assert_int_equal(info->padding, info->end);
  assert_int_equal(info->vocabulary, info->end + 1);
  assert_ok(
      heed_tokenizer_encode(tokenizer, "a photo of a cat", 16, all, 64, &count, &whole, &error));
  assert_int_equal(count, whole);
  assert_ok(
      heed_tokenizer_encode(tokenizer, "a photo of a cat", 16, some, 5, &count, &whole, &error));
  assert_int_equal(count, 5);
  assert_true(whole > 5);
  assert_memory_equal(some, all, 4 * sizeof *all);
  assert_int_equal(some[4], info->end);
  assert_fails(heed_tokenizer_encode(tokenizer, "a", 1, some, 2, &count, NULL, &error),
               HEED_INVALID_ARGUMENT, "no room for its ids (found 2, expected at least 3)");
  assert_fails(heed_tokenizer_encode(tokenizer, "\xFF", 1, some, 64, &count, NULL, &error),
               HEED_INVALID_ARGUMENT, "text: not UTF-8");
  char *large = calloc(HEED_TOKENIZER_TEXT_MAX + 1, 1);
  memset(large, 'a', HEED_TOKENIZER_TEXT_MAX + 1);
  assert_fails(heed_tokenizer_encode(tokenizer, large, HEED_TOKENIZER_TEXT_MAX + 1, some, 64,
                                     &count, NULL, &error),
               HEED_INVALID_ARGUMENT, "text: too long (found 16385 bytes");
  assert_ok(heed_tokenizer_encode(tokenizer, large, HEED_TOKENIZER_TEXT_MAX, some, 64, &count,
                                  &whole, &error));
  assert_true(whole > 64);
  free(large);
  heed_tokenizer_destroy(tokenizer);
}

static void shown(const heed_tokenizer *tokenizer, const char *text, const char *expected) {
  int32_t ids[64];
  uint32_t count;
  char all[256] = "", one[32];
  assert_ok(heed_tokenizer_encode(tokenizer, text, strlen(text), ids, 64, &count, NULL, &error));
  for (uint32_t i = 0; i < count; i++) {
    heed_tokenizer_text(tokenizer, ids[i], one, sizeof one);
    strcat(strcat(all, i ? "," : ""), one);
  }
  assert_string_equal(all, expected);
}

static void texts(void **state) {
  (void)state;
  static const char *const json[] = {"tokenizer.json"};
  heed_tokenizer *tokenizer;
  char text[8];
  assert_ok(open_files("clip", json, 1, &tokenizer));
  shown(tokenizer, "A photo of", "<|startoftext|>,a,photo,of,<|endoftext|>");
  shown(tokenizer, "\xE7\x8C\xAB", "<|startoftext|>,?,?,?,<|endoftext|>");
  heed_tokenizer_text(tokenizer, -1, text, sizeof text);
  assert_string_equal(text, "");
  heed_tokenizer_text(tokenizer, 1 << 30, text, sizeof text);
  assert_string_equal(text, "");
  heed_tokenizer_destroy(tokenizer);
  assert_ok(open_files("gemma", json, 1, &tokenizer));
  assert_string_equal(heed_tokenizer_get_info(tokenizer)->kind, "BPE with byte fallback");
  assert_int_equal(heed_tokenizer_get_info(tokenizer)->padding, 0);
  shown(tokenizer, "~", "~,<eos>"); /* <0x7E> */
  heed_tokenizer_destroy(tokenizer);
}

static void bad_files(void **state) {
  (void)state;
#define VOCAB "\"vocab\":{\"a\":0,\"b\":1,\"ab\":2}"
#define MODEL(rest) "{\"model\":{\"type\":\"BPE\"," VOCAB ",\"merges\":[\"a b\"]}" rest "}"
  static const struct {
    const char *name, *text;
    heed_status status;
    const char *part;
  } cases[] = {
      {"x", "", HEED_INVALID_FILE, "no file of one beside the model"},
      {"spiece.model", "", HEED_UNSUPPORTED, "spiece.model: this kind of tokenizer"},
      {"tokenizer.json", "{}", HEED_INVALID_FILE, "model is not valid"},
      {"tokenizer.json", "[]", HEED_INVALID_FILE, "it is not an object"},
      {"tokenizer.json", "{\"model\":{\"type\":\"Unigram\"}}", HEED_UNSUPPORTED,
       "the tokenizer's model is not supported (found Unigram, expected BPE)"},
      {"tokenizer.json", "{\"model\":{\"type\":\"BPE\",\"vocab\":[]}}", HEED_INVALID_FILE,
       "vocab is not valid"},
      {"tokenizer.json", "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":-1}}}", HEED_INVALID_FILE,
       "a number below 1048576"},
      {"tokenizer.json", "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":1048576}}}",
       HEED_INVALID_FILE, "a number below 1048576"},
      {"tokenizer.json", "{\"model\":{" VOCAB "}}", HEED_INVALID_FILE, "merges is not valid"},
      {"tokenizer.json", "{\"model\":{" VOCAB ",\"merges\":[\"a c\"]}}", HEED_INVALID_FILE,
       "merge 0 names a token that the vocabulary lacks (found a and c)"},
      {"tokenizer.json", "{\"model\":{" VOCAB ",\"merges\":[\"ab\"]}}", HEED_INVALID_FILE,
       "two tokens with a space between them"},
      {"tokenizer.json", "{\"model\":{" VOCAB ",\"merges\":[[\"a\"]]}}", HEED_INVALID_FILE,
       "a merge is not valid"},
      {"tokenizer.json", MODEL(""), HEED_UNSUPPORTED, "BPE of characters is not supported"},
      {"tokenizer.json", MODEL(",\"normalizer\":{\"type\":\"BertNormalizer\"}"), HEED_UNSUPPORTED,
       "a step of the normalizer is not supported (found BertNormalizer"},
      {"tokenizer.json", MODEL(",\"pre_tokenizer\":{\"type\":\"Metaspace\"}"), HEED_UNSUPPORTED,
       "a pre_tokenizer is not supported (found Metaspace"},
      {"tokenizer.json",
       MODEL(",\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"x\"}}"),
       HEED_UNSUPPORTED, "a split of the pre_tokenizer is not supported (found x"},
      {"tokenizer.json",
       MODEL(",\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{"
             "\"id\":\"c\"}}]}"),
       HEED_INVALID_FILE, "names a token that is not there (found c)"},
      {"tokenizer.json", MODEL(",\"added_tokens\":[{\"id\":3,\"content\":\"c\",\"lstrip\":true}]"),
       HEED_UNSUPPORTED, "lstrip"},
      {"vocab.json", "{}", HEED_INVALID_FILE, "no file of one beside the model"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    heed_tokenizer *tokenizer;
    assert_fails(open_text(cases[i].name, cases[i].text, &tokenizer), cases[i].status,
                 cases[i].part);
    assert_null(tokenizer);
  }
  heed_tokenizer *tokenizer;
  const heed_model_file pair[] = {{"vocab.json", test_source("{\"a\":0}", 7)},
                                  {"merges.txt", test_source("", 0)}};
  const heed_model_desc desc = {sizeof desc, pair, 2};
  assert_fails(heed_tokenizer_open(context, &desc, &tokenizer, &error), HEED_UNSUPPORTED,
               "not CLIP's vocabulary");
}

/* Every allocation that fails is an error with nothing left behind. */
static void out_of_memory(void **state) {
  (void)state;
  static const char *const json[] = {"tokenizer.json"};
  heed_context *kept = context;
  for (size_t fail = 1;; fail++) {
    test_allocator allocator = {0};
    const heed_context_desc desc = test_context_desc(&allocator);
    heed_tokenizer *tokenizer;
    int32_t ids[64];
    uint32_t count;
    assert_ok(heed_context_create(&desc, &context, &error));
    allocator.fail_at = allocator.total + fail;
    heed_status status = open_files("gemma", json, 1, &tokenizer);
    if (status == HEED_OK) {
      status = heed_tokenizer_encode(tokenizer, "cafe\xCC\x81 x", 8, ids, 64, &count, NULL, &error);
      heed_tokenizer_destroy(tokenizer);
    }
    const bool done = allocator.total < allocator.fail_at;
    heed_context_destroy(context);
    assert_int_equal(allocator.live, 0);
    if (done) assert_int_equal(status, HEED_OK);
    if (!done) assert_int_equal(status, HEED_OUT_OF_MEMORY);
    if (done) break;
  }
  context = kept;
}

static void classes(void **state) {
  (void)state;
  static const struct {
    uint32_t point;
    heed_char_class kind;
  } cases[] = {{'a', HEED_CHAR_LETTER},    {'7', HEED_CHAR_NUMBER},    {'_', HEED_CHAR_OTHER},
               {' ', HEED_CHAR_SPACE},     {0xE9, HEED_CHAR_LETTER},   {0xBD, HEED_CHAR_NUMBER},
               {0x301, HEED_CHAR_OTHER},   {0x3000, HEED_CHAR_SPACE},  {0x732B, HEED_CHAR_LETTER},
               {0x200B, HEED_CHAR_OTHER},  {0x1F431, HEED_CHAR_OTHER}, {0x2167, HEED_CHAR_NUMBER},
               {0x10FFFF, HEED_CHAR_OTHER}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(heed_unicode_class(cases[i].point), cases[i].kind);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_ids),      cmocka_unit_test(truncation),
                                     cmocka_unit_test(texts),         cmocka_unit_test(bad_files),
                                     cmocka_unit_test(out_of_memory), cmocka_unit_test(classes)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
