/* Rotary positions on a grid of patches, as a rule of a family. */
#ifndef HEED_MODEL_FAMILIES_ROTATION_H
#define HEED_MODEL_FAMILIES_ROTATION_H

#include <stdbool.h>
#include <stdint.h>

typedef enum heed_rotation_kind {
  HEED_ROTATION_NONE,
  HEED_ROTATION_CENTRED, /* DINOv3: coordinates of patch centres in -1 .. 1, times 2 pi */
  HEED_ROTATION_AXIAL,   /* row and column numbers */
  /* V-JEPA 2: time, row and column each turn a third of a head's numbers, rounded down to an even
   * count; stored positions are not read */
  HEED_ROTATION_VIDEO,
} heed_rotation_kind;

/* Half of the angles is for the rows, half for the columns, with frequencies base^(-4 k / D). In a
 * model with frequencies of its own (mixed) each angle is a sum of both. */
typedef struct heed_rotation {
  float base, offset; /* offset: added to row and column numbers of models with CLS (PE) */
  uint32_t reference; /* side of the grid to which they are scaled; 0: not scaled */
  uint8_t kind;       /* heed_rotation_kind */
  /* without a reference it is the grid of the stored positions */
  bool own_grid;
  bool columns_first; /* angles of the columns come before those of the rows */
  bool in_turn;       /* each angle of an axis is followed by one of the other; else all are */
  bool between;       /* frequencies of the second axis are base^(-(4 k + 2) / D) */
  bool half;          /* pairs are elements j and j + D/2; else 2j and 2j + 1 */
} heed_rotation;

#endif
