/* Cuts the grid of workgroups, the outermost axis first, until a portion is within the budget. */
#include "vulkan/plan/submit_split.h"

#include <string.h>

static double share(const heed_vk_dispatch *dispatch, const uint32_t groups[3]) {
  double part = (double)dispatch->flops;
  for (uint32_t i = 0; i < 3; i++) part *= (double)groups[i] / dispatch->groups[i];
  return part;
}

/* Kernels with a flat index (shaders/include/base.glsl) take x as the length of a row of groups. Those fill x before they use y. */
static bool can_cut_x(const heed_vk_builder *builder, const heed_vk_dispatch *dispatch) {
  return (dispatch->groups[1] == 1 && dispatch->groups[2] == 1) || dispatch->groups[0] < builder->limits->groups;
}

static void begin(heed_vk_portions *walk) {
  const heed_vk_dispatch *dispatch = &walk->builder->dispatches[walk->dispatch];
  uint32_t *step = walk->step;
  memset(walk->base, 0, sizeof walk->base);
  memcpy(step, dispatch->groups, sizeof walk->step);
  while (walk->budget && share(dispatch, step) > (double)walk->budget) {
    const uint32_t axis = step[2] > 1 ? 2 : step[1] > 1 ? 1 : 0;
    if (step[axis] == 1 || (axis == 0 && !can_cut_x(walk->builder, dispatch))) break;
    step[axis] -= step[axis] / 2;
  }
  walk->inside = true;
}

/* Moves on to the next portion of the grid; false past its end. */
static bool advance(heed_vk_portions *walk, const heed_vk_dispatch *dispatch) {
  for (uint32_t i = 0; i < 3; i++) {
    walk->base[i] += walk->step[i];
    if (walk->base[i] < dispatch->groups[i]) return true;
    walk->base[i] = 0;
  }
  return false;
}

bool heed_vk_next_portion(heed_vk_portions *walk, heed_vk_portion *portion) {
  const heed_vk_builder *builder = walk->builder;
  if (walk->dispatch == builder->dispatch_count) return false;
  *portion = (heed_vk_portion){.dispatch = walk->dispatch, .begins = !walk->inside};
  if (!walk->inside) begin(walk);
  const heed_vk_dispatch *dispatch = &builder->dispatches[walk->dispatch];
  for (uint32_t i = 0; i < 3; i++) {
    const uint32_t rest = dispatch->groups[i] - walk->base[i];
    portion->base[i] = walk->base[i];
    portion->groups[i] = rest < walk->step[i] ? rest : walk->step[i];
  }
  const double flops = share(dispatch, portion->groups);
  portion->new_stage = portion->begins && walk->dispatch > 0 && dispatch->stage != builder->dispatches[walk->dispatch - 1].stage;
  portion->breaks = walk->budget && walk->taken > 0.0 && walk->taken + flops > (double)walk->budget;
  walk->taken = portion->breaks ? flops : walk->taken + flops;
  if (!advance(walk, dispatch)) {
    portion->ends = true;
    walk->inside = false;
    walk->dispatch++;
  }
  return true;
}

uint64_t heed_vk_count_flops(const heed_vk_builder *builder) {
  uint64_t flops = 0;
  for (size_t i = 0; i < builder->dispatch_count; i++) flops += builder->dispatches[i].flops;
  return flops;
}
