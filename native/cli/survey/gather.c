/* What one picture adds. See gather.h. */
#include "gather.h"

#include <math.h>
#include <stdlib.h>

heed_status survey_shape_of(cli_state *cli, const cli_pipeline *pipeline, survey_shape *shape) {
  const heed_model_info *info = &pipeline->info;
  uint32_t width, height;
  CLI_TRY(heed_preprocess_size(&pipeline->preprocess, info->image_size, info->image_size, &width,
                               &height, &cli->error));
  *shape = (survey_shape){.layers = info->layers,
                          .heads = info->heads,
                          .prefix = info->prefix_tokens,
                          .rows = height / info->patch,
                          .columns = width / info->patch,
                          .patch = info->patch};
  return shape->rows && shape->columns
             ? HEED_OK
             : heed_fail(&cli->error, HEED_INVALID_FILE,
                         "images: too small for a patch (found %u x %u pixels, expected %u x %u)",
                         width, height, info->patch, info->patch);
}

/* ---------------------------------------------------------------------------------------- reading
 */

void survey_maps_free(survey_maps *maps) {
  free(maps->layer);
  free(maps->copies);
  heed_map_scan_destroy(maps->scan);
  *maps = (survey_maps){0};
}

static heed_status make_room(cli_state *cli, const survey_shape *shape, size_t copied,
                             survey_maps *maps) {
  if (!maps->layer) maps->layer = calloc(shape->layers, sizeof *maps->layer);
  if (!maps->layer) return heed_fail_memory(&cli->error, "maps", shape->layers);
  if (copied <= maps->copied) return HEED_OK;
  free(maps->copies);
  maps->copied = 0;
  maps->copies = copied <= SIZE_MAX / sizeof(float) ? malloc(copied * sizeof(float)) : NULL;
  if (!maps->copies) return heed_fail_memory(&cli->error, "maps", copied * sizeof(float));
  maps->copied = copied;
  return HEED_OK;
}

/* The grid may have changed since the last picture. */
static heed_status make_scan(cli_state *cli, const survey_shape *shape, survey_maps *maps) {
  if (maps->scan && maps->scanned_rows == maps->rows && maps->scanned_columns == maps->columns)
    return HEED_OK;
  heed_map_scan_destroy(maps->scan);
  maps->scanned_rows = maps->rows;
  maps->scanned_columns = maps->columns;
  return heed_map_scan_create(cli->context, shape->prefix, maps->rows, maps->columns, shape->patch,
                              &maps->scan, &cli->error);
}

static heed_status take_layer(cli_state *cli, const cli_pipeline *pipeline,
                              const survey_shape *shape, uint32_t layer, size_t size, bool copy,
                              survey_maps *maps) {
  const char *name = pipeline->tap_names[layer];
  const uint32_t tokens = shape->prefix + maps->rows * maps->columns;
  heed_value value;
  heed_value_info info;
  const void *there;
  if (!cli_pipeline_find(pipeline, name, &value, &info))
    return heed_fail(&cli->error, HEED_INTERNAL, "%s: unknown map", name);
  if (info.shape.rank != 4 || info.shape.dim[1] != shape->heads || info.shape.dim[2] != tokens ||
      info.shape.dim[3] != tokens)
    return heed_fail(&cli->error, HEED_UNSUPPORTED,
                     "%s: not a map of all tokens (found %u x %u, expected %u x %u)", name,
                     info.shape.dim[2], info.shape.dim[3], tokens, tokens);
  if (!copy) {
    heed_error none;
    if (heed_session_view(pipeline->session, value, &there, &none) == HEED_OK) {
      maps->layer[layer] = there;
      return HEED_OK;
    }
  }
  CLI_TRY(make_room(cli, shape, shape->layers * size, maps));
  maps->layer[layer] = maps->copies + layer * size;
  return heed_session_read(pipeline->session, value, 0, size, maps->copies + layer * size,
                           &cli->error);
}

static heed_status take_class(cli_state *cli, const cli_pipeline *pipeline, int64_t *top) {
  heed_value value;
  heed_value_info info;
  heed_shape shape;
  *top = -1;
  if (!pipeline->info.classes || !cli_pipeline_find(pipeline, "logits", &value, &info))
    return HEED_OK;
  float *logits;
  CLI_TRY(cli_pipeline_read(cli, pipeline, "logits", &logits, &shape));
  const uint64_t count = heed_shape_count(&shape);
  if (count == pipeline->info.classes)
    for (uint64_t i = 0; i < count; i++)
      if (*top < 0 || logits[i] > logits[*top]) *top = (int64_t)i;
  free(logits);
  return HEED_OK;
}

heed_status survey_maps_take(cli_state *cli, const cli_pipeline *pipeline,
                             const survey_shape *shape, bool copy, survey_maps *maps) {
  maps->rows = pipeline->build.height / shape->patch;
  maps->columns = pipeline->build.width / shape->patch;
  const size_t tokens = shape->prefix + (size_t)maps->rows * maps->columns,
               size = shape->heads * tokens * tokens;
  CLI_TRY(make_room(cli, shape, 0, maps));
  for (uint32_t layer = 0; layer < shape->layers; layer++)
    CLI_TRY(take_layer(cli, pipeline, shape, layer, size, copy, maps));
  return take_class(cli, pipeline, &maps->top);
}

/* ---------------------------------------------------------------------------------------- numbers
 */

/* The sum of squares, in a fixed order of eight sums that compilers make wide. */
static double sum_squares(const float *weights, size_t count) {
  double sums[8] = {0.0}, rest = 0.0;
  size_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (size_t k = 0; k < 8; k++) sums[k] += (double)weights[i + k] * (double)weights[i + k];
  for (; i < count; i++) rest += (double)weights[i] * (double)weights[i];
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7])) +
         rest;
}

/* Mean weight of the patch queries on each token before the patches, and their mean sum of squared
 * weights on patches. */
static void add_places(const float *map, const survey_shape *shape, double *prefix,
                       double *squares) {
  const size_t tokens = survey_tokens(shape), patches = survey_patches(shape);
  for (size_t t = 0; t < shape->prefix; t++) prefix[t] = 0.0;
  *squares = 0.0;
  for (size_t query = shape->prefix; query < tokens; query++) {
    const float *row = map + query * tokens;
    for (size_t t = 0; t < shape->prefix; t++) prefix[t] += (double)row[t];
    *squares += sum_squares(row + shape->prefix, patches);
  }
  for (size_t t = 0; t < shape->prefix; t++) prefix[t] /= (double)patches;
  *squares /= (double)patches;
}

static bool add_head(const float *map, const survey_shape *shape, survey_maps *maps, size_t head,
                     survey_numbers *numbers) {
  heed_map_statistics of;
  bool finite = true;
  heed_map_scan_head(maps->scan, map, &of,
                     numbers->mapped ? numbers->offsets + head * survey_offsets(shape) : NULL);
  for (size_t s = 0; s < SURVEY_STATISTICS; s++) {
    const double number = survey_statistic_of(&of, s);
    numbers->statistics[head * SURVEY_STATISTICS + s] = number;
    finite = finite && isfinite(number);
  }
  const size_t tokens = survey_tokens(shape);
  for (size_t i = 0; numbers->mapped && shape->prefix && i < tokens; i++)
    numbers->first_row[head * tokens + i] = (double)map[i];
  if (numbers->mapped)
    add_places(map, shape, numbers->prefix + head * shape->prefix, &numbers->squares[head]);
  return finite;
}

heed_status survey_gather(cli_state *cli, const survey_shape *shape, survey_maps *maps,
                          survey_numbers *numbers) {
  const size_t tokens = shape->prefix + (size_t)maps->rows * maps->columns;
  numbers->mapped = maps->rows == shape->rows && maps->columns == shape->columns;
  CLI_TRY(make_scan(cli, shape, maps));
  for (size_t head = 0; head < survey_heads(shape); head++) {
    const float *map = maps->layer[head / shape->heads] + head % shape->heads * tokens * tokens;
    if (!add_head(map, shape, maps, head, numbers))
      return heed_fail(&cli->error, HEED_INVALID_FILE,
                       "the attention of layer %zu is not numbers (found NaN)",
                       head / shape->heads);
  }
  return HEED_OK;
}
