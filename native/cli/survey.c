/* heed survey: the statistics of every head over many images or generated scenes: mean, spread and
 * range. Spread is the standard deviation with n - 1, updated image by image (Welford 1962), so
 * that memory does not grow with their number. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "session/pipeline.h"
#include "session/scene_input.h"
#include "terminal/json_out.h"
#include "terminal/model_word.h"
#include "terminal/options.h"
#include "terminal/paths.h"
#include "terminal/picture_list.h"
#include "terminal/progress.h"
#include "terminal/standard_out.h"

/* The numbers of heed_map_statistics, by the names that heed run --json gives them. */
static const struct statistic {
  const char *name;
  size_t offset;
  const char *heading; /* in the table; NULL: only in the JSON */
  double factor;       /* from the number to the table's unit */
  int digits;
} statistics[] = {
    {"entropy_cls", offsetof(heed_map_statistics, entropy_cls), NULL, 0.0, 0},
    {"entropy_patches", offsetof(heed_map_statistics, entropy_patches), "entropy (nats)", 1.0, 3},
    {"distance", offsetof(heed_map_statistics, distance), "distance (pixels)", 1.0, 1},
    {"distance_renormalised", offsetof(heed_map_statistics, distance_renormalised), NULL, 0.0, 0},
    {"prefix_mass", offsetof(heed_map_statistics, prefix_mass), "prefix %", 100.0, 1},
    {"self_mass", offsetof(heed_map_statistics, self_mass), "self %", 100.0, 1},
    {"top5_mass", offsetof(heed_map_statistics, top5_mass), "top 5 %", 100.0, 1},
};
#define STATISTICS (sizeof statistics / sizeof *statistics)

typedef struct survey_options {
  cli_choice choice;
  const char *model, *file, *list, *json, *size;
  uint32_t scenes, seed, most_images;
  heed_image_limits limits;
} survey_options;

/* One statistic of one head over the images seen. */
typedef struct survey_number {
  double mean, squares, least, largest;
} survey_number;

typedef struct survey_job {
  cli_state *cli;
  survey_options *options;
  cli_pipeline pipeline;
  survey_number (*heads)[STATISTICS]; /* [layers * heads] */
  uint32_t images, failed;
  cli_progress progress;
} survey_job;

/* ------------------------------------------------------------------------------------- statistics
 */

static void add_number(survey_number *of, uint32_t count, double value) {
  const double before = value - of->mean;
  of->mean += before / count;
  of->squares += before * (value - of->mean);
  if (count == 1 || value < of->least) of->least = value;
  if (count == 1 || value > of->largest) of->largest = value;
}

static double spread(const survey_job *job, const survey_number *of) {
  return job->images > 1 ? sqrt(of->squares / (job->images - 1)) : 0.0;
}

static heed_status add_layer(survey_job *job, uint32_t layer) {
  const cli_pipeline *pipeline = &job->pipeline;
  const heed_model_info *info = &pipeline->info;
  const uint32_t rows = pipeline->build.height / info->patch,
                 columns = pipeline->build.width / info->patch,
                 tokens = info->prefix_tokens + rows * columns;
  const char *name = pipeline->tap_names[layer];
  heed_shape shape;
  float *maps;
  CLI_TRY(cli_pipeline_read(job->cli, pipeline, name, &maps, &shape));
  const bool whole = shape.rank == 4 && shape.dim[2] == tokens && shape.dim[3] == tokens;
  const size_t count = whole ? (size_t)info->heads * tokens * tokens : 0;
  bool numbers = true;
  for (size_t i = 0; i < count; i++) numbers = numbers && isfinite(maps[i]);
  if (!numbers) {
    free(maps);
    return heed_fail(&job->cli->error, HEED_INVALID_FILE,
                     "the attention of layer %u is not numbers (found NaN)", layer);
  }
  for (uint32_t h = 0; whole && h < info->heads; h++) {
    heed_map_statistics of;
    heed_map_get_statistics(maps + (size_t)h * tokens * tokens, info->prefix_tokens, rows, columns,
                            info->patch, &of);
    for (size_t s = 0; s < STATISTICS; s++)
      add_number(&job->heads[layer * info->heads + h][s], job->images,
                 *(const double *)(const void *)((const char *)&of + statistics[s].offset));
  }
  free(maps);
  return whole ? HEED_OK
               : heed_fail(&job->cli->error, HEED_UNSUPPORTED,
                           "%s: not a map of all tokens (found %u x %u, expected %u x %u)", name,
                           shape.dim[2], shape.dim[3], tokens, tokens);
}

static heed_status add_image(void *user, const heed_image *image) {
  survey_job *job = user;
  CLI_TRY(cli_pipeline_run_image(job->cli, &job->pipeline, &job->options->choice, image,
                                 job->options->size ? 0 : CLI_MOST_PATCHES));
  job->images++;
  for (uint32_t layer = 0; layer < job->pipeline.info.layers; layer++)
    CLI_TRY(add_layer(job, layer));
  cli_progress_step(&job->progress, (uint64_t)job->images + job->failed);
  return HEED_OK;
}

/* ------------------------------------------------------------------------------------------ input
 */

/* A bad image of several gives its sentence, and the others go on. */
static heed_status survey_images(survey_job *job, const picture_list *images) {
  cli_state *cli = job->cli;
  for (uint32_t i = 0; i < images->count; i++) {
    heed_picture picture = {0};
    heed_status status =
        cli_pipeline_load_image(cli, &job->pipeline, images->path[i], &job->options->limits,
                                job->options->choice.quiet, &picture);
    if (status == HEED_OK) {
      const heed_image view = heed_picture_view(&picture);
      job->pipeline.picture = images->path[i];
      status = add_image(job, &view);
      heed_picture_free(cli->context, &picture);
      if (!job->pipeline.bad_picture) CLI_TRY(status);
    }
    if (status == HEED_OK) continue;
    if (images->count == 1 || cli_exit_code(status) != CLI_BAD_FILE) return status;
    cli_progress_clear(&job->progress);
    cli_fail(cli);
    job->failed++;
  }
  return HEED_OK;
}

/* ---------------------------------------------------------------------------------------- results
 */

static void print_head(const survey_job *job, uint32_t layer, uint32_t head) {
  const survey_number *of = job->heads[layer * job->pipeline.info.heads + head];
  printf("%5u %4u", layer, head);
  for (size_t s = 0; s < STATISTICS; s++) {
    const struct statistic *as = &statistics[s];
    if (!as->heading) continue;
    printf("  %8.*f +- %-7.*f", as->digits, as->factor * of[s].mean, as->digits,
           as->factor * spread(job, &of[s]));
  }
  printf("\n");
}

static void print_table(const survey_job *job) {
  const survey_options *options = job->options;
  const heed_model_info *info = &job->pipeline.info;
  printf("%s%s: %s, %u layers x %u heads, on %s; %u images\n",
         options->model ? "model " : "the demo model",
         options->model ? CLI_SHOWN(options->model) : "", info->family, info->layers, info->heads,
         heed_backend_name(options->choice.opened), job->images);
  if (info->assumed) printf("assumed: %s\n", info->assumed);
  printf("layer head");
  for (size_t s = 0; s < STATISTICS; s++)
    if (statistics[s].heading) printf("  %17s  ", statistics[s].heading);
  printf("\n");
  for (uint32_t layer = 0; layer < info->layers; layer++)
    for (uint32_t head = 0; head < info->heads; head++) print_head(job, layer, head);
  printf("mean +- standard deviation over images, of means over patch queries\n");
}

static void json_head(json_out *json, const survey_job *job, uint32_t layer, uint32_t head) {
  json_open(json, NULL, '{');
  json_integer(json, "layer", layer);
  json_integer(json, "head", head);
  for (size_t s = 0; s < STATISTICS; s++) {
    const survey_number *of = &job->heads[layer * job->pipeline.info.heads + head][s];
    json_open(json, statistics[s].name, '{');
    json_number(json, "mean", of->mean);
    json_number(json, "spread", spread(job, of));
    json_number(json, "least", of->least);
    json_number(json, "largest", of->largest);
    json_close(json, '}');
  }
  json_close(json, '}');
  fputc('\n', json->file);
}

static heed_status write_json(void *user, FILE *to, heed_error *error) {
  const survey_job *job = user;
  const heed_model_info *info = &job->pipeline.info;
  json_out json = {.file = to};
  (void)error; /* cli_output_write reports writes that fail */
  json_begin(&json);
  if (job->options->model)
    json_text(&json, "model", job->options->model);
  else
    json_flag(&json, "demo_model", true);
  json_text(&json, "backend", heed_backend_device(job->options->choice.opened));
  json_integer(&json, "images", job->images);
  json_integer(&json, "failed", job->failed);
  json_open(&json, "heads", '[');
  for (uint32_t layer = 0; layer < info->layers; layer++)
    for (uint32_t head = 0; head < info->heads; head++) json_head(&json, job, layer, head);
  json_close(&json, ']');
  json_close(&json, '}');
  fputc('\n', to);
  return HEED_OK;
}

/* ------------------------------------------------------------------------------------------- verb
 */

static heed_status check_paths(cli_state *cli, const survey_options *options,
                               const picture_list *images) {
  cli_paths paths = {0};
  heed_status status = cli_paths_add(cli, &paths, CLI_READ_MODEL, "MODEL", options->model);
  if (status == HEED_OK) status = cli_paths_add(cli, &paths, CLI_WRITTEN, "--json", options->json);
  for (uint32_t i = 0; status == HEED_OK && i < images->count; i++)
    status = cli_paths_add(cli, &paths, CLI_READ, "IMAGE", images->path[i]);
  if (status == HEED_OK) status = cli_paths_check(cli, &paths);
  cli_paths_free(&paths);
  return status;
}

static heed_status load(survey_job *job) {
  cli_pipeline *pipeline = &job->pipeline;
  const heed_model_info *info = &pipeline->info;
  pipeline->size = job->options->size;
  CLI_TRY(cli_pipeline_load(job->cli, pipeline, job->options->model));
  CLI_TRY(cli_pipeline_check_images(job->cli, pipeline));
  CLI_TRY(cli_pipeline_size(job->cli, pipeline, job->options->size));
  CLI_TRY(cli_pipeline_tap_weights(job->cli, pipeline));
  const size_t heads = (size_t)info->layers * info->heads;
  job->heads = calloc(heads, sizeof *job->heads);
  if (!job->heads) return heed_fail_memory(&job->cli->error, "survey", heads * sizeof *job->heads);
  return cli_choice_open(job->cli, &job->options->choice);
}

static heed_status survey(survey_job *job, const picture_list *images) {
  CLI_TRY(check_paths(job->cli, job->options, images));
  CLI_TRY(load(job));
  cli_progress_begin(&job->progress, (uint64_t)images->count + job->options->scenes,
                     job->options->choice.quiet);
  heed_status status = survey_images(job, images);
  if (status == HEED_OK)
    status = scene_input_each(job->cli, job->options->seed, job->options->scenes, add_image, job);
  cli_progress_clear(&job->progress);
  CLI_TRY(status);
  if (!job->images)
    return heed_fail(&job->cli->error, HEED_INVALID_FILE,
                     "images: none can be read (found %u bad ones)", job->failed);
  print_table(job);
  if (!job->options->json) return HEED_OK;
  CLI_TRY(cli_output_write(job->options->json, write_json, job, &job->cli->error));
  printf("JSON: %s\n", CLI_SHOWN(job->options->json));
  return HEED_OK;
}

static int survey_words(cli_state *cli, survey_options *options, const cli_words *words) {
  bool has_model;
  if (cli_take_model(cli, words, options->list || options->scenes, &options->limits, &has_model) !=
      HEED_OK)
    return cli_fail(cli);
  const uint32_t count = words->count - has_model;
  char chosen[HEED_PATH_SIZE];
  picture_list images = {.most = options->most_images};
  survey_job job = {.cli = cli, .options = options};
  options->model = has_model ? cli_model_file(words->word[0], options->file, chosen) : NULL;
  heed_status status = picture_list_make(cli, words->word + has_model, count, options->list,
                                         options->choice.quiet, &images);
  if (status == HEED_OK) status = survey(&job, &images);
  cli_pipeline_close(&job.pipeline);
  cli_choice_close(&options->choice);
  free(job.heads);
  const uint32_t all = images.count;
  picture_list_free(&images);
  if (status != HEED_OK) return cli_fail(cli);
  if (job.failed)
    fprintf(stderr, "heed survey: images: cannot read all (found %u bad ones of %u)\n", job.failed,
            all);
  return job.failed ? CLI_BAD_FILE : CLI_OK;
}

static int run(cli_state *cli, int argc, char **argv) {
  survey_options options = {.choice = CLI_CHOICE_INIT,
                            .seed = 1,
                            .most_images = CLI_MOST_PICTURES,
                            .limits = {.struct_size = sizeof options.limits}};
  cli_words words;
  const cli_option table[] = {
      {"--json", CLI_JSON, &options.json, "OUT.json|-",
       "write mean, spread, least and largest of every statistic of every head"},
      {"--list", CLI_TEXT, &options.list, "FILE",
       "more images: a path a line, from the current folder; - reads stdin"},
      {"--scenes", CLI_NUMBER, &options.scenes, "N", "N generated scenes, too"},
      {"--seed", CLI_NUMBER, &options.seed, "S", "seed of the first scene (default: 1)"},
      {"--most-images", CLI_NUMBER, &options.most_images, "N",
       "refuse more images than this (default: 100000)"},
      CLI_IMAGE_OPTIONS(options.limits),
      CLI_FILE_OPTION(options.file),
      CLI_WEIGHTS_KEY_OPTION(cli),
      CLI_NAMES_OPTION(cli),
      CLI_HINTS_OPTION(cli),
      CLI_SIZE_OPTION(options.size),
      CLI_PREPARE_OPTIONS(cli),
      CLI_CHOICE_OPTIONS(options.choice, CLI_BACKEND_AUTO),
      {NULL, CLI_FLAG, NULL, NULL, NULL}};
  const int code = cli_parse(
      cli,
      "survey [MODEL] [IMAGE|FOLDER...] [options]\n\n" CLI_MODEL_OR_BUILT_IN
      "\nThere is an IMAGE, a FOLDER, --list or --scenes. FOLDER stands for the image "
      "files in it.\nA bad image gives its sentence, the others go on, and the exit code is 3.",
      table, argc, argv, &words);
  if (code >= 0) return code;
  const bool model_alone =
      words.count == 1 && heed_is_model_path(words.word[0]) && !cli_is_other_folder(words.word[0]);
  if ((!words.count || model_alone) && !options.list && !options.scenes) {
    fprintf(stderr, "heed survey: no images%s (expected IMAGE, FOLDER, --list or --scenes N)\n",
            model_alone ? " after MODEL" : "");
    return CLI_USAGE;
  }
  return survey_words(cli, &options, &words);
}

const cli_verb cli_verb_survey = {"survey", "statistics of every head over many images", run};
