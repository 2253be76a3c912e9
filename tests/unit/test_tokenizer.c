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

#define VOCAB "\"vocab\":{\"a\":0,\"b\":1,\"ab\":2}"
#define MODEL(rest) "{\"model\":{\"type\":\"BPE\"," VOCAB ",\"merges\":[\"a b\"]}" rest "}"
#define NFC "{\"type\":\"NFC\"}"
#define EOS "{\"SpecialToken\":{\"id\":\"a\"}}"
#define TEXT_64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define REPLACE(pattern, content) \
  MODEL(",\"normalizer\":{\"type\":\"Replace\",\"pattern\":" pattern ",\"content\":" content "}")
#define WORDS(rest) MODEL(",\"pre_tokenizer\":{" rest "}")
#define AROUND(rest) MODEL(",\"post_processor\":{" rest "}")
static const struct {
  const char *name, *text;
  heed_status status;
  const char *part;
} bad_file_cases[] = {
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
    {"tokenizer.json", "{\"model\":{\"type\":7}}", HEED_INVALID_FILE, "type is not valid"},
    {"tokenizer.json", "{\"model\":{\"ignore_merges\":true}}", HEED_UNSUPPORTED,
     "the tokenizer's model is not supported (found ignore_merges, expected plain BPE)"},
    {"tokenizer.json", "{\"model\":{\"dropout\":0.1}}", HEED_UNSUPPORTED, "(found dropout,"},
    {"tokenizer.json", "{\"model\":{\"byte_fallback\":0}}", HEED_INVALID_FILE,
     "byte_fallback is not valid"},
    {"tokenizer.json", "{\"model\":{\"fuse_unk\":0}}", HEED_INVALID_FILE, "fuse_unk is not valid"},
    {"tokenizer.json", "{\"model\":{\"end_of_word_suffix\":0}}", HEED_INVALID_FILE,
     "end_of_word_suffix is not valid"},
    {"tokenizer.json", "{\"model\":{\"end_of_word_suffix\":\"0123456789abcdef\"}}",
     HEED_UNSUPPORTED, "end_of_word_suffix is not supported (found 0123456789abcdef, expected"},
    {"tokenizer.json", "{\"model\":{" VOCAB ",\"merges\":[],\"unk_token\":0}}", HEED_INVALID_FILE,
     "unk_token is not valid"},
    {"tokenizer.json", "{\"model\":{" VOCAB ",\"merges\":[[\"a\",1]]}}", HEED_INVALID_FILE,
     "a merge is not valid"},
    {"tokenizer.json", "{\"model\":{" VOCAB ",\"merges\":[[1,\"a\"]]}}", HEED_INVALID_FILE,
     "a merge is not valid"},
    {"tokenizer.json", MODEL(",\"padding\":{\"pad_id\":-1}"), HEED_INVALID_FILE,
     "pad_id is not valid"},
    {"tokenizer.json", MODEL(",\"added_tokens\":[{\"id\":3,\"content\":7}]"), HEED_INVALID_FILE,
     "content is not valid"},
    {"tokenizer.json", MODEL(",\"added_tokens\":[{\"id\":3}]"), HEED_INVALID_FILE,
     "added_tokens is not valid"},
    {"tokenizer.json", MODEL(",\"added_tokens\":[{\"id\":3,\"content\":\"c\",\"rstrip\":1}]"),
     HEED_UNSUPPORTED, "rstrip"},
    {"tokenizer.json",
     MODEL(",\"added_tokens\":[{\"id\":3,\"content\":\"c\",\"single_word\":true}]"),
     HEED_UNSUPPORTED, "single_word"},
    {"tokenizer.json", MODEL(",\"added_tokens\":[{\"id\":1048576,\"content\":\"c\"}]"),
     HEED_INVALID_FILE, "id is not valid"},
    {"tokenizer.json", MODEL(",\"added_tokens\":[{\"content\":\"c\"}]"), HEED_INVALID_FILE,
     "id is not valid"},
    {"tokenizer.json", MODEL(",\"added_tokens\":[{\"id\":3,\"content\":\"c\",\"normalized\":1}]"),
     HEED_INVALID_FILE, "normalized is not valid"},
    {"tokenizer.json", MODEL(",\"normalizer\":{\"type\":1}"), HEED_INVALID_FILE,
     "type is not valid"},
    {"tokenizer.json",
     MODEL(",\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":1}]}"),
     HEED_INVALID_FILE, "type is not valid"},
    {"tokenizer.json",
     MODEL(",\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[" NFC "," NFC "," NFC "," NFC
           "," NFC "," NFC "," NFC "," NFC "," NFC "]}"),
     HEED_UNSUPPORTED, "the normalizer is not supported (found more than 8 steps, expected 8 at"},
    {"tokenizer.json", REPLACE("{\"String\":\"" TEXT_64 "\"}", "\"\""), HEED_INVALID_FILE,
     "pattern is not valid"},
    {"tokenizer.json", REPLACE("{\"String\":\"a\\u0000b\"}", "\"\""), HEED_INVALID_FILE,
     "a string of at most 63 bytes without a zero"},
    {"tokenizer.json", REPLACE("{}", "\"\""), HEED_INVALID_FILE, "pattern is not valid"},
    {"tokenizer.json", REPLACE("{\"Regex\":\"[a-z]\"}", "\"\""), HEED_UNSUPPORTED,
     "a pattern of the normalizer is not supported (found [a-z], expected"},
    {"tokenizer.json", REPLACE("{\"String\":\"a\"}", "1"), HEED_INVALID_FILE,
     "content is not valid"},
    {"tokenizer.json", WORDS("\"type\":1"), HEED_INVALID_FILE, "type is not valid"},
    {"tokenizer.json", WORDS("\"type\":\"ByteLevel\",\"use_regex\":1"), HEED_INVALID_FILE,
     "use_regex is not valid"},
    {"tokenizer.json", WORDS("\"type\":\"ByteLevel\",\"add_prefix_space\":true"), HEED_UNSUPPORTED,
     "add_prefix_space is not supported (found true, expected false)"},
    {"tokenizer.json", WORDS("\"type\":\"Split\",\"pattern\":{\"Regex\":1}"), HEED_INVALID_FILE,
     "Regex is not valid"},
    {"tokenizer.json", WORDS("\"type\":\"Split\",\"pattern\":{\"String\":1}"), HEED_INVALID_FILE,
     "String is not valid"},
    {"tokenizer.json", WORDS("\"type\":\"Split\",\"behavior\":1"), HEED_INVALID_FILE,
     "behavior is not valid"},
    {"tokenizer.json", WORDS("\"type\":\"Split\",\"invert\":1"), HEED_INVALID_FILE,
     "invert is not valid"},
    {"tokenizer.json", WORDS("\"type\":\"Split\",\"behavior\":\"Removed\""), HEED_UNSUPPORTED,
     "a split of the pre_tokenizer is not supported"},
    {"tokenizer.json",
     WORDS("\"type\":\"Split\",\"behavior\":\"Removed\",\"invert\":true,"
           "\"pattern\":{\"Regex\":\"\\\\d+\"}"),
     HEED_UNSUPPORTED, "(found \\d+, expected CLIP's pattern)"},
    {"tokenizer.json", AROUND("\"type\":1"), HEED_INVALID_FILE, "type is not valid"},
    {"tokenizer.json", AROUND("\"type\":\"X\""), HEED_UNSUPPORTED,
     "a post_processor is not supported (found X, expected"},
    {"tokenizer.json", AROUND("\"type\":\"BertProcessing\",\"cls\":7"), HEED_INVALID_FILE,
     "cls is not valid"},
    {"tokenizer.json", AROUND("\"type\":\"BertProcessing\",\"cls\":[]"), HEED_INVALID_FILE,
     "cls is not valid"},
    {"tokenizer.json",
     AROUND("\"type\":\"BertProcessing\",\"cls\":[\"a\",0],\"sep\":[\"a\",1048576]"),
     HEED_INVALID_FILE, "sep is not valid (found an array"},
    {"tokenizer.json",
     AROUND("\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":1}}]"),
     HEED_INVALID_FILE, "id is not valid"},
    {"tokenizer.json",
     AROUND("\"type\":\"TemplateProcessing\",\"single\":[" EOS "," EOS "," EOS "," EOS "," EOS
            "," EOS "," EOS "," EOS "," EOS "]"),
     HEED_UNSUPPORTED, "post_processor is not supported (found more than 8 ids around a text"},
};

static void bad_files(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof bad_file_cases / sizeof *bad_file_cases; i++) {
    heed_tokenizer *tokenizer;
    assert_fails(open_text(bad_file_cases[i].name, bad_file_cases[i].text, &tokenizer),
                 bad_file_cases[i].status, bad_file_cases[i].part);
    assert_null(tokenizer);
  }
  heed_tokenizer *tokenizer;
  const heed_model_file pair[] = {{"vocab.json", test_source("{\"a\":0}", 7)},
                                  {"merges.txt", test_source("", 0)}};
  const heed_model_desc desc = {sizeof desc, pair, 2};
  assert_fails(heed_tokenizer_open(context, &desc, &tokenizer, &error), HEED_UNSUPPORTED,
               "not CLIP's vocabulary");
}

/* A merge of two tokens that make one of more than 1,024 bytes, and CLIP's two files. */
static void bad_merges(void **state) {
  (void)state;
  enum { LENGTH = 600 };
  char token[LENGTH + 1], text[4 * LENGTH];
  heed_tokenizer *tokenizer;
  memset(token, 'a', LENGTH);
  token[LENGTH] = '\0';
  snprintf(text, sizeof text, "{\"model\":{\"vocab\":{\"%s\":0},\"merges\":[\"%s %s\"]}}", token,
           token, token);
  assert_fails(open_text("tokenizer.json", text, &tokenizer), HEED_UNSUPPORTED,
               "merge 0 makes a token that is too long (found 1200 bytes, expected at most 1024)");
  static const char vocab[] = "{\"<|startoftext|>\":0,\"<|endoftext|>\":1,\"a\":2,\"aa\":3}",
                    begin_alone[] = "{\"<|startoftext|>\":0}";
  static const struct {
    const char *vocab, *merges;
    heed_status status;
    const char *part;
  } cases[] = {{vocab, "#version: 0.2\r\n\r\na a\r\n", HEED_OK, ""},
               {vocab, "a a\n#version 1\n", HEED_INVALID_FILE, "merge 1 names a token"},
               {vocab, "a", HEED_INVALID_FILE, "merges.txt: merge 0 is not valid (found \"a\""},
               {vocab, "a \n", HEED_INVALID_FILE, "two tokens with a space between them"},
               {vocab, " a\n", HEED_INVALID_FILE, "two tokens with a space between them"},
               {vocab, "a a a\n", HEED_INVALID_FILE, "two tokens with a space between them"},
               {vocab, "a c\n", HEED_INVALID_FILE, "(found a and c)"},
               {vocab, "c a\n", HEED_INVALID_FILE, "(found c and a)"},
               {vocab, "a aa\n", HEED_INVALID_FILE, "(found a and aa)"},
               {begin_alone, "", HEED_UNSUPPORTED, "vocab.json: not CLIP's vocabulary"},
               {"[]", "", HEED_INVALID_FILE, "vocab.json: it is not an object"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const heed_model_file pair[] = {
        {"vocab.json", test_source(cases[i].vocab, strlen(cases[i].vocab))},
        {"merges.txt", test_source(cases[i].merges, strlen(cases[i].merges))}};
    const heed_model_desc desc = {sizeof desc, pair, 2};
    error.message[0] = '\0';
    assert_fails(heed_tokenizer_open(context, &desc, &tokenizer, &error), cases[i].status,
                 cases[i].part);
    if (cases[i].status == HEED_OK) /* a</w> is not there */
      shown(tokenizer, "Aa", "<|startoftext|>,a,<|endoftext|>,<|endoftext|>");
    heed_tokenizer_destroy(tokenizer);
  }
}

/* Texts through a tokenizer of few tokens: what each of its rules does to them. */
static void rules(void **state) {
  (void)state;
#define BYTES "\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"use_regex\":"
#define SIX "\"a\":0,\"b\":1,\"ab\":2,\"'\":3,\"s\":4,\"1\":5"
  static const struct {
    const char *text, *input, *expected;
  } cases[] = {
      /* the longest of two added tokens */
      {"{\"model\":{\"vocab\":{" SIX "},\"merges\":[\"a b\"]},\"added_tokens\":[{\"id\":6,"
       "\"content\":\"<x>\"},{\"id\":7,\"content\":\"<x><y>\"},{\"id\":8,\"content\":\"<x>"
       "<\"}]," BYTES "false}}",
       "ab<x><y>ab<x>", "ab,<x><y>,ab,<x>"},
      /* a string in the place of another, longer and shorter, at the end of a text */
      {"{\"model\":{\"vocab\":{" SIX "},\"merges\":[\"a b\"]},\"normalizer\":{\"type\":"
       "\"Replace\",\"pattern\":{\"String\":\"xyz\"},\"content\":\"ab\"}," BYTES "false}}",
       "xyzabxyz1", "ab,ab,ab,1"},
      {"{\"model\":{\"vocab\":{" SIX "},\"merges\":[\"a b\"]},\"normalizer\":{\"type\":"
       "\"Replace\",\"pattern\":{\"String\":\"\"},\"content\":\"ab\"}," BYTES "false}}",
       "ab1", "ab,1"},
      {"{\"model\":{\"vocab\":{" SIX "},\"merges\":[\"a b\"]}," BYTES "true}}", "ab's1'",
       "ab,',s,1,'"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    heed_tokenizer *tokenizer;
    assert_ok(open_text("tokenizer.json", cases[i].text, &tokenizer));
    shown(tokenizer, cases[i].input, cases[i].expected);
    heed_tokenizer_destroy(tokenizer);
  }
}

/* Tokens as text: bytes spelled <0xE9>, U+2581 for a space, room for none of it. */
static void spellings(void **state) {
  (void)state;
  static const char text[] =
      "{\"model\":{\"vocab\":{\"<0x4A>\":0,\"<0x4a>\":1,\"<0x4A]\":2,\"<0y4A>\":3,\"\\u2581a\":4,"
      "\"\\u2582\":5,\"<0x00>\":6,\"abcdefgh\":7},\"merges\":[],\"byte_fallback\":true}}";
  static const char *const expected[] = {"J",  "<0x4a>",       "<0x4A]", "<0y4A>",
                                         " a", "\xE2\x96\x82", "?",      "abcdefgh"};
  heed_tokenizer *tokenizer;
  char to[32];
  assert_ok(open_text("tokenizer.json", text, &tokenizer));
  for (int32_t id = 0; id < 8; id++) {
    heed_tokenizer_text(tokenizer, id, to, sizeof to);
    assert_string_equal(to, expected[id]);
  }
  heed_tokenizer_text(tokenizer, 7, to, 8); /* a character has four bytes at most, and a zero */
  assert_string_equal(to, "abcd");
  strcpy(to, "kept");
  heed_tokenizer_text(tokenizer, 0, to, 0);
  assert_string_equal(to, "kept");
  heed_tokenizer_text(tokenizer, 0, to, 1);
  assert_string_equal(to, "");
  heed_tokenizer_destroy(tokenizer);
  heed_tokenizer_destroy(NULL);
  assert_fails(heed_tokenizer_open(NULL, NULL, NULL, &error), HEED_INVALID_ARGUMENT,
               "tokenizer: NULL argument (expected context, desc and tokenizer)");
  const heed_model_desc none = {sizeof none, NULL, 1};
  assert_fails(heed_tokenizer_open(context, &none, &tokenizer, &error), HEED_INVALID_ARGUMENT,
               "files");
}

/* Every allocation that fails is an error with nothing left behind. */
static void out_of_memory(void **state) {
  (void)state;
  static const char *const json[] = {"tokenizer.json"};
  /* Hangul in one letter and in three, which NFC and NFD part and join */
  static const char text[] = "cafe\xCC\x81 \xEA\xB0\x81 \xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8";
  heed_context *kept = context;
  const char *folder = "clip";
  for (size_t fail = 1;; fail++) {
    test_allocator allocator = {0};
    const heed_context_desc desc = test_context_desc(&allocator);
    heed_tokenizer *tokenizer;
    int32_t ids[64];
    uint32_t count;
    assert_ok(heed_context_create(&desc, &context, &error));
    allocator.fail_at = allocator.total + fail;
    heed_status status = open_files(folder, json, 1, &tokenizer);
    if (status == HEED_OK) {
      status =
          heed_tokenizer_encode(tokenizer, text, sizeof text - 1, ids, 64, &count, NULL, &error);
      heed_tokenizer_destroy(tokenizer);
    }
    const bool done = allocator.total < allocator.fail_at;
    heed_context_destroy(context);
    assert_int_equal(allocator.live, 0);
    if (done) assert_int_equal(status, HEED_OK);
    if (!done) assert_int_equal(status, HEED_OUT_OF_MEMORY);
    if (done && strcmp(folder, "gemma") == 0) break;
    if (done) {
      folder = "gemma";
      fail = 0;
    }
  }
  context = kept;
}

static void classes(void **state) {
  (void)state;
  static const uint32_t spaces[] = {9,      13,     ' ',    0x85,   0xA0,   0x1680, 0x2000,
                                    0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000};
  for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
    assert_int_equal(heed_unicode_class(spaces[i]), HEED_CHAR_SPACE);
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
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(same_ids),  cmocka_unit_test(truncation),    cmocka_unit_test(texts),
      cmocka_unit_test(bad_files), cmocka_unit_test(bad_merges),    cmocka_unit_test(rules),
      cmocka_unit_test(spellings), cmocka_unit_test(out_of_memory), cmocka_unit_test(classes)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
