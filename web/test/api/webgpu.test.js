/* Sessions on a WebGPU device, in Node by Dawn on a software driver: the demo and every folder of
 * tests/vectors/vit with all maps against float64 results; fp16 weights; what falls back, and why; a
 * device that is lost at any moment; buffers that are left. HEED_SOAK has more of the long ones. */
import assert from 'node:assert/strict'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { deflateSync, inflateSync } from 'node:zlib'
import { loadBesideDawn } from '../dawn.js'
import { packageFolder, vectors } from '../package.js'
import { distance, readSafetensors } from '../safetensors.js'
/** @import {Runtime, RuntimeOptions} from 'heed' */

const isLong = process.env.HEED_SOAK !== undefined,
  { createRuntime, demoModel, end } = await loadBesideDawn()
/** @param {RuntimeOptions} [options] */
const start = (options) =>
  createRuntime({ threads: 1, device: 'webgpu', softwareAdapter: true, ...options })
/** @type {Runtime} */
let gpu
/** @type {Runtime} */
let cpu
before(async () => {
  gpu = await start()
  cpu = await createRuntime({ threads: 1 })
})
after(() => {
  gpu.close()
  cpu.close()
  end()
})

/** The demo's results of scene 159, on a runtime. @param {Runtime} runtime @param {any} taps */
async function runDemo(runtime, taps) {
  const model = await runtime.loadModel(demoModel),
    session = model.createSession({ taps }),
    { image } = await cpu.scene(159)
  return { session, model, info: await session.ready, ...(await session.run(image)) }
}

/** @param {string} what @param {any} found @param {any} expected @param {number} [most] */
function near(what, found, expected, most = 1e-4) {
  const off = distance(found, expected)
  assert.ok(off <= most, `${what}: ${off} away, at most ${most}`)
}

test('the runtime and its sessions say where they run', async () => {
  assert.match(gpu.info.device, /^WebGPU: ./)
  assert.match(String(gpu.info.tier), /^(floor|subgroup)$/)
  assert.equal(cpu.info.tier, null)
  const { info, model } = await runDemo(gpu, 'none')
  assert.equal(info.device, 'webgpu')
  model.close()
  const plain = await runDemo(cpu, 'none')
  assert.equal(plain.info.device, 'wasm')
  assert.equal(plain.info.why, 'asked for')
  plain.model.close()
})

test('the demo with all maps, rows, statistics and rollout', async () => {
  const a = await runDemo(gpu, 'all'),
    b = await runDemo(cpu, 'all')
  near('logits', a.logits, b.logits)
  b.attention?.forEach((map, layer) => near(`layer ${layer}`, a.attention?.[layer], map))
  const rows = await runDemo(gpu, 'rows')
  for (const at of [
    { layer: 1, head: 2, query: 5 },
    { layer: 2, head: /** @type {const} */ ('mean') }
  ]) {
    near('attention', await a.session.attention(at), await b.session.attention(at))
    near('attention of rows', await rows.session.attention(at), await b.session.attention(at))
  }
  const [found, expected] = await Promise.all([
    a.session.statistics({ layer: 1 }),
    b.session.statistics({ layer: 1 })
  ])
  for (const [head, of] of expected[0].entries())
    for (const [name, value] of Object.entries(of))
      assert.ok(
        Math.abs(Reflect.get(found[0][head], name) - value) <= 1e-3 * (1 + Math.abs(value)),
        `${name} of head ${head}`
      )
  near('rollout', await a.session.rollout({ query: 0 }), await b.session.rollout({ query: 0 }))
  near('its matrix', await rows.session.rollout(), await b.session.rollout())
  for (const { model } of [a, b, rows]) model.close()
})

test('states, interventions and runs from a layer', async () => {
  const results = []
  for (const runtime of [gpu, cpu]) {
    const model = await runtime.loadModel(demoModel),
      session = model.createSession({ taps: ['layer.0.output', 'layer.1.output'], intervene: {} }),
      { heads } = await session.ready,
      { image } = await cpu.scene(7),
      before = await session.run(image)
    await session.write('layer.2.attention.gain', new Float32Array(heads).fill(0.5))
    const later = await session.runFrom(2),
      explained = await session.explain({ methods: ['pca'], layer: 1 })
    results.push({ before, later, explained })
    model.close()
  }
  const [a, b] = results
  near('before', a.before.logits, b.before.logits)
  near('after', a.later.logits, b.later.logits)
  assert.ok(distance(b.before.logits ?? [], b.later.logits ?? []) > 1e-3, 'the gain changes it')
  near('a state', a.before.values['layer.1.output'].data, b.before.values['layer.1.output'].data)
  near('pca', a.explained['pca.variance']?.data, b.explained['pca.variance']?.data, 1e-3)
})

test('weights in fp16', async () => {
  const half = await start({ weights: 'f16' }),
    a = await runDemo(half, 'all'),
    b = await runDemo(cpu, 'all'),
    whole = await runDemo(gpu, 'all')
  near('logits', a.logits, b.logits, 2e-3)
  b.attention?.forEach((map, layer) => near(`layer ${layer}`, a.attention?.[layer], map, 2e-3))
  assert.ok(a.info.memory.weights < 0.7 * whole.info.memory.weights, 'they take less')
  half.close()
})

const folders = readdirSync(join(vectors, 'vit')).filter(
  (name) =>
    !/[.]|_text|^videomae|^vjepa2|^sam|^swin/.test(name) &&
    existsSync(join(vectors, 'vit', name, 'io.safetensors'))
)
for (const name of isLong ? folders : folders.filter((_, i) => i % 8 === 0))
  test(`vit/${name}`, async () => {
    const folder = join(vectors, 'vit', name),
      { tensors } = readSafetensors(join(folder, 'io.safetensors')),
      pixels = tensors.pixel_values,
      [batch, , height, width] = pixels.shape,
      model = await gpu.loadModel(folder),
      session = model.createSession({ taps: 'all', batch, height, width }),
      { device, why } = await session.ready,
      { logits, attention } = await session.run(/** @type {any} */ (pixels.data))
    assert.equal(device, 'webgpu', why)
    if (tensors['expect.logits']) near('logits', logits, tensors['expect.logits'].data)
    attention?.forEach((map, layer) => {
      const expected = tensors[`expect.attention.${layer}`]
      if (expected) near(`attention.${layer}`, map, expected.data)
    })
    model.close()
  })

test('a software adapter is refused unless it is asked for', async () => {
  const runtime = await createRuntime({ threads: 1, device: 'webgpu' }),
    { info, model } = await runDemo(runtime, 'none')
  assert.match(runtime.info.why, /WebAssembly in the place of WebGPU: the adapter is software/)
  assert.equal(info.device, 'wasm')
  assert.match(info.why, /^the adapter is software/)
  model.close()
  runtime.close()
})

test('a shader that is wrong: the self-check names the op', async () => {
  const base = mkdtempSync(join(tmpdir(), 'heed-wrong-')),
    file = join(base, 'gpu-floor.deflate')
  cpSync(packageFolder, base, { recursive: true })
  const templates = JSON.parse(inflateSync(readFileSync(file)).toString())
  templates.multiply = templates.add
  writeFileSync(file, deflateSync(JSON.stringify(templates)))
  const runtime = await start({ base: pathToFileURL(`${base}/`) }),
    { info, logits, model } = await runDemo(runtime, 'none'),
    b = await runDemo(cpu, 'none')
  assert.match(
    runtime.info.why,
    /the self-check found multiply wrong on .* [(]an error of [\d.]+[)]/
  )
  assert.equal(info.device, 'wasm')
  near('logits', logits, b.logits, 0)
  model.close()
  runtime.close()
  rmSync(base, { recursive: true })
})

test("'auto' takes the faster one, and says why", async () => {
  const runtime = await start({ device: 'auto' }),
    { info, logits, model } = await runDemo(runtime, 'none'),
    b = await runDemo(cpu, 'none')
  assert.match(info.why, /^a run takes [\d.]+ ms on the GPU, [\d.]+ in WebAssembly$/)
  near('logits', logits, b.logits)
  model.close()
  runtime.close()
})

/** Bytes of buffers, once what was closed is gone: a close is a message. @param {Runtime} runtime */
async function bytesOf(runtime) {
  await setImmediate()
  return (await runtime.memory()).gpu
}

test('after runs and sessions no buffer is left', async () => {
  const runtime = await start(),
    model = await runtime.loadModel(demoModel),
    { image } = await cpu.scene(3),
    first = model.createSession({ taps: 'rows' }),
    { memory } = await first.ready
  await first.run(image)
  const one = await bytesOf(runtime),
    planned = memory.weights + memory.arena + memory.workspace
  assert.ok(one <= planned * 1.03, `${one} bytes of buffers, ${planned} planned`)
  for (let i = 0; i < (isLong ? 500 : 5); i++) await first.run(image)
  assert.equal(await bytesOf(runtime), one)
  for (let i = 0; i < (isLong ? 100 : 5); i++) {
    const session = model.createSession()
    await session.ready
    session.close()
  }
  assert.equal(await bytesOf(runtime), one)
  first.close()
  assert.equal(await bytesOf(runtime), 0)
  runtime.close()
})
