/* A row of weights as a line of colours, one pixel high: a pixel a weight or, where there are more
 * weights than `width` pixels, the weight of each pixel that is farthest from 0, so that none that
 * stands out is lost. */
import { largestOf, newRaster, putColour } from './raster.js'
import type { ColourTable, Scale } from 'heed/plot'

export function strip({
  weights,
  width = weights.length,
  scale,
  table
}: {
  weights: Float32Array | number[]
  width?: number
  scale: Scale
  table: ColourTable
}) {
  const pixels = Math.max(1, Math.min(width, weights.length)),
    raster = newRaster(pixels, 1),
    own = largestOf(weights)
  for (let i = 0; i < pixels; i++) {
    let shown = -Infinity
    for (
      let at = Math.floor((i * weights.length) / pixels);
      at < Math.floor(((i + 1) * weights.length) / pixels);
      at++
    )
      if (
        Number.isFinite(weights[at]) &&
        !(Math.abs(shown) >= Math.abs(weights[at]) && shown !== -Infinity)
      )
        shown = weights[at]
    putColour(raster, i, table, scale.position(shown, own))
  }
  return raster
}
