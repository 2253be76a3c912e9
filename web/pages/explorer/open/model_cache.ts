/* Models by address: which files a folder has and how large they are; their bytes are kept
 * (kept_store.js). The page's policy (connect-src) says which servers it may ask: its own, unless
 * whoever serves it adds others. */

import '../controls/opened_advice.js'
import { fixed } from '../../plot/parts/numbers.js'
import { shardsOf } from '../../heed/shards.js'
import { isWeights } from '../../heed/weights.js'
import { say } from '../../languages/say.js'
import { digest } from '../../shared/weight_hashes.js'
import { keepPart, keepWhole, keptPart } from './kept_store.js'
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

/** Whether a policy lets the page ask an origin; policy: the text of a Content-Security-Policy. */
export function mayAsk(policy: string, origin: string, own: string) {
  const [, sources] = /connect-src ([^;]*)/.exec(policy) ?? []
  return (
    origin === own ||
    sources === undefined ||
    sources.split(/\s+/).some((source) => source === origin || source === '*')
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

async function keepFile(
  { address, name = '' }: ListedModel,
  file: ListedFile,
  onBytes: (count: number) => void,
  signal: AbortSignal
) {
  const { url, size, sha256 } = file,
    answer = await request(url, { signal })
  if (!answer.ok) throw new Error(say('address.status', { url, status: answer.status }))
  let found = 0
  const counted = (answer.body as ReadableStream<Uint8Array>).pipeThrough(
    new TransformStream({
      transform(part, to) {
        found += part.length
        onBytes(part.length)
        to.enqueue(part)
      }
    })
  )
  await keepPart({ key: address, name, file: file.name, url }, counted)
  if (size && found !== size) throw new Error(say('address.early', { url, found, expected: size }))
  if (sha256) await expectHash(file, sha256)
}

async function expectHash({ name, url }: ListedFile, expected: string) {
  const found = await digest(await ((await keptPart(url)) as Response).blob())
  if (found !== expected)
    throw new Error(
      say('address.otherHash', {
        name,
        found: found ? found.slice(0, 16) : say('address.tooLarge'),
        expected: expected.slice(0, 16)
      })
    )
}

/** Downloads what lookAt or the server's list found and keeps it; all of it or nothing. */
export async function download(
  model: ListedModel,
  onProgress: (progress: Progress) => void,
  signal: AbortSignal
) {
  let done = 0
  const onBytes = (bytes: number) =>
    onProgress({ phase: 'download', done: (done += bytes), total: model.size })
  await keepWhole(model.address, model.name ?? model.address, async () => {
    for (const file of model.files) await keepFile(model, file, onBytes, signal)
  })
}
