/* Types inside the library: what its files exchange. Users see api/ alone. */
import type {
  CallOptions,
  CheckResult,
  EvaluateResult,
  GraphInput,
  GraphPort,
  GraphTensor,
  Explanation,
  HeadStatistics,
  Memory,
  ModelInfo,
  Picture,
  ProfileResult,
  Progress,
  Region,
  RunResult,
  RuntimeInfo,
  RuntimeOptions,
  SessionInfo,
  SessionOptions,
  Tensor,
  TensorUse
} from '../api/index.js'

/* ------------------------------------------------------------------------------------------------
 * client and engine */

/** createRuntime's options as the engine receives them. */
export interface EngineOptions extends Omit<RuntimeOptions, 'worker'> {
  /** Called once the workers of threads are made; they may still be starting. */
  onThreads?: () => unknown
}
export type EngineInfo = Omit<RuntimeInfo, 'worker'> & { worker?: boolean }

/** How a running method reports progress and learns that it is cancelled. `watched`: somebody
 * listens to either. */
export interface CallContext {
  watched: boolean
  signal: AbortSignal
  progress(progress: Progress): unknown
  cancelled(): boolean
}

/** Of each of the engine's methods: its one argument and its result. Objects are numbers. */
export interface Methods {
  loadModel: {
    /** text: the text tower. */
    args: {
      files: NamedSource[]
      told?: NamedSource[]
      way?: string
      weightsKey?: string
      text?: boolean
    }
    result: { id: number; info: ModelInfo }
  }
  /** Of graphs alone. */
  evaluate: {
    args: { id: number; inputs: Record<string, GraphInput>; taps?: 'none' | 'all' }
    result: EvaluateResult
  }
  closeModel: { args: { id: number }; result: void }
  describe: { args: { id: number }; result: string }
  tensors: { args: { id: number }; result: { found: TensorUse[]; absent: string[] } }
  createSession: {
    args: Omit<SessionOptions, keyof CallOptions> & { model: number }
    result: { id: number; info: SessionInfo }
  }
  closeSession: { args: { id: number }; result: void }
  write: { args: { id: number; name: string; data: Uint8Array | Float32Array }; result: void }
  run: {
    args: {
      id: number
      input: RunInput
      fit?: 'model' | 'whole'
      maps?: boolean
      values?: boolean
    }
    result: RunResult
  }
  prepare: {
    args: { id: number; pictures: Picture[]; fit?: 'model' | 'whole' }
    result: { shape: number[]; data: Float32Array; regions: Region[] }
  }
  value: { args: { id: number; name: string }; result: Tensor }
  runFrom: { args: { id: number; layer: number; values?: boolean }; result: RunResult }
  attention: {
    args: MapPlace & { layer: number | 'pool'; head: number | 'mean' }
    result: Float32Array
  }
  statistics: {
    args: { id: number; layer?: number; batch?: number }
    result: HeadStatistics[][]
  }
  rollout: {
    args: MapPlace & {
      fusion?: 'mean' | 'min' | 'max'
      residual?: number
      firstLayer?: number
      layerCount?: number
      discard?: number
      each?: boolean
    }
    result: Float32Array
  }
  explain: {
    args: {
      id: number
      methods?: readonly string[]
      maps?: readonly string[]
      layer?: number
      batch?: number
      source?: number
      target?: number | string | [number, number]
      vector?: Float32Array
      texts?: Int32Array[]
      sites?: string[]
      heads?: string[]
      clusters?: number
      square?: number
      sourceMean?: boolean
      noise?: Float32Array
      igSteps?: number
      map?: Float32Array
      otherMap?: Float32Array
      pixelMap?: Float32Array
      mask?: Uint8Array
      steps?: number
      curves?: 'both' | 'tokens' | 'pixels'
      flipPixels?: number
      percent?: number[]
      keep?: boolean
    }
    result: Explanation
  }
  check: { args: CheckCase; result: CheckResult | ProfileResult }
  scene: { args: WantedScene; result: SceneDrawing }
  colormap: { args: { map: string }; result: Uint8Array }
  memory: { args: {}; result: Memory }
}
export type MethodName = keyof Methods
/** States [rows * columns, channels] of the patches of one picture. */
export interface PatchStates {
  states: Float32Array
  rows: number
  columns: number
  channels: number
}
/** pixel_values [images, channels, height, width]. */
export interface Pixels {
  data: Float32Array
  shape: number[]
}
/** What session.explain takes from the engine: heed-all.wasm, states and pixels of the last runs of
 * sessions, and a call with the address of the model there, which gives the tensors. */
export interface ExplainSource {
  module(): Promise<import('../src/module_memory.js').ModuleMemory>
  patches(id: number, batch: number): Promise<PatchStates>
  pixels(id: number, batch?: number): Pixels
  grid(id: number): { rows: number; columns: number }
  /** text: whether the text tower is wanted too, else its address is 0. */
  run(
    module: import('../src/module_memory.js').ModuleMemory,
    text: boolean,
    call: (model: number, text: number) => void
  ): Promise<Explanation>
  /** Of an ONNX graph: its session's runs. */
  graph?(): GraphRuns
}
/** An ONNX graph to be run on other pixel_values than those of the last run. */
export interface GraphRuns {
  pixels: Float32Array
  info: SessionInfo
  model: ModelInfo
  /** Logits of the whole batch. */
  run(values: Float32Array): Promise<Float32Array | null>
}
/** The engine's methods behind one signature, for a call by name. */
export type AnyMethods<M extends MethodName> = Record<
  M,
  (args: Methods[M]['args'], context: CallContext) => Promise<Methods[M]['result']>
>

/** What the engine says of a text tower. */
export interface TowerInfo extends ModelInfo {
  /** Every id is below it. */
  sourceVocabulary: number
  maxLength: number
  /** The id after a text; with textPadded they say which row is the text's. */
  end: number
  textPadded: number
  projection: number
  /** 1: the logits have a bias, and each text a sigmoid. */
  biased: number
  logitScale: number
  logitBias: number
}

/** A session's number and which of its maps: a token's number, without one all of them. */
export interface MapPlace {
  id: number
  query?: number
  batch?: number
}
export interface CheckCase {
  /** or a profile's name */
  bytes: ArrayBuffer | Uint8Array | string
  tolerance?: number
  results?: boolean
}
/** A seed, or the JSON text of a scene. */
export interface WantedScene {
  seed?: bigint
  text?: string
}
/** `text`: the drawn scene as JSON. */
export interface SceneDrawing {
  text: string
  image: { data: Uint8ClampedArray<ArrayBuffer>; width: number; height: number }
  owner: Uint8Array
  twins: [number, number] | null
}
/** pixel_values, or a picture that gets the model's own preprocessing. */
export interface RunInput {
  values?: Float32Array
  /** As many as the batch has, of videos all their frames. */
  pictures?: Picture[]
}

/** A method's name and argument, what the caller listens to, and what moves to the worker. */
export type EngineCall<M extends MethodName> = [
  method: M,
  args: Methods[M]['args'],
  options?: CallOptions,
  transfer?: Transferable[]
]
export type CallEngine = <M extends MethodName>(
  ...call: EngineCall<M>
) => Promise<Methods[M]['result']>

/** The way to an engine, in this thread or in a worker. */
export interface Channel {
  info: EngineInfo
  call: CallEngine
  close(): void
}

/* ------------------------------------------------------------------------------------------------
 * threads */

/** A worker of Node or of a browser, with one face. hold(true) keeps the process alive. */
export interface WorkerHandle<Message = unknown> {
  listen(onMessage: (message: Message) => void, onError: (error: Error) => void): void
  postMessage(message: unknown, transfer?: Transferable[]): void
  terminate(): void
  hold(held: boolean): void
}
export type Reply = (message: unknown, transfer?: Transferable[]) => void

/** THE table of messages between a client and its engine's worker. An id is a call's: of `start`,
 * which comes first, too. */
export interface ToWorker {
  start: { id: number; options: EngineOptions }
  call: {
    id: number
    method: MethodName
    args: Methods[MethodName]['args']
    /** Somebody listens to progress, or may cancel. */
    watched: boolean
    /** In shared memory: not 0 once the call is cancelled. */
    flag?: Int32Array<SharedArrayBuffer>
  }
  /** At the next layer. */
  cancel: { id: number }
}
export interface FromWorker {
  /** Of a start: its threads are made now, or were. */
  stage: { id: number; stage: 'threads' | 'start' }
  progress: { id: number; progress: Progress }
  result: { id: number; result: unknown }
  error: { id: number; status: import('../api/index.js').Status; message: string }
}
/** A message of a table: its kind and what it says. */
export type Message<Table> = { [Kind in keyof Table]: { kind: Kind } & Table[Kind] }[keyof Table]

/** What a thread of the module starts with. Addresses are those of the shared memory. */
export interface ThreadStart {
  module: WebAssembly.Module
  memory: WebAssembly.Memory
  pool: number
  index: number
  stack: number
}
/** joined: settles once the thread serves the pool. */
export interface StartingThread {
  worker: WorkerHandle<string>
  joined: Promise<void>
}

/* ------------------------------------------------------------------------------------------------
 * module */

/** What web/wasm exports. Arguments and results are numbers: addresses, counts, statuses. */
export type ExportName =
  | 'alloc'
  | 'changes_ablate'
  | 'changes_create'
  | 'changes_cut'
  | 'changes_destroy'
  | 'changes_drop'
  | 'changes_gain'
  | 'changes_input'
  | 'changes_replace'
  | 'changes_room'
  | 'check'
  | 'check_counts'
  | 'check_profile'
  | 'colormap'
  | 'create'
  | 'destroy'
  | 'device'
  | 'free'
  | 'gpu_check'
  | 'gpu_check_close'
  | 'gpu_check_result'
  | 'gpu_start'
  | 'graph_attention'
  | 'graph_evaluate'
  | 'graph_find'
  | 'graph_image'
  | 'graph_known'
  | 'graph_lower'
  | 'graph_open'
  | 'graph_output'
  | 'graph_port'
  | 'graph_refused'
  | 'graph_way'
  | 'graph_weights'
  | 'map_distances'
  | 'map_divergence'
  | 'map_entropy'
  | 'map_groups'
  | 'map_mass_mask'
  | 'map_mean'
  | 'map_mean_share'
  | 'map_rank_correlation'
  | 'map_rollout'
  | 'map_rollout_back'
  | 'map_share'
  | 'map_statistics'
  | 'message'
  | 'model_absent'
  | 'model_close'
  | 'model_describe'
  | 'model_info'
  | 'model_label'
  | 'model_open'
  | 'model_tensor'
  | 'model_text'
  | 'model_token'
  | 'onnx_model'
  | 'onnx_note'
  | 'onnx_open'
  | 'onnx_wanted'
  | 'out'
  | 'patch_map'
  | 'patch_map_method'
  | 'patches_cluster'
  | 'patches_pca'
  | 'explain'
  | 'explain_end'
  | 'explain_method'
  | 'patches_similarity'
  | 'pickle_open'
  | 'pool'
  | 'reader_close'
  | 'reader_read'
  | 'records'
  | 'scene_draw'
  | 'scene_size'
  | 'score_mask'
  | 'score_mean'
  | 'score_products'
  | 'score_softmax'
  | 'score_values'
  | 'session_attention'
  | 'session_close'
  | 'session_create'
  | 'session_layer'
  | 'session_memory'
  | 'session_picture'
  | 'session_prepare'
  | 'session_rollout_back'
  | 'session_run_part'
  | 'session_set'
  | 'session_view'
  | 'session_write'
  | 'status'
  | 'status_name'
  | 'text_compare'
  | 'text_row'
  | 'text_similarity'
  | 'thread'
  | 'tokenizer_encode'
  | 'tokenizer_open'
  | 'tokenizer_text'
  | 'used'
  | 'version'
export type ModuleExports = { memory: WebAssembly.Memory; _initialize(): void } & Record<
  ExportName,
  (...numbers: (number | boolean)[]) => number
>

/** WebAssembly.instantiate, of a module of ours. */
export type Instantiate = (
  module: WebAssembly.Module,
  imports: object
) => Promise<{ exports: ModuleExports }>

/** The functions that the module imports; shim.h declares them. */
export interface ModuleHost {
  read(source: number, offset: number, to: number, count: number): number
  progress(done: number, total: number): void
  patched(done: number, total: number): void
  cancelled(): boolean
  take(name: number, dtype: number, rank: number, dim: number, data: number): void
}

/** An instance of a module with its runtime object at the address `web`. */
export interface Instance {
  exports: ModuleExports
  memory: WebAssembly.Memory
  web: number
}
export interface StartedModule extends Instance {
  info: Pick<RuntimeInfo, 'simd' | 'threads' | 'why'>
  /** All serve the pool. */
  threads: WorkerHandle<string>[]
}

/** A module of the engine. */
export interface OpenPart {
  module: import('../src/module_memory.js').ModuleMemory
  info: StartedModule['info']
  /** Ends the module and its threads. */
  end(): void
}

/** A model in the engine. `address`: in its module, 0 = a graph without kernels. */
export interface OpenModel {
  module: import('../src/module_memory.js').ModuleMemory
  address: number
  /** To be closed with it. */
  files: OpenFile[]
  info: ModelInfo
  graph?: import('../src/graph.js').Graph
  /** It is a text tower. */
  text?: boolean
  /** The model in heed-gpu.wasm, once a session of it ran there. */
  gpu?: { address: number; of: import('../src/gpu.js').Gpu; close(): void }
  /** The model in heed-all.wasm, once session.explain has run it there. */
  whole?: { address: number; close(): void }
  /** Ends what session.explain kept for its next call. */
  endKept?(): void
  /** Its text tower there, once texts were a target. */
  texts?: { address: number; close(): void }
}

/** A session in the engine. `steps`: of its plan; `parts`: the first step of each part of a run, as
 * far as they are known; `pixels`: the address of pixel_values. */
export interface OpenSession {
  module: import('../src/module_memory.js').ModuleMemory
  address: number
  model: number
  info: SessionInfo
  steps: number
  pixels: number
  classes: number
  channels: number
  /** Of pixel_values; 0: it is one picture. */
  frames: number
  /** Side of a patch in pixels. */
  patch: number
  taps: 'none' | 'rows' | 'all' | string[]
  parts: number[]
  /** A run has ended, so that its values can be read. */
  ran: boolean
  /** What the last run saw of each image. */
  regions?: Region[] | null
  /** On the GPU: its device, the program there. What it was made with and what was written, for another
   * one when the device is lost. */
  gpu?: import('../src/gpu.js').Gpu
  program?: import('../gpu/program.js').Program
  args: Methods['createSession']['args']
  writes: Map<string, Uint8Array | Float32Array>
}

/* ------------------------------------------------------------------------------------------------
 * files */

/** The bytes of a response on their way; size 0 = unknown. */
export interface SizedStream {
  stream: ReadableStream<Uint8Array<ArrayBuffer>>
  size: number
  /** Where it is from, for what is said of it. */
  address?: string
}
/** A file that can be sent to a worker; a string is an address. */
export type SendableFile = Uint8Array | Blob | string | SizedStream
export type NamedSource = [name: string, file: SendableFile]

/** Where the engine reads a model's bytes. read() fills `target` from `offset` at once. begin()
 * is called before a session is made of the file, end() after it. */
export interface Source {
  size: number
  read(offset: number, target: Uint8Array): void
  close(): void
  begin?(progress: DownloadProgress, signal: AbortSignal, keeps?: boolean): Promise<void>
  end?(): void
  /** A session's graph is built: from here on its weights are packed. */
  packs?(): void
  /** Whether it is fetched again by begin(). */
  isSpent?(): boolean
}
/** A source by its name in the model's folder. */
export interface NamedFile extends Source {
  name: string
  /** Of one that was opened by its address: that, a string; else what it was opened from. */
  address?: unknown
}
/** Those of these files that are there. */
export type OpenNamed = (named: NamedSource[]) => Promise<NamedFile[]>
/** A file of a model as its module knows it. */
export interface OpenFile {
  file: NamedFile
  /** The number by which the module reads it. */
  source: number
  name: string
  /** Of the .safetensors file that it is, or is read as. */
  size: number
  /** What reads it in the module, where it is no .safetensors file; else 0. */
  reader: number
  /** How it is read then, in one line. */
  note?: string
  /** External data of another. */
  data?: boolean
  /** What came as a stream stays, since it is read more than once. */
  held?: boolean
}
/** What opens files that are no .safetensors files has of their owner. */
export interface ReaderTools {
  /** The entry of a file of PyTorch that is read. */
  key?: string
  isForeign(file: OpenFile): boolean
  /** Those that are there. */
  bring(named: NamedSource[]): Promise<OpenFile[]>
  /** Takes files that the model goes without from the list. */
  drop(files: OpenFile[]): void
}
/** And of the engine. */
export interface ForeignTools extends ReaderTools {
  /** Of an ONNX file, as of LoadModelOptions. */
  way?: string
  /** The text tower. */
  text: boolean
  /** The model of the files, in heed's own graph. */
  open(): { id: number; info: ModelInfo }
  /** That model, where it is open already. */
  adopt(address: number): { id: number; info: ModelInfo }
  keep(
    address: number,
    info: ModelInfo,
    graph: import('../src/graph.js').Graph
  ): { id: number; info: ModelInfo }
}
/** The sessions of a graph's evaluations. */
export interface GraphSessions {
  /** The graph has kernels, as the model at this address. */
  open(address: number): void
  make(taps: string[]): Promise<number>
  write(session: number, name: string, data: Float32Array): void
  run(session: number): Promise<RunResult>
  close(session: number): void
}
/** Inputs of a graph: as the bytes of a .safetensors file; those of floats; and what a session for
 * them depends on, '' where that is more than shapes. */
export interface GraphEvaluation {
  bytes: Uint8Array
  floats: Record<string, Float32Array>
  key: string
}
/** What a lowered graph takes and gives, by the names of its values. `known`: outputs without one. */
export interface GraphResults {
  inputs: string[]
  outputs: (GraphPort & { value: string | null })[]
  attention: { value: string | null }[] | null
  known: Record<string, GraphTensor>
}
/** Asks for a stream; undefined where there is no such file. */
export type OpenStream = (
  signal: AbortSignal
) => SizedStream | undefined | Promise<SizedStream | undefined>
/** Sums the downloads of one model: file() announces one and returns what reports its bytes. */
export interface DownloadProgress {
  file(size: number): (bytes: number) => void
}

/** A map that is asked only for what it holds. */
export type Table<Key, Value> = { get(key: Key): Value } & Map<Key, Value>

/** The built-in modules of Node that the library loads. */
export interface Builtins {
  fs: typeof import('node:fs')
  'fs/promises': typeof import('node:fs/promises')
  os: typeof import('node:os')
  url: typeof import('node:url')
  worker_threads: typeof import('node:worker_threads')
}

/* ------------------------------------------------------------------------------------------------
 * options */

/** What a value may be, in words, and whether one is it. */
export type Rule = [expected: string, fits: (value: unknown) => boolean]

declare global {
  /** Of browsers' workers. */
  class FileReaderSync {
    readAsArrayBuffer(blob: Blob): ArrayBuffer
  }
  namespace NodeJS {
    interface Process {
      /** Electron's: 'renderer' in a page. */
      type?: string
    }
  }
}
