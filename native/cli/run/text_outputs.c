/* What heed run --text gives: a table, JSON, tensors, and two figures. */
#include <stdlib.h>
#include <string.h>

#include "terminal/json_out.h"
#include "terminal/standard_out.h"
#include "texts.h"

heed_status compare_choose(cli_state *cli, compare_job *job, const compare_options *options) {
  const heed_model_info *info = &job->text.info;
  job->layer = info->layers - 1;
  job->heads = info->heads;
  if (options->layer && strcmp(options->layer, "last") != 0 &&
      !cli_read_number(options->layer, info->layers - 1, &job->layer))
    return heed_fail(
        &cli->error, HEED_INVALID_ARGUMENT,
        "--layer: layer of the text out of range (found \"%s\", expected 0 to %u or last)",
        options->layer, info->layers - 1);
  if (!options->head || strcmp(options->head, "all") == 0) return HEED_OK;
  job->heads = 1;
  if (cli_read_number(options->head, info->heads - 1, &job->first_head)) return HEED_OK;
  return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                   "--head: head of the text out of range (found \"%s\", expected 0 to %u or all)",
                   options->head, info->heads - 1);
}

static const char *rule_text(const compare_job *job) {
  return job->text.info.biased ? "sigmoid of each text" : "softmax over the texts";
}

static float cosine_of(const compare_job *job, uint32_t i) {
  const uint32_t size = job->text.info.projection;
  return heed_cosine(job->image_embeds, job->embeds + (size_t)i * size, size);
}

static void print_table(const compare_job *job, const compare_options *options) {
  printf("%s: %s (%s)\n", CLI_SHOWN(job->picture), job->text.info.family, rule_text(job));
  if (job->text.info.assumed) printf("assumed: %s\n", job->text.info.assumed);
  for (uint32_t i = 0; i < job->count; i++)
    printf("  %.4f  %s (cosine %.4f)\n", job->probability[i], CLI_SHOWN(job->texts[i]),
           (double)cosine_of(job, i));
  if (!options->choice->quiet)
    printf("on %s %s\n", heed_backend_name(options->choice->opened),
           heed_backend_device(options->choice->opened));
}

/* ------------------------------------------------------------------------------------------ JSON
 */

/* [L][H] matrices of a text's own tokens, without the padding that it was run with. */
static void json_attention(json_out *json, const compare_job *job, uint32_t i) {
  const heed_model_info *info = &job->text.info;
  const uint32_t tokens = job->tokens, own = job->lengths[i];
  json_open(json, "attention", '[');
  for (uint32_t l = 0; l < info->layers; l++)
    for (uint32_t h = 0; h < info->heads; h++) {
      const float *map =
          (const float *)job->maps.tensor[l].data + ((size_t)i * info->heads + h) * tokens * tokens;
      json_open(json, NULL, '{');
      json_integer(json, "layer", l);
      json_integer(json, "head", h);
      json_open(json, "rows", '[');
      for (uint32_t t = 0; t < own; t++) json_floats(json, NULL, map + (size_t)t * tokens, own);
      json_close(json, ']');
      json_close(json, '}');
    }
  json_close(json, ']');
}

static void json_one(json_out *json, const compare_job *job, uint32_t i) {
  const size_t patches = (size_t)job->rows * job->columns;
  json_open(json, NULL, '{');
  json_text(json, "text", job->texts[i]);
  json_number(json, "probability", job->probability[i]);
  json_number(json, "logit", (double)job->logits[i]);
  json_number(json, "cosine", (double)cosine_of(job, i));
  json_open(json, "ids", '[');
  for (uint32_t t = 0; t < job->lengths[i]; t++)
    json_integer(json, NULL, job->ids[(size_t)i * job->tokens + t]);
  json_close(json, ']');
  json_open(json, "tokens", '[');
  for (uint32_t t = 0; t < job->lengths[i]; t++)
    json_text(json, NULL, job->names[(size_t)i * job->tokens + t]);
  json_close(json, ']');
  if (job->similarity) json_floats(json, "similarity", job->similarity + i * patches, patches);
  json_attention(json, job, i);
  json_close(json, '}');
}

typedef struct report {
  const compare_job *job;
  const compare_options *options;
} report;

static heed_status write_json(void *user, FILE *to, heed_error *error) {
  const compare_job *job = ((const report *)user)->job;
  const heed_backend *backend = ((const report *)user)->options->choice->opened;
  json_out json = {.file = to};
  (void)error; /* heed_file_stream reports writes that fail */
  json_begin(&json);
  json_text(&json, "family", job->vision.info.family);
  json_text(&json, "rules", job->vision.info.rules);
  json_text(&json, "text_rules", job->text.info.rules);
  if (job->text.info.assumed) json_text(&json, "assumed", job->text.info.assumed);
  json_text(&json, "backend", heed_backend_name(backend));
  json_text(&json, "device", heed_backend_device(backend));
  json_text(&json, "image", job->picture);
  json_text(&json, "probability", rule_text(job));
  json_open(&json, "grid", '[');
  json_integer(&json, NULL, job->rows);
  json_integer(&json, NULL, job->columns);
  json_close(&json, ']');
  json_open(&json, "texts", '[');
  for (uint32_t i = 0; i < job->count; i++) json_one(&json, job, i);
  json_close(&json, ']');
  json_close(&json, '}');
  fputc('\n', to);
  return HEED_OK;
}

/* --------------------------------------------------------------------------------------- tensors
 */

static heed_status save(cli_state *cli, const compare_job *job, const char *path) {
  const uint32_t size = job->text.info.projection;
  const heed_build_desc *build = &job->vision.build;
  const struct {
    const char *name;
    heed_dtype dtype;
    heed_shape shape;
    const void *data;
  } all[] = {{"pixel_values",
              HEED_F32,
              {4, {1, job->vision.info.channels, build->height, build->width}},
              job->pixels},
             {"input_ids", HEED_I32, {2, {job->count, job->tokens}}, job->ids},
             {"image_embeds", HEED_F32, {2, {1, size}}, job->image_embeds},
             {"text_embeds", HEED_F32, {2, {job->count, size}}, job->embeds},
             {"logits_per_image", HEED_F32, {2, {1, job->count}}, job->logits},
             {"similarity", HEED_F32, {3, {job->count, job->rows, job->columns}}, job->similarity}};
  cli_tensors tensors = {0};
  heed_status status = HEED_OK;
  for (size_t i = 0; i < sizeof all / sizeof *all && status == HEED_OK; i++)
    if (all[i].data)
      status = cli_tensors_add(&tensors, all[i].name, all[i].dtype, &all[i].shape, all[i].data,
                               &cli->error);
  for (size_t i = 0; i < job->maps.count && status == HEED_OK; i++) {
    const cli_tensor *map = &job->maps.tensor[i];
    status = cli_tensors_add(&tensors, map->name, map->dtype, &map->shape, map->data, &cli->error);
  }
  if (status == HEED_OK) status = cli_tensors_save(cli, &tensors, NULL, 0, path);
  cli_tensors_clear(&tensors);
  return status;
}

/* --------------------------------------------------------------------------------------- figures
 */

#define LABEL_SIZE 96
typedef char label[LABEL_SIZE];

/* A text's map from its lowest cosine, drawn as 0, to its highest, drawn as 1. */
static void stretch(const compare_job *job, uint32_t i, float *map, char *text) {
  const size_t patches = (size_t)job->rows * job->columns;
  const float *from = job->similarity + i * patches;
  float low = from[0], high = from[0];
  for (size_t p = 1; p < patches; p++) {
    if (from[p] < low) low = from[p];
    if (from[p] > high) high = from[p];
  }
  for (size_t p = 0; p < patches; p++) map[p] = high > low ? (from[p] - low) / (high - low) : 0.0f;
  snprintf(text, LABEL_SIZE, "%.60s: %.3f to %.3f", job->texts[i], (double)low, (double)high);
}

/* The picture beside a map for each text. */
static heed_status write_similarity(cli_state *cli, const compare_job *job,
                                    const compare_options *options, const float *maps,
                                    const char *const *labels) {
  char title[256];
  snprintf(title, sizeof title, "%.120s: similarity of each patch to each text (not attention)",
           job->picture);
  const heed_figure_desc desc = {
      .struct_size = sizeof desc,
      .image = heed_picture_view(&job->image),
      .region = job->region,
      .maps = maps,
      .layers = 1,
      .heads = job->count,
      .rows = job->rows,
      .columns = job->columns,
      .tokens = job->rows * job->columns,
      .column_labels = labels,
      .query_row = -1,
      .query_name = "similarity",
      .scale = HEED_SCALE_OWN,
      .caption = "cosine of each patch's projected state with the text; a map goes from its lowest "
                 "cosine (0) to its highest (1)",
      .title = title,
      .width_mm = options->width};
  return heed_figure_write(cli->context, &desc, options->maps, &cli->error);
}

static heed_status draw_similarity(cli_state *cli, const compare_job *job,
                                   const compare_options *options) {
  const size_t patches = (size_t)job->rows * job->columns;
  float *maps = malloc(job->count * patches * sizeof *maps);
  label *labels = calloc(job->count, sizeof *labels);
  const char **names = calloc(job->count, sizeof *names);
  heed_status status = maps && labels && names
                           ? HEED_OK
                           : heed_fail_memory(&cli->error, "--maps", job->count * patches * 4);
  for (uint32_t i = 0; status == HEED_OK && i < job->count; i++) {
    stretch(job, i, maps + i * patches, labels[i]);
    names[i] = labels[i];
  }
  if (status == HEED_OK) status = write_similarity(cli, job, options, maps, names);
  free(names);
  free(labels);
  free(maps);
  return status;
}

/* "0 <|startoftext|>, 1 a, 2 cat": what the rows and columns are; malloc'ed. */
static char *list_tokens(const compare_job *job) {
  const size_t size = (size_t)job->lengths[0] * (sizeof *job->names + 16) + 64;
  char *text = malloc(size);
  size_t at = 0;
  if (text) at += (size_t)snprintf(text, size, "rows are queries, columns are keys:");
  for (uint32_t t = 0; text && t < job->lengths[0]; t++)
    at += (size_t)snprintf(text + at, size - at, "%s %u %s", t ? "," : "", t, job->names[t]);
  return text;
}

static heed_status write_text(cli_state *cli, const compare_job *job,
                              const compare_options *options, const float *maps,
                              const uint32_t *numbers, const char *caption) {
  const uint32_t own = job->lengths[0];
  heed_picture page;
  char title[256];
  CLI_TRY(heed_picture_create(cli->context, "--text-maps", own * 16, own * 16, &page, &cli->error));
  memset(page.pixels, 255, (size_t)3 * page.width * page.height);
  snprintf(title, sizeof title, "attention of the text \"%.150s\", layer %u", job->texts[0],
           job->layer);
  const heed_figure_desc desc = {.struct_size = sizeof desc,
                                 .image = heed_picture_view(&page),
                                 .region = {0, 0, page.width, page.height},
                                 .maps = maps,
                                 .layers = 1,
                                 .heads = job->heads,
                                 .rows = own,
                                 .columns = own,
                                 .tokens = own * own,
                                 .layer_numbers = &job->layer,
                                 .head_numbers = numbers,
                                 .query_row = -1,
                                 .query_name = "tokens x tokens",
                                 .caption = caption,
                                 .title = title,
                                 .width_mm = options->width};
  const heed_status status =
      heed_figure_write(cli->context, &desc, options->text_maps, &cli->error);
  heed_picture_free(cli->context, &page);
  return status;
}

/* The first text's attention, tokens x tokens. A row is a query, and its weights are divided by the
 * number of rows, so that a map sums to 1 as the picture's do. */
static heed_status draw_text(cli_state *cli, const compare_job *job,
                             const compare_options *options) {
  const uint32_t own = job->lengths[0], tokens = job->tokens;
  const size_t map = (size_t)own * own;
  float *maps = malloc(job->heads * map * sizeof *maps);
  char *caption = list_tokens(job);
  uint32_t *numbers = calloc(job->heads, sizeof *numbers);
  heed_status status = heed_fail_memory(&cli->error, "--text-maps", job->heads * map);
  for (uint32_t h = 0; maps && numbers && h < job->heads; h++) {
    const float *from = (const float *)job->maps.tensor[job->layer].data +
                        (size_t)(job->first_head + h) * tokens * tokens;
    numbers[h] = job->first_head + h;
    for (size_t i = 0; i < map; i++)
      maps[h * map + i] = from[i / own * tokens + i % own] / (float)own;
  }
  if (maps && numbers && caption) status = write_text(cli, job, options, maps, numbers, caption);
  free(numbers);
  free(caption);
  free(maps);
  return status;
}

heed_status compare_write(cli_state *cli, const compare_job *job, const compare_options *options) {
  report content = {job, options};
  print_table(job, options);
  if (options->maps) CLI_TRY(draw_similarity(cli, job, options));
  if (options->maps) printf("similarity: %s\n", CLI_SHOWN(options->maps));
  if (options->text_maps) CLI_TRY(draw_text(cli, job, options));
  if (options->text_maps) printf("text: %s\n", CLI_SHOWN(options->text_maps));
  if (options->save) CLI_TRY(save(cli, job, options->save));
  if (options->save) printf("tensors: %s\n", CLI_SHOWN(options->save));
  if (options->json) CLI_TRY(cli_output_write(options->json, write_json, &content, &cli->error));
  if (options->json) printf("JSON: %s\n", CLI_SHOWN(options->json));
  return HEED_OK;
}
