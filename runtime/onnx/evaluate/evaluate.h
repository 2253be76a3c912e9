/* The evaluator: an ONNX graph with all its inputs known, node after node. It is the meaning of
 * every op in double, rounded to each value's type: what folds shapes and constants, and what runs
 * graphs that no builder of heed knows. */
#ifndef HEED_ONNX_EVALUATE_EVALUATE_H
#define HEED_ONNX_EVALUATE_EVALUATE_H

#include "base/budget.h"
#include "model/files/safetensors.h"
#include "onnx/file/array.h"
#include "onnx/file/file.h"

/* Elements of all arrays that are alive together, whatever the caller says. */
#define HEED_ONNX_MOST_ELEMENTS (UINT64_C(1) << 30)
/* Elements made and multiply-adds of one run on kernels, where the caller says nothing: ViT-g/14 at
 * 518 px takes about 2^41. */
#define HEED_ONNX_MOST_STEPS (UINT64_C(1) << 42)
#define HEED_ONNX_MOST_INPUTS 64
#define HEED_ONNX_MOST_OUTPUTS 64

typedef struct heed_onnx_evaluator {
  const heed_onnx *file;
  const heed_context *context;
  heed_onnx_array **values; /* by maker; NULL: not known, or no longer needed */
  heed_onnx_array **kept;   /* by attention of one node: its weights, which no value has */
  uint32_t kept_count;
  uint64_t batch;       /* of the first input with axes */
  uint32_t *uses;       /* by maker: readers that are still to come */
  heed_budget elements; /* alive now */
  heed_budget steps;    /* so far */
} heed_onnx_evaluator;

/* A node that runs. */
typedef struct heed_onnx_call {
  heed_onnx_evaluator *evaluator;
  const heed_onnx_node *node;
  int64_t opset;                                    /* of the node's domain */
  const heed_onnx_array *in[HEED_ONNX_MOST_INPUTS]; /* NULL: left out */
  uint32_t in_count;
  heed_onnx_array *out[HEED_ONNX_MOST_OUTPUTS]; /* made by the op; NULL where nobody wants it */
  heed_onnx_array **weights; /* where an attention puts its weights [B, H, Tq, Tk]; or NULL */
  heed_error *error;
} heed_onnx_call;

typedef heed_status (*heed_onnx_op)(heed_onnx_call *call);
typedef struct heed_onnx_op_entry {
  const char *name;
  heed_onnx_op run;
  int kind; /* for ops that share a function */
} heed_onnx_op_entry;

/* One table a file of ops, which ends with a name NULL. */
extern const heed_onnx_op_entry heed_onnx_elementwise[], heed_onnx_layout[], heed_onnx_reduce[],
    heed_onnx_products[], heed_onnx_norms[], heed_onnx_attentions[], heed_onnx_quantisers[],
    heed_onnx_resizes[], heed_onnx_einsums[], heed_onnx_tuples[], heed_onnx_channels[],
    heed_onnx_pools[], heed_onnx_selections[], heed_onnx_squares[];
/* limits.c: sets file, context and limits of an evaluator: what a graph may take grows with its
 * file and its inputs, so that a small one cannot ask for gigabytes or for hours. `folds`: of what
 * is folded before a run, else of a run in double. A limit of the caller stands instead. */
/* What all values of a graph may take together, in bytes, and in elements of the evaluator. */
uint64_t heed_onnx_default_bytes(const heed_onnx *file, uint64_t input_bytes);
uint64_t heed_onnx_default_elements(const heed_onnx *file, uint64_t input_bytes);
void heed_onnx_limit(heed_onnx_evaluator *e, const heed_onnx *file, uint64_t input_bytes,
                     uint64_t most_elements, uint64_t most_steps, bool folds);
/* Makes room for values and counts who reads them; closed also after a failure. */
heed_status heed_onnx_evaluator_open(heed_onnx_evaluator *e,
                                     const struct heed_onnx_attention_list *found,
                                     heed_error *error);
void heed_onnx_evaluator_close(heed_onnx_evaluator *e);
/* The value, or NULL where it is left out. An initializer is read when it is first asked for. */
heed_status heed_onnx_fetch(heed_onnx_call *call, heed_onnx_id value,
                            const heed_onnx_array **array);
/* weights: where an attention of one node puts them; or NULL. */
heed_status heed_onnx_run_node(heed_onnx_evaluator *e, const heed_onnx_node *node,
                               heed_onnx_array **weights, heed_error *error);
/* inputs.c: whether a tensor fits an input of the graph, and its type and shape; reads it into its
 * slot. */
heed_status heed_onnx_check_input(const heed_onnx *file, const heed_onnx_value *input,
                                  const heed_source *source, const heed_safetensors_tensor *tensor,
                                  heed_onnx_array *shape, heed_error *error);
/* As an array, which the caller drops. */
heed_status heed_onnx_read_stored(heed_onnx_evaluator *e, const heed_onnx_value *input,
                                  const heed_source *source, const heed_safetensors_tensor *tensor,
                                  heed_onnx_array **to, heed_error *error);
heed_status heed_onnx_read_input(heed_onnx_evaluator *e, const heed_onnx_value *input,
                                 const heed_source *source, const heed_safetensors_tensor *tensor,
                                 heed_error *error);
/* Reads all inputs. Statuses: INVALID_FILE, those of the source. */
heed_status heed_onnx_read_inputs(heed_onnx_evaluator *e, const heed_onnx_evaluate_desc *desc,
                                  const heed_safetensors *given, heed_error *error);

/* The kind of the call's entry. */
int heed_onnx_kind(const heed_onnx_call *call);

/* schemas.c: whether the node's set has its op; whether heed knows the version of the set; and
 * whether the op has an attribute there. Statuses: INVALID_FILE, UNSUPPORTED. */
bool heed_onnx_has_schema(const heed_onnx_node *node);
heed_status heed_onnx_check_opset(heed_onnx_call *call);
heed_status heed_onnx_check_schema(heed_onnx_call *call, const char *attribute);
/* Each attribute of the node must be one of its op, and one that heed reads, or that changes
 * nothing, of its type and with a known word. Statuses: UNSUPPORTED, INVALID_FILE. */
heed_status heed_onnx_check_attributes(heed_onnx_call *call);
/* An input must be of floats, whole numbers or truth values, where the op has no meaning for
 * others. Statuses: INVALID_FILE. */
heed_status heed_onnx_check_type(heed_onnx_call *call, uint32_t index, uint32_t type);
/* The node has as many inputs and outputs as its op may have, and those that it must have.
 * Statuses: INVALID_FILE. */
heed_status heed_onnx_check_counts(heed_onnx_call *call);
/* layout.c: the truth of the condition of an If. Statuses: INVALID_FILE. */
heed_status heed_onnx_truth(heed_onnx_call *call, const heed_onnx_array *condition, bool *truth);
/* Whether the node reads an input: an If, whose condition is there, only those of one branch. */
bool heed_onnx_takes_input(const heed_onnx_call *call, uint32_t index);
/* blocks.c: what DepthToSpace and SpaceToDepth are: a value as one of six axes, which are permuted
 * and joined again. Statuses: INVALID_FILE. */
typedef struct heed_onnx_blocks {
  uint64_t six[6], out[4];
  uint32_t order[6];
} heed_onnx_blocks;
heed_status heed_onnx_read_blocks(heed_onnx_call *call, uint32_t rank, const uint64_t *dims,
                                  heed_onnx_blocks *to);
/* scatter.c: how ScatterND joins entries: none, add, mul, max or min. Statuses: UNSUPPORTED. */
heed_status heed_onnx_read_reduction(heed_onnx_call *call, const char **how);
/* batch_norm.c: whether the node is a batch norm of inference whose inputs 1 to 4 have `channels`
 * elements; and what it makes of a channel, scale x + shift. Statuses: UNSUPPORTED, INVALID_FILE.
 */
heed_status heed_onnx_check_batch_norm(heed_onnx_call *call, uint64_t channels);
void heed_onnx_batch_norm(const heed_onnx_call *call, uint64_t channel, double *scale,
                          double *shift);
/* The same of input 1 or 2 of an instance norm. Statuses: INVALID_FILE. */
heed_status heed_onnx_check_instance_norm(heed_onnx_call *call, uint32_t index, bool floats,
                                          uint64_t count, uint64_t channels);
/* attentions.c: how many of the columns of a packed attention's weights are of query, key and
 * value; false: they do not fit. */
bool heed_onnx_packed_widths(const heed_onnx_call *call, uint64_t columns, uint64_t widths[3]);
/* key_masks.c: what a mask of keys adds to scores, dims [B, 1, Tq|1, Tk]; false: it is none. It is
 * [B, Tk] or [B, Tq, Tk], where 0 is not attended, or ends [B], or ends and then starts [2 B].
 * Where it does not attend it adds the attribute mask_filter_value. */
bool heed_onnx_key_mask_shape(const heed_onnx_array *mask, uint64_t batch, uint64_t queries,
                              uint64_t keys, uint64_t dims[4]);
void heed_onnx_fill_key_mask(const heed_onnx_call *call, const heed_onnx_array *mask,
                             heed_onnx_array *to);
/* "file: node 3 (Add /layer/Add): why". */
heed_status heed_onnx_refuse(heed_onnx_call *call, heed_status status, const char *why, ...)
    HEED_PRINTF(3, 4);
/* An array of the evaluator; its elements are 0. Counts are checked here. */
heed_status heed_onnx_make(heed_onnx_call *call, uint32_t type, uint32_t rank, const uint64_t *dims,
                           heed_onnx_array **array);
/* Spends a * b * c steps, which are refused where all are more than allowed; and those of the
 * evaluator. */
heed_status heed_onnx_spend_steps(heed_onnx_call *call, heed_budget *steps, uint64_t a, uint64_t b,
                                  uint64_t c);
heed_status heed_onnx_count_steps(heed_onnx_call *call, uint64_t a, uint64_t b, uint64_t c);
/* The same of `each` steps for each element of a shape: before it is made. */
heed_status heed_onnx_count_shape(heed_onnx_call *call, uint32_t rank, const uint64_t *dims,
                                  uint64_t each);
/* The call's output, of this shape; and of an input's shape and type. */
heed_status heed_onnx_output(heed_onnx_call *call, uint32_t index, uint32_t type, uint32_t rank,
                             const uint64_t *dims);
heed_status heed_onnx_output_like(heed_onnx_call *call, uint32_t index, const heed_onnx_array *x);
void heed_onnx_drop(heed_onnx_evaluator *evaluator, heed_onnx_array *array);
/* Input `index`, which must be there, or NULL with a sentence. */
const heed_onnx_array *heed_onnx_input(heed_onnx_call *call, uint32_t index);

int64_t heed_onnx_integer(const heed_onnx_call *call, const char *name, int64_t otherwise);
double heed_onnx_float(const heed_onnx_call *call, const char *name, double otherwise);
const char *heed_onnx_text(const heed_onnx_call *call, const char *name, const char *otherwise);
/* An axis from an attribute or input, from -rank to rank - 1. */
heed_status heed_onnx_axis(heed_onnx_call *call, int64_t axis, uint32_t rank, uint32_t *result);
/* A list of whole numbers: of the attribute, or where the op has it as input `index`, of that.
 * *count is 0 and *there false where it is neither. */
#define HEED_ONNX_MOST_LIST 64
typedef struct heed_onnx_list {
  bool there;
  uint32_t count;
  int64_t item[HEED_ONNX_MOST_LIST];
} heed_onnx_list;
heed_status heed_onnx_read_list(heed_onnx_call *call, const char *attribute, uint32_t index,
                                heed_onnx_list *list);
/* Marks the axes of a list, marked [rank], of which none may be there twice. */
heed_status heed_onnx_mark_axes(heed_onnx_call *call, const heed_onnx_list *list, uint32_t rank,
                                bool *marked);
/* A tensor of the file as an array. */
heed_status heed_onnx_load(heed_onnx_call *call, const heed_onnx_tensor *tensor,
                           heed_onnx_array **array);
/* The shape of a and b together, as numpy broadcasts. */
heed_status heed_onnx_broadcast(heed_onnx_call *call, const heed_onnx_array *a,
                                const heed_onnx_array *b, heed_onnx_array *shape);

#endif
