/* WebGPU beside the first module: an adapter, heed-gpu.wasm, whose planner lists what the device runs, and
 * the self-check. A call of that module that reads results is repeated once the device has given them. */
import { Device, DeviceLost } from '../gpu/device.js'
import { Program, readDispatch } from '../gpu/program.js'
import { cancelled } from './error.js'
import { compile, importByName, inNode, readOwn } from './host.js'
import { instantiate } from './module.js'
import { ModuleMemory } from './module_memory.js'
import { placeOf } from './place.js'
import type { Template } from '../gpu/types.js'
import type { RuntimeInfo } from 'heed'
import type { CallContext, EngineOptions, ModuleHost } from '../types/library.js'

export { DeviceLost }

type SelfCheck = NonNullable<RuntimeInfo['selfCheck']>

/** Why sessions run in WebAssembly: the end of a sentence. */
export class NoGpu extends Error {}

/** Of the build: whether the package has the module and the shaders. */
declare const HEED_WEBGPU: boolean

/** Literal addresses are what bundlers find. */
const own: Record<string, () => URL> = {
  ...(HEED_WEBGPU && {
    'heed-gpu.wasm': () => new URL('./heed-gpu.wasm', import.meta.url),
    'gpu-floor.deflate': () => new URL('./gpu-floor.deflate', import.meta.url),
    'gpu-subgroup.deflate': () => new URL('./gpu-subgroup.deflate', import.meta.url),
    'gpu-int8.deflate': () => new URL('./gpu-int8.deflate', import.meta.url)
  })
}

/** Numbers of PCI, by which the planner knows makers. */
const vendors: Record<string, number> = {
  nvidia: 0x10de,
  amd: 0x1002,
  intel: 0x8086,
  apple: 0x106b,
  arm: 0x13b5,
  qualcomm: 0x5143,
  'img-tec': 0x1010
}
/* Compilers that keep loops over constants, and spill for it (docs/webgpu.md). */
const unrolls = (vendor: string) => vendor === 'apple'
const mostUnrolled = 512
/** Of a page on iOS, which ends at 1.5 GB. */
const mostOnPhones = 2 ** 30
const isPhone = () => /iPhone|iPad|iPod/.test(globalThis.navigator?.userAgent ?? '')
/** Bytes of results that are kept for further calls. */
const mostKept = 1 << 26

const software = /swiftshader|llvmpipe|lavapipe|software|basic render/i

/** Milliseconds that an adapter or a device may take: a driver that never answers is none. */
const longestWait = 20000

/** What the promise gives in that time. */
async function inTime<T>(promise: Promise<T>, what: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    const end = () => reject(new NoGpu(`${what} did not answer in ${longestWait / 1000} seconds`))
    timer = setTimeout(end, longestWait)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

/** WebGPU's entrance: the browser's, or in Node that of npm's webgpu. */
async function findGpu(): Promise<GPU> {
  const there = globalThis.navigator?.gpu
  if (there) return there
  if (!inNode) throw new NoGpu('this browser has no WebGPU')
  try {
    const { create } = await importByName('webgpu')
    return create([])
  } catch {
    throw new NoGpu('Node has no WebGPU (npm install webgpu brings it)')
  }
}

interface OpenDevice {
  gpu: GPU
  adapter: GPUAdapter
  device: GPUDevice
  info: GPUAdapterInfo
  isSoftware: boolean
  hasSubgroups: boolean
}

async function openDevice(takesSoftware: boolean): Promise<OpenDevice> {
  const gpu = await findGpu(),
    asked = gpu.requestAdapter({ powerPreference: 'high-performance' }).catch(() => null),
    adapter = await inTime(asked, 'WebGPU')
  if (!adapter) throw new NoGpu('WebGPU has no adapter here')
  const { info, limits, features } = adapter,
    names = `${info.vendor} ${info.architecture} ${info.device} ${info.description}`,
    isSoftware = info.isFallbackAdapter === true || software.test(names)
  if (isSoftware && !takesSoftware)
    throw new NoGpu(`the adapter is software (found "${names.trim()}"), which is slower`)
  if (limits.maxStorageBuffersPerShaderStage < 8 || limits.maxComputeInvocationsPerWorkgroup < 256)
    throw new NoGpu('the adapter has less than WebGPU promises')
  const hasSubgroups =
    !isSoftware &&
    features.has('subgroups') &&
    info.subgroupMinSize === info.subgroupMaxSize &&
    gpu.wgslLanguageFeatures.has('subgroup_id')
  const given = adapter
    .requestDevice({
      requiredFeatures: hasSubgroups ? ['subgroups'] : [],
      requiredLimits: {
        maxStorageBuffersPerShaderStage: limits.maxStorageBuffersPerShaderStage,
        maxStorageBufferBindingSize: limits.maxStorageBufferBindingSize,
        maxBufferSize: limits.maxBufferSize
      }
    })
    .catch((error) => {
      throw new NoGpu(`the adapter gives no device (found "${(error as Error).message}")`)
    })
  const device = await inTime(given, 'the adapter')
  return { gpu, adapter, device, info, isSoftware, hasSubgroups }
}

/** What the planner is told, by the names of the record gpu_limits. */
function limitsOf({ gpu, device, info, isSoftware, hasSubgroups }: OpenDevice, half: boolean) {
  const { limits } = device,
    most = isPhone() ? mostOnPhones : 2 ** 32 - 256
  return {
    software: Number(isSoftware),
    subgroups: Number(hasSubgroups),
    vendor: vendors[info.vendor] ?? 0,
    lanes: info.subgroupMinSize === info.subgroupMaxSize ? (info.subgroupMaxSize ?? 32) : 32,
    invocations: limits.maxComputeInvocationsPerWorkgroup,
    shared: limits.maxComputeWorkgroupStorageSize,
    groups: limits.maxComputeWorkgroupsPerDimension,
    fill: 256,
    bindings: limits.maxStorageBuffersPerShaderStage,
    range: Math.min(limits.maxStorageBufferBindingSize, most),
    buffer: Math.min(limits.maxBufferSize, most),
    half: Number(half),
    dot: Number(gpu.wgslLanguageFeatures.has('packed_4x8_integer_dot_product'))
  }
}

/** Shaders of the package, a file at a time: JSON in zlib's format, a tenth of its bytes. */
function templatesOf(base: string | URL | undefined) {
  const files = new Map<string, Promise<Record<string, Template>>>()
  const load = async (name: string) => {
    const source = await readOwn(placeOf(name, base, own[name]))
    const { body } = ArrayBuffer.isView(source) ? new Response(source as BodyInit) : source
    return new Response(
      (body as ReadableStream).pipeThrough(new DecompressionStream('deflate'))
    ).json()
  }
  return async (shader: string) => {
    const part = shader.endsWith('_subgroup')
        ? 'subgroup'
        : /int8|quantise/.test(shader)
          ? 'int8'
          : 'floor',
      name = `gpu-${part}.deflate`
    if (!files.has(name)) files.set(name, load(name))
    try {
      return (await (files.get(name) as Promise<Record<string, Template>>))[shader]
    } catch (error) {
      files.delete(name)
      throw error
    }
  }
}

/** Where checks that passed are remembered, across pages of this origin; in Node nowhere. */
const remembered = () => (inNode ? undefined : globalThis.caches?.open('heed-webgpu'))
const passedHere = new Map<string, SelfCheck>()

/** Bytes that a program reads, by where they lie. */
interface Asked {
  program: number
  buffer: number
  offset: number
  bytes: number
}
const keyOf = ({ program, buffer, offset, bytes }: Asked) =>
  `${program} ${buffer} ${offset} ${bytes}`

export class Gpu {
  readonly device: Device
  readonly name: string
  readonly info: Pick<RuntimeInfo, 'device' | 'tier' | 'selfCheck'>
  readonly half: boolean
  module!: ModuleMemory
  #open: OpenDevice
  #programs = new Map<number, Program>()
  #last = 0
  #asked: Asked[] = []
  #kept = new Map<string, Uint8Array>()
  #keptBytes = 0

  private constructor(open: OpenDevice, { base, weights }: EngineOptions) {
    const { vendor, architecture, device, description } = open.info
    this.#open = open
    this.half = weights === 'f16'
    this.name = [vendor, architecture, device, description].filter(Boolean).join(' ') || 'unnamed'
    this.info = {
      device: `WebGPU: ${this.name}`,
      tier: open.hasSubgroups ? 'subgroup' : 'floor',
      selfCheck: null
    }
    this.device = new Device(open.device, {
      templateOf: templatesOf(base),
      unroll: unrolls(vendor) ? mostUnrolled : 0,
      polls: /Firefox/.test(globalThis.navigator?.userAgent ?? '')
    })
  }

  /**
   * A device whose self-check passed.
   * @param host what the module imports beside WebGPU
   * @throws {NoGpu}
   */
  static async open(options: EngineOptions, host: ModuleHost, version: string): Promise<Gpu> {
    if (!own['heed-gpu.wasm']) throw new NoGpu('this package was built without its shaders')
    const gpu = new Gpu(await openDevice(options.softwareAdapter === true), options)
    try {
      await gpu.#start(options, host)
      await gpu.#trust(`${version} ${options.base ?? ''}`)
      return gpu
    } catch (error) {
      gpu.close()
      if (error instanceof NoGpu) throw error
      throw new NoGpu((error as Error).message)
    }
  }

  async #start({ base }: EngineOptions, host: ModuleHost) {
    const file = placeOf('heed-gpu.wasm', base, own['heed-gpu.wasm']),
      imports = { ...host, ...this.#imports() }
    this.module = new ModuleMemory(await instantiate(await compile(file), imports, 1))
    const { module } = this,
      { exports, web } = module,
      given = Object.entries(limitsOf(this.#open, this.half)),
      fields = Float64Array.from(module.fields('gpuLimits'), (field) =>
        Number(given.find(([name]) => name === field)?.[1])
      )
    module.lend([fields, new TextEncoder().encode(`${this.info.device}\0`)], (limits, name) =>
      module.check(exports.gpu_start(web, limits, name))
    )
  }

  /** What heed-gpu.wasm imports; shim.h says what each does. */
  #imports() {
    const at = (program: number) => this.#programs.get(program) as Program
    return {
      gpu_begin: () => {
        this.#programs.set(++this.#last, new Program(this.device))
        return this.#last
      },
      gpu_end: (program: number) => {
        this.#programs.get(program)?.destroy() // gone where the device was closed
        this.#programs.delete(program)
        this.#forget()
      },
      gpu_buffer: (program: number, buffer: number, bytes: number) =>
        at(program).buffer(buffer, bytes),
      gpu_dispatch: (program: number, words: number, count: number, shader: number) =>
        at(program).dispatch(
          readDispatch(
            new Uint32Array(this.module.memory.buffer, words, count),
            this.module.string(shader)
          )
        ),
      gpu_write: (program: number, buffer: number, offset: number, from: number, bytes: number) => {
        this.#forget()
        at(program).write(buffer, offset, this.module.bytes(from, bytes) as Uint8Array<ArrayBuffer>)
      },
      gpu_run: (program: number, first: number, end: number) => {
        this.#forget()
        at(program).run(first, end)
      },
      gpu_read: (program: number, buffer: number, offset: number, to: number, bytes: number) => {
        const asked = { program, buffer, offset, bytes },
          found = this.#kept.get(keyOf(asked)),
          target = this.module.bytes(to, bytes)
        if (found) target.set(found)
        else {
          target.fill(0)
          this.#asked.push(asked)
        }
      }
    }
  }

  #forget() {
    this.#kept.clear()
    this.#keptBytes = 0
  }

  /** The program of the session that the module made last. */
  get lastProgram() {
    return this.#programs.get(this.#last) as Program
  }

  /** Calls work, and calls it again when what it reads has come from the device. */
  async settle<Result>(work: () => Result): Promise<Result> {
    if (this.#keptBytes > mostKept) this.#forget()
    for (;;) {
      this.#asked = []
      let result: Result | undefined, failure: unknown
      try {
        result = work()
      } catch (error) {
        failure = error
      }
      this.device.check()
      if (!this.#asked.length) {
        if (failure) throw failure
        return result as Result
      }
      await this.#fetch(this.#asked)
    }
  }

  async #fetch(asked: Asked[]) {
    const each = new Map(asked.map((one) => [keyOf(one), one]))
    for (const program of new Set(asked.map((one) => one.program))) {
      const own = [...each].filter(([, one]) => one.program === program),
        found = await (this.#programs.get(program) as Program).read(own.map(([, one]) => one))
      own.forEach(([key], i) => {
        this.#kept.set(key, found[i])
        this.#keptBytes += found[i].length
      })
    }
  }

  /**
   * Calls make, which makes a session, and prepares its program. What the device has no memory for is
   * NoGpu; close ends what was made.
   */
  async prepare<Made>(
    make: () => Promise<Made>,
    close: (made: Made) => void,
    context?: CallContext
  ) {
    const { device } = this.device
    device.pushErrorScope('validation')
    device.pushErrorScope('out-of-memory')
    let made: Made | undefined, failure: unknown
    try {
      made = await make()
      await this.lastProgram.prepare(
        (done, total) => context?.progress({ phase: 'compile', done, total }),
        context?.signal
      )
    } catch (error) {
      failure = error
    }
    const scopes = [device.popErrorScope(), device.popErrorScope()]
    try {
      const [memory, invalid] = await this.device.wait(Promise.all(scopes))
      if (memory) throw new NoGpu(`the device is out of memory (found "${memory.message}")`)
      if (failure) throw context?.signal.aborted ? cancelled('createSession') : failure
      if (invalid) throw new NoGpu(`the device refuses a call (found "${invalid.message}")`)
      return made as Made
    } catch (error) {
      if (made !== undefined) close(made)
      throw error
    }
  }

  /* --------------------------------------------------------------------------------- self-check */

  /** Runs the self-check, unless it passed here before. @param files their version and place */
  async #trust(files: string) {
    const agent = inNode ? process.version : navigator.userAgent,
      key = [files, agent, this.name, this.info.tier, this.half].join('|'),
      { info } = this
    info.selfCheck = passedHere.get(key) ?? null
    if (info.selfCheck) return
    const cache = await Promise.resolve(remembered()).catch(() => undefined),
      address = cache && new URL(`heed-self-check?${encodeURIComponent(key)}`, location.href),
      before = address && (await cache.match(address))
    info.selfCheck = (await before?.json().catch(() => null)) ?? (await this.#checkDevice())
    passedHere.set(key, info.selfCheck as SelfCheck)
    if (address && !before) await cache.put(address, Response.json(info.selfCheck)).catch(() => {})
  }

  async #checkDevice(): Promise<SelfCheck> {
    const { module } = this,
      { exports, web } = module,
      check = await this.prepare(
        async () => {
          module.check(exports.gpu_check(web, !this.#open.isSoftware, this.half))
          return module.out('opened').address as number
        },
        (address) => exports.gpu_check_close(address)
      )
    try {
      await this.lastProgram.flush()
      const { passed, maxError, worst } = await this.settle(() => {
        module.check(exports.gpu_check_result(web, check))
        const found = module.out('gpuCheck')
        return { ...found, worst: module.string(found.worst) }
      })
      if (!passed)
        throw new NoGpu(
          `the self-check found ${worst} wrong on ${this.name} (an error of ${maxError.toPrecision(2)})`
        )
      return { maxError, worst }
    } finally {
      exports.gpu_check_close(check)
    }
  }

  close() {
    for (const program of this.#programs.values()) program.destroy()
    this.#programs.clear()
    this.device.destroy()
  }
}
