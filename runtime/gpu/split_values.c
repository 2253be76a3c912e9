/* Values larger than a binding: which of a node's have its leading axes, and the piece of each.
 * Pieces differ by one row at most, so that all take the same tile and a weight is kept once. */
#include "gpu/split_values.h"

#include <string.h>

#include "base/assert.h"
#include "base/tensor.h"

typedef struct split_job {
  heed_gpu_builder *builder;
  const heed_gpu_op *op;
  const heed_node *node;
  heed_gpu_split_axes axes;
  uint64_t size; /* of the leading axes together */
} split_job;

static uint64_t leading(const heed_shape *shape, uint32_t axes) {
  uint64_t size = 1;
  for (uint32_t i = 0; i < axes; i++) size *= shape->dim[i];
  return size;
}

/* Whether the value has the leading axes, and so is split; any other is the same for all pieces. */
static bool is_split(const split_job *job, uint32_t value) {
  const heed_graph *graph = job->builder->plan->graph;
  const heed_value_record *record = heed_graph_record(graph, value),
                          *shared = heed_graph_record(graph, job->axes.value);
  if (record->shape.rank < job->axes.count) return false;
  if (memcmp(record->shape.dim, shared->shape.dim, job->axes.count * sizeof *record->shape.dim) !=
      0)
    return false;
  return !job->op->is_unsplit || !job->op->is_unsplit(job->builder, job->node, value);
}

/* Rows of a piece, so that this many of the value fit a binding. */
static uint64_t fit(const split_job *job, uint32_t value, uint32_t parts) {
  const uint64_t row = heed_plan_bytes(job->builder->plan, value) / parts / job->size,
                 rows = row ? heed_gpu_split_room(job->builder->limits) / row : job->size;
  return rows < 1 ? 1 : rows < job->size ? rows : job->size;
}

#define MOST_VALUES (HEED_NODE_INPUTS + HEED_NODE_OUTPUTS)

/* Of all inputs and results one that may be split; 0: it is absent, or the same for all pieces. */
static uint32_t value_at(const split_job *job, uint32_t i) {
  if (i >= HEED_NODE_INPUTS) return job->node->output[i - HEED_NODE_INPUTS];
  return job->op->whole >> i & 1u ? 0 : job->node->input[i];
}

static uint64_t rows_once(const split_job *job) {
  uint64_t least = job->size;
  for (uint32_t i = 0; i < MOST_VALUES; i++) {
    const bool output = i >= HEED_NODE_INPUTS;
    const uint32_t value = value_at(job, i);
    if (!value ||
        (output && !heed_plan_wants(job->builder->plan, value) && value != job->node->output[0]))
      continue;
    const uint32_t parts = value == job->node->output[0] ? job->axes.parts : 0;
    if (!parts && !is_split(job, value)) continue;
    const uint64_t rows = fit(job, value, parts ? parts : 1);
    if (rows < least) least = rows;
  }
  return least;
}

/* The shape of each value that is split, as a piece has it. */
static void take_piece(const split_job *job, uint64_t first, uint32_t count) {
  heed_gpu_piece *piece = &job->builder->piece;
  *piece = (heed_gpu_piece){.size = job->size, .first = first, .count = count};
  for (uint32_t i = 0; i < MOST_VALUES; i++) {
    const uint32_t value = value_at(job, i);
    if (!value || !is_split(job, value)) continue;
    const heed_shape *whole = &heed_graph_record(job->builder->plan->graph, value)->shape;
    HEED_ASSERT(piece->values < MOST_VALUES && first + count <= job->size);
    heed_shape *shape = &piece->shape[piece->values];
    piece->value[piece->values++] = value;
    *shape = HEED_SHAPE(count);
    for (uint32_t axis = job->axes.count; axis < whole->rank; axis++)
      shape->dim[shape->rank++] = whole->dim[axis];
  }
}

void heed_gpu_split_build(heed_gpu_builder *builder, const heed_node *node) {
  const heed_gpu_op *op = heed_gpu_ops[node->op];
  split_job job = {builder, op, node, {0, 0, 0}, 1};
  if (op->split_axes) job.axes = op->split_axes(builder, node);
  if (job.axes.count)
    job.size =
        leading(&heed_graph_record(builder->plan->graph, job.axes.value)->shape, job.axes.count);
  const uint64_t once = job.axes.count ? rows_once(&job) : job.size,
                 pieces = job.size / once + (job.size % once != 0);
  if (pieces == 1) {
    op->build(builder, node);
    return;
  }
  for (uint64_t i = 0; i < pieces && builder->status == HEED_OK; i++) {
    const uint64_t longer = job.size % pieces,
                   first = job.size / pieces * i + (i < longer ? i : longer);
    take_piece(&job, first, (uint32_t)(job.size / pieces + (i < longer)));
    op->build(builder, node);
  }
  builder->piece = (heed_gpu_piece){0};
}

heed_gpu_split_axes heed_gpu_split_batch(const heed_gpu_builder *builder, const heed_node *node) {
  (void)builder;
  return (heed_gpu_split_axes){node->output[0], 1, 0};
}

heed_gpu_split_axes heed_gpu_split_rows(const heed_gpu_builder *builder, const heed_node *node) {
  const heed_shape *shape = &heed_graph_record(builder->plan->graph, node->output[0])->shape;
  return (heed_gpu_split_axes){node->output[0], shape->rank ? shape->rank - 1 : 0, 0};
}

heed_gpu_split_axes heed_gpu_split_elements(const heed_gpu_builder *builder,
                                            const heed_node *node) {
  return (heed_gpu_split_axes){
      node->output[0], heed_graph_record(builder->plan->graph, node->output[0])->shape.rank, 0};
}
