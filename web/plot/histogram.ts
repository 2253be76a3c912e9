/* How the scores of a row are spread, with the curve that the softmax makes of a score: bars count
 * tokens, the curve is the share of the row that a token of this score gets, up to the largest. */
import { fixed } from './parts/numbers.js'

const bins = 32,
  left = 4,
  right = 4,
  top = 12,
  bottom = 66

/** The counts of finite scores in `bins` equal steps from the least to the largest: { counts, low,
 * high }; null where there are none. */
export function countScores(scores: ArrayLike<number>) {
  const finite = Array.from(scores).filter(Number.isFinite)
  if (!finite.length) return null
  const low = finite.reduce((a, b) => Math.min(a, b)),
    high = finite.reduce((a, b) => Math.max(a, b)),
    counts = new Array(bins).fill(0)
  for (const score of finite)
    counts[Math.min(bins - 1, Math.floor(((score - low) / (high - low || 1)) * bins))]++
  return { counts, low, high }
}

const number = (value: number) => fixed(value, 2).replace('-', '−')

/** The inside of an SVG of 240 x 82. largest: the share that the largest score gets, in words; most:
 * the height of the bars, in words. */
export function histogram({
  scores,
  largest,
  most: said = (count) => `${count} tokens`
}: {
  scores: ArrayLike<number>
  largest: string
  most?: (count: number) => string
}) {
  const found = countScores(scores)
  if (!found) return ''
  const { counts, low, high } = found,
    most = counts.reduce((a, b) => Math.max(a, b)),
    width = 240 - left - right,
    step = width / bins
  const bars = counts
    .map((count, i) => {
      const height = (count / most) * (bottom - top)
      return count
        ? `M${(left + i * step).toFixed(1)} ${bottom}v${(-height).toFixed(1)}h${(step - 1).toFixed(1)}v${height.toFixed(1)}z`
        : ''
    })
    .join('')
  const curve = Array.from(
    { length: 61 },
    (_, i) =>
      `${(left + (i / 60) * width).toFixed(1)} ${(bottom - Math.exp(((high - low) * i) / 60 - (high - low)) * (bottom - top)).toFixed(1)}`
  ).join('L')
  return (
    `<path class="bars" d="${bars}"/><path class="rule" d="M${left} ${bottom}h${width}"/><path class="line" d="M${curve}"/>` +
    `<text x="${left}" y="9">${said(most)}</text><text x="${240 - right}" y="9" text-anchor="end">${largest}</text>` +
    `<text x="${left}" y="${bottom + 13}">${number(low)}</text><text x="${240 - right}" y="${bottom + 13}" text-anchor="end">${number(high)}</text>`
  )
}
