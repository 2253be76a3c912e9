/* heed for JavaScript; see index.d.ts for what everything is. Objects here only name what lives in
 * the engine. */
import { abortable, openChannel } from './channel.js'
import { closed, HeedError } from './error.js'
import { describeFiles, toldFiles } from './files.js'
import { dispose, inNode } from './host.js'
import { argument, checked, tokenOf } from './options.js'
import { hubAddress } from './hub.js'
import { describeInput, noPictures } from './picture.js'
import { baseOf, setBase } from './place.js'
import { shaped, shapedRows, shapedRun } from './shapes.js'
import { tapName } from './taps.js'
import type { CallEngine, Channel, MethodName, Methods } from '../types/library.js'
import type * as heed from 'heed'
import type {
  CallOptions,
  ColormapName,
  EvaluateOptions,
  GraphInput,
  ImageInput,
  LoadModelOptions,
  ModelInfo,
  ModelSource,
  PictureInput,
  RunOptions,
  RuntimeInfo,
  RuntimeOptions,
  Scene,
  SessionInfo,
  SessionOptions
} from 'heed'

export { HeedError, setBase, tapName }

export const sceneShapes = Object.freeze(
  'disc ring triangle square star heart crescent cross arrow hourglass'.split(' ')
)
export const sceneColours = Object.freeze(
  'red orange yellow green teal blue purple pink'.split(' ')
)

export const look: typeof import('heed/look').look = async (...given) =>
  (await import('./look.js')).look(...given)

export const release: typeof import('heed/look').release = async () =>
  (await import('./look.js')).release()

export async function createRuntime(options?: RuntimeOptions) {
  const {
    threads = 'auto',
    simd = 'auto',
    worker = !inNode && typeof window !== 'undefined',
    device = 'wasm',
    weights = 'f32',
    softwareAdapter = false,
    base
  } = checked('createRuntime', options)
  const wanted = {
    ...{ threads, simd, device, weights, softwareAdapter },
    base: baseOf('createRuntime', base)
  }
  const channel = await openChannel('createRuntime', wanted, worker, options?.worker)
  return new Runtime(abortable(channel), worker)
}

class Runtime implements heed.Runtime {
  #channel: Channel | undefined
  readonly info: RuntimeInfo
  constructor(channel: Channel, worker: boolean) {
    this.#channel = channel
    this.info = Object.freeze({ worker, ...channel.info })
  }

  /** One function for all models and sessions of this runtime: by it they know their own. */
  readonly #call: CallEngine = (...args) =>
    this.#channel ? this.#channel.call(...args) : Promise.reject(closed('runtime'))

  async loadModel(source: ModelSource, options?: LoadModelOptions) {
    const { file, hub, way, weightsKey, names, hints, ...call } = checked('loadModel', options),
      { files, transfer } = await describeFiles(hub ? hubAddress(source, hub) : source, file),
      told = toldFiles({ 'names.json': names, 'hints.json': hints })
    const { id, info } = await this.#call(
      'loadModel',
      { files, told, way, weightsKey },
      call,
      transfer
    )
    return new Model(this.#call, id, info)
  }

  async check(
    caseBytes: ArrayBuffer | Uint8Array | string,
    options?: { tolerance?: number; results?: boolean }
  ): Promise<any> {
    return this.#call('check', {
      ...checked('check', options),
      bytes: argument('check', 'the case', caseBytes, 'ArrayBuffer|Uint8Array|onnx|torch|keras')
    })
  }

  async scene(scene: number | bigint | Scene) {
    const { text, ...drawn } = await this.#call(
      'scene',
      typeof argument('scene', 'the scene', scene, 'Seed|Options') === 'object'
        ? { text: sceneText(scene as Scene) }
        : { seed: BigInt(scene as number | bigint) }
    )
    return { scene: parseScene(text), ...drawn }
  }

  async colormap(name: ColormapName) {
    return this.#call('colormap', {
      map: argument('colormap', 'the name', name, 'cividis|viridis|magma|inferno|grey')
    })
  }
  memory() {
    return this.#call('memory', {})
  }

  close() {
    this.#channel?.close()
    this.#channel = undefined
  }
  [dispose]() {
    this.close()
  }
}

/** Seeds have 64 bits, more than a number holds exactly. */
function sceneText(scene: Scene) {
  const { seed = 0, ...rest } = checked('scene', scene, 'objects'),
    objects = rest.objects.map((object) => checked('object', object))
  return `{"seed":${seed},${JSON.stringify({ ...rest, objects }).slice(1)}`
}

function parseScene(text: string): Scene {
  const scene = JSON.parse(text),
    seed = BigInt((/"seed":\s*(\d+)/.exec(text) as RegExpExecArray)[1])
  return { ...scene, seed: seed < 2n ** 53n ? Number(seed) : seed }
}

class Model implements heed.Model {
  #call: CallEngine
  #id: number | undefined
  readonly info: ModelInfo
  constructor(call: CallEngine, id: number, info: ModelInfo) {
    this.#call = call
    this.#id = id
    this.info = Object.freeze(info)
  }

  createSession(options?: SessionOptions) {
    if (this.#id === undefined) throw closed('model')
    return new Session(this.#call, this.#make(options))
  }

  async #make(options: SessionOptions | undefined) {
    const { onProgress, signal, ...wanted } = checked('createSession', options)
    return this.#call(
      'createSession',
      { model: this.#id as number, ...wanted },
      { onProgress, signal }
    )
  }

  async describe() {
    if (this.#id === undefined) throw closed('model')
    return this.#call('describe', { id: this.#id })
  }

  async tensors() {
    if (this.#id === undefined) throw closed('model')
    return this.#call('tensors', { id: this.#id })
  }

  async evaluate(inputs: Record<string, GraphInput>, options?: EvaluateOptions) {
    if (this.#id === undefined) throw closed('model')
    const { onProgress, signal, taps } = checked('evaluate', options)
    argument('evaluate', 'the inputs', inputs, 'Options')
    if (!this.info.graph)
      throw new HeedError(
        'UNSUPPORTED',
        "evaluate: the model runs as heed's own graph (expected an ONNX file loaded with way: 'graph')"
      )
    return this.#call('evaluate', { id: this.#id, inputs, taps }, { onProgress, signal })
  }

  close() {
    if (this.#id !== undefined) this.#call('closeModel', { id: this.#id }).catch(() => {})
    this.#id = undefined
  }
  [dispose]() {
    this.close()
  }
}

/** Where a query is, of methods that take one. */
type MapAt = { layer?: number | 'pool' }
/** What a method is asked of a session: a query as a user gives it. */
type Asked<M extends MethodName> = Omit<Methods[M]['args'], 'id' | 'query'> & { query?: unknown }

class Session implements heed.Session {
  #call: CallEngine
  #made: Promise<{ id: number; info: SessionInfo }>
  #closed = false
  readonly ready: Promise<SessionInfo>
  constructor(call: CallEngine, made: Promise<{ id: number; info: SessionInfo }>) {
    this.#call = call
    this.#made = made
    this.ready = made.then(({ info }) => info)
    this.ready.catch(() => {}) // told again by whatever is called next
  }

  /** A query is sent as a token's number. */
  async #send<M extends MethodName>(
    method: M,
    args: Asked<M>,
    options?: CallOptions,
    transfer?: Transferable[]
  ) {
    if (this.#closed) throw closed('session')
    const { id, info } = await this.#made
    if (args.query !== undefined)
      args.query = tokenOf(args.query, info, info.places[(args as MapAt).layer as number])
    return this.#call(method, { id, ...args }, options, transfer)
  }

  async run(input: ImageInput | ImageInput[], options?: RunOptions) {
    const { fit, maps, values, ...call } = checked('run', options),
      described = await describeInput(input),
      result = await this.#send(
        'run',
        { input: described.input, fit, maps, values },
        call,
        described.transfer
      )
    return shapedRun(result, (await this.#made).info)
  }

  async runFrom(layer: number, options?: CallOptions & Pick<RunOptions, 'values'>) {
    const { values, ...call } = checked('runFrom', options),
      result = await this.#send(
        'runFrom',
        { layer: argument('runFrom', 'layer', layer, 'Size'), values },
        call
      )
    return shapedRun(result, (await this.#made).info)
  }

  async prepare(images: PictureInput | PictureInput[], options?: Pick<RunOptions, 'fit'>) {
    const { fit } = checked('prepare', options),
      { input, transfer } = await describeInput(images),
      { pictures = noPictures() } = input,
      { shape, data, regions } = await this.#send('prepare', { pictures, fit }, {}, transfer)
    return { pixelValues: shaped(data, ...shape), regions }
  }

  async value(name: string) {
    const { data, shape } = await this.#send('value', {
      name: argument('value', 'the name', name, 'Name')
    })
    return shaped(data as Float32Array, ...shape)
  }
  write(name: string, data: Uint8Array | Float32Array) {
    return this.#ask('write', { name, data }, 'name', 'data')
  }
  async attention(at: Parameters<heed.Session['attention']>[0]) {
    const weights = await this.#ask('attention', at, 'layer', 'head')
    return shapedRows(weights, at.query !== undefined || at.layer === 'pool')
  }
  statistics(options?: Parameters<heed.Session['statistics']>[0]) {
    return this.#ask('statistics', options)
  }
  async rollout(options?: Parameters<heed.Session['rollout']>[0]) {
    const { onProgress, signal, ...wanted } = checked('rollout', options),
      weights = await this.#send('rollout', wanted, { onProgress, signal }),
      { tokens } = await this.ready
    return wanted.query !== undefined && !wanted.each
      ? shaped(weights, tokens)
      : shaped(weights, weights.length / tokens, tokens)
  }
  async explain(options: Parameters<heed.Session['explain']>[0]) {
    const { onProgress, signal, source, ...wanted } = checked(
        'explain',
        options,
        ...(options?.maps ? [] : ['methods' as const])
      ),
      other = argument('explain', 'source', source, [
        [
          'a session of the same runtime',
          (value) => value === undefined || (value instanceof Session && value.#call === this.#call)
        ]
      ]) as Session | undefined
    return this.#send(
      'explain',
      { ...wanted, source: other && (await other.#made).id },
      { onProgress, signal }
    )
  }
  async #ask<M extends MethodName>(
    method: M,
    given: Asked<M> | undefined,
    ...needed: (keyof Asked<M> & string)[]
  ) {
    return this.#send(method, checked(method, given, ...needed))
  }

  close() {
    if (!this.#closed)
      this.#made.then(({ id }) => this.#call('closeSession', { id })).catch(() => {})
    this.#closed = true
  }
  [dispose]() {
    this.close()
  }
}
