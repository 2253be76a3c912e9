/* Position embeddings for a grid of another size. */
#ifndef HEED_MODEL_POSITIONS_H
#define HEED_MODEL_POSITIONS_H

#include "base/context.h"

/* Bicubic resize of a grid [side, side, depth] to [rows, columns, depth], half-pixel centres (align_corners false), as PyTorch's
 * interpolate does it. antialias false: four taps, a = -0.75, edges clamped (Hugging Face ViT, DeiT); true: Pillow's filter,
 * a = -0.5, widened when shrinking and renormalised at the edges (timm, DINOv2). Statuses: OUT_OF_MEMORY. */
heed_status heed_positions_resize(const heed_context *context, const float *grid, uint32_t side, uint32_t depth, uint32_t rows, uint32_t columns, bool antialias,
                                  float *resized, heed_error *error);

#endif
