/* Numbers of kept attention weights [H, N, N] of one layer, row = query, column = key; definitions as in heed.h. */

export function slice(weights, head, tokens, token, reverse = false) {
  const first = head * tokens * tokens
  if (!reverse) return weights.subarray(first + token * tokens, first + (token + 1) * tokens)
  return Float32Array.from({ length: tokens }, (_, row) => weights[first + row * tokens + token])
}

/** Mean over heads, added in their order in double precision, so that it is the runtime's own bit for bit. */
export function layerMean(weights, heads, tokens, token, reverse) {
  const rows = Array.from({ length: heads }, (_, head) => slice(weights, head, tokens, token, reverse))
  return Float32Array.from({ length: tokens }, (_, i) => rows.reduce((sum, row) => sum + row[i], 0) / heads)
}

/** Shannon entropy in nats, 0 log 0 = 0. */
export const entropy = (row) => row.reduce((sum, weight) => (weight > 0 ? sum - weight * Math.log(weight) : sum), 0)

export function softmax(logits) {
  const largest = Math.max(...logits), powers = Array.from(logits, (logit) => Math.exp(logit - largest))
  const sum = powers.reduce((a, b) => a + b, 0)
  return powers.map((power) => power / sum)
}

/** Jensen-Shannon divergence of two rows (each made to sum to 1) in nats; ln 2 is its largest value. */
export function divergence(a, b) {
  const sums = [a, b].map((row) => row.reduce((x, y) => x + y, 0) || 1)
  const half = (p, q) => (p > 0 ? 0.5 * p * Math.log((2 * p) / (p + q)) : 0)
  return Math.max(0, a.reduce((sum, _, i) => sum + half(a[i] / sums[0], b[i] / sums[1]) + half(b[i] / sums[1], a[i] / sums[0]), 0))
}

export function cosine(a, b) {
  const dot = (x, y) => x.reduce((sum, value, i) => sum + value * y[i], 0)
  return dot(a, b) / (Math.sqrt(dot(a, a) * dot(b, b)) || 1)
}
