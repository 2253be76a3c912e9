/* Heads by their numbers: what there is to sort by, and a filter such as "entropy < 1.5 and
 * distance < 30". */

/** @import {HeadEntry, PageStatistics} from '../../../types/pages.js' */

/**
 * By the name that a filter and a link use: the key in the runtime's statistics, a sentence,
 * decimals.
 * @type {Record<string, [key: keyof PageStatistics, sentence: string, decimals: number]>}
 */
export const numbersOfHeads = {
  entropy: ['entropyPatches', 'Entropy of patch queries, nats', 3],
  distance: ['distance', 'Mean attention distance, pixels', 1],
  'distance-patches': ['distanceRenormalised', 'Mean distance over patches alone, pixels', 1],
  cls: ['prefixMass', 'Weight on CLS and registers', 3],
  self: ['selfMass', 'Weight on itself', 3],
  top5: ['top5Mass', 'Sum of the five largest weights', 3],
  'cls-entropy': ['entropyCls', 'Entropy of CLS, nats', 3]
}

const term = new RegExp(
  `^(layer|head|${Object.keys(numbersOfHeads).join('|')})\\s*([<>]=?|=)\\s*(\\d+(?:\\.\\d+)?)\\s*(%?)$`
)
/**
 * @param {number} a
 * @param {string} sign
 * @param {number} b
 */
const compare = (a, sign, b) => sign.includes(a < b ? '<' : a > b ? '>' : a === b ? '=' : ' ')

/**
 * @param {HeadEntry} entry
 * @param {string} name
 * @returns {number}
 */
export const numberOf = (entry, name) => entry[numbersOfHeads[name]?.[0] ?? name]

/**
 * A function of an entry, or null where the text cannot be read. Terms are joined by "and" or
 * commas.
 * @param {string} text
 * @returns {((entry: HeadEntry) => boolean) | null}
 */
export function parseFilter(text) {
  const terms = text
    .trim()
    .toLowerCase()
    .split(/\s*,\s*|\s+and\s+/)
    .filter(Boolean)
    .map((part) => term.exec(part))
  if (terms.includes(null)) return null
  return (/** @type {HeadEntry} */ entry) =>
    /** @type {RegExpExecArray[]} */ (terms).every(([, name, sign, value, percent]) =>
      compare(
        numberOf(/** @type {HeadEntry} */ (entry), name),
        sign,
        Number(value) / (percent ? 100 : 1)
      )
    )
}

/**
 * statistics[layer][head] -> entries { layer, head, ...numbers } that pass the filter, in the
 * order of `sort` (smallest first; '' = layer and head), largest first with descending. An
 * unreadable filter lets all pass.
 * @param {PageStatistics[][]} statistics
 * @param {{sort?: string, descending?: boolean, filter?: string}} how
 * @returns {HeadEntry[]}
 */
export function findHeads(statistics, { sort = '', descending = false, filter = '' }) {
  const passes = parseFilter(filter) ?? (() => true)
  const entries = statistics
    .flatMap((layer, l) => layer.map((numbers, h) => ({ layer: l, head: h, ...numbers })))
    .filter(passes)
  return sort
    ? entries.sort((a, b) => (numberOf(a, sort) - numberOf(b, sort)) * (descending ? -1 : 1))
    : entries
}
