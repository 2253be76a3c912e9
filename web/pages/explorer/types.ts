/* The explorer's page, its state, and what its files exchange. */
import type { ColormapName, Region } from 'heed'
import type { OverlayStyle, Raster, Scale, ScaleKind } from 'heed/plot'
import type { views } from './views/view_list.js'
import type { Stop } from './zoom/stops.js'
import type { Runner } from '../shared/model_runner.js'
import type {
  Changes,
  Fusion,
  Layer,
  PagePicture,
  PageQuery,
  PageSource,
  PageStatistics,
  PictureSize,
  RunnerResult,
  SavedMaps,
  ScoreStage,
  Shape
} from '../shared/types.js'

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
  /**
   * Resolves to whether the model could be loaded; the page has said why not.
   * anew: it was chosen just now, so that it opens at its own place, unless another place was chosen.
   */
  openModel(source: PageSource, name: string, options?: { anew?: boolean }): Promise<boolean>
  /** Shows the maps of another stage of a hierarchical model. */
  showStage(stage: number): Promise<void>
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
  | 'classMap'
  | 'causes'
  | 'features'
  | 'patching'

/** The settings: what the address and a session file keep, and what the page needs while it is
 * open. */
export interface State extends Changes {
  /** The seed of the drawn scene; null where it is changed, or another picture. */
  scene: number | null
  /** The code of a changed scene (state/scene_code.ts), else ''. */
  objects: string
  /** 'pool': the pooling attention. */
  layer: Layer
  head: number | 'mean'
  query: PageQuery
  view: ViewName
  style: OverlayStyle
  scale: ScaleKind
  /** Where a locked scale ends, in times uniform; 0: it is not locked. */
  end: number
  /** Of a hierarchical model; -1: the last. */
  stage: number
  /** The step of the tour, 1 the first; 0: none. */
  tour: number
  /** The stop of the zoom; '': it is closed. */
  zoom: Stop | ''
  /** The view behind the tab “More”. */
  more: MoreView
  /** The score that is explained, as session.explain has it; '': the view's own choice. */
  target: string
  /** The seed of the second picture's scene; null: the usual one, or no scene. */
  other: number | null
  colours: ColormapName
  strength: number
  reverse: boolean
  fit: 'model' | 'whole'
  /** Of the picture in pixels; null: the model's own. */
  size: PictureSize
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
  pinned: Pin | null
  pins: Pin[]
}
/** What happened to the page outside of its state: page.drawn, page.statistics or page.table is new. */
export type PageEvent = 'drawn' | 'measured' | 'coloured'
/** A listener gets the state and the names of what changed or happened. */
export interface Store<S = State> {
  get(): Readonly<S>
  set(patch: Partial<S>): void
  tell(event: PageEvent): void
  on(
    keys: (keyof S | PageEvent)[] | null,
    listener: (state: Readonly<S>, changed: string[]) => void
  ): void
}

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
/** A head with its numbers, as the table of heads lists it. */
export type HeadEntry = PageStatistics & { layer: number; head: number }
/** A head whose map is shown; its numbers where it was found by them. */
export type ShownHead = HeadEntry | { layer: State['layer']; head: number }

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
  /** Heads lie over the picture. */
  over?: boolean
  /** Titles of panels that are not those of the page. */
  titles?: Partial<Record<FigurePanel, string>>
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
/** A model of a server, or a picture, as the page lists and keeps it. */
export interface ListedModel {
  address: string
  kind?: 'model' | 'picture'
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
  /** Of a download that was stopped: all that it is of. */
  unfinished?: ListedModel
}
