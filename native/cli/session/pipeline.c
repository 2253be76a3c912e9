/* The way from a model's files to a session that has run. */
#include "pipeline.h"

#include <stdlib.h>
#include <string.h>

#include "embedded.h"
#include "files/os.h"
#include "heed/onnx.h"
#include "heed/sequences.h"
#include "profile.h"
#include "terminal/options.h"
#include "terminal/progress.h"

/* A progress line on a terminal only, and only for work that takes long enough to be seen. */
static void show_progress(const char *phase, uint64_t done, uint64_t total, void *user) {
  (void)user;
  const unsigned percent = total ? (unsigned)(done * 100 / total) : 100;
  fprintf(stderr, "\r%-10s %3u %%", phase, percent);
  if (done >= total) fprintf(stderr, "\r%-20s\r", "");
}

static heed_hooks terminal_hooks(const cli_choice *choice) {
  heed_hooks hooks = HEED_HOOKS_INIT;
  if (cli_progress_wanted(choice->quiet)) hooks.progress = show_progress;
  return hooks;
}

/* The model inside the binary. */
static heed_model_desc embedded_files(heed_model_file built_in[CLI_BUILT_IN_FILES]) {
  uint32_t count = 0;
  for (; count < CLI_BUILT_IN_FILES && count < heed_embedded_model_count; count++) {
    const heed_embedded_file *from = &heed_embedded_model[count];
    built_in[count] = (heed_model_file){from->name, {from->size, from->bytes, NULL, NULL}};
  }
  return (heed_model_desc){sizeof(heed_model_desc), built_in, count};
}

/* The largest number of tokens, each way, for which an encoder-decoder is shown. */
#define SHOWN_LENGTH 16
#define MOST_SIDE 8192 /* of --size */

const char *cli_model_file(const char *model, const char *file, char path[HEED_PATH_SIZE]) {
  static const char *const folders[] = {"/", "/onnx/"};
  heed_os_info info;
  if (!model || !file) return model;
  for (size_t i = 0; i < 2; i++) {
    const int length = snprintf(path, HEED_PATH_SIZE, "%s%s%s", model, folders[i], file);
    if (length > 0 && length < HEED_PATH_SIZE && heed_os_look(path, &info)) return path;
  }
  snprintf(path, HEED_PATH_SIZE, "%s/%s", model, file);
  return path;
}

enum { MOST_HINTS = 2000 };

heed_status cli_open_files(cli_state *cli, const char *path, heed_model_files **files) {
  char hints[MOST_HINTS];
  heed_files_desc desc = {sizeof desc, cli->weights_key, cli->names, cli->hints};
  if (cli->interpolation_grid) {
    const int length =
        snprintf(hints, sizeof hints, "%s%sinterpolation_grid=%s", cli->hints ? cli->hints : "",
                 cli->hints ? "," : "", cli->interpolation_grid);
    if (length >= MOST_HINTS)
      return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                       "--hints: too long (found %d bytes, expected less than %d)", length,
                       MOST_HINTS);
    desc.hints = hints;
  }
  return heed_model_files_open_as(cli->context, path, &desc, files, &cli->error);
}

static heed_status open_files(cli_state *cli, cli_pipeline *pipeline, const char *path,
                              heed_model_desc *desc) {
  if (!path && (cli->names || cli->hints))
    return heed_fail(
        &cli->error, HEED_INVALID_ARGUMENT,
        "%s: the built-in model needs none (found \"%.200s\", expected a MODEL with it)",
        cli->names ? "--names" : "--hints", cli->names ? cli->names : cli->hints);
  if (!path && cli->interpolation_grid)
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--interpolation-grid: the built-in model has its own (found \"%.200s\", "
                     "expected a MODEL with it)",
                     cli->interpolation_grid);
  if (!path && cli->weights_key)
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--weights-key: the built-in model has no entries (found \"%.200s\", expected "
                     "a MODEL with it)",
                     cli->weights_key);
  if (path) CLI_TRY(cli_open_files(cli, path, &pipeline->files));
  *desc = path ? *heed_model_files_desc(pipeline->files) : embedded_files(pipeline->built_in);
  return HEED_OK;
}

/* A model of weights and config, of whichever kind. */
static heed_status open_weights(cli_state *cli, const heed_model_desc *desc, heed_model **model) {
  bool sequence;
  CLI_TRY(heed_sequence_named(cli->context, desc, &sequence, &cli->error));
  return (sequence ? heed_sequence_open : heed_model_open)(cli->context, desc, model, &cli->error);
}

static heed_status open_model(cli_state *cli, const heed_model_desc *desc, cli_pipeline *pipeline) {
  struct heed_onnx *onnx = pipeline->files ? heed_model_files_onnx(pipeline->files) : NULL;
  if (!onnx) return open_weights(cli, desc, &pipeline->model);
  heed_onnx_model_desc how = {.struct_size = sizeof how, .files = desc};
  heed_onnx_run_way way = HEED_ONNX_EITHER;
  CLI_TRY(cli_read_size(cli, pipeline->size, &how.height, &how.width));
  if (pipeline->way && strcmp(pipeline->way, "weights") == 0) how.way = HEED_ONNX_WEIGHTS;
  const heed_status status =
      heed_onnx_open_model(cli->context, onnx, &how, &pipeline->model, &way, &cli->error);
  pipeline->as_graph = status == HEED_OK && way == HEED_ONNX_GRAPH;
  return status;
}

static heed_status use_model(cli_pipeline *pipeline) {
  heed_model_get_info(pipeline->model, &pipeline->info);
  heed_model_preprocess(pipeline->model, &pipeline->preprocess);
  pipeline->each_class = heed_onnx_each_class(pipeline->model);
  pipeline->build = (heed_build_desc){.struct_size = sizeof pipeline->build};
  if (pipeline->info.max_length > SHOWN_LENGTH)
    pipeline->build.source_length = pipeline->build.target_length = SHOWN_LENGTH;
  return HEED_OK;
}

heed_status cli_pipeline_load_any(cli_state *cli, cli_pipeline *pipeline, const char *path) {
  heed_model_desc desc;
  CLI_TRY(open_files(cli, pipeline, path, &desc));
  CLI_TRY(open_weights(cli, &desc, &pipeline->model));
  return use_model(pipeline);
}

heed_status cli_pipeline_load(cli_state *cli, cli_pipeline *pipeline, const char *path) {
  heed_model_desc desc;
  CLI_TRY(open_files(cli, pipeline, path, &desc));
  CLI_TRY(open_model(cli, &desc, pipeline));
  CLI_TRY(use_model(pipeline));
  if (pipeline->info.kind == HEED_MODEL_VISION) return HEED_OK;
  return heed_fail(&cli->error, HEED_UNSUPPORTED,
                   "%s: an encoder-decoder takes no images (expected heed run MODEL --tokens 5,3,9 "
                   "or --features FILE.safetensors)",
                   path);
}

heed_status cli_pipeline_load_sequence(cli_state *cli, cli_pipeline *pipeline, const char *path) {
  CLI_TRY(cli_pipeline_load_any(cli, pipeline, path));
  if (pipeline->info.kind == HEED_MODEL_ENCODER_DECODER) return HEED_OK;
  return heed_fail(&cli->error, HEED_UNSUPPORTED,
                   "%s: not an encoder-decoder, which --tokens and --features need",
                   path ? path : "the built-in model");
}

heed_status cli_pipeline_check_images(cli_state *cli, const cli_pipeline *pipeline) {
  const uint32_t frames = pipeline->info.frames;
  if (!frames) return heed_model_prepares(pipeline->model, &cli->error);
  return heed_fail(&cli->error, HEED_UNSUPPORTED,
                   "images: one is no input of a model of videos (found a model of %u frames; heed "
                   "run and heed eval take them)",
                   frames);
}

heed_status cli_pipeline_check_grid(cli_state *cli, const cli_pipeline *pipeline) {
  CLI_TRY(cli_pipeline_check_images(cli, pipeline));
  if (!pipeline->info.stages) return HEED_OK;
  return heed_fail(&cli->error, HEED_UNSUPPORTED,
                   "layers: a model with stages is not supported here (found %u grids, expected "
                   "one; heed run takes a layer of them)",
                   pipeline->info.stages);
}

heed_status cli_read_size(cli_state *cli, const char *size, uint32_t *height, uint32_t *width) {
  if (!size || cli_read_pair(size, ',', MOST_SIDE, MOST_SIDE, height, width)) return HEED_OK;
  return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                   "--size: invalid size (found \"%s\", expected HEIGHT,WIDTH of at most %u pixels "
                   "each)",
                   size, MOST_SIDE);
}

/* As the model's files have it, for the size that was asked for. */
static heed_status take_size(cli_state *cli, cli_pipeline *pipeline, const char *size) {
  uint32_t height, width;
  if (!size) return HEED_OK;
  CLI_TRY(cli_read_size(cli, size, &height, &width));
  if (pipeline->model) {
    const heed_preprocess own = pipeline->preprocess; /* of a graph: pixels as it takes them */
    CLI_TRY(heed_model_preprocess_at(pipeline->model, height, width, &pipeline->preprocess,
                                     &cli->error));
    pipeline->preprocess.rescale = own.rescale;
    memcpy(pipeline->preprocess.mean, own.mean, sizeof own.mean);
    memcpy(pipeline->preprocess.std, own.std, sizeof own.std);
  }
  pipeline->build.height = height;
  pipeline->build.width = width;
  return HEED_OK;
}

heed_status cli_pipeline_size(cli_state *cli, cli_pipeline *pipeline, const char *size) {
  const char *assumed = pipeline->info.assumed;
  CLI_TRY(take_size(cli, pipeline, size));
  if (!pipeline->model) return HEED_OK;
  if (cli_prepare_given(cli)) CLI_TRY(cli_prepare_change(cli, &pipeline->preprocess));
  if (!assumed || !strstr(assumed, "preprocessing of ") || !pipeline->preprocess.rescale)
    return HEED_OK;
  cli_prepare_describe(cli, &pipeline->preprocess, assumed, pipeline->assumed,
                       sizeof pipeline->assumed);
  pipeline->info.assumed = pipeline->assumed;
  return HEED_OK;
}

heed_status cli_pipeline_check_patches(cli_state *cli, const cli_pipeline *pipeline, uint32_t most,
                                       uint32_t height, uint32_t width) {
  const uint32_t side = pipeline->info.patch ? pipeline->info.patch : 1;
  const uint64_t patches = (uint64_t)(height / side) * (width / side);
  if (patches <= most) return HEED_OK;
  return heed_fail(
      &cli->error, HEED_INVALID_FILE,
      "preprocessor_config.json: images too large (found %u x %u pixels, %llu patches, "
      "expected at most %u, or more where --size asks for it)",
      width, height, (unsigned long long)patches, most);
}

/* Which way the weights came, once. */
static void say_note(cli_pipeline *pipeline, const cli_choice *choice) {
  char way[1024];
  const char *note = pipeline->files ? heed_model_files_note(pipeline->files) : NULL;
  if (note && pipeline->as_graph) {
    heed_onnx_way(
        heed_model_files_onnx(pipeline->files), true, 0,
        heed_onnx_in_double(pipeline->graph_model ? pipeline->graph_model : pipeline->model), way,
        sizeof way);
    note = way;
  }
  if (note && !pipeline->noted && !choice->quiet) fprintf(stderr, "heed: %s\n", CLI_SHOWN(note));
  pipeline->noted = true;
}

/* What of a graph that is no model runs in double. */
static void say_in_double(const cli_pipeline *pipeline, const cli_choice *choice) {
  char text[200] = "";
  if (pipeline->lowered) heed_onnx_lowered_in_double(pipeline->lowered, text, sizeof text);
  if (*text && !choice->quiet) fprintf(stderr, "heed: %s\n", CLI_SHOWN(text));
}

heed_status cli_pipeline_plan(cli_state *cli, cli_pipeline *pipeline, cli_choice *choice) {
  const bool first = !pipeline->noted;
  say_note(pipeline, choice);
  CLI_TRY(pipeline->build_graph
              ? pipeline->build_graph(cli, pipeline)
              : heed_model_build(pipeline->model, &pipeline->build, &pipeline->graph, &cli->error));
  if (first) say_in_double(pipeline, choice);
  if (pipeline->choose_taps) CLI_TRY(pipeline->choose_taps(cli, pipeline, pipeline->taps_user));
  free(pipeline->taps);
  pipeline->taps = calloc(pipeline->tap_count + 1, sizeof *pipeline->taps);
  if (!pipeline->taps)
    return heed_fail_memory(&cli->error, "taps", pipeline->tap_count * sizeof *pipeline->taps);
  for (uint32_t i = 0; i < pipeline->tap_count; i++) {
    pipeline->taps[i] = heed_graph_find(pipeline->graph, pipeline->tap_names[i]);
    if (!pipeline->taps[i].id)
      return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                       "taps: unknown value (found \"%s\"; heed inspect --graph json lists them)",
                       pipeline->tap_names[i]);
  }
  const heed_plan_desc desc = {.struct_size = sizeof desc,
                               .taps = pipeline->taps,
                               .tap_count = pipeline->tap_count,
                               .passing_taps = pipeline->passing};
  return heed_plan_create(pipeline->graph, choice->opened, &desc, &pipeline->plan, &cli->error);
}

static bool is_in_double(const heed_plan *plan, uint32_t index) {
  heed_plan_step step;
  heed_plan_step_info(plan, index, &step);
  return strcmp(step.op, "host") == 0;
}

/* A run that says how much of its time the nodes in double took. */
static heed_status run_timed(cli_state *cli, const cli_pipeline *pipeline) {
  const heed_clock clock = {cli_microseconds, NULL};
  const uint32_t count = heed_plan_step_count(pipeline->plan);
  double in_double = 0, all = 0;
  heed_step_time *times = calloc(count, sizeof *times);
  if (!times) return heed_fail_memory(&cli->error, "times of steps", count * sizeof *times);
  const heed_status status = heed_session_profile(pipeline->session, &clock, times, &cli->error);
  for (uint32_t i = 0; i < count; i++) {
    all += times[i].microseconds;
    if (is_in_double(pipeline->plan, i)) in_double += times[i].microseconds;
  }
  free(times);
  if (status == HEED_OK)
    fprintf(stderr, "heed: the nodes in double took %.1f of %.1f ms\n", in_double / 1e3, all / 1e3);
  return status;
}

/* `first`: the first run of a session. */
static heed_status run_session(cli_state *cli, cli_pipeline *pipeline, const cli_choice *choice,
                               bool first) {
  bool tells = false;
  for (uint32_t i = 0; first && !choice->quiet && i < heed_plan_step_count(pipeline->plan); i++)
    tells = tells || is_in_double(pipeline->plan, i);
  const double start = cli_milliseconds();
  CLI_TRY(tells ? run_timed(cli, pipeline)
                : heed_session_run(pipeline->session, NULL, &cli->error));
  pipeline->milliseconds = cli_milliseconds() - start;
  return HEED_OK;
}

/* A session with its inputs. */
static heed_status begin_run(cli_state *cli, cli_pipeline *pipeline, cli_choice *choice,
                             const void *data) {
  const heed_hooks hooks = terminal_hooks(choice);
  if (!pipeline->session) {
    CLI_TRY(cli_pipeline_plan(cli, pipeline, choice));
    CLI_TRY(heed_session_create(pipeline->plan, hooks.progress ? &hooks : NULL, &pipeline->session,
                                &cli->error));
  }
  const char *name = pipeline->info.kind == HEED_MODEL_TEXT ? "input_ids" : "pixel_values";
  const heed_value input = heed_graph_find(pipeline->graph, name);
  heed_value_info info;
  if (heed_graph_value_info(pipeline->graph, input, &info) != HEED_OK)
    return heed_fail(&cli->error, HEED_INTERNAL, "%s: missing input of the graph", name);
  CLI_TRY(heed_session_write(pipeline->session, input, data,
                             (size_t)heed_shape_count(&info.shape) * heed_dtype_size(info.dtype),
                             &cli->error));
  return pipeline->write_inputs ? pipeline->write_inputs(cli, pipeline, pipeline->inputs) : HEED_OK;
}

static heed_status run_once(cli_state *cli, cli_pipeline *pipeline, cli_choice *choice,
                            const void *data) {
  const bool fresh = !pipeline->session;
  CLI_TRY(begin_run(cli, pipeline, choice, data));
  CLI_TRY(run_session(cli, pipeline, choice, fresh));
  return pipeline->timed && fresh ? run_session(cli, pipeline, choice, false) : HEED_OK;
}

heed_status cli_pipeline_run(cli_state *cli, cli_pipeline *pipeline, cli_choice *choice,
                             const void *data) {
  for (;;) {
    const heed_status status = run_once(cli, pipeline, choice, data);
    if (status == HEED_OK) return HEED_OK;
    cli_pipeline_reset(pipeline); /* the backend must outlive what was made on it */
    if (!cli_choice_fall_back(cli, choice, status)) return cli->error.status;
  }
}

heed_status cli_pipeline_run_stages(cli_state *cli, cli_pipeline *pipeline, cli_choice *choice,
                                    const void *data, cli_pipeline_see see, void *user) {
  heed_status status = begin_run(cli, pipeline, choice, data);
  const uint32_t steps = status == HEED_OK ? heed_plan_step_count(pipeline->plan) : 0;
  for (uint32_t step = 0; step < steps && status == HEED_OK;) {
    status = heed_session_run_part(pipeline->session, &step, &cli->error);
    if (status == HEED_OK) status = see(cli, pipeline, user);
  }
  if (status != HEED_OK) cli_pipeline_reset(pipeline);
  return status;
}

typedef struct cli_weight_names {
  const char **name;
  char text[][HEED_TAP_NAME_SIZE];
} cli_weight_names;

heed_status cli_pipeline_tap_weights(cli_state *cli, cli_pipeline *pipeline) {
  const uint32_t layers = pipeline->info.layers;
  const size_t size = sizeof(cli_weight_names) + layers * sizeof pipeline->weight_names->text[0];
  cli_weight_names *names = malloc(size);
  if (names) names->name = calloc(layers, sizeof *names->name);
  if (!names || !names->name) {
    free(names);
    return heed_fail_memory(&cli->error, "taps", size);
  }
  for (uint32_t i = 0; i < layers; i++) {
    names->name[i] = heed_tap_name(HEED_TAP_WEIGHTS, i, names->text[i]);
  }
  pipeline->weight_names = names;
  pipeline->tap_names = names->name;
  pipeline->tap_count = layers;
  return HEED_OK;
}

static heed_image_limits limits_of(const cli_pipeline *pipeline, const heed_image_limits *limits) {
  heed_image_limits own = *limits;
  own.channels = pipeline->info.channels;
  return own;
}

heed_status cli_pipeline_decode_image(cli_state *cli, const cli_pipeline *pipeline,
                                      const char *name, const void *bytes, size_t size,
                                      const heed_image_limits *limits, heed_picture *picture) {
  const heed_image_limits own = limits_of(pipeline, limits);
  return heed_image_decode_within(cli->context, name, bytes, size, &own, picture, &cli->error);
}

heed_status cli_pipeline_load_image(cli_state *cli, const cli_pipeline *pipeline, const char *path,
                                    const heed_image_limits *limits, bool quiet,
                                    heed_picture *picture) {
  const heed_image_limits own = limits_of(pipeline, limits);
  CLI_TRY(heed_image_load_within(cli->context, path, &own, picture, &cli->error));
  if (picture->frames > 1 && !own.frame && !quiet)
    fprintf(stderr, "heed: %s: the first of %u frames (--frame N takes another)\n", CLI_SHOWN(path),
            picture->frames);
  return HEED_OK;
}

static heed_status fit_image(cli_state *cli, const heed_preprocess *preprocess,
                             const heed_image *image, const cli_pipeline *pipeline,
                             const char *name, uint32_t most_patches, cli_prepared *to) {
  const uint32_t patch = pipeline->info.patch;
  CLI_TRY(heed_preprocess_size(preprocess, image->width, image->height, &to->width, &to->height,
                               &cli->error));
  if (to->width < patch || to->height < patch)
    return heed_fail(&cli->error, HEED_INVALID_FILE,
                     "%s: image too small (found %u x %u pixels as the model gets it, expected a "
                     "patch of %u x %u at least)",
                     name, to->width, to->height, patch, patch);
  if (most_patches)
    CLI_TRY(cli_pipeline_check_patches(cli, pipeline, most_patches, to->height, to->width));
  const size_t count = (size_t)pipeline->info.channels * to->width * to->height;
  if (count > to->room) {
    free(to->pixels);
    to->pixels = malloc(count * sizeof *to->pixels);
    to->room = to->pixels ? count : 0;
  }
  if (!to->pixels) return heed_fail_memory(&cli->error, name, count * sizeof *to->pixels);
  return heed_preprocess_image(cli->context, preprocess, image, to->pixels, &to->region,
                               &cli->error);
}

heed_status cli_pipeline_prepare(cli_state *cli, const cli_pipeline *pipeline,
                                 const heed_preprocess *preprocess, const heed_image *image,
                                 const char *name, uint32_t most_patches, cli_prepared *prepared) {
  *prepared = (cli_prepared){.pixels = prepared->pixels, .room = prepared->room};
  const heed_status status =
      fit_image(cli, preprocess, image, pipeline, name, most_patches, prepared);
  if (status == HEED_OK) return HEED_OK;
  free(prepared->pixels);
  prepared->pixels = NULL;
  prepared->room = 0;
  if (status != HEED_INVALID_ARGUMENT) return status;
  const heed_error why = cli->error;
  return heed_fail(&cli->error, HEED_INVALID_FILE, "%s: %s", name, why.message);
}

heed_status cli_pipeline_run_image(cli_state *cli, cli_pipeline *pipeline, cli_choice *choice,
                                   const heed_image *image, uint32_t most_patches) {
  cli_prepared prepared = {0};
  heed_status status = cli_pipeline_prepare(cli, pipeline, &pipeline->preprocess, image,
                                            pipeline->picture ? pipeline->picture : "image",
                                            most_patches, &prepared);
  pipeline->bad_picture = status == HEED_INVALID_FILE;
  CLI_TRY(status);
  if (pipeline->session &&
      (pipeline->build.height != prepared.height || pipeline->build.width != prepared.width))
    cli_pipeline_reset(pipeline);
  pipeline->build.height = prepared.height;
  pipeline->build.width = prepared.width;
  status = cli_pipeline_run(cli, pipeline, choice, prepared.pixels);
  free(prepared.pixels);
  return status;
}

bool cli_pipeline_find(const cli_pipeline *pipeline, const char *name, heed_value *value,
                       heed_value_info *info) {
  *value = heed_graph_find(pipeline->graph, name);
  return value->id && heed_graph_value_info(pipeline->graph, *value, info) == HEED_OK;
}

heed_status cli_pipeline_read(cli_state *cli, const cli_pipeline *pipeline, const char *name,
                              float **data, heed_shape *shape) {
  heed_value value;
  heed_value_info info;
  *data = NULL;
  if (!cli_pipeline_find(pipeline, name, &value, &info))
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT, "read: unknown value (found \"%s\")",
                     name);
  const uint64_t count = heed_shape_count(&info.shape);
  *data = count <= SIZE_MAX / sizeof **data ? malloc((size_t)count * sizeof **data) : NULL;
  if (!*data) return heed_fail_memory(&cli->error, name, (size_t)count * sizeof **data);
  *shape = info.shape;
  const heed_status status =
      heed_session_read(pipeline->session, value, 0, count, *data, &cli->error);
  if (status != HEED_OK) {
    free(*data);
    *data = NULL;
  }
  return status;
}

void cli_pipeline_reset(cli_pipeline *pipeline) {
  heed_session_destroy(pipeline->session);
  heed_plan_destroy(pipeline->plan);
  if (pipeline->lowered)
    heed_onnx_lowered_destroy(pipeline->lowered);
  else
    heed_graph_destroy(pipeline->graph);
  pipeline->lowered = NULL;
  pipeline->session = NULL;
  pipeline->plan = NULL;
  pipeline->graph = NULL;
}

void cli_pipeline_close(cli_pipeline *pipeline) {
  cli_pipeline_reset(pipeline);
  free(pipeline->taps);
  if (pipeline->weight_names) free(pipeline->weight_names->name);
  free(pipeline->weight_names);
  heed_model_destroy(pipeline->graph_model);
  heed_model_destroy(pipeline->model);
  heed_model_files_destroy(pipeline->files);
}
