/* Files of PyTorch in the package: the same weights give the same bits as from .safetensors, from bytes,
 * folders, files and streams; what is hostile is refused with the sentence of the C reader. */
import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { pathToFileURL } from 'node:url'
import { createRuntime, packageFolder, vectors } from '../package.js'
import { readSafetensors, sameBits } from '../safetensors.js'
/** @import {ModelSource, Runtime} from 'heed' */

const reference = join(vectors, 'vit/hf_vit'),
  pickles = join(vectors, 'pickle/vit'),
  config = readFileSync(join(reference, 'config.json')),
  pixels = readSafetensors(join(reference, 'io.safetensors')).tensors.pixel_values
/** @type {Runtime} */
let runtime
/** @type {string} */
let scratch
/** @type {Float32Array} */
let expected

before(async () => {
  runtime = await createRuntime({ threads: 1 })
  scratch = mkdtempSync(join(tmpdir(), 'heed-pickle-'))
  expected = await run(reference)
})
after(() => {
  runtime.close()
  rmSync(scratch, { recursive: true })
})

/**
 * The logits, which must be the same in as many sessions.
 * @param {ModelSource} source
 */
async function run(source, sessions = 1) {
  const model = await runtime.loadModel(source),
    found = []
  for (let i = 0; i < sessions; i++) {
    const session = model.createSession({ batch: 2, height: 12, width: 12 })
    found.push(
      /** @type {Float32Array} */ ((await session.run(/** @type {any} */ (pixels.data))).logits)
    )
    session.close()
  }
  model.close()
  for (const other of found) assert.ok(sameBits(other, found[0]))
  return found[0]
}

/**
 * @param {ModelSource} source
 * @param {number} [sessions]
 */
const same = async (source, sessions) =>
  assert.ok(sameBits(await run(source, sessions), expected), 'other logits')

/**
 * @param {string} name
 * @param {Record<string, string>} files
 */
function folder(name, files) {
  const made = join(scratch, name)
  mkdirSync(made)
  copyFileSync(join(reference, 'config.json'), join(made, 'config.json'))
  for (const [to, from] of Object.entries(files)) copyFileSync(join(pickles, from), join(made, to))
  return made
}

for (const name of [
  'zip.pth',
  'legacy.pth',
  'trained.ckpt',
  'double.pt',
  'shared.pth',
  'shared_legacy.pth',
  'module.pt',
  'script.pt'
])
  test(`${name}: the same bits as .safetensors`, async () => {
    const bytes = readFileSync(join(pickles, name)),
      one = folder(name, { [name]: name })
    await same({ weights: bytes, config })
    await same({ [name]: new Blob([bytes]), 'config.json': config }, 2)
    const address = pathToFileURL(join(one, name))
    await same({ weights: address, config }, 2)
    await same({ weights: new Response(bytes), config })
  })

test('folders: pytorch_model.bin, and shards with their index', async () => {
  await same(folder('single', { 'pytorch_model.bin': 'zip.pth' }))
  const shards = Object.fromEntries(
    readdirSync(join(pickles, 'sharded')).map((name) => [name, `sharded/${name}`])
  )
  await same(folder('sharded', shards))
})

test('of several files only weights are looked into; a lone file is weights, whatever its name', async () => {
  const bytes = readFileSync(join(pickles, 'zip.pth')),
    photo = readFileSync(join(vectors, 'preprocess/gray.jpg'))
  await same({ 'config.json': config, 'photo.jpg': photo, 'README.md': photo, 'vit.pth': bytes })
  await assert.rejects(runtime.loadModel({ 'photo.jpg': photo }), {
    status: 'UNSUPPORTED',
    message:
      'photo.jpg: format not supported (found a JPEG image, expected .safetensors, .onnx, .pth, .pt, .bin or .ckpt)'
  })
})

test('of several files without a name of weights the first bytes say which is', async () => {
  for (const file of ['zip.pth', 'legacy.pth', 'script.pt'])
    for (const name of ['vit.pth.tar', 'vit.pkl', 'checkpoint-0099', '4f2a9c01d3', 'weights.dat']) {
      const bytes = readFileSync(join(pickles, file))
      await same({ 'config.json': config, [name]: bytes })
      await same(
        new Map([
          [name, bytes],
          ['config.json', config]
        ])
      )
    }
})

test('the one file of weights in a folder has any name', async () => {
  for (const [i, name] of ['vit.pth', 'vit.pth.tar', 'vit.pkl', '4f2a9c01d3'].entries())
    await same(folder(`unnamed-${i}`, { [name]: 'zip.pth' }))
  await assert.rejects(runtime.loadModel(folder('two', { 'a.pkl': 'zip.pth', b: 'zip.pth' })), {
    status: 'INVALID_FILE',
    message: /several weight files \(found 2, such as a\.pkl and b, expected one/
  })
})

test('weightsKey chooses the entry of a file with several copies', async () => {
  const weights = readFileSync(join(pickles, 'copies.pth'))
  /** @param {string} [weightsKey] */
  const state = async (weightsKey) => {
    const model = await runtime.loadModel({ 'copies.pth': weights }, { weightsKey }),
      session = model.createSession({
        batch: 2,
        height: 12,
        width: 12,
        taps: ['last_hidden_state']
      }),
      { values } = await session.run(/** @type {any} */ (pixels.data))
    assert.match(
      model.info.assumed ?? '',
      /heads=2 \(args\.heads of the training\); not args\.patch_size=8 of the training/
    )
    model.close()
    return [...new Set(/** @type {Float32Array} */ (values.last_hidden_state.data))]
  }
  assert.deepEqual(await state(), [2], 'the average, by the custom of timm')
  assert.deepEqual(await state('state_dict'), [1])
  assert.deepEqual(await state('state_dict_ema'), [2])
  assert.deepEqual(await state('best'), [3])
  await assert.rejects(state('ema'), {
    status: 'INVALID_FILE',
    message:
      'copies.pth: no weights under that key (found "ema", expected one of its entries: state_dict, state_dict_ema, best)'
  })
  const safetensors = readFileSync(join(reference, 'model.safetensors'))
  for (const source of [reference, { weights: safetensors, config }])
    await assert.rejects(runtime.loadModel(source, { weightsKey: 'model' }), {
      status: 'INVALID_FILE',
      message: /: no weights under that key \(found "model" for a file without entries, expected/
    })
})

test('all memory is given back', async () => {
  const weights = readFileSync(join(pickles, 'zip.pth')),
    { used } = await runtime.memory()
  await run({ weights, config })
  assert.equal((await runtime.memory()).used, used)
})

/** @param {number[] | string} parts */
const bytesOf = (parts) =>
  typeof parts === 'string' ? new TextEncoder().encode(parts) : Uint8Array.from(parts)

test('hostile and damaged files get their sentence', async () => {
  const good = readFileSync(join(pickles, 'zip.pth')),
    magic = [...Buffer.from('80028a0a6cfc9c46f9206aa850192e80024de9032e80027d2e', 'hex')],
    call = [0x80, 2, ...bytesOf('cos\nsystem\nU\u0002ls'), 0x85, ...bytesOf('R.')]
  for (const [weights, sentence] of /** @type {[Uint8Array, RegExp][]} */ ([
    [bytesOf([...magic, ...call]), /model\.safetensors: unsafe file \(found a call of os\.system/],
    [good.subarray(0, good.length - 1), /truncated \(found no directory/],
    [bytesOf([0x80, 2, ...bytesOf('}q\u0000.......')]), /a Python pickle without PyTorch's mark/]
  ]))
    await assert.rejects(runtime.loadModel({ weights, config }), ({ name, status, message }) => {
      assert.equal(name, 'HeedError')
      assert.match(status, /^(INVALID_FILE|UNSUPPORTED)$/)
      assert.match(message, sentence)
      return true
    })
  await same({ weights: good, config })
})

test('the module is loaded with the first such file', async () => {
  const base = join(scratch, 'package')
  mkdirSync(base)
  copyFileSync(join(packageFolder, 'heed.wasm'), join(base, 'heed.wasm'))
  const alone = await createRuntime({
    threads: 1,
    simd: 'simd',
    worker: false,
    base: pathToFileURL(`${base}/`)
  })
  const weights = readFileSync(join(pickles, 'zip.pth'))
  ;(await alone.loadModel(reference)).close()
  await assert.rejects(alone.loadModel({ weights, config }), {
    status: 'IO',
    message: /^heed-all\.wasm: cannot be loaded \(found ".*heed-all\.wasm/
  })
  alone.close()
})
