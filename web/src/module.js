/* Which WebAssembly module to take, and how to start it, alone or with threads. */
import { HeedError, notLoaded } from './error.js'
import {
  compile,
  countCores,
  inNode,
  inPages,
  mayWait,
  shimmed,
  wrapBrowserWorker,
  wrapNodeWorker
} from './host.js'
import { placeOf } from './place.js'
/**
 * @import {
 *   EngineOptions, Instance, Instantiate, ModuleExports, ModuleHost, StartedModule,
 *   StartingThread
 * } from '../types/library.js'
 */
/** @import {RuntimeInfo} from './index.js' */

/**
 * Whether this engine takes (module (func (result v128) body)).
 * @param {...number} body
 */
const takes = (...body) =>
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

/**
 * Literal addresses, each on its own, are what bundlers find.
 * @type {Record<string, () => URL>}
 */
const own = {
  'heed.wasm': () => new URL('./heed.wasm', import.meta.url),
  'heed-threads.wasm': () => new URL('./heed-threads.wasm', import.meta.url),
  'heed-relaxed.wasm': () => new URL('./heed-relaxed.wasm', import.meta.url),
  'heed-relaxed-threads.wasm': () => new URL('./heed-relaxed-threads.wasm', import.meta.url),
  'heed-scalar.wasm': () => new URL('./heed-scalar.wasm', import.meta.url),
  'heed-check.wasm': () => new URL('./heed-check.wasm', import.meta.url),
  'heed-explain.wasm': () => new URL('./heed-explain.wasm', import.meta.url),
  'heed-picture.wasm': () => new URL('./heed-picture.wasm', import.meta.url),
  'heed-pickle.wasm': () => new URL('./heed-pickle.wasm', import.meta.url),
  'heed-onnx.wasm': () => new URL('./heed-onnx.wasm', import.meta.url),
  'heed-scene.wasm': () => new URL('./heed-scene.wasm', import.meta.url)
}
/**
 * @param {string} name
 * @param {string | URL} [base]
 */
export const address = (name, base) => placeOf(name, base, () => own[name]())

/**
 * How many threads, and the sentence that says why.
 * @param {'auto' | number} wanted
 * @param {boolean} simd
 */
export async function chooseThreads(wanted, simd) {
  /** @param {string} why */
  const one = (why) => ({ threads: 1, why: `one thread: ${why}` })
  if (!simd) return one('the scalar module has no threads')
  if (wanted === 1) return one('asked for')
  if (typeof SharedArrayBuffer === 'undefined' || (!inNode && !globalThis.crossOriginIsolated))
    return one('the page is not cross-origin isolated')
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

/** @param {string | URL | undefined} base */
const startScript = (base) =>
  base
    ? new Worker(new URL('thread.js', base), { type: 'module' })
    : new Worker(new URL('./thread.js', import.meta.url), { type: 'module' })

/**
 * A thread that is starting; it joins once it gets its message. A browser tells at once when its
 * script does not load.
 * @param {string | URL | undefined} base
 * @returns {Promise<StartingThread>}
 */
async function startThread(base) {
  const script = placeOf('thread.js', base, () => new URL('./thread.js', import.meta.url)),
    worker = inNode
      ? await wrapNodeWorker(script, 'heed thread')
      : wrapBrowserWorker(
          inPages
            ? startScript(base)
            : shimmed(() => startScript(base), new URL('thread.js', base || import.meta.url)),
          script
        )
  worker.hold(true) // until it has joined
  const joined = new Promise((/** @type {(value?: undefined) => void} */ resolve, reject) =>
    worker.listen((reply) => (reply === 'ready' ? resolve() : reject(new Error(reply))), reject)
  ).finally(() => worker.hold(false))
  joined.catch(() => {}) // told again by whoever waits for it
  return { worker, joined }
}

/**
 * Which instructions: { simd, why }, the latter for what was not taken.
 * @param {'auto' | 'simd' | 'none'} wanted
 */
function chooseSimd(wanted) {
  const none = 'this engine has none',
    without = (
      /** @type {RuntimeInfo['simd']} */ simd,
      /** @type {string} */ what,
      /** @type {string} */ why
    ) => ({ simd, why: `; no ${what}SIMD: ${why}` })
  if (wanted === 'none' || !takesSimd())
    return without('none', '', wanted === 'none' ? 'asked for' : none)
  const why =
    wanted === 'simd'
      ? 'asked for'
      : !own['heed-relaxed.wasm']
        ? 'this package has none'
        : !takesRelaxed() && none
  return why ? without('simd', 'relaxed ', why) : { simd: 'relaxed', why: '' }
}

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

/**
 * Instantiates the module, with the functions of `host` that it imports.
 * @param {WebAssembly.Module} module
 * @param {Partial<ModuleHost>} host
 * @param {WebAssembly.Memory} [memory]
 * @returns {Promise<ModuleExports>}
 */
async function instantiate(module, host, memory) {
  if (!inPages) expectClasses()
  const { exports } = await /** @type {Instantiate} */ (
    /** @type {unknown} */ (WebAssembly.instantiate)
  )(module, {
    heed: host,
    Math,
    env: { memory, emscripten_notify_memory_growth() {} }
  })
  exports._initialize()
  return exports
}

/**
 * A runtime of `exports`, which are those of a module that has just been instantiated.
 * @param {ModuleExports} exports
 * @param {number} threads
 */
function create(exports, threads) {
  const web = exports.create(threads)
  if (!web) throw new HeedError('OUT_OF_MEMORY', 'runtime: out of memory')
  return web
}

/**
 * A module that runs on one thread in every engine: heed-check.wasm, which runs case files;
 * heed-scene.wasm, which draws scenes; heed-pickle.wasm, which reads files of PyTorch; heed-onnx.wasm, which reads those of ONNX; heed-picture.wasm, which prepares pictures; or
 * heed-explain.wasm, definitions of heed.h over plain arrays.
 * @param {URL} url
 * @param {Partial<ModuleHost>} [host]
 * @returns {Promise<Instance>}
 */
export async function startSmall(url, host = {}) {
  const exports = await instantiate(await compile(url), host)
  return { exports, memory: exports.memory, web: create(exports, 1) }
}

/** @param {URL} file */
export const nameOf = ({ pathname }) => pathname.split('/').pop()

/**
 * Threads take longer to start than the module to compile, so they start meanwhile.
 * @param {URL} file
 * @param {ModuleHost} host
 * @param {StartedModule['info']} info
 * @param {EngineOptions} options base: where the threads' script lies
 * @returns {Promise<StartedModule>}
 */
async function startFile(file, host, info, { base, onThreads }) {
  const { threads } = info
  const starting = Array.from({ length: threads - 1 }, () => startThread(base))
  for (const thread of starting) thread.catch(() => {}) // told below, once the module is there
  onThreads?.()
  try {
    const module = await compile(file).catch((error) => {
      throw notLoaded(`${nameOf(file)}: cannot be loaded`, error)
    })
    const memory =
      threads > 1
        ? new WebAssembly.Memory({
            initial: 16 /* pages of 64 KiB */,
            maximum: 65536,
            shared: true
          })
        : undefined
    const exports = await instantiate(module, host, memory),
      web = create(exports, threads)
    const stacks = starting.map(() => exports.alloc(web, stackBytes) + stackBytes)
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
    return {
      exports,
      memory: memory ?? exports.memory,
      web,
      threads: started.map(({ worker }) => worker),
      info
    }
  } catch (error) {
    for (const { value } of /** @type {{value?: StartingThread}[]} */ (
      await Promise.allSettled(starting)
    ))
      value?.worker.terminate()
    throw error
  }
}

/**
 * Instantiates the best module: { exports, memory, web, info, threads }. `host` holds the
 * functions that the module imports.
 * @param {EngineOptions} options
 * @param {ModuleHost} host
 * @returns {Promise<StartedModule>}
 */
export async function startModule(options, host) {
  const { threads = 'auto', simd = 'auto', base, modules } = options,
    instructions = chooseSimd(simd),
    choice = await chooseThreads(threads, instructions.simd !== 'none')
  const name = { relaxed: 'heed-relaxed', simd: 'heed', none: 'heed-scalar' }[instructions.simd]
  /** @param {string} kind */
  const start = (kind, file = `${name}${kind}.wasm`) =>
    startFile(
      modules ? new URL(modules[file]) : address(file, base),
      host,
      {
        simd: /** @type {RuntimeInfo['simd']} */ (instructions.simd),
        threads: choice.threads,
        why: choice.why + instructions.why
      },
      options
    )
  if (choice.threads > 1) {
    try {
      return await start('-threads')
    } catch (error) {
      if (error instanceof HeedError && error.status === 'OUT_OF_MEMORY') throw error
      choice.threads = 1
      choice.why = `one thread: the others could not start (${/** @type {Error} */ (error).message})`
    }
  }
  return start('')
}
