/* The tokenizer in heed-all.wasm. */
import { HeedError } from './error.js'
import { namesOf } from './model_records.js'
import type { ModuleMemory } from './module_memory.js'
import type { Tokenizer } from 'heed/tokenizer'

const most = 16386, // ids of the longest text: one a byte, and those around it
  room = 256 // bytes of a token's text

export class ModuleTokenizer implements Tokenizer {
  readonly info: Tokenizer['info']
  #module
  #address = 0
  #ids = 0

  constructor(module: ModuleMemory, files: Record<string, ArrayBuffer | Uint8Array>) {
    const list = Object.entries(files).map(
        ([name, bytes]) => [name, new Uint8Array(bytes)] as const
      ),
      all = new Uint8Array(list.reduce((sum, [, bytes]) => sum + bytes.length, 0))
    this.#module = module
    let end = 0
    for (const [, bytes] of list) {
      all.set(bytes, end)
      end += bytes.length
    }
    module.lend(
      [
        namesOf(list.map(([name]) => name)),
        new Float64Array(list.map(([, bytes]) => bytes.length)),
        all
      ],
      (names, sizes, at) =>
        module.check(module.exports.tokenizer_open(module.web, names, sizes, at, list.length))
    )
    const { address, kind, assumed, ...info } = module.out('tokenizer')
    this.#address = address
    this.#ids = module.alloc(4 * most + room)
    this.info = Object.freeze({
      kind: module.string(kind),
      ...info,
      assumed: module.text(assumed)
    })
  }

  encode(text: string, { length = most }: { length?: number } = {}) {
    const module = this.#module,
      { exports, web } = module,
      refuse = (why: string) => {
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
    module.lend([bytes], (from) =>
      module.check(
        exports.tokenizer_encode(web, this.#address, from, bytes.length, at, Math.min(length, most))
      )
    )
    const { count, whole } = module.out('ids'),
      ids = new Int32Array(module.bytes(at, 4 * count).slice().buffer)
    return { ids, tokens: Array.from(ids, (id) => this.#text(id)), whole }
  }

  #text(id: number) {
    const to = this.#ids + 4 * most
    this.#module.exports.tokenizer_text(this.#address, id, to, room)
    return this.#module.string(to)
  }
}
