/* Where a model's bytes come from: anything that loadModel takes becomes a list of { name, size, read, close }, in the thread that runs the
 * module. `read(offset, target)` fills a Uint8Array and is synchronous, as the module asks for weights while it packs them. What can be
 * read at any place (bytes, files) is read on demand and not held; what comes as a stream is kept as it came. */
import { HeedError } from './error.js'
import { builtin, inNode } from './host.js'

/* Files are read through a window of this size, since the module asks for a few rows at a time. */
const windowBytes = 1 << 22

const folderNames = ['config.json', 'preprocessor_config.json', 'model.safetensors.index.json', 'model.safetensors']

const fromBytes = (bytes) => ({ size: bytes.byteLength, read: (offset, target) => target.set(bytes.subarray(offset, offset + target.length)), close() {} })

/** readAt(offset, length) gives a Uint8Array of that part. */
function fromWindow(size, readAt, close) {
  let start = 0, held = new Uint8Array(0)
  function read(offset, target) {
    for (let done = 0; done < target.length;) {
      const at = offset + done
      if (at < start || at >= start + held.length) {
        start = at
        held = readAt(at, Math.min(windowBytes, size - at))
      }
      const part = held.subarray(at - start, at - start + target.length - done)
      target.set(part, done)
      done += part.length
    }
  }
  return { size, read, close() { held = new Uint8Array(0); close() } }
}

/** Chunks as they came, each at its place. */
function fromChunks(chunks) {
  const starts = []
  let size = 0, last = 0
  for (const chunk of chunks) {
    starts.push(size)
    size += chunk.length
  }
  function find(offset) {
    let low = 0, high = starts.length - 1
    if (starts[last] <= offset && offset < starts[last] + chunks[last].length) return last
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (starts[middle] <= offset) low = middle
      else high = middle - 1
    }
    return low
  }
  function read(offset, target) {
    for (let done = 0; done < target.length;) {
      last = find(offset + done)
      const part = chunks[last].subarray(offset + done - starts[last], offset + target.length - starts[last])
      target.set(part, done)
      done += part.length
    }
  }
  return { size, read, close() { chunks.length = 0 } }
}

async function fromStream(stream, report, signal) {
  const chunks = [], reader = stream.getReader()
  const stop = () => reader.cancel().catch(() => {})
  signal.addEventListener('abort', stop)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      signal.throwIfAborted()
      if (done) return fromChunks(chunks)
      chunks.push(value)
      report(value.length)
    }
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

async function fromBlob(blob, report, signal) {
  if (typeof FileReaderSync === 'undefined') return fromStream(blob.stream(), report, signal)
  const reader = new FileReaderSync()
  return fromWindow(blob.size, (at, length) => new Uint8Array(reader.readAsArrayBuffer(blob.slice(at, at + length))), () => {})
}

async function fromPath(path) {
  const { openSync, fstatSync, readSync, closeSync } = await builtin('fs')
  const file = openSync(path)
  const readAt = (at, length) => {
    const buffer = new Uint8Array(length)
    return buffer.subarray(0, readSync(file, buffer, 0, length, at))
  }
  return fromWindow(fstatSync(file).size, readAt, () => closeSync(file))
}

/** null where there is no such file. */
async function fromAddress(name, url, progress, signal) {
  if (inNode && url.startsWith('file:')) {
    const { fileURLToPath } = await builtin('url')
    return fromPath(fileURLToPath(url)).catch((error) => {
      if (error.code === 'ENOENT') return null
      throw error
    })
  }
  const response = await fetch(url, { signal })
  if (response.status === 404) return null
  if (!response.ok) throw new HeedError('IO', `${name}: the server did not give it (found HTTP ${response.status}, expected 200) at ${url}`)
  return fromStream(response.body, progress.file(Number(response.headers.get('content-length'))), signal)
}

/** Sums up what the files of one model report. */
function totals(report) {
  let done = 0, total = 0, known = true
  return {
    file(size) {
      if (size > 0) total += size
      else known = false
      return (bytes) => {
        done += bytes
        report({ phase: 'download', done, total: known ? Math.max(total, done) : 0 })
      }
    }
  }
}

async function openOne(name, value, progress, signal) {
  if (value instanceof Uint8Array) return fromBytes(value)
  if (value instanceof Blob) return fromBlob(value, progress.file(value.size), signal)
  if (typeof value === 'string') return fromAddress(name, value, progress, signal)
  return fromStream(value.stream, progress.file(value.size), signal)
}

async function isFolder(url) {
  if (url.endsWith('/')) return true
  if (!inNode || !url.startsWith('file:')) return false
  const { stat } = await builtin('fs/promises')
  return stat(new URL(url)).then((s) => s.isDirectory(), () => false)
}

async function openAll(wanted, progress, signal) {
  const opened = await Promise.allSettled(wanted.map(([name, value]) => openOne(name, value, progress, signal)))
  const files = opened.map((o, i) => ({ ...o.value, name: wanted[i][0] })).filter((file) => file.read)
  const failed = opened.find((o) => o.reason)
  if (!failed) return files
  for (const file of files) file.close()
  throw failed.reason
}

/* A folder says in its index which shards it has. */
async function openFolder(url, progress, signal) {
  const folder = url.endsWith('/') ? url : `${url}/`
  const small = await openAll(folderNames.slice(0, 3).map((name) => [name, folder + name]), progress, signal)
  const index = small.find((file) => file.name === folderNames[2])
  let shards = [folderNames[3]]
  if (index) {
    const text = new Uint8Array(index.size)
    index.read(0, text)
    shards = [...new Set(Object.values(JSON.parse(new TextDecoder().decode(text)).weight_map ?? {}))].filter((name) => !name.includes('/'))
  }
  return [...small, ...await openAll(shards.map((name) => [name, folder + name]), progress, signal)]
}

/** wanted: [[name, Uint8Array | Blob | address | { stream, size }], ...], or one address of a folder as [['', address]]. */
export async function openSources(wanted, report, signal) {
  const progress = totals(report)
  try {
    if (wanted.length === 1 && typeof wanted[0][1] === 'string' && await isFolder(wanted[0][1])) return await openFolder(wanted[0][1], progress, signal)
    const files = await openAll(wanted, progress, signal)
    const missing = wanted.find(([name]) => !files.some((file) => file.name === name))
    if (!missing) return files
    for (const file of files) file.close()
    throw new HeedError('IO', `${missing[0]}: it is not there (found nothing at ${missing[1]})`)
  } catch (error) {
    if (error instanceof HeedError) throw error
    if (signal.aborted) throw new HeedError('CANCELLED', 'model: cancelled by the caller')
    throw new HeedError('IO', `model: reading failed (found "${error.message}")`)
  }
}
