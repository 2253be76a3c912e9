/* Layers x heads: the maps of every head for the query, on the scale of the stage, so that the chosen head looks alike in both. */
import { createGrid } from '../grid.js'
import { percent, times } from '../plot/caption.js'
import { heads } from '../plot/heads.js'
import { largestOf } from '../plot/raster.js'
import { put } from './stage.js'

export function headsView(page, element) {
  const { store, engine } = page
  element.innerHTML = `<div class="heads-grid"><div class="across"></div><div class="down"></div>
    <div class="raster"><canvas id="heads-canvas" aria-hidden="true"></canvas><div class="cells" role="grid" aria-label="Layers and heads"></div></div></div>
    <p class="hint"></p><div class="row"><button type="button">Mean of the heads</button></div>`
  const [across, down, cells, hint, mean] = ['.across', '.down', '.cells', '.hint', 'button[type=button]:not([role])'].map((selector) => element.querySelector(selector))
  let rows = [], turn = 0
  const grid = createGrid(cells, {
    name: (layer, head) => `layer ${layer}, head ${head}, largest ${percent(largestOf(rows[layer][head].subarray(engine.shape.prefixTokens)))}`,
    onPick: (layer, head) => store.set({ layer, head })
  })
  mean.addEventListener('click', () => store.set({ head: store.get().head === 'mean' ? 0 : 'mean' }))

  async function draw() {
    const mine = ++turn, { layers, heads: count, prefixTokens, rows: r, columns: c, tokens } = engine.shape, state = store.get()
    const found = await engine.rows({ query: page.query(), reverse: state.reverse })
    if (mine !== turn) return
    rows = found
    const maps = rows.map((layer) => layer.map((row) => row.subarray(prefixTokens)))
    const { scale } = page.drawn, beyond = Math.max(...maps.flat().map(largestOf))
    put(element.querySelector('canvas'), heads({ maps, rows: r, columns: c, scale, table: page.table }))
    hint.textContent = state.scale === 'own' ? 'Each map on a scale of its own: colours do not compare.'
      : `The scale of the picture, for all maps: ${scale.ticks.at(-1).text} and above is the end; the largest weight is ${times(beyond, tokens)}.`
    across.replaceChildren(...Array.from({ length: count }, (_, i) => Object.assign(document.createElement('span'), { textContent: count > 6 ? i : `head ${i}` })))
    down.replaceChildren(...Array.from({ length: layers }, (_, i) => Object.assign(document.createElement('span'), { textContent: layers > 6 ? i : `layer ${i}` })))
    grid.resize(layers, count)
    grid.select(state.head === 'mean' ? null : state.layer, state.head)
    mean.setAttribute('aria-pressed', state.head === 'mean')
    if (!state.hover) grid.relabel()
  }
  return { keys: ['drawn'], draw }
}
