/* How one cell was made, with its numbers, as MathML. Numbers and names of this page alone go in, so that the text can be set as it is. */
import { best, concatShare, entmaxLimit } from './worked.js'

const mn = (value) => `<mn>${Number.isFinite(value) ? String(Number(value.toFixed(3))).replace('-', '−') : '−∞'}</mn>`
const minus = (value) => (value < 0 ? `<mo>+</mo>${mn(-value)}` : `<mo>−</mo>${mn(value)}`)
const block = (inner) => `<math display="block"><mrow>${inner}</mrow></math>`
const sub = (letter, i, j) => `<msub><mi>${letter}</mi><mrow><mn>${i + 1}</mn><mo>,</mo><mn>${j + 1}</mn></mrow></msub>`

/** left = a · b + c · d + … = total */
export const sumOf = (pairs, total, left) => block(`${left}<mo>=</mo>${pairs.map(([a, b]) => `${mn(a)}<mo>·</mo>${mn(b)}`).join('<mo>+</mo>')}<mo>=</mo>${mn(total)}`)

function score(i, j, { query, key, score, temperature }, result) {
  const q = query[i], k = key[j], left = sub('s', i, j), found = result.scores[i][j], dot = q.reduce((sum, value, d) => sum + value * k[d], 0)
  const after = temperature === 1 ? '' : block(`${mn(found)}<mo>/</mo>${mn(temperature)}<mo>=</mo>${mn(found / temperature)}`)
  if (score === 'dot') return sumOf(q.map((value, d) => [value, k[d]]), dot, left) + after
  if (score === 'scaled')
    return `${sumOf(q.map((value, d) => [value, k[d]]), dot, '<mrow><mi>q</mi><mo>·</mo><mi>k</mi></mrow>')}${block(`${left}<mo>=</mo><mfrac>${mn(dot)}<msqrt><mn>${q.length}</mn></msqrt></mfrac><mo>=</mo>${mn(found)}`)}${after}`
  const share = score === 'concat' ? `${mn(concatShare)}<mo>·</mo>` : ''
  const inner = score === 'general' ? '<mi>q</mi><mi>W</mi><mi>k</mi>' : q.map((value, d) => `<mi>tanh</mi><mo>(</mo>${mn(value)}<mo>+</mo>${share}${mn(k[d])}<mo>)</mo>`).join('<mo>+</mo>')
  return block(`${left}<mo>=</mo>${inner}<mo>=</mo>${mn(found)}`) + after
}

function weight(i, j, { norm }, { tempered, weights }) {
  const row = tempered[i], seen = row.filter((entry, c) => (norm === 'topk' ? weights[i][c] > 0 : entry > -Infinity))
  if (norm === 'entmax')
    return block(`${sub('a', i, j)}<mo>=</mo><msup><mrow><mi>max</mi><mo>(</mo><mn>0</mn><mo>,</mo><mfrac>${mn(row[j])}<mn>2</mn></mfrac>${minus(entmaxLimit(row))}<mo>)</mo></mrow><mn>2</mn></msup><mo>=</mo>${mn(weights[i][j])}`)
  if (norm === 'sparsemax') {
    const kept = row.filter((_, c) => weights[i][c] > 0), limit = (kept.reduce((a, b) => a + b, 0) - 1) / kept.length
    return block(`${sub('a', i, j)}<mo>=</mo><mi>max</mi><mo>(</mo><mn>0</mn><mo>,</mo>${mn(row[j])}${minus(limit)}<mo>)</mo><mo>=</mo>${mn(weights[i][j])}`)
  }
  const power = (entry) => `<msup><mi>e</mi>${mn(entry)}</msup>`, cut = { sparse: '<p class="hint">Shares under 0.05 are cut to 0, and the rest is divided by what is left.</p>', topk: `<p class="hint">The ${best} highest scores alone take part.</p>` }[norm] ?? ''
  if (norm === 'topk' && weights[i][j] === 0) return block(`${sub('a', i, j)}<mo>=</mo><mn>0</mn>`) + cut
  return block(`${sub('a', i, j)}<mo>=</mo><mfrac>${power(row[j])}<mrow>${seen.map(power).join('<mo>+</mo>')}</mrow></mfrac><mo>→</mo>${mn(weights[i][j])}`) + cut
}

function place(i, j, { size, tokens, moved }) {
  const exponent = (2 * Math.floor(j / 2)) / size, at = `<mi>${j % 2 ? 'cos' : 'sin'}</mi><mo>(</mo><mfrac><mn>${i}</mn><msup><mn>10000</mn>${mn(exponent)}</msup></mfrac><mo>)</mo>`
  return block(`${sub('x', i, j)}<mo>=</mo>${mn(tokens[i][j])}<mo>+</mo>${at}<mo>=</mo>${mn(moved[i][j])}`)
}

/** formulas[table](row, column, setting, result), as text of MathML. */
export const formulas = {
  scores: score, weights: weight, place,
  output: (i, d, { value }, { weights, output }) => sumOf(weights[i].map((share, j) => [share, value[j][d]]), output[i][d], sub('o', i, d)),
  joined: (i, d, { tokens, heads }, { parts, weights, joined }) => {
    const size = tokens[0].length / heads, head = Math.floor(d / size)
    return sumOf(weights[head][i].map((share, j) => [share, parts[head][j][d % size]]), joined[i][d], `${sub('c', i, d)}<mtext> of head ${head + 1}</mtext>`)
  },
  projected: (i, d, { projection }, { joined, output }) => sumOf(joined[i].map((value, j) => [value, projection[d][j]]), output[i][d], sub('y', i, d))
}
