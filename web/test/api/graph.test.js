/* ONNX files as graphs in the package: outputs and maps of exports beside the eager models, on every
 * module; three ways of one model, natively and in WebAssembly; sessions of vision transformers; what
 * is refused, and what runs in double. */
import assert from 'node:assert/strict'
import { File } from 'node:buffer'
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { pathToFileURL } from 'node:url'
import { createRuntime, native, repository, scalar, vectors } from '../package.js'
import { distance, readSafetensors } from '../safetensors.js'
/** @import {GraphInput, LoadModelOptions, Model, ModelSource, Runtime} from 'heed' */

const { Graph } = await import(pathToFileURL(join(repository, 'tests/bench/onnx_graph.mjs')).href),
  folder = join(vectors, 'onnx/graphs'),
  reference = join(vectors, 'vit/hf_vit'),
  layout = join(vectors, 'onnx/vit'),
  photo = {
    data: new Uint8ClampedArray(40 * 30 * 4).map((_, i) => (i * 37) % 251),
    width: 40,
    height: 30
  },
  eager = 2e-5
/** @type {Runtime} */
let runtime
/** @type {string} */
let scratch

before(async () => {
  runtime = await createRuntime({ threads: 1 })
  scratch = mkdtempSync(join(tmpdir(), 'heed-graph-'))
})
after(() => {
  runtime.close()
  rmSync(scratch, { recursive: true })
})

/**
 * @param {string} what
 * @param {ArrayLike<number>} found
 * @param {ArrayLike<number>} wanted
 */
function near(what, found, wanted, tolerance = eager) {
  const apart = distance(found, wanted)
  assert.ok(apart <= tolerance, `${what}: ${apart}, at most ${tolerance}`)
}

/** What an export gets and what its eager model gives: token ids are I64 there.
 * @param {string} name */
function vectorsOf(name) {
  const bytes = readFileSync(join(folder, `${name}.safetensors`)),
    size = Number(bytes.readBigUInt64LE(0)),
    header = JSON.parse(bytes.subarray(8, 8 + size).toString())
  return /** @type {Record<string, GraphInput & {data: any}>} */ (
    Object.fromEntries(
      Object.entries(header).map(
        ([
          tensor,
          {
            dtype,
            shape,
            data_offsets: [from, to]
          }
        ]) => [
          tensor,
          {
            shape,
            data: new (dtype === 'I64' ? BigInt64Array : Float32Array)(
              new Uint8Array(bytes.subarray(8 + size + from, 8 + size + to)).buffer
            )
          }
        ]
      )
    )
  )
}

/**
 * @param {Model} model
 * @param {Record<string, GraphInput & {data: any}>} io
 */
async function compare(model, io) {
  const { inputs, attentions } = /** @type {NonNullable<Model['info']['graph']>} */ (
      model.info.graph
    ),
    given = Object.fromEntries(inputs.map(({ name }) => [name, io[name]])),
    { outputs, attention, note } = await model.evaluate(given, { taps: 'all' })
  assert.ok(Object.keys(outputs).length > 0)
  for (const [name, { shape, data, dtype }] of Object.entries(outputs)) {
    assert.equal(dtype, 'F32')
    assert.deepEqual(shape, io[name].shape)
    near(`${note}: ${name}`, /** @type {Float32Array} */ (data), io[name].data)
  }
  assert.equal(attention?.length, attentions.length)
  for (const [i, map] of (attention ?? []).entries())
    near(`${note}: ${attentions[i]}`, map?.data ?? [], io[`attention.${i}`].data)
  return { note, outputs, attention }
}

const exports = {
  bert_14_dynamic: 2,
  clip_14: 2,
  clip_text_17: 2,
  deit_17: 2,
  dinov2_11_dynamic: 2,
  joined_14_dynamic: 2,
  mean_11: 2,
  siglip_17_dynamic: 3
}

test('exports: outputs and every attention of the eager model, on kernels and in double', async () => {
  for (const [name, attentions] of Object.entries(exports))
    for (const way of /** @type {const} */ ([undefined, 'reference'])) {
      const model = await runtime.loadModel(join(folder, `${name}.onnx`), { way }),
        io = vectorsOf(name),
        { note } = await compare(model, io)
      assert.match(
        note,
        way
          ? /^\w+\.onnx: run as an ONNX graph, in double \(opset \d+ by pytorch [^)]+\)$/
          : /^\w+\.onnx: run as an ONNX graph on heed's kernels \(opset \d+ by pytorch [^)]+\)$/
      )
      assert.equal(model.info.graph?.attentions.length, attentions)
      await compare(model, io) // the session of the first call, or another
      model.close()
    }
})

test('every module: one thread and two, with SIMD and without', async () => {
  const found = []
  for (const options of [
    scalar,
    .../** @type {const} */ ([
      { threads: 1, simd: 'simd' },
      { threads: 2, simd: 'simd' },
      { threads: 1 },
      { threads: 2 }
    ])
  ]) {
    const other = await createRuntime({ worker: false, ...options }),
      model = await other.loadModel(join(folder, 'deit_17.onnx'))
    found.push((await compare(model, vectorsOf('deit_17'))).attention)
    other.close()
  }
  assert.deepEqual(found[2], found[1])
  assert.deepEqual(found[4], found[3])
})

const taps = ['layer.0.attention.weights', 'layer.1.attention.weights'],
  pixels = readSafetensors(join(vectors, 'onnx/io.safetensors')).tensors.pixel_values

/**
 * @param {ModelSource} source
 * @param {LoadModelOptions} [options]
 */
async function run(source, options) {
  const model = await runtime.loadModel(source, options),
    session = model.createSession({ batch: 2, taps }),
    { logits, values } = await session.run(/** @type {Float32Array} */ (pixels.data)),
    { note } = model.info
  model.close()
  return { note, logits, maps: taps.map((name) => /** @type {Float32Array} */ (values[name].data)) }
}

test('three ways of one model, natively and here: maps equal within 1e-6, and which way it was', async () => {
  const plain = join(scratch, 'plain'),
    file = join(plain, 'model.onnx')
  mkdirSync(plain)
  copyFileSync(join(reference, 'config.json'), join(plain, 'config.json'))
  copyFileSync(join(vectors, 'onnx/model.onnx'), file)
  const own = await run(reference),
    ways = /** @type {[source: string, LoadModelOptions, note: RegExp | null][]} */ ([
      [reference, {}, null],
      [file, {}, /^model\.onnx: ONNX file as weights of heed's own graph \(/],
      [file, { way: 'weights' }, /^model\.onnx: ONNX file as weights of heed's own graph \(/],
      [file, { way: 'graph' }, /^model\.onnx: run as an ONNX graph on heed's kernels \(/]
    ])
  for (const [source, options, sentence] of ways) {
    const found = await run(source, options),
      out = join(scratch, 'out.safetensors'),
      way = options.way ? ['--way', options.way] : []
    if (sentence) assert.match(found.note ?? '', sentence)
    else assert.equal(found.note, null)
    execFileSync(native, [
      'eval',
      source,
      join(vectors, 'onnx/io.safetensors'),
      '-o',
      out,
      '--backend',
      'cpu',
      '--quiet',
      ...way
    ])
    const { tensors } = readSafetensors(out)
    for (const [i, map] of own.maps.entries()) {
      near(`${options.way}, map ${i}, here`, found.maps[i], map, 1e-6)
      near(`${options.way}, map ${i}, natively`, tensors[`attention.${i}`].data, map, 1e-6)
    }
    near(`${options.way}: logits`, found.logits ?? [], own.logits ?? [])
  }
})

test('a graph is taken where the weights are not: without a config, of another family', async () => {
  const bytes = readFileSync(join(vectors, 'onnx/model.onnx'))
  for (const source of [
    bytes,
    { 'model.onnx': bytes, 'config.json': Buffer.from('{"model_type": "mystery"}') },
    new Map([
      ['model_quantized.onnx', new Blob([readFileSync(join(layout, 'onnx/model_quantized.onnx'))])]
    ])
  ]) {
    const model = await runtime.loadModel(source)
    assert.match(String(model.info.note), /: run as an ONNX graph on heed's kernels \(/)
    assert.equal(model.info.graph?.attentions.length, 2)
    model.close()
  }
  for (const [config, found] of [
    ['null', 'it is not an object (found null)'],
    ['{', 'expected a key in quotes']
  ]) {
    const source = { 'model.onnx': bytes, 'config.json': Buffer.from(config) },
      model = await runtime.loadModel(source, { way: 'graph' })
    assert.ok(model.info.note?.includes(`, not on kernels: config.json: ${found}`), config)
    model.close()
  }
  for (const file of ['model_quantized.onnx', 'model_q4.onnx', 'model.onnx']) {
    const model = await runtime.loadModel(join(layout, 'onnx', file), { way: 'graph' }),
      { attention, note } = await model.evaluate(
        { pixel_values: /** @type {GraphInput} */ (pixels) },
        { taps: 'all' }
      ),
      own = await run(join(layout, 'onnx', file), { way: 'weights' })
    assert.match(note, /on heed's kernels/)
    assert.equal(/ activations not rounded to 8 bits$/.test(note), file === 'model_quantized.onnx')
    for (const [i, map] of own.maps.entries()) near(file, attention?.[i]?.data ?? [], map, 1e-6)
    model.close()
  }
  await assert.rejects(runtime.loadModel(bytes, { way: 'weights' }), { name: 'HeedError' })
})

test('sessions of a vision transformer that no config names: pictures, maps, statistics', async () => {
  const model = await runtime.loadModel(readFileSync(join(vectors, 'onnx/model.onnx'))),
    own = await runtime.loadModel(reference),
    { family, layers, heads, patch, prefixTokens, classes, imageSize, assumed } = model.info
  assert.equal(family, 'ONNX graph')
  assert.equal(assumed, 'preprocessing of ViT (mean 0.5, std 0.5)')
  assert.deepEqual(
    { layers, heads, patch, prefixTokens, classes, imageSize },
    Object.fromEntries(
      /** @type {const} */ ([
        'layers',
        'heads',
        'patch',
        'prefixTokens',
        'classes',
        'imageSize'
      ]).map((name) => [name, own.info[name]])
    )
  )
  const names = ['query', 'key', 'value', 'attention.output', 'output'].map(
      (what) => `layer.1.${what}`
    ),
    [session, other] = [model, own].map((of) => of.createSession({ taps: [...taps, ...names] })),
    [found, wanted] = [await session.run(photo), await other.run(photo)]
  near('logits', found.logits ?? [], wanted.logits ?? [])
  for (const name of [...taps, ...names].filter((name) => name in found.values))
    near(name, found.values[name].data, wanted.values[name].data, 1e-5)
  assert.ok('layer.1.output' in found.values && 'layer.1.attention.output' in found.values)
  assert.deepEqual(found.region, wanted.region)
  near(
    'a row',
    await session.attention({ layer: 1, head: 'mean', query: 'cls' }),
    await other.attention({ layer: 1, head: 'mean', query: 'cls' }),
    1e-6
  )
  near('rollout', await session.rollout(), await other.rollout(), 1e-6)
  const [mine] = await session.statistics({ layer: 0 }),
    [theirs] = await other.statistics({ layer: 0 })
  near('statistics', Object.values(mine[0]), Object.values(theirs[0]))
  const rows = model.createSession({ taps: 'rows' })
  await rows.run(photo)
  near(
    'a head',
    await rows.attention({ layer: 0, head: 1 }),
    await other.attention({ layer: 0, head: 1 }),
    1e-6
  )
  const { found: tensors } = await model.tensors()
  assert.ok(tensors.some(({ name, used }) => name.endsWith('.weight') && used))
  await assert.rejects(own.evaluate({}), { status: 'UNSUPPORTED' })
  model.close()
  own.close()
  const text = await runtime.loadModel(join(folder, 'clip_text_17.onnx'))
  await assert.rejects(text.createSession().ready, {
    status: 'UNSUPPORTED',
    message:
      /^createSession: clip_text_17\.onnx: no vision transformer \(found 0 inputs of images .*; evaluate\(\) runs the graph\)$/
  })
  text.close()
})

test('changes of attention on a graph: those of the model of its config', async () => {
  const plain = await runtime.loadModel(readFileSync(join(vectors, 'onnx/model.onnx'))),
    own = await runtime.loadModel(reference),
    wanted = await plain.createSession().run(photo),
    results = []
  for (const model of [plain, own]) {
    const session = model.createSession({ taps, intervene: { temperature: 2 } }),
      { tokens } = await session.ready
    await session.write('token_mask', new Uint8Array(tokens).fill(1).fill(0, 5, 6))
    await session.write('layer.0.attention.gain', new Float32Array(3).fill(0.5, 1, 2))
    results.push(await session.run(photo))
  }
  const [found, same] = results
  near('logits', found.logits ?? [], same.logits ?? [])
  for (const name of taps.filter((tap) => tap in found.values))
    near(name, found.values[name].data, same.values[name].data, 1e-5)
  assert.ok(distance(found.logits ?? [], wanted.logits ?? []) > 1e-3)
  plain.close()
  own.close()
})

test('attention over windows: maps of all patches, which hold the windows that evaluate gives', async () => {
  const path = join(vectors, 'reports/onnx_swin/swin_like.onnx')
  const pixels = Float32Array.from({ length: 3 * 32 * 32 }, (_, i) => ((i * 37) % 101) / 101 - 0.5)
  const model = await runtime.loadModel(path)
  assert.deepEqual([model.info.layers, model.info.heads, model.info.patch], [2, 2, 4])
  assert.match(model.info.assumed ?? '', /maps of windows put where they lie/)
  const session = model.createSession({ taps: 'all' })
  const { attention: maps } = await session.run(pixels)
  const given = { pixel_values: { data: pixels, shape: [1, 3, 32, 32] } }
  const { attention: windows } = await model.evaluate(given, { taps: 'all' })
  for (const [layer, shift] of [0, 2].entries()) {
    const own = windows?.[layer]?.data ?? new Float32Array(0)
    const place = (/** @type {number} */ token) => {
      const [y, x] = [(token >> 3) - shift + 8, (token & 7) - shift + 8].map((at) => at % 8)
      return [(y >> 2) * 2 + (x >> 2), (y & 3) * 4 + (x & 3)]
    }
    const map = maps?.[layer] ?? new Float32Array(0)
    assert.equal(map.length, 2 * 64 * 64)
    for (let i = 0; i < map.length; i++) {
      const [window, query] = place((i >> 6) & 63)
      const [other, key] = place(i & 63)
      const right = window === other ? own[((window * 2 + (i >> 12)) * 16 + query) * 16 + key] : 0
      assert.ok(
        Math.abs(map[i] - right) <= 1e-6,
        `layer ${layer}, weight ${i}: ${map[i]}, ${right}`
      )
    }
  }
  session.close()
  model.close()
  const later = await runtime.loadModel(path, { hints: { stage: 2 } })
  await assert.rejects(later.createSession().ready, /unknown stage \(found 2, expected at most 1/)
  later.close()
})

test('a graph that leaves the size of images open has that of its positions, which is said', async () => {
  const bytes = readFileSync(join(folder, 'siglip_17_dynamic.onnx'))
  for (const [source, options] of /** @type {[ModelSource, LoadModelOptions?][]} */ ([
    [bytes],
    [bytes, { way: 'graph' }],
    [{ 'model.onnx': bytes, 'config.json': Buffer.from('{"model_type": "mystery"}') }]
  ])) {
    const model = await runtime.loadModel(source, options),
      { patch, imageSize, assumed, note } = model.info
    assert.equal(imageSize, 3 * patch) // the file's table has nine positions
    assert.match(String(note), /: run as an ONNX graph on heed's kernels \(/)
    assert.ok(
      assumed?.startsWith(`images of ${imageSize} x ${imageSize} pixels; `),
      String(assumed)
    )
    const { rows, columns } = await model.createSession().ready
    assert.deepEqual([rows, columns], [3, 3])
    model.close()
  }
})

/**
 * @param {(graph: any) => Record<string, number[]>} make gives outputs
 */
function made(make) {
  const graph = new Graph()
  graph.input('x', [2, 3])
  return runtime.loadModel({ 'made.onnx': graph.encode(make(graph)) })
}
const x = { data: Float32Array.of(1, 2, 3, 4, 5, 6), shape: [2, 3] }

test('a node without a kernel runs in double; what heed has not is named; what is known needs no run', async () => {
  const sums = await made((graph) => {
      graph.add('CumSum', ['x', graph.constant('axis', [], BigInt64Array.of(1n))], {}, 'y')
      return { y: [2, 3] }
    }),
    { outputs, note } = await sums.evaluate({ x })
  assert.deepEqual([...outputs.y.data], [1, 3, 6, 4, 9, 15])
  assert.match(
    note,
    /^made\.onnx: run as an ONNX graph on heed's kernels \(.*\); 1 of 1 nodes in double \(CumSum\)$/
  )
  sums.close()
  const unknown = await made((graph) => {
    graph.add('Det', ['x'], {}, 'y')
    return { y: [2, 3] }
  })
  await assert.rejects(unknown.evaluate({ x }), {
    status: 'UNSUPPORTED',
    message: /^made\.onnx: node 0 \(Det y\): .*Det of opset 17/
  })
  unknown.close()
  const both = await made((graph) => {
      graph.add('Add', ['x', 'x'], {}, 'y')
      graph.constant('two', [2], Float32Array.of(2, 3))
      graph.add('Neg', ['two'], {}, 'z')
      return { y: [2, 3], z: [2] }
    }),
    found = await both.evaluate({ x })
  assert.match(found.note, /on heed's kernels/)
  assert.deepEqual([...found.outputs.y.data], [2, 4, 6, 8, 10, 12])
  assert.deepEqual([...found.outputs.z.data], [-2, -3])
  assert.equal(found.attention, null)
  both.close()
})

test('inputs of four axes are no pictures where they are given: of any channels, and open ones', async () => {
  for (const axes of [
    ['n', 'c', 'h', 'w'],
    ['n', 3, 'h', 'w'],
    [2, 1, 2, 3]
  ]) {
    const graph = new Graph()
    graph.input('x', axes)
    graph.add('Add', ['x', 'x'], {}, 'y')
    const model = await runtime.loadModel({ 'made.onnx': graph.encode({ y: axes }) })
    for (const channels of axes[1] === 'c' ? [1, 3, 4] : [Number(axes[1])]) {
      const data = new Float32Array(12 * channels).map((_, i) => i),
        x = { data, shape: [2, channels, 2, 3] },
        { outputs, note } = await model.evaluate({ x })
      assert.match(note, /on heed's kernels/)
      assert.deepEqual(outputs.y.shape, x.shape)
      assert.deepEqual(
        [...outputs.y.data],
        [...data].map((value) => 2 * value)
      )
    }
    await assert.rejects(model.createSession().ready, { status: 'UNSUPPORTED' })
    model.close()
  }
})

test('inputs that do not fit are refused with a sentence', async () => {
  const model = await made((graph) => {
    graph.add('Add', ['x', 'x'], {}, 'y')
    return { y: [2, 3] }
  })
  for (const [inputs, sentence] of /** @type {[any, RegExp][]} */ ([
    [
      {},
      /^evaluate: input x is not valid \(found Undefined, expected \{ data: Float32Array, shape \}\)$/
    ],
    [
      { x: { ...x, data: [1, 2, 3, 4, 5, 6] } },
      /found Array, expected \{ data: Float32Array, shape \}/
    ],
    [
      { x: { ...x, shape: [3, 3] } },
      /found 6 elements for shape \[3,3\], expected as many as the shape has/
    ],
    [{ x: { ...x, shape: [3, 2] } }, /found shape \[3,2\], expected \[2,3\]/],
    [{ x: { ...x, shape: '2,3' } }, /expected an array of sizes/],
    [{ x, y: x }, /^evaluate: no such input \(found "y", expected x\)$/],
    [null, /evaluate: the inputs is not valid/]
  ]))
    await assert.rejects(model.evaluate(inputs), { status: 'INVALID_ARGUMENT', message: sentence })
  await assert.rejects(model.evaluate({ x }, /** @type {any} */ ({ taps: 'some' })), {
    status: 'INVALID_ARGUMENT'
  })
  model.close()
  await assert.rejects(model.evaluate({ x }), { message: /closed/ })
})

test('the code of docs/onnx.md runs as it stands, but for names of files and token ids', async () => {
  const blocks = [
      ...readFileSync(join(repository, 'docs/onnx.md'), 'utf8').matchAll(/^```js\n([^]*?)^```/gm)
    ].map(([, block]) => block),
    named = (/** @type {string} */ name) =>
      new File([readFileSync(join(layout, name))], name.replace(/.*\//, '')),
    given = {
      runtime,
      configFile: named('config.json'),
      onnxFile: named('onnx/model.onnx'),
      dataFile: named('onnx/model.onnx_data')
    },
    run = (/** @type {string} */ block, result = '') =>
      new Function(
        ...Object.keys(given),
        `return (async () => { ${block.replace('101n, 7592n, 102n', '23n, 4n, 22n')}\n${result} })()`
      )(...Object.values(given))
  assert.equal(blocks.length, 2)
  const opened = (/** @type {string} */ block) =>
      block
        .replaceAll("'models/vit/", `'${layout}/`)
        .replace('models/bert/onnx/model_quantized.onnx', join(folder, 'bert_14_dynamic.onnx'))
        .split('\n'),
    lines = opened(blocks[0]).filter((line) => line)
  assert.equal(lines.length, 4)
  for (const line of lines) {
    const model = await run(line.replace(/^await/, 'return'))
    assert.match(model.info.note, /\.onnx: ONNX file as weights of heed's own graph \(/)
    model.close()
  }
  const { model, outputs, attention, note } = await run(
    opened(blocks[1]).join('\n'),
    'return { model, outputs, attention, note }'
  )
  assert.match(note, /^bert_14_dynamic\.onnx: run as an ONNX graph on heed's kernels \(/)
  assert.deepEqual(Object.keys(outputs), ['pooled', 'last_hidden_state'])
  assert.deepEqual(
    attention.map((/** @type {{shape: number[]}} */ { shape }) => shape),
    [
      [1, 2, 3, 3],
      [1, 2, 3, 3]
    ]
  )
  model.close()
})

test('memory is given back; a graph that was closed is gone', async () => {
  const { used } = await runtime.memory(),
    model = await runtime.loadModel(join(folder, 'clip_14.onnx'))
  await compare(model, vectorsOf('clip_14'))
  await model.createSession({ taps: 'all' }).ready
  assert.ok((await runtime.memory()).used > used)
  model.close()
  assert.equal((await runtime.memory()).used, used)
})

test('damaged graphs get a sentence, and the runtime works on', async () => {
  const bytes = readFileSync(join(folder, 'mean_11.onnx')),
    io = vectorsOf('mean_11')
  for (let length = 9; length < bytes.length; length += 4507)
    await assert.rejects(
      async () => {
        const model = await runtime.loadModel({ 'cut.onnx': bytes.subarray(0, length) })
        try {
          await model.evaluate({ pixel_values: io.pixel_values })
        } finally {
          model.close()
        }
      },
      { name: 'HeedError', message: /^\S.+: .+/ }
    )
  for (let at = 40; at < 3000; at += 331) {
    const broken = Buffer.from(bytes)
    broken[at] ^= 1 << (at % 8)
    try {
      const model = await runtime.loadModel({ 'bits.onnx': broken })
      try {
        await model.evaluate({ pixel_values: io.pixel_values })
      } finally {
        model.close()
      }
    } catch (error) {
      assert.equal(/** @type {Error} */ (error).name, 'HeedError')
    }
  }
  writeFileSync(join(scratch, 'whole.onnx'), bytes)
  const model = await runtime.loadModel(join(scratch, 'whole.onnx'))
  await compare(model, io)
  model.close()
})
