/* heed run's results as text, JSON and tensors. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clip.h"
#include "explained.h"
#include "parts.h"
#include "terminal/json_out.h"
#include "terminal/standard_out.h"

uint32_t run_top(const cli_pipeline *pipeline, const float *logits, uint32_t most, uint32_t *index,
                 double *probability) {
  const uint32_t count = heed_top(logits, pipeline->info.classes, most, index, probability);
  for (uint32_t k = 0; k < count && pipeline->each_class; k++)
    probability[k] = 1.0 / (1.0 + exp(-(double)logits[index[k]]));
  return count;
}

/* Of a video the size of a frame. */
static uint32_t file_width(const run_result *result) {
  return result->clip_frames ? result->frame_width : result->image.width;
}

static uint32_t file_height(const run_result *result) {
  return result->clip_frames ? result->frame_height : result->image.height;
}

static void print_classes(FILE *to, const cli_pipeline *pipeline, uint32_t top,
                          const float *logits) {
  uint32_t index[RUN_MOST_TOP];
  double probability[RUN_MOST_TOP];
  const uint32_t count = run_top(pipeline, logits, top, index, probability);
  if (pipeline->each_class) fprintf(to, "each class by itself: the graph ends with a sigmoid\n");
  for (uint32_t k = 0; k < count; k++)
    fprintf(to, "  %2u  %.4f  %s (class %u, logit %.4f)\n", k + 1, probability[k],
            CLI_SHOWN(heed_model_label(pipeline->model, index[k])), index[k],
            (double)logits[index[k]]);
}

/* "head 3: entropy 4.12 nats (78 % of uniform), CLS 12.0 %, peak patch (4, 7): 2.31 % = 4.6 x
 * uniform" */
static void print_head(FILE *to, const run_result *result, const run_selection *selection,
                       const heed_model_info *info, uint32_t layer, uint32_t head) {
  const float *row = run_row(result, selection, info->heads, layer, head);
  double prefix = 0.0;
  uint32_t patch = 0;
  char name[24] = "pool";
  if (!selection->pool) snprintf(name, sizeof name, "layer %u", layer);
  for (uint32_t i = 0; i < info->prefix_tokens; i++) prefix += (double)row[i];
  heed_top(row + info->prefix_tokens, result->tokens - info->prefix_tokens, 1, &patch, NULL);
  const double entropy = heed_map_entropy(row, result->tokens),
               peak = (double)row[info->prefix_tokens + patch];
  fprintf(to, "  %s head %u: entropy %.3f nats (%.0f %% of uniform), ", name, head, entropy,
          100.0 * entropy / log((double)result->tokens));
  if (info->prefix_tokens) fprintf(to, "%s %.1f %%, ", run_prefix_text(info), 100.0 * prefix);
  fprintf(to, "peak patch (");
  if (result->frames > 1) fprintf(to, "%u, ", patch / result->columns / result->rows);
  fprintf(to, "%u, %u) %.2f %% (%.1f x uniform)\n", patch / result->columns % result->rows,
          patch % result->columns, 100.0 * peak, peak * result->tokens);
}

void run_print_heads(FILE *to, const heed_model_info *info, const run_result *result,
                     const run_selection *selection) {
  for (uint32_t l = 0; l < selection->layer_count; l++)
    for (uint32_t h = 0; h < selection->head_count; h++)
      print_head(to, result, selection, info, selection->first_layer + l,
                 selection->first_head + h);
}

void run_print(FILE *to, const cli_pipeline *pipeline, const run_options *options,
               const run_result *result, const run_selection *selection) {
  const heed_model_info *info = &pipeline->info;
  char query[48];
  run_query_text(info, selection, query);
  fprintf(to, "%s%s: %u x %u pixels; %s%s: %s, %u layers x %u heads, %u tokens, on %s, %.1f ms\n",
          result->built_in ? "the built-in image " : "", CLI_SHOWN(result->picture),
          file_width(result), file_height(result), options->model ? "model " : "the demo model",
          options->model ? CLI_SHOWN(options->model) : "", info->family, info->layers, info->heads,
          result->tokens, heed_backend_name(options->choice.opened), result->milliseconds);
  if (options->size)
    fprintf(to, "size: %u x %u pixels (height x width), %u x %u patches\n", result->batch_height,
            result->batch_width, result->rows, result->columns);
  if (result->clip_frames)
    fprintf(to, "frames: %u of %u, in %u time steps\n", info->frames, result->clip_frames,
            result->frames);
  if (info->assumed) fprintf(to, "assumed: %s\n", info->assumed);
  if (result->note) fprintf(to, "%s\n", result->note);
  cli_changes_print(&options->changes, to);
  if (result->logits) print_classes(to, pipeline, options->top, result->logits);
  if (result->twins.present) fprintf(to, "twins: %s\n", result->twins.text);
  fprintf(to, "attention %s %s:\n", options->reverse ? "to" : "of", query);
  run_print_heads(to, info, result, selection);
}

/* ----------------------------------------------------------------------------------------- JSON */

/* Of the head's whole map. */
static void json_statistics(json_out *json, const run_result *result, const heed_model_info *info,
                            uint32_t layer, uint32_t head) {
  const size_t square = (size_t)result->tokens * result->tokens;
  heed_map_statistics s;
  heed_map_get_statistics(result->attention[layer] + head * square, info->prefix_tokens,
                          result->rows * (result->frames ? result->frames : 1), result->columns,
                          result->patch ? result->patch : info->patch, &s);
  json_number(json, "entropy_cls", s.entropy_cls);
  json_number(json, "entropy_patches", s.entropy_patches);
  if (result->frames <= 1) { /* pixels are no measure of time */
    json_number(json, "distance", s.distance);
    json_number(json, "distance_renormalised", s.distance_renormalised);
  }
  json_number(json, "prefix_mass", s.prefix_mass);
  json_number(json, "self_mass", s.self_mass);
  json_number(json, "top5_mass", s.top5_mass);
}

static void json_head(json_out *json, const run_result *result, const run_selection *selection,
                      const heed_model_info *info, uint32_t layer, uint32_t head,
                      bool all_queries) {
  const float *row = run_row(result, selection, info->heads, layer, head);
  json_open(json, NULL, '{');
  json_integer(json, "layer", layer);
  json_integer(json, "head", head);
  json_number(json, "entropy", heed_map_entropy(row, result->tokens));
  if (all_queries) json_statistics(json, result, info, layer, head);
  json_floats(json, "row", row, result->tokens);
  if (result->scores)
    json_floats(json, "scores",
                result->scores + ((size_t)layer * info->heads + head) * result->tokens,
                result->tokens);
  json_close(json, '}');
  if (!json->line) fputc('\n', json->file);
}

/* The map of the pooling attention, and the rollout of its probe. */
static void json_pool(json_out *json, const run_result *result, const heed_model_info *info) {
  const run_selection probe = {.pool = true};
  json_open(json, "pool", '[');
  for (uint32_t h = 0; h < info->pool_heads; h++) {
    const float *map = run_row(result, &probe, info->pool_heads, 0, h);
    json_open(json, NULL, '{');
    json_integer(json, "head", h);
    json_number(json, "entropy", heed_map_entropy(map, result->tokens));
    json_floats(json, "row", map, result->tokens);
    json_close(json, '}');
  }
  json_close(json, ']');
  if (result->pool_rollout) json_floats(json, "pool_rollout", result->pool_rollout, result->tokens);
}

/* The heads that the options leave, the pooling attention and the rollout. */
static void json_maps(json_out *json, const run_options *options, const run_result *result,
                      const run_selection *selection, const heed_model_info *info) {
  run_selection tokens = *selection; /* the rows of the layers, whatever is shown */
  const bool one = options->narrow.head && !selection->head_mean && !selection->pool;
  const uint32_t first_layer = options->narrow.layer ? selection->first_layer : 0,
                 layers = !options->narrow.layer ? info->layers
                          : selection->pool      ? 0
                                                 : selection->layer_count,
                 first_head = one ? selection->first_head : 0,
                 heads = one ? selection->head_count : info->heads;
  tokens.pool = false;
  json_open(json, "heads", '[');
  for (uint32_t l = 0; l < layers; l++)
    for (uint32_t h = 0; h < heads; h++)
      json_head(json, result, &tokens, info, first_layer + l, first_head + h,
                !options->narrow.query);
  json_close(json, ']');
  if (result->pool && (!options->narrow.layer || selection->pool)) json_pool(json, result, info);
  if (result->rollout_row) json_floats(json, "rollout", result->rollout_row, result->tokens);
}

static void json_classes(json_out *json, const cli_pipeline *pipeline, uint32_t top,
                         const float *logits) {
  uint32_t index[RUN_MOST_TOP];
  double probability[RUN_MOST_TOP];
  const uint32_t count = run_top(pipeline, logits, top, index, probability);
  if (pipeline->each_class) json_flag(json, "each_class", true);
  json_open(json, "top", '[');
  for (uint32_t k = 0; k < count; k++) {
    json_open(json, NULL, '{');
    json_integer(json, "class", index[k]);
    json_text(json, "label", heed_model_label(pipeline->model, index[k]));
    json_number(json, "probability", probability[k]);
    json_number(json, "logit", (double)logits[index[k]]);
    json_close(json, '}');
  }
  json_close(json, ']');
  json_floats(json, "logits", logits, pipeline->info.classes);
}

static void json_image(json_out *json, const run_result *result) {
  json_open(json, "image", '{');
  json_text(json, "path", result->picture);
  const heed_region *seen = result->clip_frames ? &result->seen : &result->region;
  json_integer(json, "width", file_width(result));
  json_integer(json, "height", file_height(result));
  json_open(json, "seen", '{');
  json_number(json, "x", seen->x);
  json_number(json, "y", seen->y);
  json_number(json, "width", seen->width);
  json_number(json, "height", seen->height);
  json_close(json, '}');
  if (result->whole) json_text(json, "fit", "whole");
  if (result->batch_height) {
    json_open(json, "size", '[');
    json_integer(json, NULL, result->batch_height);
    json_integer(json, NULL, result->batch_width);
    json_close(json, ']');
  }
  json_close(json, '}');
}

static void json_backend(json_out *json, const heed_backend *backend) {
  json_text(json, "backend", heed_backend_name(backend));
  json_text(json, "device", heed_backend_device(backend));
}

/* --save-only: {"cls": [...]}. */
static void json_features(json_out *json, const run_options *options, const run_result *result) {
  json_open(json, "values", '{');
  for (uint32_t i = 0; i < options->features.count; i++) {
    const cli_feature *feature = &options->features.feature[i];
    json_array(json, feature->name, feature->shape.dim, feature->shape.rank, result->values[i]);
  }
  json_close(json, '}');
}

/* Which frames of a video the model saw. */
static void json_frames(json_out *json, const heed_model_info *info, const run_result *result) {
  json_open(json, "frames", '[');
  for (uint32_t i = 0; i < info->frames; i++)
    json_integer(json, NULL, run_clip_frame(i, info->frames, result->clip_frames));
  json_close(json, ']');
}

static void json_result(json_out *json, const cli_pipeline *pipeline, const run_options *options,
                        const run_result *result, const run_selection *selected,
                        const heed_backend *backend) {
  const heed_model_info *info = &pipeline->info;
  run_selection tokens = *selected; /* the rows of the layers, whatever is shown */
  const run_selection *selection = &tokens;
  char query[48];
  tokens.pool = false;
  run_query_text(info, selection, query);
  json_open(json, NULL, '{');
  if (json->line) json_integer(json, "schema", JSON_SCHEMA);
  if (result->from) json_text(json, "from", result->from);
  json_image(json, result);
  /* a line stands for itself; else only where it is another than before */
  if (options->choice.opened && options->choice.opened != backend)
    json_backend(json, options->choice.opened);
  json_number(json, "milliseconds", result->milliseconds);
  if (result->logits) json_classes(json, pipeline, options->top, result->logits);
  json_open(json, "grid", '[');
  json_integer(json, NULL, result->rows);
  json_integer(json, NULL, result->columns);
  json_close(json, ']');
  if (result->frames > 1) json_integer(json, "time_steps", result->frames);
  if (result->clip_frames) json_frames(json, info, result);
  json_integer(json, "prefix_tokens", info->prefix_tokens);
  json_open(json, "prefix", '[');
  for (uint32_t i = 0; i < info->prefix_tokens; i++) json_text(json, NULL, info->token_names[i]);
  json_close(json, ']');
  json_integer(json, "tokens", result->tokens);
  json_text(json, "query", query);
  json_integer(json, "query_token", selection->query);
  if (options->reverse) json_flag(json, "reverse", true);
  if (result->scores) json_text(json, "score", options->score);
  if (options->save_only)
    json_features(json, options, result);
  else
    json_maps(json, options, result, selected, info);
  if (result->explained) run_json_explained(json, options, result->explained);
  json_close(json, '}');
}

struct run_json {
  json_out out;
  const char *path;
  const heed_backend *backend; /* of the head */
  bool begun;
};

run_json *run_json_create(FILE *to, const char *path) {
  run_json *report = calloc(1, sizeof *report);
  if (!report) return NULL;
  const char *end = strrchr(path, '.');
  report->out = (json_out){to, false, end && strcmp(end, ".jsonl") == 0};
  report->path = path;
  return report;
}

/* Once, when it is known on what the first picture ran. */
static void begin_report(run_json *report, const cli_pipeline *pipeline,
                         const run_options *options) {
  json_out *json = &report->out;
  if (report->begun || json->line) return;
  report->begun = true;
  report->backend = options->choice.opened;
  json_begin(json);
  json_text(json, "family", pipeline->info.family);
  json_integer(json, "layers", pipeline->info.layers);
  json_integer(json, "heads", pipeline->info.heads);
  if (pipeline->info.rules) json_text(json, "rules", pipeline->info.rules);
  if (pipeline->info.assumed) json_text(json, "assumed", pipeline->info.assumed);
  if (report->backend) json_backend(json, report->backend);
  cli_changes_json(&options->changes, json);
  json_open(json, "results", '[');
}

/* A line ends; a full disk ends the run here and not after hours. stdout is asked at its end: its
 * reader may have had enough while other files are wanted. */
static heed_status end_piece(cli_state *cli, run_json *report) {
  json_out *json = &report->out;
  if (json->line) {
    fputc('\n', json->file);
    json->comma = false;
  }
  return ferror(json->file) && !cli_is_stdout(report->path)
             ? heed_fail(&cli->error, HEED_IO, "%s: writing failed (%s)", report->path,
                         strerror(errno))
             : HEED_OK;
}

heed_status run_json_add(cli_state *cli, run_json *report, const cli_pipeline *pipeline,
                         const run_options *options, const run_result *result,
                         const run_selection *selection) {
  errno = 0;
  begin_report(report, pipeline, options);
  json_result(&report->out, pipeline, options, result, selection, report->backend);
  return end_piece(cli, report);
}

heed_status run_json_add_failure(cli_state *cli, run_json *report, const cli_pipeline *pipeline,
                                 const run_options *options, const char *path,
                                 const char *sentence) {
  json_out *json = &report->out;
  errno = 0;
  begin_report(report, pipeline, options);
  json_open(json, NULL, '{');
  if (json->line) json_integer(json, "schema", JSON_SCHEMA);
  json_open(json, "image", '{');
  json_text(json, "path", path);
  json_close(json, '}');
  json_text(json, "error", sentence);
  json_close(json, '}');
  return end_piece(cli, report);
}

heed_status run_json_end(cli_state *cli, run_json *report, const cli_pipeline *pipeline,
                         const run_options *options) {
  json_out *json = &report->out;
  errno = 0;
  begin_report(report, pipeline, options);
  if (json->line) return HEED_OK;
  json_close(json, ']');
  json_close(json, '}');
  fputc('\n', json->file);
  return end_piece(cli, report);
}

typedef struct one_report {
  cli_state *cli;
  const cli_pipeline *pipeline;
  const run_options *options;
  const run_result *result;
  const run_selection *selection;
} one_report;

static heed_status write_one(void *user, FILE *to, heed_error *error) {
  const one_report *one = user;
  (void)error; /* it is that of the state */
  run_json *report = run_json_create(to, one->options->json);
  if (!report) return heed_fail_memory(&one->cli->error, "JSON", sizeof *report);
  heed_status status =
      run_json_add(one->cli, report, one->pipeline, one->options, one->result, one->selection);
  if (status == HEED_OK) status = run_json_end(one->cli, report, one->pipeline, one->options);
  free(report);
  return status;
}

heed_status run_write_json(cli_state *cli, const cli_pipeline *pipeline, const run_options *options,
                           const run_result *result, const run_selection *selection) {
  one_report one = {cli, pipeline, options, result, selection};
  return cli_output_write(options->json, write_one, &one, &cli->error);
}
