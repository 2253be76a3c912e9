/* Heads in the order of a number, or those that pass a filter such as "entropy < 1.5 and
 * distance < 30". Loaded with the first of them. */
import { say } from '../../languages/say.js'
import { numberOf, numbersOfHeads } from './head_numbers.js'
import type { HeadEntry } from '../types.js'
import type { PageStatistics } from '../../shared/types.js'

/** What stands where a filter cannot be read. */
export const filterWords = say('heads.filterKnowsEntropyDistance')

const term = new RegExp(
  `^(layer|head|${Object.keys(numbersOfHeads).join('|')})\\s*([<>]=?|=)\\s*(\\d+(?:\\.\\d+)?)\\s*(%?)$`
)
const compare = (a: number, sign: string, b: number) =>
  sign.includes(a < b ? '<' : a > b ? '>' : a === b ? '=' : ' ')

/** A function of an entry, or null where the text cannot be read. Terms are joined by "and" or
 * commas. */
export function parseFilter(text: string): ((entry: HeadEntry) => boolean) | null {
  const terms = text
    .trim()
    .toLowerCase()
    .split(/\s*,\s*|\s+and\s+/)
    .filter(Boolean)
    .map((part) => term.exec(part))
  if (terms.includes(null)) return null
  return (entry: HeadEntry) =>
    (terms as RegExpExecArray[]).every(([, name, sign, value, percent]) =>
      compare(numberOf(entry as HeadEntry, name), sign, Number(value) / (percent ? 100 : 1))
    )
}

/** statistics[layer][head] -> entries { layer, head, ...numbers } that pass the filter, in the
 * order of `sort` (smallest first; '' = layer and head), largest first with descending. An
 * unreadable filter lets all pass. */
export function findHeads(
  statistics: PageStatistics[][],
  {
    sort = '',
    descending = false,
    filter = ''
  }: { sort?: string; descending?: boolean; filter?: string }
): HeadEntry[] {
  const passes = parseFilter(filter) ?? (() => true)
  const entries = statistics
    .flatMap((layer, l) => layer.map((numbers, h) => ({ layer: l, head: h, ...numbers })))
    .filter(passes)
  return sort
    ? entries.sort((a, b) => (numberOf(a, sort) - numberOf(b, sort)) * (descending ? -1 : 1))
    : entries
}
