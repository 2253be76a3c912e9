// From the product of a query and a key to its logit: scale, softcap, bias; -Inf where the pair is
// not allowed, the bias -Inf or past the last key.
// The includer has FLAGS, batch and head, params, and the buffers mask, key_padding, query_padding
// (by words) and bias.
#ifndef HEED_ATTENTION_LOGIT_GLSL
#define HEED_ATTENTION_LOGIT_GLSL

bool allowed(uint row, uint j) {
  bool may = j < params.keys;
  const uint at_key = min(j, params.keys - 1);
  if (POSITION) {
    int low, high;
    row_range(row, low, high);
    may = may && int(j) >= low && int(j) < high;
  }
  if (has(HEED_ATTENTION_QUERY_PADDING)) {
    const uint at = params.query_padding_origin + batch * params.queries + row;
    may = may && byte_of(query_padding[at >> 2], at) != 0;
  }
  if (has(HEED_ATTENTION_KEY_PADDING)) {
    const uint at = params.key_padding_origin + batch * params.keys + at_key;
    may = may && byte_of(key_padding[at >> 2], at) != 0;
  }
  if (has(HEED_ATTENTION_MASK)) {
    const uint at = params.mask_origin + batch * params.mask_stride[0] +
                    head * params.mask_stride[1] + row * params.mask_stride[2] +
                    at_key * params.mask_stride[3];
    may = may && byte_of(mask[at >> 2], at) != 0;
  }
  return may;
}

// Logit of a query and a key from their product.
float finish(float product, uint row, uint j) {
  float v = product * params.scale;
  if (has(HEED_ATTENTION_SOFTCAP))
    v = heed_is_nan(v) ? v : params.softcap * heed_tanh(v / params.softcap);
  bool may = allowed(row, j);
  if (has(HEED_ATTENTION_BIAS)) {
    const float add =
        bias[params.bias_origin + batch * params.bias_stride[0] + head * params.bias_stride[1] +
             row * params.bias_stride[2] + min(j, params.keys - 1) * params.bias_stride[3]];
    v += add;
    may = may && !heed_is_minus_infinity(add);
  }
  return may ? v : minus_infinity();
}

#endif
