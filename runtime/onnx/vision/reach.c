/* What an attention of a lowered graph is over, in words. */
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/tensor.h"
#include "onnx/file/file.h"
#include "onnx/vision/placed.h"
#include "onnx/vision/token_order.h"

typedef heed_lower_value value;

/* The only input that is an image [B, C, H, W], or NULL. */
static const value *find_image(const heed_lower *l) {
  const value *found = NULL;
  for (size_t i = 0; i < l->order_count; i++) {
    const value *v = l->order[i];
    if (v->kind != HEED_LOWER_INPUT || v->array || v->rank != 4 || (v->dims[1] != 3 && !l->alone))
      continue;
    if (found) return NULL;
    found = v;
  }
  return found;
}

static void tell_patches(char *text, size_t size, const value *image, uint32_t patch,
                         uint32_t prefix) {
  char before[32] = "";
  if (prefix) snprintf(before, sizeof before, "%u token%s and ", prefix, prefix > 1 ? "s" : "");
  snprintf(text, size, "%s%u x %u patches", before, (unsigned)(image->dims[2] / patch),
           (unsigned)(image->dims[3] / patch));
}

/* Of queries that are windows, or whose keys are merged, or that are the whole image. */
static bool tell_placed(heed_lower *l, const heed_token_places *places, const value *image,
                        const heed_shape *map, char *text, size_t size) {
  heed_placed_layer layer;
  if (heed_placed_find(l, places, (uint32_t)image->dims[0], (uint32_t)image->dims[2],
                       (uint32_t)image->dims[3], map, &layer))
    return false;
  tell_patches(text, size, image, layer.patch, layer.prefix);
  const size_t at = strlen(text);
  if (layer.windows > 1 && at < size)
    snprintf(text + at, size - at, " in %u windows", layer.windows);
  else if (layer.merged > 1 && at < size)
    snprintf(text + at, size - at, ", keys of %u x %u of them", layer.merged, layer.merged);
  return true;
}

/* Of tokens that are no patches and patches of the whole image. */
static void tell_tokens(heed_lower *l, const heed_token_places *places, const value *image,
                        char *text, size_t size) {
  heed_token_order order;
  if (places->items > 1 || places->apart ||
      heed_token_order_find(l, places->query, places->count, (uint32_t)image->dims[2],
                            (uint32_t)image->dims[3], &order))
    return;
  tell_patches(text, size, image, order.patch, order.prefix);
}

/* Once for all attentions. */
static const value *image_of(heed_lower *l) {
  if (!l->looked) l->image = find_image(l);
  l->looked = true;
  return l->image;
}

static void tell(heed_lower *l, uint32_t index, char *text, size_t size) {
  const value *image = image_of(l);
  heed_value_info info;
  heed_shape map;
  if (!image || (!l->places && heed_places_find(l, image, &l->places) != HEED_OK)) return;
  const heed_token_places *places = &l->places[index];
  if (places->channels)
    snprintf(text, size, "over channels");
  else if (places->count &&
           heed_graph_value_info(l->graph, heed_lower_weights(l, index), &info) == HEED_OK &&
           heed_placed_shape(places, &info.shape, &map) &&
           !tell_placed(l, places, image, &map, text, size) && map.dim[0] == image->dims[0])
    tell_tokens(l, places, image, text, size);
}

void heed_onnx_lowered_reach(heed_onnx_lowered *lowered, uint32_t index, char *text, size_t size) {
  heed_lower *l = heed_onnx_lowered_parts(lowered);
  heed_error own;
  HEED_ASSERT(text && size);
  text[0] = '\0';
  if (index >= l->file->attentions->count) return;
  l->error = l->call.error = &own;
  tell(l, index, text, size);
  l->error = l->call.error = NULL;
}
