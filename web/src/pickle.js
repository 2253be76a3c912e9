/* Weights that are no .safetensors file: heed-pickle.wasm reads those of PyTorch as data, and the
 * rest of the library reads a .safetensors file. Those of ONNX are left to onnx.js. Loaded with the first of them. It imports nothing,
 * so that bundlers leave the scripts that a page starts with as they are. */
/** @import {FolderTools, Instance, ModuleHost, NamedFile, OnnxTools, PickleTools} from '../types/library.js' */

const bufferBytes = 1 << 20

/** An instance of the module, for the files of one model: it goes with them. */
class Reader {
  /** @type {NamedFile[]} */
  #files = []
  #instance
  #memory
  #buffer
  #key

  /**
   * @param {Instance} instance
   * @param {PickleTools} tools
   */
  constructor(instance, { ModuleMemory, key }) {
    this.#key = key
    this.#instance = instance
    this.#memory = new ModuleMemory(instance)
    this.#buffer = this.#memory.alloc(bufferBytes)
  }

  /** @type {ModuleHost['read']} */
  read(source, offset, to, count) {
    try {
      this.#files[source].read(offset, this.#memory.bytes(to, count))
      return 0
    } catch {
      return 1
    }
  }

  /**
   * A file of PyTorch as .safetensors; those of other makers are refused by name. A stream lets go
   * of what was read: not where tensors share bytes, which are read again.
   * @param {NamedFile} file
   * @returns {NamedFile}
   */
  open(file) {
    const { exports, web } = this.#instance,
      memory = this.#memory,
      source = this.#files.push(file) - 1
    const texts = [file.name, this.#key ?? ''].map((text) => new TextEncoder().encode(`${text}\0`))
    memory.lend(texts, (name, key) =>
      memory.check(
        exports.pickle_open(web, name, file.size, source, this.#key === undefined ? 0 : key)
      )
    )
    const { address, size, shares } = memory.out('pickle')
    if (!address) return file
    return {
      name: file.name,
      size,
      read: (offset, target) => this.#fill(address, offset, target),
      close: () => file.close(),
      ...(file.begin &&
        !shares && {
          begin: async (progress, signal) => file.begin?.(progress, signal),
          end: () => file.end?.()
        })
    }
  }

  /**
   * @param {number} pickle
   * @param {number} offset
   * @param {Uint8Array} target
   */
  #fill(pickle, offset, target) {
    const { exports, web } = this.#instance
    for (let done = 0; done < target.length; ) {
      const count = Math.min(bufferBytes, target.length - done)
      this.#memory.check(exports.pickle_read(web, pickle, offset + done, this.#buffer, count))
      target.set(this.#memory.bytes(this.#buffer, count), done)
      done += count
    }
  }
}

/**
 * A model's files with .safetensors in the place of those of PyTorch or ONNX.
 * @param {NamedFile[]} files
 * @param {PickleTools & OnnxTools} tools
 * @returns {Promise<NamedFile[]>}
 */
export async function readForeign(files, tools) {
  try {
    const { isOnnx, readOnnx } = await import('./onnx_files.js'),
      foreign = files.filter(tools.isForeign),
      onnx = foreign.some(isOnnx)
    if (tools.key !== undefined && (onnx || !foreign[0]))
      throw new tools.HeedError(
        'INVALID_FILE',
        `${(foreign[0] ?? files[0]).name}: no weights under that key (found "${tools.key}" for a file without entries, expected one of PyTorch)`
      )
    return await (onnx ? readOnnx : readPickles)(files, tools)
  } catch (error) {
    for (const file of files) file.close()
    throw error
  }
}

/**
 * @param {NamedFile[]} files
 * @param {PickleTools} tools
 */
async function readPickles(files, tools) {
  /** @type {Reader} */
  const reader = new Reader(
    await tools.start('pickle', {
      read: (source, offset, to, count) => reader.read(source, offset, to, count)
    }),
    tools
  )
  return files.map((file, i) => (tools.isForeign(file, i, files) ? reader.open(file) : file))
}

const index = 'pytorch_model.bin.index.json'

/**
 * Files of PyTorch in a folder that has no others.
 * @param {(names: string[]) => Promise<NamedFile[]>} open
 * @param {typeof import('./shards.js').shardsOf} shardsOf
 * @param {FolderTools} tools
 */
export async function openTorch(open, shardsOf, tools) {
  const files = await open([index])
  try {
    const names = files.map((file) => shardsOf(file.size, () => tools.wholeOf(file), index, tools))
    return [...files, ...(await open(names[0] ?? ['pytorch_model.bin']))]
  } catch (error) {
    for (const file of files) file.close()
    throw error
  }
}
