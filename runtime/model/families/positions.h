/* Position embeddings, and tables of relative positions, for a grid of another size. */
#ifndef HEED_MODEL_FAMILIES_POSITIONS_H
#define HEED_MODEL_FAMILIES_POSITIONS_H

#include "base/context.h"

/* How a family does it. */
typedef struct heed_position_rule {
  /* Adds what output `at` of `to` takes of inputs 0 .. from-1 to weights [from]. */
  void (*weigh)(uint32_t from, uint32_t to, uint32_t at, double *weights);
  const char *name; /* as hints have it: "offset"; NULL: of tables of relative positions alone */
  const char *text; /* in words */
  bool square; /* to the square of the longer side, of which what lies beyond the other is cut */
} heed_position_rule;
/* Plain: PyTorch's bicubic given a size: 4 taps, a = -0.75, clamped. Corners: the same with
 * align_corners, as torchvision does it. Offset: given a scale that is 0.1 patches too large, as in
 * DINO. Antialiased: Pillow's filter, a = -0.5, widened when shrinking, renormalised at the edges,
 * as timm and DINOv2 with registers do it. Linear: as PyTorch's bilinear, as DPT, and BEiT for its
 * tables of relative positions. Linear corners: the same with align_corners, as Qwen3-VL. Cut: that
 * to a square, as RADIO. Smooth: bilinear, widened when shrinking, as SigLIP 2. Nearest: the input
 * at or before, as Idefics. Spread: as timm for those tables: it takes the stored distances as sums
 * of a geometric series. */
extern const heed_position_rule heed_positions_plain, heed_positions_offset,
    heed_positions_antialiased, heed_positions_corners, heed_positions_linear,
    heed_positions_linear_corners, heed_positions_cut, heed_positions_smooth,
    heed_positions_nearest, heed_positions_spread;

/* The rule of a name, and the names for sentences: "exact, offset, ..."; NULL: there is none. */
const heed_position_rule *heed_positions_named(const char *name);
extern const char heed_position_names[];

/* Positions that are computed. Of patches [rows, columns, width], width a multiple of 4: sine and
 * cosine of the column, then of the row, times 10000^(-i / (width / 4 - 1)), as
 * posemb_sincos_2d of vit-pytorch's simple_vit.py. Of tokens [count, width], width even: sine and
 * cosine in turn of the number times 10000^(-2 i / width), as Vaswani et al. 2017. */
void heed_positions_sincos(uint32_t rows, uint32_t columns, uint32_t width, float *positions);
void heed_positions_sines(uint32_t count, uint32_t width, float *positions);

/* Resize of a grid [side, side, depth] to [rows, columns, depth], one axis
 * after the other. Statuses: OUT_OF_MEMORY. */
heed_status heed_positions_resize(const heed_context *context, const float *grid, uint32_t side,
                                  uint32_t depth, uint32_t rows, uint32_t columns,
                                  const heed_position_rule *rule, float *resized,
                                  heed_error *error);

#endif
