/* A folder of a model (folder.h): configs of every family beside the headers of its weights, int8
 * ones too. The model opens, and its graph for its own size is built, or both are refused with a
 * sentence. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/folder.h"
#include "fuzz/fuzz.h"
#include "heed/sequences.h"
#include "support/test.h"

static heed_status drop(void *user, const void *bytes, size_t count, heed_error *error) {
  (void)user, (void)bytes, (void)count, (void)error;
  return HEED_OK;
}

/* A session reads and packs the weights. */
static void read_weights(heed_context *context, const heed_model *model, heed_graph *graph) {
  const heed_cpu_desc one = {sizeof one, 1, "scalar"};
  const heed_convert_desc convert = {.struct_size = sizeof convert, .sink = drop};
  heed_backend *backend;
  heed_plan *plan = NULL;
  heed_session *session = NULL;
  heed_error error;
  heed_status status = heed_cpu_backend_create(context, &one, &backend, &error);
  if (status != HEED_OK) return;
  status = heed_plan_create(graph, backend, NULL, &plan, &error);
  if (status == HEED_OK) status = heed_session_create(plan, NULL, &session, &error);
  fuzz_must_refuse(status, &error);
  heed_session_destroy(session);
  heed_plan_destroy(plan);
  heed_backend_destroy(backend);
  fuzz_must_refuse(heed_model_convert(model, &convert, NULL, &error), &error);
}

static void use(heed_context *context, heed_model *model, bool small) {
  heed_graph *graph;
  heed_error error = {.message = ""};
  heed_model_info info;
  heed_preprocess preprocess;
  char text[256];
  heed_model_get_info(model, &info);
  heed_model_describe(model, text, sizeof text);
  heed_model_label(model, 1);
  heed_model_preprocess(model, &preprocess);
  for (uint32_t i = 0; heed_model_absent(model, i); i++) continue;
  if (heed_model_write_names(model, drop, NULL, &error) != HEED_OK) error.message[0] = '\0';
  const heed_status status = heed_model_build(model, NULL, &graph, &error);
  fuzz_must(status == HEED_OK || (status != HEED_INTERNAL && strlen(error.message) >= 10),
            "a graph is refused without a sentence");
  if (status != HEED_OK) return;
  if (small) read_weights(context, model, graph);
  heed_graph_destroy(graph);
}

static void open_model(heed_context *context, const heed_model_desc *desc, bool small) {
  heed_model *model;
  heed_error error = {.message = ""};
  const heed_status status = heed_model_open(context, desc, &model, &error);
  fuzz_must(status == HEED_OK || (status != HEED_INTERNAL && strlen(error.message) >= 10),
            "a model is refused without a sentence");
  if (status != HEED_OK) return;
  use(context, model, small);
  heed_model_destroy(model);
}

void fuzz_read(const uint8_t *data, size_t size) {
  fuzz_file parts[FUZZ_MOST_FILES];
  heed_model_file files[FUZZ_MOST_FILES];
  test_bytes made[FUZZ_MOST_FILES] = {{NULL, 0}};
  const uint32_t count = fuzz_find_files(data, size, parts);
  heed_context *context = count ? fuzz_context() : NULL;
  heed_model *model;
  heed_error error;
  size_t weights = 0;
  bool named = false;
  if (!context) return;
  for (uint32_t i = 0; i < count; i++) {
    const bool is_made = fuzz_make_weights(&parts[i], &made[i]);
    weights += made[i].size;
    files[i] =
        (heed_model_file){parts[i].name, is_made ? fuzz_callback_source(&made[i])
                                                 : test_source(parts[i].content, parts[i].size)};
  }
  heed_model_desc desc = {sizeof desc, files, count, HEED_TOWER_VISION};
  if (heed_sequence_named(context, &desc, &named, &error) == HEED_OK && named) {
    if (heed_sequence_open(context, &desc, &model, &error) == HEED_OK) {
      use(context, model, false);
      heed_model_destroy(model);
    }
  } else {
    open_model(context, &desc, weights < 1u << 17 && size % 4 == 0); /* it takes long */
    desc.tower = HEED_TOWER_TEXT;
    open_model(context, &desc, false);
  }
  heed_context_destroy(context);
  for (uint32_t i = 0; i < count; i++) free(made[i].data);
}

void fuzz_change(fuzz_input *input, test_random *random) {
  static const char *const names[] = {"config.json",
                                      "preprocessor_config.json",
                                      "processor_config.json",
                                      "open_clip_config.json",
                                      "names.json",
                                      "model.safetensors",
                                      "model.safetensors.index.json",
                                      "model-00001-of-00002.safetensors",
                                      "open_clip_model.safetensors",
                                      NULL};
  static const char *const words[] = {"\"vit\"",
                                      "\"dinov2\"",
                                      "\"clip\"",
                                      "\"siglip\"",
                                      "\"gelu\"",
                                      "\"quick_gelu\"",
                                      "\"avg\"",
                                      "\"map\"",
                                      "\"token\"",
                                      "\"swiglu\"",
                                      "\"num_register_tokens\"",
                                      "\"vision_config\"",
                                      "\"use_swiglu_ffn\"",
                                      "\"mlp_ratio\"",
                                      "\"num_labels\"",
                                      "\"global_pool\"",
                                      "[4,4]",
                                      "[24,24]",
                                      "[24]",
                                      "\"F16\"",
                                      "\"BF16\"",
                                      "\"I8\"",
                                      "\"F64\"",
                                      NULL};
  fuzz_change_folder(input, random, names, words);
}

#ifndef HEED_LIBFUZZER
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

static fuzz_seed read_folder(const char *folder, const char *config) {
  char path[160];
  size_t size;
  test_bytes made = {NULL, 0};
  snprintf(path, sizeof path, "vit/%s/model.safetensors", folder);
  unsigned char *read = test_read_vector(path, &size);
  fuzz_append_file(&made, "model.safetensors", read + 8,
                   read[0] | (size_t)read[1] << 8 | (size_t)read[2] << 16);
  free(read);
  if (config) {
    snprintf(path, sizeof path, "vit/%s/%s", folder, config);
    read = test_read_vector(path, &size);
    fuzz_append_file(&made, config, read, size);
    free(read);
  }
  return (fuzz_seed){made.data, made.size};
}

int main(int argc, char **argv) {
  static const char *const words[] = {"{", "}", ",", ":", "null", "[4,4]", "1e9", "\"vit\"", NULL};
  static char *usual[] = {"", "6000"}; /* under a sanitizer too: a minute at most */
  fuzz_seed seeds[FAMILIES];
  for (uint32_t i = 0; i < FAMILIES; i++)
    seeds[i] = read_folder(families[i].folder, families[i].config);
  const int status = argc > 1 ? fuzz_main(argc, argv, seeds, FAMILIES, words)
                              : fuzz_main(2, usual, seeds, FAMILIES, words);
  for (uint32_t i = 0; i < FAMILIES; i++) free((void *)(uintptr_t)seeds[i].bytes);
  return status;
}
#endif
