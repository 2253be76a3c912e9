/* heed/explain, the definitions of heed.h over plain arrays: beside their formulas in double
 * precision, and beside a session that has run. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { createRuntime, demoModel, explain, HeedError, loadExplain, loadPage } from '../package.js'

/** @param {number} count */
function numbers(count, seed = 1) {
  return Float32Array.from({ length: count }, () => {
    seed = (seed * 48271) % 2147483647
    return (seed / 2147483647) * 4 - 2
  })
}
const softmax = (/** @type {number[]} */ row) => {
  const powers = row.map(Math.exp),
    sum = powers.reduce((a, b) => a + b)
  return powers.map((power) => power / sum)
}
/**
 * @param {ArrayLike<number>} found
 * @param {number[]} expected
 */
function near(found, expected, allowed = 1e-6) {
  assert.equal(found.length, expected.length)
  expected.forEach((value, i) =>
    assert.ok(
      found[i] === value || Math.abs(found[i] - value) <= allowed * (1 + Math.abs(value)),
      `${i}: ${found[i]}, expected ${value}`
    )
  )
}

test('the module is loaded once', async () => {
  assert.equal(await loadExplain(), explain)
})

test('means, entropy and softmax of rows', () => {
  const rows = [numbers(9, 1), numbers(9, 2), numbers(9, 3)]
  near(
    explain.headMean(rows),
    Array.from(rows[0], (_, i) => (rows[0][i] + rows[1][i] + rows[2][i]) / 3)
  )
  const closed = rows.map((row, h) => row.map((value, i) => ((i >> h) & 1 ? value : -Infinity)))
  near(
    explain.scoreMean(closed),
    Array.from(rows[0], (_, i) => {
      const open = closed.map((row) => row[i]).filter(Number.isFinite)
      return open.length ? open.reduce((a, b) => a + b) / open.length : -Infinity
    })
  )
  assert.deepEqual(explain.softmax(Float32Array.of(1000, 1000)), [0.5, 0.5])
  assert.deepEqual(explain.softmax([-Infinity, 3]), [0, 1])
  near(explain.softmax(rows[0]), softmax([...rows[0]]), 1e-15)
  assert.equal(explain.entropy(Float32Array.of(0.5, 0.5, 0)), Math.log(2))
  const weights = Float32Array.from(softmax([...rows[1]]))
  near([explain.entropy(weights)], [-weights.reduce((sum, p) => sum + p * Math.log(p), 0)], 1e-14)
})

test('mass mask: the fewest patches, ties by index', () => {
  assert.deepEqual([...explain.massMask(Float32Array.of(0.25, 0.25, 0.5, 0), 0.6)], [1, 0, 1, 0])
  assert.deepEqual([...explain.massMask(Float32Array.of(0, 0), 0.6)], [0, 0])
})

/** Jensen and Shannon's, of rows that are made to sum to 1, by entropies.
 * @param {ArrayLike<number>} a
 * @param {ArrayLike<number>} b
 */
function divergenceOf(a, b) {
  const shares = (/** @type {ArrayLike<number>} */ row) => {
      const all = Array.from(row),
        sum = all.reduce((x, y) => x + y, 0)
      return all.map((x) => x / sum)
    },
    entropy = (/** @type {number[]} */ row) =>
      row.reduce((sum, p) => sum - (p > 0 ? p * Math.log(p) : 0), 0),
    [p, q] = [shares(a), shares(b)]
  return entropy(p.map((x, i) => (x + q[i]) / 2)) - (entropy(p) + entropy(q)) / 2
}

test('heads are as far apart as their rows, mean over queries', () => {
  const [a, b] = [1, 2].map((seed) => numbers(9, seed).map(Math.abs))
  near([explain.divergence(a, b)], [divergenceOf(a, b)], 1e-12)
  assert.equal(explain.divergence(Float32Array.of(0.5, 0.5, 0), Float32Array.of(1, 1, 0)), 0)
  near([explain.divergence(Float32Array.of(1, 0), Float32Array.of(0, 1))], [Math.LN2], 1e-12)
  const maps = [3, 4, 5].map((seed) => numbers(16, seed).map(Math.abs)),
    row = (/** @type {Float32Array} */ map, /** @type {number} */ t) =>
      map.subarray(4 * t, 4 * t + 4)
  for (const stride of [1, 2, 3]) {
    const found = explain.mapDistances(maps, 4, stride),
      queries = [0, 1, 2, 3].filter((t) => t % stride === 0)
    assert.equal(found.length, 9)
    maps.forEach((one, i) =>
      maps.forEach((other, k) =>
        near(
          [found[3 * i + k]],
          [
            queries.reduce((sum, t) => sum + divergenceOf(row(one, t), row(other, t)), 0) /
              queries.length
          ],
          1e-12
        )
      )
    )
  }
  const [one, other] = maps.map((map) => map.slice(4, 12)) // two of the four queries
  near(
    [explain.mapDistances([one, other], 4)[1]],
    [(divergenceOf(row(one, 0), row(other, 0)) + divergenceOf(row(one, 1), row(other, 1))) / 2],
    1e-12
  )
  assert.throws(() => explain.mapDistances([one, maps[0]], 4), /wrong length/)
  assert.throws(() => explain.mapDistances([one, other], 3), /maps: wrong length/)
  assert.equal(explain.mapDistances([], 4).length, 0)
})

test('groups: the nearest become one while they are nearer than the limit', () => {
  const at = [0, 0.1, 0.5, 0.52, 2],
    distances = Float64Array.from(at.flatMap((a) => at.map((b) => Math.abs(a - b)))),
    groups = (/** @type {number} */ limit) => [...explain.mapGroups(distances, limit)]
  assert.deepEqual(groups(0.05), [1, 2, 0, 0, 3])
  assert.deepEqual(groups(0.2), [0, 0, 1, 1, 2])
  assert.deepEqual(groups(0.47), [0, 0, 0, 0, 1]) // means of 0.46 between the pairs
  assert.deepEqual(groups(9), [0, 0, 0, 0, 0])
  assert.deepEqual([...explain.mapGroups(new Float64Array(0), 1)], [])
})

test('regions: what of a row lies there, and the mean over the patches outside', () => {
  const attention = numbers(16, 7).map(Math.abs),
    region = Uint8Array.of(0, 1, 0, 1),
    share = (/** @type {number} */ t) => attention[4 * t + 1] + attention[4 * t + 3]
  near([explain.share(attention.subarray(0, 4), region)], [share(0)], 1e-12)
  near([explain.meanShare(attention, region, 0)], [(share(0) + share(2)) / 2], 1e-12)
  near([explain.meanShare(attention, region, 1)], [share(2)], 1e-12)
  assert.equal(explain.meanShare(attention, Uint8Array.of(0, 1, 1, 1), 1), 0)
})

test('rank correlation: order counts, not size; equal values share a rank', () => {
  const of = (/** @type {number[]} */ a, /** @type {number[]} */ b) =>
    explain.rankCorrelation(Float32Array.from(a), Float32Array.from(b))
  near([of([1, 2, 3, 4], [1, 10, 100, 1000])], [1])
  near([of([1, 2, 3, 4], [4, 3, 2, 1])], [-1])
  near([of([-4, -3, 1, 2], [1, 2, 3, 4])], [1]) // with their signs
  near([of([1, 2, 2, 3], [1, 2, 3, 3])], [5 / 6]) // ranks 1 2.5 2.5 4 and 1 2 3.5 3.5
  assert.ok(Number.isNaN(of([1, 1, 1], [1, 2, 3])))
})

test('scores: products of query and key, weights times the lengths of values', () => {
  const one = numbers(5, 4),
    all = numbers(35, 5),
    part = (/** @type {number} */ i) => all.subarray(i * 5, i * 5 + 5),
    tokens = [...Array(7).keys()],
    dot = tokens.map((i) => part(i).reduce((sum, value, d) => sum + value * one[d], 0))
  near(explain.scoreProducts(one, all, false), dot)
  near(
    explain.scoreProducts(one, all, true),
    dot.map((score) => score / Math.sqrt(5))
  )
  const weights = numbers(7, 6)
  near(
    explain.scoreValues(weights, all, false),
    tokens.map((i) => weights[i] * Math.hypot(...part(i)))
  )
  near(
    explain.scoreValues(weights, one, true),
    tokens.map((i) => weights[i] * Math.hypot(...one))
  )
})

const sizes = { layers: 2, heads: 2, tokens: 4, width: 4 }

test('changes of the attention: masks, offsets, gains', () => {
  const outputs = Float32Array.from(
      { length: 16 },
      (_, i) => 5 + (i % 4) + Math.floor(i / 4) - 1.5
    ),
    changes = explain.changes(sizes).ablate(1, 0).replace(1, outputs).drop(3).cut(0, 1)
  const inputs = Object.fromEntries(changes.gain(0, 1, 0.35).inputs()),
    at = (/** @type {string} */ name) => [...inputs[name]]
  assert.equal(Object.keys(inputs).length, 7)
  assert.deepEqual(inputs.token_mask, Uint8Array.of(1, 1, 1, 0))
  assert.deepEqual(
    at('layer.0.attention.mask').flatMap((entry, i) => (entry ? [] : [i])),
    [1, 17]
  )
  assert.deepEqual(at('layer.1.attention.mask').slice(0, 20), [...Array(16).fill(0), 1, 0, 1, 1])
  assert.deepEqual(inputs['layer.1.attention.offset'], Float32Array.of(5, 6, 0, 0))
  assert.deepEqual(at('layer.0.attention.offset'), [0, 0, 0, 0])
  assert.deepEqual(inputs['layer.0.attention.gain'], Float32Array.of(1, 0.35))
  assert.deepEqual(at('layer.1.attention.gain'), [1, 1])
  changes.close()
})

test('masked scores: divided by the temperature, -Infinity where a key is hidden', () => {
  const changes = explain.changes(sizes).ablate(1, 0).drop(3).cut(0, 1),
    scores = Float32Array.of(1, 2, 3, 4)
  /**
   * @param {number} layer
   * @param {number} head
   * @param {number} token
   */
  const row = (layer, head, token, reverse = false) => [
    ...changes.mask(scores, { layer, head, token, reverse, temperature: 2 })
  ]
  assert.deepEqual(row(0, 0, 0), [0.5, -Infinity, 1.5, -Infinity])
  assert.deepEqual(row(1, 1, 2), [0.5, 1, 1.5, -Infinity])
  assert.deepEqual(row(1, 1, 1, true), [-Infinity, 1, 1.5, 2])
  assert.deepEqual(row(0, 1, 3, true), Array(4).fill(-Infinity))
  assert.deepEqual(row(1, 0, 2), Array(4).fill(-Infinity))
  assert.deepEqual([...scores], [1, 2, 3, 4])
  changes.close()
})

test('changes that a model has not are refused, and closed ones', () => {
  const changes = explain.changes(sizes)
  /**
   * @param {() => unknown} call
   * @param {RegExp} words
   */
  const refused = (call, words) =>
    assert.throws(
      call,
      (/** @type {any} */ error) =>
        error instanceof HeedError &&
        error.status === 'INVALID_ARGUMENT' &&
        words.test(error.message)
    )
  refused(() => changes.ablate(2, 0), /head out of range \(found 2\.0, expected below 2\.2\)/)
  refused(() => changes.drop(4), /token out of range/)
  // C would be handed 0 for each of these.
  for (const odd of /** @type {any[]} */ ([
    2 ** 32,
    -(2 ** 32),
    0.5,
    NaN,
    undefined,
    null,
    '0',
    true
  ])) {
    const words = /changes: out of range \(found /
    refused(() => changes.ablate(odd, 0), words)
    refused(() => changes.ablate(0, odd), words)
    refused(() => changes.gain(0, odd, 2), words)
    refused(() => changes.replace(odd, numbers(16)), words)
    refused(() => changes.drop(odd), words)
    refused(() => changes.cut(0, odd), words)
    refused(() => explain.changes({ ...sizes, width: odd }), words)
  }
  for (const temperature of [0, -1, NaN, Infinity])
    refused(
      () => changes.mask(numbers(4), { layer: 0, head: 0, token: 0, temperature }),
      /invalid temperature/
    )
  refused(() => changes.gain(0, 0, NaN), /no gain/)
  refused(() => changes.replace(0, numbers(15)), /wrong length \(found 15, expected 16\)/)
  refused(() => changes.mask(numbers(3), { layer: 0, head: 0, token: 0 }), /wrong length/)
  refused(() => changes.mask(numbers(4), { layer: 0, head: 2, token: 0 }), /out of range/)
  refused(() => explain.changes({ ...sizes, heads: 0 }), /empty attention/)
  changes.close()
  changes.close()
  refused(() => changes.inputs(), /already closed/)
})

test('a rollout of more maps than 32 bits count bytes of is refused before a map is read', async () => {
  /** @type {typeof import('../../src/maps.js')} */
  const { rollout } = await loadPage('heed/maps.js'),
    shape = /** @type {any} */ ({ layers: 12, heads: 12, tokens: 2731 }), // 4 GiB and 1 MB
    asked = /** @type {number[]} */ ([])
  const module = /** @type {any} */ ({
    alloc(/** @type {number} */ bytes) {
      asked.push(bytes >>> 0) // as the module is given it
      throw new HeedError('OUT_OF_MEMORY', `out of memory (requested ${bytes >>> 0} bytes)`)
    }
  })
  assert.throws(() => rollout(module, shape, /** @type {any} */ ({}), () => assert.fail('read')), {
    status: 'OUT_OF_MEMORY'
  })
  assert.deepEqual(asked, [2 ** 32 - 1])
})

test('the scores of a run whose attention is changed are its logits, and their softmax its weights', async () => {
  const runtime = await createRuntime({ threads: 1 }),
    model = await runtime.loadModel(demoModel),
    layer = 3,
    head = 1
  const taps = ['query', 'key', 'attention.logits', 'attention.weights'].map(
      (what) => `layer.${layer}.${what}`
    ),
    session = model.createSession({ taps, intervene: { temperature: 0.5 } }),
    shape = await session.ready,
    changes = explain.changes({ ...shape, width: model.info.width }).ablate(1, 2)
  for (const patch of [3, 40, 41]) changes.drop(shape.prefixTokens + patch)
  for (const [name, data] of changes.cut(100, 7).inputs()) await session.write(name, data)
  const { values } = await session.run((await runtime.scene(7)).image),
    { heads, tokens } = shape
  const [query, key, logits, weights] = taps.map((name) => {
    const { data } = values[name]
    return /** @type {Float32Array} */ (data).subarray(
      (head * data.length) / heads,
      ((head + 1) * data.length) / heads
    )
  })
  const depth = query.length / tokens
  for (const token of [0, 100]) {
    const own = query.subarray(token * depth, (token + 1) * depth),
      scores = changes.mask(explain.scoreProducts(own, key, true), {
        layer,
        head,
        token,
        temperature: 0.5
      })
    near(scores, [...logits.subarray(token * tokens, (token + 1) * tokens)], 1e-5)
    near(explain.softmax(scores), [...weights.subarray(token * tokens, (token + 1) * tokens)], 1e-5)
  }
  changes.close()
  runtime.close()
})

test('cosines of a state with others; none of a state of zeros', () => {
  const found = explain.cosines(
    Float32Array.from([2, 0]),
    Float32Array.from([3, 0, 0, 5, -1, -1, 0, 0])
  )
  near(found.subarray(0, 3), [1, 0, -Math.SQRT1_2], 1e-6)
  assert.ok(Number.isNaN(found[3]))
})

test('arrays of another type or length are refused, not read past their end', () => {
  /**
   * @param {() => unknown} call
   * @param {RegExp} words
   */
  const refused = (call, words) =>
    assert.throws(
      call,
      (/** @type {any} */ error) =>
        error instanceof HeedError &&
        error.status === 'INVALID_ARGUMENT' &&
        words.test(error.message)
    )
  const any = /** @type {any} */ (explain),
    shape = { prefixTokens: 1, rows: 2, columns: 2 },
    how = { fusion: 'mean', residual: 0.5 }
  refused(() => any.headMean([]), /rows: missing/)
  refused(
    () => any.headMean([numbers(3), numbers(4)]),
    /rows: wrong length \(found 4, expected 3\)/
  )
  refused(() => any.scoreMean([[1, 2]]), /rows: wrong type \(found Array, expected Float32Array\)/)
  refused(() => any.entropy(new Float64Array(4)), /row: wrong type \(found Float64Array/)
  refused(() => any.massMask(null, 0.6), /weights: wrong type \(found (Object|null)/)
  refused(() => any.massMask(numbers(4), 60), /share out of range \(found 60, expected 0 to 1\)/)
  refused(() => any.scoreProducts(numbers(4), numbers(9), true), /all: wrong length \(found 9/)
  refused(() => any.cosines(numbers(4), numbers(9)), /all: wrong length \(found 9/)
  refused(() => any.scoreValues(numbers(4), numbers(9), false), /values: wrong length \(found 9/)
  refused(
    () => any.statistics(numbers(16), shape, 16),
    /attention: wrong length \(found 16, expected 25\)/
  )
  refused(() => any.rolloutBack(numbers(5), numbers(50), 2, how), /row: wrong type/)
  refused(() => any.rolloutBack(new Float64Array(5), numbers(25), 2, how), /layer: wrong length/)
  const changes = explain.changes({ layers: 1, heads: 1, tokens: 4, width: 4 })
  refused(() => changes.replace(0, /** @type {any} */ (new Float64Array(16))), /output: wrong type/)
  changes.close()
})
