/* What is changed in the model's attention, as a session with `intervene` takes it: heads taken
 * out, patches that nobody looks at, pairs of tokens that are cut, a temperature; what a head gives
 * taken by a share. Heads are "layer.head", patches numbers in raster order, cuts "query.key"
 * (tokens), gains "layer.head.percent". */
import type { Changes, Shape } from './types.js'

export const unchanged: Readonly<Changes> = Object.freeze({
  off: [],
  how: 'zero',
  temperature: 1,
  dropped: [],
  cuts: [],
  gains: []
})
export const keysOfChanges = Object.keys(unchanged) as (keyof Changes)[]

export const isChanged = ({ off, temperature, dropped, cuts, gains = [] }: Changes) =>
  off.length + dropped.length + cuts.length + gains.length > 0 || temperature !== 1

/** What titles say of changes: change_words.ts puts its sentence here, which comes with the first change. */
export const titles = { changes: (_changes: Partial<Changes>) => '' }

/** Those of the changes that a model of this shape has. */
export function changesWithin(
  { off, dropped, cuts, gains = [] }: Pick<Changes, 'off' | 'dropped' | 'cuts' | 'gains'>,
  { layers, heads, tokens, rows, columns }: Shape
): Pick<Changes, 'off' | 'gains' | 'dropped' | 'cuts'> {
  const isHead = (text: string) => {
    const [layer, head] = text.split('.').map(Number)
    return layer < layers && head < heads
  }
  return {
    off: off.filter(isHead),
    gains: gains.filter(isHead),
    dropped: dropped.filter((patch) => patch < rows * columns),
    cuts: cuts.filter((pair) => pair.split('.').every((token) => Number(token) < tokens))
  }
}
