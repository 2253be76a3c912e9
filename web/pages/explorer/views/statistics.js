/* Every head in numbers: a dot each, and a table that can be sorted. */
import { findHeads, numberOf, numbersOfHeads } from '../model/head_finder.js'
import { createDots } from './dots.js'
/** @import {HeadEntry, MakeView, Page, State, Store} from '../../../types/pages.js' */

/* What a column is called in the table. */
const short = { entropy: 'entropy', distance: 'distance', cls: 'CLS', self: 'self', top5: 'top 5' }
const fields = Object.entries(short).map(([name, text]) => ({
  name,
  text,
  long: numbersOfHeads[name][1],
  digits: numbersOfHeads[name][2]
}))

/**
 * A line of the table; a press on it chooses the head.
 * @param {Store} store
 * @param {HeadEntry} entry
 * @param {State} state
 */
function line(store, entry, state) {
  const row = document.createElement('tr'),
    name = Object.assign(document.createElement('td'))
  const button = name.appendChild(
    Object.assign(document.createElement('button'), {
      type: 'button',
      textContent: `${entry.layer}, head ${entry.head}`
    })
  )
  button.addEventListener('click', () => store.set({ layer: entry.layer, head: entry.head }))
  row.append(
    name,
    ...fields.map(({ name, digits }) =>
      Object.assign(document.createElement('td'), {
        textContent: numberOf(entry, name).toFixed(digits)
      })
    )
  )
  row.classList.toggle('chosen', entry.layer === state.layer && entry.head === state.head)
  return row
}

/** @type {MakeView} */
export function view(page, element) {
  const { store } = page
  element.innerHTML = `<div></div>
    <p class="hint">Colour: layer, darkest first. Ring: the selected head. Faint: excluded by the filter. Dashed lines: uniform attention. Distances count CLS and registers as 0, or exclude them (over patches alone). <span class="left"></span> <span class="staged"></span></p>
    <div class="scroll" tabindex="0" role="region" aria-label="Table of heads"><table><thead><tr></tr></thead><tbody></tbody></table></div>`
  const body = element.querySelector('tbody'),
    drawDots = createDots(
      page,
      /** @type {HTMLElement} */ (element.firstElementChild),
      'the table below has the numbers'
    )

  element.querySelector('thead tr').append(
    ...[{ name: '', text: 'layer' }, ...fields].map(({ name, text }) => {
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
      ...findHeads(page.statistics, state).map((entry) => line(store, entry, state))
    )
    for (const cell of element.querySelectorAll('thead th'))
      if (cell.dataset.name === state.sort)
        cell.setAttribute('aria-sort', state.descending ? 'descending' : 'ascending')
      else cell.removeAttribute('aria-sort')
    element.querySelector('.staged').textContent =
      state.score === 'softmax'
        ? ''
        : 'The statistics of heads use the weights after the softmax. The stage below the image changes only the image.'
    element.querySelector('.left').textContent = state.filter
      ? `The table shows only heads that pass the filter: ${state.filter}.`
      : ''
  }
  return {
    keys: ['measured', 'score', 'layer', 'head', 'coloured', 'sort', 'descending', 'filter'],
    draw
  }
}
