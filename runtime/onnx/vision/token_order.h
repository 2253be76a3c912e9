/* Which tokens are the patches of an image, and in which order they lie. */
#ifndef HEED_ONNX_VISION_TOKEN_ORDER_H
#define HEED_ONNX_VISION_TOKEN_ORDER_H

#include "onnx/vision/places.h"

typedef struct heed_token_order {
  uint32_t prefix, patch; /* tokens that are no patch; side of a patch in pixels */
  int32_t *token;         /* [count]: those first, then the patches row by row */
  bool straight;          /* that is the graph's own order */
} heed_token_order;

/* NULL, or why the tokens are no grid of the image. In the arena of the lowering. */
const char *heed_token_order_find(heed_lower *l, const heed_place *places, uint32_t count,
                                  uint32_t height, uint32_t width, heed_token_order *order);
/* Puts the values of `layers` layers, and of the pool, into this order, and joins `heads`
 * attentions that read the same states into one layer. Names are those of vision.h. `rows`: maps
 * have some rows alone, which are those that were asked for. */
void heed_token_order_apply(heed_lower *l, const heed_token_order *order, uint32_t count,
                            uint32_t layers, uint32_t heads, bool rows);

#endif
