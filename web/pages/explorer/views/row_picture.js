/* A row of weights over its picture, on a canvas of the picture's size. */
import { overlay } from '../../plot/overlay.js'
import { put } from './canvas.js'

/** weights: of the patches; picture: a canvas. */
export function drawRow(canvas, picture, { weights, rows, columns, scale, table, strength }) {
  const map = document.createElement('canvas'),
    context = canvas.getContext('2d')
  put(map, overlay({ weights, rows, columns, scale, table, strength }).raster)
  canvas.width = picture.width
  canvas.height = picture.height
  context.drawImage(picture, 0, 0)
  context.imageSmoothingEnabled = false
  context.drawImage(map, 0, 0, canvas.width, canvas.height)
}
