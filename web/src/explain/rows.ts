/* Definitions of heed.h for rows of numbers, in C: heed.wasm in the calling thread, whose calls
 * return at once. Arrays are copied in and out. */
import { startHere } from '../module.js'
import { baseOf } from '../place.js'
import type { ExportName } from '../../types/library.js'
import type { ModuleMemory } from '../module_memory.js'
import type { ColormapName } from 'heed'

type Numbers = Float32Array | Float64Array | Uint8Array | Uint32Array

let started: Promise<ModuleMemory> | undefined

/** The module, for all who ask. */
export async function start() {
  try {
    return await (started ??= startHere({ base: baseOf('loadExplain') }))
  } catch (error) {
    started = undefined
    throw error
  }
}

/** All rows in one array. */
function joined(rows: ArrayLike<number>[]) {
  const all = new Float32Array(rows.length * rows[0].length)
  rows.forEach((row, i) => all.set(row, i * rows[0].length))
  return all
}

/** What few pages need beside it: index.js. */
export const loadRows = async () => new Rows(await start())

export class Rows {
  module

  constructor(module: ModuleMemory) {
    this.module = module
  }

  /**
   * `result`, filled by a function of the module, which takes arrays, then numbers, then what it
   * fills.
   */
  fill<T extends Numbers>(
    name: ExportName,
    result: T,
    arrays: Numbers[],
    ...numbers: (number | boolean)[]
  ): T {
    const { exports, memory } = this.module
    return this.module.lend([...arrays, result], (...at) => {
      const to = at.pop() as number,
        array = result.constructor as new (memory: ArrayBuffer, at: number, length: number) => T
      exports[name](...at, ...numbers, to)
      result.set(new array(memory.buffer, to, result.length))
      return result
    })
  }

  headMean(rows: Float32Array[]) {
    const { length } = rows[0]
    return this.fill('map_mean', new Float32Array(length), [joined(rows)], rows.length, length)
  }

  entropy(row: Float32Array): number {
    return this.module.lend([row], (at) => this.module.exports.map_entropy(at, row.length))
  }

  massMask(weights: Float32Array, share: number) {
    const { length } = weights,
      order = new Uint32Array(length)
    return this.fill('map_mass_mask', new Uint8Array(length), [weights, order], length, share)
  }

  /**
   * @param one [D]
   * @param all [T, D]
   */
  scoreProducts(one: Float32Array, all: Float32Array, scaled: boolean) {
    const depth = one.length,
      tokens = all.length / depth
    return this.fill('score_products', new Float32Array(tokens), [one, all], tokens, depth, scaled)
  }

  softmax(scores: ArrayLike<number>) {
    const { length } = scores
    return [
      ...this.fill('score_softmax', new Float64Array(length), [Float32Array.from(scores)], length)
    ]
  }

  /**
   * @param weights [T]
   * @param values [T, D], or with reverse [D] of the one key
   */
  scoreValues(weights: Float32Array, values: Float32Array, reverse: boolean) {
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

  scoreMean(rows: Float32Array[]) {
    const { length } = rows[0]
    return this.fill('score_mean', new Float32Array(length), [joined(rows)], rows.length, length)
  }

  /**
   * @param one [C]
   * @param all [N, C]
   */
  cosines(one: Float32Array, all: Float32Array) {
    const count = all.length / one.length
    return this.fill('text_similarity', new Float32Array(count), [all, one], count, one.length)
  }

  divergence(a: Float32Array, b: Float32Array): number {
    return this.module.lend([a, b], (one, other) =>
      this.module.exports.map_divergence(one, other, a.length)
    )
  }

  /** @param maps of each head, [T, T], or of as many queries of all, [Q, T] */
  mapDistances(maps: Float32Array[], tokens: number, stride = 1) {
    const { length } = maps
    if (!length) return new Float64Array(0)
    return this.fill(
      'map_distances',
      new Float64Array(length * length),
      [joined(maps)],
      length,
      maps[0].length / tokens,
      tokens,
      stride
    )
  }

  /** @param distances [count, count] */
  mapGroups(distances: Float64Array, limit: number) {
    const count = Math.sqrt(distances.length),
      { module } = this,
      { exports, memory, web } = module
    return module.lend([distances, new Uint32Array(count)], (from, to) => {
      module.check(exports.map_groups(web, from, count, limit, to))
      return new Uint32Array(memory.buffer, to, count).slice()
    })
  }

  /** @param region [T] of 0 and 1 */
  share(row: Float32Array, region: Uint8Array): number {
    return this.module.lend([row, region], (at, inside) =>
      this.module.exports.map_share(at, inside, row.length)
    )
  }

  /**
   * @param attention [T, T]
   * @param region [T] of 0 and 1
   */
  meanShare(attention: Float32Array, region: Uint8Array, prefixTokens: number): number {
    return this.module.lend([attention, region], (at, inside) =>
      this.module.exports.map_mean_share(at, inside, region.length, prefixTokens)
    )
  }

  rankCorrelation(a: Float32Array, b: Float32Array) {
    const { module } = this,
      { exports, memory, web } = module
    return module.lend([a, b, new Float64Array(1)], (one, other, to) => {
      module.check(exports.map_rank_correlation(web, one, other, a.length, to))
      return new Float64Array(memory.buffer, to, 1)[0]
    })
  }

  /** 256 colours. */
  colormap(name: ColormapName) {
    return this.fill('colormap', new Uint8Array(768), [new TextEncoder().encode(`${name}\0`)])
  }
}
