/* The demo model gives WASM the same answers to fresh scenes as native backends
 * (tests/cli/score_test.sh): to 400, or with HEED_SOAK to 1,000. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { createRuntime, demoModel, vectors } from '../package.js'

const lines = (await readFile(join(vectors, 'demo/answers.txt'), 'utf8'))
  .trim()
  .split('\n')
  .map((line) => line.split(' '))
  .slice(0, process.env.HEED_SOAK ? undefined : 2)

test('answers to scenes', async (t) => {
  const runtime = await createRuntime({ threads: 1 })
  const model = await runtime.loadModel(demoModel)
  const session = model.createSession()
  for (const [seed, digest] of lines)
    await t.test(`from seed ${seed}`, async () => {
      let hash = 0xcbf29ce484222325n // FNV-1a over the classes
      for (let i = 0; i < 200; i++) {
        const { image } = await runtime.scene(Number(seed) + i)
        const { logits } = await session.run(image)
        hash = BigInt.asUintN(
          64,
          (hash ^
            BigInt(
              /** @type {Float32Array} */ (logits).indexOf(Math.max(.../** @type {any} */ (logits)))
            )) *
            0x100000001b3n
        )
      }
      assert.equal(hash.toString(16).padStart(16, '0'), digest)
    })
  runtime.close()
})
