/* Attention on small matrices in double precision, step by step, as the runtime defines it (heed.h,
 * heed_define_attention); rows are arrays. */

import { say } from '../languages/say.js'
import type {
  ScoreParts,
  SmallAttention,
  SmallCase,
  SmallHeads,
  SmallHeadsResult,
  SmallResult,
  SmallTensor
} from './types.js'

export const scoreKinds: Record<string, string> = {
  scaled: say('learn.score.scaled'),
  dot: say('learn.score.dot'),
  general: say('learn.score.general'),
  additive: say('learn.score.additive'),
  concat: say('learn.score.concat')
}
export const normKinds: Record<string, string> = {
  softmax: say('learn.norm.softmax'),
  sparse: say('learn.norm.sparse'),
  topk: say('learn.norm.topk'),
  entmax: say('learn.norm.entmax'),
  sparsemax: say('learn.norm.sparsemax')
}

/* How many scores the softmax of the best keeps; ties go to the earlier. */
export const best = 2

const dot = (a: number[], b: number[]) => a.reduce((sum, value, i) => sum + value * b[i], 0)

/** What scores have of their own, for vectors of D numbers: W [D, D] of general, which at first
 * compares each number of the key with its neighbour as well; v [D] of additive; c and s of concat,
 * as Keras's Attention calls them concat_score_weight and scale. */
export const scoreParts = (size: number): ScoreParts => ({
  w: Array.from({ length: size }, (_, i) =>
    Array.from({ length: size }, (_, j) => (i === j ? 1 : Math.abs(i - j) === 1 ? 0.5 : 0))
  ),
  v: Array(size).fill(1),
  c: 1,
  s: 0.5
})

const scores: Record<string, (q: number[], k: number[], own: ScoreParts) => number> = {
  dot,
  scaled: (q, k) => dot(q, k) / Math.sqrt(q.length),
  general: (q, k, { w }) =>
    dot(
      w.map((row) => dot(row, k)),
      q
    ),
  additive: (q, k, { v }) => q.reduce((sum, value, i) => sum + v[i] * Math.tanh(value + k[i]), 0),
  concat: (q, k, { c, s }) =>
    c * q.reduce((sum, value, i) => sum + Math.tanh(s * (value + k[i])), 0)
}

export function softmax(row: number[]) {
  const largest = Math.max(...row),
    powers = row.map((score) => (score === -Infinity ? 0 : Math.exp(score - largest))),
    sum = powers.reduce((a, b) => a + b, 0)
  return sum > 0 ? powers.map((power) => power / sum) : row.map(() => 0)
}

/** Weights under the threshold are cut and the rest renormalised. */
function sparse(row: number[], threshold: number) {
  const kept = softmax(row).map((weight) => (weight < threshold ? 0 : weight)),
    sum = kept.reduce((a, b) => a + b, 0)
  return sum > 0 ? kept.map((weight) => weight / sum) : kept
}

/** The nearest point of the simplex (Martins & Astudillo 2016). */
export function sparsemax(row: number[]) {
  const seen = row.filter((score) => score > -Infinity).sort((a, b) => b - a)
  let sum = 0,
    limit = 0
  seen.forEach((score, i) => {
    sum += score
    if (1 + (i + 1) * score > sum) limit = (sum - 1) / (i + 1)
  })
  return row.map((score) => Math.max(0, score - limit) || 0)
}

/** The limit of entmax 1.5: weights (s / 2 - limit)^2 of the scores above it sum to 1 (Peters,
 * Niculae, Martins 2019, algorithm 2). */
export function entmaxLimit(row: number[]) {
  const halves = row
    .filter((score) => score > -Infinity)
    .map((score) => score / 2)
    .sort((a, b) => b - a)
  let sum = 0,
    squares = 0,
    limit = Infinity
  for (const [i, half] of halves.entries()) {
    sum += half
    squares += half * half
    const mean = sum / (i + 1),
      spread = squares - sum * mean,
      next = mean - Math.sqrt(Math.max(0, (1 - spread) / (i + 1)))
    if (next <= half) limit = next
  }
  return limit
}

export function entmax(row: number[]) {
  const limit = entmaxLimit(row)
  return row.map((score) => Math.max(0, score / 2 - limit) ** 2)
}

function softmaxOfBest(row: number[]) {
  const kept = new Set(
    row
      .map((_, i) => i)
      .sort((a, b) => row[b] - row[a] || a - b)
      .slice(0, best)
  )
  return softmax(row.map((score, i) => (kept.has(i) ? score : -Infinity)))
}

const norms: Record<string, (row: number[], threshold: number) => number[]> = {
  softmax,
  sparsemax,
  entmax,
  topk: softmaxOfBest,
  sparse: (row, threshold) => sparse(row, threshold)
}

/** The weights of a row of scores by one of normKinds. */
export const normalise = (row: number[], norm: string, threshold = 0.05): number[] =>
  norms[norm](row, threshold)

/** How far entmax 1.5 is from weights whose limit is found by halving an interval, as the runtime
 * has no entmax to compare with. */
export function entmaxDistance(rows: number[][]) {
  return Math.max(
    ...rows.map((row) => {
      const seen = row.filter((score) => score > -Infinity),
        mass = (limit: number) =>
          seen.reduce((sum, score) => sum + Math.max(0, score / 2 - limit) ** 2, 0)
      if (!seen.length) return 0
      let high = Math.max(...seen) / 2,
        low = high - 1
      for (let step = 0; step < 60; step++) {
        const middle = (low + high) / 2
        if (mass(middle) > 1) low = middle
        else high = middle
      }
      return Math.max(
        ...entmax(row).map((weight, i) => Math.abs(weight - Math.max(0, row[i] / 2 - low) ** 2))
      )
    })
  )
}

/** query, key, value: rows; own: see scoreParts; may(i, j): whether query i may see key j. Returns
 * { scores, tempered, weights, output }. */
export function attend({
  query,
  key,
  value,
  score = 'scaled',
  norm = 'softmax',
  temperature = 1,
  threshold = 0.05,
  own = scoreParts(query[0].length),
  may = () => true
}: SmallAttention): SmallResult {
  const raw = query.map((q) => key.map((k) => scores[score](q, k, own)))
  const tempered = raw.map((row, i) =>
    row.map((entry, j) => (may(i, j) ? entry / temperature : -Infinity))
  )
  const weights = tempered.map((row) => normalise(row, norm, threshold))
  const output = weights.map((row) =>
    value[0].map((_, d) => row.reduce((sum, weight, j) => sum + weight * value[j][d], 0))
  )
  return { scores: raw, tempered, weights, output }
}

const tensor = (rows: number[][], shape: number[]): SmallTensor => ({
  shape,
  data: Float32Array.from(rows.flat())
})
const squareOf = (size: number, diagonal: number) =>
  Array.from({ length: size }, (_, i) =>
    Array.from({ length: size }, (_, j) => (i === j ? diagonal : 0))
  )

/** The same as a case of `heed check`: { tensors, attrs }, whose expected results are those of
 * `attend`; not for entmax, which heed has not. */
export function asCase(
  {
    query,
    key,
    value,
    score = 'scaled',
    norm = 'softmax',
    temperature = 1,
    threshold = 0.05,
    own = scoreParts(query[0].length),
    mask = null
  }: SmallAttention,
  { weights, output }: Pick<SmallResult, 'weights' | 'output'>
): SmallCase {
  const size = query[0].length,
    head = (rows: number[][]) => tensor(rows, [1, 1, rows.length, rows[0].length]),
    tensors = {
      query: head(query),
      key: head(key),
      value: head(value)
    } as SmallCase['tensors']
  const attrs: Record<string, string | number> = {
    score: ({ scaled: 'scaled_dot', dot: 'scaled_dot' } as Record<string, string>)[score] ?? score,
    norm: ({ sparse: 'sparse_softmax', topk: 'softmax' } as Record<string, string>)[norm] ?? norm
  }
  if (attrs.score === 'scaled_dot')
    attrs.scale = 1 / (temperature * (score === 'scaled' ? Math.sqrt(size) : 1))
  if (norm === 'sparse') attrs.threshold = threshold
  if (score === 'general')
    tensors.w = tensor(
      own.w.map((row) => row.map((entry) => entry / temperature)),
      [size, size]
    )
  if (score === 'additive' || score === 'concat') {
    const [inner, outer] = score === 'concat' ? [own.s, Array(size).fill(own.c)] : [1, own.v]
    attrs.score = 'additive'
    tensors.wq = tensors.wk = tensor(squareOf(size, inner), [size, size])
    tensors.va = { shape: [size], data: Float32Array.from(outer, (entry) => entry / temperature) }
  }
  const seen = norm === 'topk' ? weights.map((row) => row.map((weight) => weight > 0)) : mask
  if (seen)
    tensors.mask = {
      shape: [1, 1, query.length, key.length],
      data: Uint8Array.from(seen.flat(), Number)
    }
  tensors['expect.weights'] = head(weights)
  tensors['expect.output'] = head(output)
  return { tensors, metadata: { op: 'attention', attrs: JSON.stringify(attrs) } }
}

/** Sines and cosines of the token's place (Vaswani et al. 2017, 3.5): [tokens, size]. */
export const positions = (tokens: number, size: number) =>
  Array.from({ length: tokens }, (_, place) =>
    Array.from({ length: size }, (_, column) => {
      const angle = place / 10000 ** ((2 * Math.floor(column / 2)) / size)
      return column % 2 ? Math.cos(angle) : Math.sin(angle)
    })
  )

/** Self-attention of many heads over tokens [T, C]: each head takes C / H columns (its projections
 * are parts of the identity), attends, the heads are put side by side, and the rows are multiplied
 * by the projection [C, C] (out, in). */
export function manyHeads({ tokens, heads, projection }: SmallHeads): SmallHeadsResult {
  const size = tokens[0].length / heads,
    parts = Array.from({ length: heads }, (_, head) =>
      tokens.map((row) => row.slice(head * size, (head + 1) * size))
    )
  const results = parts.map((part) => attend({ query: part, key: part, value: part }))
  const joined = tokens.map((_, i) => results.flatMap(({ output }) => output[i]))
  return {
    parts,
    weights: results.map(({ weights }) => weights),
    joined,
    output: joined.map((row) => projection.map((line) => dot(line, row)))
  }
}

/** The same as a case of `heed check`. */
export function asHeadsCase(
  { tokens, heads, projection }: SmallHeads,
  { weights, output }: SmallHeadsResult
): SmallCase {
  const count = tokens.length,
    size = tokens[0].length,
    identity = tensor(squareOf(size, 1), [size, size]),
    given = tensor(tokens, [1, count, size])
  const tensors: SmallCase['tensors'] = {
    query: given,
    key_value: given,
    q_weight: identity,
    k_weight: identity,
    v_weight: identity,
    o_weight: tensor(projection, [size, size])
  }
  tensors['expect.output'] = tensor(output, [1, count, size])
  tensors['expect.weights'] = tensor(weights.flat(), [1, heads, count, count])
  return {
    tensors,
    metadata: { op: 'multi_head_attention', attrs: JSON.stringify({ heads, causal: null }) }
  }
}
