/* Any bytes as the config of a family's vectors: the model opens, and its graph for its own size is
 * built, or both are refused with a sentence. The first byte chooses the folder. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "support/test.h"
#include "support/weights.h"

static const struct {
  const char *folder, *config;
} families[] = {
#define VIT_VECTOR(folder, config) {#folder, config},
#define STAGE_VECTOR VIT_VECTOR
#include "stage_vectors.h"
#include "vit_vectors.h"
#undef STAGE_VECTOR
#undef VIT_VECTOR
};
enum { FAMILIES = sizeof families / sizeof *families };

static heed_model_file weights[FAMILIES];

static unsigned char *read_vector(uint32_t family, const char *name, size_t *size) {
  char path[160];
  snprintf(path, sizeof path, "vit/%s/%s", families[family].folder, name);
  return test_read_vector(path, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  heed_context *context;
  heed_model *model = NULL;
  heed_graph *graph = NULL;
  heed_error error = {.message = ""};
  if (size == 0 || heed_context_create(NULL, &context, &error) != HEED_OK) return 0;
  const uint32_t family = data[0] % FAMILIES;
  if (!weights[family].name) {
    size_t bytes;
    unsigned char *read = read_vector(family, "model.safetensors", &bytes);
    weights[family] = (heed_model_file){"model.safetensors", test_source(read, bytes)};
  }
  const char *name = families[family].config;
  const heed_model_file files[] = {weights[family],
                                   {name ? name : "config.json", test_source(data + 1, size - 1)}};
  const heed_model_desc desc = {sizeof desc, files, 2};
  heed_status status = heed_model_open(context, &desc, &model, &error);
  if (status == HEED_OK) status = heed_model_build(model, NULL, &graph, &error);
  if (status != HEED_OK && (status == HEED_INTERNAL || strlen(error.message) < 10)) abort();
  heed_graph_destroy(graph);
  heed_model_destroy(model);
  heed_context_destroy(context);
  return 0;
}

#ifndef HEED_LIBFUZZER
enum { MOST = 8192 };

/* Replaces a random string or number of the text from `at` on by another, so that it stays JSON. */
static void replace_value(test_random *random, char text[MOST]) {
  char from[MOST];
  static const char *const values[] = {
      "0",       "1",          "2",        "3",        "4",          "5",       "8",         "12",
      "20",      "24",         "64",       "65536",    "4294967296", "-1",      "0.5",       "1e-6",
      "1e300",   "true",       "false",    "null",     "[]",         "[4,4]",   "{}",        "\"\"",
      "\"vit\"", "\"dinov2\"", "\"clip\"", "\"gelu\"", "\"avg\"",    "\"map\"", "\"swiglu\""};
  static const char *const keys[] = {
      "\"x\"",         "\"num_register_tokens\"", "\"vision_config\"", "\"use_swiglu_ffn\"",
      "\"mlp_ratio\"", "\"num_labels\"",          "\"global_pool\""};
  const size_t length = strlen(text);
  memcpy(from, text, length + 1);
  const char *at = from + test_random_below(random, (uint32_t)length);
  do {
    at += strcspn(at, "{[,:");
    if (*at) at++;
    at += strspn(at, " \n");
  } while (*at && !strchr("\"0123456789-tfn", *at));
  size_t old = *at == '"' ? 2 + strcspn(at + 1, "\"") : strcspn(at, " ,]}\n");
  if (!*at) old = 0;
  const bool is_key = *at == '"' && at[old] == ':';
  const char *value = values[test_random_below(random, sizeof values / sizeof *values)];
  if (is_key) value = keys[test_random_below(random, sizeof keys / sizeof *keys)];
  if (old > length - (size_t)(at - from)) old = length - (size_t)(at - from);
  snprintf(text, MOST, "%.*s%s%s", (int)(at - from), from, *at ? value : "", at + old);
}

/* `runs` configs with one to three values changed. */
static void change_values(const fuzz_seed *seeds, uint32_t runs) {
  char text[1 + MOST];
  test_random random = {16};
  for (uint32_t n = 0; n < runs; n++) {
    const uint32_t family = test_random_below(&random, FAMILIES);
    const fuzz_seed *seed = &seeds[family];
    if (seed->size < 3 || seed->size >= MOST / 2) continue;
    memcpy(text, seed->bytes, seed->size);
    text[seed->size] = '\0';
    for (uint32_t steps = 1 + test_random_below(&random, 3); steps > 0; steps--)
      replace_value(&random, text + 1);
    LLVMFuzzerTestOneInput((const uint8_t *)text, 1 + strlen(text + 1));
  }
}

int main(int argc, char **argv) {
  static const char *const words[] = {"{", "}", ",", ":", "null", "[4,4]", "1e9", "\"vit\"", NULL};
  static char *usual[] = {"", "20000"}; /* under a sanitizer too: a minute at most */
  fuzz_seed seeds[FAMILIES];
  for (uint32_t i = 0; i < FAMILIES; i++) {
    size_t size = 0;
    unsigned char *config = families[i].config ? read_vector(i, families[i].config, &size) : NULL;
    unsigned char *seed = malloc(size + 1);
    if (!seed) return 1;
    seed[0] = (unsigned char)i;
    if (size) memcpy(seed + 1, config, size);
    seeds[i] = (fuzz_seed){seed, size + 1};
    free(config);
  }
  change_values(seeds, 20000);
  const int status = argc > 1 ? fuzz_main(argc, argv, seeds, FAMILIES, words)
                              : fuzz_main(2, usual, seeds, FAMILIES, words);
  for (uint32_t i = 0; i < FAMILIES; i++) {
    free((void *)(uintptr_t)seeds[i].bytes);
    free((void *)(uintptr_t)weights[i].source.bytes);
  }
  return status;
}
#endif
