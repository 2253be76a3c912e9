/* The graph that the self-check runs. */
#ifndef HEED_GPU_SELF_CHECK_GRAPH_H
#define HEED_GPU_SELF_CHECK_GRAPH_H

#include "base/tensor.h" /* HEED_SHAPE */
#include "heed/ops.h"

/* Sizes of the inputs, odd where kernels have tails: image [BATCH, CHANNELS, HEIGHT, WIDTH], tokens
 * [BATCH, LENGTH, ODD], ids [BATCH, LENGTH] from 0 to ROWS - 1. */
enum {
  HEED_GPU_CHECK_BATCH = 2,
  HEED_GPU_CHECK_CHANNELS = 3,
  HEED_GPU_CHECK_HEIGHT = 12,
  HEED_GPU_CHECK_WIDTH = 20,
  HEED_GPU_CHECK_LENGTH = 9,
  HEED_GPU_CHECK_ODD = 37,
  HEED_GPU_CHECK_ROWS = 7,
  HEED_GPU_CHECK_HEADS = 2,
  HEED_GPU_CHECK_ODD_HEAD = 7,
  HEED_GPU_CHECK_HIDDEN = 13,
  HEED_GPU_CHECK_PATCH = 4,
  HEED_GPU_CHECK_WIDE = 24 /* of a patch's token, and of the layer */
};

/* A graph in which every op of graph/op_list.h stands at least once; its outputs are the results
 * that are compared. */
typedef struct heed_gpu_check_graph {
  heed_context *context;
  heed_graph *graph;
  float *numbers; /* where constants and inputs come from */
  size_t used;
  heed_value image, tokens, ids; /* the inputs; id 0: without it */
  heed_value patches;            /* [BATCH, 15, WIDE], of the image; where the layer begins */
} heed_gpu_check_graph;

/* What stands in the graph beside the cases of the ops: products and attentions in the sizes of
 * models; and how GPUs share the rows of attentions. All of it is below 10^9 operations. */
typedef enum heed_gpu_check_sizes {
  HEED_GPU_CHECK_SMALL,
  HEED_GPU_CHECK_MODELS,
  HEED_GPU_CHECK_GPU_MODELS
} heed_gpu_check_sizes;

/* Borrows context. heed_gpu_check_graph_free also frees what a failed create has made. Statuses:
 * OUT_OF_MEMORY. */
heed_status heed_gpu_check_graph_create(heed_context *context, heed_gpu_check_sizes sizes,
                                        heed_gpu_check_graph *check, heed_error *error);
/* The case of one op, on `tokens` alone. */
heed_status heed_gpu_check_graph_create_one(heed_context *context, uint32_t op,
                                            heed_gpu_check_graph *check, heed_error *error);
void heed_gpu_check_graph_free(heed_gpu_check_graph *check);

/* The id of the result that follows value `id` (0: the first result); 0 where there is none. */
uint32_t heed_gpu_check_next(const heed_gpu_check_graph *check, uint32_t id);
/* Floats of all results, one after the other. */
size_t heed_gpu_check_count(const heed_gpu_check_graph *check);

/* ---- for the cases of the ops */

/* A constant of the next numbers, small enough that sums over the widest axis stay near 1. */
heed_value heed_gpu_check_constant(heed_gpu_check_graph *check, heed_shape shape);
/* A result that is compared. Returns it. */
heed_value heed_gpu_check_keep(heed_gpu_check_graph *check, heed_value value);
/* Attention by desc with query, key and value, each of shape `part`, that lie in qkv one after the
 * other, its heads merged. All its results are compared; returns the output. */
heed_value heed_gpu_check_attend(heed_gpu_check_graph *check, heed_value qkv, heed_shape part,
                                 heed_attention_desc desc);

#endif
