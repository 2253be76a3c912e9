/* --query of heed run and heed maps: a token by its name or its place, and its words. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "parts.h"
#include "terminal/system.h"

void run_query_text(const heed_model_info *info, const run_selection *selection, char text[48]) {
  if (selection->pool)
    snprintf(text, 48, "the probe");
  else if (selection->query_row < 0)
    snprintf(text, 48, "%s", info->token_names[selection->query]);
  else if (selection->query_frame >= 0)
    snprintf(text, 48, "patch (%d, %d, %d)", selection->query_frame, selection->query_row,
             selection->query_column);
  else
    snprintf(text, 48, "patch (%d, %d)", selection->query_row, selection->query_column);
}

const char *run_prefix_text(const heed_model_info *info) {
  if (info->prefix_tokens == 0) return NULL;
  if (info->prefix_tokens == 1) return info->token_names[0];
  const bool has_cls = strcmp(info->token_names[0], "CLS") == 0;
  if (info->prefix_tokens == 2 && has_cls && strcmp(info->token_names[1], "distillation") == 0)
    return "CLS and distillation";
  return has_cls ? "CLS and registers" : "registers";
}

char *run_prefix_names(const heed_model_info *info) {
  cli_memory memory;
  if (!cli_memory_open(&memory)) return NULL;
  for (uint32_t i = 0; i < info->prefix_tokens; i++)
    fprintf(memory.file, "%s%s", i ? ", " : "", info->token_names[i]);
  return cli_memory_close(&memory) ? memory.bytes : NULL;
}

/* The prefix token of this name, in any case; "dist" is short for distillation. */
static bool find_token(const heed_model_info *info, const char *name, uint32_t *token) {
  if (strcasecmp(name, "dist") == 0) name = "distillation";
  for (uint32_t i = 0; i < info->prefix_tokens; i++)
    if (strcasecmp(name, info->token_names[i]) == 0) {
      *token = i;
      return true;
    }
  return false;
}

/* "CLS", "CLS or distillation", "CLS or register 1 to 4", "register 1 to 4", "": what --query may
 * name. */
static void names_text(const heed_model_info *info, char text[96]) {
  const uint32_t count = info->prefix_tokens;
  uint32_t first = 0; /* register */
  size_t used = 0;
  text[0] = '\0';
  while (first < count && strncmp(info->token_names[first], "register", 8) != 0) first++;
  for (uint32_t i = 0; i < first && i < 2; i++)
    used += (size_t)snprintf(text + used, 96 - used, "%s, ", info->token_names[i]);
  if (first < count)
    snprintf(text + used, 96 - used, "%s%s%s, ", info->token_names[first],
             count - first > 1 ? " to " : "",
             count - first > 1 ? strrchr(info->token_names[count - 1], ' ') + 1 : "");
}

static heed_status refuse(cli_state *cli, const char *query, const heed_model_info *info,
                          const run_result *result) {
  char names[96];
  names_text(info, names);
  if (result->frames > 1)
    return heed_fail(
        &cli->error, HEED_INVALID_ARGUMENT,
        "--query: unknown token (found \"%s\", expected %sTIME,ROW,COL up to %u,%u,%u)", query,
        names, result->frames - 1, result->rows - 1, result->columns - 1);
  return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                   "--query: unknown token (found \"%s\", expected %stwin or ROW,COL up to %u,%u)",
                   query, names, result->rows - 1, result->columns - 1);
}

/* Takes the first of three numbers off the text. */
static bool read_time(const char **text, uint32_t most, uint32_t *time) {
  char first[16] = "";
  const char *comma = strchr(*text, ',');
  if (!comma || (size_t)(comma - *text) >= sizeof first) return false;
  memcpy(first, *text, (size_t)(comma - *text));
  if (!cli_read_number(first, most, time)) return false;
  *text = comma + 1;
  return true;
}

heed_status run_choose_query(cli_state *cli, const char *query, const heed_model_info *info,
                             const run_result *result, run_selection *selection) {
  const char *place = query; /* without the time */
  uint32_t row = result->rows / 2, column = result->columns / 2, frame = result->frames / 2;
  const bool video = result->frames > 1;
  const bool twin = query && strcmp(query, "twin") == 0;
  if (find_token(info, query ? query : "cls", &selection->query)) return HEED_OK;
  if (twin) {
    if (!result->twins.present || result->rows != HEED_SCENE_GRID ||
        result->columns != HEED_SCENE_GRID)
      return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                       "--query: no twins (found \"twin\", expected it with a --scene that has "
                       "them and a model of 14 x 14 patches)");
    row = result->twins.row[0];
    column = result->twins.column[0];
  } else if (query && video && !read_time(&place, result->frames - 1, &frame)) {
    return refuse(cli, query, info, result);
  } else if (query &&
             !cli_read_pair(place, ',', result->rows - 1, result->columns - 1, &row, &column))
    return refuse(cli, query, info, result);
  selection->query_row = (int32_t)row;
  selection->query_column = (int32_t)column;
  if (video) selection->query_frame = (int32_t)frame;
  if (video) row += frame * result->rows;
  selection->query = info->prefix_tokens + row * result->columns + column;
  return HEED_OK;
}
