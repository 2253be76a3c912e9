#version 450
// Rows of a table by id; an id outside the table gives zeros. Of a table past one binding each
// dispatch has some rows: the first stores zeros for ids of no row of its own, the others pass them
// over. Bindings: 0 ids, 1 table, 2 y.
#extension GL_GOOGLE_include_directive : require
#include "include/base.glsl"
#include "params/embedding.h"

layout(std430, binding = 0) readonly buffer Ids { int ids[]; };
layout(std430, binding = 1) readonly buffer Table { float table[]; };
layout(std430, binding = 2) writeonly buffer Y { float y[]; };

void main() {
  const uint at = heed_item();
  if (at >= params.count) return;
  const int id = ids[params.ids_origin + at / params.width];
  const uint row = uint(id) - params.first_row; // past the rows for an id before them
  const bool inside = id >= 0 && row < params.rows;
  const float v =
      table[params.table_origin + (inside ? row : 0) * params.width + at % params.width];
  if (inside || params.first_row == 0) y[params.y_origin + at] = inside ? v : 0.0;
}
