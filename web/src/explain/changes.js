/* Changes of attention, as heed_changes of heed.h. */
import { HeedError, closed } from '../error.js'
import { expectArray } from './arrays.js'

/** @typedef {import('./index.js').ChangeSizes} ChangeSizes */

/**
 * C is handed the number as it is: another one could become an index that is in range.
 * @param {number[]} numbers
 */
function expectCounts(numbers) {
  for (const number of numbers)
    if (!(Number.isInteger(number) && number >= 0 && number < 2 ** 31))
      throw new HeedError(
        'INVALID_ARGUMENT',
        `changes: out of range (found ${number}, expected a whole number from 0 below 2^31)`
      )
}

export class AttentionChanges {
  #explain
  #module
  #sizes
  #address = 0

  /**
   * @param {import('./rows.js').Rows} explain
   * @param {ChangeSizes} sizes
   */
  constructor(explain, sizes) {
    const { layers, heads, tokens, width } = sizes
    this.#explain = explain
    const module = (this.#module = explain.module)
    this.#sizes = sizes
    expectCounts([layers, heads, tokens, width])
    module.check(module.exports.changes_create(module.web, layers, heads, tokens, width))
    this.#address = module.out('opened').address
  }

  get #open() {
    if (!this.#address) throw closed('changes')
    return this.#address
  }

  /**
   * @param {'ablate' | 'gain' | 'drop' | 'cut' | 'replace'} call
   * @param {number[]} at indices
   * @param {number} [more] what the change is besides
   */
  #add(call, at, more = 0) {
    const { exports, web } = this.#module
    expectCounts(at)
    this.#module.check(exports[`changes_${call}`](web, this.#open, ...at, more))
    return this
  }

  /**
   * @param {number} layer
   * @param {number} head
   */
  ablate(layer, head) {
    return this.#add('ablate', [layer, head])
  }

  /**
   * @param {number} layer
   * @param {Float32Array} output [T, C]
   */
  replace(layer, output) {
    const { tokens, width } = this.#sizes
    expectArray('output', output, tokens * width)
    return this.#module.lend([output], (at) => this.#add('replace', [layer], at))
  }

  /**
   * @param {number} layer
   * @param {number} head
   * @param {number} factor
   */
  gain(layer, head, factor) {
    return this.#add('gain', [layer, head], factor)
  }

  /** @param {number} token */
  drop(token) {
    return this.#add('drop', [token])
  }

  /**
   * @param {number} query
   * @param {number} key
   */
  cut(query, key) {
    return this.#add('cut', [query, key])
  }

  /**
   * @param {Float32Array} scores [T]
   * @param {{layer: number, head: number, token: number, reverse?: boolean, temperature?: number}} at
   */
  mask(scores, { layer, head, token, reverse = false, temperature = 1 }) {
    const { layers, heads, tokens } = this.#sizes,
      address = this.#open
    expectArray('scores', scores, tokens)
    if (!(Number.isFinite(temperature) && temperature > 0))
      throw new HeedError(
        'INVALID_ARGUMENT',
        `changes: invalid temperature (found ${temperature}, expected a number above 0)`
      )
    if (
      ![
        [layer, layers],
        [head, heads],
        [token, tokens]
      ].every(([at, end]) => Number.isInteger(at) && at >= 0 && at < end)
    )
      throw new HeedError(
        'INVALID_ARGUMENT',
        `changes: out of range (found layer ${layer}, head ${head}, token ${token}, expected less than ${layers}, ${heads}, ${tokens})`
      )
    return this.#explain.fill(
      'score_mask',
      new Float32Array(scores),
      [],
      address,
      layer,
      head,
      token,
      reverse,
      temperature,
      tokens
    )
  }

  /** @returns {[name: string, data: Uint8Array | Float32Array][]} */
  inputs() {
    const module = this.#module,
      { exports, web } = module,
      open = this.#open,
      room = new Uint8Array(exports.changes_room(open))
    return this.#module.lend([room], (block) => {
      const inputs = /** @type {[string, Uint8Array | Float32Array][]} */ ([])
      for (let i = 0; i < exports.changes_input(web, open, i, block); i++) {
        const { name, dtype, address, bytes } = module.out('input'),
          data = module.bytes(address, bytes).slice().buffer
        inputs.push([
          module.string(name),
          module.choice('dtype', dtype) === 'f32' ? new Float32Array(data) : new Uint8Array(data)
        ])
      }
      return inputs
    })
  }

  close() {
    this.#module.exports.changes_destroy(this.#address)
    this.#address = 0
  }
}
