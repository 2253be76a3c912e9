/* vit MODEL PHOTO MAP.png: five classes of a photo, and where its first token attends in the last
 * layer's head 0, as PNG. MODEL is a folder, a file of weights or an ONNX graph, with a classifier
 * or without. Compiles as C99 and as C++20. docs/c.md and heed.h quote main from `flow` to the
 * figure; tests/package/quote.sh compares them. */
#include <stdio.h>
#include <stdlib.h>

#include "heed/native.h"

static heed_error error;

static void must(heed_status status) {
  if (status == HEED_OK) return;
  fprintf(stderr, "vit: %s\n", error.message);
  exit(EXIT_FAILURE);
}

static float *floats(size_t count) {
  float *made = (float *)calloc(count + 1, sizeof *made);
  if (!made) must(heed_fail_memory(&error, "vit", count * sizeof *made));
  return made;
}

int main(int argc, char **argv) {
  heed_context *context;
  heed_backend *backend;
  heed_auto_choice choice;
  heed_model_files *files;
  heed_model *model;
  heed_model_info info;
  heed_preprocess preprocess;
  heed_picture photo;
  heed_region seen;
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
  uint32_t width, height, top[5], peak;
  double probability[5];
  heed_value_info map_info; /* [1, H, 1, T]; of an ONNX graph, which has all rows, [1, H, T, T] */
  if (argc != 4) return fprintf(stderr, "usage: vit MODEL PHOTO MAP.png\n"), 2;

  /* flow */
  must(heed_context_create(NULL, &context, &error));
  must(heed_auto_backend_create(context, NULL, &backend, &choice, &error));
  fprintf(stderr, "%s: %s\n", heed_backend_name(backend), choice.why);
  must(heed_model_load(context, argv[1], NULL, &files, &model, &error));
  heed_model_get_info(model, &info);
  heed_model_preprocess(model, &preprocess);

  must(heed_image_load(context, argv[2], &photo, &error));
  const heed_image image = heed_picture_view(&photo);
  must(heed_preprocess_size(&preprocess, image.width, image.height, &width, &height, &error));
  const uint32_t rows = height / info.patch, columns = width / info.patch,
                 tokens = info.prefix_tokens + rows * columns;
  const size_t count = (size_t)info.channels * height * width;
  float *pixels = floats(count), *logits = floats(info.classes), *row = floats(tokens),
        *map = row + info.prefix_tokens;
  must(heed_preprocess_image(context, &preprocess, &image, pixels, &seen, &error));

  const uint32_t layer = info.layers - 1, head = 0, cls = 0;
  const heed_build_desc desc = {
      .struct_size = sizeof desc, .height = height, .width = width, .rows = &cls, .row_count = 1};
  must(heed_model_build(model, &desc, &graph, &error));
  const heed_value weights = heed_graph_tap(graph, HEED_TAP_WEIGHTS, layer);
  const heed_plan_desc taps = {.struct_size = sizeof taps, .taps = &weights, .tap_count = 1};
  must(heed_plan_create(graph, backend, &taps, &plan, &error));
  must(heed_session_create(plan, NULL, &session, &error));
  must(heed_session_write(session, heed_graph_find(graph, "pixel_values"), pixels,
                          count * sizeof *pixels, &error));
  must(heed_session_run(session, NULL, &error));
  if (info.classes)
    must(heed_session_read(session, heed_graph_find(graph, "logits"), 0, info.classes, logits,
                           &error));
  must(heed_graph_value_info(graph, weights, &map_info));
  const uint64_t first = (uint64_t)head * map_info.shape.dim[2] * tokens;
  must(heed_session_read(session, weights, first, tokens, row, &error));
  const uint32_t shown = heed_top(logits, info.classes, 5, top, probability);
  for (uint32_t k = 0; k < shown; k++)
    printf("%.4f  %s\n", probability[k], heed_model_label(model, top[k]));

  const heed_figure_desc figure = {.struct_size = sizeof figure,
                                   .image = image,
                                   .region = seen,
                                   .maps = map,
                                   .layers = 1,
                                   .heads = 1,
                                   .rows = rows,
                                   .columns = columns,
                                   .tokens = tokens,
                                   .layer_numbers = &layer,
                                   .query_row = -1};
  must(heed_figure_write(context, &figure, argv[3], &error));
  if (heed_top(map, rows * columns, 1, &peak, NULL))
    printf("layer %u head %u: peak patch (%u, %u) %.2f %%\n", (unsigned)layer, (unsigned)head,
           (unsigned)(peak / columns), (unsigned)(peak % columns), 100.0 * (double)map[peak]);

  free(row);
  free(logits);
  free(pixels);
  heed_session_destroy(session);
  heed_plan_destroy(plan);
  heed_graph_destroy(graph);
  heed_model_destroy(model);
  heed_model_files_destroy(files);
  heed_picture_free(context, &photo);
  heed_backend_destroy(backend);
  heed_context_destroy(context);
  return EXIT_SUCCESS;
}
