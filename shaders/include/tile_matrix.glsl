// tile_run of tile.glsl with cooperative matrices: a workgroup makes GROUPS * ROWS * M rows by one
// panel of LANES * COLUMNS * N columns; each of its GROUPS x LANES subgroups holds ROWS x COLUMNS
// sums in registers. STEP values of k at a time lie in shared memory as fp16, converted on the way
// in; the next ones are fetched meanwhile. The epilogue is that of the other tiers: a sum goes
// through a strip of shared memory of its subgroup, from which every invocation takes four columns
// of a row.
// The includer has beside tile.glsl's functions
//   uint tile_element(uint k)   where k lies from the row's beginning, in elements of x
#ifndef HEED_TILE_MATRIX_GLSL
#define HEED_TILE_MATRIX_GLSL

layout(constant_id = 11) const uint M = 16;
layout(constant_id = 12) const uint N = 16;
layout(constant_id = 13) const uint K = 16;
layout(constant_id = 14) const uint SUBGROUP = 32; // invocations of a subgroup
layout(constant_id = 15) const uint STEP = 32;     // a multiple of K

const uint TILE_ROWS = GROUPS * ROWS * M;
const uint TILE_PANEL = LANES * COLUMNS * N / 4; // vec4 a row of a panel
const uint THREADS = LANES * GROUPS * SUBGROUP;
// in f16vec4; 16 bytes more than a row, for the banks
const uint X_STRIDE = STEP / 4 + 2, W_STRIDE = TILE_PANEL + 2;
const uint X_EACH = (TILE_ROWS * STEP / 4 + THREADS - 1) / THREADS,
           W_EACH = (STEP * TILE_PANEL + THREADS - 1) / THREADS;

shared f16vec4 staged_x[TILE_ROWS * X_STRIDE];
shared f16vec4 staged_w[STEP * W_STRIDE];
shared vec4 strip[LANES * GROUPS * M * N / 4];

uint tile_element(uint k);

// Four values of a row from k on, zeros past the last.
vec4 fetch_x(uint row, uint k) {
  const uint base = tile_base(min(row, params.rows - 1));
  vec4 v = vec4(0.0);
  if (VECTOR != 0) {
    if (k < params.depth) v = HEED_X4((base + tile_element(k)) >> 2);
  } else {
    for (uint c = 0; c < 4; c++)
      if (k + c < params.depth) v[c] = x[base + tile_element(k + c)];
  }
  return v;
}

// The sum whose first element is row, column.
void finish_sum(HEED_SUM(M, N) sum, uint row, uint column) {
  const uint base = gl_SubgroupID * M * N / 4;
  coopMatStore(sum, strip, base, N / 4, gl_CooperativeMatrixLayoutRowMajor);
  HEED_SUBGROUP_MEETS();
  for (uint e = gl_SubgroupInvocationID; e < M * N / 4; e += SUBGROUP) {
    const uint r = row + e / (N / 4), c = column + e % (N / 4) * 4;
    if (r < params.rows && c < params.columns) {
      const vec4 b = HAS_BIAS != 0 ? tile_bias(c) : vec4(0.0);
      tile_store(r, c, heed_activate(KIND, strip[base + e] + b));
    }
  }
  HEED_SUBGROUP_MEETS();
}

vec4 next_x[X_EACH];
uvec2 next_w[W_EACH];

void fetch(uint k0) {
  const uint row0 = gl_WorkGroupID.x * TILE_ROWS,
             panel = gl_WorkGroupID.y * params.depth * TILE_PANEL;
  [[unroll]] for (uint i = 0; i < X_EACH; i++) {
    const uint e = min(gl_LocalInvocationID.x + i * THREADS, TILE_ROWS * STEP / 4 - 1);
    next_x[i] = fetch_x(row0 + e / (STEP / 4), k0 + e % (STEP / 4) * 4);
  }
  [[unroll]] for (uint i = 0; i < W_EACH; i++) {
    const uint e = min(gl_LocalInvocationID.x + i * THREADS, STEP * TILE_PANEL - 1),
               k = k0 + e / TILE_PANEL;
    next_w[i] = k < params.depth ? w4[panel + k * TILE_PANEL + e % TILE_PANEL] : uvec2(0);
  }
}

// Threads past the last element write it once more, the same.
void stage() {
  [[unroll]] for (uint i = 0; i < X_EACH; i++) {
    const uint e = min(gl_LocalInvocationID.x + i * THREADS, TILE_ROWS * STEP / 4 - 1);
    staged_x[e / (STEP / 4) * X_STRIDE + e % (STEP / 4)] = f16vec4(next_x[i]);
  }
  [[unroll]] for (uint i = 0; i < W_EACH; i++) {
    const uint e = min(gl_LocalInvocationID.x + i * THREADS, STEP * TILE_PANEL - 1);
    staged_w[e / TILE_PANEL * W_STRIDE + e % TILE_PANEL] =
        f16vec4(unpackFloat2x16(next_w[i].x), unpackFloat2x16(next_w[i].y));
  }
}

void tile_run() {
  const uint down = gl_SubgroupID / LANES, across = gl_SubgroupID % LANES;
  const uint row0 = gl_WorkGroupID.x * TILE_ROWS;
  HEED_SUM(M, N) sum[ROWS * COLUMNS];
  [[unroll]] for (uint i = 0; i < ROWS * COLUMNS; i++) sum[i] = HEED_SUM(M, N)(0.0);
  fetch(0);
  for (uint k0 = 0; k0 < params.depth; k0 += STEP) {
    barrier();
    stage();
    barrier();
    fetch(k0 + STEP);
    [[unroll]] for (uint k = 0; k < STEP; k += K) {
      HEED_FACTOR_A(M, K) a[ROWS];
      [[unroll]] for (uint i = 0; i < ROWS; i++)
          coopMatLoad(a[i], staged_x, (down * ROWS + i) * M * X_STRIDE + k / 4, X_STRIDE,
                      gl_CooperativeMatrixLayoutRowMajor);
      [[unroll]] for (uint j = 0; j < COLUMNS; j++) {
        HEED_FACTOR_B(K, N) b;
        coopMatLoad(b, staged_w, k * W_STRIDE + (across * COLUMNS + j) * N / 4, W_STRIDE,
                    gl_CooperativeMatrixLayoutRowMajor);
        [[unroll]] for (uint i = 0; i < ROWS; i++) sum[i * COLUMNS + j] =
            coopMatMulAdd(a[i], b, sum[i * COLUMNS + j]);
      }
    }
  }
  const uint column0 = (params.first_panel + gl_WorkGroupID.y) * TILE_PANEL * 4;
  [[unroll]] for (uint i = 0; i < ROWS; i++) [[unroll]] for (uint j = 0; j < COLUMNS; j++)
      finish_sum(sum[i * COLUMNS + j], row0 + (down * ROWS + i) * M,
                 column0 + (across * COLUMNS + j) * N);
}

#endif
