/* Tensors that a file stores in int8, with a scale per row in a tensor beside them, as
 * compressed-tensors names them: X.weight I8 [N, ...] and X.weight_scale [N] or [N, 1], or [N,
 * groups] for groups of columns, which are widened to floats (docs/quantisation.md).
 * model/files/checkpoint.h reads them. */
#ifndef HEED_MODEL_VIT_INT8_WEIGHTS_H
#define HEED_MODEL_VIT_INT8_WEIGHTS_H

#include "graph/graph.h"
#include "model/config/config.h"
#include "model/vit/role.h"

/* Whether config.json's quantization_config says that weights alone are quantised, so that products
 * are those of floats: no group of it names a format of activations. */
bool heed_config_float_products(const heed_config *config);

/* Whether config.json's quantization_config, where there is one, describes such files: UNSUPPORTED
 * when not. Asked where a tensor has scales. */
heed_status heed_config_check_int8(const heed_config *config, const heed_checkpoint *checkpoint,
                                   heed_error *error);

/* The constant of a weight [rows, depth] all of whose parts are stored in int8, its scales times a
 * factor and times row_scale (or NULL); 0 when some part is not, or when the graph has failed. */
heed_value heed_weight_define_int8(heed_graph *graph, const heed_weight *weight,
                                   const heed_shape *shape, float factor, const float *row_scale);

#endif
