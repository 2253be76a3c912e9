/* Writes RGBA pictures as RGB PNGs. */
import { crc32 } from 'node:zlib'
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

/** @param {string} type @param {Uint8Array} data */
function chunk(type, data) {
  const bytes = Buffer.alloc(12 + data.length)
  bytes.writeUInt32BE(data.length)
  bytes.write(type, 4, 'latin1')
  bytes.set(data, 8)
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + data.length)), 8 + data.length)
  return bytes
}

/** Big-endian numbers of 32 bits. @param {...number} numbers */
function words(...numbers) {
  const bytes = Buffer.alloc(4 * numbers.length)
  numbers.forEach((number, i) => bytes.writeUInt32BE(number, 4 * i))
  return bytes
}

/** An animated PNG (APNG 1.0), a tenth of a second a picture, all of one size.
 * @param {{ data: Uint8Array | Uint8ClampedArray, width: number, height: number }[]} pictures */
export function writeAnimation(pictures) {
  const [{ width, height }] = pictures,
    /** @type {Uint8Array[]} */
    parts = [Buffer.from('89504e470d0a1a0a', 'hex')]
  let order = 0
  for (const [i, picture] of pictures.entries()) {
    const png = writePng(picture.data, width, height)
    if (i === 0) parts.push(png.subarray(8, 33), chunk('acTL', words(pictures.length, 0)))
    parts.push(
      chunk(
        'fcTL',
        Buffer.concat([words(order++, width, height, 0, 0), Buffer.from([0, 1, 0, 10, 0, 0])])
      )
    )
    for (let at = 33; at < png.length; at += 12 + png.readUInt32BE(at)) {
      if (png.toString('latin1', at + 4, at + 8) !== 'IDAT') continue
      const data = png.subarray(at + 8, at + 8 + png.readUInt32BE(at))
      parts.push(
        i === 0 ? chunk('IDAT', data) : chunk('fdAT', Buffer.concat([words(order++), data]))
      )
    }
  }
  return Buffer.concat([...parts, chunk('IEND', Buffer.alloc(0))])
}
