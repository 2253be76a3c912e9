/* Executes what pipe_backend.c sends, on Dawn, by the library's own device and program; WGSL is of the
 * modules in HEED_SPIRV. */
import { writeSync } from 'node:fs'
import { convert } from '../../web/gpu/convert.js'
import { Device } from '../../web/gpu/device.js'
import { Program, readDispatch } from '../../web/gpu/program.js'
import { loadDawn } from './npm_packages.mjs'
import { readModule } from './spirv_modules.mjs'

/* as in pipe_backend.c and gpu/builder.h */
const operations = ['hello', 'begin', 'buffer', 'dispatch', 'write', 'run', 'read', 'end'],
  frameBytes = 32,
  nameBytes = 64,
  unrolled = 512

let dawn
/** One for loops kept, one for loops written out. */
const devices = []
const programs = new Map(),
  templates = new Map()
/** What failed in an operation for whose answer C does not wait. */
let failure

function dawnHere() {
  try {
    return loadDawn()
  } catch {
    throw new Error('no Dawn here (wgsl_compilers fetches it by npm)')
  }
}

function templateOf(shader) {
  if (!templates.has(shader)) templates.set(shader, convert(readModule(shader)))
  return templates.get(shader)
}

async function open() {
  const { create, globals } = dawnHere()
  Object.assign(globalThis, globals)
  dawn = create([]) // what it makes dies with it
  const adapter = await dawn.requestAdapter()
  if (!adapter) throw new Error('Dawn finds no Vulkan driver (VK_ICD_FILENAMES)')
  const hasSubgroups = adapter.features.has('subgroups')
  const device = await adapter.requestDevice({
    requiredFeatures: hasSubgroups ? ['subgroups'] : []
  })
  for (const unroll of [0, unrolled]) devices.push(new Device(device, { templateOf, unroll }))
  return hasSubgroups
}

async function run(program, first, end) {
  if (!program.ready) await program.prepare()
  program.ready = true
  program.run(first, end)
  await program.flush()
}

/** What an operation answers: bytes, or nothing where C does not wait. */
async function execute({ operation, number, buffer, end, offset, bytes }, data) {
  const at = programs.get(number)
  switch (operations[operation]) {
    case 'hello':
      return Buffer.from(new Uint32Array([Number(await open())]).buffer)
    case 'begin':
      programs.set(number, new Program(devices[buffer]))
      return undefined
    case 'buffer':
      at.buffer(buffer, offset)
      return undefined
    case 'dispatch': {
      const words = new Uint32Array(new Uint8Array(data).buffer, 0, (data.length - nameBytes) / 4),
        name = data.subarray(-nameBytes).toString()
      at.dispatch(readDispatch(words, name.slice(0, name.indexOf('\0'))))
      return undefined
    }
    case 'write':
      at.write(buffer, offset, new Uint8Array(data))
      return undefined
    case 'run':
      await run(at, buffer, end)
      return Buffer.alloc(4)
    case 'read': {
      const [found] = await at.read([{ buffer, offset, bytes }])
      at.device.check()
      return Buffer.from(found)
    }
    case 'end':
      at?.destroy()
      programs.delete(number)
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
  const waits = ['hello', 'run', 'read'].includes(operations[frame.operation])
  try {
    if (failure && waits) throw failure
    const found = await execute(frame, data)
    if (found) answer(false, found)
  } catch (error) {
    if (waits) answer(true, Buffer.from(String(error.message)))
    failure ??= error
  }
}

let rest = Buffer.alloc(0)
for await (const chunk of process.stdin) {
  rest = rest.length ? Buffer.concat([rest, chunk]) : chunk
  while (rest.length >= frameBytes) {
    const frame = {
      operation: rest.readUInt32LE(0),
      number: rest.readUInt32LE(4),
      buffer: rest.readUInt32LE(8),
      end: rest.readUInt32LE(12),
      offset: Number(rest.readBigUInt64LE(16)),
      bytes: Number(rest.readBigUInt64LE(24))
    }
    const follow = operations[frame.operation] === 'read' ? 0 : frame.bytes
    if (rest.length < frameBytes + follow) break
    const data = rest.subarray(frameBytes, frameBytes + follow)
    await handle(frame, data)
    rest = rest.subarray(frameBytes + follow)
  }
}
process.exit(0)
