/* The definitions of heed.h for plain arrays, computed in C: heed.wasm. The functions return
 * at once, need no runtime and no model, and return copies. docs/attention.md has the definitions.
 *
 *   const explain = await loadExplain()
 *   explain.entropy(await session.attention({ layer: 3, head: 0, query: 'cls' }))
 *
 * Dimensions: L layers, H heads, T tokens, N tokens of a matrix, D head size, C channels. Types and
 * lengths of arrays are validated: a wrong one throws 'INVALID_ARGUMENT'. EXPERIMENTAL. */
import type { ColormapName, HeadStatistics } from '../index.js'

/** Loads the module once; every call returns the same object. Throws a HeedError 'INTERNAL' when
 * the module cannot be loaded. */
export function loadExplain(): Promise<Explain>

export interface Explain {
  /** Returns the 256 RGB colours of a map, [256 * 3], as `runtime.colormap(name)` does. */
  colormap(name: ColormapName): Uint8Array
  /** Returns the mean over rows of the same length: one row per head. */
  headMean(rows: Float32Array[]): Float32Array
  /** Returns the Shannon entropy of a row in nats; 0 log 0 = 0. */
  entropy(row: Float32Array): number
  /** Returns 1 for the smallest set of patches that holds the fraction `share` of the weight, ties
   * by index (Caron et al. 2021). */
  massMask(weights: Float32Array, share: number): Uint8Array
  /** Returns the statistics of one head. attention: [N, N]. patch: its side, the unit of
   * distances. */
  statistics(
    attention: Float32Array,
    shape: { prefixTokens: number; rows: number; columns: number },
    patch: number
  ): HeadStatistics
  /** Returns the row [N] times one layer's matrix of the rollout. layer: [H, N, N]. A token's unit
   * vector that goes through all layers, the last one first, is the token's row of the rollout.
   * Throws 'INVALID_ARGUMENT' for an invalid option. */
  rolloutBack(
    row: Float64Array,
    layer: Float32Array,
    heads: number,
    how: { fusion: 'mean' | 'min' | 'max'; residual: number; discard?: number }
  ): ReturnType<Float64Array['slice']>

  /** Returns the scores [T] of one query [D] with all keys [T, D], or of one key with all queries.
   * scaled: divided by the square root of D. */
  scoreProducts(one: Float32Array, all: Float32Array, scaled: boolean): Float32Array
  /** Returns the softmax of scores, in double precision: a row's weights, or the probabilities of
   * classes. A score of -Infinity gives 0. */
  softmax(scores: ArrayLike<number>): number[]
  /** Returns weights [T] times the norm of the key's value (Kobayashi et al. 2020). values:
   * [T, D], or with reverse [D] of the one key. */
  scoreValues(weights: Float32Array, values: Float32Array, reverse: boolean): Float32Array
  /** Returns the mean over rows of the same length, of those that are not -Infinity there. */
  scoreMean(rows: Float32Array[]): Float32Array
  /** Returns the cosines [N] of one state [C] with states [N, C]; NaN of a state of zeros. */
  cosines(one: Float32Array, all: Float32Array): Float32Array

  /** Returns the Jensen-Shannon divergence of two rows, each made to sum to 1, in nats: 0 to ln 2. */
  divergence(a: Float32Array, b: Float32Array): number
  /** Returns the distances [H, H] of maps [T, T], or of the same queries of each, [Q, T]: the
   * divergence of their rows, mean over every stride-th query. */
  mapDistances(
    maps: Float32Array[],
    tokens: number,
    stride?: number
  ): ReturnType<Float64Array['slice']>
  /** Returns the number of each one's group by distances [n, n]. Groups are of average linkage: the
   * two nearest become one while they are nearer than `limit`. The largest is 0; of equal ones that
   * with the lowest member comes first. */
  mapGroups(distances: Float64Array, limit: number): ReturnType<Uint32Array['slice']>
  /** Returns how much of a row lies on a region of tokens (not 0: inside). */
  share(row: Float32Array, region: Uint8Array): number
  /** Returns the mean of that over the patches outside the region; 0 without any. attention:
   * [T, T]. */
  meanShare(attention: Float32Array, region: Uint8Array, prefixTokens: number): number
  /** Returns Spearman's rank correlation of two rows; NaN where one of them is constant. */
  rankCorrelation(a: Float32Array, b: Float32Array): number

  /** Creates changes of a model's attention; nothing is changed at first. Throws 'INVALID_ARGUMENT'
   * for invalid sizes and 'OUT_OF_MEMORY'. */
  changes(sizes: ChangeSizes): AttentionChanges
}

/** Sizes of a session: those of SessionInfo, and the width C of the model. */
export interface ChangeSizes {
  layers: number
  heads: number
  tokens: number
  width: number
}

/** What is changed in a model's attention. One call adds one change and returns the object; inputs()
 * has all of them for a session with `intervene`. Every function throws 'INVALID_ARGUMENT' for an
 * index out of range, and after close(). */
export interface AttentionChanges {
  /** Ablates a head: it outputs zeros, what replace() sets, or what `emptyRow` says. */
  ablate(layer: number, head: number): this
  /** Mean ablation: ablated heads of this layer output their mean over the tokens.
   * output: 'layer.N.attention.output' [T, C] of a run without changes. */
  replace(layer: number, output: Float32Array): this
  /** Multiplies the output of a head. */
  gain(layer: number, head: number, factor: number): this
  /** Masks a token as a key of every query. */
  drop(token: number): this
  /** Masks a key for one query. */
  cut(query: number, key: number): this
  /** Returns scaled scores [T] of a query (with reverse: of a key) after temperature and masks:
   * divided by the temperature, default 1, and -Infinity where a mask hides the key. */
  mask(
    scores: Float32Array,
    at: { layer: number; head: number; token: number; reverse?: boolean; temperature?: number }
  ): Float32Array
  /** Returns the inputs for session.write, all of them: names and data. */
  inputs(): [name: string, data: Uint8Array | Float32Array][]
  /** Frees the memory. */
  close(): void
}
