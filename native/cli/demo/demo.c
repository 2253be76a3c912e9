/* heed demo: the demo model on drawn scenes. One scene: what it says and where the twins are; many:
 * accuracy and attention figures. */
#include <stdlib.h>
#include <string.h>

#include "heed/native.h"
#include "heed/scene_json.h"
#include "score.h"
#include "session/scene_input.h"
#include "terminal/paths.h"
#include "terminal/progress.h"
#include "terminal/standard_out.h"

typedef struct demo_options {
  cli_choice choice;
  const char *scene, *picture, *save;
  uint32_t score, seed;
  bool heads;
} demo_options;

typedef struct demo_job {
  cli_pipeline pipeline;
  score score;
  uint8_t *rgb, owner[HEED_SCENE_PATCHES];
  float *attention, *logits;
  uint32_t answer;
} demo_job;

static heed_status prepare(cli_state *cli, demo_job *job, const char *model) {
  CLI_TRY(cli_pipeline_load(cli, &job->pipeline, model));
  const heed_model_info *info = &job->pipeline.info;
  if (info->patch != HEED_SCENE_PATCH || info->image_size != HEED_SCENE_SIDE ||
      info->channels != 3 || info->classes < HEED_SCENE_SHAPES)
    return heed_fail(&cli->error, HEED_UNSUPPORTED,
                     "model: not a scene model (found %u px, patches of %u, %u classes, expected "
                     "224 px, patches of 16, 10 classes)",
                     info->image_size, info->patch, info->classes);
  CLI_TRY(score_begin(cli, info, &job->score));
  const size_t tokens = job->score.tokens,
               weights = (size_t)info->layers * info->heads * tokens * tokens;
  job->rgb = malloc(HEED_SCENE_BYTES);
  job->attention = malloc(weights * sizeof *job->attention);
  job->logits = malloc(info->classes * sizeof *job->logits);
  if (!job->rgb || !job->attention || !job->logits)
    return heed_fail_memory(&cli->error, "demo", weights * sizeof *job->attention);
  return cli_pipeline_tap_weights(cli, &job->pipeline);
}

static void finish(demo_job *job) {
  cli_pipeline_close(&job->pipeline);
  score_end(&job->score);
  free(job->rgb);
  free(job->attention);
  free(job->logits);
}

static heed_status read_value(cli_state *cli, const demo_job *job, const char *name, uint64_t count,
                              float *to) {
  return heed_session_read(job->pipeline.session, heed_graph_find(job->pipeline.graph, name), 0,
                           count, to, &cli->error);
}

/* Draws the scene, runs the model, reads logits and attention. */
static heed_status run_scene(cli_state *cli, demo_job *job, cli_choice *choice,
                             const heed_scene *scene) {
  const heed_model_info *info = &job->pipeline.info;
  const heed_image image = {job->rgb, HEED_SCENE_SIDE, HEED_SCENE_SIDE, 3, HEED_SCENE_SIDE * 3};
  const uint64_t layer = (uint64_t)info->heads * job->score.tokens * job->score.tokens;
  heed_scene_draw(scene, job->rgb, job->owner);
  CLI_TRY(cli_pipeline_run_image(cli, &job->pipeline, choice, &image, 0));
  CLI_TRY(read_value(cli, job, "logits", info->classes, job->logits));
  for (uint32_t i = 0; i < info->layers; i++)
    CLI_TRY(read_value(cli, job, job->pipeline.tap_names[i], layer, job->attention + i * layer));
  heed_top(job->logits, info->classes, 1, &job->answer, NULL);
  return HEED_OK;
}

static heed_status score_scenes(cli_state *cli, demo_job *job, demo_options *options) {
  cli_progress progress;
  heed_status status = HEED_OK;
  cli_progress_begin(&progress, options->score, options->choice.quiet);
  for (uint32_t i = 0; i < options->score; i++) {
    heed_scene scene;
    heed_scene_from_seed((uint64_t)options->seed + i, NULL, &scene);
    status = run_scene(cli, job, &options->choice, &scene);
    if (status != HEED_OK) break;
    score_add(&job->score, &scene, job->owner, job->answer, job->attention);
    cli_progress_step(&progress, (uint64_t)i + 1);
  }
  cli_progress_clear(&progress);
  CLI_TRY(status);
  printf("scenes: seeds %u to %llu, on %s (%s)\n", options->seed,
         (unsigned long long)options->seed + options->score - 1,
         heed_backend_name(options->choice.opened),
         CLI_SHOWN(heed_backend_device(options->choice.opened)));
  score_print(stdout, &job->score, options->heads);
  return HEED_OK;
}

static heed_status write_text(void *user, FILE *to, heed_error *error) {
  (void)error; /* cli_output_write reports writes that fail */
  fputs(user, to);
  return HEED_OK;
}

static heed_status show_scene(cli_state *cli, demo_job *job, demo_options *options) {
  heed_scene scene;
  scene_twins twins;
  CLI_TRY(scene_input_read(cli, options->scene, &scene));
  CLI_TRY(run_scene(cli, job, &options->choice, &scene));
  printf("prediction: %s\n", CLI_SHOWN(heed_model_label(job->pipeline.model, job->answer)));
  scene_input_twins(&scene, job->owner, &twins);
  if (!twins.present)
    printf("twins: none, so there is no right answer\n");
  else {
    printf("twins: %s\n", twins.text);
    score_add(&job->score, &scene, job->owner, job->answer, job->attention);
    const uint32_t head = score_best_twin_head(&job->score);
    printf("attention from twin to twin: layer %u head %u, %.1f x uniform\n",
           head / job->score.heads, head % job->score.heads, job->score.head[head].times);
  }
  if (options->picture) {
    CLI_TRY(
        heed_png_write(options->picture, job->rgb, HEED_SCENE_SIDE, HEED_SCENE_SIDE, &cli->error));
    printf("image: %s\n", CLI_SHOWN(options->picture));
  }
  if (!options->save) return HEED_OK;
  char text[HEED_SCENE_TEXT_SIZE];
  heed_scene_text(&scene, text);
  CLI_TRY(cli_output_write(options->save, write_text, text, &cli->error));
  printf("scene: %s\n", CLI_SHOWN(options->save));
  return HEED_OK;
}

static int run(cli_state *cli, int argc, char **argv) {
  demo_options options = {.choice = CLI_CHOICE_INIT, .scene = "159", .seed = 1};
  cli_words words;
  const cli_option table[] = {
      CLI_WEIGHTS_OPTIONS(cli),
      {"--scene", CLI_TEXT, &options.scene, "SEED|FILE.json", "scene to show (default: 159)"},
      {"--picture", CLI_PNG, &options.picture, "OUT.png", "write the scene as an image"},
      {"--save", CLI_JSON, &options.save, "OUT.json",
       "write the scene as JSON, to be edited and read again"},
      {"--score", CLI_NUMBER, &options.score, "N",
       "run N scenes and print accuracy and attention statistics"},
      {"--seed", CLI_NUMBER, &options.seed, "S",
       "seed of the first scene; the others follow (default: 1)"},
      {"--heads", CLI_FLAG, &options.heads, NULL,
       "with --score: print the statistics of every head"},
      CLI_CHOICE_OPTIONS(options.choice, CLI_BACKEND_AUTO),
      {NULL, CLI_FLAG, NULL, NULL, NULL}};
  const int code =
      cli_parse(cli, "demo [MODEL] [options]\n\n" CLI_MODEL_OR_BUILT_IN, table, argc, argv, &words);
  if (code >= 0) return code;
  if (words.count > 1) {
    fprintf(stderr, "heed demo: too many arguments (found %u, expected at most one MODEL)\n",
            words.count);
    return CLI_USAGE;
  }
  demo_job job = {0};
  const char *model = words.count ? words.word[0] : NULL,
             *scene = scene_input_is_seed(options.scene) ? NULL : options.scene;
  const cli_path paths[] = {{CLI_READ_MODEL, "the model's", model},
                            {CLI_READ, "the scene", scene},
                            {CLI_WRITTEN, "--picture", options.picture},
                            {CLI_WRITTEN, "--save", options.save}};
  heed_status status = cli_check_paths(cli, paths, sizeof paths / sizeof *paths);
  if (status == HEED_OK) status = prepare(cli, &job, model);
  if (status == HEED_OK) status = cli_choice_open(cli, &options.choice);
  if (status == HEED_OK)
    status = options.score ? score_scenes(cli, &job, &options) : show_scene(cli, &job, &options);
  finish(&job);
  cli_choice_close(&options.choice);
  return status == HEED_OK ? CLI_OK : cli_fail(cli);
}

const cli_verb cli_verb_demo = {"demo", "run the demo model on generated scenes", run};
