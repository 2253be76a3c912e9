/* What differs between browsers and Node: built-in modules, cores, reading files and starting
 * workers. */
import type { Builtins, Reply, WorkerHandle } from '../types/library.js'

export const inNode =
  typeof process === 'object' && !!process.versions?.node && process.type !== 'renderer'

/** A module that bundlers for browsers are to leave alone: here its name is no literal. */
export const importByName = (name: string) =>
  import(/* @vite-ignore */ /* webpackIgnore: true */ `${name}`)

/** A built-in module of Node. */
export const builtin = <Name extends keyof Builtins>(name: Name): Promise<Builtins[Name]> =>
  importByName(`node:${name}`)

/** By which `using` closes an object; older engines lack it. */
export const dispose: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose')

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
 * The path of a file: where a test's environment has a URL of its own, Node's functions do not know it.
 */
const pathOf = async (url: URL) => (await builtin('url')).fileURLToPath(url.href)

/**
 * The bytes that a data: address holds; nothing of another. Bundlers make such addresses of small
 * files, and a policy need not allow to fetch them.
 */
export function bytesOfData(url: string) {
  const [, base64, data] = /^data:[^,]*?(;base64)?,([^#]*)/i.exec(url) ?? []
  if (data === undefined) return undefined
  const plain = data.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(parseInt(hex, 16)))
  return Uint8Array.from(base64 ? atob(plain) : plain, (letter) => letter.charCodeAt(0))
}

/** The bytes of one of the package's own files, or a fetch of it. Errors name its address. */
export async function readOwn(url: URL) {
  if (url.protocol === 'data:') return bytesOfData(url.href) as Uint8Array
  if (inNode && url.protocol === 'file:')
    return (await builtin('fs/promises')).readFile(await pathOf(url))
  const response = await fetch(url).catch((error) => {
    throw new Error(`${error.message}: ${url}`)
  })
  if (!response.ok)
    throw Object.assign(new Error(`HTTP ${response.status} at ${url}`), {
      code: response.status === 404 ? 'ENOENT' : undefined
    })
  return response
}

/**
 * Compiles one of the package's modules: while it arrives where the server names its type,
 * otherwise once it is there.
 */
export async function compile(url: URL): Promise<WebAssembly.Module> {
  const source = await readOwn(url)
  if (ArrayBuffer.isView(source)) return WebAssembly.compile(source as BufferSource)
  const type = source.headers.get('content-type')
  if (type?.startsWith('application/wasm') && WebAssembly.compileStreaming)
    return WebAssembly.compileStreaming(source)
  if (type?.startsWith('text/html')) throw new Error(`a page of HTML at ${url}`) // instead of 404
  return WebAssembly.compile(await source.arrayBuffer())
}

/** Gives a Node worker the face of a browser's: a handler for messages, one for its end. */
export async function wrapNodeWorker<Message>(
  url: URL,
  name: string
): Promise<WorkerHandle<Message>> {
  const { Worker } = await builtin('worker_threads'),
    worker = new Worker(url.protocol === 'file:' ? await pathOf(url) : url, {
      name,
      execArgv: []
    })
  let holds = false
  const keep = () => (holds ? worker.ref() : worker.unref())
  return {
    listen(onMessage, onError) {
      worker.on('message', onMessage)
      worker.on('error', onError)
      worker.on('exit', () => onError(new Error('the worker ended')))
      keep() // a listener holds the process, which is to end by itself
    },
    postMessage: (message, transfer) =>
      worker.postMessage(message, transfer as import('node:worker_threads').Transferable[]),
    terminate: () => worker.terminate(),
    hold(held) {
      holds = held
      keep()
    }
  }
}

/** @param script its address */
export function wrapBrowserWorker<Message>(
  worker: Worker,
  script: string | URL
): WorkerHandle<Message> {
  return {
    listen(onMessage, onError) {
      worker.onmessage = (event) => onMessage(event.data)
      worker.onerror = (event) =>
        onError(
          new Error(
            event.message ||
              `the worker could not start${String(script).startsWith('data:') ? '' : ` from ${script}`}`
          )
        )
      worker.onmessageerror = () => onError(new Error('a message could not be read'))
    },
    postMessage: (message, transfer) => worker.postMessage(message, transfer as Transferable[]),
    terminate: () => worker.terminate(),
    hold() {}
  }
}

/**
 * A module worker that start() gives. A browser starts none whose script is of another origin, as on a CDN; a script of
 * the page's own origin that imports it does. A policy may forbid that one.
 * @param start with a literal address, which bundlers find
 * @param script that address
 */
export function shimmed(start: () => Worker, script: string | URL) {
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
 */
export async function serve<Message>(onMessage: (message: Message, reply: Reply) => void) {
  if (inNode) {
    const { parentPort } = (await builtin('worker_threads')) as {
      parentPort: import('node:worker_threads').MessagePort
    }
    parentPort.on('message', (message) =>
      onMessage(message, (reply, transfer) =>
        parentPort.postMessage(reply, transfer as import('node:worker_threads').Transferable[])
      )
    )
  } else
    self.onmessage = (event) =>
      onMessage(event.data, (message, transfer = []) =>
        (self as unknown as Worker).postMessage(message, transfer)
      )
}

/** Lets the thread look at its events. */
export const pause = inNode
  ? () => new Promise((resolve) => setImmediate(resolve))
  : () =>
      new Promise((resolve: (value?: undefined) => void) => {
        const { port1, port2 } = new MessageChannel()
        port1.onmessage = () => {
          port1.close()
          resolve()
        }
        port2.postMessage(0)
      })
