// tile_run of tile.glsl with cooperative matrices: a workgroup makes GROUPS * ROWS * M rows by one
// panel of LANES * COLUMNS * N columns; each of its GROUPS x LANES subgroups holds ROWS x COLUMNS
// sums in registers. STEP values of k at a time lie in shared memory as fp16, k innermost for both
// factors; the next ones are fetched meanwhile. A panel has eight values of k of a column side by
// side: [K / 8][columns][8], zeros past the last k. The epilogue is that of the other tiers: a sum
// goes through a strip of shared memory of its subgroup, from which every invocation takes four
// columns of a row.
// The includer has beside tile.glsl's functions
//   uint tile_element(uint k)   where k lies from the row's beginning, in elements of x
#ifndef HEED_TILE_MATRIX_GLSL
#define HEED_TILE_MATRIX_GLSL

layout(constant_id = 11) const uint M = 16;
layout(constant_id = 12) const uint N = 16;
layout(constant_id = 13) const uint K = 16;
layout(constant_id = 14) const uint SUBGROUP = 32; // invocations of a subgroup
layout(constant_id = 15) const uint STEP = 32;     // a multiple of K
layout(constant_id = 16) const uint WHOLE = 0;     // the depth is a multiple of STEP

const uint TILE_ROWS = GROUPS * ROWS * M, TILE_COLUMNS = LANES * COLUMNS * N;
const uint THREADS = LANES * GROUPS * SUBGROUP;
// Shared memory is read and written by 16 bytes: eight values of k, sixteen of int8, or four of a
// sum. A row has 16 bytes more, for the banks.
#ifdef HEED_INT8
const uint UNIT = K < 16 ? K : 16;
#else
const uint UNIT = 8;
#endif
const uint UNITS = STEP / UNIT, STRIDE = UNITS + 1, STRIP_STRIDE = N / 4 + 1;
const uint STAGED = (TILE_ROWS + TILE_COLUMNS) * STRIDE, STRIPS = LANES * GROUPS * M * STRIP_STRIDE;
const uint X_COUNT = TILE_ROWS * UNITS, W_COUNT = TILE_COLUMNS * UNITS;
const uint X_EACH = (X_COUNT + THREADS - 1) / THREADS, W_EACH = (W_COUNT + THREADS - 1) / THREADS;
const bool X_HALF = VECTOR == 2 || VECTOR == 3;

// rows of x, then columns of W; strips of sums after the last step
shared uvec4 staged[STAGED > STRIPS ? STAGED : STRIPS];

uint tile_element(uint k);

// Threads past the last element take it once more, the same.
uint x_of(uint i) { return min(gl_LocalInvocationID.x + i * THREADS, X_COUNT - 1); }
uint w_of(uint i) { return min(gl_LocalInvocationID.x + i * THREADS, W_COUNT - 1); }

#ifdef HEED_INT8
#include "include/tile_matrix_int8.glsl"
#else
// Of the next step: x as it is in memory where that is fp32; both as they are staged. A value that
// is converted after the products has no register of its own beside the one it is kept in.
uvec4 loaded_x[X_HALF ? 1 : 2 * X_EACH], next_x[X_EACH], next_w[W_EACH];

// Four values of a row from k on, or from the last four on: loads without a branch are under way
// while the step before is multiplied. Zeros past the last where x is read one by one.
uint last_four(uint k) { return WHOLE != 0 ? k : min(k, params.depth - 4); }
vec4 fetch_four(uint base, uint k) {
  vec4 v = vec4(0.0);
  if (VECTOR != 0) return x4[(base + tile_element(last_four(k))) >> 2];
  for (uint c = 0; c < 4; c++)
    if (k + c < params.depth) v[c] = x[base + tile_element(k + c)];
  return v;
}
uvec2 fetch_half(uint base, uint k) { return x_half[(base + tile_element(last_four(k))) >> 2]; }

// The last eight of a row stands for those past it.
uint last_eight(uint k) { return WHOLE != 0 ? k : min(k, params.depth - 8); }

void fetch(uint k0) {
  const uint row0 = gl_WorkGroupID.x * TILE_ROWS, eights = (params.depth + 7) / 8;
  [[unroll]] for (uint i = 0; i < X_EACH; i++) {
    const uint base = tile_base(min(row0 + x_of(i) / UNITS, params.rows - 1)),
               k = k0 + x_of(i) % UNITS * 8;
    if (VECTOR == 3) {
      next_x[i] = x8[(base + tile_element(last_eight(k))) >> 3];
    } else if (X_HALF) {
      next_x[i] = uvec4(fetch_half(base, k), fetch_half(base, k + 4));
    } else if (VECTOR == 4) {
      const uint at = (base + tile_element(last_eight(k))) >> 2;
      loaded_x[2 * i] = floatBitsToUint(x4[at]);
      loaded_x[2 * i + 1] = floatBitsToUint(x4[at + 1]);
    } else {
      loaded_x[2 * i] = floatBitsToUint(fetch_four(base, k));
      loaded_x[2 * i + 1] = floatBitsToUint(fetch_four(base, k + 4));
    }
  }
  [[unroll]] for (uint i = 0; i < W_EACH; i++) {
    const uint eight = k0 / 8 + w_of(i) / TILE_COLUMNS,
               k = WHOLE != 0 ? eight : min(eight, eights - 1);
    next_w[i] = w8[(gl_WorkGroupID.y * eights + k) * TILE_COLUMNS + w_of(i) % TILE_COLUMNS];
  }
}

uvec2 pack_half(uvec4 bits) {
  const vec4 v = uintBitsToFloat(bits);
  return uvec2(packFloat2x16(f16vec2(v.xy)), packFloat2x16(f16vec2(v.zw)));
}

// What was fetched for the step from k0 on as it is staged: in fp16, zeros past the depth.
void settle(uint k0) {
  const bool ends = WHOLE == 0 && k0 + STEP > params.depth;
  [[unroll]] for (uint i = 0; i < X_EACH; i++) {
    if (!X_HALF) next_x[i] = uvec4(pack_half(loaded_x[2 * i]), pack_half(loaded_x[2 * i + 1]));
    const uint k = k0 + x_of(i) % UNITS * 8;
    const bool first = k < params.depth, second = k + 4 < params.depth;
    if (ends) next_x[i] = mix(uvec4(0), next_x[i], bvec4(first, first, second, second));
  }
  [[unroll]] for (uint i = 0; i < W_EACH; i++) if (ends) next_w[i] =
      mix(uvec4(0), next_w[i], bvec4(k0 + w_of(i) / TILE_COLUMNS * 8 < params.depth));
}
#endif

void stage() {
  [[unroll]] for (uint i = 0; i < X_EACH; i++) staged[x_of(i) / UNITS * STRIDE + x_of(i) % UNITS] =
      next_x[i];
  [[unroll]] for (uint i = 0; i < W_EACH; i++)
      staged[(TILE_ROWS + w_of(i) % TILE_COLUMNS) * STRIDE + w_of(i) / TILE_COLUMNS] = next_w[i];
}

HEED_SUM(M, N) sum[ROWS * COLUMNS];

// One step: what is staged.
void multiply(uint down, uint across) {
  [[unroll]] for (uint k = 0; k < STEP; k += K) {
    HEED_FACTOR_A(M, K) a[ROWS];
    [[unroll]] for (uint i = 0; i < ROWS; i++)
        coopMatLoad(a[i], staged, (down * ROWS + i) * M * STRIDE + k / UNIT, STRIDE,
                    gl_CooperativeMatrixLayoutRowMajor);
    [[unroll]] for (uint j = 0; j < COLUMNS; j++) {
      HEED_FACTOR_B(K, N) b;
      coopMatLoad(b, staged, (TILE_ROWS + (across * COLUMNS + j) * N) * STRIDE + k / UNIT, STRIDE,
                  gl_CooperativeMatrixLayoutColumnMajor);
      [[unroll]] for (uint i = 0; i < ROWS; i++) sum[i * COLUMNS + j] =
          coopMatMulAdd(a[i], b, sum[i * COLUMNS + j]);
    }
  }
}

// What an invocation takes of each sum: EACH times four columns of a row. Where they lie in y is
// divided out once for all sums.
const uint EACH = (M * N / 4 + SUBGROUP - 1) / SUBGROUP;
uint lane_row(uint e) { return (gl_SubgroupInvocationID + e * SUBGROUP) / (N / 4); }
uint lane_column() { return gl_SubgroupInvocationID % (N / 4) * 4; }

#ifndef HEED_INT8
// Counts the finite values of a row of x that fp16 does not hold: of a row whose sum is no number,
// since they have become Inf.
void count_past(uint row) {
  const uint base = tile_base(min(row, params.rows - 1));
  uint past = 0;
  for (uint k = TILE_FIRST; k < TILE_END; k++) {
    const uint size = floatBitsToUint(x[base + tile_element(k)]) & 0x7FFFFFFFu;
    past += size >= 0x477FF000u && size < 0x7F800000u ? 1 : 0;
  }
  if (past != 0) atomicAdd(past_fp16, past);
}
bool is_number(float v) { return (floatBitsToUint(v) & 0x7F800000u) != 0x7F800000u; }
#endif

void finish(uint row0, uint column0) {
  uint rows[ROWS * EACH];
  [[unroll]] for (uint i = 0; i < ROWS; i++) [[unroll]] for (uint e = 0; e < EACH; e++)
      rows[i * EACH + e] = tile_row_place(row0 + i * M + lane_row(e));
  const uint strip = gl_SubgroupID * M * STRIP_STRIDE;
#ifndef HEED_INT8
  uint lost = 0; // rows whose first column is no number, a bit each
#endif
  [[unroll]] for (uint j = 0; j < COLUMNS; j++) {
    const uint column = column0 + j * N + lane_column(), place = tile_column_place(column);
    const vec4 b = HAS_BIAS != 0 ? tile_bias(column) : vec4(0.0);
#ifdef HEED_INT8
    const vec4 scales = heed_column_scales(column);
    const ivec4 totals = tile_totals(column);
#endif
    [[unroll]] for (uint i = 0; i < ROWS; i++) {
      HEED_SUBGROUP_MEETS();
      coopMatStore(sum[i * COLUMNS + j], staged, strip, STRIP_STRIDE,
                   gl_CooperativeMatrixLayoutRowMajor);
      HEED_SUBGROUP_MEETS();
      [[unroll]] for (uint e = 0; e < EACH; e++) {
        const uint r = lane_row(e), row = row0 + i * M + r;
        if (r >= M || row >= params.rows || column >= params.columns) continue;
        const uvec4 bits = staged[strip + r * STRIP_STRIDE + lane_column() / 4];
#ifdef HEED_INT8
        precise const vec4 y =
            heed_widen(row, scales, vec4(heed_without_zero(row, totals, ivec4(bits)))) + b;
        const vec4 v = heed_activate(KIND, y);
#else
        const vec4 sums = uintBitsToFloat(bits), v = heed_activate(KIND, sums + b);
        if (!X_HALF && j == 0 && column == 0 && !is_number(sums.x)) lost |= 1u << (i * EACH + e);
#endif
        tile_finish(row, column, rows[i * EACH + e] + place, v);
      }
    }
  }
#ifndef HEED_INT8
  if (X_HALF || lost == 0) return;
  for (uint n = 0; n < ROWS * EACH; n++)
    if ((lost >> n & 1u) != 0) count_past(row0 + n / EACH * M + lane_row(n % EACH));
#endif
}

void tile_run() {
  const uint down = gl_SubgroupID / LANES, across = gl_SubgroupID % LANES;
  [[unroll]] for (uint i = 0; i < ROWS * COLUMNS; i++) sum[i] = HEED_SUM(M, N)(0);
  fetch(TILE_FIRST);
  settle(TILE_FIRST);
  for (uint k0 = TILE_FIRST; k0 < TILE_END; k0 += STEP) {
    barrier();
    stage();
    barrier();
    fetch(WHOLE != 0 ? min(k0 + STEP, params.depth - STEP) : k0 + STEP);
    multiply(down, across);
    settle(k0 + STEP);
  }
  barrier();
  finish(gl_WorkGroupID.x * TILE_ROWS + down * ROWS * M,
         (params.first_panel + gl_WorkGroupID.y) * TILE_COLUMNS + across * COLUMNS * N);
}

#endif
