// A lane's part of a row of attention_matrix.comp: from products to logits, statistics, weights and
// maps, and as fp16 back into the strip.
#ifndef HEED_ATTENTION_MATRIX_WEIGHTS_GLSL
#define HEED_ATTENTION_MATRIX_WEIGHTS_GLSL

// The lane's part of its row i, from products to logits, for keys from j on.
void read_logits(uint i, uint j) {
  const uint r = lane_row(i);
  [[unroll]] for (uint p = 0; p < PART; p++) part[p] =
      uintBitsToFloat(strips[strip_at(r) + part_column(p) / 4]);
  if (PLAIN) {
    [[unroll]] for (uint p = 0; p < PART; p++) part[p] *= params.scale * LOG2_E;
    int low, high;
    row_range(query_of(r), low, high);
    if ((POSITION && int(j) < low) || int(j + BLOCK) > high) [[unroll]]
      for (uint p = 0; p < PART; p++) {
        const ivec4 at = int(j + part_column(p)) + ivec4(0, 1, 2, 3);
        if (POSITION) part[p] = mix(part[p], vec4(minus_infinity()), lessThan(at, ivec4(low)));
        part[p] = mix(part[p], vec4(minus_infinity()), greaterThanEqual(at, ivec4(high)));
      }
    return;
  }
  const uint row = query_of(r);
  [[unroll]] for (uint p = 0; p < PART; p++) [[unroll]] for (uint c = 0; c < 4; c++) part[p][c] =
      finish(part[p][c], row, j + part_column(p) + c);
}

// Maximum and sum of row i of this lane with its part; the part becomes weights relative to the
// maximum. Returns what the old sum was multiplied by.
float take_statistics(uint i) {
  vec4 most = part[0];
  [[unroll]] for (uint p = 1; p < PART; p++) most = max(most, part[p]);
  const float now = max(largest[i], row_max(max(max(most.x, most.y), max(most.z, most.w))));
  const float factor = factor_of(largest[i], now);
  vec4 sum = vec4(0.0);
  [[unroll]] for (uint p = 0; p < PART; p++) {
    part[p] = weight_of(part[p], now);
    sum += part[p];
  }
  largest[i] = now;
  total[i] = total[i] * factor + row_sum((sum.x + sum.y) + (sum.z + sum.w));
  return factor;
}

// The part becomes the weights of row i, which have been counted before.
void weigh(uint i) {
  if (total[i] == 0.0) {
    const float fill = EMPTY_ROW == 1   ? not_a_number()
                       : EMPTY_ROW == 2 ? 1.0 / float(params.keys)
                                        : 0.0;
    [[unroll]] for (uint p = 0; p < PART; p++) part[p] = vec4(fill);
    return;
  }
  const float scale = ONE_PASS ? 1.0 : 1.0 / total[i];
  [[unroll]] for (uint p = 0; p < PART; p++) part[p] = weight_of(part[p], largest[i]) * scale;
}

// Weights of keys past the last one are 0, also where a row without keys has all the same.
void end_row(uint j) {
  if (j + BLOCK <= params.keys) return;
  [[unroll]] for (uint p = 0; p < PART; p++) {
    const uvec4 at = j + part_column(p) + uvec4(0, 1, 2, 3);
    part[p] = mix(part[p], vec4(0.0), greaterThanEqual(at, uvec4(params.keys)));
  }
}

void store_part(uint i, uint j, bool is_logits) {
  const uint r = lane_row(i);
  const uint at = ((batch * params.heads + head) * params.rows + at_row(r)) * params.keys;
  if (row_of(r) > last_row) return;
  [[unroll]] for (uint p = 0; p < PART; p++) [[unroll]] for (uint c = 0; c < 4; c++) {
    const uint key = j + part_column(p) + c;
    if (key >= params.keys) continue;
    if (is_logits)
      logits[params.logits_origin + at + key] = part[p][c];
    else
      weights[params.weights_origin + at + key] = part[p][c];
  }
}

// Normalised weights are raised here.
vec4 raised(uint p) { return ONE_PASS ? part[p] : part[p] * RAISE; }

// The part as fp16 into the strip, where the products were.
void put_weights(uint i) {
  HEED_SUBGROUP_MEETS(); // which all lanes of the row have read
  [[unroll]] for (uint p = 0; p < PART; p += 2) strips[strip_at(lane_row(i)) + part_column(p) / 8] =
      uvec4(pack_half(raised(p)), pack_half(raised(p + 1)));
}

#endif
