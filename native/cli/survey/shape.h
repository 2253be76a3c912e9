/* What a survey is of. */
#ifndef HEED_CLI_SURVEY_SHAPE_H
#define HEED_CLI_SURVEY_SHAPE_H

#include <stddef.h>
#include <stdint.h>

/* The grid is the model's own; maps of another are not summed. */
typedef struct survey_shape {
  uint32_t layers, heads, prefix, rows, columns, patch;
  uint32_t embedding; /* numbers of a picture's embedding; 0: none is kept */
  uint32_t maps;      /* bit i: heed_patch_map i, of which there is a mean */
} survey_shape;
#define SURVEY_MOST_MAPS 32

static inline uint32_t survey_maps_count(const survey_shape *shape) {
  uint32_t count = 0;
  for (uint32_t left = shape->maps; left; left &= left - 1) count++;
  return count;
}

static inline size_t survey_heads(const survey_shape *shape) {
  return (size_t)shape->layers * shape->heads;
}
static inline size_t survey_patches(const survey_shape *shape) {
  return (size_t)shape->rows * shape->columns;
}
static inline size_t survey_tokens(const survey_shape *shape) {
  return shape->prefix + survey_patches(shape);
}
static inline size_t survey_offsets(const survey_shape *shape) {
  return (2 * (size_t)shape->rows - 1) * (2 * (size_t)shape->columns - 1);
}

#endif
