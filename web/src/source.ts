/* Where a model's bytes come from: anything that loadModel takes becomes a list of { name, size,
 * read, close }, in the thread that runs the module. `read(offset, target)` fills a Uint8Array and
 * is synchronous, as the module asks for weights while it packs them. What can be read at any place
 * (bytes, files) is read on demand and not held; what comes as a stream is held until a session has
 * packed it. What has begin(progress, signal) wants it called before a session is made of it, and
 * end() after. */
import { cancelled, HeedError } from './error.js'
import { closeAll, openBeside, openFolder } from './folder.js'
import { builtin, bytesOfData, inNode } from './host.js'
import { isBlob } from './realm.js'
import { readStream } from './streamed.js'
import { isWeights } from './weights.js'
import type {
  DownloadProgress,
  NamedFile,
  NamedSource,
  OpenStream,
  SendableFile,
  SizedStream,
  Source
} from '../types/library.js'
import type { Progress } from 'heed'

/* Files are read through a window of this size, since the module asks for a few rows at a time. */
const windowBytes = 1 << 22

/* docs/limits.md: the runtime refuses such a file that has more. */
const mostTextBytes = 1 << 26

const fromBytes = (bytes: Uint8Array): Source => ({
  size: bytes.byteLength,
  read: (offset: number, target: Uint8Array) =>
    target.set(bytes.subarray(offset, offset + target.length)),
  close() {}
})

/** readAt(offset, length) gives a Uint8Array of that part. */
function fromWindow(
  size: number,
  readAt: (offset: number, length: number) => Uint8Array,
  close: () => void
): Source {
  let start = 0,
    held = new Uint8Array(0) as Uint8Array
  function read(offset: number, target: Uint8Array) {
    for (let done = 0; done < target.length; ) {
      const at = offset + done
      if (at < start || at >= start + held.length) {
        start = at
        held = readAt(at, Math.min(windowBytes, size - at))
      }
      const part = held.subarray(at - start, at - start + target.length - done)
      if (!part.length) throw new Error('cut short')
      target.set(part, done)
      done += part.length
    }
  }
  return {
    size,
    read,
    close() {
      held = new Uint8Array(0)
      close()
    }
  }
}

/** What comes as a stream; undefined where open gives nothing. A stream need not end: configs and tokenizers have
 * the limit of the runtime before they are held. */
async function fromStream(
  name: string,
  open: OpenStream,
  progress: DownloadProgress,
  signal: AbortSignal
): Promise<Source | undefined> {
  const opened = await open(signal)
  const mostBytes = /\.(json|txt)$/i.test(name) ? mostTextBytes : Infinity
  return opened && readStream(opened, open, progress, signal, { name, mostBytes })
}

async function fromBlob(
  name: string,
  blob: Blob,
  progress: DownloadProgress,
  signal: AbortSignal
): Promise<Source | undefined> {
  if (typeof FileReaderSync === 'undefined')
    return fromStream(name, () => ({ stream: blob.stream(), size: blob.size }), progress, signal)
  const reader = new FileReaderSync()
  return fromWindow(
    blob.size,
    (at, length) => new Uint8Array(reader.readAsArrayBuffer(blob.slice(at, at + length))),
    () => {}
  )
}

/**
 * To open what is no file may wait for ever or move a device: it is looked at before, and, as it
 * may be another by then, after.
 */
async function fromPath(name: string, path: string): Promise<Source> {
  const { constants, openSync, fstatSync, statSync, readSync, closeSync } = await builtin('fs')
  const sizeOf = (info: import('node:fs').Stats) => {
    if (info.isFile()) return info.size
    throw new HeedError(
      'IO',
      `${name}: not a regular file (found a folder, a FIFO or a device, expected a file) at ${path}`
    )
  }
  sizeOf(statSync(path))
  const file = openSync(
    path,
    constants.O_NONBLOCK /* undefined, for reading, where there is none */
  )
  const readAt = (at: number, length: number) => {
    const buffer = new Uint8Array(length)
    return buffer.subarray(0, readSync(file, buffer, 0, length, at))
  }
  try {
    return fromWindow(sizeOf(fstatSync(file)), readAt, () => closeSync(file))
  } catch (error) {
    closeSync(file)
    throw error
  }
}

/** Nothing where there is no such file. */
async function fromAddress(
  name: string,
  url: string,
  progress: DownloadProgress,
  signal: AbortSignal
): Promise<Source | undefined> {
  if (inNode && url.startsWith('file:')) {
    const { fileURLToPath } = await builtin('url')
    return fromPath(name, fileURLToPath(url)).catch((error) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    })
  }
  const bytes = bytesOfData(url)
  if (bytes) return fromBytes(bytes)
  return fromStream(name, (signal) => download(name, url, signal), progress, signal)
}

async function download(
  name: string,
  url: string,
  signal: AbortSignal
): Promise<SizedStream | undefined> {
  const response = await fetch(url, { signal })
  if (response.status === 404) return undefined
  if (!response.ok)
    throw new HeedError(
      'IO',
      `${name}: download failed (found HTTP ${response.status}, expected 200) at ${url}`
    )
  return {
    stream: response.body as SizedStream['stream'],
    size: Number(response.headers.get('content-length'))
  }
}

/** Sums up what the files of one model report. */
function totals(report: (progress: Progress) => unknown): DownloadProgress {
  let done = 0,
    total = 0,
    known = true
  return {
    file(size) {
      total += size
      known &&= size > 0
      return (bytes) => {
        done += bytes
        report({ phase: 'download', done, total: known ? Math.max(total, done) : 0 })
      }
    }
  }
}

async function openOne(
  name: string,
  value: SendableFile,
  progress: DownloadProgress,
  signal: AbortSignal
): Promise<Source | undefined> {
  if (ArrayBuffer.isView(value)) return fromBytes(value)
  if (isBlob(value)) return fromBlob(name, value, progress, signal)
  if (typeof value === 'string') return fromAddress(name, value, progress, signal)
  return fromStream(name, onceOf(value), progress, signal)
}

/** What a Response holds comes once. */
function onceOf(response: SizedStream): OpenStream {
  let left = response as SizedStream | undefined
  return () => {
    if (!left)
      throw new HeedError(
        'INVALID_ARGUMENT',
        'model: a Response backs only one session (found a second one, expected bytes, a Blob or a URL)'
      )
    const opened = left
    left = undefined
    return opened
  }
}

async function isFolder(url: string) {
  if (inNode && url.startsWith('file:') && !url.endsWith('/')) {
    const { stat } = await builtin('fs/promises')
    return stat(new URL(url)).then(
      (found) => found.isDirectory(),
      () => false
    )
  }
  return url.endsWith('/')
}

async function openAll(
  wanted: NamedSource[],
  progress: DownloadProgress,
  signal: AbortSignal
): Promise<NamedFile[]> {
  const opened: { value?: Source; reason?: unknown }[] = await Promise.allSettled(
    wanted.map(([name, value]) =>
      openOne(name, value, progress, signal).catch((error) => {
        throw explain(error, signal, name, value)
      })
    )
  )
  const files = opened.flatMap((o, i) =>
    o.value ? [Object.assign(o.value, { name: wanted[i][0], address: wanted[i][1] })] : []
  )
  const failed = opened.find((o) => o.reason)
  if (!failed) return files
  closeAll(files)
  throw failed.reason
}

/** What a file of the model names beside it: those that are there. */
export const openMore = (
  wanted: NamedSource[],
  report: (progress: Progress) => unknown,
  signal: AbortSignal
) => openAll(wanted, totals(report), signal)

/**
 * Whether a file of weights, or a lone one, is no .safetensors file, whose header begins at its
 * ninth byte. Where no name says which file is weights, its first bytes do: those of PyTorch's files.
 */
export function isForeign(file: NamedFile, _: number, files: NamedFile[]) {
  const first = new Uint8Array(9),
    unnamed = files[1] && !isWeights(file.name)
  if (file.size < 9 || (unnamed && files.some(({ name }) => isWeights(name)))) return false
  file.read(0, first)
  const [a, b, c, d] = first,
    ofTorch = (a === 0x80 && b > 1 && b < 6) || (a === 0x50 && b === 0x4b && c === 3 && d === 4)
  return first[8] !== 123 && (ofTorch || !unnamed)
}

/**
 * wanted: [[name, Uint8Array | Blob | address | { stream, size }], ...], or one address of a
 * folder as [['', address]].
 */
export async function openSources(
  wanted: NamedSource[],
  report: (progress: Progress) => unknown,
  signal: AbortSignal
) {
  const progress = totals(report),
    open = (named: NamedSource[]) => openAll(named, progress, signal)
  try {
    const lone = wanted.length === 1 && typeof wanted[0][1] === 'string' && wanted[0][1]
    if (lone && (await isFolder(lone))) return await openFolder(lone, open)
    const files = await openAll(wanted, progress, signal)
    const missing = wanted.find(([name]) => !files.some((file) => file.name === name))
    if (!missing) return lone ? [...files, ...(await openBeside(lone, open))] : files
    closeAll(files)
    throw new HeedError('IO', `${missing[0]}: missing (found nothing at ${missing[1]})`)
  } catch (error) {
    throw explain(error, signal)
  }
}

/** Where a file came from, at the end of a sentence; nothing where it has no address. */
function placeOf(value: unknown) {
  const address = typeof value === 'string' ? value : (value as Partial<SizedStream>)?.address
  return address && !address.startsWith('data:') ? ` at ${address}` : ''
}

function explain(error: unknown, signal: AbortSignal, what: string = 'model', from?: unknown) {
  if (error instanceof HeedError) return error
  return signal.aborted
    ? cancelled('model')
    : new HeedError(
        'IO',
        `${what}: reading failed (found "${(error as Error).message}")${placeOf(from)}`
      )
}

/** Calls make() while these files can be read. Where sessions share weights it may need none of them: what is
 * no longer held is fetched again only once make() could not do without. keeps: make() reads weights more than once. */
export async function withSources(
  files: NamedFile[],
  report: (progress: Progress) => unknown,
  signal: AbortSignal,
  make: () => void,
  keeps = false
) {
  const progress = totals(report)
  if (files.some((file) => file.isSpent?.()))
    try {
      return make()
    } catch {} // the same again with all files
  try {
    for (const file of files)
      await file.begin?.(progress, signal, keeps).catch((error) => {
        throw explain(error, signal, file.name, file.address)
      })
  } catch (error) {
    for (const file of files) file.end?.()
    throw error
  }
  try {
    return make()
  } finally {
    for (const file of files) file.end?.()
  }
}
