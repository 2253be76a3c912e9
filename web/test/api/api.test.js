/* The JavaScript API in Node: sources, errors, progress, cancelling, closing, memory. */
import assert from 'node:assert/strict'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { pathToFileURL } from 'node:url'
import { bigModel } from '../big_model.js'
import {
  createRuntime,
  demoModel,
  HeedError,
  packageFolder,
  repository,
  vectors
} from '../package.js'
import { sameBits } from '../safetensors.js'
/** @import {CallOptions, DrawnScene, ImageInput, ModelSource, Progress, Runtime} from 'heed' */

const demoFolder = join(repository, 'runtime/demo/model')
/** @param {string} name */
const bytesOf = (name) => new Uint8Array(readFileSync(join(demoFolder, name)))
/**
 * @param {string} status
 * @param {RegExp} sentence
 */
const fails = (status, sentence) => (/** @type {Error} */ error) =>
  error instanceof HeedError && error.status === status && sentence.test(error.message)
const modes = { direct: { threads: 1 }, worker: { threads: 2, worker: true } }
/** @type {Record<string, Runtime>} */
const runtimes = {}
/** @type {DrawnScene['image']} */
let picture
/** @type {Float32Array} */
let expected

before(async () => {
  for (const [mode, options] of Object.entries(modes)) runtimes[mode] = await createRuntime(options)
  picture = (await runtimes.direct.scene(159)).image
  const model = await runtimes.direct.loadModel(demoModel)
  expected = /** @type {Float32Array} */ ((await model.createSession().run(picture)).logits)
  model.close()
})
after(() => Object.values(runtimes).forEach((runtime) => runtime.close()))

/**
 * Registers a test once for each way to work.
 * @param {string} name
 * @param {(runtime: Runtime, t: import('node:test').TestContext) => unknown} body
 */
const inBoth = (name, body) =>
  Object.keys(modes).forEach((mode) =>
    test(`${name} (${mode})`, async (t) => {
      await body(runtimes[mode], t)
    })
  )

const files = () => ({
  weights: bytesOf('model.safetensors'),
  config: bytesOf('config.json'),
  preprocessor: bytesOf('preprocessor_config.json')
})
const sources = {
  addresses: () => demoModel,
  'a path of a folder': () => demoFolder,
  'an address of a folder': () => new URL('./', demoModel.config),
  bytes: files,
  'array buffers': () =>
    Object.fromEntries(Object.entries(files()).map(([name, bytes]) => [name, bytes.buffer])),
  blobs: () =>
    Object.fromEntries(Object.entries(files()).map(([name, bytes]) => [name, new Blob([bytes])])),
  responses: () =>
    Object.fromEntries(Object.entries(files()).map(([name, bytes]) => [name, new Response(bytes)])),
  'a map of files by their names': () =>
    new Map(
      ['model.safetensors', 'config.json', 'preprocessor_config.json'].map((name) => [
        name,
        bytesOf(name)
      ])
    )
}

for (const [name, source] of Object.entries(sources))
  inBoth(`a model from ${name}`, async (runtime) => {
    const model = await runtime.loadModel(source())
    const { logits } = await model.createSession().run(picture)
    assert.ok(sameBits(/** @type {any} */ (logits), expected))
    model.close()
  })

/**
 * Serves the demo model, or files by `fileOf`, until the test `t` ends: { address, asked (names),
 * spoil(name), close }. Of "slow/..." comes a part and no more.
 * @param {import('node:test').TestContext} t
 * @param {(name: string) => Uint8Array} [fileOf]
 */
async function serveModel(t, fileOf = bytesOf) {
  const asked = /** @type {string[]} */ ([]),
    spoiled = new Set()
  const server = createServer((request, response) => {
    const name = /** @type {string} */ (request.url).slice(1)
    asked.push(name)
    if (name.startsWith('secret')) return response.writeHead(403).end()
    if (name.startsWith('slow/'))
      return response.writeHead(200, { 'Content-Length': 1e6 }).write(Buffer.alloc(1000))
    try {
      const bytes = fileOf(name)
      response.end(Buffer.from(spoiled.has(name) ? bytes.subarray(0, -4) : bytes))
    } catch {
      response.writeHead(404).end()
    }
  })
  server.keepAliveTimeout = 0 // packing may take longer than a connection is kept
  await new Promise((resolve) => server.listen(0, 'localhost', () => resolve(null)))
  const close = () => {
    server.close()
    server.closeAllConnections?.()
  }
  t.after(close)
  return {
    address: `http://localhost:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}/`,
    asked,
    /** @param {string} name */
    spoil: (name) => spoiled.add(name),
    close
  }
}

inBoth(
  'a model over HTTP: progress adds up; a missing file and a refusal are told',
  async (runtime, t) => {
    const { address } = await serveModel(t),
      progress = /** @type {Progress[]} */ ([])
    const model = await runtime.loadModel(address, { onProgress: (p) => progress.push(p) })
    assert.equal(progress[progress.length - 1].phase, 'download')
    assert.equal(
      progress[progress.length - 1].done,
      Object.values(files()).reduce((sum, bytes) => sum + bytes.length, 0)
    )
    for (let i = 1; i < progress.length; i++) assert.ok(progress[i].done >= progress[i - 1].done)
    model.close()
    await assert.rejects(
      runtime.loadModel(`${address}none.safetensors`),
      fails('IO', /none\.safetensors: missing/)
    )
    await assert.rejects(runtime.loadModel(`${address}secret.safetensors`), fails('IO', /HTTP 403/))
  }
)

inBoth(
  'a stream is held until a session has it; one that shares no weights asks for it again',
  async (runtime, t) => {
    const server = await serveModel(t),
      weights = 'model.safetensors',
      { address, asked } = server
    const timesAsked = () => asked.filter((name) => name === weights).length
    const model = await runtime.loadModel(address),
      sessions = /** @type {import('heed').Session[]} */ ([])
    /** @param {number} times */
    async function runs(times) {
      const session = model.createSession()
      sessions.push(session)
      assert.ok(
        sameBits(/** @type {Float32Array} */ ((await session.run(picture)).logits), expected)
      )
      assert.equal(timesAsked(), times)
    }
    async function closeAll() {
      for (const session of sessions.splice(0)) session.close()
      await runtime.memory() // they are closed by then
    }
    assert.equal(timesAsked(), 1)
    await runs(1)
    await runs(1)
    await closeAll()
    await runs(2)
    await closeAll()
    server.spoil(weights)
    await assert.rejects(
      model.createSession().ready,
      fails('IO', /its file has changed \(found \d+ bytes, expected \d+\)/)
    )
    server.close()
    await assert.rejects(model.createSession().ready, fails('IO', /reading failed/))
    model.close()
    const once = await runtime.loadModel(sources.responses())
    for (let i = 0; i < 2; i++) await once.createSession().ready // the second shares its weights
    once.close()
    const spent = await runtime.loadModel(sources.responses()),
      first = spent.createSession()
    await first.ready
    first.close()
    await runtime.memory()
    await assert.rejects(
      spent.createSession().ready,
      fails('INVALID_ARGUMENT', /a Response backs only one session/)
    )
    spent.close()
  }
)

/** A model of so many tensors that packing goes on long after its first word of progress: a worker
 * packs while the cancel is on its way. */
/** @type {Map<string, Uint8Array> | undefined} */
let manyFiles
async function manyTensors() {
  const files = (manyFiles ??= new Map(
    (await bigModel({ layers: 800, side: 2 })).map(({ name, buffer }) => [name, buffer])
  ))
  return (/** @type {string} */ name) => files.get(name) ?? assert.fail(name)
}

inBoth(
  'loading stops while a download is under way and while weights are packed',
  async (runtime, t) => {
    const server = await serveModel(t, await manyTensors()),
      { used } = await runtime.memory(),
      download = new AbortController(),
      packing = new AbortController()
    const load = runtime.loadModel(`${server.address}slow/model.safetensors`, {
      signal: download.signal,
      onProgress: () => download.abort()
    })
    await assert.rejects(load, fails('CANCELLED', /cancelled/))
    const model = await runtime.loadModel(server.address)
    const session = model.createSession({
      signal: packing.signal,
      onProgress: () => packing.abort()
    })
    // Without shared memory a worker looks at its messages between calls only; with it, and in
    // direct mode, packing stops.
    await assert.rejects(session.ready, fails('CANCELLED', /reading weights: cancelled/))
    await model.createSession().ready
    model.close()
    assert.equal((await runtime.memory()).used, used)
  }
)

inBoth('a spoiled model is refused with the sentence of the C core', async (runtime) => {
  const whole = bytesOf('model.safetensors'),
    config = bytesOf('config.json')
  /* What is no .safetensors file is asked of the module for others, which stays: it is part of the rest. */
  await assert.rejects(
    runtime.loadModel({ weights: new Uint8Array(100), config }),
    fails('INVALID_FILE', /./)
  )
  const before = await runtime.memory()
  await assert.rejects(
    runtime.loadModel({ weights: whole.subarray(0, whole.length - 100), config }),
    fails('INVALID_FILE', /found .*expected/)
  )
  await assert.rejects(
    runtime.loadModel({
      weights: whole,
      config: new TextEncoder().encode(
        new TextDecoder().decode(config).replace('hidden_act', 'hidd3n_act')
      )
    }),
    fails('UNSUPPORTED', /hidd3n_act/)
  )
  await assert.rejects(
    runtime.loadModel({ weights: new Uint8Array(0) }),
    fails('INVALID_FILE', /./)
  )
  await assert.rejects(
    runtime.loadModel({ weights: whole, config: new TextEncoder().encode('{"hidden_size": ') }),
    fails('INVALID_FILE', /config\.json/)
  )
  let state = 1
  const draw = (/** @type {number} */ n) =>
    (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) % n
  let refused = 0
  for (let i = 0; i < 100; i++) {
    const weights = whole.slice(),
      spoiled = new Uint8Array(config)
    for (let k = 0; k < 3; k++) {
      weights[draw(2000)] = draw(256)
      spoiled[draw(spoiled.length)] = 48 + draw(10)
    }
    await runtime.loadModel({ weights, config: spoiled }).then(
      (model) => model.close(),
      (error) => {
        assert.ok(error instanceof HeedError, String(error))
        refused++
      }
    )
  }
  assert.ok(refused > 50, `${refused} were refused`)
  /* Another module may stand in the place of one that earlier tests made large. */
  const { used, wasm } = await runtime.memory()
  assert.equal(used, before.used)
  assert.ok(wasm <= before.wasm, `${wasm} bytes, ${before.wasm} before`)
})

/* The module's memory never shrinks. What is refused by its header does not make it grow; a long
 * header does, and where no model is open another module takes its place. */
inBoth('refused files leave no memory behind', async (runtime) => {
  const before = await runtime.memory(),
    { wasm } = before,
    config = bytesOf('config.json'),
    large = new Uint8Array(32 << 20),
    bytes = large.length - 256,
    header = { a: { dtype: 'F32', shape: [bytes / 4], data_offsets: [0, bytes] } }
  new DataView(large.buffer).setBigUint64(0, 248n, true)
  new TextEncoder().encodeInto(JSON.stringify(header).padEnd(248), large.subarray(8))
  const long = new Uint8Array(8 + (40 << 20)).fill(32)
  new DataView(long.buffer).setBigUint64(0, BigInt(long.length - 8), true)
  new TextEncoder().encodeInto('{}', long.subarray(8))
  const longIsRefused = () =>
    assert.rejects(runtime.loadModel({ weights: long }), fails('UNSUPPORTED', /no ViT/))
  const open = await runtime.loadModel(demoModel),
    { wasm: small } = await runtime.memory()
  await assert.rejects(
    runtime.loadModel({ weights: large, config }),
    fails('UNSUPPORTED', /no ViT/)
  )
  assert.equal((await runtime.memory()).wasm, small)
  await longIsRefused()
  assert.ok((await runtime.memory()).wasm > wasm + long.length / 2)
  assert.ok(
    sameBits(
      /** @type {Float32Array} */ ((await open.createSession().run(picture)).logits),
      expected
    )
  )
  open.close()
  await longIsRefused()
  const left = await runtime.memory()
  assert.equal(left.used, before.used)
  assert.ok(left.wasm <= wasm, `${left.wasm} bytes, ${wasm} before`)
  const again = await runtime.loadModel(demoModel)
  assert.ok(
    sameBits(
      /** @type {Float32Array} */ ((await again.createSession().run(picture)).logits),
      expected
    )
  )
  again.close()
  assert.equal((await runtime.memory()).used, before.used)
})

inBoth('what is not a source or not an input is refused', async (runtime) => {
  await assert.rejects(
    runtime.loadModel(/** @type {any} */ (undefined)),
    fails('INVALID_ARGUMENT', /invalid source \(found undefined/)
  )
  await assert.rejects(
    runtime.loadModel({ weights: /** @type {any} */ (7) }),
    fails('INVALID_ARGUMENT', /invalid source/)
  )
  await assert.rejects(
    runtime.loadModel('/no/such/folder/model.safetensors'),
    fails('IO', /missing/)
  )
  const model = await runtime.loadModel(demoModel),
    session = model.createSession()
  await assert.rejects(
    session.attention({ layer: 0, head: 0 }),
    fails('INVALID_ARGUMENT', /no result yet/)
  )
  await assert.rejects(
    session.run(/** @type {any} */ ('picture')),
    fails('INVALID_ARGUMENT', /invalid image/)
  )
  await assert.rejects(
    session.run(picture, { fit: /** @type {any} */ ('crop') }),
    fails('INVALID_ARGUMENT', /found "crop", expected "model", "whole"/)
  )
  await assert.rejects(
    session.run(new Float32Array(7)),
    fails('INVALID_ARGUMENT', /found 7, expected 150528 numbers/)
  )
  await assert.rejects(
    session.run({ data: new Uint8Array(7), width: 2, height: 2 }),
    fails(
      'INVALID_ARGUMENT',
      /invalid image \(found 7 bytes for 2 x 2, expected 1, 3 or 4 per pixel/
    )
  )
  model.close()
})

inBoth('taps, sizes and places that a model has not are refused', async (runtime) => {
  const model = await runtime.loadModel(demoModel),
    session = model.createSession()
  await session.run(picture)
  await assert.rejects(
    session.attention({ layer: 0, head: 0 }),
    fails('INVALID_ARGUMENT', /not retained/)
  )
  await assert.rejects(
    model.createSession({ taps: ['layer.9.output'] }).run(picture),
    fails('INVALID_ARGUMENT', /found "layer\.9\.output"/)
  )
  await assert.rejects(
    model.createSession({ taps: /** @type {any} */ ('some') }).ready,
    fails('INVALID_ARGUMENT', /found "some"/)
  )
  await assert.rejects(
    model.createSession({ height: 8, width: 8 }).ready,
    fails('INVALID_ARGUMENT', /./)
  )
  const maps = model.createSession({ taps: 'all' })
  await maps.run(picture)
  await assert.rejects(
    maps.attention({ layer: 5, head: 0 }),
    fails('INVALID_ARGUMENT', /layer out of range \(found 5, expected less than 5\)/)
  )
  await assert.rejects(
    maps.attention({ layer: 0, head: 4 }),
    fails('INVALID_ARGUMENT', /head out of range/)
  )
  await assert.rejects(
    maps.attention({ layer: 0, head: 0, query: 197 }),
    fails('INVALID_ARGUMENT', /query is not valid \(found 197, expected a token below 197/)
  )
  await assert.rejects(
    maps.attention({ layer: 0, head: 0, query: [14, 0] }),
    fails(
      'INVALID_ARGUMENT',
      /query is not valid \(found \[14, 0\], expected .*\[row, column\] below \[14, 14\]/
    )
  )
  await assert.rejects(maps.rollout({ residual: 2 }), fails('INVALID_ARGUMENT', /rollout/))
  await assert.rejects(
    runtime.scene({ objects: [{ shape: 'blob', colour: 'red', x: 1, y: 1, radius: 9 }] }),
    fails('INVALID_FILE', /scene/)
  )
  await assert.rejects(runtime.check(new Uint8Array(50)), fails('INVALID_FILE', /./))
  await assert.rejects(
    runtime.colormap(/** @type {any} */ ('rainbow')),
    fails('INVALID_ARGUMENT', /rainbow/)
  )
  model.close()
})

test('a runtime wants a number of threads', async () => {
  for (const threads of [0, -1, 1.5, 'many'])
    await assert.rejects(
      createRuntime({ threads: /** @type {any} */ (threads) }),
      fails('INVALID_ARGUMENT', /threads/)
    )
})

/* A missing script is what a bundler leaves behind; one that ends is what limits of a process do. */
for (const [what, script] of Object.entries({
  'is missing': null,
  'throws at once': "throw new Error('no')",
  'ends at once': 'process.exit(0)',
  'is no script': '(('
}))
  test(`threads whose script ${what} leave one thread, and info says why`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'heed-api-'))
    cpSync(packageFolder, folder, { recursive: true })
    if (script) writeFileSync(join(folder, 'thread.js'), script)
    else rmSync(join(folder, 'thread.js'))
    try {
      for (const worker of [false, true]) {
        const runtime = await createRuntime({ threads: 2, base: pathToFileURL(folder), worker }),
          model = await runtime.loadModel(demoModel),
          { logits } = await model.createSession().run(new Float32Array(3 * 224 * 224))
        assert.equal(logits?.length, 10)
        assert.equal(runtime.info.threads, 1)
        assert.match(runtime.info.why, /^one thread: the others could not start \(.+\)/)
        runtime.close()
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

inBoth('named values, a batch, and the layers of a run', async (runtime) => {
  const model = await runtime.loadModel(demoModel),
    progress = /** @type {Progress[]} */ ([])
  const session = model.createSession({
    taps: ['layer.2.output', 'last_hidden_state'],
    batch: 2,
    onProgress: (p) => progress.push(p)
  })
  const { width, layers } = model.info,
    { tokens } = await session.ready
  assert.ok(
    progress.length > 5 &&
      progress.every(({ phase, done, total }) => phase === 'read' && done <= total)
  )
  const layersSeen = /** @type {Progress[]} */ ([])
  const { logits, values } = await session.run(new Float32Array(2 * 3 * 224 * 224), {
    onProgress: (p) => layersSeen.push(p)
  })
  assert.deepEqual(values['layer.2.output'].shape, [2, tokens, width])
  assert.deepEqual(values.last_hidden_state.shape, [2, tokens, width])
  assert.ok(
    sameBits(
      /** @type {Float32Array} */ (logits).slice(0, 10),
      /** @type {Float32Array} */ (logits).slice(10)
    )
  )
  assert.ok(
    layersSeen.length >= layers &&
      layersSeen.every(({ phase, total }) => phase === 'run' && total === layers)
  )
  model.close()
})

inBoth('images of a batch, of any sizes, and their pixel_values', async (runtime) => {
  const model = await runtime.loadModel(demoModel),
    one = model.createSession({ taps: 'all' }),
    two = model.createSession({ taps: 'all', batch: 2 }),
    { image } = await runtime.scene(7),
    wide = { data: new Uint8Array(300 * 200).map((_, i) => i % 251), width: 300, height: 200 },
    pictures = [image, wide],
    singles = []
  for (const picture of pictures) singles.push(await one.run(picture))
  const both = await two.run(pictures),
    [first, last] = singles.map(({ logits }) => /** @type {Float32Array} */ (logits))
  assert.deepEqual(both.logits?.dims, [2, 10])
  for (const [at, logits] of [first, last].entries())
    for (let i = 0; i < 10; i++)
      assert.ok(Math.abs(/** @type {any} */ (both.logits)[10 * at + i] - logits[i]) < 1e-4)
  assert.deepEqual(
    both.regions,
    singles.map(({ region }) => region)
  )
  assert.deepEqual(both.region, singles[1].region)
  assert.deepEqual(both.attention?.[0].dims, [2, 4, 197, 197])

  const { pixelValues, regions } = await two.prepare(pictures)
  assert.deepEqual(pixelValues.dims, [2, 3, 224, 224])
  assert.deepEqual(regions, both.regions)
  const again = await two.run(pixelValues, { maps: false })
  assert.ok(sameBits(/** @type {any} */ (again.logits), both.logits))
  assert.equal(again.attention, null)
  assert.equal(again.regions, null)
  // prepare changes nothing of what has run
  const before = await one.explain({ methods: ['occlusion'], square: 7 })
  const { pixelValues: other } = await one.prepare(image, { fit: 'whole' })
  assert.deepEqual(other.dims, [1, 3, 224, 224])
  assert.deepEqual(await one.explain({ methods: ['occlusion'], square: 7 }), before)

  await assert.rejects(
    two.run(image),
    fails('INVALID_ARGUMENT', /invalid images \(found 1, expected 2 images\)/)
  )
  await assert.rejects(one.run(pictures), fails('INVALID_ARGUMENT', /found 2, expected one image/))
  await assert.rejects(
    one.prepare(/** @type {any} */ (pixelValues)),
    fails('INVALID_ARGUMENT', /prepare: nothing to prepare/)
  )
  await assert.rejects(
    one.prepare(image, /** @type {any} */ ({ maps: true })),
    fails('INVALID_ARGUMENT', /prepare: the option/)
  )
  model.close()
})

inBoth('a run stops between layers, and the session still works', async (runtime) => {
  const model = await runtime.loadModel(demoModel),
    session = model.createSession()
  const controller = new AbortController()
  let layers = 0
  const run = session.run(picture, {
    signal: controller.signal,
    onProgress: () => ++layers === 2 && controller.abort()
  })
  await assert.rejects(run, fails('CANCELLED', /cancelled/))
  await assert.rejects(
    session.run(picture, { signal: AbortSignal.abort() }),
    fails('CANCELLED', /cancelled/)
  )
  await assert.rejects(
    runtime.loadModel(demoModel, { signal: AbortSignal.abort() }),
    fails('CANCELLED', /cancelled/)
  )
  assert.ok(sameBits(/** @type {any} */ ((await session.run(picture)).logits), expected))
  model.close()
})

test('a worker that is stuck while it makes threads is started again', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'heed-stuck-'))
  t.after(() => rmSync(folder, { recursive: true }))
  cpSync(packageFolder, folder, { recursive: true })
  renameSync(join(folder, 'worker.js'), join(folder, 'other.js'))
  // The first says that it makes threads, and nothing more.
  writeFileSync(
    join(folder, 'worker.js'),
    `import { existsSync, writeFileSync } from 'node:fs'
    import { parentPort } from 'node:worker_threads'
    const mark = new URL('stuck', import.meta.url)
    if (existsSync(mark)) await import('./other.js')
    else
      parentPort.once('message', ({ id }) => {
        writeFileSync(mark, '')
        parentPort.postMessage({ kind: 'stage', id, stage: 'threads' })
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
      })`
  )
  const runtime = await createRuntime({
    threads: 2,
    worker: true,
    base: pathToFileURL(`${folder}/`)
  })
  assert.ok(existsSync(join(folder, 'stuck')))
  assert.equal(runtime.info.threads, 2)
  assert.ok((await runtime.scene(159)).image.data.length)
  runtime.close()
})

/* While the page is busy the worker may compute to the end: its answer is there before the signal is. */
inBoth('who cancels a call is never answered by it, and it leaves nothing', async (runtime) => {
  /** @param {(options: CallOptions) => Promise<unknown>} ask */
  const cancelLate = async (ask) => {
    const controller = new AbortController(),
      reason = new Error('the user has left'),
      onProgress = () => {
        if (controller.signal.aborted) return
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400)
        controller.abort(reason)
      }
    await assert.rejects(ask({ signal: controller.signal, onProgress }), {
      name: 'AbortError',
      status: 'CANCELLED',
      cause: reason
    })
  }
  const { used } = await runtime.memory(),
    blobs = Object.fromEntries(
      ['config.json', 'model.safetensors'].map((name) => [
        name,
        new Blob([readFileSync(join(demoFolder, name))])
      ])
    )
  await cancelLate((options) => runtime.loadModel(blobs, options))
  assert.equal((await runtime.memory()).used, used)
  const model = await runtime.loadModel(demoModel),
    loaded = (await runtime.memory()).used
  await cancelLate((options) => model.createSession(options).ready)
  assert.equal((await runtime.memory()).used, loaded)
  const session = model.createSession()
  await session.ready
  await cancelLate((options) => session.run(picture, options))
  assert.ok(sameBits(/** @type {any} */ ((await session.run(picture)).logits), expected))
  model.close()
})

inBoth('what is closed says so', async (runtime) => {
  const model = await runtime.loadModel(demoModel),
    session = model.createSession(),
    other = model.createSession()
  await session.ready
  session.close()
  session.close()
  await assert.rejects(session.run(picture), fails('INVALID_ARGUMENT', /session: already closed/))
  await other.ready
  model.close()
  assert.throws(() => model.createSession(), fails('INVALID_ARGUMENT', /model: already closed/))
  await assert.rejects(other.run(picture), fails('INVALID_ARGUMENT', /session: already closed/))
})

for (const [mode, options] of Object.entries(modes)) {
  test(`a closed runtime says so, also to calls under way (${mode})`, async () => {
    const runtime = await createRuntime(options)
    const model = await runtime.loadModel(demoModel),
      session = model.createSession()
    await session.ready
    const underWay = assert.rejects(
      session.run(picture, { onProgress: () => runtime.close() }),
      fails('INVALID_ARGUMENT', /already closed/)
    )
    await underWay
    runtime.close()
    await assert.rejects(session.run(picture), fails('INVALID_ARGUMENT', /already closed/))
    await assert.rejects(runtime.scene(1), fails('INVALID_ARGUMENT', /runtime: already closed/))
    await assert.rejects(
      runtime.loadModel(demoModel),
      fails('INVALID_ARGUMENT', /runtime: already closed/)
    )
  })

  test(`what is disposed of is closed (${mode})`, async () => {
    const dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose')
    const runtime = await createRuntime(options),
      model = await runtime.loadModel(demoModel),
      session = model.createSession()
    await session.ready
    session[/** @type {typeof Symbol.dispose} */ (dispose)]()
    await assert.rejects(session.run(picture), fails('INVALID_ARGUMENT', /session: already closed/))
    model[/** @type {typeof Symbol.dispose} */ (dispose)]()
    assert.throws(() => model.createSession(), fails('INVALID_ARGUMENT', /model: already closed/))
    runtime[/** @type {typeof Symbol.dispose} */ (dispose)]()
    await assert.rejects(runtime.memory(), fails('INVALID_ARGUMENT', /runtime: already closed/))
  })
}

inBoth(
  'memory is as before after each load, run and close, and WASM memory stands still after the second',
  async (runtime) => {
    const before = await runtime.memory()
    let second
    for (let i = 0; i < (runtime.info.worker ? 20 : 100); i++) {
      const model = await runtime.loadModel(demoModel),
        session = model.createSession({ taps: i % 2 ? 'rows' : 'none' })
      await session.run(picture)
      session.close()
      model.close()
      const now = await runtime.memory()
      assert.equal(now.used, before.used, `cycle ${i}`)
      if (i === 1) second = now.wasm
      assert.equal(now.wasm, i > 1 ? second : now.wasm, `cycle ${i}`)
    }
  }
)

test('results stay when the memory of the module grows', async () => {
  const runtime = await createRuntime({ threads: 1 })
  const model = await runtime.loadModel(demoModel),
    session = model.createSession({ taps: 'all' })
  const { logits, attention } = await session.run(picture),
    copy = /** @type {Float32Array[]} */ ([
      logits,
      .../** @type {Float32Array[]} */ (attention)
    ]).map((array) => array.slice())
  const { wasm } = await runtime.memory()
  await model.createSession({ batch: 8, taps: 'all' }).ready
  assert.ok((await runtime.memory()).wasm > wasm)
  assert.ok(
    /** @type {Float32Array[]} */ ([logits, .../** @type {Float32Array[]} */ (attention)]).every(
      (array, i) => sameBits(array, copy[i])
    )
  )
  runtime.close()
})

test('a model that does not fit is an error, not an end; out of memory says how much is needed', async () => {
  const runtime = await createRuntime({ threads: 1 })
  const model = await runtime.loadModel(demoModel)
  await assert.rejects(
    model.createSession({ batch: 4000, taps: 'all' }).ready,
    fails(
      'OUT_OF_MEMORY',
      /out of memory \(requested \d+ bytes\); the session needs \d{10,11} bytes in all \(\d+ of weights, which heed convert makes smaller\)$/
    )
  )
  assert.ok(
    sameBits(
      /** @type {Float32Array} */ ((await model.createSession().run(picture)).logits),
      expected
    )
  )
  runtime.close()
})

test('JavaScript reads the records that C lists, and every one', () => {
  const text = (/** @type {string} */ name) => readFileSync(join(repository, 'web', name), 'utf8'),
    names = (/** @type {string} */ file, /** @type {RegExp} */ pattern) =>
      new Set([...text(file).matchAll(pattern)].map((match) => match[1])),
    listed = names('wasm/record_list.h', /^RECORD\((\w+),/gm),
    scripts = [
      'engine',
      'explanation',
      'foreign',
      'graph',
      'inputs',
      'maps',
      'model_records',
      'module_memory',
      'module_tokenizer',
      'gpu'
    ],
    read = [...scripts, 'explain/index', 'explain/changes'].flatMap((name) => [
      ...names(`src/${name}.ts`, /(?:odule|this)\.(?:out|code|choice|fields)\('(\w+)'/g),
      ...names(`src/${name}.ts`, /#records\.(\w+)/g)
    ])
  assert.ok(listed.size > 10)
  const inScripts = [...listed].map((name) =>
    name.replace(/_(.)/g, (_, letter) => letter.toUpperCase())
  )
  assert.deepEqual([...new Set(read)].sort(), inScripts.sort())
})

/* What modules export beside the functions of the shim. */
const linker = ['_initialize', 'memory']

test('the modules import and export what they should and nothing else', () => {
  const [header, forAll, forGpu, forTests] = readFileSync(
      join(repository, 'web/wasm/shim.h'),
      'utf8'
    ).split(/^\/\* -+ (?=heed-all\.wasm|heed-gpu\.wasm|for tests)/m),
    listed = (/** @type {string} */ word, /** @type {string} */ text) =>
      [...text.matchAll(new RegExp(`^HEED_WEB_${word}\\((\\w+)\\)`, 'gm'))].map(
        (match) => match[1]
      ),
    every = readdirSync(packageFolder).filter((name) => name.endsWith('.wasm')),
    names = every.filter((name) => name !== 'heed-gpu.wasm')
  assert.ok(forTests.includes('int8_linear'))
  assert.ok(names.length === 4 || names.length === 8, names.join())
  for (const name of names) {
    const threads = name.includes('threads'),
      all = name.includes('-all')
    // Node 20 has relaxed SIMD behind a flag.
    if (name.includes('relaxed') && !WebAssembly.validate(readFileSync(join(packageFolder, name))))
      continue
    const module = new WebAssembly.Module(readFileSync(join(packageFolder, name))),
      imports = WebAssembly.Module.imports(module).map(({ module, name }) => `${module}.${name}`),
      exports = WebAssembly.Module.exports(module).map(({ name }) => name),
      own = [...listed('EXPORT', header), ...(all ? listed('EXPORT', forAll) : [])]
    assert.deepEqual(
      imports.sort(),
      [
        ...(threads ? ['env.memory'] : []),
        'heed.cancelled',
        ...(all ? ['heed.patched'] : []),
        ...['heed.progress', 'heed.read'],
        ...(all ? ['heed.take'] : [])
      ],
      name
    )
    assert.deepEqual(
      exports.sort(),
      [...linker, ...own]
        .filter((name) => (threads ? name !== 'memory' : name !== 'pool' && name !== 'thread'))
        .sort(),
      name
    )
  }
  if (every.includes('heed-gpu.wasm')) {
    const module = new WebAssembly.Module(readFileSync(join(packageFolder, 'heed-gpu.wasm')))
    assert.deepEqual(
      WebAssembly.Module.exports(module)
        .map(({ name }) => name)
        .sort(),
      [...linker, ...listed('EXPORT', header), ...listed('EXPORT', forGpu)]
        .filter((name) => name !== 'pool' && name !== 'thread')
        .sort()
    )
  }
  assert.deepEqual(listed('IMPORT', header).sort(), [
    'cancelled',
    'patched',
    'progress',
    'read',
    'take'
  ])
})

test('parts that are loaded on demand may be missing at first', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'heed-parts-')),
    part = /heed-all/,
    names = readdirSync(packageFolder).filter((name) => name.endsWith('.wasm'))
  const copy = (/** @type {string} */ name) =>
      copyFileSync(join(packageFolder, name), join(folder, name)),
    bytes = readFileSync(join(vectors, 'layers/linear.safetensors'))
  names.filter((name) => !part.test(name)).forEach(copy)
  const runtime = await createRuntime({ threads: 1, base: pathToFileURL(`${folder}/`) })
  await assert.rejects(
    runtime.check(bytes),
    fails('IO', /^heed-all(-relaxed)?\.wasm: cannot be loaded \(found ".*heed-all/)
  )
  names.filter((name) => part.test(name)).forEach(copy)
  assert.deepEqual((await runtime.scene(159)).image, picture)
  assert.equal((await runtime.check(bytes)).passed, true)
  const late = runtime.check(bytes)
  runtime.close()
  await assert.rejects(late, fails('INVALID_ARGUMENT', /runtime: already closed/))
  rmSync(folder, { recursive: true })
})

test('results are the colours and cases of the C core', async () => {
  const viridis = await runtimes.direct.colormap('viridis')
  assert.equal(viridis.length, 768)
  assert.deepEqual([...viridis.slice(0, 3)], [68, 1, 84])
  const result = await runtimes.direct.check(
    readFileSync(join(vectors, 'layers/linear.safetensors'))
  )
  assert.deepEqual([result.op, result.passed, Object.keys(result.results)], ['linear', true, []])
})

inBoth(
  'a run goes on from a layer: the bits of a whole run, for less; what it cannot go on from is refused',
  async (runtime) => {
    const model = await runtime.loadModel(demoModel),
      { layers, heads } = model.info,
      taps = Array.from({ length: layers }, (_, i) => [
        `layer.${i}.output`,
        `layer.${i}.attention.weights`
      ]).flat()
    const session = model.createSession({ taps, intervene: {} }),
      same = model.createSession({ taps, intervene: {} })
    await assert.rejects(session.runFrom(2), fails('INVALID_ARGUMENT', /no result yet/))
    await session.run(picture)
    for (const [layer, share] of [
      [3, 0.25],
      [1, 0.5],
      [4, 0]
    ]) {
      const gain = new Float32Array(heads).fill(share),
        heard = /** @type {number[]} */ ([])
      await Promise.all(
        [session, same].map((each) => each.write(`layer.${layer}.attention.gain`, gain))
      )
      const found = await session.runFrom(layer, { onProgress: ({ done }) => heard.push(done) }),
        whole = await same.run(picture)
      assert.deepEqual(found.logits, whole.logits)
      assert.deepEqual(found.region, whole.region)
      for (const name of taps)
        assert.deepEqual(found.values[name].data, whole.values[name].data, name)
      assert.deepEqual(
        heard.filter((done) => done <= layer),
        []
      )
    }
    assert.deepEqual((await session.runFrom(layers)).logits, (await same.run(picture)).logits)
    await assert.rejects(
      session.runFrom(layers + 1),
      fails('INVALID_ARGUMENT', /found no "layer\.5\.output" in taps/)
    )
    const rows = model.createSession({ taps: 'rows' })
    await rows.run(picture)
    await assert.rejects(
      rows.runFrom(2),
      fails('INVALID_ARGUMENT', /found no "layer\.1\.output" in taps/)
    )
    model.close()
  }
)

/**
 * The rows up to each layer are those of rollouts that end there.
 * @param {import('heed').Session[]} sessions
 * @param {any} how
 */
async function checkEach(sessions, how) {
  const query = 39,
    { firstLayer = 0, layerCount = 5 - firstLayer } = how
  for (const session of sessions) {
    const each = await session.rollout({ ...how, query, each: true }),
      { tokens } = await session.ready
    assert.deepEqual([...each.dims], [layerCount, tokens])
    for (let count = 1; count <= layerCount; count++) {
      const row = await session.rollout({ ...how, query, layerCount: count })
      row.forEach((weight, i) =>
        assert.ok(Math.abs(weight - each[(count - 1) * tokens + i]) < 1e-7, `${count} layers`)
      )
    }
  }
}

inBoth(
  'a row of the rollout: from queries and keys alone as from all maps, of some layers, of masked attention',
  async (runtime) => {
    const model = await runtime.loadModel(demoModel)
    for (const intervene of [
      undefined,
      { emptyRow: /** @type {const} */ ('zero'), temperature: 2 }
    ]) {
      const kept = model.createSession({ taps: 'all', intervene }),
        made = model.createSession({ taps: 'rows', intervene })
      await kept.run(picture)
      await made.run(picture)
      const { tokens } = await kept.ready
      for (const how of /** @type {any[]} */ ([
        {},
        { fusion: 'max', residual: 0.25 },
        { fusion: 'min', discard: 0.5, firstLayer: 1, layerCount: 3 },
        { firstLayer: 4, layerCount: 1 }
      ])) {
        const all = await kept.rollout(how)
        for (const query of [0, 39, tokens - 1])
          for (const session of [kept, made]) {
            const row = await session.rollout({ ...how, query })
            assert.equal(row.length, tokens)
            assert.ok(
              row.every((weight, i) => Math.abs(weight - all[query * tokens + i]) < 1e-6),
              `${JSON.stringify(how)}, query ${query}`
            )
          }
        await checkEach([kept, made], how)
      }
    }
    await assert.rejects(
      model.createSession({ taps: 'none' }).rollout({ query: 0 }),
      fails('INVALID_ARGUMENT', /rollout|attention/)
    )
    model.close()
  }
)

inBoth('a rollout says which layer it is at, and is cancelled between layers', async (runtime) => {
  const model = await runtime.loadModel(demoModel),
    session = model.createSession({ taps: 'rows' }),
    stop = new AbortController(),
    said = /** @type {number[]} */ ([])
  await session.run(picture)
  const whole = await session.rollout({
    query: 0,
    each: true,
    onProgress: ({ done, total }) => said.push(done, total)
  })
  assert.deepEqual(said, [1, 5, 2, 5, 3, 5, 4, 5, 5, 5])
  const cancelled = session.rollout({
    query: 0,
    each: true,
    signal: stop.signal,
    onProgress: ({ done }) => done === 2 && stop.abort()
  })
  await assert.rejects(cancelled, fails('CANCELLED', /rollout/))
  assert.deepEqual(await session.rollout({ query: 0, each: true }), whole)
  model.close()
})

inBoth('values that a run does not hand out are read one by one', async (runtime) => {
  const model = await runtime.loadModel(demoModel),
    names = ['layer.1.key', 'layer.4.output'],
    session = model.createSession({ taps: names }),
    { values } = await session.run(picture),
    without = await session.run(picture, { values: false })
  assert.deepEqual(without.values, {})
  for (const name of names) {
    const value = await session.value(name)
    assert.deepEqual(Float32Array.from(value), values[name].data)
    assert.deepEqual([...value.dims], values[name].shape)
  }
  model.close()
})

inBoth('the pooling attention is a layer of its own', async (runtime) => {
  /** @param {string} name */
  const file = (name) => new Uint8Array(readFileSync(join(vectors, 'vit/siglip', name)))
  const model = await runtime.loadModel({
      weights: file('model.safetensors'),
      config: file('config.json')
    }),
    kept = model.createSession({ taps: 'all' }),
    made = model.createSession({ taps: 'rows' })
  await kept.run(picture)
  await made.run(picture)
  for (const head of /** @type {const} */ ([0, 3, 'mean'])) {
    const map = await kept.attention({ layer: 'pool', head }),
      again = await made.attention({ layer: 'pool', head, query: 0 })
    assert.equal(map.length, 25)
    assert.ok(Math.abs(map.reduce((sum, weight) => sum + weight, 0) - 1) < 1e-5)
    assert.ok(map.every((weight, i) => Math.abs(weight - again[i]) < 1e-5))
  }
  await assert.rejects(
    kept.attention({ layer: 'pool', head: 4 }),
    fails('INVALID_ARGUMENT', /head out of range \(found 4, expected less than 4\)/)
  )
  model.close()
  const demo = await runtime.loadModel(demoModel),
    session = demo.createSession({ taps: 'rows' })
  await session.run(picture)
  await assert.rejects(
    session.attention({ layer: 'pool', head: 0 }),
    fails('INVALID_ARGUMENT', /no pooling attention/)
  )
  demo.close()
})

inBoth(
  'attention is changed between runs: nothing changed is the model as it is, a dropped token is looked at by nobody, a gain of 0 is a head taken out',
  async (runtime) => {
    const model = await runtime.loadModel(demoModel),
      session = model.createSession({ taps: 'all', intervene: {} }),
      { tokens } = await session.ready
    const plain = await session.run(picture)
    assert.ok(
      /** @type {Float32Array} */ (plain.logits).every(
        (logit, i) => Math.abs(logit - expected[i]) < 1e-5
      )
    )
    const mask = new Uint8Array(tokens).fill(1)
    mask[5] = 0
    await session.write('token_mask', mask)
    const { attention } = await session.run(picture)
    for (const layer of /** @type {Float32Array[]} */ (attention))
      for (let row = 0; row < 4 * tokens; row++) assert.equal(layer[row * tokens + 5], 0)
    const { heads } = await session.ready,
      layers = /** @type {Float32Array[]} */ (attention).length,
      off = new Uint8Array(heads * tokens * tokens).fill(1)
    await session.write('token_mask', mask.fill(1))
    await session.write(
      `layer.${layers - 1}.attention.gain`,
      Float32Array.from({ length: heads }, (_, head) => (head === 1 ? 0 : 1))
    )
    const silent = await session.run(picture)
    await session.write(`layer.${layers - 1}.attention.gain`, new Float32Array(heads).fill(1))
    await session.write(
      `layer.${layers - 1}.attention.mask`,
      off.fill(0, tokens * tokens, 2 * tokens * tokens)
    )
    const out = await session.run(picture)
    assert.ok(
      /** @type {Float32Array} */ (silent.logits).every(
        (logit, i) => Math.abs(logit - /** @type {Float32Array} */ (out.logits)[i]) < 1e-6
      ) &&
        /** @type {Float32Array} */ (silent.logits).some(
          (logit, i) => Math.abs(logit - /** @type {Float32Array} */ (plain.logits)[i]) > 1e-4
        )
    )
    assert.deepEqual(
      /** @type {Float32Array[]} */ (silent.attention)[layers - 1],
      /** @type {Float32Array[]} */ (plain.attention)[layers - 1],
      'a gain acts after the maps of its layer'
    )
    await assert.rejects(
      session.write('nothing.like.it', mask),
      fails('INVALID_ARGUMENT', /unknown value \(found "nothing\.like\.it"/)
    )
    await assert.rejects(
      session.write('token_mask', mask.subarray(1)),
      fails('INVALID_ARGUMENT', /196/)
    )
    await assert.rejects(
      model.createSession({ intervene: { emptyRow: /** @type {any} */ ('half') } }).ready,
      fails('INVALID_ARGUMENT', /found "half"/)
    )
    await assert.rejects(
      model.createSession({ intervene: { temperature: -1 } }).ready,
      fails('INVALID_ARGUMENT', /temperature is not valid \(found -1, expected a number above 0/)
    )
    model.close()
  }
)

/**
 * The bytes of a model file with another number of channels, whose weights are 0.
 * @param {Buffer} bytes
 * @param {number} channels
 */
function withChannels(bytes, channels) {
  const size = Number(bytes.readBigUInt64LE()),
    entries = JSON.parse(bytes.toString('utf8', 8, 8 + size)),
    parts = []
  let at = 0
  delete entries.__metadata__
  for (const entry of Object.values(entries)) {
    const [from, to] = entry.data_offsets,
      [first, own, ...sides] = entry.shape,
      same = sides.length !== 2
    if (!same) entry.shape = [first, channels, ...sides]
    parts.push(
      same
        ? bytes.subarray(8 + size + from, 8 + size + to)
        : Buffer.alloc(((to - from) / own) * channels)
    )
    entry.data_offsets = [at, (at += parts[parts.length - 1].length)]
  }
  const header = Buffer.from(JSON.stringify(entries)),
    length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(header.length))
  return new Uint8Array(Buffer.concat([length, header, ...parts]))
}

test('preprocessing that a session is told is as that of a file', async () => {
  const folder = join(vectors, 'vit/micro_32'),
    weights = readFileSync(join(folder, 'model.safetensors')),
    config = readFileSync(join(folder, 'config.json')),
    runtime = await createRuntime({ threads: 1, worker: false }),
    image = {
      data: new Uint8Array(50 * 40 * 3).map((_, i) => (i * 37) % 251),
      width: 50,
      height: 40
    },
    preprocessor = new TextEncoder().encode(
      '{"image_processor_type":"CLIPImageProcessor","size":{"shortest_edge":40},"crop_size":32,' +
        '"resample":1,"image_mean":[0.1,0.2,0.3],"image_std":[0.5,0.5,0.5]}'
    ),
    told = await runtime.loadModel({ weights, config, preprocessor }),
    bare = await runtime.loadModel({ weights, config }),
    expected = await told.createSession().run(image),
    preprocess = /** @type {const} */ ({ resample: 'lanczos', crop: 0.8, std: 0.5 }),
    found = await bare
      .createSession({ preprocess: { ...preprocess, mean: [0.1, 0.2, 0.3] } })
      .run(image)
  assert.deepEqual(found.logits, expected.logits)
  assert.notDeepEqual((await bare.createSession().run(image)).logits, expected.logits)
  for (const [wrong, message] of /** @type {[any, RegExp][]} */ ([
    [{ mean: [0.5, 0.5] }, /wrong count of mean \(found 2, expected 3, the model's channels/],
    [{ crop: 1.5 }, /invalid crop \(found 1.5, expected 0.01 to 1/],
    [{ crop: -1 }, /crop is not valid \(found -1, expected a number above 0, "none"\)/],
    [{ resample: 'cubic' }, /resample is not valid \(found "cubic", expected "nearest"/],
    [{ mean: [] }, /mean is not valid/]
  ]))
    await assert.rejects(bare.createSession({ preprocess: wrong }).ready, {
      status: 'INVALID_ARGUMENT',
      message
    })
  runtime.close()
})

test('a model of one channel takes images in grey, and one of four takes none in colour', async () => {
  const folder = join(vectors, 'vit/micro_32'),
    config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')),
    runtime = await createRuntime({ threads: 1, worker: false })
  for (const channels of [1, 4]) {
    const model = await runtime.loadModel({
        weights: withChannels(readFileSync(join(folder, 'model.safetensors')), channels),
        config: new TextEncoder().encode(JSON.stringify({ ...config, num_channels: channels }))
      }),
      session = model.createSession(),
      image = { data: new Uint8Array(32 * 32 * 3), width: 32, height: 32 }
    if (channels === 4)
      await assert.rejects(session.run(/** @type {any} */ (image)), {
        status: 'INVALID_ARGUMENT',
        message: /invalid image \(found 3 channels, 96 bytes per row, expected 4 and full rows\)/
      })
    else {
      for (let i = 0; i < image.data.length; i++) image.data[i] = (i * 37) % 251
      const grey = new Uint8Array(32 * 32)
      for (let i = 0; i < grey.length; i++) {
        const [r, g, b] = image.data.subarray(3 * i)
        grey[i] = (r * 19595 + g * 38470 + b * 7471 + 0x8000) >> 16 // Pillow's mode L
      }
      const colours = await session.run(image),
        levels = await session.run({ ...image, data: grey })
      assert.deepEqual(colours.logits, levels.logits)
    }
    await assert.rejects(session.run(new Float32Array(3 * 32 * 32)), {
      status: 'INVALID_ARGUMENT',
      message: /invalid pixel_values \(found 3072, expected /
    })
    const { logits } = await session.run(new Float32Array(channels * 32 * 32))
    assert.ok(logits?.every(Number.isFinite))
    model.close()
  }
  runtime.close()
})
