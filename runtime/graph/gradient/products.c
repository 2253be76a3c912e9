/* Adjoints of linear maps: times the weight turned. */
#include "base/tensor.h"
#include "graph/gradient/adjoint.h"

/* y [..., N] times weight [N, K]. */
static heed_value times_weight(heed_gradient *g, heed_value y, heed_value weight) {
  const heed_linear_desc desc = {.struct_size = sizeof desc,
                                 .x = y,
                                 .weight = heed_graph_transpose(g->graph, weight, "gradient")};
  return heed_define_linear(g->graph, &desc);
}

/* Head-major [parts, B, H, T, D] as [B, T, parts H D]. */
static heed_value join_heads(heed_gradient *g, heed_value y) {
  static const uint32_t order[] = {1, 3, 0, 2, 4};
  const heed_shape s = *heed_gradient_shape(g, y);
  const heed_shape joined = HEED_SHAPE(s.dim[1], s.dim[3], s.dim[0] * s.dim[2] * s.dim[4]);
  return heed_define_reshape(g->graph, heed_gradient_permute(g, y, order), &joined);
}

/* An activation was taken apart. */
HEED_ADJOINT(linear) {
  const heed_linear_desc *desc = node->desc;
  const heed_value y = heed_gradient_of(g, node->output[0]);
  heed_gradient_add(g, desc->residual, y);
  if (heed_gradient_wants(g, desc->x))
    heed_gradient_add(g, desc->x,
                      times_weight(g, desc->heads ? join_heads(g, y) : y, desc->weight));
}

/* Each pixel of a patch gets its weights times what the patch got; pixels beyond the last patch get
 * nothing. */
HEED_ADJOINT(patch_embedding) {
  const heed_patch_embedding_desc *desc = node->desc;
  static const uint32_t order[] = {0, 3, 1, 4, 2, 5}; /* to image, channel, row, in it, column */
  if (!heed_gradient_wants(g, desc->image)) return;
  const heed_shape image = *heed_gradient_shape(g, desc->image),
                   weight = *heed_gradient_shape(g, desc->weight);
  const uint32_t patch = weight.dim[2], rows = image.dim[2] / patch, columns = image.dim[3] / patch;
  const heed_shape matrix = HEED_SHAPE(weight.dim[0], image.dim[1] * patch * patch),
                   apart = HEED_SHAPE(image.dim[0], rows, columns, image.dim[1], patch, patch),
                   covered = HEED_SHAPE(image.dim[0], image.dim[1], rows * patch, columns * patch);
  const heed_value pixels = times_weight(g, heed_gradient_of(g, node->output[0]),
                                         heed_define_reshape(g->graph, desc->weight, &matrix));
  heed_slice_desc all = {
      .struct_size = sizeof all,
      .x = heed_define_reshape(
          g->graph, heed_gradient_permute(g, heed_define_reshape(g->graph, pixels, &apart), order),
          &covered),
      .shape = image,
      .step = {1, 1, 1, 1}};
  heed_gradient_add(g, desc->image,
                    heed_shape_equal(&image, &covered) ? all.x : heed_define_slice(g->graph, &all));
}
