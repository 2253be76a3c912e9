/// <reference lib="esnext.disposable" />
/* heed for JavaScript: the C runtime as a WebAssembly module. The objects mirror heed.h: a runtime
 * (context and backend), a model, a session.
 *
 *   const runtime = await createRuntime()
 *   const model = await runtime.loadModel(demoModel)
 *   const session = model.createSession({ taps: 'all' })
 *   const { logits, attention } = await session.run(canvas)
 *
 * Dimensions: L layers, H heads, T tokens, C channels. Prefix tokens (CLS, distillation, registers)
 * come first, then rows x columns patches in raster order. In attention matrices a row is a query
 * and a column is a key. Every returned array is a copy; none points into WASM memory.
 *
 * Errors: every failure is a HeedError. Its message is one sentence: where, what is wrong
 * (found ..., expected ...). A cancelled call has the status 'CANCELLED' and the name 'AbortError'; its
 * cause is signal.reason.
 *
 * Arguments: every function validates its arguments first and converts none. These are
 * 'INVALID_ARGUMENT': an unknown option (the sentence names the nearest known one), a value of the wrong kind and a missing option that is
 * required. NaN, null, a fraction and a string are of the wrong kind where an integer is expected.
 * An option that is undefined counts as absent. Functions that return a promise reject it.
 * createSession rejects `ready`; it throws only when the model is closed. */

export { look, release } from './look.js'
export type {
  Classified,
  DrawOptions,
  LookDecoded,
  LookImage,
  LookMap,
  LookOptions,
  LookResult,
  MapChoice
} from './look.js'

/** The names of heed_status in heed.h. */
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
  /** 'AbortError' of a cancelled call, whose `cause` is the reason of its signal. */
  readonly name: 'HeedError' | 'AbortError'
  readonly status: Status
  constructor(status: Status, message: string)
}

export interface Progress {
  /** 'download': bytes of the model's files. 'read': bytes of weights packed. 'compile': kernels of
   * the GPU. 'run': layers computed. */
  phase: 'download' | 'read' | 'compile' | 'run'
  done: number
  /** 0 when unknown: the server does not report the length of its response. */
  total: number
}

export interface CallOptions {
  /** Called during downloads, while weights are packed, and between layers. */
  onProgress?: (progress: Progress) => void
  /** Cancels the call between stages; the session or runtime stays usable. A call whose signal fires
   * before it has settled is always rejected. */
  signal?: AbortSignal
}

export interface LoadModelOptions extends CallOptions {
  /** A file of weights in the folder that the source is the address of: 'onnx/model_fp16.onnx'. */
  file?: string
  /** The source is a name on a hub, 'owner/name' or 'owner/name@revision'. true: on Hugging Face's; or the
   * address of another one that lays files out so. Without it nothing asks a hub. */
  hub?: boolean | string | URL
  /** Of a file of PyTorch: the entry whose tensors are the weights, such as 'model_ema' or
   * 'model.teacher'; '.' is the whole file. By default what its maker's scripts load. */
  weightsKey?: string
  /** What the model's tensors are called: the object of a names.json, such as
   * `{ norm1: 'body.{i}.before.*', ... }`. It takes the place of names.json among the files, which is read
   * from folders of this machine alone.
   * docs/models.md has the keys. */
  names?: Record<string, unknown>
  /** What no file says of the model, before what names.json and config.json say:
   * `{ heads: 4, norm: 'after', interpolation_grid: 'offset' }`. docs/models.md has the keys. */
  hints?: Record<string, unknown>
  /** Of an ONNX file: its weights in heed's own graph of the model, its own graph, or that in double.
   * By default its weights where config.json is beside it, else its graph, as a vision transformer;
   * the other one where the first lacks something. What is neither has evaluate() alone. */
  way?: 'weights' | 'graph' | 'reference'
}

export interface RuntimeOptions {
  /** 'auto' (default): one thread per core where threads are available. 1: no extra threads.
   * Results are bit-identical for every number. */
  threads?: 'auto' | number
  /** 'auto' (default): relaxed SIMD where the engine supports it, otherwise SIMD. Relaxed SIMD
   * rounds a multiply-add once. 'simd': no relaxed SIMD. An engine without SIMD is UNSUPPORTED. */
  simd?: 'auto' | 'simd'
  /** Runs in a module worker instead of the calling thread. Default: true in a browser's window,
   * false in Node and in workers. A package of another origin, such as a CDN's, has its worker
   * started by a script of the page's origin, a blob: address. Without `true`, where no worker
   * starts, the runtime runs in the calling thread, and `info.why` has the reason. */
  worker?: boolean
  /** EXPERIMENTAL: may change. Where sessions of vision transformers run. 'wasm' (default): in
   * WebAssembly. 'webgpu': on the GPU, in a browser with WebGPU, or in Node where npm's `webgpu` is
   * installed. 'auto': a session is timed once on both for each model and size, and the faster one is
   * taken. Where the GPU cannot be used, sessions run in WebAssembly and `info.why` has the reason.
   * Text towers, ONNX graphs, and weights of PyTorch or ONNX always do. */
  device?: 'wasm' | 'webgpu' | 'auto'
  /** EXPERIMENTAL. How the GPU keeps weights of products: 'f32' (default), or 'f16' in half the memory, with
   * results within 2e-3. */
  weights?: 'f32' | 'f16'
  /** EXPERIMENTAL. Also takes an adapter that is software, for tests: it is slower than WebAssembly.
   * Default: false. */
  softwareAdapter?: boolean
  /** Address of the folder with the .wasm files, worker.js and thread.js. Default: that of setBase(),
   * else the folder of index.js. */
  base?: string | URL
}

export interface RuntimeInfo {
  version: string
  simd: 'simd' | 'relaxed'
  threads: number
  /** One sentence: the reason for this module and this number of threads. */
  why: string
  worker: boolean
  /** The backend's name, such as "WASM SIMD, 2 threads", or "WebGPU: " and the adapter. */
  device: string
  /** Kernels of the GPU: 'floor', or 'subgroup' with sums by subgroups. null: in WebAssembly. */
  tier: 'floor' | 'subgroup' | null
  /** EXPERIMENTAL. Of the GPU's self-check, here or before: how far its results are from the CPU's at most,
   * by |a - b| / (1 + |b|), and in which op. null: in WebAssembly. */
  selfCheck: { maxError: number; worst: string } | null
}

/** In bytes. `used`: allocated by open objects. `wasm`: size of the WASM memory, which never
 * shrinks; with a module for files of ONNX or PyTorch, that of both, and the GPU's planner. `gpu`: of
 * buffers on the GPU. */
export interface Memory {
  used: number
  wasm: number
  gpu: number
}

/** One file. A string or URL is an address; in Node a string may also be a path. */
export type FileSource = ArrayBuffer | Uint8Array | Blob | Response | URL | string

/** The files of a model folder, by role or by file name ("config.json", "model.safetensors"). */
export type ModelFiles =
  | {
      weights: FileSource
      config?: FileSource
      /** preprocessor_config.json */
      preprocessor?: FileSource
      /** processor_config.json, where transformers 5 keeps it */
      processor?: FileSource
    }
  | Record<string, FileSource>
  | Map<string, FileSource>
  | Iterable<File>

/** One weight file, the files of a folder, or an address of either. An address that ends in '/'
 * is a folder; in Node, so is the path of a directory. Of a weight file's address, config.json,
 * preprocessor_config.json, processor_config.json and open_clip_config.json beside it are read too; of an ONNX file in a
 * folder onnx/ those above it, where none are beside it. Weights that are stored
 * in int8 (heed convert) are multiplied in int8. */
export type ModelSource = FileSource | ModelFiles

export interface CheckResult {
  op: string
  passed: boolean
  /** Largest absolute error. */
  maxAbs: number
  /** Largest error, relative to 1 + the expected magnitude. */
  maxRel: number
  /** Name of the tensor with the largest error. */
  worst: string
  /** Shape of that tensor. */
  shape: number[]
  /** The computed tensors by name; empty unless `results` was set. */
  results: Record<string, Tensor>
}

/** Cases of a standard's attention: `passed` are as the standard has them, `stated` as heed states
 * where it differs on purpose, `wrong` neither. */
export interface ProfileCounts {
  cases: number
  passed: number
  stated: number
  wrong: number
}

export interface ProfileResult extends ProfileCounts {
  profile: string
  standard: string
  backend: string
  /** Pairs of choices, each in some case. */
  pairs: number
  questions: (ProfileCounts & { question: string; answer: string; reason?: string })[]
}

export interface Tensor {
  shape: number[]
  data: Float32Array | Uint8Array | Int32Array
}

/** EXPERIMENTAL: may change. Tensors of session.explain: N patches, T tokens, C channels, L layers,
 * H heads. A method gives those that
 * begin with its name, and similarity with a second image also match. */
export interface Explanation {
  /** [C]: mean of the patches' states. */
  'pca.mean'?: Tensor
  /** [3, C], of length 1; the entry of the largest size is positive. */
  'pca.components'?: Tensor
  /** [3], descending. */
  'pca.variance'?: Tensor
  /** [N, 3]: (state - mean) . component. */
  'pca.scores'?: Tensor
  /** [N] of 0 and 1: the side of the first component that lies less on the border. */
  'pca.foreground'?: Tensor
  /** [3, C]: components of the foreground's patches alone. */
  'pca.colours'?: Tensor
  /** [N, 3], 0 to 1: the patches by colours; the background is 0. */
  'pca.rgb'?: Tensor
  /** [N, N]: cosines; NaN of a state of zeros. */
  similarity?: Tensor
  /** [N, M]: with the M patches of source. */
  'similarity.source'?: Tensor
  /** [N]: the patch of source that is the most similar, where that holds both ways; else -1. */
  match?: Tensor
  /** [N]: the group of each patch, from 0; -1 of a state without a direction. */
  kmeans?: Tensor
  /** [K, C]: means of the groups' unit states. */
  'kmeans.centres'?: Tensor
  /** []: the number that the methods of the score start from. */
  score?: Tensor
  /** [L, H, T]: what each head adds to the score, by the source token that it read. */
  'ledger.heads'?: Tensor
  /** [L] */
  'ledger.mlps'?: Tensor
  /** [T]: the states before the first layer. */
  'ledger.embeddings'?: Tensor
  /** [L + 1]: biases of the layers; the last: those of the read-out. */
  'ledger.bias'?: Tensor
  /** [T]: all that stands in a token at the end. */
  'ledger.tokens'?: Tensor
  /** []: the MLP of a pooling attention, where there is one. */
  'ledger.pool'?: Tensor
  /** [L + 1, T]: the score by one token alone, after each layer; level 0 is the embeddings. */
  lens?: Tensor
  /** [L + 1, T]: lengths of the states, before any norm. */
  norms?: Tensor
  /** [L + 1, N] of 0 and 1: patches whose state is far longer than those of the others. */
  outliers?: Tensor
  /** [L + 1]: the length from which on. */
  'outliers.bound'?: Tensor
  /** [N]: the score with the patch's square of patches covered by the mean colour. */
  occlusion?: Tensor
  /** [N]: then the probability of the target, where that is one logit. */
  'occlusion.probability'?: Tensor
  /** []: the score without the heads. */
  ablation?: Tensor
  /** []: then the probability of the target, where that is one logit. */
  'ablation.probability'?: Tensor
  /** [2]: the scores of the image and of source. */
  'patch.scores'?: Tensor
  /** [L + 1, T]: the score with the state of one token from source. */
  'patch.states'?: Tensor
  /** [L, H]: with the output of one head. */
  'patch.heads'?: Tensor
  /** [L, T]: with the output of the MLP in one token. */
  'patch.mlps'?: Tensor
  /** [N]: of each of `maps`, a number a patch. */
  [map: `map.${string}`]: Tensor | undefined
  /** grad.pixel_values [channels, h, w], grad.embeddings [T, C], grad.layer.l.output [T, C],
   * grad.attention.l [H, T, T]: derivatives of the score. */
  [gradient: `grad.${string}`]: Tensor | undefined
  /** [N]: Grad-CAM of what the attention of layer l reads. */
  [gradcam: `gradcam.${number}`]: Tensor | undefined
  /** [T, T]: mean over heads of max(0, weights x gradient). */
  [attention: `attention_gradient.${number}`]: Tensor | undefined
  /** [T]: relevancy of Chefer et al. 2021. */
  'relevancy.chefer'?: Tensor
  /** [K, Tt]: the same of K texts. */
  'text.relevancy.chefer'?: Tensor
  /** [K, H, Tt, Tt], of layer l of the text tower. */
  [text: `text.grad.${string}`]: Tensor | undefined
  /** [T] */
  'rollout.gradient'?: Tensor
  /** [channels, h, w] */
  inputxgrad?: Tensor
  /** [channels, h, w]: integrated gradients. */
  ig?: Tensor
  /** []: their sum less the change of the score. */
  'ig.delta'?: Tensor
  /** [channels, h, w] */
  smoothgrad?: Tensor
  /** [channels, h, w] and [T] */
  'cplrp.pixel_values'?: Tensor
  'cplrp.tokens'?: Tensor
  'attnlrp.pixel_values'?: Tensor
  'attnlrp.tokens'?: Tensor
  /** Attribution patching; shapes as of patch. */
  'atp.states'?: Tensor
  'atp.heads'?: Tensor
  'atp.mlps'?: Tensor
  /** [T]: the last layer from CLS, and the rollout of all. */
  'attention.last'?: Tensor
  'attention.rollout'?: Tensor
  /** Curves of `map` [steps + 1], their areas []; `.probability` where the target is one logit. */
  [deletion: `deletion.${string}`]: Tensor | undefined
  [insertion: `insertion.${string}`]: Tensor | undefined
  /** [flips] */
  flipping?: Tensor
  /** [percentages], and [percentages] of 0 and 1: the target is still the largest. */
  road?: Tensor
  'road.kept'?: Tensor
  /** [] of 0, 1 and 255 (an empty mask). */
  'localisation.pointing'?: Tensor
  /** [] */
  'localisation.mass'?: Tensor
  'localisation.rank'?: Tensor
  /** []: of map and otherMap. */
  spearman?: Tensor
}
/** Methods of session.explain. The first three are of the states of the patches. */
export type ExplainMethod =
  | 'pca'
  | 'similarity'
  | 'kmeans'
  | 'ledger'
  | 'lens'
  | 'norms'
  | 'outliers'
  | 'grad'
  | 'gradcam'
  | 'attention_gradient'
  | 'gradient_rollout'
  | 'relevancy'
  | 'inputxgrad'
  | 'ig'
  | 'smoothgrad'
  | 'cplrp'
  | 'attnlrp'
  | 'patch'
  | 'atp'
  | 'attention'
  | 'occlusion'
  | 'ablation'
  | 'deletion'
  | 'insertion'
  | 'flipping'
  | 'road'
  | 'localisation'
  | 'spearman'
/** Maps of session.explain, a number a patch; docs/explain.md says how each is made. */
export type PatchMap =
  | 'attention'
  | 'rollout'
  | 'ledger'
  | 'activation'
  | 'lens'
  | 'norms'
  | 'pca'
  | 'unlike'
  | 'relevancy'
  | 'gradient-rollout'
  | 'gradcam'
  | 'inputxgrad'
  | 'ig'
  | 'smoothgrad'
  | 'cplrp'
  | 'attnlrp'
  | 'centre'

export type ColormapName = 'cividis' | 'viridis' | 'magma' | 'inferno' | 'grey'

/** A drawn scene of the demo, in the format of `heed demo --scene FILE.json`. Lengths are pixels
 * from the top left, in steps of 1/16. Angles are degrees counter-clockwise. */
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
  /** RGBA, 224 x 224, for session.run and `new ImageData(image.data, image.width)`. */
  image: Picture & { data: ReturnType<Uint8ClampedArray['slice']> }
  /** [14 * 14]: for each patch, the index of the object that covers most of it; 255 = none. */
  owner: Uint8Array
  /** Indices of the two objects of the same shape; null unless exactly one shape occurs twice. */
  twins: [number, number] | null
}

/** The shapes and colours of scenes. Shapes are in the order of the demo model's classes. */
export const sceneShapes: readonly string[]
export const sceneColours: readonly string[]

/** Values of a layer: query, key and value [batch, H, T, D]; weights and scores [batch, H, T, T];
 * heads, what the heads give before their projection, and output, [batch, T, width]. */
export type LayerTap = 'query' | 'key' | 'value' | 'weights' | 'scores' | 'heads' | 'output'
/** Values of no layer: what the first layer reads, [batch, T, width], and those of a pooling attention, which
 * has one query. */
export type WholeTap =
  | 'embeddings'
  | 'poolQuery'
  | 'poolKey'
  | 'poolValue'
  | 'poolWeights'
  | 'poolScores'
  | 'poolHeads'
/** What `taps` of createSession call a value: tapName('weights', 3) is "layer.3.attention.weights".
 * Throws 'INVALID_ARGUMENT' for an unknown value, or without the layer of one that has a layer. A
 * model without that value is refused by `ready`. */
export function tapName<T extends 'query' | 'key' | 'value' | 'output'>(
  tap: T,
  layer: number
): `layer.${number}.${T}`
export function tapName(tap: LayerTap, layer: number): `layer.${number}.${string}`
export function tapName(tap: WholeTap): string

/** The folder with the package's files, for all of heed: createRuntime, look, loadTexts, loadExplain,
 * createTokenizer, demoModel, <attention-map>. For bundlers that leave these files behind; called
 * before the first of them. An address in a page may be relative to it. undefined: the folder of
 * index.js. Throws 'INVALID_ARGUMENT' for what is no address. */
export function setBase(base: string | URL | undefined): void

/** Creates a runtime. Threads that cannot start leave one thread, with the reason in `info.why`. Throws
 * 'INVALID_ARGUMENT' for invalid options, 'IO' when a module cannot be loaded, 'INTERNAL' when the
 * worker that `worker: true` asks for cannot start, 'UNSUPPORTED' where the environment lacks what
 * heed is built on, and 'OUT_OF_MEMORY'. In Node a runtime that is not closed does not keep the
 * process from ending; a call that is under way does. */
export function createRuntime(options?: RuntimeOptions): Promise<Runtime>

export interface Runtime {
  readonly info: RuntimeInfo
  /** Loads a model: a vision transformer as .safetensors, or as a file of PyTorch (.pth, .pt, .bin,
   * .ckpt), sharded or not, or as an ONNX file, whose weights heed's own graph takes
   * (docs/onnx.md). A file of another kind is refused by name. The weights are in memory
   * once: a session packs them while it reads them. A download is freed while it is packed, so
   * the next session requests its address again; a downloaded ONNX file is held until the model
   * closes. External data of an ONNX file is taken from the files given with it, by name, or from
   * beneath the folder of its address. Of a folder's ONNX files, also of its folder onnx/, the
   * most exact is taken, where there are no other weights. A Response serves one session. A shard index
   * may name at most 512 files of its own folder.
   *
   * Throws 'INVALID_ARGUMENT' for an invalid source or option. Throws 'IO' when a file is missing,
   * is not a regular file or cannot be read. Throws 'INVALID_FILE' or 'UNSUPPORTED' for its content;
   * also 'OUT_OF_MEMORY' and 'CANCELLED'. */
  loadModel(source: ModelSource, options?: LoadModelOptions): Promise<Model>
  /** Runs the op of a case file on its tensors, on one thread without SIMD. Compares the results with
   * its expect.* tensors, as `heed check` does. tolerance: default 2e-5, relative to
   * 1 + the expected magnitude. A mismatch is no error: see `passed`. Throws 'INVALID_ARGUMENT' for
   * an invalid argument, and 'INVALID_FILE' or 'UNSUPPORTED' for the content of the case. */
  check(
    caseBytes: ArrayBuffer | Uint8Array,
    options?: { tolerance?: number; results?: boolean }
  ): Promise<CheckResult>
  /** Makes the cases of a standard's attention and counts those that are right, as
   * `heed check --profile` does. Throws 'INVALID_ARGUMENT' for an unknown profile. */
  check(
    profile: 'onnx' | 'torch' | 'keras',
    options?: { tolerance?: number }
  ): Promise<ProfileResult>
  /** Draws a scene of the demo: a given scene, or the scene of a seed. A seed is an integer from 0
   * to 2 ** 53 - 1, or a bigint below 2n ** 64n. Throws 'INVALID_ARGUMENT' for an invalid seed,
   * name or number, and 'INVALID_FILE' for a scene that cannot be drawn. */
  scene(scene: number | bigint | Scene): Promise<DrawnScene>
  /** Returns a table of 256 RGB colours, [256 * 3]. Throws 'INVALID_ARGUMENT' for an unknown
   * name. */
  colormap(name: ColormapName): Promise<Uint8Array>
  /** Returns the memory in use. */
  memory(): Promise<Memory>
  /** Closes the runtime, its models and sessions, and its threads. Later calls reject. */
  close(): void
  [Symbol.dispose](): void
}

export interface ModelInfo {
  family: string
  /** Side of the square input image of its config, in pixels. */
  imageSize: number
  /** Size of pixel_values in a session that is given none, in pixels. It is that of the model's
   * preprocessing, which may be another than `imageSize`: DINOv2 has 518 and runs at 224. */
  runHeight: number
  runWidth: number
  channels: number
  /** Side of a patch, in pixels. */
  patch: number
  /** Channels of a token. */
  width: number
  layers: number
  heads: number
  /** No file tells the number of heads: it is width / 64. */
  headsGuessed: boolean
  /** Each class stands by itself, as an ONNX graph ends with a sigmoid: the probability of a class is
   * the sigmoid of its logit, not a softmax over all. */
  eachClass: boolean
  /** The rules that the shapes of tensors do not tell, in one line. */
  rules: string
  /** What was assumed because no file tells it, in one line; null when nothing was. */
  assumed: string | null
  /** How weights are read that are no .safetensors file, in one line: of an ONNX file, what made it
   * and how many weights it names. null for others. */
  note: string | null
  mlpWidth: number
  /** Number of CLS, distillation and register tokens; they come before the patches. */
  prefixTokens: number
  /** Their names: 'CLS', 'distillation', 'register 2'. */
  tokenNames: string[]
  /** 0 when the model has no classifier. */
  classes: number
  parameters: number
  /** Size of the model weights in their files, in bytes. */
  weightBytes: number
  /** Of a model of videos: the frames that run() takes, and frames of a patch. 0: it takes one image. */
  frames: number
  tubelet: number
  /** How many grids the layers of a hierarchical model (Swin) have; width, heads and mlpWidth are
   * those of the last one. 1: one grid, and windows in some layers (SAM). 0: one grid, no windows. */
  stages: number
  /** Class labels from the config; "class N" where the config has none. */
  labels: string[]
  /** Of an ONNX file that runs as a graph. What is not known of it is 0 above. */
  graph?: GraphInfo
}

/** An input or output of an ONNX graph. */
export interface GraphPort {
  name: string
  /** As .safetensors has it: 'F32', 'I64'; null for a type that it has not. */
  dtype: string | null
  /** -1: left open; null: the file does not tell. */
  shape: number[] | null
}
export interface GraphInfo {
  inputs: GraphPort[]
  outputs: GraphPort[]
  /** The attentions that were found, by the names of their nodes. */
  attentions: string[]
}
/** 'F32' is a Float32Array, 'I64' a BigInt64Array, 'BOOL' a Uint8Array, and so on. Floats of 16 bits
 * are a Uint16Array of their bits. */
export interface GraphInput {
  data: ArrayBufferView
  shape: number[]
}
/** Floats of 16 bits are a Float32Array. */
export interface GraphTensor {
  dtype: string
  shape: number[]
  data:
    | Float32Array
    | Float64Array
    | BigInt64Array
    | BigUint64Array
    | Int32Array
    | Uint32Array
    | Int16Array
    | Uint16Array
    | Int8Array
    | Uint8Array
}
export interface EvaluateOptions extends CallOptions {
  /** 'all': the weights of every attention too. Default 'none'. */
  taps?: 'none' | 'all'
}
export interface EvaluateResult {
  /** By their names in the graph. */
  outputs: Record<string, GraphTensor>
  /** [batch, heads, queries, keys] of each of `info.graph.attentions`, or as its softmax has them;
   * null where the graph has none. null without taps. */
  attention: ({ shape: number[]; data: Float32Array } | null)[] | null
  /** Which way it ran, in one line. */
  note: string
  milliseconds: number
}

/** The part of the image that preprocessing passes to the model, in pixels of the image. */
export interface Region {
  x: number
  y: number
  width: number
  height: number
}

export interface TensorUse {
  name: string
  /** The dtype in the file, whether or not heed supports it. */
  dtype: string
  shape: number[]
  bytes: number
  /** Whether the model reads this tensor. */
  used: boolean
  /** The tensor's meaning, as its Hugging Face name, independent of the file's naming style. null
   * when the model does not read it. timm stores query, key and value in one tensor; its role is
   * the query's. */
  role: string | null
}

export interface Model {
  readonly info: ModelInfo
  /** Creates a session; its preparation continues until `ready` settles. Throws 'INVALID_ARGUMENT'
   * when the model is closed. `ready` rejects with 'INVALID_ARGUMENT' for invalid options, names or
   * sizes, 'IO' when the files cannot be read again, 'OUT_OF_MEMORY' or 'CANCELLED'. */
  createSession(options?: SessionOptions): Session
  /** Says in lines what was opened, as heed_model_describe: family and sizes, rules, what was guessed
   * and assumed, the preprocessing, parameters and bytes. Of a graph that is no vision transformer it
   * is `info.note`. The words may change. */
  describe(): Promise<string>
  /** Returns the role of every tensor in the files, and the optional tensors that are absent.
   * (loadModel reports a missing tensor that is required.) */
  tensors(): Promise<{ found: TensorUse[]; absent: string[] }>
  /** Runs an ONNX graph on its inputs, by their names in the graph: on heed's kernels, or in double where
   * something has none. Graphs of vision transformers have sessions too. Throws 'INVALID_ARGUMENT'
   * for an input that is missing, unknown or does not fit, 'UNSUPPORTED' for an op that heed has not
   * and for other models, 'OUT_OF_MEMORY' and 'CANCELLED'. The pages' library lacks it. */
  evaluate(inputs: Record<string, GraphInput>, options?: EvaluateOptions): Promise<EvaluateResult>
  /** Closes the model and its sessions. */
  close(): void
  [Symbol.dispose](): void
}

export interface SessionOptions extends CallOptions {
  /** The values that a run retains besides the logits. 'none': default. 'rows': query and key of
   * every layer; attention() computes rows on demand and needs little memory. 'all': the attention
   * weights of every layer. An array of value names such as "layer.3.output": run() returns them as
   * `values`. */
  taps?: 'none' | 'rows' | 'all' | string[]
  /** Images per run of pixel_values. Default 1. */
  batch?: number
  /** Size of pixel_values, in pixels. Default: the model's own input size. run() then takes images
   * at this size, whose sides must be multiples of the patch: an image is resized, aspect kept,
   * until it covers the size, and the centre is cropped. The model's own size is as without. */
  height?: number
  width?: number
  /** Of a model of videos: frames that run() takes, a multiple of `model.info.tubelet`. Default: the
   * model's own. */
  frames?: number
  /** Adds inputs that change the attention, for write(); as `intervene` of heed_build_desc in
   * heed.h. temperature: divides the attention scores, above 0, default 1. emptyRow: the output of
   * a query with no allowed key, default 'zero'; 'mean' is the mean of all values. */
  intervene?: { temperature?: number; emptyRow?: 'zero' | 'nan' | 'mean' }
  /** Replaces parts of the model's preprocessing of images, as heed_preprocess_options in heed.h. */
  preprocess?: PreprocessOptions
}

/** What is left out stays as the model has it. */
export interface PreprocessOptions {
  /** Subtracted from pixels of 0 to 1: a number for all channels, or one for each. */
  mean?: number | number[]
  /** What they are then divided by, above 0. */
  std?: number | number[]
  /** Pillow's filter that resizes. */
  resample?: 'nearest' | 'lanczos' | 'bilinear' | 'bicubic' | 'box' | 'hamming'
  /** The share of the resized image's sides that the centre crop keeps, 0.01 to 1, as timm's
   * crop_pct. 'none': the whole image, its aspect not kept. */
  crop?: number | 'none'
  /** The factor that makes pixels of 8 bits numbers of 0 to 1. */
  rescale?: number
}

/** EXPERIMENTAL: may change. A layer, and where its tokens lie: prefix tokens first, then the patches
 * by frame, row and column. */
export interface LayerPlace {
  /** Channels of a token. */
  width: number
  heads: number
  prefixTokens: number
  frames: number
  rows: number
  columns: number
  /** Side of a patch in pixels of pixel_values, and its frames: 1 of an image. */
  patch: number
  tubelet: number
  /** Attention by windows of window x window patches: result.attention has [batch * down * across,
   * heads, n, n], n = window * window, in the place of [batch, heads, T, T]. The grid is filled up to
   * whole windows and rolled by shift. 0: there are none. */
  window: number
  shift: number
  down: number
  across: number
}

export interface SessionInfo {
  batch: number
  height: number
  width: number
  layers: number
  heads: number
  tokens: number
  prefixTokens: number
  /** The names of the prefix tokens: 'CLS', 'distillation', 'register 2'. */
  tokenNames: string[]
  /** The patch grid, and how many of it lie behind one another in time: 1 of an image. Of a model with
   * stages that of the last layer, as heads and tokens are. */
  frames: number
  rows: number
  columns: number
  /** EXPERIMENTAL: may change. Where the tokens of each layer lie. */
  places: LayerPlace[]
  /** Predicted memory in bytes, as heed_memory in heed.h. */
  memory: { weights: number; arena: number; taps: number; workspace: number }
  /** Where it runs at first. */
  device: 'wasm' | 'webgpu'
  /** Why there, in a few words. */
  why: string
}

/** A decoded image with 8 bits per channel. The length of `data` selects grey, RGB or RGBA;
 * alpha is ignored. An ImageData is a Picture. A model of one channel gets colours as Pillow's mode
 * L; one of more than four takes as many. */
export interface Picture {
  data: Uint8ClampedArray | Uint8Array
  width: number
  height: number
}

/** Numbers that say their dimensions, outermost first. The property is not enumerable, and is of this array
 * alone: a slice or a copy has none. */
export type Shaped = Float32Array & { readonly dims: readonly number[] }

/** [batch, channels, height, width], preprocessed; of videos [batch, frames, channels, height, width]. */
export type PixelValues = Float32Array
export type ImageInput = PixelValues | PictureInput
/** An image before the model's preprocessing. */
export type PictureInput =
  | Picture
  | ImageData
  | ImageBitmap
  | OffscreenCanvas
  | HTMLCanvasElement
  | HTMLImageElement
  | HTMLVideoElement
  | VideoFrame

export interface RunOptions extends CallOptions {
  /** The image area to use. 'model' (default): the crop of the model's preprocessing. 'whole': the
   * whole image at its aspect ratio, padded with the mean colour (0 in pixel_values); `region` then
   * exceeds the image. Models are not trained on padded images. */
  fit?: 'model' | 'whole'
  /** Of a session with taps 'all': whether the result holds its maps. Default true; false spares their
   * copies where attention() reads the few that are wanted. */
  maps?: boolean
  /** Of a session with named taps: whether the result holds their values. Default true; false spares
   * their copies where value() reads the few that are wanted. */
  values?: boolean
}

export interface RunResult {
  /** [batch, classes]; null when the model has no classifier. */
  logits: Shaped | null
  /** [batch, H, T, T] for each layer; null unless taps is 'all', and where `maps` is false. Of attention
   * by windows as LayerPlace has it. */
  attention: Shaped[] | null
  /** The values named in taps. */
  values: Record<string, Tensor>
  /** The part of the image that the model received, of a video the part of its last frame; null for
   * pixel_values. Of a batch it is that of the last image. */
  region: Region | null
  /** That of each image of the batch; null for pixel_values. */
  regions: Region[] | null
  /** Duration of the forward pass alone. */
  milliseconds: number
  /** Where it ran: as the session's `info`, until a GPU is lost. */
  device: 'wasm' | 'webgpu'
  /** Why there, in a few words. */
  why: string
}

/** Statistics of one head over the whole image, as defined in docs/attention.md. Entropies are in
 * nats, distances in pixels, masses are fractions of a row. */
export interface HeadStatistics {
  /** Entropy of the CLS row; 0 when the model has no CLS token. */
  entropyCls: number
  /** Mean entropy of the patches' rows. */
  entropyPatches: number
  /** Mean distance from a patch to the patches that it attends to. */
  distance: number
  /** The same with the weights on patches scaled to sum to 1. */
  distanceRenormalised: number
  /** Mean mass on the prefix tokens. */
  prefixMass: number
  /** Mean weight of a patch on itself. */
  selfMass: number
  /** Mean mass of a row's five largest weights. */
  top5Mass: number
}

/** A query token: its index, its name in lower case if it is a prefix token, or the [row, column]
 * of a patch in the layer's grid, of a video [time, row, column]. */
export type Query =
  | number
  | 'cls'
  | 'distillation'
  | `register ${number}`
  | [number, number]
  | [number, number, number]

export interface Session {
  /** Settles when the session can run. run() waits for it. */
  readonly ready: Promise<SessionInfo>
  /** Runs the model on pixel_values [batch, 3, height, width], or on one image after the model's
   * preprocessing. A session with a batch takes an array of as many images, of any sizes. A model of
   * videos takes an array of as many images as it has frames, in their order, of a batch those of one
   * video after the other, or [batch, frames, 3, height, width]. Throws 'INVALID_ARGUMENT' for an invalid
   * image, number of images, size or option, 'OUT_OF_MEMORY' and 'CANCELLED'. */
  run(input: ImageInput | ImageInput[], options?: RunOptions): Promise<RunResult>
  /** Returns the pixel_values of images, as run() makes them of the same images: for run(), for batches
   * put together elsewhere, and for other programs. `dims` are [batch, channels, height, width]. Changes
   * nothing of the session, whose last run stays. Throws as run(). */
  prepare(
    images: PictureInput | PictureInput[],
    options?: Pick<RunOptions, 'fit'>
  ): Promise<{ pixelValues: Shaped; regions: Region[] }>
  /** Returns a value of the last run: what the model gives, 'logits', 'last_hidden_state' [batch, T, C],
   * 'pooler_output' [batch, C] or 'image_embeds', or what taps name. Throws 'INVALID_ARGUMENT' for a
   * value that this model has not, or that is not retained. */
  value(name: string): Promise<Shaped>
  /** Computes the last run again from this layer on, after write() changed only inputs of these
   * layers. layer: 1 to L; L computes only what follows the layers. Requires the output of the
   * layer before in taps: 'layer.2.output' to start at layer 3. The result is bit-identical to a
   * whole run. Throws 'INVALID_ARGUMENT' for an invalid layer, when that output is not retained and
   * before the first run, and 'CANCELLED'. */
  runFrom(layer: number, options?: CallOptions & Pick<RunOptions, 'values'>): Promise<RunResult>
  /** Replaces an input of a session with `intervene`, for later runs. Throws 'INVALID_ARGUMENT' for
   * an unknown name, a wrong array type or a wrong length. The inputs, with layer 3 as an example:
   * - 'token_mask', Uint8Array [batch, T]: 0 masks a token as key of every query; initially 1.
   * - 'layer.3.attention.mask', Uint8Array [H, T, T]: 1 = may attend; initially 1.
   * - 'layer.3.attention.offset', Float32Array [C]: added to the heads' outputs; initially 0.
   * - 'layer.3.attention.gain', Float32Array [H]: multiplies each head's output, offset included,
   *   before the output projection; initially 1. */
  write(name: string, data: Uint8Array | Float32Array): Promise<void>
  /** Returns attention weights of the last run: one row [T] with a query, otherwise the matrix [T,
   * T]. Requires taps 'all' or 'rows'. head 'mean': the mean over heads. batch: index of the image,
   * default 0. Windows need taps 'all'; a row is 0 outside of the query's own. This function,
   * statistics and rollout throw 'INVALID_ARGUMENT' for an index out of
   * range and before the first run. They also do when the taps do not retain what they need.
   * layer 'pool': the pooling attention of SigLIP's models and PE's, whose one query is learned: one
   * row [N] of the patches, or of all tokens where it attends to those. */
  attention(at: {
    layer: number | 'pool'
    head: number | 'mean'
    query?: Query
    batch?: number
  }): Promise<Shaped>
  /** Returns statistics of the last run as [layer][head]; with `layer`, of this layer alone.
   * Requires taps 'all' or 'rows'. 'UNSUPPORTED' for models of videos and of stages; so is rollout for
   * those of stages, and explain for those of videos. */
  statistics(options?: { layer?: number; batch?: number }): Promise<HeadStatistics[][]>
  /** Returns the attention rollout (Abnar & Zuidema 2020) of the last run: one row [T] with a
   * query, otherwise [T, T]. Requires taps 'all' or 'rows'. One row needs no more memory than the
   * weights of a few queries; all of them need all maps. With a query onProgress counts layers, and
   * the signal ends it between them. */
  rollout(
    options?: CallOptions & {
      query?: Query
      /** With a query: the rows of the rollouts from firstLayer up to each layer, [layerCount, T], for
       * about the time of one. Default false. */
      each?: boolean
      /** How heads are fused. Default 'mean'. */
      fusion?: 'mean' | 'min' | 'max'
      /** Weight of the identity, above 0 and at most 1. Default 0.5. */
      residual?: number
      /** Default 0. */
      firstLayer?: number
      /** At least 1. Default: all layers from firstLayer on. */
      layerCount?: number
      /** Fraction of each row's smallest weights to set to zero, from 0 to below 1. Default 0. */
      discard?: number
      batch?: number
    }
  ): Promise<Shaped>
  /** EXPERIMENTAL: may change. Explains the last run by methods and returns their tensors by name;
   * docs/explain.md says what they mean. Of the states of the patches: 'pca', principal components
   * and their colours; 'similarity', cosines of all pairs of patches; 'kmeans', groups of them. The
   * others have heed-all.wasm run the unchanged model again on the same pixels, with weights of its own
   * while it does. Of an ONNX graph there is occlusion alone, of a class: its own session runs again.
   * At least one of methods and maps must be given. maps: what the image's patches mean for the score, by the method
   * that each needs.
   *
   * layer: states after this layer, which taps must name as `layer.L.output`; default:
   * last_hidden_state. source: a session of a second image, which has run, for similarity.source,
   * match, patch and ablation; sourceMean: the mean over all images of its batch is put in. target: the
   * score, a class by number or label, [N, M] for the difference of two, or as docs/explain.md has
   * it; default: the largest logit. vector: the score is its product with pooler_output. texts: of a
   * model of images and texts, `row` of each text by heed/text; the target is the number of one.
   * sites: what patch puts in; default: all three. "heads.3" is one level, and the others are NaN:
   * so a sweep can be shown as it goes on, and be cancelled between levels. heads: those that
   * ablation takes out, as "layer.head"; they give zeros or, with source, what they give there.
   * clusters: groups of kmeans, 5. square: patches of a side of occlusion's squares, 2. igSteps: of ig, 50.
   * noise [n, channels, h, w]: of smoothgrad; default: 16 pictures of its own.
   *
   * Deletion, insertion, flipping, road, localisation and spearman judge a map of yours: map [N], or for
   * flipping, road and localisation pixelMap [h, w]. otherMap [N]: of spearman. mask [h, w]: of localisation,
   * not 0 is where the answer is. steps: of deletion and insertion, 10. curves: of tokens that leave, of
   * pixels, or both (default). flipPixels: of a step of flipping, 1. percent: of road.
   *
   * keep: what the methods run on, weights and memory, stays until the model is closed, for a next call with `keep`
   * and the same methods and maps. Of gradients it is kept for any class. Default false. onProgress
   * tells of the runs of patch and occlusion.
   *
   * Throws 'INVALID_ARGUMENT' for an unknown method, map, target, site or head, before the first run, and where
   * the states are not there; 'UNSUPPORTED' for a model that a method has no use for; 'CANCELLED',
   * within a method as soon as a run of it ends where memory is shared. */
  explain(
    options: {
      methods?: readonly ExplainMethod[]
      maps?: readonly PatchMap[]
      layer?: number
      batch?: number
      source?: Session
      sourceMean?: boolean
      target?: number | string | [number, number]
      vector?: Float32Array
      texts?: Int32Array[]
      heads?: `${number}.${number}`[]
      clusters?: number
      square?: number
      sites?: ('states' | 'heads' | 'mlps' | `${'states' | 'heads' | 'mlps'}.${number}`)[]
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
    } & CallOptions
  ): Promise<Explanation>
  /** Frees the session's memory. Later calls reject. */
  close(): void
  [Symbol.dispose](): void
}
