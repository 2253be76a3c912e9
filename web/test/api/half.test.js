/* Weights of fp16 stay fp16 in the memory of WebAssembly: half of it, and every number that of the
 * same weights stored as F32, bit for bit. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createRuntime, native, scalar, vectors } from '../package.js'
/** @import {RuntimeOptions} from 'heed' */

/** @type {string} */
let scratch
const folder = (/** @type {string} */ name) => join(scratch, name)
/* The demo model; layer scales, which are multiplied into weights; a gated MLP; a pooling head. */
const models = ['demo', 'dinov2_tower', 'dinov3_gated', 'siglip']

before(() => {
  scratch = mkdtempSync(join(tmpdir(), 'heed-half-'))
  for (const name of models) {
    const model = name === 'demo' ? [] : [join(vectors, 'vit', name)]
    execFileSync(native, ['convert', ...model, '-o', folder(name), '--weights', 'f16'])
    cpSync(folder(name), folder(`${name}_f32`), { recursive: true })
    const file = join(folder(`${name}_f32`), 'model.safetensors')
    writeFileSync(file, widened(readFileSync(file)))
  }
})
after(() => rmSync(scratch, { recursive: true, force: true }))

/**
 * The number of a half.
 * @param {number} bits
 */
function numberOf(bits) {
  const exponent = (bits >> 10) & 31,
    mantissa = bits & 1023,
    size = exponent ? 2 ** (exponent - 25) * (1024 + mantissa) : 2 ** -24 * mantissa
  assert.ok(exponent < 31)
  return bits >> 15 ? -size : size
}

/**
 * A .safetensors file with F32 for its F16.
 * @param {Buffer} file
 */
function widened(file) {
  const length = Number(file.readBigUInt64LE()),
    header = JSON.parse(file.subarray(8, 8 + length).toString()),
    parts = []
  let size = 0
  for (const [name, tensor] of Object.entries(header)) {
    if (name === '__metadata__') continue
    const [from, to] = tensor.data_offsets,
      bytes = file.subarray(8 + length + from, 8 + length + to)
    const part =
      tensor.dtype === 'F16'
        ? Buffer.from(
            Float32Array.from({ length: bytes.length / 2 }, (_, i) =>
              numberOf(bytes.readUInt16LE(2 * i))
            ).buffer
          )
        : bytes
    if (tensor.dtype === 'F16') tensor.dtype = 'F32'
    tensor.data_offsets = [size, (size += part.length)]
    parts.push(part)
  }
  const text = Buffer.from(JSON.stringify(header)),
    head = Buffer.alloc(8)
  head.writeBigUInt64LE(BigInt(text.length))
  return Buffer.concat([head, text, ...parts])
}

/**
 * A run with everything, and the bytes that the session took.
 * @param {string} name
 * @param {RuntimeOptions} options
 */
async function runModel(name, options) {
  const runtime = await createRuntime(options),
    model = await runtime.loadModel(folder(name)),
    side = name.startsWith('dino') ? 8 * model.info.patch : 0,
    session = model.createSession({ taps: 'all', ...(side && { height: side, width: side }) }),
    { memory, height, width } = await session.ready
  const found = await session.run(
    Float32Array.from({ length: 3 * height * width }, (_, i) => Math.sin(i * 0.37) * 1.5)
  )
  const { device } = runtime.info
  runtime.close()
  return {
    device,
    values: { logits: found.logits, ...found.values, ...found.attention },
    weights: memory.weights
  }
}

/** @type {RuntimeOptions[]} */
const ways = process.env.HEED_RELAXED
  ? [{ threads: 1 }]
  : [{ threads: 1, simd: 'simd' }, { threads: 2 }, scalar]
for (const options of ways)
  for (const name of options === scalar ? ['demo'] : models)
    test(`${name}: the numbers are those of F32, bit for bit: ${JSON.stringify(options)}`, async () => {
      const half = await runModel(name, options),
        float = await runModel(`${name}_f32`, options)
      if (process.env.HEED_RELAXED && options.simd === undefined)
        assert.match(half.device, /relaxed/)
      assert.ok(Object.keys(half.values).length > 1)
      assert.deepEqual(half.values, float.values)
      assert.ok(half.weights < float.weights, `${half.weights} of ${float.weights}`)
    })

/**
 * A ViT-S of four layers, 7 million numbers that fp16 holds, as F16 or F32.
 * @param {'F16' | 'F32'} dtype
 */
function vitS(dtype) {
  const C = 384,
    M = 4 * C,
    /** @type {Record<string, {dtype: string, shape: number[], data_offsets: number[]}>} */
    header = {},
    parts = /** @type {Buffer[]} */ ([])
  let size = 0
  const put = (/** @type {string} */ name, /** @type {number[]} */ ...shape) => {
    const count = shape.reduce((a, b) => a * b),
      bits = Uint16Array.from({ length: count }, (_, i) => 0x2000 | ((i * 40503) & 0x83ff)),
      data = dtype === 'F16' ? bits : Float32Array.from(bits, numberOf)
    header[name] = { dtype, shape, data_offsets: [size, (size += data.byteLength)] }
    parts.push(Buffer.from(data.buffer))
  }
  const affine = (/** @type {string} */ name, /** @type {number[]} */ ...shape) => {
    put(`${name}.weight`, ...shape)
    put(`${name}.bias`, shape[0])
  }
  put('embeddings.cls_token', 1, 1, C)
  put('embeddings.position_embeddings', 1, 197, C)
  affine('embeddings.patch_embeddings.projection', C, 3, 16, 16)
  affine('layernorm', C)
  for (const layer of [0, 1, 2, 3].map((i) => `encoder.layer.${i}`)) {
    for (const part of ['attention.query', 'attention.key', 'attention.value', 'output.dense'])
      affine(`${layer}.attention.${part}`, C, C)
    affine(`${layer}.intermediate.dense`, M, C)
    affine(`${layer}.output.dense`, C, M)
    affine(`${layer}.layernorm_before`, C)
    affine(`${layer}.layernorm_after`, C)
  }
  const text = Buffer.from(JSON.stringify(header)),
    head = Buffer.alloc(8)
  head.writeBigUInt64LE(BigInt(text.length))
  return {
    weights: new Uint8Array(Buffer.concat([head, text, ...parts])),
    config: new TextEncoder().encode(
      JSON.stringify({
        model_type: 'vit',
        hidden_size: C,
        num_hidden_layers: 4,
        num_attention_heads: 6,
        intermediate_size: M,
        image_size: 224,
        patch_size: 16
      })
    )
  }
}

/* What else the memory holds: the arena and scratch, 4 MB here, and norms, biases and positions. */
test('fp16 takes half the WASM memory', async () => {
  /** @type {Record<string, {weights: number, used: number, wasm: number}>} */
  const found = {}
  for (const dtype of /** @type {const} */ (['F16', 'F32'])) {
    const runtime = await createRuntime({ threads: 1 }),
      before = await runtime.memory(),
      session = (await runtime.loadModel(vitS(dtype))).createSession(),
      { memory } = await session.ready,
      { used, wasm } = await runtime.memory(),
      rest = memory.arena + memory.taps + memory.workspace
    found[dtype] = {
      weights: memory.weights,
      used: used - before.used - rest,
      wasm: wasm - before.wasm - rest
    }
    runtime.close()
  }
  const { F16: half, F32: float } = found
  console.log(JSON.stringify(found))
  assert.ok(float.weights > 28e6 && half.weights > 0.5 * float.weights)
  assert.ok(half.weights < 0.52 * float.weights, `${half.weights} of ${float.weights}`)
  assert.ok(half.used < 0.53 * float.used, `${half.used} of ${float.used}`)
  assert.ok(half.wasm < 0.55 * float.wasm, `${half.wasm} of ${float.wasm}`)
})

const [major] = process.versions.node.split('.').map(Number)
test('the same with relaxed SIMD', {
  skip: process.env.HEED_RELAXED ? 'this is it' : false
}, () => {
  const flag = major < 22 ? ['--experimental-wasm-relaxed-simd'] : []
  execFileSync(process.execPath, [...flag, fileURLToPath(import.meta.url)], {
    env: { ...process.env, HEED_RELAXED: '1', NODE_TEST_CONTEXT: undefined },
    stdio: ['ignore', 'pipe', 2]
  })
})
