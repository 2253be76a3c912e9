/* The numbers of the pages on learning and masks: the worked examples of tests/vectors, and the runtime's own answer to every setting. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { safetensorsParts } from '../pages/arrays.js'
import { allOf, emptyRows, factors, hiddenPatches } from '../pages/mask_factors.js'
import { asCase, asHeadsCase, attend, manyHeads, normKinds, positions, scoreKinds, softmax, sparsemax } from '../pages/worked.js'
import { createRuntime, vectors } from './package.js'
import { readSafetensors } from './safetensors.js'

let runtime

before(async () => (runtime = await createRuntime({ threads: 1 })))
after(() => runtime.close())

const rowsOf = ({ shape, data }) => Array.from({ length: shape.at(-2) }, (_, i) => [...data.subarray(i * shape.at(-1), (i + 1) * shape.at(-1))])

for (const [name, score] of [['i_have_a_pen', 'scaled'], ['retrieval', 'scaled'], ['seven_steps', 'dot']])
  test(`worked example: ${name}`, () => {
    const { tensors } = readSafetensors(join(vectors, 'worked', `${name}.safetensors`)), [query, key, value] = ['query', 'key', 'value'].map((part) => rowsOf(tensors[part]))
    const { weights, output } = attend({ query, key, value, score })
    for (const [found, expected] of [[weights, tensors['expect.weights']], [output, tensors['expect.output']]])
      found.flat().forEach((number, i) => assert.ok(Math.abs(number - expected.data[i]) < 1e-6, `${number}, expected ${expected.data[i]}`))
  })

test('the runtime gives the same for every score, norm and temperature, with and without a mask', async () => {
  const query = [[1, -0.5], [0.25, 2], [0, 1]], key = [[0.5, 1], [-1, 0.5], [1, 1]], value = [[1, 2], [3, -4], [0, 1]], causal = [[true, false, false], [true, true, false], [false, false, false]]
  for (const score of Object.keys(scoreKinds))
    for (const norm of Object.keys(normKinds))
      for (const temperature of [1, 0.4])
        for (const mask of [null, causal]) {
          const set = { query, key, value, score, norm, temperature, mask, may: (i, j) => !mask || mask[i][j] }, { tensors, metadata } = asCase(set, attend(set))
          const { passed, maxAbs } = await runtime.check(new Uint8Array(await new Blob(safetensorsParts(tensors, metadata)).arrayBuffer()), { tolerance: 1e-5 })
          assert.ok(passed, `${score} ${norm} ${temperature} ${mask ? 'masked' : ''}: ${maxAbs}`)
        }
})

test('masks are ANDed; conventions of an empty row', () => {
  const set = { queries: [true, true, false], keys: [true, true, false], causal: true, window: [0, 5], painted: [[true, true, true], [true, false, true], [true, true, true]] }
  assert.deepEqual(allOf(factors(set), set.queries, set.keys), [[true, false, false], [false, false, false], [false, false, false]])
  assert.deepEqual(Object.values(factors({ queries: [true], keys: [true], causal: false, window: null, painted: [[true]] })), [null, null, null, null, null])
  assert.deepEqual(emptyRows.zero.row([1, 2]), [0, 0])
  assert.deepEqual(emptyRows.uniform.row([1, 2]), [0.5, 0.5])
  assert.ok(emptyRows.nan.row([1, 2]).every(Number.isNaN))
  assert.ok(Math.abs(emptyRows.unmasked.row([1, 2], softmax)[0] - softmax([1, 2])[0]) < 1e-3)
  assert.deepEqual(hiddenPatches([[true, false, false, true, false], [true, false, false, false, false]], 196), [[39, 117], [157, 195]])
  assert.deepEqual(sparsemax([0.1, 0.2, -Infinity]).map((weight) => Math.round(weight * 100)), [45, 55, 0])
})

test('many heads and positions: the runtime gives the same', async () => {
  const tokens = [[1, 0.5, 0, -1], [0.5, 1, 0, 0.5], [0, 0, 2, 0.5]], projection = [[1, 0.5, 0, 0], [0, 1, 0, -1], [0.25, 0, 1, 0], [0, 0, 0, 2]]
  const bytes = async ({ tensors, metadata }) => new Uint8Array(await new Blob(safetensorsParts(tensors, metadata)).arrayBuffer())
  for (const heads of [1, 2, 4]) {
    const set = { tokens, heads, projection }, { passed, maxAbs } = await runtime.check(await bytes(asHeadsCase(set, manyHeads(set))), { tolerance: 1e-5 })
    assert.ok(passed, `${heads}: ${maxAbs}`)
  }
  const place = { tensors: { 'expect.y': { shape: [5, 4], data: Float32Array.from(positions(5, 4).flat()) } }, metadata: { op: 'positional_encoding', attrs: JSON.stringify({ length: 5, width: 4 }) } }
  assert.ok((await runtime.check(await bytes(place), { tolerance: 1e-6 })).passed)
})
