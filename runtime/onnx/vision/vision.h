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
  bool mixed;      /* behind the maps heads are mixed, before they meet values */
  uint32_t stage;  /* the layers are of: from 1 on; 0: of the first */
  uint32_t stages; /* of which layers are placed; 0: not counted */
  bool placed;     /* layers are over windows, merged keys, or tokens of changing order: placed.h */
  uint32_t states; /* channels of a token; 0: not known */
  uint64_t parameters;
} heed_vision;

/* `stage`: which of the grids of the graph's attentions its layers are of, from 1 on; 0: the first.
 * `changes`: with which the graph was lowered, or NULL. Finds out, and gives values the names that
 * they have in heed's own graphs: logits, layer.i.output, layer.i.attention.weights,
 * pool.attention.weights. The patch is that of the first convolution; where parts overlap it is the
 * smallest that leaves the fewest tokens before the grid. Statuses: UNSUPPORTED, where the graph is
 * no vision transformer: what was found is set all the same. */
heed_status heed_vision_find(const heed_onnx *file, heed_onnx_lowered *lowered, uint32_t stage,
                             const heed_lower_changes *changes, heed_vision *vision,
                             heed_error *error);

/* changes.c: whether a graph of its own has what heed_build_desc asks for. */
bool heed_vision_changes(const heed_build_desc *build);
/* Lowers the graph once more, with what `build` changes and with the rows that it asks for. `plain`
 * and *vision: the graph without them, and what was found in it; *vision becomes that of *lowered.
 * Statuses: as heed_onnx_lower, UNSUPPORTED (an attention takes no changes), INVALID_ARGUMENT (a
 * row of no token). */
heed_status heed_vision_change(heed_onnx *file, const heed_onnx_lower_desc *desc,
                               const heed_build_desc *build, const heed_graph *plain,
                               heed_vision *vision, heed_onnx_lowered **lowered, heed_error *error);

#endif
