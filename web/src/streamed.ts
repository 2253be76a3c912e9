/* Weights that come as a stream. */
import { HeedError } from './error.js'
import type { DownloadProgress, OpenStream, SizedStream, Source } from '../types/library.js'

const blockBytes = 1 << 22

/** Adds [from, to) to a list of such parts that do not touch. */
function join(parts: [number, number][], from: number, to: number): [number, number][] {
  const apart: [number, number][] = []
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
const newBlock = (windowBytes: number) =>
  new Uint8Array(
    ((ArrayBuffer.prototype as Partial<ArrayBuffer>).resize
      ? new ArrayBuffer(windowBytes, { maxByteLength: windowBytes })
      : windowBytes) as ArrayBuffer
  )
const freeBlock = (block: Uint8Array<ArrayBuffer> | undefined) => block?.buffer.resize?.(0)

/** What came as a stream, in blocks. While a session is made, a block is let go once all of it was
 * read, so that weights are never held twice. What a graph is built of, positions and first tokens, is kept
 * apart: where the weights are shared, the next session needs nothing else. Without them the stream comes again. */
class Streamed {
  #name
  #open
  #windowBytes
  #mostBytes
  #blocks: (Uint8Array<ArrayBuffer> | undefined)[] = []
  #parts: [number, number][][] = [] // of each block, what was read of it
  #building = new Map<number, Uint8Array>() // what was read before weights were packed, by its place
  #packing = false
  #making = false
  #spent = false
  #keeps = false
  size = 0

  /**
   * @param open has the stream come again
   * @param windowBytes of a block
   */
  constructor(name: string, open: OpenStream, windowBytes: number, mostBytes: number) {
    this.#name = name
    this.#open = open
    this.#windowBytes = windowBytes
    this.#mostBytes = mostBytes
  }

  async collect({ stream, size }: SizedStream, progress: DownloadProgress, signal: AbortSignal) {
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
    } catch (error) {
      stop()
      throw error
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  #append(bytes: Uint8Array) {
    const windowBytes = this.#windowBytes
    if (this.size + bytes.length > this.#mostBytes) {
      this.close()
      throw new HeedError(
        'UNSUPPORTED',
        `${this.#name}: too large (found more than ${this.#mostBytes} bytes, expected no more)`
      )
    }
    for (let done = 0; done < bytes.length; ) {
      const at = this.size % windowBytes,
        part = bytes.subarray(done, done + windowBytes - at)
      if (at === 0) this.#blocks.push(newBlock(windowBytes))
      this.#blocks.at(-1)?.set(part, at)
      done += part.length
      this.size += part.length
    }
  }

  isSpent() {
    return this.#spent
  }

  packs() {
    this.#packing = true
  }

  /** @param keeps nothing is let go before end(): what follows reads some weights more than once */
  async begin(progress: DownloadProgress, signal: AbortSignal, keeps = false) {
    this.#making = true
    this.#keeps = keeps
    this.#packing = false
    if (!this.#spent) return
    const { size } = this,
      opened = await this.#open(signal)
    if (opened) await this.collect(opened, progress, signal)
    const found = opened ? this.size : 0
    this.size = size
    if (found !== size)
      throw new HeedError(
        'IO',
        `${this.#name}: its file has changed (found ${found} bytes, expected ${size})`
      )
    this.#spent = false
  }

  end() {
    this.#making = false
    if (this.#spent) this.close()
  }

  read(offset: number, target: Uint8Array) {
    const kept = this.#making ? undefined : this.#building.get(offset)
    if (kept?.length === target.length) return target.set(kept)
    this.#readBlocks(offset, target)
    if (this.#making && !this.#packing) this.#building.set(offset, target.slice())
  }

  #readBlocks(offset: number, target: Uint8Array) {
    const windowBytes = this.#windowBytes
    for (let done = 0; done < target.length; ) {
      const at = offset + done,
        index = Math.floor(at / windowBytes),
        from = at % windowBytes,
        to = Math.min(from + target.length - done, windowBytes)
      target.set((this.#blocks[index] as Uint8Array).subarray(from, to), done)
      done += to - from
      if (this.#making) this.#letGo(index, from, to)
    }
  }

  #letGo(index: number, from: number, to: number) {
    const windowBytes = this.#windowBytes,
      parts = join(this.#parts[index] ?? [], from, to),
      whole = Math.min(windowBytes, this.size - index * windowBytes)
    this.#parts[index] = parts
    this.#spent = true
    if (this.#keeps || parts[0][1] - parts[0][0] < whole) return
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
 * @param how.name for sentences
 * @param how.mostBytes beyond which it is read no further: UNSUPPORTED
 * @param how.windowBytes of a block, smaller in tests
 */
export async function readStream(
  opened: SizedStream,
  open: OpenStream,
  progress: DownloadProgress,
  signal: AbortSignal,
  { name = 'model', mostBytes = Infinity, windowBytes = blockBytes } = {}
): Promise<Source> {
  const file = new Streamed(name, open, windowBytes, mostBytes)
  await file.collect(opened, progress, signal)
  return file
}
