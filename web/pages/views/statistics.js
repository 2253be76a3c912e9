/* Every head in numbers: a dot each, and a table that can be sorted. */
import { scatter } from '../plot/scatter.js'

const fields = {
  entropyPatches: ['entropy', 'Entropy of patch queries, nats', 3], distance: ['distance', 'Mean attention distance, pixels', 1],
  prefixMass: ['CLS', 'Weight on CLS and registers', 3], selfMass: ['self', 'Weight on itself', 3]
}

export function statisticsView(page, element) {
  const { store, engine } = page
  element.innerHTML = `<div class="row"><label>Across <select name="x"></select></label><label>Up <select name="y"></select></label></div>
    <svg class="plot" viewBox="0 0 320 240" role="img" aria-label="A dot for every head; the table below has the numbers"></svg>
    <p class="hint">Colour: layer, the first darkest. Ring: the chosen head.</p>
    <div class="scroll" tabindex="0" role="region" aria-label="Table of heads"><table><thead><tr></tr></thead><tbody></tbody></table></div>`
  const select = (name) => element.querySelector(`[name=${name}]`), plot = element.querySelector('svg'), body = element.querySelector('tbody')
  const options = () => Object.entries(fields).map(([key, [, text]]) => new Option(text, key))
  select('x').append(...options())
  select('y').append(...options())
  select('y').value = 'distance'
  let order = ['layer', 1]

  element.querySelector('thead tr').append(...[['layer', 'layer'], ...Object.entries(fields).map(([key, [text]]) => [key, text])].map(([key, text]) => {
    const cell = Object.assign(document.createElement('th'), { scope: 'col' })
    const button = cell.appendChild(Object.assign(document.createElement('button'), { type: 'button', textContent: text }))
    button.addEventListener('click', () => {
      order = [key, order[0] === key ? -order[1] : 1]
      draw()
    })
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
    row.append(name, ...Object.entries(fields).map(([key, [, , digits]]) => Object.assign(document.createElement('td'), { textContent: entry[key].toFixed(digits) })))
    row.classList.toggle('chosen', entry.layer === state.layer && entry.head === state.head)
    return row
  }

  function draw() {
    if (!page.statistics) return
    const state = store.get(), { layers, heads } = engine.shape, x = select('x').value, y = select('y').value
    const entries = page.statistics.flatMap((layer, l) => layer.map((numbers, h) => ({ layer: l, head: h, ...numbers })))
    const points = entries.map((entry) => ({ x: entry[x], y: entry[y], layer: entry.layer, name: `layer ${entry.layer}, head ${entry.head}` }))
    plot.innerHTML = scatter({ points, layers, chosen: state.layer * heads + state.head, labels: { x: fields[x][1], y: fields[y][1] }, table: page.table })
    body.replaceChildren(...entries.sort((a, b) => (a[order[0]] - b[order[0]]) * order[1]).map((entry) => line(entry, state)))
  }
  return { keys: ['measured', 'layer', 'head', 'coloured'], draw }
}
