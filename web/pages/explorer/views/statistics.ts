/* Every head in numbers: a dot each, and a table that can be sorted. */
import { fixed } from '../../plot/parts/numbers.js'
import { findHeads } from '../model/head_finder.js'
import { numberOf, numbersOfHeads } from '../model/head_numbers.js'
import { createDots } from './dots.js'
import { say } from '../../languages/say.js'
import type { HeadEntry, MakeView, Page, State } from '../../../types/pages.js'

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
  const row = document.createElement('tr'),
    name = Object.assign(document.createElement('td'))
  const button = name.appendChild(
    Object.assign(document.createElement('button'), {
      type: 'button',
      textContent: say('statistics.head', { layer, head })
    })
  )
  button.addEventListener('click', () => fit({ layer, head }))
  row.append(
    name,
    ...numbers.map((textContent) => Object.assign(document.createElement('td'), { textContent }))
  )
  const state = store.get()
  row.classList.toggle('chosen', layer === state.layer && head === state.head)
  return row
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

export const view: MakeView = (page, element) => {
  const { store } = page
  element.innerHTML = `<div></div>
    <p class="hint">${say('statistics.colourLayerDarkestFirst')} <span class="left"></span> <span class="staged"></span></p>
    <div class="scroll" tabindex="0" role="region" aria-label="${say('statistics.tableHeads')}"><table><thead><tr></tr></thead><tbody></tbody></table></div>`
  const body = element.querySelector('tbody'),
    drawDots = createDots(
      page,
      element.firstElementChild as HTMLElement,
      say('statistics.tableBelowNumbers')
    )

  element.querySelector('thead tr').append(
    ...[{ name: '', text: say('explorer.layer') }, ...fields].map(({ name, text }) => {
      const cell = Object.assign(document.createElement('th'), { scope: 'col' })
      const button = cell.appendChild(
        Object.assign(document.createElement('button'), { type: 'button', textContent: text })
      )
      button.addEventListener('click', () => {
        const { sort, descending } = store.get()
        store.set({ sort: name, descending: sort === name && name !== '' && !descending })
      })
      cell.dataset.name = name
      return cell
    })
  )

  function draw() {
    if (!page.statistics) return
    const state = store.get()
    drawDots()
    body.replaceChildren(
      ...findHeads(page.statistics, state).map((entry) => line(page, entry, numbersOf(entry))),
      ...(page.engine.result.pool ?? []).map((row, head) =>
        line(page, { layer: 'pool', head }, numbersOfPool(page, row))
      )
    )
    for (const cell of element.querySelectorAll('thead th'))
      if (cell.dataset.name === state.sort)
        cell.setAttribute('aria-sort', state.descending ? 'descending' : 'ascending')
      else cell.removeAttribute('aria-sort')
    element.querySelector('.staged').textContent =
      state.score === 'softmax' ? '' : say('statistics.statisticsHeadsUseWeights')
    element.querySelector('.left').textContent = state.filter
      ? say('statistics.tableShowsOnlyHeads', { filter: state.filter })
      : ''
  }
  return {
    keys: ['measured', 'score', 'layer', 'head', 'coloured', 'sort', 'descending', 'filter'],
    draw
  }
}
