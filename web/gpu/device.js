/* A WebGPU device: its pipelines, made once each from the templates, its submissions, and its end. What
 * waits for it is told when it is lost. */
import { fill } from './fill.js'
/** @import { DeviceOptions, Dispatch, Pipeline } from './types.js' */

/* GPUShaderStage.COMPUTE: Node has no such globals. */
const compute = 4
/** Milliseconds of work in one submission: a page's own picture waits behind it. */
const longest = 50
/** Submissions that are not done. */
const mostUnderWay = 2
/** Bytes of a dispatch's parameters, and from one to the next. */
export const paramBytes = 128,
  paramStride = 256

/** The device is gone, or did what it must not: a session on it cannot go on. */
export class DeviceLost extends Error {}

/** Slots that read the very range which another slot of the dispatch writes. @param {Dispatch} dispatch */
export function findShared({ slots }) {
  /** @type {Record<number, number>} */
  const shared = {}
  slots.forEach((slot, i) => {
    if (slot.written || slot.buffer < 0) return
    const same = slots.findIndex(
      (other) =>
        other.written &&
        other.buffer === slot.buffer &&
        other.offset === slot.offset &&
        other.bytes === slot.bytes
    )
    if (same >= 0) shared[i] = same
  })
  return shared
}

export class Device {
  /** @type {Map<string, Promise<Pipeline>>} */
  #pipelines = new Map()
  /** @type {Promise<never>} */
  #end
  /** @type {string | undefined} */
  #why
  /** @type {Promise<void>[]} */
  #underWay = []
  #lastEnd = 0
  /** Millions of operations a submission: of a device that nobody has timed. */
  #budget = 200

  /**
   * @param {GPUDevice} device
   * @param {DeviceOptions} options
   */
  constructor(device, { templateOf, unroll = 0, polls = false }) {
    this.device = device
    this.templateOf = templateOf
    this.unroll = unroll
    this.polls = polls
    /** Buffers that live, and their bytes. */
    this.buffers = 0
    this.bytes = 0
    this.#end = new Promise((_, reject) => {
      const end = (/** @type {string} */ why) => {
        this.#why ??= why
        reject(new DeviceLost(this.#why))
      }
      device.lost.then(({ message }) => end(message || 'the device was lost'))
      device.addEventListener('uncapturederror', (event) => {
        event.preventDefault()
        end(event.error.message)
      })
    })
    this.#end.catch(() => {}) // told to whoever waits
    const entry = /** @type {GPUBindGroupLayoutEntry} */ ({
      binding: 0,
      visibility: compute,
      buffer: { type: 'uniform', hasDynamicOffset: true, minBindingSize: paramBytes }
    })
    this.paramLayout = device.createBindGroupLayout({ entries: [entry] })
  }

  /** Why the device cannot be used any more; undefined: it can. */
  get lost() {
    return this.#why
  }

  /** @throws {DeviceLost} */
  check() {
    if (this.#why !== undefined) throw new DeviceLost(this.#why)
  }

  /**
   * What a promise of the device gives; rejected once the device is lost. Firefox looks after its device
   * every 100 ms, and whenever something is submitted.
   * @template Result
   * @param {Promise<Result>} promise
   * @returns {Promise<Result>}
   */
  async wait(promise) {
    const poll = this.polls
      ? setInterval(
          () => this.device.queue.submit([this.device.createCommandEncoder().finish()]),
          2
        )
      : undefined
    try {
      return await Promise.race([promise, this.#end])
    } catch (error) {
      this.check()
      throw error
    } finally {
      clearInterval(poll)
    }
  }

  /**
   * The pipeline of a dispatch, made once.
   * @param {Dispatch} dispatch
   * @returns {Promise<Pipeline>}
   */
  pipeline(dispatch) {
    const shared = findShared(dispatch),
      key = JSON.stringify([dispatch.shader, dispatch.constants, shared])
    const made = this.#pipelines.get(key) ?? this.#make(dispatch, shared)
    this.#pipelines.set(key, made)
    made.catch(() => this.#pipelines.delete(key))
    return made
  }

  /** @param {Dispatch} dispatch @param {Record<number, number>} shared @returns {Promise<Pipeline>} */
  async #make({ shader, constants }, shared) {
    const { device } = this,
      { code, buffers } = fill(await this.templateOf(shader), constants, {
        unroll: this.unroll,
        shared
      })
    this.check()
    const layout = device.createBindGroupLayout({
      entries: buffers.map(({ writes }, binding) => ({
        binding,
        visibility: compute,
        buffer: { type: writes ? 'storage' : 'read-only-storage' }
      }))
    })
    const pipeline = await this.wait(
      device.createComputePipelineAsync({
        layout: device.createPipelineLayout({ bindGroupLayouts: [layout, this.paramLayout] }),
        compute: { module: device.createShaderModule({ code }), entryPoint: 'main' }
      })
    )
    return { pipeline, layout, buffers }
  }

  /** @param {number} size @param {number} usage */
  createBuffer(size, usage) {
    this.buffers++
    this.bytes += size
    return this.device.createBuffer({ size, usage })
  }

  /** @param {GPUBuffer} buffer */
  destroyBuffer(buffer) {
    this.buffers--
    this.bytes -= buffer.size
    buffer.destroy()
  }

  /** Whether a submission with so many operations more would take too long. @param {number} work millions */
  isFull(work) {
    return work > this.#budget
  }

  /**
   * Submits, and waits until at most one other submission is under way.
   * @param {GPUCommandEncoder} encoder
   * @param {number} work millions of operations
   */
  async submit(encoder, work) {
    this.check()
    while (this.#underWay.length >= mostUnderWay) await this.wait(this.#underWay[0])
    this.check()
    const start = performance.now()
    this.device.queue.submit([encoder.finish()])
    const done = this.device.queue.onSubmittedWorkDone().then(() => {
      const now = performance.now()
      this.#underWay.shift() // they end in order
      this.#time(now - Math.max(start, this.#lastEnd), work)
      this.#lastEnd = now
    })
    done.catch(() => {})
    this.#underWay.push(done)
  }

  /** Learns how much work takes `longest`. @param {number} milliseconds @param {number} work */
  #time(milliseconds, work) {
    if (work < 1) return
    const fits = (work * longest) / Math.max(milliseconds, 1)
    this.#budget = Math.max(1, Math.min(fits, 4 * this.#budget))
  }

  destroy() {
    this.#why ??= 'the device was closed'
    this.device.destroy()
  }
}
