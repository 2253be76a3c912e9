/* Maps that were saved elsewhere: [L, H, N, N] in one array, or an array [H, N, N] a layer ("attention.3" of `heed run --save`). Their numbers
 * are worked out here, by the definitions of heed.h. */
import { entropy } from './maps.js'

const withoutBatch = (shape) => (shape.length === 5 && shape[1] === 1 ? [shape[0], ...shape.slice(2)] : shape)
const isMap = (shape, rank) => shape.length === rank && shape.at(-1) === shape.at(-2) && shape.at(-1) > 3
const numbered = (a, b) => a.localeCompare(b, 'en', { numeric: true })

/** Whether a safetensors header holds maps, not a model. */
export const holdsMaps = (header) => Object.entries(header).some(([name, { shape }]) => /^attentions?([._]?\d+)?$|^maps$/.test(name) && shape?.length >= 3 && shape.at(-1) === shape.at(-2))

function gridOf(tokens) {
  for (const prefixTokens of [1, 0, 5, 2, 4, 3]) {
    const side = Math.sqrt(tokens - prefixTokens)
    if (Number.isInteger(side) && side > 1) return { prefixTokens, rows: side, columns: side }
  }
  throw new Error(`These maps have ${tokens} tokens: no square of patches after up to 5 tokens of another kind. Save the array grid = [rows, columns, tokens before the patches] with them.`)
}

/* What the file says of its grid, where it fits; the side of a patch, the unit of distances, 1 where nothing says it. */
function placesOf({ grid, pixel_values: pixels }, tokens, name) {
  const [rows, columns, prefixTokens, patch = 0] = grid?.data ?? []
  if (grid && !(rows > 0 && columns > 0 && rows * columns + prefixTokens === tokens)) throw new Error(`${name}: its grid does not fit (found ${[...grid.data].join(' ')}, expected rows, columns and prefix tokens of ${tokens} tokens).`)
  const places = grid ? { prefixTokens, rows, columns } : gridOf(tokens), side = pixels?.shape.length === 4 ? pixels.shape[2] / places.rows : 0
  return { ...places, patch: patch || (Number.isInteger(side) && side * places.columns === pixels?.shape[3] && side) || 1 }
}

/** arrays: { name: { shape, data } } -> { shape, attention: an array [H, N, N] a layer, pixels: pixel_values or null, statistics(), rollout() }. */
export function savedMaps(arrays, name) {
  const entries = Object.entries(arrays).filter(([key]) => key !== 'pixel_values').map(([key, { shape, data }]) => [key, { shape: withoutBatch(shape), data }])
  const whole = entries.find(([key, { shape }]) => isMap(shape, 4) && !(shape[0] === 1 && /\d$/.test(key)))
  let layers = entries.filter(([key, { shape }]) => /\d$/.test(key) && (isMap(shape, 3) || (isMap(shape, 4) && shape[0] === 1))).sort(([a], [b]) => numbered(a, b)).map(([, { shape, data }]) => ({ heads: shape.at(-3), tokens: shape.at(-1), data }))
  if (whole) {
    const [count, heads, tokens] = whole[1].shape, length = heads * tokens * tokens
    layers = Array.from({ length: count }, (_, l) => ({ heads, tokens, data: whole[1].data.subarray(l * length, (l + 1) * length) }))
  }
  if (!layers.length) throw new Error(`${name}: no attention maps in it. They are arrays [L, H, N, N], or one [H, N, N] a layer under names that end in its number.`)
  const { heads, tokens } = layers[0]
  if (layers.some((layer) => layer.heads !== heads || layer.tokens !== tokens)) throw new Error(`${name}: its layers differ in heads or tokens.`)
  const pixels = arrays.pixel_values?.shape.length === 4 && arrays.pixel_values.shape[1] === 3 ? arrays.pixel_values : null
  const shape = { layers: layers.length, heads, tokens, ...placesOf(arrays, tokens, name), batch: 1 }, attention = layers.map(({ data }) => data), size = tokens ** 2
  const ofHead = (layer) => (_, head) => headStatistics(layer.subarray(head * size, (head + 1) * size), shape, shape.patch)
  return { shape, attention, pixels, statistics: () => attention.map((layer) => Array.from({ length: heads }, ofHead(layer))), rollout: (how) => rolloutRow(attention, shape, how) }
}

/** pixel_values [1, 3, H, W] as a picture: the smallest value black, the largest white. */
export function pictureOfPixels({ shape: [, , height, width], data }) {
  const image = new ImageData(width, height), area = width * height
  const [low, high] = data.subarray(0, 3 * area).reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity])
  for (let i = 0; i < area * 4; i++) image.data[i] = i % 4 === 3 ? 255 : ((data[(i % 4) * area + (i >> 2)] - low) / (high - low || 1)) * 255
  return { source: image, width, height, name: 'pixel_values' }
}

/** Statistics of one head; attention [N, N]; distances in patches times `patch`. */
export function headStatistics(attention, { tokens, prefixTokens: prefix, rows, columns }, patch) {
  const sums = { entropyCls: prefix ? entropy(attention.subarray(0, tokens)) : 0, entropyPatches: 0, distance: 0, distanceRenormalised: 0, prefixMass: 0, selfMass: 0, top5Mass: 0 }
  const patches = rows * columns
  for (let q = 0; q < patches; q++) {
    const row = attention.subarray((prefix + q) * tokens, (prefix + q + 1) * tokens)
    let distance = 0, mass = 0
    for (let k = 0; k < patches; k++) {
      mass += row[prefix + k]
      distance += row[prefix + k] * Math.hypot(Math.floor(q / columns) - Math.floor(k / columns), (q % columns) - (k % columns))
    }
    sums.entropyPatches += entropy(row) / patches
    sums.distance += (distance * patch) / patches
    sums.distanceRenormalised += mass > 0 ? ((distance / mass) * patch) / patches : 0
    for (let k = 0; k < prefix; k++) sums.prefixMass += row[k] / patches
    sums.selfMass += row[prefix + q] / patches
    sums.top5Mass += Float32Array.from(row).sort().subarray(-5).reduce((sum, weight) => sum + weight, 0) / patches // a NaN is sorted to the end
  }
  return sums
}

const fusions = { mean: (values) => values.reduce((a, b) => a + b, 0) / values.length, min: (values) => Math.min(...values), max: (values) => Math.max(...values) }

/** One row of the rollout over layers first..last: the query's unit vector through (1 - r) A + r I, rows normalised, from the last layer back. */
export function rolloutRow(attention, { heads, tokens }, { token, fusion, residual, discard = 0, first, last }) {
  let row = Float64Array.from({ length: tokens }, (_, i) => (i === token ? 1 : 0))
  const join = fusions[fusion], across = new Array(heads)
  for (let layer = last; layer >= first; layer--) {
    const next = new Float64Array(tokens), line = new Float64Array(tokens), weights = attention[layer]
    for (let q = 0; q < tokens; q++) {
      if (row[q] === 0) continue
      let sum = 0
      for (let k = 0; k < tokens; k++) {
        for (let h = 0; h < heads; h++) across[h] = weights[(h * tokens + q) * tokens + k]
        line[k] = join(across)
      }
      const small = discard ? Array.from(line.keys()).sort((a, b) => line[a] - line[b] || a - b).slice(0, Math.floor(discard * tokens)) : []
      for (const k of small) line[k] = 0
      for (let k = 0; k < tokens; k++) sum += line[k] = (1 - residual) * line[k] + (q === k ? residual : 0)
      for (let k = 0; k < tokens; k++) next[k] += (row[q] * line[k]) / (sum || 1)
    }
    row = next
  }
  return Float32Array.from(row)
}
