/* Models by address: which files a folder has and how large they are; their bytes are kept
 * (kept_store.js), those of large files in parts, so that a download that was stopped goes on. The page's policy (connect-src) says which servers it may ask: its own, unless
 * whoever serves it adds others. */

import '../controls/opened_advice.js'
import { fixed } from '../../plot/parts/numbers.js'
import { shardsOf } from '../../heed/shards.js'
import { isWeights } from '../../heed/weights.js'
import { say } from '../../languages/say.js'
import { digest } from '../../shared/weight_hashes.js'
import {
  dropList,
  hasParts,
  isUnfinished,
  keepList,
  keepPart,
  keepWhole,
  keptPart,
  partAddress,
  remove
} from './kept_store.js'
export type ListedFile = ListedModel['files'][0]
import type { ListedModel } from '../types.js'
import type { Progress } from 'heed'

/* Of a folder: one file of weights, or the index of its shards; the first that is there. */
const singles = ['model.safetensors', 'pytorch_model.bin'],
  /* where no config says that it is a model's: nothing else is asked for, as what is not there is an error on the console */
  ofNoConfig = [...singles, 'model.onnx'],
  /* where there is neither */
  ofOpenClip = ['open_clip_model.safetensors', 'open_clip_pytorch_model.bin'],
  small = [
    'preprocessor_config.json',
    'processor_config.json',
    'README.md' /* the model card: its licence */
  ],
  configs = ['config.json', 'open_clip_config.json']

export const megabytes = (bytes: number) =>
  bytes < 5e4 ? `${fixed(bytes / 1e3, 1)} KB` : `${fixed(bytes / 1e6, 1)} MB`

/** Bytes of a part of a file. */
const partBytes = 1 << 24

/** Whether a source of a policy is of an origin: itself, or with `https://*.` all below a name. */
function covers(source: string, origin: string) {
  const [, scheme, below] = /^(https?:\/\/)\*(\..+)$/.exec(source) ?? []
  return (
    source === origin || source === '*' || (origin.startsWith(scheme) && origin.endsWith(below))
  )
}

/** Whether a policy lets the page ask an origin; policy: the text of a Content-Security-Policy. */
export function mayAsk(policy: string, origin: string, own: string) {
  const [, sources] = /connect-src ([^;]*)/.exec(policy) ?? []
  return (
    origin === own ||
    sources === undefined ||
    sources.split(/\s+/).some((source) => covers(source, origin))
  )
}

/** Throws where the page may not ask for it. */
export function ask(url: URL) {
  const policy =
      (document.querySelector('meta[http-equiv=Content-Security-Policy]') as HTMLMetaElement | null)
        ?.content ?? '',
    { origin } = new URL(url)
  if (!mayAsk(policy, origin, location.origin)) throw new Error(say('address.policy', { origin }))
}

async function request(url: string, options?: RequestInit) {
  try {
    return await fetch(url, options)
  } catch (error) {
    if (options?.signal?.aborted) throw error
    throw new Error(say('address.noAnswer', { url }))
  }
}

/** { name, url, size } of a file, size 0 where the server does not say it; null where there is
 * none. */
async function look(
  folder: URL,
  name: string,
  path: string = name
): Promise<ListedModel['files'][0] | null> {
  const url = new URL(path, folder).href,
    answer = await request(url, { method: 'HEAD' })
  if (answer.status === 404) return null
  if (!answer.ok && answer.status !== 405)
    throw new Error(say('address.status', { url, status: answer.status }))
  return {
    name,
    url,
    size: answer.headers.has('content-encoding') ? 0 : Number(answer.headers.get('content-length'))
  }
}

async function shards({ name, url }: ListedModel['files'][0]) {
  const bytes = new Uint8Array(await (await request(url)).arrayBuffer())
  return shardsOf(bytes.length, () => bytes, name)
}

/** The weights of a folder, or the index of their shards; null where there are none. One by one, as above. */
async function weightsOf(folder: URL, config: ListedFile | null) {
  if (!config) return firstOf(folder, ofNoConfig)
  return (
    (await firstOf(
      folder,
      singles.flatMap((single) => [single, `${single}.index.json`])
    )) ??
    ((config.name === configs[1] || (await look(folder, configs[1]))) &&
      (await firstOf(folder, ofOpenClip))) ??
    (await onnxOf(folder))
  )
}

/** Of a folder without other weights its ONNX file, also in onnx/ as transformers.js has it. */
async function onnxOf(folder: URL) {
  const { names } = await import('../../heed/onnx_files.js')
  for (const name of names)
    for (const path of [name, `onnx/${name}`]) {
      const found = await look(folder, name, path)
      if (found) return found
    }
  return null
}

/** The external data of an ONNX file by the names that exporters give it. */
async function dataOf({ name, url }: ListedFile) {
  const files: ListedFile[] = [],
    folder = new URL('.', url)
  if (!/\.onnx$/i.test(name)) return files
  for (let i = 0; ; i++) {
    const found = await look(folder, `${name}_data${i ? `_${i}` : ''}`)
    if (!found) return files
    files.push(found)
  }
}

/** The config beside a file or in a folder, and the folder of the small files: of an ONNX file in onnx/ the one
 * above, where it has none beside it. */
async function configOf(url: URL) {
  const folder = new URL('.', url),
    config = await firstOf(folder, configs)
  if (config || !/\/onnx\/[^/]*\.onnx$/i.test(url.pathname)) return { config, beside: folder }
  const beside = new URL('..', folder)
  return { config: await firstOf(beside, configs), beside }
}

/** The first of these files that a folder has. */
async function firstOf(folder: URL, names: string[]) {
  for (const name of names) {
    const found = await look(folder, name)
    if (found) return found
  }
  return null
}

/** What an address holds: a folder (config.json, weights or their shards), or one file of weights
 * with the small files beside it. Nothing is downloaded yet but an index. Resolves to { address,
 * files, size, sha256 }; size 0 where a server does not say all. An address that ends in #sha256=…
 * says what the file of weights must be. */
export async function lookAt(text: string) {
  const url = new URL(text, document.baseURI),
    lone = isWeights(url.pathname)
  ask(url)
  const sha256 = /^#sha256=([0-9a-f]{64})$/i.exec(url.hash)?.[1].toLowerCase() ?? null
  if (url.hash && !sha256) throw new Error(say('address.noHash', { hash: url.hash }))
  url.hash = ''
  if (!lone && !url.pathname.endsWith('/')) url.pathname += '/'
  const folder = new URL('.', url),
    name = lone ? (url.pathname.split('/').pop() as string) : singles[0],
    alone = lone && ((await look(folder, name)) ?? missing(folder, name)),
    { config, beside } = await configOf(url),
    found = alone || ((await weightsOf(folder, config)) ?? missing(folder, name)),
    data = await dataOf(found),
    files = [config, ...(await Promise.all(small.map((file) => look(beside, file))))].filter(
      (file) => !!file
    ),
    weights = isWeights(found.name)
  files.push(found, ...data)
  if (!weights)
    files.push(
      ...(await Promise.all(
        (
          await shards(found)
        ).map(
          async (shard) =>
            (await look(folder, shard, encodeURIComponent(shard))) ?? missing(folder, shard)
        )
      ))
    )
  if (sha256 && (!weights || data.length))
    throw new Error(say('address.hashOfOne', { url: url.href }))
  if (sha256) found.sha256 = sha256
  return {
    address: url.href,
    files,
    size: files.every(({ size }) => size > 0) ? files.reduce((sum, { size }) => sum + size, 0) : 0
  }
}

function missing(folder: URL, name: string): never {
  throw new Error(say('address.missing', { folder: folder.href, name }))
}

/** Errors after which nothing that came can be used. */
const spoiled = new WeakSet<Error>()
function spoil(text: string): never {
  const error = new Error(text)
  spoiled.add(error)
  throw error
}

/** A body whose bytes are told. */
function counted({ body }: Response, onBytes: (count: number) => void) {
  const sum = { found: 0 },
    stream = (body as ReadableStream<Uint8Array>).pipeThrough(
      new TransformStream({
        transform(part, to) {
          sum.found += part.length
          onBytes(part.length)
          to.enqueue(part)
        }
      })
    )
  return { stream, sum }
}

type Onward = { onBytes: (count: number) => void; signal: AbortSignal }

async function keepAll(model: ListedModel, file: ListedFile, { onBytes, signal }: Onward) {
  const { address, name = '', kind } = model,
    { url, size } = file,
    answer = await request(url, { signal })
  if (!answer.ok) throw new Error(say('address.status', { url, status: answer.status }))
  const { stream, sum } = counted(answer, onBytes)
  await keepPart({ key: address, kind, name, file: file.name, url }, stream)
  if (size && sum.found !== size)
    throw new Error(say('address.early', { url, found: sum.found, expected: size }))
}

/** Part after part, but those that are kept. Resolves to whether the server gives parts. */
async function keepParts(model: ListedModel, file: ListedFile, { onBytes, signal }: Onward) {
  const { address, name = '', kind } = model,
    { url, size } = file
  let before: string | null = null // what the server said of the file's last change
  for (let from = 0; from < size; from += partBytes) {
    const expected = Math.min(partBytes, size - from),
      kept = await keptPart(partAddress(url, from)),
      keptChange = kept?.headers.get('x-heed-changed')
    if (keptChange) {
      before = keptChange
      onBytes(expected)
      continue
    }
    const range = `bytes=${from}-${from + expected - 1}`,
      answer = await request(url, { signal, headers: { range } }).catch((error) => {
        if (from || signal.aborted) throw error
        return null // a server may refuse the header to other pages
      })
    if (answer?.status !== 206) {
      await answer?.body?.cancel()
      if (answer && !answer.ok)
        throw new Error(say('address.status', { url, status: answer.status }))
      return from ? spoil(say('address.changed', { url })) : false
    }
    const changed = answer.headers.get('last-modified') ?? ''
    if (before !== null && before !== changed) spoil(say('address.changed', { url }))
    before = changed
    const { stream, sum } = counted(answer, onBytes),
      part = await new Response(stream).blob()
    if (sum.found !== expected)
      throw new Error(say('address.early', { url, found: from + sum.found, expected: size }))
    await keepPart({ key: address, kind, name, file: file.name, url, from, changed }, part)
  }
  return true
}

async function keepFile(model: ListedModel, file: ListedFile, onward: Onward) {
  const { url, size, sha256, name } = file
  if (await keptPart(url)) return onward.onBytes(size) // of the download before
  const inParts = size > partBytes && (await keepParts(model, file, onward))
  if (!inParts) await keepAll(model, file, onward)
  if (!sha256) return
  const found = await digest(await wholeOf(file, inParts))
  if (found !== sha256)
    spoil(
      say('address.otherHash', {
        name,
        found: found ? found.slice(0, 16) : say('address.tooLarge'),
        expected: sha256.slice(0, 16)
      })
    )
}

async function wholeOf({ url, size }: ListedFile, inParts: boolean) {
  const places = inParts
    ? Array.from({ length: Math.ceil(size / partBytes) }, (_, i) => partAddress(url, i * partBytes))
    : [url]
  return new Blob(
    await Promise.all(places.map(async (place) => ((await keptPart(place)) as Response).blob()))
  )
}

/**
 * Downloads what lookAt or the server's list found and keeps it. Where it is stopped, or ends early, the
 * parts of large files that came stay, and the next download of it goes on from there; else nothing does.
 */
export async function download(
  model: ListedModel,
  onProgress: (progress: Progress) => void,
  signal: AbortSignal
) {
  let done = 0
  const onBytes = (bytes: number) =>
    onProgress({ phase: 'download', done: (done += bytes), total: model.size })
  await keepWhole(
    model.address,
    model.name ?? model.address,
    async () => {
      if (!(await isUnfinished(model.address))) await remove(model.address)
      await keepList(model)
      for (const file of model.files) await keepFile(model, file, { onBytes, signal })
      await dropList(model.address)
    },
    async (error) => !spoiled.has(error) && (await hasParts(model.address))
  )
}
