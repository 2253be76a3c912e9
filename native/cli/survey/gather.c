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

static void set_grid(const cli_pipeline *pipeline, const survey_shape *shape, survey_maps *maps) {
  maps->rows = pipeline->build.height / shape->patch;
  maps->columns = pipeline->build.width / shape->patch;
}

static size_t tokens_of(const survey_shape *shape, const survey_maps *maps) {
  return shape->prefix + (size_t)maps->rows * maps->columns;
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

/* The maps of a layer, which are of all tokens. */
static heed_status find_layer(cli_state *cli, const cli_pipeline *pipeline,
                              const survey_shape *shape, uint32_t layer, const survey_maps *maps,
                              heed_value *value) {
  const char *name = pipeline->tap_names[layer];
  const uint32_t tokens = shape->prefix + maps->rows * maps->columns;
  heed_value_info info;
  if (!cli_pipeline_find(pipeline, name, value, &info))
    return heed_fail(&cli->error, HEED_INTERNAL, "%s: unknown map", name);
  if (info.shape.rank != 4 || info.shape.dim[1] != shape->heads || info.shape.dim[2] != tokens ||
      info.shape.dim[3] != tokens)
    return heed_fail(&cli->error, HEED_UNSUPPORTED,
                     "%s: not a map of all tokens (found %u x %u, expected %u x %u)", name,
                     info.shape.dim[2], info.shape.dim[3], tokens, tokens);
  return HEED_OK;
}

static heed_status take_layer(cli_state *cli, const cli_pipeline *pipeline,
                              const survey_shape *shape, uint32_t layer, size_t size, bool copy,
                              survey_maps *maps) {
  heed_value value;
  const void *there;
  CLI_TRY(find_layer(cli, pipeline, shape, layer, maps, &value));
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
  set_grid(pipeline, shape, maps);
  const size_t tokens = tokens_of(shape, maps), size = shape->heads * tokens * tokens;
  CLI_TRY(make_room(cli, shape, 0, maps));
  for (uint32_t layer = 0; layer < shape->layers; layer++)
    CLI_TRY(take_layer(cli, pipeline, shape, layer, size, copy, maps));
  return take_class(cli, pipeline, &maps->top);
}

/* ---------------------------------------------------------------------------------------- numbers
 */

static bool add_head(const float *map, const survey_shape *shape, survey_maps *maps, size_t head,
                     survey_numbers *numbers) {
  heed_map_statistics of;
  bool finite = true;
  const bool mapped = numbers->mapped;
  heed_map_scan_head(maps->scan, map, &of,
                     mapped ? numbers->offsets + head * survey_offsets(shape) : NULL,
                     mapped ? numbers->prefix + head * shape->prefix : NULL,
                     mapped ? &numbers->squares[head] : NULL);
  for (size_t s = 0; s < SURVEY_STATISTICS; s++) {
    const double number = survey_statistic_of(&of, s);
    numbers->statistics[head * SURVEY_STATISTICS + s] = number;
    finite = finite && isfinite(number);
  }
  if (numbers->twins)
    numbers->twin_weights[head] = scene_twins_weight(&maps->twins, map, shape->prefix);
  const size_t tokens = survey_tokens(shape);
  for (size_t i = 0; mapped && shape->prefix && i < tokens; i++)
    numbers->first_row[head * tokens + i] = (double)map[i];
  return finite;
}

/* What there will be of a picture. */
static void begin(const survey_shape *shape, const survey_maps *maps, survey_numbers *numbers) {
  numbers->mapped = maps->rows == shape->rows && maps->columns == shape->columns;
  numbers->twins = maps->twins.present;
}

static heed_status add_layer(cli_state *cli, const survey_shape *shape, survey_maps *maps,
                             uint32_t layer, const float *map, survey_numbers *numbers) {
  const size_t tokens = tokens_of(shape, maps);
  for (size_t head = 0; head < shape->heads; head++, map += tokens * tokens)
    if (!add_head(map, shape, maps, layer * (size_t)shape->heads + head, numbers))
      return heed_fail(&cli->error, HEED_INVALID_FILE,
                       "the attention of layer %u is not numbers (found NaN)", layer);
  return HEED_OK;
}

heed_status survey_gather(cli_state *cli, const survey_shape *shape, survey_maps *maps,
                          survey_numbers *numbers) {
  begin(shape, maps, numbers);
  CLI_TRY(make_scan(cli, shape, maps));
  for (uint32_t layer = 0; layer < shape->layers; layer++)
    CLI_TRY(add_layer(cli, shape, maps, layer, maps->layer[layer], numbers));
  return HEED_OK;
}

/* ------------------------------------------------------------------------------ stage by stage */

typedef struct gathering {
  const survey_shape *shape;
  survey_maps *maps;
  survey_numbers *numbers;
  uint32_t map, state; /* layers whose maps, and whose states, were gathered */
} gathering;

/* A cli_pipeline_see: a stage may have made what some layers show, or nothing. */
static heed_status see_stage(cli_state *cli, const cli_pipeline *pipeline, void *user) {
  gathering *g = user;
  heed_value value;
  heed_error none;
  const void *map;
  for (; g->map < g->shape->layers; g->map++) {
    CLI_TRY(find_layer(cli, pipeline, g->shape, g->map, g->maps, &value));
    if (heed_session_view(pipeline->session, value, &map, &none) != HEED_OK) break;
    CLI_TRY(add_layer(cli, g->shape, g->maps, g->map, map, g->numbers));
  }
  if (!g->state) survey_begin_states(pipeline, g->shape, g->numbers);
  return survey_pass_states(cli, pipeline, g->shape, &g->state, g->numbers);
}

heed_status survey_gather_run(cli_state *cli, cli_pipeline *pipeline, cli_choice *choice,
                              const survey_shape *shape, const cli_prepared *prepared,
                              survey_maps *maps, survey_numbers *numbers) {
  gathering g = {.shape = shape, .maps = maps, .numbers = numbers};
  set_grid(pipeline, shape, maps);
  begin(shape, maps, numbers);
  CLI_TRY(make_scan(cli, shape, maps));
  CLI_TRY(cli_pipeline_run_stages(cli, pipeline, choice, prepared->pixels, see_stage, &g));
  if (g.map < shape->layers || (numbers->states.present && g.state < shape->layers))
    return heed_fail(&cli->error, HEED_INTERNAL,
                     "survey: layers that no stage showed (found %u of maps and %u of states, "
                     "expected %u)",
                     g.map, g.state, shape->layers);
  return take_class(cli, pipeline, &maps->top);
}
