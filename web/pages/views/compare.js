/* A, the row that the stage shows, beside B: a row that was pinned (another head, query, layer, picture or model), or the same place in
 * the same model with coarser weights or by the scalar module. Side by side or with a curtain between them, their difference, and how far
 * apart they are. */
import { cosine, divergence } from '../maps.js'
import { pictureNow, pin, swap } from '../pinned.js'
import { percent } from '../plot/caption.js'
import { divergingTable } from '../plot/diverging.js'
import { heat } from '../plot/heat.js'
import { largestOf } from '../plot/raster.js'
import { makeScale, signedScale } from '../plot/scale.js'
import { drawRow } from './row_picture.js'
import { put } from './canvas.js'

const diverging = divergingTable()
const others = { pinned: 'the pinned row', bf16: 'weights in BF16', int8: 'weights in 8 bits', int4: 'weights in 4 bits', scalar: 'the scalar module' }

export function compareView(page, element) {
  const { store } = page, figure = (name) => `<figure><figcaption><b>${name}</b> <span></span></figcaption><div class="raster"><canvas role="img" aria-label="${name}"></canvas></div></figure>`
  element.innerHTML = `<div class="even two"><button type="button" name="pin">Pin this row as B</button><button type="button" name="back" disabled>Swap A and B</button></div>
    <div class="fields"><label>B is <select name="other">${Object.entries(others).map(([name, text]) => `<option value="${name}">${text}</option>`).join('')}</select></label>
    <label>Shown <select name="shown"><option value="side">side by side</option><option value="swipe">with a curtain</option></select></label></div>
    <div class="pair compared">${['A', 'B', 'A − B'].map(figure).join('')}<dl class="facts"></dl></div>
    <p hidden><label class="range">Curtain <input type="range" name="curtain" min="0" max="100" value="50"></label></p>
    <p class="hint" aria-live="polite"></p>`
  const field = (name) => element.querySelector(`[name=${name}]`), figures = element.querySelectorAll('figure'), hint = element.querySelector('.hint')
  let second = null, turn = 0 // an engine of its own for another precision or module: { other, engine, ran }
  field('pin').addEventListener('click', () => { field('other').value = 'pinned'; pin(page) })
  field('back').addEventListener('click', () => swap(page).catch(page.showError))
  for (const name of ['other', 'shown']) field(name).addEventListener('change', () => draw().catch(page.showError))
  field('curtain').addEventListener('input', () => element.style.setProperty('--curtain', `${field('curtain').value}%`))

  const close = () => { second?.engine.close(); second = null }

  async function rowOf(other) {
    const { layer, head, reverse, ran } = store.get()
    if (second?.other !== other || second.source !== page.source) {
      hint.textContent = 'Loading the model a second time …'
      close()
      const [{ createEngine }, { roundedSource }] = await Promise.all([import('../engine.js'), import('../rounded.js')])
      second = { other, source: page.source, ran: -1, engine: await createEngine(other === 'scalar' ? { source: page.source, simd: 'none', threads: 1 } : { source: await roundedSource(page.source, other), threads: 1 }) }
    }
    const { engine } = second
    if (second.ran !== ran) await engine.run(page.picture.source, { changes: page.engine.result.changes, fit: page.engine.result.fit })
    if (second) second.ran = ran
    return engine.row({ layer, head, query: page.query(), reverse })
  }

  async function findB(other) {
    const { pinned } = store.get()
    if (other === 'pinned') return pinned && { ...pinned, title: `${pinned.title} (${pinned.name})` }
    return { row: await rowOf(other), title: `${others[other]}, the same place`, shape: page.engine.shape, picture: pictureNow(page) }
  }

  function show(index, words, weights, scale, table, picture) {
    const { rows, columns } = page.engine.shape, canvas = figures[index].querySelector('canvas')
    figures[index].querySelector('span').textContent = words
    if (picture) drawRow(canvas, picture, { weights, rows, columns, scale, table, strength: store.get().strength })
    else put(canvas, heat({ weights, rows, columns, scale, table }))
  }

  async function draw() {
    const mine = ++turn, other = page.engine.saved ? 'pinned' : field('other').value, b = await findB(other)
    if (mine !== turn || !element.isConnected) return
    const { row, title } = page.drawn, { tokens, prefixTokens, rows } = page.engine.shape, fits = b && b.row.length === row.length && b.shape.rows === rows
    field('other').disabled = Boolean(page.engine.saved)
    field('back').disabled = !fits || other !== 'pinned'
    element.querySelector('.pair').classList.toggle('waiting', !fits)
    element.querySelector('.pair').classList.toggle('swipe', field('shown').value === 'swipe')
    field('curtain').closest('p').hidden = !fits || field('shown').value !== 'swipe'
    page.compared = fits ? b : null
    const patches = row.subarray(prefixTokens)
    if (!fits) {
      show(0, title, patches, makeScale('uniform', { tokens, largest: largestOf(patches) }), page.table, pictureNow(page))
      figures[1].querySelector('span').textContent = b ? `${b.title} has another grid of patches.` : 'nothing pinned yet'
      return (hint.textContent = b ? 'Pin a row of this model.' : 'Pin a row as B (p, or Shift and a press on a patch), then choose another head, patch, layer, picture or model; or take the model with coarser weights as B. Both stand here on one scale, with their difference.')
    }
    const those = b.row.subarray(prefixTokens), less = patches.map((weight, i) => weight - those[i])
    const scale = makeScale('uniform', { tokens, largest: Math.max(largestOf(patches), largestOf(those)) }), largest = less.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
    show(0, title, patches, scale, page.table, pictureNow(page))
    show(1, b.title, those, scale, page.table, b.picture)
    show(2, 'blue: B has more, orange: A has more', less, signedScale('', largest), diverging)
    hint.textContent = `A and B from 0 to ${scale.ticks.at(-1).text} × uniform; the difference from −${(largest * tokens).toPrecision(3)} to ${(largest * tokens).toPrecision(3)} × uniform.`
    const apart = divergence(row, b.row), digits = apart > 1e-12 && apart < 5e-4 ? apart.toExponential(1) : apart.toFixed(4)
    element.querySelector('dl').innerHTML = `<dt>Jensen–Shannon divergence</dt><dd>${digits} nats</dd><dt>of the largest, ln 2</dt><dd>${percent(apart / Math.LN2)}</dd><dt>Cosine</dt><dd>${cosine(row, b.row).toFixed(4)}</dd>`
  }
  return { keys: ['drawn', 'pinned'], draw, leave: close }
}
