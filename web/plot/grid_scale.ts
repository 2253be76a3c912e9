/* One scale for many maps, as of all heads or of a matrix's rows. */
import { scaleVote } from './parts/colour_rule.js'
import { largestOf } from './raster.js'
import { makeScale } from './scale.js'
import type { BarLength, ScaleKind } from 'heed/plot'

/** largests: the largest weight of each map; to: the largest where the scale ends, without it that
 * of all; locked, beyond, length and label: as for makeScale. What is asked for as 'uniform' is logarithmic
 * where the bar would be the work of few: where of the maps that reach uniform more than half stay
 * below a quarter of its end. */
export function gridScale(
  kind: ScaleKind,
  {
    tokens,
    largests,
    to,
    ...how
  }: BarLength & {
    tokens: number
    largests: number[]
    to?: number
    locked?: number
    beyond?: number
  }
) {
  const beyond = largestOf(largests.filter(Number.isFinite)),
    largest = to ?? beyond,
    { end } = makeScale('uniform', { tokens, largest, locked: how.locked })
  const votes = largests.reduce((sum, weight) => sum + scaleVote(weight, tokens, end), 0)
  return makeScale(kind === 'uniform' && votes < 0 ? 'log' : kind, {
    tokens,
    largest,
    beyond,
    ...how
  })
}
