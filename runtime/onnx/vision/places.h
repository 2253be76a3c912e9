/* Where in the image the tokens of each attention lie, as the graph itself says it. */
#ifndef HEED_ONNX_VISION_PLACES_H
#define HEED_ONNX_VISION_PLACES_H

#include "onnx/vision/place_table.h"

typedef struct heed_token_places {
  uint32_t count;          /* tokens that ask, of one item; 0: not known */
  uint32_t key_count;      /* tokens that are asked; 0: not known */
  uint32_t items;          /* of an axis whose tokens have other places; 1: all have the same */
  uint32_t axis;           /* that one of the map: the batch, 0, or of five axes 1 or 2 */
  const heed_place *query; /* [items, count] */
  const heed_place *key;   /* [items, key_count]; or NULL: not known */
  bool apart;              /* heads have tokens of other places, or nobody knows which have them */
  bool channels;           /* what asks and is asked are channels, each of all tokens */
  uint32_t level;          /* attentions that it is made of, one behind another */
} heed_token_places;

/* found: [attentions of the finder], in the arena of the lowering. Where the work would be too much
 * all but levels stays unknown. Statuses: OUT_OF_MEMORY. */
heed_status heed_places_find(heed_lower *l, const heed_lower_value *image,
                             heed_token_places **found);

#endif
