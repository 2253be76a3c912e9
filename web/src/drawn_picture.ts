/* The pixels of what a canvas can draw. Loaded with the first. It imports nothing, so that bundlers leave the
 * scripts that a page starts with as they are. */

/** The size in its own pixels of what a canvas can draw. */
function drawnSize(input: Record<string, number>) {
  const [width, height] = ['Width', 'Height'].map(
    (side) =>
      input[`natural${side}`] ??
      input[`video${side}`] ??
      input[`display${side}`] ??
      input[side.toLowerCase()]
  )
  if (width > 0 && height > 0) return { width, height }
  throw new Error('it has no size')
}

function canvasOf(width: number, height: number): OffscreenCanvas | HTMLCanvasElement {
  if (typeof OffscreenCanvas !== 'undefined') return new OffscreenCanvas(width, height)
  return Object.assign(document.createElement('canvas'), { width, height })
}

/**
 * Throws what the canvas throws, where it has no size, and where a video has no frame yet. A canvas
 * draws nothing of such a video and throws nothing, even where readyState is 4.
 */
export function pixelsOf(input: CanvasImageSource) {
  const size = drawnSize(input as unknown as Record<string, number>), // one name of its sides after another
    context = canvasOf(size.width, size.height).getContext('2d', {
      willReadFrequently: true
    }) as CanvasRenderingContext2D
  context.drawImage(input, 0, 0, size.width, size.height)
  const pixels = context.getImageData(0, 0, size.width, size.height)
  if ((input as HTMLVideoElement).videoWidth && !pixels.data.some(Boolean))
    throw new Error('it has no frame yet')
  return pixels
}
