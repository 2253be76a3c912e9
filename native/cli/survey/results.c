/* A survey in words and JSON. See results.h. */
#include "results.h"

#include "terminal/json_out.h"

static const struct survey_share {
  const char *name;
  double share;
} shares[] = {{"p5", 0.05}, {"p25", 0.25}, {"p50", 0.5}, {"p75", 0.75}, {"p95", 0.95}};

static void print_head(const survey_sums *sums, uint32_t layer, uint32_t head) {
  printf("%5u %4u", layer, head);
  for (size_t s = 0; s < SURVEY_STATISTICS; s++) {
    const survey_statistic *as = &survey_statistics[s];
    if (!as->heading) continue;
    const survey_summary of =
        survey_sums_summary(sums, (size_t)layer * sums->shape.heads + head, s);
    printf("  %8.*f +- %-7.*f", as->digits, as->factor * of.mean, as->digits,
           as->factor * of.spread);
  }
  printf("\n");
}

void survey_print(const survey_results *results) {
  const survey_sums *sums = results->sums;
  printf("%s%s: %s, %u layers x %u heads, on %s; %lld images\n",
         results->model ? "model " : "the demo model",
         results->model ? CLI_SHOWN(results->model) : "", CLI_SHOWN(results->family),
         sums->shape.layers, sums->shape.heads, CLI_SHOWN(results->backend),
         (long long)sums->pictures);
  if (results->assumed) printf("assumed: %s\n", results->assumed);
  printf("layer head");
  for (size_t s = 0; s < SURVEY_STATISTICS; s++)
    if (survey_statistics[s].heading) printf("  %17s  ", survey_statistics[s].heading);
  printf("\n");
  for (uint32_t layer = 0; layer < sums->shape.layers; layer++)
    for (uint32_t head = 0; head < sums->shape.heads; head++) print_head(sums, layer, head);
  printf("mean +- standard deviation over images, of means over patch queries\n");
}

static void json_head(json_out *json, const survey_sums *sums, uint32_t layer, uint32_t head) {
  const size_t at = (size_t)layer * sums->shape.heads + head;
  json_open(json, NULL, '{');
  json_integer(json, "layer", layer);
  json_integer(json, "head", head);
  for (size_t s = 0; s < SURVEY_STATISTICS; s++) {
    const survey_summary of = survey_sums_summary(sums, at, s);
    json_open(json, survey_statistics[s].name, '{');
    json_number(json, "mean", of.mean);
    json_number(json, "spread", of.spread);
    json_number(json, "least", of.least);
    json_number(json, "largest", of.largest);
    for (size_t q = 0; q < sizeof shares / sizeof *shares; q++)
      json_number(json, shares[q].name, survey_sums_quantile(sums, at, s, shares[q].share));
    json_close(json, '}');
  }
  json_close(json, '}');
  fputc('\n', json->file);
}

heed_status survey_write_json(void *user, FILE *to, heed_error *error) {
  const survey_results *results = user;
  const survey_sums *sums = results->sums;
  json_out json = {.file = to};
  (void)error; /* cli_output_write reports writes that fail */
  json_begin(&json);
  if (results->model)
    json_text(&json, "model", results->model);
  else
    json_flag(&json, "demo_model", true);
  json_text(&json, "backend", results->device);
  json_integer(&json, "images", sums->pictures);
  json_integer(&json, "failed", results->failed);
  json_open(&json, "quantile_error", '{');
  for (size_t s = 0; s < SURVEY_STATISTICS; s++)
    json_number(&json, survey_statistics[s].name, survey_bin_width(&sums->shape, s));
  json_close(&json, '}');
  json_open(&json, "heads", '[');
  for (uint32_t layer = 0; layer < sums->shape.layers; layer++)
    for (uint32_t head = 0; head < sums->shape.heads; head++) json_head(&json, sums, layer, head);
  json_close(&json, ']');
  json_close(&json, '}');
  fputc('\n', to);
  return HEED_OK;
}
