/* position_mask: mask U8 [B, H, Tq, Tk] = causal rule and window around i + off, off with that of
 * the batch item, AND a mask. The rule itself is in graph/attention_rule.h. */
#include "graph/ops/position_mask.h"

#include <string.h>

#include "cpu/gemm.h"
#include "graph/attention_rule.h"

typedef struct job {
  heed_attention_desc rule;
  const int32_t *offsets;
  const uint8_t *mask; /* or NULL */
  uint8_t *to;
  size_t heads, queries, keys, mask_batches, rows_per_task;
  uint64_t rows;
} job;

static void run_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  (void)worker;
  const uint64_t first = task * j->rows_per_task,
                 end = j->rows - first < j->rows_per_task ? j->rows : first + j->rows_per_task;
  for (size_t row = (size_t)first; row < end; row++) {
    const size_t query = row % j->queries, batch = row / j->queries / j->heads,
                 in_item = row % (j->queries * j->heads);
    const int64_t at = (int64_t)query + j->offsets[batch] +
                       heed_attention_offset(&j->rule, (uint32_t)j->queries, (uint32_t)j->keys);
    uint32_t low, high;
    heed_attention_keys_around(&j->rule, at, (uint32_t)j->keys, &low, &high);
    uint8_t *to = j->to + row * j->keys;
    memset(to, 0, j->keys);
    for (size_t k = low; k < high; k++) to[k] = 1;
    if (!j->mask) continue;
    const size_t masks = (j->mask_batches == 1 ? 0 : batch) * j->heads * j->queries + in_item;
    for (size_t k = low; k < high; k++) to[k] = j->mask[masks * j->keys + k] != 0;
  }
}

static void run(const heed_cpu_step *step) {
  const heed_position_mask_desc *desc = step->node->desc;
  const uint32_t *dim = heed_cpu_shape(step, step->node->output[0])->dim;
  job j = {.rule = {.causal = desc->causal,
                    .window = desc->window,
                    .window_left = desc->window_left,
                    .window_right = desc->window_right,
                    .causal_offset = desc->causal_offset},
           .offsets = heed_cpu_input(step, HEED_POSITION_MASK_INPUT_OFFSETS),
           .mask = heed_cpu_input(step, HEED_POSITION_MASK_INPUT_MASK),
           .to = step->output[0],
           .heads = dim[1],
           .queries = dim[2],
           .keys = dim[3]};
  if (desc->mask.id) j.mask_batches = heed_cpu_shape(step, desc->mask.id)->dim[0];
  j.rows = (uint64_t)dim[0] * j.heads * j.queries;
  j.rows_per_task = j.keys < HEED_CPU_GRAIN ? HEED_CPU_GRAIN / j.keys : 1;
  heed_thread_pool_run(step->pool, heed_cpu_divide_up(j.rows, j.rows_per_task), run_task, &j);
}

const heed_cpu_op HEED_CPU_SYMBOL(heed_cpu_position_mask) = {.run = run};
