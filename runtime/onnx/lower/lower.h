/* The lowering: an ONNX graph with known shapes as a graph of heed's own ops. What depends on
 * shapes and constants alone the evaluator computes (evaluate.h). The rest becomes expressions,
 * which their constructors simplify: so a chain of small nodes ends as the op that it spells.
 *
 * lower.c goes through the nodes. nodes.c, activations.c, layout.c, tuples.c, composites.c,
 * quantisers.c, integers.c, einsum.c, convolution.c, volume.c, windows.c and resize.c say what a
 * node is, shape.c, arithmetic.c, norm.c, linear.c and attention.c
 * make expressions, order.c, emit.c and changes.c the graph, and run.c runs it. */
#ifndef HEED_ONNX_LOWER_LOWER_H
#define HEED_ONNX_LOWER_LOWER_H

#include "heed/ops.h"
#include "onnx/evaluate/evaluate.h"
#include "onnx/file/attention_finder.h"

typedef enum heed_lower_kind {
  HEED_LOWER_INPUT,
  HEED_LOWER_CONSTANT,
  HEED_LOWER_LINEAR,     /* x [..., K] by `matrix` [N, K], plus its bias */
  HEED_LOWER_PATCHES,    /* image by `matrix` -> [B, patches, C] */
  HEED_LOWER_NORM,       /* over the last axis */
  HEED_LOWER_ACTIVATION, /* function: heed_activation */
  HEED_LOWER_ATTENTION,  /* -> [B, Tq, H Dv] */
  HEED_LOWER_SOFTMAX,    /* over the last axis */
  HEED_LOWER_SCALE,      /* times `factor` */
  HEED_LOWER_RESHAPE,
  HEED_LOWER_PERMUTE,
  HEED_LOWER_SLICE, /* [first, first + dims[axis]) of one axis */
  HEED_LOWER_CONCAT,
  HEED_LOWER_EXPAND,
  HEED_LOWER_MATMUL,      /* of two computed values */
  HEED_LOWER_UNARY,       /* function: heed_lower_function */
  HEED_LOWER_BINARY,      /* function: heed_lower_function; broadcast */
  HEED_LOWER_REDUCE,      /* function: heed_lower_function; axes: bits of `axis`, which stay as 1 */
  HEED_LOWER_SELECT,      /* x[0] ? x[1] : x[2] */
  HEED_LOWER_ROTARY,      /* x [B, H, T, D] by tables x[1], x[2] [T, R/2]; function: interleaved */
  HEED_LOWER_GATHER,      /* entries of `axis` by `indices` or x[1]; function: of elements */
  HEED_LOWER_WINDOWS,     /* x [B, C, ...] by `windows`, and by the kernel x[1] of a sum */
  HEED_LOWER_NAN_TO_ZERO, /* x, and 0 where it is NaN */
  HEED_LOWER_HOST, /* host.c: a node that has no kernel; dims are those of its first result */
  HEED_LOWER_HOST_RESULT, /* function: which result of the host x[0] */
  HEED_LOWER_QUANTISED    /* x, which is not rounded; only products that are scaled back read it */
} heed_lower_kind;

typedef enum heed_lower_function {
  HEED_LOWER_ADD,
  HEED_LOWER_MULTIPLY,
  HEED_LOWER_DIVIDE,
  HEED_LOWER_POWER,
  HEED_LOWER_MINIMUM,
  HEED_LOWER_MAXIMUM,
  HEED_LOWER_ERF,
  HEED_LOWER_EXP,
  HEED_LOWER_LOG,
  HEED_LOWER_SQUARE_ROOT,
  HEED_LOWER_RECIPROCAL,
  HEED_LOWER_ABSOLUTE,
  HEED_LOWER_SIN,
  HEED_LOWER_COS,
  HEED_LOWER_FLOOR,
  HEED_LOWER_CEIL,
  HEED_LOWER_ROUND,
  HEED_LOWER_SIGN,
  HEED_LOWER_SOFTPLUS,
  HEED_LOWER_IS_NAN,
  HEED_LOWER_NOT,
  HEED_LOWER_TRUNCATE, /* toward zero */
  HEED_LOWER_EQUAL,    /* from here to XOR: truth values of two */
  HEED_LOWER_LESS,
  HEED_LOWER_LESS_EQUAL,
  HEED_LOWER_GREATER,
  HEED_LOWER_GREATER_EQUAL,
  HEED_LOWER_AND,
  HEED_LOWER_OR,
  HEED_LOWER_XOR,
  HEED_LOWER_SUM,
  HEED_LOWER_MEAN,
  HEED_LOWER_MAX,
  HEED_LOWER_MIN,
  HEED_LOWER_L1,
  HEED_LOWER_L2,
  HEED_LOWER_SUM_SQUARE,
  HEED_LOWER_PRODUCT,
  HEED_LOWER_LOG_SUM,
  HEED_LOWER_LOG_SUM_EXP,
  HEED_LOWER_ARGMAX, /* of one axis; first: 1 for the last of equal ones */
  HEED_LOWER_ARGMIN
} heed_lower_function;

/* Rows of a matrix from where they are stored: a weight of the file, or a folded array. */
typedef struct heed_lower_rows {
  const heed_onnx_weight *weight; /* [rows, columns]; or NULL and */
  const heed_onnx_array *array;
  bool turned; /* of the array: stored [columns, rows] */
  uint64_t first, count;
} heed_lower_rows;

/* [rows, columns] for a linear map. Read when a session is created. */
typedef struct heed_lower_matrix {
  const heed_onnx *file;
  heed_lower_rows *parts;
  uint32_t part_count;
  uint64_t rows, columns;
  const float *row_scale, *bias; /* [rows], or NULL */
  bool integer;                  /* of a product of whole numbers, whose scale comes behind it */
} heed_lower_matrix;

typedef struct heed_lower_value heed_lower_value;
typedef struct heed_lower_host heed_lower_host; /* host.c */

typedef struct heed_lower_attention {
  /* [B, H, Tq, D], [B, H, Tk, D], [B, H, Tk, Dv]; bias [B|1, H|1, Tq|1, Tk|1] or NULL */
  heed_lower_value *query, *key, *value, *bias;
  double scale, softcap;
  bool causal, nan_rows;       /* nan_rows: a row with nothing allowed gives NaN */
  int64_t offset, left, right; /* of the causal rule and the window; left, right -1: open */
  uint32_t found;              /* its index among those of the finder; UINT32_MAX: none */
} heed_lower_attention;

struct heed_lower_value {
  heed_lower_kind kind;
  int function;
  uint32_t rank, count; /* axes; inputs */
  uint64_t dims[HEED_ONNX_MAX_RANK];
  heed_lower_value **x; /* [count] */
  uint32_t order[HEED_ONNX_MAX_RANK], axis;
  uint64_t first;
  double factor;                  /* of SCALE; epsilon of NORM */
  heed_onnx_array *array;         /* CONSTANT: its elements, once somebody wants them; and */
  heed_onnx_weight *weight;       /* where they are stored, or NULL */
  const heed_onnx_array *indices; /* of GATHER where they are known */
  heed_lower_matrix *matrix;
  const heed_depthwise_desc *windows;
  const float *gain, *bias; /* of NORM, [last axis] or NULL */
  bool rms;
  heed_lower_attention *attention;
  heed_lower_host *host;
  heed_lower_value *owner;    /* SOFTMAX: the attention whose weights it is, or NULL */
  heed_onnx_id input;         /* of INPUT */
  const heed_onnx_node *node; /* where it was made; NULL: among the inputs */
  uint32_t readers;           /* nodes of the file that read it */
  /* emit.c */
  uint32_t uses;              /* by expressions and outputs that are needed */
  heed_lower_value *consumer; /* the last of them */
  bool absorbed;              /* its consumer's op does its work */
  bool needed;                /* order.c: an output or map is made of it */
  int visit;                  /* order.c: of the search */
  size_t at;                  /* its place in the order */
  heed_value made, weights;
};

/* What a graph lets change from run to run, and which rows of its maps it gives: heed_build_desc.
 */
typedef struct heed_lower_changes {
  uint32_t layers, tokens; /* of the model; T of each layer */
  uint32_t joined;         /* attentions of a layer, from the first on, which are its heads */
  bool placed;             /* their maps are made of the graph's later: only rows may be chosen */
  const int32_t *order; /* [T]: which token of the graph each of the layers' is; NULL: the same */
  const uint32_t *rows; /* of the graph's tokens; NULL: all */
  uint32_t row_count;
  bool intervene;
  heed_empty_row empty_row;
  float temperature; /* 0 = 1 */
} heed_lower_changes;

#define HEED_LOWER_MOST_HOSTS 64

typedef struct heed_lower {
  heed_onnx *file;
  heed_onnx_evaluator evaluator; /* of what is folded */
  heed_onnx_call call;           /* the node that is being lowered */
  heed_onnx_arena arena;
  heed_lower_value **bound;  /* by maker; NULL: folded, or not yet */
  bool *given;               /* by maker: whole numbers of an input have a part in it */
  uint32_t *types;           /* by maker: the element type of what is bound */
  heed_lower_value **values; /* all, in the order in which they were made */
  size_t value_count, value_room;
  heed_onnx_array **owned; /* arrays that no value of the file has */
  size_t owned_count, owned_room;
  heed_onnx_op_count *counts; /* by op */
  size_t count_count, count_room;
  unsigned char *parts; /* by maker: quantisers.c */
  uint32_t unrounded;   /* dynamic quantisations whose rounding was left out */
  uint64_t batch;       /* of the first input with axes */
  bool picture;         /* an input of four axes is a picture, which a run gives */
  bool alone;           /* there is no other input */
  bool takes_hosts;     /* nodes without a kernel become hosts, */
  const heed_onnx_node *hosts[HEED_LOWER_MOST_HOSTS]; /* in their order */
  uint32_t host_count;
  heed_budget work;     /* steps of kernels: what they will compute is not computed yet */
  heed_budget elements; /* of all values of the lowered graph */
  heed_status status;
  heed_error *error;
  const struct heed_lower_value *image; /* vision/reach.c: the only picture among the inputs */
  bool looked;                          /* for it */
  struct heed_token_places *places;     /* vision/reach.c: by attention of the finder, or NULL */
  heed_lower_value **maps;              /* by attention of the finder; NULL: not found here */
  heed_lower_value **order;             /* order.c: those that are needed, parts first */
  size_t order_count;
  /* emit.c */
  const heed_lower_changes *changes; /* or NULL */
  heed_graph *graph;
} heed_lower;

/* ------------------------------------------------------------------------------- expressions
 * Constructors give NULL where something is wrong, which l->status and *l->error say; they take
 * NULL for an input that could not be made. */

/* "file: node 3 (Add /layer/Add): why"; NULL. */
heed_lower_value *heed_lower_refuse(heed_lower *l, heed_status status, const char *why, ...)
    HEED_PRINTF(3, 4);
heed_lower_value *heed_lower_new(heed_lower *l, heed_lower_kind kind, uint32_t rank,
                                 const uint64_t *dims, heed_lower_value *const *x, uint32_t count);
heed_lower_value *heed_lower_of_array(heed_lower *l, heed_onnx_array *array);
heed_lower_value *heed_lower_of_weight(heed_lower *l, const heed_onnx_weight *weight);
/* A constant of one float. */
heed_lower_value *heed_lower_number(heed_lower *l, double number);
/* An array of no value of the file; freed with the lowering. */
heed_onnx_array *heed_lower_array(heed_lower *l, uint32_t rank, const uint64_t *dims);
/* The elements of a constant, or NULL. */
const heed_onnx_array *heed_lower_elements(heed_lower *l, heed_lower_value *constant);
/* memory of the lowering, or NULL with the sentence. */
void *heed_lower_take(heed_lower *l, uint64_t count, size_t size);
/* Counts a b c multiply-adds of a kernel; false, with a sentence, where they are too many. */
bool heed_lower_spend(heed_lower *l, uint64_t a, uint64_t b, uint64_t c);
bool heed_lower_is(const heed_lower_value *v, heed_lower_kind kind);
bool heed_lower_is_function(const heed_lower_value *v, heed_lower_kind kind, int function);
uint64_t heed_lower_size(const heed_lower_value *v);
/* A constant of one element; its value. */
bool heed_lower_is_number(heed_lower *l, heed_lower_value *v, double *number);
/* The one axis of a value that is longer than 1; false where there are more. */
bool heed_lower_is_vector(const heed_lower_value *v, uint32_t *axis);

/* shape.c */
heed_lower_value *heed_lower_reshape(heed_lower *l, heed_lower_value *x, uint32_t rank,
                                     const uint64_t *dims);
heed_lower_value *heed_lower_permute(heed_lower *l, heed_lower_value *x, const uint32_t *order);
heed_lower_value *heed_lower_swap(heed_lower *l, heed_lower_value *x); /* the last two axes */
heed_lower_value *heed_lower_slice(heed_lower *l, heed_lower_value *x, uint32_t axis,
                                   uint64_t first, uint64_t count);
/* `count` entries of an axis from `first` on, `step` apart, which is not 0 and may be negative. */
heed_lower_value *heed_lower_pick(heed_lower *l, heed_lower_value *x, uint32_t axis, uint64_t first,
                                  int64_t step, uint64_t count);
heed_lower_value *heed_lower_concat(heed_lower *l, heed_lower_value *const *x, uint32_t count,
                                    uint32_t axis);
heed_lower_value *heed_lower_expand(heed_lower *l, heed_lower_value *x, uint32_t rank,
                                    const uint64_t *dims);
/* arithmetic.c */
heed_lower_value *heed_lower_binary(heed_lower *l, heed_lower_function function,
                                    heed_lower_value *a, heed_lower_value *b);
heed_lower_value *heed_lower_unary(heed_lower *l, heed_lower_function function,
                                   heed_lower_value *x);
heed_lower_value *heed_lower_scale(heed_lower *l, heed_lower_value *x, double factor);
/* Minus x. */
heed_lower_value *heed_lower_negative(heed_lower *l, heed_lower_value *x);
heed_lower_value *heed_lower_activation(heed_lower *l, heed_activation kind, heed_lower_value *x);
heed_lower_value *heed_lower_reduce(heed_lower *l, heed_lower_function function,
                                    heed_lower_value *x, uint32_t axes);
heed_lower_value *heed_lower_select(heed_lower *l, heed_lower_value *c, heed_lower_value *a,
                                    heed_lower_value *b);
/* integers.c: x of element type `from` as one of `to`. */
heed_lower_value *heed_lower_cast(heed_lower *l, heed_lower_value *x, uint32_t from, uint32_t to);
/* Whether its elements are whole numbers or truth values that floats hold exactly, and between
 * which they lie. */
bool heed_lower_is_whole(heed_lower *l, heed_lower_value *v, double range[2]);
/* Entries of an axis by indices that are known, or else computed. */
heed_lower_value *heed_lower_gather(heed_lower *l, heed_lower_value *x, uint32_t axis,
                                    const heed_onnx_array *known, heed_lower_value *computed,
                                    bool elements);
/* A constant mapped element by element. */
heed_lower_value *heed_lower_map(heed_lower *l, heed_lower_value *constant,
                                 double (*f)(double x, double by), double by);
/* norm.c: what a chain spells, or NULL. */
heed_lower_value *heed_lower_as_activation(heed_lower *l, heed_lower_value *a, heed_lower_value *b);
heed_lower_value *heed_lower_as_gelu(heed_lower *l, heed_lower_value *x, double factor);
heed_lower_value *heed_lower_as_norm(heed_lower *l, heed_lower_value *a, heed_lower_value *divisor);
heed_lower_value *heed_lower_norm(heed_lower *l, heed_lower_value *x, double epsilon, bool rms);
/* gain (MULTIPLY) or bias (ADD) of a norm or a linear map from a vector over the last axis; NULL:
 * not to be joined. */
heed_lower_value *heed_lower_with_vector(heed_lower *l, heed_lower_function function,
                                         heed_lower_value *x, heed_lower_value *vector);
/* linear.c */
heed_lower_value *heed_lower_linear(heed_lower *l, heed_lower_value *x,
                                    const heed_lower_matrix *matrix);
/* x by a constant of two axes, stored [K, N], or [N, K] where not turned. */
heed_lower_value *heed_lower_linear_of(heed_lower *l, heed_lower_value *x, heed_lower_value *weight,
                                       bool turned);
heed_lower_value *heed_lower_linear_rows(heed_lower *l, const heed_lower_value *linear,
                                         uint64_t first, uint64_t count);
heed_lower_value *heed_lower_patches(heed_lower *l, heed_lower_value *image,
                                     heed_lower_value *weight);
/* The convolution that the node is, without its bias. */
heed_lower_value *heed_lower_convolution(heed_lower *l, heed_lower_value *image,
                                         heed_lower_value *weight);
/* convolution.c: one whose kernel is not its stride. */
heed_lower_value *heed_lower_convolution_of(heed_lower *l, heed_lower_value *image,
                                            heed_lower_value *weight);
/* The elements of a constant as floats of the lowering. */
const float *heed_lower_floats(heed_lower *l, heed_lower_value *constant);
heed_status heed_lower_read_matrix(void *user, uint64_t first, uint64_t count, void *to,
                                   heed_error *error);
/* attention.c */
heed_lower_value *heed_lower_matmul(heed_lower *l, heed_lower_value *a, heed_lower_value *b);
heed_lower_value *heed_lower_attend(heed_lower *l, const heed_lower_attention *attention);
/* [B, Tq, H Dv] of an attention as [B, H, Tq, Dv]. */
heed_lower_value *heed_lower_heads_first(heed_lower *l, heed_lower_value *x, uint64_t heads);

/* ------------------------------------------------------------------------------------- nodes */

/* Input `index` of the node; NULL with a sentence where it is missing, or not said. */
heed_lower_value *heed_lower_input(heed_lower *l, uint32_t index);
/* The element type of input `index`. */
uint32_t heed_lower_type(heed_lower *l, uint32_t index);
bool heed_lower_has_input(const heed_lower *l, uint32_t index);
bool heed_lower_has_output(const heed_lower *l, uint32_t index);
/* Binds output `index` of the node. `type` 0: that of its first input. */
void heed_lower_bind(heed_lower *l, uint32_t index, heed_lower_value *value, uint32_t type);
void heed_lower_bind_array(heed_lower *l, uint32_t index, heed_onnx_array *array);

/* Which attention of the finder a node is; UINT32_MAX: none. */
uint32_t heed_lower_attention_at(const heed_lower *l, const heed_onnx_node *node);
/* The truth of the condition of the If `node`; false with a sentence where it is not known. */
bool heed_lower_branch(heed_lower *l, const heed_onnx_node *node, heed_onnx_id condition,
                       bool *truth);

typedef struct heed_lower_op {
  const char *name;
  void (*lower)(heed_lower *l, int kind);
  int kind;
} heed_lower_op;
/* One table a file, which ends with a name NULL. */
extern const heed_lower_op heed_lower_nodes[], heed_lower_activations[], heed_lower_layouts[],
    heed_lower_blocks[], heed_lower_quantisers[], heed_lower_pads[], heed_lower_wholes[],
    heed_lower_einsums[], heed_lower_resizes[], heed_lower_channels[], heed_lower_pools[],
    heed_lower_tuples[];

/* -------------------------------------------------------------------------------------- all */

/* Lowers the graph for inputs of these shapes. The values of whole numbers and booleans are taken
 * as constants. l is zeroed but for file, error and what heed_lower_limit sets; heed_lower_close
 * frees it also after a failure. Statuses: INVALID_FILE, UNSUPPORTED, OUT_OF_MEMORY, those of the
 * sources.
 */
void heed_lower_limit(heed_lower *l, uint64_t input_bytes, uint64_t most_elements,
                      uint64_t most_steps);
heed_status heed_lower_graph(heed_lower *l, const heed_source *inputs, const char *name,
                             bool attentions);
void heed_lower_close(heed_lower *l);
/* emit.c: l->graph of what the outputs and, where wanted, the attentions need. */
heed_status heed_lower_emit(heed_lower *l, bool attentions);
/* order.c: l->order of what values with uses need. */
heed_status heed_lower_arrange(heed_lower *l);
/* The weights of the index-th attention of the finder, [B, H, Tq, Tk] or as its softmax has them;
 * value 0: the graph has none. */
heed_value heed_lower_weights(const heed_lower *l, uint32_t index);
/* changes.c: the mask, temperature, empty rows and rows of an attention; what its heads give, with
 * their offset and gain; and the rows of those maps that other ops make or read. */
void heed_lower_change_scores(heed_lower *l, const heed_lower_value *v, heed_attention_desc *desc);
void heed_lower_narrow_maps(heed_lower *l);
heed_value heed_lower_change_heads(heed_lower *l, const heed_lower_value *v, heed_value output);
/* The same where an attention runs in several ops: the weights of its softmax, value 0 where
 * nothing changes; and `output`, the product v of such weights and values. */
uint32_t heed_lower_heads_width(const heed_lower *l, uint32_t found); /* H Dv; 0: no product */
heed_value heed_lower_change_softmax(heed_lower *l, const heed_lower_value *v);
heed_value heed_lower_change_product(heed_lower *l, const heed_lower_value *v, heed_value output);
/* general.c: the heed_value of an expression that no model of heed's own needs. */
heed_value heed_lower_emit_general(heed_lower *l, const heed_lower_value *v);
/* What the graph calls a shape; a number is [1]. */
heed_shape heed_lower_shape(heed_lower *l, const heed_lower_value *v);
/* projections.c: query, key and value of an attention [B, H, T, D], of which projections of one
 * value become one. heed_lower_absorb_heads says beforehand which expressions that takes over. */
void heed_lower_absorb_heads(heed_lower_value *attention);
void heed_lower_emit_heads(heed_lower *l, const heed_lower_value *attention, heed_value to[3]);
/* host.c: the node of l->call, which was refused, as one that runs in double. UNSUPPORTED, with the
 * sentence of before: it cannot. Then its emission, its results, their element types, and which
 * nodes they are: "2 of 40 nodes in double (TopK, CumSum)", or "". */
heed_status heed_lower_host_node(heed_lower *l);
heed_value heed_lower_emit_host(heed_lower *l, const heed_lower_value *v);
heed_value heed_lower_host_result(const heed_lower_value *v);
uint32_t heed_lower_host_type(const heed_lower_value *v);
void heed_lower_tell_hosts(const heed_lower *l, char *text, size_t size);
/* The constants of a matrix: its rows, and its bias or value 0. */
heed_value heed_lower_emit_rows(heed_lower *l, const heed_lower_matrix *matrix, heed_shape shape);
heed_value heed_lower_emit_vector(heed_lower *l, const float *data, uint64_t count);
/* Whether an image of so many axes has its colours last: [B, H, W, 3]. */
bool heed_onnx_channels_last(uint32_t rank, const int64_t *dims);
/* What is bound to a value of the file; NULL: it is folded. */
heed_lower_value *heed_lower_bound(const heed_lower *l, heed_onnx_id value);

/* open.c: heed_onnx_lower with changes, or NULL. */
heed_status heed_onnx_lower_changed(heed_onnx *file, const heed_onnx_lower_desc *desc,
                                    const heed_lower_changes *changes, heed_onnx_lowered **lowered,
                                    heed_error *error);
/* The expressions of a lowered graph. */
heed_lower *heed_onnx_lowered_parts(heed_onnx_lowered *lowered);
/* Makes the graph own what it was lowered from; heed_graph_destroy frees both. */
heed_graph *heed_onnx_lowered_release(heed_onnx_lowered *lowered);
/* Gives the inputs that were made of whole numbers; write_given writes them. */
heed_status heed_lower_visit_given(const heed_lower *l, heed_onnx_given give, void *user,
                                   heed_error *error);
heed_status heed_lower_write_given(const heed_lower *l, heed_session *session, heed_error *error);
/* run.c: on kernels. *refused: the node that has none, or UINT32_MAX. */
heed_status heed_lower_evaluate(heed_onnx *file, const heed_onnx_evaluate_desc *desc,
                                heed_onnx_result **result, uint32_t *refused, heed_error *error);
/* parts.c: the same, but for nodes that have none, of which the first is known: those run in
 * double. Statuses: also UNSUPPORTED (what is refused is no node that runs in double, too many of
 * them, branches); *error says why the first was refused then. */
heed_status heed_lower_evaluate_parts(heed_onnx *file, const heed_onnx_evaluate_desc *desc,
                                      uint32_t refused, heed_onnx_result **result,
                                      heed_error *error);
/* The expression of an output that a run computes, and the type that it has then; NULL: it is known
 * beforehand, which heed_lower_put_known puts into a result. */
heed_status heed_lower_output(heed_lower *l, const heed_onnx_value *output,
                              const heed_lower_value **computed, uint32_t *type);
heed_status heed_lower_put_known(heed_lower *l, const heed_onnx_value *output,
                                 heed_onnx_result *result);

#endif
