/* Changes of a graph's attention and rows of its maps, in the order of the layers' tokens. See
 * vision.h, lower/changes.c. */
#include <stdio.h>

#include "base/alloc.h"
#include "base/status.h"
#include "graph/graph.h"
#include "onnx/file/file.h"
#include "onnx/vision/vision.h"

static bool intervenes(const heed_build_desc *build) {
  return build->intervene || build->temperature != 0.0f;
}

bool heed_vision_changes(const heed_build_desc *build) { return intervenes(build) || build->rows; }

/* Whether each layer has what changes it. A temperature is of the scores before a bias, which an
 * attention of one op alone has apart. */
static heed_status check(const heed_onnx *file, const heed_graph *graph,
                         const heed_build_desc *build, const heed_lower_changes *changes,
                         heed_error *error) {
  for (uint32_t i = 0; i < changes->layers; i++) {
    char gain[48], logits[48];
    snprintf(gain, sizeof gain, "layer.%u.attention.gain", (unsigned)i);
    snprintf(logits, sizeof logits, "layer.%u.attention.logits", (unsigned)i);
    const bool warm = build->temperature != 0.0f && !heed_graph_find(graph, logits).id;
    if (!warm && (!build->intervene || heed_graph_find(graph, gain).id)) continue;
    return heed_fail(error, HEED_UNSUPPORTED,
                     "%s: %s has no kernel in this graph, as attention %u runs in several ops%s "
                     "(expected a config.json that names its family)",
                     file->name, warm ? "a temperature" : "a change of attention", (unsigned)i,
                     warm ? "" : " and no product takes its weights as they are");
  }
  return HEED_OK;
}

/* The rows of the graph's tokens that are those of the layers'. */
static heed_status find_rows(const heed_build_desc *build, const heed_lower_changes *changes,
                             uint32_t *rows, heed_error *error) {
  for (uint32_t i = 0; i < build->row_count; i++) {
    const uint32_t row = build->rows[i];
    if (row >= changes->tokens)
      return heed_fail(error, HEED_INVALID_ARGUMENT,
                       "build: row out of range (found %u, expected less than %u)", row,
                       changes->tokens);
    rows[i] = changes->order ? (uint32_t)changes->order[row] : row;
  }
  return HEED_OK;
}

static heed_status lower(heed_onnx *file, const heed_onnx_lower_desc *desc,
                         const heed_build_desc *build, heed_lower_changes *changes, uint32_t *rows,
                         heed_vision *vision, heed_onnx_lowered **lowered, heed_error *error) {
  if (rows) {
    HEED_TRY(find_rows(build, changes, rows, error));
    changes->rows = rows;
    changes->row_count = build->row_count;
  }
  HEED_TRY(heed_onnx_lower_changed(file, desc, changes, lowered, error));
  heed_status status = heed_vision_find(file, *lowered, vision->stage, changes, vision, error);
  if (status == HEED_OK && intervenes(build))
    status = check(file, heed_onnx_lowered_graph(*lowered), build, changes, error);
  if (status != HEED_OK) {
    heed_onnx_lowered_destroy(*lowered);
    *lowered = NULL;
  }
  return status;
}

heed_status heed_vision_change(heed_onnx *file, const heed_onnx_lower_desc *desc,
                               const heed_build_desc *build, const heed_graph *plain,
                               heed_vision *vision, heed_onnx_lowered **lowered,
                               heed_error *error) {
  uint32_t count;
  heed_lower_changes changes = {.layers = vision->layers,
                                .tokens = vision->tokens,
                                .joined = vision->joined,
                                .placed = vision->placed,
                                .order = heed_onnx_token_order(plain, &count),
                                .intervene = build->intervene,
                                .empty_row = build->empty_row,
                                .temperature = build->temperature};
  uint32_t *rows = NULL;
  *lowered = NULL;
  if (vision->placed && intervenes(build))
    return heed_fail(error, HEED_UNSUPPORTED,
                     "%s: attention over windows or merged keys takes no changes (expected "
                     "attention to all patches in each layer)",
                     file->name);
  if (build->rows && build->row_count) {
    rows = heed_alloc(file->context, build->row_count, sizeof *rows);
    if (!rows) return heed_fail_memory(error, "build: rows", build->row_count * sizeof *rows);
  }
  const heed_status status = lower(file, desc, build, &changes, rows, vision, lowered, error);
  heed_free(file->context, rows);
  return status;
}
