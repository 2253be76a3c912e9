/* Weights of int8: the modules that take them, for an engine beside the first. Loaded with the first
 * such model. It imports nothing, so that bundlers leave the scripts that a page starts with as they
 * are. */
/** @import {Engine} from './engine.js' */
/** @import {EngineBeside, EngineOptions} from '../types/library.js' */

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
 * @param {Engine} first
 * @param {EngineOptions | undefined} options
 * @returns {Promise<EngineBeside>}
 */
export function startBeside(first, options) {
  const { create } = /** @type {typeof Engine} */ (first.constructor)
  return create({ ...options, modules: modules(options?.base) })
}
