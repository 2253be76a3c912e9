/* A row of weights over its picture, on a canvas of the picture's size. */
import { overlay } from '../../plot/overlay.js'
import { put } from './canvas.js'
/** @import {OverlayOptions} from '../../../plot/index.js' */
/** @import {PagePicture} from '../../../types/pages.js' */

/**
 * weights: of the patches; picture: a canvas.
 * @param {HTMLCanvasElement} canvas
 * @param {HTMLCanvasElement} picture
 * @param {OverlayOptions} map
 */
export function drawRow(canvas, picture, { weights, rows, columns, scale, table, strength }) {
  const map = document.createElement('canvas'),
    context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'))
  put(map, overlay({ weights, rows, columns, scale, table, strength }).raster)
  canvas.width = picture.width
  canvas.height = picture.height
  context.drawImage(picture, 0, 0)
  context.imageSmoothingEnabled = false
  context.drawImage(map, 0, 0, canvas.width, canvas.height)
}
