/* What loadModel takes, described so that it can be sent to a worker: { files: [[name, value],
 * ...], transfer }. */
import { HeedError, said } from './error.js'
import { builtin, inNode } from './host.js'
import { address, argument } from './options.js'
import { isArrayOf, isBlob, isBuffer, isKind, isResponse, isURL, ownBytes } from './realm.js'
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
 * The bytes of a Blob that is not the platform's own, as jsdom's: it has no stream and cannot be sent.
 * @param {Blob} blob
 * @returns {Promise<Uint8Array>}
 */
async function readWhole(blob) {
  const reader = new FileReader()
  await new Promise((resolve, reject) => {
    reader.onload = resolve
    reader.onerror = () => reject(reader.error)
    reader.readAsArrayBuffer(blob)
  })
  return new Uint8Array(/** @type {ArrayBuffer} */ (reader.result))
}

/**
 * @param {unknown} value
 * @param {Transferable[]} transfer
 * @returns {Promise<SendableFile>}
 */
async function describeOne(value, transfer) {
  if (isArrayOf(value, 'Uint8Array')) return ownBytes(/** @type {Uint8Array} */ (value))
  if (isBuffer(value)) return new Uint8Array(value)
  if (isBlob(value)) return typeof value.stream === 'function' ? value : readWhole(value)
  if (typeof value === 'string' || isURL(value)) return addressOf(value)
  if (!isResponse(value))
    throw new HeedError(
      'INVALID_ARGUMENT',
      `model: invalid source (found ${said(value)}, expected bytes, a Blob, a Response or a URL)`
    )
  if (!value.ok)
    throw new HeedError(
      'IO',
      `model: download failed (found HTTP ${value.status}, expected 200) at ${value.url}`
    )
  const { body } = value
  if (typeof body?.getReader !== 'function' || body.locked)
    throw new HeedError(
      'INVALID_ARGUMENT',
      `model: invalid source (found a Response ${body ? (body.locked ? 'that is being read' : 'of another library') : 'without a body'}, expected one to read)`
    )
  transfer.push(/** @type {ReadableStream} */ (body))
  return {
    stream: /** @type {SizedStream['stream']} */ (body),
    size: Number(value.headers.get('content-length'))
  }
}

/**
 * @param {Exclude<ModelFiles, FileSource>} source
 * @returns {[string, unknown][]}
 */
function listFiles(source) {
  if (isKind(source, 'Map')) return [.../** @type {Map<string, unknown>} */ (source)]
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
  isURL(source) ||
  isBuffer(source) ||
  isKind(source, 'SharedArrayBuffer') ||
  isBlob(source) ||
  isResponse(source) ||
  ArrayBuffer.isView(source)

/**
 * The name that a lone file goes by.
 * @param {FileSource} source
 */
function nameOf(source) {
  const name = isBlob(source)
    ? /** @type {File} */ (source).name
    : typeof source === 'string' || isURL(source)
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
