/* heed run: pictures one after another. Some are in flight at a time; each is written, printed and
 * freed as soon as it has its results, so that memory does not grow with their number. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clip.h"
#include "explained.h"
#include "parts.h"
#include "picture_stream.h"
#include "resampled.h"
#include "session/embedded.h"
#include "terminal/progress.h"
#include "terminal/standard_out.h"

/* A file, the embedded picture (NULL), or the scene that --scene names. */
static heed_status read_picture(cli_state *cli, const cli_pipeline *pipeline,
                                const run_options *options, const char *path, run_result *result) {
  result->picture = path ? path : heed_embedded_picture.name;
  result->built_in = !path;
  if (options->scene) {
    if (path[strspn(path, "0123456789")] == '\0') {
      snprintf(result->scene, sizeof result->scene, "scene %s", path);
      result->picture = result->scene;
    }
    return scene_input_picture(cli, path, &result->image, &result->twins);
  }
  if (path)
    return cli_pipeline_load_image(cli, pipeline, path, &options->limits, options->choice.quiet,
                                   &result->image);
  return heed_image_decode(cli->context, heed_embedded_picture.name, heed_embedded_picture.bytes,
                           heed_embedded_picture.size, &result->image, &cli->error);
}

/* --fit model | whole. */
static heed_status choose_fit(cli_state *cli, const char *fit, heed_preprocess *preprocess) {
  if (!fit || strcmp(fit, "model") == 0) return HEED_OK;
  if (strcmp(fit, "whole") != 0)
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--fit: unknown area (found \"%s\", expected model or whole)", fit);
  heed_preprocess_fit_whole(preprocess);
  return HEED_OK;
}

heed_status run_load_picture(cli_state *cli, const cli_pipeline *pipeline,
                             const run_options *options, const char *path, run_result *result) {
  heed_preprocess preprocess = pipeline->preprocess;
  CLI_TRY(choose_fit(cli, options->fit, &preprocess));
  if (options->clip) {
    result->picture = path;
    return run_load_clip(cli, pipeline, options, result);
  }
  result->whole = preprocess.resize == HEED_RESIZE_WHOLE;
  CLI_TRY(read_picture(cli, pipeline, options, path, result));
  const heed_image view = heed_picture_view(&result->image);
  cli_prepared prepared = {0};
  CLI_TRY(cli_pipeline_prepare(cli, pipeline, &preprocess, &view, result->picture,
                               options->size ? 0 : options->most_patches, &prepared));
  result->pixels = prepared.pixels;
  result->batch_width = prepared.width;
  result->batch_height = prepared.height;
  result->region = prepared.region;
  return heed_picture_show(cli->context, &result->image, &cli->error);
}

/* All layers' maps, or only the query's rows: in place where they lie as they are read. */
static heed_status read_attention(cli_state *cli, const cli_pipeline *pipeline,
                                  const run_options *options, const run_selection *selection,
                                  run_result *result) {
  const heed_model_info *info = &pipeline->info;
  CLI_TRY(run_make_maps(cli, info->layers, result));
  if (info->stages) return run_read_windows(cli, pipeline, options, selection, result);
  for (uint32_t i = result->first_kept; i < result->first_kept + result->kept; i++) {
    heed_value value = {0};
    heed_value_info weights;
    const void *there;
    char name[48];
    snprintf(name, sizeof name, "layer.%u.attention.weights", i);
    const bool found = cli_pipeline_find(pipeline, name, &value, &weights);
    if (found && weights.shape.dim[2] == result->attention_rows &&
        heed_session_view(pipeline->session, value, &there, &cli->error) == HEED_OK) {
      result->attention[i] = there;
      continue;
    }
    float *copy = run_copy_map(result, i, info->heads);
    const uint64_t head = (uint64_t)result->attention_rows * result->tokens;
    if (!copy)
      return heed_fail_memory(&cli->error, "attention maps",
                              (size_t)(info->heads * head * sizeof *copy));
    /* a last layer of classes alone has the rows of all class tokens, CLS first */
    for (uint32_t h = 0; found && h < info->heads; h++)
      CLI_TRY(heed_session_read(pipeline->session, value,
                                (uint64_t)h * weights.shape.dim[2] * result->tokens, head,
                                copy + h * head, &cli->error));
  }
  return HEED_OK;
}

/* The map of the pooling attention over all tokens; it may leave out those before the patches. */
static heed_status read_pool(cli_state *cli, const cli_pipeline *pipeline, run_result *result) {
  const heed_model_info *info = &pipeline->info;
  heed_value value;
  heed_value_info weights;
  if (!info->pool_heads || !cli_pipeline_find(pipeline, RUN_POOL_TAP, &value, &weights))
    return HEED_OK;
  const uint32_t keys = weights.shape.dim[3];
  result->pool = calloc((size_t)info->pool_heads * result->tokens, sizeof *result->pool);
  if (!result->pool)
    return heed_fail_memory(&cli->error, "pool", (size_t)info->pool_heads * result->tokens);
  for (uint32_t h = 0; h < info->pool_heads; h++)
    CLI_TRY(heed_session_read(pipeline->session, value, (uint64_t)h * keys, keys,
                              result->pool + (size_t)(h + 1) * result->tokens - keys, &cli->error));
  return HEED_OK;
}

/* A file that is narrowed to a query has its rows alone, and one of other values no maps. */
static bool wants_whole_maps(const run_options *options) {
  const bool all = (options->json || options->save) && !options->narrow.query;
  if ((options->rollout && !options->remake) || options->reverse || options->score) return true;
  return options->save_only ? all && cli_features_have_maps(&options->features) : all;
}

static heed_status read_values(cli_state *cli, const cli_pipeline *pipeline,
                               const cli_features *features, run_result *result) {
  if (!features->count) return HEED_OK;
  result->values = calloc(features->count + 1u, sizeof *result->values);
  if (!result->values) return heed_fail_memory(&cli->error, "values", features->count);
  for (uint32_t i = 0; i < features->count; i++) {
    const size_t count = (size_t)heed_shape_count(&features->feature[i].shape);
    result->values[i] = malloc(count * sizeof *result->values[i]);
    if (!result->values[i]) return heed_fail_memory(&cli->error, "values", count * sizeof(float));
    CLI_TRY(cli_features_read(cli, pipeline, &features->feature[i], 0, result->values[i]));
    for (size_t k = 0; k < count; k++)
      if (!isfinite(result->values[i][k]))
        return heed_fail(&cli->error, HEED_INVALID_FILE,
                         "%s: %s is not numbers (found NaN or an infinity)", result->picture,
                         features->feature[i].name);
  }
  return HEED_OK;
}

/* Its size stays. */
static void drop_pixels(cli_state *cli, heed_picture *picture) {
  const heed_picture before = *picture;
  heed_picture_free(cli->context, picture);
  picture->width = before.width;
  picture->height = before.height;
}

/* Everything about a picture that the host knows before the model has seen it. */
static heed_status prepare_picture(cli_state *cli, const cli_pipeline *pipeline,
                                   const run_options *options, const char *path, run_result *result,
                                   run_selection *selection) {
  const heed_model_info *info = &pipeline->info;
  CLI_TRY(run_load_picture(cli, pipeline, options, path, result));
  const heed_build_desc sizes = {
      .struct_size = sizeof sizes, .height = result->batch_height, .width = result->batch_width};
  heed_layer_info layer;
  CLI_TRY(heed_model_layer(pipeline->model, &sizes, run_layer(options, info), &layer, &cli->error));
  result->patch = layer.patch;
  result->rows = layer.rows;
  result->columns = layer.columns;
  result->frames = layer.frames;
  result->tokens = info->prefix_tokens + layer.frames * layer.rows * layer.columns;
  run_kept_layers(options, info, &result->first_kept, &result->kept);
  result->attention_rows = wants_whole_maps(options) ? result->tokens : 1;
  CLI_TRY(cli_changes_read(cli, &options->changes, info, result->rows, result->columns,
                           &result->changes));
  CLI_TRY(run_select(cli, options, info, result, selection));
  if (!options->maps && !options->rollout && !options->sheet && !options->explained)
    drop_pixels(cli, &result->image);
  return HEED_OK;
}

/* A session of this picture's size, with the rows of its query where whole maps were not asked
 * for. */
static heed_status run_picture(cli_state *cli, cli_pipeline *pipeline, run_options *options,
                               run_result *result, run_selection *selection) {
  const bool whole = wants_whole_maps(options);
  heed_shape shape;
  if (pipeline->session && (pipeline->build.height != result->batch_height ||
                            pipeline->build.width != result->batch_width))
    cli_pipeline_reset(pipeline);
  pipeline->timed = true;
  pipeline->build.height = result->batch_height;
  pipeline->build.width = result->batch_width;
  const bool all = whole || pipeline->info.stages;
  pipeline->build.rows = all ? NULL : &selection->query;
  pipeline->build.row_count = all ? 0 : 1;
  if (cli_change_inputs_any(&result->changes)) {
    if (result->changes.mean)
      CLI_TRY(cli_change_inputs_means(cli, pipeline, &options->choice, result->pixels,
                                      &result->changes));
    CLI_TRY(run_resample(cli, pipeline, options, result));
    cli_change_inputs_use(pipeline, &result->changes);
  }
  /* that row is worked out all the same */
  pipeline->build.classes_only =
      !whole && !options->remake && !options->explain && selection->query == 0 &&
      (!options->save_only || cli_features_of_classes(&options->features)) &&
      pipeline->info.prefix_tokens > 0;
  CLI_TRY(cli_pipeline_run(cli, pipeline, &options->choice, result->pixels));
  result->milliseconds = pipeline->milliseconds;
  if (pipeline->info.classes)
    CLI_TRY(cli_pipeline_read(cli, pipeline, "logits", &result->logits, &shape));
  CLI_TRY(read_attention(cli, pipeline, options, selection, result));
  CLI_TRY(read_pool(cli, pipeline, result));
  CLI_TRY(read_values(cli, pipeline, &options->features, result));
  CLI_TRY(run_explain(cli, pipeline, options, selection, result));
  return run_read_shown(cli, pipeline, options, selection, result);
}

static void free_result(cli_state *cli, run_result *result) {
  heed_picture_free(cli->context, &result->image);
  free(result->pixels);
  free(result->logits);
  run_free_maps(result);
  free(result->rollout);
  free(result->rollout_row);
  free(result->pool_rollout);
  free(result->pool);
  free(result->columns_of_query);
  free(result->scores);
  run_explained_free(result->explained);
  for (uint32_t i = 0; result->values && result->values[i]; i++) free(result->values[i]);
  free(result->values);
  cli_change_inputs_free(&result->changes);
}

/* The way of all pictures. Slots are a ring: good picture n has slot n % PICTURE_SLOTS. */
typedef struct pictures_way {
  cli_state *cli;
  cli_pipeline *pipeline;
  run_options *options;
  const run_batch *batch;
  run_json *json; /* NULL: not asked for */
  run_result results[PICTURE_SLOTS];
  run_selection selections[PICTURE_SLOTS];
  picture_stream stream;
  uint32_t prepared, shown; /* good pictures; of these, with everything written */
  uint32_t failed;
  cli_progress progress;
  heed_sheet *sheet; /* NULL: not asked for */
} pictures_way;

/* Whether every number is one. */
static bool all_numbers(const float *values, size_t count) {
  bool all = true;
  for (size_t i = 0; i < count; i++) all = all && isfinite(values[i]);
  return all;
}

/* Of what is not a number nothing is ranked or drawn. Changes may take every token from a query,
 * whose row is then what they say. */
static heed_status check_numbers(const pictures_way *way, const run_result *result) {
  const heed_model_info *info = &way->pipeline->info;
  heed_error *error = &way->cli->error;
  if (result->logits && !all_numbers(result->logits, info->classes))
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: the logits are not numbers (found NaN or an infinity): nothing is ranked",
                     result->picture);
  if (cli_changes_any(&way->options->changes)) return HEED_OK;
  const size_t map = (size_t)result->attention_rows * result->tokens * info->heads;
  for (uint32_t l = result->first_kept; l < result->first_kept + result->kept; l++)
    if (!all_numbers(result->attention[l], map))
      return heed_fail(error, HEED_INVALID_FILE,
                       "%s: the attention of layer %u is not numbers (found NaN)", result->picture,
                       l);
  return HEED_OK;
}

/* Its sentence, to stderr and into the JSON. */
static heed_status note_bad_picture(pictures_way *way, const char *path) {
  cli_state *cli = way->cli;
  const heed_error failed = cli->error;
  cli_progress_clear(&way->progress);
  fprintf(stderr, "heed %s: %s\n", cli->verb, failed.message);
  way->failed++;
  return way->json ? run_json_add_failure(cli, way->json, way->pipeline, way->options, path,
                                          failed.message)
                   : HEED_OK;
}

static heed_status show_picture(pictures_way *way, run_result *result,
                                const run_selection *selection) {
  cli_state *cli = way->cli;
  const run_options *options = way->options;
  const heed_status numbers = check_numbers(way, result);
  if (numbers != HEED_OK)
    return way->batch->count > 1 ? note_bad_picture(way, result->picture) : numbers;
  if (run_wants_rollout(options))
    CLI_TRY(run_read_rollout(cli, way->pipeline, options, selection, result));
  if (way->json) CLI_TRY(run_json_add(cli, way->json, way->pipeline, options, result, selection));
  cli_progress_clear(&way->progress);
  run_print(stdout, way->pipeline, options, result, selection);
  if (way->sheet) CLI_TRY(run_add_to_sheet(cli, way->sheet, way->pipeline, result, selection));
  return run_write_outputs(cli, way->pipeline, options, result, selection);
}

/* Writes, prints and frees what has its results. */
static heed_status show_pictures(pictures_way *way) {
  heed_status status = HEED_OK;
  for (; way->shown < way->stream.collected && status == HEED_OK; way->shown++) {
    run_result *result = &way->results[way->shown % PICTURE_SLOTS];
    status = show_picture(way, result, &way->selections[way->shown % PICTURE_SLOTS]);
    free_result(way->cli, result);
    *result = (run_result){0};
    if (status == HEED_OK) cli_progress_step(&way->progress, way->shown + 1 + way->failed);
  }
  return status;
}

/* Takes what is in flight out; after a fault, and where nothing was in flight, what is prepared
 * runs one by one, each shown before the session that has its maps runs again. */
static heed_status finish_pictures(pictures_way *way) {
  picture_stream *stream = &way->stream;
  picture_stream_finish(stream);
  while (stream->collected < way->prepared) {
    const uint32_t slot = stream->collected % PICTURE_SLOTS;
    CLI_TRY(show_pictures(way));
    CLI_TRY(run_picture(way->cli, way->pipeline, way->options, &way->results[slot],
                        &way->selections[slot]));
    stream->collected++;
  }
  return HEED_OK;
}

static heed_status finish_and_show(pictures_way *way) {
  const heed_status status = finish_pictures(way);
  if (status == HEED_OK) return show_pictures(way);
  const heed_error failed = way->cli->error;
  const heed_status shown = show_pictures(way); /* those before it */
  if (shown == HEED_OK) way->cli->error = failed;
  return shown == HEED_OK ? status : shown;
}

/* A bad picture of several gives its sentence, in its turn, and the others go on. */
static heed_status note_failure(pictures_way *way, const char *path) {
  const heed_error failed = way->cli->error;
  CLI_TRY(finish_and_show(way));
  way->cli->error = failed;
  return note_bad_picture(way, path);
}

/* Whether a picture goes through a stream, whose slots are written their pixels alone and give
 * classes and maps alone. */
static bool may_stream(pictures_way *way) {
  const run_options *options = way->options;
  return !way->pipeline->info.pool_heads && !way->pipeline->info.stages &&
         !cli_changes_any(&options->changes) && !options->score && !options->reverse &&
         !options->save_only && !options->explain &&
         picture_stream_takes(&way->stream, &options->choice, way->prepared);
}

static heed_status take_picture(pictures_way *way, uint32_t index) {
  const run_batch *batch = way->batch;
  run_result *result = &way->results[way->prepared % PICTURE_SLOTS];
  *result = (run_result){.stem = batch->stems.stem ? batch->stems.stem[index] : NULL};
  const heed_status status =
      prepare_picture(way->cli, way->pipeline, way->options, batch->pictures[index], result,
                      &way->selections[way->prepared % PICTURE_SLOTS]);
  if (status != HEED_OK) {
    free_result(way->cli, result);
    *result = (run_result){0};
    return batch->count > 1 && cli_exit_code(status) == CLI_BAD_FILE
               ? note_failure(way, batch->pictures[index])
               : status;
  }
  if (way->prepared == 0 && !way->options->model && !way->options->scene)
    result->note = "the demo model knows generated scenes of ten shapes only (heed demo shows "
                   "one): its predictions for other images are meaningless";
  const bool streamed = may_stream(way);
  way->prepared++;
  return streamed ? show_pictures(way) : finish_and_show(way);
}

/* The first of each size runs by itself and is timed; those that follow go through a stream, so
 * that the device works on one while the next is decoded. What a stream cannot do (the device is
 * lost, no memory for another slot) is done one by one. */
static heed_status go(pictures_way *way) {
  heed_status status = HEED_OK;
  cli_progress_begin(&way->progress, way->batch->count, way->options->choice.quiet);
  for (uint32_t i = 0; i < way->batch->count && status == HEED_OK; i++)
    status = take_picture(way, i);
  if (status == HEED_OK) status = finish_and_show(way);
  cli_progress_clear(&way->progress);
  picture_stream_close(&way->stream);
  for (uint32_t i = 0; i < PICTURE_SLOTS; i++) free_result(way->cli, &way->results[i]);
  return status;
}

static heed_status go_with_json(void *user, FILE *to, heed_error *error) {
  pictures_way *way = user;
  (void)error; /* it is that of the state */
  way->json = run_json_create(to, way->options->json);
  if (!way->json) return heed_fail_memory(&way->cli->error, "JSON", 1);
  heed_status status = go(way);
  if (status == HEED_OK) status = run_json_end(way->cli, way->json, way->pipeline, way->options);
  free(way->json);
  return status;
}

heed_status run_pictures(cli_state *cli, cli_pipeline *pipeline, run_options *options,
                         const run_batch *batch, uint32_t *failed) {
  pictures_way way = {.cli = cli, .pipeline = pipeline, .options = options, .batch = batch};
  way.stream = (picture_stream){.pipeline = pipeline, .results = way.results};
  if (options->sheet) CLI_TRY(heed_sheet_create(cli->context, &way.sheet, &cli->error));
  heed_status status =
      options->json ? cli_output_write(options->json, go_with_json, &way, &cli->error) : go(&way);
  if (status == HEED_OK && options->json) printf("JSON: %s\n", CLI_SHOWN(options->json));
  if (status == HEED_OK && way.sheet && heed_sheet_count(way.sheet))
    status = run_write_sheet(cli, way.sheet, pipeline, options);
  heed_sheet_destroy(way.sheet);
  *failed = way.failed;
  return status;
}
