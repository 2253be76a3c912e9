/* The runtime, the model and the last run: everything with numbers. Views ask here and draw. */
import { loadRows } from '../heed/explain/rows.js'
import { createRuntime } from '../heed/index.js'
import { demoModel } from '../heed/demo.js'
import { say } from '../languages/say.js'
import { tokenName } from '../plot/caption.js'
import { fetchModel } from './demo_files.js'
import { slice } from './attention_rows.js'
import { isChanged, unchanged } from './changes.js'
import { onDevice, type Device } from './device.js'
import type { ModelParts } from './model_parts.js'
import type { createMask } from './write_changes.js'
import type {
  CallOptions,
  ColormapName,
  DrawnScene,
  Model,
  ModelInfo,
  ModelSource,
  RunResult,
  Runtime,
  RuntimeOptions,
  Scene,
  Session,
  SessionOptions,
  Shaped
} from 'heed'
import type {
  Changes,
  Changing,
  Fusion,
  Layer,
  LoadOptions,
  NamedArray,
  PageQuery,
  PageSource,
  PageStatistics,
  PictureSize,
  PictureSource,
  RowPlace,
  RunnerResult,
  SavedMaps,
  ScoreStage,
  Shape
} from './types.js'

/* All maps of a run, and what they were made from, are kept below this; above it, rows are worked
 * out on demand. In bytes. */
const keepAtMost = 160e6

/** Whether all maps of so many tokens are kept. */
export const keepsAll = ({ layers, heads }: { layers: number; heads: number }, tokens: number) =>
  layers * heads * tokens * tokens * 4 <= keepAtMost

/* What stays in the module where the maps do not, up to this size. In bytes. */
const parts = ['query', 'key', 'attention.output', 'output'],
  partsAtMost = 640e6

const kept = (
  { layers, pool }: { layers: number; pool?: number },
  names = ['attention.weights', 'attention.output', 'query', 'key', 'value', 'output']
) => [
  ...(pool ? ['pool.attention.weights'] : []),
  ...Array.from({ length: layers }, (_, i) => names.map((what) => `layer.${i}.${what}`)).flat()
]

/** options: onProgress, signal, onMismatch (demo_files.js), and what createRuntime takes. scene:
 * the seed of one that is asked for next, or a promise of it. The demo model and what draws scenes come while the
 * runtime starts: on a slow line these are most of the wait. */
export async function createRunner({
  source = demoModel,
  scene,
  onProgress,
  signal,
  onMismatch,
  ...options
}: LoadOptions & RuntimeOptions & { source?: PageSource; scene?: number | Promise<number> } = {}) {
  const files =
    source === demoModel ? fetchModel(demoModel, { onProgress, signal, onMismatch }) : source
  for (const early of [files, scene]) Promise.resolve(early).catch(() => {}) // told below, unless the runtime fails first
  const start = (device: Device = 'wasm') =>
      createRuntime({ worker: true, ...options, ...onDevice(device) }), // a page never computes in its own thread
    [runtime, explain] = await Promise.all([start(), loadRows()]),
    engine = new ModelRunner(runtime, explain, start)
  onProgress?.({ phase: 'module' })
  if (scene !== undefined) engine.draw(await scene)
  await engine.load((await files) as ModelSource, { onProgress, signal })
  return engine
}

/** One of `count` equal parts of an array. */
const partOf = (data: Float32Array, part: number, count: number) =>
  data.subarray((part * data.length) / count, ((part + 1) * data.length) / count)

/* Rows of rollouts of one run that are kept: those of a walk over the layers, there and back. */
const rolloutsMost = 200
/* Values of one run that are kept where its session has them: those of a few layers. */
const valuesMost = 8

/* What stays of a run: all maps, handed out; in the module, what maps are made from; or queries and keys alone. */
type Keeps = 'maps' | 'parts' | 'rows'

const none: any = null // until the first model is loaded

export type Runner = ModelRunner

export class ModelRunner {
  #runtime
  #start
  /** Definitions of heed.h for rows, which return at once. */
  explain
  #model: Model = none
  #session: Session = none
  #busy: Promise<unknown> = Promise.resolve()
  #drawn: { scene: number | Scene; result: Promise<DrawnScene> } | null = null // { scene, result } that was begun before it is asked for
  #drawing: Promise<unknown> = Promise.resolve() // the last scene that was asked for
  #plain: Session = none // the session of the model as it is; #session is that, or one whose attention can be changed
  #changing: Changing = none // { session, key, written: inputs by name, ran: { picture, fit } of its last run, or null }
  #mask: ReturnType<typeof createMask> = none // once something is changed
  #keeps: Keeps = 'rows'
  #runs: WeakMap<Session, number> = new WeakMap() // how many each has had
  #values: WeakMap<object, Map<string, Promise<NamedArray | undefined>>> = new WeakMap() // by what a result is from
  #sized = {} // what createSession is given of `size`
  #light: Session | null = null // hands out queries and keys alone, for runs that the next one replaces at once; #plain where not all maps are kept
  #rollouts: WeakMap<RunnerResult, Map<string, Promise<Shaped | null>>> = new WeakMap()
  shape: Shape = none
  result: RunnerResult = none
  /** The last run of the picture with nothing changed, or null. */
  whole: (RunnerResult & { picture: PictureSource }) | null = null
  /** Of the pictures in pixels, where it is not the model's own. */
  size: PictureSize = null
  /** Where models run from the next load on. */
  device: Device = 'wasm'
  /** Maps from a file take the runtime's place until a model is loaded. */
  saved: SavedMaps | null = null
  /** Of a model with several grids, or of videos, of which there are maps alone. */
  parts: ModelParts | null = null

  /**
   * @param runtime of the first model
   * @param start makes one for each other model
   */
  constructor(
    runtime: Runtime,
    explain: Awaited<ReturnType<typeof loadRows>>,
    start: (device: Device) => Promise<Runtime>
  ) {
    this.#runtime = runtime
    this.explain = explain
    this.#start = start
  }

  /** Maps without what they are made from: no score, no change, nothing to explain. */
  get only() {
    return Boolean(this.saved ?? this.parts)
  }
  get info() {
    return this.#runtime.info
  }
  /** Where the last run was, by its name; a runtime on a GPU runs some models in WebAssembly. */
  get ranOn() {
    return this.info.tier && this.result?.device === 'wasm' ? 'WebAssembly' : this.info.device
  }
  /** The model itself, for what the page does not run. */
  get opened() {
    return this.#model
  }
  /** @returns of maps from a file: family, patch, no parameters and no labels */
  get model(): ModelInfo {
    return (this.saved ?? this.parts)?.model ?? this.#model.info
  }

  /** A scene, or a seed's; one that draw() began is the answer once. */
  scene(scene: number | Scene) {
    const drawn = this.#drawn?.scene === scene ? this.#drawn.result : this.#runtime.scene(scene)
    this.#drawn = null
    this.#drawing = drawn.catch(() => {})
    return drawn
  }

  draw(scene: number | Scene) {
    this.#drawn = { scene, result: this.#runtime.scene(scene) }
    this.#drawn.result.catch(() => {}) // told by who asks
  }

  colours(name: ColormapName) {
    return this.explain.colormap(name)
  }

  /** A session of a model at a size, with what the runner keeps of it. */
  async #open(model: Model, size: PictureSize, options?: CallOptions) {
    const { runHeight, runWidth, patch, prefixTokens, frames, stages } = model.info
    if (frames || stages) return this.#openParts(model, options)
    const [height = runHeight, width = runWidth] = size ?? [],
      sized = size ? { height, width } : {},
      tokens = prefixTokens + Math.floor(height / patch) * Math.floor(width / patch),
      { found } = await model.tensors(),
      pool = found.some(({ role }) => role === 'head.probe') ? Infinity : 0, // its heads are known after a run
      { layers } = model.info,
      ofParts = 4 * layers * parts.length * tokens * model.info.width,
      make = (taps: SessionOptions['taps']) => {
        session = model.createSession({ taps, ...sized, ...options })
        return session.ready
      }
    let keeps: Keeps = keepsAll(model.info, tokens)
        ? 'maps'
        : ofParts <= partsAtMost
          ? 'parts'
          : 'rows',
      session = none as Session
    const shape = await make(
      keeps === 'rows' ? keeps : kept({ layers, pool }, keeps === 'maps' ? undefined : parts)
    ).catch((error) => {
      if (error.status !== 'OUT_OF_MEMORY') throw error
      keeps = 'rows' // without room for more: rows on demand
      return make('rows')
    })
    return { session, keeps, size, sized, shape: { ...shape, pool } }
  }

  /** Rows of a video's maps are worked out on demand; windows are kept. */
  async #openParts(model: Model, options?: CallOptions) {
    const { ModelParts } = await import('./model_parts.js'),
      session = model.createSession({ taps: model.info.stages ? 'all' : 'rows', ...options }),
      parts = new ModelParts(session, await session.ready, model.info)
    return {
      session,
      keeps: 'rows' as const,
      size: null,
      sized: {},
      shape: parts.shape,
      parts
    }
  }

  #take({
    session,
    keeps,
    size,
    sized,
    shape,
    parts = null
  }: {
    session: Session
    keeps: Keeps
    size: PictureSize
    sized: object
    shape: Shape
    parts?: ModelParts | null
  }) {
    this.saved = null
    this.parts = parts
    this.#session = this.#plain = session
    this.#keeps = keeps
    this.#sized = sized
    this.size = size
    this.shape = shape
    this.result = none
  }

  #closeSessions() {
    for (const old of [this.#changing?.session, this.#light, this.#plain]) old?.close()
    this.#changing = none
    this.#light = this.whole = null
  }

  /** Takes the place of the model before, once it is ready; `result` is null until the next run. The
   * memory of a module never shrinks: each model has one of its own, which ends with it. */
  async load(
    source: ModelSource,
    { size = null, ...options }: CallOptions & { size?: PictureSize }
  ) {
    const before = this.#runtime,
      runtime = this.#model ? await this.#start(this.device).catch(() => before) : before // none can be fetched: the one that is there
    let model: Model | undefined, opened
    try {
      model = await runtime.loadModel(source, options)
      opened = await this.#open(model, size, options)
    } catch (error) {
      if (runtime === before) model?.close()
      else runtime.close()
      throw error
    }
    await Promise.all([this.#busy, this.#drawing]) // a run of the model before ends first
    this.#closeSessions()
    this.#model?.close()
    if (runtime !== before)
      before
        .memory()
        .catch(() => {})
        .then(() => before.close()) // what was asked of it is answered first
    this.#runtime = runtime
    this.#model = model
    this.#take(opened)
  }

  /** The model for pictures of another size, null: its own. The sessions before are closed first, so
   * that its weights are in memory once; they come back where it cannot take the size. `result` is
   * null until the next run. */
  resize(size: PictureSize, options: CallOptions) {
    const resized = this.#busy.then(async () => {
      this.result = none
      this.#closeSessions()
      try {
        this.#take(await this.#open(this.#model, size, options))
      } catch (error) {
        this.#take(await this.#open(this.#model, this.size))
        throw error
      }
    })
    this.#busy = resized.catch(() => {})
    return resized
  }

  openMaps(saved: SavedMaps) {
    this.saved = saved
    this.parts = null
    this.shape = saved.shape
    this.result = none
  }

  /** Shows another stage of a hierarchy, of the last run. Returns whether there is one. */
  showStage(stage: number) {
    const { parts } = this
    if (!parts || !(stage in parts.stages) || stage === parts.stage) return false
    parts.stage = stage
    this.shape = parts.shape
    this.result = { ...this.result }
    return true
  }

  /** What a session has from now on is of another run. */
  #next(session: Session) {
    const run = (this.#runs.get(session) ?? 0) + 1
    this.#runs.set(session, run)
    return { session, run }
  }

  async #runOf(session: Session, run: () => Promise<RunResult>) {
    const from = this.#next(session)
    return { ...(await run()), from }
  }

  /** Whether no other run of its session came since. */
  #isLast({ from }: Pick<RunnerResult, 'from'>) {
    return !from || this.#runs.get(from.session) === from.run
  }

  /**
   * A value of a run: of those that it handed out, else of its session, which has that of its last
   * run. Nothing where that did not keep it, or has run again.
   */
  async value(name: string, of: RunnerResult = this.result): Promise<NamedArray | undefined> {
    const { from, values } = of
    if (values[name] || !from || this.#keeps === 'rows') return values[name]
    const known = this.#values.get(from) ?? new Map()
    this.#values.set(from, known)
    if (!known.has(name) && !this.#isLast(of)) return undefined
    const found =
      known.get(name) ??
      from.session.value(name).then(
        (data) => ({ data, shape: [...data.dims] }) as NamedArray,
        () => undefined // a graph may not have it
      )
    known.delete(name)
    known.set(name, found)
    if (known.size > valuesMost) known.delete(known.keys().next().value)
    return found
  }

  /** Values of a run by their names, those that are there. */
  async values(names: string[], of: RunnerResult = this.result) {
    const found = await Promise.all(names.map((name) => this.value(name, of)))
    return Object.fromEntries(names.flatMap((name, i) => (found[i] ? [[name, found[i]]] : [])))
  }

  #statesIn(output: NamedArray | undefined) {
    const { tokens } = this.shape
    return output ? Array.from({ length: tokens }, (_, i) => partOf(output.data, i, tokens)) : null
  }

  /** The states of all tokens after a layer, an array each; null where they were not handed out. */
  states(layer: number) {
    return this.#statesIn(this.result.values[`layer.${layer}.output`])
  }

  /** The same, also where the session has them. */
  async statesAfter(layer: number) {
    return this.#statesIn(await this.value(`layer.${layer}.output`))
  }

  /** What each tensor of the model's files is for. */
  tensors() {
    if (this.saved) throw new Error(say('explorer.mapsFromFileNo'))
    return this.#model.tensors()
  }

  /** Whether a run with changes can be made, and read. */
  get canChange() {
    return Boolean(this.result && !this.only && (this.scored() || this.#keeps === 'parts'))
  }

  /** Whether states of the last run can be had. */
  get hasStates() {
    return Boolean(this.result.values['layer.0.output']) || (!this.only && this.#keeps === 'parts')
  }

  /** Whether a result has what a score of this stage is made from. */
  scored(stage: ScoreStage = 'masked', of: RunnerResult = this.result) {
    return Boolean(of.scores || (stage !== 'value' && of.values['layer.0.query']))
  }

  close() {
    this.#runtime.close()
  }

  get #sizes() {
    return { ...this.shape, width: this.#model.info.width }
  }

  async #runChanged(
    picture: PictureSource,
    changes: Changes,
    options: CallOptions & { fit: 'model' | 'whole'; values: boolean }
  ) {
    const { createMask, loadExplain, runChanged } = await import('./write_changes.js'),
      explain = await loadExplain()
    this.#mask ??= createMask(explain)
    const changing = (this.#changing ??= {} as any)
    if (changing.session) this.#next(changing.session)
    const result = await runChanged(
      explain,
      changing,
      this.#model,
      { taps: kept(this.shape, this.#keeps === 'maps' ? undefined : parts), ...this.#sized },
      this.#sizes,
      async (layer) => (await this.value(`layer.${layer}.attention.output`, this.whole!))!.data,
      picture,
      changes,
      options
    )
    return this.#runOf(changing.session, async () => result)
  }

  /**
   * With the maps of the pooling attention, where the model has one.
   * @param result the last of the session
   */
  async #withPool(result: RunnerResult, session: Session) {
    const { shape } = this
    if (shape.pool) {
      const { poolRows } = await import('./pooling.js')
      result.pool = await poolRows(session, shape.tokens)
      shape.pool = result.pool.length
    }
    return result
  }

  #withMaps(
    result: RunResult & Pick<RunnerResult, 'from'>,
    changes: Changes,
    fit: 'model' | 'whole'
  ): RunnerResult {
    const weights =
      result.values['layer.0.attention.weights'] &&
      Array.from(
        { length: this.shape.layers },
        (_, i) => result.values[`layer.${i}.attention.weights`].data as Float32Array
      )
    return {
      ...result,
      changes,
      fit,
      attention: weights ?? null,
      kept: Boolean(weights),
      scores: Boolean(weights)
    } as RunnerResult
  }

  /** Copying all maps out of the module takes as long as a layer or two. Queries, keys, values and states
   * are few, and rows are computed from them here: one that is asked of the module would miss the frame, and
   * wait for the run that follows. */
  async #runLight(picture: PictureSource, fit: 'model' | 'whole') {
    const session = (this.#light ??=
        this.#keeps === 'maps'
          ? this.#model.createSession({
              taps: kept(this.shape, ['query', 'key', 'value', 'output']),
              ...this.#sized
            })
          : this.#plain),
      result = await this.#runOf(session, () =>
        session.run(picture, { fit, values: this.#keeps === 'maps' })
      )
    this.#session = session
    return (this.result = await this.#withPool(
      {
        ...result,
        changes: unchanged,
        fit,
        attention: null,
        light: true,
        kept: false,
        scores: false
      } as RunnerResult,
      session
    ))
  }

  /** One run after the other; resolves to the result, which stays until the next. changes: as
   * changes.js has them; the first run with changes of a picture is led by one without, which stays
   * in `whole`. light: another run follows soon, so maps are computed on demand. fit: what of the
   * picture is seen, as a session's run takes it. */
  run(
    pictures: PictureSource | PictureSource[],
    {
      changes = unchanged,
      light = false,
      fit = 'model',
      ...options
    }: CallOptions & { changes?: Changes; light?: boolean; fit?: 'model' | 'whole' } = {}
  ): Promise<RunnerResult> {
    const run = this.#busy.then(async () => {
      if (this.saved) return (this.result = this.saved.result(pictures as any))
      if (this.parts) return (this.result = await this.parts.result(pictures, { ...options, fit }))
      const picture = Array.isArray(pictures) ? pictures[0] : pictures
      if (light && !isChanged(changes)) return this.#runLight(picture, fit)
      if (
        !isChanged(changes) ||
        this.whole?.picture !== picture ||
        this.whole.fit !== fit ||
        !this.#isLast(this.whole)
      ) {
        const values = this.#keeps === 'maps',
          plain = this.#plain
        this.result = await this.#withPool(
          this.#withMaps(
            await this.#runOf(plain, () => plain.run(picture, { ...options, fit, values })),
            unchanged,
            fit
          ),
          plain
        )
        this.#session = this.#plain
        this.whole = { picture, ...this.result }
      }
      if (!isChanged(changes) || !this.canChange) return this.result
      const values = this.#keeps === 'maps',
        changed = await this.#runChanged(picture, changes, { ...options, fit, values })
      this.result = await this.#withPool(
        this.#withMaps(changed, changes, fit),
        this.#changing.session
      )
      this.#session = this.#changing.session
      return this.result
    })
    this.#busy = run.catch(() => {})
    return run
  }

  /** The logits that a run with changes gives; `result` stays, but rollout and statistics want
   * another run before they are asked again. */
  logits(picture: PictureSource, changes: Changes) {
    const run = this.#busy.then(
      async () =>
        (await this.#runChanged(picture, changes, { fit: this.result.fit, values: false })).logits
    )
    this.#busy = run.catch(() => {})
    return run
  }

  /** The token's number: prefix tokens first, then patches in raster order. */
  token(query: PageQuery) {
    const { prefixTokens, columns } = this.shape
    if (Array.isArray(query)) return prefixTokens + query[0] * columns + query[1]
    return query === 'cls' ? 0 : query
  }

  nameOf(token: number) {
    const { prefixTokens, columns, tokenNames } = this.shape
    return tokenName(token, prefixTokens, columns, tokenNames)
  }

  /**
   * One row of weights (who does the query look at), or with reverse the column (who looks at it);
   * with a score stage, what the softmax saw. At once where all maps or queries and keys are kept.
   * of: the result that it is of.
   * @returns Float32Array [N], or a promise of it
   */
  row({
    layer,
    head,
    query,
    token = this.token(query as PageQuery),
    reverse = false,
    score = 'softmax',
    of = this.result
  }: RowPlace): any {
    const { tokens, heads } = this.shape,
      { attention, pool = [] } = of
    if (this.parts) return this.parts.row({ layer, head, token, reverse })
    if (layer === 'pool') return head === 'mean' ? this.explain.headMean(pool) : pool[head]
    if (score !== 'softmax' && this.scored(score, of))
      return this.#scores(of, layer, head, token, reverse, score)
    if (attention)
      return head === 'mean'
        ? this.explain.headMean(
            Array.from({ length: heads }, (_, i) =>
              slice(attention[layer], i, tokens, token, reverse)
            )
          )
        : slice(attention[layer], head, tokens, token, reverse)
    if (reverse) return this.#column(layer, head as number, token)
    return this.scored('softmax', of)
      ? this.#scores(of, layer, head, token, false, 'softmax')
      : (of.from?.session ?? this.#session).attention({ layer, head, query: token })
  }

  #scores(
    of: RunnerResult,
    layer: number,
    head: number | 'mean',
    token: number,
    reverse: boolean,
    stage: ScoreStage
  ): Float32Array {
    const { explain } = this,
      { heads, tokens } = this.shape,
      changes = of.changes as Changes
    const one = (head: number) => {
      const ofHead = (what: string) => partOf(of.values[`layer.${layer}.${what}`].data, head, heads)
      if (stage === 'value')
        return explain.scoreValues(
          this.row({ layer, head, token, reverse, of }),
          reverse ? partOf(ofHead('value'), token, tokens) : ofHead('value'),
          reverse
        )
      const [own, all] = reverse ? ['key', 'query'] : ['query', 'key'],
        row = explain.scoreProducts(
          partOf(ofHead(own), token, tokens),
          ofHead(all),
          stage !== 'raw'
        )
      if (stage === 'softmax') return Float32Array.from(explain.softmax(row))
      return stage === 'masked' && isChanged(changes)
        ? this.#mask(row, changes, this.#sizes, { layer, head, token, reverse })
        : row
    }
    return head === 'mean'
      ? explain.scoreMean(Array.from({ length: heads }, (_, i) => one(i)))
      : one(head)
  }

  async #column(layer: number, head: number, token: number) {
    const { tokens } = this.shape,
      matrix = await this.#session.attention({ layer, head })
    return slice(matrix, 0, tokens, token, true)
  }

  /** The name of a row of rows(). */
  layerAt(index: number): Layer {
    return index === this.shape.layers ? 'pool' : index
  }

  /** Rows of all heads: rows[layer][head], and after the layers those of the pooling attention,
   * which has weights of its own query alone. */
  async rows({
    query,
    token,
    reverse,
    score = 'softmax',
    of = this.result
  }: {
    query?: PageQuery
    token?: number
    reverse?: boolean
    score?: ScoreStage
    of?: RunnerResult
  }): Promise<Float32Array[][]> {
    const { layers, heads } = this.shape,
      { pool } = of
    const rows = await Promise.all(
      Array.from({ length: layers }, (_, layer) =>
        Promise.all(
          Array.from({ length: heads }, (_, head) =>
            this.row({ layer, head, query, token, reverse, score, of })
          )
        )
      )
    )
    return pool && !reverse && score === 'softmax' ? [...rows, pool] : rows
  }

  /** N x N of one head. */
  async matrix(layer: number, head: number, score: ScoreStage = 'softmax'): Promise<Float32Array> {
    const { tokens } = this.shape,
      { attention } = this.result
    if (this.parts) return this.parts.matrix(layer, head)
    if (!attention) return this.#session.attention({ layer, head })
    const matrix = new Float32Array(tokens * tokens)
    for (let token = 0; token < tokens; token++)
      matrix.set(this.row({ layer, head, token, score }), token * tokens)
    return matrix
  }

  /** null where another run came meanwhile, or the signal. A layer at a time where maps are worked out on
   * demand, so that rows need not wait long; each is told before. */
  async statistics({
    told = () => {},
    signal
  }: {
    told?: (layer: number, layers: number) => void
    signal?: AbortSignal
  } = {}): Promise<PageStatistics[][] | null> {
    const { saved, parts } = this,
      of = this.result
    if (saved)
      return saved.statistics().then((statistics) => (saved === this.saved ? statistics : null))
    if (parts)
      return parts.statistics().then((statistics) => (of === this.result ? statistics : null))
    const session = this.#session,
      layers = []
    if (of.kept) return session.statistics()
    const isWanted = () => of === this.result && !signal?.aborted
    for (let layer = 0; layer < this.shape.layers && isWanted(); layer++) {
      told(layer, this.shape.layers)
      layers.push(...(await session.statistics({ layer })))
    }
    return isWanted() ? layers : null
  }

  /** query null: the rows of all tokens, of a model. of: the result that it is of. Resolves to null
   * where another run came meanwhile: the session has the maps of its last. Where maps are made again,
   * told() counts layers, and the signal ends it. */
  rollout({
    query,
    first,
    last,
    of = this.result,
    told,
    signal,
    ...how
  }: {
    query: PageQuery | null
    fusion: Fusion
    residual: number
    discard?: number
    first: number
    last: number
    of?: RunnerResult
    told?: (layer: number, layers: number) => void
    signal?: AbortSignal
  }): Promise<Float32Array | null> {
    const to = last < 0 ? this.shape.layers - 1 : last,
      token = query === null ? undefined : this.token(query)
    const alone = this.saved ?? this.parts
    if (alone) return alone.rollout({ token: token as number, first, last: to, ...how })
    const all = token !== undefined && !of.kept && !of.light, // the layers' weights are made once for all ends
      key = JSON.stringify([token, first, all || to, how]),
      known = this.#rollouts.get(of) ?? new Map()
    this.#rollouts.set(of, known)
    const found: Promise<Shaped | null> =
      known.get(key) ??
      this.#rollout(of, {
        query: token,
        firstLayer: first,
        layerCount: Math.max(1, all ? this.shape.layers - first : to - first + 1),
        ...(all && {
          each: true,
          signal,
          onProgress: told && (({ done, total }) => told(done, total))
        }),
        ...how
      })
    known.set(key, found)
    found.catch(() => known.delete(key))
    if (known.size > rolloutsMost) known.delete(known.keys().next().value)
    return all ? found.then((rows) => rows && partOf(rows, to - first, rows.dims[0])) : found
  }

  async #rollout(of: RunnerResult, wanted: Parameters<Session['rollout']>[0]) {
    await this.#busy
    return of === this.result ? this.#session.rollout(wanted) : null
  }
}
