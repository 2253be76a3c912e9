/* What differs between browsers and Node: built-in modules, cores, reading files and starting
 * workers. */

/** @import {Builtins, Reply, WorkerHandle} from '../types/library.js' */

export const inNode =
  typeof process === 'object' && !!process.versions?.node && process.type !== 'renderer'

/** The pages' own copy, from whose bundle is left out what only other users of the library need. */
export const inPages = /** @type {boolean} */ (false)

/**
 * A built-in module of Node; the name is put together here so that bundlers for browsers leave it
 * alone.
 * @template {keyof Builtins} Name
 * @param {Name} name
 * @returns {Promise<Builtins[Name]>}
 */
export const builtin = (name) => import(/* @vite-ignore */ /* webpackIgnore: true */ `node:${name}`)

/** Whether this thread may block in Atomics.wait: a browser's window may not. */
export const mayWait = () => inNode || !globalThis.window

export async function countCores() {
  if (globalThis.navigator?.hardwareConcurrency) return navigator.hardwareConcurrency
  if (inNode) {
    const os = await builtin('os')
    return os.availableParallelism?.() ?? os.cpus().length
  }
  return 1
}

/**
 * The bytes of one of the package's own files, or a fetch of it.
 * @param {URL} url
 */
export async function readOwn(url) {
  if (inNode && url.protocol === 'file:') return (await builtin('fs/promises')).readFile(url)
  const response = await fetch(url)
  if (!response.ok) throw new Error(`HTTP ${response.status}`)
  return response
}

/**
 * Compiles one of the package's modules: while it arrives where the server names its type,
 * otherwise once it is there.
 * @param {URL} url
 * @returns {Promise<WebAssembly.Module>}
 */
export async function compile(url) {
  const source = await readOwn(url)
  if (!(source instanceof Response)) return WebAssembly.compile(source)
  if (source.headers.get('content-type')?.startsWith('application/wasm'))
    return WebAssembly.compileStreaming(source)
  return WebAssembly.compile(await source.arrayBuffer())
}

/**
 * Gives a Node worker the face of a browser's: a handler for messages, one for its end.
 * @param {URL} url
 * @param {string} name
 * @returns {Promise<WorkerHandle<any>>}
 */
export async function wrapNodeWorker(url, name) {
  const { Worker } = await builtin('worker_threads')
  const worker = new Worker(url, { name, execArgv: [] })
  worker.unref()
  return {
    listen(onMessage, onError) {
      worker.on('message', onMessage)
      worker.on('error', onError)
      worker.on('exit', () => onError(new Error('the worker ended')))
    },
    postMessage: (message, transfer) =>
      worker.postMessage(
        message,
        /** @type {import('node:worker_threads').Transferable[]} */ (transfer)
      ),
    terminate: () => worker.terminate(),
    hold: (held) => (held ? worker.ref() : worker.unref())
  }
}

/**
 * @param {Worker} worker
 * @returns {WorkerHandle<any>}
 */
export function wrapBrowserWorker(worker) {
  return {
    listen(onMessage, onError) {
      worker.onmessage = (event) => onMessage(event.data)
      worker.onerror = (event) => onError(new Error(event.message || 'the worker could not start'))
      worker.onmessageerror = () => onError(new Error('a message could not be read'))
    },
    postMessage: (message, transfer) =>
      worker.postMessage(message, /** @type {Transferable[]} */ (transfer)),
    terminate: () => worker.terminate(),
    hold() {}
  }
}

/**
 * A module worker that start() gives. A browser starts none whose script is of another origin, as on a CDN; a script of
 * the page's own origin that imports it does. A policy may forbid that one.
 * @param {() => Worker} start with a literal address, which bundlers find
 * @param {string | URL} script that address
 */
export function shimmed(start, script) {
  try {
    return start()
  } catch {
    const shim = new Blob([`import ${JSON.stringify(String(script))}`], { type: 'text/javascript' })
    return new Worker(URL.createObjectURL(shim), { type: 'module' })
  }
}

/**
 * The other end, inside a worker: hands messages on with a way to answer. A browser drops what
 * comes before the handler is set, so it is set at once.
 * @template Message
 * @param {(message: Message, reply: Reply) => void} onMessage
 */
export async function serve(onMessage) {
  if (inNode) {
    const { parentPort } = /** @type {{parentPort: import('node:worker_threads').MessagePort}} */ (
      await builtin('worker_threads')
    )
    parentPort.on('message', (message) =>
      onMessage(message, (reply, transfer) =>
        parentPort.postMessage(
          reply,
          /** @type {import('node:worker_threads').Transferable[]} */ (transfer)
        )
      )
    )
  } else
    self.onmessage = (event) =>
      onMessage(event.data, (message, transfer = []) =>
        /** @type {Worker} */ (/** @type {unknown} */ (self)).postMessage(message, transfer)
      )
}

/** Lets the thread look at its events. */
export const pause = inNode
  ? () => new Promise((resolve) => setImmediate(resolve))
  : () =>
      new Promise((/** @type {(value?: undefined) => void} */ resolve) => {
        const { port1, port2 } = new MessageChannel()
        port1.onmessage = () => {
          port1.close()
          resolve()
        }
        port2.postMessage(0)
      })
