/* See random_parts.h. */
#include "graphs/random_parts.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t random_below(random_graph *g, uint32_t bound) {
  return test_random_below(&g->random, bound);
}
bool random_one_in(random_graph *g, uint32_t bound) { return random_below(g, bound) == 0; }

static float random_float(random_graph *g) {
  static const float first[] = {NAN, INFINITY, -INFINITY, -0.0f},
                     ends[] = {FLT_MAX, -FLT_MAX, 1e-40f, FLT_MIN, 1e10f,
                               1e-10f,  -1e10f,   1e20f,  16777216};
  if (g->special && random_one_in(g, 10)) return first[random_below(g, COUNT(first))];
  if (g->special > 1 && random_one_in(g, 10)) return ends[random_below(g, COUNT(ends))];
  if (g->odd) return test_random_uniform(&g->random, -3, 3);
  return 0.5f * (float)random_below(g, 13) - 3;
}

static void put_number(random_graph *g, uint32_t type, unsigned char *to) {
  if (type == F32 || type == F64) {
    const float number = random_float(g);
    const double wide = (double)number;
    memcpy(to, type == F32 ? (const void *)&number : &wide, type == F32 ? 4 : 8);
    return;
  }
  if (type == F16) {
    static const uint16_t halves[] = {0,      0x8000, 0x3800, 0xB800, 0x3C00,
                                      0xBC00, 0x4000, 0xC200, 0x3E00};
    static const uint16_t ends[] = {0x7C00, 0xFC00, 0x7E00, 0x7BFF, 0x0001};
    const uint16_t bits = g->special && random_one_in(g, 8)
                              ? ends[random_below(g, g->special > 1 ? 5 : 3)]
                              : halves[random_below(g, COUNT(halves))];
    memcpy(to, &bits, 2);
    return;
  }
  static const int64_t ends[] = {INT64_MIN, INT64_MAX, INT32_MAX, INT32_MIN, 127, -128, 255};
  int64_t number = type == BOOL                ? (int64_t)random_below(g, 2)
                   : type == U8 || type == U64 ? (int64_t)random_below(g, 8)
                                               : (int64_t)random_below(g, 12) - 4;
  if (g->special > 1 && type != BOOL && random_one_in(g, 12))
    number = ends[random_below(g, COUNT(ends))];
  memcpy(to, &number, graph_type_size(type));
}

/* Room for a value; no type yet. */
uint32_t graph_add_value(random_graph *g, int node) {
  if (g->value_count == GRAPH_VALUES) abort();
  graph_value *value = &g->values[g->value_count];
  memset(value, 0, sizeof *value);
  value->node = node;
  snprintf(value->name, sizeof value->name, "%c%u", node < 0 ? 'i' : 'v', g->value_count);
  return g->value_count++;
}

size_t count_of_dims(uint32_t rank, const uint32_t *dims) {
  size_t count = 1;
  for (uint32_t i = 0; i < rank; i++) count *= dims[i];
  return count;
}

uint32_t random_value(random_graph *g, uint32_t type, uint32_t rank, const uint32_t *dims) {
  const uint32_t index = graph_add_value(g, -1);
  graph_value *value = &g->values[index];
  value->type = type;
  value->rank = rank;
  if (rank) memcpy(value->dims, dims, rank * sizeof *dims);
  const size_t count = count_of_dims(rank, dims), size = graph_type_size(type);
  value->size = count * size;
  value->bytes = calloc(count + 1, size);
  if (!value->bytes) abort();
  for (size_t i = 0; i < count; i++) put_number(g, type, value->bytes + i * size);
  value->initializer = random_one_in(g, 3);
  return index;
}

uint32_t value_of_integers(random_graph *g, uint32_t count, const int64_t *list) {
  const uint32_t index = graph_add_value(g, -1);
  graph_value *value = &g->values[index];
  value->type = I64;
  value->rank = 1;
  value->dims[0] = count;
  value->size = 8 * (size_t)count;
  value->bytes = calloc(count + 1, 8);
  if (!value->bytes) abort();
  if (count) memcpy(value->bytes, list, value->size);
  value->initializer = true;
  return index;
}

static uint32_t random_type(random_graph *g, uint32_t mask) {
  static const uint32_t often[] = {F32, F32, F32, F32, F32, F32, F32, F32,  F32, F32,
                                   F32, I64, I64, I32, U8,  I8,  F16, BOOL, F64};
  for (;;) {
    const uint32_t type = often[random_below(g, COUNT(often))];
    if (mask & BIT(type)) return type;
  }
}

uint32_t random_size(random_graph *g) {
  return g->empty && random_one_in(g, 8) ? 0 : 1 + random_below(g, 4);
}

uint32_t random_dims(random_graph *g, uint32_t least, uint32_t most, uint32_t *dims) {
  const uint32_t rank = least + random_below(g, most - least + 1);
  for (uint32_t i = 0; i < rank; i++) {
    dims[i] = random_size(g);
    if (count_of_dims(i + 1, dims) > MOST_NUMBERS) dims[i] = 1;
  }
  return rank;
}

/* A value of one of these types and of a rank in the range: the last computed one in most cases. */
uint32_t random_pick(random_graph *g, uint32_t mask, uint32_t least, uint32_t most) {
  uint32_t dims[GRAPH_AXES], found[GRAPH_VALUES], count = 0;
  for (uint32_t i = g->value_count; i-- > 0;) {
    const graph_value *value = &g->values[i];
    if ((mask & BIT(value->type)) && value->rank >= least && value->rank <= most &&
        value->node >= -1 && value->bytes && (value->node >= 0 || !value->initializer))
      found[count++] = i;
  }
  if (count && !random_one_in(g, 6)) return found[random_one_in(g, 2) ? random_below(g, count) : 0];
  const uint32_t rank = random_dims(g, least, most, dims);
  return random_value(g, random_type(g, mask), rank, dims);
}

/* A value of that type whose shape broadcasts with this one's, in most cases. */
uint32_t random_beside(random_graph *g, uint32_t index, uint32_t type) {
  const graph_value *value = &g->values[index];
  uint32_t dims[GRAPH_AXES], rank = value->rank;
  if (type == value->type && random_one_in(g, 8)) return index;
  memcpy(dims, value->dims, sizeof dims);
  const uint32_t way = random_below(g, 6);
  if (way == 0) rank = 0;
  if (way == 1 && rank) { /* fewer axes */
    const uint32_t drop = random_below(g, rank + 1);
    rank -= drop;
    memmove(dims, dims + drop, rank * sizeof *dims);
  }
  for (uint32_t i = 0; i < rank; i++)
    if ((way == 2 || way == 3) && random_one_in(g, 2)) dims[i] = 1;
  if (way == 3 && rank < 6 && count_of_dims(rank, dims) < 100) { /* more axes */
    memmove(dims + 1, dims, rank * sizeof *dims);
    dims[0] = 1 + random_below(g, 2);
    rank++;
  }
  return random_value(g, type, rank, dims);
}

void node_takes(random_graph *g, graph_node *node, uint32_t index) {
  if (node->input_count == GRAPH_INPUTS) abort();
  node->inputs[node->input_count++] = index;
  test_put_text(&node->body, 1, g->values[index].name);
}
void node_leaves_out(graph_node *node) { test_put_text(&node->body, 1, ""); }

int64_t random_axis_of(random_graph *g, uint32_t rank) {
  if (!rank) return random_one_in(g, 2) ? 0 : -1;
  return random_one_in(g, 30) ? (int64_t)rank : (int64_t)random_below(g, 2 * rank) - (int64_t)rank;
}

uint32_t random_axes(random_graph *g, uint32_t rank, int64_t *axes) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < rank; i++)
    if (random_one_in(g, 2))
      axes[count++] = random_one_in(g, 3) ? (int64_t)i - (int64_t)rank : (int64_t)i;
  return count;
}
