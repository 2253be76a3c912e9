/* What the explorer's files share: the page, its state, the runner and what they hand around. */
import type {
  ColormapName,
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
import type { OverlayStyle, Raster, Scale, ScaleKind } from 'heed/plot'
import type { views } from '../pages/explorer/views/view_list.js'
import type { ModelRunner } from '../pages/explorer/model/model_runner.js'

/* ------------------------------------------------------------------------------------------------
 * the page */

/** The explorer: one object that start() makes and every other file is given. */
export interface Page {
  store: Store
  /** Set once the demo model is loaded; only start() runs before that. */
  engine: Runner
  /** 256 colours, RGB, of the chosen map of colours. */
  table: Uint8Array
  /** What the model was loaded from. */
  source: PageSource
  /** The picture of the last run. */
  picture: PagePicture
  /** statistics[layer][head] of the last run; null until they are computed. */
  statistics: PageStatistics[][] | null
  /** What the stage shows; undefined until the first map is drawn. */
  drawn: Drawn
  /** Resolves once stage and view show what is chosen; an error where the stage does not. */
  settled(): Promise<void>
  /** Resolves once the view beside the stage is drawn. */
  viewSettled?: () => Promise<void>
  /** What the comparison shows beside it. */
  compared?: Other | null
  /** Runs the model on a picture. live: one of many while something moves. */
  run(picture: PagePicture, options?: { live?: boolean }): Promise<void>
  /** Resolves to whether the model could be loaded; the page has said why not. */
  openModel(source: PageSource, name: string): Promise<boolean>
  /** objects: the code of a changed scene. */
  openScene(seed: number, objects?: string): Promise<void>
  /** Makes the state fit the model: layers, heads and patches that it has. state: what is new. */
  fit(state?: Partial<State>): void
  /** The query drawn now: the patch under the mouse, or the chosen one. */
  query(): PageQuery
  showError(error: unknown, again?: () => void): void
  /** A view's own use of a press on the patches; returns whether it took it. */
  paint?: ((row: number, column: number, how: string) => boolean | undefined) | null
  /** A view's own use of what the pointer is on. */
  look?: ((token: number | null) => void) | null
}

/** [row, column] of a patch, or the number of a token before the patches; 'cls' is the first. */
export type PageQuery = 'cls' | number | [row: number, column: number]
export type ScoreStage = 'softmax' | 'masked' | 'scaled' | 'raw' | 'value'
export type Fusion = 'mean' | 'min' | 'max'
/** See explorer/views/view_list.ts. */
export type ViewName = keyof typeof views
/** See explorer/views/more_views.ts. */
export type MoreView =
  | 'lines'
  | 'pair'
  | 'lens'
  | 'occlusion'
  | 'ablation'
  | 'groups'
  | 'region'
  | 'frames'

/** What is changed in the attention; see explorer/state/changes.ts. */
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

/** The settings: what the address and a session file keep, and what the page needs while it is
 * open. */
export interface State extends Changes {
  /** The seed of the drawn scene; null where it is changed, or another picture. */
  scene: number | null
  /** The code of a changed scene (state/scene_code.ts), else ''. */
  objects: string
  /** 'pool': the pooling attention. */
  layer: number | 'pool'
  head: number | 'mean'
  query: PageQuery
  view: ViewName
  style: OverlayStyle
  scale: ScaleKind
  /** Where a locked scale ends, in times uniform; 0: it is not locked. */
  end: number
  /** The step of the tour, 1 the first; 0: none. */
  tour: number
  /** The view behind the tab “More”. */
  more: MoreView
  /** The weight at the end of the scale of the matrix that stands beside the picture, else 0. */
  shown: number
  colours: ColormapName
  strength: number
  reverse: boolean
  fit: 'model' | 'whole'
  /** Of the picture in pixels; null: the model's own. */
  size: [height: number, width: number] | null
  fusion: Fusion
  /** Layers of the rollout; last -1: the last of the model. */
  first: number
  last: number
  residual: number
  discard: number
  score: ScoreStage
  sort: string
  descending: boolean
  filter: string
  /** The patch under the pointer. */
  hover: [row: number, column: number] | null
  /** The patch that was the query before CLS. */
  patch?: PageQuery
  /** Counts the runs. */
  ran: number
  /** The run whose statistics are there. */
  measured?: number
  drawn?: Drawn
  coloured?: ColormapName
  picture: PagePicture | null
  pinned: Pin | null
  pins: Pin[]
}
/** A listener gets the state and the names of what changed. */
export interface Store<S = State> {
  get(): Readonly<S>
  set(patch: Partial<S>): void
  on(keys: (keyof S)[] | null, listener: (state: Readonly<S>, changed: string[]) => void): void
}

/* ------------------------------------------------------------------------------------------------
 * what is drawn */

/** Which row, of a run: what it shows and what is said of it come from this; see model/shown_row.ts. */
export interface RowAt {
  view: ViewName
  /** Of the layers from first to last; otherwise layer and head count. */
  rollout: boolean
  layer: State['layer']
  head: number | 'mean'
  /** null: the probe of the pooling attention. */
  query: PageQuery | null
  reverse: boolean
  /** The stage that is shown: weights where the run has no scores. */
  score: ScoreStage
  fusion: Fusion
  residual: number
  discard: number
  first: number
  last: number
  /** What the run had changed. */
  changes: Changes
}

/** The row on the stage. */
export interface Drawn {
  /** All N weights. */
  row: Float32Array
  /** The result that it is of. */
  of: RunnerResult
  shape: Shape
  at: RowAt
  /** Where the picture lies in the part that the model saw, in shares of it. */
  inside: Inside
  title: string
  /** Of another stage than the softmax; null where the weights are shown. */
  scores: Float32Array | null
  scale: Scale
  table: Uint8Array
  /** The map over the picture, and outlines as an SVG path. */
  raster: Raster
  path: string
  /** -1: the probe of the pooling attention. */
  token: number
  note: string
  caption: string
}
export interface Inside {
  left: number
  top: number
  right: number
  bottom: number
}

/** A row that is kept beside the one on the stage; see explorer/state/pins.ts. */
export interface Pin {
  row: Float32Array
  /** Of the stage; none in a pin of a session that was opened. */
  scores?: Float32Array | null
  title: string
  score: ScoreStage
  /** The address's hash of its place. */
  settings: string
  note: string
  name: string
  model: string | null
  source: PageSource | SavedMaps | null
  shape: Shape
  image: PagePicture
  region: Region
  picture: HTMLCanvasElement
}

/** A picture to run: what a canvas draws, with its own size. */
export interface PagePicture {
  source: PictureSource
  width: number
  height: number
  name: string
  /** The seed of a drawn scene, or what it shows. */
  scene?: number | null
  drawn?: Scene
  [more: string]: any
}
export type PictureSource = ImageData | ImageBitmap | HTMLCanvasElement | OffscreenCanvas

/** A view of the panel: by which keys of the state it is drawn again, and how. */
export interface View {
  keys: string[]
  draw(latest: () => boolean): unknown
}
export type MakeView = (
  page: Page,
  element: HTMLElement,
  options: { left: AbortSignal; redraw(): void }
) => View
/** A view as the list of views has it. `table`, `csv`: the modules of its numbers. */
export interface ListedView {
  title: string
  load?(): Promise<{ view: MakeView }>
  table?(): Promise<{ table(page: Page): NumberTable | Promise<NumberTable> }>
  csv?(): Promise<{ csv(page: Page): Promise<string> }>
}
/** The numbers of a picture, for a dialog. Numbers with a unit of their own stand as { plain }. */
export interface NumberTable {
  title: string
  text: string
  columns: (string | number)[]
  rows: (string | number | { plain: number })[][]
  show(value: number): string
}

/* ------------------------------------------------------------------------------------------------
 * model and results */

/** Files of a model as they were chosen, or addresses by what they are. */
export type PageSource =
  | { weights: URL; config: URL; preprocessor: URL }
  | File[]
  | Record<string, Blob | URL>
export type Runner = ModelRunner
export type Query = PageQuery

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
/** What a size of pictures costs; in bytes. */
export interface SizeCost {
  tokens: number
  /** Whether all maps are kept. */
  keeps: boolean
  /** Of all maps. */
  maps: number
  runtime: number
  /** Copies that the page has. */
  page: number
}
/** Numbers of a head; those of saved maps may lack some. */
export type PageStatistics = HeadStatistics

/** A run's result, with what of it the page keeps. `kept`: all maps are there. `scores`: what the
 * scores are made from as well. */
export interface RunnerResult extends Omit<RunResult, 'region' | 'logits' | 'values'> {
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
}

/** Which row: a query as the page has it, or its token's number; of: the result it is of. */
export interface RowPlace {
  layer: State['layer']
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

/** A head with its numbers, as the table of heads lists it. */
export type HeadEntry = PageStatistics & { layer: number; head: number }
/** A head whose map is shown; its numbers where it was found by them. */
export type ShownHead = HeadEntry | { layer: State['layer']; head: number }

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

/* ------------------------------------------------------------------------------------------------
 * the lessons: small matrices as arrays of rows */

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

/* ------------------------------------------------------------------------------------------------
 * parts of views and files */

/** An event of a template's element. */
export type Of<Target> = Event & { target: Target }
/** A control in a view's own markup, whichever kind it is. */
export interface Field extends HTMLElement {
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

/** B of the comparison: a pin, or a row of a second model. */
export interface Other {
  row: Float32Array
  scores?: Float32Array | null
  score: ScoreStage
  title: string
  shape: Shape
  picture: HTMLCanvasElement
  device?: string
  /** The mean of the heads, where nothing is pinned. */
  unpinned?: boolean
  /** Of a pin: the address's hash of its place. */
  settings?: string
}

/** A session file; see explorer/save/session_file.ts. What is in it is checked before it is used,
 * as it may say anything. */
export interface SessionFile {
  heed_session: 1
  settings: string
  weights_sha256: Record<string, string> | null
  picture?: { name: string; png: string } | null
  pins?: any[]
  pictures?: { name: string; png: string }[]
}

/* ------------------------------------------------------------------------------------------------
 * figures for print; see explorer/figure */

export type FigurePanel =
  | 'picture'
  | 'map'
  | 'heads'
  | 'matrix'
  | 'rollout'
  | 'statistics'
  | 'comparison'
/** What someone chooses of a figure. width: in mm; heads: 'all', or layers and heads as "3, 4.0". */
export interface FigureLook {
  panels: FigurePanel[]
  width: number
  font: 'sans' | 'serif' | 'latin'
  dark: boolean
  letters: boolean
  heads: string
}
/** A scale as a file has it. largest: what is drawn with it, beyond the end or not. */
export interface FigureScale {
  kind: Scale['kind']
  label: string
  end: number
  largest: number
}
/** Weights of the patches on a picture. -Infinity: barred. */
export interface FigureMap {
  title: string
  values: number[]
  scale: FigureScale
  /** Of the style 'mass'. */
  mask?: number[]
  /** What stands on the picture. */
  note?: string
  /** Another picture than the figure's, a data URL. */
  png?: string
  /** Of another place than the figure's, as in a link. */
  settings?: string
}
export interface FigureParts {
  /** A data URL: the part that the model saw. */
  picture: string
  map?: FigureMap
  heads?: {
    title: string
    maps: { layer: State['layer']; head: number; values: number[] }[]
    scale: FigureScale
  }
  /** [tokens * tokens]: row = query, column = key. */
  matrix?: FigureMap
  rollout?: FigureMap
  statistics?: {
    title: string
    labels: { x: string; y: string }
    points: { layer: number; head: number; x: number; y: number }[]
    uniform: { x: number; y: number }
  }
  comparison?: { a: FigureMap; b: FigureMap; less: FigureMap; facts: string }
}
/** All that a figure is made of. from.settings: layer, head, query, colours and style, as in a link. */
export interface Figure {
  look: FigureLook
  from: Provenance & { settings: string }
  grid: { rows: number; columns: number; tokens: number; names: string[] }
  title: string
  caption: string
  parts: FigureParts
}
/** What is drawn, in points of 1/72 inch from the upper left. */
export type FigureShape =
  | {
      kind: 'text'
      x: number
      y: number
      text: string
      size: number
      anchor?: 'start' | 'middle' | 'end'
      bold?: boolean
      turned?: boolean
      fill?: string
    }
  | { kind: 'path'; d: string; stroke?: string; size?: number; fill?: string; dash?: boolean }
  | {
      kind: 'dot'
      x: number
      y: number
      radius: number
      fill: string
      stroke?: string
      name: string
    }
  | {
      kind: 'image'
      x: number
      y: number
      width: number
      height: number
      raster?: Raster
      href?: string
    }
export interface FigureLayout {
  width: number
  height: number
  ground: string
  ink: string
  font: string
  groups: { name: string; shapes: FigureShape[] }[]
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
/** Where numbers are from, as files and figures say it; see explorer/save/provenance.ts. */
export interface Provenance {
  heed: string
  model: string | null
  layers: number
  heads: number
  parameters?: number | null
  weights_sha256?: Record<string, string | null> | null
  picture: string
  settings?: string
  changes?: string
  [more: string]: any
}
/** A model of a server, as the page lists and keeps it. */
export interface ListedModel {
  address: string
  /** Of the list of its server; without one, the end of the address. */
  name?: string
  size: number
  /** sha256: what the bytes must have, where it is known. */
  files: { name: string; url: string; size: number; sha256?: string }[]
}
/** What this browser keeps. key: its address, or own:… of what came from files. */
export interface KeptThing {
  key: string
  kind: 'model' | 'picture'
  /** '' of models that were kept by address alone. */
  name: string
  size: number
  files: Record<string, Blob>
}
/** models.json, the models that a server offers beside the pages. */
export interface ModelList {
  models: OfferedModel[]
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

/* ------------------------------------------------------------------------------------------------
 * measurements */

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
  /** Runs op cases on the same kernels. */
  checks: Runtime
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
