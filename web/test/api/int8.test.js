/* Weights of int8: products of every module against plain numbers, in Node, Chromium and Firefox;
 * and models that `heed convert` wrote, against the command line. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { runProducts } from '../int8_products.js'
import { createRuntime, demoModel, native, scalar, testModules } from '../package.js'

const checks = join(testModules, 'int8')
/** @type {string} */
let scratch
const folder = (/** @type {string} */ name) => join(scratch, name)

before(() => {
  scratch = mkdtempSync(join(tmpdir(), 'heed-int8-'))
  for (const weights of ['int8', 'f16'])
    execFileSync(native, ['convert', '-o', folder(weights), '--weights', weights])
})
after(() => rmSync(scratch, { recursive: true, force: true }))

/** @param {string[]} flags of Node */
function productsIn(flags, name = 'wasm128.wasm') {
  const script = `import { readFileSync } from 'node:fs'
    const { runProducts } = await import(${JSON.stringify(pathToFileURL(fileURLToPath(new URL('../int8_products.js', import.meta.url))).href)})
    console.log(JSON.stringify(await runProducts(readFileSync(${JSON.stringify(join(checks, name))}))))`
  return JSON.parse(
    execFileSync(process.execPath, [...flags, '--input-type=module', '-e', script], {
      encoding: 'utf8'
    })
  )
}

for (const level of ['wasm128', 'scalar'])
  test(`products of ${level} are exact`, async () => {
    const { levels, wrong, count } = await runProducts(readFileSync(join(checks, `${level}.wasm`)))
    assert.deepEqual([levels, wrong], [[level], []])
    assert.ok(count > 150)
  })

const relaxed = existsSync(join(checks, 'relaxed.wasm')),
  [major] = process.versions.node.split('.').map(Number),
  flag = major < 22 ? ['--experimental-wasm-relaxed-simd'] : []

/* Node 20 drops the sum before in its baseline compiler: the probe must see that. Without it, and
 * without the dot product of AVX-VNNI, the same numbers. */
for (const more of [[], ['--no-liftoff'], ['--liftoff-only']])
  test(`products of relaxed SIMD are exact: node ${more}`, {
    skip: !relaxed && 'not built'
  }, () => {
    const { levels, wrong } = productsIn([...flag, ...more], 'relaxed.wasm')
    assert.deepEqual(wrong, [])
    assert.equal(levels.at(-1), 'relaxed')
    if (major < 22 && more[0] !== '--no-liftoff') assert.deepEqual(levels, ['relaxed'])
  })

test('a model of int8 opens by the dtypes of its header', async () => {
  const runtime = await createRuntime({ threads: 1 }),
    model = await runtime.loadModel(folder('int8')),
    plain = await runtime.loadModel(demoModel)
  assert.equal(model.info.layers, plain.info.layers)
  const halves = await runtime.loadModel(folder('f16'))
  assert.ok(model.info.weightBytes < 0.66 * halves.info.weightBytes)
  halves.close()
  const { found } = await model.tensors()
  assert.ok(found.some(({ dtype, used }) => dtype === 'I8' && used))
  const session = model.createSession({ taps: 'all' }),
    { image } = await runtime.scene(3),
    { logits, attention } = await session.run(image)
  assert.ok(logits && attention)
  const other = plain.createSession({ taps: 'all' }),
    float = await other.run(image)
  assert.ok(float.logits)
  assert.equal(topOf(logits), topOf(float.logits))
  assert.notDeepEqual(logits, float.logits)
  assert.ok(largestDifference(logits, float.logits) < 1)
  const statistics = await session.statistics(),
    rollout = await session.rollout()
  assert.equal(statistics.length, model.info.layers)
  assert.ok(rollout.every((x) => x >= 0 && x <= 1))
  const row = await session.attention({ layer: 1, head: 0, query: 5 }),
    { tokens } = await session.ready
  assert.deepEqual(row, attention[1].slice(5 * tokens, 6 * tokens))
  model.close()
  await assert.rejects(session.run(image), /closed/)
  await other.run(image)
  runtime.close()
})

for (const worker of [false, true])
  test(`memory: what a model took is free once it is closed: ${worker ? 'worker' : 'direct'}`, async () => {
    const runtime = await createRuntime({ threads: 1, worker }),
      before = await runtime.memory(),
      model = await runtime.loadModel(folder('int8')),
      opened = await runtime.memory()
    assert.ok(opened.used > before.used)
    const session = model.createSession(),
      { memory } = await session.ready,
      { used } = await runtime.memory()
    assert.ok(used >= opened.used + memory.weights + memory.arena, `${used} ${opened.used}`)
    model.close()
    const closed = await runtime.memory(),
      again = await runtime.loadModel(folder('int8'))
    assert.equal((await runtime.memory()).used, opened.used)
    again.close()
    assert.equal((await runtime.memory()).used, closed.used)
    runtime.close()
  })

/* What is held of scores grows with the tokens alone. */
test('a long picture needs little more memory; one that is too large is refused in a sentence', async () => {
  const runtime = await createRuntime({ threads: 1 }),
    model = await runtime.loadModel(folder('int8')),
    workspaces = []
  for (const side of [1024, 1536]) {
    const session = model.createSession({ height: side, width: side, taps: 'rows' }),
      { memory, tokens } = await session.ready
    workspaces.push(memory.workspace / tokens)
    session.close()
  }
  console.log(`scratch per token: ${workspaces}`)
  assert.ok(workspaces[1] < 1.1 * workspaces[0], `${workspaces}`)
  const widest = model.createSession({ height: 2032, width: 2032, taps: 'none' })
  assert.equal((await widest.ready).tokens, 127 * 127 + 1)
  widest.close()
  await assert.rejects(model.createSession({ height: 2048, width: 2048 }).ready, {
    status: 'INVALID_ARGUMENT',
    message: /^attention: .*\[1, 4, 16385, 16385\], expected .* less than 2\^32 bytes\)$/
  })
  await assert.rejects(model.createSession({ batch: 6900 }).ready, {
    status: 'OUT_OF_MEMORY',
    message: /: out of memory \(requested \d+ bytes\); the session needs \d{10,11} bytes in all \(/
  })
  const { image } = await runtime.scene(3)
  assert.ok((await model.createSession().run(image)).logits)
  runtime.close()
})

/** @param {ArrayLike<number>} numbers */
const topOf = (numbers) => Array.from(numbers).indexOf(Math.max(...Array.from(numbers)))
/**
 * @param {ArrayLike<number>} a
 * @param {ArrayLike<number>} b
 */
const largestDifference = (a, b) =>
  Array.from(a).reduce((most, x, i) => Math.max(most, Math.abs(x - b[i])), 0)

for (const options of [
  { threads: 1 },
  { threads: 2 },
  { threads: 1, simd: /** @type {const} */ ('simd') },
  scalar
])
  test(`logits and maps are those of the command line: ${JSON.stringify(options)}`, async () => {
    const runtime = await createRuntime(options),
      model = await runtime.loadModel(folder('int8')),
      session = model.createSession({ taps: 'all' }),
      { height, width } = await session.ready,
      pixels = Float32Array.from(
        { length: 3 * height * width },
        (_, i) => Math.sin(i * 0.37) * 1.5
      ),
      { logits, attention } = await session.run(pixels),
      expected = evaluate(pixels, [1, 3, height, width])
    assert.ok(logits && attention)
    assert.equal(attention.length, expected.attention.length)
    const differ = largestDifference(logits, expected.logits),
      maps = Math.max(
        ...attention.map((map, layer) => largestDifference(map, expected.attention[layer]))
      )
    console.log(`logits differ by ${differ}, weights by ${maps}`)
    assert.ok(differ < 2e-2, `logits differ by ${differ}`)
    assert.ok(maps < 1e-3, `weights differ by ${maps}`)
    runtime.close()
  })

/**
 * `heed eval` on the CPU.
 * @param {Float32Array} pixels
 * @param {number[]} shape
 */
function evaluate(pixels, shape) {
  const head = Buffer.from(
      JSON.stringify({
        pixel_values: { dtype: 'F32', shape, data_offsets: [0, pixels.byteLength] }
      })
    ),
    size = Buffer.alloc(8)
  size.writeBigUInt64LE(BigInt(head.length))
  writeFileSync(folder('x.safetensors'), Buffer.concat([size, head, Buffer.from(pixels.buffer)]))
  execFileSync(native, [
    'eval',
    folder('int8'),
    folder('x.safetensors'),
    '-o',
    folder('y.safetensors'),
    '--backend',
    'cpu'
  ])
  const bytes = readFileSync(folder('y.safetensors')),
    length = Number(bytes.readBigUInt64LE()),
    header = JSON.parse(bytes.subarray(8, 8 + length).toString()),
    begin = bytes.byteOffset + 8 + length,
    values = (/** @type {string} */ name) => {
      const [from, to] = header[name].data_offsets
      return new Float32Array(bytes.buffer.slice(begin + from, begin + to))
    }
  return {
    logits: values('logits'),
    attention: Object.keys(header)
      .filter((name) => name.startsWith('attention.'))
      .sort()
      .map(values)
  }
}

test('threads change no bit', async () => {
  const found = []
  for (const threads of [1, 2]) {
    const runtime = await createRuntime({ threads }),
      session = (await runtime.loadModel(folder('int8'))).createSession({ taps: 'all' }),
      { image } = await runtime.scene(11)
    found.push(await session.run(image))
    runtime.close()
  }
  assert.deepEqual(found[0].logits, found[1].logits)
  assert.deepEqual(found[0].attention, found[1].attention)
})

test('one file of weights, and bytes', async () => {
  const runtime = await createRuntime({ threads: 1 }),
    bytes = new Uint8Array(readFileSync(join(folder('int8'), 'model.safetensors'))),
    config = new Uint8Array(readFileSync(join(folder('int8'), 'config.json')))
  for (const source of [
    join(folder('int8'), 'model.safetensors'),
    { weights: bytes, config },
    { weights: new Blob([bytes]), config }
  ]) {
    const model = await runtime.loadModel(source)
    assert.equal(model.info.layers, 5)
    model.close()
  }
  await assert.rejects(
    runtime.loadModel({ weights: damaged(bytes), config }),
    /weight_scale|no scales/
  )
  runtime.close()
})

/**
 * Without the names of scales.
 * @param {Uint8Array} bytes
 */
function damaged(bytes) {
  const copy = Buffer.from(bytes),
    length = Number(copy.readBigUInt64LE())
  copy.write(
    copy
      .subarray(8, 8 + length)
      .toString()
      .replaceAll('_scale"', '_scald"'),
    8
  )
  return new Uint8Array(copy)
}

/**
 * A file's int8 in floats, by its scales in BF16.
 * @param {Buffer} stored
 */
function widened(stored) {
  const start = 8 + Number(stored.readBigUInt64LE()),
    { __metadata__: _, ...entries } = JSON.parse(stored.subarray(8, start).toString()),
    /** @type {Record<string, object>} */
    header = {},
    parts = /** @type {Uint8Array[]} */ ([])
  let at = 0
  for (const [
    name,
    {
      dtype,
      shape,
      data_offsets: [from, to]
    }
  ] of Object.entries(entries)) {
    if (name.endsWith('_scale')) continue
    let bytes = /** @type {Uint8Array} */ (stored.subarray(start + from, start + to))
    if (dtype === 'I8') {
      const [begin, end] = entries[`${name}_scale`].data_offsets,
        count = (end - begin) / 2
      bytes = new Uint8Array(
        Float32Array.from(new Int8Array(bytes), (value, i) => {
          const bits = stored.readUInt16LE(
            start + begin + 2 * Math.floor((i * count) / (to - from))
          )
          return value * new Float32Array(Uint32Array.of(bits << 16).buffer)[0]
        }).buffer
      )
    }
    header[name] = {
      dtype: dtype === 'I8' ? 'F32' : dtype,
      shape,
      data_offsets: [at, (at += bytes.length)]
    }
    parts.push(bytes)
  }
  const text = Buffer.from(JSON.stringify(header)),
    head = Buffer.alloc(8)
  head.writeBigUInt64LE(BigInt(text.length))
  return new Uint8Array(Buffer.concat([head, text, ...parts]))
}

/* The demo model is such a file. */
test('int8 for products of floats: the bits of the same weights in floats', async () => {
  const runtime = await createRuntime({ threads: 1 }),
    { image } = await runtime.scene(11),
    results = []
  for (const weights of [demoModel.weights, widened(readFileSync(demoModel.weights))]) {
    const model = await runtime.loadModel({ ...demoModel, weights })
    assert.equal(model.info.parameters, 787722)
    results.push(await model.createSession({ taps: 'all' }).run(image))
    model.close()
  }
  assert.deepEqual(results[0].logits, results[1].logits)
  assert.deepEqual(results[0].attention, results[1].attention)
  runtime.close()
})

test('a file of fp16 opens', async () => {
  const runtime = await createRuntime({ threads: 1 }),
    session = (await runtime.loadModel(folder('f16'))).createSession(),
    { image } = await runtime.scene(3),
    { logits } = await session.run(image)
  assert.ok(logits)
  runtime.close()
})
