/* An ONNX file in heed-import.wasm, and the lowered graph as a file that the modules of graphs read.
 * An instance of the module lasts from begin to end. Loaded with the first such model. It imports
 * nothing, so that bundlers leave the scripts that a page starts with as they are. */
/** @import {OnnxFile} from './onnx.js' */
/** @import {GraphResults, GraphTools, Instance, ModuleHost, OnnxReader} from '../types/library.js' */
/** @import {GraphInfo, GraphPort, GraphTensor, Status} from './index.js' */

const more = () => new URL('./heed-import-more.wasm', import.meta.url),
  first = () => new URL('./heed-import.wasm', import.meta.url),
  /* more of them than the module has */
  placeholders = 4096,
  bufferBytes = 1 << 22

/** Implements NamedFile. */
export class GraphFile {
  /** @type {OnnxFile} */
  #onnx
  #tools
  /** The address of the lowered graph. */
  #lowered = 0
  /** @type {GraphInfo | undefined} */
  #info
  /** @type {typeof import('./graph_tensors.js').tensorsOf} */
  #tensorsOf = () => ({})
  size = 0
  image = ''

  /**
   * @param {OnnxFile} onnx the file as weights, which is left to it
   * @param {string | URL} [base] where the modules lie
   */
  constructor(onnx, base) {
    const { file, given, tools, openData } = onnx.parts,
      at = (/** @type {string} */ name, /** @type {() => URL} */ own) =>
        base ? new URL(name, base) : own()
    this.name = onnx.name
    this.#tools = /** @type {GraphTools} */ (tools)
    this.#onnx = new /** @type {typeof OnnxFile} */ (onnx.constructor)(
      file,
      given,
      {
        ...tools,
        start: (_, host) =>
          this.#start(host, [at('heed-import.wasm', first), at('heed-import-more.wasm', more)])
      },
      openData
    )
  }

  /**
   * The second part has functions that the first calls through its table.
   * @param {Partial<ModuleHost>} host
   * @param {URL[]} urls
   * @returns {Promise<Instance>}
   */
  async #start(host, urls) {
    const [primary, secondary] = await Promise.all(urls.map((url) => this.#tools.compile(url))),
      placeholder = Object.fromEntries(
        Array.from({ length: placeholders }, (_, i) => [i, () => 0])
      ),
      imports = /** @type {any} */ ({
        heed: host,
        placeholder,
        Math,
        env: { emscripten_notify_memory_growth() {} }
      }),
      exports = /** @type {any} */ ((await WebAssembly.instantiate(primary, imports)).exports)
    await WebAssembly.instantiate(secondary, { primary: exports })
    exports._initialize()
    const web = exports.create(1)
    if (!web) throw this.refuse('OUT_OF_MEMORY', 'runtime: out of memory')
    return { exports, memory: exports.memory, web }
  }

  /**
   * @param {Status} status
   * @param {string} message
   */
  refuse = (status, message) => new this.#tools.HeedError(status, message)

  get #reader() {
    return /** @type {OnnxReader} */ (this.#onnx.reader)
  }

  /** Needed before anything is asked but what the file is. */
  async begin() {
    this.#tensorsOf = (await import('./graph_tensors.js')).tensorsOf
    await this.#onnx.begin()
  }

  end() {
    this.#lowered = 0
    this.#onnx.end()
  }

  close() {
    this.#onnx.close()
  }

  /** @param {number} at */
  #text(at) {
    return at ? this.#reader.memory.string(at) : null
  }

  /**
   * @param {(index: number) => number | null | string} each
   * @returns {any[]}
   */
  #list(each) {
    const found = []
    for (let i = 0, item; (item = each(i)); i++) found.push(item)
    return found
  }

  /** Inputs, outputs and attentions. */
  describe() {
    return (this.#info ??= this.#describe())
  }

  #describe() {
    const { exports, web, memory, address } = this.#reader,
      /** @returns {GraphPort[]} */
      ports = (/** @type {number} */ output) => {
        const list = []
        while (exports.import_port(web, address, output, list.length)) {
          const { name, dtype, shaped, shape } = memory.out('port')
          list.push({
            name: memory.string(name),
            dtype: this.#text(dtype),
            shape: shaped ? shape : null
          })
        }
        return list
      }
    return {
      inputs: ports(0),
      outputs: ports(1),
      attentions: this.#list((i) => this.#text(exports.import_attention(address, i)))
    }
  }

  /**
   * How it ran, in one line.
   * @param {boolean} kernels
   * @param {number} unrounded
   * @param {string} why
   */
  way(kernels, unrounded, why) {
    const { exports, memory, address } = this.#reader
    let line = ''
    memory.lend([new TextEncoder().encode(`${why}\0`)], (at) => {
      line = memory.string(exports.import_way(address, kernels, unrounded, at))
    })
    return `${this.name}: ${line}`
  }

  /** The tensors that it names, none of which has a role. */
  tensors() {
    return this.#with(() => {
      const size = new DataView(new ArrayBuffer(8))
      this.#onnx.read(0, new Uint8Array(size.buffer))
      const header = new Uint8Array(size.getUint32(0, true))
      this.#onnx.read(8, header)
      const { __metadata__, ...tensors } = JSON.parse(new TextDecoder().decode(header)),
        found = Object.entries(tensors).map(
          ([
            name,
            {
              dtype,
              shape,
              data_offsets: [from, to]
            }
          ]) => ({
            name,
            dtype,
            shape,
            bytes: to - from,
            used: true,
            role: null
          })
        )
      return { found, absent: [] }
    })
  }

  /**
   * @template Result
   * @param {() => Result} use
   */
  async #with(use) {
    await this.begin()
    try {
      return use()
    } finally {
      this.end()
    }
  }

  /**
   * For inputs, the bytes of a .safetensors file, or of these sizes.
   * @param {Uint8Array} [bytes]
   */
  lower(bytes = new Uint8Array(), batch = 0, height = 0, width = 0) {
    const { exports, web, memory, address } = this.#reader
    exports.import_close(this.#lowered)
    this.#lowered = 0
    memory.lend([bytes], (at) =>
      memory.check(exports.import_lower(web, address, at, bytes.length, batch, height, width))
    )
    const { address: lowered, size, unrounded } = memory.out('lowered')
    this.#lowered = lowered
    this.size = size
    this.image = this.#text(exports.import_image(lowered)) ?? ''
    return { unrounded }
  }

  /**
   * @param {number} offset
   * @param {Uint8Array} target
   */
  read(offset, target) {
    const { exports, memory, buffer } = this.#reader
    for (let done = 0; done < target.length; ) {
      const count = Math.min(bufferBytes, target.length - done)
      memory.check(exports.import_read(this.#lowered, offset + done, buffer, count))
      target.set(memory.bytes(buffer, count), done)
      done += count
    }
  }

  /**
   * Whether the lowered graph has a value of this name.
   * @param {string} name
   */
  find(name) {
    const { exports, memory } = this.#reader
    return memory.lend([new TextEncoder().encode(`${name}\0`)], (at) =>
      exports.import_find(this.#lowered, at)
    )
  }

  /**
   * What a run of the lowered graph gives, by the names of its values; what is known beforehand has
   * none.
   * @param {boolean} maps
   * @returns {GraphResults}
   */
  results(maps) {
    const { exports } = this.#reader,
      { inputs, outputs, attentions } = this.describe(),
      results = {
        inputs: inputs.map(({ name }) => name).filter((name) => this.find(name)),
        outputs: outputs.map((port, i) => ({
          ...port,
          value: this.#text(exports.import_output(this.#lowered, i))
        })),
        attention: maps
          ? attentions.map((_, i) => ({
              value: this.#text(exports.import_weights(this.#lowered, i))
            }))
          : null,
        known: /** @type {Record<string, GraphTensor>} */ ({})
      }
    if (results.outputs.some(({ value }) => !value))
      results.known = this.#take(exports.import_known(this.#lowered))
    return results
  }

  /**
   * The tensors of a .safetensors file that the module made.
   * @param {number} status
   * @returns {Record<string, GraphTensor>}
   */
  #take(status) {
    const { memory } = this.#reader
    memory.check(status)
    const { address, count } = memory.out('block'),
      bytes = memory.bytes(address, count).slice()
    memory.free(address)
    return this.#tensorsOf(bytes)
  }

  /**
   * In double.
   * @param {Uint8Array} bytes
   * @param {boolean} maps
   */
  evaluate(bytes, maps) {
    const { exports, web, memory, address } = this.#reader
    let status = 0
    memory.lend([bytes], (at) => {
      status = exports.import_evaluate(web, address, at, bytes.length, maps)
    })
    const all = this.#take(status),
      { outputs, attentions } = this.describe()
    return {
      outputs: Object.fromEntries(outputs.map(({ name }) => [name, all[name]])),
      attention: maps
        ? attentions.map((_, i) => /** @type {any} */ (all[`attention.${i}`] ?? null))
        : null
    }
  }
}
