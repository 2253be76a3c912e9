/* What is changed in the model's attention, as a session with `intervene` takes it: heads taken
 * out, patches that nobody looks at, pairs of tokens that are cut, a temperature; what a head gives
 * taken by a share. Heads are "layer.head", patches numbers in raster order, cuts "query.key"
 * (tokens), gains "layer.head.percent". */
import { say } from '../../languages/say.js'

/** @import {Changes, Shape} from '../../../types/pages.js' */

/**
 * How a head is taken out: what stands in its place.
 * @type {Record<string, string>}
 */
export const replacements = {
  zero: say('changes.zeros'),
  mean: say('changes.meanOverTokens'),
  uniform: say('changes.equalAttentionAll')
}

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

/**
 * In words, for titles: "" where nothing is changed.
 * @param {Partial<Changes>} changes
 */
export function wordsOfChanges({
  off = [],
  how,
  temperature = 1,
  dropped = [],
  cuts = [],
  gains = []
}) {
  return [
    off.length &&
      say('changes.without', {
        off: off.length > 3 ? say('changes.heads', { off: off.length }) : off.join(', '),
        how: how === 'zero' || !how ? '' : ` (${how})`
      }),
    dropped.length &&
      (dropped.length > 1
        ? say('changes.dropped', { count: dropped.length })
        : say('changes.droppedOne')),
    cuts.length &&
      (cuts.length > 1 ? say('changes.cut', { count: cuts.length }) : say('changes.cutOne')),
    gains.length &&
      (gains.length > 2
        ? say('changes.headsShare', { gains: gains.length })
        : gains
            .map((gain) => gain.replace(/^(\d+\.\d+)\.(\d+)$/, say('changes.head1At2')))
            .join(', ')),
    temperature !== 1 && say('changes.temperature', { temperature })
  ]
    .filter(Boolean)
    .map((text) => `, ${text}`)
    .join('')
}

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
