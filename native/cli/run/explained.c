/* heed run --explain: what the states of the patches hold, as numbers and as figures. A method is a
 * row of the table at the end: what it makes of the states, its keys in JSON, and the colours and
 * words of its figure. */
#include "explained.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explained_methods.h"
#include "joint.h"

void run_explained_free(run_explained *explained) {
  if (!explained) return;
  free(explained->states);
  free(explained->pca.foreground);
  free(explained->numbers);
  free(explained->similarity);
  free(explained->cluster);
  heed_explanation_destroy(explained->explanation);
  free(explained);
}

/* ------------------------------------------------------------------------------------------ pca */

/* Those of all images: the part of this one. */
static void take_joint(const run_joint *joint, run_explained *to) {
  const size_t channels = to->channels, n = to->patches, first = to->joint_first;
  memcpy(to->pca.mean, joint->pca.mean, channels * sizeof(float));
  memcpy(to->pca.components, joint->pca.components, 3 * channels * sizeof(float));
  memcpy(to->pca.colours, joint->pca.colours, 3 * channels * sizeof(float));
  memcpy(to->pca.variance, joint->pca.variance, 3 * sizeof(float));
  memcpy(to->pca.scores, joint->pca.scores + 3 * first, 3 * n * sizeof(float));
  memcpy(to->pca.rgb, joint->pca.rgb + 3 * first, 3 * n * sizeof(float));
  memcpy(to->pca.foreground, joint->pca.foreground + first, n);
}

static heed_status make_pca(cli_state *cli, const float *patches, const run_selection *selection,
                            run_explained *to) {
  (void)selection;
  const size_t n = to->patches, count = run_pca_floats(n, to->channels);
  to->numbers = malloc(count * sizeof *to->numbers);
  to->pca.foreground = malloc(n);
  if (!to->numbers || !to->pca.foreground)
    return heed_fail_memory(&cli->error, "pca", count * sizeof *to->numbers);
  run_pca_place(to->numbers, n, to->channels, &to->pca);
  if (!to->joint)
    return heed_patches_pca(cli->context, patches, &to->grid, 1, to->channels, &to->pca,
                            &cli->error);
  take_joint(to->joint, to);
  return HEED_OK;
}

static void json_pca(json_out *json, const run_explained *explained) {
  const uint32_t components[2] = {3, explained->channels}, patches[2] = {explained->patches, 3};
  json_floats(json, "mean", explained->pca.mean, explained->channels);
  json_array(json, "components", components, 2, explained->pca.components);
  json_floats(json, "variance", explained->pca.variance, 3);
  json_array(json, "scores", patches, 2, explained->pca.scores);
  json_open(json, "foreground", '[');
  for (uint32_t i = 0; i < explained->patches; i++)
    json_integer(json, NULL, explained->pca.foreground[i]);
  json_close(json, ']');
  json_array(json, "colours", components, 2, explained->pca.colours);
  json_array(json, "rgb", patches, 2, explained->pca.rgb);
}

static void colour_pca(const run_explained *explained, float *rgb) {
  memcpy(rgb, explained->pca.rgb, 3 * (size_t)explained->patches * sizeof *rgb);
}

static void words_of_pca(const run_explained *explained, const char *query, char title[200],
                         char caption[400]) {
  uint32_t count = 0;
  (void)query;
  for (uint32_t i = 0; i < explained->patches; i++) count += explained->pca.foreground[i];
  snprintf(title, RUN_EXPLAINED_TITLE_SIZE, "principal components of the patches");
  snprintf(caption, RUN_EXPLAINED_CAPTION_SIZE,
           "Red, green and blue: the first three components of the states of %u foreground patches "
           "of %u. Black: background, by the sign of the first component of all patches. Colours "
           "of two pictures %s.",
           count, explained->patches,
           explained->joint ? "compare: the components are those of all images together"
                            : "do not compare");
}

/* ----------------------------------------------------------------------------------- similarity */

static heed_status make_similarity(cli_state *cli, const float *patches,
                                   const run_selection *selection, run_explained *to) {
  to->similarity = malloc(to->patches * sizeof *to->similarity);
  if (!to->similarity)
    return heed_fail_memory(&cli->error, "similarity", to->patches * sizeof *to->similarity);
  return heed_patches_similarity(cli->context, to->states + (size_t)selection->query * to->channels,
                                 1, patches, to->patches, to->channels, to->similarity,
                                 &cli->error);
}

static void json_similarity(json_out *json, const run_explained *explained) {
  json_floats(json, "query", explained->similarity, explained->patches);
}

static void range_of(const run_explained *explained, float *low, float *high) {
  *low = 1.0f;
  *high = -1.0f;
  for (uint32_t i = 0; i < explained->patches; i++) {
    if (explained->similarity[i] < *low) *low = explained->similarity[i];
    if (explained->similarity[i] > *high) *high = explained->similarity[i];
  }
}

/* A cosine that is no number, as of a state of zeros, has no colour. */
static void colour_similarity(const run_explained *explained, float *rgb) {
  float low, high;
  range_of(explained, &low, &high);
  for (uint32_t i = 0; i < explained->patches; i++) {
    uint8_t bytes[3];
    const float cosine = explained->similarity[i];
    heed_colormap_rgb(
        HEED_COLORMAP_CIVIDIS,
        high > low ? ((double)cosine - (double)low) / ((double)high - (double)low) : 1.0, bytes);
    for (uint32_t c = 0; c < 3; c++)
      rgb[3 * i + c] = isnan(cosine) ? NAN : (float)bytes[c] / 255.0f;
  }
}

static void words_of_similarity(const run_explained *explained, const char *query,
                                char title[RUN_EXPLAINED_TITLE_SIZE],
                                char caption[RUN_EXPLAINED_CAPTION_SIZE]) {
  float low, high;
  range_of(explained, &low, &high);
  snprintf(title, RUN_EXPLAINED_TITLE_SIZE, "similarity to %s", query);
  if (low > high)
    snprintf(caption, RUN_EXPLAINED_CAPTION_SIZE, "A state of zeros has no cosine.");
  else
    snprintf(caption, RUN_EXPLAINED_CAPTION_SIZE,
             "Colours: cosine of two states, from %.2f (dark) to %.2f (bright).", (double)low,
             (double)high);
}

/* -------------------------------------------------------------------------------------- methods */

static const run_explained_method pca = {"pca",      make_pca,     json_pca, NULL,
                                         colour_pca, words_of_pca, false,    false};
static const run_explained_method similarity = {"similarity",
                                                make_similarity,
                                                json_similarity,
                                                NULL,
                                                colour_similarity,
                                                words_of_similarity,
                                                true,
                                                false};

static const run_explained_method *const methods[] = {&pca,
                                                      &similarity,
                                                      &run_explained_kmeans,
                                                      &run_explained_ledger,
                                                      &run_explained_lens,
                                                      &run_explained_norms,
                                                      &run_explained_outliers,
                                                      &run_explained_patch,
                                                      &run_explained_gradcam,
                                                      &run_explained_relevancy,
                                                      &run_explained_gradient_rollout,
                                                      &run_explained_attnlrp,
                                                      &run_explained_cplrp,
                                                      &run_explained_inputxgrad,
                                                      &run_explained_ig,
                                                      &run_explained_smoothgrad};
enum { METHODS = sizeof methods / sizeof *methods };
#define EXPECTED                                                                        \
  "pca, similarity, kmeans, ledger, lens, norms, outliers, patch, gradcam, relevancy, " \
  "gradient_rollout, attnlrp, cplrp, inputxgrad, ig or smoothgrad"

/* The n-th name of a list, or NULL after the last, and the method that it means. */
static const run_explained_method *listed(const char *list, uint32_t n, const char **name) {
  for (; list && n > 0; n--) {
    list = strchr(list, ',');
    if (list) list++;
  }
  *name = list;
  const size_t length = list ? strcspn(list, ",") : 0;
  for (size_t m = 0; list && m < METHODS; m++)
    if (strlen(methods[m]->name) == length && strncmp(methods[m]->name, list, length) == 0)
      return methods[m];
  return NULL;
}

uint32_t run_explained_count(const run_options *options) {
  uint32_t count = options->explain != NULL;
  for (const char *at = options->explain; at && *at; at++) count += *at == ',';
  return count;
}

const char *run_explained_name(const run_options *options, uint32_t n) {
  const char *name;
  return listed(options->explain, n, &name)->name;
}

/* What belongs to the methods of the score. */
static heed_status check_score(cli_state *cli, const run_options *options, bool of_score,
                               bool patches) {
  if (options->target && !of_score)
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--target: no score is explained (expected --explain ledger or another method "
                     "of the score)");
  if (patches != (options->patch_from != NULL))
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--patch-from: %s (expected --explain patch --patch-from IMAGE)",
                     patches ? "missing" : "nothing is patched");
  if (of_score && cli_changes_any(&options->changes))
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--explain: a changed model's score (found changes of the attention, expected "
                     "none with methods of the score)");
  return HEED_OK;
}

heed_status run_check_explained(cli_state *cli, const run_options *options) {
  const uint32_t count = run_explained_count(options);
  if (options->explained && !count)
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--explained: nothing to draw (expected --explain pca,similarity)");
  if (count && !options->explained && !options->json)
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--explain: missing file (expected --explained FILE or --json FILE)");
  bool of_score = false, patches = false, components = false;
  for (uint32_t n = 0; n < count; n++) {
    const char *name, *before;
    const run_explained_method *method = listed(options->explain, n, &name);
    if (!method)
      return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                       "--explain: unknown method (found \"%.*s\", expected " EXPECTED ")",
                       (int)strcspn(name, ","), name);
    for (uint32_t k = 0; k < n; k++)
      if (listed(options->explain, k, &before) == method)
        return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                         "--explain: a method twice (found %s, expected each once)", method->name);
    of_score = of_score || !method->make;
    patches = patches || method == &run_explained_patch;
    components = components || method == &pca;
  }
  if (options->joint.wanted && (!components || cli_changes_any(&options->changes)))
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--joint: %s (expected --explain pca, and no changes of the attention)",
                     components ? "a changed model" : "no components are asked for");
  return check_score(cli, options, of_score, patches);
}

/* All that the options ask for; heed_explain is called once for its methods. */
static heed_status explain(cli_state *cli, const cli_pipeline *pipeline, const run_options *options,
                           const run_selection *selection, const run_result *result,
                           run_explained *to) {
  char score[256] = ""; /* all names together are shorter */
  for (uint32_t n = 0; n < run_explained_count(options); n++) {
    const char *name;
    const run_explained_method *method = listed(options->explain, n, &name);
    if (method->make)
      CLI_TRY(method->make(cli, to->states + (size_t)to->prefix * to->channels, selection, to));
    else
      snprintf(score + strlen(score), sizeof score - strlen(score), "%s%s", *score ? "," : "",
               method->name);
  }
  return *score ? run_explain_score(cli, pipeline, options, result, score, to) : HEED_OK;
}

heed_status run_explain(cli_state *cli, const cli_pipeline *pipeline, const run_options *options,
                        const run_selection *selection, run_result *result) {
  heed_shape shape;
  if (!options->explain) return HEED_OK;
  CLI_TRY(run_check_states(cli, pipeline, result->tokens));
  run_explained *to = result->explained = calloc(1, sizeof *to);
  if (!to) return heed_fail_memory(&cli->error, "--explain", sizeof *to);
  CLI_TRY(cli_pipeline_read(cli, pipeline, RUN_STATES, &to->states, &shape));
  to->grid = (heed_patches){result->rows, result->columns};
  to->patches = result->rows * result->columns;
  to->channels = shape.dim[2];
  to->layers = pipeline->info.layers;
  to->heads = pipeline->info.heads;
  to->prefix = pipeline->info.prefix_tokens;
  to->clusters = options->clusters;
  to->joint_first = run_joint_find(&options->joint, result->picture);
  to->joint = options->joint.wanted && to->joint_first != SIZE_MAX ? &options->joint : NULL;
  return explain(cli, pipeline, options, selection, result, to);
}

void run_json_explained(struct json_out *json, const run_options *options,
                        const run_explained *explained) {
  json_open(json, "explain", '{');
  for (uint32_t n = 0; n < run_explained_count(options); n++) {
    const char *name;
    const run_explained_method *method = listed(options->explain, n, &name);
    json_open(json, method->name, '{');
    method->json(json, explained);
    json_close(json, '}');
  }
  json_close(json, '}');
}

heed_status run_explained_draw(cli_state *cli, const run_options *options,
                               const run_explained *explained, uint32_t n, const char *query,
                               run_explained_figure *to) {
  const char *name;
  const run_explained_method *method = listed(options->explain, n, &name);
  *to = (run_explained_figure){
      .rows = 1, .columns = 1, .of_query = method->of_query, .levels = method->levels};
  if (method->panels) method->panels(explained, &to->rows, &to->columns);
  const size_t count = 3 * (size_t)to->rows * to->columns * explained->patches;
  to->rgb = malloc(count * sizeof *to->rgb);
  if (!to->rgb) return heed_fail_memory(&cli->error, "figure", count * sizeof *to->rgb);
  method->colour(explained, to->rgb);
  method->words(explained, query, to->title, to->caption);
  return HEED_OK;
}
