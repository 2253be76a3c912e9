/* ONNX files as graphs: lowered to heed's ops, which run on kernels, or run in double where
 * something has no kernel. Loaded with the first such file. */
import { HeedError } from './error.js'
import { headerOf, pack, tensorsOf, unpack } from './graph_tensors.js'
import { infoOf, lendFiles } from './model_records.js'
import type {
  ForeignTools,
  GraphEvaluation,
  GraphResults,
  GraphSessions,
  Methods,
  OpenFile
} from '../types/library.js'
import type { ModuleMemory } from './module_memory.js'
import type { EvaluateResult, GraphInfo, GraphInput, GraphPort, GraphTensor, ModelInfo } from 'heed'

/* What a graph that heed has no kernels for is refused with; so is a file that is broken, which the
 * run in double says again. */
const lacks = ['UNSUPPORTED', 'INVALID_FILE', 'INVALID_ARGUMENT']

/** Values that heed's own graphs have in every layer, and others not always. */
const ofLayers = /^layer\.\d+\.(attention\.output|query|key|value|output)$/

/** What there is to say of a graph without kernels. */
const without = {
  family: 'ONNX graph',
  ...{ imageSize: 0, runHeight: 0, runWidth: 0, channels: 0, patch: 0, width: 0 },
  ...{ layers: 0, heads: 0, headsGuessed: false },
  ...{
    rules: 'as the ONNX graph has them',
    assumed: null,
    note: null,
    mlpWidth: 0,
    prefixTokens: 0,
    frames: 0,
    tubelet: 0,
    stages: 0
  },
  ...{ tokenNames: [], classes: 0, eachClass: false, parameters: 0, labels: [] }
}

export function openGraph(
  module: ModuleMemory,
  onnx: OpenFile,
  files: OpenFile[],
  side: number,
  { way, keep }: ForeignTools
) {
  const others = files.filter((file) => file !== onnx && !file.data),
    graph = new Graph(module, onnx, others, way === 'reference'),
    address = graph.begin(side)
  return keep(address, graph.info, graph)
}

/** The model's graph: an ONNX file that heed-all.wasm has open. */
export class Graph {
  #module
  /** In the module. */
  #file
  #name
  #others
  #reference
  /** Why it has no kernels. */
  #why = ''
  /** Why it is no vision transformer. */
  #refused: string | null = null
  /** The session of the last evaluation. */
  #made: (GraphResults & { key: string; session: number; note: string }) | undefined
  #opened = false
  info: ModelInfo
  ports: GraphInfo

  /**
   * @param others the files beside it
   * @param reference in double alone
   */
  constructor(module: ModuleMemory, onnx: OpenFile, others: OpenFile[], reference: boolean) {
    this.#module = module
    this.#file = onnx.reader
    this.#name = onnx.name
    this.#others = others
    this.#reference = reference
    this.ports = this.#describe()
    this.info = { ...without, weightBytes: onnx.size }
  }

  /**
   * Opens the graph for images of this side, or for the sizes that heed takes by itself. One that has
   * no kernels for those may have some for others. The number of the model, 0 without kernels.
   */
  begin(side: number) {
    let address = 0
    for (const size of this.#reference ? [] : new Set([side, 0]))
      try {
        this.lower(undefined, 0, size, size)
        this.#refused = this.#module.text(this.#module.exports.graph_refused(this.#file))
        address = this.#open()
        this.#why = ''
        break
      } catch (error) {
        this.#miss(error)
      }
    this.#describeModel(address)
    return address
  }

  #describeModel(address: number) {
    const { exports } = this.#module,
      info = { ...this.info, ...(address && infoOf(this.#module, address)) },
      name = address && this.#module.text(exports.graph_image(this.#file)),
      image = this.ports.inputs.find((port) => port.name === name),
      [, first, second, third] = image?.shape ?? [],
      [height, width] = first > 4 && third <= 4 ? [first, second] : [second, third] // channels last, or first
    if (height > 0) info.imageSize = info.runHeight = info.runWidth = height
    if (width > 0) info.runWidth = width
    this.info = {
      ...info,
      weightBytes: this.info.weightBytes,
      note: this.#way(!this.#reference && !this.#why, 0, this.#why),
      graph: this.ports
    }
  }

  /** Remembers why there are no kernels; other errors are thrown. */
  #miss(error: unknown) {
    const { status, message } = error as HeedError
    if (!lacks.includes(status)) throw error
    this.#why = message
  }

  /** What was lowered, as a model. */
  #open() {
    const module = this.#module,
      { exports, web } = module
    lendFiles(module, this.#others, (names, size, sizes, sources) =>
      module.check(
        exports.graph_open(web, this.#file, names, size, sizes, sources, this.#others.length)
      )
    )
    this.#opened = true
    return module.out('opened').address
  }

  /** Inputs, outputs and attentions. */
  #describe() {
    const module = this.#module,
      { exports, web } = module,
      ports = (output: number): GraphPort[] => {
        const list = []
        while (exports.graph_port(web, this.#file, output, list.length)) {
          const { name, dtype, shaped, shape } = module.out('port')
          list.push({
            name: module.string(name),
            dtype: module.text(dtype),
            shape: shaped ? shape : null
          })
        }
        return list
      },
      attentions = []
    for (let at; (at = exports.graph_attention(this.#file, attentions.length)); )
      attentions.push(module.string(at))
    return { inputs: ports(0), outputs: ports(1), attentions }
  }

  /** How it ran, in one line. */
  #way(kernels: boolean, unrounded: number, why: string) {
    const { exports } = this.#module
    return this.#module.name(
      [why],
      (at) =>
        `${this.#name}: ${this.#module.string(exports.graph_way(this.#file, kernels, unrounded, at))}`
    )
  }

  /** The tensors that it names, none of which has a role. */
  tensors() {
    const module = this.#module,
      { exports, web } = module,
      read = (offset: number, count: number) =>
        module.lend([new Uint8Array(count)], (at) => {
          module.check(exports.reader_read(web, this.#file, offset, at, count))
          return module.bytes(at, count).slice()
        }),
      size = new DataView(read(0, 8).buffer).getUint32(0, true),
      found = Object.entries(headerOf(read(8, size))).map(
        ([
          name,
          {
            dtype,
            shape,
            data_offsets: [from, to]
          }
        ]) => ({
          name,
          dtype,
          shape,
          bytes: to - from,
          used: true,
          role: null
        })
      )
    return { found, absent: [] }
  }

  /** For inputs, the bytes of a .safetensors file, or of these sizes. */
  lower(bytes: Uint8Array = new Uint8Array(), batch = 0, height = 0, width = 0) {
    const module = this.#module,
      { exports, web } = module
    module.lend([bytes], (at) =>
      module.check(exports.graph_lower(web, this.#file, at, bytes.length, batch, height, width))
    )
    return module.out('lowered').unrounded
  }

  /** Whether the lowered graph has a value of this name. */
  #has(name: string) {
    return this.#module.name([name], (at) => this.#module.exports.graph_find(this.#file, at) !== 0)
  }

  /** Lowers the graph for a session; the taps that it has. */
  lowerFor({ taps, batch, height, width }: Methods['createSession']['args']) {
    const { patch, layers, runHeight, runWidth } = this.info
    if (!patch || !layers)
      throw new HeedError(
        'UNSUPPORTED',
        `createSession: ${this.#refused?.replace('heed eval', 'evaluate()') ?? `${this.#why || `${this.#name}: the graph runs in double`} (expected evaluate())`}`
      )
    this.lower(undefined, batch, height ?? runHeight, width ?? runWidth)
    return Array.isArray(taps)
      ? taps.filter((name) => !ofLayers.test(name) || this.#has(name))
      : taps
  }

  /**
   * What a run of the lowered graph gives, by the names of its values; what is known beforehand has
   * none.
   */
  #results(maps: boolean): GraphResults {
    const module = this.#module,
      { exports, web } = module,
      { inputs, outputs, attentions } = this.ports,
      results = {
        inputs: inputs.map(({ name }) => name).filter((name) => this.#has(name)),
        outputs: outputs.map((port, i) => ({
          ...port,
          value: module.text(exports.graph_output(web, this.#file, i))
        })),
        attention: maps
          ? attentions.map((_, i) => ({
              value: module.text(exports.graph_weights(this.#file, i))
            }))
          : null,
        known: {} as Record<string, GraphTensor>
      }
    if (results.outputs.some(({ value }) => !value))
      results.known = this.#take(exports.graph_known(web, this.#file))
    return results
  }

  /** The tensors of a .safetensors file that the module made. */
  #take(status: number): Record<string, GraphTensor> {
    const module = this.#module
    module.check(status)
    const { address, count } = module.out('block'),
      bytes = module.bytes(address, count).slice()
    module.free(address)
    return tensorsOf(bytes)
  }

  async evaluate(
    inputs: Record<string, GraphInput>,
    maps: boolean,
    sessions: GraphSessions
  ): Promise<EvaluateResult> {
    const packed = pack(this.ports.inputs, inputs)
    let why = ''
    if (!this.#reference)
      try {
        return await this.#evaluate(packed, maps, sessions)
      } catch (error) {
        const { status, message } = error as HeedError
        if (!lacks.includes(status)) throw error
        why = message
      }
    const start = performance.now(),
      found = this.#evaluateInDouble(packed.bytes, maps)
    return {
      ...found,
      note: this.#way(false, 0, why),
      milliseconds: performance.now() - start
    }
  }

  /** On kernels. A session stays for inputs of the same shapes, where those are floats alone. */
  async #evaluate(
    { bytes, floats, key }: GraphEvaluation,
    maps: boolean,
    sessions: GraphSessions
  ): Promise<EvaluateResult> {
    let made = this.#made
    if (!made || made.key !== `${key} ${maps}`) {
      if (made) sessions.close(made.session)
      this.#made = undefined
      made = await this.#make(bytes, maps, sessions)
      made.key = key ? `${key} ${maps}` : ''
      this.#made = made
    }
    for (const [name, data] of Object.entries(floats))
      if (made.inputs.includes(name)) sessions.write(made.session, name, data)
    const { values, milliseconds } = await sessions.run(made.session)
    return { ...unpack(made, values), note: made.note, milliseconds }
  }

  async #make(bytes: Uint8Array, maps: boolean, sessions: GraphSessions) {
    const unrounded = this.lower(bytes),
      found = this.#results(maps),
      note = this.#way(true, unrounded, ''),
      names = [...found.outputs, ...(found.attention ?? [])].flatMap(({ value }) => value ?? [])
    if (!this.#opened) sessions.open(this.#open())
    return { ...found, key: '', session: await sessions.make([...new Set(names)]), note }
  }

  #evaluateInDouble(bytes: Uint8Array, maps: boolean) {
    const { exports, web } = this.#module,
      status = this.#module.lend([bytes], (at) =>
        exports.graph_evaluate(web, this.#file, at, bytes.length, maps)
      ),
      all = this.#take(status),
      { outputs, attentions } = this.ports
    return {
      outputs: Object.fromEntries(outputs.map(({ name }) => [name, all[name]])),
      attention: maps
        ? attentions.map(
            (_, i) =>
              (all[`attention.${i}`] as { shape: number[]; data: Float32Array } | undefined) ?? null
          )
        : null
    }
  }
}
