/* Types inside the library: what its files exchange. Users see src/index.d.ts alone. */
import type {
  CallOptions,
  CheckResult,
  EvaluateResult,
  GraphInput,
  GraphPort,
  GraphTensor,
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
  TensorUse
} from '../src/index.js'

/* ------------------------------------------------------------------------------------------------
 * client and engine */

/** createRuntime's options as the engine receives them. */
export interface EngineOptions extends Omit<RuntimeOptions, 'worker'> {
  /** Addresses of modules that take the place of those by these names. */
  modules?: Record<string, string>
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
    args: { files: NamedSource[]; way?: string; weightsKey?: string }
    result: { id: number; info: ModelInfo }
  }
  /** Of files that are open already. */
  openFiles: {
    args: { files: NamedFile[]; way?: string }
    result: { id: number; info: ModelInfo }
  }
  /** Of graphs alone. */
  evaluate: {
    args: { id: number; inputs: Record<string, GraphInput>; taps?: 'none' | 'all' }
    result: EvaluateResult
  }
  closeModel: { args: { id: number }; result: void }
  tensors: { args: { id: number }; result: { found: TensorUse[]; absent: string[] } }
  createSession: {
    args: Omit<SessionOptions, keyof CallOptions> & { model: number }
    result: { id: number; info: SessionInfo }
  }
  closeSession: { args: { id: number }; result: void }
  write: { args: { id: number; name: string; data: Uint8Array | Float32Array }; result: void }
  run: { args: { id: number; input: RunInput; fit?: 'model' | 'whole' }; result: RunResult }
  runFrom: { args: { id: number; layer: number }; result: RunResult }
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
    }
    result: Float32Array
  }
  check: { args: CheckCase; result: CheckResult | ProfileResult }
  scene: { args: WantedScene; result: SceneDrawing }
  colormap: { args: { map: string }; result: Uint8Array }
  memory: { args: {}; result: Memory }
}
export type MethodName = keyof Methods
/** The engine's methods behind one signature, for a call by name. */
export type AnyMethods = Record<
  MethodName,
  (args: Methods[MethodName]['args'], context: CallContext) => unknown
>

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
  picture?: Picture
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

/** To the engine's worker. `cancel`: the id of a call to stop. */
export interface Request {
  cancel?: number
  id: number
  method: MethodName | 'create'
  args: Methods[MethodName]['args']
  watched: boolean
  /** In shared memory: not 0 once the call is cancelled. */
  flag?: Int32Array<SharedArrayBuffer>
}
/** From the engine's worker: one of the three after `id`. */
export interface Answer {
  id: number
  progress?: Progress
  result?: unknown
  error?: { status: import('../src/index.js').Status; message: string }
}

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
  | 'check'
  | 'check_counts'
  | 'check_profile'
  | 'colormap'
  | 'create'
  | 'destroy'
  | 'device'
  | 'free'
  | 'import_attention'
  | 'import_close'
  | 'import_evaluate'
  | 'import_find'
  | 'import_image'
  | 'import_known'
  | 'import_lower'
  | 'import_output'
  | 'import_port'
  | 'import_read'
  | 'import_way'
  | 'import_weights'
  | 'map_rollout'
  | 'map_statistics'
  | 'message'
  | 'model_absent'
  | 'model_close'
  | 'model_info'
  | 'model_label'
  | 'model_token'
  | 'model_open'
  | 'model_tensor'
  | 'out'
  | 'records'
  | 'onnx_note'
  | 'onnx_open'
  | 'onnx_read'
  | 'onnx_wanted'
  | 'pickle_open'
  | 'tokenizer_encode'
  | 'tokenizer_open'
  | 'tokenizer_text'
  | 'pickle_read'
  | 'pool'
  | 'scene_draw'
  | 'scene_size'
  | 'session_attention'
  | 'session_close'
  | 'session_create'
  | 'picture_prepare'
  | 'session_preprocess'
  | 'session_memory'
  | 'session_rollout'
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
  cancelled(): boolean
  take(name: number, dtype: number, rank: number, dim: number, data: number): void
}

/** An instance of a module with its runtime object at the address `web`. */
export interface Instance {
  exports: ModuleExports
  memory: WebAssembly.Memory
  web: number
}
/** An instance with what its calls leave. */
export interface OpenModule {
  exports: ModuleExports
  memory: import('../src/module_memory.js').ModuleMemory
  web: number
}
export interface StartedModule extends Instance {
  info: Pick<RuntimeInfo, 'simd' | 'threads' | 'why'>
  /** All serve the pool. */
  threads: WorkerHandle<string>[]
}

/** A session in the engine. `steps`: of its plan; `parts`: the first step of each part of a run, as
 * far as they are known; `pixels`: the address of pixel_values. */
export interface OpenSession {
  model: number
  info: SessionInfo
  steps: number
  pixels: number
  classes: number
  channels: number
  /** Side of a patch in pixels. */
  patch: number
  taps: 'none' | 'rows' | 'all' | string[]
  parts: number[]
  /** A run has ended, so that its values can be read. */
  ran: boolean
  region?: Region | null
}

/* ------------------------------------------------------------------------------------------------
 * files */

/** The bytes of a response on their way; size 0 = unknown. */
export interface SizedStream {
  stream: ReadableStream<Uint8Array<ArrayBuffer>>
  size: number
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
  begin?(progress: DownloadProgress, signal: AbortSignal): Promise<void>
  end?(): void
}
/** A source by its name in the model's folder. */
export interface NamedFile extends Source {
  name: string
  /** Of one that was opened by its address: that, a string. */
  address?: unknown
  /** How it is read, in one line, where it is no .safetensors file. */
  note?: string
}
/** What the reader of PyTorch's files, which imports nothing, has of the library. */
export interface PickleTools {
  isForeign: typeof import('../src/source.js').isForeign
  ModuleMemory: typeof import('../src/module_memory.js').ModuleMemory
  HeedError: typeof import('../src/error.js').HeedError
  /** The entry of a file of PyTorch that is read. */
  key?: string
  start(name: 'pickle' | 'onnx', host: Partial<ModuleHost>): Promise<Instance>
}
/** What the reader of ONNX files has of the library. */
export interface OnnxTools extends PickleTools {
  /** Those that are there. */
  open(named: NamedSource[]): Promise<NamedFile[]>
}
/** What the reader of their graphs has of it. */
export interface GraphTools extends OnnxTools {
  compile: typeof import('../src/host.js').compile
  HeedError: typeof import('../src/error.js').HeedError
}
/** An open ONNX file in its module: its address there, and the part of it that lies in a buffer. */
export interface OnnxReader extends OpenModule {
  address: number
  buffer: number
  from: number
  held: number
}
/** An engine beside the first, for what its module does not run. */
export interface EngineBeside {
  call(method: MethodName, args: any, context: CallContext): Promise<any>
  close(): void
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
/** An ONNX file as a graph. `kernels`: its number in the engine that runs it, 0 = it is not there;
 * `why`: why not; `made`: the session of its last evaluation. */
export interface GraphModel {
  graph: import('../src/graph_file.js').GraphFile
  others: NamedFile[]
  info?: ModelInfo
  reference: boolean
  kernels: number
  why: string
  made?: GraphResults & { key: string; session: number; note: string }
}
/** What opens models by address, which imports nothing, has of the library. */
export interface FolderTools {
  wholeOf(file: Source): Uint8Array
  HeedError: typeof import('../src/error.js').HeedError
  said: typeof import('../src/error.js').said
  open(named: NamedSource[]): Promise<NamedFile[]>
  closeAll(files: Source[]): void
  builtin: typeof import('../src/host.js').builtin
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
