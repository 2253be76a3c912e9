/* SPIR-V to WGSL: every module converts, and every pipeline of the self-check keeps to what WebGPU
 * gives every device. What compilers say of the text is in wgsl_compilers.test.mjs. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { convert } from '../../web/gpu/convert.js'
import { fill } from '../../web/gpu/fill.js'
import { moduleNames, pipelines, readModule } from './spirv_modules.mjs'

const unrolled = 512,
  leastBuffers = 8,
  leastShared = 16384
const templates = new Map(moduleNames().map((name) => [name, convert(readModule(name))]))
const every = pipelines()

/** A module with other ids: what glslang's versions differ in. */
function renumber(/** @type {Uint32Array} */ words) {
  const renumbered = words.slice(),
    bound = words[3]
  /* which words of an instruction are ids; names and what the converter skips keep theirs */
  const patterns = {
    15: 'n..',
    19: 'i',
    20: 'i',
    21: 'inn',
    22: 'in',
    23: 'iin',
    25: 'iinnnnnn',
    27: 'ii',
    28: 'iii',
    29: 'ii',
    30: '*',
    32: 'ini',
    33: '*',
    41: '*',
    42: '*',
    43: 'iin',
    44: '*',
    46: '*',
    48: '*',
    49: '*',
    50: 'iin',
    51: '*',
    54: 'iini',
    55: '*',
    57: '*',
    59: 'iin',
    61: 'iii',
    62: 'ii',
    71: 'i',
    72: 'i',
    79: 'iiii',
    81: 'iii',
    12: 'iiin*',
    246: 'ii',
    247: 'i',
    251: 'ii-',
    248: '*',
    245: '*',
    234: '*',
    95: 'iiii'
  }
  const other = (/** @type {number} */ id) => bound - id
  for (let i = 5; i < words.length; i += words[i] >>> 16) {
    const op = words[i] & 0xffff,
      length = words[i] >>> 16,
      first = i + 1
    let pattern = patterns[op] ?? (op >= 12 && op !== 14 && op !== 16 && op !== 17 ? '*' : '')
    if (op === 52) pattern = words[first + 2] === 81 ? 'iinin' : 'iin*'
    for (let k = 0, p = 0; first + k < i + length; k++) {
      const kind = pattern[p]
      let isId = kind === 'i' || kind === '*'
      if (kind === '-') isId = (k - p) % 2 === 1
      if (op === 15) isId = k === 1
      if (isId) renumbered[first + k] = other(words[first + k])
      if (kind !== '*' && kind !== '-') p++
    }
  }
  return renumbered
}

test('every module for browsers becomes a template', () => {
  assert.ok(templates.size >= 40, `found ${templates.size} modules`)
  for (const [name, template] of templates) {
    const { code, buffers } = fill(template, [])
    assert.match(code, /@compute @workgroup_size\(\d+\)\nfn main\(/, name)
    assert.ok(
      buffers.some(({ writes }) => writes),
      `${name} writes nothing`
    )
  }
})

test('pipelines keep to what WebGPU gives every device', () => {
  assert.ok(every.length >= 200, `found ${every.length} pipelines`)
  for (const { name, constants } of every)
    for (const unroll of [0, unrolled]) {
      const { code, buffers } = fill(templates.get(name), constants, { unroll }),
        what = `${name} ${constants}`
      assert.ok(buffers.length <= leastBuffers, `${what}: ${buffers.length} storage buffers`)
      assert.equal(
        new Set(buffers.map(({ slot }) => slot)).size,
        buffers.length,
        `${what}: a slot is bound twice`
      )
      assert.doesNotMatch(code, /undefined|NaN|Infinity|object/, what)
      assert.ok(
        sharedBytes(code) <= leastShared,
        `${what}: ${sharedBytes(code)} bytes of a workgroup`
      )
    }
})

/** Bytes of the workgroup's variables. */
function sharedBytes(/** @type {string} */ code) {
  const sizes = { 'vec4<f32>': 16, 'vec4<i32>': 16, 'vec4<u32>': 16, f32: 4, u32: 4, i32: 4 }
  let bytes = 0
  for (const [, type] of code.matchAll(/^var<workgroup> g\d+:(.*);$/gm)) {
    const [, element, count] = /^array<(.*),(\d+)[ui]?>$/.exec(type) ?? [type, type, '1']
    assert.ok(sizes[element], `size of ${type}`)
    bytes += sizes[element] * Number(count)
  }
  return bytes
}

test('templates are data: what JSON keeps gives the same text', () => {
  for (const { name, constants } of every.slice(0, 60)) {
    const template = templates.get(name)
    assert.equal(
      fill(JSON.parse(JSON.stringify(template)), constants).code,
      fill(template, constants).code
    )
  }
})

test('ids do not matter, nor do names', () => {
  for (const [name, template] of templates) {
    const words = readModule(name),
      renumbered = renumber(words)
    assert.notDeepEqual(renumbered, words, name)
    assert.deepEqual(convert(renumbered), template, name)
  }
})

test('constants choose code: what they leave out is gone', () => {
  const hasMask = 1 | 16384, // HEED_ATTENTION_MASK, HEED_ATTENTION_GUARD
    flags = 5
  const slots = (/** @type {number[]} */ constants) =>
    fill(templates.get('attention'), constants).buffers.map(({ slot }) => slot)
  const plain = every.filter(
    ({ name, constants }) => name === 'attention' && !(constants[flags] & 1)
  )
  assert.ok(plain.length)
  for (const { constants } of plain) {
    assert.ok(!slots(constants).includes(4), 'no mask is read')
    const masked = [...constants]
    masked[flags] |= hasMask
    assert.ok(slots(masked).includes(4), 'the mask is read')
  }
})

test('loops over constants are written out on request', () => {
  const count = (/** @type {string} */ code) => code.split('loop{').length
  const { name, constants } = every.find((pipeline) => pipeline.name === 'linear'),
    looped = fill(templates.get(name), constants).code,
    written = fill(templates.get(name), constants, { unroll: unrolled }).code
  assert.ok(count(written) < count(looped), `${count(written)} of ${count(looped)} loops`)
})

test('what the converter does not know is a sentence', () => {
  const words = readModule('add').slice()
  for (let i = 5; i < words.length; i += words[i] >>> 16)
    if ((words[i] & 0xffff) === 129) words[i] = (words[i] & ~0xffff) | 148 // a dot product
  assert.throws(
    () => convert(words),
    /^Error: SPIR-V to WGSL: this converter has no instruction 148$/
  )
  assert.throws(() => convert(new Uint32Array([1, 2, 3, 4, 5])), /without the number of SPIR-V/)
  const long = readModule('add')
  long[5] |= 0xffff0000
  assert.throws(() => convert(long), /ends within an instruction/)
})
