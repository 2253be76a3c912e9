/* heed for JavaScript; see index.d.ts for what everything is. Objects here only name what lives in
 * the engine. */
import { abortable, openChannel } from './channel.js'
import { closed, HeedError } from './error.js'
import { describeFiles } from './files.js'
import { inNode } from './host.js'
import { argument, checked, tokenOf } from './options.js'
import { describeInput } from './picture.js'
import { baseOf, setBase } from './place.js'
/** @import {CallEngine, Channel, EngineCall, MethodName, Methods} from '../types/library.js' */
/**
 * @import {
 *   CallOptions, ColormapName, EvaluateOptions, GraphInput, ImageInput, LoadModelOptions, ModelInfo, ModelSource, RunOptions, RuntimeOptions,
 *   Scene, SessionInfo, SessionOptions
 * } from './index.js'
 */

export { HeedError, setBase }

export const sceneShapes = Object.freeze(
  'disc ring triangle square star heart crescent cross arrow hourglass'.split(' ')
)
export const sceneColours = Object.freeze(
  'red orange yellow green teal blue purple pink'.split(' ')
)

/** @type {typeof import('./look.js').look} */
export const look = async (...given) => (await import('./look.js')).look(...given)

/** @type {typeof import('./look.js').release} */
export const release = async () => (await import('./look.js')).release()

const dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose')

/** @param {RuntimeOptions} [options] */
export async function createRuntime(options) {
  const {
    threads = 'auto',
    simd = 'auto',
    worker = !inNode && typeof window !== 'undefined',
    base
  } = checked('createRuntime', options)
  const wanted = { threads, simd, base: baseOf('createRuntime', base) }
  const channel = await openChannel('createRuntime', wanted, worker, options?.worker)
  return new Runtime(abortable(channel), worker)
}

class Runtime {
  /** @type {Channel | undefined} */
  #channel
  /**
   * @param {Channel} channel
   * @param {boolean} worker
   */
  constructor(channel, worker) {
    this.#channel = channel
    this.info = Object.freeze({ worker, ...channel.info })
  }

  /**
   * @template {MethodName} M
   * @param {EngineCall<M>} args
   * @returns {Promise<Methods[M]['result']>}
   */
  #call(...args) {
    return this.#channel ? this.#channel.call(...args) : Promise.reject(closed('runtime'))
  }

  /**
   * @param {ModelSource} source
   * @param {LoadModelOptions} [options]
   */
  async loadModel(source, options) {
    const { file, way, weightsKey, ...call } = checked('loadModel', options),
      { files, transfer } = await describeFiles(source, file)
    const { id, info } = await this.#call('loadModel', { files, way, weightsKey }, call, transfer)
    return new Model((...args) => this.#call(...args), id, info)
  }

  /**
   * @param {ArrayBuffer | Uint8Array | string} caseBytes
   * @param {{tolerance?: number, results?: boolean}} [options]
   */
  async check(caseBytes, options) {
    return this.#call('check', {
      ...checked('check', options),
      bytes: argument('check', 'the case', caseBytes, 'ArrayBuffer|Uint8Array|onnx|torch|keras')
    })
  }

  /** @param {number | bigint | Scene} scene */
  async scene(scene) {
    const { text, ...drawn } = await this.#call(
      'scene',
      typeof argument('scene', 'the scene', scene, 'Seed|Options') === 'object'
        ? { text: sceneText(/** @type {Scene} */ (scene)) }
        : { seed: BigInt(/** @type {number | bigint} */ (scene)) }
    )
    return { scene: parseScene(text), ...drawn }
  }

  /** @param {ColormapName} name */
  async colormap(name) {
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

/**
 * Seeds have 64 bits, more than a number holds exactly.
 * @param {Scene} scene
 */
function sceneText(scene) {
  const { seed = 0, ...rest } = checked('scene', scene, 'objects'),
    objects = rest.objects.map((object) => checked('object', object))
  return `{"seed":${seed},${JSON.stringify({ ...rest, objects }).slice(1)}`
}

/**
 * @param {string} text
 * @returns {Scene}
 */
function parseScene(text) {
  const scene = JSON.parse(text),
    seed = BigInt(/** @type {RegExpExecArray} */ (/"seed":\s*(\d+)/.exec(text))[1])
  return { ...scene, seed: seed < 2n ** 53n ? Number(seed) : seed }
}

class Model {
  /** @type {CallEngine} */
  #call
  /** @type {number | undefined} */
  #id
  /**
   * @param {CallEngine} call
   * @param {number} id
   * @param {ModelInfo} info
   */
  constructor(call, id, info) {
    this.#call = call
    this.#id = id
    this.info = Object.freeze(info)
  }

  /** @param {SessionOptions} [options] */
  createSession(options) {
    if (this.#id === undefined) throw closed('model')
    return new Session(this.#call, this.#make(options))
  }

  /** @param {SessionOptions | undefined} options */
  async #make(options) {
    const { onProgress, signal, ...wanted } = checked('createSession', options)
    return this.#call(
      'createSession',
      { model: /** @type {number} */ (this.#id), ...wanted },
      { onProgress, signal }
    )
  }

  async tensors() {
    if (this.#id === undefined) throw closed('model')
    return this.#call('tensors', { id: this.#id })
  }

  /**
   * @param {Record<string, GraphInput>} inputs
   * @param {EvaluateOptions} [options]
   */
  async evaluate(inputs, options) {
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

class Session {
  /** @type {CallEngine} */
  #call
  /** @type {Promise<{id: number, info: SessionInfo}>} */
  #made
  #closed = false
  /**
   * @param {CallEngine} call
   * @param {Promise<{id: number, info: SessionInfo}>} made
   */
  constructor(call, made) {
    this.#call = call
    this.#made = made
    this.ready = made.then(({ info }) => info)
    this.ready.catch(() => {}) // told again by whatever is called next
  }

  /**
   * `query` of args: as a user gives it; sent as a token's number.
   * @template {MethodName} M
   * @param {M} method
   * @param {Omit<Methods[M]['args'], 'id'> & {query?: unknown}} args
   * @param {CallOptions} [options]
   * @param {Transferable[]} [transfer]
   */
  async #send(method, args, options, transfer) {
    if (this.#closed) throw closed('session')
    const { id, info } = await this.#made
    if (args.query !== undefined) args.query = tokenOf(args.query, info)
    return this.#call(method, { id, ...args }, options, transfer)
  }

  /**
   * @param {ImageInput} input
   * @param {RunOptions} [options]
   */
  async run(input, options) {
    const { fit, ...call } = checked('run', options),
      described = await describeInput(input)
    return this.#send('run', { input: described.input, fit }, call, described.transfer)
  }

  /**
   * @param {number} layer
   * @param {CallOptions} [options]
   */
  async runFrom(layer, options) {
    return this.#send(
      'runFrom',
      { layer: argument('runFrom', 'layer', layer, 'Size') },
      checked('runFrom', options)
    )
  }
  /**
   * @param {string} name
   * @param {Uint8Array | Float32Array} data
   */
  write(name, data) {
    return this.#ask('write', { name, data }, 'name', 'data')
  }
  /** @param {object} at */
  attention(at) {
    return this.#ask('attention', at, 'layer', 'head')
  }
  /** @param {object} [options] */
  statistics(options) {
    return this.#ask('statistics', options)
  }
  /** @param {object} [options] */
  rollout(options) {
    return this.#ask('rollout', options)
  }
  /**
   * @param {MethodName} method
   * @param {[options: object | undefined, ...needed: string[]]} given
   * @returns {Promise<any>} the method's result
   */
  async #ask(method, ...given) {
    return this.#send(method, /** @type {any} */ (checked(method, ...given)))
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
