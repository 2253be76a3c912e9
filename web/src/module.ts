/* Which WebAssembly module to take, and how to start it, alone or with threads. */
import { HeedError, notLoaded } from './error.js'
import {
  compile,
  countCores,
  inNode,
  mayWait,
  shimmed,
  wrapBrowserWorker,
  wrapNodeWorker
} from './host.js'
import { ModuleMemory } from './module_memory.js'
import { placeOf } from './place.js'
import type {
  EngineOptions,
  Instance,
  Instantiate,
  ModuleHost,
  StartedModule,
  StartingThread
} from '../types/library.js'
import type { RuntimeInfo } from 'heed'

/** Whether this engine takes (module (func (result v128) body)). */
const takes = (...body: number[]) =>
  WebAssembly.validate(
    new Uint8Array([
      0,
      97,
      115,
      109,
      1,
      0,
      0,
      0,
      1,
      5,
      1,
      96,
      0,
      1,
      123,
      3,
      2,
      1,
      0,
      10,
      body.length + 4,
      1,
      body.length + 2,
      0,
      ...body,
      11
    ])
  )
const zero = [65, 0, 253, 15] // (i8x16.splat (i32.const 0))
const takesSimd = () => takes(...zero, 253, 98) // i8x16.popcnt
const takesRelaxed = () => takes(...zero, ...zero, ...zero, 253, 133, 2) // f32x4.relaxed_madd
const threadsMost = 16
const stackBytes = 262144

/** Of the build: whether the package has these modules. */
declare const HEED_RELAXED: boolean

/** Literal addresses, each on its own, are what bundlers find. */
const own: Record<string, () => URL> = {
  'heed.wasm': () => new URL('./heed.wasm', import.meta.url),
  'heed-threads.wasm': () => new URL('./heed-threads.wasm', import.meta.url),
  ...(HEED_RELAXED && {
    'heed-relaxed.wasm': () => new URL('./heed-relaxed.wasm', import.meta.url),
    'heed-relaxed-threads.wasm': () => new URL('./heed-relaxed-threads.wasm', import.meta.url)
  }),
  'heed-all.wasm': () => new URL('./heed-all.wasm', import.meta.url),
  'heed-all-threads.wasm': () => new URL('./heed-all-threads.wasm', import.meta.url),
  ...(HEED_RELAXED && {
    'heed-all-relaxed.wasm': () => new URL('./heed-all-relaxed.wasm', import.meta.url),
    'heed-all-relaxed-threads.wasm': () =>
      new URL('./heed-all-relaxed-threads.wasm', import.meta.url)
  })
}
const address = (name: string, base?: string | URL) => placeOf(name, base, () => own[name]())

/** Whether memory may be shared with other threads. */
const mayShare = () =>
  typeof SharedArrayBuffer !== 'undefined' && (inNode || !!globalThis.crossOriginIsolated)

/** How many threads, and the sentence that says why. */
export async function chooseThreads(wanted: 'auto' | number) {
  const one = (why: string) => ({ threads: 1, why: `one thread: ${why}` })
  if (wanted === 1) return one('asked for')
  if (!mayShare()) return one('the page is not cross-origin isolated')
  if (!mayWait()) return one('a window may not wait for other threads, a worker may')
  if (wanted !== 'auto')
    return {
      threads: Math.min(wanted, threadsMost),
      why: `${Math.min(wanted, threadsMost)} threads: asked for`
    }
  const cores = Math.min(await countCores(), threadsMost)
  return cores > 1
    ? { threads: cores, why: `${cores} threads: one per core` }
    : one('this machine has one core')
}

const startScript = (base: string | URL | undefined) =>
  base
    ? new Worker(new URL('thread.js', base), { type: 'module' })
    : new Worker(new URL('./thread.js', import.meta.url), { type: 'module' })

/**
 * A thread that is starting; it joins once it gets its message. A browser tells at once when its
 * script does not load.
 */
async function startThread(base: string | URL | undefined): Promise<StartingThread> {
  const script = placeOf('thread.js', base, () => new URL('./thread.js', import.meta.url)),
    worker = inNode
      ? await wrapNodeWorker<string>(script, 'heed thread')
      : wrapBrowserWorker<string>(
          shimmed(() => startScript(base), new URL('thread.js', base || import.meta.url)),
          script
        )
  worker.hold(true) // until it has joined
  const joined = new Promise((resolve: (value?: undefined) => void, reject) =>
    worker.listen((reply) => (reply === 'ready' ? resolve() : reject(new Error(reply))), reject)
  ).finally(() => worker.hold(false))
  joined.catch(() => {}) // told again by whoever waits for it
  return { worker, joined }
}

/** Which instructions: { simd, why }, the latter for what was not taken. */
function chooseSimd(wanted: 'auto' | 'simd'): { simd: RuntimeInfo['simd']; why: string } {
  if (!takesSimd())
    throw new HeedError(
      'UNSUPPORTED',
      'runtime: no SIMD in WebAssembly (found an engine without it, expected one of 2023 or later)'
    )
  const why =
    wanted === 'simd'
      ? 'asked for'
      : !own['heed-relaxed.wasm']
        ? 'this package has none'
        : !takesRelaxed() && 'this engine has none'
  return why ? { simd: 'simd', why: `; no relaxed SIMD: ${why}` } : { simd: 'relaxed', why: '' }
}

/** @param kind whole: heed-all.wasm */
const nameFor = (
  simd: RuntimeInfo['simd'],
  { whole, threads }: { whole?: boolean; threads?: boolean }
) =>
  `heed${whole ? '-all' : ''}${simd === 'relaxed' ? '-relaxed' : ''}${threads ? '-threads' : ''}.wasm`

/**
 * Throws where the environment, such as jsdom, has not what heed is built on.
 */
function expectClasses() {
  const missing = ['TextEncoder', 'TextDecoder', 'AbortController', 'URL', 'performance'].filter(
    (name) => !(name in globalThis)
  )
  if (missing.length)
    throw new HeedError(
      'UNSUPPORTED',
      `heed: this environment lacks ${missing.join(' and ')} (found ${globalThis.navigator?.userAgent ?? 'none'}, expected a browser, a worker or Node 18 or later; a test can take the environment "node")`
    )
}

/** Memory of a module with threads. */
const sharedMemory = () =>
  new WebAssembly.Memory({
    initial: 16 /* pages of 64 KiB */,
    maximum: 65536,
    shared: true
  })

/** An instance of the module and a runtime in it, with the functions of `host` that it imports. */
export async function instantiate(
  module: WebAssembly.Module,
  host: ModuleHost,
  threads: number,
  shared?: WebAssembly.Memory
): Promise<Instance> {
  expectClasses()
  const { exports } = await (WebAssembly.instantiate as unknown as Instantiate)(module, {
    heed: host,
    env: { memory: shared }
  })
  exports._initialize()
  const web = exports.create(threads)
  if (!web) throw new HeedError('OUT_OF_MEMORY', 'runtime: out of memory')
  return { exports, memory: shared ?? exports.memory, web }
}

const nothing = () => 0

/**
 * A module in the calling thread, for calls that return at once. In a page it is the file that a
 * worker's runtime starts, so that one is fetched.
 */
export async function startHere(
  { base, simd: wanted = 'auto' }: Pick<EngineOptions, 'base' | 'simd'>,
  whole?: boolean,
  read: ModuleHost['read'] = nothing
): Promise<ModuleMemory> {
  const { simd } = chooseSimd(wanted),
    host = {
      ...{ read, progress: nothing, patched: nothing, take: nothing },
      cancelled: () => false
    },
    threads = !inNode && mayShare() && (await countCores()) > 1,
    file = address(nameFor(simd, { whole, threads }), base)
  try {
    return new ModuleMemory(
      await instantiate(await compile(file), host, 1, threads ? sharedMemory() : undefined)
    )
  } catch (error) {
    throw notLoaded(`${nameOf(file)}: cannot be loaded`, error)
  }
}

const nameOf = ({ pathname }: URL) => pathname.split('/').pop()

/**
 * Threads take longer to start than the module to compile, so they start meanwhile.
 * @param options base: where the threads' script lies
 */
async function startFile(
  file: URL,
  host: ModuleHost,
  info: StartedModule['info'],
  { base, onThreads }: EngineOptions
): Promise<StartedModule> {
  const { threads } = info
  const starting = Array.from({ length: threads - 1 }, () => startThread(base))
  for (const thread of starting) thread.catch(() => {}) // told below, once the module is there
  onThreads?.()
  try {
    const module = await compile(file).catch((error) => {
      throw notLoaded(`${nameOf(file)}: cannot be loaded`, error)
    })
    const instance = await instantiate(
        module,
        host,
        threads,
        threads > 1 ? sharedMemory() : undefined
      ),
      { exports, memory, web } = instance,
      stacks = starting.map(() => exports.alloc(web, stackBytes) + stackBytes)
    const started = await Promise.all(starting)
    started.forEach(({ worker }, i) =>
      worker.postMessage({
        module,
        memory,
        pool: exports.pool(web),
        index: i + 1,
        stack: stacks[i]
      })
    )
    await Promise.all(started.map(({ joined }) => joined)) // a policy or a missing script may forbid them
    return { ...instance, threads: started.map(({ worker }) => worker), info }
  } catch (error) {
    for (const { value } of (await Promise.allSettled(starting)) as { value?: StartingThread }[])
      value?.worker.terminate()
    throw error
  }
}

/**
 * Instantiates the best module: { exports, memory, web, info, threads }. `host` holds the
 * functions that the module imports.
 * @param whole heed-all.wasm
 */
export async function startModule(
  options: EngineOptions,
  host: ModuleHost,
  whole?: boolean
): Promise<StartedModule> {
  const { threads = 'auto', simd: wanted = 'auto', base } = options,
    { simd, why: noRelaxed } = chooseSimd(wanted),
    choice = await chooseThreads(threads),
    start = () =>
      startFile(
        address(nameFor(simd, { whole, threads: choice.threads > 1 }), base),
        host,
        { simd, threads: choice.threads, why: choice.why + noRelaxed },
        options
      )
  if (choice.threads > 1) {
    try {
      return await start()
    } catch (error) {
      if (error instanceof HeedError && error.status === 'OUT_OF_MEMORY') throw error
      choice.threads = 1
      choice.why = `one thread: the others could not start (${(error as Error).message})`
    }
  }
  return start()
}
