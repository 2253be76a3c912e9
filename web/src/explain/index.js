/* Definitions of heed.h over plain arrays, of one instance of heed-explain.wasm: rows (rows.js),
 * maps, changes of attention. */
import { AttentionChanges } from './changes.js'
import { Records } from './records.js'
import { Rows, start } from './rows.js'

/** @typedef {import('./index.js').ChangeSizes} ChangeSizes */

export { AttentionChanges }

export class Explain extends Rows {
  #records

  /** @param {import('../../types/library.js').Instance} instance */
  constructor(instance) {
    super(instance)
    this.#records = new Records(instance)
  }

  /**
   * @param {Float32Array} attention [N, N]
   * @param {{prefixTokens: number, rows: number, columns: number}} shape
   * @param {number} patch
   */
  statistics(attention, { prefixTokens, rows, columns }, patch) {
    return this.lend([attention], (at) => {
      this.exports.map_statistics(this.web, at, prefixTokens, rows, columns, patch)
      return this.#records.out('statistics')
    })
  }

  /**
   * @param {Float64Array} row [N]
   * @param {Float32Array} layer [H, N, N]
   * @param {number} heads
   * @param {{fusion: string, residual: number, discard?: number}} how
   */
  rolloutBack(row, layer, heads, { fusion, residual, discard = 0 }) {
    return this.lend([layer, row], (from, to) => {
      this.#records.check(
        this.exports.map_rollout_back(
          this.web,
          from,
          heads,
          row.length,
          this.#records.code('fusion', fusion),
          residual,
          discard,
          to
        )
      )
      return new Float64Array(this.memory.buffer, to, row.length).slice()
    })
  }

  /** @param {ChangeSizes} sizes */
  changes(sizes) {
    return new AttentionChanges(this, this.#records, sizes)
  }
}

/** @type {Promise<Explain> | undefined} */
let loading

export const loadExplain = () =>
  (loading ??= start()
    .then((instance) => new Explain(instance))
    .catch((error) => {
      loading = undefined
      throw error
    }))
