/* How far apart two rows of numbers are. */

/**
 * Jensen-Shannon divergence of two rows (each made to sum to 1) in nats; ln 2 is its largest
 * value.
 * @param {Float32Array | number[]} a
 * @param {Float32Array | number[]} b
 */
export function divergence(a, b) {
  const sums = /** @type {number[][]} */ ([a, b]).map((row) => row.reduce((x, y) => x + y, 0) || 1)
  /**
   * @param {number} p
   * @param {number} q
   */
  const half = (p, q) => (p > 0 ? 0.5 * p * Math.log((2 * p) / (p + q)) : 0)
  return Math.max(
    0,
    /** @type {number[]} */ (a).reduce(
      (sum, _, i) =>
        sum + half(a[i] / sums[0], b[i] / sums[1]) + half(b[i] / sums[1], a[i] / sums[0]),
      0
    )
  )
}

/**
 * @param {Float32Array | number[]} a
 * @param {Float32Array | number[]} b
 */
export function cosine(a, b) {
  /**
   * @param {Float32Array | number[]} x
   * @param {Float32Array | number[]} y
   */
  const dot = (x, y) => /** @type {number[]} */ (x).reduce((sum, value, i) => sum + value * y[i], 0)
  return dot(a, b) / (Math.sqrt(dot(a, a) * dot(b, b)) || 1)
}
