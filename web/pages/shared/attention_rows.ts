/* Rows and columns of kept attention weights [H, N, N] of one layer, row = query, column = key. */

/** All of a head, [N, N]. */
export const mapOf = (weights: Float32Array, head: number, tokens: number) =>
  weights.subarray(head * tokens * tokens, (head + 1) * tokens * tokens)

export function slice(
  weights: Float32Array,
  head: number,
  tokens: number,
  token: number,
  reverse = false
) {
  const first = head * tokens * tokens
  if (!reverse) return weights.subarray(first + token * tokens, first + (token + 1) * tokens)
  return Float32Array.from({ length: tokens }, (_, row) => weights[first + row * tokens + token])
}
