/* What heed run and heed maps show beyond a row of weights: the column of the query (--reverse),
 * the scores behind it (--score, heed_score_products and its like in heed.h), and the rollout with
 * its options. */
#include <stdlib.h>
#include <string.h>

#include "parts.h"

/* One layer: first and second [H, T, D] are query and key, or value and nothing; logits and weights
 * [H, T, T]. */
typedef struct layer_values {
  float *first, *second;
  const float *weights;
  uint32_t tokens, depth;
} layer_values;

/* Scores of one head: its query's row, or with reverse its column. */
typedef void (*score_function)(const layer_values *v, uint32_t head, uint32_t token, bool reverse,
                               float *to);

/* Of a matrix [T, T]. */
static void copy(const float *matrix, uint32_t tokens, uint32_t token, bool reverse, float *to) {
  for (uint32_t i = 0; i < tokens; i++)
    to[i] = matrix[(size_t)(reverse ? i : token) * tokens + (reverse ? token : i)];
}

static void products(const layer_values *v, uint32_t head, uint32_t token, bool reverse,
                     bool is_scaled, float *to) {
  const size_t first = (size_t)head * v->tokens * v->depth, own = (size_t)token * v->depth;
  heed_score_products((reverse ? v->second : v->first) + first + own,
                      (reverse ? v->first : v->second) + first, v->tokens, v->depth, is_scaled, to);
}

static void raw(const layer_values *v, uint32_t head, uint32_t token, bool reverse, float *to) {
  products(v, head, token, reverse, false, to);
}

static void scaled(const layer_values *v, uint32_t head, uint32_t token, bool reverse, float *to) {
  products(v, head, token, reverse, true, to);
}

static void masked(const layer_values *v, uint32_t head, uint32_t token, bool reverse, float *to) {
  copy(v->first + (size_t)head * v->tokens * v->tokens, v->tokens, token, reverse, to);
}

static void weight(const layer_values *v, uint32_t head, uint32_t token, bool reverse, float *to) {
  copy(v->weights + (size_t)head * v->tokens * v->tokens, v->tokens, token, reverse, to);
}

static void weighted_value(const layer_values *v, uint32_t head, uint32_t token, bool reverse,
                           float *to) {
  const float *values = v->first + (size_t)head * v->tokens * v->depth;
  weight(v, head, token, reverse, to);
  heed_score_values(to, reverse ? values + (size_t)token * v->depth : values, v->tokens, v->depth,
                    reverse, to);
}

static const struct {
  const char *name, *taps[2];
  score_function of;
} stages[] = {{"softmax", {NULL, NULL}, weight},
              {"raw", {"query", "key"}, raw},
              {"scaled", {"query", "key"}, scaled},
              {"masked", {"attention.logits", NULL}, masked},
              {"value", {"value", NULL}, weighted_value}};

#define STAGES (sizeof stages / sizeof *stages)

static size_t stage_of(const run_options *options) {
  size_t i = 0;
  while (i < STAGES && options->score && strcmp(stages[i].name, options->score) != 0) i++;
  return i;
}

heed_status run_check_shown(cli_state *cli, const run_options *options) {
  if (stage_of(options) == STAGES)
    return heed_fail(
        &cli->error, HEED_INVALID_ARGUMENT,
        "--score: unknown score (found \"%s\", expected raw, scaled, masked, softmax or value)",
        options->score);
  if (stage_of(options) && !options->json)
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--score: missing file (found no --json, expected --json OUT.json)");
  return HEED_OK;
}

uint32_t run_score_taps(const run_options *options, const char *taps[2]) {
  const size_t stage = stage_of(options);
  memcpy(taps, stages[stage].taps, sizeof stages[stage].taps);
  return taps[0] ? 1u + (taps[1] != NULL) : 0;
}

static heed_status read_tap(cli_state *cli, const cli_pipeline *pipeline, uint32_t layer,
                            const char *what, uint32_t *depth, float **data) {
  char name[48];
  heed_shape shape;
  *data = NULL;
  if (!what) return HEED_OK;
  snprintf(name, sizeof name, "layer.%u.%s", layer, what);
  CLI_TRY(cli_pipeline_read(cli, pipeline, name, data, &shape));
  *depth = shape.dim[3];
  return HEED_OK;
}

/* The query's row or column of each head of a layer. */
static void fill(const layer_values *v, score_function of, uint32_t heads, uint32_t token,
                 bool reverse, float *to) {
  for (uint32_t h = 0; h < heads; h++) of(v, h, token, reverse, to + (size_t)h * v->tokens);
}

static heed_status read_scores(cli_state *cli, const cli_pipeline *pipeline,
                               const run_options *options, const run_selection *selection,
                               run_result *result) {
  const size_t stage = stage_of(options), count = (size_t)pipeline->info.heads * result->tokens;
  result->scores = malloc(pipeline->info.layers * count * sizeof *result->scores);
  if (!result->scores)
    return heed_fail_memory(&cli->error, "scores",
                            pipeline->info.layers * count * sizeof *result->scores);
  heed_status status = HEED_OK;
  const uint32_t end = result->first_kept + result->kept;
  for (uint32_t l = result->first_kept; l < end && status == HEED_OK; l++) {
    layer_values v = {.weights = result->attention[l], .tokens = result->tokens};
    status = read_tap(cli, pipeline, l, stages[stage].taps[0], &v.depth, &v.first);
    if (status == HEED_OK)
      status = read_tap(cli, pipeline, l, stages[stage].taps[1], &v.depth, &v.second);
    if (status == HEED_OK)
      fill(&v, stages[stage].of, pipeline->info.heads, selection->query, options->reverse,
           result->scores + l * count);
    free(v.first);
    free(v.second);
  }
  return status;
}

heed_status run_read_shown(cli_state *cli, const cli_pipeline *pipeline, const run_options *options,
                           const run_selection *selection, run_result *result) {
  const heed_model_info *info = &pipeline->info;
  const size_t count = (size_t)info->heads * result->tokens;
  if (options->reverse) {
    result->columns_of_query = malloc(info->layers * count * sizeof *result->columns_of_query);
    if (!result->columns_of_query)
      return heed_fail_memory(&cli->error, "columns",
                              info->layers * count * sizeof *result->columns_of_query);
    for (uint32_t l = result->first_kept; l < result->first_kept + result->kept; l++) {
      const layer_values v = {.weights = result->attention[l], .tokens = result->tokens};
      fill(&v, weight, info->heads, selection->query, true, result->columns_of_query + l * count);
    }
  }
  return stage_of(options) ? read_scores(cli, pipeline, options, selection, result) : HEED_OK;
}

/* -------------------------------------------------------------------------------------- rollout */

/* In [0, 1): --discard; in (0, 1]: --residual. */
static heed_status read_share(cli_state *cli, const char *name, const char *text, bool may_be_all,
                              float *share) {
  const char *at = text;
  double number;
  if (cli_take_decimal(&at, &number) && *at == '\0' &&
      (may_be_all ? (float)number > 0.0f && number <= 1.0 : (float)number < 1.0f)) {
    *share = (float)number;
    return HEED_OK;
  }
  return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                   "%s: invalid fraction (found \"%s\", expected %s)", name, text,
                   may_be_all ? "more than 0, at most 1" : "0 or more, less than 1");
}

/* --layers FIRST-LAST */
static heed_status read_layers(cli_state *cli, const char *text, heed_rollout_desc *desc) {
  uint32_t last;
  if (!cli_read_pair(text, '-', desc->layers - 1, desc->layers - 1, &desc->first_layer, &last) ||
      last < desc->first_layer)
    return heed_fail(
        &cli->error, HEED_INVALID_ARGUMENT,
        "--layers: layers out of range (found \"%s\", expected FIRST-LAST from 0 to %u)", text,
        desc->layers - 1);
  desc->layer_count = last - desc->first_layer + 1;
  return HEED_OK;
}

static heed_status read_fusion(cli_state *cli, const char *text, heed_fusion *fusion) {
  static const char *const names[] = {"mean", "min", "max"};
  for (int i = 0; i < 3; i++)
    if (strcmp(text, names[i]) == 0) {
      *fusion = (heed_fusion)i;
      return HEED_OK;
    }
  return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                   "--fusion: unknown fusion (found \"%s\", expected mean, min or max)", text);
}

heed_status run_rollout_desc(cli_state *cli, const run_rollout_options *options,
                             const heed_model_info *info, uint32_t tokens,
                             heed_rollout_desc *desc) {
  *desc = (heed_rollout_desc){
      .struct_size = sizeof *desc, .layers = info->layers, .heads = info->heads, .tokens = tokens};
  if (options->fusion) CLI_TRY(read_fusion(cli, options->fusion, &desc->fusion));
  if (options->residual)
    CLI_TRY(read_share(cli, "--residual", options->residual, true, &desc->residual));
  if (options->discard)
    CLI_TRY(read_share(cli, "--discard", options->discard, false, &desc->discard));
  return options->layers ? read_layers(cli, options->layers, desc) : HEED_OK;
}

/* The same of weights that are made again from the session's queries and keys. */
static heed_status remake_from(cli_state *cli, const cli_pipeline *pipeline,
                               const heed_rollout_desc *desc, float *start) {
  heed_value *weights = calloc(desc->layers, sizeof *weights);
  if (!weights) return heed_fail_memory(&cli->error, "rollout", desc->layers * sizeof *weights);
  for (uint32_t l = 0; l < desc->layers; l++)
    weights[l] = heed_graph_find(pipeline->graph, pipeline->tap_names[l]);
  const heed_status status =
      heed_session_rollout_row(pipeline->session, desc, weights, 0, start, start, &cli->error);
  free(weights);
  return status;
}

/* start is used up. */
static heed_status rollout_from(cli_state *cli, const cli_pipeline *pipeline,
                                const run_options *options, const heed_rollout_desc *desc,
                                float *start, float **row) {
  *row = start;
  if (!start) return heed_fail_memory(&cli->error, "rollout", desc->tokens * sizeof *start);
  return options->remake
             ? remake_from(cli, pipeline, desc, start)
             : heed_map_rollout_row(cli->context, desc, NULL, start, start, &cli->error);
}

heed_status run_read_rollout(cli_state *cli, const cli_pipeline *pipeline,
                             const run_options *options, const run_selection *selection,
                             run_result *result) {
  const heed_model_info *info = &pipeline->info;
  const size_t square = (size_t)result->tokens * result->tokens;
  heed_rollout_desc desc;
  CLI_TRY(run_rollout_desc(cli, &options->rollout_how, info, result->tokens, &desc));
  desc.maps = result->attention;
  static const char *const fusions[] = {"mean of the heads", "minimum of the heads",
                                        "maximum of the heads"};
  const uint32_t last =
      desc.layer_count ? desc.first_layer + desc.layer_count - 1 : info->layers - 1;
  snprintf(result->rollout_words, sizeof result->rollout_words,
           "over layers %u to %u, %s, residual %g%s%.8s", desc.first_layer, last,
           fusions[desc.fusion], desc.residual > 0.0f ? (double)desc.residual : 0.5,
           desc.discard > 0.0f ? ", without the smallest " : "",
           desc.discard > 0.0f ? options->rollout_how.discard : "");
  float *start = calloc(result->tokens, sizeof *start);
  if (start) start[selection->query] = 1.0f;
  CLI_TRY(rollout_from(cli, pipeline, options, &desc, start, &result->rollout_row));
  if (result->pool) {
    float *probe = calloc(result->tokens, sizeof *probe);
    for (size_t i = 0; probe && i < (size_t)info->pool_heads * result->tokens; i++)
      probe[i % result->tokens] += result->pool[i] / (float)info->pool_heads;
    CLI_TRY(rollout_from(cli, pipeline, options, &desc, probe, &result->pool_rollout));
  }
  if (!options->save || options->save_only || options->narrow.layer || options->narrow.head ||
      options->narrow.query)
    return HEED_OK;
  result->rollout = malloc(square * sizeof *result->rollout);
  if (!result->rollout)
    return heed_fail_memory(&cli->error, "rollout", square * sizeof *result->rollout);
  return heed_map_rollout(cli->context, &desc, NULL, result->rollout, &cli->error);
}
