/* How one cell was made, with its numbers, as templates of MathML. */
import { html, mathml, nothing } from 'lit-html'
import { join } from 'lit-html/directives/join.js'
import { fixed } from '../plot/parts/numbers.js'
import { best, entmaxLimit } from '../shared/small_attention.js'
import { say } from '../languages/say.js'
import type { TemplateResult } from 'lit-html'
import type {
  ScoreParts,
  SmallAttention,
  SmallHeads,
  SmallHeadsResult,
  SmallResult,
  SorterHead
} from '../shared/types.js'

const mn = (value: number) =>
  mathml`<mn>${Number.isFinite(value) ? fixed(Number(value.toFixed(3)), 0, 3).replace('-', '−') : '−∞'}</mn>`
const minus = (value: number) =>
  value < 0 ? mathml`<mo>+</mo>${mn(-value)}` : mathml`<mo>−</mo>${mn(value)}`
const block = (inner: TemplateResult<3>) => html`<math display="block"><mrow>${inner}</mrow></math>`
const sub = (letter: string, i: number, j: number) =>
  mathml`<msub><mi>${letter}</mi><mrow><mn>${i + 1}</mn><mo>,</mo><mn>${j + 1}</mn></mrow></msub>`

/** As a factor: in brackets where it is negative. */
const factor = (value: number) => (value < 0 ? mathml`<mo>(</mo>${mn(value)}<mo>)</mo>` : mn(value))
const plus = mathml`<mo>+</mo>`,
  dotProduct = mathml`<mrow><mi>q</mi><mo>·</mo><mi>k</mi></mrow>`
const power = (entry: number) => mathml`<msup><mi>e</mi>${mn(entry)}</msup>`

/** left = a · b + c · d + … = total */
const sumOf = (pairs: number[][], total: number, left: TemplateResult<3>) =>
  block(
    mathml`${left}<mo>=</mo>${join(
      pairs.map(([a, b], i) => mathml`${i ? factor(a) : mn(a)}<mo>·</mo>${factor(b)}`),
      plus
    )}<mo>=</mo>${mn(total)}`
  )

const sumOfTanh = (
  q: number[],
  k: number[],
  before: (d: number) => unknown,
  open: unknown,
  close: unknown
) =>
  join(
    q.map(
      (value, d) =>
        mathml`${before(d)}<mi>tanh</mi><mo>(</mo>${open}${mn(value)}<mo>+</mo>${factor(k[d])}${close}<mo>)</mo>`
    ),
    plus
  )

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
    return [
      sumOf(products(k), dot, dotProduct),
      block(
        mathml`${left}<mo>=</mo><mfrac>${mn(dot)}<msqrt><mn>${q.length}</mn></msqrt></mfrac><mo>=</mo>${mn(found)}`
      )
    ]
  }
  if (score === 'general') {
    const turned = own.w.map((row) => row.reduce((sum, entry, d) => sum + entry * k[d], 0))
    return [
      block(
        mathml`<mi>W</mi><mi>k</mi><mo>=</mo><mo>(</mo>${join(turned.map(mn), mathml`<mo>,</mo>`)}<mo>)</mo>`
      ),
      sumOf(products(turned), found, left)
    ]
  }
  if (score === 'additive')
    return block(
      mathml`${left}<mo>=</mo>${sumOfTanh(q, k, (d) => mathml`${factor(own.v[d])}<mo>·</mo>`, nothing, nothing)}<mo>=</mo>${mn(found)}`
    )
  return block(
    mathml`${left}<mo>=</mo>${mn(own.c)}<mo>·</mo><mo>[</mo>${sumOfTanh(q, k, () => nothing, mathml`${mn(own.s)}<mo>·</mo><mo>(</mo>`, mathml`<mo>)</mo>`)}<mo>]</mo><mo>=</mo>${mn(found)}`
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
      ? mathml`${left}<mo>=</mo><mfrac>${mn(scores[i][j])}${mn(temperature)}</mfrac><mo>=</mo>${mn(tempered[i][j])}`
      : mathml`${left}<mo>=</mo><mo>−</mo><mi>∞</mi>`
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
      mathml`${sub('a', i, j)}<mo>=</mo><msup><mrow><mi>max</mi><mo>(</mo><mn>0</mn><mo>,</mo><mfrac>${mn(row[j])}<mn>2</mn></mfrac>${minus(entmaxLimit(row))}<mo>)</mo></mrow><mn>2</mn></msup><mo>=</mo>${mn(weights[i][j])}`
    )
  if (norm === 'sparsemax') {
    const kept = row.filter((_, c) => weights[i][c] > 0),
      limit = (kept.reduce((a, b) => a + b, 0) - 1) / kept.length
    return block(
      mathml`${sub('a', i, j)}<mo>=</mo><mi>max</mi><mo>(</mo><mn>0</mn><mo>,</mo>${mn(row[j])}${minus(limit)}<mo>)</mo><mo>=</mo>${mn(weights[i][j])}`
    )
  }
  const said = {
      sparse: say('learn.cut.sparse'),
      topk: say('learn.cut.topk', { best })
    }[norm as 'sparse' | 'topk'],
    cut = said ? html`<p class="hint">${said}</p>` : nothing
  if (norm === 'topk' && weights[i][j] === 0)
    return [block(mathml`${sub('a', i, j)}<mo>=</mo><mn>0</mn>`), cut]
  return [
    block(
      mathml`${sub('a', i, j)}<mo>=</mo><mfrac>${power(row[j])}<mrow>${join(seen.map(power), plus)}</mrow></mfrac><mo>→</mo>${mn(weights[i][j])}`
    ),
    cut
  ]
}

function place(
  i: number,
  j: number,
  { size, tokens, moved }: { size: number; tokens: number[][]; moved: number[][] }
) {
  const exponent = (2 * Math.floor(j / 2)) / size,
    at = mathml`<mi>${j % 2 ? 'cos' : 'sin'}</mi><mo>(</mo><mfrac><mn>${i}</mn><msup><mn>10000</mn>${mn(exponent)}</msup></mfrac><mo>)</mo>`
  return block(
    mathml`${sub('x', i, j)}<mo>=</mo>${mn(tokens[i][j])}<mo>+</mo>${at}<mo>=</mo>${mn(moved[i][j])}`
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
  if (j > i) return html`<p>${say('learn.after', { to, from })}</p>`
  const row = scores[i].slice(0, i + 1),
    total = row.reduce((sum, score) => sum + Math.exp(score), 0),
    dot = scores[i][j] * Math.sqrt(query[i].length)
  return [
    sumOf(
      query[i].map((value, d) => [value, key[j][d]]),
      dot,
      dotProduct
    ),
    block(
      mathml`<mi>s</mi><mo>=</mo><mfrac>${mn(dot)}<msqrt><mn>${query[i].length}</mn></msqrt></mfrac><mo>=</mo>${mn(scores[i][j])}<mo>,</mo><mspace width="1em"></mspace><mfrac>${power(scores[i][j])}<mrow>${join(row.map(power), plus)}</mrow></mfrac><mo>=</mo><mfrac>${mn(Math.exp(scores[i][j]))}${mn(total)}</mfrac><mo>=</mo>${mn(weight)}`
    )
  ]
}

/** formulas[table](row, column, setting, result), as a template. */
export const formulas: Record<
  string,
  (row: number, column: number, set: any, result?: any) => unknown
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
      mathml`${sub('c', i, d)}<mtext>${say('learn.ofHead', { head: head + 1 })}</mtext>`
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
