/* Position embeddings for a grid of another size. */
#ifndef HEED_MODEL_POSITIONS_H
#define HEED_MODEL_POSITIONS_H

#include "base/context.h"

/* How a family does it. */
typedef struct heed_position_rule {
  /* Pillow's filter, a = -0.5, widened when shrinking, renormalised at the edges; else 4 taps, a =
   * -0.75, clamped */
  bool antialias;
  /* without antialias: the scale is (size + offset) / side, as where PyTorch is given a scale in
   * place of a size */
  double offset;
  bool corners;     /* corners stay where they are (align_corners true) */
  const char *text; /* in words */
} heed_position_rule;
/* Plain: PyTorch given a size. Corners: the same with align_corners, as torchvision does it.
 * Offset: given a scale that is 0.1 patches too large, as in DINO. Antialiased: as timm and DINOv2
 * with registers do it. */
extern const heed_position_rule heed_positions_plain, heed_positions_offset,
    heed_positions_antialiased, heed_positions_corners;

/* Bicubic resize of a grid [side, side, depth] to [rows, columns, depth], half-pixel centres
 * (align_corners false), as PyTorch's interpolate does it. Statuses: OUT_OF_MEMORY. */
heed_status heed_positions_resize(const heed_context *context, const float *grid, uint32_t side,
                                  uint32_t depth, uint32_t rows, uint32_t columns,
                                  const heed_position_rule *rule, float *resized,
                                  heed_error *error);

#endif
