/* patch_embedding: a convolution whose kernel is its stride; rows of the result are patches in
 * raster order. */
#include "graph/ops/patch_embedding.h"
#include "base/status.h"
#include "base/tensor.h"
#include "graph/gradient/adjoint.h"
#include "graph/op_check.h"
#include "heed/ops.h"

heed_value heed_define_patch_embedding(heed_graph *graph, const heed_patch_embedding_desc *desc) {
  return heed_graph_add_node(graph, HEED_OP_KIND_patch_embedding, desc, NULL);
}

static heed_status infer(const heed_graph *graph, heed_node *node, void *copy,
                         heed_op_result *results, uint32_t *count, heed_error *error) {
  const heed_patch_embedding_desc *desc = copy;
  (void)count;
  const heed_value_record *image =
      heed_op_take(graph, node, HEED_PATCH_EMBEDDING_INPUT_IMAGE, HEED_F32, error);
  const heed_value_record *weight =
      image ? heed_op_take_constant(graph, node, HEED_PATCH_EMBEDDING_INPUT_WEIGHT, HEED_F32, error)
            : NULL;
  if (!weight) return HEED_INVALID_ARGUMENT;
  HEED_TRY(heed_op_check_rank(image, 4, 4, "patch_embedding: image", error));
  HEED_TRY(heed_op_check_rank(weight, 4, 4, "patch_embedding: weight", error));
  const uint32_t *in = image->shape.dim, *out = weight->shape.dim, patch = out[2];
  const heed_shape square = HEED_SHAPE(out[0], in[1], patch, patch);
  HEED_TRY(heed_op_check_shape(weight, &square, "patch_embedding: weight", error));
  if (desc->bias.id) {
    const heed_value_record *bias =
        heed_op_take_constant(graph, node, HEED_PATCH_EMBEDDING_INPUT_BIAS, HEED_F32, error);
    const heed_shape width = HEED_SHAPE(out[0]);
    if (!bias) return HEED_INVALID_ARGUMENT;
    HEED_TRY(heed_op_check_shape(bias, &width, "patch_embedding: bias", error));
  }
  if (in[2] < patch || in[3] < patch)
    return heed_op_refuse(
        error, "patch_embedding: image smaller than a patch (found %ux%u, expected at least %ux%u)",
        in[3], in[2], patch, patch);
  const uint64_t patches = (uint64_t)(in[2] / patch) * (in[3] / patch);
  if (patches > UINT32_MAX)
    return heed_op_refuse(error, "patch_embedding: too many patches (found %llu)",
                          (unsigned long long)patches);
  results[0] = (heed_op_result){HEED_F32, HEED_SHAPE(in[0], (uint32_t)patches, out[0])};
  return HEED_OK;
}

static uint64_t flops(const heed_graph *graph, const heed_node *node) {
  const heed_patch_embedding_desc *desc = node->desc;
  const heed_value_record *y = heed_graph_record(graph, node->output[0]);
  return 2 * (uint64_t)y->shape.dim[0] * y->shape.dim[1] * heed_op_count(graph, desc->weight);
}

static const heed_op_input inputs[HEED_PATCH_EMBEDDING_INPUTS] = {
    [HEED_PATCH_EMBEDDING_INPUT_IMAGE] = HEED_OP_INPUT(heed_patch_embedding_desc, image),
    [HEED_PATCH_EMBEDDING_INPUT_WEIGHT] = HEED_OP_INPUT(heed_patch_embedding_desc, weight),
    [HEED_PATCH_EMBEDDING_INPUT_BIAS] = HEED_OP_INPUT(heed_patch_embedding_desc, bias),
};

const heed_op heed_op_patch_embedding = {.name = "patch_embedding",
                                         .desc_size = sizeof(heed_patch_embedding_desc),
                                         .inputs = inputs,
                                         .input_count = HEED_PATCH_EMBEDDING_INPUTS,
                                         .infer = infer,
                                         .flops = flops,
                                         .adjoint = heed_adjoint_patch_embedding};
