/* Changes of attention, as heed_changes of heed.h. */
import { HeedError, closed } from '../error.js'
import { expectArray } from './arrays.js'
import type { ChangeSizes } from 'heed/explain'
import type { Rows } from './rows.js'

/** C is handed the number as it is: another one could become an index that is in range. */
function expectCounts(numbers: number[]) {
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

  constructor(explain: Rows, sizes: ChangeSizes) {
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
   * @param at indices
   * @param more what the change is besides
   */
  #add(call: 'ablate' | 'gain' | 'drop' | 'cut' | 'replace', at: number[], more: number = 0) {
    const { exports, web } = this.#module
    expectCounts(at)
    this.#module.check(exports[`changes_${call}`](web, this.#open, ...at, more))
    return this
  }

  ablate(layer: number, head: number) {
    return this.#add('ablate', [layer, head])
  }

  /** @param output [T, C] */
  replace(layer: number, output: Float32Array) {
    const { tokens, width } = this.#sizes
    expectArray('output', output, tokens * width)
    return this.#module.lend([output], (at) => this.#add('replace', [layer], at))
  }

  gain(layer: number, head: number, factor: number) {
    return this.#add('gain', [layer, head], factor)
  }

  drop(token: number) {
    return this.#add('drop', [token])
  }

  cut(query: number, key: number) {
    return this.#add('cut', [query, key])
  }

  /** @param scores [T] */
  mask(
    scores: Float32Array,
    {
      layer,
      head,
      token,
      reverse = false,
      temperature = 1
    }: { layer: number; head: number; token: number; reverse?: boolean; temperature?: number }
  ) {
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

  inputs(): [name: string, data: Uint8Array | Float32Array][] {
    const module = this.#module,
      { exports, web } = module,
      open = this.#open,
      room = new Uint8Array(exports.changes_room(open))
    return this.#module.lend([room], (block) => {
      const inputs: [string, Uint8Array | Float32Array][] = []
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
