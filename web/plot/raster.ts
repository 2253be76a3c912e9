/* Rasters: { data: RGBA bytes, width, height }, one pixel a patch, made to be enlarged without
 * smoothing. Colour tables are 256 RGB. */

import type { ColourTable, Raster } from 'heed/plot'

export const newRaster = (width: number, height: number): Raster => ({
  data: new Uint8ClampedArray(width * height * 4),
  width,
  height
})

/** Writes pixel `index` with the table's colour at t (0..1, clamped; not a number is grey). */
export function putColour(
  raster: Raster,
  index: number,
  table: ColourTable,
  t: number,
  alpha = 255
) {
  const { data } = raster,
    at = index * 4,
    entry = Math.min(255, Math.max(0, Math.round(t * 255))) * 3
  const known = t === t
  data[at] = known ? table[entry] : 128
  data[at + 1] = known ? table[entry + 1] : 128
  data[at + 2] = known ? table[entry + 2] : 128
  data[at + 3] = alpha
}

export function largestOf(weights: Iterable<number>) {
  let largest = 0
  for (const weight of weights) if (weight > largest) largest = weight
  return largest
}
