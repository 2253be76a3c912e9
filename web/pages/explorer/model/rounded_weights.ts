/* A model with coarser weights, to see what precision does to its maps: every floating-point tensor
 * of two axes or more in its files is rounded and written back in its own type, those of a file with
 * int8 as floats; biases and norms stay. Files of PyTorch and ONNX are read as .safetensors first, by the library's own readers. */
import {
  readSafetensorsHeader,
  readTensor,
  safetensorsParts,
  scaleOf
} from '../../shared/array_files.js'
import { demoModel } from '../../heed/demo.js'
import { readForeign } from '../../heed/foreign.js'
import { isWeights } from '../../heed/weights.js'
import { isForeign } from '../../heed/source.js'
import { blobAt } from '../../shared/demo_files.js'
import { filesOf } from '../../shared/weight_hashes.js'
import type { NamedArray, PageSource } from '../../shared/types.js'

/** In place; a row is what one output is made from. */
const roundings: Record<string, (row: Float32Array) => void> = {
  bf16: (row) => {
    const bits = new Uint32Array(row.buffer, row.byteOffset, row.length)
    bits.forEach((b, i) => {
      bits[i] = (b + 0x7fff + ((b >>> 16) & 1)) & 0xffff0000
    })
  },
  int8: (row) => roundTo(row, 127),
  int4: (row) => roundTo(row, 7)
}

/** Whole multiples of a step, the largest being `steps` of them. */
function roundTo(row: Float32Array, steps: number) {
  const step = row.reduce((most, value) => Math.max(most, Math.abs(value)), 0) / steps
  if (step > 0)
    row.forEach((value, i) => {
      row[i] = Math.round(value / step) * step
    })
}

/** Half precision (IEEE 754 binary16) to single and back, to the nearest with ties to even. */
const fromHalf = (h: number) => {
  const e = (h >> 10) & 31,
    f = h & 1023,
    v = e === 0 ? f * 2 ** -24 : e === 31 ? (f ? NaN : Infinity) : (1 + f / 1024) * 2 ** (e - 15)
  return h & 0x8000 ? -v : v
}
function toHalf(value: number) {
  const size = Math.abs(value),
    sign = value < 0 ? 0x8000 : 0
  if (!(size < 65520)) return sign | (size === size ? 0x7c00 : 0x7e00)
  const power = Math.max(-14, Math.floor(Math.log2(size || 1e-9))),
    unit = 2 ** (power - 10),
    even = size / unit,
    whole = Math.floor(even),
    rest = even - whole
  const rounded = whole + (rest > 0.5 || (rest === 0.5 && whole % 2) ? 1 : 0)
  return sign | (rounded < 1024 ? rounded : ((power + 15) << 10) + rounded - 1024)
}

/** How numbers lie in a file of weights: size in bytes, read and write at a place of a DataView. */
const types: Record<
  string,
  {
    size: number
    read(view: DataView, at: number): number
    write(view: DataView, at: number, value: number): void
  }
> = {
  F32: {
    size: 4,
    read: (view, at) => view.getFloat32(at, true),
    write: (view, at, value) => view.setFloat32(at, value, true)
  },
  F64: {
    size: 8,
    read: (view, at) => view.getFloat64(at, true),
    write: (view, at, value) => view.setFloat64(at, value, true)
  },
  F16: {
    size: 2,
    read: (view, at) => fromHalf(view.getUint16(at, true)),
    write: (view, at, value) => view.setUint16(at, toHalf(value), true)
  },
  BF16: {
    size: 2,
    read: (view, at) => new Float32Array(Uint32Array.of(view.getUint16(at, true) << 16).buffer)[0],
    write: (view, at, value) => {
      const [bits] = new Uint32Array(Float32Array.of(value).buffer)
      view.setUint16(at, (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16, true)
    }
  }
}

/** Files of weights as .safetensors; files: those of a model, for what its weights name. */
async function safetensorsOf(
  files: [name: string, value: any][]
): Promise<[name: string, bytes: Uint8Array<ArrayBuffer>][]> {
  const named = await Promise.all(
    files.map(async ([name, value]) => {
      const blob = value instanceof Blob ? value : await blobAt(value),
        bytes = new Uint8Array(await blob.arrayBuffer())
      return {
        name,
        size: bytes.length,
        read: (offset: number, target: Uint8Array) =>
          target.set(bytes.subarray(offset, offset + target.length)),
        close() {}
      }
    })
  )
  const made = named.some(isForeign)
    ? await readForeign(named)
    : named.map((file) => {
        const bytes = new Uint8Array(file.size)
        file.read(0, bytes)
        return [file.name, bytes] as [string, Uint8Array<ArrayBuffer>]
      })
  return made.filter(([name]) => isWeights(name))
}

/** A file of weights, in floats where some are int8. */
async function inFloats(name: string, stored: Uint8Array<ArrayBuffer>) {
  const file = new File([stored], name),
    read = await readSafetensorsHeader(file),
    { __metadata__: _, ...entries } = read.header,
    scales = new Set(
      Object.keys(entries)
        .filter((tensor) => entries[tensor].dtype === 'I8')
        .map(scaleOf)
    ),
    tensors: Record<string, NamedArray> = {}
  if (!scales.size) return stored
  for (const tensor of Object.keys(entries))
    if (!scales.has(tensor)) tensors[tensor] = await readTensor(file, read, tensor)
  return new Uint8Array(await new Blob(safetensorsParts(tensors, {})).arrayBuffer())
}

/** A file of weights, rounded; it keeps its name, by which an index may know it. */
async function roundedFile(
  name: string,
  stored: Uint8Array<ArrayBuffer>,
  round: (row: Float32Array) => void
) {
  const bytes = await inFloats(name, stored),
    { header, start } = await readSafetensorsHeader(new File([bytes], name)),
    view = new DataView(bytes.buffer)
  for (const { dtype, shape, data_offsets: [from, to] = [] as any } of Object.values(header)) {
    const type = types[dtype]
    if (!type || shape.length < 2) continue
    const length = (to - from) / type.size / shape[0],
      row = new Float32Array(length)
    for (let r = 0, at = start + from; r < shape[0]; r++) {
      for (let i = 0; i < length; i++) row[i] = type.read(view, at + i * type.size)
      round(row)
      for (let i = 0; i < length; i++, at += type.size) type.write(view, at, row[i])
    }
  }
  return new File([bytes], name)
}

/** Resolves to a source for loadModel. name: of roundings. */
export async function roundedSource(source: PageSource, name: string): Promise<PageSource> {
  const files = filesOf(source),
    made: Record<string, File> = {},
    others = files.filter(([file]) => !isWeights(file))
  for (const [file, bytes] of await safetensorsOf(files.filter(([file]) => !/\.json$/.test(file))))
    made[file] = await roundedFile(file, bytes, roundings[name])
  return source === demoModel
    ? { ...demoModel, weights: made['model.safetensors'] }
    : { ...Object.fromEntries(others), ...made }
}
