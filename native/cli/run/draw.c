/* heed run's pictures: the query's maps of layers x heads, and its rollout, over the picture. */
#include <stdlib.h>
#include <string.h>

#include "explained.h"
#include "files/names.h"
#include "parts.h"

/* Maps and prefix masses of the selection, copied from the rows that ran. */
typedef struct drawing {
  float *maps, *prefix; /* [layers, heads, patches], [layers, heads] */
  float *mean;          /* [N] of all of them */
  char note[HEED_MAP_ELSEWHERE_SIZE];
  uint32_t *layers, *numbers; /* of the rows and columns */
  const char **label;         /* of the columns where a number is not enough */
  uint32_t heads;
} drawing;

static void free_drawing(drawing *d) {
  free(d->maps);
  free(d->prefix);
  free(d->mean);
  free(d->layers);
  free(d->numbers);
  free(d->label);
}

static heed_status alloc_drawing(cli_state *cli, drawing *d, uint32_t layers, uint32_t heads,
                                 uint32_t tokens, uint32_t prefix) {
  const size_t count = (size_t)layers * heads, patches = tokens - prefix;
  *d = (drawing){.maps = calloc(count * patches, sizeof(float)),
                 .prefix = calloc(count, sizeof(float)),
                 .mean = calloc(tokens, sizeof(float)),
                 .layers = malloc(layers * sizeof(uint32_t)),
                 .numbers = calloc(heads, sizeof *d->numbers),
                 .label = calloc(heads, sizeof *d->label),
                 .heads = heads};
  if (d->maps && d->prefix && d->mean && d->layers && d->numbers && d->label) return HEED_OK;
  free_drawing(d);
  return heed_fail_memory(&cli->error, "maps", count * patches * sizeof(float));
}

/* The grid of a figure's cell. */
static uint32_t figure_columns(const run_result *result) {
  return result->columns * (result->across ? result->across : 1);
}

static uint32_t figure_rows(const run_result *result) {
  return result->across ? result->rows * (result->frames / result->across) : result->rows;
}

/* Adds one row of N weights, times `share`, to map (l, h), and to the sum of all. */
static void add_row(drawing *d, const run_result *result, uint32_t prefix, uint32_t l, uint32_t h,
                    const float *row, float share) {
  const size_t at = (size_t)l * d->heads + h, patches = result->tokens - prefix;
  for (uint32_t i = 0; i < result->tokens; i++) d->mean[i] += share * row[i];
  for (uint32_t i = 0; i < prefix; i++) d->prefix[at] += share * row[i];
  for (uint32_t i = 0; i < patches; i++) {
    uint32_t r, c;
    run_cell(result, i, &r, &c);
    d->maps[at * patches + r * figure_columns(result) + c] += share * row[prefix + i];
  }
}

/* The words of a figure. */
typedef struct words {
  char title[384], query[64];
  char *caption, *provenance; /* malloc'ed */
} words;

static void free_words(words *w) {
  free(w->caption);
  free(w->provenance);
}

/* "star, 99.9 %", or nothing. */
static void answer_text(const cli_pipeline *pipeline, const run_result *result, char text[160]) {
  uint32_t index;
  double probability;
  text[0] = '\0';
  if (!result->logits || !pipeline->model || !pipeline->info.classes) return;
  run_top(pipeline, result->logits, 1, &index, &probability);
  snprintf(text, 160, "%.100s, %.1f %%", heed_model_label(pipeline->model, index),
           100.0 * probability);
}

static void model_text(const cli_pipeline *pipeline, const run_options *options,
                       const run_result *result, char text[320]) {
  const heed_model_info *info = &pipeline->info;
  const char *name = !pipeline->model ? (result->from ? result->from : "maps from a file")
                     : options->model ? heed_last_name(options->model)
                                      : "the demo model";
  char steps[48] = "";
  if (result->frames > 1)
    snprintf(steps, sizeof steps, ", %u time steps side by side", result->frames);
  snprintf(text, 320, "%.200s (%s%s%u layers, %u heads, %u tokens%s)", name,
           pipeline->model ? info->family : "", pipeline->model ? ", " : "", info->layers,
           info->heads, result->tokens, steps);
}

/* What stands beside the query's mark. */
static void query_text(const heed_model_info *info, const run_result *result,
                       const run_selection *selection, char text[64]) {
  const char *role = result->columns_of_query ? "key" : "query";
  if (selection->pool)
    snprintf(text, 64, "%s: probe", role);
  else if (selection->query_row < 0)
    snprintf(text, 64, "%s: %s", role, info->token_names[selection->query]);
  else if (selection->query_frame >= 0)
    snprintf(text, 64, "%s (%d, %d, %d)", role, selection->query_frame, selection->query_row,
             selection->query_column);
  else
    snprintf(text, 64, "%s (%d, %d)", role, selection->query_row, selection->query_column);
}

/* caption: model, answer, changes, version. provenance: the same and what the title says, and the
 * backend. Statuses: OUT_OF_MEMORY. */
static heed_status write_words(cli_state *cli, const cli_pipeline *pipeline,
                               const run_options *options, const run_result *result,
                               const run_selection *selection, words *w) {
  char model[320], answer[160];
  char *changes = cli_changes_text(&options->changes);
  const size_t size = 1536 + (changes ? strlen(changes) : 0);
  w->caption = malloc(size);
  w->provenance = malloc(size);
  if (changes && w->caption && w->provenance) {
    model_text(pipeline, options, result, model);
    answer_text(pipeline, result, answer);
    query_text(&pipeline->info, result, selection, w->query);
    const char *before = *answer ? "; prediction: " : "";
    snprintf(w->caption, size, "%s%s%s%s%s; heed %s", model, before, answer,
             *changes ? "; changed: " : "", changes, heed_version());
    snprintf(w->provenance, size, "%s; %s%s%s%s%s%s%s; heed %s", w->title, model, before, answer,
             *changes ? "; changed: " : "", changes, options->choice.opened ? "; on " : "",
             options->choice.opened ? heed_backend_name(options->choice.opened) : "",
             heed_version());
  }
  const bool made = changes && w->caption && w->provenance;
  free(changes);
  if (made) return HEED_OK;
  free_words(w);
  return heed_fail_memory(&cli->error, "figure", size);
}

static heed_status draw(cli_state *cli, const cli_pipeline *pipeline, const run_options *options,
                        const run_result *result, const run_selection *selection, drawing *d,
                        uint32_t layers, words *w, const char *path) {
  CLI_TRY(write_words(cli, pipeline, options, result, selection, w));
  uint32_t row = 0, column = 0;
  const bool marked = !selection->pool && selection->query_row >= 0;
  if (marked) run_cell(result, selection->query - pipeline->info.prefix_tokens, &row, &column);
  const heed_figure_desc desc = {.struct_size = sizeof desc,
                                 .image = heed_picture_view(&result->image),
                                 .region = result->region,
                                 .maps = d->maps,
                                 .prefix_mass = pipeline->info.prefix_tokens ? d->prefix : NULL,
                                 .prefix_name = run_prefix_text(&pipeline->info),
                                 .layers = layers,
                                 .heads = d->heads,
                                 .rows = figure_rows(result),
                                 .columns = figure_columns(result),
                                 .tokens = result->tokens,
                                 .layer_numbers = d->layers,
                                 .column_labels = d->label,
                                 .query_row = marked ? (int32_t)row : -1,
                                 .query_column = marked ? (int32_t)column : -1,
                                 .caption = w->caption,
                                 .scale = selection->scale,
                                 .end = selection->end,
                                 .note = d->note,
                                 .head_numbers = d->numbers,
                                 .title = w->title,
                                 .query_name = w->query,
                                 .provenance = w->provenance,
                                 .width_mm = options->width,
                                 .plain = options->plain};
  const heed_status status = heed_figure_write(cli->context, &desc, path, &cli->error);
  free_words(w);
  return status;
}

heed_status run_check_figures(cli_state *cli, const run_options *options) {
  if (options->maps) CLI_TRY(heed_figure_check(options->maps, &cli->error));
  if (options->rollout) CLI_TRY(heed_figure_check(options->rollout, &cli->error));
  if (options->sheet) CLI_TRY(heed_figure_check(options->sheet, &cli->error));
  if (options->explained) CLI_TRY(heed_figure_check(options->explained, &cli->error));
  if (options->width == 0 || (options->width >= 60 && options->width <= 1000)) return HEED_OK;
  return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                   "--width: width out of range (found %u, expected 60 to 1000 millimetres)",
                   options->width);
}

static void maps_title(const heed_model_info *info, const run_result *result,
                       const run_selection *selection, const drawing *d, char title[384]) {
  char query[48], layers[64], heads[64];
  run_query_text(info, selection, query);
  if (selection->pool)
    snprintf(layers, sizeof layers, "pool");
  else if (selection->layer_count == 1)
    snprintf(layers, sizeof layers, "layer %u", d->layers[0]);
  else
    snprintf(layers, sizeof layers, "layers %u to %u", d->layers[0],
             d->layers[selection->layer_count - 1]);
  if (selection->head_mean)
    snprintf(heads, sizeof heads, "mean of %u heads", selection->head_count);
  else if (selection->head_count == 1)
    snprintf(heads, sizeof heads, "head %u", selection->first_head);
  else
    snprintf(heads, sizeof heads, "%u heads", selection->head_count);
  snprintf(title, 384, "%.120s: attention %s %s, %s, %s", heed_last_name(result->picture),
           result->columns_of_query ? "received by" : "from", query, layers, heads);
}

heed_status run_draw_maps(cli_state *cli, const cli_pipeline *pipeline, const run_options *options,
                          const run_result *result, const run_selection *selection,
                          const char *path) {
  const heed_model_info *info = &pipeline->info;
  const uint32_t layers = selection->layer_count,
                 heads = selection->head_mean ? 1 : selection->head_count;
  drawing d;
  words w;
  CLI_TRY(alloc_drawing(cli, &d, layers, heads, result->tokens, info->prefix_tokens));
  for (uint32_t l = 0; l < layers; l++) {
    d.layers[l] = selection->first_layer + l;
    for (uint32_t h = 0; h < selection->head_count; h++)
      add_row(&d, result, info->prefix_tokens, l, selection->head_mean ? 0 : h,
              run_row(result, selection, info->heads, d.layers[l], selection->first_head + h),
              selection->head_mean ? 1.0f / (float)selection->head_count : 1.0f);
  }
  for (uint32_t h = 0; h < heads; h++) d.numbers[h] = selection->first_head + h;
  if (selection->head_mean) d.label[0] = "mean of the heads";
  if (selection->pool && heads == 1 && !selection->head_mean) d.label[0] = "pool";
  heed_map_elsewhere(d.mean, result->tokens, info->prefix_tokens, info->token_names,
                     selection->query,
                     result->columns_of_query ? HEED_ROW_COLUMN : HEED_ROW_ATTENTION, d.note);
  maps_title(info, result, selection, &d, w.title);
  const heed_status status = draw(cli, pipeline, options, result, selection, &d, layers, &w, path);
  free_drawing(&d);
  return status;
}

heed_status run_draw_rollout(cli_state *cli, const cli_pipeline *pipeline,
                             const run_options *options, const run_result *result,
                             const run_selection *selection, const char *path) {
  const heed_model_info *info = &pipeline->info;
  drawing d;
  words w;
  char query[48];
  CLI_TRY(alloc_drawing(cli, &d, 1, 1, result->tokens, info->prefix_tokens));
  d.layers[0] = info->layers - 1;
  add_row(&d, result, info->prefix_tokens, 0, 0,
          selection->pool ? result->pool_rollout : result->rollout_row, 1.0f);
  heed_map_elsewhere(d.mean, result->tokens, info->prefix_tokens, info->token_names,
                     selection->query, HEED_ROW_ROLLOUT, d.note);
  d.label[0] = "rollout";
  run_query_text(info, selection, query);
  snprintf(w.title, sizeof w.title, "%.80s: attention rollout from %s %s",
           heed_last_name(result->picture), query, result->rollout_words);
  const heed_status status = draw(cli, pipeline, options, result, selection, &d, 1, &w, path);
  free_drawing(&d);
  return status;
}

static heed_status draw_colours(cli_state *cli, const run_options *options,
                                const run_result *result, const run_selection *selection,
                                const run_explained_figure *figure, const char *const *labels,
                                const words *w, const char *caption, const char *path) {
  const run_selection *marked = figure->of_query ? selection : NULL;
  const heed_figure_desc desc = {.struct_size = sizeof desc,
                                 .image = heed_picture_view(&result->image),
                                 .region = result->region,
                                 .rgb = figure->rgb,
                                 .layers = figure->rows,
                                 .heads = figure->columns,
                                 .rows = result->rows,
                                 .columns = result->columns,
                                 .tokens = result->tokens,
                                 .column_labels = labels,
                                 .query_row = marked ? marked->query_row : -1,
                                 .query_column = marked ? marked->query_column : -1,
                                 .query_name = marked ? w->query : "",
                                 .caption = caption,
                                 .title = w->title,
                                 .provenance = w->provenance,
                                 .width_mm = options->width,
                                 .plain = options->plain};
  return heed_figure_write(cli->context, &desc, path, &cli->error);
}

/* Names of columns: none of one, "level 2", or NULL for heads by their numbers. The caller frees
 * both. */
static bool name_columns(const run_explained_figure *figure, const char ***labels,
                         char (**text)[24]) {
  *labels = NULL;
  *text = NULL;
  if (figure->columns > 1 && !figure->levels) return true;
  *labels = calloc(figure->columns, sizeof **labels);
  *text = calloc(figure->columns, sizeof **text);
  for (uint32_t i = 0; *labels && *text && i < figure->columns; i++) {
    if (figure->levels) snprintf((*text)[i], sizeof **text, "level %u", i);
    (*labels)[i] = (*text)[i];
  }
  return *labels && *text;
}

heed_status run_draw_explained(cli_state *cli, const cli_pipeline *pipeline,
                               const run_options *options, const run_result *result,
                               const run_selection *selection, uint32_t method, const char *path) {
  char query[48], (*text)[24] = NULL;
  const char **labels = NULL;
  words w;
  run_explained_figure figure;
  run_query_text(&pipeline->info, selection, query);
  CLI_TRY(run_explained_draw(cli, options, result->explained, method, query, &figure));
  snprintf(w.title, sizeof w.title, "%.120s: %s", heed_last_name(result->picture), figure.title);
  heed_status status = write_words(cli, pipeline, options, result, selection, &w);
  if (status == HEED_OK) {
    const size_t size = strlen(w.caption) + sizeof figure.caption + 1;
    char *caption = malloc(size);
    if (caption) snprintf(caption, size, "%s\n%s", figure.caption, w.caption);
    status = caption && name_columns(&figure, &labels, &text)
                 ? draw_colours(cli, options, result, selection, &figure, labels, &w, caption, path)
                 : heed_fail_memory(&cli->error, "figure", size);
    free(caption);
    free((void *)labels);
    free(text);
    free_words(&w);
  }
  free(figure.rgb);
  return status;
}

/* ------------------------------------------------------------------------------------------ sheet
 */

heed_status run_add_to_sheet(cli_state *cli, heed_sheet *sheet, const cli_pipeline *pipeline,
                             const run_result *result, const run_selection *selection) {
  const heed_model_info *info = &pipeline->info;
  const uint32_t count = selection->layer_count * selection->head_count;
  char note[160];
  drawing d;
  CLI_TRY(alloc_drawing(cli, &d, 1, 1, result->tokens, info->prefix_tokens));
  for (uint32_t l = 0; l < selection->layer_count; l++)
    for (uint32_t h = 0; h < selection->head_count; h++)
      add_row(&d, result, info->prefix_tokens, 0, 0,
              run_row(result, selection, info->heads, selection->first_layer + l,
                      selection->first_head + h),
              1.0f / (float)count);
  answer_text(pipeline, result, note);
  const heed_sheet_tile tile = {.struct_size = sizeof tile,
                                .image = heed_picture_view(&result->image),
                                .region = result->region,
                                .map = d.maps,
                                .rows = result->rows,
                                .columns = result->columns,
                                .tokens = result->tokens,
                                .name = heed_last_name(result->picture),
                                .note = note};
  const heed_status status = heed_sheet_add(sheet, &tile, &cli->error);
  free_drawing(&d);
  return status;
}

heed_status run_write_sheet(cli_state *cli, const heed_sheet *sheet, const cli_pipeline *pipeline,
                            const run_options *options) {
  heed_scale_kind scale;
  CLI_TRY(run_scale(cli, options->scale, &scale));
  const heed_model_info *info = &pipeline->info;
  char caption[512];
  snprintf(caption, sizeof caption, "%.200s (%s, %u layers, %u heads); %u images; heed %s",
           options->model ? heed_last_name(options->model) : "the demo model", info->family,
           info->layers, info->heads, heed_sheet_count(sheet), heed_version());
  const heed_sheet_desc desc = {.struct_size = sizeof desc,
                                .width_mm = options->width,
                                .caption = caption,
                                .title = "attention of many images",
                                .scale = scale};
  CLI_TRY(heed_sheet_write(sheet, &desc, options->sheet, &cli->error));
  printf("sheet: %s\n", CLI_SHOWN(options->sheet));
  return HEED_OK;
}
