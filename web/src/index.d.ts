/* heed for JavaScript: the C runtime as a WebAssembly module. Objects mirror heed.h: runtime
 * (context and backend), model, session.
 *
 *   const runtime = await createRuntime()
 *   const model = await runtime.loadModel(demoModel)
 *   const session = model.createSession({ taps: 'all' })
 *   const { logits, attention } = await session.run(canvas)
 *
 * Dimensions: L layers, H heads, T tokens (prefix tokens first, then rows x columns patches in
 * raster order). Attention matrices are row = query, column = key. Every array handed out is a copy
 * of its own; nothing points into WASM memory.
 * Every failure is a HeedError whose message is one sentence: where, what was wrong (found ...,
 * expected ...). A cancelled call has the status 'CANCELLED'.
 *
 * What every function checks first: an option that its interface does not have, a value of another
 * kind (NaN, a fraction or a text where a whole number is expected, null) and a needed option that
 * is missing are 'INVALID_ARGUMENT'. Nothing is converted; undefined is as if it were not there.
 * Functions that give a promise reject it, and createSession rejects `ready`; only a closed model
 * throws at once. */

/** Names of heed_status in heed.h. */
export type Status =
  | 'INVALID_ARGUMENT'
  | 'INVALID_FILE'
  | 'UNSUPPORTED'
  | 'IO'
  | 'OUT_OF_MEMORY'
  | 'NO_DEVICE'
  | 'OUT_OF_DEVICE_MEMORY'
  | 'DEVICE_LOST'
  | 'DEVICE_FAILED'
  | 'CANCELLED'
  | 'MISMATCH'
  | 'INTERNAL'

export class HeedError extends Error {
  readonly name: 'HeedError'
  readonly status: Status
  constructor(status: Status, message: string)
}

export interface Progress {
  /** 'download' (bytes of the model's files), 'read' (weights packed, in bytes), 'run' (layer of
   * layers). */
  phase: 'download' | 'read' | 'run'
  done: number
  /** 0 while unknown: a server that does not say how long its answer is. */
  total: number
}

export interface CallOptions {
  onProgress?: (progress: Progress) => void
  signal?: AbortSignal
}

export interface RuntimeOptions {
  /** 'auto' = one a core where threads are possible; 1 = none beside the caller. Results are the
   * same bits for every number. */
  threads?: 'auto' | number
  /** 'auto' = the best that this engine validates: relaxed SIMD, whose multiply-add rounds once, or
   * SIMD; 'simd' = without the former; 'none' = the scalar module. */
  simd?: 'auto' | 'simd' | 'none'
  /** Work in a module worker, off the calling thread. Default: true in a browser's window, false
   * elsewhere (Node, workers). */
  worker?: boolean
  /** Where the package's own files lie, when not beside index.js: the .wasm files, worker.js and
   * thread.js. */
  base?: string | URL
}

export interface RuntimeInfo {
  version: string
  simd: 'simd' | 'relaxed' | 'none'
  threads: number
  /** One sentence: why this module and this number of threads. */
  why: string
  worker: boolean
  /** The backend's own words: "WASM SIMD, 2 threads". */
  device: string
}

/** Bytes: `used` by living objects, `wasm` the size of the WASM memory, which never shrinks. */
export interface Memory {
  used: number
  wasm: number
}

export type FileSource = ArrayBuffer | Uint8Array | Blob | Response | URL | string

/** Files of a model folder, by their names there ("config.json", "model.safetensors", ...) or by
 * what they are. */
export type ModelFiles =
  | { weights: FileSource; config?: FileSource; preprocessor?: FileSource }
  | Record<string, FileSource>
  | Map<string, FileSource>
  | Iterable<File>

/** One weight file, a folder of files, or a URL (in Node also a path); a URL that ends in '/' and a
 * path of a folder are folders. */
export type ModelSource = FileSource | ModelFiles

export interface CheckResult {
  op: string
  passed: boolean
  maxAbs: number
  maxRel: number
  /** The tensor that the worst difference was in. */
  worst: string
  shape: number[]
  /** The results by name, when asked for. */
  results: Record<string, Tensor>
}

export interface Tensor {
  shape: number[]
  data: Float32Array | Uint8Array | Int32Array
}

export type ColormapName = 'cividis' | 'viridis' | 'magma' | 'inferno' | 'grey'

/** Pixels from the top left, to 1/16 of one; degrees counter-clockwise. The same form as `heed demo
 * --scene FILE.json`. */
export interface Scene {
  seed?: number | bigint
  clutter?: number
  noise?: number
  objects: SceneObject[]
}
export interface SceneObject {
  shape: string
  colour: string
  x: number
  y: number
  radius: number
  angle?: number
}
export interface DrawnScene {
  scene: Scene
  /** RGBA, 224 x 224, made for `new ImageData(image.data, image.width)` and for session.run. */
  image: Picture & { data: ReturnType<Uint8ClampedArray['slice']> }
  /** For each of 14 x 14 patches the index of the object that covers most of it, 255 = none. */
  owner: Uint8Array
  /** The two objects of one shape, when exactly one shape occurs twice. */
  twins: [number, number] | null
}

/** Shapes and colours that scenes know, in the order of the demo model's classes. */
export const sceneShapes: readonly string[]
export const sceneColours: readonly string[]

/** Throws: 'INVALID_ARGUMENT' for its options; 'INTERNAL' where a module, a worker or a thread
 * cannot be loaded; 'OUT_OF_MEMORY'. */
export function createRuntime(options?: RuntimeOptions): Promise<Runtime>

export interface Runtime {
  readonly info: RuntimeInfo
  /** Weights are held once: files are read as a session packs them; a download is let go meanwhile,
   * so the next session of the model asks its address again, and a Response serves one session. An
   * index names at most 512 plain files of its own folder. Throws: 'INVALID_ARGUMENT' for what is
   * no source or no option; 'IO' where a file is missing, no regular file or cannot be read;
   * 'INVALID_FILE', 'UNSUPPORTED' for what is in them; 'OUT_OF_MEMORY'; 'CANCELLED'. */
  loadModel(source: ModelSource, options?: CallOptions): Promise<Model>
  /** Runs the op named in a case file's metadata on its tensors and compares with its expect.*
   * tensors (`heed check`). tolerance 0 = 2e-5. A mismatch is not an error: `passed` says it.
   * Throws: 'INVALID_ARGUMENT' for what is no ArrayBuffer or Uint8Array or no option;
   * 'INVALID_FILE', 'UNSUPPORTED' for what is in the case. */
  check(
    caseBytes: ArrayBuffer | Uint8Array,
    options?: { tolerance?: number; results?: boolean }
  ): Promise<CheckResult>
  /** Draws a scene of the demo: that of a seed (a whole number from 0 to 2 ** 53 - 1, or a bigint
   * below 2n ** 64n), or the one given. Throws: 'INVALID_ARGUMENT' for a seed, a name or a number
   * that is none; 'INVALID_FILE' for a scene that cannot be drawn. */
  scene(scene: number | bigint | Scene): Promise<DrawnScene>
  /** 256 colours, RGB. Throws: 'INVALID_ARGUMENT' for another name. */
  colormap(name: ColormapName): Promise<Uint8Array>
  memory(): Promise<Memory>
  /** Closes everything made from it, and the threads. */
  close(): void
  [Symbol.dispose](): void
}

export interface ModelInfo {
  family: string
  imageSize: number
  channels: number
  patch: number
  width: number
  layers: number
  heads: number
  mlpWidth: number
  /** CLS, distillation and register tokens before the patches. */
  prefixTokens: number
  /** 0 = no classifier. */
  classes: number
  parameters: number
  weightBytes: number
  /** Labels of the classes from the config; "class N" where it has none. */
  labels: string[]
}

/** The part of the picture that the model sees, in the picture's own pixels. */
export interface Region {
  x: number
  y: number
  width: number
  height: number
}

export interface TensorUse {
  name: string
  /** As in the file, also where heed cannot use it. */
  dtype: string
  shape: number[]
  bytes: number
  used: boolean
  /** What the model reads from it, by its Hugging Face name whatever the file's own style; null
   * where it reads nothing. In timm's files query, key and value are one tensor: its role is the
   * query's. */
  role: string | null
}

export interface Model {
  readonly info: ModelInfo
  /** Throws 'INVALID_ARGUMENT' where the model is closed. `ready` rejects: 'INVALID_ARGUMENT' for
   * its options and for names and sizes that the model does not have; 'IO' where its files cannot
   * be read again; 'OUT_OF_MEMORY'; 'CANCELLED'. */
  createSession(options?: SessionOptions): Session
  /** What each tensor of the files is for, and which optional parts they have no tensor for. (A
   * part that is needed and missing is an error of loadModel, which names it.) */
  tensors(): Promise<{ found: TensorUse[]; absent: string[] }>
  close(): void
  [Symbol.dispose](): void
}

export interface SessionOptions extends CallOptions {
  /** What a run keeps beside the logits:
   * 'none' (default); 'rows': query and key of every layer, so that attention() can compute rows on
   * demand, in little memory; 'all': the attention weights of every layer; or names of values
   * ("layer.3.output"), which run() hands out as `values`. */
  taps?: 'none' | 'rows' | 'all' | string[]
  /** Pictures in one run (of pixel_values), from 1. Default 1. */
  batch?: number
  /** Of pixel_values; default: what the model's preprocessing gives for a picture of the model's
   * own size. */
  height?: number
  width?: number
  /** Attention that write() can change from run to run, as `intervene` of heed_build_desc in
   * heed.h: temperature, above 0, divides the logits (default 1), emptyRow is what a query with
   * nothing allowed gets (default 'zero'; 'mean': the mean of all values). */
  intervene?: { temperature?: number; emptyRow?: 'zero' | 'nan' | 'mean' }
}

export interface SessionInfo {
  batch: number
  height: number
  width: number
  layers: number
  heads: number
  tokens: number
  prefixTokens: number
  /** The patch grid. */
  rows: number
  columns: number
  /** In bytes, as heed_memory in heed.h. */
  memory: { weights: number; arena: number; taps: number; workspace: number }
}

/** A decoded picture: 8 bit, RGB or RGBA (alpha is dropped) or grey, by the length of `data`. An
 * ImageData is one. */
export interface Picture {
  data: Uint8ClampedArray | Uint8Array
  width: number
  height: number
}

export type PixelValues = Float32Array
export type ImageInput =
  | PixelValues
  | Picture
  | ImageData
  | ImageBitmap
  | OffscreenCanvas
  | HTMLCanvasElement
  | HTMLImageElement
  | HTMLVideoElement
  | VideoFrame

export interface RunOptions extends CallOptions {
  /** What of a picture is seen: 'model' (default), as the model's preprocessing has it; 'whole',
   * all of it, as large as fits, its aspect kept, with the mean colour (0 in pixel_values) around
   * it: then `region` reaches beyond the picture. The model was not trained so. */
  fit?: 'model' | 'whole'
}

export interface RunResult {
  /** [batch, classes]; null for a model without a classifier. */
  logits: Float32Array | null
  /** With taps 'all': for each layer [batch, H, T, T]. */
  attention: Float32Array[] | null
  /** What was named in taps, by name. */
  values: Record<string, Tensor>
  /** What the model saw of a picture; null for pixel_values. */
  region: Region | null
  /** Of the forward pass alone. */
  milliseconds: number
}

/** Of one head over the whole picture; definitions in heed.h and docs/attention.md. Entropies in
 * nats, distances in pixels. */
export interface HeadStatistics {
  entropyCls: number
  entropyPatches: number
  distance: number
  distanceRenormalised: number
  prefixMass: number
  selfMass: number
  /** The five largest weights of a row together. */
  top5Mass: number
}

/** A token: its number, 'cls', or [row, column] of a patch. */
export type Query = number | 'cls' | [number, number]

export interface Session {
  /** Settles when the session is ready to run. run() waits for it by itself. */
  readonly ready: Promise<SessionInfo>
  /** Runs on pixel_values [batch, 3, height, width] or on one picture, which gets the model's own
   * preprocessing. Throws: 'INVALID_ARGUMENT' for what is no picture or has another size, and for
   * its options; 'OUT_OF_MEMORY'; 'CANCELLED'. */
  run(input: ImageInput, options?: RunOptions): Promise<RunResult>
  /** Works out again the layers from this one on (1 to L; L = what follows the layers alone), for
   * the same picture, when write() changed inputs of theirs alone. Wants 'layer.2.output' in taps
   * to go on from layer 3. The same bits as a whole run. Throws: 'INVALID_ARGUMENT' for another
   * layer, where that output is not kept and where nothing has been run yet; 'CANCELLED'. */
  runFrom(layer: number, options?: CallOptions): Promise<RunResult>
  /** Writes a whole input of a session made with `intervene`, for the runs after it: 'token_mask'
   * Uint8Array [batch, T], 0 = nobody looks there; 'layer.3.attention.mask' Uint8Array [H, T, T], 1
   * = may attend; 'layer.3.attention.offset' Float32Array [C], added to what the heads give;
   * 'layer.3.attention.gain' Float32Array [H], by which what each head gives, offset included, is
   * multiplied before the projection. At first masks and gains are 1 and offsets 0. Throws:
   * 'INVALID_ARGUMENT' for another name, kind or length. */
  write(name: string, data: Uint8Array | Float32Array): Promise<void>
  /** Of the last run, with taps 'all' or 'rows'. With a query one row [T], without one whole matrix
   * [T, T]; head 'mean' = mean over heads; batch default 0. Throws: 'INVALID_ARGUMENT' for a place
   * that the session does not have, where rows are not kept and where nothing has been run yet. So
   * do statistics and rollout. */
  attention(at: {
    layer: number
    head: number | 'mean'
    query?: Query
    batch?: number
  }): Promise<Float32Array>
  /** Of the last run, by layer and head, or of one layer alone; with taps 'all' or 'rows'. */
  statistics(options?: { layer?: number; batch?: number }): Promise<HeadStatistics[][]>
  /** Attention rollout (Abnar & Zuidema 2020) of the last run, with taps 'all': with a query one
   * row [T], otherwise [T, T]. */
  rollout(options?: {
    query?: Query
    fusion?: 'mean' | 'min' | 'max'
    /** Share of the identity, more than 0 to 1. Default 0.5. */
    residual?: number
    firstLayer?: number
    /** From 1. Default: all from firstLayer on. */
    layerCount?: number
    /** Share of a row's keys, the smallest weights, that are left out; 0 (default) to less than
     * 1. */
    discard?: number
    batch?: number
  }): Promise<Float32Array>
  close(): void
  [Symbol.dispose](): void
}
