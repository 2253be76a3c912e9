/* A dot for every head in two of its numbers: the upper part of the statistics view, and on wide
 * screens beside the maps of all heads. A press on a dot chooses its head; heads that the filter
 * leaves out are faint. */
import { html, render } from 'lit-html'
import { unsafeSVG } from 'lit-html/directives/unsafe-svg.js'
import { findHeads } from '../../model/head_finder.js'
import { numberOf, numbersOfHeads } from '../../model/head_numbers.js'
import { scatter } from '../../../plot/scatter.js'
import { laterStyles } from '../../later_styles.js'
import { numbersOfUniform } from '../../model/uniform_head.js'
import { say } from '../../../languages/say.js'
import type { HeadEntry, Page } from '../../types.js'
import type { Of } from '../../../shared/types.js'

const axes: Record<string, string> = {
  layer: say('dots.layer'),
  ...Object.fromEntries(Object.entries(numbersOfHeads).map(([name, [, text]]) => [name, text]))
}

const names = Object.entries(axes).map(([key, text]) => [key, text.split(',')[0]])

/** The plot as a template. where: in words, where the numbers can be read; redraw: once another axis
 * is chosen. */
export function createDots(page: Page, where: string, redraw: () => void) {
  const { store, engine } = page,
    chosen = { x: 'entropy', y: 'distance' }
  const select = (axis: 'x' | 'y') =>
    html`<select name=${axis} @change=${({ target }: Of<HTMLSelectElement>) => {
      chosen[axis] = target.value
      redraw()
    }}>${names.map(([key, text]) => html`<option value=${key} .selected=${key === chosen[axis]}>${text}</option>`)}</select>`
  function press({ target }: Of<HTMLElement>) {
    const index = Number(target.dataset?.index ?? -1),
      { heads } = engine.shape
    if (index >= 0) store.set({ layer: Math.floor(index / heads), head: index % heads })
  }

  function points(statistics: NonNullable<Page['statistics']>) {
    const state = store.get(),
      { layers, heads } = engine.shape,
      { x, y } = chosen,
      uniform = numbersOfUniform(engine.shape, engine.model.patch) as HeadEntry,
      kept = new Set(findHeads(statistics, state).map(({ layer, head }) => `${layer}.${head}`))
    return scatter({
      points: findHeads(statistics, {}).map((entry) => ({
        x: numberOf(entry, x),
        y: numberOf(entry, y),
        layer: entry.layer,
        name: say('manyPictures.layerHead', { layer: entry.layer, head: entry.head }),
        faint: !kept.has(`${entry.layer}.${entry.head}`)
      })),
      layers,
      chosen: state.layer === 'pool' ? -1 : state.layer * heads + (state.head as number),
      labels: { x: axes[x], y: axes[y] },
      table: page.table,
      reference: { x: numberOf(uniform, x), y: numberOf(uniform, y) }
    })
  }
  return () => html`<div class="fields axes"><label>${say('dots.across')} ${select('x')}</label><label>${say('dots.up')} ${select('y')}</label></div>
    <svg class="plot" viewBox="0 0 320 240" role="img" aria-label=${`${say('dots.dotEveryHead')} ${where}`} @click=${press}>${page.statistics ? unsafeSVG(points(page.statistics)) : ''}</svg>`
}

const drawers: WeakMap<Element, () => void> = new WeakMap()

/** Draws into a place of its own within the element. */
function besideOf(page: Page, element: HTMLElement) {
  const place = element.appendChild(
      Object.assign(document.createElement('div'), { className: 'beside' })
    ),
    dots = createDots(page, say('dots.statisticsViewNumbers'), draw)
  function draw() {
    if (page.statistics) render(dots(), place)
  }
  return draw
}

/** Beside the maps of all heads, as long as the panel shows those. */
export async function drawBeside(page: Page, element: HTMLElement) {
  await laterStyles().catch(page.showError)
  const grid = element.querySelector('.heads-grid')
  if (!grid) return
  if (!drawers.has(grid)) drawers.set(grid, besideOf(page, element))
  drawers.get(grid)?.()
}
