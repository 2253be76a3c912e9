/* heed: transformer inference with access to attention.
 *
 * This is the public header of the core. Two other headers stand beside it, so that the core knows
 * no GPU and opens no file: heed/vulkan.h is the Vulkan backend, and heed/native.h reads model
 * folders and pictures, writes figures and chooses a backend.
 *
 * Data flow: model files -> heed_model -> heed_graph -> heed_plan -> heed_session -> tensors ->
 * maps and figures.
 *
 * The whole way, from native/examples/vit.c (paths, pictures and the backend come from
 * heed/native.h; `must` ends the program with the sentence of `error`):
 *
 *  must(heed_context_create(NULL, &context, &error));
 *  must(heed_auto_backend_create(context, NULL, &backend, &choice, &error));
 *  fprintf(stderr, "%s: %s\n", heed_backend_name(backend), choice.why);
 *  must(heed_model_load(context, argv[1], NULL, &files, &model, &error));
 *  heed_model_get_info(model, &info);
 *  heed_model_preprocess(model, &preprocess);
 *
 *  must(heed_image_load(context, argv[2], &photo, &error));
 *  const heed_image image = heed_picture_view(&photo);
 *  must(heed_preprocess_size(&preprocess, image.width, image.height, &width, &height, &error));
 *  const uint32_t rows = height / info.patch, columns = width / info.patch,
 *                 tokens = info.prefix_tokens + rows * columns;
 *  const size_t count = (size_t)info.channels * height * width;
 *  float *pixels = floats(count), *logits = floats(info.classes), *row = floats(tokens),
 *        *map = row + info.prefix_tokens;
 *  must(heed_preprocess_image(context, &preprocess, &image, pixels, &seen, &error));
 *
 *  const uint32_t layer = info.layers - 1, head = 0, cls = 0;
 *  const heed_build_desc desc = {
 *      .struct_size = sizeof desc, .height = height, .width = width, .rows = &cls, .row_count = 1};
 *  must(heed_model_build(model, &desc, &graph, &error));
 *  const heed_value weights = heed_graph_tap(graph, HEED_TAP_WEIGHTS, layer);
 *  const heed_plan_desc taps = {.struct_size = sizeof taps, .taps = &weights, .tap_count = 1};
 *  must(heed_plan_create(graph, backend, &taps, &plan, &error));
 *  must(heed_session_create(plan, NULL, &session, &error));
 *  must(heed_session_write(session, heed_graph_find(graph, "pixel_values"), pixels,
 *                          count * sizeof *pixels, &error));
 *  must(heed_session_run(session, NULL, &error));
 *  if (info.classes)
 *    must(heed_session_read(session, heed_graph_find(graph, "logits"), 0, info.classes, logits,
 *                           &error));
 *  must(heed_graph_value_info(graph, weights, &map_info));
 *  const uint64_t first = (uint64_t)head * map_info.shape.dim[2] * tokens;
 *  must(heed_session_read(session, weights, first, tokens, row, &error));
 *  const uint32_t shown = heed_top(logits, info.classes, 5, top, probability);
 *  for (uint32_t k = 0; k < shown; k++)
 *    printf("%.4f  %s\n", probability[k], heed_model_label(model, top[k]));
 *
 *  const heed_figure_desc figure = {.struct_size = sizeof figure,
 *                                   .image = image,
 *                                   .region = seen,
 *                                   .maps = map,
 *                                   .layers = 1,
 *                                   .heads = 1,
 *                                   .rows = rows,
 *                                   .columns = columns,
 *                                   .tokens = tokens,
 *                                   .layer_numbers = &layer,
 *                                   .query_row = -1};
 *  must(heed_figure_write(context, &figure, argv[3], &error));
 *
 * heed opens no files: bytes or a read callback are passed in. It prints nothing: a log hook
 * receives its lines. It does not train.
 *
 * Errors: every function that can fail returns a heed_status. It writes one sentence to `error`,
 * which may be NULL: where: what is wrong (found ..., expected ...).
 * A failed call sets its output pointer to NULL and changes nothing else. Bad input never aborts.
 * Each function lists its statuses. Compilers warn where a status is dropped (HEED_NODISCARD).
 *
 * Ownership: "borrows" means that the argument must outlive the object. "Copies" means that the
 * argument may be freed after the call. Every *_destroy accepts NULL. An object is destroyed after
 * everything created from it: decoder or stream, session, plan, graph, model, backend, context.
 *
 * Threads: several threads may read a context, a model, a finished graph or a plan. A session, a
 * stream, a decoder and a backend belong to one thread at a time: a second gets INVALID_ARGUMENT.
 * So does the child of a fork, but for a CPU backend of one thread. Destroying does nothing there.
 * The log hook may be called from any thread.
 *
 * Descs: the first field of a desc, struct_size, is the size of the struct. Zero means default in
 * every other field. HEED_DESC makes such a desc:
 *   heed_linear_desc desc = HEED_DESC(heed_linear_desc);  desc.x = x;
 * In C, heed_linear_desc desc = {.struct_size = sizeof desc, .x = x} does the same. A later version
 * may add fields at the end of a desc, and then its size grows. A smaller struct_size leaves the
 * fields that it lacks at their defaults. A larger one is accepted while the bytes that this
 * version does not know are zero. Any other struct_size is INVALID_ARGUMENT.
 *
 * EXPERIMENTAL stands before what may change or go in any version 0.x. Everything else changes only
 * with a line under "Changed" in CHANGELOG.md.
 *
 * Dimensions: B batch, H heads, Tq/Tk query/key tokens, D head size, Dv value head size, C
 * channels, L layers, P patch side. Tensors are dense and row-major. */
#ifndef HEED_HEED_H
#define HEED_HEED_H

#include "heed/base.h"
#include "heed/explain.h"
#include "heed/graph.h"
#include "heed/model.h"
#include "heed/ops.h"
#include "heed/session.h"

#endif
