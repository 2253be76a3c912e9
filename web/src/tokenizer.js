/* Text as the ids of a text tower, by heed-all.wasm; see tokenizer.d.ts. An entry of its own, so
 * that what needs no text does not load it. */
import { startHere } from './module.js'
import { ModuleTokenizer } from './module_tokenizer.js'
import { baseOf } from './place.js'

/**
 * @param {Record<string, ArrayBuffer | Uint8Array>} files
 * @param {{base?: string | URL}} [options]
 */
export const createTokenizer = async (files, { base } = {}) =>
  new ModuleTokenizer(
    await startHere({ base: baseOf('createTokenizer', base || undefined) }, true),
    files
  )
