/* The sequence of a ViT that patches have left. What depends on the place of a token is gathered
 * from what all tokens have: its rotary angles, and its relative positions to the others. */
#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "heed/ops.h"
#include "model/vit/builder.h"

heed_value heed_vit_define_shortened(heed_vit_builder *b) {
  const heed_vit_dimensions *dims = &b->model->dims;
  const uint32_t tokens = heed_vit_tokens(b);
  const heed_shape states = HEED_SHAPE(b->desc.batch, tokens, dims->width),
                   each = HEED_SHAPE(b->desc.batch, tokens),
                   both = HEED_SHAPE(b->desc.batch, tokens, tokens);
  if (b->model->roles.rules.rotation.kind)
    b->places = heed_define_input(b->graph, "tokens", HEED_I32, &each);
  if (dims->bias_rows) {
    b->pairs = heed_define_input(b->graph, "pairs", HEED_I32, &both);
    b->read_rows = 0; /* the bias is of all queries */
  }
  return heed_define_input(b->graph, "embeddings", HEED_F32, &states);
}

/* Rows or blocks of `x` [H, all, ...] by `indices` [B, ...]: [B, H, ...]. */
static heed_value gather_by_head(heed_vit_builder *b, heed_value x, heed_value indices) {
  const heed_gather_desc gather = {sizeof gather, x, indices, 1, false};
  const heed_permute_desc permute = {
      sizeof permute, heed_define_gather(b->graph, &gather), {1, 0, 2, 3}};
  return heed_define_permute(b->graph, &permute);
}

/* -------------------------------------------------------------------------------- rotary tables */

/* What element `e` of a head is rotated with, in pair *pair; the head size where it is not. */
static uint32_t partner_of(uint32_t e, uint32_t pairs, bool half, uint32_t *pair, bool *second) {
  const uint32_t step = half ? pairs : 1;
  if (e >= 2 * pairs) return e;
  *second = half ? e >= pairs : e % 2 == 1;
  *pair = half ? e % pairs : e / 2;
  return *second ? e - step : e + step;
}

/* x cos + partner sin, the sine with the sign that the element takes it with. */
static void fill(const heed_vit_builder *b, const float *cosines, const float *sines,
                 uint32_t heads, uint32_t pairs, const heed_vit_turns *to) {
  const uint32_t prefix = b->model->dims.prefix_tokens, patches = b->rows * b->columns,
                 tokens = prefix + patches;
  const bool half = b->model->roles.rules.rotation.half;
  for (uint32_t e = 0; e < to->depth; e++) {
    uint32_t pair = 0;
    bool second = false;
    const uint32_t partner = partner_of(e, pairs, half, &pair, &second);
    to->partners[e] = (int32_t)partner;
    for (uint32_t head = 0; head < heads; head++)
      for (uint32_t t = 0; t < tokens; t++) {
        const size_t at = ((size_t)head * tokens + t) * to->depth + e,
                     from = ((size_t)head * patches + t - prefix) * pairs + pair;
        const bool turned = t >= prefix && partner != e;
        to->cosines[at] = turned ? cosines[from] : 1.0f;
        to->sines[at] = !turned ? 0.0f : second ? sines[from] : -sines[from];
      }
  }
}

heed_status heed_vit_shorten_turn(heed_vit_builder *b, const float *cosines, const float *sines,
                                  uint32_t heads, uint32_t pairs, heed_error *error) {
  const heed_vit_dimensions *dims = &b->model->dims;
  heed_vit_turns made;
  HEED_TRY(heed_vit_keep_turns(b, heads, dims->prefix_tokens + b->rows * b->columns, &made, error));
  fill(b, cosines, sines, heads, pairs, &made);
  heed_vit_define_turns(b, &made);
  return HEED_OK;
}

heed_value heed_vit_shorten_table(heed_vit_builder *b, heed_value table) {
  return gather_by_head(b, table, b->places);
}

/* ---------------------------------------------------------------------------- relative positions
 */

heed_value heed_vit_shorten_bias(heed_vit_builder *b, heed_value bias) {
  return gather_by_head(b, bias, b->pairs);
}
