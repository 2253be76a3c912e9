/* What tokenizer_config.json changes of ids, texts that would grow, and merges beside a loop that
 * looks for the first best pair again and again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heed/tokenizer.h"
#include "support/test.h"
#include "support/test_context.h"
#include "support/weights.h"

static heed_status open_texts(const char *json, size_t size, const char *config,
                              heed_tokenizer **tokenizer) {
  const heed_model_file files[2] = {
      {"tokenizer.json", test_source(json, size)},
      {"tokenizer_config.json", config ? test_source(config, strlen(config)) : test_source("", 0)}};
  const heed_model_desc desc = {sizeof desc, files, config ? 2u : 1u};
  return heed_tokenizer_open(context, &desc, tokenizer, &error);
}

static uint32_t encode(const heed_tokenizer *tokenizer, const char *text, int32_t ids[64]) {
  uint32_t count;
  assert_ok(heed_tokenizer_encode(tokenizer, text, strlen(text), ids, 64, &count, NULL, &error));
  return count;
}

/* The same ids of two texts, or not. */
static void compare(const heed_tokenizer *a, const char *text, const heed_tokenizer *b,
                    const char *other, bool same) {
  int32_t ids[64] = {0}, others[64] = {0};
  const uint32_t count = encode(a, text, ids), found = encode(b, other, others);
  if ((count == found && memcmp(ids, others, count * sizeof *ids) == 0) != same)
    fail_msg("\"%s\" and \"%s\": expected %s ids", text, other, same ? "the same" : "other");
}

static void lower_case(void **state) {
  (void)state;
  static const struct {
    const char *config;
    bool lowers, says;
  } cases[] = {
      {NULL, false, true},
      {"{}", false, false},
      {"{\"do_lower_case\":false}", false, false},
      {"{\"do_lower_case\":null}", false, false},
      {"{\"do_lower_case\":true}", true, false},
      {"{\"do_lower_case\":true,\"tokenizer_class\":\"GemmaTokenizer\"}", true, false},
      {"{\"tokenizer_class\":\"Siglip2Tokenizer\"}", true, false},
      {"{\"tokenizer_class\":\"Siglip2TokenizerFast\",\"do_lower_case\":false}", true, false}};
  size_t size;
  unsigned char *json = test_read_vector("tokenizer/gemma/tokenizer.json", &size);
  heed_tokenizer *plain, *one;
  assert_ok(open_texts((char *)json, size, "{}", &plain));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_ok(open_texts((char *)json, size, cases[i].config, &one));
    const char *assumed = heed_tokenizer_get_info(one)->assumed;
    if ((assumed != NULL) != cases[i].says) fail_msg("case %zu assumes %s", i, assumed);
    compare(one, "A Photo OF Z\xC3\x9CRICH", plain, "a photo of z\xC3\xBCrich", cases[i].lowers);
    compare(one, "a photo", plain, "a photo", true);
    compare(one, "A<eos>B", plain, "a<eos>b", cases[i].lowers);
    heed_tokenizer_destroy(one);
  }
  heed_tokenizer_destroy(plain);
  free(json);
}

#define TOKENS "\"a\":0,\"b\":1,\"ab\":2,\"<s>\":3,\"</s>\":4,\"<\":5,\"s\":6,\">\":7,\"/\":8"
#define BPE(rest)                                                                           \
  "{\"model\":{\"type\":\"BPE\",\"byte_fallback\":true,\"vocab\":{" TOKENS "},\"merges\":[" \
  "\"a b\"]}" rest "}"

static void expect_ids(const char *json, const char *config, const char *text, uint32_t count,
                       const int32_t *expected) {
  heed_tokenizer *tokenizer;
  int32_t ids[64];
  assert_ok(open_texts(json, strlen(json), config, &tokenizer));
  const uint32_t found = encode(tokenizer, text, ids);
  bool same = found == count;
  for (uint32_t i = 0; same && i < count; i++) same = ids[i] == expected[i];
  if (!same) fail_msg("%s: \"%s\" has %u ids, the first %d", config, text, found, ids[0]);
  heed_tokenizer_destroy(tokenizer);
}
#define IDS(...) \
  sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t), (const int32_t[]) { __VA_ARGS__ }

/* Tokens that only the second file lists, and what stands around texts. */
static void tokens(void **state) {
  (void)state;
  static const char spelled[] = BPE(""),
                    marked[] = BPE(",\"added_tokens\":[{\"id\":3,\"content\":\"<s>\","
                                   "\"special\":true}]");
  expect_ids(spelled, "{}", "a<s>", IDS(0, 5, 6, 7));
  expect_ids(marked, "{}", "a<s>", IDS(0, 3));
  expect_ids(marked, "{\"split_special_tokens\":true}", "a<s>", IDS(0, 5, 6, 7));
  expect_ids(spelled, "{\"bos_token\":\"<s>\"}", "a<s>", IDS(0, 3));
  expect_ids(spelled, "{\"eos_token\":{\"content\":\"</s>\"}}", "</s>b", IDS(4, 1));
  expect_ids(spelled, "{\"additional_special_tokens\":[\"<s>\"]}", "a<s>", IDS(0, 3));
  expect_ids(spelled, "{\"added_tokens_decoder\":{\"3\":{\"content\":\"<s>\"}}}", "a<s>",
             IDS(0, 3));
  /* one that is new, between merges */
  expect_ids(spelled, "{\"added_tokens_decoder\":{\"9\":{\"content\":\"ba\"}}}", "abab",
             IDS(0, 9, 1));
#define LLAMA \
  "{\"tokenizer_class\":\"GemmaTokenizer\",\"bos_token\":\"<s>\",\"eos_token\":\"</s>\","
  expect_ids(spelled, LLAMA "\"add_bos_token\":true,\"add_eos_token\":true}", "ab", IDS(3, 2, 4));
  expect_ids(spelled, LLAMA "\"add_bos_token\":false}", "ab", IDS(2));
  expect_ids(spelled, "{\"bos_token\":\"<s>\",\"add_bos_token\":true}", "ab", IDS(2));
}

static void rows(void **state) {
  (void)state;
  static const char json[] = BPE("");
  static const struct {
    const char *config;
    heed_status status;
    const char *part;
  } bad[] = {{"[]", HEED_INVALID_FILE, "tokenizer_config.json: it is not an object"},
             {"{\"padding_side\":\"left\"}", HEED_UNSUPPORTED,
              "padding_side is not supported (found left, expected right)"},
             {"{\"truncation_side\":\"left\"}", HEED_UNSUPPORTED, "truncation_side"},
             {"{\"do_lower_case\":1}", HEED_INVALID_FILE, "do_lower_case is not valid"},
             {"{\"tokenizer_class\":1}", HEED_INVALID_FILE, "tokenizer_class is not valid"},
             {"{\"added_tokens_decoder\":[]}", HEED_INVALID_FILE, "added_tokens_decoder"},
             {"{\"added_tokens_decoder\":{\"x\":{\"content\":\"c\"}}}", HEED_INVALID_FILE,
              "added_tokens_decoder is not valid"},
             {"{\"added_tokens_decoder\":{\"9\":{\"content\":\"c\",\"lstrip\":true}}}",
              HEED_UNSUPPORTED, "lstrip"},
             {LLAMA "\"add_bos_token\":7}", HEED_INVALID_FILE, "add_bos_token is not valid"},
             {"{\"tokenizer_class\":\"LlamaTokenizer\",\"add_bos_token\":true}", HEED_UNSUPPORTED,
              "add_bos_token is not supported"}};
  heed_tokenizer *tokenizer;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_fails(open_texts(json, sizeof json - 1, bad[i].config, &tokenizer), bad[i].status,
                 bad[i].part);
  assert_ok(open_texts(json, sizeof json - 1, "{\"model_max_length\":64,\"pad_token\":\"b\"}",
                       &tokenizer));
  assert_int_equal(heed_tokenizer_get_info(tokenizer)->most, 64);
  assert_int_equal(heed_tokenizer_get_info(tokenizer)->padding, 1);
  heed_tokenizer_destroy(tokenizer);
  assert_ok(open_texts(json, sizeof json - 1, "{\"model_max_length\":1e30}", &tokenizer));
  assert_int_equal(heed_tokenizer_get_info(tokenizer)->most, 0);
  heed_tokenizer_destroy(tokenizer);
}

/* -------------------------------------------------------------------------------------- lengths */

#define STEP \
  "{\"type\":\"Replace\",\"pattern\":{\"String\":\"a\"},\"content\":\"aaaaaaaaaaaaaaaa\"}"

/* Steps that put 16 characters for one: of three and of text between tokens too. */
static void texts_that_grow(void **state) {
  (void)state;
  static const char json[] =
      BPE(",\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[" STEP "," STEP "," STEP
          "]},\"added_tokens\":[{\"id\":3,\"content\":\"<s>\",\"normalized\":false}]");
  static int32_t ids[70000];
  char text[HEED_TOKENIZER_TEXT_MAX + 8] = "";
  heed_tokenizer *tokenizer;
  uint32_t count;
  assert_ok(open_texts(json, sizeof json - 1, NULL, &tokenizer));
  for (int parts = 1; parts < 20; parts++) {
    strcat(text, "a<s>"); /* 4,096 a and a token */
    if (parts > 16) {
      assert_fails(
          heed_tokenizer_encode(tokenizer, text, strlen(text), ids, 70000, &count, NULL, &error),
          HEED_INVALID_ARGUMENT, "too long once tokenizer.json has");
      continue;
    }
    assert_ok(
        heed_tokenizer_encode(tokenizer, text, strlen(text), ids, 70000, &count, NULL, &error));
    assert_int_equal(count, parts * 4097);
  }
  memset(text, 'a', HEED_TOKENIZER_TEXT_MAX);
  assert_fails(heed_tokenizer_encode(tokenizer, text, HEED_TOKENIZER_TEXT_MAX, ids, 70000, &count,
                                     NULL, &error),
               HEED_INVALID_ARGUMENT, "found more than 65536 characters");
  heed_tokenizer_destroy(tokenizer);
}

/* Ids of a word by another way: the first best pair, looked for from the start each time. */
static uint32_t join_slowly(const int32_t (*merges)[3], uint32_t merge_count, int32_t *ids,
                            uint32_t count) {
  for (;;) {
    uint32_t best = merge_count, at = 0;
    for (uint32_t i = 0; i + 1 < count; i++)
      for (uint32_t m = 0; m < best; m++)
        if (merges[m][0] == ids[i] && merges[m][1] == ids[i + 1]) best = m, at = i;
    if (best == merge_count) return count;
    ids[at] = merges[best][2];
    memmove(ids + at + 1, ids + at + 2, (count - at - 2) * sizeof *ids);
    count--;
  }
}

static void merges_beside_a_loop(void **state) {
  (void)state;
  static const char json[] =
      "{\"model\":{\"type\":\"BPE\",\"byte_fallback\":true,\"vocab\":{\"a\":0,\"b\":1,\"c\":2,"
      "\"aa\":3,\"ab\":4,\"bc\":5,\"aab\":6,\"aaa\":7,\"bca\":8,\"abab\":9,\"aaaa\":10},"
      "\"merges\":[\"b c\",\"a a\",\"aa b\",\"a b\",\"bc a\",\"aa a\",\"ab ab\",\"aa aa\"]}}";
  static const int32_t merges[][3] = {{1, 2, 5}, {0, 0, 3}, {3, 1, 6}, {0, 1, 4},
                                      {5, 0, 8}, {3, 0, 7}, {4, 4, 9}, {3, 3, 10}};
  heed_tokenizer *tokenizer;
  test_random random = {7};
  assert_ok(open_texts(json, sizeof json - 1, NULL, &tokenizer));
  for (int round = 0; round < 3000; round++) {
    char text[64] = "";
    int32_t ids[64], expected[64];
    const uint32_t length = 1 + test_random_below(&random, 60);
    for (uint32_t i = 0; i < length; i++) {
      expected[i] = (int32_t)test_random_below(&random, 3);
      text[i] = (char)('a' + expected[i]);
    }
    const uint32_t wanted = join_slowly(merges, 8, expected, length),
                   count = encode(tokenizer, text, ids);
    if (count != wanted || memcmp(ids, expected, count * sizeof *ids) != 0)
      fail_msg("%s: found %u ids, expected %u", text, count, wanted);
  }
  heed_tokenizer_destroy(tokenizer);
}

/* A word of 16,384 letters that all join, and 400,000 added tokens: 6.5 billion comparisons where
 * these are gone through for each letter. */
static void long_words_and_many_tokens(void **state) {
  (void)state;
  enum { MANY = 400000 };
  const size_t room = 400 + (size_t)MANY * 64;
  char *json = malloc(room), *text = malloc(HEED_TOKENIZER_TEXT_MAX);
  static int32_t ids[HEED_TOKENIZER_TEXT_MAX];
  heed_tokenizer *tokenizer;
  uint32_t count;
  size_t at = (size_t)snprintf(
      json, room,
      "{\"model\":{\"type\":\"BPE\",\"byte_fallback\":true,\"vocab\":{\"a\":0,\"aa\":1,"
      "\"aaaa\":2,\"aaaaaaaa\":3},\"merges\":[\"a a\",\"aa aa\",\"aaaa aaaa\"]},"
      "\"added_tokens\":[");
  for (int i = 0; i < MANY; i++)
    at += (size_t)snprintf(json + at, room - at, "%s{\"id\":%d,\"content\":\"aaaab%d\"}",
                           i ? "," : "", i + 4, i);
  at += (size_t)snprintf(json + at, room - at, "]}");
  memset(text, 'a', HEED_TOKENIZER_TEXT_MAX);
  assert_ok(open_texts(json, at, NULL, &tokenizer));
  assert_ok(heed_tokenizer_encode(tokenizer, text, HEED_TOKENIZER_TEXT_MAX, ids,
                                  HEED_TOKENIZER_TEXT_MAX, &count, NULL, &error));
  assert_int_equal(count, HEED_TOKENIZER_TEXT_MAX / 8);
  memcpy(text + 8, "aaaab399999", 11);
  assert_ok(heed_tokenizer_encode(tokenizer, text, 19, ids, 64, &count, NULL, &error));
  assert_int_equal(count, 2);
  assert_int_equal(ids[1], MANY - 1 + 4);
  heed_tokenizer_destroy(tokenizer);
  free(json);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(lower_case),
                                     cmocka_unit_test(tokens),
                                     cmocka_unit_test(rows),
                                     cmocka_unit_test(texts_that_grow),
                                     cmocka_unit_test(merges_beside_a_loop),
                                     cmocka_unit_test(long_words_and_many_tokens)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
