/* heed run: pictures through a model; class scores, maps and numbers out. */
#include "run_parts.h"

#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "embedded.h"
#include "heed/onnx.h"
#include "onnx_graph.h"
#include "picture_stream.h"
#include "sequence.h"

#define POOL_TAP "pool.attention.weights"

const float *run_row(const run_result *result, const run_selection *selection, uint32_t heads,
                     uint32_t layer, uint32_t head) {
  if (selection->pool) return result->pool + (size_t)head * result->tokens;
  if (result->columns_of_query)
    return result->columns_of_query + ((size_t)layer * heads + head) * result->tokens;
  const uint32_t row = result->attention_rows == 1 ? 0 : selection->query;
  return result->attention +
         (((size_t)layer * heads + head) * result->attention_rows + row) * result->tokens;
}

void run_rollout_row(const run_result *result, const run_selection *selection,
                     const heed_model_info *info, float *row) {
  const size_t tokens = result->tokens;
  memcpy(row, result->rollout + selection->query * tokens, tokens * sizeof *row);
  if (!selection->pool) return;
  memset(row, 0, tokens * sizeof *row);
  for (size_t i = 0; i < info->pool_heads * tokens; i++) {
    const float share = result->pool[i] / (float)info->pool_heads;
    const float *from = result->rollout + i % tokens * tokens;
    for (size_t j = 0; j < tokens; j++) row[j] += share * from[j];
  }
}

/* ------------------------------------------------------------------------------------ selection */

static heed_status check_pool(cli_state *cli, const run_options *options,
                              const heed_model_info *info) {
  if (!info->pool_heads)
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--layer: this model has no pooling attention (found \"pool\", expected 0 to "
                     "%u or all)",
                     info->layers - 1);
  return options->reverse || options->score
             ? heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                         "--layer: the pooling attention has one query (found \"pool\" with %s)",
                         options->reverse ? "--reverse" : "--score")
             : HEED_OK;
}

static heed_status choose_layers(cli_state *cli, const run_options *options,
                                 const heed_model_info *info, run_selection *selection) {
  *selection = (run_selection){
      .first_layer = info->layers - 1, .layer_count = 1, .query_row = -1, .query_column = -1};
  /* Without CLS nothing else in the model has one map of the image. */
  selection->pool = options->layer ? strcmp(options->layer, "pool") == 0
                                   : info->pool_heads && !info->prefix_tokens && !options->query;
  if (selection->pool) CLI_TRY(check_pool(cli, options, info));
  const uint32_t heads = selection->pool ? info->pool_heads : info->heads;
  selection->head_count = heads;
  if (selection->pool) {
    selection->first_layer = 0;
  } else if (options->layer && strcmp(options->layer, "all") == 0) {
    selection->first_layer = 0;
    selection->layer_count = info->layers;
  } else if (options->layer &&
             !cli_read_number(options->layer, info->layers - 1, &selection->first_layer))
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--layer: layer out of range (found \"%s\", expected 0 to %u or all)",
                     options->layer, info->layers - 1);
  if (!options->head || strcmp(options->head, "all") == 0) return HEED_OK;
  if (strcmp(options->head, "mean") == 0) {
    selection->head_mean = true;
    return HEED_OK;
  }
  selection->head_count = 1;
  if (!cli_read_number(options->head, heads - 1, &selection->first_head))
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--head: head out of range (found \"%s\", expected 0 to %u, mean or all)",
                     options->head, heads - 1);
  return HEED_OK;
}

static heed_status choose_scale(cli_state *cli, const char *text, heed_scale_kind *scale) {
  static const char *const names[] = {"auto", "uniform", "share", "log", "own"};
  *scale = HEED_SCALE_AUTO;
  for (uint32_t i = 0; text && i < sizeof names / sizeof *names; i++)
    if (strcmp(text, names[i]) == 0) {
      *scale = (heed_scale_kind)i;
      return HEED_OK;
    }
  return text ? heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                          "--scale: unknown scale (found \"%s\", expected auto, uniform, share, "
                          "log or own)",
                          text)
              : HEED_OK;
}

heed_status run_select(cli_state *cli, const run_options *options, const heed_model_info *info,
                       const run_result *result, run_selection *selection) {
  CLI_TRY(choose_layers(cli, options, info, selection));
  CLI_TRY(choose_scale(cli, options->scale, &selection->scale));
  return run_choose_query(cli, options->query, info, result, selection);
}

/* -------------------------------------------------------------------------------------- running */

/* A file, the embedded picture (NULL), or the scene that --scene names. */
static heed_status read_picture(cli_state *cli, const run_options *options, const char *path,
                                run_result *result) {
  result->picture = path ? path : heed_embedded_picture.name;
  result->built_in = !path;
  if (options->scene) {
    if (path[strspn(path, "0123456789")] == '\0') {
      snprintf(result->scene, sizeof result->scene, "scene %s", path);
      result->picture = result->scene;
    }
    return scene_input_picture(cli, path, &result->image, &result->twins);
  }
  if (path) return heed_image_load(cli->context, path, &result->image, &cli->error);
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

static heed_status load_picture(cli_state *cli, const cli_pipeline *pipeline,
                                const run_options *options, const char *path, run_result *result) {
  heed_preprocess preprocess = pipeline->preprocess;
  CLI_TRY(choose_fit(cli, options->fit, &preprocess));
  result->whole = preprocess.resize == HEED_RESIZE_WHOLE;
  CLI_TRY(read_picture(cli, options, path, result));
  CLI_TRY(heed_preprocess_size(&preprocess, result->image.width, result->image.height,
                               &result->batch_width, &result->batch_height, &cli->error));
  const size_t count = (size_t)3 * result->batch_width * result->batch_height;
  result->pixels = malloc(count * sizeof *result->pixels);
  if (!result->pixels)
    return heed_fail_memory(&cli->error, result->picture, count * sizeof *result->pixels);
  const heed_image view = heed_picture_view(&result->image);
  return heed_preprocess_image(cli->context, &preprocess, &view, result->pixels, &result->region,
                               &cli->error);
}

/* All layers' maps, or only the query's rows, as [L, H, R, N]. */
static heed_status read_attention(cli_state *cli, const cli_pipeline *pipeline,
                                  run_result *result) {
  const heed_model_info *info = &pipeline->info;
  const size_t layer = (size_t)info->heads * result->attention_rows * result->tokens;
  result->attention = malloc(info->layers * layer * sizeof *result->attention);
  if (!result->attention)
    return heed_fail_memory(&cli->error, "attention maps",
                            info->layers * layer * sizeof *result->attention);
  for (uint32_t i = 0; i < info->layers; i++) {
    heed_value value;
    heed_value_info weights;
    if (!cli_pipeline_find(pipeline, pipeline->tap_names[i], &value, &weights)) continue;
    /* a last layer of classes alone has the rows of all class tokens, CLS first */
    const uint64_t head = (uint64_t)result->attention_rows * result->tokens,
                   stride = (uint64_t)weights.shape.dim[2] * result->tokens;
    for (uint32_t h = 0; h < info->heads; h++)
      CLI_TRY(heed_session_read(pipeline->session, value, h * stride, head,
                                result->attention + i * layer + h * head, &cli->error));
  }
  return HEED_OK;
}

/* The map of the pooling attention over all tokens; it may leave out those before the patches. */
static heed_status read_pool(cli_state *cli, const cli_pipeline *pipeline, run_result *result) {
  const heed_model_info *info = &pipeline->info;
  heed_value value;
  heed_value_info weights;
  if (!info->pool_heads || !cli_pipeline_find(pipeline, POOL_TAP, &value, &weights)) return HEED_OK;
  const uint32_t keys = weights.shape.dim[3];
  result->pool = calloc((size_t)info->pool_heads * result->tokens, sizeof *result->pool);
  if (!result->pool)
    return heed_fail_memory(&cli->error, "pool", (size_t)info->pool_heads * result->tokens);
  for (uint32_t h = 0; h < info->pool_heads; h++)
    CLI_TRY(heed_session_read(pipeline->session, value, (uint64_t)h * keys, keys,
                              result->pool + (size_t)(h + 1) * result->tokens - keys, &cli->error));
  return HEED_OK;
}

static bool wants_whole_maps(const run_options *options) {
  const bool graph = options->way && strcmp(options->way, "weights") != 0; /* has all rows */
  return graph || options->rollout || options->json || options->save || options->reverse;
}

/* Everything about a picture that the host knows before the model has seen it. */
static heed_status prepare_picture(cli_state *cli, const cli_pipeline *pipeline,
                                   const run_options *options, const char *path, run_result *result,
                                   run_selection *selection) {
  const heed_model_info *info = &pipeline->info;
  CLI_TRY(load_picture(cli, pipeline, options, path, result));
  result->rows = result->batch_height / info->patch;
  result->columns = result->batch_width / info->patch;
  result->tokens = info->prefix_tokens + result->rows * result->columns;
  result->attention_rows = wants_whole_maps(options) ? result->tokens : 1;
  CLI_TRY(cli_changes_read(cli, &options->changes, info, result->rows, result->columns,
                           &result->changes));
  return run_select(cli, options, info, result, selection);
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
  pipeline->build.rows = whole ? NULL : &selection->query;
  pipeline->build.row_count = whole ? 0 : 1;
  if (cli_change_inputs_any(&result->changes)) {
    if (result->changes.mean)
      CLI_TRY(cli_change_inputs_means(cli, pipeline, &options->choice, result->pixels,
                                      &result->changes));
    cli_change_inputs_use(pipeline, &result->changes);
  }
  /* that row is worked out all the same */
  pipeline->build.classes_only =
      !whole && selection->query == 0 && pipeline->info.prefix_tokens > 0;
  CLI_TRY(cli_pipeline_run(cli, pipeline, &options->choice, result->pixels));
  result->milliseconds = pipeline->milliseconds;
  if (pipeline->info.classes)
    CLI_TRY(cli_pipeline_read(cli, pipeline, "logits", &result->logits, &shape));
  CLI_TRY(read_attention(cli, pipeline, result));
  CLI_TRY(read_pool(cli, pipeline, result));
  return run_read_shown(cli, pipeline, options, selection, result);
}

static void free_result(cli_state *cli, run_result *result) {
  heed_picture_free(cli->context, &result->image);
  free(result->pixels);
  free(result->logits);
  free(result->attention);
  free(result->rollout);
  free(result->pool);
  free(result->columns_of_query);
  free(result->scores);
  cli_change_inputs_free(&result->changes);
}

/* Takes what is in flight out; after a fault, and where nothing was in flight, pictures
 * [stream->collected, end) run one by one. */
static heed_status finish_pictures(cli_state *cli, cli_pipeline *pipeline, run_options *options,
                                   picture_stream *stream, uint32_t end, run_result *results,
                                   run_selection *selections) {
  picture_stream_finish(stream);
  for (; stream->collected < end; stream->collected++) {
    run_result *result = &results[stream->collected];
    CLI_TRY(run_picture(cli, pipeline, options, result, &selections[stream->collected]));
  }
  return HEED_OK;
}

/* Whether a picture goes through a stream, whose slots are written their pixels alone and give
 * classes and maps alone. */
static bool may_stream(picture_stream *stream, const run_options *options, uint32_t index) {
  return !stream->pipeline->info.pool_heads && !cli_changes_any(&options->changes) &&
         !options->score && !options->reverse &&
         picture_stream_takes(stream, &options->choice, index);
}

/* The first of each size runs by itself and is timed; those that follow go through a stream, so
 * that the device works on one while the next is decoded. What a stream cannot do (the device is
 * lost, no memory for another slot) is done one by one. */
static heed_status run_pictures(cli_state *cli, cli_pipeline *pipeline, run_options *options,
                                const char *const *pictures, uint32_t count, run_result *results,
                                run_selection *selections) {
  picture_stream stream = {.pipeline = pipeline, .results = results};
  heed_status status = HEED_OK;
  for (uint32_t i = 0; i < count && status == HEED_OK; i++) {
    status = prepare_picture(cli, pipeline, options, pictures[i], &results[i], &selections[i]);
    if (status == HEED_OK && !may_stream(&stream, options, i))
      status = finish_pictures(cli, pipeline, options, &stream, i + 1, results, selections);
  }
  if (status == HEED_OK)
    status = finish_pictures(cli, pipeline, options, &stream, count, results, selections);
  picture_stream_close(&stream);
  for (uint32_t i = 0; i < count && status == HEED_OK && wants_whole_maps(options); i++)
    status = run_read_rollout(cli, &options->rollout_how, &pipeline->info, &results[i]);
  return status;
}

/* All pictures run before anything is written: a bad one leaves no file behind. */
static heed_status run_all(cli_state *cli, cli_pipeline *pipeline, run_options *options,
                           const char *const *pictures, uint32_t count, run_result *results,
                           run_selection *selections) {
  CLI_TRY(run_pictures(cli, pipeline, options, pictures, count, results, selections));
  if (!options->model && !options->scene)
    results[0].note = "the demo model knows generated scenes of ten shapes only (heed demo shows "
                      "one): its predictions for other images are meaningless";
  for (uint32_t i = 0; i < count; i++) {
    run_print(stdout, pipeline, options, &results[i], &selections[i]);
    CLI_TRY(run_write_outputs(cli, pipeline, options, &results[i], &selections[i]));
  }
  if (!options->json) return HEED_OK;
  CLI_TRY(run_write_json(cli, pipeline, options, results, selections, count));
  printf("JSON: %s\n", CLI_SHOWN(options->json));
  return HEED_OK;
}

/* The weights of each layer, then what --score wants. */
static void name_taps(cli_pipeline *pipeline, const run_options *options, char (*names)[48],
                      const char **taps) {
  const char *what[3] = {"attention.weights"};
  const uint32_t kinds = 1 + run_score_taps(options, what + 1);
  for (uint32_t k = 0; k < kinds; k++)
    for (uint32_t i = 0; i < pipeline->info.layers; i++) {
      snprintf(names[pipeline->tap_count], sizeof *names, "layer.%u.%s", i, what[k]);
      taps[pipeline->tap_count] = names[pipeline->tap_count];
      pipeline->tap_count++;
    }
  if (pipeline->info.pool_heads) taps[pipeline->tap_count++] = POOL_TAP;
}

/* --way: the graph of an ONNX file in the place of the model's own. */
static heed_status choose_way(cli_state *cli, const run_options *options, cli_pipeline *pipeline) {
  if (!options->way || strcmp(options->way, "weights") == 0) return HEED_OK;
  if (strcmp(options->way, "graph") != 0)
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--way: unknown way (found \"%s\", expected weights or graph)", options->way);
  if (!pipeline->files || !heed_model_files_onnx(pipeline->files))
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT, "--way graph: not an ONNX file (found %s)",
                     options->model ? options->model : "the built-in model");
  pipeline->build_graph = cli_onnx_build;
  return HEED_OK;
}

static heed_status run_job(cli_state *cli, run_options *options, const char *const *pictures,
                           uint32_t count) {
  cli_pipeline pipeline = {0};
  char(*names)[48] = NULL;
  const char **taps = NULL;
  run_result *results = calloc(count, sizeof *results);
  run_selection *selections = calloc(count, sizeof *selections);
  run_stems stems = {NULL, count};
  heed_status status = results && selections
                           ? run_check_shown(cli, options)
                           : heed_fail_memory(&cli->error, "run", count * sizeof *results);
  if (status == HEED_OK) status = run_check_figures(cli, options);
  if (status == HEED_OK && count > 1) status = run_make_stems(cli, pictures, &stems);
  if (status == HEED_OK) status = run_check_paths(cli, options, pictures, &stems);
  for (uint32_t i = 0; status == HEED_OK && i < count; i++)
    results[i].stem = stems.stem ? stems.stem[i] : NULL;
  if (status == HEED_OK) status = cli_pipeline_load(cli, &pipeline, options->model);
  if (status == HEED_OK) status = choose_way(cli, options, &pipeline);
  if (status == HEED_OK) status = cli_pipeline_size(cli, &pipeline, options->size);
  if (status == HEED_OK) {
    names = calloc((size_t)3 * pipeline.info.layers + 1, sizeof *names);
    taps = calloc((size_t)3 * pipeline.info.layers + 2, sizeof *taps);
    if (!names || !taps)
      status = heed_fail_memory(&cli->error, "taps", 3 * pipeline.info.layers * sizeof *names);
  }
  if (status == HEED_OK) name_taps(&pipeline, options, names, taps);
  pipeline.tap_names = taps;
  heed_rollout_desc rollout; /* to refuse bad options before anything runs */
  if (status == HEED_OK)
    status = run_rollout_desc(cli, &options->rollout_how, &pipeline.info, 1, &rollout);
  if (status == HEED_OK) status = cli_choice_open(cli, &options->choice);
  if (status == HEED_OK)
    status = run_all(cli, &pipeline, options, pictures, count, results, selections);
  for (uint32_t i = 0; results && i < count; i++) free_result(cli, &results[i]);
  cli_pipeline_close(&pipeline);
  cli_choice_close(&options->choice);
  run_free_stems(&stems);
  free(results);
  free(selections);
  free(names);
  free(taps);
  return status;
}

/* With nothing asked for: a scene, and the head that looks from one twin to the other
 * (runtime/demo/README.md). */
static void choose_demo(run_options *options) {
  options->scene = "159"; /* two stars, far apart */
  if (options->query || options->layer || options->head || options->size) return;
  options->query = "twin";
  options->layer = "3";
  options->head = "0";
}

/* heed run MODEL --tokens or --features; what only pictures have is refused. */
static int run_sequence(cli_state *cli, const run_options *options, sequence_options *sequence,
                        const cli_words *words) {
  if (words->count != 1 || !sequence->tokens == !sequence->features) {
    fprintf(stderr,
            "heed run: --tokens and --features: wrong arguments (found %u besides the options, "
            "expected MODEL and one of the two)\n",
            words->count);
    return CLI_USAGE;
  }
  if (options->scene || options->size || options->layer || options->head || options->query ||
      options->maps || options->rollout || options->scale || options->width || options->reverse ||
      options->score || cli_changes_any(&options->changes)) {
    fprintf(stderr,
            "heed run: --scene, --size, --layer, --head, --query, --maps, --rollout, --scale, "
            "--width, --reverse, --score and changes of the attention are for images (found one "
            "with --tokens or --features)\n");
    return CLI_USAGE;
  }
  sequence->json = options->json;
  sequence->save = options->save;
  return sequence_run(cli, sequence, words->word[0]) == HEED_OK ? CLI_OK : cli_fail(cli);
}

/* heed run MODEL [IMAGE] --text; what belongs to a picture's attention is refused. */
static int run_texts(cli_state *cli, const run_options *options, compare_options *compare,
                     const cli_words *words) {
  if (words->count < 1 || words->count > 2) {
    fprintf(stderr,
            "heed run: --text: wrong arguments (found %u besides the options, expected MODEL and "
            "at most one image)\n",
            words->count);
    return CLI_USAGE;
  }
  if (options->scene || options->query || options->rollout || options->scale || options->reverse ||
      options->score || cli_changes_any(&options->changes)) {
    fprintf(stderr,
            "heed run: --scene, --query, --rollout, --scale, --reverse, --score and changes of "
            "the attention cannot be given with --text\n");
    return CLI_USAGE;
  }
  compare->model = words->word[0];
  compare->picture = words->count > 1 ? words->word[1] : NULL;
  compare->fit = options->fit;
  compare->size = options->size;
  compare->layer = options->layer;
  compare->head = options->head;
  compare->maps = options->maps;
  compare->json = options->json;
  compare->save = options->save;
  compare->width = options->width;
  return compare_run(cli, compare) == HEED_OK ? CLI_OK : cli_fail(cli);
}

/* heed run [MODEL] [IMAGE...]. */
static int run_images(cli_state *cli, run_options *options, const cli_words *words) {
  const bool has_model = words->count > 0 && heed_is_model_path(words->word[0]);
  const char *embedded = NULL;
  char chosen[HEED_PATH_SIZE];
  options->model = has_model ? cli_model_file(words->word[0], options->file, chosen) : NULL;
  const char *const *pictures = words->word + has_model;
  uint32_t count = words->count - has_model;
  if (words->count == 0 && !options->scene) choose_demo(options);
  if (options->scene && count > 0) {
    fprintf(stderr, "heed run: --scene replaces images (found %u images, expected none)\n", count);
    return CLI_USAGE;
  }
  if (count == 0) {
    pictures = options->scene ? &options->scene : &embedded;
    count = 1;
  }
  return run_job(cli, options, pictures, count) == HEED_OK ? CLI_OK : cli_fail(cli);
}

static int run(cli_state *cli, int argc, char **argv) {
  run_options options = {.choice = CLI_CHOICE_INIT, .top = 5};
  sequence_options sequence = {.choice = &options.choice};
  cli_words words, texts = {.count = 0};
  compare_options compare = {.choice = &options.choice, .texts = &texts};
  const cli_option table[] = {
      {"--text", CLI_TEXTS, &texts, "TEXT",
       "compare the image with this text (CLIP, SigLIP); may be given again; --maps then draws "
       "the similarity of each patch to each text"},
      {"--text-maps", CLI_TEXT, &compare.text_maps, RUN_FIGURE_NAME,
       "draw the attention of the first --text, tokens x tokens"},
      {"--scene", CLI_TEXT, &options.scene, "SEED|FILE.json",
       "use this generated scene instead of an image"},
      {"--fit", CLI_TEXT, &options.fit, "model|whole",
       "image area to use: the model's crop, or the whole image padded with the mean colour "
       "(default: model)"},
      CLI_FILE_OPTION(options.file),
      {"--way", CLI_TEXT, &options.way, "weights|graph",
       "of an ONNX file: its weights in heed's own graph (default), or its graph on heed's "
       "kernels"},
      CLI_SIZE_OPTION(options.size),
      {"--top", CLI_NUMBER, &options.top, "K", "print the K most likely classes (default: 5)"},
      RUN_MAP_OPTIONS(options, "NAME|twin|ROW,COL"),
      {"--json", CLI_TEXT, &options.json, "OUT.json",
       "write scores, maps and statistics of every head"},
      {"--save", CLI_TEXT, &options.save, "OUT.safetensors",
       "save pixel_values, logits, attention.N and rollout"},
      {"--tokens", CLI_TEXT, &sequence.tokens, "5,3,9",
       "decode these source token ids (encoder-decoder MODEL)"},
      {"--features", CLI_TEXT, &sequence.features, "FILE.safetensors",
       "decode the feature vectors in tensor 'source' [S, F]"},
      {"--length", CLI_NUMBER, &sequence.length, "N",
       "decode at most N tokens (default: the model's max_length)"},
      {"--reverse", CLI_FLAG, &options.reverse, NULL,
       "show attention received by the query instead"},
      {"--score", CLI_TEXT, &options.score, "raw|scaled|masked|value",
       "also write these attention scores of the query to --json"},
      RUN_ROLLOUT_OPTIONS(options.rollout_how),
      CLI_CHANGES_OPTIONS(options.changes),
      CLI_CHOICE_OPTIONS(options.choice, CLI_BACKEND_AUTO),
      {NULL, CLI_FLAG, NULL, NULL, NULL}};
  const int code = cli_parse(
      cli,
      "run [MODEL] [IMAGE...] [options]\n\nMODEL is a folder, or a .safetensors, .onnx, .pth, .pt, "
      ".bin or .ckpt file. Without MODEL:\nthe built-in demo model, which knows drawn "
      "shapes only. Without IMAGE: the built-in exact_224.png.\nWithout both: one of the "
      "demo's scenes.",
      table, argc, argv, &words);
  if (code >= 0) return code;
  if (texts.count) return run_texts(cli, &options, &compare, &words);
  if (compare.text_maps) {
    fprintf(stderr, "heed run: --text-maps: no text (expected --text TEXT)\n");
    return CLI_USAGE;
  }
  if (sequence.tokens || sequence.features || sequence.length)
    return run_sequence(cli, &options, &sequence, &words);
  return run_images(cli, &options, &words);
}

const cli_verb cli_verb_run = {"run", "classify images and export attention maps", run};
