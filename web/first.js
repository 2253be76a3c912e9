/* What the first page shows before any script has run: the demo's scene, its map and the heads' maps
 * as PNGs, the query's mark and numbers of the row; made when the pages are put together
 * (assemble.js). */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { crc32 as zlibCrc32, deflateSync } from 'node:zlib'
import { rulesOf } from './pages/explorer/model/rules_line.js'
/** @import {Table} from './types/library.js' */
/** @import {Picture} from './src/index.js' */
/** @import {Raster} from './plot/index.js' */

const shown = { scene: 159, layer: 3, head: 0, query: [2, 10] } // as `defaults` in pages/explorer/state/defaults.js

/**
 * PNG (W3C, third edition): chunks with CRC-32, one zlib stream of unfiltered rows of indices.
 * @param {Uint8Array} bytes
 */
function crc32(bytes) {
  if (zlibCrc32) return zlibCrc32(bytes)
  let crc = ~0
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}

/**
 * @param {string} type
 * @param {Uint8Array} data
 */
function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type), data]),
    sized = Buffer.alloc(body.length + 8)
  sized.writeUInt32BE(data.length)
  body.copy(sized, 4)
  sized.writeUInt32BE(crc32(body), body.length + 4)
  return sized
}

/**
 * Median cut (Heckbert 1982): the box with the longest side is halved until there are `count`; each
 * becomes its mean.
 * @param {number[][]} pixels
 * @param {number} count
 */
function palette(pixels, count) {
  const boxes = [pixels],
    side = (/** @type {number[][]} */ box, /** @type {number} */ c) =>
      Math.max(...box.map((pixel) => pixel[c])) - Math.min(...box.map((pixel) => pixel[c]))
  /** @param {number[][]} box */
  const longest = (box) => [0, 1, 2].map((c) => [side(box, c), c]).sort(([a], [b]) => b - a)[0]
  const sides = /** @type {Table<number[][], number[]>} */ (new Map([[pixels, longest(pixels)]]))
  while (boxes.length < count) {
    const [box] = boxes.sort((a, b) => sides.get(b)[0] - sides.get(a)[0]).splice(0, 1),
      [, c] = sides.get(box)
    box.sort((a, b) => a[c] - b[c])
    for (const half of [box.slice(0, box.length >> 1), box.slice(box.length >> 1)]) {
      boxes.push(half)
      sides.set(half, longest(half))
    }
  }
  return boxes.map((box) =>
    [0, 1, 2].map((c) => Math.round(box.reduce((sum, pixel) => sum + pixel[c], 0) / box.length))
  )
}

/* Few colours, since the picture is on the screen before anything else: noise of the drawn scene
 * costs most of the bytes. */
const colours = 48

/**
 * Indexed PNG of colours with alpha.
 * @param {number[][]} table at most 256 colours
 * @param {(pixel: number) => number} indexAt
 * @param {{width: number, height: number}} size
 */
function indexedPng(table, indexAt, { width, height }) {
  if (table.length > 256) throw new Error(`a PNG of ${table.length} colours, expected at most 256`)
  const rows = Buffer.alloc((width + 1) * height),
    header = Buffer.alloc(13)
  for (let i = 0; i < width * height; i++)
    rows[Math.floor(i / width) * (width + 1) + 1 + (i % width)] = indexAt(i)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 3, 0, 0, 0], 8)
  const alphas = table.map(([, , , alpha]) => alpha)
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]),
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(table.flatMap((colour) => colour.slice(0, 3)))),
    ...(alphas.some((alpha) => alpha < 255) ? [chunk('tRNS', Buffer.from(alphas))] : []),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0))
  ])
}

/**
 * In few colours; one more stands for pixels without any.
 * @param {Picture} picture
 */
function png({ data, width, height }) {
  const pixels = pixelsOf(data),
    table = palette(
      pixels.filter(([, , , alpha]) => alpha),
      colours
    )
  /** @param {number[]} pixel */
  const nearest = (pixel) =>
    table.reduce(
      ([best, least], colour, i) => {
        const far = colour.reduce((sum, value, c) => sum + (value - pixel[c]) ** 2, 0)
        return far < least ? [i, far] : [best, least]
      },
      [0, Infinity]
    )[0]
  return indexedPng(
    [
      ...table.map((colour) => [...colour, 255]),
      ...(pixels.some(([, , , alpha]) => !alpha) ? [[0, 0, 0, 0]] : [])
    ],
    (i) => (pixels[i][3] ? nearest(pixels[i]) : table.length),
    { width, height }
  )
}

/**
 * In its own colours, a map's.
 * @param {Raster} raster
 */
function exactPng({ data, width, height }) {
  const pixels = pixelsOf(data).map(String),
    table = [...new Set(pixels)]
  return indexedPng(
    table.map((colour) => colour.split(',').map(Number)),
    (i) => table.indexOf(pixels[i]),
    { width, height }
  )
}

/** @param {ArrayLike<number>} data RGBA */
const pixelsOf = (data) =>
  Array.from({ length: data.length / 4 }, (_, i) =>
    Array.from({ length: 4 }, (_, c) => data[i * 4 + c])
  )

/**
 * Draws them with the package of one folder into another. Resolves to the line of the demo model's
 * rules, the PNG of the map, the query's mark, and the first lines of numbers.
 * @param {string} packageFolder
 * @param {string} folder
 */
export async function drawFirst(packageFolder, folder) {
  const load = (/** @type {string} */ name) =>
      import(pathToFileURL(join(packageFolder, name)).href),
    save = (/** @type {string} */ name, /** @type {string | Uint8Array} */ content) =>
      writeFile(join(folder, name), content)
  const { createRuntime } = await load('index.js'),
    { demoModel } = await load('demo.js'),
    /** @type {typeof import('./plot/index.js')} */
    { heads, largestOf, makeScale, overlay, percent, topOf } = await load('plot/index.js')
  const runtime = await createRuntime({ threads: 1 }),
    table = await runtime.colormap('cividis')
  const model = await runtime.loadModel(demoModel),
    session = model.createSession({ taps: 'rows' }),
    { rows, columns, prefixTokens, tokens, layers, heads: across } = await session.ready
  const { image } = await runtime.scene(shown.scene)
  await session.run(image)
  /** @param {{layer: number, head: number}} at */
  const wholeRow = ({ layer, head }) => session.attention({ layer, head, query: shown.query }),
    row = async (/** @type {{layer: number, head: number}} */ at) =>
      (await wholeRow(at)).subarray(prefixTokens),
    whole = await wholeRow(shown),
    weights = whole.subarray(prefixTokens),
    scale = makeScale('uniform', { tokens, largest: largestOf(weights) })
  await save('first-picture.png', png(image))
  const maps = await Promise.all(
    Array.from({ length: layers }, (_, layer) =>
      Promise.all(Array.from({ length: across }, (_, head) => row({ layer, head })))
    )
  )
  await save('first-heads.png', png(heads({ maps, rows, columns, scale, table })))
  runtime.close()
  return {
    rules: rulesOf(model.info),
    map: exactPng(overlay({ weights, rows, columns, scale, table }).raster),
    mark: ['under', 'over']
      .map((side) => `<path class="${side}" d="M${shown.query[1]} ${shown.query[0]}h1v1h-1z"/>`)
      .join(''),
    /** Lines of the table of what gets most. @param {(row: number, column: number) => string} patch */
    most: (patch) =>
      topOf(whole, 6)
        .map(({ token, weight }) => {
          const at = token - prefixTokens,
            name = at < 0 ? 'CLS' : patch(Math.floor(at / columns), at % columns)
          return `<tr><td>${name}</td><td>${percent(weight)}</td><td>${(weight * tokens).toFixed(2)}</td></tr>`
        })
        .join('')
  }
}
