/* A thread of the module with shared memory: an instance of it that serves the pool until the
 * runtime ends. */
import { serve } from './host.js'
/** @import {Instantiate, ThreadStart} from '../types/library.js' */

const nothing = () => 0

serve(async (/** @type {ThreadStart} */ { module, memory, pool, index, stack }, reply) => {
  try {
    const heed = { read: nothing, progress: nothing, cancelled: nothing, take: nothing }
    const { exports } = await /** @type {Instantiate} */ (
      /** @type {unknown} */ (WebAssembly.instantiate)
    )(module, {
      heed,
      env: { memory, emscripten_notify_memory_growth: nothing },
      Math
    })
    reply('ready')
    exports.thread(pool, index, stack)
  } catch (error) {
    reply(/** @type {Error} */ (error).message)
  }
})
