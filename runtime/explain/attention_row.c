/* Rows of an attention's weights on demand, from kept query and key, so that the op need not have
 * stored any: 1 score 2 softcap, bias 3 mask 4 norm. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/desc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "explain/row_kernels.h"
#include "graph/attention_rule.h"
#include "graph/ops/attention.h"
#include "heed/session.h"

typedef struct row_job {
  heed_session *session;
  const heed_graph *graph;
  const heed_attention_desc *desc;
  heed_attention_sizes sizes;
  uint32_t batch, head, query;
  const float *k;                          /* [Tk, D]: in the arena, or at room */
  double *wide;                            /* [D]: q */
  float *q, *va, *room;                    /* [D] [D] [Tk D] */
  float *bias, *sorted, *logits, *weights; /* [Tk] each */
  uint8_t *mask;                           /* [Tk] */
} row_job;

/* What all rows of a head share: its keys. */
static heed_status read_head(row_job *job, heed_error *error) {
  const heed_attention_sizes *s = &job->sizes;
  const uint64_t k_head =
      (uint64_t)job->batch * s->key_heads + job->head / (s->heads / s->key_heads);
  const uint64_t first = k_head * s->keys * s->depth;
  const void *all;
  const heed_status status = heed_session_view(job->session, job->desc->key, &all, error);
  job->k = status == HEED_OK ? (const float *)all + first : job->room;
  if (status != HEED_OK && status != HEED_UNSUPPORTED) return status;
  if (status != HEED_OK)
    HEED_TRY(heed_session_read(job->session, job->desc->key, first, (uint64_t)s->keys * s->depth,
                               job->room, error));
  return job->desc->va.id
             ? heed_graph_read_constant(job->graph, job->desc->va.id, 0, s->depth, job->va, error)
             : HEED_OK;
}

/* Scores of all keys in double, then capped. */
static heed_status scores(row_job *job, heed_error *error) {
  const heed_attention_sizes *s = &job->sizes;
  const uint64_t q_row = ((uint64_t)job->batch * s->heads + job->head) * s->queries + job->query;
  HEED_TRY(
      heed_session_read(job->session, job->desc->query, q_row * s->depth, s->depth, job->q, error));
  const double cap = (double)job->desc->softcap;
  for (uint32_t d = 0; d < s->depth; d++) job->wide[d] = (double)job->q[d];
  for (uint32_t j = 0; j < s->keys; j++) {
    const float *k = job->k + (size_t)j * s->depth;
    double sum = 0.0;
    if (job->desc->va.id)
      for (uint32_t d = 0; d < s->depth; d++)
        sum += (double)job->va[d] * tanh(job->wide[d] + (double)k[d]);
    else
      sum = heed_row_dot(job->wide, k, s->depth);
    sum *= (double)job->desc->scale;
    job->logits[j] = (float)(cap > 0.0 ? cap * tanh(sum / cap) : sum);
  }
  return HEED_OK;
}

static heed_status add_bias(row_job *job, heed_error *error) {
  if (!job->desc->bias.id) return HEED_OK;
  const uint32_t *stride = job->sizes.bias_stride;
  const uint64_t at = (uint64_t)job->batch * stride[0] + (uint64_t)job->head * stride[1] +
                      (uint64_t)job->query * stride[2];
  const uint32_t count = stride[3] ? job->sizes.keys : 1;
  HEED_TRY(
      heed_graph_record(job->graph, job->desc->bias.id)->kind == HEED_VALUE_CONSTANT
          ? heed_graph_read_constant(job->graph, job->desc->bias.id, at, count, job->bias, error)
          : heed_session_read(job->session, job->desc->bias, at, count, job->bias, error));
  for (uint32_t j = 0; j < job->sizes.keys; j++) {
    const float add = job->bias[stride[3] ? j : 0];
    job->logits[j] = add == -INFINITY ? add : job->logits[j] + add;
  }
  return HEED_OK;
}

/* Entries that a U8 row of `value` does not allow become -Inf. */
static heed_status apply_mask(row_job *job, heed_value value, uint64_t at, uint64_t count,
                              heed_error *error) {
  if (!value.id) return HEED_OK;
  HEED_TRY(heed_session_read(job->session, value, at, count, job->mask, error));
  for (uint32_t j = 0; j < job->sizes.keys; j++)
    if (!job->mask[count == 1 ? 0 : j]) job->logits[j] = -INFINITY;
  return HEED_OK;
}

static heed_status masks(row_job *job, heed_error *error) {
  const heed_attention_sizes *s = &job->sizes;
  uint32_t first, end;
  heed_attention_key_range(job->desc, s->queries, s->keys, job->query, &first, &end);
  for (uint32_t j = 0; j < s->keys; j++)
    if (j < first || j >= end) job->logits[j] = -INFINITY;
  const uint32_t *stride = s->mask_stride;
  const uint64_t at = (uint64_t)job->batch * stride[0] + (uint64_t)job->head * stride[1] +
                      (uint64_t)job->query * stride[2];
  HEED_TRY(apply_mask(job, job->desc->mask, at, stride[3] ? s->keys : 1, error));
  HEED_TRY(apply_mask(job, job->desc->key_padding, (uint64_t)job->batch * s->keys, s->keys, error));
  return apply_mask(job, job->desc->query_padding, (uint64_t)job->batch * s->queries + job->query,
                    1, error);
}

static heed_status compute(row_job *job, float *to, float *logits, heed_error *error) {
  HEED_TRY(scores(job, error));
  HEED_TRY(add_bias(job, error));
  HEED_TRY(masks(job, error));
  heed_attention_norm_row(job->desc, job->logits, job->sizes.keys, job->sorted, to);
  if (logits) memcpy(logits, job->logits, job->sizes.keys * sizeof *logits);
  return HEED_OK;
}

/* The attention node whose weights this value is. */
static heed_status find_attention(row_job *job, heed_value weights, heed_error *error) {
  const heed_value_record *record = heed_graph_need(job->graph, weights, "attention row", error);
  if (!record) return HEED_INVALID_ARGUMENT;
  const heed_node *node =
      record->kind == HEED_VALUE_RESULT ? &job->graph->nodes[record->node] : NULL;
  if (!node || node->op != HEED_OP_KIND_attention ||
      node->output[HEED_ATTENTION_RESULT_WEIGHTS] != weights.id)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "attention row: not attention weights (found \"%s\")",
                     record->name ? record->name : "");
  job->desc = node->desc;
  heed_attention_get_sizes(job->graph, job->desc, &job->sizes);
  const heed_attention_sizes *s = &job->sizes;
  if (job->batch >= s->batch || job->head >= s->heads || job->query >= s->queries)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "attention row: out of range (found batch %u, head %u, query %u, expected "
                     "less than %u, %u, %u)",
                     job->batch, job->head, job->query, s->batch, s->heads, s->queries);
  return HEED_OK;
}

/* Finds the attention and makes scratch: one block, at job->wide. */
static heed_status begin(row_job *job, heed_value weights, heed_error *error) {
  HEED_TRY(find_attention(job, weights, error));
  const size_t keys = job->sizes.keys, depth = job->sizes.depth;
  size_t floats;
  if (!heed_size_mul(keys, depth + 5, &floats) || !heed_size_add(floats, 4 * depth, &floats))
    return heed_fail_memory(error, "attention row", SIZE_MAX);
  job->wide = heed_alloc_raw(job->graph->context, floats, sizeof(float));
  if (!job->wide) return heed_fail_memory(error, "attention row", floats * sizeof(float));
  job->q = (float *)(job->wide + depth);
  job->va = job->q + depth;
  job->room = job->va + depth;
  job->bias = job->room + keys * depth;
  job->sorted = job->bias + keys;
  job->logits = job->sorted + keys;
  job->weights = job->logits + keys;
  job->mask = (uint8_t *)(job->weights + keys);
  return HEED_OK;
}

heed_status heed_session_attention_row(heed_session *session, heed_value weights, uint32_t batch,
                                       uint32_t head, uint32_t query, float *to, float *logits,
                                       heed_error *error) {
  row_job job = {.session = session,
                 .graph = heed_session_graph(session),
                 .batch = batch,
                 .head = head,
                 .query = query};
  HEED_TRY(begin(&job, weights, error));
  heed_status status = read_head(&job, error);
  if (status == HEED_OK) status = compute(&job, to, logits, error);
  heed_free(job.graph->context, job.wide);
  return status;
}

/* Adds share times the head's rows to `to`. */
static heed_status add_head(row_job *job, const heed_attention_map_desc *desc, float share,
                            float *to, heed_error *error) {
  const uint32_t keys = job->sizes.keys,
                 rows = desc->row_count ? desc->row_count : job->sizes.queries;
  HEED_TRY(read_head(job, error));
  for (uint32_t r = 0; r < rows; r++) {
    job->query = desc->row_count ? desc->rows[r] : r;
    HEED_TRY(compute(job, job->weights, NULL, error));
    for (uint32_t j = 0; j < keys; j++) to[(size_t)r * keys + j] += share * job->weights[j];
  }
  return HEED_OK;
}

heed_status heed_session_attention_map(heed_session *session, heed_value weights,
                                       const heed_attention_map_desc *desc, float *to,
                                       heed_error *error) {
  if (!session || !desc || !to)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "attention map: NULL argument (expected session, desc and map)");
  heed_attention_map_desc full;
  HEED_TRY(heed_desc_read(&full, sizeof full, desc, "attention map", error));
  desc = &full;
  row_job job = {.session = session,
                 .graph = heed_session_graph(session),
                 .batch = desc->batch,
                 .head = desc->head_mean ? 0 : desc->head};
  for (uint32_t r = 0; r < desc->row_count; r++)
    if (!desc->rows || desc->rows[r] > job.query)
      job.query = desc->rows ? desc->rows[r] : UINT32_MAX;
  HEED_TRY(begin(&job, weights, error));
  const uint32_t heads = desc->head_mean ? job.sizes.heads : 1,
                 rows = desc->row_count ? desc->row_count : job.sizes.queries;
  memset(to, 0, (size_t)rows * job.sizes.keys * sizeof *to);
  heed_status status = HEED_OK;
  for (uint32_t h = 0; h < heads && status == HEED_OK; h++) {
    job.head = desc->head_mean ? h : desc->head;
    status = add_head(&job, desc, 1.0f / (float)heads, to, error);
  }
  heed_free(job.graph->context, job.wide);
  return status;
}
