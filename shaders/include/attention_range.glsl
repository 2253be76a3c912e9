// Which keys position allows a query (graph/attention_rule.h). The includer has FLAGS and params
// with queries, keys, offset and the sides of the window, which are kept under queries + keys, so
// that these sums stay in range.
#ifndef HEED_ATTENTION_RANGE_GLSL
#define HEED_ATTENTION_RANGE_GLSL

#include "params/attention_flags.h"

#define has(flag) ((FLAGS & (flag)) != 0)
const bool POSITION =
    (FLAGS & (HEED_ATTENTION_CAUSAL | HEED_ATTENTION_LEFT | HEED_ATTENTION_RIGHT)) != 0;

float minus_infinity() { return uintBitsToFloat(0xFF800000u); }
float not_a_number() { return uintBitsToFloat(0x7FC00000u); }

void row_range(uint i, out int low, out int high) {
  const int at = int(i) + params.offset, keys = int(params.keys);
  low = 0;
  high = keys;
  if (!POSITION) return;
  if (has(HEED_ATTENTION_CAUSAL)) high = min(high, at + 1);
  if (has(HEED_ATTENTION_LEFT)) low = max(low, at - params.window_left);
  if (has(HEED_ATTENTION_RIGHT)) high = min(high, at + params.window_right + 1);
  high = max(high, 0);
  low = min(low, high);
}

uint byte_of(uint word, uint at) { return word >> ((at & 3) * 8) & 0xFFu; }

#endif
