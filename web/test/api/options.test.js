/* What the API is asked for and cannot be: every function and every option refuses it with a
 * HeedError that names the argument, what was found and what was expected, in a worker and without.
 * What is asked for rightly gives what it gave. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { createRuntime, demoModel, HeedError, vectors } from '../package.js'
import { sameBits } from '../safetensors.js'
/** @import {DrawnScene} from 'heed' */

const modes = { direct: { threads: 1 }, worker: { threads: 1, worker: true } }
/** @type {Record<string, any>} */
const opened = {}
/** @type {DrawnScene['image']} */
let picture

before(async () => {
  for (const [mode, options] of Object.entries(modes)) {
    const runtime = await createRuntime(options),
      model = await runtime.loadModel(demoModel),
      session = model.createSession({ taps: 'all' })
    picture ??= (await runtime.scene(159)).image
    opened[mode] = {
      runtime,
      model,
      session,
      changing: model.createSession({ taps: ['layer.0.output'], intervene: {} }),
      run: await session.run(picture)
    }
    await opened[mode].changing.run(picture)
  }
})
after(() => Object.values(opened).forEach(({ runtime }) => runtime.close()))

/** @param {string} text */
const own = (text) => JSON.parse(text) // "__proto__" as a name of its own
const symbol = Symbol('x'),
  act = () => 0,
  cyclic = /** @type {any[]} */ ([])
cyclic.push(cyclic)

/* [what is named, then the values that are refused], of each function. */
const options = ['the argument', null, 5, 'x', [], act, symbol, true]
const unknown = [
  'the option',
  { querry: 1 },
  { constructor: 1 },
  { toString: 1 },
  { id: 1 },
  own('{"__proto__": 1}')
]
const call = [
  ['onProgress', ...[5, 'x', {}, null].map((onProgress) => ({ onProgress }))],
  ['signal', ...[5, {}, null, { aborted: false }].map((signal) => ({ signal }))]
]
const count = [
    NaN,
    -1,
    0.7,
    3.7,
    Infinity,
    2 ** 31,
    2 ** 32,
    2 ** 53,
    '0',
    '',
    null,
    true,
    0n,
    [],
    {},
    symbol,
    act
  ],
  size = [0, ...count],
  word = ['x', '', '__proto__', 'constructor', 'toString', 0, null, [], symbol, act],
  number = [NaN, Infinity, '1', null, 1n, [], {}, symbol, act]
/** @param {string} name */
const of = (name, /** @type {any} */ values, rest = {}) => [
  name,
  ...values.map((/** @type {any} */ value) => ({ ...rest, [name]: value }))
]
const query = [
  NaN,
  -1,
  0.7,
  197,
  2 ** 31,
  2 ** 32,
  'CLS',
  '5',
  '',
  null,
  5n,
  [],
  [0],
  [0, 1, 2],
  [0.5, 1],
  [14, 0],
  [0, 14],
  [-1, 0],
  ['0', '1'],
  [null, 0],
  [2 ** 32, 0],
  cyclic,
  {},
  symbol,
  act
]

const cases = {
  createRuntime: [
    createRuntime,
    options,
    unknown,
    of('threads', size.filter((value) => value !== '').concat('many')),
    of('simd', word),
    of('worker', [0, 'yes', null, {}]),
    of('base', ['::', 'relative/', 5, {}, null, symbol])
  ],
  loadModel: [
    (/** @type {any} */ given) => opened.direct.runtime.loadModel(demoModel, given),
    options,
    unknown,
    ...call
  ],
  createSession: [
    (/** @type {any} */ given) => opened.direct.model.createSession(given).ready,
    options,
    unknown,
    of('taps', [
      ...word.filter((value) => !Array.isArray(value)),
      ['a\0b'],
      [5],
      [''],
      [null],
      [symbol],
      {}
    ]),
    of('batch', size),
    of('height', size),
    of('width', size),
    ['intervene', ...[null, true, 5, [], 'x'].map((intervene) => ({ intervene }))],
    ['preprocess', ...[null, true, 5, [], 'x'].map((preprocess) => ({ preprocess }))],
    ...call
  ],
  intervene: [
    (/** @type {any} */ intervene) => opened.direct.model.createSession({ intervene }).ready,
    unknown,
    of('temperature', [0, -1, 1e-300, ...number]),
    of('emptyRow', word)
  ],
  preprocess: [
    (/** @type {any} */ preprocess) => opened.direct.model.createSession({ preprocess }).ready,
    unknown,
    of('mean', ['0.5', null, NaN, Infinity, [], ['0.5'], [NaN], {}, symbol, act]),
    of('std', ['0.5', null, 0, -1, NaN, [], [null], {}, symbol, act]),
    of('resample', word),
    of('crop', ['1', 'some', 0, -1, NaN, null, [], symbol]),
    of('rescale', [0, -1, '1', null, NaN, symbol])
  ],
  run: [
    (/** @type {any} */ given) => opened.direct.session.run(picture, given),
    options,
    unknown,
    of('fit', word),
    ...call
  ],
  runFrom: [
    (/** @type {number} */ layer) => opened.direct.changing.runFrom(layer),
    ['layer', undefined, ...size]
  ],
  'runFrom, options': [
    (/** @type {any} */ given) => opened.direct.changing.runFrom(1, given),
    options,
    unknown,
    ...call
  ],
  write: [
    (/** @type {any} */ [name, data]) => opened.direct.changing.write(name, data),
    [
      'name',
      ...[undefined, 5, '', 'a\0b', null, symbol, act].map((name) => [name, new Uint8Array(197)])
    ],
    [
      'data',
      ...[
        undefined,
        5,
        'x',
        null,
        [1],
        {},
        new ArrayBuffer(197),
        new Float64Array(197),
        symbol,
        act
      ].map((data) => ['token_mask', data])
    ]
  ],
  attention: [
    (/** @type {any} */ given) => opened.direct.session.attention(given),
    options,
    [
      'the option',
      { layer: 0, head: 0, querry: 1 },
      { layer: 0, head: 0, id: 1 },
      { layer: 0, head: 0, reverse: true }
    ],
    ['layer', {}, undefined, { head: 0 }],
    ['head', { layer: 0 }, { layer: 0, query: 'cls' }],
    of('layer', count, { head: 0 }),
    of('head', [...count, 'x', 'MEAN'], { layer: 0 }),
    of('query', query, { layer: 0, head: 0 }),
    of('batch', count, { layer: 0, head: 0 })
  ],
  statistics: [
    (/** @type {any} */ given) => opened.direct.session.statistics(given),
    options,
    unknown,
    of('layer', count),
    of('batch', count)
  ],
  rollout: [
    (/** @type {any} */ given) => opened.direct.session.rollout(given),
    options,
    unknown,
    of('fusion', word),
    of('residual', [0, -1, 1e-300, ...number]),
    of('discard', number),
    of('firstLayer', count),
    of('layerCount', size),
    of('batch', count),
    of('query', query)
  ],
  explain: [
    (/** @type {any} */ given) => opened.direct.session.explain(given),
    options,
    unknown,
    ['methods', {}, undefined, { layer: 0 }],
    of('methods', ['x', 'pca', '', 0, null, {}, symbol, act, ['x'], [''], ['pca', 5]]),
    of('layer', count, { methods: ['pca'] }),
    of('batch', count, { methods: ['pca'] }),
    of('source', [5, 'x', null, {}, [], symbol, act], { methods: ['pca'] }),
    ...call
  ],
  check: [
    (/** @type {any} */ given) => opened.direct.runtime.check(given),
    ['the case', undefined, null, 5, 'x', {}, [1], new Float32Array(2), symbol, act]
  ],
  'check, options': [
    (/** @type {any} */ given) =>
      opened.direct.runtime.check(
        new Uint8Array(readFileSync(join(vectors, 'layers/linear.safetensors'))),
        given
      ),
    options,
    unknown,
    of('tolerance', number),
    of('results', [0, 'yes', null])
  ],
  scene: [
    (/** @type {any} */ scene) => opened.direct.runtime.scene(scene),
    [
      'the scene',
      undefined,
      null,
      -1,
      1.5,
      NaN,
      Infinity,
      2 ** 53,
      -1n,
      2n ** 64n,
      2n ** 70n,
      '5',
      '',
      true,
      [],
      symbol,
      act
    ],
    ['objects', {}, ...[5, null, 'x', {}].map((objects) => ({ objects }))],
    ['the option', { objects: [], clutters: 1 }, { objects: [{ shape: 'disc', size: 3 }] }],
    of('seed', [-1, 1.5, NaN, '1', '1,"clutter":0', null, 2n ** 64n, {}], { objects: [] }),
    of('clutter', number, { objects: [] }),
    of('noise', number, { objects: [] }),
    ['the argument', ...[null, 5, [], 'x'].map((object) => ({ objects: [object] }))],
    ...['x', 'y', 'radius', 'angle'].map((name) => [
      name,
      ...number.map((value) => ({
        objects: [{ shape: 'disc', colour: 'red', x: 50, y: 50, radius: 20, [name]: value }]
      }))
    ])
  ],
  colormap: [
    (/** @type {string} */ name) => opened.direct.runtime.colormap(name),
    ['the name', undefined, ...word]
  ],
  loaded: [
    (/** @type {string} */ source) => opened.direct.runtime.loadModel(source),
    [
      'invalid source',
      undefined,
      null,
      5,
      true,
      5n,
      symbol,
      act,
      new Float32Array(4),
      new DataView(new ArrayBuffer(4)),
      { weights: 7 },
      { weights: null }
    ],
    [
      'the name',
      [null],
      [5],
      [new Uint8Array(1)],
      new Map([[5, new Uint8Array(1)]]),
      new Map([['a\0b', new Uint8Array(1)]])
    ],
    ['the address', '', 'http://', { weights: 'https://[' }]
  ],
  picture: [
    (/** @type {any} */ input) => opened.direct.session.run(input),
    ['invalid image', undefined, null, 5, 'x', {}, [], { width: 5, height: 5 }, symbol, act],
    [
      'invalid image',
      ...[
        [2.5, 2],
        [2, 2.5],
        [-2, -2],
        [NaN, 2],
        ['2', 2],
        [undefined, 2],
        [2, null],
        [0, 0],
        [2, {}]
      ].map(([width, height]) => ({ data: new Uint8Array(20), width, height }))
    ]
  ]
}

/* Whether it is what a caller can be told: in words, of what was asked for. */
function told(/** @type {any} */ named) {
  return (/** @type {Error} */ error) => {
    assert.ok(error instanceof HeedError, `no HeedError: ${error?.stack ?? error}`)
    assert.equal(error.status, 'INVALID_ARGUMENT', error.message)
    assert.ok(
      error.message.includes(named) && /\(found .*expected ./.test(error.message),
      `${error.message}: expected it to name ${named}`
    )
    return true
  }
}

/** @param {string | number | number[]} value */
const inWords = (value) => {
  try {
    return JSON.stringify(value, (_, part) =>
      ['bigint', 'symbol', 'function'].includes(typeof part) || Number.isNaN(part)
        ? String(part)
        : part
    )
  } catch {
    return 'one that holds itself'
  }
}

for (const mode of Object.keys(modes))
  for (const [name, [run, ...refused]] of Object.entries(
    /** @type {Record<string, any>} */ (cases)
  ))
    test(`refused: ${name} (${mode})`, async () => {
      const { direct } = opened,
        of =
          name === 'createRuntime' && mode === 'worker'
            ? (/** @type {any} */ given) =>
                run(
                  given &&
                    typeof given === 'object' &&
                    !Array.isArray(given) &&
                    !('worker' in given)
                    ? { ...given, worker: true }
                    : given
                )
            : run
      opened.direct = opened[mode]
      try {
        for (const [named, ...values] of /** @type {any[]} */ (refused))
          for (const value of values)
            await assert.rejects(
              async () => /** @type {any} */ (of)(value),
              told(named),
              `${named}: ${inWords(value)}`
            )
      } finally {
        opened.direct = direct
      }
    })

/**
 * @param {string} name
 * @param {(opened: any) => unknown} body
 */
const inBoth = (name, body) =>
  Object.keys(modes).forEach((mode) =>
    test(`${name} (${mode})`, async () => {
      await body(opened[mode])
    })
  )

inBoth(
  'what only the module can judge is refused by it',
  async (/** @type {any} */ { session, model, changing, runtime }) => {
    /** @param {RegExp} sentence */
    const said = (/** @type {any} */ promise, sentence) =>
      assert.rejects(promise, (error) => error instanceof HeedError && sentence.test(error.message))
    await said(
      session.attention({ layer: 5, head: 0 }),
      /layer out of range \(found 5, expected less than 5\)/
    )
    await said(
      session.attention({ layer: 0, head: 4 }),
      /head out of range \(found 4, expected less than 4\)/
    )
    await said(
      session.attention({ layer: 0, head: 0, batch: 1 }),
      /image out of range \(found 1, expected less than 1\)/
    )
    await said(session.statistics({ layer: 2 ** 31 - 1 }), /layer out of range \(found 2147483647/)
    await said(session.rollout({ firstLayer: 5 }), /layers out of range/)
    await said(session.rollout({ layerCount: 2 ** 31 - 1 }), /layers out of range/)
    for (const residual of [2, 1e300]) await said(session.rollout({ residual }), /invalid residual/)
    for (const discard of [1, -0.5]) await said(session.rollout({ discard }), /invalid discard/)
    await said(
      model.createSession({ intervene: { temperature: 1e300 } }).ready,
      /invalid temperature/
    )
    for (const size of [
      { height: 2 ** 31 - 1, width: 2 ** 31 - 1 },
      { batch: 2 ** 31 - 1 },
      { height: 1 }
    ])
      await said(model.createSession(size).ready, /./)
    await said(changing.runFrom(6), /earlier layers not retained/)
    await said(changing.write('token_mask', new Uint8Array(5)), /found 5/)
    await said(runtime.check(new Uint8Array(0)), /./)
  }
)

inBoth(
  'what was given away already, or gives nothing, is refused too',
  async (/** @type {any} */ { runtime, changing, session }) => {
    const detached = new Uint8Array(197),
      spent = new Response('x'),
      locked = new Response('x')
    structuredClone(detached, { transfer: [detached.buffer] })
    await spent.text()
    locked.body?.getReader()
    for (const ask of [
      () => changing.write('token_mask', detached),
      () => session.run({ data: detached, width: 1, height: 1 }),
      () => runtime.check(detached),
      () => runtime.loadModel({ weights: detached }),
      () => runtime.loadModel(spent),
      () => runtime.loadModel(locked),
      () => runtime.loadModel(new Response(null))
    ])
      await assert.rejects(
        ask,
        (error) => error instanceof HeedError && error.message.length > 10,
        String(ask)
      )
    await changing.write('token_mask', new Uint8Array(197).fill(1)) // the worker lives
  }
)

inBoth(
  'what is asked for rightly gives what it is named after',
  async (/** @type {any} */ { session, run: { attention } }) => {
    const row = (
        /** @type {number} */ layer,
        /** @type {number} */ head,
        /** @type {string | number | number[]} */ token
      ) =>
        attention[layer].subarray(
          (Number(head) * 197 + Number(token)) * 197,
          (Number(head) * 197 + Number(token) + 1) * 197
        ),
      at = { layer: 3, head: 1 }
    for (const [query, token] of [
      ['cls', 0],
      [0, 0],
      [196, 196],
      [[0, 0], 1],
      [[13, 13], 196],
      [[2, 10], 39]
    ])
      assert.ok(
        sameBits(await session.attention({ ...at, query }), row(3, 1, token)),
        inWords(query)
      )
    assert.ok(
      sameBits(
        await session.attention({ ...at, query: undefined, batch: undefined }),
        attention[3].slice(197 * 197, 2 * 197 * 197)
      )
    )
    assert.equal(
      (
        await session.rollout({
          query: [2, 10],
          fusion: 'max',
          residual: 0.5,
          firstLayer: 0,
          layerCount: 5,
          discard: 0.5,
          batch: 0
        })
      ).length,
      197
    )
    assert.equal((await session.rollout()).length, 197 * 197)
    assert.equal((await session.statistics()).length, 5)
  }
)

inBoth(
  'sessions, scenes and checks take what they document',
  async (/** @type {any} */ { model, runtime }) => {
    const other = model.createSession({
      taps: undefined,
      batch: 1,
      height: 224,
      width: 224,
      intervene: { temperature: 2, emptyRow: 'nan' },
      onProgress() {},
      signal: new AbortController().signal
    })
    await other.run(picture, { fit: 'whole' })
    other.close()
    for (const seed of [0, 2 ** 53 - 1, 2n ** 64n - 1n])
      assert.equal((await runtime.scene(seed)).scene.seed, seed)
    const { scene, image } = await runtime.scene(7)
    assert.deepEqual((await runtime.scene(scene)).image, image)
    assert.deepEqual((await runtime.scene(Object.assign(Object.create(null), scene))).image, image)
    assert.equal(
      (
        await runtime.check(readFileSync(join(vectors, 'layers/linear.safetensors')), {
          tolerance: 0,
          results: true
        })
      ).passed,
      true
    )
  }
)

test('what a caller changes after the call is not what is asked for', async () => {
  const {
      session,
      run: { attention }
    } = opened.worker,
    at = { layer: 1, head: 2, query: [1, 1] },
    asked = session.attention(at)
  Object.assign(at, { layer: 99, query: null })
  assert.ok(sameBits(await asked, attention[1].slice((2 * 197 + 16) * 197, (2 * 197 + 17) * 197)))
})

test('words that are accepted are named as they are; of an array is said what it holds', async () => {
  const { session } = opened.direct
  for (const [asked, sentence] of /** @type {[any, string][]} */ ([
    [
      { query: 'CLS' },
      'query is not valid (found "CLS", expected a token below 197, "cls", [row, column] below [14, 14])'
    ],
    [
      { query: [14, 0] },
      'query is not valid (found [14, 0], expected a token below 197, "cls", [row, column] below [14, 14])'
    ],
    [{ query: ['0', cyclic] }, 'query is not valid (found ["0", Array], expected a token'],
    [{ query: new Array(5) }, 'query is not valid (found an array of 5, expected a token'],
    [
      { head: 'MEAN' },
      'head is not valid (found "MEAN", expected a whole number from 0 to 2147483647, "mean")'
    ]
  ]))
    await assert.rejects(session.attention({ layer: 0, head: 0, ...asked }), ({ message }) => {
      assert.ok(message.startsWith(`attention: ${sentence}`), message)
      return true
    })
})

test('of an unknown option the nearest known one is named', async () => {
  const { session, runtime } = opened.direct
  /** @param {Promise<unknown>} promise */
  const said = (promise) =>
    promise.then(
      () => 'nothing',
      (error) => error.message
    )
  assert.equal(
    await said(session.attention({ layer: 0, head: 0, querry: 1 })),
    'attention: the option is not valid (found "querry", expected query; all are layer, head, query, batch)'
  )
  for (const [asked, nearest] of [
    [() => createRuntime(/** @type {any} */ ({ thread: 1 })), 'threads'],
    [() => runtime.loadModel(demoModel, { onprogress: act }), 'onProgress'],
    [() => session.rollout({ layercount: 2 }), 'layerCount'],
    [() => session.run(picture, { Fit: 'whole' }), 'fit']
  ])
    assert.match(
      await said(/** @type {any} */ (asked)()),
      new RegExp(`expected ${nearest}; all are `)
    )
  assert.match(
    await said(createRuntime(/** @type {any} */ ({ xyz: 1 }))),
    /expected threads, simd,/
  )
})

inBoth(
  'who cancels gets an AbortError with the reason given',
  async (/** @type {any} */ { session, model, runtime }) => {
    const reason = new Error('the user has left'),
      over = AbortSignal.abort(reason),
      usual = AbortSignal.abort()
    for (const signal of [over, usual])
      for (const ask of [
        () => session.run(picture, { signal }),
        () => runtime.loadModel(demoModel, { signal }),
        () => model.createSession({ signal }).ready
      ])
        await assert.rejects(
          ask,
          (error) =>
            error instanceof HeedError &&
            error.name === 'AbortError' &&
            error.status === 'CANCELLED' &&
            error.cause === signal.reason,
          String(ask)
        )
    const controller = new AbortController(),
      onProgress = () => controller.abort(reason)
    await assert.rejects(session.run(picture, { signal: controller.signal, onProgress }), {
      name: 'AbortError',
      cause: reason
    })
    await session.run(picture) // the session lives
  }
)
