/* Attention on small matrices in double precision, step by step, as the runtime defines it (heed.h, heed_define_attention); rows are arrays. */

export const scoreKinds = { scaled: 'q·k / √D', dot: 'q·k', general: 'q W k', additive: 'v·tanh(q + k)', concat: 'v·tanh(W [q; k])' }
export const normKinds = { softmax: 'softmax', sparse: 'softmax, small weights cut', sparsemax: 'sparsemax' }

const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0)

/** W of the general score: each number of the key is compared with its neighbour as well. */
export const generalWeights = (size) => Array.from({ length: size }, (_, i) => Array.from({ length: size }, (_, j) => (i === j ? 1 : Math.abs(i - j) === 1 ? 0.5 : 0)))

/* Luong's concat is the additive score with W = [Wq Wk]; in this example Wq is the identity and Wk half of it, v all ones. */
export const concatShare = 0.5

const scores = {
  dot, scaled: (q, k) => dot(q, k) / Math.sqrt(q.length), additive: (q, k) => q.reduce((sum, value, i) => sum + Math.tanh(value + k[i]), 0),
  concat: (q, k) => q.reduce((sum, value, i) => sum + Math.tanh(value + concatShare * k[i]), 0),
  general: (q, k) => dot(generalWeights(q.length).map((row) => dot(row, k)), q)
}

export function softmax(row) {
  const largest = Math.max(...row), powers = row.map((score) => (score === -Infinity ? 0 : Math.exp(score - largest))), sum = powers.reduce((a, b) => a + b, 0)
  return sum > 0 ? powers.map((power) => power / sum) : row.map(() => 0)
}

/* Weights under the threshold are cut and the rest renormalised. */
function sparse(row, threshold) {
  const kept = softmax(row).map((weight) => (weight < threshold ? 0 : weight)), sum = kept.reduce((a, b) => a + b, 0)
  return sum > 0 ? kept.map((weight) => weight / sum) : kept
}

/* The nearest point of the simplex (Martins & Astudillo 2016). */
export function sparsemax(row) {
  const seen = row.filter((score) => score > -Infinity).sort((a, b) => b - a)
  let sum = 0, limit = 0
  seen.forEach((score, i) => {
    sum += score
    if (1 + (i + 1) * score > sum) limit = (sum - 1) / (i + 1)
  })
  return row.map((score) => Math.max(0, score - limit) || 0)
}

/** query, key, value: rows; may(i, j): whether query i may see key j. Returns { scores, tempered, weights, output }. */
export function attend({ query, key, value, score = 'scaled', norm = 'softmax', temperature = 1, threshold = 0.05, may = () => true }) {
  const raw = query.map((q) => key.map((k) => scores[score](q, k)))
  const tempered = raw.map((row, i) => row.map((entry, j) => (may(i, j) ? entry / temperature : -Infinity)))
  const weights = tempered.map((row) => (norm === 'sparsemax' ? sparsemax(row) : norm === 'sparse' ? sparse(row, threshold) : softmax(row)))
  const output = weights.map((row) => value[0].map((_, d) => row.reduce((sum, weight, j) => sum + weight * value[j][d], 0)))
  return { scores: raw, tempered, weights, output }
}

const tensor = (rows, shape) => ({ shape, data: Float32Array.from(rows.flat()) })
const squareOf = (size, diagonal) => Array.from({ length: size }, (_, i) => Array.from({ length: size }, (_, j) => (i === j ? diagonal : 0)))

/** The same as a case of `heed check`: { tensors, attrs }, whose expected results are those of `attend`. */
export function asCase({ query, key, value, score = 'scaled', norm = 'softmax', temperature = 1, threshold = 0.05, mask = null }, { weights, output }) {
  const size = query[0].length, head = (rows) => tensor(rows, [1, 1, rows.length, rows[0].length]), tensors = { query: head(query), key: head(key), value: head(value) }
  const attrs = { score: { scaled: 'scaled_dot', dot: 'scaled_dot' }[score] ?? score, norm: { sparse: 'sparse_softmax' }[norm] ?? norm }
  if (attrs.score === 'scaled_dot') attrs.scale = 1 / (temperature * (score === 'scaled' ? Math.sqrt(size) : 1))
  if (norm === 'sparse') attrs.threshold = threshold
  if (score === 'general') tensors.w = tensor(generalWeights(size).map((row) => row.map((entry) => entry / temperature)), [size, size])
  if (score === 'additive' || score === 'concat') {
    attrs.score = 'additive'
    tensors.wq = tensor(squareOf(size, 1), [size, size])
    tensors.wk = tensor(squareOf(size, score === 'concat' ? concatShare : 1), [size, size])
    tensors.va = { shape: [size], data: new Float32Array(size).fill(1 / temperature) }
  }
  if (mask) tensors.mask = { shape: [1, 1, query.length, key.length], data: Uint8Array.from(mask.flat(), Number) }
  tensors['expect.weights'] = head(weights)
  tensors['expect.output'] = head(output)
  return { tensors, metadata: { op: 'attention', attrs: JSON.stringify(attrs) } }
}

/** Sines and cosines of the token's place (Vaswani et al. 2017, 3.5): [tokens, size]. */
export const positions = (tokens, size) => Array.from({ length: tokens }, (_, place) => Array.from({ length: size }, (_, column) => {
  const angle = place / 10000 ** ((2 * Math.floor(column / 2)) / size)
  return column % 2 ? Math.cos(angle) : Math.sin(angle)
}))

/** Self-attention of many heads over tokens [T, C]: each head takes C / H columns (its projections are parts of the identity), attends, the
 * heads are put side by side, and the rows are multiplied by the projection [C, C] (out, in). */
export function manyHeads({ tokens, heads, projection }) {
  const size = tokens[0].length / heads, parts = Array.from({ length: heads }, (_, head) => tokens.map((row) => row.slice(head * size, (head + 1) * size)))
  const results = parts.map((part) => attend({ query: part, key: part, value: part }))
  const joined = tokens.map((_, i) => results.flatMap(({ output }) => output[i]))
  return { parts, weights: results.map(({ weights }) => weights), joined, output: joined.map((row) => projection.map((line) => dot(line, row))) }
}

/** The same as a case of `heed check`. */
export function asHeadsCase({ tokens, heads, projection }, { weights, output }) {
  const count = tokens.length, size = tokens[0].length, identity = tensor(squareOf(size, 1), [size, size]), given = tensor(tokens, [1, count, size])
  const tensors = { query: given, key_value: given, q_weight: identity, k_weight: identity, v_weight: identity, o_weight: tensor(projection, [size, size]) }
  tensors['expect.output'] = tensor(output, [1, count, size])
  tensors['expect.weights'] = tensor(weights.flat(), [1, heads, count, count])
  return { tensors, metadata: { op: 'multi_head_attention', attrs: JSON.stringify({ heads, causal: null }) } }
}
