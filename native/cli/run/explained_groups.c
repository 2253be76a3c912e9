/* heed run --explain: patches in groups of alike states, and patches whose state stands out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explained_methods.h"

/* --------------------------------------------------------------------------------------- kmeans */

static heed_status make_kmeans(cli_state *cli, const float *patches, const run_selection *selection,
                               run_explained *to) {
  (void)selection;
  to->cluster = malloc(to->patches * sizeof *to->cluster);
  if (!to->cluster) return heed_fail_memory(&cli->error, "kmeans", to->patches * 4u);
  return heed_patches_cluster(cli->context, patches, to->patches, to->channels, to->clusters,
                              to->cluster, NULL, &cli->error);
}

static void json_kmeans(json_out *json, const run_explained *explained) {
  json_integer(json, "clusters", explained->clusters);
  json_open(json, "cluster", '[');
  for (uint32_t i = 0; i < explained->patches; i++) json_integer(json, NULL, explained->cluster[i]);
  json_close(json, ']');
}

/* Groups have colours of equal steps on the map; a state of zeros has none. */
static void colour_kmeans(const run_explained *explained, float *rgb) {
  const uint32_t last = explained->clusters > 1 ? explained->clusters - 1 : 1;
  for (uint32_t i = 0; i < explained->patches; i++, rgb += 3) {
    const int32_t cluster = explained->cluster[i];
    uint8_t bytes[3];
    heed_colormap_rgb(HEED_COLORMAP_CIVIDIS, (double)cluster / last, bytes);
    for (uint32_t c = 0; c < 3; c++) rgb[c] = cluster < 0 ? NAN : (float)bytes[c] / 255.0f;
  }
}

static void words_of_kmeans(const run_explained *explained, const char *query,
                            char title[RUN_EXPLAINED_TITLE_SIZE],
                            char caption[RUN_EXPLAINED_CAPTION_SIZE]) {
  (void)query;
  snprintf(title, RUN_EXPLAINED_TITLE_SIZE, "patches in %u groups of alike states",
           explained->clusters);
  snprintf(caption, RUN_EXPLAINED_CAPTION_SIZE,
           "k-means of unit states, begun from the patch that is farthest from the mean. Colours "
           "name groups and have no order. The number of groups was given, not found.");
}

const run_explained_method run_explained_kmeans = {.name = "kmeans",
                                                   .make = make_kmeans,
                                                   .json = json_kmeans,
                                                   .colour = colour_kmeans,
                                                   .words = words_of_kmeans};

/* ------------------------------------------------------------------------------------- outliers */

static const uint8_t *outliers_of(const run_explained *explained) {
  return run_explained_tensor(explained, "outliers")->data;
}

static void json_outliers(json_out *json, const run_explained *explained) {
  const uint8_t *outlier = outliers_of(explained);
  json_floats(json, "bound", run_explained_tensor(explained, "outliers.bound")->data,
              explained->layers + 1);
  json_open(json, "levels", '[');
  for (uint32_t l = 0; l <= explained->layers; l++) {
    json_open(json, NULL, '[');
    for (uint32_t p = 0; p < explained->patches; p++) json_integer(json, NULL, *outlier++);
    json_close(json, ']');
  }
  json_close(json, ']');
}

static void panels_of_levels(const run_explained *explained, uint32_t *rows, uint32_t *columns) {
  *rows = 1;
  *columns = explained->layers + 1;
}

static void colour_outliers(const run_explained *explained, float *rgb) {
  const uint8_t *outlier = outliers_of(explained);
  for (size_t i = 0; i < (size_t)(explained->layers + 1) * explained->patches; i++, rgb += 3)
    run_explained_colour(outlier[i], rgb);
}

static void words_of_outliers(const run_explained *explained, const char *query,
                              char title[RUN_EXPLAINED_TITLE_SIZE],
                              char caption[RUN_EXPLAINED_CAPTION_SIZE]) {
  const uint8_t *last = outliers_of(explained) + (size_t)explained->layers * explained->patches;
  uint32_t count = 0;
  (void)query;
  for (uint32_t p = 0; p < explained->patches; p++) count += last[p];
  snprintf(title, RUN_EXPLAINED_TITLE_SIZE, "patches whose state stands out by its length");
  snprintf(caption, RUN_EXPLAINED_CAPTION_SIZE,
           "Red: longer than the level's median plus 6 times 1.4826 times the median distance from "
           "it. Level 0: the embeddings; then after each layer. %u of %u patches after the last.",
           count, explained->patches);
}

const run_explained_method run_explained_outliers = {.name = "outliers",
                                                     .json = json_outliers,
                                                     .panels = panels_of_levels,
                                                     .colour = colour_outliers,
                                                     .words = words_of_outliers,
                                                     .levels = true};
