/* Lines over what a model saw beyond the picture. Loaded with the first such padding. */
import type { Inside } from '../types.js'

/** Lines over the padding of a canvas that cutOut drew, so that nobody takes it for a picture. */
export function hatchPadding(canvas: HTMLCanvasElement, { left, top, right, bottom }: Inside) {
  const context = canvas.getContext('2d') as CanvasRenderingContext2D,
    { width, height } = canvas,
    step = width / 56
  context.save()
  context.beginPath()
  context.rect(0, 0, width, height)
  context.rect(left * width, top * height, (right - left) * width, (bottom - top) * height)
  context.clip('evenodd')
  context.beginPath()
  for (let x = -height; x < width; x += step) {
    context.moveTo(x, height)
    context.lineTo(x + height, 0)
  }
  context.strokeStyle = '#606060'
  context.lineWidth = step / 4
  context.stroke()
  context.restore()
}
