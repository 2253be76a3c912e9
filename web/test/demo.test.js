/* The whole way in Node: the demo model on its scenes, in every mode that the module has. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { largestOf } from '../plot/raster.js'
import { makeScale } from '../plot/scale.js'
import { createRuntime, demoModel } from './package.js'
/** @import {ScaleKind} from '../plot/index.js' */

const modes = [
  { threads: 1 },
  { threads: 2 },
  { threads: 1, worker: true },
  { threads: 2, worker: true },
  { simd: 'none' }
]

for (const mode of modes)
  test(`scene 159 has two stars: ${JSON.stringify(mode)}`, async () => {
    const runtime = await createRuntime(/** @type {import('heed').RuntimeOptions} */ (mode))
    const model = await runtime.loadModel(demoModel)
    const session = model.createSession({ taps: 'all' })
    const { image, twins, scene } = await runtime.scene(159)
    const { logits, attention } = await session.run(image)
    assert.equal(runtime.info.threads, mode.threads ?? 1)
    assert.equal(
      model.info.labels[
        /** @type {Float32Array} */ (logits).indexOf(
          Math.max(.../** @type {Float32Array} */ (logits))
        )
      ],
      'star'
    )
    assert.equal(scene.objects[/** @type {[number, number]} */ (twins)[0]].shape, 'star')
    assert.equal(/** @type {Float32Array[]} */ (attention).length, model.info.layers)
    const { tokens } = await session.ready
    const row = await session.attention({ layer: 3, head: 0, query: [3, 4] })
    const at = (1 + 3 * 14 + 4) * tokens
    assert.deepEqual(row, /** @type {Float32Array[]} */ (attention)[3].slice(at, at + tokens))
    runtime.close()
  })

test('no patch of the four samples has a bar that ends below uniform, in the head that the explorer opens with', async () => {
  const runtime = await createRuntime({ threads: 1 }),
    session = (await runtime.loadModel(demoModel)).createSession({ taps: 'all' })
  const { tokens, prefixTokens } = await session.ready
  let small = 0
  for (const seed of [159, 7, 42, 1009]) {
    await session.run((await runtime.scene(seed)).image)
    const matrix = await session.attention({ layer: 3, head: 0 })
    for (let token = prefixTokens; token < tokens; token++) {
      const largest = largestOf(
        matrix.subarray(token * tokens + prefixTokens, (token + 1) * tokens)
      )
      small += Number(largest * tokens < 1)
      for (const kind of ['uniform', 'share', 'log', 'all']) {
        const { top, position } = makeScale(/** @type {ScaleKind} */ (kind), { tokens, largest })
        assert.ok(
          (kind === 'share' ? (top / 100) * tokens : top) >= 1 && position(largest) <= 1,
          `scene ${seed}, token ${token}, ${kind}: the bar ends at ${top}`
        )
      }
    }
  }
  assert.ok(small > 500, `${small} rows that a bar to their own largest would make bright`)
  runtime.close()
})
