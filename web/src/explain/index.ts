/* Definitions of heed.h over plain arrays: rows (rows.js), maps, changes of attention. */
import { expectArray, expectColormap, expectNumber, expectRows, expectShare } from './arrays.js'
import { AttentionChanges } from './changes.js'
import { Rows, start } from './rows.js'
import type { ChangeSizes } from 'heed/explain'
import type { ColormapName } from 'heed'

export { AttentionChanges }

/** The multiple of `of` that is nearest to `count`. */
const multiple = (count: number, of: number) => (of ? of * Math.round(count / of) : 0)

/** What Rows computes, for who may pass anything: arguments are validated. */
export class Explain extends Rows {
  colormap(name: ColormapName) {
    expectColormap(name)
    return super.colormap(name)
  }

  headMean(rows: Float32Array[]) {
    expectRows(rows)
    return super.headMean(rows)
  }

  scoreMean(rows: Float32Array[]) {
    expectRows(rows)
    return super.scoreMean(rows)
  }

  entropy(row: Float32Array) {
    expectArray('row', row)
    return super.entropy(row)
  }

  massMask(weights: Float32Array, share: number) {
    expectArray('weights', weights)
    expectShare(share)
    return super.massMask(weights, share)
  }

  /**
   * @param one [D]
   * @param all [T, D]
   */
  scoreProducts(one: Float32Array, all: Float32Array, scaled: boolean) {
    expectArray('one', one)
    expectArray('all', all)
    expectArray('all', all, multiple(all.length, one.length))
    return super.scoreProducts(one, all, scaled)
  }

  /**
   * @param weights [T]
   * @param values [T, D], or with reverse [D] of the one key
   */
  scoreValues(weights: Float32Array, values: Float32Array, reverse: boolean) {
    expectArray('weights', weights)
    expectArray('values', values)
    if (!reverse) expectArray('values', values, multiple(values.length, weights.length))
    return super.scoreValues(weights, values, reverse)
  }

  /**
   * @param one [C]
   * @param all [N, C]
   */
  cosines(one: Float32Array, all: Float32Array) {
    expectArray('one', one)
    expectArray('all', all)
    expectArray('all', all, multiple(all.length, one.length))
    return super.cosines(one, all)
  }

  divergence(a: Float32Array, b: Float32Array) {
    expectArray('a', a)
    expectArray('b', b, a.length)
    return super.divergence(a, b)
  }

  mapDistances(maps: Float32Array[], tokens: number, stride = 1) {
    expectNumber('stride', stride, 1)
    if (!Array.isArray(maps) || maps.length) expectRows(maps)
    for (const map of maps) expectArray('maps', map, multiple(map.length, tokens))
    return super.mapDistances(maps, tokens, stride)
  }

  mapGroups(distances: Float64Array, limit: number) {
    expectArray('distances', distances, undefined, Float64Array)
    expectArray('distances', distances, Math.round(Math.sqrt(distances.length)) ** 2, Float64Array)
    return super.mapGroups(distances, limit)
  }

  share(row: Float32Array, region: Uint8Array) {
    expectArray('row', row)
    expectArray('region', region, row.length, Uint8Array)
    return super.share(row, region)
  }

  meanShare(attention: Float32Array, region: Uint8Array, prefixTokens: number) {
    expectArray('region', region, undefined, Uint8Array)
    expectArray('attention', attention, region.length ** 2)
    expectNumber('prefixTokens', prefixTokens, 0)
    return super.meanShare(attention, region, prefixTokens)
  }

  rankCorrelation(a: Float32Array, b: Float32Array) {
    expectArray('a', a)
    expectArray('b', b, a.length)
    return super.rankCorrelation(a, b)
  }

  /** @param attention [N, N] */
  statistics(
    attention: Float32Array,
    { prefixTokens, rows, columns }: { prefixTokens: number; rows: number; columns: number },
    patch: number
  ) {
    expectArray('attention', attention, (prefixTokens + rows * columns) ** 2)
    const { module } = this
    return module.lend([attention], (at) => {
      module.exports.map_statistics(module.web, at, prefixTokens, rows, columns, patch)
      return module.out('statistics')
    })
  }

  /**
   * @param row [N]
   * @param layer [H, N, N]
   */
  rolloutBack(
    row: Float64Array,
    layer: Float32Array,
    heads: number,
    { fusion, residual, discard = 0 }: { fusion: string; residual: number; discard?: number }
  ) {
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

  changes(sizes: ChangeSizes) {
    return new AttentionChanges(this, sizes)
  }
}

let loading: Promise<Explain> | undefined

export const loadExplain = () =>
  (loading ??= start()
    .then((module) => new Explain(module))
    .catch((error) => {
      loading = undefined
      throw error
    }))
