/* Arrays in files: .npy (NumPy 1.0 to 3.0), .npz (zip of them, stored or deflated), .safetensors. Read as float32: { name: { shape, data } };
 * the grid and patch of a safetensors file's metadata are its array `grid`: rows, columns, tokens before the patches, side of a patch in pixels.
 * Written: all three. Lengths are checked against the file before anything is made from them. */

const fail = (name, what) => { throw new Error(`${name}: ${what}`) }
const size = (shape) => shape.reduce((product, side) => product * side, 1)

function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, fraction = bits & 1023
  if (exponent === 31) return fraction ? NaN : sign * Infinity
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -14 * (fraction / 1024))
}

let halves = null // the number of every half float

function fromHalves(bits) {
  halves ??= Float32Array.from({ length: 65536 }, (_, i) => half(i))
  const values = new Float32Array(bits.length)
  for (let i = 0; i < bits.length; i++) values[i] = halves[bits[i]]
  return values
}

/* A bfloat16 is the upper half of a float. */
function fromBfloats(bits) {
  const words = new Uint32Array(bits.length)
  for (let i = 0; i < bits.length; i++) words[i] = bits[i] << 16
  return new Float32Array(words.buffer)
}

/* How values of a kind are stored, and how they become floats; as all of WebAssembly's machines, little endian. */
const asFloats = (values) => new Float32Array(values)
const readers = {
  f4: [Float32Array, (values) => values], f8: [Float64Array, asFloats], f2: [Uint16Array, fromHalves], bf2: [Uint16Array, fromBfloats],
  u1: [Uint8Array, asFloats], i4: [Int32Array, asFloats], i8: [BigInt64Array, (values) => Float32Array.from(values, Number)]
}

function floats(name, bytes, kind, shape) {
  const [Stored, convert] = readers[kind] ?? fail(name, `values of a kind that is not read (found ${kind}, expected float16, float32 or float64)`), width = Stored.BYTES_PER_ELEMENT
  if (bytes.length !== size(shape) * width) fail(name, `shape and bytes do not fit (found ${bytes.length} bytes for ${shape.join(' x ')}, expected ${size(shape) * width}). Was it cut short? Copy or save it again.`)
  const aligned = bytes.byteOffset % width ? bytes.slice() : bytes
  return convert(new Stored(aligned.buffer, aligned.byteOffset, size(shape)))
}

export function readNpy(bytes, name) {
  const text = (from, to) => new TextDecoder('latin1').decode(bytes.subarray(from, to)), view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  if (bytes.length < 12 || text(1, 6) !== 'NUMPY' || bytes[0] !== 0x93) fail(name, 'no .npy file, whatever its name says. Save the maps with numpy.save, or open the file they are in.')
  const long = bytes[6] > 1, start = long ? 12 : 10, end = start + (long ? view.getUint32(8, true) : view.getUint16(8, true)), header = text(start, end)
  const descr = /'descr':\s*'([<|=])([a-z]\d)'/.exec(header), shape = /'shape':\s*\(([\d, ]*)\)/.exec(header)
  if (end > bytes.length || !descr || !shape) fail(name, `a header that is not read (found ${header.slice(0, 80)}, expected little-endian floats). Save the maps with numpy.save as float32.`)
  if (/'fortran_order':\s*True/.test(header)) fail(name, 'columns first (expected rows first: save numpy.ascontiguousarray(maps))')
  const sides = shape[1].split(',').map((side) => side.trim()).filter(Boolean).map(Number)
  return { shape: sides, data: floats(name, bytes.subarray(end), descr[2], sides) }
}

async function inflate(bytes) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))).arrayBuffer())
}

/* Zip (APPNOTE 6.3): the central directory, whose place the record at the end says. Entries [name, bytes] whose name ends so. */
async function* zipEntries(bytes, name, ending) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let end = bytes.length - 22
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end--
  if (end < 0) fail(name, 'no whole .npz file (its directory, which is its end, is missing). Copy it or save it with numpy.savez again.')
  for (let at = view.getUint32(end + 16, true), left = view.getUint16(end + 10, true); left > 0; left--) {
    if (at + 46 > bytes.length || view.getUint32(at, true) !== 0x02014b50) fail(name, 'a damaged directory. Copy it or save it with numpy.savez again.')
    const method = view.getUint16(at + 10, true), packed = view.getUint32(at + 20, true), nameLength = view.getUint16(at + 28, true), local = view.getUint32(at + 42, true)
    const entry = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameLength))
    if (local + 30 > bytes.length) fail(name, 'a damaged entry. Copy it or save it with numpy.savez again.')
    const from = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true), body = bytes.slice(from, from + packed)
    if (method !== 0 && method !== 8) fail(name, `${entry} is packed in a way that is not read (found method ${method}, expected 0 or 8)`)
    if (entry.endsWith(ending)) yield [entry, method ? await inflate(body) : body]
    at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true)
  }
}

async function readNpz(bytes, name) {
  const arrays = {}
  for await (const [entry, body] of zipEntries(bytes, name, '.npy')) arrays[entry.slice(0, -4)] = readNpy(body, `${name}, ${entry}`)
  return arrays
}

/** Names and shapes alone: { header, start }. */
export async function readSafetensorsHeader(file) {
  const length = file.size < 8 ? Infinity : Number(new DataView(await file.slice(0, 8).arrayBuffer()).getBigUint64(0, true))
  if (length > Math.min(file.size - 8, 1e8)) fail(file.name, 'no safetensors file (its header is longer than the file)')
  try {
    return { header: JSON.parse(await file.slice(8, 8 + length).text()), start: 8 + length }
  } catch {
    return fail(file.name, 'no safetensors file (its header is no JSON)')
  }
}

const kinds = { F32: 'f4', F64: 'f8', F16: 'f2', BF16: 'bf2', U8: 'u1' }

/** One tensor, { shape, data }, of a file whose header was read. */
export async function readTensor(file, { header, start }, name) {
  const { dtype, shape, data_offsets: [from, to] } = header[name], bytes = new Uint8Array(await file.slice(start + from, start + to).arrayBuffer())
  return { shape, data: floats(`${file.name}, ${name}`, bytes, kinds[dtype], shape) }
}

async function readSafetensors(file) {
  const read = await readSafetensorsHeader(file), { header } = read, arrays = {}
  for (const [name, { dtype }] of Object.entries(header)) if (name !== '__metadata__' && kinds[dtype]) arrays[name] = await readTensor(file, read, name)
  const { grid, patch } = header.__metadata__ ?? {}
  if (grid && !arrays.grid) arrays.grid = { shape: [4], data: Float32Array.from([...String(grid).split(' '), patch ?? 0], Number) }
  return arrays
}

export async function readArrays(file) {
  if (file.name.endsWith('.safetensors')) return readSafetensors(file)
  const bytes = new Uint8Array(await file.arrayBuffer())
  return file.name.endsWith('.npz') ? readNpz(bytes, file.name) : { maps: readNpy(bytes, file.name) }
}

/** Where the arrays of a file are from, as it says itself: an object, or null. */
export async function provenanceIn(file) {
  let text
  if (file.name.endsWith('.safetensors')) text = (await readSafetensorsHeader(file)).header.__metadata__?.provenance
  else if (file.name.endsWith('.npz')) for await (const [, body] of zipEntries(new Uint8Array(await file.arrayBuffer()), file.name, 'provenance.json')) text = new TextDecoder().decode(body)
  try {
    const from = JSON.parse(text)
    return from && typeof from === 'object' ? from : null
  } catch {
    return null
  }
}

const descrs = new Map([[Float32Array, '<f4'], [Uint8Array, '|u1'], [Int32Array, '<i4']])

/** parts: arrays of one type that follow one another. Returns the pieces of a Blob. */
export function npyParts(shape, parts) {
  const text = `{'descr': '${descrs.get(parts[0].constructor)}', 'fortran_order': False, 'shape': (${shape.join(', ')}${shape.length === 1 ? ',' : ''}), }`
  const padded = `${text.padEnd(Math.ceil((text.length + 11) / 64) * 64 - 11)}\n`, head = new Uint8Array(10)
  head.set([0x93, ...new TextEncoder().encode('NUMPY'), 1, 0, padded.length & 255, padded.length >> 8])
  return [head, padded, ...parts]
}

const crcTable = Uint32Array.from({ length: 256 }, (_, n) => { for (let bit = 0; bit < 8; bit++) n = (n >>> 1) ^ (n & 1 ? 0xedb88320 : 0); return n })

function crc32(bytes) {
  let crc = ~0
  for (let i = 0; i < bytes.length; i++) crc = (crc >>> 8) ^ crcTable[(crc ^ bytes[i]) & 255]
  return ~crc >>> 0
}

/* Numbers of a zip's records, little endian: [value, bytes of it]. */
function record(...fields) {
  const bytes = new Uint8Array(fields.reduce((sum, [, length]) => sum + length, 0)), view = new DataView(bytes.buffer)
  fields.reduce((at, [value, length]) => { length === 2 ? view.setUint16(at, value, true) : view.setUint32(at, value, true); return at + length }, 0)
  return bytes
}

/** entries: { file name: pieces of its Blob }, not deflated, below 4 GiB in all. Resolves to the pieces of a Blob: numpy.load reads it as .npz. */
export async function zipParts(entries) {
  const locals = [], directory = []
  let at = 0
  for (const [name, pieces] of Object.entries(entries)) {
    const bytes = new Uint8Array(await new Blob(pieces).arrayBuffer()), text = new TextEncoder().encode(name)
    const same = [[20, 2], [0, 2], [0, 2], [0, 2], [0x21, 2] /* 1 January 1980 */, [crc32(bytes), 4], [bytes.length, 4], [bytes.length, 4], [text.length, 2], [0, 2]]
    locals.push(record([0x04034b50, 4], ...same), text, bytes)
    directory.push(record([0x02014b50, 4], [20, 2], ...same, [0, 2], [0, 2], [0, 2], [0, 4], [at, 4]), text)
    at += 30 + text.length + bytes.length
  }
  const length = directory.reduce((sum, part) => sum + part.length, 0), count = directory.length / 2
  return [...locals, ...directory, record([0x06054b50, 4], [0, 2], [0, 2], [count, 2], [count, 2], [length, 4], [at, 4], [0, 2])]
}

/** tensors: { name: { shape, data } }. Returns the pieces of a Blob. */
export function safetensorsParts(tensors, metadata) {
  const header = { __metadata__: metadata }
  let at = 0
  for (const [name, { shape, data }] of Object.entries(tensors)) header[name] = { dtype: data instanceof Uint8Array ? 'U8' : 'F32', shape, data_offsets: [at, (at += data.byteLength)] }
  const text = new TextEncoder().encode(JSON.stringify(header)), padding = (8 - (text.length % 8)) % 8, length = new DataView(new ArrayBuffer(8))
  length.setBigUint64(0, BigInt(text.length + padding), true)
  return [length.buffer, text, ' '.repeat(padding), ...Object.values(tensors).map(({ data }) => data)]
}
