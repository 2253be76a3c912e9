/* heed survey: the statistics of every head over many images or generated scenes. Sums are exact
 * integers (sums.h), so that memory does not grow with the number of images, and a survey that was
 * split or interrupted has the results of one that was not. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "embeddings.h"
#include "job.h"
#include "terminal/paths.h"
#include "terminal/standard_out.h"

#define COMMIT_SECONDS 5.0 /* what kills the program loses the pictures of so long at most */

static double now_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ------------------------------------------------------------------------------------- a picture
 */

static heed_status next_picture(cli_state *cli, void *user, survey_item *item, bool *some) {
  survey_job *job = user;
  uint64_t id;
  if (!job->ranks) return survey_inputs_next(cli, &job->inputs, item, some);
  *some = survey_ranks_next(job->ranks, &id);
  return *some ? survey_inputs_get(cli, &job->inputs, id, item) : HEED_OK;
}

/* Of the job it uses what nothing changes while pictures are read. */
static heed_status read_picture(cli_state *cli, void *user, const survey_item *item,
                                cli_prepared *prepared, scene_twins *twins) {
  const survey_job *job = user;
  const survey_options *options = job->options;
  return survey_item_read(cli, item, &job->pipeline, &options->limits, options->choice.quiet,
                          options->size ? 0 : CLI_MOST_PATCHES, prepared, twins);
}

/* A full disk may leave half of a picture's rows, or have undone all since the last commit. */
static heed_status note_stored(survey_job *job, heed_status status) {
  job->unstored = job->unstored || status != HEED_OK;
  return status;
}

static heed_status store_picture(survey_job *job, const survey_worked *worked) {
  CLI_TRY(survey_sums_add(&job->sums, &worked->numbers, &job->cli->error));
  if (!job->store) return HEED_OK;
  const survey_picture row = {.id = (int64_t)worked->item.id,
                              .path = worked->item.of.path,
                              .label = worked->item.of.label,
                              .width = worked->width,
                              .height = worked->height,
                              .top = worked->top};
  return note_stored(
      job, survey_store_add(job->store, &row, &worked->numbers, !job->options->sums_only));
}

/* A bad image of several gives its sentence, and the others go on. */
static heed_status note_failure(survey_job *job, const survey_item *item, heed_status status) {
  if (survey_inputs_count(&job->inputs) == 1 || job->options->strict ||
      cli_exit_code(status) != CLI_BAD_FILE)
    return status;
  const heed_error why = job->cli->error;
  cli_progress_clear(&job->progress);
  cli_fail(job->cli);
  job->failed++;
  return job->store ? note_stored(job, survey_store_add_failure(job->store, (int64_t)item->id,
                                                                item->of.path, why.message))
                    : HEED_OK;
}

/* Other pixels than those of heed run are worth a line. */
static void say_part(survey_job *job, const survey_worked *worked) {
  if (job->said_part || worked->part < 2 || job->options->choice.quiet) return;
  job->said_part = true;
  cli_progress_clear(&job->progress);
  fprintf(stderr,
          "heed survey: %s: decoded at 1/%u of its size, as all JPEGs that are large for the model "
          "(--whole-jpegs decodes all pixels)\n",
          CLI_SHOWN(worked->item.of.path), worked->part);
}

static heed_status commit(survey_job *job) {
  job->uncommitted = 0;
  job->committed = now_seconds();
  return job->store ? note_stored(job, survey_store_commit(job->store, &job->sums)) : HEED_OK;
}

/* *more: there was one. */
static heed_status take_picture(survey_job *job, survey_crew *crew, uint64_t done, bool *more) {
  const survey_worked *worked = survey_crew_take(crew);
  *more = worked != NULL;
  if (!worked) return HEED_OK;
  if (worked->status == HEED_OK) {
    say_part(job, worked);
    CLI_TRY(store_picture(job, worked));
  } else {
    job->cli->error = worked->error;
    if (!worked->bad) return worked->status;
    CLI_TRY(note_failure(job, &worked->item, worked->status));
  }
  cli_progress_step(&job->progress, done + 1);
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
  if (status == HEED_OK) status = survey_outputs_add_paths(cli, &options->outputs, &paths);
  if (status == HEED_OK) status = cli_paths_add(cli, &paths, CLI_WRITTEN, "-o", options->out);
  if (status == HEED_OK && options->list && strcmp(options->list, "-") != 0)
    status = cli_paths_add(cli, &paths, CLI_READ, "the list", options->list);
  for (uint32_t i = 0; status == HEED_OK && i < job->inputs.files.count; i++)
    status = cli_paths_add(cli, &paths, CLI_READ, "IMAGE", job->inputs.files.path[i]);
  for (uint32_t i = 0; status == HEED_OK && i < job->inputs.tars.tar_count; i++)
    status = cli_paths_add(cli, &paths, CLI_READ, "the archive", job->inputs.tars.tar[i].path);
  if (status == HEED_OK) status = cli_paths_check(cli, &paths);
  cli_paths_free(&paths);
  return status;
}

static heed_status load(survey_job *job) {
  cli_pipeline *pipeline = &job->pipeline;
  pipeline->size = job->options->size;
  CLI_TRY(cli_pipeline_load(job->cli, pipeline, job->options->model));
  CLI_TRY(cli_pipeline_check_grid(job->cli, pipeline));
  CLI_TRY(cli_pipeline_size(job->cli, pipeline, job->options->size));
  if (!job->options->whole_jpegs)
    job->options->limits.least_side = survey_inputs_least_side(&pipeline->preprocess);
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
                                  {"--methods", o->methods},
                                  {"--embeddings", o->outputs.embeddings ? "" : NULL},
                                  {"--frame", o->limits.frame ? frame : NULL},
                                  {"--whole-jpegs", o->whole_jpegs ? "" : NULL}};
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
  CLI_TRY(survey_extras_find(job->cli, &job->pipeline, &job->options->choice, &job->extras,
                             &of->shape));
  CLI_TRY(survey_taps_set(job->cli, &job->pipeline,
                          job->extras.embeds ? job->extras.embedding.source : NULL, &job->taps));
  of->inputs = (int64_t)survey_inputs_count(&job->inputs);
  const survey_rank rank = survey_ranks_own(job->ranks);
  of->shard = job->ranks ? rank.rank + 1 : job->inputs.shard;
  of->shards = job->ranks ? rank.count : job->inputs.shards;
  memcpy(of->inputs_hash, job->inputs.hash, sizeof of->inputs_hash);
  of->model = strdup(model);
  of->family = strdup(job->pipeline.info.family);
  of->backend = strdup(heed_backend_device(job->options->choice.opened));
  /* "AVX-512, 2 threads": any number of threads gives the same bits */
  if (of->backend && heed_backend_threads(job->options->choice.opened))
    of->backend[strcspn(of->backend, ",")] = '\0';
  if (!of->model || !of->family || !of->backend)
    return heed_fail_memory(&job->cli->error, "survey", strlen(model) + 1);
  return describe_options(job);
}

static heed_status make_store(survey_job *job) {
  const survey_options *options = job->options;
  const bool kept = options->out != NULL;
  if (options->resume)
    return survey_store_resume(job->cli, options->out, &job->identity, options->choice.quiet,
                               &job->sums, &job->store);
  CLI_TRY(survey_sums_create(&job->identity.shape, &job->sums, &job->cli->error));
  /* a report is made of rows: those of a survey that is not kept are in memory */
  return survey_store_create(job->cli, kept ? options->out : ":memory:", &job->identity,
                             options->choice.quiet || !kept, &job->store);
}

static heed_status open_store(survey_job *job) {
  const cli_pipeline *pipeline = &job->pipeline;
  if (!job->options->out && !job->options->outputs.report)
    return survey_sums_create(&job->identity.shape, &job->sums, &job->cli->error);
  CLI_TRY(make_store(job));
  return pipeline->model
             ? survey_store_name_classes(job->store, pipeline->model, pipeline->info.classes)
             : HEED_OK;
}

/* Counts what is to do, and marks what the store has. */
static heed_status choose_pictures(survey_job *job) {
  survey_inputs *inputs = &job->inputs;
  const uint64_t count = survey_inputs_count(inputs);
  int64_t read = 0;
  if (job->store) survey_store_count(job->store, &read, &job->failed);
  if (read + job->failed) {
    inputs->done = calloc((size_t)count / 8 + 1, 1);
    if (!inputs->done) return heed_fail_memory(&job->cli->error, "images", (size_t)count / 8 + 1);
  }
  for (uint64_t id = inputs->shard - 1; id < count; id += inputs->shards) {
    const bool there = inputs->done && survey_store_has(job->store, (int64_t)id);
    if (there) inputs->done[id / 8] |= (uint8_t)(1u << id % 8);
    job->todo += !there;
  }
  return job->ranks ? survey_ranks_share(job->cli, job->ranks, inputs->done, count, &job->todo)
                    : HEED_OK;
}

static heed_status gather_picture(survey_job *job, const cli_prepared *prepared,
                                  const scene_twins *twins, survey_numbers *numbers) {
  cli_pipeline *pipeline = &job->pipeline;
  survey_maps maps = {.twins = *twins};
  pipeline->build.height = prepared->height;
  pipeline->build.width = prepared->width;
  CLI_TRY(cli_pipeline_run(job->cli, pipeline, &job->options->choice, prepared->pixels));
  heed_status status = survey_maps_take(job->cli, pipeline, &job->identity.shape, false, &maps);
  if (status == HEED_OK) status = survey_gather(job->cli, &job->identity.shape, &maps, numbers);
  survey_maps_free(&maps);
  return status;
}

static heed_status read_numbers(survey_job *job, const survey_item *item, survey_numbers *numbers) {
  cli_prepared prepared = {0};
  scene_twins twins;
  CLI_TRY(read_picture(job->cli, job, item, &prepared, &twins));
  heed_status status = survey_numbers_create(&job->identity.shape, numbers, &job->cli->error);
  if (status == HEED_OK) status = gather_picture(job, &prepared, &twins, numbers);
  free(prepared.pixels);
  return status;
}

/* Weights may have changed behind the same path: the first image that has rows runs again. */
static heed_status check_numbers(survey_job *job) {
  const survey_options *options = job->options;
  const int64_t first = job->store && options->resume ? survey_store_first(job->store) : -1;
  survey_item item = {0};
  survey_numbers numbers = {0};
  if (first < 0 || (uint64_t)first >= survey_inputs_count(&job->inputs)) return HEED_OK;
  heed_status status = survey_inputs_get(job->cli, &job->inputs, (uint64_t)first, &item);
  if (status == HEED_OK) status = read_numbers(job, &item, &numbers);
  if (status == HEED_OK && !survey_store_same(job->store, first, &numbers))
    status = heed_fail(&job->cli->error, HEED_INVALID_ARGUMENT,
                       "%s: another survey (found other numbers of %s, expected those of its row: "
                       "the weights, the image or the device changed)",
                       options->out, item.of.path);
  survey_numbers_free(&numbers);
  survey_item_free(&item);
  return status;
}

/* -------------------------------------------------------------------------------------------- run
 */

/* A signal ends it after the picture that runs: what is finished is committed. */
static heed_status go(survey_job *job) {
  survey_crew *crew = NULL;
  const survey_crew_desc desc = {.pipeline = &job->pipeline,
                                 .choice = &job->options->choice,
                                 .shape = &job->identity.shape,
                                 .extras = &job->extras,
                                 .count = job->todo,
                                 .user = job,
                                 .next = next_picture,
                                 .read = read_picture};
  bool more = true;
  heed_status status = survey_crew_begin(job->cli, &desc, &crew);
  cli_progress_begin(&job->progress, job->todo, job->options->choice.quiet);
  job->committed = now_seconds();
  for (uint64_t i = 0; more && status == HEED_OK && !cli_signals_arrived(); i++)
    status = take_picture(job, crew, i, &more);
  cli_progress_clear(&job->progress);
  const heed_error why = job->cli->error;
  const bool some = job->sums.pictures || job->failed;
  const heed_status last = some && !job->unstored ? commit(job) : HEED_OK;
  survey_crew_end(crew);                        /* which waits for pictures that run */
  if (status != HEED_OK) job->cli->error = why; /* what ended it, not what came of that */
  return status != HEED_OK ? status : last;
}

static void say_how_to_resume(const survey_job *job) {
  if (!job->options->out || !job->store || !cli_signals_arrived()) return;
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
                            .device = job->identity.backend,
                            .sums = &job->sums,
                            .failed = job->failed,
                            .facts = job->facts.names ? &job->facts : NULL};
  if (!job->sums.pictures)
    return heed_fail(&job->cli->error, HEED_INVALID_FILE,
                     "images: none can be read (found %lld bad ones)", (long long)job->failed);
  survey_print(&results);
  if (options->out) printf("written: %s\n", CLI_SHOWN(options->out));
  return survey_outputs_write(
      job->cli, &options->outputs, &results,
      (survey_examples_desc){
          .limits = &options->limits, .pipeline = &job->pipeline, .choice = &job->options->choice});
}

static heed_status read_facts(survey_job *job) {
  if (!job->store || !job->sums.pictures) return HEED_OK;
  const char *embeddings = job->options->outputs.embeddings;
  if (embeddings && job->identity.shards == 1 && !cli_signals_arrived())
    CLI_TRY(survey_write_embeddings(job->cli, job->store, &job->identity.shape, embeddings));
  return survey_facts_read(job->cli, job->store, &job->sums, job->by, job->options->outputs.typical,
                           &job->facts);
}

heed_status survey_run(survey_job *job) {
  CLI_TRY(survey_outputs_check(job->cli, &job->options->outputs, &job->by));
  CLI_TRY(survey_extras_choose(job->cli, job->options->methods,
                               job->options->outputs.embeddings != NULL, &job->extras));
  if (job->ranks) CLI_TRY(survey_ranked_begin(job));
  CLI_TRY(check_paths(job));
  CLI_TRY(load(job));
  CLI_TRY(describe(job));
  cli_signals_defer(true);
  heed_status status = open_store(job);
  if (status == HEED_OK) status = choose_pictures(job);
  if (status == HEED_OK) status = check_numbers(job);
  if (status == HEED_OK) status = go(job);
  if (status == HEED_OK) status = read_facts(job);
  survey_store_close(job->store);
  say_how_to_resume(job);
  cli_signals_defer(false); /* ends here after a signal */
  CLI_TRY(status);
  return job->ranks ? survey_ranked_finish(job) : report(job);
}

int survey_end(survey_job *job, heed_status status) {
  cli_pipeline_close(&job->pipeline);
  cli_choice_close(&job->options->choice);
  survey_identity_free(&job->identity);
  survey_sums_free(&job->sums);
  survey_taps_free(&job->taps);
  survey_facts_free(&job->facts);
  const uint64_t all = survey_inputs_count(&job->inputs);
  survey_inputs_free(&job->inputs);
  if (status != HEED_OK) (void)cli_fail(job->cli);
  survey_ranks_end(job->ranks, status != HEED_OK);
  if (status != HEED_OK) return cli_exit_code(status);
  if (job->failed)
    fprintf(stderr, "heed survey: images: cannot read all (found %lld bad ones of %llu)\n",
            (long long)job->failed, (unsigned long long)all);
  return job->failed ? CLI_BAD_FILE : CLI_OK;
}
