/* How a client reaches an engine: in the same thread, or in a worker by messages. Both:
 * call(method, args, options, transfer) and close(). */
import { asHeed, cancelled, closed, HeedError } from './error.js'
import { inNode, shimmed, wrapBrowserWorker, wrapNodeWorker } from './host.js'
import { placeOf } from './place.js'
/** @import {CallOptions, Progress} from './index.js' */
/**
 * @import {
 *   Channel, EngineInfo, EngineOptions, FromWorker, Message, MethodName, ToWorker, WorkerHandle
 * } from '../types/library.js'
 */

const nothing = () => {}
const never = new AbortController().signal

const inServiceWorker = () =>
  Object.prototype.toString.call(globalThis) === '[object ServiceWorkerGlobalScope]'

/**
 * A window that works in a worker need not load the engine.
 * @param {EngineOptions} options
 * @returns {Promise<Channel>}
 */
async function directChannel(options) {
  const { Engine } = await import('./engine.js').catch((error) => {
    throw inServiceWorker()
      ? new HeedError(
          'UNSUPPORTED',
          `runtime: a service worker loads no modules on demand (found "${error.message}", expected heed bundled into one script, with setBase(), or a page or a worker)`
        )
      : error
  })
  const engine = await Engine.create(options)
  return {
    info: engine.info,
    call(method, args, { onProgress = nothing, signal = never } = {}) {
      const context = {
        watched: onProgress !== nothing || signal !== never,
        signal,
        progress: onProgress,
        cancelled: () => signal.aborted
      }
      return engine.call(method, args, context)
    },
    close: () => engine.close()
  }
}

/** @param {string | URL | undefined} base */
const start = (base) =>
  base
    ? new Worker(new URL('worker.js', base), { type: 'module' })
    : new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })

/**
 * @param {string | URL | undefined} base
 * @returns {Promise<WorkerHandle<Message<FromWorker>>>}
 */
async function startWorker(base) {
  try {
    const script = placeOf('worker.js', base, () => new URL('./worker.js', import.meta.url))
    if (inNode) return await wrapNodeWorker(script, 'heed')
    return wrapBrowserWorker(
      shimmed(() => start(base), new URL('worker.js', base || import.meta.url)),
      script
    )
  } catch (error) {
    throw asHeed('worker', error)
  }
}

/** What a call has made, and what closes it. */
const closers = /** @type {const} */ ({ loadModel: 'closeModel', createSession: 'closeSession' })

/**
 * Its calls are rejected, once cancelled, as others of the platform are: also where the signal fires
 * while the answer is under way. What such a call has made is closed.
 * @param {Channel} channel
 * @returns {Channel}
 */
export const abortable = (channel) => ({
  ...channel,
  async call(method, args, options, transfer) {
    const signal = options?.signal
    try {
      const result = /** @type {any} */ (await channel.call(method, args, options, transfer))
      if (!signal?.aborted) return result
      const closer = closers[/** @type {keyof typeof closers} */ (method)]
      if (closer) channel.call(closer, { id: result.id }).catch(() => {})
      throw cancelled(method)
    } catch (/** @type {any} */ error) {
      if (error.status === 'CANCELLED') {
        error.name = 'AbortError'
        error.cause = signal?.reason
      }
      throw error
    }
  }
})

/**
 * Tells the worker once the signal fires: by a flag where memory is shared, and by a message.
 * @param {WorkerHandle<Message<FromWorker>>} worker
 * @param {number} id of the call
 * @param {AbortSignal | undefined} signal
 */
function followSignal(worker, id, signal) {
  const flag =
    signal && globalThis.SharedArrayBuffer && (inNode || globalThis.crossOriginIsolated)
      ? new Int32Array(new SharedArrayBuffer(4))
      : undefined
  const abort = () => {
    if (flag) Atomics.store(flag, 0, 1)
    worker.postMessage(/** @type {Message<ToWorker>} */ ({ kind: 'cancel', id }))
  }
  signal?.addEventListener('abort', abort, { once: true })
  return { flag, forget: () => signal?.removeEventListener('abort', abort) }
}

/** @typedef {{resolve: (result: any) => void, reject: (error: Error) => void, onProgress: (progress: Progress) => void, onStage: (stage: string) => void}} Call */

/** What each kind of answer does to its call.
 * @type {(settle: (id: number) => void) => {[Kind in keyof FromWorker]: (call: Call, answer: FromWorker[Kind]) => void}} */
const answersOf = (settle) => ({
  stage: ({ onStage }, { stage }) => onStage(stage),
  progress: ({ onProgress }, { progress }) => onProgress(progress),
  result({ resolve }, { id, result }) {
    settle(id)
    resolve(result)
  },
  error({ reject }, { id, status, message }) {
    settle(id)
    reject(new HeedError(status, message))
  }
})

/**
 * Calls of a worker, and the end of all of them.
 * @param {WorkerHandle<Message<FromWorker>>} worker
 */
function callsOf(worker) {
  /** @type {Map<number, Call>} */
  const calls = new Map()
  /** @type {Error | undefined} */
  let failure
  let nextId = 1

  /** @param {number} id */
  function settle(id) {
    calls.delete(id)
    if (calls.size === 0) worker.hold(false)
  }

  /** @param {Error} error */
  function fail(error) {
    failure ??= error
    for (const [id, call] of calls) {
      settle(id)
      call.reject(failure)
    }
  }

  const answers = answersOf(settle)
  worker.listen(
    (answer) => {
      const call = calls.get(answer.id)
      if (call) answers[answer.kind](call, /** @type {any} */ (answer))
    },
    (error) => fail(asHeed('worker', error))
  )

  /**
   * @param {string} where
   * @param {(id: number) => Message<ToWorker>} ask
   * @param {Pick<Call, 'onProgress' | 'onStage'>} listeners
   * @param {Transferable[]} [transfer]
   * @returns {Promise<any>}
   */
  function send(where, ask, listeners, transfer = []) {
    if (failure) return Promise.reject(failure)
    const id = nextId++
    return new Promise((resolve, reject) => {
      calls.set(id, { resolve, reject, ...listeners })
      worker.hold(true)
      worker.postMessage(ask(id), transfer)
    }).catch((error) => {
      settle(id)
      throw asHeed(where, error) /* what cannot be sent */
    })
  }

  /**
   * @param {EngineOptions} options
   * @param {(stage: string) => void} onStage
   */
  const start = (options, onStage) =>
    send('create', (id) => ({ kind: 'start', id, options }), { onProgress: nothing, onStage })

  /** @type {(method: MethodName, args: any, options?: CallOptions, transfer?: Transferable[]) => Promise<any>} */
  function call(method, args, { onProgress, signal } = {}, transfer = []) {
    if (signal?.aborted && !failure) return Promise.reject(cancelled(method))
    let forget = nothing
    return send(
      method,
      (id) => {
        const follow = followSignal(worker, id, signal)
        forget = follow.forget
        const watched = !!(onProgress || signal)
        return { kind: 'call', id, method, args, watched, flag: follow.flag }
      },
      { onProgress: onProgress ?? nothing, onStage: nothing },
      transfer
    ).finally(() => forget())
  }

  function close() {
    fail(closed('runtime'))
    worker.terminate()
  }

  return { start, call, close }
}

/**
 * What the engine says of itself once it runs. On a busy machine a worker of Firefox 153 that
 * makes another never came back from `new Worker`, once in 60 to 100 starts.
 * @param {ReturnType<typeof callsOf>['start']} start
 * @param {EngineOptions} options
 * @param {number} patience in ms, with the worker while it makes its threads; 0: without end
 * @returns {Promise<EngineInfo | null>} null: it was stuck
 */
function started(start, options, patience) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer
  return new Promise((resolve, reject) => {
    const onStage = (/** @type {string} */ stage) => {
      clearTimeout(timer)
      if (stage === 'threads' && patience) timer = setTimeout(resolve, patience, null)
    }
    start(options, onStage).then(resolve, reject)
  }).finally(() => clearTimeout(timer))
}

/**
 * @param {EngineOptions} options
 * @returns {Promise<Channel>}
 */
async function workerChannel(options, patience = 4000) {
  const { base, threads, simd } = options,
    { start, call, close } = callsOf(await startWorker(base))
  try {
    const info = await started(start, { threads, simd, base: base && String(base) }, patience)
    if (info) return { info, call, close }
  } catch (error) {
    close()
    throw error
  }
  close() // and another takes its place, at last one that is waited for without end
  return workerChannel(options, patience < 8000 ? 2 * patience : 0)
}

/**
 * In the calling thread, where the error is of a worker whose script did not start.
 * @param {string} where
 * @param {EngineOptions} wanted
 * @param {unknown} error
 * @returns {Promise<Channel>}
 */
async function withoutWorker(where, wanted, error) {
  const { message } = asHeed('worker', error)
  if (!message.startsWith('worker:')) throw error
  const channel = await directChannel(wanted).catch((error) => {
    throw asHeed(where, error)
  })
  const why = `${channel.info.why}; in the page's thread: the worker could not start (found "${message}")`
  return { ...channel, info: { ...channel.info, why, worker: false } }
}

/**
 * The way to a new engine: where no worker starts, in the calling thread, unless one was insisted on.
 * @param {string} where
 * @param {EngineOptions} wanted
 * @param {boolean} worker
 * @param {boolean} [insists]
 * @returns {Promise<Channel>}
 */
export async function openChannel(where, wanted, worker, insists) {
  return (worker ? workerChannel : directChannel)(wanted).catch((error) => {
    if (worker && !insists) return withoutWorker(where, wanted, error)
    throw asHeed(where, error)
  })
}
