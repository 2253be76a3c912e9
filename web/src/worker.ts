/* The engine in a worker; types/library.d.ts has the table of messages. A call ends at its next layer
 * once it is cancelled, by a message or by its flag in shared memory, where there is one. */
import { asHeed } from './error.js'
import { Engine } from './engine.js'
import { serve } from './host.js'
import type { CallContext, FromWorker, Message, ToWorker } from '../types/library.js'

const calls = new Map<number, AbortController>()
let engine: Engine

function buffersOf(value: unknown, found: Set<Transferable> = new Set()) {
  if (ArrayBuffer.isView(value)) found.add(value.buffer)
  else if (value && typeof value === 'object')
    for (const part of Object.values(value)) buffersOf(part, found)
  return found
}

type Send = (answer: Message<FromWorker>, transfer?: Transferable[]) => void

/** What each kind of message has done. */
const kinds: { [Kind in keyof ToWorker]: (message: ToWorker[Kind], send: Send) => unknown } = {
  async start({ id, options }, send) {
    send({ kind: 'stage', id, stage: 'threads' }) // are made now, see channel.js
    engine = await Engine.create({
      ...options,
      onThreads: () => send({ kind: 'stage', id, stage: 'start' })
    })
    send({ kind: 'result', id, result: engine.info })
  },
  async call({ id, method, args, watched, flag }, send) {
    const controller = new AbortController(),
      context: CallContext = {
        watched,
        signal: controller.signal,
        progress: (progress) => watched && send({ kind: 'progress', id, progress }),
        cancelled: () =>
          controller.signal.aborted || (flag !== undefined && Atomics.load(flag, 0) === 1)
      }
    calls.set(id, controller)
    try {
      const result = await engine.call(method, args, context)
      send({ kind: 'result', id, result }, [...buffersOf(result)])
    } finally {
      calls.delete(id)
    }
  },
  cancel: ({ id }) => calls.get(id)?.abort()
}

serve(async (message: Message<ToWorker>, send) => {
  try {
    await kinds[message.kind](message as never, send)
  } catch (error) {
    const where = message.kind === 'call' ? message.method : 'create',
      { status, message: sentence } = asHeed(where, error)
    send({ kind: 'error', id: message.id, status, message: sentence })
  }
})
