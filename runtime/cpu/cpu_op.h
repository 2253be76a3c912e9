/* What an op is to the CPU backend: one struct an op and a level, in cpu/<op>.c, which is compiled
 * once per level. */
#ifndef HEED_CPU_CPU_OP_H
#define HEED_CPU_CPU_OP_H

#include "base/assert.h"
#include "base/thread_pool.h"
#include "heed/session.h"
#include "plan/plan.h"

/* Forms of weights, by their list. */
typedef enum heed_cpu_form_kind {
#define HEED_FORM(name) HEED_CPU_FORM_##name,
#include "cpu/weights/form_list.h"
#undef HEED_FORM
} heed_cpu_form_kind;
typedef struct heed_cpu_form heed_cpu_form;               /* cpu/weights/form.h */
typedef struct heed_cpu_level_table heed_cpu_level_table; /* below */

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
  heed_thread_pool *pool;              /* NULL: the step is too small to share out */
  const heed_cpu_level_table *level;
  unsigned char *shared, *workers; /* scratch; worker i's begins at workers + i * worker_stride */
  size_t worker_stride;
} heed_cpu_step;

typedef struct heed_cpu_op {
  /* bit i: the input in slot i, a constant [N, ...], is kept as packed panels (cpu/gemm.h) instead
   * of dense */
  uint32_t panels;
  /* bit f, a heed_cpu_form_kind: panels of that form will do, too; those of f32 always do */
  uint32_t forms;
  /* as heed_plan_support.in_place */
  uint32_t in_place;
  /* NULL: no scratch */
  void (*measure)(const heed_cpu_level_table *level, const heed_plan *plan, const heed_node *node,
                  heed_cpu_need *need);
  void (*run)(const heed_cpu_step *step);
  /* In place of run, where it may fail; else NULL. */
  heed_status (*try_run)(const heed_cpu_step *step, heed_error *error);
  /* As heed_plan_support.mode; NULL: its nodes have no map. */
  heed_attention_mode (*mode)(const heed_plan *plan, const heed_node *node);
} heed_cpu_op;

extern const heed_cpu_op heed_cpu_host; /* graph/host.h */

/* A level: everything that is compiled for it. */
struct heed_cpu_level_table {
  const char *name, *label; /* "avx512", "AVX-512" */
  bool by_name;             /* it rounds factors: nobody gets it who does not ask for it */
  uint32_t panel_columns;
  const struct heed_cpu_int8 *int8;  /* how it multiplies int8 (cpu/weights/int8.h) */
  const struct heed_cpu_bf16 *bf16;  /* and bf16 (cpu/weights/bf16.h); NULL: as floats */
  const heed_cpu_form *const *forms; /* of weights, by their kinds */
  const heed_cpu_op *const *ops;     /* [HEED_OP_KIND_COUNT] */
};

/* The input in a slot of the op's enum; NULL for an optional one that is absent. */
static inline const void *heed_cpu_input(const heed_cpu_step *step, uint32_t slot) {
  HEED_ASSERT(slot < heed_ops[step->node->op]->input_count);
  return step->input[slot];
}

static inline const heed_shape *heed_cpu_shape(const heed_cpu_step *step, uint32_t id) {
  return &heed_graph_record(step->plan->graph, id)->shape;
}

static inline void *heed_cpu_worker_scratch(const heed_cpu_step *step, uint32_t worker) {
  HEED_ASSERT(worker < heed_thread_pool_count(step->pool));
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
