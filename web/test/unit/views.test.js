/* Numbers of the views behind More, beside numbers by hand. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { loadPage } from '../package.js'

/* What the view library and the texts read of a page as they are loaded. */
Object.assign(globalThis, {
  document: { documentElement: { lang: 'en' }, createTreeWalker: () => ({}) }
})
const { pairsOf } = await loadPage('explorer/views/matrix/lines.js'),
  { productsOf } = await loadPage('explorer/views/matrix/pair.js'),
  { rankCorrelation } = await loadPage('explorer/views/effects/square_effects.js'),
  { distancesOf, groupsOf, strideOf } = await loadPage('explorer/views/heads/groups.js'),
  { byToken, headSums } = await loadPage('explorer/views/explain/causes.js'),
  { effectOf } = await loadPage('explorer/views/explain/patching.js'),
  { colourRaster, pairsOf: patchPairs } = await loadPage('explorer/views/explain/features.js')

/**
 * @param {number} found
 * @param {number} expected
 */
const near = (found, expected, by = 1e-6) =>
  assert.ok(Math.abs(found - expected) <= by, `${found}, expected ${expected}`)

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

test('rank correlation: order counts, not size; equal values share a rank', () => {
  near(rankCorrelation([1, 2, 3, 4], [1, 10, 100, 1000]), 1)
  near(rankCorrelation([1, 2, 3, 4], [4, 3, 2, 1]), -1)
  near(rankCorrelation([1, 2, 2, 3], [1, 2, 3, 3]), 0.8333333, 1e-6) // ranks 1 2.5 2.5 4 and 1 2 3.5 3.5
  assert.ok(Number.isNaN(rankCorrelation([1, 1, 1], [1, 2, 3])))
})

test('heads are as far apart as the divergence of their rows, mean over queries', () => {
  const distances = distancesOf(
    [Float32Array.of(1, 0, 0, 1), Float32Array.of(1, 0, 0, 1), Float32Array.of(0, 1, 0, 1)],
    2
  )
  near(distances[0][1], 0)
  near(distances[0][2], Math.LN2 / 2) // one row of two has nothing in common
  near(distances[2][0], Math.LN2 / 2)
  assert.equal(strideOf(20, 197), 1)
  assert.ok(strideOf(144, 197) > 1)
})

test('groups: the nearest become one while they are nearer than the limit', () => {
  const at = [0, 0.1, 0.5, 0.52, 2],
    distances = at.map((a) => at.map((b) => Math.abs(a - b)))
  assert.deepEqual(groupsOf(distances, 0.05), [[2, 3], [0], [1], [4]])
  assert.deepEqual(groupsOf(distances, 0.2), [[0, 1], [2, 3], [4]])
  assert.deepEqual(groupsOf(distances, 0.47), [[0, 1, 2, 3], [4]]) // means of 0.46 between the pairs
  assert.deepEqual(groupsOf(distances, 9), [[0, 1, 2, 3, 4]])
  assert.deepEqual(groupsOf([], 1), [])
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
