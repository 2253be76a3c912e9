/* ONNX files as weights: heed-onnx.wasm makes a .safetensors file of them, and the rest of the
 * library reads that. An instance of the module lasts until a model is open or a session is made,
 * and comes again for the next session. Loaded with the first such file. */
/** @import {NamedFile, OnnxReader, OnnxTools} from '../types/library.js' */

const bufferBytes = 1 << 22

/** Implements NamedFile. */
export class OnnxFile {
  /** @type {OnnxReader | undefined} */
  #reader
  #tools
  #openData
  #file
  #given
  /** The places of its external data, and what lies there: -1 nothing, -2 a link.
   * @type {Map<string, NamedFile | -1 | -2>} */
  #data = new Map()
  size = 0
  note = ''

  /**
   * @param {NamedFile} file
   * @param {NamedFile[]} given with it
   * @param {OnnxTools} tools
   * @param {typeof import('./onnx_files.js').openData} openData
   */
  constructor(file, given, tools, openData) {
    this.name = file.name
    this.#file = file
    this.#given = given
    this.#tools = tools
    this.#openData = openData
  }

  /** In its module, between begin() and end(). */
  get reader() {
    return this.#reader
  }

  /** What it was made of, for a reader of another kind. */
  get parts() {
    return { file: this.#file, given: this.#given, tools: this.#tools, openData: this.#openData }
  }

  get data() {
    return [...this.#data.values()].filter((file) => typeof file === 'object')
  }

  /** Needed before a read; a file that came as a stream stays, since it is read more than once. */
  async begin() {
    if (this.#reader) return
    const { ModuleMemory, start } = this.#tools,
      instance = await start('onnx', {
        read: (source, offset, to, count) => {
          const files = /** @type {NamedFile[]} */ ([this.#file, ...this.#data.values()])
          try {
            /** @type {NamedFile} */
            files[source].read(offset, memory.bytes(to, count))
            return 0
          } catch {
            return 1
          }
        }
      }),
      { exports, web } = instance,
      memory = new ModuleMemory(instance)
    let address
    while (!(address = this.#open(exports, web, memory))) await this.#bring(exports, memory)
    this.note = memory.string(exports.onnx_note())
    const buffer = memory.alloc(bufferBytes)
    this.#reader = { exports, web, memory, address, buffer, from: 0, held: 0 }
  }

  /**
   * The address of the file in the module; 0 where it wants external data.
   * @param {OnnxReader['exports']} exports
   * @param {number} web
   * @param {OnnxReader['memory']} memory
   */
  #open(exports, web, memory) {
    const text = (/** @type {string[]} */ names) =>
        new TextEncoder().encode(names.map((name) => `${name}\0`).join('')),
      sizes = [...this.#data.values()].map((file) => /** @type {NamedFile} */ (file).size ?? file)
    memory.lend(
      [text([this.name]), text([...this.#data.keys()]), new Float64Array(sizes)],
      (name, at, sizesAt) =>
        memory.check(exports.onnx_open(web, name, this.#file.size, at, sizesAt, sizes.length))
    )
    const { address, size } = memory.out('pickle')
    this.size = size
    return address
  }

  /**
   * @param {OnnxReader['exports']} exports
   * @param {OnnxReader['memory']} memory
   */
  async #bring(exports, memory) {
    for (let i = 0, at; (at = exports.onnx_wanted(i)); i++) {
      const location = memory.string(at)
      this.#data.set(
        location,
        (await this.#openData(this.#file, location, this.#given, this.#tools)) ?? -1
      )
    }
  }

  /**
   * @param {number} offset
   * @param {Uint8Array} target
   */
  read(offset, target) {
    const reader = /** @type {OnnxReader} */ (this.#reader)
    for (let done = 0; done < target.length; ) {
      const at = offset + done
      if (at < reader.from || at >= reader.from + reader.held) this.#fill(reader, at)
      const from = at - reader.from,
        count = Math.min(reader.held - from, target.length - done)
      target.set(reader.memory.bytes(reader.buffer + from, count), done)
      done += count
    }
  }

  /**
   * @param {OnnxReader} reader
   * @param {number} at
   */
  #fill(reader, at) {
    const { exports, web, memory, address, buffer } = reader,
      count = Math.min(bufferBytes, this.size - at)
    reader.held = 0
    memory.check(exports.onnx_read(web, address, at, buffer, count))
    reader.from = at
    reader.held = count
  }

  end() {
    this.#reader = undefined
  }

  close() {
    this.end()
    for (const file of [this.#file, ...this.data]) file.close()
  }
}
