// The sums of attention_matrix.comp, normalised, to memory.
#ifndef HEED_ATTENTION_MATRIX_OUTPUT_GLSL
#define HEED_ATTENTION_MATRIX_OUTPUT_GLSL

// Four columns of matrix n of the result: the e-th four of the strip.
const uint OUT_EACH = (M * N / 4 + LANES - 1) / LANES;
void store_four(uint e, uint n) {
  const uint r = e / (N / 4), d = n * N + e % (N / 4) * 4, row = at_row(r);
  if (r >= M || row_of(r) > last_row || d >= VALUE_DEPTH) return;
  const uint at =
      params.output_origin + (has(HEED_ATTENTION_MERGE)
                                  ? ((batch * params.queries + row) * params.heads + head)
                                  : ((batch * params.heads + head) * params.queries + row)) *
                                 VALUE_DEPTH;
  const vec4 v =
      uintBitsToFloat(strips[strip_at(r) + e % (N / 4)]) * factors[gl_SubgroupID * M + r];
  if (has(HEED_ATTENTION_OUTPUT_HALF)) {
    result_half[(at + d) >> 2] = heed_pack(v);
    return;
  }
  for (uint c = 0; c < 4; c++)
    if (d + c < VALUE_DEPTH) result[at + d + c] = v[c];
}

void store_output() {
  [[unroll]] for (uint i = 0; i < EACH; i++) {
    const bool empty = total[i] == 0.0;
    float scale = ONE_PASS ? (empty ? 0.0 : 1.0 / total[i]) : 1.0 / RAISE;
    // a row may have had no block at all
    if (heed_is_nan(total[i]) || (empty && EMPTY_ROW == 1)) scale = not_a_number();
    put_factor(i, scale);
  }
  [[unroll]] for (uint n = 0; n < V_MATRICES; n++) {
    HEED_SUBGROUP_MEETS();
    coopMatStore(o[row_block * V_MATRICES + n], strips, strip_at(0), STRIP_STRIDE,
                 gl_CooperativeMatrixLayoutRowMajor);
    HEED_SUBGROUP_MEETS();
    [[unroll]] for (uint i = 0; i < OUT_EACH; i++)
        store_four(gl_SubgroupInvocationID + i * LANES, n);
  }
}

#endif
