/* Any bytes as tokenizer.json, as vocab.json with merges.txt, and as a text; or a folder (folder.h)
 * of such files, of which "text" is a text. */
#include "fuzz/folder.h"
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "heed/tokenizer.h"
#include "support/test.h"
#include "support/weights.h"

/* Ids are below the vocabulary's size, and every one has a text. */
static void use(const heed_tokenizer *tokenizer, const char *text, size_t length) {
  int32_t ids[32];
  char shown[24];
  uint32_t count, whole;
  heed_error error;
  heed_tokenizer_get_info(tokenizer);
  if (heed_tokenizer_encode(tokenizer, text, length, ids, (uint32_t)(length % 3), &count, NULL,
                            &error) == HEED_OK)
    heed_tokenizer_text(tokenizer, (int32_t)length, shown, length % sizeof shown);
  if (heed_tokenizer_encode(tokenizer, text, length, ids, 32, &count, &whole, &error) != HEED_OK)
    return;
  if (count > 32 || count > whole) abort();
  for (uint32_t i = 0; i < count; i++) heed_tokenizer_text(tokenizer, ids[i], shown, sizeof shown);
}

static void try_files(heed_context *context, const heed_model_file *files, uint32_t count,
                      const uint8_t *data, size_t size) {
  const heed_model_desc desc = {sizeof desc, files, count};
  heed_tokenizer *tokenizer;
  heed_error error;
  if (heed_tokenizer_open(context, &desc, &tokenizer, &error) != HEED_OK) return;
  use(tokenizer, "It's a cafe\xCC\x81, 12 \xE7\x8C\xAB  ab<eos>", 26);
  use(tokenizer, (const char *)data, size < 256 ? size : 256);
  use(tokenizer, "a b", 3);
  heed_tokenizer_destroy(tokenizer);
}

static void try_folder(heed_context *context, const uint8_t *data, size_t size) {
  fuzz_file parts[FUZZ_MOST_FILES];
  heed_model_file files[FUZZ_MOST_FILES];
  const uint8_t *text = data;
  size_t length = 0;
  const uint32_t count = fuzz_find_files(data, size, parts);
  for (uint32_t i = 0; i < count; i++) {
    files[i] = (heed_model_file){parts[i].name, test_source(parts[i].content, parts[i].size)};
    if (!strcmp(parts[i].name, "text")) text = parts[i].content, length = parts[i].size;
  }
  if (count) try_files(context, files, count, text, length);
}

void fuzz_read(const uint8_t *data, size_t size) {
  static const char vocabulary[] =
      "{\"a\":0,\"b</w>\":1,\"ab</w>\":2,\"<|startoftext|>\":3,\"<|endoftext|>\":4}";
  heed_context *context;
  if (!(context = fuzz_context())) return;
  const heed_source source = test_source(data, size);
  const heed_model_file one = {"tokenizer.json", source};
  const heed_model_file merges[] = {{"vocab.json", test_source(vocabulary, sizeof vocabulary - 1)},
                                    {"merges.txt", source}};
  const heed_model_file words[] = {{"vocab.json", source},
                                   {"merges.txt", test_source("a b</w>", 7)}};
  try_folder(context, data, size);
  try_files(context, &one, 1, data, size);
  try_files(context, merges, 2, data, size);
  try_files(context, words, 2, data, size);
  heed_context_destroy(context);
}

void fuzz_change(fuzz_input *input, test_random *random) {
  static const char *const names[] = {
      "tokenizer.json",          "tokenizer_config.json", "vocab.json", "merges.txt",
      "special_tokens_map.json", "config.json",           NULL};
  static const char *const words[] = {"\"NFC\"",
                                      "\"Lowercase\"",
                                      "\"Replace\"",
                                      "\"Prepend\"",
                                      "\"Sequence\"",
                                      "\"Split\"",
                                      "\"ByteLevel\"",
                                      "\"Isolated\"",
                                      "\"Removed\"",
                                      "\"BPE\"",
                                      "\"<0x41>\"",
                                      "\"<eos>\"",
                                      "\"ab\"",
                                      "\"a b\"",
                                      "[\"a\",\"b\"]",
                                      "\"\xC4\xB0\"",
                                      NULL};
  if (input->size && *input->bytes == '{')
    fuzz_change_json(input, random, words);
  else if (input->size && *input->bytes < 32 && *input->bytes != '\n')
    fuzz_change_folder(input, random, names, words);
  else
    fuzz_change_lines(input, random);
}

#ifndef HEED_LIBFUZZER
#define VOCAB "\"vocab\":{\"a\":0,\"b\":1,\"ab\":2,\"<0x41>\":3,\"<eos>\":4,\"<unk>\":5}"
static const char clip[] =
    "{\"added_tokens\":[{\"id\":4,\"content\":\"<eos>\",\"normalized\":true}],\"normalizer\":{"
    "\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFC\"},{\"type\":\"Replace\",\"pattern\":{"
    "\"Regex\":\"\\\\s+\"},\"content\":\" \"},{\"type\":\"Lowercase\"}]},\"pre_tokenizer\":{"
    "\"type\":\"ByteLevel\"},\"post_processor\":{\"type\":\"RobertaProcessing\",\"sep\":[\"<eos>\","
    "4],\"cls\":[\"a\",0]},\"model\":{\"type\":\"BPE\",\"end_of_word_suffix\":\"b\"," VOCAB
    ",\"merges\":[\"a b\"]}}";
static const char gemma[] =
    "{\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"_\"},"
    "\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"String\":\" \"}},\"post_processor\":{"
    "\"type\":\"TemplateProcessing\",\"single\":[{\"Sequence\":{}},{\"SpecialToken\":{\"id\":"
    "\"<eos>\"}}]},\"model\":{\"byte_fallback\":true,\"fuse_unk\":true,\"unk_token\":\"<unk>"
    "\"," VOCAB ",\"merges\":[[\"a\",\"b\"]]}}";

int main(int argc, char **argv) {
  static const char *const words[] = {"{",
                                      "}",
                                      "[",
                                      "]",
                                      ",",
                                      "\"\"",
                                      "0",
                                      "-1",
                                      "1048575",
                                      "\xCC\x81",
                                      "\xC4\xB0",
                                      "'s",
                                      "</w>",
                                      "ab",
                                      "a b",
                                      "\n",
                                      "#version: 0.2\n",
                                      "<|endoftext|>",
                                      "true",
                                      NULL};
  const fuzz_seed seeds[] = {
      {clip, sizeof clip - 1}, {gemma, sizeof gemma - 1}, {"a b</w>\n", 8}, {"{\"a\":0}", 7}};
  return fuzz_main(argc, argv, seeds, sizeof seeds / sizeof *seeds, words);
}
#endif
