/* The demo model's files, fetched while the runtime starts. The weights come deflated where the
 * browser inflates them: hosts compress no such files. The page says how large they are and what
 * their SHA-256 is (put there by web/build/pages.js), so a copy that the browser keeps is taken
 * at once where it is the right one, and what is not of this page's version is fetched again past
 * every cache. Without a network a kept copy is what there is. */
import { say } from '../languages/say.js'
import type { FetchOptions, LoadOptions } from './types.js'

/** The SHA-256 of a Blob in digits; null where the browser works none out (a page that is not from
 * https or localhost). */
export async function sha256(blob: Blob) {
  if (!globalThis.crypto?.subtle) return null
  return Array.from(
    new Uint8Array(await crypto.subtle.digest('SHA-256', await blob.arrayBuffer())),
    (byte) => byte.toString(16).padStart(2, '0')
  ).join('')
}

const failed = (status: string, message: string) => Object.assign(new Error(message), { status })

/** What early.ts asked for, once; nothing where a copy was kept. */
function taken({ href }: URL, signal?: AbortSignal) {
  const { early } = globalThis
  if (early?.address !== href) return
  globalThis.early = undefined
  signal?.addEventListener('abort', () => early.stop.abort(signal.reason))
  return early.answer
}

async function fromNetwork(address: URL, { cache, signal, onBytes = () => {} }: FetchOptions) {
  const answer = (await taken(address, signal)) ?? (await fetch(address, { cache, signal }))
  if (!answer.ok)
    throw failed('IO', say('address.status', { url: address.pathname, status: answer.status }))
  const counted = (answer.body as ReadableStream<Uint8Array>).pipeThrough(
    new TransformStream({
      transform(part, to) {
        onBytes(part.length)
        to.enqueue(part)
      }
    })
  )
  return new Response(counted).blob()
}

/** Of all that is kept: the service worker's files of this version and of others. */
async function fromKept(address: URL) {
  try {
    return (await caches.match(address.href, { ignoreSearch: true, ignoreVary: true }))?.blob()
  } catch {
    /* none, or not for this page, as in a sandboxed frame */
  }
}

async function networkOrKept(address: URL, options: FetchOptions) {
  try {
    return await fromNetwork(address, options)
  } catch (error) {
    if (options.signal?.aborted) throw failed('CANCELLED', 'model: cancelled')
    const kept = await fromKept(address)
    if (kept) return kept
    throw (error as { status?: string }).status
      ? error
      : failed(
          'IO',
          say('errors.network', {
            path: address.pathname,
            found: (error as Error).message
          })
        )
  }
}

async function weights(plain: URL, { onProgress, signal, onMismatch }: LoadOptions) {
  const [bytes, sum] = (
      document.querySelector('meta[name=demo-weights]') as HTMLMetaElement
    ).content.split(' '),
    deflated = 'DecompressionStream' in globalThis,
    address = deflated ? new URL(`${plain}.deflate`) : plain
  let found = 'none'
  /** The weights, where they are those of this page. */
  const opened = async (blob: Blob) => {
    try {
      const whole = deflated
        ? await new Response(
            blob.stream().pipeThrough(new DecompressionStream('deflate-raw'))
          ).blob()
        : blob
      found = (await sha256(whole)) ?? sum
      return found === sum && whole
    } catch {
      /* cut, or spoiled */
    }
  }
  const kept = await fromKept(address)
  let whole = kept && (await opened(kept))
  for (const cache of ['default', 'reload'] as RequestCache[]) {
    if (whole) return whole
    if (cache === 'reload') onMismatch?.()
    let done = 0
    whole = await opened(
      await networkOrKept(address, {
        cache,
        signal,
        onBytes: (part) =>
          onProgress?.({
            phase: 'download',
            done: (done += part),
            total: Math.max(Number(bytes), done)
          })
      })
    )
  }
  if (whole) return whole
  throw failed(
    'MISMATCH',
    say('errors.otherVersion', {
      path: address.pathname,
      found: found.slice(0, 16),
      expected: sum.slice(0, 16)
    })
  )
}

const fetched: Map<string, Blob> = new Map()

/** What is at an address: as it was fetched for the runtime, where it was. */
export const blobAt = async (address: URL | string): Promise<Blob> =>
  fetched.get(String(address)) ?? (await fetch(address, { cache: 'force-cache' })).blob()

/** { weights, config, preprocessor } as Blobs, from their addresses. onMismatch: called before the
 * weights are fetched again. */
export async function fetchModel(
  source: { weights: URL; config: URL; preprocessor: URL },
  options: LoadOptions
): Promise<Record<string, Blob>> {
  const files = Object.entries(source).map(async ([name, address]) => {
    const blob =
      fetched.get(address.href) ??
      (await (name === 'weights'
        ? weights(address, options)
        : networkOrKept(address, { signal: options.signal })))
    fetched.set(address.href, blob)
    return [name, blob]
  })
  return Object.fromEntries(await Promise.all(files))
}
