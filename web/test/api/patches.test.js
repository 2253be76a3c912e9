/* session.explain in Node: what must hold of components, cosines by their definition, errors. */
import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { createRuntime, demoModel, HeedError } from '../package.js'
/** @import {Explanation, Runtime, Session, SessionInfo, Tensor} from 'heed' */

/** @type {Runtime} */
let runtime
/** @type {[Session, Session]} */
let sessions
/** @type {SessionInfo} */
let info
/** The patches' states of both images. */
/** @type {Float32Array[][]} */
let states
const layer = 2

before(async () => {
  runtime = await createRuntime({ threads: 1 })
  const model = await runtime.loadModel(demoModel),
    open = () => model.createSession({ taps: ['last_hidden_state', `layer.${layer}.output`] })
  sessions = [open(), open()]
  states = []
  for (const [i, seed] of [159, 7].entries()) {
    const { values } = await sessions[i].run((await runtime.scene(seed)).image)
    states.push(rowsOf(values.last_hidden_state).slice(-196))
  }
  info = await sessions[0].ready
})
after(() => runtime.close())

/** @param {Tensor} tensor [..., C] as rows */
function rowsOf({ shape, data }) {
  const width = /** @type {number} */ (shape.at(-1))
  return Array.from({ length: data.length / width }, (_, i) =>
    /** @type {Float32Array} */ (data).slice(i * width, (i + 1) * width)
  )
}

/**
 * @param {ArrayLike<number>} a
 * @param {ArrayLike<number>} b
 */
function dot(a, b) {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i]
  return sum
}
/**
 * @param {number} found
 * @param {number} expected
 */
const near = (found, expected, most = 1e-5) =>
  assert.ok(Math.abs(found - expected) <= most, `found ${found}, expected ${expected}`)
/**
 * @param {Explanation} found
 * @param {keyof Explanation} name
 */
const tensor = (found, name) => /** @type {Tensor} */ (found[name])

test('components are eigenvectors of the covariance, and scores their projections', async () => {
  const found = await sessions[0].explain({ methods: ['pca'] }),
    patches = states[0],
    n = patches.length,
    components = rowsOf(tensor(found, 'pca.components')),
    scores = rowsOf(tensor(found, 'pca.scores')),
    { data: variance } = tensor(found, 'pca.variance'),
    mean = Array.from(patches[0], (_, c) => patches.reduce((sum, state) => sum + state[c] / n, 0)),
    centred = patches.map((state) => state.map((x, c) => x - mean[c]))
  assert.deepEqual(
    Object.keys(found).sort(),
    ['colours', 'components', 'foreground', 'mean', 'rgb', 'scores', 'variance'].map(
      (name) => `pca.${name}`
    )
  )
  mean.forEach((x, c) => near(tensor(found, 'pca.mean').data[c], x))
  components.forEach((component, k) => {
    const own = centred.map((state) => dot(state, component))
    own.forEach((score, p) => near(scores[p][k], score, 1e-4))
    near(variance[k], dot(own, own) / (n - 1), 1e-4 * variance[0])
    component.forEach((x, c) =>
      near(
        centred.reduce((sum, state, p) => sum + state[c] * own[p], 0) / (n - 1),
        variance[k] * x,
        1e-4 * variance[0]
      )
    )
    components.forEach((other, j) => near(dot(component, other), Number(j === k)))
  })
  const { data: foreground } = tensor(found, 'pca.foreground')
  assert.ok(foreground.includes(0) && foreground.includes(1))
  rowsOf(tensor(found, 'pca.rgb')).forEach((rgb, p) =>
    rgb.forEach((x) => assert.ok(foreground[p] ? x >= 0 && x <= 1 : x === 0))
  )
})

test('a source of another runtime is refused: its number may be that of another session here', async () => {
  const other = await createRuntime({ threads: 1 }),
    source = (await other.loadModel(demoModel)).createSession()
  await source.ready
  await assert.rejects(
    sessions[0].explain({ methods: ['similarity'], source }),
    (error) =>
      error instanceof HeedError &&
      error.status === 'INVALID_ARGUMENT' &&
      /source is not valid .*a session of the same runtime/.test(error.message)
  )
  other.close()
})

test('cosines of one image and of two, and which patches belong together', async () => {
  const found = await sessions[0].explain({ methods: ['similarity'], source: sessions[1] }),
    own = rowsOf(tensor(found, 'similarity')),
    between = rowsOf(tensor(found, 'similarity.source')),
    [a, b] = states.map((patches) =>
      patches.map((state) => {
        const length = Math.sqrt(dot(state, state))
        return state.map((x) => x / length)
      })
    ),
    nearest = (/** @type {ArrayLike<number>} */ row) =>
      Array.from(row).indexOf(Math.max(...Array.from(row))),
    columns = b.map((_, j) => between.map((row) => row[j]))
  a.forEach((x, i) => {
    a.forEach((y, j) => near(own[i][j], dot(x, y)))
    b.forEach((y, j) => near(between[i][j], dot(x, y)))
    const j = nearest(between[i]),
      mutual = nearest(columns[j]) === i
    assert.equal(tensor(found, 'match').data[i], mutual ? j : -1)
  })
})

test('states after a layer, both methods at once, with progress', async () => {
  /** @type {number[]} */
  const done = [],
    found = await sessions[0].explain({
      methods: ['similarity', 'pca'],
      layer,
      onProgress: (progress) => done.push(progress.done)
    })
  assert.deepEqual(done, [1, 2])
  assert.deepEqual(tensor(found, 'similarity').shape, [196, 196])
  assert.equal(found.match, undefined)
  const last = await sessions[0].explain({ methods: ['pca'] })
  assert.notDeepEqual(tensor(found, 'pca.mean').data, tensor(last, 'pca.mean').data)
})

test('what cannot be explained is refused', async () => {
  /**
   * @param {any} options
   * @param {RegExp} sentence
   */
  const refused = (options, sentence, session = sessions[0], status = 'INVALID_ARGUMENT') =>
    assert.rejects(
      session.explain(options),
      (error) =>
        error instanceof HeedError &&
        error.status === status &&
        sentence.test(/** @type {Error} */ (error).message)
    )
  await refused({}, /methods/)
  await refused(
    { methods: ['pca', 'ledgers'] },
    /found "ledgers", expected "pca", "kmeans", "similarity"/
  )
  await refused({ methods: ['pca'], layer: 3 }, /layer\.3\.output/)
  await refused({ methods: ['pca'], batch: 1 }, /found image 1/)
  await refused({ methods: ['pca'], source: {} }, /source is not valid/)
  await refused({ methods: ['pca'], signal: AbortSignal.abort() }, /./, sessions[0], 'CANCELLED')
  const model = await runtime.loadModel(demoModel)
  await refused({ methods: ['pca'] }, /no result yet/, model.createSession())
  model.close()
  assert.equal(info.rows * info.columns, 196)
})
