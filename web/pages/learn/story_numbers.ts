/* The arithmetic of the story, in double: what the page computes beside the runtime. */

/**
 * A state after the norm that stands before queries, keys and values.
 * @param state [C]
 * @param weight [C]
 * @param bias [C]
 */
export function layerNorm(
  state: ArrayLike<number>,
  weight: ArrayLike<number>,
  bias: ArrayLike<number>,
  epsilon = 1e-12
) {
  const values = Array.from(state),
    mean = values.reduce((sum, value) => sum + value, 0) / values.length,
    variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length
  return values.map(
    (value, i) => ((value - mean) / Math.sqrt(variance + epsilon)) * weight[i] + bias[i]
  )
}

/**
 * One number of x·W + b: that of output `row`.
 * @param x [C]
 * @param weight [outputs, C], a row an output
 * @param bias [outputs]
 */
export const project = (
  x: number[],
  weight: ArrayLike<number>,
  bias: ArrayLike<number>,
  row: number
) => x.reduce((sum, value, i) => sum + value * weight[row * x.length + i], bias[row])

/** Shares that sum to 1; hidden: keys that get none. */
export function shares(
  scores: ArrayLike<number>,
  temperature: number,
  hidden: (key: number) => boolean = () => false
) {
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
 * @param weights [T]
 * @param values [T, D]
 * @param depth D
 */
export const mixed = (
  weights: ArrayLike<number>,
  values: ArrayLike<number>,
  depth: number,
  column: number
) =>
  Array.from(weights).reduce((sum, weight, key) => sum + weight * values[key * depth + column], 0)

/** The keys with the largest numbers, the largest first. */
export const largestKeys = (numbers: ArrayLike<number>, count: number) =>
  Array.from(numbers, (value, key) => ({ key, value }))
    .sort((a, b) => b.value - a.value || a.key - b.key)
    .slice(0, count)
    .map(({ key }) => key)
