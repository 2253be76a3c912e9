/* What a model says of itself is what heed inspect prints of it; the names of values are those that
 * models and graphs have. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { createRuntime, native, tapName, vectors } from '../package.js'

const graphs = join(vectors, 'onnx/graphs')
/** @type {(keyof typeof shapes)[]} */
const ofLayer = ['query', 'key', 'value', 'weights', 'scores', 'heads', 'output']
/** @type {import('heed').WholeTap[]} */
const ofPool = ['poolQuery', 'poolKey', 'poolValue', 'poolWeights', 'poolScores', 'poolHeads']
/** Of hf_vit: 3 heads of 8, 26 tokens. */
const shapes = {
  query: [1, 3, 26, 8],
  key: [1, 3, 26, 8],
  value: [1, 3, 26, 8],
  weights: [1, 3, 26, 26],
  scores: [1, 3, 26, 26],
  heads: [1, 26, 24],
  output: [1, 26, 24]
}
/** @type {import('heed').Runtime} */
let runtime

before(async () => {
  runtime = await createRuntime({ threads: 1 })
})
after(() => runtime.close())

/**
 * The shapes of values, in a run of zeros.
 * @param {import('heed').Model} model
 * @param {string[]} taps
 */
async function shapesOf(model, taps) {
  const session = model.createSession({ taps }),
    { batch, height, width } = await session.ready,
    { values } = await session.run(new Float32Array(batch * model.info.channels * height * width))
  session.close()
  return Object.fromEntries(Object.entries(values).map(([name, { shape }]) => [name, shape]))
}

test('names of values', async () => {
  const model = await runtime.loadModel(join(vectors, 'vit/hf_vit/')),
    found = await shapesOf(model, [...ofLayer.map((tap) => tapName(tap, 1)), tapName('embeddings')])
  assert.equal(tapName('weights', 1), 'layer.1.attention.weights')
  for (const tap of ofLayer) assert.deepEqual(found[tapName(tap, 1)], shapes[tap], tap)
  assert.deepEqual(found.embeddings, [1, 26, 24])
  model.close()
})

/* The query of the graph is a constant, which no run gives. */
test('names of a pooling attention', async () => {
  for (const [source, wanted] of /** @type {const} */ ([
    [join(vectors, 'vit/siglip/'), ofPool],
    [join(graphs, 'siglip_17_dynamic.onnx'), ofPool.slice(1)]
  ])) {
    const model = await runtime.loadModel(source),
      all = wanted.map((tap) => tapName(tap)),
      found = await shapesOf(model, all)
    assert.deepEqual(Object.keys(found).sort(), [...all].sort())
    assert.equal(found[tapName('poolWeights')][2], 1)
    model.close()
  }
})

test('the names are those of the C library', () => {
  const source = readFileSync(join(vectors, '../../runtime/model/tap_names.c'), 'utf8'),
    names = [...source.matchAll(/TAP_([A-Z_]+)\] = \{"([^"]+)", (?:"([^"]+)"|NULL)\}/g)]
      .filter(([, key]) => !/ENCODER|DECODER|CROSS/.test(key))
      .map(([, key, first, last]) => [
        key.toLowerCase().replace(/_(.)/, (_, letter) => letter.toUpperCase()),
        last ? `${first}7${last}` : first
      ])
  assert.equal(names.length, 14)
  for (const [key, name] of names) assert.equal(tapName(/** @type {'query'} */ (key), 7), name, key)
})

test('unknown values and layers', () => {
  const refuses = (/** @type {RegExp} */ message, /** @type {any[]} */ ...given) =>
    assert.throws(() => Reflect.apply(tapName, undefined, given), {
      status: 'INVALID_ARGUMENT',
      message
    })
  refuses(/^tapName: the value is not valid \(found "logits", expected "query", /, 'logits', 0)
  refuses(/found "toString"/, 'toString')
  refuses(/^tapName: layer is not valid \(found undefined/, 'query')
  refuses(/^tapName: layer is not valid \(found -1/, 'query', -1)
})

test('what was opened', async () => {
  const folder = join(vectors, 'vit/hf_vit'),
    model = await runtime.loadModel(`${folder}/`),
    text = await model.describe(),
    printed = execFileSync(native, ['inspect', folder], { encoding: 'utf8' })
  assert.match(text, /^family vit: 20 px, patch 4, 2 layers x 3 heads/)
  assert.ok(text.endsWith('0 unused\n'))
  assert.ok(printed.startsWith(text), `${text}\n${printed}`)
  model.close()
  await assert.rejects(model.describe(), { status: 'INVALID_ARGUMENT' })
})

test('what was opened as a graph', async () => {
  const model = await runtime.loadModel(join(graphs, 'deit_17.onnx')),
    text = await model.describe()
  assert.match(text, /^family ONNX graph: 12 px, patch 4, \d layers x 2 heads, width 16/)
  assert.match(text, /\nassumed: preprocessing of ViT/)
  assert.match(text, /\npreprocessing: resize to 12 x 12 pixels/)
  model.close()
  const other = await runtime.loadModel(join(graphs, 'bert_14_dynamic.onnx'))
  assert.equal(await other.describe(), `${other.info.note}\n`)
  other.close()
})
