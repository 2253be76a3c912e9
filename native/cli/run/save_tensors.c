/* heed run --save: pixels, logits, maps and rollout as .safetensors, with the maps in the order of
 * the model's own tokens. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "heed/onnx.h"
#include "parts.h"
#include "session/token_order.h"
#include "terminal/json_out.h"
#include "terminal/tensors.h"

/* Where the tensors are from, as the page's provenance: JSON, malloc'ed; NULL without memory. */
static char *provenance_text(const cli_pipeline *pipeline, const run_options *options,
                             const run_result *result, const char *changes) {
  const heed_model_info *info = &pipeline->info;
  char *text = NULL;
  size_t size = 0;
  FILE *file = open_memstream(&text, &size);
  if (!file) return NULL;
  json_out json = {.file = file};
  json_open(&json, NULL, '{');
  json_text(&json, "heed", heed_version());
  json_text(&json, "model", info->family);
  json_integer(&json, "layers", info->layers);
  json_integer(&json, "heads", info->heads);
  json_integer(&json, "parameters", (int64_t)info->parameters);
  json_text(&json, "picture", result->picture);
  json_text(&json, "device", heed_backend_device(options->choice.opened));
  if (result->whole) json_text(&json, "fit", "whole");
  if (*changes) json_text(&json, "changes", changes);
  json_close(&json, '}');
  const bool whole = !ferror(file);
  if (fclose(file) == 0 && whole) return text;
  free(text);
  return NULL;
}

/* All that is needed to read the file again: grid, side of a patch, provenance, the order of
 * tokens, and what was changed. */
static heed_status save_with_metadata(cli_state *cli, const cli_pipeline *pipeline,
                                      const run_options *options, const run_result *result,
                                      const int32_t *order, const cli_tensors *tensors,
                                      const char *path) {
  char grid[48], patch[16];
  char *names = run_prefix_names(&pipeline->info);
  char *changes = cli_changes_text(&options->changes),
       *from = changes ? provenance_text(pipeline, options, result, changes) : NULL;
  char *tokens = cli_token_order_text(order, result->tokens);
  snprintf(grid, sizeof grid, "%u %u %u", result->rows, result->columns,
           pipeline->info.prefix_tokens);
  snprintf(patch, sizeof patch, "%u", pipeline->info.patch);
  const heed_metadata_entry pairs[] = {
      {"grid", grid}, {"patch", patch}, {"prefix", names}, {"provenance", from}};
  heed_metadata_entry all[6];
  uint32_t count = 4;
  memcpy(all, pairs, sizeof pairs);
  if (order) all[count++] = (heed_metadata_entry){CLI_TOKEN_ORDER, tokens};
  if (changes && *changes) all[count++] = (heed_metadata_entry){"changes", changes};
  const heed_status status = from && changes && names && tokens
                                 ? cli_tensors_save(cli, tensors, all, count, path)
                                 : heed_fail_memory(&cli->error, path, 1);
  free(tokens);
  free(names);
  free(from);
  free(changes);
  return status;
}

/* Maps [H, N, N], as they are or in the graph's own order. */
static heed_status put_maps(cli_state *cli, cli_tensors *tensors, const char *name,
                            const heed_shape *shape, const float *maps, const int32_t *order) {
  const uint32_t tokens = shape->dim[shape->rank - 1];
  const size_t square = (size_t)tokens * tokens, count = (size_t)heed_shape_count(shape);
  if (!order) return cli_tensors_lend(tensors, name, HEED_F32, shape, maps, &cli->error);
  float *moved = malloc(count * sizeof *moved);
  if (!moved) return heed_fail_memory(&cli->error, name, count * sizeof *moved);
  for (size_t i = 0; i < count; i += square)
    cli_token_order_undo(order, tokens, maps + i, moved + i);
  return cli_tensors_take(tensors, name, HEED_F32, shape, moved, &cli->error);
}

heed_status run_save_tensors(cli_state *cli, const cli_pipeline *pipeline,
                             const run_options *options, const run_result *result,
                             const char *path) {
  const heed_model_info *info = &pipeline->info;
  const uint32_t n = result->tokens;
  const heed_shape pixels = {4, {1, info->channels, result->batch_height, result->batch_width}},
                   logits = {2, {1, info->classes}};
  const heed_shape map = {4, {1, info->heads, n, n}}, rollout = {3, {1, n, n}};
  uint32_t ordered = 0;
  const int32_t *order =
      pipeline->as_graph ? heed_onnx_token_order(pipeline->graph, &ordered) : NULL;
  cli_tensors tensors = {0};
  heed_status status =
      cli_tensors_lend(&tensors, "pixel_values", HEED_F32, &pixels, result->pixels, &cli->error);
  if (status == HEED_OK && result->logits)
    status = cli_tensors_lend(&tensors, "logits", HEED_F32, &logits, result->logits, &cli->error);
  for (uint32_t l = 0; l < info->layers && status == HEED_OK; l++) {
    char name[32];
    snprintf(name, sizeof name, "attention.%u", l);
    status = put_maps(cli, &tensors, name, &map, result->attention[l], order);
  }
  if (status == HEED_OK)
    status = put_maps(cli, &tensors, "rollout", &rollout, result->rollout, order);
  if (status == HEED_OK)
    status = save_with_metadata(cli, pipeline, options, result, order, &tensors, path);
  cli_tensors_clear(&tensors);
  return status;
}
