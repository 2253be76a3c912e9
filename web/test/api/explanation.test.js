/* session.explain in Node against the reference cases in float64 of tests/vectors/explain: the methods that run the
 * model again. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { createRuntime, demoModel, explain, HeedError, packageFolder, vectors } from '../package.js'
import { serve } from '../../serve.js'
import { readSafetensors } from '../safetensors.js'
/** @import {Explanation, Runtime, Session, Tensor} from 'heed' */

/** Weights, inputs and what is expected, target, pixels of a step of flipping. Beside io.safetensors there may
 * be those of parts.
 * @type {[string, string, number | string | [number, number], number?][]} */
const cases = [
    ['hf_vit', 'hf_vit', 2, 64],
    ['hf_vit', 'hf_vit.difference', [1, 4]],
    ['hf_vit', 'hf_vit.state', 'layer.1.output[5,10]'], // its parts alone: the score is no method
    ['hf_deit_distilled', 'hf_deit_distilled', 3, 64],
    ['timm_avg_fc_norm', 'timm_avg_fc_norm', 4, 49],
    ['timm_reg4_qk_norm', 'timm_reg4_qk_norm', 0],
    ['hf_dinov2_registers', 'hf_dinov2_registers', 1, 49],
    ['hf_dinov3_gated', 'hf_dinov3_gated', 'vector', 64],
    ['timm_eva02', 'timm_eva02', 2],
    ['hf_beit', 'hf_beit', 0],
    ['hf_siglip', 'hf_siglip', 'vector'],
    ['hf_clip', 'hf_clip', 2, 64],
    ['hf_clip', 'hf_clip.difference', [0, 2]]
  ],
  parts = ['', '.gradient', '.maps', '.pixels', '.judge'],
  ofStates = ['pca', 'similarity'],
  settings = { igSteps: 8, steps: 4, percent: [10, 30, 50, 70, 90] },
  tolerance = 2e-5

/** The method that gives a tensor.
 * @param {string} tensor
 */
const methodOf = (tensor) =>
  tensor === 'match'
    ? 'similarity'
    : tensor === 'rollout.gradient'
      ? 'gradient_rollout'
      : tensor.replace(/^text\./, '').split('.')[0]

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
 * @param {Tensor} expected [B, ...]; of texts for all pictures
 * @param {number} b
 * @param {number} unit what numbers are compared with, beside the largest
 */
function compare(name, found, { shape, data }, b, unit) {
  const ofTexts = name.startsWith('text.'),
    count = data.length / (ofTexts ? 1 : shape[0]),
    own = data.slice(ofTexts ? 0 : b * count, ofTexts ? count : (b + 1) * count),
    largest = Array.from(own).reduce((most, x) => Math.max(most, Math.abs(x)), unit)
  assert.deepEqual(found.shape, ofTexts ? shape : shape.slice(1), name)
  found.data.forEach((x, i) => {
    const off = Math.abs(x - own[i])
    assert.ok(
      off <= tolerance * largest || (Number.isNaN(x) && Number.isNaN(own[i])),
      `${name}[${i}]: off by ${off} of ${largest}`
    )
  })
}

/** Rows of ids, one a text.
 * @param {Tensor | undefined} ids
 */
const rowsOf = (ids) =>
  ids && {
    texts: Array.from({ length: ids.shape[0] }, (_, i) =>
      Int32Array.from(ids.data.slice(i * ids.shape[1], (i + 1) * ids.shape[1]))
    )
  }

/** The inputs of a file for its picture b.
 * @param {Record<string, Tensor>} tensors
 * @param {number} b
 */
function inputsOf(tensors, b) {
  const own = (/** @type {string} */ name) => {
    if (!tensors[name]) return
    const { shape, data } = tensors[name],
      count = data.length / shape[0]
    return /** @type {any} */ (data.slice(b * count, (b + 1) * count))
  }
  return {
    ...rowsOf(tensors.input_ids),
    vector: /** @type {Float32Array | undefined} */ (tensors['target.vector']?.data),
    noise: /** @type {Float32Array | undefined} */ (tensors.noise?.data),
    map: own('judge.map'),
    otherMap: own('judge.other'),
    pixelMap: own('judge.pixels'),
    mask: own('judge.mask')
  }
}

/** @param {string} folder @param {string} io @param {typeof cases[0][2]} target @param {number | undefined} flipPixels */
async function holds(folder, io, target, flipPixels) {
  const { tensors } = readSafetensors(join(vectors, 'explain/io', `${io}.safetensors`)),
    expected = Object.entries(tensors).flatMap(([name, tensor]) =>
      name.startsWith('expect.') && !ofStates.includes(methodOf(name.slice(7)))
        ? [/** @type {const} */ ([name.slice(7), tensor])]
        : []
    ),
    methods = [...new Set(expected.map(([name]) => methodOf(name)))].filter(
      (name) => name !== 'score'
    ),
    model = await runtime.loadModel(join(vectors, 'explain', folder)),
    pixels = tensors.pixel_values,
    others = tensors['source.pixel_values'],
    score = Array.from(tensors['expect.score'].data).reduce(
      (most, x) => Math.max(most, Math.abs(x)),
      0
    )
  for (let b = 0; b < pixels.shape[0]; b++) {
    const session = await sessionOf(model, pixels, b),
      source = others && (await sessionOf(model, others, b)),
      found = await session.explain({
        methods: /** @type {any} */ (methods),
        ...(target === 'vector' ? {} : { target }),
        ...inputsOf(tensors, b),
        ...settings,
        flipPixels,
        source
      })
    for (const [name, tensor] of expected)
      compare(name, /** @type {any} */ (found)[name], tensor, b, name === 'ig.delta' ? score : 0)
    session.close()
    source?.close()
  }
  model.close()
}

for (const [folder, io, target, flipPixels] of cases)
  for (const part of parts) {
    const name = `${io}${part}`
    if (name !== 'hf_vit.state' && existsSync(join(vectors, 'explain/io', `${name}.safetensors`)))
      test(name, () => holds(folder, name, target, flipPixels))
  }

/** The ledger's map by hand: all heads and the embedding, [patches].
 * @param {Explanation} found
 * @param {number} patches
 */
function ledgerMap(found, patches) {
  const heads = /** @type {Tensor} */ (found['ledger.heads']),
    own = /** @type {Tensor} */ (found['ledger.embeddings']),
    tokens = own.data.length
  return Array.from({ length: patches }, (_, i) => {
    const t = tokens - patches + i
    let sum = own.data[t]
    for (let at = t; at < heads.data.length; at += tokens) sum += heads.data[at]
    return sum
  })
}

test('maps over patches, with the methods that they need', async () => {
  const model = await runtime.loadModel(demoModel),
    session = model.createSession()
  await session.run((await runtime.scene(159)).image)
  const { rows, columns } = await session.ready,
    found = await session.explain({ maps: ['relevancy', 'gradcam', 'ledger', 'centre'] }),
    tail = (
      /** @type {Tensor | undefined} */ { data } = { data: new Float32Array(), shape: [] }
    ) => [...data.slice(-rows * columns)]
  assert.deepEqual([...(found['map.relevancy']?.data ?? [])], tail(found['relevancy.chefer']))
  assert.deepEqual([...(found['map.gradcam']?.data ?? [])], tail(found['gradcam.4']))
  close(found['map.ledger']?.data ?? [], ledgerMap(found, rows * columns))
  assert.equal(found['map.centre']?.data[0], Math.fround(-Math.hypot(rows - 1, columns - 1)))
  for (const name of Object.keys(found))
    assert.match(name, /^(score|map\..*|relevancy\.chefer|gradcam\.\d|ledger\..*)$/)
  /* What is kept changes no number, for another class and another image. */
  for (const [seed, target] of [
    [159, 3],
    [159, 4],
    [7, 4]
  ]) {
    await session.run((await runtime.scene(seed)).image)
    const wanted = /** @type {const} */ ({ maps: ['gradcam', 'relevancy'], target })
    assert.deepEqual(
      await session.explain({ ...wanted, keep: true }),
      await session.explain(wanted)
    )
  }
  await session.run((await runtime.scene(159)).image)
  /* A map is judged by what the model does without its patches. */
  const map = /** @type {Float32Array} */ (found['map.relevancy']?.data),
    judged = await session.explain({
      methods: ['deletion', 'insertion'],
      curves: 'tokens',
      map,
      steps: 7
    }),
    areas = ['deletion', 'insertion'].map(
      (name) => judged[/** @type {any} */ (`${name}.tokens.probability.area`)]
    )
  assert.ok(areas.every(Boolean), Object.keys(judged).join())
  assert.deepEqual(judged['deletion.tokens']?.shape, [8])
  assert.ok(!('deletion.pixels' in judged))
  for (const [options, sentence] of /** @type {[any, RegExp][]} */ ([
    [{}, /methods is not valid/],
    [{ methods: [], maps: ['heat'] }, /maps is not valid \(found "heat"/],
    [{ methods: ['deletion'] }, /judge\.map/],
    [
      { methods: ['deletion'], map: map.slice(1) },
      /judge\.map has another size \(found 195 numbers, expected \[1,196\]\)/
    ],
    [{ methods: ['smoothgrad'], noise: new Float32Array(7) }, /noise has another size/],
    [{ methods: ['deletion'], map, curves: 'all' }, /curves is not valid/]
  ]))
    await assert.rejects(session.explain(options), sentence)
  model.close()
})

/**
 * Groups of unit states by the rules of docs/explain.md, in double precision.
 * @param {number[][]} states
 * @param {number} count
 */
function groupsOf(states, count) {
  const unit = states.map((state) => {
      const length = Math.hypot(...state)
      return state.map((x) => x / length)
    }),
    mean = (/** @type {number[][]} */ rows) =>
      rows[0].map((_, c) => rows.reduce((sum, row) => sum + row[c], 0) / rows.length),
    off = (/** @type {number[]} */ a, /** @type {number[]} */ b) =>
      a.reduce((sum, x, c) => sum + (x - b[c]) ** 2, 0),
    least = (/** @type {number[]} */ row) => row.indexOf(Math.min(...row))
  let near = unit.map((row) => off(row, mean(unit)))
  /** @type {number[][]} */
  let centres = [],
    /** @type {number[]} */ groups = []
  for (let g = 0; g < count; g++) {
    const centre = unit[near.indexOf(Math.max(...near))]
    near = unit.map((row, i) => Math.min(g ? near[i] : Infinity, off(row, centre)))
    centres.push(centre)
  }
  for (let last = 'none'; last !== groups.join(); ) {
    last = groups.join()
    groups = unit.map((row) => least(centres.map((centre) => off(row, centre))))
    centres = centres.map((centre, g) => {
      const members = unit.filter((_, i) => groups[i] === g)
      return members.length ? mean(members) : centre
    })
  }
  return { groups, centres }
}

/** @param {number[]} numbers */
function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b),
    { length } = sorted
  return (sorted[(length - 1) >> 1] + sorted[length >> 1]) / 2
}

/**
 * @param {ArrayLike<number>} found
 * @param {number[]} expected
 */
function close(found, expected) {
  assert.equal(found.length, expected.length)
  expected.forEach((x, i) =>
    assert.ok(Math.abs(found[i] - x) <= tolerance * Math.max(1, Math.abs(x)), `${found[i]}, ${x}`)
  )
}

/** What is expected of the patches' lengths [L + 1, T]: bounds, and which are above them.
 * @param {number[]} norms
 * @param {number} tokens
 * @param {number} patches
 */
function outliersOf(norms, tokens, patches) {
  const bounds = [],
    outliers = []
  for (let level = 0; level * tokens < norms.length; level++) {
    const own = norms.slice((level + 1) * tokens - patches, (level + 1) * tokens),
      middle = median(own),
      bound = middle + 6 * 1.4826 * median(own.map((x) => Math.abs(x - middle)))
    bounds.push(bound)
    outliers.push(...own.map((x) => Number(x > bound)))
  }
  return { bounds, outliers }
}

/** The picture with its second square of 3 patches covered by the mean colour.
 * @param {Float32Array} pixels
 * @param {{ height: number, width: number, rows: number, columns: number, patch: number }} sizes
 */
function coveredSquare(pixels, { height, width, rows, columns, patch }) {
  const plane = height * width,
    covered = pixels.slice()
  for (let c = 0; c < 3; c++) {
    const mean = pixels.slice(c * plane, (c + 1) * plane).reduce((x, y) => x + y, 0) / plane
    for (let y = 0; y < Math.min(3, rows) * patch; y++)
      for (let x = 3 * patch; x < Math.min(6, columns) * patch; x++)
        covered[c * plane + y * width + x] = mean
  }
  return covered
}

const three = ['hf_vit', 'timm_reg4_qk_norm', 'hf_beit']

/** A model with a session that has run, a second one, the case's tensors and target.
 * @param {string} io
 */
async function openCase(io) {
  const { tensors } = readSafetensors(join(vectors, 'explain/io', `${io}.safetensors`)),
    model = await runtime.loadModel(join(vectors, 'explain', io)),
    { shape, data } = tensors.pixel_values,
    [, , height, width] = shape,
    pixels = /** @type {Float32Array} */ (data).slice(0, data.length / shape[0]),
    session = model.createSession({ height, width, taps: ['layer.1.output'] }),
    source = await sessionOf(model, tensors['source.pixel_values'], 0),
    { values } = await session.run(pixels),
    target = Number(cases.find(([, name]) => name === io)?.[2])
  return { tensors, model, pixels, session, source, values, target, height, width }
}

for (const io of three)
  test(`${io}: groups of patches, and outliers`, async () => {
    const { tensors, model, session, values } = await openCase(io),
      { rows, columns, tokens } = await session.ready,
      patches = rows * columns,
      found = await session.explain({ methods: ['kmeans', 'outliers'], layer: 1, clusters: 3 }),
      { shape, data } = values['layer.1.output'],
      row = (/** @type {number} */ t) => [...data.slice(t * shape[2], (t + 1) * shape[2])],
      expected = groupsOf(
        Array.from({ length: patches }, (_, i) => row(tokens - patches + i)),
        3
      ),
      { bounds, outliers } = outliersOf(
        Array.from(tensors['expect.norms'].data).slice(0, (model.info.layers + 1) * tokens),
        tokens,
        patches
      )
    assert.deepEqual([...(found.kmeans?.data ?? [])], expected.groups)
    close(found['kmeans.centres']?.data ?? [], expected.centres.flat())
    close(found['outliers.bound']?.data ?? [], bounds)
    assert.deepEqual([...(found.outliers?.data ?? [])], outliers)
    await assert.rejects(
      session.explain({ methods: ['kmeans'], layer: 1, clusters: 999 }),
      /found 999 for 16 states/
    )
    model.close()
  })

for (const io of three)
  test(`${io}: a covered square is a picture covered by hand`, async () => {
    const { model, pixels, session, target, ...sizes } = await openCase(io),
      grid = { ...sizes, ...(await session.ready), patch: model.info.patch },
      found = await session.explain({ methods: ['occlusion'], square: 3, target }),
      { logits } = await session.run(coveredSquare(pixels, grid)),
      all = Array.from(/** @type {Float32Array} */ (logits)),
      sum = all.reduce((total, x) => total + Math.exp(x - all[target]), 0)
    assert.deepEqual(found.occlusion?.shape, [grid.rows * grid.columns])
    close([found.occlusion?.data[3] ?? NaN], [all[target]])
    close([found['occlusion.probability']?.data[3] ?? NaN], [1 / sum])
    model.close()
  })

for (const io of three)
  test(`${io}: ablated heads give what they give elsewhere, or zeros`, async () => {
    const { tensors, model, pixels, session, source, target, height, width } = await openCase(io),
      { layers, heads } = model.info,
      one = await session.explain({ methods: ['ablation'], heads: ['1.2'], target, source })
    /* One head that gives what it gives in the source is a patch of it. */
    close(one.ablation?.data ?? [], [tensors['expect.patch.heads'].data[heads + 2]])
    const changed = model.createSession({ height, width, intervene: {} }),
      changes = explain
        .changes({ ...(await changed.ready), layers, heads, width: model.info.width })
        .ablate(0, 1)
        .ablate(layers - 1, heads - 1)
    for (const [name, input] of changes.inputs()) await changed.write(name, input)
    const { logits } = await changed.run(pixels),
      zeros = await session.explain({
        methods: ['ablation'],
        heads: ['0.1', `${layers - 1}.${heads - 1}`],
        target
      })
    close(zeros.ablation?.data ?? [], [/** @type {Float32Array} */ (logits)[target]])
    assert.deepEqual(Object.keys(zeros).sort(), ['ablation', 'ablation.probability', 'score'])
    changes.close()
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
  await refused({ methods: ['ablation'] }, /ablation: no heads/)
  await refused({ methods: ['ablation'], heads: ['0.1', '5.0'] }, /found "0.1,5.0"/)
  await refused({ methods: ['kmeans'], clusters: 0 }, /clusters is not valid/)
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

test('a model that came as a stream, of which nothing is held', async () => {
  const server = await serve(packageFolder),
    at = (/** @type {string} */ file) => new URL(`demo/${file}`, server.address),
    { image } = await runtime.scene(159),
    found = []
  for (const source of [
    demoModel,
    {
      weights: at('model.safetensors'),
      config: at('config.data'),
      preprocessor: at('preprocessor_config.data')
    }
  ]) {
    const model = await runtime.loadModel(source),
      session = model.createSession()
    await session.run(image)
    found.push(await session.explain({ methods: ['ledger'], target: 0 }))
    model.close()
  }
  server.close()
  const [held, streamed] = found
  assert.ok(Object.keys(held).length > 0)
  assert.deepEqual(streamed, held)
})
