/* A shared library as other programs have it: models of the folders that are named, by exported
 * functions alone, against the results of independent programs in io.safetensors; then a picture.
 * shared PICTURE CLASS FOLDER...: CLASS is what the first folder's model sees in the picture. Exit
 * code 1: a number is off by more than 2e-5, or a call failed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heed/native.h"

static heed_error error;
static heed_context *context;
static heed_backend *backend;

static void must(heed_status status) {
  if (status == HEED_OK) return;
  printf("%s\n", error.message);
  exit(1);
}

typedef struct opened {
  heed_model_files *files;
  heed_model *model;
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
} opened;

static opened open_model(const char *folder, uint32_t batch, uint32_t height, uint32_t width) {
  opened o;
  const heed_build_desc build = {
      .struct_size = sizeof build, .batch = batch, .height = height, .width = width};
  must(heed_model_load(context, folder, NULL, &o.files, &o.model, &error));
  must(heed_model_build(o.model, &build, &o.graph, &error));
  const heed_value maps[] = {heed_graph_tap(o.graph, HEED_TAP_WEIGHTS, 0),
                             heed_graph_tap(o.graph, HEED_TAP_WEIGHTS, 1)};
  const heed_plan_desc taps = {.struct_size = sizeof taps, .taps = maps, .tap_count = 2};
  must(heed_plan_create(o.graph, backend, &taps, &o.plan, &error));
  must(heed_session_create(o.plan, NULL, &o.session, &error));
  return o;
}

static void close_model(opened *o) {
  heed_session_destroy(o->session);
  heed_plan_destroy(o->plan);
  heed_graph_destroy(o->graph);
  heed_model_destroy(o->model);
  heed_model_files_destroy(o->files);
}

static float *read_tensor(const heed_tensor_file *file, const char *name,
                          const heed_file_tensor **tensor) {
  *tensor = heed_tensor_file_find(file, name);
  if (!*tensor) return NULL;
  float *values = malloc((size_t)(*tensor)->count * sizeof *values);
  if (!values) exit(1);
  must(heed_tensor_file_read(file, *tensor, 0, (*tensor)->count, values, &error));
  return values;
}

/* How far a value is from what is expected; not a number where there is none. */
static double compare(const opened *o, const heed_tensor_file *io, const char *expected,
                      const char *name) {
  const heed_file_tensor *tensor;
  double worst = 0.0;
  float *want = read_tensor(io, expected, &tensor);
  if (!want) return (double)NAN;
  float *found = malloc((size_t)tensor->count * sizeof *found);
  if (!found) exit(1);
  must(heed_session_read(o->session, heed_graph_find(o->graph, name), 0, tensor->count, found,
                         &error));
  for (uint64_t i = 0; i < tensor->count; i++) {
    const double off = fabs((double)found[i] - (double)want[i]);
    if (!(off <= worst)) worst = off;
  }
  free(found);
  free(want);
  return worst;
}

static int check_folder(const char *folder) {
  static const char *const pairs[][2] = {{"expect.last_hidden_state", "last_hidden_state"},
                                         {"expect.attention.0", "layer.0.attention.weights"},
                                         {"expect.attention.1", "layer.1.attention.weights"}};
  char path[1024];
  const heed_file_tensor *input;
  heed_tensor_file *io;
  int wrong = 0;
  snprintf(path, sizeof path, "%s/io.safetensors", folder);
  must(heed_tensor_file_open(context, path, NULL, &io, &error));
  float *pixels = read_tensor(io, "pixel_values", &input);
  if (!pixels) return printf("%s: no pixel_values\n", path), 1;
  const uint32_t *dim = input->shape.dim;
  opened o = open_model(folder, dim[0], dim[2], dim[3]);
  must(heed_session_write(o.session, heed_graph_find(o.graph, "pixel_values"), pixels,
                          (size_t)input->count * sizeof *pixels, &error));
  must(heed_session_run(o.session, NULL, &error));
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    const double off = compare(&o, io, pairs[i][0], pairs[i][1]);
    printf("%s: %s: off by %.3g\n", folder, pairs[i][1], off);
    wrong += !(off <= 2e-5);
  }
  free(pixels);
  close_model(&o);
  heed_tensor_file_destroy(io);
  return wrong;
}

static int check_picture(const char *folder, const char *path, const char *expected) {
  heed_picture picture;
  heed_preprocess preprocess;
  heed_model_info info;
  uint32_t height, width, top;
  opened o = open_model(folder, 1, 0, 0);
  heed_model_get_info(o.model, &info);
  heed_model_preprocess(o.model, &preprocess);
  must(heed_image_load(context, path, &picture, &error));
  const heed_image image = heed_picture_view(&picture);
  must(heed_preprocess_size(&preprocess, image.width, image.height, &width, &height, &error));
  const size_t count = (size_t)info.channels * height * width;
  float *pixels = malloc(count * sizeof *pixels), *logits = malloc(info.classes * sizeof *logits);
  if (!pixels || !logits) exit(1);
  must(heed_preprocess_image(context, &preprocess, &image, pixels, NULL, &error));
  must(heed_session_write(o.session, heed_graph_find(o.graph, "pixel_values"), pixels,
                          count * sizeof *pixels, &error));
  must(heed_session_run(o.session, NULL, &error));
  must(heed_session_read(o.session, heed_graph_find(o.graph, "logits"), 0, info.classes, logits,
                         &error));
  heed_top(logits, info.classes, 1, &top, NULL);
  const char *found = heed_model_label(o.model, top);
  printf("%s: %s (expected %s)\n", path, found, expected);
  const int wrong = strcmp(found, expected) != 0;
  free(pixels);
  free(logits);
  heed_picture_free(context, &picture);
  close_model(&o);
  return wrong;
}

int main(int argc, char **argv) {
  heed_auto_choice choice;
  int wrong = 0;
  if (argc < 5) return printf("usage: shared PICTURE CLASS FOLDER FOLDER...\n"), 2;
  must(heed_context_create(NULL, &context, &error));
  must(heed_auto_backend_create(context, NULL, &backend, &choice, &error));
  printf("%s: %s\n", heed_backend_device(backend), choice.why);
  wrong += check_picture(argv[3], argv[1], argv[2]);
  for (int i = 4; i < argc; i++) wrong += check_folder(argv[i]);
  heed_backend_destroy(backend);
  heed_context_destroy(context);
  return wrong > 0;
}
