/* Weights of int8: the modules that take them run in an engine beside the first. Loaded with the first
 * such model. It imports nothing, so that bundlers leave the scripts that a page starts with as they
 * are. */
/** @import {Engine} from './engine.js' */
/** @import {CallContext, MethodName, Methods} from '../types/library.js' */

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
export const modules = (base) =>
  Object.fromEntries(
    Object.entries(own).map(([name, url]) => [
      name,
      String(base ? new URL(name.replace('heed', 'heed-int8'), base) : url())
    ])
  )

const first = 2 ** 32

/**
 * A call of the engine beside, with objects by the numbers that the first engine gives them.
 * @param {Engine} engine
 * @param {MethodName} method
 * @param {any} args
 * @param {CallContext} context
 */
export async function callBeside(engine, method, args, context) {
  const { id, model } = args,
    here = { ...args, ...(id && { id: id - first }), ...(model && { model: model - first }) },
    result = await engine.call(method, here, context)
  return result?.id ? { ...result, id: result.id + first } : result
}
