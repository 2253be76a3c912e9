/* Tensors of a graph's inputs and outputs, as the bytes of .safetensors files and as arrays. */
import { HeedError } from './error.js'
import { isArrayOf, kindOf } from './realm.js'
import type { GraphEvaluation, GraphResults } from '../types/library.js'
import type { GraphInput, GraphPort, GraphTensor, Tensor } from 'heed'

/** Of each type of elements its array; floats of 16 bits are passed in as their bits. */
const arrays: Record<string, any> = {
  F32: Float32Array,
  F64: Float64Array,
  F16: Uint16Array,
  BF16: Uint16Array,
  I64: BigInt64Array,
  U64: BigUint64Array,
  I32: Int32Array,
  U32: Uint32Array,
  I16: Int16Array,
  U16: Uint16Array,
  I8: Int8Array,
  U8: Uint8Array,
  BOOL: Uint8Array
}

/** A float of 16 bits as a number. */
function wide(bits: number, exponentBits: number) {
  const fractionBits = 15 - exponentBits,
    scale = 2 ** fractionBits,
    fraction = (bits % scale) / scale,
    exponent = Math.floor(bits / scale) % 2 ** exponentBits,
    bias = 2 ** (exponentBits - 1) - 1,
    sign = bits >> 15 ? -1 : 1
  if (exponent === 2 ** exponentBits - 1) return fraction ? NaN : sign * Infinity
  return sign * (exponent ? (1 + fraction) * 2 ** (exponent - bias) : fraction * 2 ** (1 - bias))
}

/** Floats as Float32Array; others as they are. */
const floatsOf = (dtype: string, data: any) =>
  dtype === 'F16' || dtype === 'BF16'
    ? Float32Array.from(data, (bits: number) => wide(bits, dtype === 'F16' ? 5 : 8))
    : data

function check({ name, dtype, shape: wanted }: GraphPort, given: GraphInput | undefined) {
  const expected = arrays[dtype ?? ''],
    { data, shape } = given ?? { data: undefined, shape: [] },
    wrong = (found: string, what: string) =>
      new HeedError(
        'INVALID_ARGUMENT',
        `evaluate: input ${name} is not valid (found ${found}, expected ${what})`
      )
  if (!expected)
    throw new HeedError(
      'UNSUPPORTED',
      `evaluate: input ${name} is of a type that heed does not take`
    )
  if (!isArrayOf(data, expected.name))
    throw wrong(kindOf(data), `{ data: ${expected.name}, shape }`)
  if (!Array.isArray(shape) || !shape.every((size) => Number.isSafeInteger(size) && size >= 0))
    throw wrong(`shape ${shape}`, `an array of sizes`)
  if (shape.reduce((count, size) => count * size, 1) !== (data as any).length)
    throw wrong(`${(data as any).length} elements for shape [${shape}]`, 'as many as the shape has')
  if (
    wanted &&
    (wanted.length !== shape.length || wanted.some((size, i) => size >= 0 && size !== shape[i]))
  )
    throw wrong(`shape [${shape}]`, `[${wanted.map((size) => (size < 0 ? 'any' : size))}]`)
  return { name, dtype: dtype as string, data: data as any, shape }
}

/**
 * Inputs as a .safetensors file, those of floats also as arrays for kernels, and what a session for
 * them depends on: '' where that is more than shapes.
 */
export function pack(ports: GraphPort[], inputs: Record<string, GraphInput>): GraphEvaluation {
  const names = ports.map(({ name }) => name),
    unknown = Object.keys(inputs).find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw new HeedError(
      'INVALID_ARGUMENT',
      `evaluate: no such input (found "${unknown}", expected ${names.join(', ')})`
    )
  const tensors = ports.map((port) =>
      check(port, Object.hasOwn(inputs, port.name) ? inputs[port.name] : undefined)
    ),
    header: Record<string, Stored> = {}
  let at = 0
  for (const { name, dtype, shape, data } of tensors)
    header[name] = { dtype, shape, data_offsets: [at, (at += data.byteLength)] }
  const text = new TextEncoder().encode(JSON.stringify(header)),
    bytes = new Uint8Array(8 + text.length + at)
  new DataView(bytes.buffer).setUint32(0, text.length, true)
  bytes.set(text, 8)
  at = 8 + text.length
  for (const { data } of tensors) {
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at)
    at += data.byteLength
  }
  const floats = tensors.filter(({ dtype }) => /^B?F(16|32)$/.test(dtype))
  return {
    bytes,
    floats: Object.fromEntries(
      floats.map(({ name, dtype, data }) => [name, floatsOf(dtype, data)])
    ),
    key: floats.length === tensors.length ? JSON.stringify(header) : ''
  }
}

/** What the header of a .safetensors file says of a tensor. */
interface Stored {
  dtype: string
  shape: number[]
  data_offsets: [from: number, to: number]
}

/** The header of a .safetensors file, of its JSON. */
export function headerOf(json: Uint8Array): Record<string, Stored> {
  const { __metadata__, ...header } = JSON.parse(new TextDecoder().decode(json))
  return header
}

/** The tensors of a .safetensors file. */
export function tensorsOf(bytes: Uint8Array): Record<string, GraphTensor> {
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true),
    header = headerOf(bytes.subarray(8, 8 + size))
  return Object.fromEntries(
    Object.entries(header).map(
      ([
        name,
        {
          dtype,
          shape,
          data_offsets: [from, to]
        }
      ]) => [
        name,
        {
          dtype,
          shape,
          data: floatsOf(
            dtype,
            new arrays[dtype](bytes.slice(8 + size + from, 8 + size + to).buffer)
          )
        }
      ]
    )
  )
}

/** What kernels computed, whose values are floats, as the graph's outputs. */
export function unpack(
  { outputs, attention, known }: GraphResults,
  values: Record<string, Tensor>
) {
  const output = ({ name, dtype, shape, value }: GraphResults['outputs'][number]) => {
    if (!value) return known[name]
    const found = values[value],
      type = dtype ?? 'F32'
    return {
      dtype: type,
      shape: shape?.length === 0 ? [] : found.shape,
      data: /^B?F(16|32)$/.test(type)
        ? found.data
        : arrays[type].from(found.data, /64/.test(type) && type !== 'F64' ? BigInt : undefined)
    }
  }
  return {
    outputs: Object.fromEntries(outputs.map((port) => [port.name, output(port)])),
    attention: attention && attention.map(({ value }) => (value ? values[value] : null) as any)
  }
}
