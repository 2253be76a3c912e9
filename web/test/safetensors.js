/* Reading and writing safetensors files in tests: { name: { shape, data } }. */
import { readFileSync } from 'node:fs'

/**
 * @typedef {{shape: number[], data: Float32Array | Uint8Array | Int32Array}} FileTensor
 * @typedef {{dtype: string, shape: number[], data_offsets: [number, number]}} Entry
 */

/** @type {Record<string, typeof Float32Array | typeof Uint8Array | typeof Int32Array>} */
const arrays = { F32: Float32Array, U8: Uint8Array, I32: Int32Array }

/**
 * @param {Uint8Array} bytes
 * @returns {{metadata: Record<string, string>, tensors: Record<string, FileTensor>}}
 */
export function parseSafetensors(bytes) {
  const length = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true))
  const { __metadata__: metadata = {}, ...entries } = JSON.parse(
    new TextDecoder().decode(bytes.subarray(8, 8 + length))
  )
  /** @type {Record<string, FileTensor>} */
  const tensors = {}
  for (const [
    name,
    {
      dtype,
      shape,
      data_offsets: [from, to]
    }
  ] of Object.entries(/** @type {Record<string, Entry>} */ (entries)))
    if (arrays[dtype])
      tensors[name] = {
        shape,
        data: new arrays[dtype](bytes.slice(8 + length + from, 8 + length + to).buffer)
      }
  return { metadata, tensors }
}

/** @param {string} path */
export const readSafetensors = (path) => parseSafetensors(new Uint8Array(readFileSync(path)))

/**
 * The largest |a - b| / (1 + |b|); NaN equals NaN, anything else with NaN is infinitely far.
 * @param {ArrayLike<number>} a
 * @param {ArrayLike<number>} b
 */
export function distance(a, b) {
  if (a.length !== b.length) return Infinity
  let worst = 0
  for (let i = 0; i < a.length; i++) {
    if (Object.is(a[i], b[i]) || a[i] === b[i]) continue
    const d = Math.abs(a[i] - b[i]) / (1 + Math.abs(b[i]))
    worst = Math.max(worst, Number.isNaN(d) ? Infinity : d)
  }
  return worst
}

/**
 * @param {ArrayBufferView} a
 * @param {ArrayBufferView} b
 */
export const sameBits = (a, b) =>
  Buffer.from(a.buffer, a.byteOffset, a.byteLength).equals(
    Buffer.from(b.buffer, b.byteOffset, b.byteLength)
  )
