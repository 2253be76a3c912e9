/* Rotary positions on a grid of patches: the tables of cosines and sines that op rotary takes. */
#ifndef HEED_MODEL_ROTATION_H
#define HEED_MODEL_ROTATION_H

#include <stdbool.h>
#include <stdint.h>

typedef enum heed_rotation_kind {
  HEED_ROTATION_NONE,
  HEED_ROTATION_CENTRED, /* DINOv3: coordinates of patch centres in -1 .. 1, times 2 pi */
  HEED_ROTATION_AXIAL,   /* row and column numbers; the model's own frequencies where it has some */
} heed_rotation_kind;

/* Half of the angles is for the rows, half for the columns, or each is a sum of both where the
 * model has frequencies of its own. Frequency k of an axis is base^(-4 k / D). */
typedef struct heed_rotation {
  heed_rotation_kind kind;
  float base, offset; /* offset: added to row and column numbers */
  uint32_t reference; /* side of the grid to which they are scaled; 0: not scaled */
  /* PE: without a reference it is the grid of the stored positions; the offset is for models with
   * CLS */
  bool own_grid;
  bool columns_first; /* angles of the columns come before those of the rows */
  bool half;          /* pairs are elements j and j + D/2; else 2j and 2j + 1 */
} heed_rotation;

/* A grid, and what the model has of its own. */
typedef struct heed_rotation_grid {
  uint32_t rows, columns, size; /* size: of a head, a multiple of 4 */
  const float *periods;         /* [D/4], in place of base^(4 k / D); or NULL */
  const float *frequencies[2];  /* [heads, D/2] for columns and rows; or NULL */
  uint32_t heads;               /* with frequencies of its own; else 1 */
} heed_rotation_grid;

/* Fills cosines and sines [heads, rows * columns, D/2], in double precision, rounded once. */
void heed_rotation_fill(const heed_rotation *rule, const heed_rotation_grid *grid, float *cosines,
                        float *sines);

#endif
