/* heed run --save: pixels, logits, maps and rollout as .safetensors, with the maps in the order of
 * the model's own tokens. */
#include <stdlib.h>
#include <string.h>

#include "heed/onnx.h"
#include "parts.h"
#include "session/token_order.h"
#include "terminal/json_out.h"
#include "terminal/system.h"
#include "terminal/tensors.h"

/* Heads that are saved. */
typedef struct narrowed {
  uint32_t first_head, heads;
} narrowed;

/* "layer 11, head 3, query CLS": what --layer, --head and --query left, or "". */
static void narrowed_text(const run_options *options, const heed_model_info *info,
                          const run_selection *selection, char text[160]) {
  const run_narrow *narrow = &options->narrow;
  char query[48];
  size_t used = 0;
  text[0] = '\0';
  run_query_text(info, selection, query);
  if (options->save_only) return;
  if (narrow->layer && selection->layer_count == 1 && !selection->pool)
    used = (size_t)snprintf(text, 160, "layer %u", selection->first_layer);
  else if (narrow->layer)
    used = (size_t)snprintf(text, 160, "layer %.20s", options->layer);
  if (narrow->head)
    used +=
        (size_t)snprintf(text + used, 160 - used, "%shead %.20s", used ? ", " : "", options->head);
  if (narrow->query) snprintf(text + used, 160 - used, "%squery %s", used ? ", " : "", query);
}

/* Where the tensors are from, as the page's provenance: JSON, malloc'ed; NULL without memory. */
static char *provenance_text(const cli_pipeline *pipeline, const run_options *options,
                             const run_result *result, const char *changes) {
  const heed_model_info *info = &pipeline->info;
  cli_memory memory;
  if (!cli_memory_open(&memory)) return NULL;
  json_out json = {.file = memory.file};
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
  return cli_memory_close(&memory) ? memory.bytes : NULL;
}

/* All that is needed to read the file again: grid, side of a patch, provenance, the order of
 * tokens, what was left out, and what was changed. */
static heed_status save_with_metadata(cli_state *cli, const cli_pipeline *pipeline,
                                      const run_options *options, const run_result *result,
                                      const run_selection *selection, const int32_t *order,
                                      const cli_tensors *tensors, const char *path) {
  char grid[48], patch[16], frames[16], left[160];
  char *names = run_prefix_names(&pipeline->info);
  char *changes = cli_changes_text(&options->changes),
       *from = changes ? provenance_text(pipeline, options, result, changes) : NULL;
  char *tokens = cli_token_order_text(order, result->tokens);
  snprintf(grid, sizeof grid, "%u %u %u", result->rows, result->columns,
           pipeline->info.prefix_tokens);
  snprintf(patch, sizeof patch, "%u", result->patch);
  const heed_metadata_entry pairs[] = {
      {"grid", grid}, {"patch", patch}, {"prefix", names}, {"provenance", from}};
  heed_metadata_entry all[8];
  uint32_t count = 4;
  memcpy(all, pairs, sizeof pairs);
  snprintf(frames, sizeof frames, "%u", result->frames);
  if (result->frames > 1) all[count++] = (heed_metadata_entry){"frames", frames};
  if (order) all[count++] = (heed_metadata_entry){CLI_TOKEN_ORDER, tokens};
  narrowed_text(options, &pipeline->info, selection, left);
  if (*left) all[count++] = (heed_metadata_entry){"narrowed", left};
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

/* The rows of the query alone, in heed's order. */
static heed_status put_rows(cli_state *cli, cli_tensors *tensors, const char *name,
                            const run_result *result, const run_selection *selection,
                            uint32_t heads, uint32_t layer, const narrowed *to) {
  const size_t tokens = result->tokens;
  float *rows = malloc(to->heads * tokens * sizeof *rows);
  if (!rows) return heed_fail_memory(&cli->error, name, to->heads * tokens * sizeof *rows);
  for (uint32_t h = 0; h < to->heads; h++)
    memcpy(rows + h * tokens, run_row(result, selection, heads, layer, to->first_head + h),
           tokens * sizeof *rows);
  const heed_shape shape = {4, {1, to->heads, 1, result->tokens}};
  return cli_tensors_take(tensors, name, HEED_F32, &shape, rows, &cli->error);
}

/* The maps that the options leave: attention.N [1, heads, N, N], or [1, heads, 1, N] of a query. */
static heed_status put_attention(cli_state *cli, cli_tensors *tensors, const run_options *options,
                                 const run_result *result, const run_selection *selection,
                                 const heed_model_info *info, const int32_t *order) {
  const size_t square = (size_t)result->tokens * result->tokens;
  const bool one = options->narrow.head && !selection->head_mean && !selection->pool;
  const narrowed to = {one ? selection->first_head : 0, one ? selection->head_count : info->heads};
  const heed_shape shape = {4, {1, to.heads, result->tokens, result->tokens}};
  run_selection tokens = *selection;
  tokens.pool = false;
  for (uint32_t l = 0; l < info->layers; l++) {
    char name[32];
    snprintf(name, sizeof name, "attention.%u", l);
    if (options->narrow.layer && (selection->pool || l < selection->first_layer ||
                                  l >= selection->first_layer + selection->layer_count))
      continue;
    CLI_TRY(options->narrow.query
                ? put_rows(cli, tensors, name, result, &tokens, info->heads, l, &to)
                : put_maps(cli, tensors, name, &shape,
                           result->attention[l] + to.first_head * square, order));
  }
  return HEED_OK;
}

/* --save-only: each with a batch of one before its shape, as heed eval has them. */
static heed_status put_values(cli_state *cli, cli_tensors *tensors, const run_options *options,
                              const run_result *result) {
  for (uint32_t i = 0; i < options->features.count; i++) {
    const cli_feature *feature = &options->features.feature[i];
    heed_shape shape = {feature->shape.rank + 1, {1}};
    for (uint32_t d = 0; d < feature->shape.rank; d++) shape.dim[d + 1] = feature->shape.dim[d];
    CLI_TRY(
        cli_tensors_lend(tensors, feature->name, HEED_F32, &shape, result->values[i], &cli->error));
  }
  return HEED_OK;
}

static heed_status put_all(cli_state *cli, cli_tensors *tensors, const cli_pipeline *pipeline,
                           const run_options *options, const run_result *result,
                           const run_selection *selection, const int32_t *order) {
  const heed_model_info *info = &pipeline->info;
  const uint32_t n = result->tokens;
  const uint32_t height = result->batch_height, width = result->batch_width;
  const heed_shape still = {4, {1, info->channels, height, width}},
                   video = {5, {1, info->frames, info->channels, height, width}},
                   pixels = info->frames ? video : still, logits = {2, {1, info->classes}},
                   rollout = {3, {1, n, n}};
  if (options->save_only) return put_values(cli, tensors, options, result);
  CLI_TRY(
      cli_tensors_lend(tensors, "pixel_values", HEED_F32, &pixels, result->pixels, &cli->error));
  if (result->logits)
    CLI_TRY(cli_tensors_lend(tensors, "logits", HEED_F32, &logits, result->logits, &cli->error));
  CLI_TRY(put_attention(cli, tensors, options, result, selection, info, order));
  return result->rollout ? put_maps(cli, tensors, "rollout", &rollout, result->rollout, order)
                         : HEED_OK;
}

heed_status run_save_tensors(cli_state *cli, const cli_pipeline *pipeline,
                             const run_options *options, const run_result *result,
                             const run_selection *selection, const char *path) {
  uint32_t ordered = 0;
  const int32_t *order = pipeline->as_graph && !options->narrow.query && !options->save_only
                             ? heed_onnx_token_order(pipeline->graph, &ordered)
                             : NULL;
  cli_tensors tensors = {0};
  heed_status status = put_all(cli, &tensors, pipeline, options, result, selection, order);
  if (status == HEED_OK)
    status = save_with_metadata(cli, pipeline, options, result, selection, order, &tensors, path);
  cli_tensors_clear(&tensors);
  return status;
}
