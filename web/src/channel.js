/* How a client reaches an engine: in the same thread, or in a worker by messages. Both:
 * call(method, args, options, transfer) and close(). */
import { HeedError, asHeed, cancelled, closed } from './error.js'
import { inNode, wrapBrowserWorker, wrapNodeWorker } from './host.js'
/** @import {CallOptions, Progress} from './index.js' */
/**
 * @import {
 *   Answer, Channel, EngineInfo, EngineOptions, MethodName, WorkerHandle
 * } from '../types/library.js'
 */

const nothing = () => {}
const never = new AbortController().signal

/**
 * A window that works in a worker need not load the engine.
 * @param {EngineOptions} options
 * @returns {Promise<Channel>}
 */
export async function directChannel(options) {
  const { Engine } = await import('./engine.js')
  const engine = await Engine.create(options)
  return {
    info: /** @type {EngineInfo} */ (engine.info),
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

/**
 * @param {EngineOptions} options
 * @returns {Promise<Channel>}
 */
export async function workerChannel(options) {
  const base = options.base
  const url = base ? new URL('worker.js', base) : undefined
  /** @type {WorkerHandle<Answer>} */
  const worker = inNode
    ? await wrapNodeWorker(url ?? new URL('./worker.js', import.meta.url), 'heed')
    : wrapBrowserWorker(
        url
          ? new Worker(url, { type: 'module' })
          : new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })
      )
  /** @type {Map<number, {resolve: (result: any) => void, reject: (error: Error) => void, onProgress: (progress: Progress) => void}>} */
  const calls = new Map()
  let nextId = 1
  /** @type {Error | undefined} */
  let failure

  worker.listen(
    ({ id, progress, result, error }) => {
      const call = calls.get(id)
      if (!call) return
      if (progress) return call.onProgress(progress)
      settle(id)
      if (error) call.reject(new HeedError(error.status, error.message))
      else call.resolve(result)
    },
    (error) => fail(asHeed('worker', error))
  )

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

  /**
   * @param {MethodName | 'create'} method
   * @param {object} args
   * @param {CallOptions} [options]
   * @param {Transferable[]} [transfer]
   * @returns {Promise<any>}
   */
  function call(method, args, { onProgress, signal } = {}, transfer = []) {
    if (failure) return Promise.reject(failure)
    if (signal?.aborted) return Promise.reject(cancelled(method))
    const id = nextId++
    const flag =
      signal && globalThis.SharedArrayBuffer && (inNode || globalThis.crossOriginIsolated)
        ? new Int32Array(new SharedArrayBuffer(4))
        : undefined
    const abort = () => {
      if (flag) Atomics.store(flag, 0, 1)
      worker.postMessage({ cancel: id })
    }
    signal?.addEventListener('abort', abort, { once: true })
    return new Promise((resolve, reject) => {
      calls.set(id, { resolve, reject, onProgress: onProgress ?? nothing })
      worker.hold(true)
      worker.postMessage({ id, method, args, watched: !!(onProgress || signal), flag }, transfer)
    })
      .catch((error) => {
        settle(id)
        throw asHeed(method, error) /* what cannot be sent */
      })
      .finally(() => signal?.removeEventListener('abort', abort))
  }

  function close() {
    fail(closed('runtime'))
    worker.terminate()
  }

  try {
    return {
      info: await call('create', {
        threads: options.threads,
        simd: options.simd,
        base: base && String(base)
      }),
      call,
      close
    }
  } catch (error) {
    close()
    throw error
  }
}
