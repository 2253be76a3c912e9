/* The module behind plain calls: one method for each message that a client sends, each taking one
 * object, whose values the client has held against options.js, and a context { progress(p), signal,
 * cancelled() }. Runs in the thread of the module: a worker, or the client's own. Objects are
 * numbers here, the addresses of the C objects. Results hold arrays of their own. */
import { asHeed, cancelled, closed, HeedError, notLoaded, said } from './error.js'
import { compile, inPages, pause } from './host.js'
import { address, nameOf, startModule, startSmall } from './module.js'
import { ModuleMemory } from './module_memory.js'
/** @import {Beside} from './beside.js' */
import { isForeign, openMore, openSources, withSources } from './source.js'
/**
 * @import {
 *   AnyMethods, CallContext, CheckCase, EngineOptions, GraphTools, Instance, MethodName, Methods,
 *   ModuleHost,
 *   ModuleExports, NamedFile, OpenModule, OpenSession, RunInput, SceneDrawing, Source, Table, WantedScene
 * } from '../types/library.js'
 */
/**
 * @import {
 *   CheckResult, ModelInfo, RunResult, SessionInfo, Status, Tensor
 * } from './index.js'
 */

/**
 * Of a part's names the first.
 * @param {string} pattern
 */
const partName = (pattern) => pattern.split('|')[0]
/** What is not set yet.
 * @type {any} */
const none = undefined
/** Bytes that a module without models may have: a new one has 1 MiB. */
const mostLeft = 1 << 24

export class Engine {
  /** @type {ModuleExports} undefined once closed */
  #exports = none
  /** @type {WebAssembly.Memory} */
  #memory = none
  /** @type {number} */
  #web = 0
  /** @type {ModuleMemory} */
  #module = none
  /** Ends the module and its threads.
   * @type {() => void} */
  #end = none
  /** @type {Table<number, {classes: number, patch: number, channels: number, ids: number[], tokenNames: string[]}>} */
  #models = new Map()
  /** @type {Map<number, OpenSession>} */
  #sessions = new Map()
  /** @type {Table<number, Source>} */
  #sources = new Map()
  /** Engines of what this module does not run; the numbers of their objects are higher.
   * @type {Beside | undefined} */
  #beside
  /** @type {CallContext | undefined} */
  #context
  /** @type {EngineOptions | undefined} */
  #options
  /** @type {Record<string, Promise<OpenModule>>} */
  #parts = {}
  /** @type {typeof import('./case.js').take} */
  #take = none
  /** @type {Promise<unknown>} */
  #tail = Promise.resolve()
  #nextSource = 1

  /** @param {EngineOptions} options */
  static async create(options) {
    const engine = new Engine()
    engine.#options = options
    await engine.#start(options)
    return engine
  }

  /** @param {EngineOptions} options */
  async #start(options) {
    const { exports, memory, web, threads, info } = await startModule(options, {
      read: (source, offset, to, count) => this.#read(source, offset, to, count),
      progress: (done, total) =>
        /** @type {CallContext} */ (this.#context).progress({ phase: 'read', done, total }),
      cancelled: () => /** @type {CallContext} */ (this.#context).cancelled(),
      take: (...result) => this.#take(this.#module, result)
    })
    this.#exports = exports
    this.#memory = memory
    this.#web = web
    this.#module = new ModuleMemory({ exports, memory, web })
    this.#end = () => {
      exports.destroy(web) // waits for all threads
      for (const thread of threads) thread.terminate()
    }
    this.info = {
      version: this.#module.string(exports.version()),
      ...info,
      device: this.#module.string(exports.device(web))
    }
  }

  /**
   * Runs one method after those called before it.
   * @param {MethodName} method
   * @param {Methods[MethodName]['args']} args
   * @param {CallContext} context
   * @returns {Promise<any>}
   */
  call(method, args, context) {
    const result = this.#tail.then(() => this.#run(method, args, context))
    this.#tail = result.catch(() => {})
    return result
  }

  /**
   * @param {MethodName} method
   * @param {Methods[MethodName]['args']} args
   * @param {CallContext} context
   * @returns {Promise<any>}
   */
  async #run(method, args, context) {
    if (!this.#exports) throw closed('runtime')
    if (context.cancelled()) throw cancelled(method)
    this.#context = context
    try {
      if (this.#beside?.has(args, method)) return await this.#beside.call(method, args, context)
      return await /** @type {AnyMethods} */ (/** @type {unknown} */ (this))[method](args, context)
    } catch (error) {
      if (!this.#exports) throw closed('runtime')
      // Memory never shrinks: where refused files made it large, another module takes its place, if
      // one starts.
      if (!inPages && !this.#models.size && this.#memory.buffer.byteLength > mostLeft) {
        const end = this.#end
        await this.#start(/** @type {EngineOptions} */ (this.#options)).then(
          () => (this.#options ? end() : this.close()), // closed meanwhile, the old one is, too
          () => {}
        )
      }
      throw asHeed(method, error)
    }
  }

  /* ----------------------------------------------------------------------------------------------
   * memory of the module */

  /** @param {string[]} names */
  #names(names) {
    return new TextEncoder().encode(names.map((name) => `${name}\0`).join(''))
  }

  /**
   * @param {number} source
   * @param {number} offset
   * @param {number} to
   * @param {number} count
   */
  #read(source, offset, to, count) {
    try {
      /** @type {Source} */
      this.#sources.get(source).read(offset, this.#module.bytes(to, count))
      return 0
    } catch {
      return 1
    }
  }

  /* ------------------------------------------------------------------------------------------------------------ models */

  /**
   * @param {Methods['loadModel']['args']} args
   * @param {CallContext} context
   */
  async loadModel({ files: wanted, way, weightsKey }, context) {
    const files = await this.#readForeign(
      await openSources(wanted, context.progress, context.signal),
      context,
      weightsKey
    )
    try {
      if (way) throw way
      return this.openFiles({ files })
    } catch (error) {
      this.#beside ??= new (await import('./beside.js')).Beside(this, this.#options)
      return await this.#beside.open(files, error, context)
    } finally {
      for (const file of files) file.end?.()
    }
  }

  /** @param {Methods['openFiles']['args']} args */
  openFiles({ files }) {
    const ids = files.map((file) => {
      this.#sources.set(this.#nextSource, file)
      return this.#nextSource++
    })
    try {
      const names = this.#names(files.map((file) => file.name))
      const sizes = new Float64Array(files.map((file) => file.size))
      this.#module.lend([names, sizes, new Uint32Array(ids)], (namesAt, sizesAt, idsAt) =>
        this.#module.check(
          this.#exports.model_open(this.#web, namesAt, names.length, sizesAt, idsAt, ids.length)
        )
      )
      const { address: model } = this.#module.out('opened'),
        family = this.#module.string(this.#exports.model_info(this.#web, model)),
        { rules, assumed, headsGuessed, eachClass, ...info } = this.#module.out('model'),
        { model_label, model_token } = this.#exports,
        strings = (
          /** @type {number} */ length,
          /** @type {(model: number, index: number) => number} */ at
        ) => Array.from({ length }, (_, i) => this.#module.string(at(model, i))),
        tokenNames = strings(info.prefixTokens, model_token)
      this.#models.set(model, { ...info, ids, tokenNames })
      return {
        id: model,
        info: {
          family,
          ...info,
          headsGuessed: !!headsGuessed,
          eachClass: !!eachClass,
          rules: this.#module.string(rules),
          assumed: assumed ? this.#module.string(assumed) : null,
          note: files.find((file) => file.note)?.note ?? null,
          labels: strings(info.classes, model_label),
          tokenNames
        }
      }
    } catch (error) {
      for (const source of ids) this.#sources.delete(source)
      throw error
    }
  }

  /**
   * With .safetensors in the place of files of PyTorch or ONNX, whose reader is loaded with the
   * first of them. It refuses files of other makers by name.
   * @param {NamedFile[]} files
   * @param {CallContext} context
   * @param {string} [key] the entry that is asked for
   */
  async #readForeign(files, { progress, signal }, key) {
    if (!files.some(isForeign) && key === undefined) return files
    const { readForeign } = await import('./pickle.js')
    /** @type {GraphTools} */
    const tools = {
      isForeign,
      ModuleMemory,
      HeedError,
      key,
      compile: (url) =>
        compile(url).catch((error) => {
          throw notLoaded(`${nameOf(url)}: cannot be loaded`, error)
        }),
      open: (named) => openMore(named, progress, signal),
      start: (name, host) => this.#startPart(name, host)
    }
    return readForeign(files, tools)
  }

  /** @param {{id: number}} args */
  tensors({ id }) {
    if (!this.#models.has(id)) throw closed('model')
    const { model_tensor: describe, model_absent: absentAt } = this.#exports,
      found = [],
      absent = []
    for (let i = 0; i < describe(this.#web, id, i); i++) {
      const { name, dtype, role, layer, bytes, used, shape } = this.#module.out('tensor')
      found.push({
        name: this.#module.string(name),
        dtype: this.#module.string(dtype),
        shape,
        bytes,
        used: used === 1,
        role: role
          ? partName(this.#module.string(role)).replace('#', /** @type {any} */ (layer))
          : null
      })
    }
    for (let at; (at = absentAt(id, absent.length)) !== 0; )
      absent.push(partName(this.#module.string(at)))
    return { found, absent }
  }

  /** @param {number[]} ids */
  #closeSources(ids) {
    for (const id of ids) {
      /** @type {Source} */
      this.#sources.get(id).close()
      this.#sources.delete(id)
    }
  }

  /** @param {{id: number}} args */
  closeModel({ id }) {
    if (!this.#models.has(id)) return
    for (const [session, { model }] of this.#sessions)
      if (model === id) this.closeSession({ id: session })
    this.#exports.model_close(this.#web, id)
    this.#closeSources(this.#models.get(id).ids)
    this.#models.delete(id)
  }

  /* ---------------------------------------------------------------------------------------------------------- sessions */

  /**
   * @param {Methods['createSession']['args']} args
   * @param {CallContext} context
   */
  async createSession(
    { model, taps = 'none', batch = 0, height = 0, width = 0, intervene },
    context
  ) {
    if (!this.#models.has(model)) throw closed('model')
    const named = Array.isArray(taps) ? taps : [],
      { ids, ...own } = this.#models.get(model)
    const files = ids.map((source) => this.#sources.get(source))
    await withSources(files, context.progress, context.signal, () =>
      this.#module.lend([this.#names(named)], (namesAt) =>
        this.#module.check(
          this.#exports.session_create(
            this.#web,
            model,
            batch,
            height,
            width,
            this.#module.code('keep', Array.isArray(taps) ? 'named' : taps),
            namesAt,
            named.length,
            this.#module.code('intervene', intervene ? (intervene.emptyRow ?? 'zero') : 'never'),
            intervene?.temperature ?? 1
          )
        )
      )
    )
    const { session: id, steps, pixels, ...info } = this.#module.out('session')
    this.#exports.session_memory(id)
    info.memory = this.#module.out('memory')
    info.tokenNames = own.tokenNames
    this.#sessions.set(id, {
      ...own,
      model,
      info,
      steps,
      pixels,
      taps,
      parts: [],
      ran: false
    })
    return { id, info }
  }

  /** @param {{id: number}} args */
  closeSession({ id }) {
    if (this.#sessions.delete(id)) this.#exports.session_close(id)
  }

  /** @param {number} id */
  #session(id) {
    const session = this.#sessions.get(id)
    if (!session) throw closed('session')
    return session
  }

  /**
   * @param {number} id
   * @param {string} name
   */
  #view(id, name) {
    this.#module.lend([this.#names([name])], (at) =>
      this.#module.check(this.#exports.session_view(id, at))
    )
    const { address, dtype, shape } = this.#module.out('value')
    return this.#module.tensor(dtype, shape, address)
  }

  /**
   * @param {number} id
   * @param {OpenSession} session
   * @param {RunInput} input
   * @param {'model' | 'whole'} [fit]
   */
  async #input(id, { info, pixels, channels: own }, { values, picture }, fit = 'model') {
    if (picture && own !== 3)
      throw new HeedError(
        'UNSUPPORTED',
        `run: the model takes no images in colour (found ${own} channels, expected 3; pixel_values are taken)`
      )
    if (picture) {
      const { data, width, height } = picture
      const channels = data.length / (width * height)
      if (
        !Number.isInteger(width) ||
        !Number.isInteger(height) ||
        width < 1 ||
        ![1, 3, 4].includes(channels)
      )
        throw new HeedError(
          'INVALID_ARGUMENT',
          `run: invalid image (found ${data.length} bytes for ${said(width)} x ${said(height)}, expected 1, 3 or 4 per pixel)`
        )
      const { prepare } = await import('./prepare.js'),
        part = await this.#part('picture')
      this.#module.check(this.#exports.session_preprocess(id, fit === 'whole'))
      const { address, count } = this.#module.out('block')
      return prepare(part, this.#module.bytes(address, count), picture, channels, info, (made) =>
        this.#module.bytes(pixels, made.length).set(made)
      )
    }
    const count = info.batch * own * info.height * info.width
    if (/** @type {Float32Array} */ (values).length !== count)
      throw new HeedError(
        'INVALID_ARGUMENT',
        `run: invalid pixel_values (found ${/** @type {Float32Array} */ (values).length}, expected ${count} numbers)`
      )
    new Float32Array(this.#memory.buffer, pixels, count).set(/** @type {Float32Array} */ (values))
    return null
  }

  /** @param {Methods['write']['args']} args */
  write({ id, name, data }) {
    this.#session(id)
    this.#module.lend([this.#names([name]), data], (nameAt, at) =>
      this.#module.check(this.#exports.session_set(id, nameAt, at, data.byteLength))
    )
  }

  /**
   * @param {Methods['run']['args']} args
   * @param {CallContext} context
   */
  async run({ id, input, fit }, context) {
    const session = this.#session(id)
    session.region = await this.#input(id, session, input, fit)
    this.#module.check(this.#exports.session_write(id))
    return this.#runParts(id, session, 0, context)
  }

  /**
   * What a layer reads of those before it is the output of the last, which lies where it was: a
   * tap's place is no other value's.
   * @param {Methods['runFrom']['args']} args
   * @param {CallContext} context
   */
  async runFrom({ id, layer }, context) {
    const session = this.#ran(id, 'run'),
      before = `layer.${layer - 1}.output`
    if (!session.taps.includes(before))
      throw new HeedError(
        'INVALID_ARGUMENT',
        `runFrom: earlier layers not retained (found no "${before}" in taps)`
      )
    return this.#runParts(id, session, layer + 1, context)
  }

  /**
   * Part 0 is the embeddings, part i + 1 layer i; the last is what follows the layers.
   * @param {number} id
   * @param {OpenSession} session
   * @param {number} first
   * @param {CallContext} context
   * @returns {Promise<RunResult>}
   */
  async #runParts(id, session, first, context) {
    session.ran = false
    const start = performance.now()
    for (let part = first, step = first && session.parts[first]; step < session.steps; part++) {
      if (part > first && context.watched) {
        context.progress({
          phase: 'run',
          done: Math.min(part, session.info.layers),
          total: session.info.layers
        })
        await pause()
      }
      session.parts[part] = step
      this.#module.check(this.#exports.session_run_part(id, step))
      step = this.#module.out('step').next
    }
    const milliseconds = performance.now() - start
    session.ran = true
    const logits = session.classes ? this.#view(id, 'logits').data : null
    const attention =
      session.taps === 'all'
        ? Array.from(
            { length: session.info.layers },
            (_, i) => this.#view(id, `layer.${i}.attention.weights`).data
          )
        : null
    const values = Object.fromEntries(
      /** @type {string[]} */ (session.taps).map?.((name) => [name, this.#view(id, name)]) ?? []
    )
    return /** @type {RunResult} */ ({
      logits,
      attention,
      values,
      region: session.region,
      milliseconds
    })
  }

  /* -------------------------------------------------------------------------------------------------------------- maps */

  /** @param {number} id */
  #ran(id, what = 'attention') {
    const session = this.#session(id)
    if (!session.ran)
      throw new HeedError('INVALID_ARGUMENT', `${what}: no result yet (expected run() first)`)
    return session
  }

  /** @param {Methods['attention']['args']} args */
  attention({ id, layer, head, query = -1, batch = 0 }) {
    this.#ran(id)
    this.#module.check(
      this.#exports.session_attention(
        id,
        batch,
        layer === 'pool' ? 2 ** 30 : layer,
        head === 'mean' ? -1 : head,
        query
      )
    )
    return this.#module.takeFloats()
  }

  /**
   * @param {Methods['statistics']['args']} args
   * @returns {Promise<any>} HeadStatistics[][]
   */
  async statistics({ id, layer: only, batch }) {
    const {
        info: { layers, heads, tokenNames, rows, columns },
        patch
      } = this.#ran(id),
      { exports, memory, web } = await this.#part('explain')
    return (only === undefined ? [...Array(layers).keys()] : [only]).map((layer) =>
      Array.from({ length: heads }, (_, head) =>
        memory.lend([this.attention({ id, layer, head, batch })], (at) => {
          exports.map_statistics(web, at, tokenNames.length, rows, columns, patch)
          return memory.out('statistics')
        })
      )
    )
  }

  /** @param {Methods['rollout']['args']} args */
  async rollout(args) {
    const { info } = this.#ran(args.id),
      { rollout, rolloutRow } = await import('./maps.js')
    return (
      rolloutRow(this.#exports, this.#module, args) ??
      rollout(await this.#part('explain'), info, args, (at) => this.attention({ ...args, ...at }))
    )
  }

  /* -------------------------------------------------------------------------------------------------------- the runtime */

  /**
   * @param {string} name
   * @param {Partial<ModuleHost>} host
   */
  async #startPart(name, host) {
    try {
      const { base } = /** @type {EngineOptions} */ (this.#options)
      return await startSmall(address(`heed-${name}.wasm`, base), host)
    } catch (error) {
      throw notLoaded(`${name}: cannot load its module`, error)
    }
  }

  /** @param {string} name */
  async #openPart(name) {
    const instance = await this.#startPart(name, {
        take: (...result) => this.#take(memory, result)
      }),
      memory = new ModuleMemory(instance)
    return { ...instance, memory }
  }

  /**
   * What few pages need lies in modules of their own, each loaded for its first call; and so do the
   * scripts that call them. One that did not come is asked for again.
   * @param {'check' | 'explain' | 'picture' | 'scene'} name
   */
  #part(name) {
    const part = (this.#parts[name] ??= this.#openPart(name))
    part.catch(() => delete this.#parts[name])
    return part
  }

  /**
   * A module that has the cases itself runs them on its own kernels and threads.
   * @param {CheckCase} wanted
   */
  async check(wanted) {
    const { runCase, take } = await import('./case.js'),
      own = { exports: this.#exports, web: this.#web, memory: this.#module }
    this.#take = take
    return runCase('check' in own.exports ? own : await this.#part('check'), wanted)
  }

  /**
   * What runs a scene and counts its maps is fetched with what draws it: the model may still be on
   * the line.
   * @param {WantedScene} wanted
   */
  async scene(wanted) {
    const { drawScene } = await import('./scene.js')
    for (const name of /** @type {const} */ (['scene', 'picture', 'explain'])) this.#part(name)
    return drawScene(await this.#part('scene'), wanted)
  }

  /** @param {{map: string}} args */
  async colormap({ map }) {
    const { coloursOf } = await import('./colours.js')
    return coloursOf(await this.#part('explain'), map)
  }

  memory() {
    return { used: this.#exports.used(this.#web), wasm: this.#memory.buffer.byteLength }
  }

  close() {
    if (!this.#exports) return
    for (const id of [...this.#models.keys()]) this.closeModel({ id })
    this.#parts = {}
    this.#beside?.close()
    this.#end()
    this.#exports = this.#options = none
  }
}
