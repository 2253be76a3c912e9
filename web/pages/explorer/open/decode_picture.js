/* A picture from a file, as its pixels are: no colour management, alpha not premultiplied. */

/**
 * @param {Blob} blob
 * @param {string} name
 */
export async function decode(blob, name) {
  let source
  try {
    source = await createImageBitmap(blob, {
      colorSpaceConversion: 'none',
      premultiplyAlpha: 'none'
    })
  } catch {
    throw new Error(`${name}: this file could not be read as a picture. Take a PNG, JPEG or WebP.`)
  }
  return { source, width: source.width, height: source.height, name, file: blob }
}
