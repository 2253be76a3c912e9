/* Arrays in files: what NumPy and `heed run --save` write is read, what is damaged is refused, what
 * is written is read again. */
import assert from 'node:assert/strict'
import { File } from 'node:buffer'
import test from 'node:test'
import { deflateRawSync } from 'node:zlib'
import { createRuntime, demoModel, explain, loadPage } from '../package.js'
import { crc32 } from '../zips.js'
/** @import {NamedArray} from '../../pages/shared/types.js' */

/** @type {typeof import('../../pages/shared/array_files.js')} */
const { npyParts, provenanceIn, readArrays, safetensorsParts, zipParts } =
  await loadPage('shared/array_files.js')

/** @type {typeof import('../../pages/explorer/open/saved_maps.js')} */
const { checkWeights, holdsMaps, savedMaps } = await loadPage('explorer/open/saved_maps.js'),
  /** @type {typeof import('../../pages/shared/map_numbers.js')} */
  { rolloutRow } = await loadPage('shared/map_numbers.js')

/**
 * @param {string} name
 * @param {any[]} parts
 * @returns {Promise<any>} a File
 */
const file = async (name, parts) => new File([await new Blob(parts).arrayBuffer()], name)
const inflates = (() => {
  try {
    return !!new DecompressionStream('deflate-raw')
  } catch {
    return false
  }
})()
const values = Float32Array.from({ length: 2 * 2 * 5 * 5 }, (_, i) => i / 8)

/**
 * @param {string} descr
 * @param {number[]} shape
 * @param {any} bytes what Buffer.from takes
 * @param {string} [order]
 */
function npy(descr, shape, bytes, order = 'False') {
  const header = `{'descr': '${descr}', 'fortran_order': ${order}, 'shape': (${shape.join(', ')},), }\n`,
    head = Buffer.from([
      0x93,
      ...Buffer.from('NUMPY'),
      1,
      0,
      header.length & 255,
      header.length >> 8
    ])
  return Buffer.concat([head, Buffer.from(header), Buffer.from(bytes)])
}

/**
 * As numpy.savez_compressed: the parts that the reader looks at.
 * @param {Record<string, Buffer<ArrayBuffer>>} entries
 */
function npz(entries) {
  const locals = [],
    directory = []
  let at = 0
  for (const [name, body] of Object.entries(entries)) {
    const packed = deflateRawSync(body),
      local = Buffer.alloc(30),
      entry = Buffer.alloc(46)
    local.writeUInt32LE(0x04034b50), local.writeUInt16LE(name.length, 26)
    entry.writeUInt32LE(0x02014b50),
      entry.writeUInt16LE(8, 10),
      entry.writeUInt32LE(crc32(body), 16),
      entry.writeUInt32LE(packed.length, 20),
      entry.writeUInt32LE(body.length, 24),
      entry.writeUInt16LE(name.length, 28),
      entry.writeUInt32LE(at, 42)
    locals.push(local, Buffer.from(name), packed)
    directory.push(entry, Buffer.from(name))
    at += 30 + name.length + packed.length
  }
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50),
    end.writeUInt16LE(Object.keys(entries).length, 10),
    end.writeUInt32LE(at, 16)
  return Buffer.concat([...locals, ...directory, end])
}

test('.npy of single, double and half precision', async () => {
  for (const [descr, bytes] of [
    ['<f4', Float32Array.of(1, -0.5).buffer],
    ['<f8', Float64Array.of(1, -0.5).buffer],
    ['<f2', Uint16Array.of(0x3c00, 0xb800).buffer]
  ]) {
    const { maps } = await readArrays(
      await file('maps.npy', [npy(/** @type {any} */ (descr), [2], bytes)])
    )
    assert.deepEqual([maps.shape, [...maps.data]], [[2], [1, -0.5]], /** @type {any} */ (descr))
  }
})

test('.npy columns first, as Fortran has them, and big-endian, alone and in a .npz', async () => {
  const shape = [2, 3, 4],
    rows = Float32Array.from({ length: 24 }, (_, i) => i + 0.5),
    // [i][j][k] lies at i + 2 j + 6 k
    columns = Float32Array.from(rows, (_, at) => {
      const [i, j, k] = [at % 2, Math.floor(at / 2) % 3, Math.floor(at / 6)]
      return rows[(i * 3 + j) * 4 + k]
    }),
    turned = (/** @type {Float32Array | Float64Array} */ values) => {
      const bytes = Buffer.from(values.buffer.slice(0))
      return values.BYTES_PER_ELEMENT === 8 ? bytes.swap64() : bytes.swap32()
    },
    arrays = [
      npy('<f4', shape, columns.buffer, 'True'),
      npy('>f4', shape, turned(rows)),
      npy('>f8', shape, turned(Float64Array.from(columns)), 'True')
    ]
  for (const [i, bytes] of arrays.entries()) {
    const { maps } = await readArrays(await file('maps.npy', [bytes]))
    assert.deepEqual([maps.shape, [...maps.data]], [shape, [...rows]], `array ${i}`)
    if (!inflates) continue
    const zipped = await readArrays(await file('maps.npz', [npz({ 'maps.npy': bytes })]))
    assert.deepEqual([...zipped.maps.data], [...rows], `array ${i}, in a .npz`)
  }
})

test('every half float and bfloat16, also where the bytes are not aligned', async () => {
  const { maps } = await readArrays(
    await file('maps.npy', [
      npy('<f2', [6], Uint16Array.of(0x0001, 0x03ff, 0x0400, 0x7bff, 0xfc00, 0x3555).buffer)
    ])
  )
  assert.deepEqual(
    [...maps.data],
    [2 ** -24, 1023 * 2 ** -24, 2 ** -14, 65504, -Infinity, 1365 * 2 ** -12]
  )
  const header = JSON.stringify({
      a: { dtype: 'BF16', shape: [2], data_offsets: [0, 4] },
      b: { dtype: 'U8', shape: [1], data_offsets: [4, 5] },
      c: { dtype: 'F64', shape: [1], data_offsets: [5, 13] }
    }),
    length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(header.length))
  const { a, b, c } = await readArrays(
    await file('a.safetensors', [
      length,
      header,
      Uint16Array.of(0x3f80, 0xc000),
      Uint8Array.of(7),
      Float64Array.of(0.5)
    ])
  )
  assert.deepEqual([...a.data, ...b.data, ...c.data], [1, -2, 7, 0.5])
})

test('maps that are no weights are refused with a sentence; rounded rows and heads taken out are not', async () => {
  /** @param {(layer: Float32Array) => unknown} change */
  const check = (change) => {
    const maps = savedMaps(
      { maps: { shape: [2, 1, 5, 5], data: new Float32Array(50).fill(0.2) } },
      'a'
    )
    change(maps.attention[1])
    return checkWeights(maps, 'a.npy')
  }
  await check((layer) => {
    layer.fill(0.2008)
    layer.fill(0, 5, 10)
  })
  await assert.rejects(
    check((layer) => layer.fill(1.4, 5, 10)),
    /^Error: a\.npy: layer 1, head 0, row 1 does not sum to 1 \(found 7\.00\): scores, not weights\? Save/
  )
  await assert.rejects(
    check((layer) => {
      layer[3] = NaN
    }),
    /row 0 does not sum to 1 \(found NaN\)/
  )
  await assert.rejects(
    check((layer) => {
      layer[3] = -0.3
      layer[4] = 0.7
    }),
    /row 0 has weights below 0 \(found -0\.300\): scores/
  )
})

test('.npz, deflated, and what is written by the page', {
  skip: !inflates && 'this Node has no deflate-raw'
}, async () => {
  const zipped = await readArrays(
    await file('maps.npz', [npz({ 'maps.npy': npy('<f4', [2, 2, 5, 5], values.buffer) })])
  )
  assert.deepEqual([...zipped.maps.data], [...values])
  const { maps } = await readArrays(
    await file('heed.npy', npyParts([2, 2, 5, 5], [values.subarray(0, 50), values.subarray(50)]))
  )
  assert.deepEqual([maps.shape, [...maps.data]], [[2, 2, 5, 5], [...values]])
  const tensors = await readArrays(
    await file(
      'heed.safetensors',
      safetensorsParts({ 'attention.0': { shape: [1, 4, 5, 5], data: values } }, { heed: '1' })
    )
  )
  assert.deepEqual([...tensors['attention.0'].data], [...values])
})

/**
 * A .npz of one array and 100 other entries, whose directory has so many bytes.
 * @param {number} size
 */
function directoryOf(size) {
  const others = Object.fromEntries(
      Array.from({ length: 100 }, (_, i) => [`x${100 + i}`, Buffer.alloc(1)])
    ),
    whole = npz({ 'maps.npy': npy('<f4', [1], Float32Array.of(1).buffer), ...others }),
    end = whole.length - 22,
    pieces = [whole.subarray(0, whole.readUInt32LE(end + 16))]
  let more = size - (end - pieces[0].length)
  for (let at = pieces[0].length; at < end; ) {
    const entry = Buffer.from(whole.subarray(at, (at += 46 + whole.readUInt16LE(at + 28)))),
      extra = Math.min(more, 65535) // what an entry may have beside its name
    entry.writeUInt16LE(extra, 30)
    pieces.push(entry, Buffer.alloc(extra))
    more -= extra
  }
  return Buffer.concat([...pieces, whole.subarray(end)])
}

test('the limits of files of arrays: what is at them is read, one more is refused', {
  skip: !inflates && 'this Node has no deflate-raw'
}, async () => {
  const one = npy('<f4', [1], Float32Array.of(1).buffer),
    arrays = (/** @type {number} */ count) =>
      npz(Object.fromEntries(Array.from({ length: count }, (_, i) => [`a${i}.npy`, one])))
  assert.equal(Object.keys(await readArrays(await file('a.npz', [arrays(1024)]))).length, 1024)
  await assert.rejects(
    async () => readArrays(await file('a.npz', [arrays(1025)])),
    /too many arrays \(found 1025, expected at most 1024\)/
  )
  assert.deepEqual(Object.keys(await readArrays(await file('a.npz', [directoryOf(4e6)]))), ['maps'])
  await assert.rejects(
    async () => readArrays(await file('a.npz', [directoryOf(4e6 + 1)])),
    /a\.npz: its directory is too large \(found 4000001 bytes, expected at most 4000000\)/
  )
  /* damaged behind its first megabyte, which is read when the size was taken */
  const zeros = (/** @type {number} */ size) => {
    const shape = (/** @type {number} */ count) => npy('|u1', [count], Buffer.alloc(count)),
      head = shape(10_000_000).length - 10_000_000 // as many digits
    return npz({ 'maps.npy': shape(size - head) }).fill(255, 2000, 3000)
  }
  await assert.rejects(
    async () => readArrays(await file('a.npz', [zeros(48_000_000)])),
    /maps\.npy: (damaged|it does not inflate to what the directory says)/
  )
  await assert.rejects(
    async () => readArrays(await file('a.npz', [zeros(48_000_001)])),
    /inflate to very much \(found 48000001 bytes, expected at most 48000000\)/
  )
  const tensors = (/** @type {number} */ length) => {
    const header = '{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'.padEnd(length),
      size = Buffer.alloc(8)
    size.writeBigUInt64LE(BigInt(length))
    return Buffer.concat([size, Buffer.from(header), Buffer.alloc(4)])
  }
  assert.equal((await readArrays(await file('a.safetensors', [tensors(4e6)]))).a.data[0], 0)
  await assert.rejects(
    async () => readArrays(await file('a.safetensors', [tensors(4e6 + 1)])),
    /its header is too long, found 4000001 bytes, expected at most 4000000/
  )
})

test('what is damaged is refused with a sentence', async () => {
  for (const [name, bytes, what] of [
    ['a.npy', Buffer.from('nothing of the kind'), /no \.npy.*Save the maps with numpy\.save/],
    [
      'a.npy',
      npy('<f4', [3], Float32Array.of(1)),
      /do not fit.*expected 12\).*Copy or save it again/
    ],
    ['a.npy', npy('<c8', [1], Float32Array.of(1, 0).buffer), /kind that is not read/],
    [
      'a.npz',
      Buffer.from('nothing of the kind, and long enough'),
      /directory, which is its end, is missing.*again/
    ],
    [
      'a.npz',
      npz({ 'maps.npy': npy('<f4', [1], Float32Array.of(1).buffer) }).subarray(20),
      /damaged/
    ],
    ['a.safetensors', Buffer.alloc(16, 255), /longer than the file/]
  ])
    await assert.rejects(
      async () => readArrays(await file(/** @type {any} */ (name), [bytes])),
      /** @type {any} */ (what)
    )
})

test('of a .npz in which one bit is another an array is refused, or as it was: the bit was none of it', async () => {
  for (const whole of [
    Buffer.concat(await zipParts({ 'maps.npy': npyParts([2, 2, 5, 5], [values]) })),
    ...(inflates ? [npz({ 'maps.npy': npy('<f4', [2, 2, 5, 5], values.buffer) })] : [])
  ]) {
    const from = 30 + 'maps.npy'.length,
      to = whole.readUInt32LE(whole.length - 6)
    let refused = 0,
      tried = 0
    for (let at = from; at < to; at += 5, tried++) {
      const bytes = Buffer.from(whole)
      bytes[at] ^= 1 << (at % 8)
      const arrays = await readArrays(await file('a.npz', [bytes])).catch((error) => {
        assert.match(String(error), /^Error: a\.npz, maps\.npy: /)
        refused++
      })
      if (arrays) assert.deepEqual([...arrays.maps.data], [...values])
    }
    assert.ok(refused > 0.8 * tried, `${refused} of ${tried}`)
  }
})

test('.npz as the page writes it: every array is read again; its sums are those of zlib', async () => {
  const picture = Uint8Array.from({ length: 12 }, (_, i) => i),
    about = JSON.stringify({ heed: 'ä' })
  const parts = await zipParts({
    'maps.npy': npyParts([2, 2, 5, 5], [values]),
    'picture.npy': npyParts([2, 2, 3], [picture]),
    'grid.npy': npyParts([4], [Int32Array.of(2, 2, 1, 16)]),
    'provenance.json': [about]
  })
  const written = await file('maps.npz', parts),
    arrays = await readArrays(written),
    bytes = Buffer.from(await written.arrayBuffer())
  assert.deepEqual(
    [Object.keys(arrays), [...arrays.maps.data], [...arrays.picture.data], [...arrays.grid.data]],
    [['maps', 'picture', 'grid'], [...values], [...picture], [2, 2, 1, 16]]
  )
  const last = bytes.lastIndexOf('provenance.json'),
    entry = last - 46
  assert.deepEqual(
    [bytes.readUInt32LE(entry), bytes.readUInt32LE(entry + 16)],
    [0x02014b50, crc32(Buffer.from(about))]
  )
})

test('a grid that is no square, from metadata and from an array; one that does not fit is refused', async () => {
  const maps = { shape: [1, 1, 9, 9], data: new Float32Array(81).fill(1 / 9) },
    of = async (/** @type {Record<string, string>} */ metadata) =>
      savedMaps(
        await readArrays(
          await file('a.safetensors', safetensorsParts({ 'attention.0': maps }, metadata))
        ),
        'a'
      )
  for (const { shape } of [
    await of({ grid: '2 4 1', patch: '14' }),
    savedMaps(
      { 'attention.0': maps, grid: { shape: [4], data: Float32Array.of(2, 4, 1, 14) } },
      'a'
    )
  ])
    assert.deepEqual([shape.rows, shape.columns, shape.prefixTokens, shape.patch], [2, 4, 1, 14])
  assert.deepEqual(
    (({ rows, patch }) => [rows, patch])(
      savedMaps(
        {
          'attention.0': maps,
          pixel_values: { shape: [1, 3, 24, 24], data: new Float32Array(1728) }
        },
        'a'
      ).shape
    ),
    [3, 8]
  )
  const { rows, patch } = (await of({ patch: '14' })).shape
  assert.deepEqual([rows, patch], [3, 14]) // as heed maps has it
  await assert.rejects(() => of({ grid: '3 4 1' }), /grid does not fit \(found 3 4 1/)
  for (const grid of ['2 4 1 ', '2 4', '2 4 1 14', '0x2 4 1', '2 4 1.0', '', '-2 -4 1'])
    await assert.rejects(() => of({ grid }), /^Error: a\.safetensors, grid: cannot be read/, grid)
  for (const patch of ['0', '-14', '1e9', 'NaN', '', '14 ', '0x9'])
    await assert.rejects(
      () => of({ grid: '2 4 1', patch }),
      /^Error: a\.safetensors, patch: cannot be read/,
      patch
    )
  for (const patch of [-14, 0.5, NaN, Infinity, 65537])
    assert.throws(
      () =>
        savedMaps(
          { 'attention.0': maps, grid: { shape: [4], data: Float32Array.of(2, 4, 1, patch) } },
          'a'
        ),
      /^Error: a: its side of a patch is not valid \(found /,
      String(patch)
    )
})

test("maps in another order of tokens are put into heed's; an order that is none is refused", () => {
  const places = [3, 0, 4, 1, 2],
    weight = (
      /** @type {number} */ head,
      /** @type {number} */ row,
      /** @type {number} */ column
    ) => (row * 5 + column + 1 + head) / (25 * row + 15 + 5 * head)
  const [own, moved] = [new Float32Array(50), new Float32Array(50)]
  for (let head = 0; head < 2; head++)
    for (let row = 0; row < 5; row++)
      for (let column = 0; column < 5; column++) {
        own[(head * 5 + row) * 5 + column] = weight(head, row, column)
        moved[(head * 5 + places[row]) * 5 + places[column]] = weight(head, row, column)
      }
  const arrays = { 'attention.0': { shape: [1, 2, 5, 5], data: moved } }
  assert.deepEqual(savedMaps(arrays, 'a', '3 0 4 1 2').attention, [own])
  assert.deepEqual(savedMaps(arrays, 'a').attention, [moved])
  for (const order of [
    '',
    '3 0 4 1',
    '3 0 4 1 1',
    '3 0 4 1 5',
    '3 0 4 1 2 ',
    '3 0 4 1 2 5',
    '-1 0 4 1 2'
  ])
    assert.throws(
      () => savedMaps(arrays, 'a', order),
      /^Error: a: its order of tokens is not valid \(found .*, expected each of 0 to 4 once\)/,
      order
    )
})

test('probabilities of a graph that ends with a sigmoid stand each by itself; others sum to 1', async () => {
  /** @type {typeof import('../../pages/explorer/model/probabilities.js')} */
  const { probabilitiesOf } = await loadPage('explorer/model/probabilities.js'),
    logits = Float32Array.of(2, -1, 0.5),
    of = (/** @type {boolean | undefined} */ eachClass) =>
      probabilitiesOf(/** @type {any} */ ({ explain, model: { eachClass } }), logits),
    powers = Array.from(logits, Math.exp),
    sum = powers.reduce((all, power) => all + power)
  const near = (/** @type {number[]} */ found, /** @type {number[]} */ expected) => {
    assert.equal(found.length, expected.length)
    for (const [i, value] of found.entries()) assert.ok(Math.abs(value - expected[i]) < 1e-6)
  }
  near(
    of(true),
    powers.map((power) => power / (1 + power))
  )
  for (const none of [false, undefined])
    near(
      of(none),
      powers.map((power) => power / sum)
    )
})

test('a file says where it is from; what is no object is not read', async () => {
  const tensors = { 'attention.0': { shape: [1, 1, 1], data: Float32Array.of(1) } },
    from = { heed: '1', changes: '--ablate 0.1' }
  const found = async (/** @type {string} */ name, /** @type {any[]} */ parts) =>
      provenanceIn(await file(name, parts)),
    ofTensors = (/** @type {string} */ provenance) =>
      found('a.safetensors', safetensorsParts(tensors, { provenance }))
  assert.deepEqual(await ofTensors(JSON.stringify(from)), from)
  assert.deepEqual(
    await found(
      'a.npz',
      await zipParts({
        'maps.npy': npyParts([1], [Float32Array.of(1)]),
        'provenance.json': [JSON.stringify(from)]
      })
    ),
    from
  )
  for (const text of ['no JSON', '"text"', 'null', '7'])
    assert.equal(await ofTensors(text), null, text)
  assert.equal(
    await found('a.npz', await zipParts({ 'maps.npy': npyParts([1], [Float32Array.of(1)]) })),
    null
  )
  assert.equal(await found('a.npy', npyParts([1], [Float32Array.of(1)])), null)
})

test('maps are found: one array, an array a layer, with a batch of one; a model is none', () => {
  const array = (/** @type {number[]} */ ...shape) => ({
    shape,
    data: new Float32Array(shape.reduce((a, b) => a * b))
  })
  for (const arrays of [
    { maps: array(3, 2, 5, 5) },
    { maps: array(3, 1, 2, 5, 5) },
    {
      'attention.0': array(1, 2, 5, 5),
      'attention.1': array(1, 2, 5, 5),
      'attention.2': array(1, 2, 5, 5),
      rollout: array(1, 5, 5),
      pixel_values: array(1, 3, 8, 8)
    }
  ]) {
    const { shape, attention } = savedMaps(/** @type {any} */ (arrays), 'file')
    assert.deepEqual(
      [shape.layers, shape.heads, shape.tokens, shape.prefixTokens, shape.rows],
      [3, 2, 5, 1, 2]
    )
    assert.deepEqual(
      attention.map(({ length }) => length),
      [50, 50, 50]
    )
  }
  for (const [shape, heads, layers] of /** @type {[number[], number, number][]} */ ([
    [[5, 5], 1, 1],
    [[2, 5, 5], 2, 1],
    [[1, 3, 2, 5, 5], 2, 3]
  ])) {
    const found = savedMaps({ array: array(...shape) }, 'file')
    assert.deepEqual([found.shape.heads, found.shape.layers, found.assumed], [heads, layers, true])
    assert.equal(found.attention[0].length, heads * 25)
  }
  /** @type {Record<string, {shape: number[], data: Float32Array}>} */
  const layers = {
    ...Object.fromEntries(
      [10, 9, 8, 7, 6, 5, 4, 3, 2, 1].map((i) => [`layer.${i}.attn`, array(1, 2, 5, 5)])
    ),
    'layer.9.other': array(1, 2, 5, 5)
  }
  layers['layer.10.attn'].data.fill(0.2)
  assert.deepEqual(
    savedMaps(layers, 'file').attention.map(([first]) => first),
    [0, 0, 0, 0, 0, 0, 0, 0, 0, Math.fround(0.2)]
  )
  assert.throws(
    () => savedMaps({ ...layers, 'layer.12.attn': array(1, 2, 5, 5) }, 'file'),
    /^Error: file: its layers have a gap \(found layer\.12\.attn after layer\.10\.attn, expected number 11\)/
  )
  for (const arrays of [layers, { attn_weights: array(3, 2, 5, 5) }, { maps: array(3, 2, 5, 5) }])
    assert.equal(holdsMaps(/** @type {any} */ (arrays)), true)
  assert.throws(() => savedMaps({ weight: array(3, 4) }, 'file'), /no attention maps/)
  assert.throws(() => savedMaps({ maps: array(1, 1, 15, 15) }, 'file'), /15 tokens/)
  assert.equal(
    holdsMaps({
      'vit.embeddings.projection.weight': { shape: [8, 3, 16, 16] },
      'attention.weight': { shape: [4, 4] }
    }),
    false
  )
})

test('layers that do not begin with the first are refused: they would go by the numbers of others', () => {
  const read = (/** @type {string[]} */ names, /** @type {number[]} */ ...shape) =>
    savedMaps(
      Object.fromEntries(
        names.map((name) => [
          name,
          { shape, data: new Float32Array(shape.reduce((a, b) => a * b)).fill(0.2) }
        ])
      ),
      'file'
    ).shape.layers
  for (const shape of [
    [2, 5, 5],
    [1, 2, 5, 5]
  ])
    for (const [names, found] of /** @type {[string[], string][]} */ ([
      [['attention.1'], 'attention.1, expected number 0 at most'],
      [['attention.2', 'attention.1'], 'attention.1, expected number 0 at most'],
      [['attention.12', 'attention.3', 'attention.4'], 'attention.3, expected number 0 at most'],
      [['layer.9.attn'], 'layer.9.attn, expected number 1 at most'],
      [['layer.9.attn', 'layer.10.attn'], 'layer.9.attn, expected number 1 at most'],
      [['map_2', 'map_3'], 'map_2, expected number 1 at most']
    ]))
      assert.throws(
        () => read(names, ...shape),
        {
          message: `file: its first layer is missing (found ${found}). Save all layers from the first to the last.`
        },
        names.join()
      )
  for (const names of [
    ['attention.0', 'attention.1'],
    ['layer.1.attn', 'layer.2.attn'],
    ['arr_2', 'arr_3']
  ])
    assert.equal(read(names, 1, 2, 5, 5), 2, names.join())
  for (const name of ['attention.0', 'layer.1.attn', 'vit_b_16', 'arr_3'])
    assert.equal(read([name], 1, 2, 5, 5), 1, name)
  assert.equal(read(['attention_24'], 3, 2, 5, 5), 3) // all layers in one: its number is none of theirs
})

test('statistics and rollout of large maps let the event loop go on', async () => {
  const maps = savedMaps(
    { maps: { shape: [4, 3, 197, 197], data: new Float32Array(12 * 197 * 197).fill(1 / 197) } },
    'a'
  )
  for (const work of [
    () => maps.statistics(),
    () => maps.rollout({ token: 0, fusion: 'mean', residual: 0.5, first: 0, last: 3 })
  ]) {
    let turns = 0
    await new Promise((done) => setTimeout(done, 25))
    setTimeout(() => turns++)
    await work()
    assert.equal(turns, 1)
  }
})

test('numbers of saved maps are those of the runtime', async () => {
  const runtime = await createRuntime({ threads: 1 })
  const session = (await runtime.loadModel(demoModel)).createSession({ taps: 'all' }),
    shape = await session.ready
  const { attention } = await session.run((await runtime.scene(7)).image),
    statistics = await session.statistics(),
    size = shape.tokens ** 2
  /**
   * @param {number} a
   * @param {number} b
   * @param {string} where
   */
  const near = (a, b, where) =>
    assert.ok(Math.abs(a - b) <= 1e-5 * Math.max(1, Math.abs(b)), `${where}: ${a}, expected ${b}`)
  for (const [layer, head] of [
    [0, 1],
    [3, 0],
    [4, 3]
  ]) {
    const own = explain.statistics(
      /** @type {Float32Array[]} */ (attention)[layer].subarray(head * size, (head + 1) * size),
      shape,
      16
    )
    for (const key of Object.keys(own))
      near(
        /** @type {any} */ (own)[key],
        /** @type {any} */ (statistics[layer][head])[key],
        `${layer}.${head} ${key}`
      )
  }
  for (const fusion of ['mean', 'min', 'max']) {
    const row = await session.rollout({
      query: 60,
      fusion: /** @type {any} */ (fusion),
      residual: 0.4,
      firstLayer: 1,
      layerCount: 3
    })
    const own = await rolloutRow(
      shape,
      (layer) => /** @type {Float32Array[]} */ (attention)[layer],
      {
        token: 60,
        fusion: /** @type {any} */ (fusion),
        residual: 0.4,
        first: 1,
        last: 3
      }
    )
    own.forEach((value, i) => near(value, row[i], `${fusion} ${i}`))
  }
  runtime.close()
})
