/* How one cell was made, with its numbers, as MathML. Numbers and names of this page alone go in,
 * so that the text can be set as it is. */
import { fixed } from '../plot/parts/numbers.js'
import { best, entmaxLimit } from '../shared/small_attention.js'
import { say } from '../languages/say.js'
/** @import {ScoreParts, SmallAttention, SmallHeads, SmallHeadsResult, SmallResult, SorterHead} from '../../types/pages.js' */

/** @param {number} value */
const mn = (value) =>
  `<mn>${Number.isFinite(value) ? fixed(Number(value.toFixed(3)), 0, 3).replace('-', '−') : '−∞'}</mn>`
/** @param {number} value */
const minus = (value) => (value < 0 ? `<mo>+</mo>${mn(-value)}` : `<mo>−</mo>${mn(value)}`)
/** @param {string} inner */
const block = (inner) => `<math display="block"><mrow>${inner}</mrow></math>`
/**
 * @param {string} letter
 * @param {number} i
 * @param {number} j
 */
const sub = (letter, i, j) =>
  `<msub><mi>${letter}</mi><mrow><mn>${i + 1}</mn><mo>,</mo><mn>${j + 1}</mn></mrow></msub>`

/**
 * As a factor: in brackets where it is negative.
 * @param {number} value
 */
const factor = (value) => (value < 0 ? `<mo>(</mo>${mn(value)}<mo>)</mo>` : mn(value))

/**
 * left = a · b + c · d + … = total
 * @param {number[][]} pairs
 * @param {number} total
 * @param {string} left
 */
export const sumOf = (pairs, total, left) =>
  block(
    `${left}<mo>=</mo>${pairs.map(([a, b], i) => `${i ? factor(a) : mn(a)}<mo>·</mo>${factor(b)}`).join('<mo>+</mo>')}<mo>=</mo>${mn(total)}`
  )

/**
 * @param {number[]} q
 * @param {number[]} k
 * @param {(d: number) => string} before
 * @param {string} open
 * @param {string} close
 */
const sumOfTanh = (q, k, before, open, close) =>
  q
    .map(
      (value, d) =>
        `${before(d)}<mi>tanh</mi><mo>(</mo>${open}${mn(value)}<mo>+</mo>${factor(k[d])}${close}<mo>)</mo>`
    )
    .join('<mo>+</mo>')

/**
 * @param {number} i
 * @param {number} j
 * @param {SmallAttention & {own: ScoreParts}} given
 * @param {SmallResult} result
 */
function score(i, j, { query, key, score, own }, result) {
  const q = query[i],
    k = key[j],
    left = sub('s', i, j),
    found = result.scores[i][j],
    products = (/** @type {number[]} */ b) => q.map((value, d) => [value, b[d]])
  if (score === 'dot') return sumOf(products(k), found, left)
  if (score === 'scaled') {
    const dot = found * Math.sqrt(q.length)
    return (
      sumOf(products(k), dot, '<mrow><mi>q</mi><mo>·</mo><mi>k</mi></mrow>') +
      block(
        `${left}<mo>=</mo><mfrac>${mn(dot)}<msqrt><mn>${q.length}</mn></msqrt></mfrac><mo>=</mo>${mn(found)}`
      )
    )
  }
  if (score === 'general') {
    const turned = own.w.map((row) => row.reduce((sum, entry, d) => sum + entry * k[d], 0))
    return (
      block(
        `<mi>W</mi><mi>k</mi><mo>=</mo><mo>(</mo>${turned.map(mn).join('<mo>,</mo>')}<mo>)</mo>`
      ) + sumOf(products(turned), found, left)
    )
  }
  if (score === 'additive')
    return block(
      `${left}<mo>=</mo>${sumOfTanh(q, k, (d) => `${factor(own.v[d])}<mo>·</mo>`, '', '')}<mo>=</mo>${mn(found)}`
    )
  return block(
    `${left}<mo>=</mo>${mn(own.c)}<mo>·</mo><mo>[</mo>${sumOfTanh(q, k, () => '', `${mn(own.s)}<mo>·</mo><mo>(</mo>`, '<mo>)</mo>')}<mo>]</mo><mo>=</mo>${mn(found)}`
  )
}

/**
 * After temperature and mask.
 * @param {number} i
 * @param {number} j
 * @param {{temperature: number, may: (i: number, j: number) => boolean}} given
 * @param {SmallResult} result
 */
function masked(i, j, { temperature, may }, { scores, tempered }) {
  const left = sub('m', i, j)
  return block(
    may(i, j)
      ? `${left}<mo>=</mo><mfrac>${mn(scores[i][j])}${mn(temperature)}</mfrac><mo>=</mo>${mn(tempered[i][j])}`
      : `${left}<mo>=</mo><mo>−</mo><mi>∞</mi>`
  )
}

/**
 * @param {number} i
 * @param {number} j
 * @param {{norm?: string}} given
 * @param {SmallResult} result
 */
function weight(i, j, { norm }, { tempered, weights }) {
  const row = tempered[i],
    seen = row.filter((entry, c) => (norm === 'topk' ? weights[i][c] > 0 : entry > -Infinity))
  if (norm === 'entmax')
    return block(
      `${sub('a', i, j)}<mo>=</mo><msup><mrow><mi>max</mi><mo>(</mo><mn>0</mn><mo>,</mo><mfrac>${mn(row[j])}<mn>2</mn></mfrac>${minus(entmaxLimit(row))}<mo>)</mo></mrow><mn>2</mn></msup><mo>=</mo>${mn(weights[i][j])}`
    )
  if (norm === 'sparsemax') {
    const kept = row.filter((_, c) => weights[i][c] > 0),
      limit = (kept.reduce((a, b) => a + b, 0) - 1) / kept.length
    return block(
      `${sub('a', i, j)}<mo>=</mo><mi>max</mi><mo>(</mo><mn>0</mn><mo>,</mo>${mn(row[j])}${minus(limit)}<mo>)</mo><mo>=</mo>${mn(weights[i][j])}`
    )
  }
  const power = (/** @type {number} */ entry) => `<msup><mi>e</mi>${mn(entry)}</msup>`,
    said = {
      sparse: say('learn.cut.sparse'),
      topk: say('learn.cut.topk', { best })
    }[/** @type {'sparse' | 'topk'} */ (norm)],
    cut = said ? `<p class="hint">${said}</p>` : ''
  if (norm === 'topk' && weights[i][j] === 0)
    return block(`${sub('a', i, j)}<mo>=</mo><mn>0</mn>`) + cut
  return (
    block(
      `${sub('a', i, j)}<mo>=</mo><mfrac>${power(row[j])}<mrow>${seen.map(power).join('<mo>+</mo>')}</mrow></mfrac><mo>→</mo>${mn(weights[i][j])}`
    ) + cut
  )
}

/**
 * @param {number} i
 * @param {number} j
 * @param {{size: number, tokens: number[][], moved: number[][]}} set
 */
function place(i, j, { size, tokens, moved }) {
  const exponent = (2 * Math.floor(j / 2)) / size,
    at = `<mi>${j % 2 ? 'cos' : 'sin'}</mi><mo>(</mo><mfrac><mn>${i}</mn><msup><mn>10000</mn>${mn(exponent)}</msup></mfrac><mo>)</mo>`
  return block(
    `${sub('x', i, j)}<mo>=</mo>${mn(tokens[i][j])}<mo>+</mo>${at}<mo>=</mo>${mn(moved[i][j])}`
  )
}

/**
 * A head of a trained model: the score of query i and key j, and its share of the row, of which
 * keys up to i are seen.
 * @param {number} i
 * @param {number} j
 * @param {SorterHead & {weight: number, from: string, to: string}} head
 */
function trained(i, j, { query, key, scores, weight, from, to }) {
  if (j > i) return `<p>${say('learn.after', { to, from })}</p>`
  const row = scores[i].slice(0, i + 1),
    total = row.reduce((sum, score) => sum + Math.exp(score), 0),
    dot = scores[i][j] * Math.sqrt(query[i].length)
  return (
    sumOf(
      query[i].map((value, d) => [value, key[j][d]]),
      dot,
      '<mrow><mi>q</mi><mo>·</mo><mi>k</mi></mrow>'
    ) +
    block(
      `<mi>s</mi><mo>=</mo><mfrac>${mn(dot)}<msqrt><mn>${query[i].length}</mn></msqrt></mfrac><mo>=</mo>${mn(scores[i][j])}<mo>,</mo><mspace width="1em"></mspace><mfrac><msup><mi>e</mi>${mn(scores[i][j])}</msup><mrow>${row.map((score) => `<msup><mi>e</mi>${mn(score)}</msup>`).join('<mo>+</mo>')}</mrow></mfrac><mo>=</mo><mfrac>${mn(Math.exp(scores[i][j]))}${mn(total)}</mfrac><mo>=</mo>${mn(weight)}`
    )
  )
}

/**
 * formulas[table](row, column, setting, result), as text of MathML.
 * @type {Record<string, (row: number, column: number, set: any, result?: any) => string>}
 */
export const formulas = {
  scores: score,
  masked,
  weights: weight,
  place,
  trained,
  /**
   * @param {number} i
   * @param {number} d
   * @param {{value: number[][]}} given
   * @param {SmallResult} result
   */
  output: (i, d, { value }, { weights, output }) =>
    sumOf(
      weights[i].map((share, j) => [share, value[j][d]]),
      output[i][d],
      sub('o', i, d)
    ),
  /**
   * @param {number} i
   * @param {number} d
   * @param {SmallHeads} given
   * @param {SmallHeadsResult} result
   */
  joined: (i, d, { tokens, heads }, { parts, weights, joined }) => {
    const size = tokens[0].length / heads,
      head = Math.floor(d / size)
    return sumOf(
      weights[head][i].map((share, j) => [share, parts[head][j][d % size]]),
      joined[i][d],
      `${sub('c', i, d)}<mtext>${say('learn.ofHead', { head: head + 1 })}</mtext>`
    )
  },
  /**
   * @param {number} i
   * @param {number} d
   * @param {SmallHeads} given
   * @param {SmallHeadsResult} result
   */
  projected: (i, d, { projection }, { joined, output }) =>
    sumOf(
      joined[i].map((value, j) => [value, projection[d][j]]),
      output[i][d],
      sub('y', i, d)
    )
}
