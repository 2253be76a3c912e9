/* Which layers, heads and token of a result are shown, and the maps that a result keeps. */
#include <stdlib.h>
#include <string.h>

#include "parts.h"

const float *run_row(const run_result *result, const run_selection *selection, uint32_t heads,
                     uint32_t layer, uint32_t head) {
  if (selection->pool) return result->pool + (size_t)head * result->tokens;
  if (result->columns_of_query)
    return result->columns_of_query + ((size_t)layer * heads + head) * result->tokens;
  const uint32_t row = result->attention_rows == 1 ? 0 : selection->query;
  return result->attention[layer] + ((size_t)head * result->attention_rows + row) * result->tokens;
}

void run_set_narrow(run_options *options) {
  const char *layer = options->layer, *head = options->head;
  options->narrow = (run_narrow){layer && strcmp(layer, "all") != 0,
                                 head && strcmp(head, "all") != 0 && strcmp(head, "mean") != 0,
                                 options->query != NULL};
}

bool run_wants_rollout(const run_options *options) {
  const run_narrow *narrow = &options->narrow;
  return options->rollout || ((options->json || options->save) && !options->save_only &&
                              !narrow->layer && !narrow->head && !narrow->query);
}

void run_kept_layers(const run_options *options, const heed_model_info *info, uint32_t *first,
                     uint32_t *count) {
  *first = 0;
  *count = info->layers;
  if (run_wants_rollout(options) || (!options->narrow.layer && !options->save_only)) return;
  if (options->layer && strcmp(options->layer, "pool") == 0)
    *count = 0;
  else if (!options->layer || strcmp(options->layer, "last") == 0) {
    *first = info->layers - 1;
    *count = 1;
  } else if (cli_read_number(options->layer, info->layers - 1, first)) {
    *count = 1;
  } /* else all, or what run_select refuses */
}

static heed_status check_pool(cli_state *cli, const run_options *options,
                              const heed_model_info *info) {
  if (!info->pool_heads)
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--layer: this model has no pooling attention (found \"pool\", expected 0 to "
                     "%u, last or all)",
                     info->layers - 1);
  return options->reverse || options->score
             ? heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                         "--layer: the pooling attention has one query (found \"pool\" with %s)",
                         options->reverse ? "--reverse" : "--score")
             : HEED_OK;
}

static heed_status choose_layers(cli_state *cli, const run_options *options,
                                 const heed_model_info *info, run_selection *selection) {
  *selection = (run_selection){.first_layer = info->layers - 1,
                               .layer_count = 1,
                               .query_row = -1,
                               .query_column = -1,
                               .query_frame = -1};
  /* Without CLS nothing else in the model has one map of the image. */
  selection->pool = options->layer ? strcmp(options->layer, "pool") == 0
                                   : info->pool_heads && !info->prefix_tokens && !options->query;
  if (selection->pool) CLI_TRY(check_pool(cli, options, info));
  const uint32_t heads = selection->pool ? info->pool_heads : info->heads;
  selection->head_count = heads;
  if (selection->pool) {
    selection->first_layer = 0;
  } else if (options->layer && strcmp(options->layer, "all") == 0) {
    selection->first_layer = 0;
    selection->layer_count = info->layers;
  } else if (options->layer && strcmp(options->layer, "last") != 0 &&
             !cli_read_number(options->layer, info->layers - 1, &selection->first_layer))
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--layer: layer out of range (found \"%s\", expected 0 to %u, last or all)",
                     options->layer, info->layers - 1);
  if (!options->head || strcmp(options->head, "all") == 0) return HEED_OK;
  if (strcmp(options->head, "mean") == 0) {
    selection->head_mean = true;
    return HEED_OK;
  }
  selection->head_count = 1;
  if (!cli_read_number(options->head, heads - 1, &selection->first_head))
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--head: head out of range (found \"%s\", expected 0 to %u, mean or all)",
                     options->head, heads - 1);
  return HEED_OK;
}

heed_status run_scale(cli_state *cli, const char *text, heed_scale_kind *scale) {
  static const char *const names[] = {"auto", "uniform", "share", "log", "own"};
  *scale = HEED_SCALE_AUTO;
  for (uint32_t i = 0; text && i < sizeof names / sizeof *names; i++)
    if (strcmp(text, names[i]) == 0) {
      *scale = (heed_scale_kind)i;
      return HEED_OK;
    }
  return text ? heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                          "--scale: unknown scale (found \"%s\", expected auto, uniform, share, "
                          "log or own)",
                          text)
              : HEED_OK;
}

static heed_status choose_end(cli_state *cli, const char *text, uint32_t tokens,
                              run_selection *selection) {
  const char *at = text;
  selection->end = 0.0;
  if (!text) return HEED_OK;
  if (selection->scale == HEED_SCALE_OWN)
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--end: maps on scales of their own have no common end (found --scale own, "
                     "expected another scale)");
  if (cli_take_decimal(&at, &selection->end) && !*at && selection->end >= 1.0 &&
      selection->end <= tokens)
    return HEED_OK;
  return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                   "--end: out of range (found \"%s\", expected 1 to %u times uniform)", text,
                   tokens);
}

heed_status run_select(cli_state *cli, const run_options *options, const heed_model_info *info,
                       const run_result *result, run_selection *selection) {
  CLI_TRY(choose_layers(cli, options, info, selection));
  CLI_TRY(run_scale(cli, options->scale, &selection->scale));
  CLI_TRY(choose_end(cli, options->end, result->tokens, selection));
  return run_choose_query(cli, options->query, info, result, selection);
}

heed_status run_make_maps(cli_state *cli, uint32_t layers, run_result *result) {
  result->attention_layers = layers;
  result->attention = calloc(layers + 1u, sizeof *result->attention);
  result->copies = calloc(layers + 1u, sizeof *result->copies);
  return result->attention && result->copies
             ? HEED_OK
             : heed_fail_memory(&cli->error, "attention maps", layers * sizeof(float *));
}

float *run_copy_map(run_result *result, uint32_t layer, uint32_t heads) {
  const size_t map = (size_t)result->attention_rows * result->tokens;
  result->copies[layer] = calloc(heads, map * sizeof **result->copies);
  result->attention[layer] = result->copies[layer];
  return result->copies[layer];
}

void run_free_maps(run_result *result) {
  for (uint32_t i = 0; result->copies && i < result->attention_layers; i++) free(result->copies[i]);
  free(result->copies);
  free(result->attention);
  result->copies = NULL;
  result->attention = NULL;
}
