/* heed compare: two models of one shape on the same pictures or scenes, or one model on two
 * backends: differences of logits, of every head's map and, when asked, of rollouts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "session/pipeline.h"
#include "session/scene_input.h"
#include "terminal/json_out.h"
#include "terminal/options.h"
#include "terminal/paths.h"
#include "terminal/picture_list.h"
#include "terminal/progress.h"
#include "terminal/standard_out.h"

typedef struct models_options {
  cli_choice choice[2];
  const char *model[2], *json, *size, *list;
  uint32_t scenes, seed, most_images;
  heed_image_limits limits;
  bool rollout;
} models_options;

/* What the maps of one head differ by. Divergence is Jensen and Shannon's of two rows, in bits. */
typedef struct head_difference {
  double largest, sum, divergence, largest_divergence;
} head_difference;

typedef struct models_job {
  cli_state *cli;
  models_options *options;
  picture_list images;
  cli_pipeline side[2];
  head_difference *heads; /* [layers, heads] */
  head_difference rollout;
  float *means[2]; /* of each side, over heads: [layers, N, N] */
  double largest_logit, logit_sum;
  uint32_t pictures, tokens, agreed;
  cli_progress progress;
  uint64_t over; /* pictures with a weight that differs by more than 0.1 */
} models_job;

/* ------------------------------------------------------------------------------------ difference
 */

/* Of two rows that each sum to 1; a weight of 0 adds nothing. */
static double divergence(const float *a, const float *b, size_t count) {
  double sum = 0.0;
  for (size_t i = 0; i < count; i++) {
    const double x = (double)a[i], y = (double)b[i], middle = 0.5 * (x + y);
    if (x > 0.0) sum += 0.5 * x * log2(x / middle);
    if (y > 0.0) sum += 0.5 * y * log2(y / middle);
  }
  return sum > 0.0 ? sum : 0.0;
}

static double add_map(head_difference *head, const float *a, const float *b, uint32_t tokens) {
  double largest = 0.0;
  for (uint32_t row = 0; row < tokens; row++, a += tokens, b += tokens) {
    const double d = divergence(a, b, tokens);
    head->divergence += d;
    if (d > head->largest_divergence) head->largest_divergence = d;
    for (uint32_t i = 0; i < tokens; i++) {
      const double difference = fabs((double)a[i] - (double)b[i]);
      head->sum += difference;
      if (difference > largest) largest = difference;
    }
  }
  if (largest > head->largest) head->largest = largest;
  return largest;
}

static heed_status add_layer(models_job *job, uint32_t layer, double *largest) {
  const uint32_t heads = job->side[0].info.heads;
  float *map[2] = {NULL, NULL};
  heed_shape shape = {0};
  heed_status status = HEED_OK;
  for (int s = 0; s < 2 && status == HEED_OK; s++)
    status =
        cli_pipeline_read(job->cli, &job->side[s], job->side[s].tap_names[layer], &map[s], &shape);
  job->tokens = shape.dim[3];
  const size_t size = (size_t)job->tokens * job->tokens;
  for (int s = 0; job->options->rollout && s < 2 && status == HEED_OK; s++) {
    if (!job->means[s]) job->means[s] = malloc(job->side[s].info.layers * size * sizeof(float));
    if (job->means[s])
      heed_map_head_mean(map[s], heads, job->tokens, job->means[s] + layer * size);
    else
      status = heed_fail_memory(&job->cli->error, "rollout", size * sizeof(float));
  }
  for (uint32_t h = 0; status == HEED_OK && h < heads; h++) {
    const double most =
        add_map(&job->heads[layer * heads + h], map[0] + h * size, map[1] + h * size, job->tokens);
    if (most > *largest) *largest = most;
  }
  free(map[0]);
  free(map[1]);
  return status;
}

/* Of means over heads, which is what rollout takes of them by default. */
static heed_status add_rollout(models_job *job) {
  const size_t size = (size_t)job->tokens * job->tokens;
  const heed_rollout_desc desc = {.struct_size = sizeof desc,
                                  .layers = job->side[0].info.layers,
                                  .heads = 1,
                                  .tokens = job->tokens};
  float *rollout = malloc(2 * size * sizeof *rollout);
  heed_status status =
      rollout ? HEED_OK : heed_fail_memory(&job->cli->error, "rollout", 2 * size * sizeof *rollout);
  for (int s = 0; s < 2 && status == HEED_OK; s++)
    status = heed_map_rollout(job->cli->context, &desc, job->means[s], rollout + (s ? size : 0),
                              &job->cli->error);
  if (status == HEED_OK) add_map(&job->rollout, rollout, rollout + size, job->tokens);
  free(rollout);
  for (int s = 0; s < 2; s++) { /* the next picture may have another size */
    free(job->means[s]);
    job->means[s] = NULL;
  }
  return status;
}

static heed_status add_logits(models_job *job) {
  const uint32_t classes = job->side[0].info.classes;
  float *logits[2] = {NULL, NULL};
  uint32_t top[2] = {0, 0};
  heed_shape shape;
  heed_status status = HEED_OK;
  if (!classes) return HEED_OK;
  for (int s = 0; s < 2 && status == HEED_OK; s++) {
    status = cli_pipeline_read(job->cli, &job->side[s], "logits", &logits[s], &shape);
    if (status == HEED_OK) heed_top(logits[s], classes, 1, &top[s], NULL);
  }
  for (uint32_t i = 0; status == HEED_OK && i < classes; i++) {
    const double difference = fabs((double)logits[0][i] - (double)logits[1][i]);
    job->logit_sum += difference;
    if (difference > job->largest_logit) job->largest_logit = difference;
  }
  job->agreed += status == HEED_OK && top[0] == top[1];
  free(logits[0]);
  free(logits[1]);
  return status;
}

/* ----------------------------------------------------------------------------------------- input
 */

static heed_status compare_image(void *user, const heed_image *image) {
  models_job *job = user;
  double largest = 0.0;
  for (int s = 0; s < 2; s++)
    CLI_TRY(cli_pipeline_run_image(job->cli, &job->side[s], &job->options->choice[s], image,
                                   job->options->size ? 0 : CLI_MOST_PATCHES));
  for (uint32_t layer = 0; layer < job->side[0].info.layers; layer++)
    CLI_TRY(add_layer(job, layer, &largest));
  if (job->options->rollout) CLI_TRY(add_rollout(job));
  job->pictures++;
  cli_progress_step(&job->progress, job->pictures);
  job->over += largest > 0.1;
  return add_logits(job);
}

static heed_status compare_pictures(models_job *job) {
  for (uint32_t i = 0; i < job->images.count; i++) {
    const char *path = job->images.path[i];
    heed_picture picture = {0};
    CLI_TRY(cli_pipeline_load_image(job->cli, &job->side[0], path, &job->options->limits,
                                    job->options->choice[0].quiet, &picture));
    const heed_image view = heed_picture_view(&picture);
    for (int s = 0; s < 2; s++) job->side[s].picture = path;
    const heed_status status = compare_image(job, &view);
    heed_picture_free(job->cli->context, &picture);
    CLI_TRY(status);
  }
  return HEED_OK;
}

/* --------------------------------------------------------------------------------------- results
 */

/* Means over pictures, rows and weights, as they are printed. */
typedef struct means {
  double weight, divergence;
} means;

static means head_means(const models_job *job, const head_difference *head) {
  const double rows = (double)job->pictures * job->tokens;
  const means m = {head->sum / (rows * job->tokens), head->divergence / rows};
  return m;
}

static void print_table(const models_job *job) {
  const heed_model_info *info = &job->side[0].info;
  means all = {0.0, 0.0};
  double largest = 0.0;
  printf("%5s %4s  %-10s %-10s %-10s %-10s\n", "layer", "head", "largest", "mean", "JS mean",
         "JS largest");
  for (uint32_t i = 0; i < info->layers * info->heads; i++) {
    const head_difference *head = &job->heads[i];
    const means m = head_means(job, head);
    printf("%5u %4u  %-10.3g %-10.3g %-10.3g %-10.3g\n", i / info->heads, i % info->heads,
           head->largest, m.weight, m.divergence, head->largest_divergence);
    all.weight += m.weight / (info->layers * info->heads);
    all.divergence += m.divergence / (info->layers * info->heads);
    if (head->largest > largest) largest = head->largest;
  }
  printf("maps: largest difference of a weight %.4g, mean %.4g, mean divergence %.4g bits\n",
         largest, all.weight, all.divergence);
  if (job->options->rollout) {
    const means rollout = head_means(job, &job->rollout);
    printf("rollout: largest difference of a weight %.4g, mean %.4g, mean divergence %.4g bits\n",
           job->rollout.largest, rollout.weight, rollout.divergence);
  }
  printf("pictures with a difference above 0.1: %llu of %u\n", (unsigned long long)job->over,
         job->pictures);
  if (!info->classes) return;
  printf("logits: largest difference %.4g, mean %.4g\n", job->largest_logit,
         job->logit_sum / ((double)job->pictures * info->classes));
  printf("top-1 agreement: %u of %u\n", job->agreed, job->pictures);
}

/* The members of an object that is open, and its end. */
static void write_difference(json_out *json, const models_job *job, const head_difference *of) {
  const means m = head_means(job, of);
  json_number(json, "largest", of->largest);
  json_number(json, "mean", m.weight);
  json_number(json, "divergence_mean", m.divergence);
  json_number(json, "divergence_largest", of->largest_divergence);
  json_close(json, '}');
}

static heed_status write_json(void *user, FILE *to, heed_error *error) {
  const models_job *job = user;
  const heed_model_info *info = &job->side[0].info;
  json_out json = {.file = to};
  (void)error;
  json_begin(&json);
  json_text(&json, "model_a", job->options->model[0]);
  json_text(&json, "model_b", job->options->model[1]);
  json_text(&json, "backend_a", heed_backend_device(job->options->choice[0].opened));
  json_text(&json, "backend_b", heed_backend_device(job->options->choice[1].opened));
  json_integer(&json, "pictures", job->pictures);
  json_integer(&json, "pictures_above_0.1", (int64_t)job->over);
  if (info->classes) {
    json_open(&json, "logits", '{');
    json_number(&json, "largest", job->largest_logit);
    json_number(&json, "mean", job->logit_sum / ((double)job->pictures * info->classes));
    json_close(&json, '}');
    json_integer(&json, "top1_agreed", job->agreed);
  }
  if (job->options->rollout) {
    json_open(&json, "rollout", '{');
    write_difference(&json, job, &job->rollout);
  }
  json_open(&json, "heads", '[');
  for (uint32_t i = 0; i < info->layers * info->heads; i++) {
    json_open(&json, NULL, '{');
    json_integer(&json, "layer", i / info->heads);
    json_integer(&json, "head", i % info->heads);
    write_difference(&json, job, &job->heads[i]);
  }
  json_close(&json, ']');
  json_close(&json, '}');
  fputc('\n', to);
  return HEED_OK;
}

/* ------------------------------------------------------------------------------------------ verb
 */

static heed_status check_same_shape(models_job *job) {
  const heed_model_info *a = &job->side[0].info, *b = &job->side[1].info;
  if (a->layers == b->layers && a->heads == b->heads && a->patch == b->patch &&
      a->image_size == b->image_size && a->prefix_tokens == b->prefix_tokens &&
      a->channels == b->channels && a->classes == b->classes)
    return HEED_OK;
  return heed_fail(&job->cli->error, HEED_UNSUPPORTED,
                   "%s: another shape than %s (found %u layers of %u heads, %u px, patches of %u, "
                   "%u classes, expected %u layers of %u heads, %u px, patches of %u, %u classes)",
                   job->options->model[1], job->options->model[0], b->layers, b->heads,
                   b->image_size, b->patch, b->classes, a->layers, a->heads, a->image_size,
                   a->patch, a->classes);
}

static heed_status load(models_job *job) {
  const heed_model_info *info = &job->side[0].info;
  for (int s = 0; s < 2; s++) {
    CLI_TRY(cli_pipeline_load(job->cli, &job->side[s], job->options->model[s]));
    CLI_TRY(cli_pipeline_check_grid(job->cli, &job->side[s]));
    CLI_TRY(cli_pipeline_size(job->cli, &job->side[s], job->options->size));
  }
  CLI_TRY(check_same_shape(job));
  const size_t heads = (size_t)info->layers * info->heads;
  job->heads = calloc(heads, sizeof *job->heads);
  if (!job->heads) return heed_fail_memory(&job->cli->error, "compare", heads * sizeof *job->heads);
  for (int s = 0; s < 2; s++) {
    CLI_TRY(cli_pipeline_tap_weights(job->cli, &job->side[s]));
    CLI_TRY(cli_choice_open(job->cli, &job->options->choice[s]));
  }
  return HEED_OK;
}

static heed_status check_paths(const models_job *job) {
  const models_options *options = job->options;
  cli_paths paths = {0};
  heed_status status =
      cli_paths_add(job->cli, &paths, CLI_READ_MODEL, "MODEL_A", options->model[0]);
  if (status == HEED_OK)
    status = cli_paths_add(job->cli, &paths, CLI_READ_MODEL, "MODEL_B", options->model[1]);
  if (status == HEED_OK)
    status = cli_paths_add(job->cli, &paths, CLI_WRITTEN, "--json", options->json);
  for (uint32_t i = 0; status == HEED_OK && i < job->images.count; i++)
    status = cli_paths_add(job->cli, &paths, CLI_READ, "IMAGE", job->images.path[i]);
  if (status == HEED_OK) status = cli_paths_check(job->cli, &paths);
  cli_paths_free(&paths);
  return status;
}

static heed_status compare(models_job *job, const cli_words *words) {
  const models_options *options = job->options;
  CLI_TRY(picture_list_make(job->cli, words->word + 2, words->count - 2, options->list,
                            options->choice[0].quiet, &job->images));
  CLI_TRY(check_paths(job));
  CLI_TRY(load(job));
  cli_progress_begin(&job->progress, (uint64_t)job->images.count + options->scenes,
                     options->choice[0].quiet);
  heed_status status = compare_pictures(job);
  if (status == HEED_OK)
    status = scene_input_each(job->cli, options->seed, options->scenes, compare_image, job);
  cli_progress_clear(&job->progress);
  CLI_TRY(status);
  print_table(job);
  return options->json ? cli_output_write(options->json, write_json, job, &job->cli->error)
                       : HEED_OK;
}

static int run(cli_state *cli, int argc, char **argv) {
  models_options options = {.choice = {CLI_CHOICE_INIT, CLI_CHOICE_INIT},
                            .seed = 1,
                            .most_images = CLI_MOST_PICTURES,
                            .limits = {.struct_size = sizeof options.limits}};
  const char *backend_b = NULL, *simd_b = NULL;
  cli_words words;
  options.choice[0].backend = "cpu";
  const cli_option table[] = {
      CLI_WEIGHTS_OPTIONS(cli),
      {"--json", CLI_JSON, &options.json, "OUT.json", "write the differences as JSON"},
      {"--list", CLI_TEXT, &options.list, "FILE",
       "more images: a path a line, from the current folder; - reads stdin"},
      {"--most-images", CLI_NUMBER, &options.most_images, "N",
       "refuse more images than this (default: 100000)"},
      {"--scenes", CLI_NUMBER, &options.scenes, "N", "compare on N generated scenes, too"},
      {"--seed", CLI_NUMBER, &options.seed, "S", "seed of the first scene (default: 1)"},
      CLI_SIZE_OPTION(options.size),
      CLI_PREPARE_OPTIONS(cli),
      CLI_IMAGE_OPTIONS(options.limits),
      {"--rollout", CLI_FLAG, &options.rollout, NULL,
       "compare rollouts, too: the time grows with the cube of the tokens"},
      {"--backend-b", CLI_TEXT, &backend_b, "auto|vulkan|cpu",
       "backend of MODEL_B (default: that of MODEL_A)"},
      {"--simd-b", CLI_TEXT, &simd_b, "LEVEL", "CPU kernels of MODEL_B"},
      CLI_CHOICE_OPTIONS(options.choice[0], CLI_BACKEND_CPU),
      {NULL, CLI_FLAG, NULL, NULL, NULL}};
  const int code =
      cli_parse(cli,
                "compare MODEL_A MODEL_B [IMAGE|FOLDER...] [options]\n\nThe models have "
                "one shape: a model and its int8 folder, two checkpoints.\n"
                "There are images (IMAGE, FOLDER, --list) or --scenes N. FOLDER "
                "stands for the image files in it.",
                table, argc, argv, &words);
  if (code >= 0) return code;
  if (words.count < 2 || (words.count == 2 && !options.list && !options.scenes)) {
    fprintf(stderr,
            "heed compare: too few arguments (found %u, expected MODEL_A MODEL_B and "
            "images, --list or --scenes N)\n",
            words.count);
    return CLI_USAGE;
  }
  options.choice[1] = options.choice[0];
  if (backend_b) options.choice[1].backend = backend_b;
  if (simd_b) options.choice[1].simd = simd_b;
  for (int s = 0; s < 2; s++) options.model[s] = words.word[s];
  models_job job = {.cli = cli, .options = &options, .images = {.most = options.most_images}};
  const heed_status status = compare(&job, &words);
  for (int s = 0; s < 2; s++) {
    cli_pipeline_close(&job.side[s]);
    cli_choice_close(&options.choice[s]);
  }
  picture_list_free(&job.images);
  free(job.heads);
  free(job.means[0]);
  free(job.means[1]);
  return status == HEED_OK ? CLI_OK : cli_fail(cli);
}

const cli_verb cli_verb_compare = {"compare", "differences of two models on the same pictures",
                                   run};
