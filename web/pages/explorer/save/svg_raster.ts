/* An SVG as pixels: what the browser draws of it on a canvas. */
import { say } from '../../languages/say.js'

/** @returns a PNG */
export async function pngOfSvg(
  svg: string,
  sizeOf: (image: HTMLImageElement) => { width: number; height: number }
): Promise<Blob> {
  const image = new Image()
  image.src = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }))
  try {
    await image.decode()
    const canvas = Object.assign(document.createElement('canvas'), sizeOf(image))
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height)
    const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done))
    if (!blob) throw new Error(say('save.noMemory', { width: canvas.width, height: canvas.height }))
    return blob
  } finally {
    URL.revokeObjectURL(image.src)
  }
}
