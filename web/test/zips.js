/* Files of arrays that are not what they say: .npz that inflate to very much, or lie about it. */
import { constants, deflateRawSync, gzipSync, inflateRawSync } from 'node:zlib'

/**
 * The CRC-32 that zlib writes behind a gzip: zlib.crc32, which Node 18 has not.
 * @param {Uint8Array} bytes
 */
export const crc32 = (bytes) => gzipSync(bytes, { level: 0 }).subarray(-8).readUInt32LE()

/** @param {number[]} shape */
export const npyHead = (shape, descr = '<f4') => {
  const text = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${shape.join(', ')},), }\n`
  return Buffer.concat([
    Buffer.from([0x93, ...Buffer.from('NUMPY'), 1, 0, text.length & 255, text.length >> 8]),
    Buffer.from(text)
  ])
}

/**
 * `count` times 64 MiB of one byte after a head, deflated; every part is deflated on its own.
 * @param {Uint8Array} head
 * @param {number} byte
 * @param {number} count
 */
export function deflated(head, byte, count) {
  const flushed = (/** @type {Uint8Array} */ bytes) =>
      deflateRawSync(bytes, { finishFlush: constants.Z_FULL_FLUSH }),
    block = flushed(Buffer.alloc(1 << 26, byte))
  return Buffer.concat([
    flushed(head),
    ...Array(count).fill(block),
    deflateRawSync(Buffer.alloc(0))
  ])
}

const sums = /** @type {WeakMap<Uint8Array, number>} */ (new WeakMap())

/**
 * The sum of what is inflated; 0 of what is too large to be read, or damaged.
 * @param {Uint8Array} packed
 * @param {number} size
 */
function sumOf(packed, size) {
  if (size < 2 || size > 1 << 27) return 0
  if (!sums.has(packed))
    try {
      sums.set(packed, crc32(inflateRawSync(packed, { maxOutputLength: size })))
    } catch {
      sums.set(packed, 0)
    }
  return sums.get(packed) ?? 0
}

/**
 * A zip: entries [name, packed bytes, size as the directory says it, place of an entry before
 * whose bytes are its own].
 * @param {[name: string, packed: Uint8Array, size: number, same?: number][]} entries
 */
export function zip(entries) {
  const locals = /** @type {Uint8Array[]} */ ([]),
    directory = /** @type {Uint8Array[]} */ ([]),
    places = /** @type {number[]} */ ([])
  let at = 0
  for (const [name, packed, size, same] of entries) {
    const local = Buffer.alloc(30),
      entry = Buffer.alloc(46)
    places.push(same === undefined ? at : places[same])
    local.writeUInt32LE(0x04034b50), local.writeUInt16LE(name.length, 26)
    entry.writeUInt32LE(0x02014b50),
      entry.writeUInt16LE(8, 10),
      entry.writeUInt32LE(sumOf(packed, size), 16),
      entry.writeUInt32LE(packed.length, 20),
      entry.writeUInt32LE(size, 24),
      entry.writeUInt16LE(name.length, 28),
      entry.writeUInt32LE(/** @type {number} */ (places.at(-1)), 42)
    directory.push(entry, Buffer.from(name))
    if (same !== undefined) continue
    locals.push(local, Buffer.from(name), packed)
    at += 30 + name.length + packed.length
  }
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50), end.writeUInt16LE(entries.length, 10), end.writeUInt32LE(at, 16)
  return Buffer.concat([...locals, ...directory, end])
}

/**
 * A .npz of one array of this shape, whose numbers are `count` times 64 MiB of one byte; says:
 * what its directory says of its size, if not that.
 * @param {number} byte
 * @param {number} count
 * @param {number[]} shape
 * @param {number} [says]
 */
export function bomb(byte, count, shape, says) {
  const head = npyHead(shape)
  return zip([['maps.npy', deflated(head, byte, count), says ?? head.length + count * 2 ** 26]])
}
