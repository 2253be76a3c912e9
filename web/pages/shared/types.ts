/* What files of all pages exchange. */
import type {
  HeadStatistics,
  Model,
  ModelInfo,
  Progress,
  Region,
  Runtime,
  RunResult,
  Scene,
  Session,
  SessionInfo
} from 'heed'

/** Of the model; 'pool': the pooling attention. */
export type Layer = number | 'pool'
/** Of the picture in pixels; null: the model's own. */
export type PictureSize = [height: number, width: number] | null
/** [row, column] of a patch, or the number of a token before the patches; 'cls' is the first. */
export type PageQuery = 'cls' | number | [row: number, column: number]
export type ScoreStage = 'softmax' | 'masked' | 'scaled' | 'raw' | 'value'
export type Fusion = 'mean' | 'min' | 'max'
/** What is changed in the attention; see shared/changes.ts. */
export interface Changes {
  /** Heads taken out, "layer.head". */
  off: string[]
  how: 'zero' | 'mean' | 'uniform'
  temperature: number
  /** Patches that no token looks at, in raster order. */
  dropped: number[]
  /** Pairs that are blocked, "query.key" (tokens). */
  cuts: string[]
  /** "layer.head.percent". */
  gains: string[]
}

/** A picture to run: what a canvas draws, with its own size. */
export interface PagePicture {
  source: PictureSource
  width: number
  height: number
  name: string
  /** Of a video. */
  frames?: PictureSource[]
  /** The seed of a drawn scene, or what it shows. */
  scene?: number | null
  drawn?: Scene
  [more: string]: any
}
export type PictureSource = ImageData | ImageBitmap | HTMLCanvasElement | OffscreenCanvas

/** Files of a model as they were chosen, or addresses by what they are. */
export type PageSource =
  | { weights: URL; config: URL; preprocessor: URL }
  | File[]
  | Record<string, Blob | URL>
/** The tokens of a model: prefix tokens first, then rows x columns patches. */
export interface Shape {
  layers: number
  heads: number
  /** Heads of the pooling attention, 0 without one; Infinity: not known before the first run. */
  pool?: number
  tokens: number
  prefixTokens: number
  rows: number
  columns: number
  /** Names of the prefix tokens; saved maps have none. */
  tokenNames?: string[]
  batch?: number
  patch?: number
  /** Of a model's session. */
  memory?: SessionInfo['memory']
}
/** Numbers of a head; those of saved maps may lack some. */
export type PageStatistics = HeadStatistics

/** A run's result, with what of it the page keeps. `kept`: all maps are there. `scores`: what the
 * scores are made from as well. */
export interface RunnerResult
  extends Omit<
      RunResult,
      'region' | 'regions' | 'logits' | 'attention' | 'values' | 'device' | 'why'
    >,
    Partial<Pick<RunResult, 'device' | 'why'>> {
  attention: Float32Array[] | null
  values: Record<string, NamedArray>
  logits: ArrayLike<number> | null
  region: Region
  changes?: Changes
  /** Rows of the pooling attention over all tokens, one a head. */
  pool?: Float32Array[]
  fit: 'model' | 'whole'
  /** Of a run that the next one replaces at once. */
  light?: boolean
  kept: boolean
  scores: boolean
  /** The session that it is of, and which of its runs. */
  from?: { session: Session; run: number }
  /** What the model saw of a video, its time steps side by side. */
  mosaic?: HTMLCanvasElement
}

/** Which row: a query as the page has it, or its token's number; of: the result it is of. */
export interface RowPlace {
  layer: Layer
  head: number | 'mean'
  query?: PageQuery | null
  token?: number
  reverse?: boolean
  score?: ScoreStage
  of?: RunnerResult
}

/** A session whose attention is changed. `written`: its inputs by name; `ran`: its last run. */
export interface Changing {
  session: Session
  key: string
  written: Map<string, Uint8Array | Float32Array>
  ran: { picture: PictureSource; fit: 'model' | 'whole' } | null
}

/** How the demo model's files are fetched. onMismatch: before the weights are fetched again. */
export interface LoadOptions {
  onProgress?: (progress: PageProgress) => void
  signal?: AbortSignal
  onMismatch?: () => void
}
export type PageProgress = Progress | { phase: 'module'; done?: number; total?: number }
export interface FetchOptions {
  cache?: RequestCache
  signal?: AbortSignal
  onBytes?: (count: number) => void
}

/** Maps from a file; see explorer/open/saved_maps.ts. */
export interface SavedMaps {
  name?: string
  /** Theirs, where it came with them. */
  picture?: PagePicture | null
  from?: any
  shape: Shape & { patch: number }
  /** An array [H, N, N] a layer. */
  attention: Float32Array[]
  pixels: NamedArray | null
  named: boolean
  /** The grid is by the number of tokens alone. */
  assumed: boolean
  logits: ArrayLike<number> | null
  statistics(): Promise<PageStatistics[][]>
  rollout(how: {
    token: number
    fusion: Fusion
    residual: number
    discard?: number
    first: number
    last: number
  }): Promise<Float32Array>
  result(picture: PagePicture): RunnerResult
  /** Family and patch, no parameters and no labels. */
  model: ModelInfo
}

/** An array of a file by its name; see shared/array_files.ts. */
export interface NamedArray {
  shape: number[]
  data: Float32Array
}
/** A tensor in the header of a safetensors file. */
export interface HeaderEntry {
  dtype: string
  shape: number[]
  data_offsets: [from: number, to: number]
}

/** What scores have of their own; see shared/small_attention.ts. */
export interface ScoreParts {
  w: number[][]
  v: number[]
  c: number
  s: number
}
/** An attention to compute: query, key and value as rows, and how. */
export interface SmallAttention {
  query: number[][]
  key: number[][]
  value: number[][]
  score?: string
  norm?: string
  temperature?: number
  threshold?: number
  own?: ScoreParts
  mask?: boolean[][] | null
  may?: (query: number, key: number) => boolean
}
export interface SmallResult {
  scores: number[][]
  tempered: number[][]
  weights: number[][]
  output: number[][]
}
/** Self-attention of many heads over tokens [T, C]; projection [C, C] (out, in). */
export interface SmallHeads {
  tokens: number[][]
  heads: number
  projection: number[][]
}
export interface SmallHeadsResult {
  parts: number[][][]
  weights: number[][][]
  joined: number[][]
  output: number[][]
}
/** A case of `heed check`. */
export interface SmallCase {
  tensors: Record<string, SmallTensor>
  metadata: Record<string, string>
}
export interface SmallTensor {
  shape: number[]
  data: Float32Array | Uint8Array
}
/** A matrix as a table; see shared/matrix_table.ts. */
export interface TableOptions {
  caption: string
  values: Cell[][]
  rows: string[]
  columns: string[]
  digits?: number
  /** What the darkest cell stands for. */
  largest?: number
  chosen?: ((row: number, column: number) => boolean) | null
  hidden?: ((row: number, column: number) => boolean) | null
  /** Columns of text after the numbers, by their names. */
  after?: Record<string, (string | number)[]> | null
  onEdit?: (row: number, column: number, value: any) => void
  onLook?: (row: number, column: number, type: string) => void
}
export type Cell = number | boolean | null
/** The factors of a mask; see masks/mask_factors.ts. */
export interface MaskSetting {
  layer: string
  shared: boolean
  queries: boolean[]
  values: boolean[]
  keys: boolean[]
  causal: boolean
  window: number[] | null
  painted: boolean[][]
}
export type MaskParts = Record<string, boolean[][] | null>
/** The settings of masks.html as its link has them. */
export interface MaskLink {
  tq: number
  tk: number
  layer: string
  shared: boolean
  causal: boolean
  window: number[] | null
  form: string
  padded: { query: number[]; value: number[]; key: number[] }
  closed: number[]
}
/** The weights of the trained sorting model. */
export interface Sorter {
  tensors: Record<string, NamedArray>
  layers: number
  width: number
}
export type SorterHead = SmallResult & { query: number[][]; key: number[][] }

/** An event of a template's element. */
export type Of<Target> = Event & { target: Target }
/** A control in a view's own markup, whichever kind it is. */
export interface Field extends Omit<HTMLElement, 'addEventListener'> {
  value: string
  disabled: boolean
  checked: boolean
  min: string
  max: string
  options: HTMLOptionsCollection
  valueAsNumber: number
  addEventListener(
    type: string,
    listener: (event: Event & { target: Field }) => unknown,
    options?: AddEventListenerOptions
  ): void
}

/** An array of a file that is not read yet. */
export interface ArrayPart {
  name: string
  kind: string
  shape: number[]
  columnsFirst?: boolean
  read(): Promise<Uint8Array>
}
/** The header of a safetensors file, and where its data starts. */
export interface FileHeader {
  header: Record<string, HeaderEntry>
  start: number
}
/** A file in a zip: where its bytes are, inflated or not. */
export interface ZipEntry {
  entry: string
  what: string
  local: number
  end: number
  blob: Blob
  size: number
  crc: number
  packed: boolean
}
/** models.json, the models that a server offers beside the pages. */
export interface ModelList {
  models: OfferedModel[]
  pictures?: OfferedPicture[]
}
export interface OfferedPicture {
  name: string
  /** Relative to models.json. */
  address: string
  licence: string
  size: number
  sha256: string
}
export interface OfferedModel {
  name: string
  /** Of its folder, relative to models.json, with a slash at the end. */
  address: string
  licence: string
  /** The pictures that it was trained on. */
  trained?: string
  /** path: from its folder. */
  files: { path: string; size: number; sha256: string }[]
}

/** The median, its quartiles and how many runs they are of; milliseconds. */
export interface Timing {
  median: number
  quartiles: number[]
  runs: number
}
/** One kind of module, measured; gflops, ceiling: GFLOP/s. */
export interface BenchRow {
  kind: string
  device?: string
  simd?: string
  threads: number
  version?: string
  ceiling: number
  model: Timing & { gflops: number; share: number }
  ops: (Timing & { op: string; gflops: number | null })[]
}
/** What the page measured, and where. */
export interface Measured {
  what: string
  rows: BenchRow[]
  environment: BenchEnvironment
  when: string
}
export interface BenchEnvironment {
  agent: string
  cores: number
  memory: number | null
  isolated: boolean
  heed: string | null
  devices: (string | undefined)[]
}
/** Figures to compare with. */
export interface Baseline {
  name: string
  machine: string
  rows: BenchRow[]
}
/** A kind of module that is being measured. */
export interface Started {
  name: string
  runtime: Runtime
  close(): void
  model: Model
  session: Session
  shape: Shape
  times: number[]
  ops: BenchRow['ops']
}

declare global {
  /** What early.ts of the pages asked for. */
  var early:
    | { address: string; answer: Promise<Response | undefined>; stop: AbortController }
    | undefined
}
