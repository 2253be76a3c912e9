/* Weights of int8: the modules that take them run in an engine beside the first. Loaded with the first
 * such model. It imports nothing, so that bundlers leave the scripts that a page starts with as they
 * are. */
/** @import {Engine} from './engine.js' */
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
  /** @param {Engine} engine */
  constructor(engine) {
    this.engine = engine
  }

  /**
   * Whether a call is of one of its objects.
   * @param {any} args
   */
  has({ id = 0, model = id }) {
    return model > first
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
    return result?.id ? { ...result, id: result.id + first } : result
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
 * @param {typeof Engine.create} create
 */
export async function openBeside(beside, files, refusal, options, create) {
  try {
    if (refusal.status !== 'UNSUPPORTED' || options?.modules || !files.some(hasInt8)) throw refusal
    return beside ?? new Beside(await create({ ...options, modules: modules(options?.base) }))
  } catch (error) {
    for (const file of files) file.close()
    throw error
  }
}
