// What attention_matrix.comp puts into shared memory as fp16: queries once, keys and values of a
// block in two steps, so that a block is fetched while the one before is multiplied.
#ifndef HEED_ATTENTION_MATRIX_STAGE_GLSL
#define HEED_ATTENTION_MATRIX_STAGE_GLSL

vec4 load_query(uint at, uint d) {
  vec4 v = vec4(0.0);
  if (has(HEED_ATTENTION_QUERY_HALF)) return d < DEPTH ? heed_unpack(query_half[(at + d) >> 2]) : v;
  for (uint c = 0; c < 4; c++)
    if (d + c < DEPTH) v[c] = query[at + d + c];
  return v;
}

uint key_slice() {
  return (batch * params.key_heads + head / (params.heads / params.key_heads)) * params.keys;
}

// Four elements from d on of a key, or of the last one; zeros past the depth.
vec4 load_key(uint j, uint d) {
  const uint at = params.key_origin + (key_slice() + min(j, params.keys - 1)) * DEPTH + d;
  vec4 v = vec4(0.0);
  if (DEPTH != Q_DEPTH && d >= DEPTH) return v;
  if (has(HEED_ATTENTION_VECTOR)) return key4[at >> 2];
  for (uint c = 0; c < 4; c++)
    if (d + c < DEPTH) v[c] = key[at + c];
  return v;
}
uvec2 load_key_half(uint j, uint d) {
  const uint at = params.key_origin + (key_slice() + min(j, params.keys - 1)) * DEPTH + d;
  return DEPTH == Q_DEPTH || d < DEPTH ? key_half[at >> 2] : uvec2(0);
}

vec4 load_value(uint j, uint d) {
  const uint at = params.value_origin + (key_slice() + min(j, params.keys - 1)) * VALUE_DEPTH + d;
  vec4 v = vec4(0.0);
  if (VALUE_DEPTH != V_DEPTH && d >= VALUE_DEPTH) return v;
  if (has(HEED_ATTENTION_VECTOR)) return value4[at >> 2];
  for (uint c = 0; c < 4; c++)
    if (d + c < VALUE_DEPTH) v[c] = value[at + c];
  return v;
}
uvec2 load_value_half(uint j, uint d) {
  const uint at = params.value_origin + (key_slice() + min(j, params.keys - 1)) * VALUE_DEPTH + d;
  return VALUE_DEPTH == V_DEPTH || d < VALUE_DEPTH ? value_half[at >> 2] : uvec2(0);
}

const uint PAST_HALF = 0x477FF000u; // bits of 65520, which is Inf in fp16

// Finite values that fp16 does not hold are counted.
void count_past(vec4 v) {
  const uvec4 size = floatBitsToUint(v) & 0x7FFFFFFFu;
  if (max(max(size.x, size.y), max(size.z, size.w)) >= PAST_HALF) heed_past_fp16(size);
}

uvec2 pack_half(vec4 v) {
  return uvec2(packFloat2x16(f16vec2(v.xy)), packFloat2x16(f16vec2(v.zw)));
}

void stage_queries() {
  for (uint e = gl_LocalInvocationID.x; e < SUBGROUPS * ROWS * M * Q_DEPTH / 8; e += THREADS) {
    const uint r = e / (Q_DEPTH / 8), d = e % (Q_DEPTH / 8), entry = min(first_row + r, last_row);
    const uint row = has(HEED_ATTENTION_ROWS) ? rows[params.rows_origin + entry] : entry;
    const uint at =
        params.query_origin + ((batch * params.heads + head) * params.queries + row) * DEPTH;
    const vec4 low = load_query(at, d * 8), high = load_query(at, d * 8 + 4);
    if (!has(HEED_ATTENTION_QUERY_HALF)) {
      count_past(low);
      count_past(high);
    }
    staged[r * K_STRIDE + d] = uvec4(pack_half(low), pack_half(high));
  }
}

void fetch_keys(uint j) {
  [[unroll]] for (uint i = 0; i < K_EACH; i++) {
    const uint e = min(gl_LocalInvocationID.x + i * THREADS, K_COUNT - 1), row = e / (Q_DEPTH / 8),
               d = e % (Q_DEPTH / 8) * 8;
    if (K_HALF) {
      next_key[i] = uvec4(load_key_half(j + row, d), load_key_half(j + row, d + 4));
    } else {
      next_key[2 * i] = floatBitsToUint(load_key(j + row, d));
      next_key[2 * i + 1] = floatBitsToUint(load_key(j + row, d + 4));
    }
  }
}

// Threads past the last element have nothing to stage.
bool is_inside(uint i, uint count) {
  return (i + 1) * THREADS <= count || gl_LocalInvocationID.x + i * THREADS < count;
}

void stage_keys() {
  [[unroll]] for (uint i = 0; i < K_EACH; i++) {
    const uint e = gl_LocalInvocationID.x + i * THREADS;
    if (!is_inside(i, K_COUNT)) continue;
    uvec4 eight = next_key[K_HALF ? i : 2 * i];
    if (!K_HALF) {
      const uvec4 more = next_key[2 * i + 1], size = max(eight & 0x7FFFFFFFu, more & 0x7FFFFFFFu);
      if (max(max(size.x, size.y), max(size.z, size.w)) >= PAST_HALF) {
        heed_past_fp16(eight & 0x7FFFFFFFu);
        heed_past_fp16(more & 0x7FFFFFFFu);
      }
      eight = uvec4(pack_half(uintBitsToFloat(eight)), pack_half(uintBitsToFloat(more)));
    }
    staged[e / (Q_DEPTH / 8) * K_STRIDE + e % (Q_DEPTH / 8)] = eight;
  }
}

// Exponents of two fp16 in a word that are all ones; a bit 15 or 31 for each.
uvec4 past_half(uvec4 words) { return ((words & 0x7C007C00u) + 0x04000400u) & 0x80008000u; }

#ifdef HEED_REDUCE
void fetch_values(uint j) {
  [[unroll]] for (uint i = 0; i < V_EACH; i++) {
    const uint e = min(gl_LocalInvocationID.x + i * THREADS, V_COUNT - 1), row = e / (V_DEPTH / 8),
               d = e % (V_DEPTH / 8) * 8;
    if (V_HALF) {
      next_value[i] = uvec4(load_value_half(j + row, d), load_value_half(j + row, d + 4));
    } else {
      next_value[2 * i] = floatBitsToUint(load_value(j + row, d));
      next_value[2 * i + 1] = floatBitsToUint(load_value(j + row, d + 4));
    }
  }
}

// Four values in fp32 with 0 for those that fp16 does not hold.
uvec2 pack_held(uvec4 bits) {
  return pack_half(
      uintBitsToFloat(mix(uvec4(0), bits, lessThan(bits & 0x7FFFFFFFu, uvec4(PAST_HALF)))));
}

// The i-th eight as fp16. Those that it does not hold become 0; returns whether there was none.
bool pack_values(uint i, out uvec4 eight) {
  if (V_HALF) {
    eight = next_value[i];
    const uvec4 past = past_half(eight);
    if ((past.x | past.y | past.z | past.w) == 0) return true;
    eight &= ~((past >> 15) * 0xFFFFu);
    return false;
  }
  const uvec4 low = next_value[2 * i], high = next_value[2 * i + 1],
              most = max(low & 0x7FFFFFFFu, high & 0x7FFFFFFFu);
  if (max(max(most.x, most.y), max(most.z, most.w)) < PAST_HALF) {
    eight = uvec4(pack_half(uintBitsToFloat(low)), pack_half(uintBitsToFloat(high)));
    return true;
  }
  eight = uvec4(pack_held(low), pack_held(high));
  return false;
}

void stage_values(uint number) {
  [[unroll]] for (uint i = 0; i < V_EACH; i++) {
    if (!is_inside(i, V_COUNT)) continue;
    const uint e = gl_LocalInvocationID.x + i * THREADS;
    uvec4 eight;
    if (!pack_values(i, eight)) {
      atomicMin(first_repair, number);
      atomicMax(last_repair, number + 1);
    }
    staged[K_SIZE + e / (V_DEPTH / 8) * V_STRIDE + e % (V_DEPTH / 8)] = eight;
  }
}
#else
// Keys and depths of a thread's i-th values: fours of neighbouring keys lie side by side.
uint value_key(uint e) { return e % (BLOCK / 4) * 4; }
uint value_depth(uint e) { return e / (BLOCK / 4) * 4; }

void fetch_values(uint j) {
  [[unroll]] for (uint i = 0; i < V_EACH; i++) {
    const uint e = min(gl_LocalInvocationID.x + i * THREADS, V_COUNT - 1), row = j + value_key(e),
               d = value_depth(e);
    if (V_HALF) {
      next_value[2 * i] = uvec4(load_value_half(row, d), load_value_half(row + 1, d));
      next_value[2 * i + 1] = uvec4(load_value_half(row + 2, d), load_value_half(row + 3, d));
    } else {
      [[unroll]] for (uint c = 0; c < 4; c++) next_value[4 * i + c] =
          floatBitsToUint(load_value(row + c, d));
    }
  }
}

// Four keys of a depth as fp16: component c of each of the fours.
uvec2 turn_low(uint a, uint b, uint c, uint d) {
  return uvec2(packFloat2x16(f16vec2(unpackFloat2x16(a).x, unpackFloat2x16(b).x)),
               packFloat2x16(f16vec2(unpackFloat2x16(c).x, unpackFloat2x16(d).x)));
}
uvec2 turn_high(uint a, uint b, uint c, uint d) {
  return uvec2(packFloat2x16(f16vec2(unpackFloat2x16(a).y, unpackFloat2x16(b).y)),
               packFloat2x16(f16vec2(unpackFloat2x16(c).y, unpackFloat2x16(d).y)));
}

void put_values(uint key, uint d, uvec2 four) {
  const uint at = K_SIZE + d * V_STRIDE + key / 8, word = key % 8 / 2;
  staged[at][word] = four.x;
  staged[at][word + 1] = four.y;
}

// The i-th 4 x 4 values as fp16, of four keys one after the other. Those that it does not hold
// become 0; returns whether there was none.
bool pack_values(uint i, out uvec4 ab, out uvec4 cd) {
  if (V_HALF) {
    ab = next_value[2 * i];
    cd = next_value[2 * i + 1];
    const uvec4 past = past_half(ab) | past_half(cd);
    if ((past.x | past.y | past.z | past.w) == 0) return true;
    ab &= ~((past_half(ab) >> 15) * 0xFFFFu);
    cd &= ~((past_half(cd) >> 15) * 0xFFFFu);
    return false;
  }
  uvec4 most = uvec4(0);
  [[unroll]] for (uint c = 0; c < 4; c++) most = max(most, next_value[4 * i + c] & 0x7FFFFFFFu);
  const bool fits = max(max(most.x, most.y), max(most.z, most.w)) < PAST_HALF;
  vec4 v[4];
  [[unroll]] for (uint c = 0; c < 4; c++) {
    const uvec4 bits = next_value[4 * i + c];
    v[c] = uintBitsToFloat(
        fits ? bits : mix(uvec4(0), bits, lessThan(bits & 0x7FFFFFFFu, uvec4(PAST_HALF))));
  }
  ab = uvec4(pack_half(v[0]), pack_half(v[1]));
  cd = uvec4(pack_half(v[2]), pack_half(v[3]));
  return fits;
}

void stage_values(uint number) {
  [[unroll]] for (uint i = 0; i < V_EACH; i++) {
    if (is_inside(i, V_COUNT)) {
      const uint e = gl_LocalInvocationID.x + i * THREADS, row = value_key(e), d = value_depth(e);
      uvec4 ab, cd;
      if (!pack_values(i, ab, cd)) {
        atomicMin(first_repair, number);
        atomicMax(last_repair, number + 1);
      }
      put_values(row, d, turn_low(ab.x, ab.z, cd.x, cd.z));
      put_values(row, d + 1, turn_high(ab.x, ab.z, cd.x, cd.z));
      put_values(row, d + 2, turn_low(ab.y, ab.w, cd.y, cd.w));
      put_values(row, d + 3, turn_high(ab.y, ab.w, cd.y, cd.w));
    }
  }
}
#endif

#endif
