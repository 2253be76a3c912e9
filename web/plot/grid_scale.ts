/* One scale for many maps, as of all heads or of a matrix's rows. */
import { scaleVote } from './parts/colour_rule.js'
import { largestOf } from './raster.js'
import { makeScale } from './scale.js'
import type { BarLength, ScaleKind } from 'heed/plot'

/** largests: the largest weight of each map, or a list of them for each group, such as the heads of a
 * layer; to: the largest where the scale ends, without it that of all; locked, beyond, length and label: as
 * for makeScale. What is asked for as 'uniform' is logarithmic where in any group more than half of the maps
 * that reach uniform stay below a quarter of the end: nothing would be seen of them. */
export function gridScale(
  kind: ScaleKind,
  {
    tokens,
    largests,
    to,
    ...how
  }: BarLength & {
    tokens: number
    largests: number[] | number[][]
    to?: number
    locked?: number
    beyond?: number
  }
) {
  const groups = Array.isArray(largests[0]) ? (largests as number[][]) : [largests as number[]],
    beyond = largestOf(groups.flat().filter(Number.isFinite)),
    largest = to ?? beyond,
    { end } = makeScale('uniform', { tokens, largest, locked: how.locked }),
    isFaint = (group: number[]) =>
      group.reduce((votes, weight) => votes + scaleVote(weight, tokens, end), 0) < 0
  return makeScale(kind === 'uniform' && groups.some(isFaint) ? 'log' : kind, {
    tokens,
    largest,
    beyond,
    ...how
  })
}
