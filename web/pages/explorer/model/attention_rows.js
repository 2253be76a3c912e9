/* Rows and columns of kept attention weights [H, N, N] of one layer, row = query, column = key. */

/**
 * @param {Float32Array} weights
 * @param {number} head
 * @param {number} tokens
 * @param {number} token
 */
export function slice(weights, head, tokens, token, reverse = false) {
  const first = head * tokens * tokens
  if (!reverse) return weights.subarray(first + token * tokens, first + (token + 1) * tokens)
  return Float32Array.from({ length: tokens }, (_, row) => weights[first + row * tokens + token])
}
