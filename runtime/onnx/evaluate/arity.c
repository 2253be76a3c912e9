/* How many inputs and outputs the ops of ONNX have, over all of their opsets, and those of
 * com.microsoft. See evaluate.h. */
#include <string.h>

#include "base/list.h"
#include "onnx/evaluate/evaluate.h"

#define ANY HEED_ONNX_MOST_INPUTS
/* Outputs of an If: once joined, its inputs are its condition and what both branches give. A limit
 * of at least so many outputs is heed's own, not ONNX's. */
#define OF_BRANCH ((ANY - 1) / 2)

typedef struct counts {
  uint32_t least, most, outputs; /* inputs, and at most so many outputs */
  const char *ops;
} counts;

static const counts all[] = {
    {0, 0, 1, "Constant"},
    {1, 1, 1,
     "Abs|Neg|Exp|Log|Sqrt|Reciprocal|Floor|Ceil|Round|Sign|Erf|Sin|Cos|Tan|Asin|Acos|Atan|Sinh|"
     "Cosh|Asinh|Acosh|Atanh|Sigmoid|Tanh|Relu|LeakyRelu|Elu|Selu|Celu|HardSigmoid|HardSwish|"
     "Softplus|Softsign|Mish|Gelu|QuickGelu|ThresholdedRelu|Identity|Swish|Cast|Not|IsNaN|IsInf|"
     "BitwiseNot|Shape|Size|Flatten|Transpose|ConstantOfShape|NonZero|ArgMax|ArgMin|Softmax|"
     "LogSoftmax|Hardmax|DepthToSpace|SpaceToDepth|GlobalAveragePool|GlobalMaxPool|AveragePool"},
    {1, 1, 2, "MaxPool"},
    {1, 1, 3, "DynamicQuantizeLinear"},
    {1, 2, 1,
     "FastGelu|Reshape|Squeeze|Unsqueeze|Trilu|ReduceSum|ReduceMean|ReduceMax|ReduceMin|ReduceProd|"
     "ReduceL1|ReduceL2|ReduceSumSquare|ReduceLogSum|ReduceLogSumExp"},
    {1, 2, 2, "TopK"},
    {1, 2, HEED_ONNX_MOST_OUTPUTS, "Split"},
    {1, 3, 1, "Clip"},
    {1, 3, 2, "Dropout"},
    {1, 4, 1, "Pad|Resize"},
    {3, ANY, OF_BRANCH, "If"},
    {1, 5, 1, "Slice"},
    {1, ANY, 1, "Sum|Mean|Min|Max|Concat|Einsum"},
    {1, 10, 4, "MultiHeadAttention"},
    {2, 2, 1,
     "BiasGelu|Add|Sub|Mul|Div|Pow|Mod|And|Or|Xor|Equal|Less|LessOrEqual|Greater|GreaterOrEqual|"
     "PRelu|BitwiseAnd|BitwiseOr|BitwiseXor|CastLike|Expand|Gather|GatherElements|GatherND|CumSum|"
     "MatMul"},
    {2, 2, 3, "RMSNormalization|SimplifiedLayerNormalization"},
    {2, 3, 1, "Tile|Gemm|Conv|QuantizeLinear|DequantizeLinear"},
    {2, 3, 3, "LayerNormalization"},
    {2, 4, 1, "MatMulInteger|ConvInteger"},
    {2, 7, 4, "Attention"},
    {3, 3, 1, "Where|Range|ScatterND|ScatterElements|Scatter|OneHot|InstanceNormalization"},
    {3, 4, 1, "RotaryEmbedding"},
    {3, 4, 4, "SkipSimplifiedLayerNormalization"},
    {3, 5, 4, "SkipLayerNormalization"},
    {3, 6, 1, "MatMulNBits"},
    {5, 5, 5, "BatchNormalization"}};

heed_status heed_onnx_check_counts(heed_onnx_call *call) {
  const heed_onnx_node *node = call->node;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    const counts *c = &all[i];
    if (!heed_list_has(c->ops, node->op)) continue;
    if (c->outputs >= OF_BRANCH && node->output_count > c->outputs)
      return heed_onnx_refuse(call, HEED_UNSUPPORTED,
                              "too many outputs (found %u, expected at most %u)",
                              node->output_count, c->outputs);
    if (node->input_count > ANY && c->most == ANY)
      return heed_onnx_refuse(call, HEED_UNSUPPORTED,
                              "too many inputs (found %u, expected at most %u)", node->input_count,
                              ANY);
    if (node->input_count < c->least || node->input_count > c->most)
      return heed_onnx_refuse(call, HEED_INVALID_FILE,
                              "wrong number of inputs (found %u, expected %u to %u)",
                              node->input_count, c->least, c->most);
    if (node->output_count < 1 || node->output_count > c->outputs)
      return heed_onnx_refuse(call, HEED_INVALID_FILE,
                              "wrong number of outputs (found %u, expected 1 to %u)",
                              node->output_count, c->outputs);
    for (uint32_t k = 0; k < c->least; k++)
      if (!node->in[k]) return heed_onnx_refuse(call, HEED_INVALID_FILE, "input %u is missing", k);
    return HEED_OK;
  }
  return heed_onnx_refuse(call, HEED_INTERNAL, "its number of inputs is not known");
}
