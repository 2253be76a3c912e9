/* Engines beside the first one, whose modules run what its own module does not: weights of int8, and
 * ONNX files as graphs. Loaded with the first such model. It imports nothing, so that bundlers leave
 * the scripts that a page starts with as they are. */
/** @import {Engine} from './engine.js' */
/** @import {OnnxFile} from './onnx.js' */
/** @import {CallContext, EngineBeside, EngineOptions, MethodName, NamedFile} from '../types/library.js' */

/**
 * Whether a file's header has tensors of int8.
 * @param {NamedFile} file
 */
function hasInt8(file) {
  const size = new DataView(new ArrayBuffer(8))
  if (file.size < 8) return false
  file.read(0, new Uint8Array(size.buffer))
  const header = new Uint8Array(Math.min(size.getUint32(0, true), file.size - 8, 1 << 27))
  file.read(8, header)
  return new TextDecoder().decode(header).includes('"I8"')
}

const span = 2 ** 32,
  lacks = ['UNSUPPORTED', 'INVALID_FILE', 'INVALID_ARGUMENT']

/** The engines, each of whose objects have numbers of their own: of the i-th they begin above
 * (i + 1) * 2 ** 32. */
export class Beside {
  /** @type {(EngineBeside | undefined)[]} */
  #engines = []
  #first
  #options

  /**
   * @param {Engine} first
   * @param {EngineOptions | undefined} options
   */
  constructor(first, options) {
    this.#first = first
    this.#options = options
  }

  /**
   * Whether a call is of one of their objects, or of all engines.
   * @param {any} args
   * @param {MethodName} method
   */
  has({ id = 0, model = id }, method) {
    return model > span || method === 'memory'
  }

  /**
   * With objects by the numbers that their engine gives them.
   * @param {MethodName} method
   * @param {any} args
   * @param {CallContext} context
   */
  async call(method, args, context) {
    if (method === 'memory') return this.#memory(context)
    const { id, model } = args,
      at = Math.floor((model ?? id) / span),
      from = at * span,
      here = { ...args, ...(id && { id: id - from }), ...(model && { model: model - from }) },
      engine = /** @type {EngineBeside} */ (this.#engines[at - 1]),
      result = await engine.call(method, here, context)
    return result?.id ? { ...result, id: result.id + from } : result
  }

  /** @param {CallContext} context */
  async #memory(context) {
    const sum = { ...this.#first.memory() }
    for (const engine of this.#engines) {
      const { used, wasm } = (await engine?.call('memory', {}, context)) ?? { used: 0, wasm: 0 }
      sum.used += used
      sum.wasm += wasm
    }
    return sum
  }

  /**
   * Opens files that the first engine did not take: `why` is its refusal, or the way that was asked
   * for. The refusal where nothing else takes them either.
   * @param {NamedFile[]} files
   * @param {any} why
   * @param {CallContext} context
   */
  async open(files, why, context) {
    try {
      if (why === 'weights') return this.#first.openFiles({ files })
      const onnx = /** @type {OnnxFile | undefined} */ (files.find((file) => 'reader' in file))
      if (onnx && (!why.status || lacks.includes(why.status)))
        return await this.#open(1, files, () => import('./graph.js'), context, why)
      if (why.status !== 'UNSUPPORTED' || this.#options?.modules || !files.some(hasInt8)) throw why
      return await this.#open(0, files, () => import('./int8.js'), context)
    } catch (error) {
      for (const file of files) file.close()
      throw error
    }
  }

  /**
   * @param {number} at
   * @param {NamedFile[]} files
   * @param {() => Promise<{startBeside: typeof import('./int8.js').startBeside}>} load
   * @param {CallContext} context
   * @param {unknown} [way]
   */
  async #open(at, files, load, context, way) {
    this.#engines[at] ??= await (await load()).startBeside(this.#first, this.#options)
    const opened = await /** @type {EngineBeside} */ (this.#engines[at]).call(
      'openFiles',
      { files, way: typeof way === 'string' ? way : undefined },
      context
    )
    return { ...opened, id: opened.id + (at + 1) * span }
  }

  close() {
    for (const engine of this.#engines) engine?.close()
  }
}
