/* Rotary positions on a grid. Sources: transformers' modeling_dinov3_vit.py; facebookresearch/
 * dinov3's rope_position_encoding.py; timm's pos_embed_sincos.py (RotaryEmbeddingCat,
 * RotaryEmbeddingMixed); Heo et al. 2024 (RoPE-ViT). */
#include "model/rotation.h"

#include <math.h>
#include <stddef.h>

#define TWO_PI 6.283185307179586476925286766559

static double coordinate(const heed_rotation *rule, uint32_t at, uint32_t count) {
  if (rule->kind == HEED_ROTATION_CENTRED) return TWO_PI * (2.0 * (at + 0.5) / count - 1.0);
  const double place = at + (double)rule->offset;
  return rule->reference ? place * rule->reference / count : place;
}

/* Angle of a pair: place [column, row]. */
static double angle(const heed_rotation *rule, const heed_rotation_grid *grid,
                    const double place[2], size_t head, uint32_t pair) {
  const uint32_t each = grid->size / 4, k = pair % each;
  const size_t own = head * 2 * each + pair;
  if (grid->frequencies[0])
    return place[0] * (double)grid->frequencies[0][own] +
           place[1] * (double)grid->frequencies[1][own];
  const double period =
      grid->periods ? (double)grid->periods[k] : pow((double)rule->base, 4.0 * k / grid->size);
  return place[(pair < each) != rule->columns_first] / period;
}

void heed_rotation_fill(const heed_rotation *rule, const heed_rotation_grid *grid, float *cosines,
                        float *sines) {
  size_t at = 0;
  for (uint32_t head = 0; head < grid->heads; head++)
    for (uint32_t row = 0; row < grid->rows; row++)
      for (uint32_t column = 0; column < grid->columns; column++) {
        const double place[2] = {coordinate(rule, column, grid->columns),
                                 coordinate(rule, row, grid->rows)};
        for (uint32_t pair = 0; pair < grid->size / 2; pair++, at++) {
          const double turn = angle(rule, grid, place, head, pair);
          cosines[at] = (float)cos(turn);
          sines[at] = (float)sin(turn);
        }
      }
}
