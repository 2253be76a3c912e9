/* The part of a picture that a model saw, on a canvas; what it saw beyond the picture is
 * padding. */

import type { Region } from 'heed'
import type { Inside } from '../types.js'
import type { PagePicture } from '../../shared/types.js'

/** Where the picture lies in the part that was seen, in shares of it: { left, top, right, bottom
 * }. */
export function insideOf(
  { width, height }: { width: number; height: number },
  region: Region
): Inside {
  const share = (value: number, from: number, size: number) =>
    Math.min(1, Math.max(0, (value - from) / size))
  return {
    left: share(0, region.x, region.width),
    top: share(0, region.y, region.height),
    right: share(width, region.x, region.width),
    bottom: share(height, region.y, region.height)
  }
}

/** Whether nothing of a patch is of the picture. */
export function isPadding(
  { left, top, right, bottom }: Inside,
  row: number,
  column: number,
  { rows, columns }: { rows: number; columns: number }
) {
  return (
    (row + 1) / rows <= top ||
    row / rows >= bottom ||
    (column + 1) / columns <= left ||
    column / columns >= right
  )
}

/** picture: { source, width, height }; region: in the picture's own pixels. Padding is grey. */
export function cutOut(picture: PagePicture, region: Region, canvas: HTMLCanvasElement) {
  const context = canvas.getContext('2d') as CanvasRenderingContext2D,
    { width, height } = canvas,
    { left, top, right, bottom } = insideOf(picture, region)
  let { source } = picture
  if (source instanceof ImageData) {
    source = Object.assign(document.createElement('canvas'), {
      width: source.width,
      height: source.height
    })
    source.getContext('2d')?.putImageData(picture.source as ImageData, 0, 0)
  }
  if (right - left < 1 || bottom - top < 1) {
    context.fillStyle = '#808080'
    context.fillRect(0, 0, width, height)
    context.clearRect(left * width, top * height, (right - left) * width, (bottom - top) * height)
  }
  context.drawImage(source, region.x, region.y, region.width, region.height, 0, 0, width, height)
  return canvas
}
