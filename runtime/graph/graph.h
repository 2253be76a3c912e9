/* The graph inside: records of values and nodes. Values are numbered from 1; nodes stand in an
 * order in which they can run. */
#ifndef HEED_GRAPH_GRAPH_H
#define HEED_GRAPH_GRAPH_H

#include "base/context.h"
#include "graph/op.h"

typedef enum heed_value_kind {
  HEED_VALUE_INPUT,
  HEED_VALUE_CONSTANT,
  HEED_VALUE_RESULT,
  HEED_VALUE_VIEW
} heed_value_kind;

typedef struct heed_value_record {
  heed_value_kind kind;
  heed_dtype dtype;
  heed_shape shape;
  char *name; /* NULL when unnamed */
  bool output;
  uint32_t node;    /* RESULT: index of its node */
  uint32_t base;    /* VIEW: id of the value it lies in (never a view itself) */
  uint64_t offset;  /* VIEW: in elements of the base */
  const void *data; /* CONSTANT: borrowed bytes, or NULL and */
  heed_constant_read read;
  void *read_user;
  /* id of the U8 [B, T] that says which tokens of this [B, T, C] are real; 0: not known */
  uint32_t mask;
  const struct heed_quantised *quantised; /* CONSTANT: how it is stored in int8, or NULL */
  const struct heed_halves *halves;       /* CONSTANT: how it is stored in fp16, or NULL */
  /* CONSTANT: what it is read from, heed_graph_origin; NULL: the graph itself */
  const uint64_t *origin;
  uint32_t origin_words;
} heed_value_record;

struct heed_graph {
  heed_context *context;
  uint64_t serial;           /* heed_share_serial */
  heed_value_record *values; /* [value_count]; id i is values[i - 1] */
  size_t value_count, value_capacity;
  heed_node *nodes;
  size_t node_count, node_capacity;
  uint32_t stage, stage_count;
  heed_status status;
  heed_error error; /* the first one */
  uint32_t *slots;  /* name_table.c: ids by their names' hashes; 0: free */
  size_t slot_count, slot_room;
  void **blocks; /* copies of descs and row lists, freed with the graph */
  size_t block_count, block_capacity;
  void (*close)(void *user); /* frees what constants are read from; or NULL */
  void *close_user;
};

/* The record of a value id that is known to be valid. */
const heed_value_record *heed_graph_record(const heed_graph *graph, uint32_t id);
/* The record, or NULL (and a sentence) when the value does not belong to the graph. what: "linear:
 * x". */
const heed_value_record *heed_graph_need(const heed_graph *graph, heed_value value,
                                         const char *what, heed_error *error);
/* The id of the value that owns the memory (the base of a view). */
uint32_t heed_graph_root(const heed_graph *graph, uint32_t id);
/* Reads elements [first, first + count) of a constant: as F32, or as its own dtype for U8 and
 * I32. */
heed_status heed_graph_read_constant(const heed_graph *graph, uint32_t id, uint64_t first,
                                     uint64_t count, void *to, heed_error *error);

/* Says what a constant is read from, whatever graph it is in: backends keep those of the same words
 * once. The first word is a heed_share_serial. Does nothing for value 0. */
void heed_graph_origin(heed_graph *graph, heed_value constant, const uint64_t *words,
                       uint32_t count);
/* Those words, at most HEED_ORIGIN_WORDS; returns how many. */
#define HEED_ORIGIN_WORDS 40
uint32_t heed_graph_origin_of(const heed_graph *graph, uint32_t id,
                              uint64_t words[HEED_ORIGIN_WORDS]);

/* Keeps the first failure; returns the value 0 for define functions to pass on. */
heed_value heed_graph_fail(heed_graph *graph, const heed_error *error);
/* A constant whose element (i, j, ...) is element offset + i strides[0] + j strides[1] + ... of
 * another constant: a block of it, its transpose, its axes in another order. Read when a session is
 * created; no copy is kept. */
heed_value heed_graph_strided_constant(heed_graph *graph, heed_value base, uint64_t offset,
                                       const heed_shape *shape, const uint64_t *strides);

/* A constant F32 times a number. */
heed_value heed_graph_scaled_constant(heed_graph *graph, heed_value base, float factor);

/* The mask that the first result of this node, of this shape, takes from its inputs. */
heed_status heed_graph_inherit_mask(const heed_graph *graph, const heed_node *node,
                                    const heed_shape *shape, uint32_t *mask, heed_error *error);
/* Appends a node with a copy of desc; its first result, or value 0. */
heed_value heed_graph_add_node(heed_graph *graph, heed_op_kind op, const void *desc,
                               const heed_node **made);
/* The constant [n, m] of a constant F32 [m, n]: rows and columns exchanged while it is read. */
heed_value heed_graph_transpose(heed_graph *graph, heed_value matrix, const char *what);
/* The constant that heed_graph_transpose made constant `id` of, or 0. */
uint32_t heed_graph_transposed_of(const heed_graph *graph, uint32_t id);
/* heed_desc_read; false when it fails, which the graph then keeps as its error. */
bool heed_graph_read_desc(heed_graph *graph, void *full, size_t size, const void *desc,
                          const char *where);
/* A copy of `size` bytes (data NULL: zeros) that lives as long as the graph; NULL when out of
 * memory, which the graph then keeps as its error. */
void *heed_graph_keep(heed_graph *graph, const void *data, size_t size);

#endif
