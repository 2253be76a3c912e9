/* A picture from a file, as its pixels are: no colour management, alpha not premultiplied. */
import { say } from '../../languages/say.js'

export async function decode(blob: Blob, name: string) {
  let source
  try {
    source = await createImageBitmap(blob, {
      colorSpaceConversion: 'none',
      premultiplyAlpha: 'none'
    })
  } catch {
    throw new Error(say('errors.noPicture', { name }))
  }
  return { source, width: source.width, height: source.height, name, file: blob }
}
