/* heed survey: the statistics of every head over many images or generated scenes. Sums are exact
 * integers (sums.h), so that memory does not grow with the number of images, and a survey that was
 * split or interrupted has the results of one that was not. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compare.h"
#include "gather.h"
#include "inputs.h"
#include "merge.h"
#include "results.h"
#include "session/reading.h"
#include "shard.h"
#include "store.h"
#include "terminal/model_word.h"
#include "terminal/options.h"
#include "terminal/paths.h"
#include "terminal/progress.h"
#include "terminal/standard_out.h"

#define READERS 4          /* threads that read pictures */
#define COMMIT_SECONDS 5.0 /* what kills the program loses the pictures of so long at most */

typedef struct survey_options {
  cli_choice choice;
  const char *model, *file, *list, *json, *size, *out, *shard;
  uint32_t scenes, seed, most_images, commit;
  bool resume, strict, merge, compare, recursive, sums_only;
  heed_image_limits limits;
} survey_options;

typedef struct survey_job {
  cli_state *cli;
  survey_options *options;
  survey_inputs inputs;
  cli_pipeline pipeline;
  cli_reading *reading;
  survey_identity identity;
  survey_sums sums;
  survey_numbers numbers;
  survey_store *store; /* NULL: the results are printed alone */
  uint32_t *todo;      /* [todo_count]: the pictures that are not there yet */
  uint32_t todo_count;
  int64_t failed;
  uint32_t uncommitted;
  double committed; /* seconds */
  cli_progress progress;
} survey_job;

static double now_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ------------------------------------------------------------------------------------- a picture
 */

/* A cli_read_picture: of the job it uses what nothing changes while pictures are read. */
static heed_status load_picture(cli_state *cli, void *user, uint32_t index,
                                cli_prepared *prepared) {
  const survey_job *job = user;
  const survey_options *options = job->options;
  return survey_inputs_read(cli, &job->inputs, &job->pipeline, &options->limits,
                            options->choice.quiet, options->size ? 0 : CLI_MOST_PATCHES,
                            job->todo[index], prepared);
}

static heed_status gather_picture(survey_job *job, const cli_prepared *prepared) {
  cli_pipeline *pipeline = &job->pipeline;
  if (pipeline->session &&
      (pipeline->build.height != prepared->height || pipeline->build.width != prepared->width))
    cli_pipeline_reset(pipeline);
  pipeline->build.height = prepared->height;
  pipeline->build.width = prepared->width;
  CLI_TRY(cli_pipeline_run(job->cli, pipeline, &job->options->choice, prepared->pixels));
  return survey_gather(job->cli, pipeline, &job->sums.shape, &job->numbers);
}

static heed_status run_picture(survey_job *job, const cli_prepared *prepared) {
  CLI_TRY(gather_picture(job, prepared));
  return survey_sums_add(&job->sums, &job->numbers, &job->cli->error);
}

static heed_status store_picture(survey_job *job, uint32_t id, const cli_prepared *prepared) {
  char scene[SURVEY_SCENE_SIZE];
  if (!job->store) return HEED_OK;
  survey_picture row = {.id = id,
                        .path = survey_inputs_path(&job->inputs, id, scene),
                        .label = id < job->inputs.files.count ? job->inputs.files.label[id] : NULL,
                        .width = prepared->width,
                        .height = prepared->height};
  CLI_TRY(survey_top_class(job->cli, &job->pipeline, &row.top));
  return survey_store_add(job->store, &row, &job->numbers, !job->options->sums_only);
}

/* A bad image of several gives its sentence, and the others go on. */
static heed_status note_failure(survey_job *job, uint32_t id, heed_status status) {
  if (survey_inputs_count(&job->inputs) == 1 || job->options->strict ||
      cli_exit_code(status) != CLI_BAD_FILE)
    return status;
  char scene[SURVEY_SCENE_SIZE];
  const heed_error why = job->cli->error;
  cli_progress_clear(&job->progress);
  cli_fail(job->cli);
  job->failed++;
  return job->store ? survey_store_add_failure(
                          job->store, id, survey_inputs_path(&job->inputs, id, scene), why.message)
                    : HEED_OK;
}

static heed_status commit(survey_job *job) {
  job->uncommitted = 0;
  job->committed = now_seconds();
  return job->store ? survey_store_commit(job->store, &job->sums) : HEED_OK;
}

static heed_status take_picture(survey_job *job, uint32_t index) {
  const uint32_t id = job->todo[index];
  cli_prepared prepared;
  heed_status status = cli_reading_take(job->reading, &prepared);
  if (status == HEED_OK) {
    status = run_picture(job, &prepared);
    free(prepared.pixels);
    CLI_TRY(status);
    CLI_TRY(store_picture(job, id, &prepared));
  } else {
    CLI_TRY(note_failure(job, id, status));
  }
  cli_progress_step(&job->progress, index + 1u);
  const bool full = ++job->uncommitted >= job->options->commit ||
                    now_seconds() - job->committed >= COMMIT_SECONDS;
  return full ? commit(job) : HEED_OK;
}

/* ------------------------------------------------------------------------------------------ begin
 */

static heed_status check_paths(survey_job *job) {
  cli_state *cli = job->cli;
  const survey_options *options = job->options;
  cli_paths paths = {0};
  heed_status status = cli_paths_add(cli, &paths, CLI_READ_MODEL, "MODEL", options->model);
  if (status == HEED_OK) status = cli_paths_add(cli, &paths, CLI_WRITTEN, "--json", options->json);
  if (status == HEED_OK) status = cli_paths_add(cli, &paths, CLI_WRITTEN, "-o", options->out);
  if (status == HEED_OK && options->list && strcmp(options->list, "-") != 0)
    status = cli_paths_add(cli, &paths, CLI_READ, "the list", options->list);
  for (uint32_t i = 0; status == HEED_OK && i < job->inputs.files.count; i++)
    status = cli_paths_add(cli, &paths, CLI_READ, "IMAGE", job->inputs.files.path[i]);
  if (status == HEED_OK) status = cli_paths_check(cli, &paths);
  cli_paths_free(&paths);
  return status;
}

static heed_status load(survey_job *job) {
  cli_pipeline *pipeline = &job->pipeline;
  pipeline->size = job->options->size;
  CLI_TRY(cli_pipeline_load(job->cli, pipeline, job->options->model));
  CLI_TRY(cli_pipeline_check_images(job->cli, pipeline));
  CLI_TRY(cli_pipeline_size(job->cli, pipeline, job->options->size));
  CLI_TRY(cli_pipeline_tap_weights(job->cli, pipeline));
  return cli_choice_open(job->cli, &job->options->choice);
}

/* The options that change results, as one text; those that were not given are left out. */
static heed_status describe_options(survey_job *job) {
  const survey_options *o = job->options;
  const cli_state *cli = job->cli;
  char frame[16];
  snprintf(frame, sizeof frame, "%u", o->limits.frame);
  const char *const given[][2] = {{"--size", o->size},
                                  {"--file", o->file},
                                  {"--weights-key", cli->weights_key},
                                  {"--names", cli->names},
                                  {"--hints", cli->hints},
                                  {"--interpolation-grid", cli->interpolation_grid},
                                  {"--mean", cli->prepare.mean},
                                  {"--std", cli->prepare.std},
                                  {"--resample", cli->prepare.resample},
                                  {"--crop", cli->prepare.crop},
                                  {"--rescale", cli->prepare.rescale},
                                  {"--precision", o->choice.precision},
                                  {"--frame", o->limits.frame ? frame : NULL}};
  size_t size = 1, count = sizeof given / sizeof *given;
  for (size_t i = 0; i < count; i++)
    if (given[i][1]) size += strlen(given[i][0]) + strlen(given[i][1]) + 2;
  char *text = malloc(size);
  if (!text) return heed_fail_memory(&job->cli->error, "options", size);
  text[0] = '\0';
  for (size_t i = 0; i < count; i++)
    if (given[i][1]) {
      strcat(strcat(text, text[0] ? " " : ""), given[i][0]);
      strcat(strcat(text, " "), given[i][1]);
    }
  job->identity.options = text;
  return HEED_OK;
}

static heed_status describe(survey_job *job) {
  survey_identity *of = &job->identity;
  const char *model = job->options->model ? job->options->model : "";
  CLI_TRY(survey_shape_of(job->cli, &job->pipeline, &of->shape));
  of->inputs = (int64_t)survey_inputs_count(&job->inputs);
  of->shard = job->inputs.shard;
  of->shards = job->inputs.shards;
  survey_inputs_hash(&job->inputs, of->inputs_hash);
  of->model = strdup(model);
  of->family = strdup(job->pipeline.info.family);
  of->backend = strdup(heed_backend_device(job->options->choice.opened));
  if (!of->model || !of->family || !of->backend)
    return heed_fail_memory(&job->cli->error, "survey", strlen(model) + 1);
  return describe_options(job);
}

static heed_status open_store(survey_job *job) {
  const survey_options *options = job->options;
  if (!options->out) return survey_sums_create(&job->identity.shape, &job->sums, &job->cli->error);
  if (options->resume)
    return survey_store_resume(job->cli, options->out, &job->identity, options->choice.quiet,
                               &job->sums, &job->store);
  CLI_TRY(survey_sums_create(&job->identity.shape, &job->sums, &job->cli->error));
  return survey_store_create(job->cli, options->out, &job->identity, options->choice.quiet,
                             &job->store);
}

static heed_status choose_pictures(survey_job *job) {
  const uint64_t count = survey_inputs_count(&job->inputs);
  int64_t read;
  job->todo = malloc((size_t)count * sizeof *job->todo + 1);
  if (!job->todo)
    return heed_fail_memory(&job->cli->error, "images", (size_t)count * sizeof *job->todo);
  if (job->store) survey_store_count(job->store, &read, &job->failed);
  for (uint64_t id = 0; id < count; id++)
    if (survey_inputs_own(&job->inputs, id) &&
        !(job->store && survey_store_has(job->store, (int64_t)id)))
      job->todo[job->todo_count++] = (uint32_t)id;
  return HEED_OK;
}

/* Weights may have changed behind the same path: the first image that has rows runs again. */
static heed_status check_numbers(survey_job *job) {
  const survey_options *options = job->options;
  const int64_t first = job->store && options->resume ? survey_store_first(job->store) : -1;
  char scene[SURVEY_SCENE_SIZE];
  cli_prepared prepared;
  if (first < 0 || (uint64_t)first >= survey_inputs_count(&job->inputs)) return HEED_OK;
  CLI_TRY(survey_inputs_read(job->cli, &job->inputs, &job->pipeline, &options->limits,
                             options->choice.quiet, options->size ? 0 : CLI_MOST_PATCHES,
                             (uint64_t)first, &prepared));
  const heed_status status = gather_picture(job, &prepared);
  free(prepared.pixels);
  CLI_TRY(status);
  return survey_store_same(job->store, first, &job->numbers)
             ? HEED_OK
             : heed_fail(&job->cli->error, HEED_INVALID_ARGUMENT,
                         "%s: another survey (found other numbers of %s, expected those of its "
                         "row: the weights, the image or the device changed)",
                         options->out, survey_inputs_path(&job->inputs, (uint64_t)first, scene));
}

/* -------------------------------------------------------------------------------------------- run
 */

/* A signal ends it after the picture that runs: what is finished is committed. */
static heed_status go(survey_job *job) {
  const uint32_t threads = job->options->choice.threads;
  heed_status status =
      cli_reading_begin(job->cli, load_picture, job, job->todo_count, 2 * READERS,
                        threads && threads <= READERS ? threads - 1 : READERS, &job->reading);
  cli_progress_begin(&job->progress, job->todo_count, job->options->choice.quiet);
  job->committed = now_seconds();
  for (uint32_t i = 0; i < job->todo_count && status == HEED_OK && !cli_signals_arrived(); i++)
    status = take_picture(job, i);
  cli_reading_end(job->reading);
  cli_progress_clear(&job->progress);
  const heed_error why = job->cli->error;
  const heed_status last = job->sums.pictures || job->failed ? commit(job) : HEED_OK;
  if (status != HEED_OK) job->cli->error = why; /* what ended it, not what came of that */
  return status != HEED_OK ? status : last;
}

static void say_how_to_resume(const survey_job *job) {
  if (!job->store || !cli_signals_arrived()) return;
  fprintf(stderr,
          "heed survey: %s: ended by a signal (found %lld images of %lld; the same command with "
          "--resume goes on)\n",
          CLI_SHOWN(job->options->out), (long long)(job->sums.pictures + job->failed),
          (long long)job->identity.inputs);
}

static heed_status report(survey_job *job) {
  const survey_options *options = job->options;
  survey_results results = {.model = options->model,
                            .family = job->pipeline.info.family,
                            .assumed = job->pipeline.info.assumed,
                            .backend = heed_backend_name(options->choice.opened),
                            .device = heed_backend_device(options->choice.opened),
                            .sums = &job->sums,
                            .failed = job->failed};
  if (!job->sums.pictures)
    return heed_fail(&job->cli->error, HEED_INVALID_FILE,
                     "images: none can be read (found %lld bad ones)", (long long)job->failed);
  survey_print(&results);
  if (options->out) printf("written: %s\n", CLI_SHOWN(options->out));
  if (!options->json) return HEED_OK;
  CLI_TRY(cli_output_write(options->json, survey_write_json, &results, &job->cli->error));
  printf("JSON: %s\n", CLI_SHOWN(options->json));
  return HEED_OK;
}

static heed_status survey(survey_job *job) {
  CLI_TRY(check_paths(job));
  CLI_TRY(load(job));
  CLI_TRY(describe(job));
  cli_signals_defer(true);
  heed_status status = open_store(job);
  if (status == HEED_OK) status = choose_pictures(job);
  if (status == HEED_OK)
    status = survey_numbers_create(&job->sums.shape, &job->numbers, &job->cli->error);
  if (status == HEED_OK) status = check_numbers(job);
  if (status == HEED_OK) status = go(job);
  survey_store_close(job->store);
  say_how_to_resume(job);
  cli_signals_defer(false); /* ends here after a signal */
  CLI_TRY(status);
  return report(job);
}

/* ------------------------------------------------------------------------------------------- verb
 */

static int end(survey_job *job, heed_status status) {
  cli_pipeline_close(&job->pipeline);
  cli_choice_close(&job->options->choice);
  survey_identity_free(&job->identity);
  survey_sums_free(&job->sums);
  survey_numbers_free(&job->numbers);
  free(job->todo);
  const uint64_t all = survey_inputs_count(&job->inputs);
  picture_list_free(&job->inputs.files);
  if (status != HEED_OK) return cli_fail(job->cli);
  if (job->failed)
    fprintf(stderr, "heed survey: images: cannot read all (found %lld bad ones of %llu)\n",
            (long long)job->failed, (unsigned long long)all);
  return job->failed ? CLI_BAD_FILE : CLI_OK;
}

static int survey_words(cli_state *cli, survey_options *options, const cli_words *words,
                        uint32_t shard, uint32_t shards) {
  bool has_model;
  if (cli_take_model(cli, words, options->list || options->scenes, &options->limits, &has_model) !=
      HEED_OK)
    return cli_fail(cli);
  char chosen[HEED_PATH_SIZE];
  survey_job job = {.cli = cli,
                    .options = options,
                    .inputs = {.files = {.most = options->most_images, .deep = options->recursive},
                               .scenes = options->scenes,
                               .seed = options->seed,
                               .shard = shard,
                               .shards = shards}};
  options->model = has_model ? cli_model_file(words->word[0], options->file, chosen) : NULL;
  heed_status status = picture_list_make(cli, words->word + has_model, words->count - has_model,
                                         options->list, options->choice.quiet, &job.inputs.files);
  if (status == HEED_OK) status = survey(&job);
  return end(&job, status);
}

static int merge(cli_state *cli, const survey_options *options, const cli_words *words) {
  const survey_merge_desc desc = {words->word, words->count, options->out, options->json,
                                  options->choice.quiet};
  if (!words->count) {
    fprintf(stderr, "heed survey: --merge: no files (expected PART.sqlite...)\n");
    return CLI_USAGE;
  }
  return survey_merge(cli, &desc) == HEED_OK ? CLI_OK : cli_fail(cli);
}

static int compare(cli_state *cli, const survey_options *options, const cli_words *words) {
  if (words->count != 2) {
    fprintf(stderr, "heed survey: --compare: wrong arguments (found %u files, expected two)\n",
            words->count);
    return CLI_USAGE;
  }
  return survey_compare(cli, words->word[0], words->word[1], options->json) == HEED_OK
             ? CLI_OK
             : cli_fail(cli);
}

static int check_words(survey_options *options, const cli_words *words, uint32_t *shard,
                       uint32_t *shards, char path[HEED_PATH_SIZE]) {
  const bool model_alone = words->count == 1 && heed_is_model_path(words->word[0]) &&
                           !cli_is_other_folder(words->word[0]);
  if (options->shard && !survey_shard_read(options->shard, getenv, shard, shards)) {
    fprintf(stderr,
            "heed survey: --shard: wrong share (found %s, expected I/N, as 2/10, or auto under a "
            "launcher that heed knows)\n",
            CLI_SHOWN(options->shard));
    return CLI_USAGE;
  }
  if (options->out && options->shard &&
      !survey_shard_path(options->out, *shard, path, HEED_PATH_SIZE)) {
    fprintf(stderr, "heed survey: -o: path too long (expected at most %d bytes)\n",
            HEED_PATH_SIZE - 1);
    return CLI_USAGE;
  }
  if (options->out && options->shard) options->out = path;
  if ((options->resume || options->sums_only) && !options->out) {
    fprintf(stderr, "heed survey: %s: no file of a survey (expected -o SURVEY.sqlite)\n",
            options->resume ? "--resume" : "--sums-only");
    return CLI_USAGE;
  }
  if (options->scenes > UINT32_MAX - options->seed) {
    fprintf(stderr, "heed survey: --seed: too large (found %u, expected at most %u)\n",
            options->seed, UINT32_MAX - options->scenes);
    return CLI_USAGE;
  }
  if ((words->count && !model_alone) || options->list || options->scenes) return -1;
  fprintf(stderr, "heed survey: no images%s (expected IMAGE, FOLDER, --list or --scenes N)\n",
          model_alone ? " after MODEL" : "");
  return CLI_USAGE;
}

static int run(cli_state *cli, int argc, char **argv) {
  survey_options options = {.choice = CLI_CHOICE_INIT,
                            .seed = 1,
                            .commit = 64,
                            .most_images = CLI_MOST_PICTURES,
                            .limits = {.struct_size = sizeof options.limits}};
  cli_words words;
  const cli_option table[] = {
      {"-o", CLI_FILE, &options.out, "SURVEY.sqlite",
       "file for the survey, a database of SQLite (docs/surveys.md)"},
      {"--commit", CLI_NUMBER, &options.commit, "N",
       "images between two commits, which come every 5 seconds at least (default: 64)"},
      {"--resume", CLI_FLAG, &options.resume, NULL, "go on with the survey of -o, or begin it"},
      {"--shard", CLI_TEXT, &options.shard, "I/N|auto",
       "only every N-th image, from the I-th on; auto: as Open MPI, MPICH, Slurm or Kubernetes "
       "number this process; {} in -o becomes I; --merge puts the shards together"},
      {"--merge", CLI_FLAG, &options.merge, NULL,
       "the words are files of surveys: print their sums, and write them to -o"},
      {"--compare", CLI_FLAG, &options.compare, NULL,
       "the words are files of two surveys: print which heads moved"},
      {"--recursive", CLI_FLAG, &options.recursive, NULL, "read the folders below, too"},
      {"--strict", CLI_FLAG, &options.strict, NULL, "end at the first bad image"},
      {"--sums-only", CLI_FLAG, &options.sums_only, NULL,
       "store no row for each head of each image"},
      {"--json", CLI_JSON, &options.json, "OUT.json|-",
       "write mean, spread, range and quantiles of every statistic of every head"},
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
  int code = cli_parse(
      cli,
      "survey [MODEL] [IMAGE|FOLDER...] [options]\nusage: heed survey --merge PART.sqlite... [-o "
      "ALL.sqlite] [--json OUT.json]\nusage: heed survey --compare A.sqlite B.sqlite [--json "
      "OUT.json]\n\n" CLI_MODEL_OR_BUILT_IN
      "\nThere is an IMAGE, a FOLDER, --list or --scenes. FOLDER stands for the image "
      "files in it.\nA bad image gives its sentence, the others go on, and the exit code is 3.",
      table, argc, argv, &words);
  if (code >= 0) return code;
  if (options.merge) return merge(cli, &options, &words);
  if (options.compare) return compare(cli, &options, &words);
  uint32_t shard = 1, shards = 1;
  char path[HEED_PATH_SIZE];
  code = check_words(&options, &words, &shard, &shards, path);
  return code >= 0 ? code : survey_words(cli, &options, &words, shard, shards);
}

const cli_verb cli_verb_survey = {"survey", "statistics of every head over many images", run};
