/* A plan on a device: buffers, and dispatches with their bind groups. What C lists is in
 * runtime/gpu/buffers.h. */
import { paramBytes, paramStride } from './device.js'
/** @import { Device } from './device.js' */
/** @import { Dispatch, Pipeline, Wanted } from './types.js' */

/* GPUBufferUsage and GPUMapMode: Node has no such globals. */
const usage = { mapRead: 1, copySource: 4, copyTarget: 8, uniform: 64, storage: 128 },
  mapRead = 1,
  storage = usage.storage | usage.copySource | usage.copyTarget
const least = 256
const most = { constants: 17, push: 32, slots: 12 }

/** heed_gpu_words. @param {Uint32Array} words @param {string} shader @returns {Dispatch} */
export function readDispatch(words, shader) {
  let at = 0
  const take = (/** @type {number} */ room) => {
    const found = [...words.subarray(at + 1, at + 1 + words[at])]
    at += 1 + room
    return found
  }
  const constants = take(most.constants),
    push = take(most.push),
    [x, y, z, , work, count] = words.subarray(at, at + 6)
  at += 6
  const slots = Array.from({ length: count }, (_, i) => {
    const [buffer, offset, bytes, written] = words.subarray(at + 4 * i, at + 4 * i + 4)
    return { buffer: buffer | 0, offset, bytes, written: written === 1 }
  })
  return { shader, constants, push, groups: [x, y, z], work, slots }
}

/**
 * What the promise gives; rejected once the signal fires.
 * @template Result
 * @param {Promise<Result>} promise
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<Result>}
 */
async function unlessAborted(promise, signal) {
  /** @type {() => void} */
  let stop = () => {}
  const aborted = new Promise((_, reject) => {
    stop = () => reject(signal?.reason)
  })
  if (signal?.aborted) stop()
  signal?.addEventListener('abort', stop)
  try {
    return await Promise.race([promise, /** @type {Promise<never>} */ (aborted)])
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}

export class Program {
  /** @type {(GPUBuffer | undefined)[]} */
  #buffers = []
  /** @type {GPUBuffer[]} */
  #own = []
  /** @type {Dispatch[]} */
  #dispatches = []
  /** @type {{ pipeline: GPUComputePipeline, group: GPUBindGroup, groups: [number, number, number], work: number }[]} */
  #steps = []
  /** @type {GPUBindGroup | undefined} */
  #params
  /** Dispatches that were asked for. @type {[number, number][]} */
  #asked = []

  /** @param {Device} device */
  constructor(device) {
    this.device = device
  }

  /** @param {number} size @param {number} use */
  #make(size, use) {
    const made = this.device.createBuffer(Math.max(Math.ceil(size / 4) * 4, least), use)
    this.#own.push(made)
    return made
  }

  /** @param {number} number @param {number} bytes 0: it is not used */
  buffer(number, bytes) {
    this.#buffers[number] = bytes ? this.#make(bytes, storage) : undefined
  }

  /** @param {Dispatch} dispatch */
  dispatch(dispatch) {
    this.#dispatches.push(dispatch)
  }

  /** @param {number} number @param {number} offset @param {Uint8Array<ArrayBuffer>} bytes */
  write(number, offset, bytes) {
    let whole = bytes
    if (bytes.length % 4) {
      whole = new Uint8Array(Math.ceil(bytes.length / 4) * 4)
      whole.set(bytes)
    }
    const to = /** @type {GPUBuffer} */ (this.#buffers[number])
    this.device.device.queue.writeBuffer(to, offset, whole)
  }

  /**
   * Makes what a run takes: pipelines, parameters, bind groups.
   * @param {(done: number, total: number) => unknown} [progress] pipelines
   * @param {AbortSignal} [signal]
   */
  async prepare(progress = () => {}, signal) {
    const all = this.#dispatches.map((dispatch) => this.device.pipeline(dispatch)),
      each = new Set(all)
    let done = 0
    for (const pipeline of each)
      pipeline.then(
        () => progress(++done, each.size),
        () => {}
      )
    const made = await unlessAborted(Promise.all(all), signal)
    this.device.check()
    this.#bindParams()
    const blanks = new Map()
    this.#steps = made.map(({ pipeline, layout, buffers }, i) => {
      const { groups, work, slots } = this.#dispatches[i]
      const entries = buffers.map(({ slot, writes }, binding) => ({
        binding,
        resource: this.#resource(slots[slot], writes, blanks)
      }))
      const group = this.device.device.createBindGroup({ layout, entries })
      return { pipeline, group, groups, work }
    })
  }

  /** A slot without meaning is bound all the same. @param {Dispatch['slots'][0] | undefined} slot @param {boolean} writes @param {Map<boolean, GPUBuffer>} blanks */
  #resource(slot, writes, blanks) {
    const buffer = slot && slot.buffer >= 0 ? this.#buffers[slot.buffer] : undefined
    if (slot && buffer) return { buffer, offset: slot.offset, size: slot.bytes }
    if (!blanks.has(writes)) blanks.set(writes, this.#make(least, storage))
    return { buffer: /** @type {GPUBuffer} */ (blanks.get(writes)) }
  }

  #bindParams() {
    const words = new Uint32Array((this.#dispatches.length * paramStride) / 4)
    this.#dispatches.forEach(({ push }, i) => words.set(push, (i * paramStride) / 4))
    const buffer = this.#make(words.byteLength, usage.uniform | usage.copyTarget)
    this.device.device.queue.writeBuffer(buffer, 0, words)
    this.#params = this.device.device.createBindGroup({
      layout: this.device.paramLayout,
      entries: [{ binding: 0, resource: { buffer, size: paramBytes } }]
    })
  }

  /** Dispatches [first, end), which flush() submits. @param {number} first @param {number} end */
  run(first, end) {
    this.#asked.push([first, end])
  }

  /** Forgets what was asked for. */
  cancel() {
    this.#asked = []
  }

  /** Submits what was asked for, in pieces that take some milliseconds each. */
  async flush() {
    const asked = this.#asked
    this.#asked = []
    const { device } = this.device
    let encoder = device.createCommandEncoder(),
      pass = encoder.beginComputePass(),
      work = 0,
      any = false
    for (const [first, end] of asked)
      for (let i = first; i < end; i++) {
        const step = this.#steps[i]
        if (any && this.device.isFull(work + step.work)) {
          pass.end()
          await this.device.submit(encoder, work)
          encoder = device.createCommandEncoder()
          pass = encoder.beginComputePass()
          work = 0
        }
        pass.setPipeline(step.pipeline)
        pass.setBindGroup(0, step.group)
        pass.setBindGroup(1, /** @type {GPUBindGroup} */ (this.#params), [i * paramStride])
        pass.dispatchWorkgroups(...step.groups)
        work += step.work
        any = true
      }
    pass.end()
    if (any) await this.device.submit(encoder, work)
  }

  /**
   * Bytes of buffers, after all that was submitted.
   * @param {Wanted[]} wanted
   * @returns {Promise<Uint8Array[]>}
   */
  async read(wanted) {
    const { device } = this.device
    this.device.check()
    const parts = wanted.map(({ buffer, offset, bytes }) => {
      const start = offset - (offset % 4)
      return {
        buffer,
        start,
        skip: offset - start,
        size: Math.ceil((offset + bytes - start) / 4) * 4
      }
    })
    const total = parts.reduce((sum, { size }) => sum + size, 0),
      staging = this.device.createBuffer(total, usage.mapRead | usage.copyTarget)
    try {
      const encoder = device.createCommandEncoder()
      let at = 0
      for (const { buffer, start, size } of parts) {
        const from = /** @type {GPUBuffer} */ (this.#buffers[buffer])
        encoder.copyBufferToBuffer(from, start, staging, at, size)
        at += size
      }
      device.queue.submit([encoder.finish()])
      await this.device.wait(staging.mapAsync(mapRead))
      const all = new Uint8Array(staging.getMappedRange().slice(0))
      at = 0
      return parts.map(({ skip, size }, i) => {
        const found = all.subarray(at + skip, at + skip + wanted[i].bytes)
        at += size
        return found
      })
    } finally {
      this.device.destroyBuffer(staging)
    }
  }

  destroy() {
    for (const buffer of this.#own) this.device.destroyBuffer(buffer)
    this.#own = []
    this.#buffers = []
    this.#steps = []
  }
}
