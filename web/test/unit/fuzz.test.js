/* Whatever bytes a page or the library is given, it answers: with values that are as the file says,
 * or with a sentence. Mutations of files and links by a seeded generator, the same every time;
 * HEED_SOAK=1: fifty times as many. */
import assert from 'node:assert/strict'
import { File } from 'node:buffer'
import test from 'node:test'
import { deflateRawSync } from 'node:zlib'
import { loadPage } from '../package.js'
import { zip } from '../zips.js'

/** @type {typeof import('../../src/error.js')} */
const { HeedError } = await loadPage('heed/error.js')
/** @type {typeof import('../../src/shards.js')} */
const { shardsOf } = await loadPage('heed/shards.js')
/** @type {typeof import('../../pages/shared/array_files.js')} */
const {
  npyParts,
  provenanceIn,
  readArrays,
  readTensor,
  readSafetensorsHeader,
  safetensorsParts,
  zipParts
} = await loadPage('shared/array_files.js')
/** @type {typeof import('../../pages/explorer/model/head_finder.js')} */
const { findHeads, parseFilter } = await loadPage('explorer/model/head_finder.js')
/** @type {typeof import('../../pages/explorer/state/address.js')} */
const { fromHash, toHash } = await loadPage('explorer/state/address.js')
/** @type {typeof import('../../pages/explorer/state/defaults.js')} */
const { defaults, fitted } = await loadPage('explorer/state/defaults.js')
/** @type {typeof import('../../pages/masks/mask_link.js')} */
const { fromLink, start, toLink } = await loadPage('masks/mask_link.js')
/** @type {typeof import('../../pages/shared/number_runs.js')} */
const { readRuns } = await loadPage('shared/number_runs.js')

/** @type {typeof import('../../pages/explorer/open/saved_maps.js')} */
const { checkWeights, holdsMaps, savedMaps, wantedArrays } = await loadPage(
  'explorer/open/saved_maps.js'
)
/** @type {typeof import('../../pages/explorer/figure/figure_file.js')} */
const { readFigure, writeFigure } = await loadPage('explorer/figure/figure_file.js')
/** @type {typeof import('../../pages/explorer/save/session_file.js')} */
const { readSession } = await loadPage('explorer/save/session_file.js')

const count = process.env.HEED_SOAK ? 100_000 : 2000,
  longest = 1000 // ms of processor time for one input

/**
 * Whole numbers below `end`, the same for a seed (mulberry32).
 * @param {number} seed
 * @returns {(end: number) => number}
 */
function randomOf(seed) {
  let state = seed
  return (end) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end
  }
}

const extremes = [0, 1, 0x7f, 0x80, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff],
  texts = [
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    '-1',
    '1e999',
    'NaN',
    'Infinity',
    '4294967296',
    '9007199254740993',
    '1.5',
    '""',
    'null',
    '[]',
    '{}',
    '\u0000',
    '\u{1f600}',
    '%',
    '..',
    '/'
  ]

/**
 * One to four changes: of bits, of numbers, parts that are cut out, doubled or moved, texts put in.
 * @param {Uint8Array} seed
 * @param {(end: number) => number} random
 * @returns {Buffer<ArrayBuffer>}
 */
function mutated(seed, random) {
  let bytes = Buffer.from(seed)
  for (let changes = 1 + random(4); changes > 0; changes--) {
    const at = random(bytes.length + 1),
      length = Math.min(bytes.length - at, random(random(8) ? 8 : 200)),
      part = bytes.subarray(at, at + length)
    switch (random(7)) {
      case 0:
        if (at < bytes.length) bytes[at] ^= 1 << random(8)
        break
      case 1:
        if (at + 4 <= bytes.length) bytes.writeUInt32LE(extremes[random(extremes.length)], at)
        break
      case 2:
        if (at + 2 <= bytes.length) bytes.writeUInt16LE(extremes[random(6)], at)
        break
      case 3:
        bytes = bytes.subarray(0, at)
        break
      case 4:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)])
        break
      case 5:
        bytes = Buffer.concat([bytes.subarray(0, at), part, bytes.subarray(at)])
        break
      default:
        bytes = Buffer.concat([
          bytes.subarray(0, at),
          Buffer.from(texts[random(texts.length)]),
          bytes.subarray(at + length)
        ])
    }
  }
  return Buffer.from(bytes)
}

/**
 * A JSON text whose values are other ones here and there, or of other names.
 * @param {any} seed
 * @param {(end: number) => number} random
 */
function mutatedJson(seed, random) {
  const odd = [null, true, -1, 0.5, 1e308, 2 ** 53, '', 'x'.repeat(5000), [], {}, [[]], '__proto__']
  /** @type {(value: any) => any} */
  const walk = (value) => {
    if (random(30) === 0) return odd[random(odd.length)]
    if (Array.isArray(value)) {
      const list = value.map(walk)
      if (random(20) === 0) list.splice(random(list.length + 1), 1, odd[random(odd.length)])
      return list
    }
    if (value === null || typeof value !== 'object') return value
    /** @type {[string, any][]} */
    const entries = Object.entries(value).map(([key, one]) => [key, walk(one)])
    if (random(20) === 0) entries.splice(random(entries.length + 1), 1)
    if (random(20) === 0) entries.push([texts[random(5)], odd[random(odd.length)]])
    return Object.fromEntries(entries)
  }
  const text = JSON.stringify(walk(seed)) ?? ''
  return random(4) ? text : mutated(Buffer.from(text), random).toString('utf8')
}

const bare = Object.getOwnPropertyNames(Object.prototype).sort().join(),
  ofArrays = Object.getOwnPropertyNames(Array.prototype).sort().join()
/** Nothing has reached a prototype. */
function expectClean() {
  assert.equal(Object.getOwnPropertyNames(Object.prototype).sort().join(), bare)
  assert.equal(Object.getOwnPropertyNames(Array.prototype).sort().join(), ofArrays)
}

/**
 * What an input gives: a value, or an error that begins with the name of the file.
 * @template Value
 * @param {string} what
 * @param {() => Value | Promise<Value>} read
 * @param {(error: any) => boolean} isSaid
 * @returns {Promise<Value | null>} null: refused
 */
async function answer(what, read, isSaid) {
  const began = process.cpuUsage()
  let value = null
  try {
    value = await read()
  } catch (error) {
    if (!isSaid(error)) throw new Error(`${what}: no sentence`, { cause: error })
  }
  const { user, system } = process.cpuUsage(began),
    took = (user + system) / 1000
  if (took > longest) throw new Error(`${what}: took ${Math.round(took)} ms`)
  return value
}
/**
 * A sentence about this file: an Error of its own, not one of the engine's.
 * @param {string} name
 * @returns {(error: any) => boolean}
 */
const saysOf = (name) => (error) =>
  error.constructor === Error &&
  error.message.startsWith(name) &&
  error.message.length > name.length + 10

/**
 * Some are read and some refused: mutations reach both.
 * @param {string} what
 * @param {number} read
 */
function expectBoth(what, read) {
  assert.ok(read > 0 && read < count, `${what}: ${read} of ${count} were read`)
}

/**
 * @param {string} name
 * @param {any[]} parts
 * @returns {Promise<any>} a File
 */
const fileOf = async (name, parts) => new File([await new Blob(parts).arrayBuffer()], name)
/** @param {any} file */
const bytesOf = async (file) => new Uint8Array(await file.arrayBuffer())

/** Rows of attention [2, 2, 5, 5] that sum to 1. */
const attention = Float32Array.from({ length: 100 }, (_, i) => (i % 5 === i % 2 ? 0.6 : 0.1)),
  shape = [2, 2, 5, 5],
  grid = Int32Array.of(2, 2, 1),
  provenance = JSON.stringify({ heed: '0.1', model: 'x' })

/** @type {[name: string, bytes: () => Promise<Uint8Array>][]} */
const arrayFiles = [
  ['maps.npy', async () => bytesOf(await fileOf('', npyParts(shape, [attention])))],
  [
    'stored.npz',
    async () =>
      bytesOf(
        await fileOf(
          '',
          await zipParts({
            'maps.npy': npyParts(shape, [attention]),
            'grid.npy': npyParts([3], [grid]),
            'provenance.json': [provenance]
          })
        )
      )
  ],
  [
    'deflated.npz',
    async () => {
      const maps = await bytesOf(await fileOf('', npyParts(shape, [attention]))),
        said = new TextEncoder().encode(provenance)
      return new Uint8Array(
        await new Blob([
          zip([
            ['maps.npy', deflateRawSync(maps), maps.length],
            ['provenance.json', deflateRawSync(said), said.length]
          ])
        ]).arrayBuffer()
      )
    }
  ],
  [
    'maps.safetensors',
    async () =>
      bytesOf(
        await fileOf(
          '',
          safetensorsParts(
            {
              'attention.0': { shape: [1, 2, 5, 5], data: attention.subarray(0, 50) },
              'attention.1': { shape: [1, 2, 5, 5], data: attention.subarray(50) },
              logits: { shape: [2], data: Float32Array.of(1, 2) }
            },
            { grid: '2 2 1', patch: '16', provenance }
          )
        )
      )
  ]
]

/** @param {{shape: number[], data: Float32Array}} array */
function expectWhole({ shape, data }) {
  assert.ok(data instanceof Float32Array)
  assert.ok(
    shape.every((side) => Number.isSafeInteger(side) && side >= 0),
    String(shape)
  )
  assert.equal(
    data.length,
    shape.reduce((product, side) => product * side, 1)
  )
}

for (const [number, [name, make]] of arrayFiles.entries())
  test(`${name}: arrays as the file says, or a sentence`, async () => {
    const seed = await make(),
      random = randomOf(number + 1)
    expectWhole(
      /** @type {any} */ (await readArrays(await fileOf(name, [seed])))[
        Object.keys(await readArrays(await fileOf(name, [seed])))[0]
      ]
    )
    let read = 0
    for (let i = 0; i < count; i++) {
      const what = `${name}, mutation ${i}`,
        file = await fileOf(name, [mutated(seed, random)]),
        arrays = await answer(what, () => readArrays(file), saysOf(name))
      const from = await answer(what, () => provenanceIn(file), saysOf(name))
      assert.ok(from === null || typeof from === 'object')
      if (!arrays) continue
      read++
      for (const array of Object.values(arrays)) {
        expectWhole(array)
        // A zip file has a sum of every entry: what is read of a damaged one is what was written.
        if (name.endsWith('.npz'))
          assert.deepEqual([...array.data], [...(array.data.length > 3 ? attention : grid)], what)
      }
      const wanted = await answer(what, () => wantedArrays(arrays, name), saysOf(name)),
        maps = wanted && (await answer(what, () => savedMaps(arrays, name), sentence))
      if (!maps) continue
      const { layers, heads, tokens, rows, columns, prefixTokens } = maps.shape
      assert.equal(maps.attention.length, layers)
      assert.equal(rows * columns + prefixTokens, tokens)
      for (const layer of maps.attention) assert.equal(layer.length, heads * tokens * tokens)
      await answer(what, () => checkWeights(maps, name), saysOf(name))
    }
    expectClean()
    expectBoth(name, read)
  })

/**
 * An Error with a sentence, about whatever it is.
 * @param {any} error
 */
function sentence(error) {
  return error.constructor === Error && /[.)]$/.test(error.message)
}

test('headers of safetensors: names, shapes and places, or a sentence', async () => {
  const random = randomOf(11),
    seed = {
      __metadata__: { grid: '2 2 1' },
      a: { dtype: 'F32', shape: [2, 2], data_offsets: [0, 16] },
      b: { dtype: 'F16', shape: [4], data_offsets: [16, 24] }
    }
  let read = 0
  for (let i = 0; i < count; i++) {
    const text = Buffer.from(mutatedJson(seed, random)),
      length = Buffer.alloc(8)
    length.writeUInt32LE(random(20) ? text.length : extremes[random(extremes.length)])
    const file = await fileOf('w.safetensors', [length, text, Buffer.alloc(24)]),
      header = await answer(
        `header ${i}`,
        () => readSafetensorsHeader(file),
        saysOf('w.safetensors')
      )
    if (!header) continue
    read++
    assert.equal(typeof holdsMaps(/** @type {any} */ (header.header)), 'boolean')
    for (const name of Object.keys(header.header).filter((name) => name !== '__metadata__')) {
      const tensor = await answer(
        `header ${i}`,
        () => readTensor(file, header, name),
        saysOf('w.safetensors')
      )
      if (tensor) expectWhole(tensor)
    }
  }
  expectClean()
  expectBoth('headers', read)
})

test('links: what is read is written again, and the rest is as at the start', () => {
  const random = randomOf(12),
    link =
      '#s=7&l=4&h=mean&q=cls&v=rollout&o=mass&n=log&end=3&c=grey&a=0.35&r=1&f=max&i=1&j=3&e=0.25&p=scaled&t=cls-entropy&d=1&w=cls%20%3E%205%20%25&x=1.0_3.2&y=uniform&k=0.5&g=0.9&b=1.2.3&m=whole&size=224.448&z=3_10-12&u=30.41&tour=2',
    names = Object.keys(defaults).sort().join(),
    model = { layers: 4, heads: 4, rows: 14, columns: 14, tokens: 197, prefixTokens: 1 }
  for (let i = 0; i < 4 * count; i++) {
    const hash = mutated(Buffer.from(link), random).toString('utf8'),
      state = fromHash(hash)
    assert.equal(Object.keys(state).sort().join(), names, hash)
    assert.deepEqual(fromHash(toHash(state, Infinity)), state, hash)
    const within = fitted(state, /** @type {any} */ (model))
    assert.ok(within.layer === 'pool' || (within.layer >= 0 && within.layer < 4), hash)
    assert.ok(within.head === 'mean' || (within.head >= 0 && within.head < 4), hash)
    assert.ok(within.first <= (within.last < 0 ? 3 : within.last), hash)
  }
  expectClean()
})

test('links of masks, runs of numbers and filters of heads', () => {
  const random = randomOf(13),
    names = Object.keys(start()).sort().join()
  for (let i = 0; i < 4 * count; i++) {
    const text = mutated(
        Buffer.from('q=9&k=6&y=single&s=0&c=0&w=2.1&f=half&a=1_3-4&b=2&d=1-3&p=3_10-40'),
        random
      ).toString('utf8'),
      state = fromLink(text)
    assert.equal(Object.keys(state).sort().join(), names, text)
    assert.ok(state.tq >= 1 && state.tq <= 16 && state.tk >= 1 && state.tk <= 16, text)
    assert.ok(
      state.closed.every((cell) => cell >= 0 && cell < state.tq * state.tk),
      text
    )
    const again = fromLink(toLink(state))
    assert.deepEqual([again.tq, again.tk, again.layer], [state.tq, state.tk, state.layer], text)
    const runs = mutated(Buffer.from('3_10-13_40'), random).toString('utf8')
    assert.ok(
      (readRuns(runs, 50) ?? []).every((number) => number >= 0 && number < 50),
      runs
    )
    const filter = mutated(
        Buffer.from('cls > 5 %, entropy <= 2 and distance = 3'),
        random
      ).toString('utf8'),
      passes = parseFilter(filter)
    assert.ok(passes === null || typeof passes === 'function')
    findHeads([[/** @type {any} */ ({ entropy: 1, distance: 2 })]], { filter })
  }
  expectClean()
})

test('an index of shards: plain names, or a HeedError', async () => {
  const random = randomOf(14),
    seed = {
      metadata: { total_size: 12 },
      weight_map: { a: 'model-00001-of-00002.safetensors', b: 'model-00002-of-00002.safetensors' }
    },
    name = 'model.safetensors.index.json'
  let read = 0
  for (let i = 0; i < count; i++) {
    const text = Buffer.from(mutatedJson(seed, random)),
      names = await answer(
        `index ${i}`,
        () => shardsOf(text.length, () => text, name),
        (error) => error instanceof HeedError && error.message.startsWith(name)
      )
    if (!names) continue
    read++
    for (const one of names) assert.match(one, /^[^/\\:]+\.safetensors$/)
  }
  expectClean()
  expectBoth('index', read)
})

test('sessions: an object with its settings, or null', async () => {
  const random = randomOf(15),
    seed = {
      heed_session: 1,
      version: '0.1.0',
      weights_sha256: { 'model.safetensors': 'ab'.repeat(32) },
      settings: '#s=7&l=2',
      picture: { name: 'x.png', png: 'data:image/png;base64,AAAA' },
      pins: [{ title: 't', note: '', row: [0.5, 0.5], shape: { tokens: 2 } }]
    }
  let read = 0
  for (let i = 0; i < count; i++) {
    const session = await readSession(await fileOf('s.json', [mutatedJson(seed, random)]))
    if (!session) continue
    read++
    assert.equal(session.heed_session, 1)
    assert.equal(typeof session.settings, 'string')
  }
  expectClean()
  expectBoth('sessions', read)
})

test('figures: put together anew, or a sentence', async () => {
  const random = randomOf(16),
    numbers = [0.1, 0.2, 0.3, 0.4],
    scale = { kind: 'uniform', label: 'x', end: 1, largest: 0.4 },
    png = 'data:image/png;base64,AAAA',
    map = { title: 'm', values: numbers, scale },
    seed = {
      heed_figure: 1,
      look: {
        panels: ['picture', 'map'],
        width: 85,
        font: 'sans',
        dark: false,
        letters: true,
        heads: ''
      },
      from: {
        heed: '0.1.0',
        model: 'm',
        layers: 2,
        heads: 2,
        parameters: 10,
        weights_sha256: { w: 'ab' },
        picture: 'p',
        settings: '#l=1',
        device: 'd'
      },
      grid: { rows: 2, columns: 2, tokens: 5, names: ['CLS'] },
      title: 't',
      caption: 'c',
      parts: { picture: png, map: { ...map, mask: [0, 1, 0, 1] }, rollout: map }
    }
  const name = 'f.json'
  readFigure(JSON.stringify(seed), name)
  let read = 0
  for (let i = 0; i < count; i++) {
    const figure = await answer(
      `figure ${i}`,
      () => readFigure(mutatedJson(seed, random), name),
      saysOf(name)
    )
    if (!figure) continue
    read++
    assert.deepEqual(readFigure(writeFigure(figure), name), figure)
    assert.equal(figure.parts.map?.values.length ?? 4, figure.grid.rows * figure.grid.columns)
  }
  expectClean()
  expectBoth('figures', read)
})
