/* depthwise: sums, means and maxima of windows of each channel by itself. */
#include "graph/ops/depthwise.h"
#include "base/status.h"
#include "base/tensor.h"
#include "graph/op_check.h"
#include "heed/ops.h"

/* Elements of a kernel: some drivers end a loop after 65,535 steps. */
#define MOST_TAPS 32767u
/* Length of a padded axis: backends count places in 32 bits. */
#define MOST_REACH (UINT64_C(1) << 30)

heed_value heed_define_depthwise(heed_graph *graph, const heed_depthwise_desc *desc) {
  return heed_graph_add_node(graph, HEED_OP_KIND_depthwise, desc, NULL);
}

static heed_status take_weight(const heed_graph *graph, heed_node *node, heed_depthwise_desc *desc,
                               uint32_t channels, uint32_t *outputs, heed_error *error) {
  const heed_value_record *weight =
      heed_op_take_constant(graph, node, HEED_DEPTHWISE_INPUT_WEIGHT, HEED_F32, error);
  if (!weight) return HEED_INVALID_ARGUMENT;
  HEED_TRY(heed_op_check_rank(weight, 3, 3, "depthwise: weight", error));
  *outputs = weight->shape.dim[0];
  if (*outputs % channels)
    return heed_op_refuse(error,
                          "depthwise: outputs do not fit the channels (found %u, expected a "
                          "multiple of %u)",
                          *outputs, channels);
  for (uint32_t i = 0; i < 2; i++)
    if (!desc->kernel[i]) desc->kernel[i] = weight->shape.dim[1 + i];
  const heed_shape shape = HEED_SHAPE(*outputs, desc->kernel[0], desc->kernel[1]);
  HEED_TRY(heed_op_check_shape(weight, &shape, "depthwise: weight", error));
  if (!desc->bias.id) return HEED_OK;
  const heed_value_record *bias =
      heed_op_take_constant(graph, node, HEED_DEPTHWISE_INPUT_BIAS, HEED_F32, error);
  const heed_shape width = HEED_SHAPE(*outputs);
  return bias ? heed_op_check_shape(bias, &width, "depthwise: bias", error) : HEED_INVALID_ARGUMENT;
}

/* Rows (0) or columns (1) of y, of which x has `length`. */
static heed_status size_of(heed_depthwise_desc *desc, uint32_t i, uint32_t length,
                           heed_error *error) {
  if (!desc->stride[i]) desc->stride[i] = 1;
  if (!desc->dilation[i]) desc->dilation[i] = 1;
  const uint64_t extent = (uint64_t)desc->dilation[i] * (desc->kernel[i] - 1) + 1,
                 whole = (uint64_t)desc->before[i] + length + desc->after[i];
  if (!desc->size[i] && whole < extent)
    return heed_op_refuse(error,
                          "depthwise: window larger than the image (found %llu, expected %llu)",
                          (unsigned long long)extent, (unsigned long long)whole);
  if (!desc->size[i]) desc->size[i] = (uint32_t)((whole - extent) / desc->stride[i]) + 1;
  const uint64_t last = (uint64_t)(desc->size[i] - 1) * desc->stride[i], reach = last + extent;
  if (whole > MOST_REACH || reach > MOST_REACH)
    return heed_op_refuse(
        error, "depthwise: padded image too large (found %llu, expected at most %llu)",
        (unsigned long long)(whole > reach ? whole : reach), (unsigned long long)MOST_REACH);
  if (last >= whole)
    return heed_op_refuse(error, "depthwise: size out of range (found %u, expected at most %llu)",
                          desc->size[i], (unsigned long long)((whole - 1) / desc->stride[i] + 1));
  return HEED_OK;
}

static heed_status infer(const heed_graph *graph, heed_node *node, void *copy,
                         heed_op_result *results, uint32_t *count, heed_error *error) {
  heed_depthwise_desc *desc = copy;
  (void)count;
  const heed_value_record *x = heed_op_take(graph, node, HEED_DEPTHWISE_INPUT_X, HEED_F32, error);
  if (!x) return HEED_INVALID_ARGUMENT;
  HEED_TRY(heed_op_check_rank(x, 4, 4, "depthwise: x", error));
  const uint32_t *in = x->shape.dim;
  uint32_t outputs = in[1];
  if ((uint32_t)desc->kind > HEED_DEPTHWISE_MAX)
    return heed_op_refuse(error, "depthwise: unknown kind (found %d)", (int)desc->kind);
  if (desc->kind == HEED_DEPTHWISE_SUM)
    HEED_TRY(take_weight(graph, node, desc, in[1], &outputs, error));
  else if (desc->weight.id || desc->bias.id)
    return heed_op_refuse(error, "depthwise: a mean or maximum has no weight and no bias");
  const uint64_t taps = (uint64_t)desc->kernel[0] * desc->kernel[1];
  if (taps < 1 || taps > MOST_TAPS)
    return heed_op_refuse(error,
                          "depthwise: elements of the kernel out of range (found %u x %u, expected "
                          "1 to %u)",
                          desc->kernel[0], desc->kernel[1], MOST_TAPS);
  for (uint32_t i = 0; i < 2; i++) HEED_TRY(size_of(desc, i, in[2 + i], error));
  results[0] = (heed_op_result){HEED_F32, HEED_SHAPE(in[0], outputs, desc->size[0], desc->size[1])};
  return HEED_OK;
}

static uint64_t flops(const heed_graph *graph, const heed_node *node) {
  const heed_depthwise_desc *desc = node->desc;
  return (desc->kind == HEED_DEPTHWISE_SUM ? 2 : 1) * (uint64_t)desc->kernel[0] * desc->kernel[1] *
         heed_op_count(graph, (heed_value){node->output[0]});
}

static const heed_op_input inputs[HEED_DEPTHWISE_INPUTS] = {
    [HEED_DEPTHWISE_INPUT_X] = HEED_OP_INPUT(heed_depthwise_desc, x),
    [HEED_DEPTHWISE_INPUT_WEIGHT] = HEED_OP_INPUT(heed_depthwise_desc, weight),
    [HEED_DEPTHWISE_INPUT_BIAS] = HEED_OP_INPUT(heed_depthwise_desc, bias),
};

const heed_op heed_op_depthwise = {.name = "depthwise",
                                   .desc_size = sizeof(heed_depthwise_desc),
                                   .inputs = inputs,
                                   .input_count = HEED_DEPTHWISE_INPUTS,
                                   .infer = infer,
                                   .flops = flops};
