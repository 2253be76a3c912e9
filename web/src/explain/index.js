/* Definitions of heed.h over plain arrays: rows (rows.js), maps, changes of attention. */
import { expectArray, expectColormap, expectRows, expectShare } from './arrays.js'
import { AttentionChanges } from './changes.js'
import { Rows, start } from './rows.js'

/** @typedef {import('./index.js').ChangeSizes} ChangeSizes */

export { AttentionChanges }

/**
 * The multiple of `of` that is nearest to `count`.
 * @param {number} count
 * @param {number} of
 */
const multiple = (count, of) => (of ? of * Math.round(count / of) : 0)

/** What Rows computes, for who may pass anything: arguments are validated. */
export class Explain extends Rows {
  /** @param {import('../index.js').ColormapName} name */
  colormap(name) {
    expectColormap(name)
    return super.colormap(name)
  }

  /** @param {Float32Array[]} rows */
  headMean(rows) {
    expectRows(rows)
    return super.headMean(rows)
  }

  /** @param {Float32Array[]} rows */
  scoreMean(rows) {
    expectRows(rows)
    return super.scoreMean(rows)
  }

  /** @param {Float32Array} row */
  entropy(row) {
    expectArray('row', row)
    return super.entropy(row)
  }

  /**
   * @param {Float32Array} weights
   * @param {number} share
   */
  massMask(weights, share) {
    expectArray('weights', weights)
    expectShare(share)
    return super.massMask(weights, share)
  }

  /**
   * @param {Float32Array} one [D]
   * @param {Float32Array} all [T, D]
   * @param {boolean} scaled
   */
  scoreProducts(one, all, scaled) {
    expectArray('one', one)
    expectArray('all', all)
    expectArray('all', all, multiple(all.length, one.length))
    return super.scoreProducts(one, all, scaled)
  }

  /**
   * @param {Float32Array} weights [T]
   * @param {Float32Array} values [T, D], or with reverse [D] of the one key
   * @param {boolean} reverse
   */
  scoreValues(weights, values, reverse) {
    expectArray('weights', weights)
    expectArray('values', values)
    if (!reverse) expectArray('values', values, multiple(values.length, weights.length))
    return super.scoreValues(weights, values, reverse)
  }

  /**
   * @param {Float32Array} attention [N, N]
   * @param {{prefixTokens: number, rows: number, columns: number}} shape
   * @param {number} patch
   */
  statistics(attention, { prefixTokens, rows, columns }, patch) {
    expectArray('attention', attention, (prefixTokens + rows * columns) ** 2)
    const { module } = this
    return module.lend([attention], (at) => {
      module.exports.map_statistics(module.web, at, prefixTokens, rows, columns, patch)
      return module.out('statistics')
    })
  }

  /**
   * @param {Float64Array} row [N]
   * @param {Float32Array} layer [H, N, N]
   * @param {number} heads
   * @param {{fusion: string, residual: number, discard?: number}} how
   */
  rolloutBack(row, layer, heads, { fusion, residual, discard = 0 }) {
    expectArray('row', row, undefined, Float64Array)
    expectArray('layer', layer, heads * row.length ** 2)
    const { module } = this
    return module.lend([layer, row], (from, to) => {
      module.check(
        module.exports.map_rollout_back(
          module.web,
          from,
          heads,
          row.length,
          module.code('fusion', fusion),
          residual,
          discard,
          to
        )
      )
      return new Float64Array(module.memory.buffer, to, row.length).slice()
    })
  }

  /** @param {ChangeSizes} sizes */
  changes(sizes) {
    return new AttentionChanges(this, sizes)
  }
}

/** @type {Promise<Explain> | undefined} */
let loading

export const loadExplain = () =>
  (loading ??= start()
    .then((module) => new Explain(module))
    .catch((error) => {
      loading = undefined
      throw error
    }))
