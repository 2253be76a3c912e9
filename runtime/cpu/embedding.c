/* embedding: y [B, T, C] = rows of table [rows, C] by ids I32 [B, T]; an id outside the table gives
 * zeros. */
#include <string.h>

#include "cpu/gemm.h"
#include "graph/ops/embedding.h"
#include "heed/ops.h"

typedef struct job {
  const int32_t *ids;
  const float *table;
  float *y;
  size_t width, ids_per_task;
  uint64_t count;
  uint32_t rows;
} job;

static void run_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  (void)worker;
  const uint64_t first = task * j->ids_per_task,
                 end = j->count - first < j->ids_per_task ? j->count : first + j->ids_per_task;
  for (size_t i = (size_t)first; i < end; i++) {
    const int32_t id = j->ids[i];
    float *to = j->y + i * j->width;
    if (id < 0 || (uint32_t)id >= j->rows)
      memset(to, 0, j->width * sizeof *to);
    else
      memcpy(to, j->table + (size_t)id * j->width, j->width * sizeof *to);
  }
}

static void run(const heed_cpu_step *step) {
  const heed_embedding_desc *desc = step->node->desc;
  const uint32_t *ids = heed_cpu_shape(step, desc->ids.id)->dim,
                 *table = heed_cpu_shape(step, desc->table.id)->dim;
  job j = {.ids = heed_cpu_input(step, HEED_EMBEDDING_INPUT_IDS),
           .table = heed_cpu_input(step, HEED_EMBEDDING_INPUT_TABLE),
           .y = step->output[0],
           .width = table[1],
           .rows = table[0]};
  j.count = (uint64_t)ids[0] * ids[1];
  j.ids_per_task = j.width < HEED_CPU_GRAIN ? HEED_CPU_GRAIN / j.width : 1;
  heed_thread_pool_run(step->pool, heed_cpu_divide_up(j.count, j.ids_per_task), run_task, &j);
}

const heed_cpu_op HEED_CPU_SYMBOL(heed_cpu_embedding) = {.run = run};
