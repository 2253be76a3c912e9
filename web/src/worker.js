/* The engine in a worker: messages { id, method, args } in, { id, result | error | progress } out.
 * { cancel: id } stops a call at its next layer, as does its flag in shared memory where there is
 * one. */
import { asHeed } from './error.js'
import { Engine } from './engine.js'
import { serve } from './host.js'
/** @import {CallContext, EngineOptions, Request} from '../types/library.js' */

/** @type {Map<number, AbortController>} */
const calls = new Map()
/** @type {Engine} */
let engine

/**
 * @param {unknown} value
 * @param {Set<Transferable>} [found]
 */
function buffersOf(value, found = new Set()) {
  if (ArrayBuffer.isView(value)) found.add(value.buffer)
  else if (value && typeof value === 'object')
    for (const part of Object.values(value)) buffersOf(part, found)
  return found
}

serve(async (/** @type {Request} */ message, reply) => {
  if (message.cancel) return calls.get(message.cancel)?.abort()
  const { id, method, args, watched, flag } = message
  const controller = new AbortController()
  /** @type {CallContext} */
  const context = {
    watched,
    signal: controller.signal,
    progress: (progress) => watched && reply({ id, progress }),
    cancelled: () =>
      controller.signal.aborted || (flag !== undefined && Atomics.load(flag, 0) === 1)
  }
  calls.set(id, controller)
  try {
    if (method === 'create') {
      const stage = (/** @type {any} */ phase) => reply({ id, progress: { phase } })
      stage('threads') // are made now, see channel.js
      engine = await Engine.create({
        .../** @type {EngineOptions} */ (args),
        onThreads: () => stage('start')
      })
      return reply({ id, result: engine.info })
    }
    const result = await engine.call(method, args, context)
    reply({ id, result }, [...buffersOf(result)])
  } catch (error) {
    const { status, message } = asHeed(method, error)
    reply({ id, error: { status, message } })
  } finally {
    calls.delete(id)
  }
})
