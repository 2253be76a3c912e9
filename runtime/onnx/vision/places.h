/* Where in the image the tokens of each attention lie, as the graph itself says it. */
#ifndef HEED_ONNX_VISION_PLACES_H
#define HEED_ONNX_VISION_PLACES_H

#include "onnx/vision/place_table.h"

typedef struct heed_token_places {
  uint32_t count;          /* tokens that ask; 0: not known */
  const heed_place *query; /* [count] */
  const heed_place *key;   /* [count] of those that are asked; or NULL: not known */
  bool apart;              /* items of the batch, or heads, have tokens of other places */
  uint32_t level;          /* attentions that it is made of, one behind another */
} heed_token_places;

/* found: [attentions of the finder], in the arena of the lowering. Where the work would be too much
 * all stays unknown. Statuses: OUT_OF_MEMORY. */
heed_status heed_places_find(heed_lower *l, const heed_lower_value *image,
                             heed_token_places **found);

#endif
