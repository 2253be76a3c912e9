/* The chapter of ops in heed.h: heed_define_<op> of each, and layers that are composed of them. */
#ifndef HEED_OPS_H
#define HEED_OPS_H

#include "heed/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------ ops */

/* What an activation gives of x. */
typedef enum heed_activation_form {
  HEED_ACTIVATION_VALUE = 0, /* f(x) */
  HEED_ACTIVATION_SLOPE = 1, /* EXPERIMENTAL: f'(x); of RELU 0 at 0 */
  /* EXPERIMENTAL: f(x) / x, and its limit at 0; not of SIGMOID and ELU_PLUS_ONE, which have none */
  HEED_ACTIVATION_RATIO = 2
} heed_activation_form;

/* y = activation(x), element by element. x F32 of any shape. */
typedef struct heed_activation_desc {
  size_t struct_size;
  heed_value x;
  heed_activation kind;
  heed_activation_form form;
  heed_value times; /* EXPERIMENTAL: F32 of x's shape, which y is multiplied by; or none */
} heed_activation_desc;
HEED_API heed_value heed_define_activation(heed_graph *graph, const heed_activation_desc *desc);

/* y = a + b, F32. b is broadcast over a's leading axes and wherever b's axis is 1 (numpy's rule);
 * y has a's shape. */
typedef struct heed_add_desc {
  size_t struct_size;
  heed_value a, b;
} heed_add_desc;
HEED_API heed_value heed_define_add(heed_graph *graph, const heed_add_desc *desc);

/* y = a b, element by element. b is broadcast to a's shape as for add. */
typedef heed_add_desc heed_multiply_desc;
HEED_API heed_value heed_define_multiply(heed_graph *graph, const heed_multiply_desc *desc);

#define HEED_CONCAT_MAX 4
/* Joins 2 to 4 tensors, all F32 or all I32, along `axis`. The other axes are equal, except that a
 * leading axis 0 of size 1 is repeated to the largest (class tokens). */
typedef struct heed_concat_desc {
  size_t struct_size;
  heed_value x[HEED_CONCAT_MAX];
  uint32_t count;
  uint32_t axis;
} heed_concat_desc;
HEED_API heed_value heed_define_concat(heed_graph *graph, const heed_concat_desc *desc);

/* Rows [first, first + count) of axis 1: x [B, T, C] -> [B, count, C]. */
typedef struct heed_select_rows_desc {
  size_t struct_size;
  heed_value x;
  uint32_t first, count;
} heed_select_rows_desc;
HEED_API heed_value heed_define_select_rows(heed_graph *graph, const heed_select_rows_desc *desc);

/* y = softmax over the last axis. The row maximum is subtracted first. With a gradient g, x is what
 * a softmax gave, and y what its input gets of g: factor x (g - sum of x g). */
typedef struct heed_softmax_desc {
  size_t struct_size;
  heed_value x;
  heed_value gradient; /* EXPERIMENTAL: F32 of x's shape, or none */
  float factor;        /* EXPERIMENTAL: with a gradient; 0: 1 */
} heed_softmax_desc;
HEED_API heed_value heed_define_softmax(heed_graph *graph, const heed_softmax_desc *desc);

/* y = gain (x - mean) / sqrt(variance + epsilon) + bias over the last axis (Ba et al. 2016). gain
 * [C] is a constant, bias [C] a constant or none. With rms the mean counts as 0: y = gain x /
 * sqrt(mean of x^2 + epsilon) + bias (Zhang & Sennrich 2019). With a gradient g of y, the result
 * is what x gets of it: (h - mean h - u mean(h u)) / s, where h = gain g and u = (x - mean) / s;
 * with rms without mean h, and held without the last term. */
typedef struct heed_layer_norm_desc {
  size_t struct_size;
  heed_value x, gain, bias;
  float epsilon; /* >= 0; 0 means 0, not a default */
  bool rms;
  bool held;           /* EXPERIMENTAL: with a gradient, s counts as a constant */
  heed_value gradient; /* EXPERIMENTAL: F32 of x's shape, or none; there is no bias then */
} heed_layer_norm_desc;
HEED_API heed_value heed_define_layer_norm(heed_graph *graph, const heed_layer_norm_desc *desc);

/* y = activation(x weight^T + bias) + residual. x [..., K]; weight [N, K] (PyTorch's order), a
 * constant; bias [N], a constant or none; residual of y's shape or none.
 *
 * heads > 0 writes head-major instead: x [B, T, K], N = parts H D -> y [parts, B, H, T, D], where
 * parts 0 means 1. A stacked query, key and value projection is then one matmul, whose parts are
 * views of y. It excludes a residual. */
typedef struct heed_linear_desc {
  size_t struct_size;
  heed_value x, weight, bias, residual;
  heed_activation activation;
  uint32_t heads, parts;
} heed_linear_desc;
HEED_API heed_value heed_define_linear(heed_graph *graph, const heed_linear_desc *desc);

/* image [B, Cin, height, width] -> [B, (height/P)(width/P), C]: a convolution of kernel P and
 * stride P, patches in raster order (Dosovitskiy et al. 2021, 3.1). weight [C, Cin, P, P] and bias
 * [C] or none are constants. Rows and columns beyond the last full patch are ignored. */
typedef struct heed_patch_embedding_desc {
  size_t struct_size;
  heed_value image, weight, bias;
} heed_patch_embedding_desc;
HEED_API heed_value heed_define_patch_embedding(heed_graph *graph,
                                                const heed_patch_embedding_desc *desc);

/* table [rows, C], a constant; ids I32 [B, T] -> [B, T, C]. An id outside the table selects a row
 * of zeros. With mask_padding the result carries the mask of the tokens that are not padding_id
 * (heed_graph_carry_mask). */
typedef struct heed_embedding_desc {
  size_t struct_size;
  heed_value ids, table;
  bool mask_padding;
  int32_t padding_id;
} heed_embedding_desc;
HEED_API heed_value heed_define_embedding(heed_graph *graph, const heed_embedding_desc *desc);

/* Reorders the axes of x (F32 or I32, 1 to 6 axes) into a dense tensor. Axis i of y is axis
 * order[i] of x; order lists every axis once. */
typedef struct heed_permute_desc {
  size_t struct_size;
  heed_value x;
  uint32_t order[HEED_MAX_RANK];
} heed_permute_desc;
HEED_API heed_value heed_define_permute(heed_graph *graph, const heed_permute_desc *desc);

/* The general ops, from here to heed_define_depthwise, are what graphs of other programs need. A
 * comment names the operators of ONNX that an op covers, by the version of the operator set. Truth
 * values are 0 and 1 in F32 or I32, and any number but 0 counts as true. */

/* y = a b, F32: a [..., M, K], b [..., K, N] -> [..., M, N], each of 2 to 6 axes. transpose_a: a is
 * [..., K, M]; transpose_b: b is [..., N, K]. Leading axes are broadcast by numpy's rule. ONNX:
 * MatMul 13, and the product of Gemm 13. A constant weight is faster in linear. */
typedef struct heed_matmul_desc {
  size_t struct_size;
  heed_value a, b;
  bool transpose_a, transpose_b;
} heed_matmul_desc;
HEED_API heed_value heed_define_matmul(heed_graph *graph, const heed_matmul_desc *desc);

/* What elementwise computes of a, of a and b, or of a, b and c. tanh, sigmoid, relu and the forms
 * of gelu are of heed_activation. NaN stays NaN unless a line says otherwise. */
typedef enum heed_elementwise {
  HEED_ELEMENTWISE_IDENTITY = 0, /* a: a broadcast to shape, or another dtype */
  HEED_ELEMENTWISE_NEGATE = 1,
  HEED_ELEMENTWISE_ABSOLUTE = 2,
  HEED_ELEMENTWISE_RECIPROCAL = 3, /* 1 / a */
  HEED_ELEMENTWISE_SQUARE_ROOT = 4,
  HEED_ELEMENTWISE_EXP = 5, /* below 2^-126 it is 0 */
  HEED_ELEMENTWISE_LOG = 6,
  HEED_ELEMENTWISE_ERF = 7,
  HEED_ELEMENTWISE_SIN = 8, /* a in radians */
  HEED_ELEMENTWISE_COS = 9,
  HEED_ELEMENTWISE_SOFTPLUS = 10, /* log(1 + exp(a)) */
  HEED_ELEMENTWISE_FLOOR = 11,
  HEED_ELEMENTWISE_CEIL = 12,
  HEED_ELEMENTWISE_ROUND = 13,        /* a half goes to the even number */
  HEED_ELEMENTWISE_SIGN = 14,         /* -1, 0 or 1 */
  HEED_ELEMENTWISE_NOT = 15,          /* a == 0; of NaN 0 */
  HEED_ELEMENTWISE_IS_NAN = 16,       /* 1 for NaN, else 0 */
  HEED_ELEMENTWISE_IS_INFINITE = 17,  /* 1 for Inf and -Inf, else 0 */
  HEED_ELEMENTWISE_LEAKY_RELU = 18,   /* a < 0 ? alpha a : a */
  HEED_ELEMENTWISE_ELU = 19,          /* a < 0 ? alpha (exp(a) - 1) : a */
  HEED_ELEMENTWISE_HARD_SIGMOID = 20, /* alpha a + beta, cut to 0 .. 1 */
  HEED_ELEMENTWISE_CLIP = 21,         /* min(max(a, alpha), beta) */
  /* add and multiply are ops of their own for F32 where b has no axis that a lacks */
  HEED_ELEMENTWISE_ADD = 32,
  HEED_ELEMENTWISE_SUBTRACT = 33,
  HEED_ELEMENTWISE_MULTIPLY = 34,
  HEED_ELEMENTWISE_DIVIDE = 35,
  HEED_ELEMENTWISE_POWER = 36, /* a to the power of b, as C's pow */
  HEED_ELEMENTWISE_MINIMUM = 37,
  HEED_ELEMENTWISE_MAXIMUM = 38,
  HEED_ELEMENTWISE_MODULUS = 39,   /* a - floor(a / b) b: the sign of b */
  HEED_ELEMENTWISE_REMAINDER = 40, /* C's fmod: the sign of a */
  /* 1 or 0; of NaN 0 */
  HEED_ELEMENTWISE_EQUAL = 41,
  HEED_ELEMENTWISE_LESS = 42,
  HEED_ELEMENTWISE_LESS_EQUAL = 43,
  HEED_ELEMENTWISE_GREATER = 44,
  HEED_ELEMENTWISE_GREATER_EQUAL = 45,
  /* of truth values: 1 or 0 */
  HEED_ELEMENTWISE_AND = 46,
  HEED_ELEMENTWISE_OR = 47,
  HEED_ELEMENTWISE_XOR = 48,
  HEED_ELEMENTWISE_SELECT = 64 /* a != 0 ? b : c; the value that is not chosen has no effect */
} heed_elementwise;

/* y = kind(a, b, c), element by element, by numpy's broadcasting of all inputs and of `shape`.
 * Inputs are F32, I32 or U8 of any shape, b and c none where the kind has fewer inputs. y is of
 * dtype F32, I32 or U8. All is computed in F32, so that whole numbers beyond 2^24 are rounded. For
 * I32 the result is cut toward zero and to the range of I32, and NaN becomes 0; for U8 y is 1 where
 * the result is not 0. ONNX: the operators of these names (Add 14, Equal 19, Where 16, ...), Cast
 * 19, Expand 13. */
typedef struct heed_elementwise_desc {
  size_t struct_size;
  heed_value a, b, c;
  heed_elementwise kind;
  heed_dtype dtype;  /* of y */
  heed_shape shape;  /* rank 0: that of the inputs */
  float alpha, beta; /* of the kinds that name them; 0 means 0, not a default */
} heed_elementwise_desc;
HEED_API heed_value heed_define_elementwise(heed_graph *graph, const heed_elementwise_desc *desc);

typedef enum heed_reduce {
  HEED_REDUCE_SUM = 0,
  HEED_REDUCE_MEAN = 1,
  HEED_REDUCE_MAX = 2, /* NaN where there is one, as for MIN */
  HEED_REDUCE_MIN = 3,
  HEED_REDUCE_PRODUCT = 4,
  HEED_REDUCE_L1 = 5,          /* sum of |x| */
  HEED_REDUCE_L2 = 6,          /* square root of the sum of squares */
  HEED_REDUCE_SUM_SQUARE = 7,  /* sum of squares */
  HEED_REDUCE_LOG_SUM = 8,     /* log of the sum */
  HEED_REDUCE_LOG_SUM_EXP = 9, /* log of the sum of exp(x), from the maximum */
  /* I32: the index of the largest, the smallest element along one axis; a NaN counts as such */
  HEED_REDUCE_ARGMAX = 10,
  HEED_REDUCE_ARGMIN = 11
} heed_reduce;
/* Reduces x (F32 of any shape) over the axes whose bit is set, bit i for axis i; no bit means all
 * axes. ARGMAX and ARGMIN take one axis. With keep_axes a reduced axis stays with size 1, else it
 * goes. Of equal elements ARGMAX and ARGMIN give the first, with `last` the last. ONNX: ReduceSum
 * 13, ReduceMean 18 and the like, ArgMax 13, ArgMin 13. */
typedef struct heed_reduce_desc {
  size_t struct_size;
  heed_value x;
  heed_reduce kind;
  uint32_t axes;
  bool keep_axes, last;
} heed_reduce_desc;
HEED_API heed_value heed_define_reduce(heed_graph *graph, const heed_reduce_desc *desc);

/* A window of x (F32 or I32, of 1 to 6 axes): element i of y along an axis is element start + i
 * step of x, and `value` where x has none. y has `shape`, of x's rank. step is not 0 and may be
 * negative. ONNX: Slice 13, Split 18, and Pad 21 with mode constant, whose start is minus the
 * padding in front. */
typedef struct heed_slice_desc {
  size_t struct_size;
  heed_value x;
  heed_shape shape;
  int32_t start[HEED_MAX_RANK], step[HEED_MAX_RANK];
  float value; /* beyond x; cut toward zero for I32 */
} heed_slice_desc;
HEED_API heed_value heed_define_slice(heed_graph *graph, const heed_slice_desc *desc);

/* Entries of x (F32 or I32) along `axis` by indices (I32): x [outer..., A, inner...], indices [...]
 * of any shape -> [outer..., indices..., inner...], at most 6 axes. With elements, indices have x's
 * rank and y their shape: y[o, i, n] = x[o, indices[o, i, n], n]; their other axes are x's or
 * shorter. A negative index counts from the end; one outside -A .. A - 1 gives 0. ONNX: Gather 13,
 * GatherElements 13. */
typedef struct heed_gather_desc {
  size_t struct_size;
  heed_value x, indices;
  uint32_t axis;
  bool elements;
} heed_gather_desc;
HEED_API heed_value heed_define_gather(heed_graph *graph, const heed_gather_desc *desc);

typedef enum heed_depthwise {
  HEED_DEPTHWISE_SUM = 0,  /* of elements times weights: a convolution of each channel by itself */
  HEED_DEPTHWISE_MEAN = 1, /* NaN where the window has nothing */
  HEED_DEPTHWISE_MAX = 2   /* NaN where there is one; -Inf where the window has nothing */
} heed_depthwise;

/* A number of each window of each channel: x [B, C, height, width] -> y [B, O, rows, columns], F32.
 * The window of row r and column c has the elements of x at row r stride[0] - before[0] + i
 * dilation[0], i < kernel[0], and so for columns; none where x has no such element.
 * - SUM: weight [O, kernel rows, kernel columns] and bias [O] (or none) are constants. O is a
 *   multiple of C, and output o reads channel o / (O / C).
 * - MEAN and MAX: no weight; O is C. With count_padding a MEAN also counts the zeros in front of x,
 *   and up to `after` behind it.
 * A kernel has at most 32,767 elements. Windows begin within -before .. size + after. ONNX: Conv 22
 * with group = channels, AveragePool 22, MaxPool 22. */
typedef struct heed_depthwise_desc {
  size_t struct_size;
  heed_value x, weight, bias;
  heed_depthwise kind;
  uint32_t kernel[2];              /* rows, columns; of a SUM 0: as the weight has them */
  uint32_t stride[2], dilation[2]; /* 0: 1 */
  uint32_t before[2], after[2];    /* padding in front of x and behind it */
  uint32_t size[2];                /* rows and columns of y; 0: all that fit whole */
  bool count_padding;
} heed_depthwise_desc;
HEED_API heed_value heed_define_depthwise(heed_graph *graph, const heed_depthwise_desc *desc);

/* Rotary position embedding (Su et al. 2021): pairs of elements (a, b) of a token are rotated, each
 * by an angle of its own, to (a cos - b sin, b cos + a sin). x [B, H, T, D] -> the same shape.
 *
 * cos and sin [T - first, R/2], or [H, T - first, R/2] where heads differ, are constants: the
 * cosine and sine of the angle of each token and pair. Angles by two axes of a grid are tables like
 * any other. Pair j is elements j and j + R/2, or 2j and 2j + 1 when interleaved. The first `first`
 * tokens (class token, registers) and the elements from R <= D on are copied.
 *
 * The parts of a stacked projection lie one after the other, so one node rotates query and key: x
 * is the view [2 B, H, T, D] of them. */
typedef struct heed_rotary_desc {
  size_t struct_size;
  heed_value x, cos, sin;
  uint32_t first;
  bool interleaved;
} heed_rotary_desc;
HEED_API heed_value heed_define_rotary(heed_graph *graph, const heed_rotary_desc *desc);

/* A mask from token ids, combined as Keras' MultiHeadAttention does: query_ids I32 [B, Tq], key_ids
 * I32 [B, Tk] -> U8 [B, Tq, Tk]. 1 = neither query nor key is padding and, if causal, k <= q.
 * Without query_ids: U8 [B, Tk], 1 = real token, as key_padding of an attention takes it. For
 * heed_attention_desc.mask reshape it to [B, 1, Tq, Tk]. */
typedef struct heed_attention_mask_desc {
  size_t struct_size;
  heed_value query_ids, key_ids;
  bool causal;
  int32_t padding_id;
} heed_attention_mask_desc;
HEED_API heed_value heed_define_attention_mask(heed_graph *graph,
                                               const heed_attention_mask_desc *desc);

/* [length, width], a constant: sin on even and cos on odd columns 2i, 2i + 1 of position /
 * 10000^(2i / width) (Vaswani et al. 2017, 3.5), computed in double. */
HEED_API heed_value heed_define_positional_encoding(heed_graph *graph, uint32_t length,
                                                    uint32_t width);

typedef enum heed_score {
  HEED_SCORE_SCALED_DOT = 0, /* scale q . k */
  HEED_SCORE_DOT = 1,        /* q . k */
  HEED_SCORE_GENERAL = 2,    /* q W k^T (Luong et al. 2015) */
  HEED_SCORE_ADDITIVE = 3    /* va . tanh(q Wq + k Wk + b) (Bahdanau et al. 2015) */
} heed_score;
typedef enum heed_norm {
  HEED_NORM_SOFTMAX = 0,
  HEED_NORM_SPARSE_SOFTMAX = 1, /* weights below heed_attention_desc.threshold become 0 */
  HEED_NORM_SPARSEMAX = 2       /* the projection onto the simplex (Martins & Astudillo 2016) */
} heed_norm;
/* Query i attends to keys j <= i + off; causal_offset and causal_offsets add to off. */
typedef enum heed_causal {
  HEED_CAUSAL_NONE = 0,        /* off = 0, of a window alone */
  HEED_CAUSAL_TOP_LEFT = 1,    /* off = 0 */
  HEED_CAUSAL_BOTTOM_RIGHT = 2 /* off = Tk - Tq */
} heed_causal;
/* A mask from positions, for offsets that differ from batch item to batch item: offsets I32 [B] ->
 * U8 [B, H, Tq, Tk] (H = 1 without mask). 1 = query i may attend to key j: by causal rule and
 * window as in heed_attention_desc, off being that of causal + causal_offset + offsets[b], and by
 * mask, U8 [B|1, H, Tq, Tk], if given. */
typedef struct heed_position_mask_desc {
  size_t struct_size;
  heed_value offsets, mask;
  uint32_t queries, keys; /* Tq, Tk */
  heed_causal causal;
  bool window;
  int32_t window_left, window_right;
  int32_t causal_offset;
} heed_position_mask_desc;
HEED_API heed_value heed_define_position_mask(heed_graph *graph,
                                              const heed_position_mask_desc *desc);

/* softmax(scale q k^T ...) v per head (Vaswani et al. 2017, 3.2.1).
 *
 * query [B, H, Tq, D], key [B, Hk, Tk, D], value [B, Hk, Tk, Dv]. Hk divides H, and query head h
 * uses key head h / (H / Hk). The order is: score, softcap, bias, masks, norm. All masks are ANDed,
 * and a bias of -Inf masks as they do. A NaN or Inf in a masked key or value never reaches the
 * output. A value that is not masked takes part also with weight 0: 0 NaN = NaN. Logits are
 * accumulated and stored in F32; one that overflows to -Inf masks its key where keys can be masked.
 * docs/attention.md has the exact semantics. */
typedef struct heed_attention_desc {
  size_t struct_size;
  heed_value query, key, value;
  heed_value mask;          /* U8, 1 = may attend, [B|1, H|1, Tq, Tk] */
  heed_value key_padding;   /* U8 [B, Tk], 1 = real token */
  heed_value query_padding; /* U8 [B, Tq], 1 = real token */
  /* F32 added to the logits, [B|1, H|1, Tq|1, Tk|1]; -Inf masks, a finite number never does */
  heed_value bias;
  heed_score score;
  heed_value w; /* HEED_SCORE_GENERAL: F32 [D, D of key], a constant */
  /* HEED_SCORE_ADDITIVE: F32 [D, A], [D of key, A], [A] or none, [A]; constants */
  heed_value wq, wk, b, va;
  float scale; /* factor of q k^T for HEED_SCORE_SCALED_DOT; 0 = 1/sqrt(D) */
  heed_norm norm;
  /* HEED_NORM_SPARSE_SOFTMAX: smaller weights become 0, and the rest is renormalised. From 0 to
   * 1. */
  float threshold;
  heed_causal causal;
  /* Query i attends to key j only if i + off - left <= j <= i + off + right, off as for causal; -1
   * = open. */
  bool window;
  int32_t window_left, window_right;
  float softcap; /* c tanh(s / c); 0 = off */
  heed_empty_row empty_row;
  bool merge_heads; /* output [B, Tq, H Dv] instead of [B, H, Tq, Dv] */
  /* Query rows to output in weights and logits; NULL = all. Copied. Row r of the weights is query
   * rows[r]. */
  const uint32_t *rows;
  uint32_t row_count;
  /* Added to off, of the causal rule and of the window: for all batch items, and I32 [B], each for
   * its own. Any sign. The second makes a U8 mask [B, H of mask or 1, Tq, Tk] while it runs. */
  int32_t causal_offset;
  heed_value causal_offsets;
} heed_attention_desc;

/* Values of one attention. weights and logits [B, H, Tq or row_count, Tk] are computed only if they
 * are tapped, marked as output or used by another node. logits are the input of the norm: scaled,
 * capped, biased, with -Inf where masked. The general and additive scores define linear nodes
 * before the attention, so its query and key are the projected ones. */
typedef struct heed_attention_values {
  heed_value output, weights, logits;
} heed_attention_values;
HEED_API heed_attention_values heed_define_attention(heed_graph *graph,
                                                     const heed_attention_desc *desc);

/* Linear attention (Katharopoulos et al. 2020) with features phi(x) = elu(x) + 1. query [B, H, Tq,
 * D], key [B, H, Tk, D], value [B, H, Tk, Dv] -> [B, H, Tq, Dv]. Row i is phi(q_i) S / (phi(q_i)
 * z), where S = sum of phi(k_j) v_j^T and z = sum of phi(k_j). The sums run over all j or, when
 * causal (Tq = Tk), over j <= i. Cost and memory are linear in the tokens. A row whose divisor is 0
 * is zeros.
 *
 * recurrent computes the same numbers token by token with one state, as a decoder would. Without it
 * chunks of tokens run at the same time. */
typedef struct heed_linear_attention_desc {
  size_t struct_size;
  heed_value query, key, value;
  bool causal, recurrent;
} heed_linear_attention_desc;
HEED_API heed_value heed_define_linear_attention(heed_graph *graph,
                                                 const heed_linear_attention_desc *desc);

/* One layer of an LSTM or GRU in one direction, in PyTorch's layout and names. x [B, T, I];
 * weight_ih [G H, I], weight_hh [G H, H], bias_ih and bias_hh [G H] or none, all constants. G is 4
 * gates i f g o for lstm, and 3 gates r z n for gru, whose reset gate acts after the matmul. h, c
 * [B, H] are the states before the first token, none = zeros; c is for lstm alone. reverse runs
 * from the last token to the first. */
typedef struct heed_recurrent_desc {
  size_t struct_size;
  heed_value x, weight_ih, weight_hh, bias_ih, bias_hh;
  heed_value h, c;
  bool reverse;
} heed_recurrent_desc;
/* y [B, T, H] has the order of x, also when reversed. h, c [B, H] are the states after the token
 * that ran last; c is none for gru. */
typedef struct heed_recurrent_values {
  heed_value y, h, c;
} heed_recurrent_values;
HEED_API heed_recurrent_values heed_define_lstm(heed_graph *graph, const heed_recurrent_desc *desc);
HEED_API heed_recurrent_values heed_define_gru(heed_graph *graph, const heed_recurrent_desc *desc);

/* ----------------------------------------------------------------------- layers composed of ops */

/* Projections, heads, attention, output projection (Vaswani et al. 2017, 3.2.2). query [B, Tq, C],
 * key_value [B, Tk, K] (none = query: self-attention). output [B, Tq, C]; weights and logits [B, H,
 * Tq, Tk]. heads divides C.
 *
 * The weights are those of PyTorch's nn.MultiheadAttention, [out, in], constants. They are
 * in_weight [3C, C] and in_bias [3C], stacked for query, key and value, or q, k and v apart. Biases
 * may be none. There is no dropout: it is the identity at inference. */
typedef struct heed_multi_head_attention_desc {
  size_t struct_size;
  heed_value query, key_value;
  heed_value in_weight, in_bias;
  heed_value q_weight, k_weight, v_weight, q_bias, k_bias, v_bias;
  heed_value o_weight, o_bias;
  uint32_t heads;
  /* as in heed_attention_desc; a padding that is not given is what the inputs carry */
  heed_value mask, key_padding, query_padding, bias;
  heed_causal causal;
  heed_value residual; /* [B, Tq, C], added to the output; or none */
} heed_multi_head_attention_desc;
HEED_API heed_attention_values
heed_define_multi_head_attention(heed_graph *graph, const heed_multi_head_attention_desc *desc);

/* A weight and its bias, or gain and bias of a norm. */
typedef struct heed_affine {
  heed_value weight, bias;
} heed_affine;
/* in_proj, stacked, and out_proj. */
typedef struct heed_attention_weights {
  heed_affine in, out;
} heed_attention_weights;

/* An encoder block or, with memory, a decoder block: x + self-attention; with memory, x + attention
 * to it; x + linear2(activation(linear1)). A norm follows each sum, or precedes each part with
 * pre_norm. PyTorch's nn.TransformerEncoderLayer (norm1 self, norm2 feed forward) and
 * nn.TransformerDecoderLayer (norm1 self, norm2 memory, norm3 feed forward) at inference. x [B, T,
 * C], memory [B, Tm, C]. */
typedef struct heed_transformer_block_desc {
  size_t struct_size;
  heed_value x, memory;
  heed_value key_padding, memory_key_padding; /* U8 [B, T], [B, Tm], 1 = real token */
  uint32_t heads;
  bool pre_norm, causal; /* causal: of the self-attention */
  heed_activation activation;
  float epsilon;
  heed_attention_weights self, cross;
  heed_affine linear1, linear2, norm1, norm2, norm3;
} heed_transformer_block_desc;
typedef struct heed_transformer_block_values {
  heed_value y;
  /* output: with the residual, before the norm of a post-norm block */
  heed_attention_values self, cross;
} heed_transformer_block_values;
HEED_API heed_transformer_block_values
heed_define_transformer_block(heed_graph *graph, const heed_transformer_block_desc *desc);

/* Global attention of Luong et al. 2015. decoder [B, Td, C], encoder [B, Te, E], encoder_padding U8
 * [B, Te] (1 = real token) or none. Scores: DOT; GENERAL h wa s, wa [C, E]; ADDITIVE, there
 * "concat", va . tanh(wa [h; s]), wa [A, C + E], va [A]. wc [N, E + C], wc_bias [N] or none. output
 * [B, Td, N] = tanh(wc [context; h]), context [B, Td, E], weights [B, Td, Te]. */
typedef struct heed_luong_attention_desc {
  size_t struct_size;
  heed_value decoder, encoder, encoder_padding;
  heed_score score;
  heed_value wa, va, wc, wc_bias;
} heed_luong_attention_desc;
typedef struct heed_luong_attention_values {
  heed_value output, context, weights;
} heed_luong_attention_values;
HEED_API heed_luong_attention_values
heed_define_luong_attention(heed_graph *graph, const heed_luong_attention_desc *desc);

#ifdef __cplusplus
}
#endif

#endif
