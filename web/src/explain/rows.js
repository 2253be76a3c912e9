/* Definitions of heed.h for rows of numbers, in C: heed.wasm in the calling thread, whose calls
 * return at once. Arrays are copied in and out. */
import { startHere } from '../module.js'
import { baseOf } from '../place.js'
/** @import {ExportName} from '../../types/library.js' */
/** @import {ModuleMemory} from '../module_memory.js' */

/** @typedef {Float32Array | Float64Array | Uint8Array | Uint32Array} Numbers */

/** @type {Promise<ModuleMemory> | undefined} */
let started

/** The module, for all who ask. */
export async function start() {
  try {
    return await (started ??= startHere({ base: baseOf('loadExplain') }))
  } catch (error) {
    started = undefined
    throw error
  }
}

/**
 * All rows in one array.
 * @param {ArrayLike<number>[]} rows
 */
function joined(rows) {
  const all = new Float32Array(rows.length * rows[0].length)
  rows.forEach((row, i) => all.set(row, i * rows[0].length))
  return all
}

/** What few pages need beside it: index.js. */
export const loadRows = async () => new Rows(await start())

export class Rows {
  module

  /** @param {ModuleMemory} module */
  constructor(module) {
    this.module = module
  }

  /**
   * `result`, filled by a function of the module, which takes arrays, then numbers, then what it
   * fills.
   * @template {Numbers} T
   * @param {ExportName} name
   * @param {T} result
   * @param {Numbers[]} arrays
   * @param {...(number | boolean)} numbers
   * @returns {T}
   */
  fill(name, result, arrays, ...numbers) {
    const { exports, memory } = this.module
    return this.module.lend([...arrays, result], (...at) => {
      const to = /** @type {number} */ (at.pop()),
        array = /** @type {any} */ (result.constructor)
      exports[name](...at, ...numbers, to)
      result.set(new array(memory.buffer, to, result.length))
      return result
    })
  }

  /** @param {Float32Array[]} rows */
  headMean(rows) {
    const { length } = rows[0]
    return this.fill('map_mean', new Float32Array(length), [joined(rows)], rows.length, length)
  }

  /**
   * @param {Float32Array} row
   * @returns {number}
   */
  entropy(row) {
    return this.module.lend([row], (at) => this.module.exports.map_entropy(at, row.length))
  }

  /**
   * @param {Float32Array} weights
   * @param {number} share
   */
  massMask(weights, share) {
    const { length } = weights,
      order = new Uint32Array(length)
    return this.fill('map_mass_mask', new Uint8Array(length), [weights, order], length, share)
  }

  /**
   * @param {Float32Array} one [D]
   * @param {Float32Array} all [T, D]
   * @param {boolean} scaled
   */
  scoreProducts(one, all, scaled) {
    const depth = one.length,
      tokens = all.length / depth
    return this.fill('score_products', new Float32Array(tokens), [one, all], tokens, depth, scaled)
  }

  /** @param {ArrayLike<number>} scores */
  softmax(scores) {
    const { length } = scores
    return [
      ...this.fill('score_softmax', new Float64Array(length), [Float32Array.from(scores)], length)
    ]
  }

  /**
   * @param {Float32Array} weights [T]
   * @param {Float32Array} values [T, D], or with reverse [D] of the one key
   * @param {boolean} reverse
   */
  scoreValues(weights, values, reverse) {
    const tokens = weights.length,
      depth = reverse ? values.length : values.length / tokens
    return this.fill(
      'score_values',
      new Float32Array(tokens),
      [weights, values],
      tokens,
      depth,
      reverse
    )
  }

  /** @param {Float32Array[]} rows */
  scoreMean(rows) {
    const { length } = rows[0]
    return this.fill('score_mean', new Float32Array(length), [joined(rows)], rows.length, length)
  }

  /**
   * 256 colours.
   * @param {import('../index.js').ColormapName} name
   */
  colormap(name) {
    return this.fill('colormap', new Uint8Array(768), [new TextEncoder().encode(`${name}\0`)])
  }
}
