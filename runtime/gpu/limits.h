/* What a device allows, and what kernels and tiles are chosen by. */
#ifndef HEED_GPU_LIMITS_H
#define HEED_GPU_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/tier.h"

/* Shape of a product of cooperative matrices, M x K by K x N, and the size of the subgroup that
 * makes it; rows 0: the device has none. */
typedef struct heed_gpu_matrix {
  uint32_t rows, columns, depth, lanes;
} heed_gpu_matrix;

/* Products and attentions whose fastest tile was measured (gpu/tune.h). */
#define HEED_GPU_MOST_TUNED 64
typedef struct heed_gpu_shape_key {
  /* of a product; queries, keys and depth of an attention */
  uint32_t rows, columns, depth;
  uint32_t slices, heads, key_heads, value_depth; /* B H, H, Hk, Dv of an attention, else 0 */
  uint32_t half;
} heed_gpu_shape_key;
typedef struct heed_gpu_tuned {
  heed_gpu_shape_key key;
  uint32_t choice; /* number of a candidate of its op, from 1 */
} heed_gpu_tuned;
typedef struct heed_gpu_tiles {
  uint32_t count, unused;
  heed_gpu_tuned shape[HEED_GPU_MOST_TUNED];
} heed_gpu_tiles;

/* Invocations of a workgroup-wide product of 128 x 128 and of 64 x 64; 0: the device has none. */
typedef struct heed_gpu_matrix2 {
  uint32_t wide, narrow;
} heed_gpu_matrix2;

/* What the device allows, and what kernels are chosen by. */
typedef struct heed_gpu_limits {
  /* a software device: narrow workgroups, large register tiles, no shared memory, no long rows in
   * registers */
  bool cpu;
  bool software;           /* a software device, whatever it plays */
  heed_gpu_tier tier;      /* of the kernels to be chosen; never AUTO */
  uint32_t vendor;         /* PCI number, or Khronos's */
  uint32_t lanes;          /* subgroup size */
  uint32_t required_lanes; /* the same, where kernels can be sure of it; else 0 */
  uint32_t least_lanes;    /* the smallest subgroup that a kernel may get; 0: not known */
  uint32_t invocations;    /* of a workgroup */
  uint32_t shared;         /* bytes of a workgroup's shared memory */
  uint32_t groups;         /* along one axis of the grid */
  /* workgroups of 128 invocations that keep all of the device busy; 0: never split work for their
   * sake */
  uint32_t fill;
  uint32_t bindings;           /* storage buffers a stage */
  uint64_t range;              /* bytes of one binding */
  uint64_t buffer;             /* bytes of one buffer, where it holds more than bindings; 0: any */
  uint64_t alignment;          /* of a binding's offset */
  const heed_gpu_tiles *tiles; /* NULL: none was measured */
  /* candidate for every product and attention while it is measured; 0: as the tables say */
  uint32_t choice;
  bool half; /* weights of products are kept in fp16 */
  /* values between products and attention are kept in fp16 (gpu/fp16_values.h) */
  bool half_values;
  bool dot;                 /* products of int8 are dot products of four bytes */
  uint64_t texels;          /* of four elements in one binding; 0: read storage buffers instead */
  heed_gpu_matrix matrix;   /* what products of fp16 are made with */
  heed_gpu_matrix matrix8;  /* those of int8 */
  heed_gpu_matrix2 matrix2; /* those of linear, where it is there */
  /* slots without meaning are not bound, and texels of one float are a storage buffer: what counts
   * is what a dispatch binds */
  bool counts_bound;
  /* a compiler refuses a barrier unless it can prove that all of a workgroup comes to it */
  bool provable_barriers;
  /* rows of a matrix are reduced and matrices converted in registers */
  bool reduces;
} heed_gpu_limits;

#endif
