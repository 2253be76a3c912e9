/* What a lowered graph tells of itself as a vision transformer. */
#ifndef HEED_ONNX_VISION_VISION_H
#define HEED_ONNX_VISION_VISION_H

#include "heed/onnx.h"
#include "onnx/lower/lower.h"

/* Without an image all are 0; without layers patch and what follows, but for the classes. */
typedef struct heed_vision {
  uint32_t image; /* id of the input [B, C, H, W], where it is the only one */
  uint32_t batch, height, width, channels;
  float range;      /* of its pixels, where the graph normalises them: pixels.h; 0: it does not */
  uint32_t classes; /* of the value "logits"; 0: none */
  bool each_class;  /* the graph ends with a sigmoid, so that each class stands by itself */
  /* attentions of equal shape from the first on; heads of one of one query behind them */
  uint32_t patch, layers, heads, tokens, prefix_tokens, pool_heads;
  uint32_t joined; /* attentions that are the heads of one layer; 1: each is a layer */
  uint32_t order;  /* of the tokens: heed_unnamed_assumed */
  uint32_t states; /* channels of a token; 0: not known */
  uint64_t parameters;
} heed_vision;

/* Finds out, and gives values the names that they have in heed's own graphs: logits,
 * layer.i.output, layer.i.attention.weights, pool.attention.weights. The patch is that of the first
 * convolution; where parts overlap it is the smallest that leaves the fewest tokens before the
 * grid. Statuses: UNSUPPORTED, where the graph is no vision transformer: what was found is set all
 * the same. */
heed_status heed_vision_find(const heed_onnx *file, heed_onnx_lowered *lowered, heed_vision *vision,
                             heed_error *error);

/* Whether the inputs of changes are those of the layers: their heads in one attention each, their
 * tokens in the order of the patches. Statuses: UNSUPPORTED. */
heed_status heed_vision_check_changes(const heed_onnx *file, const heed_graph *graph,
                                      const heed_vision *vision, const heed_lower_changes *changes,
                                      heed_error *error);

#endif
