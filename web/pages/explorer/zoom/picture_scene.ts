/* The picture of the zoom: what lies over it, its tiles, and copies of it. */
import { nothing, svg } from 'lit-html'
import { percent } from '../../plot/caption.js'
import { heat } from '../../plot/heat.js'
import { largestOf } from '../../plot/raster.js'
import { cutOut } from '../model/seen_region.js'
import { scaleOfAll } from '../views/heads/heads.js'
import { arrow, twinsFound } from '../views/stage/arcs.js'
import { mapPlace } from './lanes_scene.js'
import { side } from './world.js'
import type { Page } from '../types.js'
import type { Stop } from './stops.js'
import type { World } from './world.js'
import type { Facts } from './zoom_facts.js'

const pixels = 448 // a side of the picture

let painted: unknown // what the canvas has

export function drawPicture(page: Page, canvas: HTMLCanvasElement) {
  const { picture, drawn } = page,
    { rows, columns } = drawn.shape,
    height = Math.round((pixels * rows) / columns)
  if (painted === picture.source && canvas.width === pixels && canvas.height === height) return
  painted = picture.source
  if (canvas.width !== pixels || canvas.height !== height) {
    canvas.width = pixels
    canvas.height = height
  }
  cutOut(picture, drawn.of.region, canvas)
}

const rasterCanvas = document.createElement('canvas')
function put({ data, width, height }: { data: Uint8ClampedArray; width: number; height: number }) {
  rasterCanvas.width = width
  rasterCanvas.height = height
  rasterCanvas
    .getContext('2d')
    ?.putImageData(new ImageData(data as Uint8ClampedArray<ArrayBuffer>, width, height), 0, 0)
  return rasterCanvas
}

/** The small picture with its map, which stays in sight. */
export function drawInset(page: Page, canvas: HTMLCanvasElement, { row, column, lines }: Facts) {
  const context = canvas.getContext('2d') as CanvasRenderingContext2D,
    { drawn } = page,
    { rows, columns } = drawn.shape,
    width = 320,
    height = Math.round((width * rows) / columns),
    unit = width / columns
  canvas.width = width
  canvas.height = height
  canvas.style.aspectRatio = `${columns} / ${rows}`
  cutOut(page.picture, drawn.of.region, canvas)
  context.imageSmoothingEnabled = false
  context.drawImage(put(drawn.raster), 0, 0, width, height)
  for (const [colour, breadth] of [
    ['#000', 6],
    ['#fff', 3]
  ] as const) {
    context.strokeStyle = colour
    context.lineWidth = breadth
    context.strokeRect(column * unit, row * unit, unit, unit)
    if (lines.length) {
      context.lineWidth = breadth / 1.5
      context.save()
      context.scale(unit, unit)
      context.lineWidth /= unit
      const { line, point } = arrow(row * columns + column, lines[0].patch, columns),
        tip = new Path2D(point)
      context.stroke(new Path2D(line))
      context.stroke(tip)
      context.fillStyle = colour
      context.fill(tip)
      context.restore()
    }
  }
}

/** Maps of all heads, a pixel a patch, where the lanes have their frames, on the scale of the view Heads. */
export async function drawHeads(page: Page, canvas: HTMLCanvasElement, world: World) {
  const { engine, drawn, table } = page,
    { rows, columns, prefixTokens } = drawn.shape,
    { pitch, lanes, shape } = world,
    unit = pitch.map / columns
  const all = await Promise.all(
    Array.from({ length: shape.layers * shape.heads }, (_, i) =>
      engine.row({
        layer: Math.floor(i / shape.heads),
        head: i % shape.heads,
        token: drawn.token,
        of: drawn.of
      })
    )
  )
  if (drawn !== page.drawn) return
  canvas.width = Math.ceil(lanes.width / unit)
  canvas.height = Math.ceil(lanes.height / unit)
  const context = canvas.getContext('2d') as CanvasRenderingContext2D,
    maps = all.map((row: Float32Array) => row.subarray(prefixTokens)),
    scale = scaleOfAll(
      page,
      Array.from({ length: shape.layers }, (_, layer) =>
        maps.slice(layer * shape.heads, (layer + 1) * shape.heads).map(largestOf)
      )
    )
  maps.forEach((weights, i) => {
    const { x, y } = mapPlace(world, Math.floor(i / shape.heads), i % shape.heads),
      { data } = heat({ weights, rows, columns, scale, table })
    context.putImageData(
      new ImageData(data as Uint8ClampedArray<ArrayBuffer>, columns, rows),
      Math.round(x / unit),
      Math.round(y / unit)
    )
  })
}

/** Squares of the map, in the colours of the stage. */
function light({ drawn }: Page) {
  const { data, width } = drawn.raster,
    squares = []
  for (let i = 0; i < data.length / 4; i++)
    if (data[i * 4 + 3] > 2)
      squares.push(
        svg`<rect x=${i % width} y=${Math.floor(i / width)} width="1" height="1" fill=${`rgb(${data[i * 4]} ${data[i * 4 + 1]} ${data[i * 4 + 2]} / ${(data[i * 4 + 3] / 255).toFixed(3)})`}/>`
      )
  return squares
}

function rulers({ picture, shape: { rows, columns }, narrow }: World) {
  const unit = side / columns,
    size = Math.min(unit * 0.6, narrow ? 34 : 24)
  return [
    Array.from(
      { length: columns },
      (_, i) => svg`<text class="ruler" x=${(i + 0.5) * unit} y="-14" font-size=${size}>${i}</text>`
    ),
    Array.from(
      { length: rows },
      (_, i) =>
        svg`<text class="ruler end" x="-14" y=${(i + 0.5) * unit + size / 3} font-size=${size}>${i}</text>`
    ),
    svg`<path class="tiles" d=${`${Array.from({ length: columns + 1 }, (_, i) => `M${i * unit} 0V${picture.height}`).join('')}${Array.from({ length: rows + 1 }, (_, i) => `M0 ${i * unit}H${picture.width}`).join('')}`}/>`
  ]
}

/** The shares of the patches that get most, written on them. */
const sharesOn = ({ lines }: Facts, { shape: { columns } }: World) =>
  lines.map(
    ({ patch, weight }) =>
      svg`<text class="share" data-patch=${patch} x=${((patch % columns) + 0.5) * (side / columns)} y=${(Math.floor(patch / columns) + 0.6) * (side / columns)} font-size=${(side / columns) * 0.25}>${percent(weight)}</text>`
  )

function arcs({ lines, token }: Facts, { shape }: World) {
  const [{ patch }] = lines,
    { line, point } = arrow(token - shape.prefixTokens, patch, shape.columns)
  return svg`<path class="arc dark" d=${line} stroke-width="8"/><path class="arc" d=${line} stroke-width="5"/><path class="point" d=${point}/><rect class="keyed" x=${patch % shape.columns} y=${Math.floor(patch / shape.columns)} width="1" height="1"/>`
}

export function overPicture(page: Page, facts: Facts, world: World, stop: Stop) {
  const { columns, rows, prefixTokens } = world.shape,
    { picture, tile } = world,
    cut = stop === 'tiles' || stop === 'numbers',
    { lines } = facts
  const whole = svg`<g transform=${`scale(${picture.width / columns} ${picture.height / rows})`}>${stop === 'picture' ? nothing : light(page)}${stop === 'picture' ? svg`<path class="twins" d=${twinsFound(page, facts.token - prefixTokens, lines)}/>${lines.length ? arcs(facts, world) : nothing}` : nothing}</g>${stop === 'picture' || world.narrow ? nothing : sharesOn(facts, world)}`
  return svg`<g class="veiled">${cut ? rulers(world) : whole}</g><path class="veil" fill-rule="evenodd" d=${`M-20 -20H${picture.width + 20}V${picture.height + 20}H-20zM${tile.x} ${tile.y}h${tile.width}v${tile.height}h${-tile.width}z`}/><rect class="under" x=${tile.x} y=${tile.y} width=${tile.width} height=${tile.height}/><rect class="over" x=${tile.x} y=${tile.y} width=${tile.width} height=${tile.height}/>`
}
