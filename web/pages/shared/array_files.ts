/* Arrays in files: .npy (NumPy 1.0 to 3.0), .npz (zip of them, stored or deflated), .safetensors.
 * Read as float32: { name: { shape, data } }; the grid and patch of a safetensors file's metadata
 * are its arrays `grid`: rows, columns, tokens before the patches, side of a patch in pixels, and `patch`.
 * Written: all three. What a file says of itself is checked, against the file and against what a
 * page can hold, before its numbers are read. */

import { Zip, ZipPassThrough } from 'fflate'
import { say } from '../languages/say.js'
import type { ArrayPart, FileHeader, NamedArray, ZipEntry } from './types.js'

const fail = (name: string, what: string): never => {
  throw new Error(say('files.fail', { name, what }))
}
const size = (shape: number[]) => shape.reduce((product, side) => product * side, 1)

function half(bits: number) {
  const sign = bits & 0x8000 ? -1 : 1,
    exponent = (bits >> 10) & 31,
    fraction = bits & 1023
  if (exponent === 31) return fraction ? NaN : sign * Infinity
  return (
    sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -14 * (fraction / 1024))
  )
}

let halves: Float32Array | undefined // the number of every half float

function fromHalves(bits: Uint16Array) {
  halves ??= Float32Array.from({ length: 65536 }, (_, i) => half(i))
  const values = new Float32Array(bits.length)
  for (let i = 0; i < bits.length; i++) values[i] = halves[bits[i]]
  return values
}

/* A bfloat16 is the upper half of a float. */
function fromBfloats(bits: Uint16Array) {
  const words = new Uint32Array(bits.length)
  for (let i = 0; i < bits.length; i++) words[i] = bits[i] << 16
  return new Float32Array(words.buffer)
}

/* How values of a kind are stored, and how they become floats; as all of WebAssembly's machines,
 * little endian. */
const asFloats = (values: ArrayLike<number>) => new Float32Array(values)
export type ArrayClass = {
  BYTES_PER_ELEMENT: number
  new (buffer: ArrayBufferLike, at: number, length: number): any
}

const readers: Record<string, [stored: ArrayClass, convert: (values: any) => Float32Array]> = {
  f4: [Float32Array, (values) => values],
  f8: [Float64Array, asFloats],
  f2: [Uint16Array, fromHalves],
  bf2: [Uint16Array, fromBfloats],
  u1: [Uint8Array, asFloats],
  i1: [Int8Array, asFloats],
  i4: [Int32Array, asFloats],
  i8: [BigInt64Array, (values) => Float32Array.from(values, Number)]
}

const readerOf = (name: string, kind: string) =>
  Object.hasOwn(readers, kind) ? readers[kind] : fail(name, say('files.kind', { kind }))

function expectSize(name: string, found: number, kind: string, shape: number[]) {
  const expected = size(shape) * readerOf(name, kind)[0].BYTES_PER_ELEMENT
  if (found !== expected)
    fail(name, say('files.size', { found, shape: shape.join(' x '), expected }))
}

function floats(name: string, bytes: Uint8Array, kind: string, shape: number[]) {
  const [Stored, convert] = readerOf(name, kind)
  expectSize(name, bytes.length, kind, shape) // a file may be another by now
  const aligned = bytes.byteOffset % Stored.BYTES_PER_ELEMENT ? bytes.slice() : bytes
  return convert(new Stored(aligned.buffer, aligned.byteOffset, size(shape)))
}

/* A file's header, as far as it is looked at, and all that may be inflated: the page holds it as
 * floats. In bytes. */
const headerMost = 65536,
  arraysMost = 2 ** 31

/** Where the numbers of a .npy begin, of which kind they are and in which shape; bytes: its first
 * ones, length: of all of it. */
function npyHeader(bytes: Uint8Array, length: number, name: string) {
  const text = (from: number, to: number) =>
      new TextDecoder('latin1').decode(bytes.subarray(from, to)),
    view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  if (bytes.length < 12 || text(1, 6) !== 'NUMPY' || bytes[0] !== 0x93)
    fail(name, say('files.noNpy'))
  const long = bytes[6] > 1,
    start = long ? 12 : 10,
    end = start + (long ? view.getUint32(8, true) : view.getUint16(8, true)),
    header = text(start, end)
  const descr = /'descr':\s*'([<>|=])([a-z]\d)'/.exec(header),
    sides = /'shape':\s*\(([\d, ]*)\)/.exec(header)
  if (end > bytes.length || !descr || !sides)
    fail(name, say('files.npyHeader', { found: header.slice(0, 80) }))
  const shape = (sides as RegExpExecArray)[1]
    .split(',')
    .map((side) => side.trim())
    .filter(Boolean)
    .map(Number)
  const [, order, kind] = descr as RegExpExecArray
  expectSize(name, length - end, kind, shape)
  return {
    name,
    kind,
    shape,
    start: end,
    bytes: length - end,
    bigEndian: order === '>',
    columnsFirst: /'fortran_order':\s*True/.test(header)
  }
}

/**
 * Of a .npy, whose values are as the machine that wrote it has them.
 * @param bytes turned where they are
 */
function littleEndian(
  { bigEndian, kind }: { bigEndian: boolean; kind: string },
  bytes: Uint8Array
) {
  const each = Number(kind[1])
  for (let at = 0; bigEndian && at < bytes.length; at += each)
    bytes.subarray(at, at + each).reverse()
  return bytes
}

/** @param values columns first, as Fortran has them */
function rowsFirst(values: Float32Array, shape: number[]) {
  let step = 1
  const at = shape.map(() => 0),
    steps = shape.map((side) => (step *= side) / side)
  let from = 0
  return values.map(() => {
    const value = values[from]
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      from += steps[axis]
      if (++at[axis] < shape[axis]) break
      from -= steps[axis] * at[axis]
      at[axis] = 0
    }
    return value
  })
}

/* A deflated part in small pieces: inflated, one is a thousand times as large at most, and no
 * further one is before it was taken. */
const pieces = () =>
  new TransformStream({
    transform(part: Uint8Array, to) {
      for (let at = 0; at < part.length; at += 4096) to.enqueue(part.subarray(at, at + 4096))
    }
  })

/** The first `count` bytes of what an entry holds; of all of it the end is checked too. */
async function inflate({ blob, size, what }: ZipEntry, count: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(Math.min(size, count)),
    reader = blob
      .stream()
      .pipeThrough(pieces())
      .pipeThrough(new DecompressionStream('deflate-raw'))
      .getReader()
  let at = 0
  for (;;) {
    const { done, value = [] as any } = await reader
      .read()
      .catch(() => fail(what, say('files.damaged')))
    if (done ? at < bytes.length : at + value.length > size)
      fail(what, say('files.inflate', { found: done ? at : say('files.more'), expected: size }))
    if (done) return bytes
    bytes.set(value.subarray(0, bytes.length - at), at)
    at += value.length
    if (bytes.length < size && at >= bytes.length) return reader.cancel().then(() => bytes)
  }
}

const bytesOf = async (blob: Blob) => new Uint8Array(await blob.arrayBuffer())
const startOf = (entry: ZipEntry, count: number) =>
  entry.packed ? inflate(entry, count) : bytesOf(entry.blob.slice(0, count))

/* Zip (APPNOTE 6.3): the central directory, whose place the record at the end says. Entries {
 * entry, what: its name in sentences, blob, size: inflated, packed: whether it is deflated }, none
 * of which shares bytes with another. */
const entriesMost = 1024,
  directoryMost = 4e6 // bytes
async function zipEntries(file: File) {
  const { name } = file,
    tail = await bytesOf(file.slice(Math.max(0, file.size - 65557))),
    last = new DataView(tail.buffer)
  let end = tail.length - 22
  while (end >= 0 && last.getUint32(end, true) !== 0x06054b50) end--
  if (end < 0) fail(name, say('files.noDirectory'))
  const count = last.getUint16(end + 10, true),
    from = last.getUint32(end + 16, true),
    to = file.size - tail.length + end
  if (count > entriesMost) fail(name, say('files.manyArrays', { found: count, most: entriesMost }))
  if (to - from > directoryMost)
    fail(name, say('files.largeDirectory', { found: to - from, most: directoryMost }))
  const bytes = await bytesOf(file.slice(from, to)),
    view = new DataView(bytes.buffer),
    entries: ZipEntry[] = []
  for (let at = 0; entries.length < count; ) {
    if (at + 46 > bytes.length || view.getUint32(at, true) !== 0x02014b50)
      fail(name, say('files.damagedDirectory'))
    const method = view.getUint16(at + 10, true),
      length = view.getUint32(at + 20, true),
      nameLength = view.getUint16(at + 28, true),
      local = view.getUint32(at + 42, true)
    const entry = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameLength)),
      what = `${name}, ${entry}`
    if (method !== 0 && method !== 8) fail(what, say('files.packed', { method }))
    const head = new DataView(await file.slice(local, local + 30).arrayBuffer())
    if (head.byteLength < 30) fail(what, say('files.damagedEntry'))
    const start = local + 30 + head.getUint16(26, true) + head.getUint16(28, true)
    entries.push({
      entry,
      what,
      local,
      end: start + length,
      blob: file.slice(start, start + length),
      size: method ? view.getUint32(at + 24, true) : length,
      crc: view.getUint32(at + 16, true),
      packed: method === 8
    })
    at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true)
  }
  entries
    .sort((a, b) => a.local - b.local)
    .forEach(({ what, end }, i) => {
      if (end > (entries[i + 1]?.local ?? from)) fail(what, say('files.overlap'))
    })
  return entries
}

/** Attention deflates to a half or a tenth; what would become very much larger is no attention. */
function expectModest(entries: ZipEntry[], name: string) {
  const total = (of: (entry: ZipEntry) => number) =>
      entries.reduce((sum, entry) => sum + of(entry), 0),
    found = total(({ size }) => size),
    most = Math.max(48e6, 16 * total(({ blob }) => blob.size))
  if (entries.some(({ packed }) => packed) && found > most)
    fail(name, say('files.inflatesMuch', { found, most }))
}

/** Numbers that were damaged on their way are numbers too: the directory has a sum of all bytes. The
 * page goes on in between. */
async function expectSum({ what, crc }: ZipEntry, bytes: Uint8Array) {
  const sum = createSum()
  for (let at = 0; at < bytes.length; at += 1 << 24) {
    if (at) await new Promise((done) => setTimeout(done))
    sum.add(bytes.subarray(at, at + (1 << 24)))
  }
  const found = sum.end()
  if (found !== crc)
    fail(what, say('files.crc', { found: found.toString(16), expected: crc.toString(16) }))
}

async function npzParts(file: File) {
  const entries = (await zipEntries(file)).filter(({ entry }) => entry.endsWith('.npy')),
    parts = Object.create(null)
  for (const entry of entries) {
    const head = npyHeader(await startOf(entry, headerMost), entry.size, entry.what)
    parts[entry.entry.slice(0, -4)] = {
      ...head,
      entry,
      read: async () => {
        const bytes = await startOf(entry, entry.size)
        await expectSum(entry, bytes)
        return littleEndian(head, bytes.subarray(head.start))
      }
    }
  }
  return parts
}

async function npyPart(file: File) {
  const head = npyHeader(await bytesOf(file.slice(0, headerMost)), file.size, file.name)
  return {
    maps: {
      ...head,
      read: async () => littleEndian(head, await bytesOf(file.slice(head.start)))
    }
  }
}

const isCount = (value: number) => Number.isSafeInteger(value) && value >= 0
const isTensor = (entry: any) =>
  typeof entry?.dtype === 'string' &&
  [entry.shape, entry.data_offsets].every((list) => Array.isArray(list) && list.every(isCount)) &&
  entry.data_offsets[1] >= entry.data_offsets[0]

/** Names, shapes and places alone: { header, start }. */
export async function readSafetensorsHeader(
  file: (Blob & { name?: string }) | undefined
): Promise<FileHeader> {
  const length =
      (file as Blob | File).size < 8
        ? Infinity
        : Number(
            new DataView(await (file as Blob | File).slice(0, 8).arrayBuffer()).getBigUint64(
              0,
              true
            )
          ),
    wrong = (why: string) => fail((file as File).name, say('files.noSafetensors', { why }))
  if (length > (file as Blob | File).size - 8) wrong(say('files.headerLonger'))
  if (length > 4e6) wrong(say('files.headerLong', { found: length, most: 4e6 }))
  const header: any = await (file as Blob | File)
    .slice(8, 8 + length)
    .text()
    .then(JSON.parse)
    .catch(() => wrong(say('files.headerNoJson')))
  if (!header || typeof header !== 'object') wrong(say('files.headerNoObject'))
  for (const [name, entry] of Object.entries(header))
    if (name === '__metadata__' ? !entry || typeof entry !== 'object' : !isTensor(entry))
      wrong(say('files.noTensor', { name: name.slice(0, 60) }))
  return { header, start: 8 + length }
}

const kinds: Record<string, string> = { F32: 'f4', F64: 'f8', F16: 'f2', BF16: 'bf2', U8: 'u1' },
  kindOf = (dtype: string) => (Object.hasOwn(kinds, dtype) ? kinds[dtype] : '')

function tensorPart(file: Blob & { name?: string }, { header, start }: FileHeader, name: string) {
  const {
      dtype,
      shape,
      data_offsets: [from, to]
    } = header[name],
    what = `${file.name}, ${name}`,
    kind = kindOf(dtype) || (dtype === 'I8' && 'i1') || `"${dtype.slice(0, 20)}"` // as no reader is called
  expectSize(what, to - from, kind, shape)
  return {
    name: what,
    kind,
    shape,
    bytes: to - from,
    read: () => bytesOf(file.slice(start + from, start + to))
  }
}

async function arrayOf({ name, kind, shape, read, columnsFirst }: ArrayPart): Promise<NamedArray> {
  const data = floats(name, await read(), kind, shape)
  return { shape, data: columnsFirst ? rowsFirst(data, shape) : data }
}

/** Of a tensor of int8 the name of its scales (docs/quantisation.md). */
export const scaleOf = (name: string) => `${name}_scale`

/** One tensor, { shape, data }, of a file whose header was read; int8 times its scales, each of
 * which belongs to an equal part of it. */
export async function readTensor(file: Blob, read: FileHeader, name: string) {
  const tensor = await arrayOf(tensorPart(file, read, name))
  if (read.header[name].dtype !== 'I8') return tensor
  const { data: scales } = await arrayOf(tensorPart(file, read, scaleOf(name))),
    { data } = tensor
  data.forEach((value, i) => {
    data[i] = value * scales[Math.floor((i * scales.length) / data.length)]
  })
  return tensor
}

async function partsOfSafetensors(file: File) {
  const read = await readSafetensorsHeader(file),
    { header } = read,
    { grid, patch } = (header.__metadata__ ?? {}) as Record<string, any>,
    parts = Object.create(null)
  for (const [name, { dtype }] of Object.entries(header))
    if (name !== '__metadata__' && kindOf(dtype)) parts[name] = tensorPart(file, read, name)
  const metadata = (name: string, numbers: number[]) => {
    parts[name] ??= {
      name: `${file.name}, ${name}`,
      shape: [numbers.length],
      bytes: 4 * numbers.length,
      kind: 'f4',
      read: () => new Uint8Array(Float32Array.from(numbers).buffer)
    }
  }
  const isText = (text: unknown, of: RegExp) => typeof text === 'string' && of.test(text),
    said = (text: unknown) => JSON.stringify(text).slice(0, 60)
  if (patch !== undefined && !isText(patch, /^[1-9]\d*$/))
    fail(`${file.name}, patch`, say('files.patchText', { found: said(patch) }))
  if (grid !== undefined && !isText(grid, /^\d+ \d+ \d+$/))
    fail(`${file.name}, grid`, say('files.gridText', { found: said(grid) }))
  if (grid !== undefined) metadata('grid', [...grid.split(' '), patch ?? 0].map(Number))
  if (patch !== undefined) metadata('patch', [Number(patch)])
  return parts
}

/** { name: { shape, data } }. choose({ name: { shape } }) says which of them are read: nothing else
 * is, and before it nothing but names and shapes. */
export async function readArrays(file: File, choose = Object.keys) {
  const parts = await (file.name.endsWith('.safetensors')
    ? partsOfSafetensors
    : file.name.endsWith('.npz')
      ? npzParts
      : npyPart)(file)
  const wanted = choose(parts),
    total = wanted.reduce(
      (sum, name) => sum + Math.max(parts[name].bytes, 4 * size(parts[name].shape)),
      0
    ),
    arrays = Object.create(null)
  if (total > arraysMost)
    fail(file.name, say('files.pageHolds', { found: total, most: arraysMost }))
  expectModest(
    wanted.flatMap((name) => parts[name].entry ?? []),
    file.name
  )
  for (const name of wanted) arrays[name] = await arrayOf(parts[name])
  return arrays
}

/** Where the arrays of a file are from, as it says itself: an object, or null. */
export async function provenanceIn(file: File) {
  let text
  if (file.name.endsWith('.safetensors'))
    text = ((await readSafetensorsHeader(file)).header.__metadata__ as any)?.provenance
  else if (file.name.endsWith('.npz')) {
    const entry = (await zipEntries(file)).find(
      ({ entry, size }) => entry.endsWith('provenance.json') && size < 1e6
    )
    text = entry && new TextDecoder().decode(await startOf(entry, entry.size))
  }
  try {
    const from = JSON.parse(text)
    return from && typeof from === 'object' ? from : null
  } catch {
    return null
  }
}

const descrs = new Map([
  [Float32Array, '<f4'],
  [Uint8Array, '|u1'],
  [Int32Array, '<i4']
] as [Function, string][])

/**
 * parts: arrays of one type that follow one another. Returns the pieces of a Blob.
 * @returns BlobPart[]
 */
export function npyParts(
  shape: number[],
  parts: (Uint8Array | Int32Array | Float32Array)[]
): any[] {
  const text = `{'descr': '${descrs.get(parts[0].constructor)}', 'fortran_order': False, 'shape': (${shape.join(', ')}${shape.length === 1 ? ',' : ''}), }`
  const padded = `${text.padEnd(Math.ceil((text.length + 11) / 64) * 64 - 11)}\n`,
    head = new Uint8Array(10)
  head.set([
    0x93,
    ...new TextEncoder().encode('NUMPY'),
    1,
    0,
    padded.length & 255,
    padded.length >> 8
  ])
  return [head, padded, ...parts]
}

/** The CRC-32 of zip and PNG, which fflate computes of what is stored. */
export function createSum() {
  const file = new ZipPassThrough('')
  file.ondata = () => {}
  return {
    add: (bytes: Uint8Array) => file.push(bytes),
    end: () => {
      file.push(new Uint8Array(), true)
      return file.crc >>> 0
    }
  }
}

/** entries: { file name: pieces of its Blob }, not deflated, below 4 GiB in all. Resolves to the
 * pieces of a Blob: numpy.load reads it as .npz. */
export async function zipParts(entries: Record<string, BlobPart[]>) {
  const parts: Uint8Array<ArrayBuffer>[] = [],
    zip = new Zip((error, part) => {
      if (error) throw error
      parts.push(part as Uint8Array<ArrayBuffer>)
    })
  for (const [name, pieces] of Object.entries(entries)) {
    const file = new ZipPassThrough(name)
    file.mtime = new Date(1980, 0)
    zip.add(file)
    file.push(new Uint8Array(await new Blob(pieces).arrayBuffer()), true)
  }
  zip.end()
  return parts
}

/** tensors: { name: { shape, data } }. Returns the pieces of a Blob. */
export function safetensorsParts(
  tensors: Record<string, { shape: number[]; data: Float32Array | Uint8Array }>,
  metadata: Record<string, string>
): BlobPart[] {
  const header: Record<string, object> = { __metadata__: metadata }
  let at = 0
  for (const [name, { shape, data }] of Object.entries(tensors))
    header[name] = {
      dtype: data instanceof Uint8Array ? 'U8' : 'F32',
      shape,
      data_offsets: [at, (at += data.byteLength)]
    }
  const text = new TextEncoder().encode(JSON.stringify(header)),
    padding = (8 - (text.length % 8)) % 8,
    length = new DataView(new ArrayBuffer(8))
  length.setBigUint64(0, BigInt(text.length + padding), true)
  return [
    length.buffer,
    text,
    ' '.repeat(padding),
    ...Object.values(tensors).map(({ data }) => data as Float32Array<ArrayBuffer>)
  ]
}
