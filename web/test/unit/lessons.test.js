/* The numbers of the pages on learning and masks: the worked examples of tests/vectors, and the
 * runtime's own answer to every setting. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { createRuntime, loadPage, repository, vectors } from '../package.js'
import { readSafetensors } from '../safetensors.js'
/** @import {SmallAttention} from '../../pages/shared/types.js' */
/** @import {Runtime} from 'heed' */

/** @type {typeof import('../../pages/shared/array_files.js')} */
const { safetensorsParts } = await loadPage('shared/array_files.js')
/** @type {typeof import('../../pages/masks/mask_factors.js')} */
const { allOf, emptyRows, factors, forms, half, hiddenPatches, weightsBy } =
  await loadPage('masks/mask_factors.js')
/** @type {typeof import('../../pages/learn/learn_link.js')} */
const { numbersFrom, numbersText } = await loadPage('learn/learn_link.js')
/** @type {typeof import('../../pages/masks/mask_link.js')} */
const { fromLink, start, toLink } = await loadPage('masks/mask_link.js')
/** @type {typeof import('../../pages/shared/small_attention.js')} */
const {
  asCase,
  asHeadsCase,
  attend,
  entmax,
  entmaxDistance,
  manyHeads,
  normalise,
  normKinds,
  positions,
  scoreKinds,
  scoreParts,
  softmax,
  sparsemax
} = await loadPage('shared/small_attention.js')
/** @type {typeof import('../../pages/learn/sorter.js')} */
const { apart, codesOf, lettersOf, readSorter, reference, write } =
  await loadPage('learn/sorter.js')

/** @type {Runtime} */
let runtime

before(async () => (runtime = await createRuntime({ threads: 1 })))
after(() => runtime.close())

/** @param {import("../safetensors.js").FileTensor} options */
const rowsOf = ({ shape, data }) =>
  Array.from(/** @type {any} */ ({ length: shape.at(-2) }), (_, i) => [
    ...data.subarray(
      i * /** @type {number} */ (shape.at(-1)),
      (i + 1) * /** @type {number} */ (shape.at(-1))
    )
  ])

for (const [name, score] of [
  ['i_have_a_pen', 'scaled'],
  ['retrieval', 'scaled'],
  ['seven_steps', 'dot']
])
  test(`worked example: ${name}`, () => {
    const { tensors } = readSafetensors(join(vectors, 'worked', `${name}.safetensors`)),
      [query, key, value] = ['query', 'key', 'value'].map((part) => rowsOf(tensors[part]))
    const { weights, output } = attend({ query, key, value, score })
    for (const [found, expected] of /** @type {[number[][], any][]} */ ([
      [weights, tensors['expect.weights']],
      [output, tensors['expect.output']]
    ]))
      found
        .flat()
        .forEach((/** @type {any} */ number, /** @type {any} */ i) =>
          assert.ok(
            Math.abs(number - /** @type {any} */ (expected).data[i]) < 1e-6,
            `${number}, expected ${/** @type {any} */ (expected).data[i]}`
          )
        )
  })

test('the runtime gives the same for every score, norm and temperature, with and without a mask', async () => {
  const changed = {
    w: [
      [1, -2],
      [0.5, 0.25]
    ],
    v: [2, -1],
    c: 1.5,
    s: 0.75
  }
  const query = [
      [1, -0.5],
      [0.25, 2],
      [0, 1]
    ],
    key = [
      [0.5, 1],
      [-1, 0.5],
      [1, 1]
    ],
    value = [
      [1, 2],
      [3, -4],
      [0, 1]
    ],
    causal = [
      [true, false, false],
      [true, true, false],
      [false, false, false]
    ]
  for (const score of Object.keys(scoreKinds))
    for (const norm of Object.keys(normKinds).filter(
      (norm) => norm !== 'entmax' /* which heed has not */
    ))
      for (const temperature of [1, 0.4])
        for (const [mask, own] of [
          [null, scoreParts(2)],
          [causal, changed]
        ]) {
          const set = {
              query,
              key,
              value,
              score,
              norm,
              temperature,
              mask,
              own,
              /**
               * @param {number} i
               * @param {number} j
               */
              may: (i, j) => !mask || /** @type {any} */ (mask)[i][j]
            },
            { tensors, metadata } = asCase(
              /** @type {SmallAttention} */ (set),
              attend(/** @type {SmallAttention} */ (set))
            )
          const { passed, maxAbs } = await runtime.check(
            new Uint8Array(await new Blob(safetensorsParts(tensors, metadata)).arrayBuffer()),
            { tolerance: 1e-5 }
          )
          assert.ok(passed, `${score} ${norm} ${temperature} ${mask ? 'masked' : ''}: ${maxAbs}`)
        }
})

test('rules from scores to weights: known values, sums of 1, entmax between softmax and sparsemax', () => {
  /** @param {number[]} expected */
  const near = (/** @type {any} */ found, expected) =>
    found.forEach((/** @type {any} */ weight, /** @type {any} */ i) =>
      assert.ok(Math.abs(weight - expected[i]) < 5e-5, `${found}, expected ${expected}`)
    )
  near(softmax([-2, 0, 0.5]), [0.0486, 0.3592, 0.5922])
  near(entmax([-2, 0, 0.5]), [0, 0.326, 0.674])
  near(sparsemax([-2, 0, 0.5]), [0, 0.25, 0.75])
  near(normalise([1, 3, 3, 3], 'topk'), [0, 0.5, 0.5, 0])
  for (let seed = 1; seed <= 50; seed++) {
    const row = Array.from(
        { length: 1 + (seed % 7) },
        (_, i) => 4 * Math.sin(seed * (i + 1) * 1.7)
      ),
      support = (/** @type {string} */ norm) =>
        normalise(row, norm).filter((weight) => weight > 0).length
    for (const norm of Object.keys(normKinds))
      assert.ok(
        Math.abs(normalise(row, norm).reduce((a, b) => a + b) - 1) < 1e-12,
        `${norm} of ${row}`
      )
    assert.ok(entmaxDistance([row]) < 1e-9, `${row}`)
    assert.ok(
      support('sparsemax') <= support('entmax') && support('entmax') <= row.length,
      `${row}`
    )
  }
  assert.deepEqual(entmax([-Infinity, -Infinity]), [0, 0])
  assert.deepEqual(entmax([-Infinity, 3]), [0, 1])
})

test('masks are ANDed as Keras joins them', () => {
  const all = [true, true, true],
    set = {
      queries: [true, true, false],
      values: all,
      keys: [true, true, false],
      causal: true,
      window: [0, 5],
      painted: [all, [true, false, true], all]
    }
  /**
   * @param {{shared: boolean, } | { window: null, painted: null, } | { layer: string}} change
   */
  const joined = (change) =>
    allOf(factors(/** @type {any} */ ({ ...set, ...change })), set.queries, set.keys)
      .map((row) => row.map(Number).join(''))
      .join(' ')
  assert.equal(joined(/** @type {any} */ ({})), '100 000 000')
  assert.equal(joined({ shared: true }), '100 000 000')
  assert.equal(joined({ window: null, painted: null }), '100 110 000')
  assert.equal(
    joined(/** @type {any} */ ({ window: null, painted: null, shared: true, queries: all })),
    '100 110 111'
  ) // the key mask is left out
  assert.equal(
    joined(
      /** @type {any} */ ({
        window: null,
        painted: null,
        shared: true,
        queries: all,
        values: [true, false, true]
      })
    ),
    '100 100 101'
  )
  assert.equal(joined({ layer: 'single' }), '100 110 111') // no window, painted or key mask; padded queries keep their rows
  assert.deepEqual(
    Object.values(
      factors({
        queries: [true],
        values: [true],
        keys: [true],
        causal: false,
        window: null,
        painted: [[true]]
      })
    ),
    [null, null, null, null, null, null]
  )
})

test('forms of a mask, and what an empty row becomes by each; the patches that a mask hides', () => {
  const scores = [1, 2.25, -0.5],
    by = (/** @type {string} */ form, may = [false, false, false]) =>
      weightsBy(form, scores, may, softmax)
  assert.deepEqual(by('boolean'), [0, 0, 0])
  assert.ok(by('infinite').every(Number.isNaN))
  assert.ok(by('large').every((weight) => weight === 1 / 3))
  assert.ok(by('half').every((weight) => weight === 1 / 3))
  by('small').forEach((weight, i) => assert.ok(Math.abs(weight - softmax(scores)[i]) < 1e-3))
  for (const form of Object.keys(forms))
    by(form, [true, false, true]).forEach((weight, i) =>
      assert.ok(
        Math.abs(weight - softmax([1, -Infinity, -0.5])[i]) < 1e-3,
        `${form} ${i}: ${weight}`
      )
    )
  assert.deepEqual(Object.keys(emptyRows).sort(), Object.keys(forms).sort())
  assert.deepEqual([0.1, 65503, 65519, 65520, -65504 - 16, 2049, 2051, 6e-8].map(half), [
    0.0999755859375,
    65504,
    65504,
    Infinity,
    -Infinity,
    2048,
    2052,
    2 ** -24
  ])
  assert.deepEqual(
    hiddenPatches(
      [
        [true, false, false, true, false],
        [true, false, false, false, false]
      ],
      196
    ),
    [
      [39, 117],
      [157, 195]
    ]
  )
  assert.deepEqual(
    sparsemax([0.1, 0.2, -Infinity]).map((weight) => Math.round(weight * 100)),
    [45, 55, 0]
  )
})

test('masks as a link, and back; what is not understood is left out', () => {
  const state = {
    tq: 3,
    tk: 16,
    layer: 'single',
    shared: false,
    causal: false,
    window: [2, 0],
    form: 'half',
    padded: { query: [2], value: [0, 13, 14, 15], key: [] },
    closed: [0, 1, 2, 20, 47]
  }
  assert.equal(toLink(start()), '')
  assert.equal(toLink(state), 'q=3&k=16&y=single&s=0&c=0&w=2.0&f=half&a=3&b=1_14-16&p=1-3_21_48')
  assert.deepEqual(fromLink(toLink(state)), state)
  assert.deepEqual(fromLink('q=99&k=x&y=toString&w=1&f=zz&a=7_&b=1_99-120&p=9999'), {
    ...start(),
    tq: 16,
    padded: { query: [], value: [0], key: [] }
  })
  const many = { ...start(), tq: 16, tk: 16, closed: Array.from({ length: 128 }, (_, i) => 2 * i) }
  assert.ok(toLink(many).length < 199)
  assert.deepEqual(fromLink(toLink(many)), { ...many, closed: [] })
})

test('numbers as a link, and back; other texts are none', () => {
  const given = {
    query: [[1, -0.5]],
    key: [
      [0.25, 10],
      [0, 1.5]
    ],
    value: [
      [1, 2],
      [-3, 0.1]
    ]
  }
  assert.equal(numbersText(given), '1x2x2_1_-.5_.25_10_0_1.5_1_2_-3_.1')
  assert.deepEqual(numbersFrom(numbersText(given)), given)
  for (const text of [
    '',
    '1x2x2_1',
    '9x9x9_1',
    '1x1x2_1_2_3_4_5_x',
    '1x1x2_1_2_3_4_5_',
    '1x1x2_1_2_3_4_5_-',
    '2x1x2_1_2_3_4_5_6_7_8',
    '1x1x1_1_2_3',
    '1x1x2_1_2_3_4_5_1e9'
  ])
    assert.equal(numbersFrom(text), null, text)
})

test('many heads and positions: the runtime gives the same', async () => {
  const tokens = [
      [1, 0.5, 0, -1],
      [0.5, 1, 0, 0.5],
      [0, 0, 2, 0.5]
    ],
    projection = [
      [1, 0.5, 0, 0],
      [0, 1, 0, -1],
      [0.25, 0, 1, 0],
      [0, 0, 0, 2]
    ]
  const bytes = async (/** @type {any} */ { tensors, metadata }) =>
    new Uint8Array(await new Blob(safetensorsParts(tensors, metadata)).arrayBuffer())
  for (const heads of [1, 2, 4]) {
    const set = { tokens, heads, projection },
      { passed, maxAbs } = await runtime.check(await bytes(asHeadsCase(set, manyHeads(set))), {
        tolerance: 1e-5
      })
    assert.ok(passed, `${heads}: ${maxAbs}`)
  }
  const place = {
    tensors: { 'expect.y': { shape: [5, 4], data: Float32Array.from(positions(5, 4).flat()) } },
    metadata: { op: 'positional_encoding', attrs: JSON.stringify({ length: 5, width: 4 }) }
  }
  assert.ok((await runtime.check(await bytes(place), { tolerance: 1e-6 })).passed)
})

test('the sorter sorts, by the runtime and in double precision; its taught head finds the letter to write', async () => {
  const file = readFileSync(join(repository, 'web/pages/learn/sorting/model.safetensors')),
    sorter = await readSorter(new Blob([file])),
    random = (/** @type {number} */ i) =>
      Math.floor(26 * (((Math.sin(i * 12.9898) * 43758.5453) % 1) + 1)) % 26
  assert.ok(file.length < 60e3, `${file.length}`)
  const words = [
    'CARBON',
    'AAAAAA',
    'ZYXWVU',
    'BANANA',
    ...Array.from({ length: 20 }, (_, n) =>
      lettersOf(Array.from({ length: 6 }, (_, i) => random(6 * n + i + 1)))
    )
  ]
  let finds = 0
  for (const word of words) {
    const written = await write(runtime, sorter, codesOf(word)),
      exact = reference(sorter, written.tokens),
      count = written.tokens.length
    assert.equal(lettersOf(written.answer), [...word].sort().join(''), word)
    assert.ok(apart(written, exact) < 1e-6, `${word}: ${apart(written, exact)}`)
    exact.logits
      .flat()
      .forEach((logit, i) =>
        assert.ok(
          Math.abs(logit - written.logits.data[i]) < 1e-4,
          `${word}: ${logit}, found ${written.logits.data[i]}`
        )
      )
    written.answer.forEach((letter, k) =>
      codesOf(word).forEach((code, j) => {
        if (code === letter) finds += written.weights[1].data[(5 + k) * count + j]
      })
    )
  }
  assert.ok(finds / (6 * words.length) > 0.8, `${finds / (6 * words.length)}`)
})
