/* What the first page shows before any script has run: the demo's scene as a PNG, its map as an SVG
 * and the heads' maps, and numbers of the row; made when the pages are put together (assemble.js). */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { crc32 as zlibCrc32, deflateSync } from 'node:zlib'
import { rulesOf } from './pages/explorer/model/rules_line.js'
import { heads } from './plot/heads.js'
import { percent, topOf } from './plot/caption.js'
import { overlay } from './plot/overlay.js'
import { largestOf } from './plot/raster.js'
import { makeScale } from './plot/scale.js'
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
 * Indexed PNG; one more colour stands for pixels without any.
 * @param {Picture} picture
 */
function png({ data, width, height }) {
  const pixels = Array.from({ length: width * height }, (_, i) => [
      ...data.subarray(i * 4, i * 4 + 4)
    ]),
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
  const rows = Buffer.alloc((width + 1) * height),
    header = Buffer.alloc(13),
    clear = pixels.some(([, , , alpha]) => !alpha)
  pixels.forEach((pixel, i) => {
    rows[Math.floor(i / width) * (width + 1) + 1 + (i % width)] = pixel[3]
      ? nearest(pixel)
      : table.length
  })
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 3, 0, 0, 0], 8)
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]),
    transparent = clear ? [chunk('tRNS', Buffer.from([...table.map(() => 255), 0]))] : []
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from([...table, ...(clear ? [[0, 0, 0]] : [])].flat())),
    ...transparent,
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0))
  ])
}

/**
 * @param {Raster} raster
 * @param {number[]} cell
 */
function svg({ data, width, height }, [row, column]) {
  const cells = Array.from(
    { length: width * height },
    (_, i) =>
      `<path fill="rgb(${data[i * 4]},${data[i * 4 + 1]},${data[i * 4 + 2]})" fill-opacity="${(data[i * 4 + 3] / 255).toFixed(2)}" d="M${i % width} ${Math.floor(i / width)}h1v1h-1z"/>`
  )
  const mark = `<rect x="${column}" y="${row}" width="1" height="1" fill="none" stroke="#000" stroke-width=".12"/><rect x="${column}" y="${row}" width="1" height="1" fill="none" stroke="#fff" stroke-width=".06"/>`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" shape-rendering="crispEdges">${cells.join('')}${mark}</svg>\n`
}

/**
 * Draws them with the package of one folder into another. Resolves to the line of the demo model's
 * rules, and to the first lines of numbers.
 * @param {string} packageFolder
 * @param {string} folder
 */
export async function drawFirst(packageFolder, folder) {
  const load = (/** @type {string} */ name) =>
      import(pathToFileURL(join(packageFolder, name)).href),
    save = (/** @type {string} */ name, /** @type {string | Uint8Array} */ content) =>
      writeFile(join(folder, name), content)
  const { createRuntime } = await load('index.js'),
    { demoModel } = await load('demo.js')
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
  await save(
    'first-map.svg',
    svg(overlay({ weights, rows, columns, scale, table }).raster, shown.query)
  )
  const maps = await Promise.all(
    Array.from({ length: layers }, (_, layer) =>
      Promise.all(Array.from({ length: across }, (_, head) => row({ layer, head })))
    )
  )
  await save('first-heads.png', png(heads({ maps, rows, columns, scale, table })))
  runtime.close()
  return {
    rules: rulesOf(model.info),
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
