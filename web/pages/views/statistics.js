/* Every head in numbers: a dot each, and a table that can be sorted. */
import { findHeads, numberOf, numbersOfHeads, numbersOfUniform } from '../finder.js'
import { scatter } from '../plot/scatter.js'

/* What a column is called in the table. */
const short = { entropy: 'entropy', distance: 'distance', cls: 'CLS', self: 'self', top5: 'top 5' }
const fields = Object.entries(short).map(([name, text]) => ({ name, text, long: numbersOfHeads[name][1], digits: numbersOfHeads[name][2] }))

export function statisticsView(page, element) {
  const { store, engine } = page
  element.innerHTML = `<div class="fields"><label>Across <select name="x"></select></label><label>Up <select name="y"></select></label></div>
    <svg class="plot" viewBox="0 0 320 240" role="img" aria-label="A dot for every head; the table below has the numbers"></svg>
    <p class="hint">Colour: layer, the first darkest. Ring: the chosen head. Broken lines: uniform attention. Distances count CLS and registers as 0, or leave them out (over patches alone). <span class="left"></span> <span class="staged"></span></p>
    <div class="scroll" tabindex="0" role="region" aria-label="Table of heads"><table><thead><tr></tr></thead><tbody></tbody></table></div>`
  const select = (name) => element.querySelector(`[name=${name}]`), plot = element.querySelector('svg'), body = element.querySelector('tbody')
  const options = () => Object.entries(numbersOfHeads).map(([name, [, long]]) => new Option(long, name))
  select('x').append(...options())
  select('y').append(...options())
  select('y').value = 'distance'

  element.querySelector('thead tr').append(...[{ name: '', text: 'layer' }, ...fields].map(({ name, text }) => {
    const cell = Object.assign(document.createElement('th'), { scope: 'col' })
    const button = cell.appendChild(Object.assign(document.createElement('button'), { type: 'button', textContent: text }))
    button.addEventListener('click', () => {
      const { sort, descending } = store.get()
      store.set({ sort: name, descending: sort === name && name !== '' && !descending })
    })
    cell.dataset.name = name
    return cell
  }))
  for (const name of ['x', 'y']) select(name).addEventListener('change', () => draw())
  plot.addEventListener('click', ({ target }) => {
    const index = Number(target.dataset?.index ?? -1), { heads } = engine.shape
    if (index >= 0) store.set({ layer: Math.floor(index / heads), head: index % heads })
  })

  function line(entry, state) {
    const row = document.createElement('tr'), name = Object.assign(document.createElement('td'))
    const button = name.appendChild(Object.assign(document.createElement('button'), { type: 'button', textContent: `${entry.layer}, head ${entry.head}` }))
    button.addEventListener('click', () => store.set({ layer: entry.layer, head: entry.head }))
    row.append(name, ...fields.map(({ name, digits }) => Object.assign(document.createElement('td'), { textContent: numberOf(entry, name).toFixed(digits) })))
    row.classList.toggle('chosen', entry.layer === state.layer && entry.head === state.head)
    return row
  }

  function draw() {
    if (!page.statistics) return
    const state = store.get(), { layers, heads } = engine.shape, x = select('x').value, y = select('y').value
    const uniform = numbersOfUniform(engine.shape, engine.model.patch), all = findHeads(page.statistics, {}), long = (name) => numbersOfHeads[name][1]
    const points = all.map((entry) => ({ x: numberOf(entry, x), y: numberOf(entry, y), layer: entry.layer, name: `layer ${entry.layer}, head ${entry.head}` }))
    plot.innerHTML = scatter({ points, layers, chosen: state.layer * heads + state.head, labels: { x: long(x), y: long(y) }, table: page.table, reference: { x: numberOf(uniform, x), y: numberOf(uniform, y) } })
    body.replaceChildren(...findHeads(page.statistics, state).map((entry) => line(entry, state)))
    for (const cell of element.querySelectorAll('thead th'))
      if (cell.dataset.name === state.sort) cell.setAttribute('aria-sort', state.descending ? 'descending' : 'ascending')
      else cell.removeAttribute('aria-sort')
    element.querySelector('.staged').textContent = state.score === 'softmax' ? '' : 'Numbers of heads are of the weights after the softmax; the stage chosen below the picture changes the picture alone.'
    element.querySelector('.left').textContent = state.filter ? `The table leaves out what the heads’ filter does: ${state.filter}.` : ''
  }
  return { keys: ['measured', 'score', 'layer', 'head', 'coloured', 'sort', 'descending', 'filter'], draw }
}
