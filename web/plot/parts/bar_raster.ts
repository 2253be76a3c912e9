/* The raster of a colour bar. */
import { newRaster, putColour } from '../raster.js'
import type { ColourTable } from 'heed/plot'

/** The colours of a scale from end to end, one pixel high. */
export function barRaster(table: ColourTable) {
  const raster = newRaster(256, 1)
  for (let i = 0; i < 256; i++) putColour(raster, i, table, i / 255)
  return raster
}
