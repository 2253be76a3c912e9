/* session.explain in Node against the reference cases in float64 of tests/vectors/explain: the methods that run the
 * model again. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { createRuntime, demoModel, HeedError, vectors } from '../package.js'
import { readSafetensors } from '../safetensors.js'
/** @import {Explanation, Runtime, Session, Tensor} from 'heed' */

/** @type {[string, string, number | string | [number, number]][]} */
const cases = [
    ['hf_vit', 'hf_vit', 2],
    ['hf_vit', 'hf_vit.difference', [1, 4]],
    ['hf_deit_distilled', 'hf_deit_distilled', 3],
    ['timm_avg_fc_norm', 'timm_avg_fc_norm', 4],
    ['timm_reg4_qk_norm', 'timm_reg4_qk_norm', 0],
    ['hf_dinov2_registers', 'hf_dinov2_registers', 1],
    ['hf_dinov3_gated', 'hf_dinov3_gated', 'vector'],
    ['timm_eva02', 'timm_eva02', 2],
    ['hf_beit', 'hf_beit', 0],
    ['hf_siglip', 'hf_siglip', 'vector'],
    ['hf_clip', 'hf_clip', 2],
    ['hf_clip', 'hf_clip.difference', [0, 2]]
  ],
  methods = /** @type {const} */ (['ledger', 'lens', 'norms', 'patch']),
  tolerance = 2e-5

/** @type {Runtime} */
let runtime
before(async () => {
  runtime = await createRuntime({ threads: 1 })
})
after(() => runtime.close())

/**
 * A session that has run on these pictures.
 * @param {import('heed').Model} model
 * @param {Tensor} pixels
 * @param {number} b which of them, alone
 */
async function sessionOf(model, { shape, data }, b) {
  const [, , height, width] = shape,
    count = data.length / shape[0],
    session = model.createSession({ height, width })
  await session.run(/** @type {Float32Array} */ (data).slice(b * count, (b + 1) * count))
  return session
}

/**
 * @param {string} name
 * @param {Tensor} found of picture b
 * @param {Tensor} expected [B, ...]
 * @param {number} b
 */
function compare(name, found, { shape, data }, b) {
  const count = data.length / shape[0],
    largest = Array.from(data).reduce((most, x) => Math.max(most, Math.abs(x)), 0)
  assert.deepEqual(found.shape, shape.slice(1), name)
  found.data.forEach((x, i) => {
    const off = Math.abs(x - data[b * count + i])
    assert.ok(off <= tolerance * largest, `${name}[${i}]: off by ${off} of ${largest}`)
  })
}

for (const [folder, io, target] of cases)
  test(io, async () => {
    const { tensors } = readSafetensors(join(vectors, 'explain/io', `${io}.safetensors`)),
      expected = Object.entries(tensors).flatMap(([name, tensor]) =>
        name.startsWith('expect.') ? [/** @type {const} */ ([name.slice(7), tensor])] : []
      ),
      wanted = methods.filter((method) =>
        expected.some(([name]) => name === method || name.startsWith(`${method}.`))
      ),
      model = await runtime.loadModel(join(vectors, 'explain', folder)),
      pixels = tensors.pixel_values,
      others = tensors['source.pixel_values'],
      ids = tensors.input_ids,
      texts = ids && {
        texts: Array.from({ length: ids.shape[0] }, (_, i) =>
          Int32Array.from(ids.data.slice(i * ids.shape[1], (i + 1) * ids.shape[1]))
        )
      }
    assert.ok(wanted.length, 'no method is expected')
    for (let b = 0; b < pixels.shape[0]; b++) {
      const session = await sessionOf(model, pixels, b),
        source = wanted.includes('patch') ? await sessionOf(model, others, b) : undefined,
        found = await session.explain({
          methods: wanted,
          ...(target === 'vector'
            ? { vector: /** @type {Float32Array} */ (tensors['target.vector'].data) }
            : { target }),
          ...texts,
          source
        })
      for (const [name, tensor] of expected) {
        const [method] = name.split('.')
        if (name !== 'score' && !wanted.includes(/** @type {any} */ (method))) continue
        compare(name, /** @type {any} */ (found)[name], tensor, b)
      }
      session.close()
      source?.close()
    }
    model.close()
  })

test('patching tells how far it is, takes some sites and a mean, and can be cancelled', async () => {
  const model = await runtime.loadModel(demoModel),
    [session, source] = [159, 7].map(() => model.createSession())
  await session.run((await runtime.scene(159)).image)
  await source.run((await runtime.scene(7)).image)
  /** @type {number[]} */
  const done = [],
    found = await session.explain({
      methods: ['patch'],
      sites: ['heads'],
      source,
      onProgress: ({ phase, done: runs, total }) => phase === 'run' && done.push(runs / total)
    })
  assert.deepEqual(Object.keys(found).sort(), ['patch.heads', 'patch.scores', 'score'])
  assert.deepEqual(
    done,
    [...done].sort((a, b) => a - b)
  )
  assert.equal(done.at(-1), 1)
  /* A level alone. */
  const {
      shape: [layers, heads],
      data
    } = /** @type {Tensor} */ (found['patch.heads']),
    level = await session.explain({ methods: ['patch'], sites: ['heads.3'], source }),
    row = /** @type {Tensor} */ (level['patch.heads'])
  assert.deepEqual(row.shape, [layers, heads])
  row.data.forEach((x, i) => assert.equal(x, Math.floor(i / heads) === 3 ? data[i] : NaN))
  const mean = await session.explain({
    methods: ['patch'],
    sites: ['heads'],
    source,
    sourceMean: true
  })
  assert.deepEqual(mean, found) // of one image
  /** @param {any} options @param {RegExp} sentence @param {string} status */
  const refused = (options, sentence, status = 'INVALID_ARGUMENT') =>
    assert.rejects(
      session.explain(options),
      (error) =>
        error instanceof HeedError && error.status === status && sentence.test(error.message)
    )
  await refused({ methods: ['patch'] }, /source\.pixel_values/, 'INVALID_FILE')
  await refused({ methods: ['patch'], source, sites: ['neurons'] }, /found "neurons"/)
  await refused({ methods: ['patch'], source, sites: ['heads.5'] }, /found "heads.5"/)
  await refused({ methods: ['ledger'], texts: ['star'] }, /texts is not valid/)
  await refused({ methods: ['ledger'], target: 9999 }, /9999/)
  const controller = new AbortController()
  await refused(
    {
      methods: ['patch'],
      source,
      signal: controller.signal,
      onProgress: () => controller.abort()
    },
    /./,
    'CANCELLED'
  )
  model.close()
})
