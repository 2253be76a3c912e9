/* What an op says about its work on the GPU, without any call of a GPU: which shader, which values
 * it reads and writes, how many workgroups. The lists a builder gathers are used three times: to
 * check one node (supports), to add up bytes (measure), and to make buffers, pipelines and command
 * buffers (program). Errors stick: the first one is kept, later calls do nothing. */
#ifndef HEED_GPU_BUILDER_H
#define HEED_GPU_BUILDER_H

#include "gpu/limits.h"
#include "heed/session.h"
#include "plan/plan.h"

typedef enum heed_gpu_shader {
#define HEED_SHADER(name) HEED_SHADER_##name,
#include "shader_list.h"
#undef HEED_SHADER
  HEED_SHADER_COUNT
} heed_gpu_shader;

#define HEED_GPU_BINDINGS 12
#define HEED_GPU_CONSTANTS 17 /* specialisation constants; number 0 is the workgroup's width */
#define HEED_GPU_PUSH_BYTES 128

typedef enum heed_gpu_place {
  HEED_GPU_NOWHERE,
  HEED_GPU_ARENA,
  HEED_GPU_WEIGHTS,
  HEED_GPU_SCRATCH,
  HEED_GPU_COUNTER
} heed_gpu_place;

/* Bytes [offset, offset + bytes) of the arena, of a weight block, of the scratch that all nodes
 * share, or of the counter of values past 65504. */
typedef struct heed_gpu_range {
  heed_gpu_place place;
  uint32_t block;
  uint64_t offset, bytes;
  bool written;
  bool texels; /* read as texels of four elements, or one */
  bool single; /* one */
  bool half;   /* fp16 elements, in pairs */
  bool words;  /* four of 32 bits, as they are */
} heed_gpu_range;

typedef struct heed_gpu_dispatch {
  heed_gpu_shader shader;
  heed_gpu_tier tier; /* that the kernel needs */
  /* part of the result that a workgroup makes, as heed_plan_kernel has it; 0: none to speak of */
  uint32_t tile[2];
  uint32_t lanes;       /* the subgroup size it requires, all of each subgroup in use; 0: any */
  uint32_t step, stage; /* of the plan */
  uint32_t constants[HEED_GPU_CONSTANTS], constant_count;
  heed_gpu_range binding[HEED_GPU_BINDINGS];
  uint32_t binding_count;
  uint32_t push[HEED_GPU_PUSH_BYTES / 4], push_bytes;
  uint32_t groups[3];
  uint64_t flops; /* about; 0 in what a single node adds */
} heed_gpu_dispatch;

/* A constant as it lies in device memory. panel 0: dense, as the graph has it. Otherwise a matrix
 * [rows, depth] is kept in panels of `panel` rows, from first_row on, each [depth][panel], or with
 * eights [depth / 8][panel][8], zeros where rows and depth end; half: in fp16. int8: as it is
 * stored, after the sums of the panel's rows (int32), [depth / 4][panel][4], or with eights [depth
 * / 16][panel][16], the depth a multiple of HEED_GPU_INT8_UNIT. data: bytes of the builder's own
 * instead of a value. */
typedef struct heed_gpu_weight {
  uint32_t value, panel, first_row, rows, depth;
  bool eights;
  bool half;
  bool int8;
  const void *data;
  heed_gpu_range range;
} heed_gpu_weight;

/* The piece that is built, of a node whose values are larger than a binding (gpu/split_values.h);
 * size 0: all of it. */
typedef struct heed_gpu_piece {
  uint64_t size, first; /* leading axes together */
  uint32_t count, values;
  uint32_t value[HEED_NODE_INPUTS + HEED_NODE_OUTPUTS]; /* those that are split */
  heed_shape shape[HEED_NODE_INPUTS + HEED_NODE_OUTPUTS];
} heed_gpu_piece;

typedef struct heed_gpu_builder {
  const heed_context *context;
  const heed_plan *plan;
  const heed_gpu_limits *limits;
  const char *op; /* of the node at hand, for sentences */
  uint32_t step, stage;
  heed_gpu_piece piece;
  heed_gpu_dispatch *dispatches;
  size_t dispatch_count, dispatch_capacity;
  heed_gpu_weight *weights;
  size_t weight_count, weight_capacity;
  uint64_t *blocks; /* bytes of each weight block */
  size_t block_count, block_capacity;
  uint64_t scratch_bytes; /* the most that a node needs */
  bool counts;            /* some dispatch has the counter */
  heed_status status;
  heed_error error;
} heed_gpu_builder;

void heed_gpu_builder_start(heed_gpu_builder *builder, const heed_plan *plan,
                            const heed_gpu_limits *limits);
void heed_gpu_builder_end(heed_gpu_builder *builder);

/* ---- for ops ---- */

heed_status heed_gpu_fail(heed_gpu_builder *builder, heed_status status, const char *sentence);

/* Bind a value to a slot and return where it begins there, in elements of its dtype. A constant is
 * kept dense. Value 0 leaves the slot without meaning. */
uint32_t heed_gpu_read(heed_gpu_builder *builder, heed_gpu_dispatch *dispatch, uint32_t slot,
                       uint32_t value);
uint32_t heed_gpu_write(heed_gpu_builder *builder, heed_gpu_dispatch *dispatch, uint32_t slot,
                        uint32_t value);
/* Rows [first, first + count) of a dense constant along its first axis. */
uint32_t heed_gpu_read_rows(heed_gpu_builder *builder, heed_gpu_dispatch *dispatch, uint32_t slot,
                            uint32_t value, uint32_t first, uint32_t count);
/* Some elements alone, from `first` on. */
uint32_t heed_gpu_write_some(heed_gpu_builder *builder, heed_gpu_dispatch *dispatch, uint32_t slot,
                             uint32_t value, uint64_t first, uint64_t count);
/* Rows [first_row, first_row + rows) of a constant matrix [.., depth] in panels of `panel` rows, in
 * fp16 if so, eight values of the depth side by side if so, in int8 if so; `count` of them from
 * `first` on are bound. */
typedef struct heed_gpu_panels {
  uint32_t rows, depth, panel;
  bool half;
  uint32_t first, count, first_row;
  bool eights;
  bool int8;
} heed_gpu_panels;
#define HEED_GPU_INT8_UNIT 16u
void heed_gpu_read_panels(heed_gpu_builder *builder, heed_gpu_dispatch *dispatch, uint32_t slot,
                          uint32_t value, const heed_gpu_panels *panels);
static inline uint64_t heed_gpu_panel_count(uint32_t panel, uint32_t depth, bool eights) {
  return (eights ? ((uint64_t)depth + 7) / 8 * 8 : depth) * panel;
}
static inline uint64_t heed_gpu_int8_panel_bytes(uint32_t panel, uint32_t depth) {
  return panel * (sizeof(int32_t) + ((uint64_t)depth + HEED_GPU_INT8_UNIT - 1) /
                                        HEED_GPU_INT8_UNIT * HEED_GPU_INT8_UNIT);
}
static inline uint64_t heed_gpu_panel_bytes(const heed_gpu_panels *panels) {
  if (panels->int8) return heed_gpu_int8_panel_bytes(panels->panel, panels->depth);
  return heed_gpu_panel_count(panels->panel, panels->depth, panels->eights) *
         (panels->half ? sizeof(uint16_t) : sizeof(float));
}
/* Bytes that live as long as the graph. */
void heed_gpu_read_data(heed_gpu_builder *builder, heed_gpu_dispatch *dispatch, uint32_t slot,
                        const void *data, uint64_t bytes);

/* Bytes [offset, offset + bytes) of the scratch: lost after the node. */
void heed_gpu_scratch(heed_gpu_builder *builder, heed_gpu_dispatch *dispatch, uint32_t slot,
                      uint64_t offset, uint64_t bytes, bool written);
/* The counter, for a kernel that makes fp16 of fp32: it adds the finite values past 65504, which
 * fp16 has no number for. Any kernel may add to it at any time: it orders nothing. Without meaning
 * where the kernel does not count. */
#define HEED_GPU_COUNTER_BYTES 4
void heed_gpu_count_past(heed_gpu_builder *builder, heed_gpu_dispatch *dispatch, uint32_t slot,
                         bool counts);
/* Whether this device is to read a tensor of so many bytes, as floats, as texels; then the slot
 * must be marked after it was bound. */
bool heed_gpu_can_texel(const heed_gpu_builder *builder, uint64_t bytes);
static inline uint64_t heed_gpu_float_bytes(const heed_gpu_range *range) {
  return range->half ? 2 * range->bytes : range->bytes;
}
void heed_gpu_as_texels(heed_gpu_dispatch *dispatch, uint32_t slot);
/* As texels of one float each, at most HEED_GPU_SINGLE_TEXELS, on every device: such a slot counts
 * as no storage buffer. */
#define HEED_GPU_SINGLE_TEXELS 65536u
void heed_gpu_as_single_texels(heed_gpu_builder *builder, heed_gpu_dispatch *dispatch,
                               uint32_t slot);

static inline void heed_gpu_set_tile(heed_gpu_dispatch *dispatch, uint32_t rows, uint32_t columns) {
  dispatch->tile[0] = rows;
  dispatch->tile[1] = columns;
}
/* Ends a dispatch, of the floor unless its tier was set: specialisation constants (the first is the
 * workgroup's width), push constants, groups. */
void heed_gpu_append(heed_gpu_builder *builder, heed_gpu_dispatch *dispatch,
                     const uint32_t *constants, uint32_t constant_count, const void *push,
                     size_t push_bytes, uint32_t x, uint32_t y, uint32_t z);
#define HEED_GPU_DISPATCH(builder, dispatch, push, x, y, z, ...)                        \
  heed_gpu_append(builder, dispatch, (const uint32_t[]){__VA_ARGS__},                   \
                  (uint32_t)(sizeof(uint32_t[]){__VA_ARGS__} / sizeof(uint32_t)), push, \
                  sizeof *(push), x, y, z)

/* Workgroups for `items` items, `per_group` each, over x and y. */
void heed_gpu_spread(const heed_gpu_builder *builder, uint64_t items, uint32_t per_group,
                     uint32_t groups[2]);
/* Width of a workgroup for element-wise work. */
uint32_t heed_gpu_width(const heed_gpu_builder *builder);
/* How rows are spread: a workgroup's width, the invocations that share a row (1 on a CPU, whose
 * barriers are slow), and whether they do so by subgroup operations (shaders/include/row.glsl). */
typedef struct heed_gpu_rows {
  uint32_t width, lanes;
  bool subgroups;
} heed_gpu_rows;
heed_gpu_rows heed_gpu_share_rows(const heed_gpu_builder *builder, uint32_t rows, uint32_t length);
/* The variant by subgroup operations: in full subgroups of one size, where the device lets kernels
 * require that. */
void heed_gpu_by_subgroups(const heed_gpu_builder *builder, heed_gpu_dispatch *dispatch,
                           heed_gpu_shader shader);

static inline uint32_t heed_gpu_divide(uint32_t a, uint32_t b) { return a / b + (a % b != 0); }
static inline const heed_shape *heed_gpu_shape(const heed_gpu_builder *builder, uint32_t value) {
  for (uint32_t i = 0; i < builder->piece.values; i++)
    if (builder->piece.value[i] == value) return &builder->piece.shape[i];
  return &heed_graph_record(builder->plan->graph, value)->shape;
}
/* Elements of a value; a value whose elements do not fit 32 bits fails on its range first. */
uint32_t heed_gpu_count(const heed_gpu_builder *builder, uint32_t value);

#endif
