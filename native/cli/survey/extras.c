/* Mean maps and embeddings. See extras.h. */
#include "extras.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static heed_status refuse(cli_state *cli, const char *name, size_t length) {
  char known[CLI_METHODS_SIZE] = "";
  const char *one;
  for (uint32_t i = 0; (one = heed_patch_map_name(i)) != NULL; i++) cli_methods_add(known, one);
  return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                   "--methods: unknown map (found \"%.*s\", expected some of %s)",
                   length < 64 ? (int)length : 64, name, known);
}

heed_status survey_extras_choose(cli_state *cli, const char *methods, bool embeds,
                                 survey_extras *extras) {
  const char *name;
  size_t length;
  uint32_t index;
  *extras = (survey_extras){.embeds = embeds};
  while (cli_next_name(&methods, &name, &length)) {
    if (!cli_patch_map_find(name, length, &index) || index >= SURVEY_MOST_MAPS)
      return refuse(cli, name, length);
    extras->maps |= UINT32_C(1) << index;
    cli_methods_add(extras->methods, heed_patch_map_method(index));
  }
  return HEED_OK;
}

static heed_status find_embedding(cli_state *cli, cli_pipeline *pipeline, cli_choice *choice,
                                  survey_extras *extras) {
  cli_features features = {.option = "--embeddings", .names = "embedding"};
  cli_pipeline planned = *pipeline;
  planned.taps = NULL;
  planned.choose_taps = cli_features_choose;
  planned.taps_user = &features;
  const heed_status status = cli_pipeline_plan(cli, &planned, choice);
  if (status == HEED_OK) {
    extras->embedding = features.feature[0];
    snprintf(extras->source, sizeof extras->source, "%s", extras->embedding.source);
    extras->embedding.source = extras->source;
  }
  cli_pipeline_reset(&planned);
  free(planned.taps);
  cli_features_free(&features);
  return status;
}

heed_status survey_extras_find(cli_state *cli, cli_pipeline *pipeline, cli_choice *choice,
                               survey_extras *extras, survey_shape *shape) {
  if (extras->maps && pipeline->as_graph)
    return heed_fail(&cli->error, HEED_UNSUPPORTED,
                     "--methods: an ONNX graph has no layers to explain (expected weights of a "
                     "vision transformer)");
  shape->maps = extras->maps;
  if (!extras->embeds) return HEED_OK;
  pipeline->build.height = shape->rows * shape->patch;
  pipeline->build.width = shape->columns * shape->patch;
  CLI_TRY(find_embedding(cli, pipeline, choice, extras));
  shape->embedding = (uint32_t)heed_shape_count(&extras->embedding.shape);
  return HEED_OK;
}

/* maps [maps][patches] of an explanation. */
static heed_status take_maps(cli_state *cli, const heed_explanation *made,
                             const survey_shape *shape, double *maps) {
  const heed_patches grid = {shape->rows, shape->columns};
  const size_t patches = survey_patches(shape);
  float *map = malloc(patches * sizeof *map);
  heed_status status = map ? HEED_OK : heed_fail_memory(&cli->error, "maps", patches * sizeof *map);
  for (uint32_t i = 0; i < SURVEY_MOST_MAPS && status == HEED_OK; i++) {
    if (!(shape->maps >> i & 1)) continue;
    memset(map, 0, patches * sizeof *map);
    status = heed_patch_map(made, i, 0, grid, map, &cli->error);
    for (size_t p = 0; p < patches; p++) *maps++ = (double)map[p];
  }
  free(map);
  return status;
}

static heed_status explain(cli_state *cli, const survey_extras *extras,
                           const cli_pipeline *pipeline, cli_choice *choice,
                           const cli_prepared *prepared, const survey_shape *shape, double *maps) {
  const heed_named_tensor pixels = {
      "pixel_values",
      HEED_F32,
      {4, {1, pipeline->info.channels, prepared->height, prepared->width}},
      prepared->pixels};
  heed_explanation *made = NULL;
  heed_explain_desc desc = {.struct_size = sizeof desc,
                            .model = pipeline->model,
                            .methods = extras->methods,
                            .inputs = &pixels,
                            .input_count = 1};
  if (*extras->methods) CLI_TRY(cli_explain(cli, choice, &desc, &made));
  const heed_status status = take_maps(cli, made, shape, maps);
  heed_explanation_destroy(made);
  return status;
}

heed_status survey_extras_gather(cli_state *cli, const survey_extras *extras,
                                 const cli_pipeline *pipeline, cli_choice *choice,
                                 const cli_prepared *prepared, const survey_shape *shape,
                                 survey_numbers *numbers) {
  const bool own = prepared->height / shape->patch == shape->rows &&
                   prepared->width / shape->patch == shape->columns;
  if (extras->embeds)
    CLI_TRY(cli_features_read(cli, pipeline, &extras->embedding, 0, numbers->embedding));
  return extras->maps && own
             ? explain(cli, extras, pipeline, choice, prepared, shape, numbers->maps)
             : HEED_OK;
}
