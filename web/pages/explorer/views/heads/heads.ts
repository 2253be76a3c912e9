/* Layers x heads: the maps of every head for the query, on one scale that ends at the largest weight of all of
 * them. Sorted or filtered by a number of the heads, they stand one after the other with their names. */
import { html, nothing, render } from 'lit-html'
import { fixed } from '../../../plot/parts/numbers.js'
import { numberOf, numbersOfHeads } from '../../model/head_numbers.js'
import { createGrid, makeGrid } from '../../controls/button_grid.js'
import { percent, times } from '../../../plot/caption.js'
import { gridScale } from '../../../plot/grid_scale.js'
import { heads } from '../../../plot/heads.js'
import { largestOf } from '../../../plot/raster.js'
import { bar } from '../parts/bar.js'
import { laterStyles } from '../../later_styles.js'
import { showing } from '../parts/canvas.js'
import { say } from '../../../languages/say.js'
import type { ScaleKind } from 'heed/plot'
import type { HeadEntry, MakeView, Page, ShownHead, State } from '../../types.js'
import type { Shape } from '../../../shared/types.js'

let finder: typeof import('../../model/head_finder.js') | undefined // with the first order or filter

const smallFrom = 6 // heads in a line: what is smaller is enlarged under the pointer

/** What belongs to a layer; the pooling attention comes after all of them. */
const ofLayer = <Found>(all: Found[], layer: State['layer']) =>
  all.at(layer === 'pool' ? -1 : layer) as Found
const layerName = (layer: State['layer']) =>
  layer === 'pool' ? layer : say('heads.layer2', { layer })

/** The heads that are shown, in their order; ordered: one after the other, by a number or a filter. */
function headsToShow(
  { statistics, engine }: Page,
  state: Readonly<State>,
  rows: Float32Array[][]
): { ordered: boolean; shown: ShownHead[] } {
  const layerAt = engine.layerAt.bind(engine),
    shown =
      statistics && (state.sort || state.filter.trim())
        ? finder?.findHeads(statistics, state)
        : null
  return {
    ordered: Boolean(shown),
    shown:
      shown ?? rows.flatMap((heads, l) => heads.map((_, head) => ({ layer: layerAt(l), head })))
  }
}

/** Names beside the grid: across and down; none where heads stand in another order. */
function namesOf(
  { ordered }: ReturnType<typeof headsToShow>,
  { layers, heads }: Shape,
  lines: number
) {
  const names = (count: number, what: string) =>
    Array.from({ length: count }, (_, i) => html`<span>${count > 6 ? i : `${what} ${i}`}</span>`)
  if (ordered) return { across: nothing, down: nothing }
  return {
    across: names(heads, say('explorer.head')),
    down: [
      names(layers, say('explorer.layer')),
      Array.from({ length: lines - layers }, (_, i) => html`<span>${i ? '' : 'pool'}</span>`)
    ]
  }
}

/** What stands in a cell: the head's name and number where heads stand in another order. */
function textOf({ ordered, shown }: ReturnType<typeof headsToShow>, index: number, sort: string) {
  if (!ordered) return ''
  const [key, , digits] = numbersOfHeads[sort] ?? [],
    entry = shown[index] as HeadEntry
  return `${entry.layer}.${entry.head}${key && entry[key] !== undefined ? `: ${fixed(numberOf(entry, sort), digits)}` : ''}`
}

/**
 * One scale for all, which ends at the largest weight of all or where it is locked: a scale ends at what it
 * draws, and the picture's draws one row. Numbers, a scale of each map's own and one to all heads' largest are
 * those of the stage.
 * @param largests of the maps, a list a layer
 */
export function scaleOfAll(
  { drawn: { scale, shape }, store }: Pick<Page, 'drawn' | 'store'>,
  largests: number[][],
  locked = store.get().end / shape.tokens
) {
  return ['uniform', 'share', 'log'].includes(scale.kind)
    ? gridScale(scale.kind as ScaleKind, { tokens: shape.tokens, largests, locked })
    : scale
}

/**
 * The scale in words, and how many heads were found.
 * @param largests of the maps
 * @param count of heads shown
 * @param label of the scale
 */
function wordsOf(
  { engine, drawn: { scale } }: Page,
  state: Readonly<State>,
  largests: number[][],
  count: number,
  label: string
) {
  const { layers, heads, tokens } = engine.shape
  if (finder?.parseFilter(state.filter) === null) return finder.filterWords
  const beyond = largestOf(largests.flat())
  const scaled = scale.numbers
    ? say('heads.numbersScalePicture')
    : state.scale === 'own'
      ? say('heads.eachMapScaleOwn')
      : scale.kind === 'all'
        ? say('heads.scaleEndsAtLargest', { largest: times(beyond, tokens) })
        : say('heads.largestAllHeads', {
            label,
            end: say(state.end ? 'heads.lockedEnd' : 'heads.shared'),
            largest: times(beyond, tokens)
          }) + (state.end ? '' : say('heads.ofPicture'))
  return state.sort || state.filter
    ? say('heads.heads', { count, heads: layers * heads, scaled })
    : scaled
}

/** Maps of the shown heads in lines of a layer's length; the last line may have holes. */
const linesOf = (maps: Float32Array[][], shown: ShownHead[], length: number) =>
  Array.from({ length: Math.max(1, Math.ceil(shown.length / length)) }, (_, i) =>
    Array.from({ length }, (_, j) => {
      const entry = shown[i * length + j]
      return entry ? ofLayer(maps, entry.layer)[entry.head] : null
    })
  )

/** A head with the largest of its map on patches, in words. */
function nameOf({ drawn: { scale } }: Page, { layer, head }: ShownHead, map: Float32Array) {
  const highest = map.reduce((a, b) => Math.max(a, b), -Infinity)
  return say('heads.head', {
    layer: layerName(layer),
    head,
    numbers: scale.numbers
      ? say('heads.highest', { highest: fixed(highest, 2) })
      : say('heads.largest', { largest: percent(highest) })
  })
}

/** The map under the pointer, enlarged where it is small. */
const zoom = async (
  element: HTMLElement,
  shape: Shape,
  which: { row: number | null; column: number; name: string }
) => shape.heads > smallFrom && (await import('./head_zoom.js')).zoom(element, shape, which)

/** The menu of order and filter, filled when it is opened for the first time: by a press, or by a
 * state that has one of them. */
class FinderMenu {
  page
  redraw
  #made: typeof import('./heads_finder.js') | undefined

  constructor(page: Page, redraw: () => void) {
    this.page = page
    this.redraw = redraw
  }

  async #fill() {
    if (this.#made) return
    try {
      ;[this.#made] = await Promise.all([import('./heads_finder.js'), laterStyles()])
      this.redraw()
    } catch (error) {
      this.page.showError(error)
    }
  }

  show({ sort, filter }: Readonly<State>) {
    const open = !this.#made && Boolean(sort || filter)
    return html`<details class="menu" id="finder" ?open=${open || nothing} @toggle=${() => this.#fill()}><summary>${say('heads.sortFilter')}</summary>${this.#made?.finder(this.page) ?? nothing}</details>`
  }
}

export const view: MakeView = (page, element, { redraw }) => {
  const { store, engine } = page,
    menu = new FinderMenu(page, redraw),
    cells = makeGrid(say('heads.layersHeads'))
  let maps: Float32Array[][] = [],
    found = { ordered: false, shown: [] } as ReturnType<typeof headsToShow>,
    shape = engine.shape // as drawn: another model may have come meanwhile
  const entryAt = (row: number, column: number) => found.shown[row * shape.heads + column]
  const nameAt = (row: number, column: number) => {
    const entry = entryAt(row, column)
    return nameOf(page, entry, ofLayer(maps, entry.layer)[entry.head])
  }
  const grid = createGrid(cells, {
    name: nameAt,
    onPick: (row, column) => {
      const { layer, head } = entryAt(row, column)
      page.fit({ layer, head })
    },
    onHover: (row, column = 0) =>
      zoom(element, shape, { row, column, name: row === null ? '' : nameAt(row, column) })
  })

  function drawGrid(state: Readonly<State>) {
    const { rows, columns, heads: length } = shape,
      { shown, ordered } = found,
      { table } = page.drawn,
      largests = maps.map((layer) => layer.map(largestOf)),
      scale = scaleOfAll(page, largests),
      lines = linesOf(maps, shown, length),
      { across, down } = namesOf(found, shape, lines.length)
    element.style.setProperty('--heads', shape.heads)
    render(
      html`${menu.show(state)}
      <div class=${ordered ? 'heads-grid ordered' : 'heads-grid'}><div class="across">${across}</div><div class="down">${down}</div>
      <div class="raster"><canvas id="heads-canvas" aria-hidden="true" ${showing(heads({ maps: lines, rows, columns, scale, table }))}></canvas>${cells}</div>${bar(scale, table, scale.ticks)}</div>
      <p class="hint">${wordsOf(page, state, largests, shown.length, scale.label)}</p>`,
      element
    )
    grid.resize(lines.length, length, shown.length)
    grid.write((i) => textOf(found, i, state.sort))
    const chosen = shown.findIndex(
      ({ layer, head }) => layer === state.layer && head === state.head
    )
    grid.select(chosen < 0 ? null : Math.floor(chosen / length), chosen % length)
  }

  async function draw(latest: () => boolean) {
    const state = store.get(),
      { reverse, score } = state,
      now = engine.shape,
      rows = await engine.rows({ query: page.query(), reverse, score })
    if (state.sort || state.filter) finder ??= await import('../../model/head_finder.js')
    if (!latest()) return
    shape = now
    maps = rows.map((layer) => layer.map((row) => row.subarray(shape.prefixTokens)))
    found = headsToShow(page, state, rows)
    drawGrid(state)
    if (!state.hover) grid.relabel()
    if (innerWidth >= 1700) (await import('./dots.js')).drawBeside(page, element)
  }
  return { keys: ['drawn', 'measured', 'sort', 'descending', 'filter'], draw }
}
