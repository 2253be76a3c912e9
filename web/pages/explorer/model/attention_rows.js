/* Numbers of kept attention weights [H, N, N] of one layer, row = query, column = key; definitions
 * as in heed.h. */

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

/**
 * Mean over heads, added in their order in double precision, so that it is the runtime's own bit
 * for bit.
 * @param {Float32Array} weights
 * @param {number} heads
 * @param {number} tokens
 * @param {number} token
 * @param {boolean} reverse
 */
export function layerMean(weights, heads, tokens, token, reverse) {
  const rows = Array.from({ length: heads }, (_, head) =>
    slice(weights, head, tokens, token, reverse)
  )
  return Float32Array.from(
    { length: tokens },
    (_, i) => rows.reduce((sum, row) => sum + row[i], 0) / heads
  )
}

/**
 * Shannon entropy in nats, 0 log 0 = 0.
 * @param {Float32Array} row
 */
export const entropy = (row) =>
  row.reduce((sum, weight) => (weight > 0 ? sum - weight * Math.log(weight) : sum), 0)

/**
 * @param {ArrayLike<number>} logits
 * @returns {number[]}
 */
export function softmax(logits) {
  const largest = Math.max(.../** @type {number[]} */ (logits)),
    powers = Array.from(logits, (logit) => Math.exp(logit - largest))
  const sum = powers.reduce((a, b) => a + b, 0)
  return powers.map((power) => power / sum)
}
