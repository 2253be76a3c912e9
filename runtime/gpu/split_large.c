/* Values larger than a binding: which of a node's have its leading axes, and the piece of each. Pieces differ by one row at most, so that all take the same tile
 * and a weight is kept once. */
#include "gpu/split_large.h"

#include <string.h>

#include "base/tensor.h"

typedef struct cut_job {
  heed_vk_builder *builder;
  const heed_vk_op *op;
  const heed_node *node;
  heed_vk_lead lead;
  uint64_t size; /* of the leading axes together */
} cut_job;

static uint64_t leading(const heed_shape *shape, uint32_t axes) {
  uint64_t size = 1;
  for (uint32_t i = 0; i < axes; i++) size *= shape->dim[i];
  return size;
}

/* Whether the value has the leading axes, and so is cut; any other is the same for all pieces. */
static bool is_cut(const cut_job *job, uint32_t value) {
  const heed_graph *graph = job->builder->plan->graph;
  const heed_value_record *record = heed_graph_record(graph, value), *lead = heed_graph_record(graph, job->lead.value);
  if (record->shape.rank < job->lead.axes) return false;
  if (memcmp(record->shape.dim, lead->shape.dim, job->lead.axes * sizeof *record->shape.dim) != 0) return false;
  return !job->op->whole || !job->op->whole(job->builder, job->node, value);
}

/* Rows of a piece, so that this many of the value fit a binding. */
static uint64_t fit(const cut_job *job, uint32_t value, uint32_t parts) {
  const uint64_t row = heed_plan_bytes(job->builder->plan, value) / parts / job->size, rows = row ? heed_vk_cut_room(job->builder->limits) / row : job->size;
  return rows < 1 ? 1 : rows < job->size ? rows : job->size;
}

static uint64_t rows_once(const cut_job *job) {
  uint64_t least = job->size;
  for (uint32_t i = 0; i < HEED_NODE_INPUTS + HEED_NODE_OUTPUTS; i++) {
    const bool output = i >= HEED_NODE_INPUTS;
    const uint32_t value = output ? job->node->output[i - HEED_NODE_INPUTS] : job->node->input[i];
    if (!value || (output && !heed_plan_wants(job->builder->plan, value) && value != job->node->output[0])) continue;
    const uint32_t parts = value == job->node->output[0] ? job->lead.parts : 0;
    if (!parts && !is_cut(job, value)) continue;
    const uint64_t rows = fit(job, value, parts ? parts : 1);
    if (rows < least) least = rows;
  }
  return least;
}

/* The shape of each value that is cut, as a piece has it. */
static void take_piece(const cut_job *job, uint64_t first, uint32_t count) {
  heed_vk_cut *cut = &job->builder->cut;
  *cut = (heed_vk_cut){.size = job->size, .first = first, .count = count};
  for (uint32_t i = 0; i < HEED_NODE_INPUTS + HEED_NODE_OUTPUTS; i++) {
    const uint32_t value = i < HEED_NODE_INPUTS ? job->node->input[i] : job->node->output[i - HEED_NODE_INPUTS];
    if (!value || !is_cut(job, value)) continue;
    const heed_shape *whole = &heed_graph_record(job->builder->plan->graph, value)->shape;
    heed_shape *shape = &cut->shape[cut->values];
    cut->value[cut->values++] = value;
    *shape = HEED_SHAPE(count);
    for (uint32_t axis = job->lead.axes; axis < whole->rank; axis++) shape->dim[shape->rank++] = whole->dim[axis];
  }
}

void heed_vk_cut_build(heed_vk_builder *builder, const heed_vk_op *op, const heed_node *node) {
  cut_job job = {builder, op, node, {0, 0, 0}, 1};
  if (op->lead) job.lead = op->lead(builder, node);
  if (job.lead.axes) job.size = leading(&heed_graph_record(builder->plan->graph, job.lead.value)->shape, job.lead.axes);
  const uint64_t once = job.lead.axes ? rows_once(&job) : job.size, pieces = job.size / once + (job.size % once != 0);
  if (pieces == 1) {
    op->build(builder, node);
    return;
  }
  for (uint64_t i = 0; i < pieces && builder->status == HEED_OK; i++) {
    const uint64_t longer = job.size % pieces, first = job.size / pieces * i + (i < longer ? i : longer);
    take_piece(&job, first, (uint32_t)(job.size / pieces + (i < longer)));
    op->build(builder, node);
  }
  builder->cut = (heed_vk_cut){0};
}

bool heed_vk_whole_weights(const heed_vk_builder *builder, const heed_node *node, uint32_t value) {
  return value != node->input[0] && heed_graph_record(builder->plan->graph, value)->kind == HEED_VALUE_CONSTANT;
}

heed_vk_lead heed_vk_lead_batch(const heed_vk_builder *builder, const heed_node *node) {
  (void)builder;
  return (heed_vk_lead){node->output[0], 1, 0};
}

heed_vk_lead heed_vk_lead_rows(const heed_vk_builder *builder, const heed_node *node) {
  const heed_shape *shape = &heed_graph_record(builder->plan->graph, node->output[0])->shape;
  return (heed_vk_lead){node->output[0], shape->rank ? shape->rank - 1 : 0, 0};
}

heed_vk_lead heed_vk_lead_elements(const heed_vk_builder *builder, const heed_node *node) {
  return (heed_vk_lead){node->output[0], heed_graph_record(builder->plan->graph, node->output[0])->shape.rank, 0};
}
