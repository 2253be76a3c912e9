/* Every head in numbers: a dot each, and a table that can be sorted. */
import { html, nothing, render } from 'lit-html'
import { fixed } from '../../../plot/parts/numbers.js'
import { findHeads } from '../../model/head_finder.js'
import { numberOf, numbersOfHeads } from '../../model/head_numbers.js'
import { createDots } from './dots.js'
import { say } from '../../../languages/say.js'
import type { HeadEntry, MakeView, Page, State } from '../../types.js'

/* What a column is called in the table. */
const short = {
  entropy: 'entropy',
  distance: 'distance',
  cls: 'CLS',
  self: 'self',
  top5: say('statistics.top5')
}
const fields = Object.entries(short).map(([name, text]) => ({
  name,
  text,
  long: numbersOfHeads[name][1],
  digits: numbersOfHeads[name][2]
}))

/** A line of the table; a press on it chooses the head. */
function line(
  { store, fit }: Page,
  { layer, head }: { layer: State['layer']; head: number },
  numbers: string[]
) {
  const state = store.get(),
    chosen = layer === state.layer && head === state.head
  return html`<tr class=${chosen ? 'chosen' : ''}><td><button type="button" @click=${() => fit({ layer, head })}>${say('statistics.head', { layer, head })}</button></td>${numbers.map((number) => html`<td>${number}</td>`)}</tr>`
}

const numbersOf = (entry: HeadEntry) =>
  fields.map(({ name, digits }) => fixed(numberOf(entry, name), digits))

/** What of these numbers the one row of a head of the pooling attention has: the probe has no place,
 * and is no key. */
function numbersOfPool({ engine }: Page, row: Float32Array) {
  const sum = (part: Float32Array) => part.reduce((all, weight) => all + weight, 0),
    known: Record<string, number> = {
      entropy: engine.explain.entropy(row),
      cls: sum(row.subarray(0, engine.shape.prefixTokens)),
      top5: sum(row.slice().sort().subarray(-5))
    }
  return fields.map(({ name, digits }) =>
    known[name] === undefined ? '–' : fixed(known[name], digits)
  )
}

export const view: MakeView = (page, element, { redraw }) => {
  const { store } = page,
    dots = createDots(page, say('statistics.tableBelowNumbers'), redraw)

  function order(name: string) {
    const { sort, descending } = store.get()
    store.set({ sort: name, descending: sort === name && name !== '' && !descending })
  }
  function columnOf({ name, text }: { name: string; text: string }) {
    const { sort, descending } = store.get(),
      sorted = name === sort ? (descending ? 'descending' : 'ascending') : nothing
    return html`<th scope="col" data-name=${name} aria-sort=${sorted}><button type="button" @click=${() => order(name)}>${text}</button></th>`
  }

  function draw() {
    if ((page.engine.parts?.frames ?? 0) > 1)
      return render(html`<p class="hint">${say('parts.only')}</p>`, element)
    if (!page.statistics) return
    const state = store.get(),
      { filter } = state
    render(
      html`<div>${dots()}</div>
      <p class="hint">${say('statistics.colourLayerDarkestFirst')} <span class="left">${filter && say('statistics.tableShowsOnlyHeads', { filter })}</span> <span class="staged">${state.score === 'softmax' ? '' : say('statistics.statisticsHeadsUseWeights')}</span></p>
      <div class="scroll" tabindex="0" role="region" aria-label=${say('statistics.tableHeads')}><table><thead><tr>${[{ name: '', text: say('explorer.layer') }, ...fields].map(columnOf)}</tr></thead><tbody>${findHeads(page.statistics, state).map((entry) => line(page, entry, numbersOf(entry)))}${(page.engine.result.pool ?? []).map((row, head) => line(page, { layer: 'pool', head }, numbersOfPool(page, row)))}</tbody></table></div>`,
      element
    )
  }
  return {
    keys: ['measured', 'score', 'layer', 'head', 'coloured', 'sort', 'descending', 'filter'],
    draw
  }
}
