/* heed judge: maps against what the model does without the patches that they name, over pictures,
 * or over generated scenes, of which it is known where the answer is. */
#include <stdlib.h>
#include <string.h>

#include "judging.h"
#include "session/scene_input.h"
#include "terminal/model_word.h"
#include "terminal/options.h"
#include "terminal/paths.h"
#include "terminal/picture_list.h"
#include "terminal/progress.h"
#include "terminal/standard_out.h"

typedef struct judge_options {
  cli_choice choice;
  const char *model, *file, *list, *json, *size, *target, *methods, *metrics;
  uint32_t scenes, seed, steps, most_images;
  heed_image_limits limits;
} judge_options;

typedef struct judge_job {
  cli_state *cli;
  judge_options *options;
  cli_pipeline pipeline;
  judging judging;
  uint32_t failed;
  cli_progress progress;
} judge_job;

/* ----------------------------------------------------------------------------------------- input
 */

static heed_status add_image(judge_job *job, const heed_image *image, const char *name,
                             const uint8_t *mask) {
  cli_prepared prepared = {0};
  job->pipeline.bad_picture = true;
  CLI_TRY(cli_pipeline_prepare(job->cli, &job->pipeline, &job->pipeline.preprocess, image, name,
                               job->options->size ? 0 : CLI_MOST_PATCHES, &prepared));
  job->pipeline.bad_picture = false;
  const heed_status status =
      judging_add(&job->judging, prepared.pixels, mask, prepared.height, prepared.width);
  free(prepared.pixels);
  cli_progress_step(&job->progress, (uint64_t)job->judging.pictures + job->failed);
  return status;
}

/* A bad image of several gives its sentence, and the others go on. */
static heed_status judge_images(judge_job *job, const picture_list *images) {
  cli_state *cli = job->cli;
  for (uint32_t i = 0; i < images->count; i++) {
    heed_picture picture = {0};
    job->pipeline.bad_picture = true;
    heed_status status =
        cli_pipeline_load_image(cli, &job->pipeline, images->path[i], &job->options->limits,
                                job->options->choice.quiet, &picture);
    if (status == HEED_OK) {
      const heed_image view = heed_picture_view(&picture);
      status = add_image(job, &view, images->path[i], NULL);
      heed_picture_free(cli->context, &picture);
    }
    if (status == HEED_OK) continue;
    if (!job->pipeline.bad_picture || images->count == 1 || cli_exit_code(status) != CLI_BAD_FILE)
      return status;
    cli_progress_clear(&job->progress);
    cli_fail(cli);
    job->failed++;
  }
  return HEED_OK;
}

/* Where the twins are: the pixels of the patches that they cover. */
static void fill_mask(const heed_scene *scene, const uint8_t *owner, uint8_t *mask) {
  uint32_t twins[2];
  const bool present = heed_scene_twins(scene, twins);
  for (uint32_t y = 0; y < HEED_SCENE_SIDE; y++)
    for (uint32_t x = 0; x < HEED_SCENE_SIDE; x++) {
      const uint8_t of = owner[y / HEED_SCENE_PATCH * HEED_SCENE_GRID + x / HEED_SCENE_PATCH];
      mask[(size_t)y * HEED_SCENE_SIDE + x] = present && (of == twins[0] || of == twins[1]);
    }
}

static heed_status judge_scenes(judge_job *job) {
  uint8_t owner[HEED_SCENE_PATCHES], *rgb = malloc(HEED_SCENE_BYTES),
                                     *mask = malloc((size_t)HEED_SCENE_SIDE * HEED_SCENE_SIDE);
  const heed_image image = {rgb, HEED_SCENE_SIDE, HEED_SCENE_SIDE, 3, HEED_SCENE_SIDE * 3};
  heed_status status =
      rgb && mask ? HEED_OK : heed_fail_memory(&job->cli->error, "scene", HEED_SCENE_BYTES);
  for (uint32_t i = 0; i < job->options->scenes && status == HEED_OK; i++) {
    heed_scene scene;
    heed_scene_from_seed((uint64_t)job->options->seed + i, NULL, &scene);
    heed_scene_draw(&scene, rgb, owner);
    fill_mask(&scene, owner, mask);
    status = add_image(job, &image, "scene", mask);
  }
  free(rgb);
  free(mask);
  return status;
}

/* Masks are of the pixels that a model of scenes takes as they are. */
static heed_status check_scenes(judge_job *job) {
  const heed_model_info *info = &job->pipeline.info;
  if (!job->options->scenes || (info->patch == HEED_SCENE_PATCH &&
                                info->image_size == HEED_SCENE_SIDE && !job->options->size))
    return HEED_OK;
  return heed_fail(&job->cli->error, HEED_UNSUPPORTED,
                   "--scenes: not a scene model (found %u px, patches of %u, expected %u px, "
                   "patches of %u, and no --size)",
                   info->image_size, info->patch, HEED_SCENE_SIDE, HEED_SCENE_PATCH);
}

/* ------------------------------------------------------------------------------------------ verb
 */

static heed_status check_paths(cli_state *cli, const judge_options *options,
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

static heed_status load(judge_job *job) {
  cli_pipeline *pipeline = &job->pipeline;
  judge_options *options = job->options;
  pipeline->size = options->size;
  CLI_TRY(cli_pipeline_load(job->cli, pipeline, options->model));
  if (pipeline->as_graph)
    return heed_fail(&job->cli->error, HEED_UNSUPPORTED,
                     "%s: an ONNX graph has no layers to explain (expected weights of a vision "
                     "transformer)",
                     options->model);
  CLI_TRY(cli_pipeline_check_grid(job->cli, pipeline));
  CLI_TRY(cli_pipeline_size(job->cli, pipeline, options->size));
  CLI_TRY(check_scenes(job));
  return cli_choice_open(job->cli, &options->choice);
}

static heed_status judge(judge_job *job, const picture_list *images) {
  judging *j = &job->judging;
  const judge_options *options = job->options;
  CLI_TRY(check_paths(job->cli, options, images));
  if (!options->steps || options->steps > 1000)
    return heed_fail(&job->cli->error, HEED_INVALID_ARGUMENT,
                     "--steps: out of range (found %u, expected 1 to 1000)", options->steps);
  CLI_TRY(judging_choose(j, options->methods, options->metrics, !images->count));
  CLI_TRY(load(job));
  cli_progress_begin(&job->progress, (uint64_t)images->count + options->scenes,
                     options->choice.quiet);
  heed_status status = images->count ? judge_images(job, images) : judge_scenes(job);
  if (status == HEED_OK) status = judging_finish(j);
  cli_progress_clear(&job->progress);
  CLI_TRY(status);
  if (!j->pictures)
    return heed_fail(&job->cli->error, HEED_INVALID_FILE,
                     "images: none can be read (found %u bad ones)", job->failed);
  judge_print(j, options->model);
  if (!options->json) return HEED_OK;
  CLI_TRY(cli_output_write(options->json, judge_write_json, j, &job->cli->error));
  printf("JSON: %s\n", CLI_SHOWN(options->json));
  return HEED_OK;
}

static int judge_words(cli_state *cli, judge_options *options, const cli_words *words) {
  bool has_model;
  if (cli_take_model(cli, words, options->list || options->scenes, &options->limits, &has_model) !=
      HEED_OK)
    return cli_fail(cli);
  const uint32_t count = words->count - has_model;
  char chosen[HEED_PATH_SIZE];
  picture_list images = {.most = options->most_images};
  judge_job job = {.cli = cli, .options = options};
  job.judging = (judging){.cli = cli,
                          .choice = &options->choice,
                          .pipeline = &job.pipeline,
                          .target = options->target,
                          .steps = options->steps};
  options->model = has_model ? cli_model_file(words->word[0], options->file, chosen) : NULL;
  heed_status status = picture_list_make(cli, words->word + has_model, count, options->list,
                                         options->choice.quiet, &images);
  if (status == HEED_OK) status = judge(&job, &images);
  judging_close(&job.judging);
  cli_pipeline_close(&job.pipeline);
  cli_choice_close(&options->choice);
  const uint32_t all = images.count;
  picture_list_free(&images);
  if (status != HEED_OK) return cli_fail(cli);
  if (job.failed)
    fprintf(stderr, "heed judge: images: cannot read all (found %u bad ones of %u)\n", job.failed,
            all);
  return job.failed ? CLI_BAD_FILE : CLI_OK;
}

/* What --help says of --methods and --metrics. */
static const char *list_maps(char *to, size_t size) {
  const char *name;
  size_t at = (size_t)snprintf(to, size, "maps to judge (default: all):");
  for (uint32_t i = 0; (name = heed_patch_map_name(i)) != NULL && at < size; i++)
    at += (size_t)snprintf(to + at, size - at, " %s,", name);
  if (at < size) snprintf(to + at, size - at, " chance; of scenes: truth");
  return to;
}

static const char *list_metrics(char *to, size_t size) {
  size_t at = (size_t)snprintf(to, size, "how to judge them (default: all):");
  for (uint32_t m = 0; m < JUDGE_METRICS && at < size; m++)
    at += (size_t)snprintf(to + at, size - at, "%s %s%s", m ? "," : "", judge_metrics[m].name,
                           judge_metrics[m].masked ? " (of scenes)" : "");
  return to;
}

static int run(cli_state *cli, int argc, char **argv) {
  judge_options options = {.choice = CLI_CHOICE_INIT,
                           .seed = 1,
                           .steps = 10,
                           .most_images = CLI_MOST_PICTURES,
                           .limits = {.struct_size = sizeof options.limits}};
  cli_words words;
  const cli_option table[] = {
      {"--methods", CLI_TEXT, &options.methods, "NAME,...", list_maps((char[512]){0}, 512)},
      {"--metrics", CLI_TEXT, &options.metrics, "NAME,...", list_metrics((char[512]){0}, 512)},
      {"--target", CLI_TEXT, &options.target, "N|N-M|LABEL",
       "what is explained, as of heed explain (default: each picture's largest logit)"},
      {"--steps", CLI_NUMBER, &options.steps, "K",
       "steps of deletion, insertion and flipping (default: 10)"},
      {"--json", CLI_JSON, &options.json, "OUT.json|-", "write means, intervals and curves"},
      CLI_LIST_OPTION(options.list),
      {"--scenes", CLI_NUMBER, &options.scenes, "N", "N generated scenes instead of images"},
      {"--seed", CLI_NUMBER, &options.seed, "S", "seed of the first scene (default: 1)"},
      CLI_MOST_IMAGES_OPTION(options.most_images, "100000"),
      CLI_MODEL_OF_IMAGES_OPTIONS(cli, options),
      CLI_CHOICE_OPTIONS(options.choice, CLI_BACKEND_AUTO),
      {NULL, CLI_FLAG, NULL, NULL, NULL}};
  const int code = cli_parse(
      cli,
      "judge [MODEL] [IMAGE|FOLDER...] [options]\n\n" CLI_MODEL_OR_BUILT_IN
      "\nThere are images (IMAGE, FOLDER, --list) or --scenes. FOLDER stands for the image files "
      "in it.\nA bad image gives its sentence, the others go on, and the exit code is 3.",
      table, argc, argv, &words);
  if (code >= 0) return code;
  const bool model_alone = words.count == 1 && heed_is_model_path(words.word[0]) &&
                           !cli_is_other_folder(words.word[0]),
             images = (words.count && !model_alone) || options.list;
  if (images && options.scenes) {
    fprintf(stderr, "heed judge: --scenes: images are given too (expected one of both)\n");
    return CLI_USAGE;
  }
  if (!images && !options.scenes) {
    fprintf(stderr,
            "heed judge: images: none given%s (expected IMAGE, FOLDER, --list or --scenes N)\n",
            model_alone ? " after MODEL" : "");
    return CLI_USAGE;
  }
  return judge_words(cli, &options, &words);
}

const cli_verb cli_verb_judge = {"judge", "judge maps by what the model does without them", run};
