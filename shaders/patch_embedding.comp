#version 450
// Patches of an image times a weight: a convolution whose stride is its kernel's side P. Row m of
// the product is patch m % patches of image m / patches; k runs over channel, row, column of the
// patch. Bindings: 0 image, 1 weight in panels, 2 bias, 3 y,
// 4 with cooperative matrices the counter.
#extension GL_GOOGLE_include_directive : require
#ifdef HEED_MATRIX
#include "include/matrix.glsl"
#define HEED_FP16_COUNTER 4
#endif
#include "include/base.glsl"
#include "params/patch_embedding.h"
#include "include/tile.glsl"

layout(std430, binding = 3) writeonly buffer Y { float y[]; };
layout(std430, binding = 3) writeonly buffer Y4 { vec4 y4[]; };

// Counters instead of divisions: k goes up by 1, or by 4 inside a row of the patch.
uint patch_x, patch_y;

uint tile_base(uint row) {
  const uint image = row / params.patches, cell = row % params.patches;
  const uint top = cell / params.patches_across * params.side,
             left = cell % params.patches_across * params.side;
  return params.x_origin + (image * params.channels * params.height + top) * params.width + left;
}

void tile_start() { tile_at = patch_x = patch_y = 0; }

void tile_next(uint step) {
  tile_at += step;
  patch_x += step;
  const bool row_ends = patch_x == params.side;
  tile_at += row_ends ? params.width - params.side : 0;
  patch_y += row_ends ? 1 : 0;
  patch_x = row_ends ? 0 : patch_x;
  const bool channel_ends = patch_y == params.side;
  tile_at += channel_ends ? (params.height - params.side) * params.width : 0;
  patch_y = channel_ends ? 0 : patch_y;
}

uint tile_element(uint k) {
  const uint row = k / params.side, channel = row / params.side;
  return (channel * params.height + row % params.side) * params.width + k % params.side;
}

uint tile_row_place(uint row) { return row * params.columns; }
uint tile_column_place(uint column) { return column; }
void tile_put(uint at, vec4 v) { y4[(params.y_origin + at) >> 2] = v; }

void tile_store(uint row, uint column, vec4 v) {
  const uint at = params.y_origin + row * params.columns + column;
  for (uint c = 0; c < 4; c++)
    if (column + c < params.columns) y[at + c] = v[c];
}

void main() { tile_run(); }
