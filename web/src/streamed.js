/* Weights that come as a stream. */
import { HeedError } from './error.js'
/** @import {DownloadProgress, OpenStream, SizedStream, Source} from '../types/library.js' */

const blockBytes = 1 << 22

/**
 * Adds [from, to) to a list of such parts that do not touch.
 * @param {[number, number][]} parts
 * @param {number} from
 * @param {number} to
 * @returns {[number, number][]}
 */
function join(parts, from, to) {
  const apart = /** @type {[number, number][]} */ ([])
  for (const [start, end] of parts) {
    if (end < from || start > to) apart.push([start, end])
    else {
      from = Math.min(from, start)
      to = Math.max(to, end)
    }
  }
  return [...apart, [from, to]]
}

/* A buffer of its own that can be emptied: what is only forgotten stays until the next collection,
 * which packing does not cause. */
/** @param {number} windowBytes */
const newBlock = (windowBytes) =>
  new Uint8Array(
    /** @type {ArrayBuffer} */ (
      /** @type {Partial<ArrayBuffer>} */ (ArrayBuffer.prototype).resize
        ? new ArrayBuffer(windowBytes, { maxByteLength: windowBytes })
        : windowBytes
    )
  )
/** @param {Uint8Array<ArrayBuffer> | undefined} block */
const freeBlock = (block) => block?.buffer.resize?.(0)

/** What came as a stream, in blocks. While a session is made, a block is let go once all of it was
 * read, so that weights are never held twice; the next session has the stream come again. */
class Streamed {
  #open
  #windowBytes
  /** @type {(Uint8Array<ArrayBuffer> | undefined)[]} */
  #blocks = []
  /** @type {[number, number][][]} */
  #parts = [] // of each block, what was read of it
  #making = false
  #spent = false
  size = 0

  /**
   * @param {OpenStream} open has the stream come again
   * @param {number} windowBytes of a block
   */
  constructor(open, windowBytes) {
    this.#open = open
    this.#windowBytes = windowBytes
  }

  /**
   * @param {SizedStream} options
   * @param {DownloadProgress} progress
   * @param {AbortSignal} signal
   */
  async collect({ stream, size }, progress, signal) {
    const report = progress.file(size),
      reader = stream.getReader(),
      stop = () => reader.cancel().catch(() => {})
    this.close()
    this.size = 0
    signal.addEventListener('abort', stop)
    try {
      for (;;) {
        const { done, value } = await reader.read()
        signal.throwIfAborted()
        if (done) return
        this.#append(value)
        report(value.length)
      }
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  /** @param {Uint8Array} bytes */
  #append(bytes) {
    const windowBytes = this.#windowBytes
    for (let done = 0; done < bytes.length; ) {
      const at = this.size % windowBytes,
        part = bytes.subarray(done, done + windowBytes - at)
      if (at === 0) this.#blocks.push(newBlock(windowBytes))
      this.#blocks.at(-1)?.set(part, at)
      done += part.length
      this.size += part.length
    }
  }

  /**
   * @param {DownloadProgress} progress
   * @param {AbortSignal} signal
   */
  async begin(progress, signal) {
    this.#making = true
    if (!this.#spent) return
    const { size } = this,
      opened = await this.#open(signal)
    if (opened) await this.collect(opened, progress, signal)
    const found = opened ? this.size : 0
    this.size = size
    if (found !== size)
      throw new HeedError(
        'IO',
        `model: its file has changed (found ${found} bytes, expected ${size})`
      )
    this.#spent = false
  }

  end() {
    this.#making = false
    if (this.#spent) this.close()
  }

  /**
   * @param {number} offset
   * @param {Uint8Array} target
   */
  read(offset, target) {
    const windowBytes = this.#windowBytes
    for (let done = 0; done < target.length; ) {
      const at = offset + done,
        index = Math.floor(at / windowBytes),
        from = at % windowBytes,
        to = Math.min(from + target.length - done, windowBytes)
      target.set(/** @type {Uint8Array} */ (this.#blocks[index]).subarray(from, to), done)
      done += to - from
      if (this.#making) this.#letGo(index, from, to)
    }
  }

  /**
   * @param {number} index
   * @param {number} from
   * @param {number} to
   */
  #letGo(index, from, to) {
    const windowBytes = this.#windowBytes,
      parts = join(this.#parts[index] ?? [], from, to),
      whole = Math.min(windowBytes, this.size - index * windowBytes)
    this.#parts[index] = parts
    this.#spent = true
    if (parts[0][1] - parts[0][0] < whole) return
    freeBlock(this.#blocks[index])
    this.#blocks[index] = undefined
  }

  close() {
    this.#blocks.forEach(freeBlock)
    this.#blocks = []
    this.#parts = []
  }
}

/**
 * All of a stream that was opened.
 * @param {SizedStream} opened
 * @param {OpenStream} open
 * @param {DownloadProgress} progress
 * @param {AbortSignal} signal
 * @param {number} [windowBytes] of a block, smaller in tests
 * @returns {Promise<Source>}
 */
export async function readStream(opened, open, progress, signal, windowBytes = blockBytes) {
  const file = new Streamed(open, windowBytes)
  await file.collect(opened, progress, signal)
  return file
}
