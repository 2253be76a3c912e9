/* Names of values by their hash: slots of ids, of which half stay free. A value that was named anew
 * leaves its old slot behind, where it no longer matches. See name_table.h. */
#include "graph/name_table.h"

#include <string.h>

#include "base/alloc.h"

#define LEAST 64 /* slots; a power of two */

/* FNV-1a of 64 bits, of which the table takes the low ones after a mix. */
static size_t hash_of(const char *name) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (; *name; name++) hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
  return (size_t)(hash ^ hash >> 32);
}

static void put(uint32_t *slots, size_t room, const char *name, uint32_t id) {
  size_t at = hash_of(name) & (room - 1);
  while (slots[at]) at = (at + 1) & (room - 1);
  slots[at] = id;
}

bool heed_names_reserve(heed_graph *graph) {
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

void heed_names_add(heed_graph *graph, uint32_t id) {
  put(graph->slots, graph->slot_room, graph->values[id - 1].name, id);
  graph->slot_count++;
}

uint32_t heed_names_find(const heed_graph *graph, const char *name) {
  if (!graph->slot_room) return 0;
  for (size_t at = hash_of(name) & (graph->slot_room - 1); graph->slots[at];
       at = (at + 1) & (graph->slot_room - 1)) {
    const uint32_t id = graph->slots[at];
    const char *has = graph->values[id - 1].name;
    if (has && strcmp(has, name) == 0) return id;
  }
  return 0;
}
