/* Weights that are no .safetensors files, in heed-all.wasm: those of PyTorch, and ONNX files as
 * weights of heed's own graph or as graphs. Loaded with the first of them. */
import { HeedError } from './error.js'
import { openGraph } from './graph.js'
import { lendFiles } from './model_records.js'
import { startHere } from './module.js'
import { isOnnx, openData, rankOf } from './onnx_files.js'
import { baseOf } from './place.js'
import { isForeign } from './source.js'
import type { ForeignTools, NamedFile, OpenFile, ReaderTools } from '../types/library.js'
import type { ModuleMemory } from './module_memory.js'
import type { ModelInfo } from 'heed'

const pieceBytes = 1 << 20

/**
 * A file of PyTorch as .safetensors; those of other makers are refused by name. A stream lets go
 * of what was read: not where tensors share bytes, which are read again.
 * @param key the entry that is asked for
 */
function openPickle(module: ModuleMemory, file: OpenFile, key?: string) {
  const { exports, web } = module
  module.name([file.name, key ?? ''], (name, keyAt) =>
    module.check(
      exports.pickle_open(web, name, file.size, file.source, key === undefined ? 0 : keyAt)
    )
  )
  const { address, size, shares } = module.out('reader')
  if (address) Object.assign(file, { reader: address, size, held: !!shares })
}

/**
 * An ONNX file as .safetensors, with the files of its external data, which join those of the model.
 * A file that came as a stream stays, since it is read more than once.
 */
async function openOnnx(
  module: ModuleMemory,
  file: OpenFile,
  files: OpenFile[],
  bring: ReaderTools['bring']
) {
  /** The places of external data, and what lies there: -1 nothing, -2 a link. */
  const data = new Map<string, OpenFile | -1 | -2>(),
    { exports, web } = module
  for (;;) {
    const found = [file, ...data.values()],
      sizes = found.map((of) => (typeof of === 'number' ? of : of.size)),
      sources = found.map((of) => (typeof of === 'number' ? 0 : of.source))
    module.name([file.name, [...data.keys()].join('\0')], (name, locations) =>
      module.lend([Float64Array.from(sizes), Uint32Array.from(sources)], (...at) =>
        module.check(exports.onnx_open(web, name, locations, ...at, data.size))
      )
    )
    const { address, size } = module.out('reader')
    if (address) {
      const note = module.string(exports.onnx_note(address))
      return Object.assign(file, { reader: address, size, note, held: true })
    }
    const wanted = []
    for (let at; (at = exports.onnx_wanted(wanted.length)); ) wanted.push(module.string(at))
    for (const location of wanted) {
      const there = (await openData(file, location, files, bring)) ?? -1
      data.set(location, there)
      if (typeof there === 'number') continue
      Object.assign(there, { data: true, held: true })
      if (!files.includes(there)) files.push(there)
    }
  }
}

/**
 * Opens what is no .safetensors file: of several ONNX files the first by rank, and all where none has
 * one, which the module refuses as several weights. That ONNX file, where there is one.
 */
async function openReaders(
  module: ModuleMemory,
  files: OpenFile[],
  { key, isForeign, bring, drop }: ReaderTools
) {
  const foreign = files.filter(isForeign),
    found = foreign.filter(({ file }) => isOnnx(file)),
    [onnx] = found.sort((a, b) => rankOf(a.name) - rankOf(b.name))
  if (key !== undefined && (onnx || !foreign[0]))
    throw new HeedError(
      'INVALID_FILE',
      `${(foreign[0] ?? files[0]).name}: no weights under that key (found "${key}" for a file without entries, expected one of PyTorch)`
    )
  if (!onnx) for (const file of foreign) openPickle(module, file, key)
  const left = found.filter(({ name }) => rankOf(name) !== rankOf(onnx.name))
  drop(left)
  for (const file of found) if (!left.includes(file)) await openOnnx(module, file, files, bring)
  return onnx
}

/** The model of these files, which stay the caller's. */
export async function openForeign(
  module: ModuleMemory,
  files: OpenFile[],
  tools: ForeignTools
): Promise<{ id: number; info: ModelInfo }> {
  const { way, text, open, adopt } = tools,
    onnx = await openReaders(module, files, tools)
  if (!onnx && way && way !== 'weights')
    throw new HeedError('INVALID_ARGUMENT', `way: not an ONNX file (found ${files[0].name})`)
  if (!onnx || text) return open()
  const { address, side } =
    way === 'reference' ? { address: 0, side: 0 } : choose(module, onnx, files, way)
  return address ? adopt(address) : openGraph(module, onnx, files, side, tools)
}

/** The way that the runtime takes with an ONNX file, or this one: the model of its weights, or the
 * side of the images that its graph takes, where that is known. */
function choose(
  module: ModuleMemory,
  onnx: OpenFile,
  files: OpenFile[],
  way = 'either'
): { address: number; side: number } {
  const named = files.filter(({ data }) => !data)
  lendFiles(module, named, (...list) =>
    module.check(
      module.exports.onnx_model(
        module.web,
        onnx.reader,
        module.code('way', way),
        ...list,
        named.length
      )
    )
  )
  return module.out('chosen')
}

/** Files of weights as .safetensors, in the calling thread: [[name, bytes], ...]. */
export async function readForeign(
  named: NamedFile[]
): Promise<[name: string, bytes: Uint8Array<ArrayBuffer>][]> {
  const files = named.map(
      (file, source) =>
        ({
          ...{ file, source, name: file.name, size: file.size, reader: 0 }
        }) as OpenFile
    ),
    module = await startHere({ base: baseOf('loadModel') }, true, (source, offset, to, count) => {
      named[source].read(offset, module.bytes(to, count))
      return 0
    }),
    { exports, web } = module
  await openReaders(module, files, {
    isForeign: ({ source }) => isForeign(named[source], source, named),
    bring: async () => [],
    drop: (left) => {
      for (const file of left) files.splice(files.indexOf(file), 1)
    }
  })
  return files
    .filter(({ data }) => !data)
    .map(({ file, name, size, reader }) => {
      const bytes = new Uint8Array(size)
      if (!reader) file.read(0, bytes)
      for (let at = 0; reader && at < size; at += pieceBytes) {
        const piece = bytes.subarray(at, at + pieceBytes)
        module.lend([piece], (to) => {
          module.check(exports.reader_read(web, reader, at, to, piece.length))
          piece.set(module.bytes(to, piece.length))
        })
      }
      return [name, bytes]
    })
}
