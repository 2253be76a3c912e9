/* Keeps this site's own files, so that its pages work without a network after the first visit; and,
 * where someone asked for threads on the page of measurements, adds the headers that threads need.
 * The build defines `version`, `files` and `languages` (web/build/offline.js). Of other languages than English those are kept that the browser asks for, or that
 * somebody opens a page in. The
 * network comes first, but for names that hold a hash of what is in them: a page and the module it
 * loads are always of one version. A new version waits until the last page of the one before is
 * closed, so that those keep their files. No page is claimed: that waits for every worker of it,
 * and a thread that waits for work answers nobody (Firefox then never calls this worker active, and
 * pages stop loading). */

const kept = `heed-${version}`,
  settings = 'heed-settings',
  threadsMark = new URL('threads', registration.scope).href
const isolation = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin'
}
let threads = caches
  .open(settings)
  .then((cache) => cache.match(threadsMark))
  .then(Boolean)

const asked = navigator.languages.map((name) => name.slice(0, 2))

async function keep(names: string[]) {
  const cache = await caches.open(kept)
  await cache.addAll(names.map((file) => new Request(file, { cache: 'no-cache' })))
}

/** The files of the language that a page is in, where they are not kept. */
async function keepLanguage(page: string) {
  const [, language = ''] = /\.(\w+)\.html$/.exec(page) ?? []
  if (languages[language] && !(await (await caches.open(kept)).match(languages[language][0])))
    await keep(languages[language])
}

async function forgetOthers() {
  for (const name of await caches.keys())
    if (/^heed-[0-9a-f]{16}$/.test(name) && name !== kept) await caches.delete(name)
}

async function setThreads(wanted: boolean) {
  const cache = await caches.open(settings)
  if (wanted) await cache.put(threadsMark, new Response('on'))
  else await cache.delete(threadsMark)
  threads = Promise.resolve(wanted)
}

function isolated(answer: Response) {
  if (answer.status === 0 || answer.type === 'opaqueredirect') return answer
  const headers = new Headers(answer.headers)
  for (const [name, value] of Object.entries(isolation)) headers.set(name, value)
  return new Response(answer.body, {
    status: answer.status,
    statusText: answer.statusText,
    headers
  })
}

async function inflated({ body, headers }: Response) {
  const stream = (body as ReadableStream).pipeThrough(new DecompressionStream('deflate-raw')),
    blob = await new Response(stream).blob(),
    all = new Headers(headers)
  all.set('Content-Length', String(blob.size)) // the library asks for it
  return new Response(blob, { headers: all })
}

/** What was kept, or kept deflated; /learn is learn.html, as static hosts have it. */
async function fromKept(request: Request) {
  const cache = await caches.open(kept),
    options = { ignoreSearch: true, ignoreVary: true }
  const deflated = await cache.match(`${request.url}.deflate`, options)
  if (deflated) return inflated(deflated)
  return (
    (await cache.match(request, options)) ??
    (request.mode === 'navigate'
      ? cache.match(`${new URL(request.url).pathname}.html`, options)
      : undefined)
  )
}

const ofGpu = /\/(heed-gpu\.wasm|gpu-\w+\.deflate|gpu_side-\w+\.js)$/ // kept once somebody has asked for them
const named = /-([0-9A-Z]{8}|[0-9a-f]{8})\.js$/ // what a name with a hash stands for is never another thing

async function find(request: Request) {
  const before = named.test(new URL(request.url).pathname) && (await fromKept(request))
  if (before) return before
  try {
    const answer = await fetch(request)
    if (answer.ok && ofGpu.test(new URL(request.url).pathname))
      (await caches.open(kept)).put(request, answer.clone()).catch(() => {})
    return answer.status === 404 ? ((await fromKept(request)) ?? answer) : answer // a page of the version before asks for its own parts
  } catch (error) {
    const answer = await fromKept(request)
    if (!answer) throw error
    return answer
  }
}

async function answerTo(request: Request) {
  const answer = await find(request)
  return (await threads) ? isolated(answer) : answer
}

addEventListener('install', (event) =>
  event.waitUntil(keep([...files, ...asked.flatMap((language) => languages[language] ?? [])]))
)
addEventListener('activate', (event) => event.waitUntil(forgetOthers()))
addEventListener('message', (event) =>
  event.waitUntil(setThreads(event.data.threads).then(() => event.ports[0].postMessage('done')))
)
addEventListener('fetch', (event) => {
  const { request } = event
  if (request.method !== 'GET' || new URL(request.url).origin !== location.origin) return
  if (request.cache === 'only-if-cached' && request.mode !== 'same-origin') return
  event.respondWith(answerTo(request))
  if (request.mode === 'navigate')
    event.waitUntil(keepLanguage(new URL(request.url).pathname).catch(() => {})) // without a network another time
})
