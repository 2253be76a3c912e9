/* The plan inside: which nodes run, and where every value lies in one arena. */
#ifndef HEED_PLAN_PLAN_H
#define HEED_PLAN_PLAN_H

#include "graph/graph.h"
#include "heed/session.h"

/* Every value of the arena starts at a multiple of this: the largest alignment a storage buffer may
 * ask for in Vulkan, and a cache line's multiple. */
#define HEED_ARENA_ALIGNMENT 256

/* Where a value lies. Constants are not placed: the backend keeps them as it likes. */
typedef struct heed_placement {
  /* computed or written, with a place in the arena; for a constant: used by a node that runs */
  bool live;
  bool kept; /* output, tap or input: its place is its own to the end */
  bool tapped;
  uint32_t first, last; /* positions in `order` between which the place is held */
  uint32_t bank;        /* of the arena */
  uint32_t in; /* not 0: the value whose place this one takes over; its own bytes are 0 then */
  uint64_t offset, bytes;
} heed_placement;

/* Parts of the arena, one after the other, where a step must not read and write one buffer: no
 * result of a node lies in the bank of another value of that node. */
#define HEED_MOST_BANKS 32
typedef struct heed_plan_banks {
  uint32_t most;  /* at most HEED_MOST_BANKS; 1: values lie where there is room */
  uint64_t bytes; /* of a bank, at most; 0: any */
} heed_plan_banks;

/* What a plan asks of the backend that it is made for. A backend fills it in its vtable; a plan
 * knows no more of it. */
typedef struct heed_plan_support {
  /* Whether this node can run here, with a sentence when not. Called while a plan is made. */
  heed_status (*supports)(heed_backend *backend, const heed_plan *plan, const heed_node *node,
                          heed_error *error);
  /* Fills memory->weights and memory->workspace for the plan; allocates nothing lasting. */
  heed_status (*measure)(heed_backend *backend, const heed_plan *plan, heed_memory *memory,
                         heed_error *error);
  /* Fills dispatches and kernels of the step that a node is; NULL: one dispatch, whose kernels have
   * no names. */
  void (*describe)(heed_backend *backend, const heed_plan *plan, const heed_node *node,
                   heed_plan_step *step);
  /* The mode in which a node with a map (heed_op.map_bytes) will run: plan->attention where the
   * backend has it, its own choice else; never AUTO. NULL: the backend has one way only and does
   * not say which. */
  heed_attention_mode (*mode)(const heed_backend *backend, const heed_plan *plan,
                              const heed_node *node);
  /* NULL: one bank of any size. */
  heed_plan_banks (*banks)(const heed_backend *backend);
  /* bit i: the node's first result may be made where the input in slot i lies, which has as many
   * bytes: each element is read before what is made of it is written. NULL: no node's may. */
  uint32_t (*in_place)(const heed_backend *backend, const heed_node *node);
} heed_plan_support;

struct heed_plan {
  heed_context *context;
  heed_graph *graph;
  heed_backend *backend; /* an address alone in plan/ */
  const heed_plan_support *support;
  uint32_t *order; /* [step_count] indices of the nodes that run */
  uint32_t step_count;
  /* [value_count + 1] by value id; entry 0 unused; a view has its own offset inside its base */
  heed_placement *placement;
  uint32_t value_count;
  uint32_t bank_count;
  uint64_t bank_end[HEED_MOST_BANKS]; /* byte offsets in the arena */
  heed_attention_mode attention;      /* asked for */
  bool passing_taps;
  heed_memory memory;
};

/* heed_plan_create, which finds the support of its backend. */
heed_status heed_plan_make(heed_graph *graph, heed_backend *backend,
                           const heed_plan_support *support, const heed_plan_desc *desc,
                           heed_plan **plan, heed_error *error);
/* Whether the value is computed by this plan (an attention's weights are only when somebody wants
 * them). */
bool heed_plan_wants(const heed_plan *plan, uint32_t value);
/* Byte offset of a value in the arena (views resolved); the value must be live and no constant. */
uint64_t heed_plan_offset(const heed_plan *plan, uint32_t value);
/* Bytes of a value, dense. */
uint64_t heed_plan_bytes(const heed_plan *plan, uint32_t value);
/* The mode of a node with a map, as the backend says; AUTO when it does not say. */
heed_attention_mode heed_plan_mode(const heed_plan *plan, const heed_node *node);
/* The node of a step. */
const heed_node *heed_plan_node(const heed_plan *plan, uint32_t step);

/* plan/lifetime.c: gives every live value a bank, and an offset so that no two whose lifetimes meet
 * overlap; sets memory.arena. Statuses: OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY. */
heed_status heed_plan_place(heed_plan *plan, heed_error *error);

#endif
