/* Executes what pipe_backend.c sends, on Dawn: buffers, WGSL of the modules in HEED_SPIRV, dispatches
 * one by one. A dispatch that reads and writes one buffer reads a copy of it, because WebGPU allows
 * no buffer in both uses. */
import { writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { convert } from '../../web/gpu/convert.js'
import { fill } from '../../web/gpu/fill.js'
import { readModule } from './spirv_modules.mjs'

/* as in pipe_backend.c and gpu/builder.h */
const operations = ['hello', 'create', 'put', 'write', 'run', 'read', 'destroy'],
  place = { nowhere: 0, arena: 1, weights: 2, scratch: 3, counter: 4 },
  frameBytes = 32,
  paramBytes = 256,
  unrolled = 512

let dawn, device
const errors = /** @type {string[]} */ ([])
const programs = new Map(),
  templates = new Map(),
  pipelines = new Map()

function loadDawn() {
  try {
    return createRequire(join(process.env.HEED_NPM ?? '', 'package.json'))('webgpu')
  } catch {
    throw new Error('no Dawn here (wgsl_compilers fetches it by npm)')
  }
}

async function open() {
  const { create, globals } = loadDawn()
  Object.assign(globalThis, globals)
  dawn = create([]) // what it makes dies with it
  const adapter = await dawn.requestAdapter()
  if (!adapter) throw new Error('Dawn finds no Vulkan driver (VK_ICD_FILENAMES)')
  const hasSubgroups = adapter.features.has('subgroups')
  device = await adapter.requestDevice({ requiredFeatures: hasSubgroups ? ['subgroups'] : [] })
  device.addEventListener('uncapturederror', ({ error }) => errors.push(error.message))
  return hasSubgroups
}

const roundUp = (/** @type {number} */ bytes) => Math.max(Math.ceil(bytes / 4) * 4, 256)

function buffer(/** @type {number} */ bytes) {
  const { STORAGE, COPY_SRC, COPY_DST } = GPUBufferUsage
  return device.createBuffer({ size: roundUp(bytes), usage: STORAGE | COPY_SRC | COPY_DST })
}

/** Slots that are read where another slot of the dispatch writes: one variable each. */
function findShared({ ranges }) {
  const shared = {}
  ranges.forEach((range, slot) => {
    if (!range.place || range.written) return
    const same = ranges.findIndex(
      (other) =>
        other.written &&
        ['place', 'block', 'offset', 'bytes'].every((key) => other[key] === range[key])
    )
    if (same >= 0) shared[slot] = same
  })
  return shared
}

/** A pipeline and its buffers, made once for a shader with its constants. */
function pipelineOf(dispatch, unroll) {
  const { shader, constants } = dispatch,
    shared = findShared(dispatch),
    key = JSON.stringify([shader, constants, shared, unroll])
  const made = pipelines.get(key)
  if (made) return made
  if (!templates.has(shader)) templates.set(shader, convert(readModule(shader)))
  const filled = fill(templates.get(shader), constants, { unroll, shared })
  const entries = filled.buffers.map(({ writes }, binding) => ({
    binding,
    visibility: GPUShaderStage.COMPUTE,
    buffer: { type: writes ? 'storage' : 'read-only-storage' }
  }))
  const params = {
    binding: 0,
    visibility: GPUShaderStage.COMPUTE,
    buffer: { type: 'uniform', hasDynamicOffset: true }
  }
  const layouts = [entries, filled.params ? [params] : []].map((list) =>
    device.createBindGroupLayout({ entries: list })
  )
  const pipeline = device.createComputePipeline({
    layout: device.createPipelineLayout({ bindGroupLayouts: layouts }),
    compute: { module: device.createShaderModule({ code: filled.code }), entryPoint: 'main' }
  })
  const result = { ...filled, pipeline, layouts }
  pipelines.set(key, result)
  return result
}

class Program {
  constructor(plan) {
    this.plan = plan
    this.arena = buffer(plan.arena)
    this.scratch = buffer(plan.scratch)
    this.blocks = plan.blocks.map(buffer)
    this.counter = buffer(4)
    this.blank = [buffer(256), buffer(256)]
    this.before = { [place.arena]: buffer(plan.arena), [place.scratch]: buffer(plan.scratch) }
    const { UNIFORM, COPY_DST } = GPUBufferUsage,
      words = new Uint32Array((plan.dispatches.length * paramBytes) / 4)
    plan.dispatches.forEach(({ push }, i) => words.set(push, (i * paramBytes) / 4))
    this.params = device.createBuffer({ size: words.byteLength, usage: UNIFORM | COPY_DST })
    device.queue.writeBuffer(this.params, 0, words)
  }

  bufferOf({ place: where, block }) {
    return {
      [place.arena]: this.arena,
      [place.weights]: this.blocks[block],
      [place.scratch]: this.scratch,
      [place.counter]: this.counter
    }[where]
  }

  /** What a slot reads or writes; reads of a written buffer are from a copy. */
  resource(range, writes, written) {
    if (!range.place) return { buffer: this.blank[Number(writes)] }
    const own = this.bufferOf(range),
      from = !writes && written.has(own) ? this.before[range.place] : own
    return { buffer: from, offset: range.offset, size: Math.ceil(range.bytes / 4) * 4 }
  }

  dispatch(encoder, dispatch, i) {
    const made = pipelineOf(dispatch, this.plan.unrolled ? unrolled : 0),
      ranges = made.buffers.map(({ slot }) => dispatch.ranges[slot]),
      written = new Set(
        ranges.filter((_, k) => made.buffers[k].writes).map((range) => this.bufferOf(range))
      )
    for (const own of [this.arena, this.scratch])
      if (written.has(own))
        encoder.copyBufferToBuffer(
          own,
          0,
          this.before[own === this.arena ? place.arena : place.scratch],
          0,
          own.size
        )
    const entries = ranges.map((range, binding) => ({
      binding,
      resource: this.resource(range, made.buffers[binding].writes, written)
    }))
    const pass = encoder.beginComputePass()
    pass.setPipeline(made.pipeline)
    pass.setBindGroup(0, device.createBindGroup({ layout: made.layouts[0], entries }))
    const params = [{ binding: 0, resource: { buffer: this.params, size: 128 } }]
    pass.setBindGroup(
      1,
      device.createBindGroup({ layout: made.layouts[1], entries: made.params ? params : [] }),
      made.params ? [i * paramBytes] : []
    )
    pass.dispatchWorkgroups(...dispatch.groups)
    pass.end()
  }

  async run() {
    for (let i = 0; i < this.plan.dispatches.length; i += 16) {
      const encoder = device.createCommandEncoder()
      this.plan.dispatches
        .slice(i, i + 16)
        .forEach((dispatch, k) => this.dispatch(encoder, dispatch, i + k))
      device.queue.submit([encoder.finish()])
      await device.queue.onSubmittedWorkDone()
    }
  }

  async read(offset, bytes) {
    const start = Math.floor(offset / 4) * 4,
      size = Math.ceil((offset + bytes - start) / 4) * 4,
      { MAP_READ, COPY_DST } = GPUBufferUsage,
      staging = device.createBuffer({ size, usage: MAP_READ | COPY_DST }),
      encoder = device.createCommandEncoder()
    encoder.copyBufferToBuffer(this.arena, start, staging, 0, size)
    device.queue.submit([encoder.finish()])
    await staging.mapAsync(GPUMapMode.READ)
    const found = Buffer.from(
      staging.getMappedRange().slice(offset - start, offset - start + bytes)
    )
    staging.destroy()
    return found
  }

  destroy() {
    const all = [
      this.arena,
      this.scratch,
      this.counter,
      this.params,
      ...this.blocks,
      ...this.blank,
      ...Object.values(this.before)
    ]
    for (const one of all) one.destroy()
  }
}

const write = (/** @type {GPUBuffer} */ to, offset, data) => {
  const whole = Buffer.alloc(Math.ceil(data.length / 4) * 4)
  data.copy(whole)
  device.queue.writeBuffer(to, offset, whole)
}

/** What an operation answers: bytes, or nothing where C does not wait. */
async function execute(operation, { program, block, offset }, data) {
  const at = programs.get(program)
  switch (operation) {
    case 'hello':
      return Buffer.from(new Uint32Array([Number(await open())]).buffer)
    case 'create':
      programs.set(program, new Program(JSON.parse(data.toString())))
      return undefined
    case 'put':
      write(at.blocks[block], offset, data)
      return undefined
    case 'write':
      write(at.arena, offset, data)
      return undefined
    case 'run':
      await at.run()
      if (errors.length) throw new Error(errors.splice(0)[0])
      return Buffer.alloc(4)
    case 'read':
      return at.read(offset, Number(data.readBigUInt64LE(0)))
    case 'destroy':
      at?.destroy()
      programs.delete(program)
  }
  return undefined
}

function answer(failed, data) {
  const all = Buffer.concat([
    Buffer.from(new Uint32Array([Number(failed), data.length]).buffer),
    data
  ])
  for (let at = 0; at < all.length; )
    try {
      at += writeSync(3, all, at)
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error
    }
}

async function handle(frame, data) {
  const operation = operations[frame.operation]
  try {
    const found = await execute(operation, frame, data)
    if (found) answer(false, found)
  } catch (error) {
    if (['hello', 'run', 'read'].includes(operation))
      answer(true, Buffer.from(String(error.message)))
    else errors.push(error.message)
  }
}

let rest = Buffer.alloc(0)
for await (const chunk of process.stdin) {
  rest = rest.length ? Buffer.concat([rest, chunk]) : chunk
  while (rest.length >= frameBytes) {
    const bytes = Number(rest.readBigUInt64LE(24))
    if (rest.length < frameBytes + bytes) break
    const frame = {
      operation: rest.readUInt32LE(0),
      program: rest.readUInt32LE(4),
      block: rest.readUInt32LE(8),
      offset: Number(rest.readBigUInt64LE(16))
    }
    const data = rest.subarray(frameBytes, frameBytes + bytes)
    await handle(frame, Buffer.from(data))
    rest = rest.subarray(frameBytes + bytes)
  }
}
process.exit(0)
