/* What a query may see, as factors [Tq, Tk] of true and false that are ANDed, as Keras joins them:
 * query padding by row, value and key padding by column, causal, sliding window, and one painted by
 * hand; the same as numbers to add to scores. And what a row without any key becomes. */

import { say } from '../languages/say.js'
import type { MaskParts, MaskSetting } from '../shared/types.js'

export const factorNames: Record<string, string> = {
  query: say('masks.factor.query'),
  value: say('masks.factor.value'),
  key: say('masks.factor.key'),
  causal: say('masks.factor.causal'),
  window: say('masks.factor.window'),
  painted: say('masks.factor.painted')
}

/** MultiHeadAttention ANDs every factor, and leaves the key mask out where the keys are the values.
 * Attention has neither key mask, window nor painted mask, and instead of hiding rows of padded
 * queries sets their output to zero. */
export const layers: Record<string, string> = { multi: 'MultiHeadAttention', single: 'Attention' }

/** setting: { layer, queries, values, keys (true = real token), shared (keys are the values),
 * causal, window: null or [left, right], painted: rows or null }. A factor that bars nothing is
 * null. */
export function factors({
  layer = 'multi',
  queries,
  values,
  keys,
  shared = false,
  causal,
  window,
  painted
}: Partial<MaskSetting> & Pick<MaskSetting, 'queries' | 'values' | 'keys'>): MaskParts {
  const table = (may: (i: number, j: number) => boolean) =>
      queries.map((_, i) => keys.map((_, j) => may(i, j))),
    multi = layer === 'multi'
  return {
    query: multi && queries.includes(false) ? table((i) => queries[i]) : null,
    value: values.includes(false) ? table((_, j) => values[j]) : null,
    key: multi && !shared && keys.includes(false) ? table((_, j) => keys[j]) : null,
    causal: causal ? table((i, j) => j <= i) : null,
    window: multi && window ? table((i, j) => j >= i - window[0] && j <= i + window[1]) : null,
    painted: multi && painted?.flat().includes(false) ? table((i, j) => painted[i][j]) : null
  }
}

export const allOf = (parts: MaskParts, queries: unknown[], keys: unknown[]): boolean[][] =>
  queries.map((_, i) =>
    keys.map((_, j) => Object.values(parts).every((part) => part === null || part[i][j]))
  )

/** To the nearest float16 (IEEE 754 binary16), ties to even. */
export function half(value: number) {
  if (!Number.isFinite(value) || value === 0) return value
  const unit = 2 ** (Math.max(-14, Math.floor(Math.log2(Math.abs(value)))) - 10),
    steps = value / unit,
    down = Math.floor(steps)
  const rest = steps - down,
    rounded = (rest > 0.5 || (rest === 0.5 && down % 2 !== 0) ? down + 1 : down) * unit
  return Math.abs(rounded) > 65504 ? Math.sign(rounded) * Infinity : rounded
}

/** Ways to write a mask. bias: what is added where it bars; round: the numbers that the sum is in.
 * A boolean mask adds nothing. */
export const forms: Record<
  string,
  { name: string; bias: number | null; round?: (value: number) => number }
> = {
  boolean: { name: say('masks.form.boolean'), bias: null },
  infinite: { name: say('masks.form.infinite'), bias: -Infinity, round: Math.fround },
  large: { name: say('masks.form.large'), bias: -1e9, round: Math.fround },
  small: { name: say('masks.form.small'), bias: -1e4, round: Math.fround },
  half: { name: say('masks.form.half'), bias: -65504, round: half }
}

/** Weights of a row of scores by a form, may: what its keys may be seen. -Infinity alone gives NaN,
 * as exp(-Infinity - -Infinity) does. */
export function weightsBy(
  form: string,
  scores: number[],
  may: boolean[],
  softmax: (row: number[]) => number[]
) {
  const { bias, round } = forms[form]
  if (bias === null) return softmax(scores.map((score, j) => (may[j] ? score : -Infinity)))
  const sums = scores.map((score, j) =>
    (round as typeof half)((round as typeof half)(score) + (may[j] ? 0 : bias))
  )
  return sums.every((sum) => sum === -Infinity) ? sums.map(() => NaN) : softmax(sums)
}

/** What a fully masked row becomes, and where that is so. */
export const emptyRows: Record<string, string> = {
  boolean: say('masks.empty.boolean'),
  large: say('masks.empty.large'),
  half: say('masks.empty.half'),
  infinite: say('masks.empty.infinite'),
  small: say('masks.empty.small')
}

/** Patches of a picture that no query sees when the keys stand for equal runs of them in raster
 * order: [first, last] of each run that is hidden. mask: rows of true and false. */
export function hiddenPatches(mask: boolean[][], patches: number): [first: number, last: number][] {
  const keys = mask[0].length,
    runs: [number, number][] = [],
    start = (key: number) => Math.round((key * patches) / keys)
  for (let key = 0; key < keys; key++) {
    if (mask.some((row) => row[key])) continue
    if (runs.at(-1)?.[1] === start(key) - 1) (runs.at(-1) as number[])[1] = start(key + 1) - 1
    else runs.push([start(key), start(key + 1) - 1])
  }
  return runs
}
