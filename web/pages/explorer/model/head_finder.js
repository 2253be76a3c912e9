/* Heads in the order of a number, or those that pass a filter such as "entropy < 1.5 and
 * distance < 30". Loaded with the first of them. */
import { say } from '../../languages/say.js'
import { numberOf, numbersOfHeads } from './head_numbers.js'
/** @import {HeadEntry, PageStatistics} from '../../../types/pages.js' */

/** What stands where a filter cannot be read. */
export const filterWords = say('heads.filterKnowsEntropyDistance')

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
