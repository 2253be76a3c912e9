/* The page's state: what a link says, and who hears of a change. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { loadPage } from '../package.js'

/** @type {typeof import('../../pages/explorer/state/address.js')} */
const { addressOf, fromHash, stateOf, toHash } = await loadPage('explorer/state/address.js')
/** @type {typeof import('../../pages/explorer/state/defaults.js')} */
const { defaults, fitted } = await loadPage('explorer/state/defaults.js')
/** @type {typeof import('../../pages/explorer/state/link_report.js')} */
const { lostParts } = await loadPage('explorer/state/link_report.js')
/** @type {typeof import('../../pages/explorer/state/change_words.js')} */
const { wordsOfChanges } = await loadPage('explorer/state/change_words.js')
/** @type {typeof import('../../pages/shared/changes.js')} */
const { isChanged, unchanged } = await loadPage('shared/changes.js')
/** @type {typeof import('../../pages/explorer/model/head_finder.js')} */
const { findHeads, parseFilter } = await loadPage('explorer/model/head_finder.js')
/** @type {typeof import('../../pages/shared/attention_rows.js')} */
const { mapOf, slice } = await loadPage('shared/attention_rows.js')
/** @type {typeof import('../../pages/explorer/state/store.js')} */
const { createStore } = await loadPage('explorer/state/store.js')
/** @type {typeof import('../../pages/explorer/model/uniform_head.js')} */
const { numbersOfUniform } = await loadPage('explorer/model/uniform_head.js')

test('a link holds what differs from the defaults, and gives it back', () => {
  assert.equal(toHash(/** @type {any} */ (defaults)), '')
  const state = {
    ...defaults,
    scene: 7,
    layer: 4,
    head: 'mean',
    query: 'cls',
    view: 'rollout',
    style: 'mass',
    scale: 'log',
    colours: 'grey',
    strength: 0.35,
    reverse: true,
    fusion: 'max',
    first: 1,
    last: 3,
    residual: 0.25,
    score: 'scaled',
    sort: 'cls-entropy',
    descending: true,
    filter: 'cls > 5 %',
    off: ['1.0', '3.2'],
    how: 'uniform',
    temperature: 0.5,
    discard: 0.9,
    fit: 'whole',
    dropped: [3, 10, 11, 12],
    cuts: ['30.41', '30.42']
  }
  assert.deepEqual(fromHash(toHash(/** @type {any} */ (state))), state)
  assert.ok(toHash(/** @type {any} */ (state)).length < 200)
  const much = { ...state, cuts: Array.from({ length: 90 }, (_, i) => `7.${i}`) }
  assert.ok(toHash(/** @type {any} */ (much)).length < 200)
  assert.deepEqual(fromHash(toHash(/** @type {any} */ (much))), { ...state, cuts: [] })
  assert.deepEqual(fromHash(toHash(/** @type {any} */ (much), Infinity)), much)
  assert.equal(toHash({ ...defaults, query: [3, 4] }), '#q=3.4')
  for (const more of [{ query: 3 }, { layer: 'pool' }, { size: [224, 448] }]) {
    const sent = /** @type {any} */ ({ ...defaults, ...more })
    assert.deepEqual(fromHash(toHash(sent)), sent)
  }
})

test('a page without a hash opens with the zoom; the plain page names its view', () => {
  const state = (/** @type {any} */ more) => /** @type {any} */ ({ ...defaults, ...more })
  for (const [more, address] of /** @type {const} */ ([
    [{ zoom: 'picture' }, ''],
    [{}, '#v=heads'],
    [{ zoom: 'tiles' }, '#zoom=tiles'],
    [{ zoom: 'picture', layer: 4 }, '#l=4&zoom=picture'],
    [{ layer: 4 }, '#l=4']
  ])) {
    assert.equal(addressOf(state(more)), address)
    assert.deepEqual(stateOf(address), state(more))
  }
})

test('what of a link is not shown is said: what cannot be read, and what the model has not', () => {
  const shape = /** @type {any} */ ({
    layers: 4,
    heads: 4,
    rows: 14,
    columns: 14,
    tokens: 197,
    prefixTokens: 1
  })
  for (const [link, lost] of /** @type {[string, string[]][]} */ ([
    ['', []],
    ['#s=7&l=2&h=mean&q=cls&v=rollout&w=cls%20%3E%205%20%25&x=1.0_3.2&z=3_10-12', []],
    ['#l=3&h=0&q=2.10', []],
    ['#l=4', ['l=4']],
    ['#l=pool&h=4', ['l=pool', 'h=4']],
    ['#q=14.0&i=9&j=9', ['q=14.0', 'i=9', 'j=9']],
    ['#x=1.0_9.9', ['x=1.0_9.9']],
    ['#l=x&zz=1&v=nothing&__proto__=1', ['l=x', 'zz=1', 'v=nothing', '__proto__=1']],
    ['#s=', ['s=']]
  ]))
    assert.deepEqual(lostParts(link, shape), lost, link)
})

test('what a link cannot mean is left out', () => {
  for (const hash of [
    '#l=-1',
    '#l=x&h=1.5',
    '#q=0',
    '#q=300',
    '#l=pools',
    '#end=0.5',
    '#end=1e3',
    '#tour=5',
    '#size=224',
    '#size=0.224',
    '#size=224.22400',
    '#q=1.2.3',
    '#v=elsewhere',
    '#a=7',
    '#s=1e9',
    '#c=jet',
    '#__proto__=1',
    '#constructor=2',
    '#%',
    '#n'
  ])
    assert.deepEqual(fromHash(hash), { ...defaults }, hash)
})

test('what the model has not is left out of a link, and the address says what is shown', () => {
  const shape = { layers: 5, heads: 4, tokens: 197, prefixTokens: 1, rows: 14, columns: 14 }
  for (const [hash, shown] of Object.entries({
    '#x=9.9_03.0_3.0': '#x=3.0',
    '#z=5000': '',
    '#z=3-4_4_195-300': '#z=3-4_195',
    '#u=500.500_1.2': '#u=1.2',
    '#b=9.9.50_1.02.50': '#b=1.2.50',
    '#i=4&j=1': '#i=1&j=1',
    '#i=9&j=9': '#i=4',
    '#g=1&v=rollout': '#v=rollout',
    '#e=1': '',
    '#e=0': '',
    '#a=0': '#a=0',
    '#l=9&h=9&q=20.1': '#l=4&h=3&q=7.7',
    '#q=cls&h=mean': '#h=mean&q=cls',
    '#l=pool&h=3': '#l=4&h=3', // it has none
    '#q=2': '#q=7.7' // it has one token before the patches
  }))
    assert.equal(toHash(fitted(fromHash(hash), shape)), shown, hash)
  assert.deepEqual(fitted(/** @type {any} */ (defaults), shape), defaults)
  const pooled = fitted(fromHash('#l=pool&h=9&r=1&p=raw'), { ...shape, pool: 8 })
  assert.deepEqual(
    [pooled.layer, pooled.head, pooled.reverse, pooled.score],
    ['pool', 7, false, 'softmax']
  )
  assert.deepEqual(
    fitted(/** @type {any} */ ({ ...defaults, query: 'cls' }), { ...shape, prefixTokens: 0 }).query,
    [7, 7]
  )
})

test('listeners hear of their own keys, once, and only when something differs', () => {
  const store = createStore({ a: 1, query: [1, 2] }),
    heard = /** @type {number[]} */ ([])
  store.on(['a'], ({ a }) => heard.push(a))
  store.set({ query: [1, 2] })
  store.set({ query: [2, 2] })
  store.set({ a: 1 })
  store.set({ a: 2, query: /** @type {any} */ ('cls') })
  assert.deepEqual(heard, [2])
  store.on(['coloured'], (_, what) => heard.push(what.length))
  for (const event of /** @type {const} */ (['coloured', 'drawn', 'coloured'])) store.tell(event)
  assert.deepEqual(
    [heard, Object.keys(store.get())],
    [
      [2, 1, 1],
      ['a', 'query']
    ]
  )
})

test('rows, columns and maps of kept weights', () => {
  const weights = Float32Array.of(0.5, 0.5, 0.25, 0.75, 1, 0, 0, 1) // two heads of 2 x 2
  assert.deepEqual([...slice(weights, 0, 2, 1)], [0.25, 0.75])
  assert.deepEqual([...slice(weights, 0, 2, 1, true)], [0.5, 0.75])
  assert.deepEqual([...mapOf(weights, 1, 2)], [1, 0, 0, 1])
})

test('heads are found by their numbers', () => {
  /**
   * @param {number} entropyPatches
   * @param {number} distance
   * @param {number} prefixMass
   */
  const head = (entropyPatches, distance, prefixMass) => ({ entropyPatches, distance, prefixMass })
  const statistics = [
    [head(3, 10, 0.1), head(1, 30, 0)],
    [head(2, 20, 0.6), head(1.5, 5, 0.05)]
  ]
  /**
   * @param {{sort: string, } | { sort: string, descending: boolean, filter: string, } | { filter: string}} how
   */
  const names = (how) =>
    findHeads(/** @type {any} */ (statistics), how)
      .map(({ layer, head }) => `${layer}.${head}`)
      .join(' ')
  assert.equal(names(/** @type {any} */ ({})), '0.0 0.1 1.0 1.1')
  assert.equal(names({ sort: 'distance' }), '1.1 0.0 1.0 0.1')
  assert.equal(
    names({ sort: 'entropy', descending: true, filter: 'entropy <= 2 and CLS >= 5%' }),
    '1.0 1.1'
  )
  assert.equal(names({ filter: 'layer = 1, distance > 5' }), '1.0')
  assert.equal(names({ filter: 'entropy <' }), names(/** @type {any} */ ({})))
  for (const text of ['entropy', 'size < 1', 'entropy < 1 or self > 2', 'entropy << 1'])
    assert.equal(parseFilter(text), null, text)
})

test('changes of the attention in words', () => {
  assert.equal(
    wordsOfChanges({
      ...unchanged,
      off: ['1.0'],
      how: 'mean',
      dropped: [2],
      cuts: ['0.1'],
      gains: ['0.1.35'],
      temperature: 2
    }),
    ', without 1.0 (mean), 1 patch dropped, 1 pair cut, head 0.1 at 35 %, temperature 2'
  )
  assert.equal(isChanged(unchanged), false)
})

test('uniform attention has its numbers too: every pair of patches measured', () => {
  const shape = { tokens: 7, prefixTokens: 1, rows: 2, columns: 3 },
    places = Array.from({ length: 6 }, (_, i) => [Math.floor(i / 3), i % 3])
  const pairs = places.flatMap(([y, x]) => places.map(([v, u]) => Math.hypot(y - v, x - u))),
    mean = (16 * pairs.reduce((a, b) => a + b)) / 36
  const found = numbersOfUniform(/** @type {any} */ (shape), 16)
  assert.ok(
    Math.abs(found.distanceRenormalised - mean) < 1e-12 &&
      Math.abs(found.distance - (mean * 6) / 7) < 1e-12
  )
  assert.deepEqual(
    [found.entropyCls, found.prefixMass, found.selfMass, found.top5Mass],
    [Math.log(7), 1 / 7, 1 / 7, 5 / 7]
  )
})

test('"run again" leaves with the new result, not with its statistics; the next change asks again', async () => {
  const chip = Object.assign(new EventTarget(), { hidden: true, disabled: false, textContent: '' }),
    store = createStore(/** @type {any} */ ({ ...defaults, ran: 0 })),
    engine = /** @type {any} */ ({
      model: { parameters: 1e8, width: 768 },
      shape: { tokens: 1370, layers: 12 },
      result: { fit: 'model', changes: { ...unchanged } }
    }),
    run = () => {
      engine.result = { fit: 'model', changes: store.get() }
      store.set({ ran: store.get().ran + 1 })
      return new Promise(() => {}) // its statistics take long
    }
  const before = globalThis.document
  globalThis.document = /** @type {any} */ ({
    getElementById: (/** @type {string} */ id) => (id === 'stale' ? chip : new EventTarget()),
    body: { classList: { toggle() {} } }
  })
  try {
    /** @type {typeof import('../../pages/explorer/model/run_again.js')} */
    const { connectChanges } = await loadPage('explorer/model/run_again.js'),
      changed = connectChanges(/** @type {any} */ ({ store, engine, run }))
    for (const off of [['2.3'], ['2.3', '1.1']]) {
      store.set({ off })
      changed()
      assert.equal(chip.hidden, false)
      chip.dispatchEvent(new Event('click'))
      assert.equal(chip.disabled, true)
      await new Promise(setImmediate)
      assert.deepEqual([chip.hidden, chip.disabled], [true, false], off.join())
    }
  } finally {
    globalThis.document = before
  }
})
