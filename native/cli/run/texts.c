/* See compare.h. Both towers run once: the picture alone, all texts as one batch. */
#include "texts.h"

#include <stdlib.h>
#include <string.h>

#include "heed/tokenizer.h"
#include "session/embedded.h"
#include "terminal/paths.h"

/* ----------------------------------------------------------------------------------------- texts
 */

/* The ids of all texts, as long as the longest; or, where tokens attend to the padding behind them,
 * as long as any may be, so that no text's numbers depend on the others. */
static heed_status encode(cli_state *cli, compare_job *job, const heed_tokenizer *tokenizer,
                          const cli_texts *texts) {
  const heed_model_info *info = &job->text.info;
  const uint32_t bound = heed_tokenizer_get_info(tokenizer)->most,
                 most = bound && bound < info->max_length ? bound : info->max_length;
  uint32_t longest = info->text_padded || !info->causal ? most : 1;
  int32_t *rows = malloc((size_t)texts->count * most * sizeof *rows);
  job->ids = rows;
  job->lengths = calloc(texts->count, sizeof *job->lengths);
  if (!rows || !job->lengths)
    return heed_fail_memory(&cli->error, "texts", (size_t)texts->count * most * sizeof *rows);
  for (uint32_t i = 0; i < texts->count; i++) {
    const char *text = texts->word[i];
    int32_t *row = rows + (size_t)i * most;
    uint32_t count, whole;
    CLI_TRY(heed_tokenizer_encode(tokenizer, text, strlen(text), row, most, &count, &whole,
                                  &cli->error));
    if (whole > count)
      fprintf(stderr, "heed run: --text: truncated to %u of %u tokens: %s\n", count, whole,
              CLI_SHOWN(text));
    for (uint32_t t = count; t < most; t++) row[t] = heed_tokenizer_get_info(tokenizer)->padding;
    job->lengths[i] = count;
    if (count > longest) longest = count;
  }
  for (uint32_t i = 0; i < texts->count; i++)
    memmove(rows + (size_t)i * longest, rows + (size_t)i * most, longest * sizeof *rows);
  job->tokens = longest;
  return HEED_OK;
}

/* An id that the tower has no row for means that the tokenizer is another model's. */
static heed_status check_vocabulary(cli_state *cli, const compare_job *job) {
  for (size_t i = 0; i < (size_t)job->count * job->tokens; i++)
    if (job->ids[i] < 0 || (uint32_t)job->ids[i] >= job->text.info.source_vocabulary)
      return heed_fail(&cli->error, HEED_INVALID_FILE,
                       "tokenizer: it does not fit the model (found id %d, expected ids below %u)",
                       job->ids[i], job->text.info.source_vocabulary);
  return HEED_OK;
}

static heed_status name_tokens(cli_state *cli, compare_job *job, const heed_tokenizer *tokenizer) {
  const size_t count = (size_t)job->count * job->tokens;
  job->names = calloc(count, sizeof *job->names);
  if (!job->names) return heed_fail_memory(&cli->error, "texts", count * sizeof *job->names);
  for (size_t i = 0; i < count; i++)
    heed_tokenizer_text(tokenizer, job->ids[i], job->names[i], sizeof job->names[i]);
  return HEED_OK;
}

static heed_status read_texts(cli_state *cli, compare_job *job, const cli_texts *texts) {
  heed_tokenizer *tokenizer;
  job->count = texts->count;
  CLI_TRY(heed_tokenizer_open(cli->context, heed_model_files_desc(job->text.files), &tokenizer,
                              &cli->error));
  const char *assumed = heed_tokenizer_get_info(tokenizer)->assumed;
  if (assumed) fprintf(stderr, "heed run: --text: assumed: %s\n", assumed);
  heed_status status = encode(cli, job, tokenizer, texts);
  if (status == HEED_OK) status = check_vocabulary(cli, job);
  if (status == HEED_OK) status = name_tokens(cli, job, tokenizer);
  heed_tokenizer_destroy(tokenizer);
  return status;
}

static heed_status run_texts(cli_state *cli, compare_job *job, cli_choice *choice) {
  cli_pipeline *text = &job->text;
  heed_shape shape;
  heed_status status = cli_pipeline_tap_weights(cli, text);
  text->build.batch = job->count;
  text->build.source_length = job->tokens;
  if (status == HEED_OK) status = cli_pipeline_run(cli, text, choice, job->ids);
  if (status == HEED_OK)
    status = cli_text_rows(cli, text, "token_embeds", job->ids, &job->embeds, &shape);
  for (uint32_t i = 0; status == HEED_OK && i < text->info.layers; i++) {
    char name[32];
    float *map;
    status = cli_pipeline_read(cli, text, text->tap_names[i], &map, &shape);
    if (status != HEED_OK) break;
    snprintf(name, sizeof name, "text.attention.%u", i);
    status = cli_tensors_take(&job->maps, name, HEED_F32, &shape, map, &cli->error);
  }
  return status;
}

/* --------------------------------------------------------------------------------------- picture
 */

static heed_status load_picture(cli_state *cli, compare_job *job, const compare_options *options) {
  heed_preprocess preprocess = job->vision.preprocess;
  if (options->fit && strcmp(options->fit, "whole") == 0)
    heed_preprocess_fit_whole(&preprocess);
  else if (options->fit && strcmp(options->fit, "model") != 0)
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--fit: unknown area (found \"%s\", expected model or whole)", options->fit);
  const heed_embedded_file *own = &heed_embedded_picture;
  job->picture = options->picture ? options->picture : own->name;
  CLI_TRY(options->picture
              ? cli_pipeline_load_image(cli, &job->vision, options->picture, options->limits,
                                        options->choice->quiet, &job->image)
              : heed_image_decode(cli->context, own->name, own->bytes, own->size, &job->image,
                                  &cli->error));
  heed_build_desc *build = &job->vision.build;
  const heed_image view = heed_picture_view(&job->image);
  cli_prepared prepared = {0};
  CLI_TRY(cli_pipeline_prepare(cli, &job->vision, &preprocess, &view, job->picture,
                               options->size ? 0 : options->most_patches, &prepared));
  job->pixels = prepared.pixels;
  build->width = prepared.width;
  build->height = prepared.height;
  job->region = prepared.region;
  return heed_picture_show(cli->context, &job->image, &cli->error);
}

/* Each patch's cosine with each text, where the model projects its patches. */
static heed_status measure_patches(cli_state *cli, compare_job *job) {
  const heed_model_info *info = &job->vision.info;
  const uint32_t patches = job->rows * job->columns, size = info->projection;
  float *states;
  heed_shape shape;
  if (!job->vision.tap_count) return HEED_OK;
  CLI_TRY(cli_pipeline_read(cli, &job->vision, "token_embeds", &states, &shape));
  job->similarity = malloc((size_t)job->count * patches * sizeof *job->similarity);
  for (uint32_t i = 0; job->similarity && i < job->count; i++)
    for (uint32_t p = 0; p < patches; p++)
      job->similarity[(size_t)i * patches + p] = heed_cosine(
          states + ((size_t)info->prefix_tokens + p) * size, job->embeds + (size_t)i * size, size);
  free(states);
  return job->similarity ? HEED_OK
                         : heed_fail_memory(&cli->error, "similarity",
                                            (size_t)job->count * patches * sizeof(float));
}

static heed_status run_picture(cli_state *cli, compare_job *job, const compare_options *options) {
  static const char *const taps[] = {"token_embeds"};
  cli_pipeline *vision = &job->vision;
  heed_graph *graph;
  heed_shape shape;
  CLI_TRY(heed_model_build(vision->model, &vision->build, &graph, &cli->error));
  vision->tap_names = taps;
  vision->tap_count = heed_graph_find(graph, "token_embeds").id != 0;
  heed_graph_destroy(graph);
  if (options->maps && !vision->tap_count)
    return heed_fail(&cli->error, HEED_UNSUPPORTED,
                     "--maps: this model does not project its patches, so they have no similarity "
                     "to a text");
  job->rows = vision->build.height / vision->info.patch;
  job->columns = vision->build.width / vision->info.patch;
  CLI_TRY(cli_pipeline_run(cli, vision, options->choice, job->pixels));
  CLI_TRY(cli_pipeline_read(cli, vision, "image_embeds", &job->image_embeds, &shape));
  return measure_patches(cli, job);
}

static heed_status compare(cli_state *cli, compare_job *job) {
  job->logits = malloc(job->count * sizeof *job->logits);
  job->probability = malloc(job->count * sizeof *job->probability);
  if (!job->logits || !job->probability)
    return heed_fail_memory(&cli->error, "logits", job->count * sizeof *job->probability);
  heed_compare(&job->text.info, job->image_embeds, job->embeds, job->count, job->logits,
               job->probability);
  return HEED_OK;
}

/* ------------------------------------------------------------------------------------------- run
 */

static heed_status check_paths(cli_state *cli, const compare_options *options) {
  const cli_path paths[] = {{CLI_READ_MODEL, "the model's", options->model},
                            {CLI_READ, "the picture", options->picture},
                            {CLI_WRITTEN, "--maps", options->maps},
                            {CLI_WRITTEN, "--text-maps", options->text_maps},
                            {CLI_WRITTEN, "--json", options->json},
                            {CLI_WRITTEN, "--save", options->save}};
  if (options->maps) CLI_TRY(heed_figure_check(options->maps, &cli->error));
  if (options->text_maps) CLI_TRY(heed_figure_check(options->text_maps, &cli->error));
  return cli_check_paths(cli, paths, sizeof paths / sizeof *paths);
}

static heed_status load(cli_state *cli, compare_job *job, const compare_options *options) {
  CLI_TRY(cli_pipeline_load(cli, &job->vision, options->model));
  CLI_TRY(cli_pipeline_check_grid(cli, &job->vision));
  CLI_TRY(cli_pipeline_size(cli, &job->vision, options->size));
  CLI_TRY(cli_text_load(cli, &job->text, options->model));
  const uint32_t image = job->vision.info.projection, text = job->text.info.projection;
  if (image && image == text) return HEED_OK;
  return heed_fail(&cli->error, HEED_UNSUPPORTED,
                   "%s: images and texts cannot be compared (found embeddings of %u and %u "
                   "numbers, expected the same number above 0)",
                   options->model, image, text);
}

static heed_status run_towers(cli_state *cli, compare_job *job, const compare_options *options) {
  CLI_TRY(check_paths(cli, options));
  CLI_TRY(load(cli, job, options));
  CLI_TRY(compare_choose(cli, job, options));
  CLI_TRY(read_texts(cli, job, options->texts));
  CLI_TRY(load_picture(cli, job, options));
  CLI_TRY(cli_choice_open(cli, options->choice));
  CLI_TRY(run_texts(cli, job, options->choice));
  CLI_TRY(run_picture(cli, job, options));
  CLI_TRY(compare(cli, job));
  return compare_write(cli, job, options);
}

heed_status compare_run(cli_state *cli, const compare_options *options) {
  compare_job job = {.texts = options->texts->word};
  const heed_status status = run_towers(cli, &job, options);
  cli_pipeline_close(&job.vision);
  cli_pipeline_close(&job.text);
  cli_choice_close(options->choice);
  heed_picture_free(cli->context, &job.image);
  cli_tensors_clear(&job.maps);
  void *const all[] = {job.ids,    job.lengths,      job.names,      job.pixels,     job.embeds,
                       job.logits, job.image_embeds, job.similarity, job.probability};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  return status;
}
