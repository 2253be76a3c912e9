/* The modules behind plain calls: one method for each message that a client sends, each taking one
 * object, whose values the client has held against options.js, and a context { progress(p), signal,
 * cancelled() }. Runs in the thread of the modules: a worker, or the client's own. Models and
 * sessions are numbers here. Results hold arrays of their own. */
import { asHeed, cancelled, closed, HeedError, refuseParts } from './error.js'
import { pause } from './host.js'
import { pixelCount, pixelsOf, writeInput } from './inputs.js'
import { rollout, rolloutRows, stepBack } from './maps.js'
import { infoOf, lendFiles, namesOf } from './model_records.js'
import { startModule } from './module.js'
import { ModuleMemory } from './module_memory.js'
import { isForeign, openMore, openSources, withSources } from './source.js'
import type { Gpu } from './gpu.js'
import type { GpuSide } from './gpu_side.js'
import type {
  AnyMethods,
  CallContext,
  CheckCase,
  EngineInfo,
  EngineOptions,
  GraphRuns,
  MethodName,
  Methods,
  ModuleHost,
  NamedFile,
  OpenFile,
  OpenModel,
  OpenPart,
  OpenSession,
  PatchStates,
  Pixels,
  Source,
  Table,
  WantedScene
} from '../types/library.js'
import type {
  CheckResult,
  HeadStatistics,
  ModelInfo,
  PreprocessOptions,
  ProfileResult,
  Region,
  RunResult,
  SessionInfo,
  Tensor
} from 'heed'

/** Of a part's names the first. */
const partName = (pattern: string) => pattern.split('|')[0]
/** What is not set yet. */
const none: any = undefined
/** Bytes that a module without models may have: a new one has 1 MiB. */
const mostLeft = 1 << 24

export class Engine {
  /** heed.wasm; undefined once closed. */
  #first: OpenPart = none
  /** heed-all.wasm, started by the first call that needs it. */
  #whole: Promise<OpenPart> | undefined
  #models: Table<number, OpenModel> = new Map()
  #sessions = new Map<number, OpenSession>()
  #sources: Table<number, Source> = new Map()
  #context: CallContext | undefined
  #options: EngineOptions
  /** WebGPU, where it was asked for. */
  #gpu: GpuSide | undefined
  /** Results of the case or explanation that runs. */
  #taken: [string, Tensor][] = []
  #tail: Promise<unknown> = Promise.resolve()
  #next = 1
  info: EngineInfo = none

  constructor(options: EngineOptions) {
    this.#options = options
  }

  static async create(options: EngineOptions) {
    const engine = new Engine(options)
    engine.#first = await engine.#start()
    const { module, info } = engine.#first,
      { exports, web } = module
    engine.info = {
      version: module.string(exports.version()),
      ...info,
      device: module.string(exports.device(web)),
      tier: null,
      selfCheck: null
    }
    if (options.device && options.device !== 'wasm') await engine.#openGpu()
    return engine
  }

  async #openGpu() {
    const { GpuSide } = await import('./gpu_side.js'),
      host = this.#host(() => (this.#gpu?.gpu as Gpu).module),
      { info } = this
    this.#gpu = await GpuSide.open(this.#options, host, info.version)
    const { gpu, why } = this.#gpu
    if (gpu) Object.assign(info, gpu.info)
    else info.why += `; WebAssembly in the place of WebGPU: ${why}`
  }

  /* ------------------------------------------------------------------------------------ modules */

  /** What a module imports. */
  #host(moduleOf: () => ModuleMemory): ModuleHost {
    return {
      read: (source, offset, to, count) => {
        try {
          this.#sources.get(source).read(offset, moduleOf().bytes(to, count))
          return 0
        } catch {
          return 1
        }
      },
      progress: (done, total) => {
        for (const source of this.#sources.values()) source.packs?.()
        ;(this.#context as CallContext).progress({ phase: 'read', done, total })
      },
      patched: (done, total) =>
        (this.#context as CallContext).progress({ phase: 'run', done, total }),
      cancelled: () => this.#context?.cancelled() ?? false,
      take: (name, dtype, rank, dim, data) => {
        const module = moduleOf(),
          shape = [...new Uint32Array(module.bytes(dim, 4 * rank).slice().buffer)]
        this.#taken.push([module.string(name), module.tensor(dtype, shape, data)])
      }
    }
  }

  async #start(whole = false): Promise<OpenPart> {
    const { info, threads, ...instance } = await startModule(
        this.#options,
        this.#host(() => module),
        whole
      ),
      module: ModuleMemory = new ModuleMemory(instance)
    return {
      module,
      info,
      end() {
        module.exports.destroy(module.web) // waits for all threads
        for (const thread of threads) thread.terminate()
      }
    }
  }

  /** heed-all.wasm. One that did not come is asked for again. */
  async #all() {
    try {
      const { module } = await (this.#whole ??= this.#start(true))
      return module
    } catch (error) {
      this.#whole = undefined
      throw error
    }
  }

  /**
   * Memory never shrinks: where refused files made it large, another module takes its place, if one
   * starts.
   */
  async #renew() {
    const isLarge = (part: OpenPart | undefined) =>
      part && part.module.memory.buffer.byteLength > mostLeft
    if (this.#models.size) return
    const first = this.#first,
      whole = await this.#whole?.catch(() => undefined)
    if (isLarge(whole)) {
      this.#whole = undefined
      whole?.end()
    }
    if (!isLarge(first)) return
    const next = await this.#start().catch(() => first)
    if (next === first) return
    if (this.#first) this.#first = next
    else next.end() // closed meanwhile, as the old one is
    if (this.#first) first.end()
  }

  /** Runs one method after those called before it. */
  call<M extends MethodName>(
    method: M,
    args: Methods[M]['args'],
    context: CallContext
  ): Promise<Methods[M]['result']> {
    const result = this.#tail.then(() => this.#run(method, args, context))
    this.#tail = result.catch(() => {})
    return result
  }

  async #run<M extends MethodName>(
    method: M,
    args: Methods[M]['args'],
    context: CallContext
  ): Promise<Methods[M]['result']> {
    if (!this.#first) throw closed('runtime')
    if (context.cancelled()) throw cancelled(method)
    this.#context = context
    try {
      return await (this as unknown as AnyMethods<M>)[method](args, context)
    } catch (error) {
      if (!this.#first) throw closed('runtime')
      await this.#renew()
      throw asHeed(method, error)
    }
  }

  memory() {
    return this.#sum()
  }

  async #sum() {
    const whole = await this.#whole?.catch(() => undefined),
      gpu = this.#gpu?.gpu,
      sum = { used: 0, wasm: 0, gpu: gpu?.device.bytes ?? 0 }
    for (const part of [this.#first, whole, gpu]) {
      if (!part) continue
      const { exports, memory, web } = part.module
      sum.used += exports.used(web)
      sum.wasm += memory.buffer.byteLength
    }
    return sum
  }

  close() {
    if (!this.#first) return
    for (const id of [...this.#models.keys()]) this.closeModel({ id })
    this.#whole?.then(
      (whole) => whole.end(),
      () => {}
    )
    this.#gpu?.close()
    this.#first.end()
    this.#first = none
  }

  /* ------------------------------------------------------------------------------------- models */

  /** Files that a module reads by numbers. */
  #admit(files: NamedFile[]): OpenFile[] {
    return files.map((file) => {
      const source = this.#next++
      this.#sources.set(source, file)
      return { file, source, name: file.name, size: file.size, reader: 0 }
    })
  }

  #dismiss({ exports, web }: ModuleMemory, files: OpenFile[]) {
    for (const { file, source, reader } of files) {
      if (reader) exports.reader_close(web, reader)
      this.#sources.delete(source)
      file.close()
    }
  }

  async loadModel(
    { files: wanted, told = [], way, weightsKey: key, text = false }: Methods['loadModel']['args'],
    context: CallContext
  ) {
    const { progress, signal } = context,
      own = wanted.filter(([name]) => !told.some(([said]) => said === name)),
      opened = await openSources(own, progress, signal)
    if (told.length) opened.push(...(await openMore(told, progress, signal)))
    const files = this.#admit(opened)
    let module = this.#first.module
    try {
      if (!opened.some(isForeign) && key === undefined && !way)
        return this.#openModel(module, files, text)
      const { openForeign } = await import('./foreign.js')
      module = await this.#all()
      return await openForeign(module, files, {
        key,
        way,
        isForeign: (file) => isForeign(file.file, opened.indexOf(file.file), opened),
        bring: async (named) => this.#admit(await openMore(named, progress, signal)),
        drop: (left) => this.#drop(module, files, left),
        text,
        open: () => this.#openModel(module, files, text),
        adopt: (address) => this.#adopt(module, address, files, text),
        keep: (address, info, graph) => this.#keep(module, address, files, info, graph)
      })
    } catch (error) {
      this.#dismiss(module, files)
      throw error
    } finally {
      for (const file of opened) file.end?.()
    }
  }

  /** Closes some of a model's files, which it goes without. */
  #drop(module: ModuleMemory, files: OpenFile[], left: OpenFile[]) {
    this.#dismiss(module, left)
    for (const file of left) files.splice(files.indexOf(file), 1)
  }

  #openModel(module: ModuleMemory, all: OpenFile[], text: boolean) {
    const files = all.filter(({ data }) => !data),
      { exports, web } = module
    lendFiles(module, files, (...list) =>
      module.check(exports.model_open(web, ...list, files.length, text))
    )
    return this.#adopt(module, module.out('opened').address, all, text)
  }

  /** What a module has opened of these files. */
  #adopt(module: ModuleMemory, address: number, files: OpenFile[], text: boolean) {
    const note = files.find((file) => file.note)?.note ?? null
    return this.#keep(
      module,
      address,
      files,
      { ...infoOf(module, address, text), note },
      undefined,
      text
    )
  }

  #keep(
    module: ModuleMemory,
    address: number,
    files: OpenFile[],
    info: ModelInfo,
    graph?: OpenModel['graph'],
    text?: boolean
  ) {
    const id = this.#next++
    this.#models.set(id, { module, address, files, info, graph, text })
    return { id, info }
  }

  #model(id: number) {
    const model = this.#models.get(id)
    if (!model) throw closed('model')
    return model
  }

  describe({ id }: { id: number }) {
    const { module, address, info } = this.#model(id)
    if (!info.patch) return `${info.note}\n` // a graph of which no more is known
    module.check(module.exports.model_describe(module.web, address))
    const { address: at, count } = module.out('block'),
      text = new TextDecoder().decode(module.bytes(at, count).slice())
    module.free(at)
    return text
  }

  tensors({ id }: { id: number }) {
    const { module, address, graph } = this.#model(id)
    if (graph) return graph.tensors()
    const { exports, web } = module,
      found = [],
      absent = []
    for (let i = 0; i < exports.model_tensor(web, address, i); i++) {
      const { name, dtype, role, layer, bytes, used, shape } = module.out('tensor')
      found.push({
        name: module.string(name),
        dtype: module.string(dtype),
        shape,
        bytes,
        used: used === 1,
        role: role ? partName(module.string(role)).replace('#', layer) : null
      })
    }
    for (let at; (at = exports.model_absent(address, absent.length)) !== 0; )
      absent.push(partName(module.string(at)))
    return { found, absent }
  }

  closeModel({ id }: { id: number }) {
    const model = this.#models.get(id)
    if (!model) return
    for (const [session, { model: of }] of this.#sessions)
      if (of === id) this.closeSession({ id: session })
    this.#models.delete(id)
    const { module, address, files } = model,
      { exports, web } = module
    model.endKept?.()
    model.whole?.close()
    model.gpu?.close()
    model.texts?.close()
    if (address) exports.model_close(web, address)
    this.#dismiss(module, files)
  }

  /* ----------------------------------------------------------------------------------- sessions */

  async createSession(args: Methods['createSession']['args'], context: CallContext) {
    const model = this.#model(args.model)
    if (!this.#gpu) return this.#makeInWasm(args, context, 'asked for')
    const refused = this.#gpu.refuses(model, model.module !== this.#first.module)
    if (refused !== undefined) return this.#makeInWasm(args, context, refused)
    const { isLost, reasonOf } = await import('./gpu_side.js')
    for (;;) {
      const gpu = await this.#gpu.current()
      if (!gpu) return this.#makeInWasm(args, context, this.#gpu.why as string)
      try {
        const made = await this.#makeOnGpu(gpu, args, context)
        return this.#gpu.isMeasured ? await this.#choose(made, args, context) : made
      } catch (error) {
        const why = reasonOf(error)
        if (!isLost(error, { gpu })) return this.#makeInWasm(args, context, why)
      }
    }
  }

  #makeInWasm(args: Methods['createSession']['args'], context: CallContext, why: string) {
    const model = this.#model(args.model),
      taps = model.graph ? model.graph.lowerFor(args) : args.taps
    return this.#makeSession({ ...args, taps }, context, model, { device: 'wasm', why })
  }

  #makeOnGpu(gpu: Gpu, args: Methods['createSession']['args'], context: CallContext) {
    const model = this.#model(args.model),
      openThere = () => this.#openAgain(gpu.module, model, false),
      on = {
        module: gpu.module,
        get address() {
          if (model.gpu?.of !== gpu) model.gpu = { ...openThere(), of: gpu }
          return model.gpu.address
        }
      }
    return gpu.prepare(
      () => this.#makeSession(args, context, on, { device: 'webgpu', why: gpu.name }, gpu),
      ({ id }) => this.closeSession({ id }),
      context
    )
  }

  /** Of the session on the GPU and the same in WebAssembly the faster one, by a second run of zeros. */
  async #choose(
    made: { id: number; info: SessionInfo },
    args: Methods['createSession']['args'],
    context: CallContext
  ) {
    const { choices } = this.#gpu as GpuSide,
      { batch, height, width } = made.info,
      key = [args.model, batch, height, width, args.taps].join(),
      time = async (id: number) => {
        const { pixels, channels } = this.#session(id),
          values = new Float32Array(batch * channels * height * width)
        if (!pixels) return 0
        await this.run({ id, input: { values } }, context)
        return (await this.run({ id, input: { values } }, context)).milliseconds
      }
    let other: { id: number; info: SessionInfo } | undefined
    if (!choices.has(key)) {
      other = await this.#makeInWasm(args, context, '')
      const gpu = await time(made.id),
        wasm = await time(other.id),
        why = `a run takes ${gpu.toFixed(1)} ms on the GPU, ${wasm.toFixed(1)} in WebAssembly`
      choices.set(key, { isGpu: gpu < wasm, why })
    }
    const { isGpu, why } = choices.get(key) as { isGpu: boolean; why: string }
    if (isGpu && other) this.closeSession(other)
    if (!isGpu) this.closeSession(made)
    const taken = isGpu ? made : (other ?? (await this.#makeInWasm(args, context, why)))
    taken.info.why = why
    return taken
  }

  /** @param where the module and the model's address there; `ran`: where a session says it runs */
  async #makeSession(
    args: Methods['createSession']['args'],
    { progress, signal }: CallContext,
    on: Pick<OpenModel, 'module' | 'address'>,
    place: Pick<SessionInfo, 'device' | 'why'>,
    gpu?: Gpu
  ): Promise<{ id: number; info: SessionInfo }> {
    const {
      model: of,
      taps = 'none',
      batch = 0,
      height = 0,
      width = 0,
      frames = 0,
      intervene,
      preprocess
    } = args
    const { files, info: own } = this.#model(of),
      { module } = on,
      { exports, web } = module,
      named = Array.isArray(taps) ? taps : [],
      streams = files.flatMap(({ file, held }) => (held ? [] : [file]))
    await withSources(streams, progress, signal, () =>
      module.lend([namesOf(named)], (names) =>
        module.check(
          exports.session_create(
            web,
            on.address,
            batch,
            height,
            width,
            module.code('keep', Array.isArray(taps) ? 'named' : taps),
            names,
            named.length,
            module.code('intervene', intervene ? (intervene.emptyRow ?? 'zero') : 'never'),
            intervene?.temperature ?? 1,
            frames
          )
        )
      )
    )
    const { session, steps, pixels, ...info } = module.out('session'),
      id = this.#next++
    try {
      if (preprocess) prepare(module, session, preprocess)
    } catch (error) {
      exports.session_close(session)
      throw error
    }
    exports.session_memory(session)
    info.memory = module.out('memory')
    info.tokenNames = own.tokenNames
    info.places = Array.from({ length: info.layers }, (_, layer) => {
      exports.session_layer(session, layer)
      return module.out('layer')
    })
    Object.assign(info, place)
    const { classes, channels, patch } = own,
      pictures = own.frames && info.frames * own.tubelet
    this.#sessions.set(id, {
      ...{ module, address: session, model: of, info, steps, pixels, taps },
      ...{ classes, channels, frames: pictures, patch, parts: [], ran: false },
      ...{ gpu, program: gpu?.lastProgram, args, writes: new Map() }
    })
    return { id, info }
  }

  closeSession({ id }: { id: number }) {
    const session = this.#sessions.get(id)
    this.#sessions.delete(id)
    session?.module.exports.session_close(session.address)
  }

  #session(id: number) {
    const session = this.#sessions.get(id)
    if (!session) throw closed('session')
    return session
  }

  write({ id, name, data }: Methods['write']['args']) {
    const { module, address, gpu, writes } = this.#session(id)
    if (gpu) writes.set(name, data.slice())
    module.lend([namesOf([name]), data], (nameAt, at) =>
      module.check(module.exports.session_set(address, nameAt, at, data.byteLength))
    )
  }

  /** pixel_values of images. Those of the last run stay, for what explains it. */
  prepare({ id, pictures, fit }: Methods['prepare']['args']): Methods['prepare']['result'] {
    const session = this.#session(id),
      { info, channels, frames } = session,
      before = pixelsOf(session).slice()
    try {
      const regions = writeInput(session, { pictures }, fit) as Region[],
        own = frames ? [frames, channels] : [channels],
        shape = [info.batch, ...own, info.height, info.width]
      return { shape, data: pixelsOf(session).slice(), regions }
    } finally {
      pixelsOf(session).set(before)
    }
  }

  /** Of the last run what the model gives, or what taps name. */
  value({ id, name }: Methods['value']['args']): Promise<Tensor> {
    return this.#read(id, () => viewOf(this.#ran(id, 'value'), name))
  }

  async run({ id, input, fit, maps, values }: Methods['run']['args'], context: CallContext) {
    const session = this.#session(id)
    session.regions = writeInput(session, input, fit)
    return this.#onDevice(id, context, () => {
      const { module, address } = session // another one once its device was lost
      module.check(module.exports.session_write(address))
      return this.#runParts(session, 0, context, { maps, values })
    })
  }

  /**
   * Calls work; where the session's device is lost meanwhile, makes the session anew and calls it again.
   * A device is opened once more, WebAssembly is never lost.
   */
  async #onDevice<Result>(
    id: number,
    context: CallContext,
    work: () => Result | Promise<Result>
  ): Promise<Result> {
    const session = this.#session(id)
    if (!session.gpu) return work()
    const { isLost } = await import('./gpu_side.js')
    for (;;) {
      try {
        return await work()
      } catch (error) {
        if (!isLost(error, session)) {
          session.program?.cancel()
          throw error
        }
        await this.#revive(session, context)
      }
    }
  }

  /** The session on the next device, with its inputs; run again where it had run. */
  async #revive(session: OpenSession, context: CallContext) {
    const { module, pixels, ran, writes, address } = session,
      count = pixels ? pixelCount(session) : 0,
      values = new Float32Array(module.memory.buffer, pixels, count).slice()
    const { id } = await this.createSession(session.args, context)
    const made = this.#session(id)
    this.#sessions.delete(id)
    module.exports.session_close(address)
    Object.assign(session, made, { regions: session.regions, writes })
    for (const [name, data] of writes)
      session.module.lend([namesOf([name]), data], (nameAt, at) =>
        session.module.check(
          session.module.exports.session_set(session.address, nameAt, at, data.byteLength)
        )
      )
    new Float32Array(session.module.memory.buffer, session.pixels, count).set(values)
    if (!ran) return
    session.module.check(session.module.exports.session_write(session.address))
    await this.#runParts(session, 0, context)
  }

  /** What work reads of a session's last run. */
  #read<Result>(id: number, work: () => Result, context = this.#context): Promise<Result> {
    const session = this.#session(id)
    return this.#onDevice(id, context as CallContext, () =>
      session.gpu ? session.gpu.settle(work) : work()
    )
  }

  /**
   * What a layer reads of those before it is the output of the last, which lies where it was: a
   * tap's place is no other value's.
   */
  async runFrom({ id, layer, values }: Methods['runFrom']['args'], context: CallContext) {
    const session = this.#ran(id, 'run'),
      before = `layer.${layer - 1}.output`
    if (!session.taps.includes(before))
      throw new HeedError(
        'INVALID_ARGUMENT',
        `runFrom: earlier layers not retained (found no "${before}" in taps)`
      )
    return this.#onDevice(id, context, () =>
      this.#runParts(session, layer + 1, context, { values })
    )
  }

  /** Part 0 is the embeddings, part i + 1 layer i; the last is what follows the layers. */
  async #runParts(
    session: OpenSession,
    first: number,
    context: CallContext,
    { maps = true, values = true }: { maps?: boolean; values?: boolean } = {}
  ): Promise<RunResult> {
    const { module, address, info, taps, gpu, program } = session,
      { layers } = info,
      view = (name: string) => viewOf(session, name)
    session.ran = false
    gpu?.device.check()
    const start = performance.now()
    for (let part = first, step = first && session.parts[first]; step < session.steps; part++) {
      if (part > first && context.watched) {
        context.progress({ phase: 'run', done: Math.min(part, layers), total: layers })
        await (program ? program.flush() : pause())
      }
      session.parts[part] = step
      module.check(module.exports.session_run_part(address, step))
      step = module.out('step').next
    }
    const results = () => ({
      logits: session.classes ? view('logits').data : null,
      attention:
        taps === 'all' && maps
          ? Array.from({ length: layers }, (_, i) => view(`layer.${i}.attention.weights`).data)
          : null,
      values: Object.fromEntries(
        Array.isArray(taps) && values ? taps.map((name) => [name, view(name)]) : []
      ),
      region: session.regions?.at(-1) ?? null,
      regions: session.regions ?? null
    })
    await program?.flush()
    const read = gpu ? await gpu.settle(results) : results()
    session.ran = true
    return {
      ...read,
      milliseconds: performance.now() - start,
      device: info.device,
      why: info.why
    } as RunResult
  }

  /** Of graphs alone: a session of its own takes the inputs. */
  async evaluate({ id, inputs, taps }: Methods['evaluate']['args'], context: CallContext) {
    const { graph } = this.#model(id)
    return (graph as NonNullable<OpenModel['graph']>).evaluate(inputs, taps === 'all', {
      open: (address) => {
        this.#model(id).address = address
      },
      make: async (names) => {
        const model = this.#model(id),
          place = { device: 'wasm', why: 'ONNX graphs run there' } as const
        return (await this.#makeSession({ model: id, taps: names }, context, model, place)).id
      },
      write: (session, name, data) => this.write({ id: session, name, data }),
      run: (session) => this.run({ id: session, input: { values: new Float32Array(0) } }, context), // all were written by their names
      close: (session) => this.closeSession({ id: session })
    })
  }

  /* --------------------------------------------------------------------------------------- maps */

  #ran(id: number, what = 'attention') {
    const session = this.#session(id)
    if (!session.ran)
      throw new HeedError('INVALID_ARGUMENT', `${what}: no result yet (expected run() first)`)
    return session
  }

  attention(args: Methods['attention']['args']) {
    return this.#read(args.id, () => this.#attention(args))
  }

  #attention({ id, layer, head, query = -1, batch = 0 }: Methods['attention']['args']) {
    const { module, address } = this.#ran(id)
    module.check(
      module.exports.session_attention(
        address,
        batch,
        layer === 'pool' ? 2 ** 30 : layer,
        head === 'mean' ? -1 : head,
        query
      )
    )
    return module.takeFloats()
  }

  /** What is defined for layers of one grid, and often for pictures alone. */
  #oneGrid(id: number, what: string, takesVideos = false) {
    const session = this.#ran(id, what)
    refuseParts(what, this.#model(session.model).info, takesVideos)
    return session
  }

  statistics(args: Methods['statistics']['args']): Promise<HeadStatistics[][]> {
    return this.#read(args.id, () => this.#statistics(args))
  }

  #statistics({ id, layer: only, batch }: Methods['statistics']['args']): HeadStatistics[][] {
    const {
        module,
        info: { layers, heads, tokenNames, rows, columns },
        patch
      } = this.#oneGrid(id, 'statistics'),
      { exports, web } = module
    return (only === undefined ? [...Array(layers).keys()] : [only]).map((layer) =>
      Array.from({ length: heads }, (_, head) =>
        module.lend([this.#attention({ id, layer, head, batch })], (at) => {
          exports.map_statistics(web, at, tokenNames.length, rows, columns, patch)
          return module.out('statistics')
        })
      )
    )
  }

  async rollout(args: Methods['rollout']['args'], context: CallContext) {
    const session = this.#oneGrid(args.id, 'rollout', true),
      map = (at: { layer: number; head: number }) => this.#attention({ ...args, ...at })
    if ((args.query ?? -1) < 0)
      return this.#read(args.id, () => rollout(session.module, session.info, args, map))
    return rolloutRows(session, args, context, (layer, rows) =>
      this.#read(args.id, () => stepBack(session, args, layer, rows, map), context)
    )
  }

  /** The patches' states of an image of the last run. */
  #patches(id: number, layer: number | undefined, batch: number): PatchStates {
    const session = this.#ran(id, 'explain'),
      { rows, columns, tokens, batch: most } = session.info,
      name = layer === undefined ? 'last_hidden_state' : `layer.${layer}.output`,
      { shape, data } = viewOf(session, name),
      channels = shape[2],
      first = batch * tokens * channels
    if (batch >= most || shape[1] !== tokens)
      throw new HeedError(
        'INVALID_ARGUMENT',
        `explain: no such patches (found image ${batch}, ${name} [${shape}], expected an image below ${most} and ${tokens} tokens)`
      )
    const states = data.subarray(
      first + (tokens - rows * columns) * channels,
      first + tokens * channels
    ) as Float32Array
    return { states, rows, columns, channels }
  }

  /** pixel_values of the last run: of one image, or of all. */
  #pixels(id: number, batch?: number): Pixels {
    const session = this.#ran(id, 'explain'),
      { module, channels, pixels, info } = session,
      count = channels * info.height * info.width,
      first = (batch ?? 0) * count
    if ((batch ?? 0) >= info.batch)
      throw new HeedError(
        'INVALID_ARGUMENT',
        `explain: no such image (found image ${batch}, expected one below ${info.batch})`
      )
    return {
      data: new Float32Array(module.memory.buffer, pixels, count * info.batch).slice(
        first,
        batch === undefined ? undefined : first + count
      ),
      shape: [batch === undefined ? info.batch : 1, channels, info.height, info.width]
    }
  }

  /** A model's files opened once more in another module, while they can be read. */
  #openAgain(module: ModuleMemory, model: OpenModel, text: boolean) {
    const files = model.files.filter(({ data }) => !data)
    lendFiles(module, files, (...list) =>
      module.check(module.exports.model_open(module.web, ...list, files.length, text))
    )
    const address = module.out('opened').address
    return { address, close: () => module.exports.model_close(module.web, address) }
  }

  /** The model of a session that is explained. */
  #explained(id: number) {
    const model = this.#model(this.#session(id).model)
    if (model.graph)
      throw new HeedError(
        'UNSUPPORTED',
        'explain: an ONNX graph has no layers to explain (expected weights of a vision transformer, or occlusion alone)'
      )
    return model
  }

  /** A model's address in heed-all.wasm; opened there again where it runs in heed.wasm. */
  #wholeAddress(module: ModuleMemory, model: OpenModel) {
    if (model.module === module) return model.address
    model.whole ??= this.#openAgain(module, model, false)
    return model.whole.address
  }

  /** An ONNX graph's session, to be run again. */
  #graphRuns({ id, batch }: Methods['explain']['args'], context: CallContext): GraphRuns {
    this.#pixels(id, batch) // it has run, and has such an image
    const { info, model } = this.#session(id),
      unwatched = { ...context, watched: false, progress: () => {} }
    return {
      pixels: this.#pixels(id).data,
      info,
      model: this.#model(model).info,
      run: async (values) => (await this.run({ id, input: { values } }, unwatched)).logits
    }
  }

  async explain(args: Methods['explain']['args'], context: CallContext) {
    if (this.#session(args.id).frames) this.#oneGrid(args.id, 'explain')
    const { explain } = await import('./explanation.js')
    return explain(args, context, {
      module: () => this.#all(),
      patches: (id, batch) => this.#read(id, () => this.#patches(id, args.layer, batch), context),
      pixels: (id, batch) => this.#pixels(id, batch),
      grid: (id) => {
        const { rows, columns } = this.#session(id).info
        return { rows, columns }
      },
      ...(this.#model(this.#session(args.id).model).graph && {
        graph: () => this.#graphRuns(args, context)
      }),
      run: async (module, text, call) => {
        const model = this.#explained(args.id),
          streams = model.files.flatMap(({ file, held }) => (held ? [] : [file]))
        this.#taken = []
        const make = () => {
          const tower = text && (model.texts ??= this.#openAgain(module, model, true)),
            address = this.#wholeAddress(module, model)
          if (args.keep) model.endKept = () => module.exports.explain_end(address)
          call(address, tower ? tower.address : 0)
        }
        await withSources(streams, context.progress, context.signal, make, true)
        return Object.fromEntries(this.#taken)
      }
    })
  }

  /* ------------------------------------------------------------------------- without a model */

  /** A case, or a standard's. */
  async check({
    bytes,
    tolerance = 0,
    results = false
  }: CheckCase): Promise<CheckResult | ProfileResult> {
    const module = await this.#all(),
      { exports, web } = module
    if (typeof bytes === 'string') {
      module.name([bytes], (at) => module.check(exports.check_profile(web, at, tolerance)))
      return JSON.parse(module.string(exports.check_counts()))
    }
    this.#taken = []
    module.lend([new Uint8Array(bytes)], (at) =>
      module.check(exports.check(web, at, bytes.byteLength, tolerance, results))
    )
    const { passed, maxAbs, maxRel, op, worst, shape } = module.out('check')
    return {
      op: module.string(op),
      passed: passed === 1,
      maxAbs,
      maxRel,
      worst: module.string(worst),
      shape,
      results: Object.fromEntries(this.#taken)
    }
  }

  scene({ seed = 0n, text }: WantedScene) {
    const { module } = this.#first,
      { exports, web } = module,
      at = module.alloc(exports.scene_size()),
      written = text === undefined ? [] : [new TextEncoder().encode(text)]
    try {
      module.lend(written, (textAt = 0) =>
        module.check(
          exports.scene_draw(
            web,
            at,
            textAt,
            written[0]?.length ?? 0,
            Number(seed & 0xffffffffn),
            Number(seed >> 32n)
          )
        )
      )
      const made = module.out('scene'),
        { side, grid } = made,
        data = new Uint8ClampedArray(module.bytes(made.rgba, side * side * 4))
      return {
        text: module.string(made.text),
        image: { data, width: side, height: side },
        owner: module.bytes(made.owner, grid * grid).slice(),
        twins: made.hasTwins ? [made.first, made.second] : null
      }
    } finally {
      module.free(at)
    }
  }

  colormap({ map }: { map: string }) {
    const { module } = this.#first,
      rgb = new Uint8Array(768)
    module.lend([namesOf([map]), rgb], (name, at) => {
      module.exports.colormap(name, at)
      rgb.set(module.bytes(at, rgb.length))
    })
    return rgb
  }
}

/** Hands over what replaces parts of the model's preprocessing. */
function prepare(
  module: OpenSession['module'],
  session: number,
  { mean, std, resample, crop, rescale }: PreprocessOptions
) {
  const means = [mean ?? []].flat(),
    deviations = [std ?? []].flat(),
    lent = (numbers: number[]) => Float32Array.of(...numbers, 0) // nothing is lent of no bytes
  module.lend([lent(means), lent(deviations), namesOf([resample ?? ''])], (meanAt, stdAt, name) =>
    module.check(
      module.exports.session_prepare(
        session,
        meanAt,
        means.length,
        stdAt,
        deviations.length,
        name,
        crop === 'none' ? -1 : (crop ?? 0),
        rescale ?? 0
      )
    )
  )
}

function viewOf({ module, address }: OpenSession, name: string) {
  module.name([name], (at) => module.check(module.exports.session_view(address, at)))
  const { address: at, dtype, shape } = module.out('value')
  return module.tensor(dtype, shape, at)
}
