/* Every case of tests/vectors on the kernels of every module: it passes, its results are the same bits for 1 and 2
 * threads, and they are the native program's within 1e-6 where that works in vectors of the same
 * width and rounds alike (SSE2). Relaxed SIMD is what Node 20 has behind a flag. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import v8 from 'node:v8'
import { createRuntime, native, packageFolder, scalar, vectors } from '../package.js'
import { distance, readSafetensors, sameBits } from '../safetensors.js'
/** @import {Runtime} from 'heed' */

const folders = [
  'attention',
  'blocks',
  'convolution',
  'general',
  'layers',
  'linear',
  'luong',
  'masks',
  'mha',
  'recurrent'
]
const cases = folders.flatMap((folder) =>
  readdirSync(join(vectors, folder))
    .filter((name) => name.endsWith('.safetensors'))
    .map((name) => `${folder}/${name}`)
)
/** @type {Record<string, Runtime>} */
const runtimes = {},
  node = Number(process.versions.node.split('.')[0])
/** @type {string} */
let scratch

before(async () => {
  if (node === 20) v8.setFlagsFromString('--experimental-wasm-relaxed-simd')
  runtimes.one = await createRuntime({ threads: 1, simd: 'simd' })
  runtimes.two = await createRuntime({ threads: 2, simd: 'simd' })
  const [one, two] = [await createRuntime({ threads: 1 }), await createRuntime({ threads: 2 })]
  if (one.info.simd === 'relaxed') Object.assign(runtimes, { relaxed: one, relaxedTwo: two })
  else for (const runtime of [one, two]) runtime.close()
  runtimes.scalar = await createRuntime(scalar)
  assert.equal(runtimes.two.info.threads, 2)
  scratch = mkdtempSync(join(tmpdir(), 'heed-vectors-'))
})
after(() => {
  for (const runtime of Object.values(runtimes)) runtime.close()
  rmSync(scratch, { recursive: true })
})

/** @param {string} path */
function checkNatively(path) {
  const out = join(scratch, 'out.safetensors')
  const { status, stderr } = spawnSync(
    native,
    ['check', path, '--backend', 'cpu', '--simd', 'sse2', '-o', out],
    { encoding: 'utf8' }
  )
  assert.equal(status, 0, stderr)
  return readSafetensors(out).tensors
}

test('there are cases', () => assert.ok(cases.length > 60, `found ${cases.length}`))

test('relaxed SIMD is among the modules', (t) => {
  if (!existsSync(join(packageFolder, 'heed-relaxed.wasm')))
    return t.skip('this package has no modules with relaxed SIMD')
  if (node < 20) return t.skip(`Node ${process.versions.node} has relaxed SIMD in an older form`)
  assert.ok(runtimes.relaxed && runtimes.relaxedTwo)
})

for (const name of cases)
  test(name, async () => {
    const path = join(vectors, name),
      bytes = readFileSync(path),
      results = {}
    for (const [mode, runtime] of Object.entries(runtimes)) {
      const result = await runtime.check(bytes, { results: true })
      assert.ok(result.passed, `${mode}: ${result.worst} is off by ${result.maxAbs}`)
      Object.assign(results, { [mode]: result.results })
    }
    const expected = checkNatively(path)
    assert.deepEqual(
      Object.keys(/** @type {any} */ (results).one).sort(),
      Object.keys(expected).sort()
    )
    for (const [tensor, { data }] of Object.entries(expected)) {
      assert.ok(
        sameBits(
          /** @type {any} */ (results).one[tensor].data,
          /** @type {any} */ (results).two[tensor].data
        ),
        `${tensor}: 1 and 2 threads differ`
      )
      if (/** @type {any} */ (results).relaxed)
        assert.ok(
          sameBits(
            /** @type {any} */ (results).relaxed[tensor].data,
            /** @type {any} */ (results).relaxedTwo[tensor].data
          ),
          `${tensor}: relaxed, 1 and 2 threads differ`
        )
      const off = distance(/** @type {any} */ (results).one[tensor].data, data)
      assert.ok(off <= 1e-6, `${tensor}: ${off} from the native result`)
    }
  })
