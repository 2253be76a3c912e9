/* A matrix of weights as a raster, one pixel a weight: a map on its patch grid, or a head's N x N
 * matrix (row = query, column = key). */
import { largestOf, newRaster, putColour } from './raster.js'
import type { MapOptions } from 'heed/plot'

export function heat({ weights, rows, columns, scale, table }: MapOptions) {
  const raster = newRaster(columns, rows),
    own = largestOf(weights)
  for (let i = 0; i < rows * columns; i++)
    putColour(raster, i, table, scale.position(weights[i], own))
  return raster
}
