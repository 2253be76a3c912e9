// After the last block of attention_matrix.comp: what values that fp16 does not hold add, in fp32.
#ifndef HEED_ATTENTION_MATRIX_REPAIR_GLSL
#define HEED_ATTENTION_MATRIX_REPAIR_GLSL

// The part of one output element that the products left out: of the block's values in the range
// that fp16 does not hold. empty: of a row all of whose keys are hidden, so of what is finite.
float repair(uint r, uint d, uint j, bool empty) {
  float sum = 0.0;
  for (uint c = 0; c < BLOCK && j + c < params.keys; c++) {
    const vec4 four =
        V_HALF ? heed_unpack(load_value_half(j + c, d & ~3u)) : load_value(j + c, d & ~3u);
    const float v = four[d & 3u], p = uintBitsToFloat(strips[strip_at(r) + c / 4][c % 4]);
    const bool past = (floatBitsToUint(v) & 0x7FFFFFFFu) >= PAST_HALF;
    if (past && p != HEED_ATTENTION_HIDDEN && !(empty && is_infinite_or_nan(v))) sum += p * v;
  }
  return sum;
}

// One block of repairs. Weights stay in fp32; hidden keys are marked in rows that see any.
void repair_block(uint j) {
  barrier();
  fetch_keys(j);
  stage_keys();
  barrier();
  multiply_keys();
  [[unroll]] for (uint i = 0; i < EACH; i++) {
    read_logits(i, j);
    bvec4 hidden[PART];
    [[unroll]] for (uint p = 0; p < PART; p++) hidden[p] =
        equal(floatBitsToUint(part[p]), uvec4(0xFF800000u));
    weigh(i);
    [[unroll]] for (uint p = 0; p < PART; p++) {
      part[p] = raised(p);
      if (GUARD && total[i] != 0.0) part[p] = mix(part[p], vec4(HEED_ATTENTION_HIDDEN), hidden[p]);
      strips[strip_at(lane_row(i)) + part_column(p) / 4] = floatBitsToUint(part[p]);
    }
  }
  barrier(); // the keys make room for what is added
  for (uint n = 0; n < V_MATRICES; n++) {
    HEED_SUBGROUP_MEETS();
    for (uint e = gl_SubgroupInvocationID; e < M * N; e += LANES) {
      const bool empty = GUARD && factors[gl_SubgroupID * M + e / N] == 0.0;
      staged[(gl_SubgroupID * M * N + e) / 4][e % 4] =
          floatBitsToUint(repair(e / N, n * N + e % N, j, empty));
    }
    HEED_SUBGROUP_MEETS();
    HEED_SUM(M, N) more;
    coopMatLoad(more, staged, gl_SubgroupID * M * N / 4, N / 4, gl_CooperativeMatrixLayoutRowMajor);
    // compilers unroll the loop without loops inside alone: any other index puts o into memory
    [[unroll]] for (uint m = 0; m < V_MATRICES; m++) if (m == n) o[row_block * V_MATRICES + m] +=
        more;
  }
}

void repair_all(uint low) {
  const uint first = first_repair, last = last_repair;
  [[unroll]] for (uint i = 0; i < EACH; i++) put_factor(i, total[i]);
  for (uint number = first; number < last; number++) repair_block(low + number * BLOCK);
}

#endif
