/* A dot for every head in two of its numbers: the upper part of the statistics view, and on wide
 * screens beside the maps of all heads. A press on a dot chooses its head; heads that the filter
 * leaves out are faint. */
import { findHeads } from '../model/head_finder.js'
import { numberOf, numbersOfHeads } from '../model/head_numbers.js'
import { scatter } from '../../plot/scatter.js'
import { laterStyles } from '../later_styles.js'
import { numbersOfUniform } from '../model/uniform_head.js'
import { say } from '../../languages/say.js'
import type { Field, Page } from '../../../types/pages.js'

const axes: Record<string, string> = {
  layer: say('dots.layer'),
  ...Object.fromEntries(Object.entries(numbersOfHeads).map(([name, [, text]]) => [name, text]))
}

/** Fills host; where: in words, where the numbers can be read. Returns a function that draws what
 * has changed. */
export function createDots(page: Page, host: HTMLElement, where: string) {
  const { store, engine } = page
  host.innerHTML = `<div class="fields axes"><label>${say('dots.across')} <select name="x"></select></label><label>${say('dots.up')} <select name="y"></select></label></div>
    <svg class="plot" viewBox="0 0 320 240" role="img" aria-label="${say('dots.dotEveryHead')} ${where}"></svg>`
  const select = ((name) => host.querySelector(`[name=${name}]`) as Field) as (
      name: string
    ) => Field,
    plot = host.querySelector('svg')
  for (const name of ['x', 'y']) {
    select(name).append(
      ...Object.entries(axes).map(([key, text]) => new Option(text.split(',')[0], key))
    )
    select(name).addEventListener('change', () => draw())
  }
  select('x').value = 'entropy'
  select('y').value = 'distance'
  plot.addEventListener('click', ({ target }) => {
    const index = Number((target as HTMLElement).dataset?.index ?? -1),
      { heads } = engine.shape
    if (index >= 0) store.set({ layer: Math.floor(index / heads), head: index % heads })
  })
  let drawn = ''

  function draw() {
    if (!page.statistics) return
    const state = store.get(),
      { layers, heads } = engine.shape,
      x = select('x').value,
      y = select('y').value,
      wanted = [state.measured, state.layer, state.head, state.coloured, state.filter, x, y].join()
    if (wanted === drawn) return
    drawn = wanted
    const uniform = numbersOfUniform(engine.shape, engine.model.patch),
      all = findHeads(page.statistics, {}),
      kept = new Set(findHeads(page.statistics, state).map(({ layer, head }) => `${layer}.${head}`))
    const points = all.map((entry) => ({
      x: numberOf(entry, x),
      y: numberOf(entry, y),
      layer: entry.layer,
      name: say('manyPictures.layerHead', { layer: entry.layer, head: entry.head }),
      faint: !kept.has(`${entry.layer}.${entry.head}`)
    }))
    plot.innerHTML = scatter({
      points,
      layers,
      chosen: state.layer === 'pool' ? -1 : state.layer * heads + (state.head as number),
      labels: { x: axes[x], y: axes[y] },
      table: page.table,
      reference: {
        x: numberOf(uniform as any, x),
        y: numberOf(uniform as any, y)
      }
    })
  }
  return draw
}

const drawers = new WeakMap()

/** Beside the maps of all heads, as long as the panel shows those. */
export async function drawBeside(page: Page, element: HTMLElement) {
  await laterStyles().catch(page.showError)
  const grid = element.querySelector('.heads-grid')
  if (!grid) return
  if (!drawers.has(grid))
    drawers.set(
      grid,
      createDots(
        page,
        element.appendChild(Object.assign(document.createElement('div'), { className: 'beside' })),
        say('dots.statisticsViewNumbers')
      )
    )
  drawers.get(grid)()
}
