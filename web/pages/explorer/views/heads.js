/* Layers x heads: the maps of every head for the query, on a scale that ends at the largest weight
 * of the chosen layer's heads: of all heads the most that are alike in the grid and on the stage,
 * and none that is bright where it has next to nothing. Sorted or filtered by a number of the
 * heads, they stand one after the other with their names. */
import { findHeads, numberOf, numbersOfHeads, parseFilter } from '../model/head_finder.js'
import { createGrid } from '../controls/button_grid.js'
import { percent, times } from '../../plot/caption.js'
import { gridScale } from '../../plot/grid_scale.js'
import { heads } from '../../plot/heads.js'
import { largestOf } from '../../plot/raster.js'
import { drawBar, smallBar } from './bar.js'
import { put } from './canvas.js'
/** @import {ScaleKind} from '../../../plot/index.js' */
/** @import {HeadStatistics} from '../../../src/index.js' */
/** @import {Field, HeadEntry, MakeView, Page, State} from '../../../types/pages.js' */

/**
 * @param {string} tag
 * @param {string | number} textContent
 */
const made = (tag, textContent) => Object.assign(document.createElement(tag), { textContent })

/** @type {MakeView} */
export function view(page, element) {
  const { store, engine } = page
  element.innerHTML = `<div class="row finder"><label>Sort <select name="sort"><option value="">by layer</option></select></label>
    <button type="button" name="descending" aria-label="Largest first">↓</button>
    <label>Only <input name="filter" size="17" maxlength="60" placeholder="entropy &lt; 1.5, cls &gt; 5 %" spellcheck="false" autocomplete="off"></label></div>
    <div class="heads-grid"><div class="across"></div><div class="down"></div>
    <div class="raster"><canvas id="heads-canvas" aria-hidden="true"></canvas><div class="cells" role="grid" aria-label="Layers and heads"></div></div>${smallBar}</div>
    <p class="hint"></p><div class="row"><button type="button" name="mean">Mean of the heads</button></div>`
  const [across, down, cells, hint] = ['.across', '.down', '.cells', '.hint'].map((selector) =>
    element.querySelector(selector)
  )
  /** @param {string} name */
  const field = (name) => /** @type {Field} */ (element.querySelector(`[name=${name}]`))
  let rows = /** @type {Float32Array[][]} */ ([]),
    shown = /** @type {HeadEntry[]} */ ([]),
    shape = engine.shape // as drawn: another model may have come meanwhile
  /**
   * @param {number} row
   * @param {number} column
   */
  const place = (row, column) => shown[row * shape.heads + column]
  const grid = createGrid(cells, {
    /**
     * @param {number} row
     * @param {number} column
     */
    name: (row, column) => {
      const { layer, head } = place(row, column)
      return `layer ${layer}, head ${head}, ${page.drawn.scale.numbers ? 'highest' : 'largest'} ${amount(highest(rows[layer][head].subarray(shape.prefixTokens)))}`
    },
    /**
     * @param {number} row
     * @param {number} column
     */
    onPick: (row, column) => {
      const { layer, head } = place(row, column)
      store.set({ layer, head })
    }
  })
  /** @param {Float32Array} row */
  const highest = (row) => row.reduce((a, b) => Math.max(a, b), -Infinity)
  /** @param {number} value */
  const amount = (value) => (page.drawn.scale.numbers ? value.toFixed(2) : percent(value))
  field('sort').append(
    ...Object.entries(numbersOfHeads).map(
      ([name, [, text]]) => new Option(text.replace(/,.*/, ''), name)
    )
  )
  field('sort').addEventListener('change', ({ target }) => store.set({ sort: target.value }))
  field('descending').addEventListener('click', () =>
    store.set({ descending: !store.get().descending })
  )
  field('filter').addEventListener('input', ({ target }) => store.set({ filter: target.value }))
  field('mean').addEventListener('click', () =>
    store.set({ head: store.get().head === 'mean' ? 0 : 'mean' })
  )

  /** @param {Readonly<State>} options */
  function showControls({ sort, descending, filter, head }) {
    field('sort').value = sort
    field('descending').setAttribute('aria-pressed', descending)
    if (document.activeElement !== field('filter')) field('filter').value = filter
    field('filter').setAttribute('aria-invalid', parseFilter(filter) === null)
    field('mean').setAttribute('aria-pressed', head === 'mean')
  }

  /**
   * Names beside the grid, or in it where heads stand in another order.
   * @param {boolean} ordered
   * @param {{layers: number, heads: number}} options
   */
  function showNames(ordered, { layers, heads: count }) {
    element.querySelector('.heads-grid').classList.toggle('ordered', ordered)
    element.style.setProperty('--heads', count)
    across.replaceChildren(
      ...(ordered
        ? []
        : Array.from({ length: count }, (_, i) => made('span', count > 6 ? i : `head ${i}`)))
    )
    down.replaceChildren(
      ...(ordered
        ? []
        : Array.from({ length: layers }, (_, i) => made('span', layers > 6 ? i : `layer ${i}`)))
    )
    const { sort } = store.get()
    cells.querySelectorAll('button').forEach((cell, i) => {
      const { layer, head } = shown[i],
        number =
          sort && shown[i][numbersOfHeads[sort][0]] !== undefined
            ? `: ${numberOf(shown[i], sort).toFixed(numbersOfHeads[sort][2])}`
            : ''
      cell.replaceChildren(...(ordered ? [made('small', `${layer}.${head}${number}`)] : []))
    })
  }

  /**
   * Numbers, a scale of each map's own and one to all heads' largest are those of the stage.
   * @param {Float32Array[][]} maps
   * @param {{layer: number}} options
   */
  function scaleOfAll(maps, { layer }) {
    const { scale } = page.drawn,
      largests = maps.map((heads) => heads.map((row) => largestOf(row)))
    return ['uniform', 'share', 'log'].includes(scale.kind)
      ? gridScale(/** @type {ScaleKind} */ (scale.kind), {
          tokens: engine.shape.tokens,
          largests: largests.flat(),
          to: Math.max(...largests[layer])
        })
      : scale
  }

  /**
   * @param {State} state
   * @param {Float32Array[][]} maps
   * @param {{label: string}} options
   */
  function words(state, maps, { label }) {
    const found = `${shown.length} of ${engine.shape.layers * engine.shape.heads} heads.`
    if (parseFilter(state.filter) === null)
      return 'The filter knows entropy, distance, distance-patches, cls, self, top5, cls-entropy, layer and head: "entropy < 1.5 and top5 > 50 %".'
    const beyond = maps.flat().reduce((most, map) => Math.max(most, largestOf(map)), 0),
      { scale } = page.drawn
    const scaled = scale.numbers
      ? 'Numbers on the scale of the picture.'
      : state.scale === 'own'
        ? 'Each map on a scale of its own: colours do not compare.'
        : scale.kind === 'all'
          ? `The scale ends at the largest weight of all heads: ${times(beyond, engine.shape.tokens)}.`
          : `${label}, to layer ${state.layer}’s largest or 4 × uniform; the largest of all heads is ${times(beyond, engine.shape.tokens)}.`
    return state.sort || state.filter ? `${found} ${scaled}` : scaled
  }

  /** @param {() => boolean} latest */
  async function draw(latest) {
    const { heads: count, prefixTokens, rows: r, columns: c } = engine.shape,
      state = store.get()
    const found = await engine.rows({
      query: page.query(),
      reverse: state.reverse,
      score: state.score
    })
    if (!latest()) return
    rows = found
    shape = engine.shape
    const ordered = Boolean(state.sort || state.filter.trim()) && page.statistics !== null
    shown = ordered
      ? findHeads(/** @type {HeadStatistics[][]} */ (page.statistics), state)
      : rows.flatMap((layer, l) =>
          layer.map((_, h) => /** @type {HeadEntry} */ ({ layer: l, head: h }))
        )
    const maps = rows.map((layer) => layer.map((row) => row.subarray(prefixTokens)))
    const lines = Array.from({ length: Math.max(1, Math.ceil(shown.length / count)) }, (_, i) =>
      Array.from({ length: count }, (_, j) => {
        const entry = shown[i * count + j]
        return entry ? maps[entry.layer][entry.head] : null
      })
    )
    const scale = scaleOfAll(maps, state),
      { table } = page.drawn
    put(element.querySelector('canvas'), heads({ maps: lines, rows: r, columns: c, scale, table }))
    drawBar(element, scale, table)
    hint.textContent = words(state, maps, scale)
    grid.resize(lines.length, count, shown.length)
    showNames(ordered, engine.shape)
    const chosen = shown.findIndex(
      ({ layer, head }) => layer === state.layer && head === state.head
    )
    grid.select(chosen < 0 ? null : Math.floor(chosen / count), chosen % count)
    showControls(state)
    if (!state.hover) grid.relabel()
    if (innerWidth >= 1700) (await import('./dots.js')).drawBeside(page, element)
  }
  return { keys: ['drawn', 'measured', 'sort', 'descending', 'filter'], draw }
}
