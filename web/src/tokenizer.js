/* Text as the ids of a text tower, by heed-tokenizer.wasm; see tokenizer.d.ts. An entry of its own, so
 * that what needs no text does not load it. */
import { HeedError, notLoaded } from './error.js'
import { startSmall } from './module.js'
import { ModuleMemory } from './module_memory.js'
import { baseOf, placeOf } from './place.js'

const most = 16386, // ids of the longest text: one a byte, and those around it
  room = 256 // bytes of a token's text

/**
 * @param {Record<string, ArrayBuffer | Uint8Array>} files
 * @param {{base?: string | URL}} [options]
 */
export async function createTokenizer(files, { base } = {}) {
  const url = placeOf(
    'heed-tokenizer.wasm',
    baseOf('createTokenizer', base || undefined),
    () => new URL('./heed-tokenizer.wasm', import.meta.url)
  )
  const instance = await startSmall(url).catch((error) => {
    throw notLoaded('tokenizer: cannot load its module', error)
  })
  return new Tokenizer(instance, files)
}

class Tokenizer {
  #instance
  #memory
  #address = 0
  #ids = 0

  /**
   * @param {import('../types/library.js').Instance} instance
   * @param {Record<string, ArrayBuffer | Uint8Array>} files
   */
  constructor(instance, files) {
    const list = Object.entries(files).map(
        ([name, bytes]) => /** @type {const} */ ([name, new Uint8Array(bytes)])
      ),
      all = new Uint8Array(list.reduce((sum, [, bytes]) => sum + bytes.length, 0)),
      memory = (this.#memory = new ModuleMemory(instance))
    this.#instance = instance
    let end = 0
    for (const [, bytes] of list) {
      all.set(bytes, end)
      end += bytes.length
    }
    memory.lend(
      [
        new TextEncoder().encode(list.map(([name]) => `${name}\0`).join('')),
        new Float64Array(list.map(([, bytes]) => bytes.length)),
        all
      ],
      (names, sizes, at) =>
        memory.check(instance.exports.tokenizer_open(instance.web, names, sizes, at, list.length))
    )
    const { address, kind, assumed, ...info } = memory.out('tokenizer')
    this.#address = address
    this.#ids = memory.alloc(4 * most + room)
    this.info = Object.freeze({
      kind: memory.string(kind),
      ...info,
      assumed: assumed ? memory.string(assumed) : null
    })
  }

  /** @param {string} text */
  encode(text, { length = most } = {}) {
    const { exports, web } = this.#instance,
      memory = this.#memory,
      refuse = (/** @type {string} */ why) => {
        throw new HeedError('INVALID_ARGUMENT', `text: ${why}`)
      }
    if (typeof text !== 'string') refuse(`invalid text (found ${typeof text}, expected a string)`)
    if (!(Number.isInteger(length) && length > 0))
      refuse(`invalid length (found ${length}, expected a whole number of ids)`)
    const bytes = new TextEncoder().encode(text),
      at = this.#ids
    // A half of a pair has no UTF-8: U+FFFD would be in its place.
    if (/\p{Cs}/u.test(text))
      refuse('invalid text (found half of a surrogate pair, expected Unicode)')
    memory.lend([bytes], (from) =>
      memory.check(
        exports.tokenizer_encode(web, this.#address, from, bytes.length, at, Math.min(length, most))
      )
    )
    const { count, whole } = memory.out('ids'),
      ids = new Int32Array(memory.bytes(at, 4 * count).slice().buffer)
    return { ids, tokens: Array.from(ids, (id) => this.#text(id)), whole }
  }

  /** @param {number} id */
  #text(id) {
    const to = this.#ids + 4 * most
    this.#instance.exports.tokenizer_text(this.#address, id, to, room)
    return this.#memory.string(to)
  }
}
