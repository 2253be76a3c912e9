/* heed embed: features of pictures, one row each. Pictures run in batches, and each is written when
 * its batch has run, so that memory does not grow with their number. The next ones are read
 * meanwhile. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rows.h"
#include "session/onnx_graph.h"
#include "session/reading.h"
#include "terminal/confine.h"
#include "terminal/model_word.h"
#include "terminal/options.h"
#include "terminal/paths.h"
#include "terminal/picture_list.h"
#include "terminal/progress.h"
#include "terminal/standard_out.h"

#define MOST_BATCH 1024
#define READERS 4 /* threads that read pictures */

typedef struct embed_options {
  cli_choice choice;
  const char *model, *file, *way, *list, *out, *values, *size;
  uint32_t most_images, most_patches, batch;
  heed_image_limits limits;
} embed_options;

typedef struct embed_job {
  cli_state *cli;
  embed_options *options;
  const picture_list *pictures;
  cli_pipeline pipeline;
  cli_features features;
  embed_rows rows;
  cli_reading *reading;
  float *pixels;     /* [batch, C, H, W] */
  uint32_t *waiting; /* [batch]: pictures whose pixels are there, in order */
  uint32_t waiting_count;
  float **values; /* of one picture, a column each */
  uint32_t taken, failed;
  cli_progress progress;
  double start; /* seconds, of the first picture */
} embed_job;

static double now_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* A bad picture of several gives its sentence, and the others go on. */
static heed_status note_failure(embed_job *job, uint32_t picture, heed_status status) {
  if (job->pictures->count == 1 || cli_exit_code(status) != CLI_BAD_FILE) return status;
  cli_progress_clear(&job->progress);
  cli_fail(job->cli);
  job->failed++;
  const heed_error why = job->cli->error;
  return embed_rows_fail(&job->rows, job->pictures->path[picture], why.message);
}

/* ---------------------------------------------------------------------------------------- results
 */

static heed_status begin(embed_job *job) {
  cli_state *cli = job->cli;
  CLI_TRY(embed_rows_begin(&job->rows, &job->features));
  job->values = calloc(job->features.count, sizeof *job->values);
  if (!job->values) return heed_fail_memory(&cli->error, "values", sizeof *job->values);
  for (uint32_t i = 0; i < job->features.count; i++) {
    const size_t count = (size_t)heed_shape_count(&job->features.feature[i].shape);
    job->values[i] = malloc(count * sizeof **job->values);
    if (!job->values[i]) return heed_fail_memory(&cli->error, "values", count * sizeof(float));
  }
  return HEED_OK;
}

/* Rows have one shape. */
static heed_status check_shapes(const embed_job *job, const char *picture) {
  char found[HEED_SHAPE_TEXT_SIZE], expected[HEED_SHAPE_TEXT_SIZE];
  for (uint32_t i = 0; i < job->rows.column_count; i++) {
    const cli_feature *column = &job->rows.columns[i], *now = &job->features.feature[i];
    if (heed_shape_equal(&column->shape, &now->shape)) continue;
    return heed_fail(&job->cli->error, HEED_INVALID_FILE,
                     "%s: %s: wrong shape (found %s, expected %s as of the images before; --size "
                     "HEIGHT,WIDTH makes all one size)",
                     picture, column->name, heed_shape_text(&now->shape, found),
                     heed_shape_text(&column->shape, expected));
  }
  return HEED_OK;
}

static heed_status add_row(embed_job *job, uint32_t slot, uint32_t picture) {
  const char *path = job->pictures->path[picture];
  CLI_TRY(check_shapes(job, path));
  for (uint32_t i = 0; i < job->features.count; i++) {
    const cli_feature *feature = &job->features.feature[i];
    const size_t count = (size_t)heed_shape_count(&feature->shape);
    CLI_TRY(cli_features_read(job->cli, &job->pipeline, feature, slot, job->values[i]));
    for (size_t k = 0; k < count; k++)
      if (!isfinite(job->values[i][k]))
        return heed_fail(&job->cli->error, HEED_INVALID_FILE,
                         "%s: %s is not numbers (found NaN or an infinity)", path,
                         embed_column_name(feature));
  }
  return embed_rows_add(&job->rows, path, job->pictures->label[picture],
                        (const float *const *)job->values);
}

/* Runs what waits; what lacks to a whole batch is as it was before. */
static heed_status run_batch(embed_job *job) {
  const uint32_t count = job->waiting_count;
  job->waiting_count = 0;
  if (!count) return HEED_OK;
  CLI_TRY(cli_pipeline_run(job->cli, &job->pipeline, &job->options->choice, job->pixels));
  if (!job->rows.columns) CLI_TRY(begin(job));
  for (uint32_t i = 0; i < count; i++) {
    const heed_status status = add_row(job, i, job->waiting[i]);
    if (status != HEED_OK) CLI_TRY(note_failure(job, job->waiting[i], status));
    job->taken++;
  }
  cli_progress_step(&job->progress, job->taken);
  return HEED_OK;
}

/* ------------------------------------------------------------------------------------------ input
 */

/* A cli_read_picture: of the job it uses what nothing changes while pictures are read. */
static heed_status load_picture(cli_state *cli, void *user, uint32_t picture,
                                cli_prepared *prepared) {
  const embed_job *job = user;
  const char *path = job->pictures->path[picture];
  heed_picture image = {0};
  CLI_TRY(cli_pipeline_load_image(cli, &job->pipeline, path, &job->options->limits,
                                  job->options->choice.quiet, &image));
  const heed_image view = heed_picture_view(&image);
  const heed_status status =
      cli_pipeline_prepare(cli, &job->pipeline, &job->pipeline.preprocess, &view, path,
                           job->options->size ? 0 : job->options->most_patches, prepared);
  heed_picture_free(cli->context, &image);
  return status;
}

/* A batch for images of this size. */
static heed_status change_size(embed_job *job, const cli_prepared *prepared) {
  cli_pipeline *pipeline = &job->pipeline;
  CLI_TRY(run_batch(job));
  cli_pipeline_reset(pipeline);
  pipeline->build.height = prepared->height;
  pipeline->build.width = prepared->width;
  const uint64_t count = (uint64_t)pipeline->build.batch * pipeline->info.channels *
                         prepared->height * prepared->width;
  free(job->pixels);
  job->pixels =
      count <= SIZE_MAX / sizeof *job->pixels ? calloc((size_t)count, sizeof *job->pixels) : NULL;
  return job->pixels ? HEED_OK
                     : heed_fail_memory(&job->cli->error, "images", (size_t)count * sizeof(float));
}

static heed_status take_picture(embed_job *job, uint32_t picture) {
  cli_pipeline *pipeline = &job->pipeline;
  cli_prepared prepared = {0};
  const heed_status status = cli_reading_take(job->reading, &prepared);
  if (status != HEED_OK) {
    const heed_error why = job->cli->error;
    if (job->rows.format != EMBED_TABLE) CLI_TRY(run_batch(job)); /* in its turn */
    job->cli->error = why;
    job->taken++;
    return note_failure(job, picture, status);
  }
  heed_status changed = HEED_OK;
  if (!job->pixels || pipeline->build.height != prepared.height ||
      pipeline->build.width != prepared.width)
    changed = change_size(job, &prepared);
  if (changed == HEED_OK) {
    const size_t count = (size_t)pipeline->info.channels * prepared.height * prepared.width;
    memcpy(job->pixels + job->waiting_count * count, prepared.pixels, count * sizeof *job->pixels);
    job->waiting[job->waiting_count++] = picture;
  }
  free(prepared.pixels);
  CLI_TRY(changed);
  return job->waiting_count == pipeline->build.batch ? run_batch(job) : HEED_OK;
}

/* One thread means one; else those that read take what time the run leaves them. */
static heed_status begin_reading(embed_job *job) {
  const uint32_t threads = job->options->choice.threads;
  return cli_reading_begin(job->cli, load_picture, job, job->pictures->count,
                           job->pipeline.build.batch + READERS,
                           threads && threads <= READERS ? threads - 1 : READERS, &job->reading);
}

/* A signal ends it after the batch that runs: what is finished is written. */
static heed_status go(embed_job *job) {
  heed_status status = begin_reading(job);
  job->start = now_seconds();
  cli_progress_begin(&job->progress, job->pictures->count, job->options->choice.quiet);
  cli_signals_defer(true);
  for (uint32_t i = 0; i < job->pictures->count && status == HEED_OK && !cli_signals_arrived(); i++)
    status = take_picture(job, i);
  if (status == HEED_OK) status = run_batch(job);
  cli_reading_end(job->reading);
  cli_progress_clear(&job->progress);
  if (status == HEED_OK && !job->rows.count && !cli_signals_arrived())
    status = heed_fail(&job->cli->error, HEED_INVALID_FILE,
                       "images: none can be read (found %u bad ones)", job->failed);
  if (status != HEED_OK || !job->rows.count) cli_signals_defer(false);
  return status;
}

static heed_status go_as_text(void *user, FILE *to, heed_error *error) {
  embed_job *job = user;
  (void)error; /* it is that of the state */
  job->rows.to = to;
  CLI_TRY(go(job));
  embed_rows_end(&job->rows);
  return HEED_OK;
}

/* ------------------------------------------------------------------------------------------- verb
 */

static heed_status check_paths(cli_state *cli, const embed_options *options,
                               const picture_list *pictures) {
  cli_paths paths = {0};
  heed_status status = cli_paths_add(cli, &paths, CLI_READ_MODEL, "MODEL", options->model);
  if (status == HEED_OK) status = cli_paths_add(cli, &paths, CLI_WRITTEN, "-o", options->out);
  if (status == HEED_OK && options->list && strcmp(options->list, "-") != 0)
    status = cli_paths_add(cli, &paths, CLI_READ, "the list", options->list);
  for (uint32_t i = 0; status == HEED_OK && i < pictures->count; i++)
    status = cli_paths_add(cli, &paths, CLI_READ, "IMAGE", pictures->path[i]);
  if (status == HEED_OK) status = cli_paths_check(cli, &paths);
  cli_paths_free(&paths);
  return status;
}

static heed_status load(embed_job *job) {
  cli_state *cli = job->cli;
  embed_options *options = job->options;
  cli_pipeline *pipeline = &job->pipeline;
  pipeline->size = options->size;
  pipeline->way = options->way;
  CLI_TRY(cli_pipeline_load(cli, pipeline, options->model));
  CLI_TRY(cli_pipeline_check_images(cli, pipeline));
  CLI_TRY(cli_onnx_choose(cli, options->way, options->model, true, pipeline));
  CLI_TRY(cli_pipeline_size(cli, pipeline, options->size));
  job->features = (cli_features){.option = "--values", .names = options->values};
  pipeline->choose_taps = cli_features_choose;
  pipeline->taps_user = &job->features;
  pipeline->build.batch =
      options->batch < job->pictures->count ? options->batch : job->pictures->count;
  if (pipeline->as_graph) pipeline->build.batch = 1; /* as most files are made */
  pipeline->build.classes_only = pipeline->info.prefix_tokens > 0 && !pipeline->as_graph &&
                                 cli_features_of_classes(&job->features);
  job->waiting = calloc(pipeline->build.batch, sizeof *job->waiting);
  if (!job->waiting) return heed_fail_memory(&cli->error, "images", sizeof *job->waiting);
  return cli_choice_open(cli, &options->choice);
}

static void print_end(const embed_job *job) {
  const embed_rows *rows = &job->rows;
  const heed_model_info *info = &job->pipeline.info;
  printf("%s%s: %s, on %s, batches of %u; %u images, %.1f a second\n",
         job->options->model ? "model " : "the demo model",
         job->options->model ? CLI_SHOWN(job->options->model) : "", info->family,
         heed_backend_name(job->options->choice.opened), job->pipeline.build.batch, rows->count,
         rows->count / (now_seconds() - job->start + 1e-9));
  if (info->assumed) printf("assumed: %s\n", info->assumed);
  for (uint32_t i = 0; i < rows->column_count; i++) {
    char text[HEED_SHAPE_TEXT_SIZE];
    printf("%s: %s of each image, %s\n", embed_column_name(&rows->columns[i]),
           heed_shape_text(&rows->columns[i].shape, text), rows->columns[i].source);
  }
  printf("written: %s\n", CLI_SHOWN(job->options->out));
}

static heed_status embed(embed_job *job) {
  cli_state *cli = job->cli;
  const char *out = job->options->out;
  CLI_TRY(check_paths(cli, job->options, job->pictures));
  CLI_TRY(load(job));
  job->rows = (embed_rows){.cli = cli,
                           .path = out,
                           .format = embed_format_of(out),
                           .model = job->options->model ? job->options->model : "the demo model",
                           .family = job->pipeline.info.family};
  for (uint32_t i = 0; i < job->pictures->count; i++)
    job->rows.labels = job->rows.labels || job->pictures->label[i];
  if (job->rows.format == EMBED_TABLE) {
    CLI_TRY(go(job));
    CLI_TRY(cli_output_write(out, embed_rows_put, &job->rows, &cli->error));
  } else {
    CLI_TRY(cli_output_write(out, go_as_text, job, &cli->error));
  }
  print_end(job);
  if (cli_signals_arrived())
    fprintf(stderr, "heed embed: ended by a signal (%u of %u images are written)\n",
            job->rows.count, job->pictures->count);
  cli_signals_defer(false);
  return HEED_OK;
}

static int embed_words(cli_state *cli, embed_options *options, const cli_words *words) {
  bool has_model;
  if (cli_take_model(cli, words, options->list, &options->limits, &has_model) != HEED_OK)
    return cli_fail(cli);
  char chosen[HEED_PATH_SIZE];
  picture_list pictures = {.most = options->most_images, .classes = true};
  embed_job job = {.cli = cli, .options = options, .pictures = &pictures};
  options->model = has_model ? cli_model_file(words->word[0], options->file, chosen) : NULL;
  heed_status status = picture_list_make(cli, words->word + has_model, words->count - has_model,
                                         options->list, options->choice.quiet, &pictures);
  if (status == HEED_OK) status = embed(&job);
  cli_pipeline_close(&job.pipeline);
  cli_choice_close(&options->choice);
  for (uint32_t i = 0; job.values && i < job.rows.column_count; i++) free(job.values[i]);
  free(job.values);
  free(job.pixels);
  free(job.waiting);
  embed_rows_free(&job.rows);
  cli_features_free(&job.features);
  const uint32_t all = pictures.count;
  picture_list_free(&pictures);
  if (status != HEED_OK) return cli_fail(cli);
  if (job.failed)
    fprintf(stderr, "heed embed: images: cannot read all (found %u bad ones of %u)\n", job.failed,
            all);
  return job.failed ? CLI_BAD_FILE : CLI_OK;
}

static int run(cli_state *cli, int argc, char **argv) {
  embed_options options = {.choice = CLI_CHOICE_INIT,
                           .values = "embedding",
                           .batch = 8,
                           .most_images = CLI_MOST_PICTURES,
                           .most_patches = CLI_MOST_PATCHES,
                           .limits = {.struct_size = sizeof options.limits}};
  cli_words words;
  const cli_option table[] = {
      {"-o", CLI_TENSORS, &options.out, "OUT.npz|.npy|.safetensors|.jsonl|.json|.csv|-",
       "file for the rows (required); -: .jsonl to stdout, and text to stderr"},
      {"--values", CLI_TEXT, &options.values, "NAME,...",
       "values of each image: embedding, cls, mean, logits, attention.N or any value of the graph; "
       "* stands for any letters (default: embedding = the first of image_embeds, pooler_output, "
       "pre_logits, cls, mean)"},
      {"--batch", CLI_NUMBER, &options.batch, "N", "images that run at a time (default: 8)"},
      CLI_LIST_OPTION(options.list),
      CLI_MOST_IMAGES_OPTION(options.most_images, "100000"),
      {"--most-patches", CLI_NUMBER, &options.most_patches, "N",
       "refuse a model that cuts an image into more patches, unless --size says so (default: "
       "65536)"},
      CLI_IMAGE_OPTIONS(options.limits),
      CLI_FILE_OPTION(options.file),
      CLI_WEIGHTS_OPTIONS(cli),
      CLI_MODEL_WAY_OPTION(options.way),
      CLI_GRAPH_OPTIONS(cli),
      CLI_SIZE_OPTION(options.size),
      CLI_PREPARE_OPTIONS(cli),
      CLI_SANDBOX_OPTION(cli),
      CLI_CHOICE_OPTIONS(options.choice, CLI_BACKEND_AUTO),
      {NULL, CLI_FLAG, NULL, NULL, NULL}};
  const int code = cli_parse(
      cli,
      "embed [MODEL] [IMAGE|FOLDER...] -o OUT [options]\n\n" CLI_MODEL_OR_BUILT_IN
      "\nThere is an IMAGE, a FOLDER or --list. FOLDER stands for the pictures in it. "
      "Without such\nfiles it stands for those in the folders below, whose names are the labels. "
      "A bad image gives its\nsentence, the others go on, and the exit code is 3.",
      table, argc, argv, &words);
  if (code >= 0) return code;
  const bool model_alone =
      words.count == 1 && heed_is_model_path(words.word[0]) && !cli_is_other_folder(words.word[0]);
  if (!options.out || ((!words.count || model_alone) && !options.list)) {
    fprintf(stderr, "heed embed: wrong arguments (found no %s, expected %s)\n",
            options.out ? "images" : "-o", options.out ? "IMAGE, FOLDER or --list" : "-o OUT.npz");
    return CLI_USAGE;
  }
  if (options.batch == 0 || options.batch > MOST_BATCH) {
    fprintf(stderr, "heed embed: --batch: out of range (found %u, expected 1 to %d)\n",
            options.batch, MOST_BATCH);
    return CLI_USAGE;
  }
  return embed_words(cli, &options, &words);
}

const cli_verb cli_verb_embed = {"embed", "features of images, one row each", run};
