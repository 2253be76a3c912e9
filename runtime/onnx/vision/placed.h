/* Layers whose attention is over windows of the image, over keys that are several patches each, or
 * over patches in an order of their own: their maps as those of all patches, row by row. */
#ifndef HEED_ONNX_VISION_PLACED_H
#define HEED_ONNX_VISION_PLACED_H

#include "onnx/vision/places.h"

typedef struct heed_placed_layer {
  uint32_t attention; /* of the finder */
  uint32_t windows;   /* of each image, beside each other in the batch */
  uint32_t axis;      /* of the map that they lie along: heed_token_places.axis */
  uint32_t patch;     /* side of a patch, in pixels */
  uint32_t prefix;    /* tokens before the patches, where there are no windows and no merged keys */
  uint32_t merged;    /* patches along each side of a key */
  bool straight;      /* all patches are row by row, beside each other */
  int32_t *query;     /* [T]: where each patch is among the windows' queries, one after another */
  int32_t *key;       /* [T]: where the key that it is a part of is among the windows' keys */
} heed_placed_layer;

/* The map of an attention as [batch windows, H, Tq, Tk], also one of five axes; false: unknown. */
bool heed_placed_shape(const heed_token_places *places, const heed_shape *map, heed_shape *four);
/* Finds what is behind `attention` of an attention whose map is [batch windows, H, Tq, Tk]. NULL,
 * or why it has no places in an image of height x width pixels; l->status may say more. */
const char *heed_placed_find(heed_lower *l, const heed_token_places *places, uint32_t batch,
                             uint32_t height, uint32_t width, const heed_shape *map,
                             heed_placed_layer *layer);
/* Makes the maps [batch, H, T, T] of all layers, and what goes with them, by the names of heed's
 * own graphs: layer.i is the i-th. `rows` [row_count] of the maps, or NULL: all. Weights of keys
 * that are outside of a patch's window are 0, and logits -Inf. The weight of a key of several
 * patches is shared by them. */
void heed_placed_apply(heed_lower *l, const heed_placed_layer *layers, uint32_t count,
                       uint32_t tokens, const uint32_t *rows, uint32_t row_count);

#endif
