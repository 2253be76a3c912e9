/* Two surveys beside each other. See compare.h. */
#include "compare.h"

#include <math.h>
#include <stdlib.h>

#include "store.h"
#include "student.h"
#include "terminal/json_out.h"
#include "terminal/paths.h"
#include "terminal/standard_out.h"

static heed_status read_survey(cli_state *cli, const char *path, survey_identity *identity,
                               survey_sums *sums) {
  survey_store *store = NULL;
  const heed_status status = survey_store_open(cli, path, identity, sums, &store);
  survey_store_close(store);
  return status;
}

static heed_status check(cli_state *cli, const char *b, const survey_comparison *of) {
  const survey_shape *x = &of->a.shape, *y = &of->b.shape;
  if (x->layers != y->layers || x->heads != y->heads)
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "%s: other heads than the first survey (found %u x %u, expected %u x %u)", b,
                     y->layers, y->heads, x->layers, x->heads);
  return of->pairs.count >= 2
             ? HEED_OK
             : heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                         "%s: no pairs with the first survey (found %lld images with rows of heads "
                         "in both, expected 2 at least)",
                         b, (long long)of->pairs.count);
}

/* A difference that is the same for all images has no spread: it is certain, or nothing. */
static double t_of(double mean, double spread, double count) {
  if (spread > 0.0) return mean / (spread / sqrt(count));
  return mean > 0.0 ? (double)INFINITY : mean < 0.0 ? -(double)INFINITY : 0.0;
}

static heed_status compute(cli_state *cli, survey_comparison *of) {
  const size_t count = survey_heads(&of->a.shape) * SURVEY_STATISTICS;
  of->t = calloc(count, sizeof *of->t);
  of->p = calloc(count, sizeof *of->p);
  of->order = calloc(count, sizeof *of->order);
  if (!of->t || !of->p || !of->order)
    return heed_fail_memory(&cli->error, "survey", count * sizeof *of->t);
  for (size_t i = 0; i < count; i++) {
    of->t[i] = t_of(of->pairs.mean[i], of->pairs.spread[i], (double)of->pairs.count);
    of->p[i] = survey_student(of->t[i], (double)(of->pairs.count - 1));
  }
  survey_holm(of->p, count, of->order);
  return HEED_OK;
}

size_t survey_comparison_moved(const survey_comparison *of) {
  const size_t count = survey_heads(&of->a.shape) * SURVEY_STATISTICS;
  size_t moved = 0;
  while (moved < count && of->p[of->order[moved]] < SURVEY_LEVEL) moved++;
  return moved;
}

static void print(const survey_comparison *of) {
  const size_t count = survey_heads(&of->a.shape) * SURVEY_STATISTICS,
               moved = survey_comparison_moved(of);
  printf(
      "%s and %s: %lld images in both; %zu of %zu statistics of heads moved (p < %g, adjusted)\n",
      CLI_SHOWN(of->path_a), CLI_SHOWN(of->path_b), (long long)of->pairs.count, moved, count,
      SURVEY_LEVEL);
  if (!moved) return;
  printf("layer head  statistic              mean change         t   adjusted p\n");
  for (size_t i = 0; i < moved; i++) {
    const size_t at = of->order[i], head = at / SURVEY_STATISTICS;
    printf("%5zu %4zu  %-21s %12.6g %9.3g %12.3g\n", head / of->a.shape.heads,
           head % of->a.shape.heads, survey_statistics[at % SURVEY_STATISTICS].name,
           of->pairs.mean[at], of->t[at], of->p[at]);
  }
}

static void json_statistic(json_out *json, const survey_comparison *of, size_t at) {
  json_open(json, survey_statistics[at % SURVEY_STATISTICS].name, '{');
  json_number(json, "change", of->pairs.mean[at]);
  json_number(json, "spread", of->pairs.spread[at]);
  json_number(json, "t", of->t[at]);
  json_number(json, "p", of->p[at]);
  json_close(json, '}');
}

static heed_status write_json(void *user, FILE *to, heed_error *error) {
  const survey_comparison *of = user;
  json_out json = {.file = to};
  (void)error; /* cli_output_write reports writes that fail */
  json_begin(&json);
  json_text(&json, "model_a", of->a.model);
  json_text(&json, "model_b", of->b.model);
  json_integer(&json, "images", of->pairs.count);
  json_open(&json, "heads", '[');
  for (size_t head = 0; head < survey_heads(&of->a.shape); head++) {
    json_open(&json, NULL, '{');
    json_integer(&json, "layer", (int64_t)(head / of->a.shape.heads));
    json_integer(&json, "head", (int64_t)(head % of->a.shape.heads));
    for (size_t s = 0; s < SURVEY_STATISTICS; s++)
      json_statistic(&json, of, head * SURVEY_STATISTICS + s);
    json_close(&json, '}');
    fputc('\n', to);
  }
  json_close(&json, ']');
  json_close(&json, '}');
  fputc('\n', to);
  return HEED_OK;
}

static heed_status compare(cli_state *cli, const survey_outputs *outputs, survey_comparison *of) {
  const cli_path paths[] = {{CLI_READ, "A", of->path_a},
                            {CLI_READ, "B", of->path_b},
                            {CLI_WRITTEN, "--json", outputs->json},
                            {CLI_WRITTEN, "--report", outputs->report}};
  CLI_TRY(cli_check_paths(cli, paths, sizeof paths / sizeof *paths));
  CLI_TRY(read_survey(cli, of->path_a, &of->a, &of->sums_a));
  CLI_TRY(read_survey(cli, of->path_b, &of->b, &of->sums_b));
  CLI_TRY(survey_store_pair(cli, of->path_a, of->path_b, &of->a.shape, &of->pairs));
  CLI_TRY(check(cli, of->path_b, of));
  CLI_TRY(compute(cli, of));
  print(of);
  if (outputs->report) {
    CLI_TRY(cli_output_write(outputs->report, survey_write_comparison, of, &cli->error));
    printf("report: %s\n", CLI_SHOWN(outputs->report));
  }
  if (!outputs->json) return HEED_OK;
  CLI_TRY(cli_output_write(outputs->json, write_json, of, &cli->error));
  printf("JSON: %s\n", CLI_SHOWN(outputs->json));
  return HEED_OK;
}

heed_status survey_compare(cli_state *cli, const char *a, const char *b,
                           const survey_outputs *outputs) {
  survey_comparison of = {.path_a = a, .path_b = b};
  const heed_status status = compare(cli, outputs, &of);
  survey_identity_free(&of.a);
  survey_identity_free(&of.b);
  survey_sums_free(&of.sums_a);
  survey_sums_free(&of.sums_b);
  survey_pairs_free(&of.pairs);
  free(of.t);
  free(of.p);
  free(of.order);
  return status;
}
