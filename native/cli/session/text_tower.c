/* See text_tower.h. */
#include "text_tower.h"

#include <stdlib.h>
#include <string.h>

heed_status cli_text_load(cli_state *cli, cli_pipeline *pipeline, const char *path) {
  CLI_TRY(cli_open_files(cli, path, &pipeline->files));
  heed_model_desc desc = *heed_model_files_desc(pipeline->files);
  desc.tower = HEED_TOWER_TEXT;
  CLI_TRY(heed_model_open(cli->context, &desc, &pipeline->model, &cli->error));
  heed_model_get_info(pipeline->model, &pipeline->info);
  pipeline->build = (heed_build_desc){.struct_size = sizeof pipeline->build};
  return HEED_OK;
}

const char *cli_text_pooled(const cli_pipeline *pipeline) {
  const heed_model_info *info = &pipeline->info;
  return info->text_padded && info->projection ? "token_embeds" : "last_hidden_state";
}

heed_status cli_text_rows(cli_state *cli, const cli_pipeline *pipeline, const char *name,
                          const int32_t *ids, float **rows, heed_shape *shape) {
  CLI_TRY(cli_pipeline_read(cli, pipeline, name, rows, shape));
  const uint32_t tokens = shape->dim[1], width = shape->dim[2];
  for (uint32_t b = 0; b < shape->dim[0]; b++) {
    const uint32_t row = heed_text_row(&pipeline->info, ids + (size_t)b * tokens, tokens);
    memmove(*rows + (size_t)b * width, *rows + ((size_t)b * tokens + row) * width,
            width * sizeof **rows);
  }
  *shape = (heed_shape){2, {shape->dim[0], width}};
  return HEED_OK;
}
