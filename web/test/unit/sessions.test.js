/* Session files as a page opens them whole, and headers of safetensors files, mutated: each is read
 * as it says or refused with a sentence. fuzz.test.js mutates what other readers take. HEED_SOAK: 50
 * times as many mutations. */
import assert from 'node:assert/strict'
import { File } from 'node:buffer'
import test from 'node:test'
import { loadPage } from '../package.js'

/** @type {typeof import('../../pages/shared/array_files.js')} */
const { readSafetensorsHeader, readTensor, safetensorsParts } =
  await loadPage('shared/array_files.js')

const { openNumbers, openSession, readNumbers, readSession, writeSession } = await loadPage(
  'explorer/save/session_file.js'
)

const mutations = 2000 * (process.env.HEED_SOAK ? 50 : 1),
  mostMilliseconds = 1000

/* ------------------------------------------------------------------------------------ mutations */

let state = 1
/** @param {number} end */
const below = (end) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return Math.floor((state / 2 ** 32) * end)
}
/**
 * @template T
 * @param {ArrayLike<T>} list
 */
const one = (list) => list[below(list.length)]

const words = [
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    'NaN',
    'Infinity',
    '-1',
    '0',
    '1e309',
    '9007199254740993',
    '99999999999999999999',
    '4294967296',
    'null',
    'true',
    '[]',
    '{}',
    '"',
    '{"__proto__":{"polluted":1}}',
    '\0',
    '\\ud800',
    '../',
    'C:',
    '%',
    '&',
    ','
  ].map((word) => Buffer.from(word)),
  sizes = [0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 4000001, 1025]

/**
 * One to four changes: a bit, a byte, a number, a cut, a piece doubled or left out, a word.
 * @param {Buffer} from
 */
function mutated(from) {
  let bytes = Buffer.from(from)
  for (let changes = 1 + below(4); changes > 0; changes--) {
    const at = below(bytes.length + 1),
      end = Math.min(bytes.length, at + 1 + below(12)),
      kind = below(8)
    if (kind === 0 && at < bytes.length) bytes[at] ^= 1 << below(8)
    else if (kind === 1 && at < bytes.length) bytes[at] = below(256)
    else if (kind === 2 && at + 4 <= bytes.length) bytes.writeUInt32LE(one(sizes), at)
    else if (kind === 3 && at + 2 <= bytes.length) bytes.writeUInt16LE(one(sizes) & 0xffff, at)
    else if (kind === 4 && below(4) === 0) bytes = Buffer.from(bytes.subarray(0, at))
    else if (kind === 5)
      bytes = Buffer.concat([bytes.subarray(0, end), bytes.subarray(at, end), bytes.subarray(end)])
    else if (kind === 6) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)])
    else
      bytes = Buffer.concat([
        bytes.subarray(0, at),
        one(words),
        bytes.subarray(below(2) ? at : end)
      ])
  }
  return bytes
}

/**
 * A value of JSON with one of its members, however deep, replaced, renamed, doubled or gone.
 * @param {any} value
 */
function mutatedValue(value) {
  const copy = structuredClone(value),
    places = /** @type {[any, string][]} */ ([])
  const visit = (/** @type {any} */ of) => {
    for (const key of Object.keys(of)) {
      places.push([of, key])
      if (of[key] && typeof of[key] === 'object') visit(of[key])
    }
  }
  visit(copy)
  const [holder, key] = one(places),
    /** @type {any[]} */
    odd = [
      NaN,
      null,
      -1,
      0.5,
      1e308,
      2 ** 53,
      '',
      '__proto__',
      'constructor',
      [],
      {},
      [[]],
      true,
      [null],
      { toString: 7 }
    ]
  if (below(3)) holder[key] = one([...odd, 'data:image/png;base64,A'])
  else if (below(2)) delete holder[key]
  else
    Object.defineProperty(holder, one(['__proto__', 'constructor', 'toString', '7']), {
      value: holder[key],
      enumerable: true,
      configurable: true
    })
  return Buffer.from(JSON.stringify(copy))
}

/* ----------------------------------------------------------------------------------- properties */

const prototypes = [Object.prototype, Array.prototype, Function.prototype, String.prototype],
  ownNames = () => prototypes.map((prototype) => Reflect.ownKeys(prototype).length),
  namesBefore = ownNames()

/**
 * A sentence: nothing that the language throws by itself.
 * @param {any} error
 * @param {Buffer} bytes
 */
function expectSentence(error, bytes) {
  const input = JSON.stringify(bytes.toString('latin1').slice(0, 2000))
  assert.ok(
    error instanceof Error && ['Error', 'HeedError'].includes(error.name),
    `${error?.stack ?? error}\nof ${input}`
  )
  assert.match(error.message, /\S+[: ]\S/, input)
  assert.doesNotMatch(error.message, /\[object Object\]|is not a function/, input)
}

/**
 * @param {string} name
 * @param {Buffer | (() => Buffer)} seed
 * @param {(bytes: Buffer) => any} read throws or returns; checks what it returns
 */
function fuzz(name, seed, read) {
  test(`${name}: ${mutations} mutations are read or refused with a sentence`, async () => {
    state = 1 + name.length * 7919
    let accepted = 0
    for (let i = 0; i < mutations; i++) {
      const bytes = typeof seed === 'function' ? seed() : mutated(seed),
        before = process.cpuUsage()
      try {
        await read(bytes)
        accepted++
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error
        expectSentence(error, bytes)
      }
      const { user, system } = process.cpuUsage(before)
      assert.ok(
        (user + system) / 1000 <= mostMilliseconds,
        `mutation ${i} took ${(user + system) / 1000} ms, expected at most ${mostMilliseconds}`
      )
    }
    assert.deepEqual(ownNames(), namesBefore, 'a prototype has more names than before')
    assert.ok(accepted > 0, 'no mutation was read: the seed is no seed')
  })
}

const weights = new Float32Array(50).fill(0.2),
  tensors = Buffer.from(
    await new Blob(
      safetensorsParts({ 'attention.0': { shape: [2, 5, 5], data: weights } }, { grid: '2 2 1' })
    ).arrayBuffer()
  )

const headerLength = Number(tensors.readBigUInt64LE(0)),
  header = JSON.parse(tensors.subarray(8, 8 + headerLength).toString())
fuzz(
  'header of .safetensors',
  () => {
    const text = mutatedValue(header),
      length = Buffer.alloc(8)
    length.writeBigUInt64LE(BigInt(text.length))
    return Buffer.concat([length, text, tensors.subarray(8 + headerLength)])
  },
  async (bytes) => {
    const file = /** @type {any} */ (new File([/** @type {any} */ (bytes)], 'a.safetensors')),
      read = await readSafetensorsHeader(file)
    for (const name of Object.keys(read.header))
      if (name !== '__metadata__') {
        const { shape, data } = await readTensor(file, read, name)
        assert.equal(
          data.length,
          shape.reduce((a, b) => a * b, 1)
        )
      }
  }
)

/* ----------------------------------------------------------------------------- files of the page */

const png =
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==',
  pin = {
    title: 'a',
    note: '',
    name: 'b',
    model: 'c',
    score: 'softmax',
    settings: '#l=1',
    weights_sha256: null,
    shape: { tokens: 5, prefixTokens: 1, rows: 2, columns: 2 },
    region: { x: 0, y: 0, width: 4, height: 4 },
    row: [0.2, 0.2, 0.2, 0.2, 0.2],
    b: true
  },
  session = {
    heed_session: 1,
    version: '0.3.0',
    weights_sha256: null,
    settings: '#l=4&q=3.4&x=1.0_3.2&k=0.5&z=3_10-12',
    changes: '',
    picture: { name: 'p', png },
    pins: [
      pin,
      { ...pin, scene: 3, b: false },
      { ...pin, picture: 0, b: false, weights_sha256: { 'model.safetensors': 'ab' } }
    ],
    pictures: [{ name: 'q', png }]
  }

/* What a page has, as far as a session needs it: canvases that draw nothing. */
class ImageData {
  /**
   * @param {Uint8ClampedArray} data
   * @param {number} width
   * @param {number} height
   */
  constructor(data, width, height) {
    Object.assign(this, { data, width, height })
  }
}
const context = new Proxy({}, { get: () => () => {}, set: () => true }),
  document = { createElement: () => ({ getContext: () => context, width: 0, height: 0 }) }
const createImageBitmap = async (/** @type {Blob} */ blob) => {
  if (blob.size < 60) throw new Error('no picture')
  return { width: 4, height: 4 }
}
Object.assign(globalThis, { ImageData, document, createImageBitmap })

/**
 * A page whose picture is p.
 * @param {any} kept what it is told to keep
 * @returns {any}
 */
const pageOf = (kept) => ({
  picture: { source: {}, width: 4, height: 4, name: 'p' },
  source: null,
  engine: {
    saved: { attention: [] },
    scene: async () => ({ image: { data: new Uint8ClampedArray(64), width: 4, height: 4 } })
  },
  store: { set: (/** @type {any} */ value) => Object.assign(kept, value), get: () => kept },
  run: async () => {},
  fit: (/** @type {any} */ state) => Object.assign(kept, { fitted: state }),
  openScene: async (/** @type {any} */ scene) => assert.ok(Number.isInteger(scene))
})

/** @param {Buffer} bytes */
async function openMutated(bytes) {
  const read = await readSession(new File([/** @type {any} */ (bytes)], 'a.json'))
  if (!read) return
  const kept = /** @type {any} */ ({})
  await openSession(pageOf(kept), read)
  const { pins: said = [] } = JSON.parse(bytes.toString())
  assert.equal(kept.pins?.length ?? 0, Array.isArray(said) ? said.length : 0)
  for (const [i, { row, shape, title, note, settings, image, picture }] of (
    kept.pins ?? []
  ).entries()) {
    const { tokens, prefixTokens, rows, columns } = said[i].shape
    assert.deepEqual(shape, { tokens, prefixTokens, rows, columns })
    assert.ok(rows > 0 && columns > 0 && tokens === prefixTokens + rows * columns)
    assert.deepEqual(row, Float32Array.from(said[i].row))
    assert.ok(row.length === tokens && row.every(Number.isFinite))
    for (const [text, from] of [
      [title, said[i].title],
      [note, said[i].note]
    ])
      assert.equal(text, typeof from === 'string' ? from.slice(0, 500) : '')
    assert.equal(settings, said[i].settings)
    assert.ok(image.width > 0 && picture.width > 0)
  }
}
const opened = async (/** @type {any} */ changed) => {
  const kept = /** @type {any} */ ({})
  await openSession(
    pageOf(kept),
    await readSession(new File([JSON.stringify({ ...session, ...changed })], 'a.json'))
  )
  return kept
}

test('more pins than a session has are refused, when it is opened and when it is saved', async () => {
  const pins = (/** @type {number} */ count) => Array(count).fill({ ...pin, b: false })
  assert.equal((await opened({ pins: pins(200) })).pins.length, 200)
  const refused = /too many pins \(found 201, expected at most 200\)/
  await assert.rejects(() => opened({ pins: pins(201) }), refused)
  await assert.rejects(() => writeSession(pageOf({ pins: pins(201) })), refused)
})

test('pictures of a session: PNGs alone, of so many pixels together, before one is decoded', async () => {
  const sized = (/** @type {number} */ width, /** @type {number} */ height) => {
    const bytes = Buffer.from(png.split(',')[1], 'base64')
    bytes.writeUInt32BE(width, 16)
    bytes.writeUInt32BE(height, 20)
    return { name: 'q', png: `data:image/png;base64,${bytes.toString('base64')}` }
  }
  const half = sized(2 ** 14, 2 ** 13),
    pins = [{ ...pin, picture: 1 }]
  assert.equal((await opened({ pins, pictures: [half, half] })).pins.length, 1)
  const tooLarge = /too large \(found \d+ pixels, expected at most 268435456\)/
  for (const pictures of [
    [half, half, sized(1, 1)],
    [sized(2 ** 31 - 1, 2 ** 31 - 1), half]
  ])
    await assert.rejects(() => opened({ pins, pictures }), tooLarge)
  await assert.rejects(() => opened({ picture: sized(2 ** 14 + 1, 2 ** 14) }), tooLarge)
  const jpeg = Buffer.alloc(90)
  jpeg.writeUInt16BE(0xffd8)
  for (const bytes of [jpeg, Buffer.from('short')])
    await assert.rejects(
      () =>
        opened({
          picture: { name: 'q', png: `data:image/png;base64,${bytes.toString('base64')}` }
        }),
      /picture/
    )
})

test('a pin of a column of patches takes no long canvas', async () => {
  const row = Array(9999).fill(1 / 9999),
    shape = { tokens: 9999, prefixTokens: 0, rows: 9999, columns: 1 },
    [{ picture }] = (await opened({ pins: [{ ...pin, row, shape }] })).pins
  assert.deepEqual([picture.width, picture.height], [224, 896])
})

test('session file: nested a million times, or with a million entries, costs no more than its bytes', async () => {
  const whole = JSON.stringify(session)
  for (const more of [
    '['.repeat(1e6),
    '['.repeat(1e6) + ']'.repeat(1e6),
    '{"a":'.repeat(1e5) + '0' + '}'.repeat(1e5),
    `[${'0,'.repeat(1e6)}0]`
  ])
    for (const key of ['x', 'pins', 'pictures', '__proto__']) {
      const bytes = Buffer.from(`${whole.slice(0, -1)},"${key}":${more}}`),
        before = process.memoryUsage().rss
      await openMutated(bytes).catch((error) => {
        if (error instanceof assert.AssertionError) throw error
        expectSentence(error, bytes)
      })
      assert.ok(process.memoryUsage().rss - before < 3e8, key)
    }
  assert.deepEqual(ownNames(), namesBefore)
})

fuzz('session file, bytes', Buffer.from(JSON.stringify(session)), openMutated)
fuzz('session file, values', () => mutatedValue(session), openMutated)

/* Numbers that the page saved, of a drawn scene and of its picture. */
const numbers = {
  heed: '1',
  provenance: { settings: '#l=4&q=3.4', weights_sha256: null, picture: 'p' },
  layers: []
}
for (const picture of ['p', 'Scene 7'])
  fuzz(
    `numbers of ${picture}, values`,
    () => mutatedValue({ ...numbers, provenance: { ...numbers.provenance, picture } }),
    async (bytes) => {
      const from = await readNumbers(new File([/** @type {any} */ (bytes)], 'n.json'))
      if (!from) return
      const kept = /** @type {any} */ ({})
      await openNumbers(pageOf(kept), from, 'n.json')
      assert.ok(kept.fitted)
      assert.equal(typeof from.picture, 'string')
    }
  )
