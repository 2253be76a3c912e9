/* attention_mask: mask U8 [B, Tq, Tk] = query real AND key real AND (causal: k <= q), from ids I32;
 * [B, Tk] without query ids. */
#include <string.h>

#include "cpu/gemm.h"
#include "graph/ops/attention_mask.h"
#include "heed/ops.h"

typedef struct job {
  const int32_t *queries, *keys; /* queries NULL: one row, always real */
  uint8_t *mask;
  size_t query_count, key_count, rows_per_task;
  uint64_t rows;
  bool causal;
  int32_t padding;
} job;

static void run_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  (void)worker;
  const uint64_t first = task * j->rows_per_task,
                 end = j->rows - first < j->rows_per_task ? j->rows : first + j->rows_per_task;
  for (size_t row = (size_t)first; row < end; row++) {
    const size_t batch = row / j->query_count, query = row % j->query_count;
    const int32_t *keys = j->keys + batch * j->key_count;
    uint8_t *mask = j->mask + row * j->key_count;
    const bool real = !j->queries || j->queries[row] != j->padding;
    const size_t seen = !real                                   ? 0
                        : j->causal && query + 1 < j->key_count ? query + 1
                                                                : j->key_count;
    for (size_t k = 0; k < seen; k++) mask[k] = keys[k] != j->padding;
    memset(mask + seen, 0, j->key_count - seen);
  }
}

static void run(const heed_cpu_step *step) {
  const heed_attention_mask_desc *desc = step->node->desc;
  const uint32_t *keys = heed_cpu_shape(step, desc->key_ids.id)->dim;
  job j = {.keys = heed_cpu_input(step, HEED_ATTENTION_MASK_INPUT_KEY_IDS),
           .mask = step->output[0],
           .query_count = 1,
           .key_count = keys[1],
           .causal = desc->causal,
           .padding = desc->padding_id};
  if (desc->query_ids.id) {
    j.queries = heed_cpu_input(step, HEED_ATTENTION_MASK_INPUT_QUERY_IDS);
    j.query_count = heed_cpu_shape(step, desc->query_ids.id)->dim[1];
  }
  j.rows = (uint64_t)keys[0] * j.query_count;
  j.rows_per_task = j.key_count < HEED_CPU_GRAIN ? HEED_CPU_GRAIN / j.key_count : 1;
  heed_thread_pool_run(step->pool, heed_cpu_divide_up(j.rows, j.rows_per_task), run_task, &j);
}

const heed_cpu_op HEED_CPU_SYMBOL(heed_cpu_attention_mask) = {.run = run};
