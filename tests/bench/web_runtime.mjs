/* Figures of the package in Node: node tests/bench/web_runtime.mjs [start|scenes|memory]; all three
 * without a word. start: createRuntime until ready, each time in a fresh process. scenes: the demo
 * model and the renderer, one thread. memory: WASM memory that a ViT-B takes, and how much the
 * whole process grows while it comes from a file and over HTTP (each in a fresh process), from a
 * file of
 * random bits that is written for it. Prints least / median or medians; the machine should have
 * nothing else to do. */
import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createRuntime, demoModel } from '../../web/test/package.js'

const serving = fileURLToPath(new URL('../../web/serve.js', import.meta.url))
const median = (times) => times.sort((a, b) => a - b)[times.length >> 1].toFixed(1)

function start() {
  for (const options of ['{"threads":1}', '{"threads":2}']) {
    const times = Array.from({ length: 15 }, () =>
      Number(
        execFileSync(process.execPath, [fileURLToPath(import.meta.url), 'once', options], {
          encoding: 'utf8'
        })
      )
    )
    console.log(`createRuntime(${options}): ${Math.min(...times).toFixed(1)} / ${median(times)} ms`)
  }
}

async function create(options) {
  const begin = performance.now(),
    runtime = await createRuntime(JSON.parse(options))
  console.log(performance.now() - begin)
  runtime.close()
}

async function scenes() {
  const runtime = await createRuntime({ threads: 1 }),
    model = await runtime.loadModel(demoModel),
    session = model.createSession()
  const drawing = [],
    running = []
  for (let seed = 0; seed < 110; seed++) {
    const begin = performance.now(),
      { image } = await runtime.scene(seed)
    drawing.push(performance.now() - begin)
    running.push((await session.run(image)).milliseconds)
  }
  console.log(
    `scenes: drawn in ${median(drawing.slice(10))} ms, run in ${median(running.slice(10))} ms`
  )
  runtime.close()
}

/** Names and shapes of a Hugging Face ViT with 12 layers. */
function vitB() {
  const C = 768,
    M = 3072,
    shapes = {
      'vit.embeddings.cls_token': [1, 1, C],
      'vit.embeddings.position_embeddings': [1, 197, C],
      'vit.embeddings.patch_embeddings.projection.weight': [C, 3, 16, 16],
      'vit.embeddings.patch_embeddings.projection.bias': [C],
      'vit.layernorm.weight': [C],
      'vit.layernorm.bias': [C],
      'classifier.weight': [1000, C],
      'classifier.bias': [1000]
    }
  for (let i = 0; i < 12; i++) {
    const affine = (name, ...shape) =>
      Object.assign(shapes, {
        [`vit.encoder.layer.${i}.${name}.weight`]: shape,
        [`vit.encoder.layer.${i}.${name}.bias`]: [shape[0]]
      })
    for (const part of ['query', 'key', 'value']) affine(`attention.attention.${part}`, C, C)
    affine('attention.output.dense', C, C)
    affine('intermediate.dense', M, C)
    affine('output.dense', C, M)
    affine('layernorm_before', C)
    affine('layernorm_after', C)
  }
  return shapes
}

/** A ViT-B in a new folder; the bytes of its weights. */
function writeVitB(folder) {
  const path = join(folder, 'model.safetensors'),
    header = {},
    part = new Float32Array(1 << 20).map(() => Math.random() - 0.5)
  let size = 0
  for (const [name, shape] of Object.entries(vitB())) {
    const bytes = shape.reduce((a, b) => a * b) * 4
    header[name] = { dtype: 'F32', shape, data_offsets: [size, (size += bytes)] }
  }
  const text = Buffer.from(JSON.stringify(header)),
    length = Buffer.alloc(8),
    file = openSync(path, 'w')
  length.writeBigUInt64LE(BigInt(text.length))
  writeSync(file, length)
  writeSync(file, text)
  for (let done = 0; done < size; done += part.byteLength)
    writeSync(file, part, 0, Math.min(part.byteLength, size - done))
  closeSync(file)
  writeFileSync(
    join(folder, 'config.json'),
    JSON.stringify({
      model_type: 'vit',
      hidden_size: 768,
      num_hidden_layers: 12,
      num_attention_heads: 12,
      intermediate_size: 3072,
      image_size: 224,
      patch_size: 16,
      num_channels: 3,
      hidden_act: 'gelu',
      layer_norm_eps: 1e-12
    })
  )
  return size
}

async function load(source, taps) {
  const runtime = await createRuntime({ threads: 1 }),
    before = process.memoryUsage().rss
  const model = await runtime.loadModel(source),
    session = model.createSession({ taps })
  await session.run(new Float32Array(3 * 224 * 224))
  const { wasm } = await runtime.memory(),
    grown = process.resourceUsage().maxRSS * 1024 - before
  console.log(JSON.stringify({ wasm, grown }))
  runtime.close()
}

async function memory() {
  const folder = mkdtempSync(join(tmpdir(), 'heed-vit-b-')),
    size = writeVitB(folder),
    server = fork(serving, [folder, '0'], { silent: true })
  const [address] = await once(server.stdout, 'data'),
    megabytes = (bytes) => (bytes / 1e6).toFixed(1)
  for (const [name, source, taps] of [
    ['file', folder, 'none'],
    ['file', folder, 'all'],
    ['HTTP', String(address).trim(), 'none']
  ]) {
    const { wasm, grown } = JSON.parse(
      execFileSync(process.execPath, [fileURLToPath(import.meta.url), 'load', source, taps], {
        encoding: 'utf8'
      })
    )
    console.log(
      `ViT-B from ${name}, taps ${taps}: ${megabytes(size)} MB of weights; WASM memory ${megabytes(wasm)} MB = ${(wasm / size).toFixed(3)} x, the process grew by ${megabytes(grown)} MB at most`
    )
  }
  server.kill()
  rmSync(folder, { recursive: true })
}

const [what, ...words] = process.argv.slice(2)
if (what === 'once') await create(...words)
else if (what === 'load') await load(...words)
else
  for (const [name, figure] of Object.entries({ start, scenes, memory }))
    if (!what || what === name) await figure()
