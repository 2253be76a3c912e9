/* Places values in one arena: largest first, each at the lowest offset where it meets no value
 * alive at the same time (greedy by size, Pisarchyk & Lee 2020, "Efficient Memory Management for
 * Deep Neural Net Inference", 5.3). */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"
#include "plan/plan.h"

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

/* The lowest aligned offset at which `place` meets none of the values already placed, which are
 * sorted by offset. */
static uint64_t lowest_fit(const heed_plan *plan, const heed_placement *place,
                           const uint32_t *placed, uint32_t count) {
  uint64_t offset = 0;
  for (uint32_t i = 0; i < count; i++) {
    const heed_placement *other = &plan->placement[placed[i]];
    if (!meet(place, other)) continue;
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

heed_status heed_plan_place(heed_plan *plan, heed_error *error) {
  uint32_t *ids = heed_alloc(plan->context, 2 * ((size_t)plan->value_count + 1), sizeof *ids);
  if (!ids) return heed_fail_memory(error, "plan: placement", 2 * sizeof *ids * plan->value_count);
  uint32_t count = 0, *placed = ids + plan->value_count + 1;
  uint64_t total = 0;
  heed_status status = HEED_OK;
  for (uint32_t id = 1; id <= plan->value_count; id++)
    if (plan->placement[id].live && plan->placement[id].bytes) {
      ids[count++] = id;
      if (!heed_u64_add(total, heed_align_up(plan->placement[id].bytes, HEED_ARENA_ALIGNMENT),
                        &total) ||
          total > UINT64_MAX / 2)
        status = heed_fail(error, HEED_OUT_OF_MEMORY,
                           "plan: values exceed 2^63 bytes in total (found %u values)", count);
    }
  if (status == HEED_OK) {
    sort_by_size(plan, ids, count);
    for (uint32_t i = 0; i < count; i++) {
      heed_placement *place = &plan->placement[ids[i]];
      HEED_ASSERT(place->first <= place->last && place->last <= plan->step_count);
      place->offset = lowest_fit(plan, place, placed, i);
      insert_by_offset(plan, placed, i, ids[i]);
      const uint64_t end = heed_align_up(place->offset + place->bytes, HEED_ARENA_ALIGNMENT);
      HEED_ASSERT(place->offset % HEED_ARENA_ALIGNMENT == 0 && end <= total);
      if (end > plan->memory.arena) plan->memory.arena = end;
    }
  }
  heed_free(plan->context, ids);
  return status;
}
