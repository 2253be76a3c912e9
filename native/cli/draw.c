/* heed run's pictures: the query's maps of layers x heads, and its rollout, over the picture. */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "cli/run_parts.h"

/* Maps and prefix masses of the selection, copied from the rows that ran. */
typedef struct drawing {
  float *maps, *prefix; /* [layers, heads, patches], [layers, heads] */
  float *mean;          /* [N] of all of them */
  char note[HEED_MAP_ELSEWHERE_SIZE];
  uint32_t *layers;
  char (*labels)[24];
  const char **label;
  uint32_t heads;
} drawing;

static void free_drawing(drawing *d) {
  free(d->maps);
  free(d->prefix);
  free(d->mean);
  free(d->layers);
  free(d->labels);
  free(d->label);
}

static heed_status alloc_drawing(cli_state *cli, drawing *d, uint32_t layers, uint32_t heads,
                                 uint32_t tokens, uint32_t prefix) {
  const size_t count = (size_t)layers * heads, patches = tokens - prefix;
  *d = (drawing){.maps = calloc(count * patches, sizeof(float)),
                 .prefix = calloc(count, sizeof(float)),
                 .mean = calloc(tokens, sizeof(float)),
                 .layers = malloc(layers * sizeof(uint32_t)),
                 .labels = calloc(heads, sizeof *d->labels),
                 .label = calloc(heads, sizeof *d->label),
                 .heads = heads};
  if (d->maps && d->prefix && d->mean && d->layers && d->labels && d->label) return HEED_OK;
  free_drawing(d);
  return heed_fail_memory(&cli->error, "maps", count * patches * sizeof(float));
}

/* Adds one row of N weights, times `share`, to map (l, h), and to the sum of all. */
static void add_row(drawing *d, const run_result *result, uint32_t prefix, uint32_t l, uint32_t h,
                    const float *row, float share) {
  const size_t at = (size_t)l * d->heads + h, patches = result->tokens - prefix;
  for (uint32_t i = 0; i < result->tokens; i++) d->mean[i] += share * row[i];
  for (uint32_t i = 0; i < prefix; i++) d->prefix[at] += share * row[i];
  for (size_t i = 0; i < patches; i++) d->maps[at * patches + i] += share * row[prefix + i];
}

static heed_status draw(cli_state *cli, const run_result *result, const run_selection *selection,
                        const heed_model_info *info, drawing *d, uint32_t layers,
                        const char *caption, const char *path) {
  const heed_figure_desc desc = {.struct_size = sizeof desc,
                                 .image = heed_picture_view(&result->image),
                                 .region = result->region,
                                 .maps = d->maps,
                                 .prefix_mass = info->prefix_tokens ? d->prefix : NULL,
                                 .layers = layers,
                                 .heads = d->heads,
                                 .rows = result->rows,
                                 .columns = result->columns,
                                 .tokens = result->tokens,
                                 .layer_numbers = d->layers,
                                 .column_labels = d->label,
                                 .query_row = selection->query_row,
                                 .query_column = selection->query_column,
                                 .caption = caption,
                                 .scale = selection->scale,
                                 .note = d->note};
  return heed_figure_write(cli->context, &desc, path, &cli->error);
}

/* The last path component, for captions. */
static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

heed_status run_draw_maps(cli_state *cli, const cli_pipeline *pipeline, const run_result *result,
                          const run_selection *selection, const char *path) {
  const heed_model_info *info = &pipeline->info;
  const uint32_t layers = selection->layer_count,
                 heads = selection->head_mean ? 1 : selection->head_count;
  drawing d;
  HEED_TRY(alloc_drawing(cli, &d, layers, heads, result->tokens, info->prefix_tokens));
  for (uint32_t l = 0; l < layers; l++) {
    d.layers[l] = selection->first_layer + l;
    for (uint32_t h = 0; h < selection->head_count; h++)
      add_row(&d, result, info->prefix_tokens, l, selection->head_mean ? 0 : h,
              run_row(result, selection, info->heads, d.layers[l], selection->first_head + h),
              selection->head_mean ? 1.0f / (float)selection->head_count : 1.0f);
  }
  for (uint32_t h = 0; h < heads; h++) {
    if (selection->head_mean)
      snprintf(d.labels[h], sizeof d.labels[h], "mean");
    else
      snprintf(d.labels[h], sizeof d.labels[h], "head %u", selection->first_head + h);
    d.label[h] = d.labels[h];
  }
  heed_map_elsewhere(d.mean, result->tokens, info->prefix_tokens, selection->query,
                     result->columns_of_query ? HEED_ROW_COLUMN : HEED_ROW_ATTENTION, d.note);
  char query[48], caption[512], which[64];
  run_query_text(selection, query);
  if (layers == 1)
    snprintf(which, sizeof which, "layer %u", d.layers[0]);
  else
    snprintf(which, sizeof which, "layers %u to %u", d.layers[0], d.layers[layers - 1]);
  snprintf(
      caption, sizeof caption,
      "%.80s: attention %s %s, %s, %s\noverlay: the mean of the maps shown; %u tokens; heed %s",
      base_name(result->picture), result->columns_of_query ? "to" : "from", query, which,
      selection->head_mean ? "mean of all heads"
      : heads == 1         ? "one head"
                           : "each head",
      result->tokens, heed_version());
  const heed_status status = draw(cli, result, selection, info, &d, layers, caption, path);
  free_drawing(&d);
  return status;
}

heed_status run_draw_rollout(cli_state *cli, const cli_pipeline *pipeline, const run_result *result,
                             const run_selection *selection, const char *path) {
  const heed_model_info *info = &pipeline->info;
  drawing d;
  HEED_TRY(alloc_drawing(cli, &d, 1, 1, result->tokens, info->prefix_tokens));
  d.layers[0] = info->layers - 1;
  add_row(&d, result, info->prefix_tokens, 0, 0,
          result->rollout + (size_t)selection->query * result->tokens, 1.0f);
  heed_map_elsewhere(d.mean, result->tokens, info->prefix_tokens, selection->query,
                     HEED_ROW_ROLLOUT, d.note);
  d.label[0] = "rollout";
  char query[48], caption[512];
  run_query_text(selection, query);
  snprintf(caption, sizeof caption, "%.80s: attention rollout from %s %s\n%u tokens; heed %s",
           base_name(result->picture), query, result->rollout_words, result->tokens,
           heed_version());
  const heed_status status = draw(cli, result, selection, info, &d, 1, caption, path);
  free_drawing(&d);
  return status;
}
