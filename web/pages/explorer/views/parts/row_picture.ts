/* A row of weights over its picture, on a canvas of the picture's size. */
import { overlay } from '../../../plot/overlay.js'
import { put } from './canvas.js'
import type { OverlayOptions } from 'heed/plot'

/** weights: of the patches; picture: a canvas. */
export function drawRow(
  canvas: HTMLCanvasElement,
  picture: HTMLCanvasElement,
  { weights, rows, columns, scale, table, strength }: OverlayOptions
) {
  const map = document.createElement('canvas'),
    context = canvas.getContext('2d') as CanvasRenderingContext2D
  put(map, overlay({ weights, rows, columns, scale, table, strength }).raster)
  canvas.width = picture.width
  canvas.height = picture.height
  context.drawImage(picture, 0, 0)
  context.imageSmoothingEnabled = false
  context.drawImage(map, 0, 0, canvas.width, canvas.height)
}
