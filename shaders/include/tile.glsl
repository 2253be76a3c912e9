// The register tile of linear and patch_embedding: y = activation(x W^T + bias), ROWS rows by
// COLUMNS vec4 of columns an invocation, LANES invocations side by side along the columns. No
// shared memory and no barrier.
// W comes in panels of LANES * COLUMNS * 4 columns: panel [K][columns], zeros past N; a workgroup
// reads one panel straight through. The includer declares params (rows, columns, depth,
// bias_origin, first_panel) and
//   uint tile_base(uint row)    where row `row` of x begins, in elements of x
//   void tile_start()           sets tile_at, the element of a row at the first k, past TILE_FIRST
//   void tile_next(uint step)   moves tile_at on by `step` values of k
//   uint tile_row_place(uint row), tile_column_place(uint column)   of y: their sum is the element
//   void tile_put(uint at, vec4 v)   four columns of y from this element on, where VECTOR_OUT
//   void tile_store(uint row, uint column, vec4 v)   else; v beyond the last column is left out
//   void tile_store_one(uint row, uint column, float v)   with HEED_MATRIX2: one inside
#ifndef HEED_TILE_GLSL
#define HEED_TILE_GLSL

#include "include/half.glsl"
#include "include/math.glsl"

layout(constant_id = 1) const uint ROWS = 8;
layout(constant_id = 2) const uint COLUMNS = 1;
layout(constant_id = 3) const uint LANES = 16;
// row tiles a workgroup, or slices of its depth; its width is LANES * GROUPS
layout(constant_id = 4) const uint GROUPS = 1;
// x can be read as vec4 along k; 2: and is fp16; 3, 4: as 2, 1, and by eights from its beginning
layout(constant_id = 5) const uint VECTOR = 1;
layout(constant_id = 6) const uint KIND = 0;     // activation
layout(constant_id = 7) const uint HAS_BIAS = 0; // 2: it can be read as vec4
// y and residual can be reached as vec4; 2: y is fp16
layout(constant_id = 8) const uint VECTOR_OUT = 0;

#if defined HEED_INT8 // tile_int8.glsl and tile_matrix.glsl read them in their own ways
#elif defined HEED_TEXEL
// Software devices fetch texels of four elements several times faster than they read storage
// buffers. The weight's are fp32 or fp16, as its view says.
layout(binding = 0) uniform samplerBuffer x_texels;
layout(binding = 1) uniform samplerBuffer w_texels;
#define HEED_X4(i) texelFetch(x_texels, int(i))
#define HEED_W4(i) texelFetch(w_texels, int(i))
#else
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 0) readonly buffer X4 { vec4 x4[]; };
layout(std430, binding = 0) readonly buffer XHalf { uvec2 x_half[]; };
#define HEED_X4(i) (VECTOR == 2 ? heed_unpack(x_half[i]) : x4[i])
#if defined HEED_MATRIX2
layout(std430, binding = 0) readonly buffer XHalves { float16_t x_halves[]; };
layout(std430, binding = 1) readonly buffer W { float16_t w_halves[]; };
#elif defined HEED_MATRIX
layout(std430, binding = 0) readonly buffer X8 { uvec4 x8[]; };
layout(std430, binding = 1) readonly buffer W { uvec4 w8[]; };
#elif defined HEED_HALF
layout(std430, binding = 1) readonly buffer W { uvec2 w4[]; };
#define HEED_W4(i) heed_unpack(w4[i])
#else
layout(std430, binding = 1) readonly buffer W { vec4 w4[]; };
#define HEED_W4(i) w4[i]
#endif
#endif
layout(std430, binding = 2) readonly buffer Bias { float bias[]; };
layout(std430, binding = 2) readonly buffer Bias4 { vec4 bias4[]; };

#ifndef TILE_FIRST // values of k of this invocation; TILE_FIRST is a multiple of 4
#define TILE_FIRST 0
#define TILE_END params.depth
#endif
#ifdef TILE_SLICES // the includer's word for GROUPS being slices of the depth, which it knows how
                   // to begin inside of
#ifndef HEED_INT8
shared vec4 tile_part[gl_WorkGroupSize.x];
#endif
#endif

// Of the LANES * GROUPS invocations. Subgroups are full and have LANES lanes, so that the driver's
// compiler sees that all lanes of one have the same group.
#ifdef HEED_SUBGROUP
#define TILE_LANE gl_SubgroupInvocationID
#define TILE_GROUP gl_SubgroupID
#else
#define TILE_LANE (GROUPS == 1 ? gl_LocalInvocationID.x : gl_LocalInvocationID.x % LANES)
#define TILE_GROUP (GROUPS == 1 ? 0 : gl_LocalInvocationID.x / LANES)
#endif

uint tile_at;

void tile_start();
void tile_next(uint step);
uint tile_base(uint row);
uint tile_row_place(uint row);
uint tile_column_place(uint column);
void tile_put(uint at, vec4 v);
void tile_store(uint row, uint column, vec4 v);
#ifdef HEED_MATRIX2
void tile_store_one(uint row, uint column, float v);
#endif

vec4 tile_bias(uint column) {
  if (HAS_BIAS == 2) return bias4[(params.bias_origin + min(column, params.columns - 4)) >> 2];
  vec4 v;
  for (uint c = 0; c < 4; c++)
    v[c] = bias[params.bias_origin + min(column + c, params.columns - 1)];
  return v;
}

// v is at `at` in y.
void tile_finish(uint row, uint column, uint at, vec4 v) {
  if (VECTOR_OUT != 0)
    tile_put(at, v);
  else
    tile_store(row, column, v);
}

#if defined HEED_MATRIX2
#include "include/tile_matrix2.glsl"
#elif defined HEED_MATRIX
#include "include/tile_matrix.glsl"
#elif defined HEED_INT8
#include "include/tile_int8.glsl"
#else
const uint TILE_PANEL = LANES * COLUMNS; // vec4 a row of a panel

// Workgroup x is the tile of rows, y the panel. One function with its own arrays, and rows
// addressed from a table: other forms of the same loops took lavapipe's compiler ten times as long.
void tile_run() {
  const uint lane = TILE_LANE, group = TILE_GROUP;
#ifdef TILE_SLICES
  const uint row0 = (TILE_SLICES ? gl_WorkGroupID.x : gl_WorkGroupID.x * GROUPS + group) * ROWS;
#else
  const uint row0 = (gl_WorkGroupID.x * GROUPS + group) * ROWS;
#endif
  const uint first = TILE_FIRST, count = TILE_END - first,
             at_w = (gl_WorkGroupID.y * params.depth + first) * TILE_PANEL | lane; // LANES: 2^n
  vec4 sum[ROWS][COLUMNS];
  uint base[ROWS];
  for (uint i = 0; i < ROWS; i++) {
    base[i] = tile_base(min(row0 + i, params.rows - 1)) + first;
    if (VECTOR != 0) base[i] >>= 2;
    for (uint j = 0; j < COLUMNS; j++) sum[i][j] = vec4(0.0);
  }
  // Steps are counted from 0 and places in x from `base`, alike in all invocations: what differs
  // between them takes one addition a step.
  tile_start();
  uint k = 0, beyond = 0; // at_w, vec4 of the weight
  for (; k < (count & ~3u); k += 4) {
    vec4 w[4][COLUMNS];
    for (uint q = 0; q < 4; q++)
      for (uint j = 0; j < COLUMNS; j++)
        w[q][j] = HEED_W4(at_w + beyond + q * TILE_PANEL + j * LANES);
    beyond += 4 * TILE_PANEL;
    uint at[4];
    for (uint q = 0; q < 4; q++)
      if (VECTOR == 0 || q == 0) {
        at[q] = VECTOR != 0 ? tile_at >> 2 : tile_at;
        tile_next(VECTOR != 0 ? 4 : 1);
      }
    for (uint i = 0; i < ROWS; i++) {
      vec4 v;
#ifndef HEED_TEXEL
      if (VECTOR == 0)
        for (uint q = 0; q < 4; q++) v[q] = x[base[i] + at[q]];
      else
#endif
        v = HEED_X4(base[i] + at[0]);
      for (uint j = 0; j < COLUMNS; j++)
#ifdef HEED_TEXEL // software devices have no fma of their own
        sum[i][j] += v.x * w[0][j] + v.y * w[1][j] + v.z * w[2][j] + v.w * w[3][j];
#else
        for (uint q = 0; q < 4; q++) sum[i][j] = fma(vec4(v[q]), w[q][j], sum[i][j]);
#endif
    }
  }
#ifndef HEED_TEXEL
  if (VECTOR == 0)
    for (; k < count; k++) { // what no four divides
      for (uint j = 0; j < COLUMNS; j++) {
        const vec4 w = HEED_W4(at_w + beyond + j * LANES);
        for (uint i = 0; i < ROWS; i++) sum[i][j] = fma(vec4(x[base[i] + tile_at]), w, sum[i][j]);
      }
      beyond += TILE_PANEL;
      tile_next(1);
    }
#endif
#ifdef TILE_SLICES
  if (TILE_SLICES) { // the slices in their order; the first one's invocations go on
    for (uint i = 0; i < ROWS; i++)
      for (uint j = 0; j < COLUMNS; j++) {
        tile_part[gl_LocalInvocationID.x] = sum[i][j];
        barrier();
        if (group == 0)
          for (uint g = 1; g < GROUPS; g++) sum[i][j] += tile_part[g * LANES + lane];
        barrier();
      }
    if (group != 0) return;
  }
#endif
  for (uint i = 0; i < ROWS; i++) base[i] = tile_row_place(row0 + i);
  for (uint j = 0; j < COLUMNS; j++) {
    const uint column =
        ((params.first_panel + gl_WorkGroupID.y) * TILE_PANEL + lane + j * LANES) * 4;
    const vec4 b = HAS_BIAS != 0 ? tile_bias(column) : vec4(0.0);
    const uint place = tile_column_place(column);
    for (uint i = 0; i < ROWS; i++)
      if (row0 + i < params.rows && column < params.columns)
        tile_finish(row0 + i, column, base[i] + place, heed_activate(KIND, sum[i][j] + b));
  }
}
#endif

#endif
