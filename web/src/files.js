/* What loadModel takes, described so that it can be sent to a worker: { files: [[name, value], ...], transfer }. */
import { HeedError } from './error.js'
import { builtin, inNode } from './host.js'

const roles = { weights: 'model.safetensors', config: 'config.json', preprocessor: 'preprocessor_config.json' }

/** An address as text; in Node what is not a URL is a path. */
async function address(value) {
  if (value instanceof URL) return value.href
  if (inNode && !/^[a-z][a-z0-9+.-]+:/i.test(value)) return (await builtin('url')).pathToFileURL(value).href
  return new URL(value, globalThis.location?.href).href
}

async function describeOne(value, transfer) {
  if (value instanceof Uint8Array) return value
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  if (value instanceof Blob) return value
  if (typeof value === 'string' || value instanceof URL) return address(value)
  if (!(value instanceof Response))
    throw new HeedError('INVALID_ARGUMENT', `model: this is no file (found ${value?.constructor?.name ?? value}, expected bytes, a Blob, a Response or an address)`)
  if (!value.ok) throw new HeedError('IO', `model: the server did not give it (found HTTP ${value.status}, expected 200) at ${value.url}`)
  const size = Number(value.headers.get('content-length'))
  transfer.push(value.body)
  return { stream: value.body, size }
}

function listFiles(source) {
  if (source instanceof Map) return [...source]
  if (typeof source[Symbol.iterator] === 'function') return [...source].map((file) => [file.name, file])
  return Object.entries(source).filter(([, value]) => value !== undefined).map(([name, value]) => [roles[name] ?? name, value])
}

const isOne = (source) =>
  typeof source === 'string' || source instanceof URL || source instanceof Uint8Array || source instanceof ArrayBuffer || source instanceof Blob || source instanceof Response

/** The name that a lone file goes by. */
function nameOf(source) {
  const name = source instanceof Blob ? source.name : typeof source === 'string' || source instanceof URL ? String(source).split(/[?#]/)[0].split('/').pop() : undefined
  return name?.endsWith('.safetensors') ? name : roles.weights
}

export async function describeFiles(source) {
  if (source === null || source === undefined) throw new HeedError('INVALID_ARGUMENT', `model: there is no source (found ${source}, expected bytes, files or an address)`)
  const transfer = []
  const files = []
  for (const [name, value] of isOne(source) ? [[nameOf(source), source]] : listFiles(source)) files.push([name, await describeOne(value, transfer)])
  return { files, transfer }
}
