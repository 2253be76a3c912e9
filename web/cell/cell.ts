/* What a run shows in a notebook's cell: the picture under the map of one query. Hover over a patch,
 * press it, or move with the arrow keys to see where it looks; layer and head are chosen above. Colours,
 * scale and words are heed/plot's. It needs no network. */
import { caption, elsewhere } from '../plot/caption.js'
import { overlay } from '../plot/overlay.js'
import { barRaster } from '../plot/parts/bar_raster.js'
import { largestOf } from '../plot/raster.js'
import { makeScale } from '../plot/scale.js'
import { halves } from './halves.js'
import type { Raster, Scale } from 'heed/plot'

/** Rows of one head: `rows` are their queries, `values` float16 [rows, tokens] in base64. */
export interface CellMap {
  layer: number
  head: number
  rows: number[]
  values: string
}
export interface CellData {
  grid: [rows: number, columns: number]
  prefix: number
  names: string[]
  maps: CellMap[]
  layer: number
  head?: number
  query: number
  /** RGB, [256 * 3], in base64. */
  table: string
  /** A data URL, or '' where there is none. */
  picture: string
  /** The cell's size, and what is not in it. */
  said: string
}
export interface Choice {
  layer: number
  head: number
  query: number
}
/** A cell that is drawn; `choose` moves it from outside. */
export interface Cell {
  choose(what: Partial<Choice>): void
}

const bytes = (text: string) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0))

function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Record<string, string> = {},
  ...children: (Node | string)[]
) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  element.append(...children)
  return element
}

/** The rows of a cell by layer, head and query; decoded at their first use. */
function rowsOf({ maps, grid, prefix }: CellData) {
  const tokens = prefix + grid[0] * grid[1],
    decoded = new Map<CellMap, Float32Array>()
  return (layer: number, head: number, query: number) => {
    const one = maps.find((map) => map.layer === layer && map.head === head),
      at = one?.rows.indexOf(query) ?? -1
    if (!one || at < 0) return null
    if (!decoded.has(one)) decoded.set(one, halves(bytes(one.values)))
    return (decoded.get(one) as Float32Array).subarray(at * tokens, (at + 1) * tokens)
  }
}

function put(canvas: HTMLCanvasElement, raster: Raster) {
  canvas.width = raster.width
  canvas.height = raster.height
  canvas.getContext('2d')?.putImageData(new ImageData(raster.data, raster.width), 0, 0)
}

/** The query's patch: dark around light, to be seen on any ground. */
function mark(paint: CanvasRenderingContext2D, x: number, y: number, wide: number, tall: number) {
  const frames: [string, number][] = [
    ['#000', 4],
    ['#fff', 2]
  ]
  for (const [colour, width] of frames) {
    paint.strokeStyle = colour
    paint.lineWidth = width
    paint.strokeRect(x, y, wide, tall)
  }
}

function ticks(scale: Scale) {
  return scale.ticks.map(({ at, text }) => {
    const tick = make('span', {}, text)
    tick.style.left = `${100 * at}%`
    tick.style.transform = `translateX(${-100 * at}%)`
    return tick
  })
}

function parts(data: CellData) {
  const word = make('p', { role: 'status' }),
    first = make('input', { type: 'checkbox' }),
    firstLabel = make('label', {}, first, ` query ${data.names[0] ?? ''}`),
    all = {
      layer: make('select'),
      head: make('select'),
      first,
      map: make('canvas', { tabindex: '0', role: 'img' }),
      bar: make('canvas', { class: 'bar', 'aria-hidden': 'true' }),
      ticks: make('div', { class: 'ticks', 'aria-hidden': 'true' }),
      unit: make('p', { 'aria-hidden': 'true' }),
      word
    }
  firstLabel.hidden = !data.prefix
  const tree = make(
    'div',
    { class: 'heed' },
    make(
      'form',
      {},
      make('label', {}, 'layer ', all.layer),
      make('label', {}, 'head ', all.head),
      firstLabel
    ),
    all.map,
    all.bar,
    all.ticks,
    all.unit,
    word,
    make('p', {}, data.said)
  )
  return { ...all, tree }
}

/** Where the pointer is, as a patch; -1: beside them. */
function patchAt(event: PointerEvent, map: HTMLElement, [rows, columns]: [number, number]) {
  const box = map.getBoundingClientRect(),
    column = Math.floor(((event.clientX - box.left) / box.width) * columns),
    row = Math.floor(((event.clientY - box.top) / box.height) * rows)
  return column >= 0 && column < columns && row >= 0 && row < rows ? row * columns + column : -1
}

/** Draws a choice; what it needs of the cell. */
function painter(data: CellData, part: ReturnType<typeof parts>, picture: HTMLImageElement) {
  const [rows, columns] = data.grid,
    table = bytes(data.table),
    row = rowsOf(data)
  put(part.bar, barRaster(table))
  return ({ layer, head, query }: Choice) => {
    const { map } = part,
      weights = row(layer, head, query),
      where = `Layer ${layer}, head ${head}`,
      paint = map.getContext('2d') as CanvasRenderingContext2D
    map.width = picture.naturalWidth || columns * 16
    map.height = picture.naturalHeight || rows * 16
    if (picture.naturalWidth) paint.drawImage(picture, 0, 0)
    let words = `${where}: this row is not in the cell.`
    if (weights) {
      const shown = weights.subarray(data.prefix),
        scale = makeScale('uniform', { tokens: weights.length, largest: largestOf(shown) }),
        small = make('canvas'),
        place = { row: weights, token: query, prefix: data.prefix, columns, names: data.names }
      put(small, overlay({ weights: shown, rows, columns, scale, table }).raster)
      paint.imageSmoothingEnabled = false
      paint.drawImage(small, 0, 0, map.width, map.height)
      part.ticks.replaceChildren(...ticks(scale))
      part.unit.textContent = scale.label
      const note = elsewhere(place)
      words = caption({ ...place, where }) + (note ? ` On the picture: ${note}.` : '')
    } else part.ticks.replaceChildren()
    const patch = query - data.prefix,
      wide = map.width / columns,
      tall = map.height / rows
    if (patch >= 0)
      mark(paint, (patch % columns) * wide, Math.floor(patch / columns) * tall, wide, tall)
    part.word.textContent = words
    map.setAttribute('aria-label', `${words} Arrow keys move the query.`)
  }
}

/**
 * Draws the cell into an element.
 * @param changed is called with each choice that a user makes
 */
export function show(
  root: Element,
  data: CellData,
  changed: (choice: Choice) => void = () => {}
): Cell {
  const part = parts(data),
    picture = new Image(),
    draw = painter(data, part, picture),
    tokens = data.prefix + data.grid[0] * data.grid[1],
    steps: Record<string, number> = {
      ArrowLeft: -1,
      ArrowRight: 1,
      ArrowUp: -data.grid[1],
      ArrowDown: data.grid[1]
    },
    layers = [...new Set(data.maps.map(({ layer }) => layer))],
    now: Choice = { layer: data.layer, head: data.head ?? 0, query: data.query }
  const headsOf = (layer: number) =>
    data.maps.filter((map) => map.layer === layer).map(({ head }) => head)
  function choose(what: Partial<Choice>) {
    Object.assign(now, what)
    const heads = headsOf(now.layer)
    if (!heads.includes(now.head)) now.head = heads[0]
    part.head.replaceChildren(...heads.map((head) => new Option(String(head))))
    part.layer.value = String(now.layer)
    part.head.value = String(now.head)
    part.first.checked = now.query < data.prefix
    draw(now)
  }
  function user(what: Partial<Choice>) {
    choose(what)
    changed({ ...now })
  }
  const pointed = (event: PointerEvent) => {
    const patch = patchAt(event, part.map, data.grid)
    if (patch >= 0 && patch + data.prefix !== now.query) user({ query: patch + data.prefix })
  }
  part.layer.append(...layers.map((layer) => new Option(String(layer))))
  part.layer.onchange = () => user({ layer: Number(part.layer.value) })
  part.head.onchange = () => user({ head: Number(part.head.value) })
  part.first.onchange = () => user({ query: part.first.checked ? 0 : data.prefix })
  part.map.onpointermove = pointed
  part.map.onpointerdown = pointed
  part.map.onkeydown = (event) => {
    const next = Math.max(now.query, data.prefix) + (steps[event.key] ?? NaN)
    if (!(event.key in steps)) return
    event.preventDefault()
    if (next >= data.prefix && next < tokens) user({ query: next })
  }
  root.replaceChildren(part.tree)
  picture.onload = () => draw(now)
  if (data.picture) picture.src = data.picture
  choose({})
  return { choose }
}
