/* Values of another realm, as tests in vm contexts, iframes and other windows give them: instanceof does not
 * know their classes. What is taken gives the bits that values of this realm give. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test, { after, before } from 'node:test'
import { createContext, runInContext } from 'node:vm'
import { createRuntime, demoModel, explain, HeedError } from '../package.js'
import { sameBits } from '../safetensors.js'

const realm = createContext({}),
  /** @type {(code: string) => any} */
  there = (code) => runInContext(code, realm)

/**
 * The same numbers in the other realm's array of the same name.
 * @param {Float32Array | Uint8Array | Uint8ClampedArray | Int32Array} array
 */
function moved(array) {
  const other = new (there(array.constructor.name))(array.length)
  other.set(array)
  assert.ok(!(other instanceof array.constructor))
  return other
}

const pixels = new Uint8ClampedArray(64 * 48 * 4).map((_, i) => (i * 7) % 251),
  values = new Float32Array(3 * 224 * 224).map((_, i) => Math.sin(i / 100)),
  bytes = {
    weights: new Uint8Array(readFileSync(demoModel.weights)),
    config: new Uint8Array(readFileSync(demoModel.config))
  }

for (const worker of [false, true]) {
  const where = worker ? 'in a worker' : 'in the calling thread'
  /** @type {import('heed').Runtime} */
  let runtime
  /** @type {import('heed').Session} */
  let session
  before(async () => {
    runtime = await createRuntime({ threads: 1, worker })
    session = (await runtime.loadModel(demoModel)).createSession({ taps: 'rows', intervene: {} })
  })
  after(() => runtime.close())

  /** @param {any} input */
  const logits = async (input) => /** @type {Float32Array} */ ((await session.run(input)).logits)

  test(`pictures and pixel_values, ${where}`, async () => {
    const size = { width: 64, height: 48 }
    for (const [own, other] of [
      [values, moved(values)],
      [
        { data: pixels, ...size },
        { data: moved(pixels), ...size }
      ],
      [
        { data: new Uint8Array(pixels), ...size },
        { data: moved(new Uint8Array(pixels)), ...size }
      ],
      [{ data: pixels, ...size }, Object.assign(there('({})'), { data: moved(pixels), ...size })]
    ])
      assert.ok(sameBits(await logits(own), await logits(other)))
  })

  test(`models: bytes, buffers, lists and maps, ${where}`, async () => {
    const weights = moved(bytes.weights),
      config = moved(bytes.config)
    for (const source of /** @type {any[]} */ ([
      { weights, config },
      { weights: weights.buffer, config: config.buffer },
      { weights: weights.subarray(0), config },
      Object.assign(there('({})'), { weights, config }),
      there(
        '(weights, config) => new Map([["model.safetensors", weights], ["config.json", config]])'
      )(weights, config),
      there('(...files) => files')(
        new File([bytes.weights], 'model.safetensors'),
        new File([bytes.config], 'config.json')
      )
    ])) {
      const model = await runtime.loadModel(source)
      assert.deepEqual([model.info.classes, model.info.heads], [10, 4])
      model.close()
    }
    for (const lone of [weights, weights.buffer])
      assert.equal((await runtime.loadModel(lone)).info.width, 128)
  })

  test(`what else is passed: options, functions, inputs, cases, ${where}`, async () => {
    const before = await logits(values)
    await session.write('layer.3.attention.gain', moved(new Float32Array(4)))
    assert.ok(!sameBits(await logits(values), before))
    await session.write('layer.3.attention.gain', moved(new Float32Array(4).fill(1)))
    await session.write('token_mask', moved(new Uint8Array(197).fill(1)))
    assert.ok(sameBits(await logits(values), before))
    const seen = there('(seen => ({ seen, onProgress: () => seen.push(1) }))([])')
    await session.run(values, Object.assign(there('({})'), { onProgress: seen.onProgress }))
    assert.ok(seen.seen.length > 1)
    const row = await session.attention({ layer: 1, head: 0, query: there('[1, 2]') })
    assert.ok(sameBits(row, await session.attention({ layer: 1, head: 0, query: [1, 2] })))
    for (const given of [moved(new Uint8Array(9)), moved(new Uint8Array(9)).buffer])
      await assert.rejects(runtime.check(given), { status: 'INVALID_FILE' })
    const { scene } = await runtime.scene(
      there("({ objects: [{ shape: 'star', colour: 'red', x: 60, y: 60, radius: 20 }] })")
    )
    assert.equal(scene.objects.length, 1)
  })

  test(`what is not taken is named, ${where}`, async () => {
    for (const [input, name] of [
      [there('new Float64Array(9)'), 'Float64Array'],
      [there('new DataView(new ArrayBuffer(8))'), 'DataView']
    ])
      await assert.rejects(session.run(input), {
        name: 'HeedError',
        status: 'INVALID_ARGUMENT',
        message: new RegExp(`^run: invalid image \\(found ${name}, expected`)
      })
    const read = new Response('abc')
    read.body?.getReader()
    for (const [source, message] of /** @type {[any, RegExp][]} */ ([
      [there('new SharedArrayBuffer(8)'), /\(found SharedArrayBuffer, expected bytes/],
      [there('new Int16Array(8)'), /\(found Int16Array, expected bytes/],
      [new Response(null), /\(found a Response without a body, expected one to read\)/],
      [read, /\(found a Response that is being read, expected one to read\)/]
    ]))
      await assert.rejects(runtime.loadModel(source), {
        name: 'HeedError',
        status: 'INVALID_ARGUMENT',
        message
      })
  })
}

test('heed/explain takes arrays of another realm, and refuses other numbers', () => {
  const row = new Float32Array([0.5, 0.25, 0.25])
  assert.equal(explain.entropy(moved(row)), explain.entropy(row))
  assert.deepEqual(explain.headMean([moved(row), row]), explain.headMean([row, row]))
  assert.throws(() => explain.entropy(there('new Float64Array([0.5, 0.5])')), {
    name: 'HeedError',
    message: 'explain: row: wrong type (found Float64Array, expected Float32Array)'
  })
  assert.ok(new HeedError('IO', '') instanceof Error)
})
