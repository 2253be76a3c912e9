/* Places values in the arena: largest first, each at the lowest offset where it meets no value
 * alive at the same time (greedy by size, Pisarchyk & Lee 2020, "Efficient Memory Management for
 * Deep Neural Net Inference", 5.3). Banks are given before that, in the order of the definitions,
 * where three suffice for a chain of nodes. */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/budget.h"
#include "base/status.h"
#include "base/tensor.h"
#include "plan/plan.h"

/* Of lifetimes, as of 8,000 values that are all alive together; they take a fifth of a second. */
#define MOST_COMPARISONS (UINT64_C(1) << 25)

/* Sorts ids by size, largest first, then by id: insertion into a heap would be faster, but a graph
 * has some hundred values. */
static void sort_by_size(const heed_plan *plan, uint32_t *ids, uint32_t count) {
  for (uint32_t gap = count / 2; gap > 0; gap /= 2)
    for (uint32_t i = gap; i < count; i++) {
      const uint32_t id = ids[i];
      uint32_t at = i;
      for (; at >= gap; at -= gap) {
        const uint32_t other = ids[at - gap];
        const uint64_t a = plan->placement[id].bytes, b = plan->placement[other].bytes;
        if (a < b || (a == b && id > other)) break;
        ids[at] = other;
      }
      ids[at] = id;
    }
}

static bool meet(const heed_placement *a, const heed_placement *b) {
  return a->first <= b->last && b->first <= a->last;
}

/* ---- banks */

/* Whether `value` is a result of a node that reads `other`, or makes it too. */
static bool is_made_with(const heed_graph *graph, uint32_t value, uint32_t other) {
  const heed_value_record *record = heed_graph_record(graph, value);
  if (record->kind != HEED_VALUE_RESULT) return false;
  const heed_node *node = &graph->nodes[record->node];
  for (uint32_t i = 0; i < HEED_NODE_OUTPUTS; i++)
    if (node->output[i] == other) return true;
  for (uint32_t i = 0; i < HEED_NODE_INPUTS; i++)
    if (node->input[i] && heed_graph_root(graph, node->input[i]) == other) return true;
  return false;
}

/* Of `most` banks the first from `from` on that has none of the values below `end` from which this
 * one must be apart; `most`: there is none. */
static uint32_t free_bank(const heed_plan *plan, uint32_t most, uint32_t id, uint32_t end,
                          uint32_t from) {
  uint32_t taken = 0;
  for (uint32_t other = 1; other < end; other++) {
    const heed_placement *place = &plan->placement[other];
    if (other == id || !place->live || !place->bytes) continue;
    if (is_made_with(plan->graph, id, other) || is_made_with(plan->graph, other, id))
      taken |= 1u << place->bank;
  }
  while (from < most && taken >> from & 1u) from++;
  return from;
}

static heed_status fail_bank(const heed_plan *plan, uint32_t id, uint64_t most, heed_error *error) {
  const char *name = heed_graph_record(plan->graph, id)->name;
  return heed_fail(error, HEED_OUT_OF_DEVICE_MEMORY,
                   "plan: %s does not fit the buffers of this device (found %llu bytes, expected "
                   "buffers of at most %llu): fewer images, fewer taps or a smaller size take less",
                   name ? name : "a value", (unsigned long long)plan->placement[id].bytes,
                   (unsigned long long)most);
}

static heed_status give_banks(heed_plan *plan, const heed_plan_banks *banks, heed_error *error) {
  if (banks->most == 1) return HEED_OK;
  for (uint32_t id = 1; id <= plan->value_count; id++) {
    heed_placement *place = &plan->placement[id];
    if (!place->live || !place->bytes) continue;
    place->bank = free_bank(plan, banks->most, id, id, 0);
    if (place->bank == banks->most) return fail_bank(plan, id, banks->bytes, error);
  }
  return HEED_OK;
}

/* ---- offsets */

/* The lowest aligned offset at which `place` meets none of the values already placed in its bank,
 * which are sorted by offset. */
static uint64_t lowest_fit(const heed_plan *plan, const heed_placement *place,
                           const uint32_t *placed, uint32_t count, heed_budget *comparisons) {
  uint64_t offset = 0;
  for (uint32_t i = 0; i < count && heed_budget_spend(comparisons, 1); i++) {
    const heed_placement *other = &plan->placement[placed[i]];
    if (other->bank != place->bank || !meet(place, other)) continue;
    if (other->offset >= offset && other->offset - offset >= place->bytes) break;
    const uint64_t end = heed_align_up(other->offset + other->bytes, HEED_ARENA_ALIGNMENT);
    if (end > offset) offset = end;
  }
  return offset;
}

static void insert_by_offset(const heed_plan *plan, uint32_t *placed, uint32_t count, uint32_t id) {
  uint32_t at = count;
  for (; at > 0 && plan->placement[placed[at - 1]].offset > plan->placement[id].offset; at--)
    placed[at] = placed[at - 1];
  placed[at] = id;
}

/* In its bank, or where that is full in a further one that it may lie in. */
static heed_status place_one(heed_plan *plan, const heed_plan_banks *banks, uint32_t id,
                             uint32_t *placed, uint32_t count, heed_budget *comparisons,
                             heed_error *error) {
  heed_placement *place = &plan->placement[id];
  uint64_t end;
  HEED_ASSERT(place->first <= place->last && place->last <= plan->step_count);
  for (;;) {
    place->offset = lowest_fit(plan, place, placed, count, comparisons);
    if (comparisons->refused)
      return heed_fail(
          error, HEED_UNSUPPORTED,
          "plan: too many values are alive with others (found %u): fewer taps take less", count);
    end = heed_align_up(place->offset + place->bytes, HEED_ARENA_ALIGNMENT);
    if (!banks->bytes || end <= banks->bytes) break;
    place->bank = free_bank(plan, banks->most, id, plan->value_count + 1, place->bank + 1);
    if (place->bank == banks->most) return fail_bank(plan, id, banks->bytes, error);
  }
  insert_by_offset(plan, placed, count, id);
  if (end > plan->bank_end[place->bank]) plan->bank_end[place->bank] = end;
  if (place->bank >= plan->bank_count) plan->bank_count = place->bank + 1;
  return HEED_OK;
}

/* The banks one after the other. */
static void join_banks(heed_plan *plan, const uint32_t *ids, uint32_t count) {
  uint64_t start[HEED_MOST_BANKS];
  for (uint32_t i = 0; i < plan->bank_count; i++) {
    start[i] = plan->memory.arena;
    plan->memory.arena = plan->bank_end[i] += start[i];
  }
  for (uint32_t i = 0; i < count; i++) {
    heed_placement *place = &plan->placement[ids[i]];
    place->offset += start[place->bank];
    HEED_ASSERT(place->offset % HEED_ARENA_ALIGNMENT == 0);
  }
}

static heed_status count_bytes(const heed_plan *plan, uint32_t *ids, uint32_t *count,
                               heed_error *error) {
  uint64_t total = 0;
  heed_status status = HEED_OK;
  for (uint32_t id = 1; id <= plan->value_count; id++)
    if (plan->placement[id].live && plan->placement[id].bytes) {
      ids[(*count)++] = id;
      if (!heed_u64_add(total, heed_align_up(plan->placement[id].bytes, HEED_ARENA_ALIGNMENT),
                        &total) ||
          total > UINT64_MAX / 2)
        status = heed_fail(error, HEED_OUT_OF_MEMORY,
                           "plan: values exceed 2^63 bytes in total (found %u values)", *count);
    }
  return status;
}

heed_status heed_plan_place(heed_plan *plan, heed_error *error) {
  const heed_plan_banks banks =
      plan->support->banks ? plan->support->banks(plan->backend) : (heed_plan_banks){.most = 1};
  uint32_t *ids = heed_alloc(plan->context, 2 * ((size_t)plan->value_count + 1), sizeof *ids);
  if (!ids) return heed_fail_memory(error, "plan: placement", 2 * sizeof *ids * plan->value_count);
  HEED_ASSERT(banks.most >= 1 && banks.most <= HEED_MOST_BANKS);
  uint32_t count = 0, *placed = ids + plan->value_count + 1;
  heed_budget comparisons = {.most = MOST_COMPARISONS};
  heed_status status = count_bytes(plan, ids, &count, error);
  if (status == HEED_OK) status = give_banks(plan, &banks, error);
  if (status == HEED_OK) sort_by_size(plan, ids, count);
  for (uint32_t i = 0; status == HEED_OK && i < count; i++)
    status = place_one(plan, &banks, ids[i], placed, i, &comparisons, error);
  if (status == HEED_OK) join_banks(plan, ids, count);
  heed_free(plan->context, ids);
  return status;
}
