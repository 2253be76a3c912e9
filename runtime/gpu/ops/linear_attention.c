/* linear_attention on a GPU: three or four dispatches for a group of heads whose states and scores
 * fit the scratch; the recurrent form in pieces of tokens. */
#include "params/linear_attention.h"
#include "gpu/self_check_graph.h"
#include "gpu/split_values.h"

#define CHUNK 64u
#define SCRATCH_FLOATS ((uint64_t)4 << 20)
#define MOST_STEPS                                                                             \
  32768u /* of an invocation's loops in one dispatch: llvmpipe leaves loops after 65535, and a \
            device's watchdog waits for no one */

typedef struct linear_attention_job {
  heed_gpu_builder *builder;
  const heed_linear_attention_desc *desc;
  uint32_t output;
  heed_linear_attention_params params;
  uint64_t scratch; /* floats of the group */
} linear_attention_job;

static void add(const linear_attention_job *job, uint32_t pass, uint64_t items) {
  heed_gpu_builder *builder = job->builder;
  heed_gpu_dispatch dispatch = {.shader = HEED_SHADER_linear_attention};
  heed_linear_attention_params params = job->params;
  if (items > UINT32_MAX / 2 || job->scratch > UINT32_MAX / 2) {
    heed_gpu_fail(builder, HEED_UNSUPPORTED,
                  "one head's states and scores exceed this backend's limits");
    return;
  }
  params.count = (uint32_t)items;
  params.query_origin = heed_gpu_read(builder, &dispatch, 0, job->desc->query.id);
  params.key_origin = heed_gpu_read(builder, &dispatch, 1, job->desc->key.id);
  params.value_origin = heed_gpu_read(builder, &dispatch, 2, job->desc->value.id);
  params.output_origin = heed_gpu_write(builder, &dispatch, 3, job->output);
  heed_gpu_scratch(builder, &dispatch, 4, 0, job->scratch * sizeof(float), true);
  const uint32_t width = heed_gpu_width(builder);
  uint32_t groups[2];
  heed_gpu_spread(builder, params.count, width, groups);
  HEED_GPU_DISPATCH(builder, &dispatch, &params, groups[0], groups[1], 1, width, pass,
                    job->desc->causal, CHUNK);
}

static void add_group(linear_attention_job *job, uint64_t heads) {
  const heed_linear_attention_params *p = &job->params;
  if (job->desc->recurrent) {
    const uint32_t piece = p->depth < MOST_STEPS ? MOST_STEPS / (p->depth + 1) : 1;
    for (uint32_t first = 0; first < p->queries; first = job->params.end_token) {
      job->params.first_token = first;
      job->params.end_token = p->queries - first < piece ? p->queries : first + piece;
      add(job, HEED_LINEAR_ATTENTION_RECURRENT, heads * p->value_depth);
    }
    return;
  }
  const uint64_t state = (uint64_t)p->depth * (p->value_depth + 1);
  add(job, HEED_LINEAR_ATTENTION_STATE, heads * p->chunks * state);
  add(job, HEED_LINEAR_ATTENTION_SUM, heads * state);
  if (job->desc->causal) add(job, HEED_LINEAR_ATTENTION_SCORES, heads * p->queries * (CHUNK + 1));
  add(job, HEED_LINEAR_ATTENTION_ROWS, heads * p->queries * p->value_depth);
}

static void build(heed_gpu_builder *builder, const heed_node *node) {
  const heed_linear_attention_desc *desc = node->desc;
  const uint32_t *q = heed_gpu_shape(builder, desc->query.id)->dim,
                 *v = heed_gpu_shape(builder, desc->value.id)->dim;
  linear_attention_job job = {builder,
                              desc,
                              node->output[0],
                              {.queries = q[2], .keys = v[2], .depth = q[3], .value_depth = v[3]},
                              0};
  job.params.chunks = heed_gpu_divide(v[2], CHUNK);
  const uint64_t heads = (uint64_t)q[0] * q[1],
                 states = (uint64_t)job.params.chunks * q[3] * ((uint64_t)v[3] + 1);
  const uint64_t head = desc->recurrent
                            ? 2 * (uint64_t)q[3] * v[3]
                            : states + (desc->causal ? (uint64_t)q[2] * (CHUNK + 1) : 0);
  uint64_t group = SCRATCH_FLOATS / head;
  if (group < 1) group = 1;
  for (uint64_t first = 0; first < heads && builder->status == HEED_OK; first += group) {
    const uint64_t count = heads - first < group ? heads - first : group;
    job.params.first_head = (uint32_t)first;
    job.params.scores_origin = (uint32_t)(count * states);
    job.scratch = count * head;
    add_group(&job, count);
  }
}

/* More tokens than a chunk has: over all and causal, in chunks; then token by token. */
static void check(heed_gpu_check_graph *c) {
  const heed_shape shape = HEED_SHAPE(1, HEED_GPU_CHECK_HEADS, CHUNK + 3, HEED_GPU_CHECK_ODD_HEAD);
  heed_linear_attention_desc desc = {sizeof desc,
                                     heed_gpu_check_constant(c, shape),
                                     heed_gpu_check_constant(c, shape),
                                     heed_gpu_check_constant(c, shape),
                                     false,
                                     false};
  heed_gpu_check_keep(c, heed_define_linear_attention(c->graph, &desc));
  desc.causal = true;
  heed_gpu_check_keep(c, heed_define_linear_attention(c->graph, &desc));
  desc.recurrent = true;
  heed_gpu_check_keep(c, heed_define_linear_attention(c->graph, &desc));
}

const heed_gpu_op heed_gpu_linear_attention = {
    .build = build, .check = check, .split_axes = heed_gpu_split_batch};
