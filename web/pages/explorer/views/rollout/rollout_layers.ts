/* The rollout up to each layer, from the first on: small maps in one raster, on the stage's scale. A
 * press makes a layer the last. Part of the view rollout. */
import { html, render } from 'lit-html'
import { createGrid, makeGrid } from '../../controls/button_grid.js'
import { heads } from '../../../plot/heads.js'
import { percent } from '../../../plot/caption.js'
import { largestOf } from '../../../plot/raster.js'
import { bar } from '../parts/bar.js'
import { showing } from '../parts/canvas.js'
import { scaleOfAll } from '../heads/heads.js'
import { rowNow } from '../../model/shown_row.js'
import { say } from '../../../languages/say.js'
import type { PageQuery } from '../../../shared/types.js'
import type { Page } from '../../types.js'

/** Maps in a line, of so many. */
const across = (count: number) => Math.min(count, count > 6 ? 6 : 3)

/** An element of its own, and a function that draws into it, of a model of one grid. */
export function createLayers(page: Page) {
  const { store, engine } = page,
    element = document.createElement('div'),
    cells = makeGrid(say('rollout.upToEachLayer'))
  let maps: Float32Array[] = [],
    from = 0,
    length = 1 // of a line
  const grid = createGrid(cells, {
    name: (row, column) =>
      say('rollout.upTo', {
        layer: from + row * length + column,
        largest: percent(largestOf(maps[row * length + column]))
      }),
    onPick: (row, column) => store.set({ last: from + row * length + column })
  })

  async function draw(latest: () => boolean) {
    const { first, last, fusion, residual, discard } = store.get(),
      { layers, rows, columns, prefixTokens } = engine.shape,
      { query } = rowNow(page) as { query: PageQuery }
    element.hidden = Boolean(engine.parts)
    if (element.hidden) return
    const found = await Promise.all(
      Array.from({ length: layers - first }, (_, i) =>
        engine.rollout({ query, fusion, residual, discard, first, last: first + i })
      )
    )
    if (!latest() || found.includes(null)) return
    maps = (found as Float32Array[]).map((row) => row.subarray(prefixTokens))
    from = first
    length = across(maps.length)
    const lines = Array.from({ length: Math.ceil(maps.length / length) }, (_, i) =>
        Array.from({ length }, (_, j) => maps[i * length + j] ?? null)
      ),
      { table } = page.drawn,
      scale = scaleOfAll(page, [maps.map(largestOf)], 0) // as the picture of a rollout
    render(
      html`<p class="hint">${say('rollout.upToEachLayer')}</p>
      <div class="heads-grid ordered"><div class="raster"><canvas aria-hidden="true" ${showing(heads({ maps: lines, rows, columns, scale, table }))}></canvas>${cells}</div>${bar(scale, table, scale.ticks)}</div>`,
      element
    )
    grid.resize(lines.length, length, maps.length)
    grid.write((i) => String(from + i))
    const chosen = (last < 0 ? layers - 1 : last) - from
    grid.select(Math.floor(chosen / length), chosen % length)
    grid.relabel()
  }
  return { element, draw }
}
