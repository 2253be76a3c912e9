/* An encoder-decoder from files, decoded greedily: source tokens in, target tokens out, and where
 * each of them looked in the source. Usage: example_decode MODEL 4,10,3 with a folder of
 * config.json and model.safetensors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heed/sequences.h"

enum { MOST_TOKENS = 64 };

typedef struct loaded_file {
  unsigned char *bytes;
  size_t size;
} loaded_file;

static loaded_file load(const char *folder, const char *name) {
  char path[512];
  loaded_file loaded = {NULL, 0};
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  const long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  if (size > 0) loaded.bytes = malloc((size_t)size);
  if (loaded.bytes) {
    rewind(file);
    loaded.size = fread(loaded.bytes, 1, (size_t)size, file);
  }
  if (file) fclose(file);
  if (!loaded.bytes || loaded.size != (size_t)size) {
    fprintf(stderr, "%s: cannot read\n", path);
    exit(EXIT_FAILURE);
  }
  return loaded;
}

static uint32_t read_tokens(char *text, int32_t tokens[MOST_TOKENS]) {
  uint32_t count = 0;
  for (const char *word = strtok(text, ","); word && count < MOST_TOKENS; word = strtok(NULL, ","))
    tokens[count++] = (int32_t)strtol(word, NULL, 10);
  return count;
}

static void must(heed_status status, const heed_error *error) {
  if (status == HEED_OK) return;
  fprintf(stderr, "%s\n", error->message);
  exit(EXIT_FAILURE);
}

/* One row a target token: the source's columns, mean over the heads of the last layer. */
static void print_attention(heed_decoder *decoder, const heed_model_info *info,
                            const int32_t *source, uint32_t source_length) {
  heed_error error;
  uint32_t length;
  const int32_t *tokens = heed_decoder_tokens(decoder, &length);
  const heed_shape shape =
      heed_decoder_attention_shape(decoder, HEED_ATTENTION_CROSS, info->decoder_layers - 1);
  const uint64_t count = heed_shape_count(&shape), head = (uint64_t)length * source_length;
  float *weights = malloc((size_t)count * sizeof *weights);
  if (!weights) exit(EXIT_FAILURE);
  must(heed_decoder_read_attention(decoder, HEED_ATTENTION_CROSS, info->decoder_layers - 1, weights,
                                   count, &error),
       &error);
  printf("source   ");
  for (uint32_t s = 0; s < source_length; s++) printf(" %6d", source[s]);
  printf("\n");
  for (uint32_t t = 0; t < length; t++) {
    printf("token %3d", tokens[t]);
    for (uint32_t s = 0; s < source_length; s++) {
      double mean = 0.0;
      for (uint64_t at = (uint64_t)t * source_length + s; at < count; at += head)
        mean += (double)weights[at] / (double)(count / head);
      printf(" %6.3f", mean);
    }
    printf("\n");
  }
  free(weights);
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s MODEL 4,10,3\n", argv[0]);
    return EXIT_FAILURE;
  }
  heed_error error;
  heed_context *context;
  heed_backend *backend;
  heed_model *model;
  heed_decoder *decoder;
  heed_model_info info;
  int32_t source[MOST_TOKENS];
  const uint32_t length = read_tokens(argv[2], source);
  const loaded_file config = load(argv[1], "config.json"),
                    weights = load(argv[1], "model.safetensors");
  const heed_model_file files[2] = {
      {"config.json", {config.size, config.bytes, NULL, NULL}},
      {"model.safetensors", {weights.size, weights.bytes, NULL, NULL}}};
  const heed_model_desc model_desc = {sizeof model_desc, files, 2};
  must(heed_context_create(NULL, &context, &error), &error);
  must(heed_cpu_backend_create(context, NULL, &backend, &error), &error);
  must(heed_sequence_open(context, &model_desc, &model, &error), &error);
  heed_model_get_info(model, &info);
  const heed_decoder_desc decoder_desc = {
      .struct_size = sizeof decoder_desc, .source_length = length, .attention = true};
  must(heed_decoder_create(model, backend, &decoder_desc, NULL, &decoder, &error), &error);
  must(heed_decoder_run(decoder, source, length * sizeof *source, NULL, &error), &error);
  print_attention(decoder, &info, source, length);
  heed_decoder_destroy(decoder);
  heed_model_destroy(model);
  heed_backend_destroy(backend);
  heed_context_destroy(context);
  free(config.bytes);
  free(weights.bytes);
  return EXIT_SUCCESS;
}
