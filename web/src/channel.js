/* How a client reaches an engine: in the same thread, or in a worker by messages. Both:
 * call(method, args, options, transfer) and close(). */
import { HeedError, asHeed, cancelled, closed } from './error.js'
import { inNode, wrapBrowserWorker, wrapNodeWorker } from './host.js'

const nothing = () => {}
const never = new AbortController().signal

/* A window that works in a worker need not load the engine. */
export async function directChannel(options) {
  const { Engine } = await import('./engine.js')
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

export async function workerChannel(options) {
  const base = options.base
  const url = base ? new URL('worker.js', base) : undefined
  const worker = inNode
    ? await wrapNodeWorker(url ?? new URL('./worker.js', import.meta.url), 'heed')
    : wrapBrowserWorker(
        url
          ? new Worker(url, { type: 'module' })
          : new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })
      )
  const calls = new Map()
  let nextId = 1,
    failure

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

  function settle(id) {
    calls.delete(id)
    if (calls.size === 0) worker.hold(false)
  }

  function fail(error) {
    failure ??= error
    for (const [id, call] of calls) {
      settle(id)
      call.reject(failure)
    }
  }

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
