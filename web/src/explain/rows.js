/* Definitions of heed.h for rows of numbers, in C: heed-explain.wasm, whose calls return at once.
 * Arrays are copied in and out. */
import { HeedError, notLoaded } from '../error.js'
import { startSmall } from '../module.js'
import { baseOf, placeOf } from '../place.js'

/** @typedef {Float32Array | Float64Array | Uint8Array | Uint32Array} Numbers */

/** @type {Promise<import('../../types/library.js').Instance> | undefined} */
let started

/** The module, for all who ask. */
export async function start() {
  try {
    started ??= startSmall(
      placeOf(
        'heed-explain.wasm',
        baseOf('loadExplain'),
        () => new URL('../heed-explain.wasm', import.meta.url)
      )
    )
    return await started
  } catch (error) {
    started = undefined
    throw notLoaded('heed-explain.wasm: cannot be loaded', error)
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
  /** @type {any} the module's functions, by name */
  exports
  /** @type {any} */
  memory
  /** @type {any} */
  web

  /** @param {import('../../types/library.js').Instance} instance */
  constructor(instance) {
    Object.assign(this, instance)
  }

  /**
   * What lies at the address, as an array like this one.
   * @param {any} array
   * @param {number} at
   */
  #view(array, at) {
    return new array.constructor(this.memory.buffer, at, array.length)
  }

  /**
   * Calls use(addresses...) with copies of these arrays, and frees them.
   * @template T
   * @param {Numbers[]} arrays
   * @param {(...addresses: number[]) => T} use
   * @returns {T}
   */
  lend(arrays, use) {
    const { exports, web } = this,
      lent = /** @type {number[]} */ ([])
    try {
      for (const array of arrays) {
        const at = exports.alloc(web, array.byteLength)
        if (!at) throw new HeedError('OUT_OF_MEMORY', 'explain: out of memory')
        lent.push(at)
        this.#view(array, at).set(array)
      }
      return use(...lent)
    } finally {
      for (const at of lent) exports.free(web, at)
    }
  }

  /**
   * `result`, filled by a function of the module, which takes arrays, then numbers, then what it
   * fills.
   * @template {Numbers} T
   * @param {string} name
   * @param {T} result
   * @param {Numbers[]} arrays
   * @param {...(number | boolean)} numbers
   * @returns {T}
   */
  fill(name, result, arrays, ...numbers) {
    return this.lend([...arrays, result], (...at) => {
      const to = /** @type {number} */ (at.pop())
      this.exports[name](...at, ...numbers, to)
      result.set(this.#view(result, to))
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
    return this.lend([row], (at) => this.exports.map_entropy(at, row.length))
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
