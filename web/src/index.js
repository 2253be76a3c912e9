/* heed for JavaScript; see index.d.ts for what everything is. Objects here only name what lives in the engine. */
import { directChannel, workerChannel } from './channel.js'
import { HeedError, closed } from './error.js'
import { inNode } from './host.js'
import { describeFiles } from './files.js'
import { describeInput } from './picture.js'

export { HeedError }

export const sceneShapes = Object.freeze(['disc', 'ring', 'triangle', 'square', 'star', 'heart', 'crescent', 'cross', 'arrow', 'hourglass'])
export const sceneColours = Object.freeze(['red', 'orange', 'yellow', 'green', 'teal', 'blue', 'purple', 'pink'])

const dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose')

export async function createRuntime({ threads = 'auto', simd = 'auto', worker = !inNode && typeof window !== 'undefined', base } = {}) {
  if (threads !== 'auto' && !(Number.isInteger(threads) && threads >= 1))
    throw new HeedError('INVALID_ARGUMENT', `runtime: threads is not valid (found ${threads}, expected 'auto' or a number from 1)`)
  const channel = await (worker ? workerChannel : directChannel)({ threads, simd, base })
  return new Runtime(channel, worker)
}

class Runtime {
  #channel
  constructor(channel, worker) {
    this.#channel = channel
    this.info = Object.freeze({ ...channel.info, worker })
  }

  #call(...args) { return this.#channel ? this.#channel.call(...args) : Promise.reject(closed('runtime')) }

  async loadModel(source, options) {
    const { files, transfer } = await describeFiles(source)
    const { id, info } = await this.#call('loadModel', { files }, options, transfer)
    return new Model((...args) => this.#call(...args), id, info)
  }

  check(caseBytes, { tolerance, results } = {}) {
    return this.#call('check', { bytes: caseBytes instanceof Uint8Array ? caseBytes : new Uint8Array(caseBytes), tolerance, results })
  }

  async scene(scene) {
    const { text, ...drawn } = await this.#call('scene', typeof scene === 'object' ? { text: sceneText(scene) } : { seed: BigInt(scene) })
    return { scene: parseScene(text), ...drawn }
  }

  colormap(name) { return this.#call('colormap', { name }) }
  memory() { return this.#call('memory', {}) }

  close() {
    this.#channel?.close()
    this.#channel = undefined
  }
  [dispose]() { this.close() }
}

/* Seeds have 64 bits, more than a number holds exactly. */
function sceneText({ seed = 0, ...rest }) { return `{"seed":${seed},${JSON.stringify(rest).slice(1)}` }

function parseScene(text) {
  const scene = JSON.parse(text), seed = BigInt(/"seed":\s*(\d+)/.exec(text)[1])
  return { ...scene, seed: seed <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(seed) : seed }
}

class Model {
  #call
  #id
  constructor(call, id, info) {
    this.#call = call
    this.#id = id
    this.info = Object.freeze(info)
  }

  createSession({ taps, batch, height, width, intervene, onProgress, signal } = {}) {
    if (this.#id === undefined) throw closed('model')
    return new Session(this.#call, this.#call('createSession', { model: this.#id, taps, batch, height, width, intervene }, { onProgress, signal }))
  }

  tensors() { return this.#id === undefined ? Promise.reject(closed('model')) : this.#call('tensors', { id: this.#id }) }

  close() {
    if (this.#id !== undefined) this.#call('closeModel', { id: this.#id }).catch(() => {})
    this.#id = undefined
  }
  [dispose]() { this.close() }
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
    const { id } = await this.#made
    return this.#call(method, { id, ...args }, options, transfer)
  }

  async run(input, options) {
    const described = await describeInput(input)
    return this.#send('run', { input: described.input, fit: options?.fit }, options, described.transfer)
  }

  runFrom(layer, options) { return this.#send('runFrom', { layer }, options) }
  write(name, data) { return this.#send('write', { name, data }) }
  attention(at) { return this.#send('attention', at) }
  statistics(options) { return this.#send('statistics', options) }
  rollout(options) { return this.#send('rollout', options) }

  close() {
    if (!this.#closed) this.#made.then(({ id }) => this.#call('closeSession', { id })).catch(() => {})
    this.#closed = true
  }
  [dispose]() { this.close() }
}
