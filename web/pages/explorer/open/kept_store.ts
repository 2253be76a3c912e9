/* What this browser keeps until it is removed: models and pictures, each of one or more files, in
 * Cache Storage. Nothing is put there without a press. Headers of an answer say what it is part of:
 * x-heed-model (its key: an address, or own:…), x-heed-kind, x-heed-name and x-heed-file; names are
 * encoded, as headers hold ASCII alone. A large file lies in parts, x-heed-from says where in it. While a
 * download is not complete, an answer of the kind "unfinished" has the list of its files. */
import { say } from '../../languages/say.js'
import type { KeptThing, ListedModel } from '../types.js'

const storeName = 'heed-models'

/** A browser without a store, or one that refuses it to this page. */
export const refused = say('errors.keepsNothing')

async function store(): Promise<Cache> {
  try {
    return await caches.open(storeName)
  } catch {
    throw new Error(refused)
  }
}

type Kind = 'model' | 'picture' | 'unfinished'
interface Place {
  key: string
  kind?: Kind
  name?: string
  file: string
  url: string
  /** Of a part: its first byte. */
  from?: number
  /** Of a part: what the server said of the file's last change. */
  changed?: string
}

/** Where a part of a file lies. */
export function partAddress(url: string, from: number) {
  const address = new URL(url)
  address.searchParams.set('heed-part', String(from))
  return address.href
}

/** Keeps one file of a thing, or a part of one. url: where it is from, or would be. */
export async function keepPart(
  { key, kind = 'model', name = '', file, url, from, changed = '' }: Place,
  body: Blob | ReadableStream<Uint8Array>
) {
  const headers = {
    'x-heed-model': key,
    'x-heed-kind': kind,
    'x-heed-name': encodeURIComponent(name),
    'x-heed-file': encodeURIComponent(file),
    'content-type': body instanceof Blob ? body.type : '',
    ...(from !== undefined && { 'x-heed-from': String(from), 'x-heed-changed': changed })
  }
  await (await store()).put(
    from === undefined ? url : partAddress(url, from),
    new Response(body, { headers })
  )
}

/** Where the list of an unfinished download lies. */
const listAddress = (key: string) =>
  new URL(`unfinished/${encodeURIComponent(key)}`, document.baseURI).href

/** Before a download: what it is of, so that it can go on another day. */
export const keepList = (model: ListedModel) =>
  keepPart(
    {
      key: model.address,
      kind: 'unfinished',
      name: model.name,
      file: '',
      url: listAddress(model.address)
    },
    new Blob([JSON.stringify(model)])
  )

export const isUnfinished = async (key: string) => Boolean(await keptPart(listAddress(key)))

export const dropList = async (key: string) => (await store()).delete(listAddress(key))

/**
 * All of what `put` keeps under a key, or nothing of it.
 * @param name what it is called in a sentence
 * @param stays whether what came before an error is left, to go on from
 */
export async function keepWhole<Result>(
  key: string,
  name: string,
  put: () => Promise<Result>,
  stays: (error: Error) => Promise<boolean> = async () => false
) {
  try {
    return await put()
  } catch (thrown) {
    const error = thrown as Error,
      isFull = error.name === 'QuotaExceededError'
    if (isFull || !(await stays(error).catch(() => false))) await remove(key).catch(() => {})
    throw isFull ? new Error(say('errors.noRoom', { name })) : error
  }
}

/** Whether a part of a file of this thing is kept that a download can go on from: whose last change is known, so
 * that it is not joined to parts of another file. */
export async function hasParts(key: string) {
  const answers = await (await store()).matchAll()
  return answers.some(
    ({ headers }) => headers.get('x-heed-model') === key && headers.get('x-heed-changed')
  )
}

/** What was kept at an address. */
export const keptPart = async (url: string) => (await store()).match(url)

/** The file's parts in their order, as one; they are not copied. */
const joined = (parts: [from: number, part: Blob][]) =>
  new Blob(parts.sort(([a], [b]) => a - b).map(([, part]) => part))

/** What is kept, in the order in which it was. */
export async function keptThings(): Promise<KeptThing[]> {
  const things: Map<string, KeptThing> = new Map(),
    parts: Map<KeptThing, Map<string, [number, Blob][]>> = new Map()
  if (!(await caches.has(storeName))) return []
  for (const answer of await (await caches.open(storeName)).matchAll()) {
    const said = (name: string) => decodeURIComponent(answer.headers.get(`x-heed-${name}`) ?? ''),
      key = answer.headers.get('x-heed-model') as string,
      thing = things.get(key) ?? { key, kind: 'model', name: said('name'), size: 0, files: {} }
    things.set(key, thing)
    if (said('kind') === 'unfinished') {
      thing.unfinished = await answer.json()
      continue
    }
    const blob = await answer.blob(),
      file = said('file')
    thing.kind = said('kind') === 'picture' ? 'picture' : 'model'
    thing.size += blob.size
    if (!said('from')) {
      thing.files[file] = blob
      continue
    }
    const files = parts.get(thing) ?? new Map<string, [number, Blob][]>(),
      ofFile = files.get(file) ?? []
    parts.set(thing, files.set(file, ofFile))
    ofFile.push([Number(said('from')), blob])
  }
  for (const [thing, files] of parts)
    for (const [file, ofFile] of files) thing.files[file] = joined(ofFile)
  return [...things.values()]
}

export async function remove(key: string) {
  const cache = await store()
  for (const request of await cache.keys())
    if ((await cache.match(request))?.headers.get('x-heed-model') === key)
      await cache.delete(request)
  if (!(await cache.keys()).length) await caches.delete(storeName)
}

/** Asks the browser to remove nothing by itself; false: it may, where the disk is full. */
export const askToStay = () => navigator.storage?.persist?.().catch(() => false) ?? false
