/* A raster of web/plot, one pixel a patch, onto a canvas that CSS enlarges. */

import type { Raster } from 'heed/plot'

export function put(canvas: HTMLCanvasElement, raster: Raster) {
  canvas.width = raster.width
  canvas.height = raster.height
  canvas
    .getContext('2d')
    ?.putImageData(new ImageData(raster.data, raster.width, raster.height), 0, 0)
}
