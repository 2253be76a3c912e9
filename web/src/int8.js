/* Weights of int8: the modules that take them run in an engine beside the first. Loaded with the first
 * such model. It imports nothing, so that bundlers leave the scripts that a page starts with as they
 * are. */
/** @import {Engine} from './engine.js' */
/** @import {Memory} from './index.js' */
/** @import {CallContext, EngineOptions, MethodName, NamedFile} from '../types/library.js' */

/** @type {Record<string, () => URL>} */
const own = {
  'heed.wasm': () => new URL('./heed-int8.wasm', import.meta.url),
  'heed-threads.wasm': () => new URL('./heed-int8-threads.wasm', import.meta.url),
  'heed-relaxed.wasm': () => new URL('./heed-int8-relaxed.wasm', import.meta.url),
  'heed-relaxed-threads.wasm': () => new URL('./heed-int8-relaxed-threads.wasm', import.meta.url),
  'heed-scalar.wasm': () => new URL('./heed-int8-scalar.wasm', import.meta.url)
}

/**
 * The modules in the place of those by these names.
 * @param {string | URL} [base]
 */
const modules = (base) =>
  Object.fromEntries(
    Object.entries(own).map(([name, url]) => [
      name,
      String(base ? new URL(name.replace('heed', 'heed-int8'), base) : url())
    ])
  )

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

const first = 2 ** 32

/** The engine beside. */
export class Beside {
  /**
   * @param {Engine} beside the first engine
   * @param {Engine} engine of weights of int8
   */
  constructor(beside, engine) {
    this.beside = beside
    this.engine = engine
  }

  /**
   * Whether a call is of one of its objects, or of both engines.
   * @param {any} args
   * @param {MethodName} method
   */
  has({ id = 0, model = id }, method) {
    return model > first || method === 'memory'
  }

  /**
   * With objects by the numbers that the first engine gives them.
   * @param {MethodName} method
   * @param {any} args
   * @param {CallContext} context
   */
  async call(method, args, context) {
    const { id, model } = args,
      here = { ...args, ...(id && { id: id - first }), ...(model && { model: model - first }) },
      result = await this.engine.call(method, here, context)
    if (method === 'memory') return this.#sum(result)
    return result?.id ? { ...result, id: result.id + first } : result
  }

  /**
   * The memory of both.
   * @param {Memory} memory
   */
  #sum({ used, wasm }) {
    const own = this.beside.memory()
    return { used: own.used + used, wasm: own.wasm + wasm }
  }

  /**
   * @param {NamedFile[]} files
   * @param {CallContext} context
   */
  async open(files, context) {
    try {
      return await this.call('openFiles', { files }, context)
    } catch (error) {
      for (const file of files) file.close()
      throw error
    }
  }
}

/**
 * What opens files that the first engine refused; the refusal where they are not of int8.
 * @param {Beside | undefined} beside
 * @param {NamedFile[]} files
 * @param {any} refusal
 * @param {EngineOptions | undefined} options
 * @param {Engine} engine the first
 */
export async function openBeside(beside, files, refusal, options, engine) {
  try {
    if (refusal.status !== 'UNSUPPORTED' || options?.modules || !files.some(hasInt8)) throw refusal
    if (beside) return beside
    const { create } = /** @type {typeof Engine} */ (engine.constructor)
    return new Beside(engine, await create({ ...options, modules: modules(options?.base) }))
  } catch (error) {
    for (const file of files) file.close()
    throw error
  }
}
