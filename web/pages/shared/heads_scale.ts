/* The one scale of a grid of heads. */
import { gridScale } from '../plot/grid_scale.js'
import type { ScaleKind } from 'heed/plot'

/**
 * It ends at the largest weight of all heads, or where it is locked. What is asked for as 'uniform' is logarithmic
 * where in any layer more than half of the heads stay below a quarter of that end: nothing would be seen of them.
 * @param largests of the maps, a list a layer
 */
export function headsScale(
  kind: ScaleKind,
  { tokens, largests, locked }: { tokens: number; largests: number[][]; locked?: number }
) {
  const of = { tokens, locked, largests: largests.flat() },
    { end: to } = gridScale(kind, of),
    isFaint = (layer: number[]) =>
      gridScale('uniform', { ...of, largests: layer, to }).kind === 'log'
  return gridScale(kind === 'uniform' && largests.some(isFaint) ? 'log' : kind, of)
}
