/* How one cell was made, with its numbers, as MathML. Numbers and names of this page alone go in,
 * so that the text can be set as it is. */
import { fixed } from '../plot/parts/numbers.js'
import { best, entmaxLimit } from '../shared/small_attention.js'
import { say } from '../languages/say.js'
import type {
  ScoreParts,
  SmallAttention,
  SmallHeads,
  SmallHeadsResult,
  SmallResult,
  SorterHead
} from '../shared/types.js'

const mn = (value: number) =>
  `<mn>${Number.isFinite(value) ? fixed(Number(value.toFixed(3)), 0, 3).replace('-', '−') : '−∞'}</mn>`
const minus = (value: number) => (value < 0 ? `<mo>+</mo>${mn(-value)}` : `<mo>−</mo>${mn(value)}`)
const block = (inner: string) => `<math display="block"><mrow>${inner}</mrow></math>`
const sub = (letter: string, i: number, j: number) =>
  `<msub><mi>${letter}</mi><mrow><mn>${i + 1}</mn><mo>,</mo><mn>${j + 1}</mn></mrow></msub>`

/** As a factor: in brackets where it is negative. */
const factor = (value: number) => (value < 0 ? `<mo>(</mo>${mn(value)}<mo>)</mo>` : mn(value))

/** left = a · b + c · d + … = total */
export const sumOf = (pairs: number[][], total: number, left: string) =>
  block(
    `${left}<mo>=</mo>${pairs.map(([a, b], i) => `${i ? factor(a) : mn(a)}<mo>·</mo>${factor(b)}`).join('<mo>+</mo>')}<mo>=</mo>${mn(total)}`
  )

const sumOfTanh = (
  q: number[],
  k: number[],
  before: (d: number) => string,
  open: string,
  close: string
) =>
  q
    .map(
      (value, d) =>
        `${before(d)}<mi>tanh</mi><mo>(</mo>${open}${mn(value)}<mo>+</mo>${factor(k[d])}${close}<mo>)</mo>`
    )
    .join('<mo>+</mo>')

function score(
  i: number,
  j: number,
  { query, key, score, own }: SmallAttention & { own: ScoreParts },
  result: SmallResult
) {
  const q = query[i],
    k = key[j],
    left = sub('s', i, j),
    found = result.scores[i][j],
    products = (b: number[]) => q.map((value, d) => [value, b[d]])
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

/** After temperature and mask. */
function masked(
  i: number,
  j: number,
  { temperature, may }: { temperature: number; may: (i: number, j: number) => boolean },
  { scores, tempered }: SmallResult
) {
  const left = sub('m', i, j)
  return block(
    may(i, j)
      ? `${left}<mo>=</mo><mfrac>${mn(scores[i][j])}${mn(temperature)}</mfrac><mo>=</mo>${mn(tempered[i][j])}`
      : `${left}<mo>=</mo><mo>−</mo><mi>∞</mi>`
  )
}

function weight(
  i: number,
  j: number,
  { norm }: { norm?: string },
  { tempered, weights }: SmallResult
) {
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
  const power = (entry: number) => `<msup><mi>e</mi>${mn(entry)}</msup>`,
    said = {
      sparse: say('learn.cut.sparse'),
      topk: say('learn.cut.topk', { best })
    }[norm as 'sparse' | 'topk'],
    cut = said ? `<p class="hint">${said}</p>` : ''
  if (norm === 'topk' && weights[i][j] === 0)
    return block(`${sub('a', i, j)}<mo>=</mo><mn>0</mn>`) + cut
  return (
    block(
      `${sub('a', i, j)}<mo>=</mo><mfrac>${power(row[j])}<mrow>${seen.map(power).join('<mo>+</mo>')}</mrow></mfrac><mo>→</mo>${mn(weights[i][j])}`
    ) + cut
  )
}

function place(
  i: number,
  j: number,
  { size, tokens, moved }: { size: number; tokens: number[][]; moved: number[][] }
) {
  const exponent = (2 * Math.floor(j / 2)) / size,
    at = `<mi>${j % 2 ? 'cos' : 'sin'}</mi><mo>(</mo><mfrac><mn>${i}</mn><msup><mn>10000</mn>${mn(exponent)}</msup></mfrac><mo>)</mo>`
  return block(
    `${sub('x', i, j)}<mo>=</mo>${mn(tokens[i][j])}<mo>+</mo>${at}<mo>=</mo>${mn(moved[i][j])}`
  )
}

/** A head of a trained model: the score of query i and key j, and its share of the row, of which
 * keys up to i are seen. */
function trained(
  i: number,
  j: number,
  {
    query,
    key,
    scores,
    weight,
    from,
    to
  }: SorterHead & { weight: number; from: string; to: string }
) {
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

/** formulas[table](row, column, setting, result), as text of MathML. */
export const formulas: Record<
  string,
  (row: number, column: number, set: any, result?: any) => string
> = {
  scores: score,
  masked,
  weights: weight,
  place,
  trained,
  output: (
    i: number,
    d: number,
    { value }: { value: number[][] },
    { weights, output }: SmallResult
  ) =>
    sumOf(
      weights[i].map((share, j) => [share, value[j][d]]),
      output[i][d],
      sub('o', i, d)
    ),
  joined: (
    i: number,
    d: number,
    { tokens, heads }: SmallHeads,
    { parts, weights, joined }: SmallHeadsResult
  ) => {
    const size = tokens[0].length / heads,
      head = Math.floor(d / size)
    return sumOf(
      weights[head][i].map((share, j) => [share, parts[head][j][d % size]]),
      joined[i][d],
      `${sub('c', i, d)}<mtext>${say('learn.ofHead', { head: head + 1 })}</mtext>`
    )
  },
  projected: (
    i: number,
    d: number,
    { projection }: SmallHeads,
    { joined, output }: SmallHeadsResult
  ) =>
    sumOf(
      joined[i].map((value, j) => [value, projection[d][j]]),
      output[i][d],
      sub('y', i, d)
    )
}
