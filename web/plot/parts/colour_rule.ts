/* How weights become colours and words: runtime/explain/colour_rule.h says what each function is.
 * Pages draw before any module is loaded, so the rule stands here a second time. The tables of
 * tests/vectors/scale hold both to the same numbers. */

const floor = 4 // the least end, in times uniform
const logLow = -2 // where a logarithmic scale begins, as a power of ten of times uniform
const nothing = 1e-12 // weights below it have the logarithm of this, in times uniform
const outlier = 4 // below this part of the end a map has few colours
const tenth = 0.1
const tiny = 1e-300 // no power of ten is sure to be below it

/* NaN as the first argument stays so in the larger, and is the second in the smaller: Math.max and
 * Math.min would differ. */
const larger: (a: number, b: number) => number = (a, b) => (a < b ? b : a)
const smaller: (a: number, b: number) => number = (a, b) => (a < b ? a : b)

export function scaleEnd(tokens: number, largest: number, locked: number) {
  if (locked > 0) return smaller(larger(locked, 1 / tokens), 1)
  const least = smaller(floor, tokens) / tokens // no weight is above 1
  return largest > least && largest < Infinity ? largest : least
}

export const linearPlace: (weight: number, end: number) => number = (weight, end) =>
  end > 0 ? weight / end : weight * 0

export const logPlace: (weight: number, tokens: number, end: number) => number = (
  weight,
  tokens,
  end
) =>
  larger(
    (Math.log10(larger(weight * tokens, nothing)) - logLow) / (Math.log10(end * tokens) - logLow),
    0
  )

export const logTick: (before: number) => number = (before) => (before > 0 ? before * 10 : 0.01) // 0.1 and 1 to the bit

export function scaleStep(least: number) {
  if (!(least > tiny && least < Infinity)) return least
  let power = 1
  while (power > least) power /= 10
  while (power * 10 <= least) power *= 10
  const part = least * (0.999 / power)
  return power * (([1, 2, 2.5, 5].find((step) => part <= step) ?? 10) as number)
}

export const scaleVote: (largest: number, tokens: number, end: number) => number = (
  largest,
  tokens,
  end
) => {
  if (!(largest * tokens >= 1)) return 0
  return largest < end / outlier ? -1 : 1
}

export const placeOpacity = (place: number) => smaller(larger(place, 0), 1)

export const rowIsElsewhere: (total: number, held: number) => boolean = (total, held) =>
  total - held < tenth * total
export const holderIsNamed: (total: number, weight: number) => boolean = (total, weight) =>
  weight >= tenth * total
