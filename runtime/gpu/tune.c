/* Every product and attention of a graph alone in a graph of its own, once for each tile. */
#include "gpu/tune.h"

#include <string.h>

#include "backend/backend.h"
#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "gpu/ops/attention_parts.h"
#include "gpu/tile.h"

#define RUNS 3
#define GAIN 0.97 /* a tile that is not at least 3 % faster than the table's is noise */

static bool is_attention(const heed_vk_shape_key *key) { return key->slices != 0; }

uint32_t heed_vk_count_candidates(const heed_vk_limits *limits, const heed_vk_shape_key *key) {
  return is_attention(key) ? heed_vk_attention_candidates(limits) : heed_vk_tile_candidates(limits);
}

static heed_value define_product(heed_graph *graph, const heed_vk_shape_key *key,
                                 const float *weight) {
  const heed_constant_desc constant = {.struct_size = sizeof constant,
                                       .dtype = HEED_F32,
                                       .shape = HEED_SHAPE(key->columns, key->depth),
                                       .data = weight};
  const heed_linear_desc linear = {
      .struct_size = sizeof linear,
      .x = heed_define_input(graph, "x", HEED_F32, &HEED_SHAPE(1, key->rows, key->depth)),
      .weight = heed_define_constant(graph, &constant)};
  return heed_define_linear(graph, &linear);
}

/* Without masks, which change what a tile costs little. */
static heed_value define_attention(heed_graph *graph, const heed_vk_shape_key *key) {
  const uint32_t batch = key->slices / key->heads;
  const heed_attention_desc attention = {
      .struct_size = sizeof attention,
      .query = heed_define_input(graph, "query", HEED_F32,
                                 &HEED_SHAPE(batch, key->heads, key->rows, key->depth)),
      .key = heed_define_input(graph, "key", HEED_F32,
                               &HEED_SHAPE(batch, key->key_heads, key->columns, key->depth)),
      .value =
          heed_define_input(graph, "value", HEED_F32,
                            &HEED_SHAPE(batch, key->key_heads, key->columns, key->value_depth)),
  };
  return heed_define_attention(graph, &attention).output;
}

static heed_status define(heed_graph *graph, const heed_vk_shape_key *key, const float *weight,
                          heed_error *error) {
  heed_graph_output(
      graph, is_attention(key) ? define_attention(graph, key) : define_product(graph, key, weight));
  return heed_graph_status(graph, error);
}

static double no_time(void *user) {
  (void)user;
  return 0.0;
}

/* The least of some runs. */
static heed_status time_graph(heed_backend *backend, heed_graph *graph, double *microseconds,
                              heed_error *error) {
  heed_plan *plan = NULL;
  heed_session *session = NULL;
  const heed_clock clock = {no_time, NULL};
  heed_status status = heed_plan_create(graph, backend, NULL, &plan, error);
  if (status == HEED_OK) status = heed_session_create(plan, NULL, &session, error);
  for (int i = 0; i < RUNS && status == HEED_OK; i++) {
    heed_step_time time;
    status = heed_session_profile(session, &clock, &time, error);
    if (status == HEED_OK && (i == 0 || time.microseconds < *microseconds))
      *microseconds = time.microseconds;
  }
  heed_session_destroy(session);
  heed_plan_destroy(plan);
  return status;
}

/* Candidate 0 is what the tables say. */
heed_status heed_vk_measure_tiles(heed_backend *backend, heed_vk_limits *limits,
                                  const float *weight, heed_vk_tuned *shape, double *before,
                                  double *after, heed_error *error) {
  heed_graph *graph = NULL;
  double least = 0.0, table = 0.0;
  uint32_t best = 0;
  const uint32_t most = heed_vk_count_candidates(limits, &shape->key), forced = limits->choice;
  heed_status status = heed_graph_create(backend->context, &graph, error);
  if (status == HEED_OK) status = define(graph, &shape->key, weight, error);
  for (limits->choice = 0; status == HEED_OK && limits->choice <= most; limits->choice++) {
    double time = 0.0;
    status = time_graph(backend, graph, &time, error);
    if (limits->choice == 0)
      table = least = time;
    else if (time < least && time < table * GAIN) {
      least = time;
      best = limits->choice;
    }
  }
  limits->choice = forced;
  heed_graph_destroy(graph);
  shape->choice = best;
  *before = table;
  *after = least;
  return status;
}

static bool is_known(const heed_vk_tuned *shapes, uint32_t count, const heed_vk_shape_key *key) {
  for (uint32_t i = 0; i < count; i++)
    if (memcmp(&shapes[i].key, key, sizeof *key) == 0) return true;
  return false;
}

/* Whether the node is one that is measured. */
static bool take_key(const heed_graph *graph, const heed_node *node, const heed_vk_limits *limits,
                     heed_vk_shape_key *key) {
  if (node->op == HEED_OP_KIND_attention) {
    const heed_attention_desc *desc = node->desc;
    heed_attention_sizes sizes;
    heed_attention_get_sizes(graph, desc, &sizes);
    *key = heed_vk_attention_key(limits, &sizes);
    return desc->score != HEED_SCORE_ADDITIVE && desc->norm == HEED_NORM_SOFTMAX;
  }
  if (node->op != HEED_OP_KIND_linear) return false;
  const heed_linear_desc *desc = node->desc;
  const heed_shape *weight = &heed_graph_record(graph, desc->weight.id)->shape;
  const uint64_t elements = heed_shape_count(&heed_graph_record(graph, desc->x.id)->shape);
  *key = (heed_vk_shape_key){.rows = (uint32_t)(elements / weight->dim[1]),
                             .columns = weight->dim[0],
                             .depth = weight->dim[1],
                             .half = limits->half};
  return true;
}

uint32_t heed_vk_list_shapes(const heed_graph *graph, const heed_vk_limits *limits,
                             heed_vk_tuned shapes[HEED_VK_MOST_TUNED]) {
  uint32_t count = 0;
  for (size_t i = 0; i < graph->node_count && count < HEED_VK_MOST_TUNED; i++) {
    heed_vk_shape_key key;
    if (take_key(graph, &graph->nodes[i], limits, &key) && !is_known(shapes, count, &key))
      shapes[count++] = (heed_vk_tuned){.key = key};
  }
  return count;
}

/* Numbers, since a device is faster and cooler with zeros. */
float *heed_vk_make_weight(const heed_context *context, const heed_vk_tuned *shapes,
                           uint32_t count) {
  size_t most = 1;
  for (uint32_t i = 0; i < count; i++) {
    const heed_vk_shape_key *key = &shapes[i].key;
    if (!is_attention(key) && (size_t)key->columns * key->depth > most)
      most = (size_t)key->columns * key->depth;
  }
  float *weight = heed_alloc(context, most, sizeof *weight);
  for (size_t i = 0; weight && i < most; i++) weight[i] = (float)((int)(i * 7 % 19) - 9) / 64.0f;
  return weight;
}
