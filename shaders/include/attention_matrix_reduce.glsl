// The passes over the keys of attention_matrix.comp with logits in registers, by
// VK_NV_cooperative_matrix2: it reduces rows of a matrix, calls a function for each element, and
// makes a factor of a sum. A row's statistics stand in all columns of a matrix; its sum of weights
// is added up over the columns after the last block.
#ifndef HEED_ATTENTION_MATRIX_REDUCE_GLSL
#define HEED_ATTENTION_MATRIX_REDUCE_GLSL

HEED_SUM(M, N) most[ROWS], weight_sum[ROWS];

float larger(const in float a, const in float b) { return max(a, b); }
float both(const in float a, const in float b) { return a + b; }
float larger_of(const in uint r, const in uint c, const in float a, const in float b) {
  return max(a, b);
}
float factor_at(const in uint r, const in uint c, const in float old, const in float now) {
  return exp2(old - now);
}
float weight_at(const in uint r, const in uint c, const in float x, const in float now) {
  return exp2(x - (now - RAISED));
}
// Of keys that position hides, and past the last one. row: that of the matrix's first; j: its key.
float hide(const in uint r, const in uint c, const in float x, const in uint row, const in uint j) {
  int low, high;
  row_range(min(row + r, last_row), low, high);
  const int at = int(j + c);
  return at >= low && at < high ? x : minus_infinity();
}

// Products of the queries and the block's keys.
HEED_SUM(M, N) block[ROWS * (BLOCK / N)];

void multiply_block() {
  [[unroll]] for (uint n = 0; n < BLOCK / N; n++) {
    [[unroll]] for (uint b = 0; b < ROWS; b++) block[b * (BLOCK / N) + n] = HEED_SUM(M, N)(0.0);
    [[unroll]] for (uint k = 0; k < Q_MATRICES; k++) {
      HEED_FACTOR_B(K, N) keys;
      coopMatLoad(keys, staged, n * N * K_STRIDE + k * K / 8, K_STRIDE,
                  gl_CooperativeMatrixLayoutColumnMajor);
      [[unroll]] for (uint b = 0; b < ROWS; b++) block[b * (BLOCK / N) + n] =
          coopMatMulAdd(q[b * Q_MATRICES + k], keys, block[b * (BLOCK / N) + n]);
    }
  }
}

// The block's products of rows b become weights relative to the largest logit so far, and the sums
// relative to it.
void weigh_block(uint b, uint j) {
  const uint first = b * (BLOCK / N), row = first_row + (gl_SubgroupID * ROWS + b) * M;
  int low, high, unused;
  row_range(min(row + M - 1, last_row), low, unused);
  row_range(min(row, last_row), unused, high);
  const bool hides = int(j) < low || int(j + BLOCK) > high;
  HEED_SUM(M, N) now;
  [[unroll]] for (uint n = 0; n < BLOCK / N; n++) {
    block[first + n] = block[first + n] * (params.scale * LOG2_E);
    if (hides) coopMatPerElementNV(block[first + n], block[first + n], hide, row, j + n * N);
    if (n == 0)
      now = block[first];
    else
      coopMatPerElementNV(now, now, larger_of, block[first + n]);
  }
  coopMatReduceNV(now, now, gl_CooperativeMatrixReduceRowNV, larger);
  coopMatPerElementNV(now, now, larger_of, most[b]);
  bool grows = false; // else all factors are 1
  [[unroll]] for (uint i = 0; i < now.length(); i++) grows = grows || now[i] != most[b][i];
  if (subgroupAny(grows)) {
    HEED_SUM(M, N) factor;
    coopMatPerElementNV(factor, most[b], factor_at, now);
    most[b] = now;
    weight_sum[b] = weight_sum[b] * factor;
    [[unroll]] for (uint n = 0; n < V_MATRICES; n++) o[b * V_MATRICES + n] =
        o[b * V_MATRICES + n] * factor;
  }
  [[unroll]] for (uint n = 0; n < BLOCK / N; n++) {
    coopMatPerElementNV(block[first + n], block[first + n], weight_at, now);
    weight_sum[b] = weight_sum[b] + block[first + n];
  }
}

void multiply_values() {
  [[unroll]] for (uint k = 0; k < BLOCK / K; k++) {
    HEED_FACTOR_A(M, K) a[ROWS];
    [[unroll]] for (uint b = 0; b < ROWS; b++) a[b] =
        HEED_FACTOR_A(M, K)(block[b * (BLOCK / N) + k]);
    [[unroll]] for (uint n = 0; n < V_MATRICES; n++) {
      HEED_FACTOR_B(K, N) values;
      coopMatLoad(values, staged, K_SIZE + k * K * V_STRIDE + n * N / 8, V_STRIDE,
                  gl_CooperativeMatrixLayoutRowMajor);
      [[unroll]] for (uint b = 0; b < ROWS; b++) o[b * V_MATRICES + n] =
          coopMatMulAdd(a[b], values, o[b * V_MATRICES + n]);
    }
  }
}

void attend(uint low, uint high) {
  [[unroll]] for (uint b = 0; b < ROWS; b++) {
    most[b] = HEED_SUM(M, N)(HEED_LOWEST);
    weight_sum[b] = HEED_SUM(M, N)(0.0);
  }
  fetch_keys(low);
  fetch_values(low);
  for (uint j = low; j < high; j += BLOCK) {
    barrier();
    stage_keys();
    stage_values((j - low) / BLOCK);
    barrier();
    fetch_keys(j + BLOCK);
    fetch_values(j + BLOCK);
    multiply_block();
    [[unroll]] for (uint b = 0; b < ROWS; b++) weigh_block(b, j);
    multiply_values();
  }
}

// Statistics of rows b to the lanes that have them.
void take_rows(uint b) {
  HEED_SUM(M, N) sum;
  coopMatReduceNV(sum, weight_sum[b], gl_CooperativeMatrixReduceRowNV, both);
  HEED_SUBGROUP_MEETS();
  coopMatStore(sum, strips, strip_at(0), STRIP_STRIDE, gl_CooperativeMatrixLayoutRowMajor);
  HEED_SUBGROUP_MEETS();
  [[unroll]] for (uint i = 0; i < EACH; i++) total[i] =
      uintBitsToFloat(strips[strip_at(lane_row(i))].x);
  HEED_SUBGROUP_MEETS();
  coopMatStore(most[b], strips, strip_at(0), STRIP_STRIDE, gl_CooperativeMatrixLayoutRowMajor);
  HEED_SUBGROUP_MEETS();
  [[unroll]] for (uint i = 0; i < EACH; i++) largest[i] =
      uintBitsToFloat(strips[strip_at(lane_row(i))].x);
  HEED_SUBGROUP_MEETS();
}

#endif
