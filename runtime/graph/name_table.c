/* Names of values by their hash: slots of ids, of which half stay free. A value that was named anew
 * leaves its old slot behind, where it no longer matches. */
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"
#include "graph/graph.h"

#define LEAST 64 /* slots; a power of two */

/* FNV-1a of 64 bits, of which the table takes the low ones after a mix. */
static size_t hash_of(const char *name) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (; *name; name++) hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
  return (size_t)(hash ^ hash >> 32);
}

static void put(uint32_t *slots, size_t room, const char *name, uint32_t id) {
  HEED_ASSERT(room && (room & (room - 1)) == 0);
  size_t at = hash_of(name) & (room - 1);
  while (slots[at]) at = (at + 1) & (room - 1);
  slots[at] = id;
}

/* Makes room for one more name; false: no memory. Nothing else of the table can fail. */
static bool reserve(heed_graph *graph) {
  if (2 * (graph->slot_count + 1) <= graph->slot_room) return true;
  const size_t room = graph->slot_room ? 2 * graph->slot_room : LEAST;
  uint32_t *slots = heed_alloc(graph->context, room, sizeof *slots);
  if (!slots) return false;
  graph->slot_count = 0;
  for (size_t i = 0; i < graph->value_count; i++) {
    if (!graph->values[i].name) continue;
    put(slots, room, graph->values[i].name, (uint32_t)i + 1);
    graph->slot_count++;
  }
  heed_free(graph->context, graph->slots);
  graph->slots = slots;
  graph->slot_room = room;
  return true;
}

heed_value heed_graph_find(const heed_graph *graph, const char *name) {
  if (!graph->slot_room) return (heed_value){0};
  for (size_t at = hash_of(name) & (graph->slot_room - 1); graph->slots[at];
       at = (at + 1) & (graph->slot_room - 1)) {
    const uint32_t id = graph->slots[at];
    HEED_ASSERT(id <= graph->value_count);
    const char *has = graph->values[id - 1].name;
    if (has && strcmp(has, name) == 0) return (heed_value){id};
  }
  return (heed_value){0};
}

void heed_graph_name(heed_graph *graph, heed_value value, const char *name) {
  heed_error error;
  if (graph->status != HEED_OK || value.id == 0 || value.id > graph->value_count) return;
  const heed_value same = heed_graph_find(graph, name);
  if (same.id == value.id) return;
  if (same.id) {
    heed_fail(&error, HEED_INVALID_ARGUMENT,
              "graph: duplicate name (found \"%s\" twice, expected unique names)", name);
    heed_graph_fail(graph, &error);
    return;
  }
  char *copy = reserve(graph) ? heed_copy_string(graph->context, name, strlen(name)) : NULL;
  if (!copy) {
    heed_fail_memory(&error, "graph: a name", strlen(name) + 1);
    heed_graph_fail(graph, &error);
    return;
  }
  heed_free(graph->context, graph->values[value.id - 1].name);
  graph->values[value.id - 1].name = copy;
  put(graph->slots, graph->slot_room, copy, value.id);
  graph->slot_count++;
}
