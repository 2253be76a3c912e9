/* The choice of register tile for a matrix product (shaders/include/tile.glsl), or of cooperative
 * matrices (shaders/include/tile_matrix.glsl). */
#ifndef HEED_GPU_TILE_H
#define HEED_GPU_TILE_H

#include "gpu/builder.h"

typedef struct heed_gpu_tile {
  /* rows, vec4 of columns an invocation; invocations along columns; row tiles a workgroup */
  uint32_t rows, columns, lanes, groups;
  bool half;      /* the weight is in fp16 */
  bool int8;      /* the weight is in int8 */
  bool bytes;     /* and so is x */
  bool scalar;    /* x is in fp32 instead, and all lanes of a group read the same rows */
  bool whole;     /* sums of floats are too long to be exact, and are added as whole numbers */
  bool texels;    /* x and the weight are to be read as texels */
  uint32_t panel; /* columns a workgroup: lanes * columns * 4 */
  uint32_t step;  /* of k in shared memory at a time, with matrices */
  uint32_t x, y;  /* workgroups over rows and panels */
  /* of the depth, workgroups each; 1 unless the op splits it */
  uint32_t slices;
  uint32_t choice; /* of the candidates; 0: by the tables */
  bool sliced;     /* groups are slices of the depth, not row tiles */
  /* not 0: by a workgroup-wide product of side x side, of `lanes` invocations */
  uint32_t side;
  /* by cooperative matrices: rows, columns are matrices a subgroup, lanes, groups subgroups of the
   * workgroup */
  bool matrix;
} heed_gpu_tile;

/* The candidate that was measured as the fastest, or is to be measured; 0: as the tables say. */
uint32_t heed_gpu_find_choice(const heed_gpu_limits *limits, const heed_gpu_shape_key *key);
/* How many tiles there are for a product to choose from, numbered from 1. One that a device has no
 * room for is the tables'. */
uint32_t heed_gpu_tile_candidates(const heed_gpu_limits *limits);
/* x: as bound; vector: it can be read as vec4 along the depth. */
heed_gpu_tile heed_gpu_choose_tile(const heed_gpu_builder *builder, uint32_t rows, uint32_t columns,
                                   uint32_t depth, const heed_gpu_range *x, bool vector);
/* Of a product in int8, whose x is packed. */
heed_gpu_tile heed_gpu_choose_int8_tile(const heed_gpu_builder *builder, uint32_t rows,
                                        uint32_t columns, uint32_t depth);
/* The tile of a workgroup-wide product instead, where the device has one. */
bool heed_gpu_choose_side(const heed_gpu_builder *builder, uint32_t rows, uint32_t columns,
                          heed_gpu_tile *tile);
/* Where row tiles of groups are too few for the device: the groups of a workgroup share the depth
 * instead. */
void heed_gpu_slice_tile(const heed_gpu_builder *builder, uint32_t rows, uint32_t depth,
                         heed_gpu_tile *tile);
/* Ends the dispatches that run a tile over all panels of the weight in slot 1, as many as its bytes
 * take bindings. The first constants are the tile's, then come `constants` (ids 5 to 10), then the
 * matrix's. *first_panel, of the push constants, says which panel each dispatch begins with. */
void heed_gpu_append_panels(heed_gpu_builder *builder, const heed_gpu_dispatch *dispatch,
                            const heed_gpu_tile *tile, uint32_t weight, heed_gpu_panels panels,
                            const uint32_t constants[6], const void *push, size_t push_bytes,
                            uint32_t *first_panel);

#endif
