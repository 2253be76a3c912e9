/* Tensors of a survey. See save.h. */
#include "save.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "places.h"
#include "terminal/tensors.h"

typedef struct saving {
  cli_state *cli;
  const survey_sums *sums;
  cli_tensors tensors;
} saving;

/* Floats for a tensor, which the list takes. NULL where there is no memory, or no number. */
static float *room(const heed_shape *shape) {
  return malloc((size_t)heed_shape_count(shape) * sizeof(float) + 1);
}

static heed_status take(saving *to, const char *name, heed_dtype dtype, const heed_shape *shape,
                        void *data) {
  if (!data)
    return heed_fail_memory(&to->cli->error, name, (size_t)heed_shape_count(shape) * sizeof(float));
  return cli_tensors_take(&to->tensors, name, dtype, shape, data, &to->cli->error);
}

/* [layers, heads, statistics] of one number of a summary. */
static heed_status take_summary(saving *to, const char *name, size_t offset) {
  const survey_shape *of = &to->sums->shape;
  const heed_shape shape = {3, {of->layers, of->heads, SURVEY_STATISTICS}};
  float *data = room(&shape);
  for (size_t i = 0; data && i < survey_heads(of) * SURVEY_STATISTICS; i++) {
    const survey_summary summary =
        survey_sums_summary(to->sums, i / SURVEY_STATISTICS, i % SURVEY_STATISTICS);
    data[i] = (float)*(const double *)(const void *)((const char *)&summary + offset);
  }
  return take(to, name, HEED_F32, &shape, data);
}

static heed_status take_twins(saving *to) {
  const survey_shape *of = &to->sums->shape;
  const heed_shape shape = {2, {of->layers, of->heads}};
  if (!to->sums->twin_pictures) return HEED_OK;
  float *data = room(&shape);
  for (size_t h = 0; data && h < survey_heads(of); h++)
    data[h] = (float)survey_sums_twins(to->sums, h).mean;
  return take(to, SURVEY_TWIN_WEIGHT, HEED_F32, &shape, data);
}

static heed_status take_histogram(saving *to) {
  const survey_shape *of = &to->sums->shape;
  const heed_shape shape = {4, {of->layers, of->heads, SURVEY_STATISTICS, SURVEY_BINS}};
  const size_t count = (size_t)heed_shape_count(&shape);
  int32_t *data = malloc(count * sizeof *data + 1);
  for (size_t i = 0; data && i < count; i++) data[i] = (int32_t)to->sums->bins[i];
  return take(to, "histogram", HEED_I32, &shape, data);
}

/* Sums of weights over the images of the survey's grid. */
static heed_status take_mean(saving *to, const char *name, const heed_shape *shape,
                             const int64_t *sums, int64_t pictures, int bits) {
  const size_t count = (size_t)heed_shape_count(shape);
  if (!count || !pictures) return HEED_OK;
  float *data = room(shape);
  for (size_t i = 0; data && i < count; i++)
    data[i] = (float)ldexp((double)sums[i] / (double)pictures, -bits);
  return take(to, name, HEED_F32, shape, data);
}

static heed_status take_offsets(saving *to) {
  const survey_shape *of = &to->sums->shape;
  const heed_shape shape = {4, {of->layers, of->heads, 2 * of->rows - 1, 2 * of->columns - 1}};
  const size_t each = survey_offsets(of);
  if (!to->sums->mapped) return HEED_OK;
  double *means = malloc(each * sizeof *means);
  float *data = means ? room(&shape) : NULL;
  for (size_t h = 0; data && h < survey_heads(of); h++) {
    survey_mean_by_offset(to->sums, h, means);
    for (size_t i = 0; i < each; i++) data[h * each + i] = (float)means[i];
  }
  free(means);
  return take(to, "by_offset", HEED_F32, &shape, data);
}

static heed_status take_states(saving *to) {
  const survey_shape *of = &to->sums->shape;
  const survey_states *states = &to->sums->states;
  const heed_shape norms = {2, {of->layers, (uint32_t)survey_tokens(of)}},
                   outliers = {2, {of->layers, (uint32_t)survey_patches(of)}};
  CLI_TRY(take_mean(to, "norms", &norms, states->norms, states->mapped, SURVEY_NORM_BITS));
  return take_mean(to, "outliers", &outliers, states->outliers, states->mapped, 0);
}

/* [rows, columns] of each method. */
static heed_status take_maps(saving *to) {
  const survey_shape *of = &to->sums->shape;
  const heed_shape shape = {2, {of->rows, of->columns}};
  const size_t patches = survey_patches(of);
  char name[64];
  size_t map = 0;
  for (uint32_t i = 0; i < SURVEY_MOST_MAPS && to->sums->mapped; i++) {
    if (!(of->maps >> i & 1)) continue;
    snprintf(name, sizeof name, "map.%s", heed_patch_map_name(i));
    CLI_TRY(take_mean(to, name, &shape, to->sums->maps + map * patches, to->sums->mapped,
                      SURVEY_MAP_BITS));
    map++;
  }
  return HEED_OK;
}

static heed_status take_all(saving *to) {
  const survey_shape *of = &to->sums->shape;
  const heed_shape row = {3, {of->layers, of->heads, (uint32_t)survey_tokens(of)}},
                   relative = {4, {of->layers, of->heads, 2 * of->rows - 1, 2 * of->columns - 1}},
                   prefix = {3, {of->layers, of->heads, of->prefix}};
  CLI_TRY(take_summary(to, "mean", offsetof(survey_summary, mean)));
  CLI_TRY(take_summary(to, "spread", offsetof(survey_summary, spread)));
  CLI_TRY(take_summary(to, "least", offsetof(survey_summary, least)));
  CLI_TRY(take_summary(to, "largest", offsetof(survey_summary, largest)));
  CLI_TRY(take_histogram(to));
  CLI_TRY(take_twins(to));
  const int64_t mapped = to->sums->mapped;
  if (of->prefix)
    CLI_TRY(take_mean(to, "first_row", &row, to->sums->first_row, mapped, SURVEY_WEIGHT_BITS));
  CLI_TRY(take_mean(to, "relative", &relative, to->sums->offsets, mapped, SURVEY_WEIGHT_BITS));
  CLI_TRY(take_offsets(to));
  CLI_TRY(take_mean(to, "prefix", &prefix, to->sums->prefix, mapped, SURVEY_WEIGHT_BITS));
  CLI_TRY(take_maps(to));
  return take_states(to);
}

heed_status survey_save(cli_state *cli, const survey_sums *sums, const char *path) {
  saving to = {.cli = cli, .sums = sums};
  char pictures[32], names[256] = "";
  for (size_t s = 0; s < SURVEY_STATISTICS; s++)
    snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", s ? "," : "",
             survey_statistics[s].name);
  snprintf(pictures, sizeof pictures, "%lld", (long long)sums->pictures);
  const heed_metadata_entry metadata[] = {{"images", pictures}, {"statistics", names}};
  heed_status status = take_all(&to);
  if (status == HEED_OK) status = cli_tensors_save(cli, &to.tensors, metadata, 2, path);
  cli_tensors_clear(&to.tensors);
  return status;
}
