/* ONNX files as graphs: heed-import.wasm lowers them, and an engine of modules that have all of the
 * ops runs them. Loaded with the first such model. It imports nothing, so that bundlers leave the
 * scripts that a page starts with as they are. */
/** @import {Engine} from './engine.js' */
/** @import {OnnxFile} from './onnx.js' */
/**
 * @import {
 *   CallContext, EngineBeside, EngineOptions, GraphEvaluation, GraphModel, Methods, NamedFile,
 *   OnnxTools
 * } from '../types/library.js'
 */
/** @import {EvaluateResult, GraphTensor, ModelInfo} from './index.js' */

/** @type {Record<string, () => URL>} */
const own = {
  'heed.wasm': () => new URL('./heed-graph.wasm', import.meta.url),
  'heed-threads.wasm': () => new URL('./heed-graph-threads.wasm', import.meta.url),
  'heed-relaxed.wasm': () => new URL('./heed-graph-relaxed.wasm', import.meta.url),
  'heed-relaxed-threads.wasm': () => new URL('./heed-graph-relaxed-threads.wasm', import.meta.url),
  'heed-scalar.wasm': () => new URL('./heed-graph-scalar.wasm', import.meta.url)
}

/**
 * The modules in the place of those by these names.
 * @param {string | URL} [base]
 */
const modules = (base) =>
  Object.fromEntries(
    Object.entries(own).map(([name, url]) => [
      name,
      String(base ? new URL(name.replace('heed', 'heed-graph'), base) : url())
    ])
  )

/**
 * @param {Engine} first
 * @param {EngineOptions | undefined} options
 * @returns {Promise<EngineBeside>}
 */
export async function startBeside(first, options) {
  const { create } = /** @type {typeof Engine} */ (first.constructor)
  return new GraphEngine(
    await create({ ...options, modules: modules(options?.base) }),
    options?.base
  )
}

/* What a graph that heed has no kernels for is refused with; so is a file that is broken, which the
 * run in double says again. */
const lacks = ['UNSUPPORTED', 'INVALID_FILE', 'INVALID_ARGUMENT'],
  /** Values that heed's own graphs have in every layer, and others not always. */
  ofLayers = /^layer\.\d+\.(attention\.output|query|key|value|output)$/

/**
 * The sides of pictures that a model's JSON files name, for graphs that leave them open.
 * @param {NamedFile[]} files
 * @returns {number[]}
 */
function sizesOf(files) {
  const text = (/** @type {NamedFile} */ file) => {
      const bytes = new Uint8Array(file.size)
      file.read(0, bytes)
      return new TextDecoder().decode(bytes)
    },
    sides = (/** @type {any} */ size) =>
      [size, size?.[0], size?.height, size?.shortest_edge].find(Number.isInteger)
  return files
    .filter(({ name, size }) => /config\.json$/.test(name) && size < 1 << 20)
    .flatMap((file) => {
      let all
      try {
        all = JSON.parse(text(file)) ?? {}
      } catch {
        all = {} // whoever reads the file says what is wrong with it
      }
      return [all.image_size, all.vision_config?.image_size, all.crop_size, all.size].map(sides)
    })
    .filter((size) => size > 0)
}

/** What there is to say of a graph without kernels. */
const without = {
  family: 'ONNX graph',
  ...{
    imageSize: 0,
    runHeight: 0,
    runWidth: 0,
    channels: 0,
    patch: 0,
    width: 0,
    layers: 0,
    heads: 0,
    headsGuessed: false
  },
  ...{ rules: 'as the ONNX graph has it', assumed: null, mlpWidth: 0, prefixTokens: 0 },
  ...{ tokenNames: [], classes: 0, eachClass: false, parameters: 0, labels: [] }
}

/** Implements EngineBeside: models are graphs, and sessions those of the engine that runs them. */
class GraphEngine {
  /** @type {Map<number, GraphModel>} */
  #models = new Map()
  #engine
  #base
  #next = 1

  /**
   * @param {Engine} engine
   * @param {string | URL} [base]
   */
  constructor(engine, base) {
    this.#engine = engine
    this.#base = base
  }

  /** @type {EngineBeside['call']} */
  async call(method, args, context) {
    const own = /** @type {any} */ (this)[method]
    return own ? own.call(this, args, context) : this.#engine.call(method, args, context)
  }

  close() {
    this.#engine.close()
  }

  /** @param {number} id */
  #model(id) {
    const model = this.#models.get(id)
    if (model) return model
    throw new Error('model: closed')
  }

  /**
   * @param {Methods['openFiles']['args']} args
   * @param {CallContext} context
   */
  async openFiles({ files, way }, context) {
    const { GraphFile } = await import('./graph_file.js'),
      onnx = /** @type {OnnxFile} */ (files.find((file) => 'reader' in file)),
      graph = new GraphFile(onnx, this.#base),
      /** @type {GraphModel} */
      model = {
        graph,
        others: files.filter((file) => file !== /** @type {unknown} */ (onnx)),
        reference: way === 'reference',
        kernels: 0,
        why: ''
      }
    await graph.begin()
    try {
      const ports = graph.describe(),
        info = await this.#lowered(model, context),
        image = ports.inputs.find(({ name }) => name === graph.image)
      const [, first, second, third] = image?.shape ?? [],
        [height, width] = first > 4 && third <= 4 ? [first, second] : [second, third] // channels last, or first
      if (height > 0) info.imageSize = info.runHeight = info.runWidth = height
      if (width > 0) info.runWidth = width
      model.info = /** @type {ModelInfo} */ ({
        ...info,
        note: graph.way(!model.reference && !model.why, 0, model.why),
        weightBytes: onnx.size,
        graph: ports
      })
    } finally {
      graph.end()
    }
    this.#models.set(this.#next, model)
    return { id: this.#next++, info: model.info }
  }

  /**
   * Opens the graph for the sizes that it names, or those that heed takes by itself. One that has no
   * kernels for those may have some for others.
   * @param {GraphModel} model
   * @param {CallContext} context
   */
  async #lowered(model, context) {
    for (const size of model.reference ? [] : [...sizesOf(model.others), 0])
      try {
        model.graph.lower(undefined, 0, size, size)
        model.why = ''
        return await this.#openKernels(model, context)
      } catch (error) {
        const { status, message } = /** @type {any} */ (error)
        if (!lacks.includes(status)) throw error
        model.why = message
      }
    return { ...without }
  }

  /**
   * @param {GraphModel} model
   * @param {CallContext} context
   */
  async #openKernels(model, context) {
    const { id, info } = await this.#engine.call(
      'openFiles',
      { files: [model.graph, ...model.others] },
      context
    )
    model.kernels = id
    return info
  }

  /** @param {{id: number}} args */
  tensors({ id }) {
    return this.#model(id).graph.tensors()
  }

  /**
   * @param {{id: number}} args
   * @param {CallContext} context
   */
  async closeModel({ id }, context) {
    const { graph, others, kernels } = this.#model(id)
    this.#models.delete(id)
    if (kernels) return this.#engine.call('closeModel', { id: kernels }, context)
    for (const file of [graph, ...others]) file.close()
  }

  /**
   * @param {Methods['createSession']['args']} args
   * @param {CallContext} context
   */
  async createSession({ model: id, taps, batch, height, width, ...more }, context) {
    const model = this.#model(id),
      { graph, info } = model
    if (!info?.patch || !info.layers)
      throw graph.refuse(
        'UNSUPPORTED',
        `createSession: the graph is no vision transformer that heed's kernels run (${model.why || 'found no image, or no attention over its patches'}; expected evaluate())`
      )
    await graph.begin()
    try {
      graph.lower(undefined, batch, height ?? info.runHeight, width ?? info.runWidth)
      const kept = Array.isArray(taps)
        ? taps.filter((name) => !ofLayers.test(name) || graph.find(name))
        : taps
      return await this.#engine.call(
        'createSession',
        { ...more, model: model.kernels, taps: kept },
        context
      )
    } finally {
      graph.end()
    }
  }

  /**
   * @param {Methods['evaluate']['args']} args
   * @param {CallContext} context
   * @returns {Promise<EvaluateResult>}
   */
  async evaluate({ id, inputs, taps }, context) {
    const model = this.#model(id),
      { graph } = model,
      { pack } = await import('./graph_tensors.js'),
      packed = pack(graph.describe().inputs, inputs, graph.refuse),
      maps = taps === 'all'
    let why = ''
    if (!model.reference)
      try {
        return await this.#evaluate(model, packed, maps, context)
      } catch (error) {
        const { status, message } = /** @type {any} */ (error)
        if (!lacks.includes(status)) throw error
        why = message
      }
    await graph.begin()
    try {
      const start = performance.now(),
        found = graph.evaluate(packed.bytes, maps)
      return {
        ...found,
        note: graph.way(false, 0, why),
        milliseconds: performance.now() - start
      }
    } finally {
      graph.end()
    }
  }

  /**
   * On kernels. A session stays for inputs of the same shapes, where those are floats alone.
   * @param {GraphModel} model
   * @param {GraphEvaluation} packed
   * @param {boolean} maps
   * @param {CallContext} context
   * @returns {Promise<EvaluateResult>}
   */
  async #evaluate(model, { bytes, floats, key }, maps, context) {
    let { made } = model
    if (!made || made.key !== `${key} ${maps}`) {
      if (made) await this.#engine.call('closeSession', { id: made.session }, context)
      model.made = undefined
      made = await this.#make(model, bytes, maps, context)
      made.key = key ? `${key} ${maps}` : ''
      model.made = made
    }
    for (const [name, data] of Object.entries(floats))
      if (made.inputs.includes(name))
        await this.#engine.call('write', { id: made.session, name, data }, context)
    const input = { values: new Float32Array(0) }, // all were written by their names
      result = await this.#engine.call('run', { id: made.session, input }, context),
      { unpack } = await import('./graph_tensors.js')
    return {
      ...unpack(made, result.values),
      note: made.note,
      milliseconds: result.milliseconds
    }
  }

  /**
   * @param {GraphModel} model
   * @param {Uint8Array} bytes
   * @param {boolean} maps
   * @param {CallContext} context
   */
  async #make(model, bytes, maps, context) {
    const { graph } = model
    await graph.begin()
    try {
      const { unrounded } = graph.lower(bytes),
        found = graph.results(maps),
        note = graph.way(true, unrounded, ''),
        names = [...found.outputs, ...(found.attention ?? [])].flatMap(({ value }) => value ?? [])
      if (!model.kernels) await this.#openKernels(model, context)
      const { id } = await this.#engine.call(
        'createSession',
        { model: model.kernels, taps: [...new Set(names)] },
        context
      )
      return { ...found, key: '', session: id, note }
    } finally {
      graph.end()
    }
  }
}
