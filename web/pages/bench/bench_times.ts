/* Times of runs in short: the median and the quartiles. */
import type { Timing } from '../shared/types.js'

const quantile = (sorted: number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]

export function summary(times: number[]): Timing {
  const sorted = [...times].sort((a, b) => a - b)
  return {
    median: quantile(sorted, 0.5),
    quartiles: [quantile(sorted, 0.25), quantile(sorted, 0.75)],
    runs: times.length
  }
}
