/* Arrays in files: what NumPy and `heed run --save` write is read, what is damaged is refused, what is written is read again. */
import assert from 'node:assert/strict'
import { File } from 'node:buffer'
import test from 'node:test'
import { deflateRawSync } from 'node:zlib'
import { npyParts, readArrays, safetensorsParts } from '../pages/arrays.js'
import { headStatistics, holdsMaps, rolloutRow, savedMaps } from '../pages/saved.js'
import { createRuntime, demoModel } from './package.js'

const file = async (name, parts) => new File([await new Blob(parts).arrayBuffer()], name)
const inflates = (() => { try { return !!new DecompressionStream('deflate-raw') } catch { return false } })()
const values = Float32Array.from({ length: 2 * 2 * 5 * 5 }, (_, i) => i / 8)

function npy(descr, shape, bytes, order = 'False') {
  const header = `{'descr': '${descr}', 'fortran_order': ${order}, 'shape': (${shape.join(', ')},), }\n`, head = Buffer.from([0x93, ...Buffer.from('NUMPY'), 1, 0, header.length & 255, header.length >> 8])
  return Buffer.concat([head, Buffer.from(header), Buffer.from(bytes)])
}

/* As numpy.savez_compressed: the parts that the reader looks at. */
function npz(entries) {
  const locals = [], directory = []
  let at = 0
  for (const [name, body] of Object.entries(entries)) {
    const packed = deflateRawSync(body), local = Buffer.alloc(30), entry = Buffer.alloc(46)
    local.writeUInt32LE(0x04034b50), local.writeUInt16LE(name.length, 26)
    entry.writeUInt32LE(0x02014b50), entry.writeUInt16LE(8, 10), entry.writeUInt32LE(packed.length, 20), entry.writeUInt16LE(name.length, 28), entry.writeUInt32LE(at, 42)
    locals.push(local, Buffer.from(name), packed)
    directory.push(entry, Buffer.from(name))
    at += 30 + name.length + packed.length
  }
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50), end.writeUInt16LE(Object.keys(entries).length, 10), end.writeUInt32LE(at, 16)
  return Buffer.concat([...locals, ...directory, end])
}

test('.npy of single, double and half precision', async () => {
  for (const [descr, bytes] of [['<f4', Float32Array.of(1, -0.5).buffer], ['<f8', Float64Array.of(1, -0.5).buffer], ['<f2', Uint16Array.of(0x3c00, 0xb800).buffer]]) {
    const { maps } = await readArrays(await file('maps.npy', [npy(descr, [2], bytes)]))
    assert.deepEqual([maps.shape, [...maps.data]], [[2], [1, -0.5]], descr)
  }
})

test('.npz, deflated, and what is written by the page', { skip: !inflates && 'this Node has no deflate-raw' }, async () => {
  const zipped = await readArrays(await file('maps.npz', [npz({ 'maps.npy': npy('<f4', [2, 2, 5, 5], values.buffer) })]))
  assert.deepEqual([...zipped.maps.data], [...values])
  const { maps } = await readArrays(await file('heed.npy', npyParts([2, 2, 5, 5], [values.subarray(0, 50), values.subarray(50)])))
  assert.deepEqual([maps.shape, [...maps.data]], [[2, 2, 5, 5], [...values]])
  const tensors = await readArrays(await file('heed.safetensors', safetensorsParts({ 'attention.0': { shape: [1, 4, 5, 5], data: values } }, { heed: '1' })))
  assert.deepEqual([...tensors['attention.0'].data], [...values])
})

test('what is damaged is refused with a sentence', async () => {
  for (const [name, bytes, what] of [
    ['a.npy', Buffer.from('nothing of the kind'), /no \.npy/], ['a.npy', npy('<f4', [3], Float32Array.of(1)), /do not fit/], ['a.npy', npy('<i4', [1], Int32Array.of(1).buffer), /kind that is not read/],
    ['a.npy', npy('<f4', [1], Float32Array.of(1).buffer, 'True'), /columns first/], ['a.npz', Buffer.from('nothing of the kind, and long enough'), /directory is missing/],
    ['a.npz', npz({ 'maps.npy': npy('<f4', [1], Float32Array.of(1).buffer) }).subarray(20), /damaged/], ['a.safetensors', Buffer.alloc(16, 255), /longer than the file/]
  ])
    await assert.rejects(async () => readArrays(await file(name, [bytes])), what)
})

test('maps are found: one array, an array a layer, with a batch of one; a model is none', () => {
  const array = (...shape) => ({ shape, data: new Float32Array(shape.reduce((a, b) => a * b)) })
  for (const arrays of [{ maps: array(3, 2, 5, 5) }, { maps: array(3, 1, 2, 5, 5) }, { 'attention.0': array(1, 2, 5, 5), 'attention.1': array(1, 2, 5, 5), 'attention.2': array(1, 2, 5, 5), rollout: array(1, 5, 5), pixel_values: array(1, 3, 8, 8) }]) {
    const { shape, attention } = savedMaps(arrays, 'file')
    assert.deepEqual([shape.layers, shape.heads, shape.tokens, shape.prefixTokens, shape.rows], [3, 2, 5, 1, 2])
    assert.deepEqual(attention.map(({ length }) => length), [50, 50, 50])
  }
  assert.throws(() => savedMaps({ weight: array(3, 4) }, 'file'), /no attention maps/)
  assert.throws(() => savedMaps({ maps: array(1, 1, 15, 15) }, 'file'), /15 tokens/)
  assert.equal(holdsMaps({ 'vit.embeddings.projection.weight': { shape: [8, 3, 16, 16] }, 'attention.weight': { shape: [4, 4] } }), false)
})

test('numbers of saved maps are those of the runtime', async () => {
  const runtime = await createRuntime({ threads: 1 })
  const session = (await runtime.loadModel(demoModel)).createSession({ taps: 'all' }), shape = await session.ready
  const { attention } = await session.run((await runtime.scene(7)).image), statistics = await session.statistics(), size = shape.tokens ** 2
  const near = (a, b, where) => assert.ok(Math.abs(a - b) <= 1e-5 * Math.max(1, Math.abs(b)), `${where}: ${a}, expected ${b}`)
  for (const [layer, head] of [[0, 1], [3, 0], [4, 3]]) {
    const own = headStatistics(attention[layer].subarray(head * size, (head + 1) * size), shape, 16)
    for (const key of Object.keys(own)) near(own[key], statistics[layer][head][key], `${layer}.${head} ${key}`)
  }
  for (const fusion of ['mean', 'min', 'max']) {
    const row = await session.rollout({ query: 60, fusion, residual: 0.4, firstLayer: 1, layerCount: 3 })
    rolloutRow(attention, shape, { token: 60, fusion, residual: 0.4, first: 1, last: 3 }).forEach((value, i) => near(value, row[i], `${fusion} ${i}`))
  }
  runtime.close()
})
