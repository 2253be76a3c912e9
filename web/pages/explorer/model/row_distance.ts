/* How far apart two rows of numbers are. */

/** Jensen-Shannon divergence of two rows (each made to sum to 1) in nats; ln 2 is its largest
 * value. */
export function divergence(a: Float32Array | number[], b: Float32Array | number[]) {
  const sums = ([a, b] as number[][]).map((row) => row.reduce((x, y) => x + y, 0) || 1)
  const half = (p: number, q: number) => (p > 0 ? 0.5 * p * Math.log((2 * p) / (p + q)) : 0)
  return Math.max(
    0,
    (a as number[]).reduce(
      (sum, _, i) =>
        sum + half(a[i] / sums[0], b[i] / sums[1]) + half(b[i] / sums[1], a[i] / sums[0]),
      0
    )
  )
}

export function cosine(a: Float32Array | number[], b: Float32Array | number[]) {
  const dot = (x: Float32Array | number[], y: Float32Array | number[]) =>
    (x as number[]).reduce((sum, value, i) => sum + value * y[i], 0)
  return dot(a, b) / (Math.sqrt(dot(a, a) * dot(b, b)) || 1)
}
