/* What an op is to the CPU backend: one struct an op and a level, in cpu/<op>.c, which is compiled
 * once per level. */
#ifndef HEED_CPU_CPU_OP_H
#define HEED_CPU_CPU_OP_H

#include "base/assert.h"
#include "base/thread_pool.h"
#include "heed/session.h"
#include "plan/plan.h"

/* Products in bf16 are built natively on x86 (cpu/bf16.h). */
#if defined(__x86_64__)
#define HEED_BF16
#endif

/* Scratch of one node in bytes: one shared block, and one for each worker. */
typedef struct heed_cpu_need {
  uint64_t shared, worker;
} heed_cpu_need;

/* A node made ready: addresses of everything it touches. */
typedef struct heed_cpu_step {
  const heed_plan *plan;
  const heed_node *node;
  const void *input[HEED_NODE_INPUTS]; /* by slot, as node->input; NULL where it is absent */
  void *output[HEED_NODE_OUTPUTS];     /* NULL where nobody wants it */
  heed_thread_pool *pool;
  const struct heed_cpu_int8 *int8; /* how panels of int8 are multiplied */
#if defined(HEED_BF16)
  const struct heed_cpu_bf16 *bf16; /* how panels of bf16 are multiplied; NULL: there are none */
#endif
  unsigned char *shared, *workers; /* scratch; worker i's begins at workers + i * worker_stride */
  size_t worker_stride;
} heed_cpu_step;

typedef struct heed_cpu_op {
  /* bit i: the input in slot i, a constant [N, ...], is kept as packed panels (cpu/gemm.h) instead
   * of dense */
  uint32_t panels;
  /* bit i: where that constant is stored in int8, as panels of int8 (cpu/int8.h) */
  uint32_t int8_panels;
#if defined(HEED_BF16)
  /* bit i: on a level that multiplies in bf16, that constant is kept as panels of bf16 */
  uint32_t bf16_panels;
#endif
  /* NULL: no scratch */
  void (*measure)(const heed_plan *plan, const heed_node *node, heed_cpu_need *need);
  void (*run)(const heed_cpu_step *step);
  /* As heed_plan_support.mode; NULL: its nodes have no map. */
  heed_attention_mode (*mode)(const heed_plan *plan, const heed_node *node);
} heed_cpu_op;

/* A level: everything that is compiled for it. */
typedef struct heed_cpu_level_table {
  const char *name, *label; /* "avx512", "AVX-512" */
  uint32_t panel_columns;
  /* Packs `rows` rows of a [N, depth] matrix (at most panel_columns of them) into one panel;
   * missing columns become 0. */
  void (*pack_panel)(const float *from, size_t depth, uint32_t rows, float *panel);
  const struct heed_cpu_int8 *int8;
#if defined(HEED_BF16)
  const struct heed_cpu_bf16 *bf16; /* NULL: numbers are multiplied as floats */
#endif
  const heed_cpu_op *ops[HEED_OP_KIND_COUNT];
} heed_cpu_level_table;

/* The input in a slot of the op's enum; NULL for an optional one that is absent. */
static inline const void *heed_cpu_input(const heed_cpu_step *step, uint32_t slot) {
  HEED_ASSERT(slot < heed_ops[step->node->op]->input_count);
  return step->input[slot];
}

static inline const heed_shape *heed_cpu_shape(const heed_cpu_step *step, uint32_t id) {
  return &heed_graph_record(step->plan->graph, id)->shape;
}

static inline void *heed_cpu_worker_scratch(const heed_cpu_step *step, uint32_t worker) {
  return step->workers + worker * step->worker_stride;
}

/* Elements of work in one task of an elementwise op: enough to be worth a task, small enough to
 * share out. */
#define HEED_CPU_GRAIN 16384u

/* Floats added to the stride of rows in scratch: rows a power of two apart fall into the same few
 * sets of the cache. */
#define HEED_CPU_ROW_PAD 16u

/* a / b, rounded up. */
static inline uint64_t heed_cpu_divide_up(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }
static inline size_t heed_cpu_parts(size_t a, size_t b) { return a / b + (a % b != 0); }

#endif
