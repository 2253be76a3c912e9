/* Writes an RGBA picture as an RGB PNG. */
import * as zlib from 'node:zlib'

const table = Array.from(
  { length: 256 },
  (_, n) =>
    Array.from({ length: 8 }).reduce((c) => (c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1), n) >>> 0
)
/** @type {(bytes: Uint8Array) => number} */
const checksum =
  zlib.crc32 ??
  ((/** @type {Uint8Array} */ bytes) =>
    (bytes.reduce((c, byte) => table[(c ^ byte) & 255] ^ (c >>> 8), 0xffffffff) ^ 0xffffffff) >>> 0)

/**
 * @param {string} type
 * @param {Uint8Array} body
 */
function chunk(type, body) {
  const bytes = Buffer.concat([Buffer.alloc(4), Buffer.from(type), body, Buffer.alloc(4)])
  bytes.writeUInt32BE(body.length, 0)
  bytes.writeUInt32BE(checksum(bytes.subarray(4, 8 + body.length)), 8 + body.length)
  return bytes
}

/**
 * @param {Uint8Array | Uint8ClampedArray} rgba
 * @param {number} width
 * @param {number} height
 */
export function writePng(rgba, width, height) {
  const head = Buffer.alloc(13),
    rows = Buffer.alloc(height * (1 + width * 3))
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 2, 0, 0, 0], 8)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      rows.set(
        rgba.subarray(4 * (y * width + x), 4 * (y * width + x) + 3),
        y * (1 + width * 3) + 1 + 3 * x
      )
  return Buffer.concat([
    Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]),
    chunk('IHDR', head),
    chunk('IDAT', zlib.deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0))
  ])
}
