/* A raster of web/plot, one pixel a patch, onto a canvas that CSS enlarges. */

/** @import {Raster} from '../../../plot/index.js' */

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Raster} raster
 */
export function put(canvas, raster) {
  canvas.width = raster.width
  canvas.height = raster.height
  canvas
    .getContext('2d')
    ?.putImageData(new ImageData(raster.data, raster.width, raster.height), 0, 0)
}
