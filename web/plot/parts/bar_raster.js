/* The raster of a colour bar. */
import { newRaster, putColour } from '../raster.js'
/** @import {ColourTable} from '../index.js' */

/**
 * The colours of a scale from end to end, one pixel high.
 * @param {ColourTable} table
 */
export function barRaster(table) {
  const raster = newRaster(256, 1)
  for (let i = 0; i < 256; i++) putColour(raster, i, table, i / 255)
  return raster
}
