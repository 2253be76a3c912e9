/* Writes an RGBA picture as an RGB PNG. */
import { PNG } from 'pngjs'

/**
 * @param {Uint8Array | Uint8ClampedArray} rgba
 * @param {number} width
 * @param {number} height
 */
export function writePng(rgba, width, height) {
  const picture = new PNG({ width, height })
  picture.data.set(rgba)
  for (let at = 3; at < picture.data.length; at += 4) picture.data[at] = 255 // else it is blended
  return PNG.sync.write(picture, { colorType: 2 })
}
