/* How a client reaches an engine: in the same thread, or in a worker by messages. Both:
 * call(method, args, options, transfer) and close(). */
import { asHeed, cancelled, closed, HeedError } from './error.js'
import { inNode, shimmed, wrapBrowserWorker, wrapNodeWorker } from './host.js'
import { placeOf } from './place.js'
import type { Progress } from 'heed'
import type {
  CallEngine,
  Channel,
  EngineInfo,
  EngineOptions,
  FromWorker,
  Message,
  ToWorker,
  WorkerHandle
} from '../types/library.js'

const nothing = () => {}
const never = new AbortController().signal

const inServiceWorker = () =>
  Object.prototype.toString.call(globalThis) === '[object ServiceWorkerGlobalScope]'

/** A window that works in a worker need not load the engine. */
async function directChannel(options: EngineOptions): Promise<Channel> {
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

const start = (base: string | URL | undefined) =>
  base
    ? new Worker(new URL('worker.js', base), { type: 'module' })
    : new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })

async function startWorker(
  base: string | URL | undefined
): Promise<WorkerHandle<Message<FromWorker>>> {
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
const closers = { loadModel: 'closeModel', createSession: 'closeSession' } as const

/**
 * Its calls are rejected, once cancelled, as others of the platform are: also where the signal fires
 * while the answer is under way. What such a call has made is closed.
 */
export const abortable = (channel: Channel): Channel => ({
  ...channel,
  async call(method, args, options, transfer) {
    const signal = options?.signal
    try {
      const result = await channel.call(method, args, options, transfer)
      if (!signal?.aborted) return result
      const closer = closers[method as keyof typeof closers]
      if (closer) channel.call(closer, { id: (result as { id: number }).id }).catch(() => {})
      throw cancelled(method)
    } catch (error: any) {
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
 * @param id of the call
 */
function followSignal(
  worker: WorkerHandle<Message<FromWorker>>,
  id: number,
  signal: AbortSignal | undefined
) {
  const flag =
    signal && globalThis.SharedArrayBuffer && (inNode || globalThis.crossOriginIsolated)
      ? new Int32Array(new SharedArrayBuffer(4))
      : undefined
  const abort = () => {
    if (flag) Atomics.store(flag, 0, 1)
    worker.postMessage({ kind: 'cancel', id } as Message<ToWorker>)
  }
  signal?.addEventListener('abort', abort, { once: true })
  return { flag, forget: () => signal?.removeEventListener('abort', abort) }
}

interface Call {
  resolve: (result: any) => void
  reject: (error: Error) => void
  onProgress: (progress: Progress) => void
  onStage: (stage: string) => void
}

/** What each kind of answer does to its call. */
const answersOf = (
  settle: (id: number) => void
): { [Kind in keyof FromWorker]: (call: Call, answer: FromWorker[Kind]) => void } => ({
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

/** Messages to a worker that wait for an answer, and the end of all of them. */
function messagesOf(worker: WorkerHandle<Message<FromWorker>>) {
  const calls = new Map<number, Call>()
  let failure: Error | undefined
  let nextId = 1

  function settle(id: number) {
    calls.delete(id)
    if (calls.size === 0) worker.hold(false)
  }

  function fail(error: Error) {
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
      if (call) answers[answer.kind](call, answer as never)
    },
    (error) => fail(asHeed('worker', error))
  )

  function send(
    where: string,
    ask: (id: number) => Message<ToWorker>,
    listeners: Pick<Call, 'onProgress' | 'onStage'>,
    transfer: Transferable[] = []
  ): Promise<any> {
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

  return { send, fail, failed: () => !!failure }
}

/** Calls of a worker, and their end. */
function callsOf(worker: WorkerHandle<Message<FromWorker>>) {
  const { send, fail, failed } = messagesOf(worker)

  const start = (
    options: EngineOptions,
    onStage: (stage: string) => void
  ): Promise<EngineInfo | null> =>
    send('create', (id) => ({ kind: 'start', id, options }), { onProgress: nothing, onStage })

  const call: CallEngine = (method, args, { onProgress, signal } = {}, transfer = []) => {
    if (signal?.aborted && !failed()) return Promise.reject(cancelled(method))
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
 * @param patience in ms, with the worker while it makes its threads; 0: without end
 * @returns null: it was stuck
 */
function started(
  start: ReturnType<typeof callsOf>['start'],
  options: EngineOptions,
  patience: number
): Promise<EngineInfo | null> {
  let timer: ReturnType<typeof setTimeout> | undefined
  return new Promise<EngineInfo | null>((resolve, reject) => {
    const onStage = (stage: string) => {
      clearTimeout(timer)
      if (stage === 'threads' && patience) timer = setTimeout(resolve, patience, null)
    }
    start(options, onStage).then(resolve, reject)
  }).finally(() => clearTimeout(timer))
}

async function workerChannel(options: EngineOptions, patience = 4000): Promise<Channel> {
  const { base } = options,
    { start, call, close } = callsOf(await startWorker(base))
  try {
    const info = await started(start, { ...options, base: base && String(base) }, patience)
    if (info) return { info, call, close }
  } catch (error) {
    close()
    throw error
  }
  close() // and another takes its place, at last one that is waited for without end
  return workerChannel(options, patience < 8000 ? 2 * patience : 0)
}

/** In the calling thread, where the error is of a worker whose script did not start. */
async function withoutWorker(
  where: string,
  wanted: EngineOptions,
  error: unknown
): Promise<Channel> {
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
 */
export async function openChannel(
  where: string,
  wanted: EngineOptions,
  worker: boolean,
  insists?: boolean
): Promise<Channel> {
  return (worker ? workerChannel : directChannel)(wanted).catch((error) => {
    if (worker && !insists) return withoutWorker(where, wanted, error)
    throw asHeed(where, error)
  })
}
