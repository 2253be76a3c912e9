/* A WebGPU device that is lost at some moment of opening, checking, loading, running and reading: the
 * result is right all the same, or the error is heed's; nothing hangs and nothing is left uncaught.
 * HEED_SOAK: ten times as many moments. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { skip } from '../dawn.js'
import { createRuntime, demoModel, HeedError, packageFolder } from '../package.js'
import { distance } from '../safetensors.js'
import { install, loadDawn } from '../../../tests/gpu/npm_packages.mjs'

if (!existsSync(join(packageFolder, 'heed-gpu.wasm')))
  skip('this package was built without glslang, so without WebGPU')
install()
const dawn = loadDawn().create([])
if (!(await dawn.requestAdapter())) skip('Dawn finds no Vulkan driver (VK_ICD_FILENAMES)')

const moments = process.env.HEED_SOAK ? 200 : 20
/** Calls on devices; at this one its device is destroyed. */
let calls = 0,
  last = Infinity,
  lossesLeft = 0
/** Calls by their names. @type {Record<string, number>} */
let made = {}
/** @type {string[]} */
const uncaught = []

/** @param {any} device */
function watched(device) {
  const count = (/** @type {string} */ name) => {
    made[name] = (made[name] ?? 0) + 1
    if (++calls < last || !lossesLeft) return
    lossesLeft--
    device.destroy()
  }
  for (const [of, names] of /** @type {[any, string[]][]} */ ([
    [device, ['createBuffer', 'createBindGroup', 'createComputePipelineAsync', 'popErrorScope']],
    [device.queue, ['submit', 'writeBuffer', 'onSubmittedWorkDone']]
  ]))
    for (const name of names) {
      const own = of[name].bind(of)
      of[name] = (/** @type {any[]} */ ...given) => {
        count(name)
        return own(...given)
      }
    }
  return device
}

const gpu = {
  wgslLanguageFeatures: dawn.wgslLanguageFeatures,
  requestAdapter: async (/** @type {any} */ options) => {
    const adapter = await dawn.requestAdapter(options)
    const own = adapter.requestDevice.bind(adapter)
    adapter.requestDevice = async (/** @type {any} */ wanted) => watched(await own(wanted))
    return adapter
  }
}
Object.defineProperty(globalThis, 'navigator', {
  value: { gpu, userAgent: 'Node', hardwareConcurrency: cpus().length },
  configurable: true
})
process.on('unhandledRejection', (error) => uncaught.push(String(error)))
process.on('uncaughtException', (error) => uncaught.push(String(error)))

/** @type {any} */
let expected
/** @type {any} */
let image

/** Opens, loads, runs, reads, runs again. @param {any} options */
async function everything(options) {
  const runtime = await createRuntime({ threads: 1, ...options })
  try {
    const model = await runtime.loadModel(demoModel),
      session = model.createSession({ taps: 'rows' }),
      { logits } = await session.run(image),
      map = await session.attention({ layer: 1, head: 0 }),
      again = await session.run(image)
    return { logits, map, again: again.logits, why: runtime.info.why }
  } finally {
    runtime.close()
  }
}

const onGpu = { device: 'webgpu', softwareAdapter: true }
let total = 0,
  lost = 0
before(async () => {
  const runtime = await createRuntime({ threads: 1 })
  image = (await runtime.scene(159)).image
  runtime.close()
  expected = await everything({})
  await everything(onGpu) // the self-check is remembered from now on
  calls = 0
  const { logits } = await everything(onGpu)
  total = calls
  assert.ok(distance(logits ?? [], expected.logits) <= 1e-4)
  assert.ok(total > 100, `${total} calls`)
})
after(() => {
  assert.deepEqual(uncaught, [])
  assert.ok(lost >= 0.8 * moments, `${lost} of ${moments} moments were reached`)
})

test('a second run makes no pipeline and no bind group', async () => {
  const runtime = await createRuntime({ threads: 1, .../** @type {object} */ (onGpu) }),
    model = await runtime.loadModel(demoModel),
    session = model.createSession()
  await session.run(image)
  made = {}
  await session.run(image)
  assert.equal(made.createBindGroup ?? 0, 0)
  assert.equal(made.createComputePipelineAsync ?? 0, 0)
  assert.equal(made.writeBuffer, 1, 'the pixels')
  console.log(made)
  runtime.close()
})

for (const times of [1, 2])
  for (let i = 0; i < moments / 2; i++)
    test(`lost ${times} times from moment ${i} of ${moments / 2}`, {
      timeout: 240000
    }, async () => {
      calls = 0
      last = Math.floor((total * (i + 0.5)) / (moments / 2))
      lossesLeft = times
      try {
        const { logits, map, again } = await everything(onGpu)
        for (const [what, found, of] of /** @type {any[]} */ ([
          ['logits', logits, expected.logits],
          ['a map', map, expected.map],
          ['logits again', again, expected.logits]
        ]))
          assert.ok(distance(found, of) <= 1e-4, `${what}: ${distance(found, of)} away`)
        /* How much is submitted at once goes by time: a run may end before a late moment. */
        assert.ok(lossesLeft < times || calls < last, 'the device was lost')
      } catch (error) {
        assert.ok(error instanceof HeedError, String(/** @type {Error} */ (error).stack))
      } finally {
        if (lossesLeft < times) lost++
        last = Infinity
      }
    })
