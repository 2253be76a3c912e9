/* Splits the grid of workgroups, the outermost axis first, until a part is within the budget. */
#include "gpu/split_submissions.h"

#include <string.h>

static double share(const heed_gpu_dispatch *dispatch, const uint32_t groups[3]) {
  double part = (double)dispatch->flops;
  for (uint32_t i = 0; i < 3; i++) part *= (double)groups[i] / dispatch->groups[i];
  return part;
}

/* Kernels with a flat index (shaders/include/base.glsl) take x as the length of a row of groups.
 * Those fill x before they use y. */
static bool can_split_x(const heed_gpu_builder *builder, const heed_gpu_dispatch *dispatch) {
  return (dispatch->groups[1] == 1 && dispatch->groups[2] == 1) ||
         dispatch->groups[0] < builder->limits->groups;
}

static void begin(heed_gpu_subdispatches *walk) {
  const heed_gpu_dispatch *dispatch = &walk->builder->dispatches[walk->dispatch];
  uint32_t *step = walk->step;
  memset(walk->base, 0, sizeof walk->base);
  memcpy(step, dispatch->groups, sizeof walk->step);
  while (walk->budget && share(dispatch, step) > (double)walk->budget) {
    const uint32_t axis = step[2] > 1 ? 2 : step[1] > 1 ? 1 : 0;
    if (step[axis] == 1 || (axis == 0 && !can_split_x(walk->builder, dispatch))) break;
    step[axis] -= step[axis] / 2;
  }
  walk->inside = true;
}

/* Moves on to the next part of the grid; false past its end. */
static bool advance(heed_gpu_subdispatches *walk, const heed_gpu_dispatch *dispatch) {
  for (uint32_t i = 0; i < 3; i++) {
    walk->base[i] += walk->step[i];
    if (walk->base[i] < dispatch->groups[i]) return true;
    walk->base[i] = 0;
  }
  return false;
}

bool heed_gpu_next_subdispatch(heed_gpu_subdispatches *walk, heed_gpu_subdispatch *part) {
  const heed_gpu_builder *builder = walk->builder;
  if (walk->dispatch == builder->dispatch_count) return false;
  *part = (heed_gpu_subdispatch){.dispatch = walk->dispatch, .begins = !walk->inside};
  if (!walk->inside) begin(walk);
  const heed_gpu_dispatch *dispatch = &builder->dispatches[walk->dispatch];
  for (uint32_t i = 0; i < 3; i++) {
    const uint32_t rest = dispatch->groups[i] - walk->base[i];
    part->base[i] = walk->base[i];
    part->groups[i] = rest < walk->step[i] ? rest : walk->step[i];
  }
  const double flops = share(dispatch, part->groups);
  part->new_stage = part->begins && walk->dispatch > 0 &&
                    dispatch->stage != builder->dispatches[walk->dispatch - 1].stage;
  part->breaks = walk->budget && walk->taken > 0.0 && walk->taken + flops > (double)walk->budget;
  walk->taken = part->breaks ? flops : walk->taken + flops;
  if (!advance(walk, dispatch)) {
    part->ends = true;
    walk->inside = false;
    walk->dispatch++;
  }
  return true;
}

uint64_t heed_gpu_count_flops(const heed_gpu_builder *builder) {
  uint64_t flops = 0;
  for (size_t i = 0; i < builder->dispatch_count; i++) flops += builder->dispatches[i].flops;
  return flops;
}
