/* The whole way in Node: the demo model on its scenes, in every mode that the module has. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { createRuntime, demoModel, plot, scalar } from '../package.js'
import { randomVit } from '../random_vit.js'
/** @import {ScaleKind} from 'heed/plot' */

const { largestOf, makeScale } = plot
const modes = [
  { threads: 1 },
  { threads: 2 },
  { threads: 1, worker: true },
  { threads: 2, worker: true },
  scalar
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

test('a ViT-B with random weights, 2,000 rows: the bar ends at 4 × uniform or above, few patches are above its half', async () => {
  const runtime = await createRuntime({ threads: 2 }),
    session = (await runtime.loadModel(randomVit())).createSession({ taps: 'all' }),
    { layers, heads, tokens, prefixTokens } = await session.ready,
    ends = [],
    bright = /** @type {number[]} */ ([])
  let state = 9
  const random = (/** @type {number} */ end) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return Math.floor((state / 2 ** 32) * end)
  }
  for (const seed of [159, 7, 42, 1009]) {
    const { attention } = await session.run((await runtime.scene(seed)).image),
      rowsOf = (
        /** @type {number} */ layer,
        /** @type {number} */ head,
        /** @type {number} */ token
      ) => {
        const from = (head * tokens + token) * tokens
        return /** @type {Float32Array[]} */ (attention)[layer].subarray(
          from + prefixTokens,
          from + tokens
        )
      }
    for (let i = 0; i < 500; i++) {
      const [layer, head, token] = [
          random(layers),
          random(heads),
          prefixTokens + random(tokens - prefixTokens)
        ],
        largest = Math.max(
          ...Array.from({ length: heads }, (_, one) => largestOf(rowsOf(layer, one, token)))
        ),
        weights = rowsOf(layer, head, token),
        { end, position } = makeScale('uniform', { tokens, largest })
      ends.push(end * tokens)
      bright.push(weights.filter((weight) => position(weight) > 0.5).length / weights.length)
    }
  }
  runtime.close()
  bright.sort((a, b) => a - b)
  const found = {
    rows: ends.length,
    least: Math.min(...ends),
    largest: Math.max(...ends),
    median: bright[1000],
    most: /** @type {number} */ (bright.at(-1))
  }
  console.log(JSON.stringify(found))
  assert.equal(found.rows, 2000)
  assert.ok(found.least > 4 - 1e-9 && found.largest > 20, JSON.stringify(found)) // even rows and peaked ones
  assert.ok(found.median < 0.05 && found.most < 0.35, JSON.stringify(found)) // as of the demo model
})
