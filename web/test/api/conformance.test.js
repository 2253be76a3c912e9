/* Profiles of standards on the kernels of every module: no case is wrong, the counts are those of
 * the native program, and docs/conformance.md has the module's line. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { before } from 'node:test'
import v8 from 'node:v8'
import { createRuntime, scalar, vectors } from '../package.js'
/** @import {Runtime} from 'heed' */

const profiles = /** @type {const} */ (['onnx', 'torch', 'keras']),
  document = readFileSync(join(vectors, '../../docs/conformance.md'), 'utf8').split('\n')
/** @type {Record<string, Runtime>} */
const runtimes = {}

before(async () => {
  if (Number(process.versions.node.split('.')[0]) === 20)
    v8.setFlagsFromString('--experimental-wasm-relaxed-simd')
  runtimes.scalar = await createRuntime(scalar)
  runtimes.SIMD = await createRuntime({ threads: 1, simd: 'simd' })
  const best = await createRuntime({ threads: 1 })
  if (best.info.simd === 'relaxed') runtimes['relaxed SIMD'] = best
  else best.close()
})

for (const name of ['scalar', 'SIMD', 'relaxed SIMD'])
  test(`profiles, ${name}`, async (t) => {
    const runtime = runtimes[name]
    if (!runtime) return t.skip('no module with relaxed SIMD here')
    let line = `| WebAssembly, ${name} |`
    for (const profile of profiles) {
      const { cases, passed, stated, wrong, questions } = await runtime.check(profile)
      assert.equal(wrong, 0, `${profile}: ${JSON.stringify(questions)}`)
      assert.equal(passed + stated, cases)
      for (const { question, ...counts } of questions)
        assert.ok(
          document.includes(
            `| ${question} | ${counts.cases} | ${counts.passed} | ${counts.stated} |`
          ),
          `${profile}: ${question}: not the native counts (found ${JSON.stringify(counts)})`
        )
      line += ` ${passed + stated} of ${cases} |`
    }
    assert.ok(document.includes(line), `docs/conformance.md lacks "${line}"`)
    runtime.close()
  })

test('an unknown profile', async () => {
  const runtime = await createRuntime({ threads: 1 })
  await assert.rejects(
    /** @type {any} */ (runtime).check('burn'),
    /the case is not valid .*expected ArrayBuffer, Uint8Array, "onnx", "torch", "keras"/
  )
  runtime.close()
})
