/* What is refused costs little: files that say or hold more than a page can take, links and
 * sessions that expand. Each is opened in a process of its own, whose processor time and largest
 * size are compared with those of a small file that is right. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  closeSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { pathToFileURL } from 'node:url'
import { deflateRawSync } from 'node:zlib'
import { loadPage, packageFolder } from '../package.js'
import { bomb, deflated, npyHead, zip } from '../zips.js'

/** @type {typeof import('../../pages/explorer/state/address.js')} */
const { fromHash, longestSettings, toHash } = await loadPage('explorer/state/address.js')
/** @type {typeof import('../../pages/masks/mask_link.js')} */
const { fromLink, start } = await loadPage('masks/mask_link.js')

const pages = pathToFileURL(join(packageFolder, '../plain/')).href
const inflates = (() => {
  try {
    return !!new DecompressionStream('deflate-raw')
  } catch {
    return false
  }
})()
/** @type {string} */
let folder
/** @type {{said: string, seconds: number, peak: number}} */
let small

/**
 * @param {string} name
 * @param {...any} parts
 */
const kept = (name, ...parts) => {
  const path = join(folder, name),
    file = openSync(path, 'w')
  for (const part of parts) writeSync(file, part)
  closeSync(file)
  return path
}
/**
 * Opens a file as the page does: { said, seconds of the processor, peak in bytes }.
 * @param {string} path
 * @returns {{said: string, seconds: number, peak: number}}
 */
function opened(path) {
  const script = `import { openAsBlob, readFileSync } from 'node:fs'
    import { readArrays } from '${pages}shared/array_files.js'
    import * as saved from '${pages}explorer/open/saved_maps.js'
    const file = Object.assign(await openAsBlob(${JSON.stringify(path)}), { name: ${JSON.stringify(path.split('/').at(-1))} }), before = process.cpuUsage()
    const said = await readArrays(file, (parts) => saved.wantedArrays(parts, file.name)).then((arrays) => saved.savedMaps(arrays, file.name)).then(async (maps) => { await saved.checkWeights(maps, file.name); return 'opened' }, ({ message }) => message)
    const { user, system } = process.cpuUsage(before)
    console.log(JSON.stringify({ said, seconds: (user + system) / 1e6, peak: 1024 * Number(/VmHWM:\\s*(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) }))`
  return JSON.parse(
    execFileSync(process.execPath, ['--no-warnings', '--input-type=module', '-e', script], {
      encoding: 'utf8',
      timeout: 120000
    })
  )
}

const uniform = Buffer.concat([
  npyHead([2, 2, 17, 17]),
  Buffer.from(new Float32Array(4 * 17 * 17).fill(1 / 17).buffer)
])

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'heed-bounds-'))
  if (!inflates) return
  small = opened(kept('small.npz', zip([['maps.npy', deflateRawSync(uniform), uniform.length]])))
  assert.equal(small.said, 'opened')
})
after(() => rmSync(folder, { recursive: true }))

const side = 4096 // 4096 x 4096 floats are 64 MiB
/**
 * @param {string} name
 * @param {number} length
 * @param {...any} parts
 */
const sparse = (name, length, ...parts) => {
  const path = kept(name, ...parts)
  truncateSync(path, length)
  return path
}
const refused = {
  'an array that inflates to 2.5 GB': [
    () => kept('a.npz', bomb(65, 40, [40, 1, side, side])),
    /more than a page can hold \(found 26\d{8} bytes, expected at most 2147483648\)/
  ],
  'one that inflates to 256 MB of 260 KB': [
    () => kept('b.npz', bomb(65, 4, [4, 1, side, side])),
    /would inflate to very much \(found 26\d{7} bytes, expected at most 48000000\)/
  ],
  'one that inflates to more than the directory says': [
    () => kept('c.npz', bomb(65, 40, [2, 2, 17, 17], 4 * 4 * 17 * 17 + 80)),
    /shape and bytes do not fit|does not inflate to what the directory says/
  ],
  'one whose size is that of its shape, and lies': [
    () => {
      const head = npyHead([2, 2, 200, 200])
      return kept('d.npz', bomb(65, 40, [2, 2, 200, 200], head.length + 640000))
    },
    /does not inflate to what the directory says \(found more, expected 6400\d\d bytes\)/
  ],
  'one that inflates to less': [
    () =>
      kept(
        'e.npz',
        zip([
          [
            'maps.npy',
            deflateRawSync(npyHead([2, 2, 200, 200])),
            npyHead([2, 2, 200, 200]).length + 640000
          ]
        ])
      ),
    /does not inflate to what the directory says \(found \d+, expected/
  ],
  'a thousand entries of the same bytes': [
    () => {
      const packed = deflated(npyHead([1, side, side]), 65, 1),
        size = npyHead([1, side, side]).length + 2 ** 26
      return kept(
        'f.npz',
        zip(Array.from({ length: 1000 }, (_, i) => [`a.${i}.npy`, packed, size, i ? 0 : undefined]))
      )
    },
    /damaged: it reaches into what follows it/
  ],
  'more entries than a file of maps has': [
    () =>
      kept(
        'g.npz',
        zip(Array.from({ length: 65535 }, (_, i) => [`a.${i}.npy`, Buffer.alloc(1), 1]))
      ),
    /too many arrays \(found 65535, expected at most 1024\)/
  ],
  'a directory that is the whole file': [
    () => {
      const bytes = Buffer.alloc(22)
      bytes.writeUInt32LE(0x06054b50), bytes.writeUInt16LE(9, 10)
      const path = sparse('h.npz', 3e9)
      const file = openSync(path, 'r+')
      writeSync(file, bytes, 0, 22, 3e9 - 22)
      closeSync(file)
      return path
    },
    /its directory is too large \(found 2999999978 bytes, expected at most 4000000\)/
  ],
  '3 GB in which there are no maps': [
    () => sparse('i.npy', npyHead([749999960]).length + 4 * 749999960, npyHead([749999960])),
    /no attention maps in it/
  ],
  '3 GB of maps': [
    () =>
      sparse(
        'j.npy',
        npyHead([48, 1, side, side]).length + 48 * 2 ** 26,
        npyHead([48, 1, side, side])
      ),
    /more than a page can hold/
  ],
  '3 GB that are cut short': [
    () => sparse('k.npy', 3e9, npyHead([2, 2, 17, 17])),
    /shape and bytes do not fit/
  ],
  'a header of 90 MB': [
    () => {
      const length = Buffer.alloc(8)
      length.writeBigUInt64LE(90000000n)
      return sparse('l.safetensors', 90000008, length, '{"a":{}', Buffer.alloc(8e7, ' '))
    },
    /its header is too long/
  ],
  'a header whose places mean nothing': [
    () => {
      const text =
          '{"attention.0":{"dtype":"F32","shape":[1,1,5,5],"data_offsets":[0,1e300]},"b":null}',
        length = Buffer.alloc(8)
      length.writeBigUInt64LE(BigInt(text.length))
      return kept('m.safetensors', length, text)
    },
    /has no dtype, shape and place/
  ]
}

for (const [what, [make, sentence]] of Object.entries(refused))
  test(`refused at once: ${what}`, { skip: !inflates && 'this Node has no deflate-raw' }, () => {
    const path = /** @type {() => string} */ (make)(),
      { said, seconds, peak } = opened(path)
    console.log(
      `${what}: ${statSync(path).size} bytes, ${((peak - small.peak) / 1e6).toFixed(1)} MB and ${seconds.toFixed(2)} s, a small file ${small.seconds.toFixed(2)} s`
    )
    rmSync(path)
    assert.match(said, /** @type {any} */ (sentence))
    assert.ok(
      peak - small.peak <= 5e7,
      `${(peak - small.peak) / 1e6} MB more than for a small file`
    )
    assert.ok(seconds <= 1, `${seconds} s`)
  })

test('what is honest opens: maps of a ViT-B, deflated; heads that look at one patch each; more arrays than are looked at', {
  skip: !inflates && 'this Node has no deflate-raw'
}, () => {
  const layers = 12,
    heads = 12,
    tokens = 197,
    data = new Float32Array(layers * heads * tokens * tokens)
  let seed = 7
  for (let row = 0; row < layers * heads * tokens; row++) {
    const weights = Float32Array.from({ length: tokens }, () => {
        seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
        return Math.exp(6 * (seed / 2 ** 32))
      }),
      sum = weights.reduce((a, b) => a + b)
    for (let i = 0; i < tokens; i++) data[row * tokens + i] = weights[i] / sum
  }
  const npy = (/** @type {number[]} */ shape, /** @type {Float32Array<ArrayBuffer>} */ data) =>
      Buffer.concat([npyHead(shape), Buffer.from(data.buffer)]),
    file = (/** @type {string} */ name, /** @type {any[]} */ ...entries) =>
      kept(
        name,
        zip(
          entries.map(([name, bytes]) => [name, deflateRawSync(bytes, { level: 1 }), bytes.length])
        )
      )
  const junk = ['weights.npy', Buffer.concat([npyHead([1 << 24]), Buffer.alloc(1 << 26)])]
  assert.equal(
    opened(file('vit.npz', ['maps.npy', npy([layers, heads, tokens, tokens], data)], junk)).said,
    'opened'
  )
  const sharp = new Float32Array(12 * 8 * 257 * 257)
  for (let row = 0; row < 12 * 8 * 257; row++) sharp[row * 257 + (row % 257)] = 1
  assert.equal(
    opened(file('sharp.npz', ['attn.npy', npy([12, 8, 257, 257], sharp)])).said,
    'opened'
  )
})

test('links and settings of sessions do not expand', () => {
  const many = `#z=${Array(20000).fill('0-9999').join('_')}`,
    most = `#z=${Array(1200).fill('0-9999').join('_')}`
  assert.deepEqual(fromHash(many).dropped, [])
  for (const [hash, longest] of [
    [most, undefined],
    [many, longestSettings]
  ]) {
    const { dropped } = fromHash(/** @type {string} */ (hash), /** @type {any} */ (longest))
    assert.deepEqual(
      dropped,
      Array.from({ length: 10000 }, (_, i) => i)
    )
  }
  assert.deepEqual(fromHash('#z=9-3_5_4-6_5').dropped, [4, 5, 6])
  const state = { ...fromHash(''), dropped: [0, 3, 4, 9999] }
  assert.deepEqual(fromHash(toHash(state)), state)
  for (const runs of [20000, 1200]) {
    const link = fromLink(`q=16&k=16&p=${Array(runs).fill('1-256').join('_')}`)
    assert.equal(link.closed.length, runs === 1200 ? 256 : start().closed.length)
  }
})
