/* What this browser keeps until it is removed: models and pictures, each of one or more files, in
 * Cache Storage. Nothing is put there without a press. Headers of an answer say what it is part of:
 * x-heed-model (its key: an address, or own:…), x-heed-kind, x-heed-name and x-heed-file; names are
 * encoded, as headers hold ASCII alone. */
import { say } from '../../languages/say.js'
import type { KeptThing } from '../types.js'

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

/** Keeps one file of a thing. url: where it is from, or would be. */
export async function keepPart(
  {
    key,
    kind = 'model',
    name = '',
    file,
    url
  }: { key: string; kind?: 'model' | 'picture'; name?: string; file: string; url: string },
  body: Blob | ReadableStream<Uint8Array>
) {
  const headers = {
    'x-heed-model': key,
    'x-heed-kind': kind,
    'x-heed-name': encodeURIComponent(name),
    'x-heed-file': encodeURIComponent(file),
    'content-type': body instanceof Blob ? body.type : ''
  }
  await (await store()).put(url, new Response(body, { headers }))
}

/**
 * All of what `put` keeps under a key, or nothing of it.
 * @param name what it is called in a sentence
 */
export async function keepWhole<Result>(key: string, name: string, put: () => Promise<Result>) {
  try {
    return await put()
  } catch (error) {
    await remove(key).catch(() => {})
    if ((error as Error).name !== 'QuotaExceededError') throw error
    throw new Error(say('errors.noRoom', { name }))
  }
}

/** What was kept at an address. */
export const keptPart = async (url: string) => (await store()).match(url)

/** What is kept, in the order in which it was. */
export async function keptThings(): Promise<KeptThing[]> {
  const things: Map<string, KeptThing> = new Map()
  if (!(await caches.has(storeName))) return []
  for (const answer of await (await caches.open(storeName)).matchAll()) {
    const said = (name: string) => decodeURIComponent(answer.headers.get(`x-heed-${name}`) ?? ''),
      key = answer.headers.get('x-heed-model') as string,
      kind = said('kind') === 'picture' ? 'picture' : 'model',
      thing = things.get(key) ?? { key, kind, name: said('name'), size: 0, files: {} },
      blob = await answer.blob()
    thing.files[said('file')] = blob
    thing.size += blob.size
    things.set(key, thing)
  }
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
