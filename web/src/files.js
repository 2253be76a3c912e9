/* What loadModel takes, described so that it can be sent to a worker: { files: [[name, value],
 * ...], transfer }. */
import { HeedError, said } from './error.js'
import { builtin, inNode } from './host.js'
import { address, argument } from './options.js'
import { isWeights } from './weights.js'
/** @import {NamedSource, SendableFile, SizedStream} from '../types/library.js' */
/** @import {FileSource, ModelFiles, ModelSource} from './index.js' */

/** @type {Record<string, string>} */
const roles = {
  weights: 'model.safetensors',
  config: 'config.json',
  preprocessor: 'preprocessor_config.json',
  processor: 'processor_config.json'
}

/**
 * An address as text; in Node what is not a URL is a path.
 * @param {string | URL} value
 */
async function addressOf(value) {
  if (inNode && !/^[a-z][a-z0-9+.-]+:/i.test(/** @type {string} */ (value)))
    return (await builtin('url')).pathToFileURL(argument('loadModel', 'the address', value, 'Name'))
      .href
  return address('loadModel', 'the address', value).href
}

/**
 * @param {unknown} value
 * @param {Transferable[]} transfer
 * @returns {Promise<SendableFile>}
 */
async function describeOne(value, transfer) {
  if (value instanceof Uint8Array) return value
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  if (value instanceof Blob) return value
  if (typeof value === 'string' || value instanceof URL) return addressOf(value)
  if (!(value instanceof Response))
    throw new HeedError(
      'INVALID_ARGUMENT',
      `model: invalid source (found ${said(value)}, expected bytes, a Blob, a Response or a URL)`
    )
  if (!value.ok)
    throw new HeedError(
      'IO',
      `model: download failed (found HTTP ${value.status}, expected 200) at ${value.url}`
    )
  const size = Number(value.headers.get('content-length'))
  transfer.push(/** @type {ReadableStream} */ (value.body))
  return { stream: /** @type {SizedStream['stream']} */ (value.body), size }
}

/**
 * @param {Exclude<ModelFiles, FileSource>} source
 * @returns {[string, unknown][]}
 */
function listFiles(source) {
  if (source instanceof Map) return [...source]
  if (typeof (/** @type {Iterable<File>} */ (source)[Symbol.iterator]) === 'function')
    return [.../** @type {Iterable<File>} */ (source)].map((file) => [file?.name, file])
  return Object.entries(source)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [roles[name] ?? name, value])
}

/**
 * @param {ModelSource} source
 * @returns {source is FileSource}
 */
const isOne = (source) =>
  !source ||
  typeof source !== 'object' ||
  source instanceof URL ||
  source instanceof ArrayBuffer ||
  source instanceof Blob ||
  source instanceof Response ||
  ArrayBuffer.isView(source)

/**
 * The name that a lone file goes by.
 * @param {FileSource} source
 */
function nameOf(source) {
  const name =
    source instanceof Blob
      ? /** @type {File} */ (source).name
      : typeof source === 'string' || source instanceof URL
        ? String(source).split(/[?#]/)[0].split('/').pop()
        : undefined
  return name && isWeights(name) ? name : roles.weights
}

/**
 * @param {ModelSource} source
 * @param {string} [file] of the folder that the source is
 */
export async function describeFiles(source, file) {
  if (file)
    source = new URL(file, (await addressOf(/** @type {string} */ (source))).replace(/\/?$/, '/'))
  const transfer = /** @type {Transferable[]} */ ([]),
    files = /** @type {NamedSource[]} */ ([])
  for (const [name, value] of isOne(source) ? [[nameOf(source), source]] : listFiles(source))
    files.push([
      argument('loadModel', 'the name', name, 'Name'),
      await describeOne(value, transfer)
    ])
  return { files, transfer }
}
