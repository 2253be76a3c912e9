/* A WebGPU that never answers: sessions run in WebAssembly, and say why. Time is the test's own. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { mock, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { skip } from '../dawn.js'
import { createRuntime, demoModel, packageFolder } from '../package.js'

if (!existsSync(join(packageFolder, 'heed-gpu.wasm')))
  skip('this package was built without glslang, so without WebGPU')
const never = () => new Promise(() => {}),
  limits = { maxStorageBuffersPerShaderStage: 8, maxComputeInvocationsPerWorkgroup: 256 },
  adapter = { info: { vendor: 'none' }, limits, features: new Set(), requestDevice: never }

for (const [name, requestAdapter, why] of /** @type {const} */ ([
  ['an adapter', never, 'WebGPU did not answer in 20 seconds'],
  ['a device', async () => adapter, 'the adapter did not answer in 20 seconds']
]))
  test(`${name} that never comes`, { timeout: 60000 }, async () => {
    Object.defineProperty(globalThis, 'navigator', {
      configurable: true,
      value: { gpu: { requestAdapter, wgslLanguageFeatures: new Set() } }
    })
    mock.timers.enable({ apis: ['setTimeout'] })
    let isMade = false
    const made = createRuntime({ threads: 1, device: 'webgpu' })
    made.finally(() => (isMade = true))
    while (!isMade) {
      await setImmediate()
      mock.timers.tick(1000)
    }
    mock.timers.reset()
    const runtime = await made,
      model = await runtime.loadModel(demoModel),
      session = model.createSession(),
      ready = await session.ready
    assert.equal(ready.device, 'wasm')
    assert.match(ready.why ?? '', new RegExp(why))
    const { image } = await runtime.scene(159)
    assert.equal((await session.run(image)).logits?.length, 10)
    runtime.close()
  })
