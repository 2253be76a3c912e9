/* A map over a picture: a raster to lay over it, and outlines in units of one patch.
 *   colour     the table's colour, as opaque as the weight is large (parts/overlay_colour.ts)
 *   spotlight  the picture darkened where the weight is small
 *   contour    outlines of the patches above a quarter, a half and three quarters of the scale
 *   mass       the patches of a mask, the rest darkened: the fewest that hold 60 % of the weight */
import { outline } from './outline.js'
import { overlayInColour } from './parts/overlay_colour.js'
import { largestOf, newRaster } from './raster.js'
import type { OverlayOptions, Raster } from 'heed/plot'

export const overlayStyles = {
  colour: 'Colour',
  spotlight: 'Spotlight',
  contour: 'Contour',
  mass: '60 % of the weight'
}
/** What the patches of the style 'mass' hold. */
export const massShare = 0.6

function fill(rows: number, columns: number, put: (raster: Raster, index: number) => void) {
  const raster = newRaster(columns, rows)
  for (let i = 0; i < rows * columns; i++) put(raster, i)
  return raster
}

const darken = (raster: Raster, index: number, alpha: number) => {
  raster.data[index * 4 + 3] = alpha * 255
}

/** strength 0..1: how much of the picture the map hides. A signed scale is drawn in colour, equally
 * dense everywhere, or as contours. */
export function overlay(options: OverlayOptions) {
  const { weights, rows, columns, scale, style = 'colour', strength = 0.8, mask = [] } = options,
    own = largestOf(weights),
    t = (index: number) => Math.min(1, scale.position(weights[index], own))
  const above = (level: number) =>
    outline(
      Array.from({ length: rows * columns }, (_, i) => t(i) >= level),
      rows,
      columns
    )
  if (style === 'contour')
    return { raster: fill(rows, columns, () => {}), path: [0.25, 0.5, 0.75].map(above).join('') }
  if (scale.signed) return overlayInColour(options)
  if (style === 'spotlight')
    return {
      raster: fill(rows, columns, (raster, i) => darken(raster, i, strength * (1 - t(i)))),
      path: ''
    }
  if (style === 'mass')
    return {
      raster: fill(rows, columns, (raster, i) => darken(raster, i, mask[i] ? 0 : strength * 0.8)),
      path: outline(mask, rows, columns)
    }
  return overlayInColour(options)
}
