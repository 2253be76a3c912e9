/* Whole models against the native program (SSE2): raw pixel_values, pictures with their
 * preprocessing, scenes, maps; within 1e-6 and the same bits for 1 and 2 threads. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import {
  createRuntime,
  demoModel,
  look,
  native,
  release,
  sceneColours,
  sceneShapes,
  vectors
} from '../package.js'
import { writePng } from '../png.js'
import { distance, readSafetensors, sameBits } from '../safetensors.js'
/** @import {Runtime} from 'heed' */

const cpu = ['--backend', 'cpu', '--simd', 'sse2']
/** @type {Runtime} */
let one
/** @type {Runtime} */
let two
/** @type {string} */
let scratch

before(async () => {
  one = await createRuntime({ threads: 1, simd: 'simd' }) // the widths of SSE2, which the program is asked for
  two = await createRuntime({ threads: 2, simd: 'simd' })
  scratch = mkdtempSync(join(tmpdir(), 'heed-models-'))
})
after(() => {
  one.close()
  two.close()
  rmSync(scratch, { recursive: true })
})

const heed = (/** @type {string[]} */ ...words) => execFileSync(native, words, { encoding: 'utf8' })

/**
 * Loads a model on both runtimes and runs the same input: [result, result].
 * @param {import('heed').ModelSource} source
 * @param {import('heed').SessionOptions['taps']} taps
 * @param {any} input
 */
async function runBoth(source, taps, input) {
  const results = /** @type {any[]} */ ([])
  for (const runtime of [one, two]) {
    const model = await runtime.loadModel(source)
    const session = model.createSession({ taps })
    results.push({ ...(await session.run(input)), session, model })
  }
  return results
}

/**
 * @param {string} name
 * @param {Float32Array<ArrayBufferLike> | null} found
 * @param {Float32Array<ArrayBuffer>} expected
 */
function near(name, found, expected) {
  const off = distance(/** @type {ArrayLike<number>} */ (found), expected)
  assert.ok(off <= 1e-6, `${name}: ${off} from the native result`)
}

for (const name of readdirSync(join(vectors, 'vit')).filter((name) => !/[.]|_text/.test(name)))
  test(`vit/${name}: logits and maps as heed eval gives them`, async () => {
    const folder = join(vectors, 'vit', name)
    const out = join(scratch, 'eval.safetensors')
    heed('eval', folder, join(folder, 'io.safetensors'), '-o', out, '--taps', 'all', ...cpu)
    const expected = readSafetensors(out).tensors,
      pixels = readSafetensors(join(folder, 'io.safetensors')).tensors.pixel_values
    const results = /** @type {any[]} */ ([])
    for (const runtime of [one, two]) {
      const model = await runtime.loadModel(folder)
      const session = model.createSession({
        taps: 'all',
        batch: pixels.shape[0],
        height: pixels.shape.at(-2),
        width: pixels.shape.at(-1),
        frames: pixels.shape.length === 5 ? pixels.shape[1] : undefined
      })
      results.push(await session.run(/** @type {any} */ (pixels.data)))
      model.close()
    }
    if (expected.logits)
      near('logits', results[0].logits, /** @type {any} */ (expected.logits.data))
    results[0].attention.forEach((/** @type {any} */ map, /** @type {any} */ layer) => {
      near(`attention.${layer}`, map, /** @type {any} */ (expected[`attention.${layer}`].data))
      assert.ok(
        sameBits(map, results[1].attention[layer]),
        `attention.${layer}: 1 and 2 threads differ`
      )
    })
  })

const named = (/** @type {RegExp} */ pattern) =>
    readdirSync(join(vectors, 'vit')).filter((name) => pattern.test(name)),
  cases = (/** @type {string} */ name) =>
    readdirSync(join(vectors, 'vit', name)).filter((file) => /^io.*[.]safetensors$/.test(file))

/**
 * @param {string} name
 * @param {string} file
 * @param {import('heed').SessionOptions} [options]
 */
async function runCase(name, file, options) {
  const { tensors } = readSafetensors(join(vectors, 'vit', name, file)),
    { shape, data } = tensors.pixel_values,
    model = await one.loadModel(join(vectors, 'vit', name)),
    session = model.createSession({
      ...{ taps: 'all', batch: shape[0], height: shape.at(-2), width: shape.at(-1) },
      frames: shape.length === 5 ? shape[1] : undefined,
      ...options
    }),
    result = await session.run(/** @type {any} */ (data))
  return { tensors, model, session, result, info: await session.ready }
}

/**
 * @param {string} what
 * @param {ArrayLike<number>} found
 * @param {ArrayLike<number>} expected
 */
const right = (what, found, expected) => {
  assert.equal(found.length, expected.length, what)
  assert.ok(distance(found, expected) <= 2e-5, `${what}: off by ${distance(found, expected)}`)
}

for (const name of named(/^(swin|sam)/))
  for (const file of cases(name))
    test(`vit/${name}/${file}: a row is where its window lies`, async () => {
      const { tensors, model, session, result, info } = await runCase(name, file),
        batch = tensors.pixel_values.shape[0]
      if (result.logits) right('logits', result.logits, tensors['expect.logits'].data)
      assert.equal(model.info.stages, name.startsWith('sam') ? 1 : 2)
      assert.deepEqual([info.frames, info.places.length], [1, info.layers])
      let maps = 0
      for (const [layer, place] of info.places.entries()) {
        const tokens = place.rows * place.columns,
          map = tensors[`expect.map.${layer}`],
          last = batch - 1
        const kept = tensors[`expect.attention.${layer}`]
        if (kept)
          right(`attention.${layer}`, /** @type {any} */ (result.attention)[layer], kept.data)
        if (!map) continue
        maps++
        for (let head = 0; head < place.heads; head++) {
          const whole = await session.attention({ layer, head, batch: last }),
            own = map.data.slice(head * tokens ** 2, (head + 1) * tokens ** 2)
          right(`map.${layer}`, await session.attention({ layer, head }), own)
          const column = Math.min(1, place.columns - 1),
            query = /** @type {[number, number]} */ ([place.rows - 1, column])
          assert.deepEqual(
            await session.attention({ layer, head, query, batch: last }),
            whole.slice(
              (tokens - place.columns + column) * tokens,
              (tokens - place.columns + column + 1) * tokens
            )
          )
        }
        const mean = await session.attention({ layer, head: 'mean', query: 0, batch: last })
        const sum = mean.reduce((sum, weight) => sum + weight),
          beyond = Math.min(place.rows, place.columns) < 3 // places of a window that are keys
        assert.ok(beyond ? sum > 0 && sum < 1 + 1e-5 : Math.abs(sum - 1) <= 1e-5)
      }
      assert.ok(maps > 0)
      await assert.rejects(session.attention({ layer: 0, head: 99 }), {
        status: 'INVALID_ARGUMENT'
      })
      await assert.rejects(
        session.attention({ layer: info.layers - 1, head: 0, query: [info.rows, 0] }),
        { status: 'INVALID_ARGUMENT', message: /\[row, column\] below/ }
      )
      for (const refused of [session.statistics(), session.rollout({ query: 0 })])
        await assert.rejects(refused, { status: 'UNSUPPORTED', message: /a model of stages/ })
      model.close()
    })

test('windows are kept or said not to be', async () => {
  const { session, model } = await runCase('swin', 'io_small.safetensors', { taps: 'rows' })
  await assert.rejects(session.attention({ layer: 0, head: 0, query: 0 }), {
    status: 'INVALID_ARGUMENT',
    message: /attends by windows; expected taps 'all'/
  })
  model.close()
})

for (const name of named(/^(videomae|vjepa2)/))
  for (const file of cases(name))
    test(`vit/${name}/${file}: a video's frames, rows and columns`, async () => {
      const { tensors, model, session, result, info } = await runCase(name, file),
        { frames, rows, columns, tokens, prefixTokens } = info,
        shape = tensors['expect.attention.0'].shape
      if (result.logits) right('logits', result.logits, tensors['expect.logits'].data)
      assert.equal(frames, tensors.pixel_values.shape[1] / model.info.tubelet)
      assert.equal(tokens, prefixTokens + frames * rows * columns)
      const time = frames - 1,
        token = prefixTokens + time * rows * columns + columns - 1,
        last = shape[0] - 1
      for (let layer = 0; layer < info.layers; layer++) {
        const expected = tensors[`expect.attention.${layer}`].data,
          head = shape[1] - 1,
          at = ((last * shape[1] + head) * tokens + token) * tokens
        right(
          `attention.${layer}`,
          await session.attention({ layer, head, batch: last, query: [time, 0, columns - 1] }),
          /** @type {any} */ (expected).slice(at, at + tokens)
        )
      }
      const row = await session.rollout({ query: [time, 0, columns - 1], batch: last })
      assert.ok(Math.abs(row.reduce((sum, weight) => sum + weight) - 1) <= 1e-5)
      await assert.rejects(session.attention({ layer: 0, head: 0, query: [0, 0] }), {
        status: 'INVALID_ARGUMENT',
        message: /\[time, row, column\] below/
      })
      for (const refused of [session.statistics(), session.explain({ methods: ['pca'] })])
        await assert.rejects(refused, { status: 'UNSUPPORTED', message: /a model of videos/ })
      model.close()
    })

test('look and statistics are of one image and one grid', async () => {
  const image = { data: new Uint8Array(4 * 24 * 24), width: 24, height: 24 }
  for (const name of ['swin', 'videomae'])
    await assert.rejects(look(image, { model: join(vectors, 'vit', name) }), {
      status: 'UNSUPPORTED',
      message: /^look: not of a model of (stages|videos)/
    })
  await release()
})

test('frames are as many as a video has', async () => {
  for (const [name, frames, message] of /** @type {[string, number, RegExp][]} */ ([
    ['videomae', 3, /found 3/],
    ['hf_vit', 2, /not a model of videos/]
  ])) {
    const model = await one.loadModel(join(vectors, 'vit', name))
    await assert.rejects(model.createSession({ frames }).ready, {
      status: 'INVALID_ARGUMENT',
      message
    })
    model.close()
  }
})

test('a video is an array of images', async () => {
  const model = await one.loadModel(join(vectors, 'vit/videomae')),
    session = model.createSession(),
    { width, height } = await session.ready,
    image = (/** @type {number} */ seed) => ({
      data: Uint8Array.from({ length: 3 * width * height }, (_, i) => (i * 7 + seed * 31) % 251),
      ...{ width, height }
    }),
    frames = Array.from({ length: model.info.frames }, (_, i) => image(i)),
    logits = async (/** @type {any} */ video) => (await session.run(video)).logits,
    first = await logits(frames)
  assert.ok(first && distance(first, /** @type {any} */ (await logits([...frames].reverse()))) > 0)
  assert.deepEqual(await logits(frames), first)
  for (const [wrong, message] of /** @type {[any, RegExp][]} */ ([
    [frames.slice(1), /expected \d+ frames of a video/],
    [frames[0], /expected \d+ frames of a video/],
    [[], /found 0, expected/],
    [[...frames.slice(1), new Float32Array(3)], /found pixel_values as frame/]
  ]))
    await assert.rejects(session.run(wrong), { status: 'INVALID_ARGUMENT', message })
  model.close()
})

test('names and hints say what weights do not', async () => {
  const folder = join(vectors, 'vit/own_after'),
    weights = readFileSync(join(folder, 'model.safetensors')),
    written = JSON.parse(heed('inspect', folder, '--names')),
    hints = {
      heads: 3,
      norm: 'after',
      activation: 'relu',
      head_activation: 'tanh',
      pool: 'patches',
      channels: 1
    },
    { tensors } = readSafetensors(join(folder, 'io_wide.safetensors')),
    expected = /** @type {any} */ (tensors['expect.logits'])
  for (const said of [{ names: written }, { hints }, { names: { ...written, heads: 4 }, hints }]) {
    const model = await one.loadModel({ weights }, said),
      session = model.createSession({ height: 12, width: 24 }),
      { logits } = await session.run(/** @type {any} */ (tensors.pixel_values.data))
    assert.ok(distance(/** @type {any} */ (logits), expected.data) <= 2e-5)
    model.close()
  }
  const model = await one.loadModel(
      { weights },
      { hints: { ...hints, interpolation_grid: 'nearest' } }
    ),
    session = model.createSession({ height: 12, width: 24 }),
    { logits } = await session.run(/** @type {any} */ (tensors.pixel_values.data))
  assert.ok(distance(/** @type {any} */ (logits), expected.data) > 1e-3, 'other positions')
  model.close()
  await assert.rejects(one.loadModel({ weights }), {
    status: 'INVALID_FILE',
    message:
      /cannot infer the number of heads .* or the hint heads=N \(--hints, in JavaScript hints\)/
  })
  await assert.rejects(one.loadModel({ weights }, { names: { qeury: 'a.{i}.b' } }), {
    status: 'INVALID_FILE',
    message: /^names\.json: unknown key \(found qeury, expected a role/
  })
})

test('scene 159 through the demo model: every number of heed run', async () => {
  const out = join(scratch, 'run.safetensors'),
    json = join(scratch, 'run.json')
  heed('run', '--scene', '159', '--layer', 'all', '--save', out, '--json', json, ...cpu)
  const expected = readSafetensors(out).tensors
  const { image } = await one.scene(159)
  const [a, b] = await runBoth(demoModel, 'all', image)
  near('logits', a.logits, /** @type {any} */ (expected.logits.data))
  assert.ok(sameBits(a.logits, b.logits), 'logits: 1 and 2 threads differ')
  a.attention.forEach((/** @type {any} */ map, /** @type {any} */ layer) =>
    near(`attention.${layer}`, map, /** @type {any} */ (expected[`attention.${layer}`].data))
  )
  near('rollout', await a.session.rollout(), /** @type {any} */ (expected.rollout.data))
  const heads = JSON.parse(readFileSync(json, 'utf8')).results[0].heads,
    numbers = [
      'entropy_cls',
      'entropy_patches',
      'distance',
      'distance_renormalised',
      'prefix_mass',
      'self_mass',
      'top5_mass'
    ]
  near(
    'statistics',
    (await a.session.statistics()).flat().flatMap(Object.values),
    heads.flatMap((/** @type {any} */ head) => numbers.map((name) => head[name]))
  )
  const again = await a.session.run(expected.pixel_values.data)
  assert.ok(sameBits(again.logits, a.logits), 'the module and the program preprocess differently')
  a.model.close()
  b.model.close()
})

test('a picture of any size gets the same preprocessing', async () => {
  const width = 301,
    height = 187,
    folder = join(vectors, 'vit/small_224'),
    data = new Uint8ClampedArray(width * height * 4)
  for (let i = 0; i < width * height; i++)
    data.set([(i * 7) % 256, (i * i) % 251, (i >> 4) % 256, 255], 4 * i)
  const path = join(scratch, 'picture.png'),
    out = join(scratch, 'picture.safetensors')
  writeFileSync(path, writePng(data, width, height))
  heed('run', folder, path, '--save', out, ...cpu)
  const expected = readSafetensors(out).tensors,
    model = await one.loadModel(folder),
    session = model.createSession()
  const { logits, region } = await session.run({ data, width, height })
  const again = await session.run(/** @type {any} */ (expected.pixel_values.data))
  assert.ok(
    sameBits(/** @type {any} */ (again.logits), /** @type {any} */ (logits)),
    'the module and the program preprocess differently'
  )
  near('logits', logits, /** @type {any} */ (expected.logits.data))
  assert.ok(/** @type {any} */ (region).width > 0 && /** @type {any} */ (region).height > 0)
  model.close()
})

test('a session of another size takes pictures as heed run --size does; queries by name', async () => {
  const width = 301,
    height = 187,
    folder = join(vectors, 'vit/dinov2_registers_classifier'),
    data = new Uint8ClampedArray(width * height * 4)
  for (let i = 0; i < width * height; i++)
    data.set([(i * 7) % 256, (i * i) % 251, (i >> 4) % 256, 255], 4 * i)
  const path = join(scratch, 'sized.png'),
    out = join(scratch, 'sized.safetensors'),
    size = { height: 12, width: 60 },
    names = ['CLS', 'register 1', 'register 2', 'register 3']
  writeFileSync(path, writePng(data, width, height))
  heed('run', folder, path, '--size', '12,60', '--save', out, ...cpu)
  const expected = readSafetensors(out).tensors,
    model = await one.loadModel(folder),
    session = model.createSession({ ...size, taps: 'all' })
  assert.deepEqual(expected.pixel_values.shape, [1, 3, 12, 60])
  assert.deepEqual(model.info.tokenNames, names)
  const { rows, columns, tokenNames } = await session.ready
  assert.deepEqual([rows, columns, tokenNames], [3, 15, names])
  const { logits, region } = await session.run({ data, width, height })
  const again = await session.run(/** @type {any} */ (expected.pixel_values.data))
  assert.ok(sameBits(/** @type {any} */ (again.logits), /** @type {any} */ (logits)))
  near('logits', logits, /** @type {any} */ (expected.logits.data))
  assert.ok(Math.abs(/** @type {any} */ (region).height - (12 * 187) / 37) < 1e-9)
  const row = await session.attention({ layer: 1, head: 0, query: 'register 2' })
  assert.ok(sameBits(row, await session.attention({ layer: 1, head: 0, query: 2 })))
  await assert.rejects(
    session.attention({ layer: 1, head: 0, query: 'register 4' }),
    /query is not valid \(found "register 4", expected a token below 49, "cls", "register 1",/
  )
  const odd = model.createSession({ height: 13, width: 60 })
  await assert.rejects(
    odd.run({ data, width, height }),
    /size: sides are not multiples of the patch \(found height 13, width 60, expected multiples of 4/
  )
  model.close()
})

test('rows on demand are the rows of the maps', async () => {
  const { image } = await one.scene(7),
    model = await one.loadModel(demoModel)
  const kept = model.createSession({ taps: 'all' }),
    rows = model.createSession({ taps: 'rows' })
  const { attention } = await kept.run(image)
  assert.equal((await rows.run(image)).attention, null)
  const { tokens, heads } = await kept.ready
  for (const [layer, head, query] of [
    [0, 0, 0],
    [3, 0, 100],
    [4, 3, 196]
  ]) {
    const at = (head * tokens + query) * tokens
    near(
      'row',
      await rows.attention({ layer, head, query }),
      /** @type {Float32Array[]} */ (attention)[layer].slice(at, at + tokens)
    )
  }
  const mean = await kept.attention({ layer: 2, head: 'mean', query: 'cls' })
  const sum = mean.map(
    (_, i) =>
      Array.from(
        { length: heads },
        (_, h) => /** @type {Float32Array[]} */ (attention)[2][h * tokens * tokens + i]
      ).reduce((a, b) => a + b) / heads
  )
  near('mean', mean, sum)
  near(
    'statistics',
    /** @type {any} */ ((await rows.statistics()).flat().flatMap(Object.values)),
    /** @type {any} */ ((await kept.statistics()).flat().flatMap(Object.values))
  )
  model.close()
})

test('shapes and colours are those of the renderer', async () => {
  const model = await one.loadModel(demoModel)
  assert.deepEqual(model.info.labels, [...sceneShapes])
  const objects = sceneShapes.slice(0, 8).map((shape, i) => ({
    shape,
    colour: sceneColours[i],
    x: 30 + 24 * i,
    y: 40,
    radius: 10,
    angle: 0
  }))
  const { scene, image } = await one.scene({ seed: 2n ** 63n + 1n, objects })
  assert.equal(scene.seed, 2n ** 63n + 1n)
  const again = await one.scene(scene)
  assert.deepEqual(again.image.data, image.data)
  model.close()
})
