/* Weights that come as a stream, in blocks of 8 bytes: where blocks and the file end, what is let go while a session is made. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { loadPage } from '../package.js'

/** @type {typeof import('../../src/streamed.js')} */
const { readStream } = await loadPage('heed/streamed.js')

const progress = /** @type {any} */ ({ file: () => () => {} }),
  signal = new AbortController().signal

/** A stream of 0, 1, 2 ... in chunks of these sizes.
 * @param {number} size
 * @param {number[]} chunks */
const sent = (size, chunks) => ({
  size,
  stream: new ReadableStream({
    start(to) {
      for (let at = 0, i = 0; at < size; i++) {
        const count = Math.min(chunks[i % chunks.length], size - at)
        to.enqueue(Uint8Array.from({ length: count }, (_, k) => at + k))
        at += count
      }
      to.close()
    }
  })
})

/** @param {number} size @param {number[]} chunks @param {number} again the size when it comes again */
async function opened(size, chunks, again = size) {
  let opens = 0
  const open = () => {
    opens++
    return sent(again, chunks)
  }
  const file = /** @type {any} */ (
    await readStream(sent(size, chunks), /** @type {any} */ (open), progress, signal, {
      windowBytes: 8
    })
  )
  return { file, opens: () => opens }
}

/** @param {any} file @param {number} offset @param {number} count */
const read = (file, offset, count) => {
  const target = new Uint8Array(count)
  file.read(offset, target)
  return [...target]
}
const numbers = (/** @type {number} */ from, /** @type {number} */ count) =>
  Array.from({ length: count }, (_, k) => from + k)

/** How many blocks a call lets go. @param {() => void} call */
function freed(call) {
  const prototype = /** @type {any} */ (ArrayBuffer.prototype),
    resize = prototype.resize
  let count = 0
  prototype.resize = function (/** @type {number} */ size) {
    if (size === 0) count++
    return resize.call(this, size)
  }
  try {
    call()
  } finally {
    prototype.resize = resize
  }
  return count
}

for (const [size, ...chunks] of [
  [20, 7],
  [16, 8],
  [3, 1],
  [25, 30],
  [33, 5, 11, 1]
])
  test(`every range of ${size} bytes in chunks of ${chunks}`, async () => {
    const { file } = await opened(size, chunks)
    assert.equal(file.size, size)
    for (let from = 0; from < size; from++)
      for (let to = from + 1; to <= size; to++)
        assert.deepEqual(read(file, from, to - from), numbers(from, to - from))
  })

test('a block is let go once all of it was read, the short last one too', async () => {
  const { file } = await opened(20, [20])
  assert.equal(
    freed(() => read(file, 0, 20)),
    0
  ) // nothing is made
  await file.begin(progress, signal)
  assert.equal(
    freed(() => read(file, 0, 7)),
    0
  )
  assert.equal(
    freed(() => read(file, 7, 1)),
    1
  )
  assert.equal(
    freed(() => read(file, 12, 3)),
    0
  )
  assert.equal(
    freed(() => read(file, 8, 3)),
    0
  )
  assert.equal(
    freed(() => read(file, 11, 1)),
    0
  )
  assert.equal(
    freed(() => read(file, 15, 1)),
    1
  ) // in any order
  assert.equal(
    freed(() => read(file, 16, 3)),
    0
  )
  assert.equal(
    freed(() => read(file, 18, 2)),
    1
  ) // what overlaps counts once
})

test('the next session has the stream come again, and reads the same', async () => {
  const { file, opens } = await opened(20, [9])
  for (const times of [0, 1, 2]) {
    await file.begin(progress, signal)
    assert.equal(opens(), times)
    assert.deepEqual(read(file, 5, 15), numbers(5, 15))
    assert.deepEqual(read(file, 0, 5), numbers(0, 5))
    file.end()
  }
})

test('what was read before weights are packed is there without the stream, weights are not', async () => {
  const { file, opens } = await opened(20, [9])
  await file.begin(progress, signal)
  assert.equal(file.isSpent(), false)
  assert.deepEqual(read(file, 3, 4), [3, 4, 5, 6])
  file.packs()
  assert.deepEqual(read(file, 0, 20), numbers(0, 20))
  file.end()
  assert.equal(file.isSpent(), true)
  assert.deepEqual(read(file, 3, 4), [3, 4, 5, 6])
  assert.throws(() => read(file, 3, 5))
  assert.throws(() => read(file, 8, 4))
  assert.equal(opens(), 0)
})

test('a session that reads nothing lets nothing go', async () => {
  const { file, opens } = await opened(20, [9])
  await file.begin(progress, signal)
  file.end()
  await file.begin(progress, signal)
  assert.equal(opens(), 0)
  assert.deepEqual(read(file, 0, 20), numbers(0, 20))
})

test('a file that has changed is refused', async () => {
  const { file } = await opened(20, [9], 19)
  await file.begin(progress, signal)
  read(file, 0, 20)
  file.end()
  await assert.rejects(file.begin(progress, signal), {
    status: 'IO',
    message: 'model: its file has changed (found 19 bytes, expected 20)'
  })
})

test('a stream without an end is read to its limit, and cancelled', async () => {
  let sentBytes = 0,
    cancelled = false
  const endless = {
      size: 0,
      stream: new ReadableStream({
        pull(to) {
          to.enqueue(new Uint8Array(8))
          sentBytes += 8
        },
        cancel() {
          cancelled = true
        }
      })
    },
    limits = { name: 'config.json', mostBytes: 80, windowBytes: 8 }
  await assert.rejects(readStream(endless, /** @type {any} */ (null), progress, signal, limits), {
    name: 'HeedError',
    status: 'UNSUPPORTED',
    message: 'config.json: too large (found more than 80 bytes, expected no more)'
  })
  assert.ok(cancelled && sentBytes <= 96)
  const whole = await readStream(sent(80, [8]), /** @type {any} */ (null), progress, signal, limits)
  assert.equal(whole.size, 80)
})
