/* Maps that were saved elsewhere: [L, H, N, N] in one array, or an array [H, N, N] a layer
 * ("attention.3" of `heed run --save`). Their numbers are worked out here, by the definitions of
 * heed.h. */
import { entropy } from '../model/attention_rows.js'
/** @import {Fusion, NamedArray, PagePicture, SavedMaps, Shape} from '../../../types/pages.js' */

/* Work that takes long lets the page go on: a pause where 20 ms have passed since the last. */
let began = 0
async function pause() {
  if (performance.now() - began < 20) return
  await new Promise((done) => setTimeout(done))
  began = performance.now()
}

/** @param {number[]} shape */
const withoutBatch = (shape) =>
  shape.length === 5 && shape[1] === 1 ? [shape[0], ...shape.slice(2)] : shape
/**
 * @param {number[]} shape
 * @param {number} rank
 */
const isMap = (shape, rank) =>
  shape.length === rank &&
  shape.at(-1) === shape.at(-2) &&
  /** @type {number} */ (shape.at(-1)) > 3 &&
  shape.every((side) => side > 0)
/**
 * @param {string} a
 * @param {string} b
 */
const numbered = (a, b) => a.localeCompare(b, 'en', { numeric: true })

/**
 * Whether a safetensors header holds maps, not a model: by their names, or under any where no
 * tensor has a name as models' have.
 * @param {Record<string, {shape?: number[]}>} header
 */
export function holdsMaps(header) {
  const square = Object.entries(header)
    .filter(
      ([, { shape }]) =>
        /** @type {number} */ (shape?.length) >= 3 &&
        /** @type {number[]} */ (shape).at(-1) === /** @type {number[]} */ (shape).at(-2)
    )
    .map(([name]) => name)
  return (
    square.some((name) => /^attentions?([._]?\d+)?$|^maps$/.test(name)) ||
    (square.length > 0 && !Object.keys(header).some((name) => /\.(weight|bias)$/.test(name)))
  )
}

/**
 * Arrays whose names differ in their last number alone, in its order; those whose names end in it
 * come first.
 * @param {string[]} keys
 */
function seriesOf(keys) {
  const series = (/** @type {string} */ key) => key.replace(/\d+(?=\D*$)/, '#'),
    names = keys.map(series),
    wanted = names.find((name) => name.endsWith('#')) ?? names[0]
  return keys.filter((key) => series(key) === wanted).sort(numbered)
}

/**
 * The names of the arrays that are maps: one, or one a layer; by names and shapes alone.
 * @param {Record<string, {shape: number[]}>} arrays
 * @param {string} name
 */
function mapsAmong(arrays, name) {
  const shapes = Object.entries(arrays)
    .filter(([key]) => key !== 'pixel_values')
    .map(([key, { shape }]) => /** @type {[string, number[]]} */ ([key, withoutBatch(shape)]))
  const whole = shapes.find(
    ([key, shape]) => isMap(shape, 4) && !(shape[0] === 1 && /\d/.test(key))
  )
  const maps = whole
    ? [whole[0]]
    : seriesOf(
        shapes
          .filter(
            ([key, shape]) =>
              /\d/.test(key) && (isMap(shape, 3) || (isMap(shape, 4) && shape[0] === 1))
          )
          .map(([key]) => key)
      )
  if (!maps.length)
    throw new Error(
      `${name}: no attention maps in it. They are arrays [L, H, N, N], or one [H, N, N] a layer under names with its number.`
    )
  return { maps, whole: Boolean(whole) }
}

/**
 * What else of a file is looked at, and of which shape.
 * @type {Record<string, (shape: number[]) => boolean>}
 */
const others = {
  grid: (shape) => shape.length === 1 && shape[0] <= 4,
  logits: (shape) => shape.length <= 2,
  picture: (shape) => shape.length === 3 && shape[2] === 3,
  pixel_values: (shape) => shape.length === 4 && shape[1] === 3
}

/**
 * The names of those arrays of a file that savedMaps looks at; arrays: { name: { shape } }.
 * @param {Record<string, {shape: number[]}>} arrays
 * @param {string} name
 */
export const wantedArrays = (arrays, name) => [
  ...new Set([
    ...mapsAmong(arrays, name).maps,
    ...Object.keys(others).filter(
      (key) => Object.hasOwn(arrays, key) && others[key](arrays[key].shape)
    )
  ])
]

/** @param {number} tokens */
function gridOf(tokens) {
  for (const prefixTokens of [1, 0, 5, 2, 4, 3]) {
    const side = Math.sqrt(tokens - prefixTokens)
    if (Number.isInteger(side) && side > 1) return { prefixTokens, rows: side, columns: side }
  }
  throw new Error(
    `These maps have ${tokens} tokens: no square of patches after up to 5 tokens of another kind. Save the array grid = [rows, columns, tokens before the patches] with them.`
  )
}

/**
 * What the file says of its grid, where it fits; the side of a patch, the unit of distances, 1
 * where nothing says it.
 * @param {{grid: NamedArray | null, pixel_values: NamedArray | null}} arrays
 * @param {number} tokens
 * @param {string} name
 */
function placesOf({ grid, pixel_values: pixels }, tokens, name) {
  const [rows, columns, prefixTokens, patch = 0] = grid?.data ?? []
  if (
    grid &&
    !(
      [rows, columns].every((side) => Number.isInteger(side) && side > 0) &&
      prefixTokens >= 0 &&
      rows * columns + prefixTokens === tokens
    )
  )
    throw new Error(
      `${name}: its grid does not fit (found ${[...grid.data].join(' ')}, expected rows, columns and prefix tokens of ${tokens} tokens).`
    )
  const places = grid ? { prefixTokens, rows, columns } : gridOf(tokens),
    side = pixels?.shape.length === 4 ? pixels.shape[2] / places.rows : 0
  return {
    ...places,
    patch:
      patch || (Number.isInteger(side) && side * places.columns === pixels?.shape[3] && side) || 1
  }
}

/**
 * arrays: { name: { shape, data } } -> { shape, attention: an array [H, N, N] a layer, pixels:
 * pixel_values or null, named: whether `heed maps` reads them, logits or null, statistics(),
 * rollout() }.
 * @param {Record<string, NamedArray>} arrays
 * @param {string} name
 * @returns {SavedMaps}
 */
export function savedMaps(arrays, name) {
  const { maps, whole } = mapsAmong(arrays, name)
  let layers = maps.map((key) => ({
    heads: arrays[key].shape.at(-3),
    tokens: arrays[key].shape.at(-1),
    data: arrays[key].data
  }))
  if (whole) {
    const [{ heads, tokens, data }] = layers,
      length =
        /** @type {number} */ (heads) *
        /** @type {number} */ (tokens) *
        /** @type {number} */ (tokens)
    layers = Array.from({ length: data.length / length }, (_, l) => ({
      heads,
      tokens,
      data: data.subarray(l * length, (l + 1) * length)
    }))
  }
  const { heads, tokens } = layers[0]
  if (layers.some((layer) => layer.heads !== heads || layer.tokens !== tokens))
    throw new Error(`${name}: its layers differ in heads or tokens.`)
  const other = (/** @type {string} */ key) =>
      arrays[key] && others[key](arrays[key].shape) ? arrays[key] : null,
    pixels = other('pixel_values')
  const shape = {
      layers: layers.length,
      heads,
      tokens,
      ...placesOf(
        { grid: other('grid'), pixel_values: pixels },
        /** @type {number} */ (tokens),
        name
      ),
      batch: 1
    },
    attention = layers.map(({ data }) => data),
    size = /** @type {number} */ (tokens) ** 2
  let statistics = null
  const named = /\.safetensors$/.test(name) && !whole && 'attention.0' in arrays
  return {
    shape: /** @type {SavedMaps['shape']} */ (shape),
    attention,
    pixels,
    named,
    logits: other('logits')?.data ?? null,
    statistics: () =>
      (statistics ??= allStatistics(attention, /** @type {Shape & {patch: number}} */ (shape))),
    rollout: (how) => rolloutRow(attention, /** @type {Shape} */ (shape), how)
  }
}

/**
 * Weights are not below 0, and rows sum to 1 but for what half precision rounds; a head that was
 * taken out has rows of zeros.
 * @param {SavedMaps} maps
 * @param {string} name
 */
export async function checkWeights({ attention, shape: { heads, tokens } }, name) {
  for (const [layer, weights] of attention.entries()) {
    for (let row = 0; row < heads * tokens; row++) {
      let sum = 0,
        least = 0
      for (let i = row * tokens; i < (row + 1) * tokens; i++) {
        sum += weights[i]
        if (weights[i] < least) least = weights[i]
      }
      if (least === 0 && (sum === 0 || Math.abs(sum - 1) <= 0.02)) continue
      const where = `${name}: layer ${layer}, head ${Math.floor(row / tokens)}, row ${row % tokens}`
      if (least < 0)
        throw new Error(
          `${where} has weights below 0 (found ${least.toPrecision(3)}): scores, not weights? Save the attention after its softmax.`
        )
      throw new Error(
        `${where} does not sum to 1 (found ${sum.toPrecision(3)})${Number.isFinite(sum) ? ': scores, not weights?' : ''} Save the attention after its softmax.`
      )
    }
    await pause()
  }
}

/**
 * pixel_values [1, 3, H, W] as a picture: the smallest value black, the largest white.
 * @param {NamedArray} pixels
 * @returns {PagePicture}
 */
export function pictureOfPixels({ shape: [, , height, width], data }) {
  const image = new ImageData(width, height),
    area = width * height
  const [low, high] = data
    .subarray(0, 3 * area)
    .reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity])
  for (let i = 0; i < area * 4; i++)
    image.data[i] =
      i % 4 === 3 ? 255 : ((data[(i % 4) * area + (i >> 2)] - low) / (high - low || 1)) * 255
  return { source: image, width, height, name: 'pixel_values' }
}

/**
 * Distances from the first patch to each, row by row, in patches.
 * @param {number} rows
 * @param {number} columns
 */
const distancesOf = (rows, columns) =>
  Float64Array.from({ length: rows * columns }, (_, i) =>
    Math.hypot(Math.floor(i / columns), i % columns)
  )

/**
 * [mass on the patches, mass times distance] of one query, from its row's weights on the
 * patches.
 * @param {Float32Array} row
 * @param {number} q
 * @param {number} rows
 * @param {number} columns
 * @param {Float64Array} distances
 */
function reachOf(row, q, rows, columns, distances) {
  const own = Math.floor(q / columns),
    across = q % columns
  let mass = 0,
    distance = 0
  for (let r = 0, k = 0; r < rows; r++) {
    const line = Math.abs(r - own) * columns
    for (let c = 0; c < columns; c++, k++) {
      mass += row[k]
      distance += row[k] * distances[line + Math.abs(c - across)]
    }
  }
  return [mass, distance]
}

/**
 * Sum of the five largest.
 * @param {Float32Array} row
 */
function topFive(row) {
  const top = new Float64Array(5) // ascending
  for (let i = 0; i < row.length; i++) {
    if (row[i] <= top[0]) continue
    let at = 0
    for (; at < 4 && top[at + 1] < row[i]; at++) top[at] = top[at + 1]
    top[at] = row[i]
  }
  return top.reduce((sum, weight) => sum + weight, 0)
}

/**
 * @param {Float32Array[]} attention
 * @param {SavedMaps['shape']} shape
 */
async function allStatistics(attention, shape) {
  const layers = [],
    size = shape.tokens ** 2,
    distances = distancesOf(shape.rows, shape.columns)
  for (const layer of attention) {
    const heads = []
    for (let head = 0; head < shape.heads; head++) {
      heads.push(
        headStatistics(
          layer.subarray(head * size, (head + 1) * size),
          shape,
          shape.patch,
          distances
        )
      )
      await pause()
    }
    layers.push(heads)
  }
  return layers
}

/**
 * Statistics of one head; attention [N, N]; distances in patches times `patch`.
 * @param {Float32Array} attention
 * @param {Shape} shape
 * @param {number} patch
 * @param {Float64Array} [distances]
 */
export function headStatistics(
  attention,
  { tokens, prefixTokens: prefix, rows, columns },
  patch,
  distances = distancesOf(rows, columns)
) {
  const sums = {
    entropyCls: prefix ? entropy(attention.subarray(0, tokens)) : 0,
    entropyPatches: 0,
    distance: 0,
    distanceRenormalised: 0,
    prefixMass: 0,
    selfMass: 0,
    top5Mass: 0
  }
  const patches = rows * columns
  for (let q = 0; q < patches; q++) {
    const row = attention.subarray((prefix + q) * tokens, (prefix + q + 1) * tokens),
      [mass, distance] = reachOf(row.subarray(prefix), q, rows, columns, distances)
    sums.entropyPatches += entropy(row) / patches
    sums.distance += (distance * patch) / patches
    sums.distanceRenormalised += mass > 0 ? ((distance / mass) * patch) / patches : 0
    for (let k = 0; k < prefix; k++) sums.prefixMass += row[k] / patches
    sums.selfMass += row[prefix + q] / patches
    sums.top5Mass += topFive(row) / patches
  }
  return sums
}

/** @type {Record<string, (a: number, b: number) => number>} */
const fusions = {
  mean: (a, b) => a + b,
  min: (a, b) => (b < a ? b : a),
  max: (a, b) => (b > a ? b : a)
}

/**
 * Row q of a layer's heads made into one.
 * @param {Float64Array} line
 * @param {Float32Array} weights
 * @param {number} q
 * @param {Shape} shape
 * @param {Fusion} fusion
 */
function fused(line, weights, q, { heads, tokens }, fusion) {
  const join = fusions[fusion]
  line.set(weights.subarray(q * tokens, (q + 1) * tokens))
  for (let head = 1; head < heads; head++) {
    const from = (head * tokens + q) * tokens
    for (let k = 0; k < tokens; k++) line[k] = join(line[k], weights[from + k])
  }
  if (fusion === 'mean') for (let k = 0; k < tokens; k++) line[k] /= heads
}

/**
 * One row of the rollout over layers first..last: the query's unit vector through (1 - r) A + r I,
 * rows normalised, from the last layer back.
 * @param {Float32Array[]} attention
 * @param {Shape} shape
 * @param {Parameters<SavedMaps['rollout']>[0]} how
 * @returns {Promise<Float32Array>}
 */
export async function rolloutRow(
  attention,
  shape,
  { token, fusion, residual, discard = 0, first, last }
) {
  const { tokens } = shape,
    line = new Float64Array(tokens)
  let row = Float64Array.from({ length: tokens }, (_, i) => (i === token ? 1 : 0))
  for (let layer = last; layer >= first; layer--) {
    const next = new Float64Array(tokens)
    for (let q = 0; q < tokens; q++) {
      if (row[q] === 0) continue
      fused(line, attention[layer], q, shape, fusion)
      const small = discard
        ? Array.from(line.keys())
            .sort((a, b) => line[a] - line[b] || a - b)
            .slice(0, Math.floor(discard * tokens))
        : []
      for (const k of small) line[k] = 0
      let sum = 0
      for (let k = 0; k < tokens; k++)
        sum += line[k] = (1 - residual) * line[k] + (q === k ? residual : 0)
      for (let k = 0; k < tokens; k++) next[k] += (row[q] * line[k]) / (sum || 1)
    }
    row = next
    await pause()
  }
  return Float32Array.from(row)
}
