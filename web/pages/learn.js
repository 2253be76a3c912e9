/* Attention in numbered steps: every number can be changed, every result explains itself. */
import { showAgreement } from './agreement.js'
import { connectTheme } from './site.js'
import { showTable } from './table.js'
import { asCase, attend, normKinds, scoreKinds } from './worked.js'

const element = (id) => document.getElementById(id)
const pen = [[1, 0.5, 0, 0], [0.5, 1, 0, 0.5], [0, 0, 1, 0.5], [0, 0.5, 0.5, 1]]
const presets = {
  pen: { name: 'I have a pen: Q = K = V', words: ['I', 'have', 'a', 'pen'], query: pen, key: pen, value: pen, score: 'scaled' },
  steps: {
    name: 'Three inputs, scores 2 4 4', words: ['1', '2', '3'], score: 'dot',
    query: [[1, 0, 2], [2, 2, 2], [2, 1, 3]], key: [[0, 1, 1], [4, 4, 0], [2, 3, 1]], value: [[1, 2, 3], [2, 8, 0], [2, 6, 3]]
  },
  find: { name: 'Find one vector among three', words: ['a', 'b', 'c'], query: [[1, -2, 3, -4]], key: [[1, -2, 3, -4], [-8, 7, 6, -5], [10, 9, 12, 11]], value: [[1, -2, 3, -4], [-8, 7, 6, -5], [10, 9, 12, 11]], score: 'scaled' }
}

let given = null, looked = null, timer

function take(name) {
  const { query, key, value, words, score } = presets[name], copy = (rows) => rows.map((row) => [...row])
  given = { query: copy(query), key: copy(key), value: copy(value), words }
  looked = null
  element('score').value = score
  element('temperature').value = 1
  element('norm').value = 'softmax'
  element('causal').checked = false
  for (const id of ['query', 'key', 'value', 'scores', 'weights', 'output']) element(id).replaceChildren()
  draw()
}

function settings() {
  const causal = element('causal').checked, mask = causal ? given.query.map((_, i) => given.key.map((_, j) => j <= i)) : null
  return { ...given, score: element('score').value, norm: element('norm').value, temperature: Number(element('temperature').value), mask, may: (i, j) => !mask || mask[i][j] }
}

const mn = (value) => `<mn>${Number.isFinite(value) ? Number(value.toFixed(3)) : '−∞'}</mn>`
const sumOf = (pairs, total, left) => `<math display="block"><mrow>${left}<mo>=</mo>${pairs.map(([a, b]) => `${mn(a)}<mo>·</mo>${mn(b)}`).join('<mo>+</mo>')}<mo>=</mo>${mn(total)}</mrow></math>`
const sub = (letter, i, j) => `<msub><mi>${letter}</mi><mrow><mn>${i + 1}</mn><mo>,</mo><mn>${j + 1}</mn></mrow></msub>`

function scoreFormula(i, j, set, result) {
  const q = set.query[i], k = set.key[j], dot = q.reduce((sum, value, d) => sum + value * k[d], 0), left = sub('s', i, j)
  const after = set.temperature === 1 ? '' : `<math display="block"><mrow>${mn(result.scores[i][j])}<mo>/</mo>${mn(set.temperature)}<mo>=</mo>${mn(result.scores[i][j] / set.temperature)}</mrow></math>`
  if (set.score === 'dot') return sumOf(q.map((value, d) => [value, k[d]]), dot, left) + after
  if (set.score === 'scaled')
    return `${sumOf(q.map((value, d) => [value, k[d]]), dot, '<mrow><mi>q</mi><mo>·</mo><mi>k</mi></mrow>')}<math display="block"><mrow>${left}<mo>=</mo><mfrac>${mn(dot)}<msqrt><mn>${q.length}</mn></msqrt></mfrac><mo>=</mo>${mn(result.scores[i][j])}</mrow></math>${after}`
  const inner = set.score === 'additive' ? q.map((value, d) => `<mi>tanh</mi><mo>(</mo>${mn(value)}<mo>+</mo>${mn(k[d])}<mo>)</mo>`).join('<mo>+</mo>') : '<mi>q</mi><mi>W</mi><mi>k</mi>'
  return `<math display="block"><mrow>${left}<mo>=</mo>${inner}<mo>=</mo>${mn(result.scores[i][j])}</mrow></math>${after}`
}

function weightFormula(i, j, set, { tempered, weights }) {
  const row = tempered[i], seen = row.filter((score) => score > -Infinity)
  if (set.norm === 'sparsemax') {
    const kept = row.filter((_, c) => weights[i][c] > 0), limit = (kept.reduce((a, b) => a + b, 0) - 1) / kept.length
    return `<math display="block"><mrow>${sub('a', i, j)}<mo>=</mo><mi>max</mi><mo>(</mo><mn>0</mn><mo>,</mo>${mn(row[j])}<mo>−</mo>${mn(limit)}<mo>)</mo><mo>=</mo>${mn(weights[i][j])}</mrow></math>`
  }
  const power = (score) => `<msup><mi>e</mi>${mn(score)}</msup>`
  const cut = set.norm === 'sparse' ? '<p class="hint">Shares under 0.05 are cut to 0, and the rest is divided by what is left.</p>' : ''
  return `<math display="block"><mrow>${sub('a', i, j)}<mo>=</mo><mfrac>${power(row[j])}<mrow>${seen.map(power).join('<mo>+</mo>')}</mrow></mfrac><mo>→</mo>${mn(weights[i][j])}</mrow></math>${cut}`
}

const formulas = {
  scores: scoreFormula, weights: weightFormula,
  output: (i, d, set, { weights, output }) => sumOf(weights[i].map((weight, j) => [weight, set.value[j][d]]), output[i][d], sub('o', i, d))
}

/* The cells of the step before that the looked-at one is made from. */
function feeds(table) {
  if (!looked) return null
  const [of, i, j] = looked
  if (of === 'scores') return { query: (r) => r === i, key: (r) => r === j }[table]
  if (of === 'weights') return { scores: (r) => r === i }[table]
  return { weights: (r) => r === i, value: (_, c) => c === j }[table]
}

function draw() {
  const set = settings(), result = attend(set), { words } = set, asked = set.query.length === words.length ? words : ['query']
  const numbers = (rows) => rows[0].map((_, d) => `${d + 1}`), most = (rows) => Math.max(1e-9, ...rows.flat().filter(Number.isFinite).map(Math.abs))
  const edit = (name) => (i, j, value) => { given[name][i][j] = value; draw() }
  for (const [name, rows] of [['query', asked], ['key', words], ['value', words]])
    showTable(element(name), { caption: { query: 'Q, queries', key: 'K, keys', value: 'V, values' }[name], values: given[name], rows, columns: numbers(given[name]), digits: 2, largest: most(given[name]), onEdit: edit(name), chosen: feeds(name) })
  const look = (name) => (i, j) => { looked = [name, i, j]; draw() }
  showTable(element('scores'), { caption: 'Scores', values: result.tempered, rows: asked, columns: words, largest: most(result.tempered), onLook: look('scores'), chosen: feeds('scores') })
  showTable(element('weights'), { caption: 'Weights', values: result.weights, rows: asked, columns: words, onLook: look('weights'), chosen: feeds('weights') })
  showTable(element('output'), { caption: 'Output', values: result.output, rows: asked, columns: numbers(result.output), largest: most(result.output), onLook: look('output') })
  element('temperature-said').textContent = set.temperature
  element('sums').textContent = `Sums of the rows: ${result.weights.map((row) => row.reduce((a, b) => a + b, 0).toFixed(3)).join(', ')}. Weights above zero: ${result.weights.map((row) => row.filter((weight) => weight > 0).length).join(', ')}.`
  element('formula').innerHTML = looked ? formulas[looked[0]](looked[1], looked[2], set, result) : ''
  clearTimeout(timer)
  timer = setTimeout(() => showAgreement(element('agreement'), asCase(set, result)), 150)
}

const fill = (id, options) => element(id).replaceChildren(...Object.entries(options).map(([key, text]) => new Option(text.name ?? text, key)))
fill('preset', presets)
fill('score', scoreKinds)
fill('norm', normKinds)
connectTheme(element('theme'))
element('preset').addEventListener('change', ({ target }) => take(target.value))
for (const id of ['score', 'norm', 'temperature', 'causal']) element(id).addEventListener('input', () => draw())
take('pen')
document.documentElement.dataset.ready = 'true'
