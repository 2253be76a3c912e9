/* Numbers of the views behind More, beside numbers by hand. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { explain, loadPage } from '../package.js'

/* What the view library and the texts read of a page as they are loaded. */
Object.assign(globalThis, {
  document: {
    documentElement: { lang: 'en' },
    createTreeWalker: () => ({}),
    getElementById: () => new EventTarget()
  }
})
const { pairsOf } = await loadPage('explorer/views/matrix/lines.js'),
  { productsOf } = await loadPage('explorer/views/matrix/pair.js'),
  { patchesOf, squaresOf } = await loadPage('explorer/views/effects/square_effects.js'),
  { distancesOf, membersOf, strideOf } = await loadPage('explorer/views/heads/groups.js'),
  { byToken, headSums } = await loadPage('explorer/views/explain/causes.js'),
  { rulesOf } = await loadPage('explorer/model/rules_line.js'),
  { effectOf } = await loadPage('explorer/views/explain/patching.js'),
  { colourRaster, pairsOf: patchPairs } = await loadPage('explorer/views/explain/features.js')

test('lines of a query are its keys above uniform, the weakest first', () => {
  assert.deepEqual(pairsOf(Float32Array.of(0.5, 0.25, 0.125, 0.125), 4, 7), [
    { query: 7, key: 0, weight: 0.5 } // 0.25 is uniform, and no choice
  ])
  assert.deepEqual(
    pairsOf(Float32Array.of(0.3, 0.4, 0.3, 0), 4, 0).map(
      (/** @type {{key: number}} */ pair) => pair.key
    ),
    [0, 2, 1]
  )
  assert.deepEqual(pairsOf(new Float32Array(4), 4, 0), [])
})

test('lines of all queries are the strongest pairs of the head', () => {
  const tokens = 40,
    matrix = new Float32Array(tokens * tokens)
  for (let query = 0; query < tokens; query++)
    for (let i = 0; i < 10; i++) matrix[query * tokens + i] = 0.05 + (query * 10 + i) / 1e5
  const pairs = pairsOf(matrix, tokens, 0)
  assert.equal(pairs.length, 200)
  assert.deepEqual([pairs[0].query, pairs[0].key], [20, 0])
  assert.deepEqual([pairs[199].query, pairs[199].key], [39, 9])
})

test('products of a query and a key sum to the score', () => {
  const { products, raw, scaled } = productsOf(
    Float32Array.of(1, 2, -3, 0.5),
    Float32Array.of(4, 0.5, 1, 2)
  )
  assert.deepEqual(products, [4, 1, -3, 1])
  assert.equal(raw, 3)
  assert.equal(scaled, 1.5)
})

test('squares cover a grid, smaller at its end; groups have their members in order', () => {
  const squares = squaresOf(3, 2, 2)
  assert.deepEqual(
    squares.map((/** @type {any} */ square) => patchesOf(square, 2)),
    [
      [0, 1, 2, 3],
      [4, 5]
    ]
  )
  assert.deepEqual(membersOf(Uint32Array.of(1, 0, 1, 2)), [[1], [0, 2], [3]])
  assert.deepEqual(membersOf([]), [])
  assert.equal(strideOf(20, 197), 1)
  assert.ok(strideOf(144, 197) > 1)
})

/**
 * The distances of seeded maps as the view finds them, and how many weights of pairs each call compared.
 * @param {number} heads @param {number} tokens @param {{compute?: boolean, wanted?: () => boolean}} [how]
 */
async function distances(heads, tokens, { compute = true, wanted = () => true } = {}) {
  const queries = Math.ceil(tokens / strideOf(heads, tokens)),
    maps = Array.from({ length: heads }, (_, head) =>
      Float32Array.from(
        { length: compute ? queries * tokens : 0 },
        (_, i) => (((i + 1) * (head + 3)) % 17) / (8 * tokens)
      )
    ),
    read = /** @type {number[]} */ ([]),
    mapDistances = (/** @type {Float32Array[]} */ of, /** @type {number} */ n) => {
      read.push((of.length ** 2 / 2) * n * queries)
      return compute ? explain.mapDistances(of, n) : new Float64Array(of.length ** 2)
    },
    found = await distancesOf({ explain: { mapDistances } }, maps, { tokens, queries }, wanted)
  return { found, read, whole: compute ? explain.mapDistances(maps, tokens) : [] }
}

test('distances of heads are found a little at a time, those of a large model and of a small one alike', async () => {
  const small = await distances(5, 40)
  assert.deepEqual([...small.found], [...small.whole])
  for (const [heads, tokens] of [
    [20, 197], // the demo model
    [144, 197], // ViT-B
    [16, 1370]
  ]) {
    const { read } = await distances(heads, tokens, { compute: false })
    assert.ok(read.length > 10, `${heads} heads: ${read.length} calls`)
    assert.ok(Math.max(...read) <= 4e5, `${heads} heads: ${Math.max(...read)} weights at once`)
  }
  let turns = 0
  const left = await distances(40, 197, { compute: false, wanted: () => ++turns < 3 })
  assert.deepEqual([left.found, left.read.length], [null, 2])
})

test('the rules of a model name a classifier only where there is one', () => {
  const rules = 'classifier on CLS and the mean of the patches, epsilon 1e-6'
  assert.equal(
    rulesOf({ family: 'dinov2', rules, assumed: '', labels: [] }),
    'dinov2: epsilon 1e-6.'
  )
  assert.equal(
    rulesOf({ family: 'dinov2', rules, assumed: 'a grid', labels: ['cat'] }),
    `dinov2: ${rules}. Assumed: a grid.`
  )
})

test('a ledger by heads and by tokens; how far a patch leads; matches by their cosines', () => {
  const heads = Float32Array.from([1, 2, 4, -8, 16, 32]) // 3 heads of 2 tokens
  assert.deepEqual(headSums(heads, 3), [3, -4, 48])
  assert.deepEqual([...byToken(heads, 2, [0, 2])], [17, 34])
  assert.equal(effectOf(3, 1, 5), 0.5)
  assert.equal(effectOf(0, 1, 5), -0.25)
  assert.ok(Number.isNaN(effectOf(1, 1, 1 + 1e-8)))
  assert.deepEqual(patchPairs([1, -1, 0], [0.1, 0.2, 0.3, 0.4, 0.9, 0.6]), [
    { from: 2, to: 0, cosine: 0.9 },
    { from: 0, to: 1, cosine: 0.2 }
  ])
  assert.deepEqual([...colourRaster([0, 0.2, 1], 1, 1).data], [0, 51, 255, 255])
})
