/* What one picture adds. See gather.h. */
#include "gather.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* offsets [2 rows - 1, 2 columns - 1] += weights of the patches of a query, each at its place as
 * seen from it. */
static void add_query(const float *patches, uint32_t rows, uint32_t columns, uint32_t query,
                      double *offsets) {
  const size_t width = 2 * (size_t)columns - 1;
  const size_t row = query / columns, column = query % columns;
  for (uint32_t r = 0; r < rows; r++) {
    double *to = offsets + (rows - 1 - row + r) * width + (columns - 1 - column);
    for (uint32_t c = 0; c < columns; c++) to[c] += (double)patches[(size_t)r * columns + c];
  }
}

static void add_offsets(const float *map, const survey_shape *shape, double *offsets) {
  const uint32_t patches = shape->rows * shape->columns;
  const size_t tokens = survey_tokens(shape), count = survey_offsets(shape);
  memset(offsets, 0, count * sizeof *offsets);
  for (uint32_t query = 0; query < patches; query++)
    add_query(map + (shape->prefix + query) * tokens + shape->prefix, shape->rows, shape->columns,
              query, offsets);
  for (size_t i = 0; i < count; i++) offsets[i] /= patches;
}

static void add_head(const float *map, const survey_shape *shape, uint32_t rows, uint32_t columns,
                     size_t head, survey_numbers *numbers) {
  heed_map_statistics of;
  heed_map_get_statistics(map, shape->prefix, rows, columns, shape->patch, &of);
  for (size_t s = 0; s < SURVEY_STATISTICS; s++)
    numbers->statistics[head * SURVEY_STATISTICS + s] = survey_statistic_of(&of, s);
  if (!numbers->mapped) return;
  const size_t tokens = survey_tokens(shape);
  for (size_t i = 0; shape->prefix && i < tokens; i++)
    numbers->first_row[head * tokens + i] = (double)map[i];
  add_offsets(map, shape, numbers->offsets + head * survey_offsets(shape));
}

static heed_status gather_layer(cli_state *cli, const cli_pipeline *pipeline,
                                const survey_shape *shape, uint32_t layer,
                                survey_numbers *numbers) {
  const uint32_t rows = pipeline->build.height / shape->patch,
                 columns = pipeline->build.width / shape->patch,
                 tokens = shape->prefix + rows * columns;
  const char *name = pipeline->tap_names[layer];
  heed_shape found;
  float *maps;
  CLI_TRY(cli_pipeline_read(cli, pipeline, name, &maps, &found));
  const bool whole = found.rank == 4 && found.dim[2] == tokens && found.dim[3] == tokens;
  const size_t size = (size_t)tokens * tokens, count = whole ? shape->heads * size : 0;
  bool finite = true;
  for (size_t i = 0; i < count; i++) finite = finite && isfinite(maps[i]);
  for (uint32_t h = 0; whole && finite && h < shape->heads; h++)
    add_head(maps + h * size, shape, rows, columns, (size_t)layer * shape->heads + h, numbers);
  free(maps);
  if (!whole)
    return heed_fail(&cli->error, HEED_UNSUPPORTED,
                     "%s: not a map of all tokens (found %u x %u, expected %u x %u)", name,
                     found.dim[2], found.dim[3], tokens, tokens);
  return finite ? HEED_OK
                : heed_fail(&cli->error, HEED_INVALID_FILE,
                            "the attention of layer %u is not numbers (found NaN)", layer);
}

heed_status survey_gather(cli_state *cli, const cli_pipeline *pipeline, const survey_shape *shape,
                          survey_numbers *numbers) {
  numbers->mapped = pipeline->build.height / shape->patch == shape->rows &&
                    pipeline->build.width / shape->patch == shape->columns;
  for (uint32_t layer = 0; layer < shape->layers; layer++)
    CLI_TRY(gather_layer(cli, pipeline, shape, layer, numbers));
  return HEED_OK;
}

heed_status survey_top_class(cli_state *cli, const cli_pipeline *pipeline, int64_t *top) {
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
