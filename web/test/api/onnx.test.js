/* ONNX files in the package: outputs and maps equal those of the same weights as .safetensors and what
 * torch computed, from folders, addresses, files and bytes; what is hostile is refused with the
 * sentence of the C reader; the reader's memory goes once a model is open. */
import assert from 'node:assert/strict'
import {
  copyFileSync,
  cpSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test, { after, before } from 'node:test'
import { pathToFileURL } from 'node:url'
import { createRuntime, packageFolder, vectors } from '../package.js'
import { distance, readSafetensors } from '../safetensors.js'
/** @import {LoadModelOptions, ModelSource, Runtime} from 'heed' */
/** @import {FileTensor} from '../safetensors.js' */

const reference = join(vectors, 'vit/hf_vit'),
  onnx = join(vectors, 'onnx'),
  layout = join(onnx, 'vit'),
  config = readFileSync(join(reference, 'config.json')),
  whole = readFileSync(join(onnx, 'model.onnx')),
  io = readSafetensors(join(onnx, 'io.safetensors')).tensors,
  taps = ['layer.0.attention.weights', 'layer.1.attention.weights', 'last_hidden_state']
/** @type {Runtime} */
let runtime
/** @type {string} */
let scratch
/** @type {Record<string, Float32Array>} */
let expected

before(async () => {
  runtime = await createRuntime({ threads: 1 })
  scratch = mkdtempSync(join(tmpdir(), 'heed-onnx-'))
  expected = await run(reference)
})
after(() => {
  runtime.close()
  rmSync(scratch, { recursive: true })
})

/**
 * Logits, maps and states, which must be the same in as many sessions; and the note of the model.
 * @param {ModelSource} source
 * @param {LoadModelOptions & {sessions?: number}} [options]
 */
async function run(source, { sessions = 1, ...options } = {}) {
  const model = await runtime.loadModel(source, options),
    found = []
  for (let i = 0; i < sessions; i++) {
    const session = model.createSession({ batch: 2, taps }),
      { logits, values } = await session.run(/** @type {Float32Array} */ (io.pixel_values.data))
    found.push({
      logits: /** @type {Float32Array} */ (logits),
      ...Object.fromEntries(
        taps.map((name) => [name, /** @type {Float32Array} */ (values[name].data)])
      )
    })
    session.close()
  }
  notes.set(source, model.info.note)
  model.close()
  for (const other of found) assert.deepEqual(other, found[0])
  return /** @type {Record<string, Float32Array>} */ (found[0])
}
/** @type {Map<ModelSource, string | null>} */
const notes = new Map()

/**
 * @param {Record<string, Float32Array>} found
 * @param {Record<string, Float32Array>} wanted
 */
function near(found, wanted, tolerance = 1e-6) {
  for (const [name, data] of Object.entries(wanted)) {
    const apart = distance(found[name], data)
    assert.ok(apart <= tolerance, `${name}: ${apart}, at most ${tolerance}`)
  }
}

/**
 * @param {ModelSource} source
 * @param {LoadModelOptions & {sessions?: number}} [options]
 */
const same = async (source, options) => near(await run(source, options), expected)

/**
 * The bytes of a .safetensors file.
 * @param {Record<string, FileTensor>} tensors
 */
function safetensorsOf(tensors) {
  let at = 0
  const header = Object.fromEntries(
      Object.entries(tensors).map(([name, { shape, data }]) => [
        name,
        { dtype: 'F32', shape, data_offsets: [at, (at += data.byteLength)] }
      ])
    ),
    text = Buffer.from(JSON.stringify(header)),
    size = Buffer.alloc(8)
  size.writeBigUInt64LE(BigInt(text.length))
  return Buffer.concat([
    size,
    text,
    ...Object.values(tensors).map(({ data }) =>
      Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    )
  ])
}

/**
 * To the nearest number of fp16, ties to even.
 * @param {number} value
 */
function toHalf(value) {
  const unit = 2 ** (Math.max(-14, Math.floor(Math.log2(Math.abs(value) || 1e-9))) - 10),
    steps = value / unit,
    rest = steps - Math.floor(steps)
  return (
    unit * (Math.floor(steps) + (rest > 0.5 || (rest === 0.5 && Math.floor(steps) % 2) ? 1 : 0))
  )
}

test('one file and external data: outputs and maps of .safetensors, and what torch computed', async () => {
  const folder = join(scratch, 'plain')
  mkdirSync(folder)
  writeFileSync(join(folder, 'config.json'), config)
  writeFileSync(join(folder, 'model.onnx'), whole)
  for (const source of [folder, join(folder, 'model.onnx'), layout, `${layout}/onnx/model.onnx`]) {
    const found = await run(source, { sessions: 2 })
    near(found, expected)
    near(
      found,
      {
        logits: /** @type {Float32Array} */ (io.logits.data),
        'layer.0.attention.weights': /** @type {Float32Array} */ (io['attention.0'].data),
        'layer.1.attention.weights': /** @type {Float32Array} */ (io['attention.1'].data),
        last_hidden_state: /** @type {Float32Array} */ (io.last_hidden_state.data)
      },
      2e-5
    )
    assert.equal(
      notes.get(source),
      "model.onnx: ONNX file as weights of heed's own graph (opset 14 by pytorch 1.13.0, 223 nodes, 40 named weights)"
    )
  }
  await run(reference)
  assert.equal(notes.get(reference), null)
})

test('fp16, q8 and q4 equal .safetensors of the same rounded weights', async () => {
  const { tensors } = readSafetensors(join(reference, 'model.safetensors')),
    halves = Object.fromEntries(
      Object.entries(tensors).map(([name, { shape, data }]) => [
        name,
        { shape, data: Float32Array.from(data, toHalf) }
      ])
    )
  for (const [file, rounded] of /** @type {[string, Record<string, FileTensor>][]} */ ([
    ['model_fp16.onnx', halves],
    [
      'model_quantized.onnx',
      { ...tensors, ...readSafetensors(join(onnx, 'expected_q8.safetensors')).tensors }
    ],
    [
      'model_q4.onnx',
      { ...tensors, ...readSafetensors(join(onnx, 'expected_q4.safetensors')).tensors }
    ]
  ])) {
    const wanted = await run({ weights: safetensorsOf(rounded), config }),
      found = await run(layout, { file: `onnx/${file}` })
    near(found, wanted)
    assert.ok(distance(wanted.logits, expected.logits) > 1e-5, `${file}: weights are not rounded`)
    near(await run(join(layout, 'onnx', file)), wanted)
  }
})

test('bytes, blobs, responses and files that are given together', async () => {
  const parts = ['model.onnx', 'model.onnx_data'].map((name) => ({
    name,
    bytes: readFileSync(join(layout, 'onnx', name))
  }))
  await same({ weights: whole, config })
  await same({ 'config.json': config, 'VIT.ONNX': new Blob([whole]) }, { sessions: 2 })
  await same({ weights: new Response(whole), config }, { sessions: 2 })
  await same(
    Object.fromEntries([['config.json', config], ...parts.map(({ name, bytes }) => [name, bytes])])
  )
  if (globalThis.File)
    await same([
      new File([config], 'config.json'),
      ...parts.map(({ name, bytes }) => new File([bytes], name)),
      new File([readFileSync(join(layout, 'onnx/model_q4.onnx'))], 'model_q4.onnx')
    ])
})

/**
 * A copy of the layout whose external data is at another place of 15 characters.
 * @param {string} name
 * @param {string} place
 */
function placed(name, place) {
  const folder = join(scratch, name),
    file = join(folder, 'onnx/model.onnx')
  cpSync(layout, folder, { recursive: true })
  assert.equal(place.length, 15)
  writeFileSync(file, readFileSync(file, 'latin1').replaceAll('model.onnx_data', place), 'latin1')
  return folder
}

/**
 * @param {string} folder
 * @param {string} place
 */
function moveData(folder, place) {
  mkdirSync(dirname(join(folder, 'onnx', place)), { recursive: true })
  renameSync(join(folder, 'onnx/model.onnx_data'), join(folder, 'onnx', place))
}

test('addresses: external data in folders beneath the model, config files above onnx/', async () => {
  const folder = placed('beneath', 'a/b c/weight.on')
  moveData(folder, 'a/b c/weight.on')
  await same(folder)
  const asked = /** @type {string[]} */ ([]),
    server = createServer(({ url = '' }, response) => {
      asked.push(url)
      try {
        response.end(readFileSync(join(folder, decodeURIComponent(url))))
      } catch {
        response.writeHead(404).end()
      }
    })
  await new Promise((done) => server.listen(0, 'localhost', () => done(null)))
  const address = `http://localhost:${/** @type {any} */ (server.address()).port}/`
  try {
    await same(address, { sessions: 2 })
    assert.ok(asked.includes('/onnx/a/b%20c/weight.on'), asked.join())
    await same(`${address}onnx/model.onnx`)
    await same({ weights: `${address}onnx/model.onnx`, config })
    assert.equal((await run(address, { file: 'onnx/model_fp16.onnx' })).logits.length, 10)
  } finally {
    server.close()
  }
})

test('of a folder the most exact ONNX file is taken, and only where there are no other weights', async () => {
  const folder = join(scratch, 'ranks')
  mkdirSync(folder)
  writeFileSync(join(folder, 'config.json'), config)
  for (const name of ['model_q4.onnx', 'model_quantized.onnx', 'model_fp16.onnx'])
    copyFileSync(join(layout, 'onnx', name), join(folder, name))
  await run(folder)
  assert.match(String(notes.get(folder)), /^model_fp16\.onnx: /)
  copyFileSync(join(reference, 'model.safetensors'), join(folder, 'model.safetensors'))
  await run(folder)
  assert.equal(notes.get(folder), null)
  await assert.rejects(runtime.loadModel(folder, { file: 'onnx/none.onnx' }), {
    status: 'IO',
    message: /^none\.onnx: missing/
  })
  await assert.rejects(runtime.loadModel(whole, { file: 'model.onnx' }), {
    status: 'INVALID_ARGUMENT'
  })
})

/**
 * @param {ModelSource} source
 * @param {RegExp} sentence
 */
const refused = (source, sentence) =>
  assert.rejects(runtime.loadModel(source), ({ name, status, message }) => {
    assert.equal(name, 'HeedError')
    assert.match(status, /^(INVALID_FILE|UNSUPPORTED|IO)$/)
    assert.match(message, sentence)
    return true
  })

test('external data elsewhere is refused: climbing, absolute, of Windows, links, nothing there', async () => {
  const elsewhere =
    /^model\.onnx: external data .+: found a path that leads elsewhere \(expected a file in the folder of the model\)$/
  writeFileSync(join(scratch, 'outer.onnx'), readFileSync(join(layout, 'onnx/model.onnx_data')))
  for (const [i, place] of [
    '../../ter.onnx_',
    'a/../../ter.onn',
    '/tmp/outer.onnx',
    '..\\..\\ter.onnx_',
    'C:\\outer.onnx_d',
    'C:outer.onnx_da',
    'a//outer.onnx_d'
  ].entries()) {
    const folder = placed(`outside${i}`, place)
    await refused(folder, elsewhere)
    // nor does a name that leads elsewhere find a file that was given with it
    await refused(
      {
        'config.json': config,
        'model.onnx': readFileSync(join(folder, 'onnx/model.onnx')),
        [place]: whole
      },
      elsewhere
    )
  }
  await refused(
    placed('missing', 'nodel.onnx_data'),
    /^model\.onnx: external data nodel\.onnx_data: found no file of this name \(expected/
  )
  const link = /external data xodel\.onnx_data: found a link/,
    linked = placed('linked', 'xodel.onnx_data')
  symlinkSync(join(scratch, 'outer.onnx'), join(linked, 'onnx/xodel.onnx_data'))
  await refused(linked, link)
  rmSync(join(linked, 'onnx/xodel.onnx_data'))
  linkSync(join(scratch, 'outer.onnx'), join(linked, 'onnx/xodel.onnx_data'))
  await refused(linked, link)
  const parent = placed('parent', 'under/onnx_data')
  mkdirSync(join(scratch, 'other'))
  copyFileSync(join(layout, 'onnx/model.onnx_data'), join(scratch, 'other/onnx_data'))
  symlinkSync(join(scratch, 'other'), join(parent, 'onnx/under'))
  await refused(parent, /external data under\/onnx_data: found a link/)
  await same(layout) // the runtime works on
})

test('damaged files get a sentence: cut at every 97th byte, empty, of another kind', async () => {
  for (let length = 9; length < whole.length; length += 97)
    await refused({ 'model.onnx': whole.subarray(0, length), 'config.json': config }, /^\S.+: .+/)
  const data = readFileSync(join(layout, 'onnx/model.onnx_data'))
  await refused(
    {
      'config.json': config,
      'model.onnx': readFileSync(join(layout, 'onnx/model.onnx')),
      'model.onnx_data': data.subarray(0, data.length - 1)
    },
    /lies beyond the end of model\.onnx_data \(found \d+ bytes, expected/
  )
  await refused(
    { 'vit.onnx': Buffer.from('\x08\x07\x12\x07pytorch\x1a\x031.0'), 'config.json': config },
    /^vit\.onnx: not an ONNX model \(found 0 graphs, expected one\)$/
  )
  await refused(
    { 'vit.onnx': Buffer.from('GGUF\x03\0\0\0\0\0\0\0'), 'config.json': config },
    /^vit\.onnx: /
  )
  await same({ weights: whole, config })
})

test('all memory is given back once the model is closed', async () => {
  const file = `${layout}/onnx/model_quantized.onnx`
  ;(await runtime.loadModel(file)).close() // its module has started then
  const { used } = await runtime.memory(),
    model = await runtime.loadModel(file),
    sizes = [(await runtime.memory()).used]
  for (let i = 0; i < 3; i++) {
    const session = model.createSession({ taps: 'all' })
    await session.ready
    session.close()
    await runtime.memory() // the close is asked for by then
    sizes.push((await runtime.memory()).used)
  }
  assert.deepEqual(sizes, Array(4).fill(sizes[0]))
  model.close()
  assert.equal((await runtime.memory()).used, used)
  console.log(`a file that is open: ${sizes[0] - used} bytes`)
})

test('the module is loaded with the first such file', async () => {
  const base = join(scratch, 'package')
  mkdirSync(base)
  copyFileSync(join(packageFolder, 'heed.wasm'), join(base, 'heed.wasm'))
  const alone = await createRuntime({
    threads: 1,
    simd: 'simd',
    worker: false,
    base: pathToFileURL(`${base}/`)
  })
  ;(await alone.loadModel(reference)).close()
  await assert.rejects(alone.loadModel({ weights: whole, config }), {
    status: 'IO',
    message: /^heed-all\.wasm: cannot be loaded \(found ".*heed-all\.wasm/
  })
  alone.close()
})

test('occlusion of a graph is that of its weights', async () => {
  /** @type {import('heed').Explanation[]} */
  const found = []
  for (const [source, options] of /** @type {[string, LoadModelOptions][]} */ ([
    [reference, {}],
    [join(onnx, 'model.onnx'), { way: 'graph' }]
  ])) {
    const model = await runtime.loadModel(source, options),
      session = model.createSession({ batch: 2 }),
      { logits } = await session.run(/** @type {Float32Array} */ (io.pixel_values.data))
    for (const target of [undefined, 1])
      for (const square of [undefined, 1])
        found.push(await session.explain({ methods: ['occlusion'], batch: 1, target, square }))
    if (options.way) {
      assert.deepEqual(
        (await session.run(/** @type {Float32Array} */ (io.pixel_values.data))).logits,
        logits
      )
      await assert.rejects(session.explain({ methods: ['ledger'] }), { status: 'UNSUPPORTED' })
      await assert.rejects(session.explain({ methods: ['occlusion'], target: 999 }), {
        status: 'INVALID_ARGUMENT',
        message: /found 999, expected a class below/
      })
    }
    model.close()
  }
  for (let i = 0; i < 4; i++)
    for (const name of /** @type {const} */ (['score', 'occlusion', 'occlusion.probability'])) {
      const weights = found[i][name],
        graph = found[i + 4][name]
      assert.deepEqual(graph?.shape, weights?.shape, name)
      const apart = distance(/** @type {any} */ (graph).data, /** @type {any} */ (weights).data)
      assert.ok(apart <= 1e-5, `${name} ${i}: ${apart}`)
    }
})
