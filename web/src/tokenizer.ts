/* Text as the ids of a text tower, by heed-all.wasm; see tokenizer.d.ts. An entry of its own, so
 * that what needs no text does not load it. */
import { startHere } from './module.js'
import { ModuleTokenizer } from './module_tokenizer.js'
import { baseOf } from './place.js'

export const createTokenizer = async (
  files: Record<string, ArrayBuffer | Uint8Array>,
  { base }: { base?: string | URL } = {}
) =>
  new ModuleTokenizer(
    await startHere({ base: baseOf('createTokenizer', base || undefined) }, true),
    files
  )
