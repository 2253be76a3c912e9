/* The whole way in Node: the demo model on its scenes, in every mode that the module has. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { createRuntime, demoModel } from './package.js'

const modes = [{ threads: 1 }, { threads: 2 }, { threads: 1, worker: true }, { threads: 2, worker: true }, { simd: 'none' }]

for (const mode of modes)
  test(`scene 159 has two stars: ${JSON.stringify(mode)}`, async () => {
    const runtime = await createRuntime(mode)
    const model = await runtime.loadModel(demoModel)
    const session = model.createSession({ taps: 'all' })
    const { image, twins, scene } = await runtime.scene(159)
    const { logits, attention } = await session.run(image)
    assert.equal(runtime.info.threads, mode.threads ?? 1)
    assert.equal(model.info.labels[logits.indexOf(Math.max(...logits))], 'star')
    assert.equal(scene.objects[twins[0]].shape, 'star')
    assert.equal(attention.length, model.info.layers)
    const { tokens } = await session.ready
    const row = await session.attention({ layer: 3, head: 0, query: [3, 4] })
    const at = (1 + 3 * 14 + 4) * tokens
    assert.deepEqual(row, attention[3].slice(at, at + tokens))
    runtime.close()
  })
