/* heed_vulkan_tune: every product of a graph alone in a graph of its own, once for each tile, by the device's timestamps. */
#include "vulkan/tune.h"

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"
#include "base/tensor.h"
#include "vulkan/backend.h"
#include "vulkan/tile.h"

#define ENDING "tiles"
#define RUNS 3
#define GAIN 0.97 /* a tile that is not at least 3 % faster than the table's is noise */

void heed_vk_tiles_load(const heed_vk_cache *cache, const heed_vk_limits *limits, heed_vk_tiles *tiles) {
  void *bytes;
  size_t size;
  memset(tiles, 0, sizeof *tiles);
  heed_vk_cache_read(cache, ENDING, &bytes, &size);
  if (!bytes) return;
  bool right = size == sizeof *tiles;
  if (right) memcpy(tiles, bytes, size);
  heed_free(cache->context, bytes);
  right = right && tiles->count <= HEED_VK_MOST_TUNED;
  for (uint32_t i = 0; right && i < tiles->count; i++) right = tiles->product[i].choice >= 1 && tiles->product[i].choice <= heed_vk_tile_candidates(limits);
  if (right) return;
  heed_log(cache->context, HEED_LOG_INFO, "vulkan: measured tiles that do not fit this device are ignored");
  memset(tiles, 0, sizeof *tiles);
}

static heed_status define(heed_graph *graph, const heed_vk_tuned *product, const float *weight, heed_error *error) {
  const heed_constant_desc constant = {.struct_size = sizeof constant, .dtype = HEED_F32, .shape = HEED_SHAPE(product->columns, product->depth), .data = weight};
  const heed_linear_desc linear = {.struct_size = sizeof linear,
                                   .x = heed_define_input(graph, "x", HEED_F32, &HEED_SHAPE(1, product->rows, product->depth)),
                                   .weight = heed_define_constant(graph, &constant)};
  heed_graph_output(graph, heed_define_linear(graph, &linear));
  return heed_graph_status(graph, error);
}

static double no_time(void *user) {
  (void)user;
  return 0.0;
}

/* The least of some runs. */
static heed_status time_graph(heed_backend *backend, heed_graph *graph, double *microseconds, heed_error *error) {
  heed_plan *plan = NULL;
  heed_session *session = NULL;
  const heed_clock clock = {no_time, NULL};
  heed_status status = heed_plan_create(graph, backend, NULL, &plan, error);
  if (status == HEED_OK) status = heed_session_create(plan, NULL, &session, error);
  for (int i = 0; i < RUNS && status == HEED_OK; i++) {
    heed_step_time time;
    status = heed_session_profile(session, &clock, &time, error);
    if (status == HEED_OK && (i == 0 || time.microseconds < *microseconds)) *microseconds = time.microseconds;
  }
  heed_session_destroy(session);
  heed_plan_destroy(plan);
  return status;
}

/* Candidate 0 is what the tables say. */
static heed_status measure(heed_vk_backend *vulkan, heed_vk_tuned *product, const float *weight, heed_vulkan_tuning *tuning, heed_error *error) {
  heed_graph *graph = NULL;
  double least = 0.0, table = 0.0;
  uint32_t best = 0;
  heed_vk_limits *limits = &vulkan->device.limits;
  const uint32_t most = heed_vk_tile_candidates(limits);
  heed_status status = heed_graph_create(vulkan->base.context, &graph, error);
  if (status == HEED_OK) status = define(graph, product, weight, error);
  for (limits->choice = 0; status == HEED_OK && limits->choice <= most; limits->choice++) {
    double time = 0.0;
    status = time_graph(&vulkan->base, graph, &time, error);
    if (limits->choice == 0) table = least = time;
    else if (time < least && time < table * GAIN) {
      least = time;
      best = limits->choice;
    }
  }
  limits->choice = 0;
  heed_graph_destroy(graph);
  product->choice = best;
  tuning->shapes++;
  tuning->changed += best != 0;
  tuning->before += table;
  tuning->after += least;
  return status;
}

static bool is_known(const heed_vk_tuned *products, uint32_t count, const heed_vk_tuned *product) {
  for (uint32_t i = 0; i < count; i++)
    if (products[i].rows == product->rows && products[i].columns == product->columns && products[i].depth == product->depth) return true;
  return false;
}

/* The different products of a graph, as many as are kept. */
static uint32_t list_products(const heed_graph *graph, bool half, heed_vk_tuned products[HEED_VK_MOST_TUNED]) {
  uint32_t count = 0;
  for (size_t i = 0; i < graph->node_count && count < HEED_VK_MOST_TUNED; i++) {
    if (graph->nodes[i].op != HEED_OP_KIND_linear) continue;
    const heed_linear_desc *desc = graph->nodes[i].desc;
    const heed_shape *weight = &heed_graph_record(graph, desc->weight.id)->shape;
    const uint64_t elements = heed_shape_count(&heed_graph_record(graph, desc->x.id)->shape);
    const heed_vk_tuned product = {(uint32_t)(elements / weight->dim[1]), weight->dim[0], weight->dim[1], half, 0};
    if (!is_known(products, count, &product)) products[count++] = product;
  }
  return count;
}

/* Numbers, since a device is faster and cooler with zeros. */
static float *make_weight(const heed_context *context, const heed_vk_tuned *products, uint32_t count) {
  size_t most = 1;
  for (uint32_t i = 0; i < count; i++)
    if ((size_t)products[i].columns * products[i].depth > most) most = (size_t)products[i].columns * products[i].depth;
  float *weight = heed_alloc(context, most, sizeof *weight);
  for (size_t i = 0; weight && i < most; i++) weight[i] = (float)((int)(i * 7 % 19) - 9) / 64.0f;
  return weight;
}

static void keep(const heed_vk_cache *cache, const heed_vk_tuned *products, uint32_t count) {
  heed_vk_tiles tiles;
  memset(&tiles, 0, sizeof tiles);
  for (uint32_t i = 0; i < count; i++)
    if (products[i].choice) tiles.product[tiles.count++] = products[i];
  heed_vk_cache_write(cache, ENDING, &tiles, sizeof tiles);
}

heed_status heed_vulkan_tune(heed_backend *backend, const heed_graph *graph, heed_vulkan_tuning *tuning, heed_error *error) {
  if (!backend || !graph || !tuning) return heed_fail(error, HEED_INVALID_ARGUMENT, "tune: backend, graph or place for the result missing (found NULL)");
  memset(tuning, 0, sizeof *tuning);
  if (strcmp(heed_backend_name(backend), "vulkan") != 0) return heed_fail(error, HEED_UNSUPPORTED, "tune: only Vulkan has tiles to choose from (found %s)", heed_backend_name(backend));
  heed_vk_backend *vulkan = (heed_vk_backend *)backend;
  if (!vulkan->cache.directory) return heed_fail(error, HEED_UNSUPPORTED, "tune: the backend has no cache directory to keep the tiles in");
  heed_vk_tuned products[HEED_VK_MOST_TUNED];
  const uint32_t count = list_products(graph, vulkan->device.limits.half, products);
  float *weight = make_weight(backend->context, products, count);
  if (!weight) return heed_fail_memory(error, "tune: weight", sizeof *weight);
  heed_status status = HEED_OK;
  const heed_vk_tiles *tiles = vulkan->device.limits.tiles;
  vulkan->device.limits.tiles = NULL; /* compared with the tables, not with what was measured before */
  for (uint32_t i = 0; i < count && status == HEED_OK; i++) status = measure(vulkan, &products[i], weight, tuning, error);
  vulkan->device.limits.tiles = tiles;
  heed_free(backend->context, weight);
  if (status == HEED_OK) keep(&vulkan->cache, products, count);
  return status;
}
