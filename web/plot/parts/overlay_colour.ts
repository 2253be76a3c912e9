/* A map over a picture in the style 'colour' of overlay.ts: the one that pages start with. The opacity
 * is the rule of runtime/explain/colour_rule.h, as of figures that the command line draws;
 * tests/vectors/scale/cases.json is for both. */
import { largestOf, newRaster, putColour } from '../raster.js'
import { placeOpacity } from './colour_rule.js'
import type { OverlayOptions } from 'heed/plot'

/** The table's colour, as opaque as the weight is large: the picture stays as it is where there is
 * none. What is not a number is grey. A signed scale is equally dense everywhere. */
export function overlayInColour({
  weights,
  rows,
  columns,
  scale,
  table,
  strength = 0.8
}: OverlayOptions) {
  const own = largestOf(weights),
    raster = newRaster(columns, rows)
  for (let i = 0; i < rows * columns; i++) {
    const t = Math.min(1, scale.position(weights[i], own))
    putColour(raster, i, table, t, strength * (scale.signed ? 1 : placeOpacity(t)) * 255)
  }
  return { raster, path: '' }
}
