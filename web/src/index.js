/* heed for JavaScript; see index.d.ts for what everything is. Objects here only name what lives in
 * the engine. */
import { directChannel, workerChannel } from './channel.js'
import { HeedError, asHeed, closed } from './error.js'
import { inNode } from './host.js'
import { describeFiles } from './files.js'
import { address, argument, checked, tokenOf } from './options.js'
import { describeInput } from './picture.js'

export { HeedError }

export const sceneShapes = Object.freeze(
  'disc ring triangle square star heart crescent cross arrow hourglass'.split(' ')
)
export const sceneColours = Object.freeze(
  'red orange yellow green teal blue purple pink'.split(' ')
)

const colormaps = 'cividis|viridis|magma|inferno|grey' // as the module counts them
const dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose')

export async function createRuntime(options) {
  const {
    threads = 'auto',
    simd = 'auto',
    worker = !inNode && typeof window !== 'undefined',
    base
  } = checked('createRuntime', options)
  const channel = await (worker ? workerChannel : directChannel)({
    threads,
    simd,
    base: base !== undefined && address('createRuntime', 'base', base)
  }).catch((error) => {
    throw asHeed('createRuntime', error)
  })
  return new Runtime(channel, worker)
}

class Runtime {
  #channel
  constructor(channel, worker) {
    this.#channel = channel
    this.info = Object.freeze({ ...channel.info, worker })
  }

  #call(...args) {
    return this.#channel ? this.#channel.call(...args) : Promise.reject(closed('runtime'))
  }

  async loadModel(source, options) {
    const call = checked('loadModel', options),
      { files, transfer } = await describeFiles(source)
    const { id, info } = await this.#call('loadModel', { files }, call, transfer)
    return new Model((...args) => this.#call(...args), id, info)
  }

  async check(caseBytes, options) {
    return this.#call('check', {
      ...checked('check', options),
      bytes: argument('check', 'the case', caseBytes, 'ArrayBuffer|Uint8Array')
    })
  }

  async scene(scene) {
    const { text, ...drawn } = await this.#call(
      'scene',
      typeof argument('scene', 'the scene', scene, 'Seed|Options') === 'object'
        ? { text: sceneText(scene) }
        : { seed: BigInt(scene) }
    )
    return { scene: parseScene(text), ...drawn }
  }

  async colormap(name) {
    return this.#call('colormap', {
      map: colormaps.split('|').indexOf(argument('colormap', 'the name', name, colormaps))
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

/* Seeds have 64 bits, more than a number holds exactly. */
function sceneText(scene) {
  const { seed = 0, ...rest } = checked('scene', scene, 'objects'),
    objects = rest.objects.map((object) => checked('object', object))
  return `{"seed":${seed},${JSON.stringify({ ...rest, objects }).slice(1)}`
}

function parseScene(text) {
  const scene = JSON.parse(text),
    seed = BigInt(/"seed":\s*(\d+)/.exec(text)[1])
  return { ...scene, seed: seed < 2n ** 53n ? Number(seed) : seed }
}

class Model {
  #call
  #id
  constructor(call, id, info) {
    this.#call = call
    this.#id = id
    this.info = Object.freeze(info)
  }

  createSession(options) {
    if (this.#id === undefined) throw closed('model')
    return new Session(this.#call, this.#make(options))
  }

  async #make(options) {
    const { onProgress, signal, ...wanted } = checked('createSession', options)
    return this.#call('createSession', { model: this.#id, ...wanted }, { onProgress, signal })
  }

  async tensors() {
    if (this.#id === undefined) throw closed('model')
    return this.#call('tensors', { id: this.#id })
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
  #call
  #made
  #closed = false
  constructor(call, made) {
    this.#call = call
    this.#made = made
    this.ready = made.then(({ info }) => info)
    this.ready.catch(() => {}) // told again by whatever is called next
  }

  async #send(method, args, options, transfer) {
    if (this.#closed) throw closed('session')
    const { id, info } = await this.#made
    if (args.query !== undefined) args.query = tokenOf(args.query, info)
    return this.#call(method, { id, ...args }, options, transfer)
  }

  async run(input, options) {
    const { fit, ...call } = checked('run', options),
      described = await describeInput(input)
    return this.#send('run', { input: described.input, fit }, call, described.transfer)
  }

  async runFrom(layer, options) {
    return this.#send(
      'runFrom',
      { layer: argument('runFrom', 'layer', layer, 'Size') },
      checked('runFrom', options)
    )
  }
  write(name, data) {
    return this.#ask('write', { name, data }, 'name', 'data')
  }
  attention(at) {
    return this.#ask('attention', at, 'layer', 'head')
  }
  statistics(options) {
    return this.#ask('statistics', options)
  }
  rollout(options) {
    return this.#ask('rollout', options)
  }
  async #ask(method, ...given) {
    return this.#send(method, checked(method, ...given))
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
