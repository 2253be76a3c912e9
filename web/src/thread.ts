/* A thread of the module with shared memory: an instance of it that serves the pool until the
 * runtime ends. */
import { serve } from './host.js'
import type { Instantiate, ThreadStart } from '../types/library.js'

const nothing = () => 0 // the first instance alone runs what asks its host

serve(async ({ module, memory, pool, index, stack }: ThreadStart, reply) => {
  try {
    const { exports } = await (WebAssembly.instantiate as unknown as Instantiate)(module, {
      heed: { read: nothing, progress: nothing, cancelled: nothing, take: nothing },
      env: { memory }
    })
    reply('ready')
    exports.thread(pool, index, stack)
  } catch (error) {
    reply((error as Error).message)
  }
})
