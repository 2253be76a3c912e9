/* A survey in words and JSON. See results.h. */
#include "results.h"

#include <stdlib.h>

#include "places.h"
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
  const survey_summary twins = survey_sums_twins(sums, (size_t)layer * sums->shape.heads + head);
  if (sums->twin_pictures) printf("  %8.1f +- %-7.1f", twins.mean, twins.spread);
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
  if (sums->twin_pictures) printf("  %17s  ", "twins x uniform");
  printf("\n");
  for (uint32_t layer = 0; layer < sums->shape.layers; layer++)
    for (uint32_t head = 0; head < sums->shape.heads; head++) print_head(sums, layer, head);
  printf("mean +- standard deviation over images, of means over patch queries\n");
}

static void json_summary(json_out *json, const char *key, const survey_summary *of) {
  json_open(json, key, '{');
  json_number(json, "mean", of->mean);
  json_number(json, "spread", of->spread);
  json_number(json, "least", of->least);
  json_number(json, "largest", of->largest);
}

/* Doubles as floats; scratch is as long. */
static void json_doubles(json_out *json, const char *key, const double *values, size_t count,
                         float *scratch) {
  for (size_t i = 0; i < count; i++) scratch[i] = (float)values[i];
  json_floats(json, key, scratch, count);
}

static void json_place(json_out *json, const survey_sums *sums, size_t head, double *weights,
                       float *scratch) {
  const survey_shape *shape = &sums->shape;
  const survey_place place = survey_place_of(sums, head);
  const uint32_t rows = 2 * shape->rows - 1, columns = 2 * shape->columns - 1;
  json_number(json, "place_share", place.share);
  json_number(json, "sharpness", place.sharpness);
  json_text(json, "habit", survey_habit_names[survey_habit_of(&place)]);
  json_open(json, "peak", '{');
  json_number(json, "weight", place.peak);
  json_integer(json, "rows", place.row);
  json_integer(json, "columns", place.column);
  json_close(json, '}');
  if (shape->prefix) {
    for (uint32_t t = 0; t < shape->prefix; t++) weights[t] = survey_prefix_mean(sums, head, t);
    json_doubles(json, "prefix", weights, shape->prefix, scratch);
    survey_mean_first_row(sums, head, weights);
    json_doubles(json, "first_row", weights, survey_tokens(shape), scratch);
  }
  survey_mean_by_offset(sums, head, weights);
  json_open(json, "by_offset", '[');
  for (uint32_t r = 0; r < rows; r++)
    json_doubles(json, NULL, weights + (size_t)r * columns, columns, scratch);
  json_close(json, ']');
}

static void json_examples(json_out *json, const survey_facts *facts, size_t head, int kind) {
  const survey_example *of = survey_typical_of(&facts->typical, head, kind);
  json_open(json, kind ? "untypical" : "typical", '[');
  for (uint32_t i = 0; i < facts->typical.found; i++) {
    const size_t name = survey_facts_find(facts, of[i].picture);
    if (name == facts->name_count) continue;
    json_open(json, NULL, '{');
    json_text(json, "image", facts->names[name].path);
    json_number(json, "value", of[i].value);
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void json_head(json_out *json, const survey_results *results, size_t at, double *weights,
                      float *scratch) {
  const survey_sums *sums = results->sums;
  json_open(json, NULL, '{');
  json_integer(json, "layer", (int64_t)(at / sums->shape.heads));
  json_integer(json, "head", (int64_t)(at % sums->shape.heads));
  for (size_t s = 0; s < SURVEY_STATISTICS; s++) {
    const survey_summary of = survey_sums_summary(sums, at, s);
    json_summary(json, survey_statistics[s].name, &of);
    for (size_t q = 0; q < sizeof shares / sizeof *shares; q++)
      json_number(json, shares[q].name, survey_sums_quantile(sums, at, s, shares[q].share));
    json_close(json, '}');
  }
  if (sums->twin_pictures) {
    const survey_summary of = survey_sums_twins(sums, at);
    json_summary(json, SURVEY_TWIN_WEIGHT, &of);
    json_close(json, '}');
  }
  if (sums->mapped) json_place(json, sums, at, weights, scratch);
  for (int kind = 0; results->facts && results->facts->typical.found && kind < 2; kind++)
    json_examples(json, results->facts, at, kind);
  json_close(json, '}');
  fputc('\n', json->file);
}

static void json_layers(json_out *json, const survey_sums *sums, double *weights, float *scratch) {
  const survey_states *states = &sums->states;
  const size_t tokens = survey_tokens(&sums->shape), patches = survey_patches(&sums->shape);
  if (!states->pictures) return;
  json_open(json, "layers", '[');
  for (uint32_t layer = 0; layer < sums->shape.layers; layer++) {
    json_open(json, NULL, '{');
    json_integer(json, "layer", layer);
    for (int n = 0; n < SURVEY_NORMS; n++) {
      const survey_summary of = survey_states_summary(states, layer, n);
      json_summary(json, survey_norm_names[n], &of);
      json_close(json, '}');
    }
    if (states->mapped) {
      for (size_t t = 0; t < tokens; t++)
        weights[t] = survey_states_norm(states, layer * tokens + t);
      json_doubles(json, "norms", weights, tokens, scratch);
      for (size_t p = 0; p < patches; p++)
        weights[p] = survey_states_share(states, layer * patches + p);
      json_doubles(json, "outlier_shares", weights, patches, scratch);
    }
    json_close(json, '}');
    fputc('\n', json->file);
  }
  json_close(json, ']');
}

static void json_maps(json_out *json, const survey_sums *sums, double *weights, float *scratch) {
  const size_t patches = survey_patches(&sums->shape);
  size_t map = 0;
  if (!sums->shape.maps || !sums->mapped) return;
  json_open(json, "maps", '{');
  for (uint32_t i = 0; i < SURVEY_MOST_MAPS; i++) {
    if (!(sums->shape.maps >> i & 1)) continue;
    for (size_t p = 0; p < patches; p++) weights[p] = survey_sums_map(sums, map, p);
    json_doubles(json, heed_patch_map_name(i), weights, patches, scratch);
    map++;
  }
  json_close(json, '}');
}

static void json_facts(json_out *json, const survey_facts *facts) {
  if (facts->typical.found)
    json_text(json, "typical_by", survey_statistics[facts->typical.statistic].name);
  json_open(json, "classes", '[');
  for (size_t i = 0; i < facts->class_count; i++) {
    json_open(json, NULL, '{');
    json_integer(json, "class", facts->classes[i].index);
    if (facts->classes[i].name) json_text(json, "label", facts->classes[i].name);
    json_integer(json, "images", facts->classes[i].pictures);
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void json_shape(json_out *json, const survey_shape *shape) {
  json_open(json, "shape", '{');
  json_integer(json, "layers", shape->layers);
  json_integer(json, "heads", shape->heads);
  json_integer(json, "prefix", shape->prefix);
  json_integer(json, "rows", shape->rows);
  json_integer(json, "columns", shape->columns);
  json_integer(json, "patch", shape->patch);
  json_close(json, '}');
}

heed_status survey_write_json(void *user, FILE *to, heed_error *error) {
  const survey_results *results = user;
  const survey_sums *sums = results->sums;
  const size_t most = survey_offsets(&sums->shape) + survey_tokens(&sums->shape);
  json_out json = {.file = to};
  double *weights = malloc(most * sizeof *weights);
  float *scratch = malloc(most * sizeof *scratch);
  if (!weights || !scratch) {
    free(weights);
    free(scratch);
    return heed_fail_memory(error, "JSON", most * sizeof *weights);
  }
  json_begin(&json);
  if (results->model)
    json_text(&json, "model", results->model);
  else
    json_flag(&json, "demo_model", true);
  json_text(&json, "backend", results->device);
  json_integer(&json, "images", sums->pictures);
  json_integer(&json, "failed", results->failed);
  json_integer(&json, "mapped", sums->mapped);
  if (sums->twin_pictures) json_integer(&json, "scenes_with_twins", sums->twin_pictures);
  json_shape(&json, &sums->shape);
  json_open(&json, "quantile_error", '{');
  for (size_t s = 0; s < SURVEY_STATISTICS; s++)
    json_number(&json, survey_statistics[s].name, survey_bin_width(&sums->shape, s));
  json_close(&json, '}');
  if (results->facts) json_facts(&json, results->facts);
  json_layers(&json, sums, weights, scratch);
  json_maps(&json, sums, weights, scratch);
  json_open(&json, "heads", '[');
  for (size_t head = 0; head < survey_heads(&sums->shape); head++)
    json_head(&json, results, head, weights, scratch);
  json_close(&json, ']');
  json_close(&json, '}');
  fputc('\n', to);
  free(weights);
  free(scratch);
  return HEED_OK;
}
