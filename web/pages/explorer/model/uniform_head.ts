/* What the numbers of heads are compared with. */

import type { Shape } from '../../shared/types.js'

/** The numbers of a head, as the runtime's statistics have them, that looks everywhere alike. unit:
 * pixels a patch. */
export function numbersOfUniform({ tokens, prefixTokens, rows, columns }: Shape, unit: number) {
  let sum = 0
  for (let dy = 1 - rows; dy < rows; dy++)
    for (let dx = 1 - columns; dx < columns; dx++)
      sum += Math.hypot(dy, dx) * (rows - Math.abs(dy)) * (columns - Math.abs(dx))
  const patches = rows * columns,
    distance = (sum / patches / patches) * unit
  return {
    entropyPatches: Math.log(tokens),
    entropyCls: Math.log(tokens),
    distance: (distance * patches) / tokens,
    distanceRenormalised: distance,
    prefixMass: prefixTokens / tokens,
    selfMass: 1 / tokens,
    top5Mass: Math.min(5, tokens) / tokens
  }
}
