/* Reading and writing safetensors files in tests: { name: { shape, data } }. */
import { readFileSync } from 'node:fs'

const arrays = { F32: Float32Array, U8: Uint8Array, I32: Int32Array }

export function parseSafetensors(bytes) {
  const length = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true))
  const { __metadata__: metadata = {}, ...entries } = JSON.parse(
    new TextDecoder().decode(bytes.subarray(8, 8 + length))
  )
  const tensors = {}
  for (const [
    name,
    {
      dtype,
      shape,
      data_offsets: [from, to]
    }
  ] of Object.entries(entries))
    if (arrays[dtype])
      tensors[name] = {
        shape,
        data: new arrays[dtype](bytes.slice(8 + length + from, 8 + length + to).buffer)
      }
  return { metadata, tensors }
}

export const readSafetensors = (path) => parseSafetensors(new Uint8Array(readFileSync(path)))

/** The largest |a - b| / (1 + |b|); NaN equals NaN, anything else with NaN is infinitely far. */
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

export const sameBits = (a, b) =>
  Buffer.from(a.buffer, a.byteOffset, a.byteLength).equals(
    Buffer.from(b.buffer, b.byteOffset, b.byteLength)
  )
