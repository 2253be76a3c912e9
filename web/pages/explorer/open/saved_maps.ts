/* Maps that were saved elsewhere: [L, H, N, N] in one array, or an array [H, N, N] a layer
 * ("attention.3" of `heed run --save`); a lone array may also be [1, L, H, N, N], [H, N, N] or [N, N]. Their numbers are computed by the definitions of heed.h. */
import { rolloutRow, statisticsOf } from '../../shared/map_numbers.js'
import { pause } from '../../shared/pause.js'
import { inOrder } from './token_order.js'
import { say } from '../../languages/say.js'
import type { NamedArray, PagePicture, SavedMaps, Shape } from '../../shared/types.js'

function withoutBatch(shape: number[]) {
  const batch = shape.length === 5 ? [1, 0].find((axis) => shape[axis] === 1) : undefined
  return batch === undefined ? shape : shape.filter((_, axis) => axis !== batch)
}
const isMap = (shape: number[], rank: number) =>
  shape.length === rank &&
  shape.at(-1) === shape.at(-2) &&
  (shape.at(-1) as number) > 3 &&
  shape.every((side) => side > 0)
const numbered = (a: string, b: string) => a.localeCompare(b, 'en', { numeric: true })

/** Whether a safetensors header holds maps, not a model: by their names, or under any where no
 * tensor has a name as models' have. */
export function holdsMaps(header: Record<string, { shape?: number[] }>) {
  const square = Object.entries(header)
    .filter(
      ([, { shape }]) =>
        (shape?.length as number) >= 3 && (shape as number[]).at(-1) === (shape as number[]).at(-2)
    )
    .map(([name]) => name)
  return (
    square.some((name) => /^attentions?([._]?\d+)?$|^maps$/.test(name)) ||
    (square.length > 0 && !Object.keys(header).some((name) => /\.(weight|bias)$/.test(name)))
  )
}

/** Arrays whose names differ in their last number alone, in its order; those whose names end in it
 * come first. */
function seriesOf(keys: string[]) {
  const series = (key: string) => key.replace(/\d+(?=\D*$)/, '#'),
    names = keys.map(series),
    wanted = names.find((name) => name.endsWith('#')) ?? names[0]
  return keys.filter((key) => series(key) === wanted).sort(numbered)
}

const numberOf = (key: string) => Number(/\d+(?=\D*$)/.exec(key))

/**
 * Layers that begin later would go by the numbers of others. heed counts from 0, others may from 1;
 * "arr_3" of numpy.savez counts what was saved, not layers.
 * @param key of the first
 */
function expectFirst(key: string, name: string) {
  const most = /^attention\.\d+$/.test(key) ? 0 : /^arr_\d+$/.test(key) ? Infinity : 1
  if (numberOf(key) > most)
    throw new Error(say('files.start', { name, found: key.slice(0, 60), most }))
}

/** Without one in between, later layers would go by the number of another. */
function expectAll(keys: string[], name: string) {
  if (keys.length) expectFirst(keys[0], name)
  const numbers = keys.map(numberOf),
    gap = numbers.findIndex((number, i) => i > 0 && number !== numbers[i - 1] + 1)
  if (gap > 0)
    throw new Error(
      say('files.gap', {
        name,
        found: keys[gap].slice(0, 60),
        before: keys[gap - 1].slice(0, 60),
        expected: numbers[gap - 1] + 1
      })
    )
  return keys
}

/** The names of the arrays that are maps: one, or one a layer; by names and shapes alone. */
function mapsAmong(arrays: Record<string, { shape: number[] }>, name: string) {
  const shapes = Object.entries(arrays)
    .filter(([key]) => key !== 'pixel_values')
    .map(([key, { shape }]) => [key, withoutBatch(shape)] as [string, number[]])
  const whole = shapes.find(
    ([key, shape]) => isMap(shape, 4) && !(shape[0] === 1 && /\d/.test(key))
  )
  const lone = shapes.filter(([, shape]) => [2, 3, 4].some((rank) => isMap(shape, rank)))
  const one = whole ?? (lone.length === 1 ? lone[0] : undefined)
  if (one && !whole && /^attention\.|layer|block/i.test(one[0])) expectFirst(one[0], name)
  const maps = one
    ? [one[0]]
    : expectAll(
        seriesOf(
          shapes
            .filter(
              ([key, shape]) =>
                /\d/.test(key) && (isMap(shape, 3) || (isMap(shape, 4) && shape[0] === 1))
            )
            .map(([key]) => key)
        ),
        name
      )
  if (!maps.length) throw new Error(say('errors.noMaps', { name }))
  return { maps, whole: Boolean(one) }
}

/** What else of a file is looked at, and of which shape. */
const others: Record<string, (shape: number[]) => boolean> = {
  grid: (shape) => shape.length === 1 && shape[0] <= 4,
  patch: (shape) => shape.length === 1 && shape[0] === 1,
  logits: (shape) => shape.length <= 2,
  picture: (shape) => shape.length === 3 && shape[2] === 3,
  pixel_values: (shape) => shape.length === 4 && shape[1] === 3
}

/** The names of those arrays of a file that savedMaps looks at; arrays: { name: { shape } }. */
export const wantedArrays = (arrays: Record<string, { shape: number[] }>, name: string) => [
  ...new Set([
    ...mapsAmong(arrays, name).maps,
    ...Object.keys(others).filter(
      (key) => Object.hasOwn(arrays, key) && others[key](arrays[key].shape)
    )
  ])
]

function gridOf(tokens: number) {
  for (const prefixTokens of [1, 0, 5, 2, 4, 3]) {
    const side = Math.sqrt(tokens - prefixTokens)
    if (Number.isInteger(side) && side > 1) return { prefixTokens, rows: side, columns: side }
  }
  throw new Error(say('errors.noGrid', { tokens }))
}

const patchMost = 65536 // as heed maps has it

/** What the file says of its grid, where it fits; the side of a patch, the unit of distances, 1
 * where nothing says it. */
function placesOf(
  {
    grid,
    patch: said,
    pixel_values: pixels
  }: Record<'grid' | 'patch' | 'pixel_values', NamedArray | null>,
  tokens: number,
  name: string
) {
  const [rows, columns, prefixTokens, patch = said?.data[0] ?? 0] = grid?.data ?? []
  if (
    grid &&
    !(
      [rows, columns].every((side) => Number.isInteger(side) && side > 0) &&
      prefixTokens >= 0 &&
      rows * columns + prefixTokens === tokens
    )
  )
    throw new Error(say('errors.gridWrong', { name, grid: [...grid.data].join(' '), tokens }))
  if (!Number.isInteger(patch) || patch < 0 || patch > patchMost)
    throw new Error(say('files.patchSide', { name, found: patch, most: patchMost }))
  const places = grid ? { prefixTokens, rows, columns } : gridOf(tokens),
    side = pixels?.shape.length === 4 ? pixels.shape[2] / places.rows : 0
  return {
    ...places,
    patch:
      patch || (Number.isInteger(side) && side * places.columns === pixels?.shape[3] && side) || 1
  }
}

/** What a picture has to do with saved maps is only its place: they are taken for its centre, in the
 * shape of their grid. */
function placeOf({ width, height }: PagePicture, { rows, columns }: Shape) {
  const side = Math.min(width / columns, height / rows),
    seen = { width: side * columns, height: side * rows }
  return { x: (width - seen.width) / 2, y: (height - seen.height) / 2, ...seen }
}

/** arrays: { name: { shape, data } } -> { shape, attention: an array [H, N, N] a layer, pixels:
 * pixel_values or null, named: whether `heed maps` reads them, assumed: whether the grid is by the
 * number of tokens alone, logits or null, statistics(), rollout(), result() of a picture }.
 * order: what metadata tokens says, where it is there. */
export function savedMaps(
  arrays: Record<string, NamedArray>,
  name: string,
  order?: unknown
): SavedMaps {
  const { maps, whole } = mapsAmong(arrays, name)
  let layers = maps.map((key) => ({
    heads: arrays[key].shape.at(-3) ?? 1,
    tokens: arrays[key].shape.at(-1),
    data: arrays[key].data
  }))
  if (whole) {
    const [{ heads, tokens, data }] = layers,
      length = heads * (tokens as number) * (tokens as number)
    layers = Array.from({ length: data.length / length }, (_, l) => ({
      heads,
      tokens,
      data: data.subarray(l * length, (l + 1) * length)
    }))
  }
  const { heads, tokens } = layers[0]
  if (layers.some((layer) => layer.heads !== heads || layer.tokens !== tokens))
    throw new Error(say('errors.layersDiffer', { name }))
  const other = (key: string) =>
      arrays[key] && others[key](arrays[key].shape) ? arrays[key] : null,
    pixels = other('pixel_values')
  const shape = {
      layers: layers.length,
      heads,
      tokens,
      ...placesOf(
        { grid: other('grid'), patch: other('patch'), pixel_values: pixels },
        tokens as number,
        name
      ),
      batch: 1
    },
    size = (tokens as number) ** 2,
    stored = layers.map(({ data }) => data),
    attention =
      order === undefined ? stored : inOrder(stored, tokens as number, String(order), name)
  let statistics: ReturnType<typeof statisticsOf> | null = null
  const named = /\.safetensors$/.test(name) && !whole && 'attention.0' in arrays,
    logits = other('logits')?.data ?? null
  return {
    shape: shape as SavedMaps['shape'],
    attention,
    pixels,
    named,
    assumed: !other('grid'),
    logits,
    statistics: () =>
      (statistics ??= statisticsOf(shape as SavedMaps['shape'], (layer, head) =>
        attention[layer].subarray(head * size, (head + 1) * size)
      )),
    model: {
      family: 'saved maps',
      parameters: 0,
      labels: [],
      patch: (shape as SavedMaps['shape']).patch
    } as any,
    rollout: (how) => rolloutRow(shape as Shape, (layer) => attention[layer], how),
    result: (picture) => ({
      logits: logits as any,
      values: {},
      region: placeOf(picture, shape as Shape),
      fit: 'model',
      milliseconds: 0,
      attention,
      kept: true,
      scores: false
    })
  }
}

/** Weights are not below 0, and rows sum to 1 but for what half precision rounds; a head that was
 * taken out has rows of zeros. */
export async function checkWeights(
  { attention, shape: { heads, tokens } }: SavedMaps,
  name: string
) {
  for (const [layer, weights] of attention.entries()) {
    for (let row = 0; row < heads * tokens; row++) {
      let sum = 0,
        least = 0
      for (let i = row * tokens; i < (row + 1) * tokens; i++) {
        sum += weights[i]
        if (weights[i] < least) least = weights[i]
      }
      if (least === 0 && (sum === 0 || Math.abs(sum - 1) <= 0.02)) continue
      const where = say('files.row', {
        name,
        layer,
        head: Math.floor(row / tokens),
        row: row % tokens
      })
      if (least < 0) throw new Error(say('files.negative', { where, found: least.toPrecision(3) }))
      const found = sum.toPrecision(3)
      throw new Error(
        Number.isFinite(sum)
          ? say('files.sum', { where, found })
          : say('files.noSum', { where, found })
      )
    }
    await pause()
  }
}

/** pixel_values [1, 3, H, W] as a picture: the smallest value black, the largest white. */
export function pictureOfPixels({ shape: [, , height, width], data }: NamedArray): PagePicture {
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
