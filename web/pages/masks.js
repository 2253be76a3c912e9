/* Masks: each factor, their AND, the weights that it leaves, and what a row without keys becomes. */
import { showAgreement } from './agreement.js'
import { allOf, emptyRows, factorNames, factors, hiddenPatches } from './mask_factors.js'
import { connectTheme } from './site.js'
import { showTable } from './table.js'
import { asCase, attend, softmax } from './worked.js'

const element = (id) => document.getElementById(id)
const value = (id) => Math.min(Number(element(id).max), Math.max(Number(element(id).min), Math.round(element(id).valueAsNumber) || 0))
const names = (count, letter) => Array.from({ length: count }, (_, i) => `${letter}${i + 1}`)
/* Vectors of an example, the same at every visit. */
const vectors = (count, by) => Array.from({ length: count }, (_, i) => Array.from({ length: 4 }, (_, d) => Math.round(15 * Math.sin((i + 1) * (d + 2) * by)) / 10))
let painted = null, shape = '', timer

function setting() {
  const queries = value('tq'), keys = value('tk'), real = (count, id) => Array.from({ length: count }, (_, i) => i < value(id))
  if (shape !== `${queries} ${keys}`) painted = Array.from({ length: queries }, () => Array(keys).fill(true))
  shape = `${queries} ${keys}`
  return {
    queries: real(queries, 'real-queries'), keys: real(keys, 'real-keys'), causal: element('causal').checked,
    window: element('window').checked ? [value('left'), value('right')] : null, painted
  }
}

function paint(i, j, open) {
  painted[i][j] = open
  draw()
}

function showFactors(parts, rows, columns) {
  for (const [name, caption] of Object.entries(factorNames)) {
    const host = element('factors').querySelector(`[data-name=${name}]`) ?? element('factors').appendChild(Object.assign(document.createElement('div')))
    host.dataset.name = name
    const part = name === 'painted' ? painted : parts[name]
    host.hidden = !part
    if (part) showTable(host, { caption, values: part, rows, columns, onEdit: name === 'painted' ? paint : undefined })
  }
}

/* What no query sees is hidden from the demo model too. The default picture has 14 x 14 patches. */
function showPicture(mask) {
  const runs = hiddenPatches(mask, 196), count = runs.reduce((sum, [first, last]) => sum + last - first + 1, 0), link = element('on-picture')
  link.hidden = count === 0 || count === 196
  link.href = `./#v=intervene&z=${runs.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join('_')}`
  element('on-picture-said').textContent = count === 0 ? 'Every key is seen by some query: there is nothing to hide. Take away a real key, or close a whole column of “Painted”.'
    : count === 196 ? 'No key is seen at all: open one.' : `Keys that no query sees: ${mask[0].filter((_, key) => !mask.some((row) => row[key])).length} of ${mask[0].length}. That share of the picture’s patches, in raster order, is ${count} of 196. As key padding they are hidden from every head:`
}

function draw() {
  const set = setting(), parts = factors(set), mask = allOf(parts, set.queries, set.keys), rows = names(set.queries.length, 'q'), columns = names(set.keys.length, 'k')
  const given = { query: vectors(rows.length, 0.7), key: vectors(columns.length, 0.9), value: vectors(columns.length, 1.1), mask, may: (i, j) => mask[i][j] }, result = attend(given)
  showFactors(parts, rows, columns)
  showTable(element('joined'), { caption: 'All of them', values: mask, rows, columns })
  showTable(element('weights'), { caption: 'Weights', values: result.weights, rows, columns })
  const empty = Math.max(0, mask.findIndex((row) => !row.includes(true))), conventions = Object.values(emptyRows)
  showTable(element('empty'), { caption: `Weights of ${rows[empty]}`, values: conventions.map(({ row }) => row(result.scores[empty], softmax)), rows: conventions.map(({ name, who }) => `${name}: ${who}`), columns })
  element('empty').querySelector('caption').textContent = `Weights of ${rows[empty]}`
  element('cross').textContent = rows.length === columns.length ? 'Self-attention: as many queries as keys.' : `Cross-attention: ${rows.length} queries over ${columns.length} keys of another sequence. Causal and window count from the first of both.`
  showPicture(mask)
  clearTimeout(timer)
  timer = setTimeout(() => showAgreement(element('agreement'), asCase(given, result)), 150)
}

connectTheme(element('theme'))
for (const input of document.querySelectorAll('main input')) input.addEventListener('input', draw)
element('clear').addEventListener('click', () => { shape = ''; draw() })
draw()
document.documentElement.dataset.ready = 'true'
