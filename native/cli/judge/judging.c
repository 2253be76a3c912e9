/* See judging.h. Pictures wait until they are many; then their maps are made in one call, and all
 * maps of all of them are judged in another, as pictures of one batch. */
#include "judging.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "session/patch_maps.h"

enum { MOST_ROOM = 32, JUDGE_IG_STEPS = 8 };
/* Numbers of the widest value of a batch. */
#define MOST_NUMBERS (UINT64_C(1) << 25)

const judge_metric judge_metrics[JUDGE_METRICS] = {
    {"deletion", "deletion", "deletion.tokens.probability", "deletion.tokens", HEED_CURVES_TOKENS,
     "lower", false},
    {"insertion", "insertion", "insertion.tokens.probability", "insertion.tokens",
     HEED_CURVES_TOKENS, "higher", false},
    {"deletion-pixels", "deletion", "deletion.pixels.probability", "deletion.pixels",
     HEED_CURVES_PIXELS, "lower", false},
    {"insertion-pixels", "insertion", "insertion.pixels.probability", "insertion.pixels",
     HEED_CURVES_PIXELS, "higher", false},
    {"flipping", "flipping", "flipping", "flipping", HEED_CURVES_BOTH, "lower", false},
    {"road", "road", "road.kept", "road", HEED_CURVES_BOTH, "lower", false},
    {"pointing", "localisation", "localisation.pointing", NULL, HEED_CURVES_BOTH, "higher", true},
    {"mass", "localisation", "localisation.mass", NULL, HEED_CURVES_BOTH, "higher", true},
    {"rank", "localisation", "localisation.rank", NULL, HEED_CURVES_BOTH, "higher", true},
};

/* ROAD's percentages here. */
static const double percent[] = {10.0, 30.0, 50.0, 70.0, 90.0};

/* -------------------------------------------------------------------------------------- numbers */

static void add_number(judge_number *of, double value) {
  const double before = value - of->mean;
  if (!isfinite(value)) return;
  of->mean += before / ++of->count;
  of->squares += before * (value - of->mean);
}

double judge_interval(const judge_number *of) {
  return of->count > 1 ? 1.96 * sqrt(of->squares / (of->count - 1) / of->count) : 0.0;
}

/* --------------------------------------------------------------------------------------- choices
 */

static heed_status refuse(judging *j, const char *option, const char *found, size_t length,
                          const char *known) {
  return heed_fail(&j->cli->error, HEED_INVALID_ARGUMENT,
                   "%s: unknown name (found \"%.*s\", expected %s)", option,
                   length < 64 ? (int)length : 64, found, known);
}

/* The map of this name. */
static bool find_map(const char *found, size_t length, bool masked, judge_map *map) {
  uint32_t index;
  *map = (judge_map){.name = NULL};
  if (cli_patch_map_find(found, length, &index))
    *map = (judge_map){.name = heed_patch_map_name(index), .index = index};
  if (cli_is_name("chance", found, length))
    *map = (judge_map){.name = "chance", .index = JUDGE_CHANCE};
  if (masked && cli_is_name("truth", found, length))
    *map = (judge_map){.name = "truth", .index = JUDGE_TRUTH};
  return map->name != NULL;
}

static heed_status choose_maps(judging *j, const char *list, bool masked) {
  char known[512] = "";
  const char *name, *all = known;
  size_t length;
  for (uint32_t i = 0; (name = heed_patch_map_name(i)) != NULL; i++)
    snprintf(known + strlen(known), sizeof known - strlen(known), "%s,", name);
  snprintf(known + strlen(known), sizeof known - strlen(known), masked ? "chance,truth" : "chance");
  if (list) all = list;
  while (cli_next_name(&all, &name, &length)) {
    if (j->map_count == JUDGE_MOST_MAPS)
      return heed_fail(&j->cli->error, HEED_INVALID_ARGUMENT,
                       "--methods: too many (expected at most %d)", (int)JUDGE_MOST_MAPS);
    if (!find_map(name, length, masked, &j->maps[j->map_count]))
      return refuse(j, "--methods", name, length, known);
    j->map_count++;
  }
  return HEED_OK;
}

static heed_status choose_metrics(judging *j, const char *list, bool masked) {
  char known[512] = "";
  const char *name, *all = known;
  size_t length;
  for (uint32_t m = 0; m < JUDGE_METRICS; m++)
    if (masked || !judge_metrics[m].masked)
      snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", *known ? "," : "",
               judge_metrics[m].name);
  if (list) all = list;
  while (cli_next_name(&all, &name, &length)) {
    uint32_t m = 0;
    while (m < JUDGE_METRICS && !cli_is_name(judge_metrics[m].name, name, length)) m++;
    if (m == JUDGE_METRICS || (judge_metrics[m].masked && !masked))
      return refuse(j, "--metrics", name, length, known);
    j->wanted[m] = true;
  }
  return HEED_OK;
}

heed_status judging_choose(judging *j, const char *maps, const char *metrics, bool masked) {
  CLI_TRY(choose_maps(j, maps, masked));
  CLI_TRY(choose_metrics(j, metrics, masked));
  for (uint32_t m = 0; m < JUDGE_METRICS; m++)
    for (uint32_t i = 0; i < j->map_count; i++)
      if (j->wanted[m] && judge_metrics[m].curves != HEED_CURVES_BOTH &&
          !(j->maps[i].curves[m] = calloc(j->steps + (size_t)1, sizeof(double))))
        return heed_fail_memory(&j->cli->error, "judge", (j->steps + (size_t)1) * sizeof(double));
  return HEED_OK;
}

/* ------------------------------------------------------------------------------------------ maps
 */

static heed_patches grid_of(const judging *j) {
  const uint32_t patch = j->pipeline->info.patch;
  return (heed_patches){j->height / patch, j->width / patch};
}

/* splitmix64 (Steele et al. 2014) of the picture's and the patch's number. */
static void fill_chance(uint64_t picture, uint32_t count, float *map) {
  for (uint32_t i = 0; i < count; i++) {
    uint64_t z = (picture << 32 | i) + UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    map[i] = (float)((z ^ z >> 31) >> 40);
  }
}

/* The share of each patch that the mask covers. */
static void fill_truth(const judging *j, uint32_t picture, float *map) {
  const heed_patches grid = grid_of(j);
  const uint32_t patch = j->pipeline->info.patch;
  const uint8_t *mask = j->mask + (size_t)picture * j->height * j->width;
  for (uint32_t y = 0; y < grid.rows * patch; y++)
    for (uint32_t x = 0; x < grid.columns * patch; x++)
      map[y / patch * grid.columns + x / patch] += mask[(size_t)y * j->width + x] ? 1.0f : 0.0f;
}

static heed_status fill_map(judging *j, const heed_explanation *made, uint32_t index,
                            uint32_t picture, float *map) {
  const heed_patches grid = grid_of(j);
  const uint32_t count = grid.rows * grid.columns;
  memset(map, 0, count * sizeof *map);
  if (index == JUDGE_CHANCE) fill_chance((uint64_t)j->pictures + picture, count, map);
  if (index == JUDGE_TRUTH) fill_truth(j, picture, map);
  return index < JUDGE_TRUTH ? heed_patch_map(made, index, picture, grid, map, &j->cli->error)
                             : HEED_OK;
}

/* maps [map_count, count, patches] */
static heed_status make_maps(judging *j, const heed_named_tensor *pixels, float *maps) {
  const heed_patches grid = grid_of(j);
  const size_t patches = (size_t)grid.rows * grid.columns;
  char methods[CLI_METHODS_SIZE] = "";
  heed_explanation *made = NULL;
  for (uint32_t i = 0; i < j->map_count; i++)
    if (j->maps[i].index < JUDGE_TRUTH)
      cli_methods_add(methods, heed_patch_map_method(j->maps[i].index));
  heed_explain_desc desc = {.struct_size = sizeof desc,
                            .model = j->pipeline->model,
                            .methods = methods,
                            .target = j->target,
                            .ig_steps = JUDGE_IG_STEPS,
                            .inputs = pixels,
                            .input_count = 1};
  if (*methods) CLI_TRY(cli_explain(j->cli, j->choice, &desc, &made));
  heed_status status = HEED_OK;
  for (uint32_t i = 0; i < j->map_count; i++)
    for (uint32_t p = 0; p < j->count && status == HEED_OK; p++)
      status = fill_map(j, made, j->maps[i].index, p, maps + ((size_t)i * j->count + p) * patches);
  heed_explanation_destroy(made);
  return status;
}

/* --------------------------------------------------------------------------------------- metrics
 */

static const heed_named_tensor *find(const heed_explanation *made, const char *name) {
  const heed_named_tensor *tensor;
  for (uint32_t i = 0; name && (tensor = heed_explanation_get(made, i)) != NULL; i++)
    if (strcmp(tensor->name, name) == 0) return tensor;
  return NULL;
}

static double element(const heed_named_tensor *tensor, size_t at) {
  if (tensor->dtype == HEED_F32) return (double)((const float *)tensor->data)[at];
  const uint8_t byte = ((const uint8_t *)tensor->data)[at];
  return byte == HEED_POINTING_NONE ? (double)NAN : byte;
}

/* The area below a curve, or the mean of a row. */
static double summarise(const heed_named_tensor *tensor, size_t row, bool curve) {
  const size_t count = tensor->shape.rank > 1 ? tensor->shape.dim[1] : 1;
  double sum = 0.0;
  for (size_t i = 0; i < count; i++)
    sum += element(tensor, row * count + i) * (curve && (!i || i + 1 == count) ? 0.5 : 1.0);
  return sum / (double)(curve ? count - 1 : count);
}

static void take_metric(judging *j, uint32_t m, const heed_named_tensor *tensor) {
  const bool curve = judge_metrics[m].curves != HEED_CURVES_BOTH;
  for (uint32_t i = 0; i < j->map_count; i++)
    for (uint32_t p = 0; p < j->count; p++) {
      const size_t row = (size_t)i * j->count + p;
      add_number(&j->maps[i].numbers[m], summarise(tensor, row, curve));
      for (uint32_t k = 0; curve && k <= j->steps; k++)
        j->maps[i].curves[m][k] += element(tensor, row * (j->steps + (size_t)1) + k);
    }
}

/* The metrics of one kind of curves, in one explanation. */
static heed_status judge_kind(judging *j, heed_explain_desc *desc, heed_curve_kind kind) {
  char methods[CLI_METHODS_SIZE] = "";
  heed_explanation *made;
  for (uint32_t m = 0; m < JUDGE_METRICS; m++)
    if (j->wanted[m] && judge_metrics[m].curves == kind)
      cli_methods_add(methods, judge_metrics[m].method);
  if (!*methods) return HEED_OK;
  desc->methods = methods;
  desc->curves = kind;
  CLI_TRY(cli_explain(j->cli, j->choice, desc, &made));
  for (uint32_t m = 0; m < JUDGE_METRICS; m++) {
    if (!j->wanted[m] || judge_metrics[m].curves != kind) continue;
    const heed_named_tensor *tensor = find(made, judge_metrics[m].tensor);
    if (!tensor) tensor = find(made, judge_metrics[m].else_);
    if (tensor) take_metric(j, m, tensor);
  }
  heed_explanation_destroy(made);
  return HEED_OK;
}

/* All maps of all pictures as one batch: their pictures again and again. */
typedef struct stacked {
  float *pixels, *maps;
  uint8_t *mask;
} stacked;

static heed_status judge_stacked(judging *j, const stacked *s) {
  const heed_patches grid = grid_of(j);
  const uint32_t batch = j->map_count * j->count, plane = j->height * j->width;
  const heed_named_tensor inputs[] = {
      {"pixel_values",
       HEED_F32,
       {4, {batch, j->pipeline->info.channels, j->height, j->width}},
       s->pixels},
      {"judge.map", HEED_F32, {2, {batch, grid.rows * grid.columns}}, s->maps},
      {"judge.mask", HEED_U8, {3, {batch, j->height, j->width}}, s->mask}};
  heed_explain_desc desc = {.struct_size = sizeof desc,
                            .model = j->pipeline->model,
                            .target = j->target,
                            .inputs = inputs,
                            .input_count = s->mask ? 3 : 2,
                            .steps = j->steps,
                            .flip_pixels = plane / j->steps + (plane % j->steps != 0),
                            .percent = percent,
                            .percent_count = sizeof percent / sizeof *percent};
  CLI_TRY(judge_kind(j, &desc, HEED_CURVES_TOKENS));
  CLI_TRY(judge_kind(j, &desc, HEED_CURVES_PIXELS));
  return judge_kind(j, &desc, HEED_CURVES_BOTH);
}

static heed_status judge_waiting(judging *j, stacked *s) {
  const heed_patches grid = grid_of(j);
  const size_t plane = (size_t)j->height * j->width, each = plane * j->pipeline->info.channels,
               batch = (size_t)j->map_count * j->count;
  const heed_named_tensor pixels = {
      "pixel_values",
      HEED_F32,
      {4, {j->count, j->pipeline->info.channels, j->height, j->width}},
      j->pixels};
  s->pixels = malloc(batch * each * sizeof *s->pixels);
  s->maps = malloc(batch * grid.rows * grid.columns * sizeof *s->maps);
  s->mask = j->mask ? malloc(batch * plane) : NULL;
  if (!s->pixels || !s->maps || (j->mask && !s->mask))
    return heed_fail_memory(&j->cli->error, "judge", batch * each * sizeof *s->pixels);
  for (uint32_t i = 0; i < j->map_count; i++) {
    memcpy(s->pixels + i * j->count * each, j->pixels, j->count * each * sizeof *s->pixels);
    if (j->mask) memcpy(s->mask + i * j->count * plane, j->mask, j->count * plane);
  }
  CLI_TRY(make_maps(j, &pixels, s->maps));
  return judge_stacked(j, s);
}

/* -------------------------------------------------------------------------------------- pictures
 */

static heed_status open_keeper(judging *j) {
  const heed_build_desc build = {
      .struct_size = sizeof build, .batch = 1, .height = j->height, .width = j->width};
  const heed_plan_desc plan = {.struct_size = sizeof plan};
  heed_error *error = &j->cli->error;
  CLI_TRY(heed_model_build(j->pipeline->model, &build, &j->graph, error));
  CLI_TRY(heed_plan_create(j->graph, j->choice->opened, &plan, &j->plan, error));
  return heed_session_create(j->plan, NULL, &j->keeper, error);
}

static void close_size(judging *j) {
  free(j->pixels);
  free(j->mask);
  heed_session_destroy(j->keeper);
  heed_plan_destroy(j->plan);
  heed_graph_destroy(j->graph);
  j->pixels = NULL;
  j->mask = NULL;
  j->keeper = NULL;
  j->plan = NULL;
  j->graph = NULL;
}

/* Room for pictures of this size. */
static heed_status open_size(judging *j, uint32_t height, uint32_t width, bool masked) {
  const heed_model_info *info = &j->pipeline->info;
  const size_t plane = (size_t)height * width;
  const uint64_t tokens =
      info->prefix_tokens + (uint64_t)(height / info->patch) * (width / info->patch);
  close_size(j);
  const uint64_t most = MOST_NUMBERS / (tokens * info->mlp_width * j->map_count + 1);
  j->room = most < 1 ? 1 : most > MOST_ROOM ? MOST_ROOM : (uint32_t)most;
  j->height = height;
  j->width = width;
  j->pixels = malloc(j->room * plane * info->channels * sizeof *j->pixels);
  j->mask = masked ? malloc(j->room * plane) : NULL;
  if (!j->pixels || (masked && !j->mask))
    return heed_fail_memory(&j->cli->error, "judge", j->room * plane * info->channels * 4);
  return open_keeper(j);
}

heed_status judging_finish(judging *j) {
  stacked s = {0};
  if (!j->count) return HEED_OK;
  const heed_status status = judge_waiting(j, &s);
  free(s.pixels);
  free(s.maps);
  free(s.mask);
  j->pictures += j->count;
  j->count = 0;
  return status;
}

heed_status judging_add(judging *j, const float *pixels, const uint8_t *mask, uint32_t height,
                        uint32_t width) {
  if (height != j->height || width != j->width || !j->pixels) {
    CLI_TRY(judging_finish(j));
    CLI_TRY(open_size(j, height, width, mask != NULL));
  }
  const size_t plane = (size_t)height * width, each = plane * j->pipeline->info.channels;
  memcpy(j->pixels + j->count * each, pixels, each * sizeof *pixels);
  if (mask) memcpy(j->mask + j->count * plane, mask, plane);
  j->count++;
  return j->count == j->room ? judging_finish(j) : HEED_OK;
}

void judging_close(judging *j) {
  close_size(j);
  for (uint32_t i = 0; i < j->map_count; i++)
    for (uint32_t m = 0; m < JUDGE_METRICS; m++) free(j->maps[i].curves[m]);
}
