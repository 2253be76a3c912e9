/* What is changed in the model's attention, as a session with `intervene` takes it: heads taken
 * out, patches that nobody looks at, pairs of tokens that are cut, a temperature; what a head gives
 * taken by a share. Heads are "layer.head", patches numbers in raster order, cuts "query.key"
 * (tokens), gains "layer.head.percent". */
/** @import {Changes, Shape} from '../../../types/pages.js' */

/** @type {Readonly<Changes>} */
export const unchanged = Object.freeze({
  off: [],
  how: 'zero',
  temperature: 1,
  dropped: [],
  cuts: [],
  gains: []
})
export const keysOfChanges = /** @type {(keyof Changes)[]} */ (Object.keys(unchanged))

/** @param {Changes} changes */
export const isChanged = ({ off, temperature, dropped, cuts, gains = [] }) =>
  off.length + dropped.length + cuts.length + gains.length > 0 || temperature !== 1

/** What titles say of changes: change_words.js puts its sentence here, which comes with the first change. */
export const titles = { changes: (/** @type {Partial<Changes>} */ _changes) => '' }

/**
 * Those of the changes that a model of this shape has.
 * @param {Pick<Changes, 'off' | 'dropped' | 'cuts' | 'gains'>} changes
 * @param {Shape} shape
 * @returns {Pick<Changes, 'off' | 'gains' | 'dropped' | 'cuts'>}
 */
export function changesWithin(
  { off, dropped, cuts, gains = [] },
  { layers, heads, tokens, rows, columns }
) {
  /** @param {string} text */
  const isHead = (text) => {
    const [layer, head] = /** @type {any[]} */ (text.split('.')) // compared as numbers
    return layer < layers && head < heads
  }
  return {
    off: off.filter(isHead),
    gains: gains.filter(isHead),
    dropped: dropped.filter((patch) => patch < rows * columns),
    cuts: cuts.filter((pair) => pair.split('.').every((token) => Number(token) < tokens))
  }
}
