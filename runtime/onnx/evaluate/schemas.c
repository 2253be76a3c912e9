/* Which attributes an op has from which version of its operator set on, as ONNX 1.23 and the
 * contributed ops of onnxruntime say: what an op has not changes nothing in heed, and would in a
 * program that reads it. See evaluate.h. */
#include <string.h>

#include "base/list.h"
#include "base/status.h"
#include "onnx/evaluate/evaluate.h"

#define NEWEST 28 /* version of ONNX's own set that heed knows */

typedef struct schema {
  const char *op;
  int64_t from; /* the first version with these attributes; a later row has the next */
  const char *attributes;
} schema;

/* Sorted by op and version. LayerNormalization and SimplifiedLayerNormalization are also
 * onnxruntime's, in files of older sets. */
static const schema standard[] = {
    {"Abs", 1, "consumed_inputs"},
    {"Abs", 6, ""},
    {"Acos", 7, ""},
    {"Acosh", 9, ""},
    {"Add", 1, "axis|broadcast|consumed_inputs"},
    {"Add", 6, "axis|broadcast"},
    {"Add", 7, ""},
    {"And", 1, "axis|broadcast"},
    {"And", 7, ""},
    {"ArgMax", 1, "axis|keepdims"},
    {"ArgMax", 12, "axis|keepdims|select_last_index"},
    {"ArgMin", 1, "axis|keepdims"},
    {"ArgMin", 12, "axis|keepdims|select_last_index"},
    {"Asin", 7, ""},
    {"Asinh", 9, ""},
    {"Atan", 7, ""},
    {"Atanh", 9, ""},
    {"Attention", 23,
     "is_causal|kv_num_heads|q_num_heads|qk_matmul_output_mode|scale|softcap|softmax_precision"},
    {"Attention", 25,
     "is_causal|kv_num_heads|left_window_size|q_num_heads|qk_matmul_output_mode|right_window_size|"
     "scale|softcap|softmax_precision"},
    {"AveragePool", 1, "auto_pad|kernel_shape|pads|strides"},
    {"AveragePool", 7, "auto_pad|count_include_pad|kernel_shape|pads|strides"},
    {"AveragePool", 10, "auto_pad|ceil_mode|count_include_pad|kernel_shape|pads|strides"},
    {"AveragePool", 19, "auto_pad|ceil_mode|count_include_pad|dilations|kernel_shape|pads|strides"},
    {"BatchNormalization", 1, "consumed_inputs|epsilon|is_test|momentum|spatial"},
    {"BatchNormalization", 6, "epsilon|is_test|momentum|spatial"},
    {"BatchNormalization", 7, "epsilon|momentum|spatial"},
    {"BatchNormalization", 9, "epsilon|momentum"},
    {"BatchNormalization", 14, "epsilon|momentum|training_mode"},
    {"BitwiseAnd", 18, ""},
    {"BitwiseNot", 18, ""},
    {"BitwiseOr", 18, ""},
    {"BitwiseXor", 18, ""},
    {"Cast", 1, "to"},
    {"Cast", 19, "saturate|to"},
    {"Cast", 24, "round_mode|saturate|to"},
    {"CastLike", 15, ""},
    {"CastLike", 19, "saturate"},
    {"CastLike", 24, "round_mode|saturate"},
    {"Ceil", 1, "consumed_inputs"},
    {"Ceil", 6, ""},
    {"Celu", 12, "alpha"},
    {"Clip", 1, "consumed_inputs|max|min"},
    {"Clip", 6, "max|min"},
    {"Clip", 11, ""},
    {"Concat", 1, "axis"},
    {"Constant", 1, "value"},
    {"Constant", 11, "sparse_value|value"},
    {"Constant", 12,
     "sparse_value|value|value_float|value_floats|value_int|value_ints|value_string|value_strings"},
    {"ConstantOfShape", 9, "value"},
    {"Conv", 1, "auto_pad|dilations|group|kernel_shape|pads|strides"},
    {"ConvInteger", 10, "auto_pad|dilations|group|kernel_shape|pads|strides"},
    {"Cos", 7, ""},
    {"Cosh", 9, ""},
    {"CumSum", 11, "exclusive|reverse"},
    {"DepthToSpace", 1, "blocksize"},
    {"DepthToSpace", 11, "blocksize|mode"},
    {"DequantizeLinear", 10, ""},
    {"DequantizeLinear", 13, "axis"},
    {"DequantizeLinear", 21, "axis|block_size"},
    {"DequantizeLinear", 23, "axis|block_size|output_dtype"},
    {"Div", 1, "axis|broadcast|consumed_inputs"},
    {"Div", 6, "axis|broadcast"},
    {"Div", 7, ""},
    {"Dropout", 1, "consumed_inputs|is_test|ratio"},
    {"Dropout", 6, "is_test|ratio"},
    {"Dropout", 7, "ratio"},
    {"Dropout", 12, "seed"},
    {"DynamicQuantizeLinear", 11, ""},
    {"Einsum", 12, "equation"},
    {"Elu", 1, "alpha|consumed_inputs"},
    {"Elu", 6, "alpha"},
    {"Equal", 1, "axis|broadcast"},
    {"Equal", 7, ""},
    {"Erf", 9, ""},
    {"Exp", 1, "consumed_inputs"},
    {"Exp", 6, ""},
    {"Expand", 8, ""},
    {"Flatten", 1, "axis"},
    {"Floor", 1, "consumed_inputs"},
    {"Floor", 6, ""},
    {"Gather", 1, "axis"},
    {"GatherElements", 11, "axis"},
    {"GatherND", 11, ""},
    {"GatherND", 12, "batch_dims"},
    {"Gelu", 20, "approximate"},
    {"Gemm", 1, "alpha|beta|broadcast|transA|transB"},
    {"Gemm", 7, "alpha|beta|transA|transB"},
    {"GlobalAveragePool", 1, ""},
    {"GlobalMaxPool", 1, ""},
    {"Greater", 1, "axis|broadcast"},
    {"Greater", 7, ""},
    {"GreaterOrEqual", 12, ""},
    {"HardSigmoid", 1, "alpha|beta|consumed_inputs"},
    {"HardSigmoid", 6, "alpha|beta"},
    {"HardSwish", 14, ""},
    {"Hardmax", 1, "axis"},
    {"Identity", 1, ""},
    {"If", 1, "else_branch|then_branch"},
    {"InstanceNormalization", 1, "consumed_inputs|epsilon"},
    {"InstanceNormalization", 6, "epsilon"},
    {"IsInf", 10, "detect_negative|detect_positive"},
    {"IsNaN", 9, ""},
    {"LayerNormalization", 1, "axis|epsilon|stash_type"},
    {"LeakyRelu", 1, "alpha|consumed_inputs"},
    {"LeakyRelu", 6, "alpha"},
    {"Less", 1, "axis|broadcast"},
    {"Less", 7, ""},
    {"LessOrEqual", 12, ""},
    {"Log", 1, "consumed_inputs"},
    {"Log", 6, ""},
    {"LogSoftmax", 1, "axis"},
    {"MatMul", 1, ""},
    {"MatMulInteger", 10, ""},
    {"Max", 1, "consumed_inputs"},
    {"Max", 6, ""},
    {"MaxPool", 1, "auto_pad|kernel_shape|pads|strides"},
    {"MaxPool", 8, "auto_pad|kernel_shape|pads|storage_order|strides"},
    {"MaxPool", 10, "auto_pad|ceil_mode|dilations|kernel_shape|pads|storage_order|strides"},
    {"Mean", 1, "consumed_inputs"},
    {"Mean", 6, ""},
    {"Min", 1, "consumed_inputs"},
    {"Min", 6, ""},
    {"Mish", 18, ""},
    {"Mod", 10, "fmod"},
    {"Mul", 1, "axis|broadcast|consumed_inputs"},
    {"Mul", 6, "axis|broadcast"},
    {"Mul", 7, ""},
    {"Neg", 1, "consumed_inputs"},
    {"Neg", 6, ""},
    {"NonZero", 9, ""},
    {"Not", 1, ""},
    {"OneHot", 9, "axis"},
    {"Or", 1, "axis|broadcast"},
    {"Or", 7, ""},
    {"PRelu", 1, "consumed_inputs"},
    {"PRelu", 6, ""},
    {"Pad", 1, "mode|paddings|value"},
    {"Pad", 2, "mode|pads|value"},
    {"Pad", 11, "mode"},
    {"Pow", 1, "axis|broadcast"},
    {"Pow", 7, ""},
    {"QuantizeLinear", 10, ""},
    {"QuantizeLinear", 13, "axis"},
    {"QuantizeLinear", 19, "axis|saturate"},
    {"QuantizeLinear", 21, "axis|block_size|output_dtype|saturate"},
    {"QuantizeLinear", 23, "axis|block_size|output_dtype|precision|saturate"},
    {"RMSNormalization", 23, "axis|epsilon|stash_type"},
    {"Range", 11, ""},
    {"Range", 27, "stash_type"},
    {"Reciprocal", 1, "consumed_inputs"},
    {"Reciprocal", 6, ""},
    {"ReduceL1", 1, "axes|keepdims"},
    {"ReduceL1", 18, "keepdims|noop_with_empty_axes"},
    {"ReduceL2", 1, "axes|keepdims"},
    {"ReduceL2", 18, "keepdims|noop_with_empty_axes"},
    {"ReduceLogSum", 1, "axes|keepdims"},
    {"ReduceLogSum", 18, "keepdims|noop_with_empty_axes"},
    {"ReduceLogSumExp", 1, "axes|keepdims"},
    {"ReduceLogSumExp", 18, "keepdims|noop_with_empty_axes"},
    {"ReduceMax", 1, "axes|keepdims"},
    {"ReduceMax", 18, "keepdims|noop_with_empty_axes"},
    {"ReduceMean", 1, "axes|keepdims"},
    {"ReduceMean", 18, "keepdims|noop_with_empty_axes"},
    {"ReduceMin", 1, "axes|keepdims"},
    {"ReduceMin", 18, "keepdims|noop_with_empty_axes"},
    {"ReduceProd", 1, "axes|keepdims"},
    {"ReduceProd", 18, "keepdims|noop_with_empty_axes"},
    {"ReduceSum", 1, "axes|keepdims"},
    {"ReduceSum", 13, "keepdims|noop_with_empty_axes"},
    {"ReduceSumSquare", 1, "axes|keepdims"},
    {"ReduceSumSquare", 18, "keepdims|noop_with_empty_axes"},
    {"Relu", 1, "consumed_inputs"},
    {"Relu", 6, ""},
    {"Reshape", 1, "consumed_inputs|shape"},
    {"Reshape", 5, ""},
    {"Reshape", 14, "allowzero"},
    {"Resize", 10, "mode"},
    {"Resize", 11,
     "coordinate_transformation_mode|cubic_coeff_a|exclude_outside|extrapolation_value|mode|"
     "nearest_mode"},
    {"Resize", 18,
     "antialias|axes|coordinate_transformation_mode|cubic_coeff_a|exclude_outside|extrapolation_"
     "value|keep_aspect_ratio_policy|mode|nearest_mode"},
    {"RotaryEmbedding", 23, "interleaved|num_heads|rotary_embedding_dim"},
    {"Round", 11, ""},
    {"Scatter", 9, "axis"},
    {"ScatterElements", 11, "axis"},
    {"ScatterElements", 16, "axis|reduction"},
    {"ScatterND", 11, ""},
    {"ScatterND", 16, "reduction"},
    {"Selu", 1, "alpha|consumed_inputs|gamma"},
    {"Selu", 6, "alpha|gamma"},
    {"Shape", 1, ""},
    {"Shape", 15, "end|start"},
    {"Sigmoid", 1, "consumed_inputs"},
    {"Sigmoid", 6, ""},
    {"Sign", 9, ""},
    {"SimplifiedLayerNormalization", 1, "axis|epsilon|stash_type"},
    {"Sin", 7, ""},
    {"Sinh", 9, ""},
    {"Size", 1, ""},
    {"Slice", 1, "axes|ends|starts"},
    {"Slice", 10, ""},
    {"Softmax", 1, "axis"},
    {"Softplus", 1, ""},
    {"Softsign", 1, ""},
    {"SpaceToDepth", 1, "blocksize"},
    {"Split", 1, "axis|split"},
    {"Split", 13, "axis"},
    {"Split", 18, "axis|num_outputs"},
    {"Sqrt", 1, "consumed_inputs"},
    {"Sqrt", 6, ""},
    {"Squeeze", 1, "axes"},
    {"Squeeze", 13, ""},
    {"Sub", 1, "axis|broadcast|consumed_inputs"},
    {"Sub", 6, "axis|broadcast"},
    {"Sub", 7, ""},
    {"Sum", 1, "consumed_inputs"},
    {"Sum", 6, ""},
    {"Swish", 24, "alpha"},
    {"Tan", 7, ""},
    {"Tanh", 1, "consumed_inputs"},
    {"Tanh", 6, ""},
    {"ThresholdedRelu", 10, "alpha"},
    {"Tile", 1, ""},
    {"TopK", 1, "axis|k"},
    {"TopK", 10, "axis"},
    {"TopK", 11, "axis|largest|sorted"},
    {"Transpose", 1, "perm"},
    {"Trilu", 14, "upper"},
    {"Unsqueeze", 1, "axes"},
    {"Unsqueeze", 13, ""},
    {"Where", 9, ""},
    {"Xor", 1, "axis|broadcast"},
    {"Xor", 7, ""},
};

static const schema contributed[] = {
    {"Attention", 1,
     "do_rotary|mask_filter_value|num_heads|past_present_share_buffer|qkv_hidden_sizes|rotary_"
     "embedding_dim|scale|unidirectional"},
    {"BiasGelu", 1, ""},
    {"DequantizeLinear", 1, "axis|block_size"},
    {"FastGelu", 1, ""},
    {"GatherND", 1, ""},
    {"Gelu", 1, ""},
    {"MatMulNBits", 1, "K|N|accuracy_level|bits|block_size"},
    {"MultiHeadAttention", 1, "mask_filter_value|num_heads|scale|unidirectional"},
    {"Pad", 1, "mode"},
    {"QuantizeLinear", 1, "axis|block_size"},
    {"QuickGelu", 1, "alpha"},
    {"Range", 1, ""},
    {"RotaryEmbedding", 1, "interleaved|is_packed_batching|num_heads|rotary_embedding_dim|scale"},
    {"SkipLayerNormalization", 1, "epsilon"},
    {"SkipSimplifiedLayerNormalization", 1, "epsilon"},
    {"Trilu", 1, "upper"},
};

static bool is_microsoft(const heed_onnx_node *node) {
  return strcmp(node->domain, "com.microsoft") == 0;
}

static const schema *find_rows(const schema *all, size_t end, const char *op, size_t *count) {
  size_t low = 0, high = end;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (strcmp(all[middle].op, op) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  *count = 0;
  while (low + *count < end && strcmp(all[low + *count].op, op) == 0) ++*count;
  return all + low;
}

/* The rows of an op; *count 0: its set has it not. A contributed op that stands in ONNX's own set
 * can mean nothing else. */
static const schema *rows_of(const heed_onnx_node *node, size_t *count) {
  const schema *rows = standard;
  *count = 0;
  if (!*node->domain)
    rows = find_rows(standard, sizeof standard / sizeof *standard, node->op, count);
  if (!*count && (!*node->domain || is_microsoft(node)))
    rows = find_rows(contributed, sizeof contributed / sizeof *contributed, node->op, count);
  return rows;
}

bool heed_onnx_has_schema(const heed_onnx_node *node) {
  size_t count;
  rows_of(node, &count);
  return count > 0;
}

heed_status heed_onnx_check_opset(heed_onnx_call *call) {
  if (is_microsoft(call->node) || call->opset <= NEWEST) return HEED_OK;
  return heed_onnx_refuse(call, HEED_UNSUPPORTED,
                          "opset %lld is newer than heed (expected at most %d)",
                          (long long)call->opset, NEWEST);
}

/* What a later version added is taken in an older file, where it can mean nothing else. What was
 * taken away has become an input since. */
heed_status heed_onnx_check_schema(heed_onnx_call *call, const char *attribute) {
  size_t count, at = 0;
  const schema *rows = rows_of(call->node, &count);
  const int64_t version = is_microsoft(call->node) ? 1 : call->opset;
  while (at + 1 < count && rows[at + 1].from <= version) at++;
  for (size_t i = at; i < count; i++)
    if (heed_list_has(rows[i].attributes, attribute)) return HEED_OK;
  return heed_onnx_refuse(call, HEED_INVALID_FILE,
                          "attribute %.60s is none of this op in opset %lld (expected %s)",
                          attribute, (long long)version,
                          count && *rows[at].attributes ? rows[at].attributes : "no attribute");
}
