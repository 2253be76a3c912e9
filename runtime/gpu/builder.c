/* Keeps what the nodes of a plan dispatch, and where their constants lie. */
#include "gpu/builder.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"
#include "base/tensor.h"
#include "gpu/fp16_values.h"

/* Weights are packed into blocks of about this size; a larger constant has a block of its own. */
#define BLOCK_BYTES ((uint64_t)64 << 20)
#define NARROWEST 64 /* workgroup of the kernels that sum by subgroups */

void heed_gpu_builder_start(heed_gpu_builder *builder, const heed_plan *plan,
                            const heed_gpu_limits *limits) {
  memset(builder, 0, sizeof *builder);
  builder->context = plan->context;
  builder->plan = plan;
  builder->limits = limits;
}

void heed_gpu_builder_end(heed_gpu_builder *builder) {
  heed_free(builder->context, builder->dispatches);
  heed_free(builder->context, builder->weights);
  heed_free(builder->context, builder->blocks);
}

heed_status heed_gpu_fail(heed_gpu_builder *builder, heed_status status, const char *sentence) {
  if (builder->status != HEED_OK) return builder->status;
  return builder->status = heed_fail(&builder->error, status, "%s: %s", builder->op, sentence);
}

static void fail_memory(heed_gpu_builder *builder, size_t bytes) {
  if (builder->status == HEED_OK)
    builder->status = heed_fail_memory(&builder->error, builder->op, bytes);
}

/* A place for `bytes` in the weight blocks. */
static bool place_weight(heed_gpu_builder *builder, uint64_t bytes, heed_gpu_range *range) {
  const uint64_t size = heed_align_up(bytes, HEED_ARENA_ALIGNMENT);
  if (builder->block_count == 0 || builder->blocks[builder->block_count - 1] + size > BLOCK_BYTES) {
    if (!heed_grow(builder->context, &builder->blocks, &builder->block_capacity,
                   builder->block_count + 1, sizeof *builder->blocks))
      return false;
    builder->blocks[builder->block_count++] = 0;
  }
  uint64_t *block = &builder->blocks[builder->block_count - 1];
  *range = (heed_gpu_range){HEED_GPU_WEIGHTS,
                            (uint32_t)builder->block_count - 1,
                            *block,
                            bytes,
                            false,
                            false,
                            false,
                            false,
                            false};
  *block += size;
  return true;
}

/* The range of a weight; one that is there already is shared. */
static heed_gpu_range find_weight(heed_gpu_builder *builder, const heed_gpu_weight *want,
                                  uint64_t bytes) {
  for (size_t i = 0; i < builder->weight_count; i++) {
    const heed_gpu_weight *have = &builder->weights[i];
    if (have->value == want->value && have->panel == want->panel && have->half == want->half &&
        have->eights == want->eights && have->int8 == want->int8 && have->data == want->data &&
        have->first_row == want->first_row && have->rows == want->rows &&
        (want->value || have->range.bytes == bytes))
      return have->range;
  }
  heed_gpu_weight made = *want;
  if (!heed_grow(builder->context, &builder->weights, &builder->weight_capacity,
                 builder->weight_count + 1, sizeof *builder->weights) ||
      !place_weight(builder, bytes, &made.range)) {
    fail_memory(builder, sizeof *builder->weights);
    return (heed_gpu_range){.place = HEED_GPU_NOWHERE};
  }
  made.range.half = want->half;
  builder->weights[builder->weight_count++] = made;
  return made.range;
}

static void bind(heed_gpu_builder *builder, heed_gpu_dispatch *dispatch, uint32_t slot,
                 const heed_gpu_range *range) {
  HEED_ASSERT(slot < HEED_GPU_BINDINGS);
  if (range->bytes > builder->limits->range && builder->status == HEED_OK)
    builder->status = heed_fail(&builder->error, HEED_UNSUPPORTED,
                                "%s: tensor exceeds the largest buffer of this device (found %llu "
                                "bytes, expected at most %llu)",
                                builder->op, (unsigned long long)range->bytes,
                                (unsigned long long)builder->limits->range);
  dispatch->binding[slot] = *range;
  if (slot + 1 > dispatch->binding_count) dispatch->binding_count = slot + 1;
}

/* Where a value lies and how many bytes it takes. In fp16 an element of a view is half as far into
 * its base. */
static uint64_t place_value(const heed_gpu_builder *builder, uint32_t value, bool half,
                            uint64_t *bytes) {
  const heed_graph *graph = builder->plan->graph;
  const heed_value_record *record = heed_graph_record(graph, value);
  *bytes = heed_plan_bytes(builder->plan, value) / (half ? 2 : 1);
  if (!half) return heed_plan_offset(builder->plan, value);
  return heed_plan_offset(builder->plan, heed_graph_root(graph, value)) +
         (record->kind == HEED_VALUE_VIEW ? record->offset * sizeof(uint16_t) : 0);
}

static bool is_piece(const heed_gpu_builder *builder, uint32_t value) {
  return heed_gpu_shape(builder, value) != &heed_graph_record(builder->plan->graph, value)->shape;
}

/* Elements of a value of the arena, all for count 0: bound from the aligned offset at or before
 * them; the rest is their origin. */
static uint32_t bind_arena(heed_gpu_builder *builder, heed_gpu_dispatch *dispatch, uint32_t slot,
                           uint32_t value, bool written, uint64_t first, uint64_t count) {
  const bool half = heed_gpu_is_fp16(builder->plan, builder->limits, value);
  const uint64_t element =
      half ? sizeof(uint16_t)
           : heed_dtype_size(heed_graph_record(builder->plan->graph, value)->dtype);
  uint64_t size, at = place_value(builder, value, half, &size);
  if (is_piece(builder, value)) {
    at += size / builder->piece.size * builder->piece.first;
    size = size / builder->piece.size * builder->piece.count;
  }
  at += first * element;
  if (count) size = count * element;
  HEED_ASSERT(size <= builder->plan->memory.arena && at <= builder->plan->memory.arena - size);
  const uint64_t start = at / builder->limits->alignment * builder->limits->alignment;
  /* shaders read U8 by words; the arena is long enough for that, since places are multiples of
   * HEED_ARENA_ALIGNMENT */
  const uint64_t bytes = heed_align_up(at - start + size, 4);
  bind(builder, dispatch, slot,
       &(heed_gpu_range){HEED_GPU_ARENA, 0, start, bytes, written, false, false, half, false});
  return (uint32_t)((at - start) / element);
}

/* Bytes of a dense constant: bound from the aligned offset at or before them. Returns their origin
 * in elements. */
static uint32_t bind_constant(heed_gpu_builder *builder, heed_gpu_dispatch *dispatch, uint32_t slot,
                              uint32_t value, uint64_t at, uint64_t size) {
  HEED_ASSERT(at <= heed_plan_bytes(builder->plan, value) &&
              size <= heed_plan_bytes(builder->plan, value) - at);
  heed_gpu_range range = find_weight(builder, &(heed_gpu_weight){.value = value},
                                     heed_align_up(heed_plan_bytes(builder->plan, value), 4));
  const uint64_t start = at / builder->limits->alignment * builder->limits->alignment;
  range.offset += start;
  range.bytes = heed_align_up(at - start + size, 4);
  bind(builder, dispatch, slot, &range);
  return (uint32_t)((at - start) /
                    heed_dtype_size(heed_graph_record(builder->plan->graph, value)->dtype));
}

uint32_t heed_gpu_read(heed_gpu_builder *builder, heed_gpu_dispatch *dispatch, uint32_t slot,
                       uint32_t value) {
  if (!value) {
    bind(builder, dispatch, slot, &(heed_gpu_range){.place = HEED_GPU_NOWHERE});
    return 0;
  }
  if (heed_graph_record(builder->plan->graph, value)->kind != HEED_VALUE_CONSTANT)
    return bind_arena(builder, dispatch, slot, value, false, 0, 0);
  const uint64_t size = heed_plan_bytes(builder->plan, value);
  if (!is_piece(builder, value)) return bind_constant(builder, dispatch, slot, value, 0, size);
  const uint64_t row = size / builder->piece.size;
  return bind_constant(builder, dispatch, slot, value, row * builder->piece.first,
                       row * builder->piece.count);
}

uint32_t heed_gpu_read_rows(heed_gpu_builder *builder, heed_gpu_dispatch *dispatch, uint32_t slot,
                            uint32_t value, uint32_t first, uint32_t count) {
  const uint64_t row =
      heed_plan_bytes(builder->plan, value) / heed_gpu_shape(builder, value)->dim[0];
  return bind_constant(builder, dispatch, slot, value, first * row, count * row);
}

uint32_t heed_gpu_write(heed_gpu_builder *builder, heed_gpu_dispatch *dispatch, uint32_t slot,
                        uint32_t value) {
  return heed_gpu_write_some(builder, dispatch, slot, value, 0, 0);
}

uint32_t heed_gpu_write_some(heed_gpu_builder *builder, heed_gpu_dispatch *dispatch, uint32_t slot,
                             uint32_t value, uint64_t first, uint64_t count) {
  if (value) return bind_arena(builder, dispatch, slot, value, true, first, count);
  bind(builder, dispatch, slot, &(heed_gpu_range){.place = HEED_GPU_NOWHERE});
  return 0;
}

void heed_gpu_read_panels(heed_gpu_builder *builder, heed_gpu_dispatch *dispatch, uint32_t slot,
                          uint32_t value, const heed_gpu_panels *panels) {
  const uint64_t one = heed_gpu_panel_bytes(panels);
  uint64_t bytes;
  if (!heed_u64_mul(heed_gpu_divide(panels->rows, panels->panel), one, &bytes)) {
    heed_gpu_fail(builder, HEED_UNSUPPORTED, "the weight is too large");
    return;
  }
  HEED_ASSERT((uint64_t)panels->first + panels->count <=
              heed_gpu_divide(panels->rows, panels->panel));
  const heed_gpu_weight weight = {.value = value,
                                  .panel = panels->panel,
                                  .first_row = panels->first_row,
                                  .rows = panels->rows,
                                  .depth = panels->depth,
                                  .eights = panels->eights,
                                  .half = panels->half,
                                  .int8 = panels->int8};
  heed_gpu_range range = find_weight(builder, &weight, bytes);
  range.offset += panels->first * one;
  range.bytes = panels->count * one;
  bind(builder, dispatch, slot, &range);
}

void heed_gpu_read_data(heed_gpu_builder *builder, heed_gpu_dispatch *dispatch, uint32_t slot,
                        const void *data, uint64_t bytes) {
  const heed_gpu_range range = find_weight(builder, &(heed_gpu_weight){.data = data}, bytes);
  bind(builder, dispatch, slot, &range);
}

void heed_gpu_scratch(heed_gpu_builder *builder, heed_gpu_dispatch *dispatch, uint32_t slot,
                      uint64_t offset, uint64_t bytes, bool written) {
  bind(builder, dispatch, slot,
       &(heed_gpu_range){HEED_GPU_SCRATCH, 0, offset, bytes, written, false, false, false, false});
  if (offset + bytes > builder->scratch_bytes) builder->scratch_bytes = offset + bytes;
}

void heed_gpu_count_past(heed_gpu_builder *builder, heed_gpu_dispatch *dispatch, uint32_t slot,
                         bool counts) {
  const heed_gpu_range counter = {.place = HEED_GPU_COUNTER, .bytes = HEED_GPU_COUNTER_BYTES};
  const heed_gpu_range none = {.place = HEED_GPU_NOWHERE};
  bind(builder, dispatch, slot, counts ? &counter : &none);
  builder->counts = builder->counts || counts;
}

/* An origin can add up to an alignment's bytes in front. */
bool heed_gpu_can_texel(const heed_gpu_builder *builder, uint64_t bytes) {
  return builder->limits->texels && bytes / 16 + 16 <= builder->limits->texels;
}
void heed_gpu_as_texels(heed_gpu_dispatch *dispatch, uint32_t slot) {
  HEED_ASSERT(slot < dispatch->binding_count);
  dispatch->binding[slot].texels = true;
}

void heed_gpu_as_single_texels(heed_gpu_builder *builder, heed_gpu_dispatch *dispatch,
                               uint32_t slot) {
  HEED_ASSERT(slot < dispatch->binding_count);
  heed_gpu_range *range = &dispatch->binding[slot];
  range->texels = range->single = true;
  if (range->bytes > HEED_GPU_SINGLE_TEXELS * sizeof(float))
    heed_gpu_fail(builder, HEED_UNSUPPORTED, "a row of weights exceeds 65536 elements");
}

static uint32_t count_storage_buffers(const heed_gpu_limits *limits,
                                      const heed_gpu_dispatch *dispatch) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < dispatch->binding_count; i++) {
    const heed_gpu_range *range = &dispatch->binding[i];
    count += limits->counts_bound ? range->place != HEED_GPU_NOWHERE : !range->texels;
  }
  return count;
}

/* The first thing about the dispatch that the device does not allow, or NULL. */
static const char *find_excess(const heed_gpu_builder *builder, const heed_gpu_dispatch *dispatch) {
  const heed_gpu_limits *limits = builder->limits;
  for (uint32_t i = 0; i < 3; i++)
    if (dispatch->groups[i] == 0 || dispatch->groups[i] > limits->groups)
      return "the grid of workgroups exceeds this device's limit";
  if (count_storage_buffers(limits, dispatch) > limits->bindings)
    return "the kernel has more storage buffers than this device allows";
  if (dispatch->constants[0] > limits->invocations)
    return "the workgroup exceeds this device's limit";
  return NULL;
}

void heed_gpu_append(heed_gpu_builder *builder, heed_gpu_dispatch *dispatch,
                     const uint32_t *constants, uint32_t constant_count, const void *push,
                     size_t push_bytes, uint32_t x, uint32_t y, uint32_t z) {
  if (builder->status != HEED_OK) return;
  if (dispatch->tier == HEED_GPU_TIER_AUTO) dispatch->tier = HEED_GPU_TIER_FLOOR;
  dispatch->step = builder->step;
  dispatch->stage = builder->stage;
  HEED_ASSERT(constant_count <= HEED_GPU_CONSTANTS && push_bytes <= HEED_GPU_PUSH_BYTES);
  dispatch->constant_count = constant_count;
  memcpy(dispatch->constants, constants, constant_count * sizeof *constants);
  dispatch->push_bytes = (uint32_t)push_bytes;
  memcpy(dispatch->push, push, push_bytes);
  const uint32_t groups[3] = {x, y, z};
  memcpy(dispatch->groups, groups, sizeof groups);
  const char *excess = find_excess(builder, dispatch);
  if (excess) {
    heed_gpu_fail(builder, HEED_UNSUPPORTED, excess);
    return;
  }
  if (!heed_grow(builder->context, &builder->dispatches, &builder->dispatch_capacity,
                 builder->dispatch_count + 1, sizeof *builder->dispatches)) {
    fail_memory(builder, sizeof *builder->dispatches);
    return;
  }
  builder->dispatches[builder->dispatch_count++] = *dispatch;
}

void heed_gpu_spread(const heed_gpu_builder *builder, uint64_t items, uint32_t per_group,
                     uint32_t groups[2]) {
  const uint64_t total = items / per_group + (items % per_group != 0),
                 most = builder->limits->groups;
  groups[0] = (uint32_t)(total < most ? total : most);
  if (groups[0] == 0) groups[0] = 1;
  const uint64_t y = (total + groups[0] - 1) / groups[0];
  groups[1] = y > UINT32_MAX ? UINT32_MAX : y ? (uint32_t)y : 1;
}

uint32_t heed_gpu_width(const heed_gpu_builder *builder) { return builder->limits->cpu ? 32 : 128; }

void heed_gpu_by_subgroups(const heed_gpu_builder *builder, heed_gpu_dispatch *dispatch,
                           heed_gpu_shader shader) {
  dispatch->shader = shader;
  dispatch->tier = HEED_GPU_TIER_SUBGROUP;
  const uint32_t lanes = builder->limits->required_lanes;
  dispatch->lanes = lanes <= NARROWEST ? lanes : 0; /* full subgroups divide the workgroup */
}

/* At least eight elements a lane. Where so many rows fill a device anyway, a row has one subgroup,
 * and no barrier. */
#define MANY_LANES 65536u

heed_gpu_rows heed_gpu_share_rows(const heed_gpu_builder *builder, uint32_t rows, uint32_t length) {
  const heed_gpu_limits *limits = builder->limits;
  if (limits->cpu) return (heed_gpu_rows){limits->lanes, 1, false};
  const bool subgroups = limits->tier >= HEED_GPU_TIER_SUBGROUP;
  const bool many =
      subgroups && limits->lanes >= 16 && (uint64_t)rows * limits->lanes >= MANY_LANES;
  const uint32_t most = many && limits->lanes < 128 ? limits->lanes : 128;
  uint32_t lanes = 1;
  while (lanes < most && lanes * 8 < length) lanes *= 2;
  return (heed_gpu_rows){128, lanes, subgroups && lanes > 1};
}

uint32_t heed_gpu_count(const heed_gpu_builder *builder, uint32_t value) {
  return (uint32_t)heed_shape_count(heed_gpu_shape(builder, value));
}
