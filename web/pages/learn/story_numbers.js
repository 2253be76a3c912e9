/* The arithmetic of the story, in double: what the page computes beside the runtime. */

/**
 * A state after the norm that stands before queries, keys and values.
 * @param {ArrayLike<number>} state [C]
 * @param {ArrayLike<number>} weight [C]
 * @param {ArrayLike<number>} bias [C]
 */
export function layerNorm(state, weight, bias, epsilon = 1e-12) {
  const values = Array.from(state),
    mean = values.reduce((sum, value) => sum + value, 0) / values.length,
    variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length
  return values.map(
    (value, i) => ((value - mean) / Math.sqrt(variance + epsilon)) * weight[i] + bias[i]
  )
}

/**
 * One number of x·W + b: that of output `row`.
 * @param {number[]} x [C]
 * @param {ArrayLike<number>} weight [outputs, C], a row an output
 * @param {ArrayLike<number>} bias [outputs]
 * @param {number} row
 */
export const project = (x, weight, bias, row) =>
  x.reduce((sum, value, i) => sum + value * weight[row * x.length + i], bias[row])

/**
 * Shares that sum to 1; hidden: keys that get none.
 * @param {ArrayLike<number>} scores
 * @param {number} temperature
 * @param {(key: number) => boolean} [hidden]
 */
export function shares(scores, temperature, hidden = () => false) {
  const tempered = Array.from(scores, (score, key) =>
      hidden(key) ? -Infinity : score / temperature
    ),
    most = Math.max(...tempered),
    powers = tempered.map((score) => Math.exp(score - most)),
    sum = powers.reduce((a, b) => a + b, 0)
  return powers.map((power) => power / sum)
}

/**
 * One number of the weighted mean of values.
 * @param {ArrayLike<number>} weights [T]
 * @param {ArrayLike<number>} values [T, D]
 * @param {number} depth D
 * @param {number} column
 */
export const mixed = (weights, values, depth, column) =>
  Array.from(weights).reduce((sum, weight, key) => sum + weight * values[key * depth + column], 0)

/**
 * The keys with the largest numbers, the largest first.
 * @param {ArrayLike<number>} numbers
 * @param {number} count
 */
export const largestKeys = (numbers, count) =>
  Array.from(numbers, (value, key) => ({ key, value }))
    .sort((a, b) => b.value - a.value || a.key - b.key)
    .slice(0, count)
    .map(({ key }) => key)
