/* Layers x heads: the maps of every head for the query, on a scale that ends where the picture's
 * does: one end for the grid and the stage. Sorted or filtered by a number of the
 * heads, they stand one after the other with their names. */
import { fixed } from '../../plot/parts/numbers.js'
import { numberOf, numbersOfHeads } from '../model/head_numbers.js'
import { createGrid } from '../controls/button_grid.js'
import { percent, times } from '../../plot/caption.js'
import { gridScale } from '../../plot/grid_scale.js'
import { heads } from '../../plot/heads.js'
import { largestOf } from '../../plot/raster.js'
import { drawBar, smallBar } from './bar.js'
import { laterStyles } from '../later_styles.js'
import { put } from './canvas.js'
import { say } from '../../languages/say.js'
import type { ScaleKind } from 'heed/plot'
import type { HeadEntry, MakeView, Page, Shape, ShownHead, State } from '../../../types/pages.js'

let finder: typeof import('../model/head_finder.js') | undefined // with the first order or filter

const made = (tag: string, textContent: string | number) =>
  Object.assign(document.createElement(tag), { textContent })

const smallFrom = 6 // heads in a line: what is smaller is enlarged under the pointer

const markup = `<details class="menu" id="finder"><summary>${say('heads.sortFilter')}</summary></details>
    <div class="heads-grid"><div class="across"></div><div class="down"></div>
    <div class="raster"><canvas id="heads-canvas" aria-hidden="true"></canvas><div class="cells" role="grid" aria-label="${say('heads.layersHeads')}"></div></div>${smallBar}</div>
    <p class="hint"></p>`

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

/** Names beside the grid, or in it where heads stand in another order. */
function showNames(
  element: HTMLElement,
  { ordered, shown }: ReturnType<typeof headsToShow>,
  { layers, heads }: Shape,
  sort: string
) {
  const names = (count: number, what: string) =>
    Array.from({ length: ordered ? 0 : count }, (_, i) =>
      made('span', count > 6 ? i : `${what} ${i}`)
    )
  element.querySelector('.heads-grid').classList.toggle('ordered', ordered)
  element.style.setProperty('--heads', heads)
  element.querySelector('.across').replaceChildren(...names(heads, say('explorer.head')))
  const lines = element.querySelector('.cells').children.length - layers
  element
    .querySelector('.down')
    .replaceChildren(
      ...names(layers, say('explorer.layer')),
      ...Array.from({ length: ordered ? 0 : lines }, (_, i) => made('span', i ? '' : 'pool'))
    )
  const [key, , digits] = numbersOfHeads[sort] ?? []
  element.querySelectorAll('.cells button').forEach((cell, i) => {
    const entry = shown[i] as HeadEntry,
      number = key && entry[key] !== undefined ? `: ${fixed(numberOf(entry, sort), digits)}` : ''
    cell.replaceChildren(
      ...(ordered ? [made('small', `${entry.layer}.${entry.head}${number}`)] : [])
    )
  })
}

/**
 * Numbers, a scale of each map's own and one to all heads' largest are those of the stage.
 * @param largests of the maps
 */
export function scaleOfAll(
  { drawn: { scale }, engine }: Pick<Page, 'drawn' | 'engine'>,
  largests: number[][]
) {
  return ['uniform', 'share', 'log'].includes(scale.kind)
    ? gridScale(scale.kind as ScaleKind, {
        tokens: engine.shape.tokens,
        largests: largests.flat(),
        locked: scale.end
      })
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
            end: state.end
              ? say('heads.lockedEnd')
              : say('heads.sLargest4Uniform', { layer: layerName(state.layer) }),
            largest: times(beyond, tokens)
          })
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
 * state that has one of them. Returns a function that shows the state in it. */
function connectFinder(page: Page, menu: HTMLDetailsElement) {
  let show = undefined as ((state: Readonly<State>) => void) | undefined
  menu.addEventListener(
    'toggle',
    () =>
      Promise.all([import('./heads_finder.js'), laterStyles()])
        .then(([{ createFinder }]) => (show = createFinder(page, menu)))
        .catch(page.showError),
    { once: true }
  )
  return (state: Readonly<State>) => {
    if (show) show(state)
    else if (state.sort || state.filter) menu.open = true
  }
}

export const view: MakeView = (page, element) => {
  const { store, engine } = page
  element.innerHTML = markup
  let maps: Float32Array[][] = [],
    found = { ordered: false, shown: [] } as ReturnType<typeof headsToShow>,
    shape = engine.shape // as drawn: another model may have come meanwhile
  const entryAt = (row: number, column: number) => found.shown[row * shape.heads + column]
  const nameAt = (row: number, column: number) => {
    const entry = entryAt(row, column)
    return nameOf(page, entry, ofLayer(maps, entry.layer)[entry.head])
  }
  const grid = createGrid(element.querySelector('.cells'), {
    name: nameAt,
    onPick: (row, column) => {
      const { layer, head } = entryAt(row, column)
      page.fit({ layer, head })
    },
    onHover: (row, column = 0) =>
      zoom(element, shape, { row, column, name: row === null ? '' : nameAt(row, column) })
  })
  const showFinder = connectFinder(page, element.querySelector('#finder'))

  function drawGrid(state: Readonly<State>) {
    const { rows, columns, heads: length } = shape,
      { shown } = found,
      { table } = page.drawn,
      largests = maps.map((layer) => layer.map(largestOf)),
      scale = scaleOfAll(page, largests),
      lines = linesOf(maps, shown, length)
    put(element.querySelector('canvas'), heads({ maps: lines, rows, columns, scale, table }))
    drawBar(element, scale, table)
    element.querySelector('.hint').textContent = wordsOf(
      page,
      state,
      largests,
      shown.length,
      scale.label
    )
    grid.resize(lines.length, length, shown.length)
    showNames(element, found, shape, state.sort)
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
    if (state.sort || state.filter) finder ??= await import('../model/head_finder.js')
    if (!latest()) return
    shape = now
    maps = rows.map((layer) => layer.map((row) => row.subarray(shape.prefixTokens)))
    found = headsToShow(page, state, rows)
    drawGrid(state)
    showFinder(state)
    if (!state.hover) grid.relabel()
    if (innerWidth >= 1700) (await import('./dots.js')).drawBeside(page, element)
  }
  return { keys: ['drawn', 'measured', 'sort', 'descending', 'filter'], draw }
}
