/* What loadModel takes, described so that it can be sent to a worker: { files: [[name, value],
 * ...], transfer }. */
import { HeedError, said } from './error.js'
import { builtin, inNode } from './host.js'
import { address, argument } from './options.js'
import { isArrayOf, isBlob, isBuffer, isKind, isResponse, isURL, ownBytes } from './realm.js'
import { isWeights } from './weights.js'
import type { NamedSource, SendableFile, SizedStream } from '../types/library.js'
import type { FileSource, ModelFiles, ModelSource } from 'heed'

const roles: Record<string, string> = {
  weights: 'model.safetensors',
  config: 'config.json',
  preprocessor: 'preprocessor_config.json',
  processor: 'processor_config.json'
}

/** An address as text; in Node what is not a URL is a path. */
async function addressOf(value: string | URL) {
  if (inNode && !/^[a-z][a-z0-9+.-]+:/i.test(value as string))
    return (await builtin('url')).pathToFileURL(argument('loadModel', 'the address', value, 'Name'))
      .href
  return address('loadModel', 'the address', value).href
}

/**
 * The bytes of a Blob that is not the platform's own, as jsdom's: it has no stream and cannot be sent.
 */
async function readWhole(blob: Blob): Promise<Uint8Array> {
  const reader = new FileReader()
  await new Promise((resolve, reject) => {
    reader.onload = resolve
    reader.onerror = () => reject(reader.error)
    reader.readAsArrayBuffer(blob)
  })
  return new Uint8Array(reader.result as ArrayBuffer)
}

async function describeOne(value: unknown, transfer: Transferable[]): Promise<SendableFile> {
  if (isArrayOf(value, 'Uint8Array')) return ownBytes(value as Uint8Array)
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
  transfer.push(body as ReadableStream)
  return {
    stream: body as SizedStream['stream'],
    size: Number(value.headers.get('content-length')),
    address: value.url
  }
}

function listFiles(source: Exclude<ModelFiles, FileSource>): [string, unknown][] {
  if (isKind(source, 'Map')) return [...(source as Map<string, unknown>)]
  if (typeof (source as Iterable<File>)[Symbol.iterator] === 'function')
    return [...(source as Iterable<File>)].map((file) => [file?.name, file])
  return Object.entries(source)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [roles[name] ?? name, value])
}

const isOne = (source: ModelSource): source is FileSource =>
  !source ||
  typeof source !== 'object' ||
  isURL(source) ||
  isBuffer(source) ||
  isKind(source, 'SharedArrayBuffer') ||
  isBlob(source) ||
  isResponse(source) ||
  ArrayBuffer.isView(source)

/** The name that a lone file goes by. */
function nameOf(source: FileSource) {
  const name = isBlob(source)
    ? (source as File).name
    : typeof source === 'string' || isURL(source)
      ? String(source).split(/[?#]/)[0].split('/').pop()
      : undefined
  return name && isWeights(name) ? name : roles.weights
}

/** @param file of the folder that the source is */
/** What the caller says of a model, as the files that the module reads it from. */
export const toldFiles = (told: Record<string, object | undefined>): NamedSource[] =>
  Object.entries(told).flatMap(([name, value]): NamedSource[] =>
    value ? [[name, new TextEncoder().encode(JSON.stringify(value))]] : []
  )

export async function describeFiles(source: ModelSource, file?: string) {
  if (file) source = new URL(file, (await addressOf(source as string | URL)).replace(/\/?$/, '/'))
  const transfer: Transferable[] = [],
    files: NamedSource[] = []
  for (const [name, value] of isOne(source) ? [[nameOf(source), source]] : listFiles(source))
    files.push([
      argument('loadModel', 'the name', name, 'Name'),
      await describeOne(value, transfer)
    ])
  return { files, transfer }
}
