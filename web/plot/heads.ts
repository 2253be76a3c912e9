/* Layers x heads of maps for one query in one raster: layers down, heads across, one transparent
 * pixel after every map. */
import { largestOf, newRaster, putColour } from './raster.js'
import type { ColourTable, Numbers, Scale } from 'heed/plot'

/** maps[layer][head]: weights of rows x columns patches, or null for a place that stays empty. */
export function heads({
  maps,
  rows,
  columns,
  scale,
  table
}: {
  maps: (Numbers | null)[][]
  rows: number
  columns: number
  scale: Scale
  table: ColourTable
}) {
  const across = maps[0].length,
    width = across * (columns + 1),
    raster = newRaster(width, maps.length * (rows + 1))
  maps.forEach((layer, l) =>
    layer.forEach((weights, h) => {
      if (!weights) return
      const first = l * (rows + 1) * width + h * (columns + 1),
        own = largestOf(weights)
      for (let r = 0; r < rows; r++)
        for (let c = 0; c < columns; c++)
          putColour(
            raster,
            first + r * width + c,
            table,
            scale.position(weights[r * columns + c], own)
          )
    })
  )
  return raster
}
