/* A, the row that the stage shows, beside B, one that was pinned: another head, query, layer, picture or model. Their difference, and how
 * far apart they are. */
import { cosine, divergence } from '../maps.js'
import { percent } from '../plot/caption.js'
import { divergingTable } from '../plot/diverging.js'
import { heat } from '../plot/heat.js'
import { largestOf } from '../plot/raster.js'
import { makeScale, signedScale } from '../plot/scale.js'
import { put } from './stage.js'

const diverging = divergingTable()

/** Keeps what the stage shows as B. */
export const pin = (page) => page.store.set({ pinned: { row: page.drawn.row, title: page.drawn.title, place: placeOf(page), shape: page.engine.shape, model: document.getElementById('model-name').textContent } })
const placeOf = ({ store }) => (({ layer, head, query, reverse, view }) => ({ layer, head, query, reverse, view: view === 'compare' ? 'compare' : view }))(store.get())

export function compareView(page, element) {
  const { store } = page
  element.innerHTML = `<div class="row"><button type="button" name="pin">Pin this row as B</button><button type="button" name="back" disabled>Swap A and B</button></div>
    <div class="pair">${['A', 'B', 'A − B'].map((name) => `<figure><figcaption><b>${name}</b> <span></span></figcaption><div class="raster"><canvas role="img" aria-label="${name}"></canvas></div></figure>`).join('')}</div>
    <p class="hint"></p><dl class="facts"></dl>`
  const button = (name) => element.querySelector(`[name=${name}]`), figures = element.querySelectorAll('figure'), [hint] = element.querySelectorAll('.hint')
  button('pin').addEventListener('click', () => pin(page))
  button('back').addEventListener('click', () => {
    const { place } = store.get().pinned
    pin(page)
    store.set({ ...place, view: 'compare' })
  })

  function show(index, words, weights, scale, table) {
    const { rows, columns } = page.engine.shape
    figures[index].querySelector('span').textContent = words
    put(figures[index].querySelector('canvas'), heat({ weights, rows, columns, scale, table }))
  }

  function draw() {
    const { pinned } = store.get(), { row, title } = page.drawn, { tokens, prefixTokens, rows, columns } = page.engine.shape
    const fits = pinned && pinned.row.length === row.length && pinned.shape.rows === rows
    element.querySelector('.pair').hidden = element.querySelector('dl').hidden = !fits
    button('back').disabled = !fits
    hint.textContent = !pinned ? 'Pin a row, then choose another head, patch, layer, picture or model: both stand here, on one scale.' : !fits ? `B (${pinned.title}) has another grid of patches; pin a row of this model.` : ''
    if (!fits) return
    const a = row.subarray(prefixTokens), b = pinned.row.subarray(prefixTokens), less = a.map((weight, i) => weight - b[i])
    const scale = makeScale('uniform', { tokens, largest: Math.max(largestOf(a), largestOf(b)) }), largest = less.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
    show(0, title, a, scale, page.table)
    show(1, pinned.title, b, scale, page.table)
    show(2, 'blue: B has more, orange: A has more', less, signedScale('', largest), diverging)
    hint.textContent = `A and B from 0 to ${scale.ticks.at(-1).text} × uniform; the difference from −${(largest * tokens).toPrecision(3)} to ${(largest * tokens).toPrecision(3)} × uniform.`
    const apart = divergence(row, pinned.row)
    element.querySelector('dl').innerHTML = `<dt>Jensen–Shannon divergence</dt><dd>${apart.toFixed(4)} nats</dd><dt>of the largest, ln 2</dt><dd>${percent(apart / Math.LN2)}</dd><dt>Cosine</dt><dd>${cosine(row, pinned.row).toFixed(4)}</dd>`
  }
  return { keys: ['drawn', 'pinned'], draw }
}
