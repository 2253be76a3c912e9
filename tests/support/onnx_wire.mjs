/* ONNX's messages and .safetensors files, read and written by their bytes: for tests that know no
 * library of either. */
import { readFileSync, writeFileSync } from 'node:fs'

/* ---------------------------------------------------------------------------- protocol buffers */

/** The fields of a message: [number, wire type, value]; a value is a BigInt or the bytes. */
export function* fields(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let at = 0
  const varint = () => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]
      value |= BigInt(byte & 127) << shift
      if (byte < 128) return value
    }
  }
  while (at < bytes.length) {
    const key = Number(varint())
    const [number, wire] = [key >> 3, key & 7]
    if (wire === 0) yield [number, wire, varint()]
    else if (wire === 1) yield [number, wire, view.getBigUint64((at += 8) - 8, true)]
    else if (wire === 5) yield [number, wire, BigInt(view.getUint32((at += 4) - 4, true))]
    else {
      const size = Number(varint())
      yield [number, wire, bytes.subarray(at, (at += size))]
    }
  }
}

export const all = (bytes, number) =>
  [...fields(bytes)].filter((f) => f[0] === number).map((f) => f[2])
export const text = (bytes) => new TextDecoder().decode(bytes)

/** Numbers of a repeated field, packed or not; `size` 0: varints. */
function numbers(bytes, number, size) {
  const found = []
  for (const [at, wire, value] of fields(bytes)) {
    if (at !== number) continue
    if (wire !== 2) found.push(value)
    else if (size) {
      const view = new DataView(value.buffer, value.byteOffset, value.length)
      for (let i = 0; i < value.length; i += size)
        found.push(size === 4 ? BigInt(view.getUint32(i, true)) : view.getBigUint64(i, true))
    } else {
      /* a list of varints is read as a message whose keys they are */
      let item = 0n
      let shift = 0n
      for (const byte of value) {
        item |= BigInt(byte & 127) << shift
        shift += 7n
        if (byte < 128) {
          found.push(item)
          item = shift = 0n
        }
      }
    }
  }
  return found
}

/* -------------------------------------------------------------------------------------- tensors */

/** TensorProto.DataType: name in .safetensors, bits, field of typed data, its size (0: varint). */
const types = {
  1: ['F32', 32, 4, 4],
  2: ['U8', 8, 5, 0],
  3: ['I8', 8, 5, 0],
  4: ['U16', 16, 5, 0],
  5: ['I16', 16, 5, 0],
  6: ['I32', 32, 5, 0],
  7: ['I64', 64, 7, 0],
  9: ['BOOL', 8, 5, 0],
  10: ['F16', 16, 5, 0],
  11: ['F64', 64, 10, 8],
  12: ['U32', 32, 11, 0],
  13: ['U64', 64, 11, 0],
  16: ['BF16', 16, 5, 0],
  17: ['F8_E4M3', 8, 5, 0],
  18: ['F8_E4M3FNUZ', 8, 5, 0],
  19: ['F8_E5M2', 8, 5, 0],
  20: ['F8_E5M2FNUZ', 8, 5, 0],
  21: ['U8', 4, 5, 0],
  22: ['I8', 4, 5, 0],
  23: ['U8', 4, 5, 0],
  24: ['F8_E8M0', 8, 5, 0],
  25: ['U8', 2, 5, 0],
  26: ['I8', 2, 5, 0]
}
const signed = new Set([22, 26])

/** Elements of 2 or 4 bits as a byte each. */
function unpack(packed, count, bits, isSigned) {
  const bytes = new Uint8Array(count)
  const each = 8 / bits
  for (let i = 0; i < count; i++) {
    const value = (packed[Math.floor(i / each)] >> (bits * (i % each))) & ((1 << bits) - 1)
    bytes[i] = isSigned && value >> (bits - 1) ? value - (1 << bits) : value
  }
  return bytes
}

/** {type, dtype, shape, bytes} of a TensorProto. Throws for what .safetensors cannot hold. */
export function readTensor(bytes) {
  const type = Number(all(bytes, 2)[0] ?? 0)
  if (!types[type]) throw new Error(type === 8 ? 'text' : `type ${type}`)
  const [dtype, bits, field, size] = types[type]
  const shape = numbers(bytes, 1, 0).map(Number)
  const count = shape.reduce((a, b) => a * b, 1)
  let data = all(bytes, 9)[0]
  if (!data) {
    const items = numbers(bytes, field, size)
    const width = Math.max(1, bits / 8)
    data = new Uint8Array(items.length * width)
    items.forEach((item, i) => {
      for (let k = 0; k < width; k++) data[i * width + k] = Number((item >> BigInt(8 * k)) & 255n)
    })
  }
  if (bits < 8) data = unpack(data, count, bits, signed.has(type))
  return { type, dtype, shape, bytes: Uint8Array.from(data) }
}

export function writeFile(path, tensors) {
  const header = {}
  const parts = []
  let at = 0
  for (const [name, { dtype, shape, bytes }] of Object.entries(tensors)) {
    header[name] = { dtype, shape, data_offsets: [at, at + bytes.length] }
    parts.push(Buffer.from(bytes))
    at += bytes.length
  }
  let json = Buffer.from(JSON.stringify(header))
  json = Buffer.concat([json, Buffer.alloc((8 - (json.length % 8)) % 8, ' ')])
  const size = Buffer.alloc(8)
  size.writeBigUInt64LE(BigInt(json.length))
  writeFileSync(path, Buffer.concat([size, json, ...parts]))
}

export function readFile(path) {
  const bytes = readFileSync(path)
  const size = Number(bytes.readBigUInt64LE(0))
  const header = JSON.parse(bytes.subarray(8, 8 + size).toString())
  const made = {}
  for (const [name, { dtype, shape, data_offsets: at }] of Object.entries(header))
    if (name !== '__metadata__')
      made[name] = {
        dtype,
        shape,
        bytes: Uint8Array.from(bytes.subarray(8 + size + at[0], 8 + size + at[1]))
      }
  return made
}

/* -------------------------------------------------------------------------------------- numbers */

/** Bits of an exponent and of a mantissa, the bias, and the codes of Inf and NaN without a sign. */
const formats = {
  10: [5, 10, 15, 0x7c00, 0x7c01],
  17: [4, 3, 7, Infinity, 0x7f],
  18: [4, 3, 8, Infinity, 0x80],
  19: [5, 2, 15, 0x7c, 0x7d],
  20: [5, 2, 16, Infinity, 0x80],
  23: [2, 1, 1, Infinity, Infinity]
}

function decode([exponent, mantissa, bias, infinity, notNumber], bits) {
  const sign = bits >> (exponent + mantissa) ? -1 : 1
  const magnitude = bits & ((1 << (exponent + mantissa)) - 1)
  if (magnitude >= notNumber || bits === notNumber) return NaN
  if (magnitude === infinity) return sign * Infinity
  const part = (magnitude & ((1 << mantissa) - 1)) / (1 << mantissa)
  const power = magnitude >> mantissa
  return sign * (power ? 2 ** (power - bias) * (1 + part) : 2 ** (1 - bias) * part)
}

/** Floats of a type as numbers; null: whole numbers, whose bytes must be equal. */
export function floats(type, bytes) {
  if (type === 1) return new Float32Array(bytes.buffer)
  if (type === 11) return new Float64Array(bytes.buffer)
  if (type === 16)
    return new Float32Array(Uint32Array.from(new Uint16Array(bytes.buffer), (w) => w << 16).buffer)
  const words = type === 10 ? new Uint16Array(bytes.buffer) : bytes
  return formats[type] ? Float64Array.from(words, (bits) => decode(formats[type], bits)) : null
}
