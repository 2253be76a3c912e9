/* The sentence under a map: how few patches hold half of the row, where they lie, and the largest weight. A column
 * is no share of anything, and a rollout is what a token is made of after all layers rather than
 * attention that it gives: each has words of its own. */

import { holderIsNamed, rowIsElsewhere } from './parts/colour_rule.js'
import { fixed, percentSign, significant } from './parts/numbers.js'
import { groupName } from './parts/places.js'
import { captionWords } from './caption_words.js'
import type { CaptionOptions } from 'heed/plot'

/** @param token 1: the probe of a pooling attention */
export const tokenName = (token: number, prefix: number, columns: number, names?: string[]) =>
  token >= prefix
    ? captionWords.patch(Math.floor((token - prefix) / columns), (token - prefix) % columns)
    : (names?.[token] ??
      (token < 0 ? captionWords.probe : token ? captionWords.register(token) : 'CLS'))

/** What the tokens before the patches are together, as `heed run` says it. */
export const prefixName = (prefix: number, [first = 'CLS', second = '']: string[] = []) =>
  prefix < 2
    ? first
    : captionWords.together(
        first === 'CLS' ? first : '',
        prefix === 2 && second === 'distillation' ? second : undefined
      )

const namesOf =
  ({ prefix, columns, names }: Pick<CaptionOptions, 'prefix' | 'columns' | 'names'>) =>
  (token: number) =>
    tokenName(token, prefix, columns, names)

export const percent = (share: number) =>
  share > 0 && share < 5e-6
    ? `< ${fixed(0.001, 3)}${percentSign}`
    : `${fixed(share * 100, share > 0 && share < 0.001 ? 3 : share < 0.0995 ? 2 : 1)}${percentSign}`

export const times = (weight: number, tokens: number) => {
  const value = weight * tokens
  return `${value >= 10 ? fixed(value, 1) : significant(value, 2)} × uniform`
}

/** The `count` largest entries of a row, ties by index: [{ token, weight }]. */
export function topOf(row: ArrayLike<number>, count: number) {
  return Array.from(row, (weight, token) => ({ token, weight }))
    .sort((a, b) => b.weight - a.weight || a.token - b.token)
    .slice(0, count)
}

/** The fewest tokens that hold half of a row, the largest first. */
function halfOf(row: ArrayLike<number>) {
  const order = topOf(row, row.length),
    half = order.reduce((sum, { weight }) => sum + weight, 0) / 2
  let sum = 0
  const count = order.findIndex(({ weight }) => (sum += weight) >= half)
  return count < 0 ? order : order.slice(0, count + 1)
}

/** row: all N weights of the query, with reverse what each token's row has for it, or with rollout
 * its row of the rollout. */
export function caption({ row, where, token, reverse, rollout, ...place }: CaptionOptions) {
  const nameOf = namesOf(place),
    name = nameOf(token),
    top = halfOf(row)
  const [{ token: most, weight }] = top,
    holder = most === token ? captionWords.itself : nameOf(most),
    share = percent(weight),
    as = times(weight, row.length)
  if (weight === 0) return captionWords.nowhere(where, name, reverse)
  if (reverse) return captionWords.received(where, name, nameOf(most), share, as)
  if (top.length === 1) return captionWords.alone(where, name, holder, share, as, rollout)
  return captionWords.given(
    where,
    name,
    percent(top.reduce((sum, { weight }) => sum + weight, 0)),
    groupName(top, { row, token, ...place }, nameOf, () => prefixName(place.prefix, place.names)),
    holder,
    `${share} = ${as}`,
    rollout
  )
}

/** For the picture itself, where patches beside the query's own share less than a tenth of the row:
 * "98.3 % on CLS"; '' otherwise. A column is no share of anything: it has words only where it is
 * empty. */
export function elsewhere({
  row,
  token,
  reverse,
  rollout,
  ...place
}: Omit<CaptionOptions, 'where' | 'row'> & { row: Float32Array }) {
  const { prefix } = place,
    total = row.reduce((sum, weight) => sum + weight, 0),
    from = Boolean(rollout || reverse)
  if (total === 0) return captionWords.noWeight(from)
  const held = topOf(
      [...row.subarray(0, prefix), ...(token >= prefix ? [row[token]] : [])],
      prefix + 1
    ),
    sum = held.reduce((sum, { weight }) => sum + weight, 0)
  if (reverse || !rowIsElsewhere(total, sum)) return ''
  const most = held
    .filter(({ weight }) => holderIsNamed(total, weight))
    .map((entry) =>
      captionWords.lies(
        percent(entry.weight / total),
        entry.token === prefix ? captionWords.itself : namesOf(place)(entry.token),
        from
      )
    )
  return (
    most.join(', ') ||
    captionWords.lies(percent(sum / total), prefixName(prefix, place.names), from)
  )
}

/** Of scores before the softmax: how far they reach, and where they are highest. */
export function scoreCaption({
  row,
  where,
  token,
  reverse,
  stage,
  ...place
}: CaptionOptions & { stage: string }) {
  const nameOf = namesOf(place),
    name = nameOf(token),
    [top] = topOf(row, 1),
    barred = row.filter((score) => score === -Infinity).length,
    low = (row as number[]).reduce((a, b) => (b === -Infinity ? a : Math.min(a, b)), Infinity)
  const at = `${where}, ${stage}`
  return barred === row.length
    ? captionWords.barred(at, name, reverse)
    : captionWords.scores(
        at,
        name,
        fixed(low, 2),
        fixed(top.weight, 2),
        nameOf(top.token),
        barred,
        reverse
      )
}
