/* look(): one call from a picture to classes and maps. In Node, by sharp or a decoder of the caller's; what is
 * drawn in a browser, and what is said without sharp, is in examples.test.js. Numbers are held against the objects of the library. */
import assert from 'node:assert/strict'
import { pathToFileURL } from 'node:url'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { bigModel } from '../big_model.js'
import {
  createRuntime,
  demoModel,
  HeedError,
  loadPage,
  packageFolder,
  repository
} from '../package.js'
import { readSafetensors, sameBits } from '../safetensors.js'

/** @type {typeof import('../../src/decode_node.js')} */
const { decodeBySharp } = await loadPage('heed/decode_node.js')
/** @type {typeof import('heed/look')} */
const { look, release } = await import(pathToFileURL(join(packageFolder, 'look.js')).href)
/** @type {typeof import('heed')} */
const main = await import(pathToFileURL(join(packageFolder, 'index.js')).href)

/** @type {import('heed').DrawnScene['image']} */
let picture
/** @type {any} a RunResult with logits and maps */
let expected
/** @type {import('heed').Runtime} */
let runtime
/** @type {import('heed').Model} */
let model

before(async () => {
  runtime = await createRuntime({ threads: 1 })
  model = await runtime.loadModel(demoModel)
  picture = (await runtime.scene(159)).image
  expected = await model.createSession({ taps: 'all' }).run(picture)
})
after(async () => {
  runtime.close()
  await release()
})

test('pictures in Node are turned wherever Pillow finds their orientation', async () => {
  const { tensors: vectors } = readSafetensors(
      join(repository, 'tests/vectors/image/orientations.safetensors')
    ),
    decoder = createRequire(import.meta.url).resolve('sharp')
  let compared = 0
  for (const [name, { data }] of Object.entries(vectors)) {
    if (!name.startsWith('file.')) continue
    const wanted = vectors[name.replace('file', 'turned')],
      found = await decodeBySharp(new Blob([/** @type {any} */ (data)]), HeedError, decoder),
      channels = found.data.length / (found.width * found.height)
    assert.deepEqual([found.height, found.width, 3], wanted.shape, name)
    for (let i = 0; i < wanted.data.length; i++) {
      const byte = found.data[Math.floor(i / 3) * channels + (i % 3)],
        expected = Number(wanted.data[i])
      assert.ok(Math.abs(byte - expected) <= (name.includes('jpeg') ? 3 : 0), `${name}: byte ${i}`)
    }
    compared++
  }
  assert.equal(compared, 24 * 8)
})

/* Bytes of no format but this test's: the picture's, as they are. */
const encoded = () => new Blob([picture.data])
const decode = async (/** @type {Blob} */ blob) => ({
  data: new Uint8ClampedArray(await blob.arrayBuffer()),
  width: 224,
  height: 224
})

test('classes with probabilities, and rows of the maps', async () => {
  const { top, map, logits } = await look(picture, { model: demoModel })
  assert.ok(sameBits(/** @type {Float32Array} */ (logits), expected.logits))
  const found = top(3),
    all = Array.from(/** @type {Float32Array} */ (expected.logits), (logit) => Math.exp(logit)),
    sum = all.reduce((a, b) => a + b)
  assert.equal(found.length, 3)
  assert.equal(found[0].label, 'star')
  for (const { index, probability, logit, label } of found) {
    assert.ok(Math.abs(probability - all[index] / sum) < 1e-6)
    assert.equal(logit, expected.logits[index])
    assert.equal(label, model.info.labels[index])
  }
  assert.ok(found[0].probability >= found[1].probability)
  assert.equal(top().length, 5)
  const session = model.createSession({ taps: 'all' })
  await session.run(picture)
  for (const at of /** @type {any[]} */ ([
    { layer: 3, head: 0, query: [2, 10] },
    { layer: 0, head: 2, query: 'cls' },
    { layer: 4, head: 'mean', query: 7 }
  ])) {
    const row = await map(at).row(),
      own = await session.attention(at)
    assert.ok(
      row.every((weight, i) => Math.abs(weight - own[i]) < 1e-6),
      JSON.stringify(at)
    )
    assert.deepEqual(await map(at).weights(), row.slice(1))
  }
  assert.deepEqual(await map().row(), await map({ layer: 4, head: 'mean', query: 'cls' }).row())
  assert.deepEqual([map().rows, map().columns], [14, 14])
})

test('features, dimensions, and the session that ran', async () => {
  const { hidden, pooler_output, logits, attention, session, shape, map } = await look(picture, {
      model: demoModel
    }),
    own = model.createSession({ taps: ['last_hidden_state'] }),
    { values } = await own.run(picture),
    [first] = /** @type {import('heed').Shaped[]} */ (attention)
  assert.deepEqual(hidden?.dims, [shape.tokens, model.info.width])
  // with all maps kept the sums of attention have another order
  assert.ok(hidden.every((x, i) => Math.abs(x - Number(values.last_hidden_state.data[i])) < 1e-5))
  assert.equal(pooler_output, null, 'the demo model has none')
  assert.deepEqual(logits?.dims, [1, 10])
  assert.deepEqual(first.dims, [1, shape.heads, shape.tokens, shape.tokens])
  assert.equal(attention?.length, shape.layers)
  const row = await session.rollout({ query: 'cls' })
  assert.deepEqual(row.dims, [shape.tokens])
  assert.deepEqual((await session.rollout()).dims, [shape.tokens, shape.tokens])
  assert.equal(JSON.stringify(row.slice(0, 1)), JSON.stringify({ 0: row[0] }))
  assert.deepEqual(Object.keys(row).length, shape.tokens, 'dims is not enumerable')
  assert.ok(
    sameBits(
      await map({ layer: 3, head: 1, query: 'cls' }).row(),
      await session.attention({ layer: 3, head: 1, query: 'cls' })
    )
  )
  await assert.rejects(own.value('pooler_output'), { status: 'INVALID_ARGUMENT' })
  await assert.rejects(model.createSession().value('logits'), { status: 'INVALID_ARGUMENT' })
  own.close()
})

test('pooler_output of a model that pools its picture', async () => {
  const folder = `${join(repository, 'tests/vectors/vit/hf_dinov2')}/`,
    { pooler_output, hidden, info } = await look(picture, { model: folder })
  assert.deepEqual(pooler_output?.dims, [info.width])
  // CLS after the final norm
  assert.ok(
    sameBits(
      /** @type {Float32Array} */ (pooler_output),
      /** @type {any} */ (hidden).slice(0, info.width)
    )
  )
})

test('a model is judged by the size that runs: made for 518 pixels and cropped to 224, it has all maps', async () => {
  const files = await bigModel({
      size: { shortest_edge: 256 },
      crop: { height: 224, width: 224 }
    }),
    { attention, shape } = await look(picture, {
      model: files.map(({ name, buffer }) => new File([new Uint8Array(buffer)], name))
    })
  assert.equal(shape.tokens, 261)
  assert.equal(attention?.length, 12)
})

test('what is encoded: Blob, File, Response, data: address and path', async () => {
  const text = `data:application/octet-stream;base64,${Buffer.from(picture.data).toString('base64')}`
  for (const image of [encoded(), new Response(encoded()), text, new URL(text)]) {
    const { logits } = await look(image, { model: demoModel, decode })
    assert.ok(
      sameBits(/** @type {Float32Array} */ (logits), expected.logits),
      image.constructor.name
    )
  }
  await assert.rejects(look('no such file.jpg', { model: demoModel, decode }), {
    name: 'HeedError',
    status: 'IO'
  })
  await assert.rejects(look(new Response('', { status: 404 }), { model: demoModel }), {
    status: 'IO',
    message: /found HTTP 404/
  })
  await assert.rejects(look(encoded(), { model: demoModel }), {
    status: 'INVALID_FILE',
    message:
      /^look: the picture could not be decoded \(found ".+", expected one that sharp reads\)$/
  })
})

test('pictures in Node, by sharp: a path as it is; pixels are those of Pillow', async () => {
  const folder = join(repository, 'tests/vectors/image'),
    { tensors } = readSafetensors(join(folder, 'expect.safetensors')),
    off = /** @type {Record<string, number>} */ ({})
  for (const [name, { data, shape }] of Object.entries(tensors)) {
    const found = await decodeBySharp(
        new Blob([readFileSync(join(folder, name))]),
        HeedError,
        'sharp'
      ),
      pixels = found.width * found.height,
      channels = found.data.length / pixels
    assert.deepEqual([found.height, found.width], shape.slice(0, 2), name)
    for (let i = 0; i < 3 * pixels; i++)
      off[name] = Math.max(
        off[name] ?? 0,
        Math.abs(found.data[Math.floor(i / 3) * channels + (i % 3)] - data[i])
      )
  }
  /* Of 16 bits sharp rounds otherwise; colours for print are converted by a profile. */
  assert.ok(off['gray_16.png'] <= 1)
  const exact = Object.entries(off).filter(([name]) => !/^(gray_16|cmyk)\./.test(name))
  assert.ok(exact.length > 38)
  assert.deepEqual(
    exact.filter(([, most]) => most),
    []
  )
  const { logits } = await look(join(folder, 'rgb.png'), { model: demoModel }),
    pillow = tensors['rgb.png'],
    own = await look(
      {
        data: Uint8Array.from(pillow.data),
        width: pillow.shape[1],
        height: pillow.shape[0]
      },
      { model: demoModel }
    )
  assert.ok(sameBits(/** @type {any} */ (logits), /** @type {any} */ (own.logits)))
})

test('results stay theirs; a model is loaded once, or given open', async () => {
  const first = await look(picture, { model: demoModel }),
    before = await first.map({ layer: 2, head: 1 }).row()
  const { image } = await runtime.scene(7)
  await Promise.all([
    look(image, { model: demoModel }),
    look(image, { model }),
    main.look(image, { model })
  ])
  assert.deepEqual(await first.map({ layer: 2, head: 1 }).row(), before)
})

test('arguments are checked, and cancelling is an AbortError', async () => {
  const { top, map } = await look(picture, { model: demoModel })
  /** @param {any} ask @param {string} named */
  const refused = (ask, named) =>
    assert.rejects(
      async () => ask(),
      (/** @type {any} */ error) => {
        assert.ok(error instanceof HeedError || error.name === 'HeedError', String(error.stack))
        assert.equal(error.status, 'INVALID_ARGUMENT', error.message)
        assert.ok(error.message.includes(named), `${error.message}: ${named}`)
        return true
      }
    )
  const loose = /** @type {any} */ (look)
  await refused(() => loose(picture), 'model')
  await refused(() => loose(picture, {}), 'model')
  await refused(() => loose(picture, { model: demoModel, modle: 1 }), 'expected model; all are')
  await refused(() => loose(picture, { model: demoModel, fit: 'x' }), 'fit')
  await refused(() => loose(picture, { model: demoModel, decode: 1 }), 'decode')
  for (const image of [undefined, null, 5, {}, [], new Float32Array(3)])
    await refused(() => loose(image, { model: demoModel }), 'image')
  await refused(() => loose('', { model: demoModel }), 'image')
  for (const choice of /** @type {any[]} */ ([
    { layer: NaN },
    { layer: 5 },
    { head: 4 },
    { head: '0' },
    { layer: -1 },
    { querry: 1 },
    { query: 'CLS' },
    { query: [14, 0] },
    null
  ]))
    await refused(
      () => map(choice),
      'map' in (choice ?? {}) ? 'map' : Object.keys(choice ?? { map: 1 })[0]
    )
  for (const count of /** @type {any[]} */ ([0, -1, NaN, '3', 1.5]))
    await refused(() => top(count), 'count')
  await refused(() => map().draw(/** @type {any} */ (null)), 'canvas')
  await refused(
    () => map().draw(/** @type {any} */ ({}), /** @type {any} */ ({ color: 1 })),
    'colours'
  )
  const reason = new Error('the user has left')
  await assert.rejects(look(picture, { model: demoModel, signal: AbortSignal.abort(reason) }), {
    name: 'AbortError',
    status: 'CANCELLED',
    cause: reason
  })
  await look(picture, { model: demoModel }) // the model lives
})

/* DINOv2 as it is published: positions for 518, pictures of 224. Judged by 518, its maps were 181 MB. */
test('the size that runs decides whether a result keeps its maps', async () => {
  const files = await bigModel({ size: { height: 224, width: 224 } }),
    model = new Map(files.map(({ name, buffer }) => [name, new Uint8Array(buffer)])),
    first = await look(picture, { model }),
    { imageSize, runHeight, runWidth } = first.info,
    before = await first.map({ layer: 11, head: 1, query: [4, 7] }).row()
  assert.deepEqual([imageSize, runHeight, runWidth], [518, 224, 224])
  assert.deepEqual([first.shape.height, first.shape.tokens], [224, 261])
  assert.equal(first.attention?.length, 12)
  const other = { ...picture, data: picture.data.map((value) => 255 - value) }
  await look(other, { model })
  assert.ok(sameBits(await first.map({ layer: 11, head: 1, query: [4, 7] }).row(), before))
})

test('a model that runs at its training size of 518 computes rows on demand', async () => {
  const files = await bigModel(),
    model = new Map(files.map(({ name, buffer }) => [name, new Uint8Array(buffer)])),
    { attention, info, shape, map } = await look(picture, { model })
  assert.deepEqual([info.runHeight, shape.height, attention], [518, 518, null])
  assert.equal((await map({ layer: 11, head: 1, query: [4, 7] }).row()).length, 1374)
})
