/* Types of the plots: data in, pictures out. Weights are numbers of rows x columns patches in
 * raster order unless said otherwise. */

export type Numbers = ArrayLike<number> & Iterable<number>
/** 256 colours, RGB: `runtime.colormap(name)`, or divergingTable(). */
export type ColourTable = ArrayLike<number>

/** One pixel a patch, made to be enlarged without smoothing; `new ImageData(raster.data,
 * raster.width)` takes it. */
export interface Raster {
  data: ReturnType<Uint8ClampedArray['slice']> // over an ArrayBuffer of its own, in the words of every TypeScript 5 and later
  width: number
  height: number
}

export interface Tick {
  /** 0..1 along the scale. */
  at: number
  text: string
}
export type ScaleKind = 'uniform' | 'share' | 'log' | 'own' | 'all'
export interface Scale {
  kind: ScaleKind | 'signed' | 'plain'
  /** Zero is in the middle: for a diverging table. */
  signed?: boolean
  /** What it is for are numbers, no shares of a row. */
  numbers?: boolean
  label: string
  /** What the end of the scale stands for, in the scale's own unit. */
  top: number
  /** From the first to the end, whose `at` is 1. */
  ticks: Tick[]
  /** A weight's place, 0..1, more where it is beyond the end; `own` is the largest weight of its
   * map, which only the kind 'own' looks at. */
  position(weight: number, own?: number): number
}
export const scaleKinds: Readonly<Record<ScaleKind, string>>
/** 1, 2, 2.5 or 5 times a power of ten, so that about `steps` (4) of them reach `top`. */
export function stepTo(top: number, steps?: number): number

export interface BarLength {
  /** Characters that the bar has room for, default 40; `label`: the room of a label, without it its
   * characters and a gap. */
  length?: number
  label?: number
}
/** tokens: N of the row; largest: the largest weight of all maps that share the scale, for 'all'
 * that of every head and layer. But for 'own' the scale ends at no less than min(4, N) times
 * uniform. beyond: the largest that is drawn with it although it ends before: its last tick then
 * says "≥". */
export function makeScale(
  kind: ScaleKind,
  of: BarLength & { tokens: number; largest: number; beyond?: number }
): Scale
/** The scale of many maps. largests: the largest weight of each; to: where it ends, without it the
 * largest of them. Asked for as 'uniform' it is logarithmic where of the maps that reach uniform
 * more than half stay below a sixteenth of its end. */
export function gridScale(
  kind: ScaleKind,
  of: BarLength & { tokens: number; largests: number[]; to?: number; beyond?: number }
): Scale
/** Those whose labels do not meet on a bar of `length` characters; the last always stands. */
export function ticksThatFit(ticks: Tick[], length: number, label?: number): Tick[]
export function plainScale(label: string, largest: number): Scale
export function signedScale(label: string, largest: number): Scale
export function divergingTable(): Uint8Array

export interface MapOptions {
  weights: Numbers
  rows: number
  columns: number
  scale: Scale
  table: ColourTable
}
export function heat(map: MapOptions): Raster
/** A row as one line, the weight of each pixel that is farthest from 0 where there are more weights
 * than `width`. */
export function strip(options: {
  weights: Float32Array | number[]
  width?: number
  scale: Scale
  table: ColourTable
}): Raster
/** maps[layer][head], null for a place that stays empty: layers down, heads across. */
export function heads(options: {
  maps: (Numbers | null)[][]
  rows: number
  columns: number
  scale: Scale
  table: ColourTable
}): Raster

export type OverlayStyle = 'colour' | 'spotlight' | 'contour' | 'mass'
export const overlayStyles: Readonly<Record<OverlayStyle, string>>
/** A raster to lay over the picture, and outlines as an SVG path in units of one patch. strength
 * 0..1, default 0.8. */
export function overlay(options: OverlayOptions): { raster: Raster; path: string }
export interface OverlayOptions extends MapOptions {
  weights: Float32Array | number[]
  /** Default 'colour'. */
  style?: OverlayStyle
  /** How much of the picture the map hides, 0 to 1; default 0.8. */
  strength?: number
}

/** The fewest patches that hold `share` of the weight: 1 for each of them. */
export function massMask(weights: Float32Array | number[], share: number): Uint8Array
/** Around the patches that are inside: an SVG path in units of one patch. */
export function outline(inside: ArrayLike<unknown>, rows: number, columns: number): string

export function newRaster(width: number, height: number): Raster
/** Writes pixel `index` with the table's colour at t, 0..1; not a number is grey. */
export function putColour(
  raster: Raster,
  index: number,
  table: ColourTable,
  t: number,
  alpha?: number
): void
export function largestOf(weights: Iterable<number>): number

/** The inside of an SVG of 320 x 240. A chosen point has a ring. */
export function scatter(options: ScatterOptions): string
export interface ScatterOptions {
  points: { x: number; y: number; name: string; layer: number; faint?: boolean }[]
  layers: number
  chosen?: number
  labels: { x: string; y: string }
  table: ColourTable
  /** Where uniform attention would be. */
  reference?: { x?: number; y?: number }
}

/** Scores in steps from the least to the largest; null where none is finite. */
export function countScores(
  scores: ArrayLike<number>
): { counts: number[]; low: number; high: number } | null

/** The inside of an SVG of 240 x 82: how the scores of a row are spread, and the softmax's curve.
 * largest: what is written at its end. */
export function histogram(options: { scores: ArrayLike<number>; largest: string }): string

/** An SVG of picture, map, colour bar, caption and provenance, with what stands beside them.
 * Pictures are data URLs; cell: the query's [row, column]; note: words on the picture, as
 * `elsewhere` has them. */
export function figure(options: FigureOptions): string
/** aspect: width / height; scale, with its bar, where the picture has one. */
export interface FigureView {
  href: string
  aspect: number
  scale?: Scale
  bar?: string
}
export interface FigureOptions {
  pictures: { picture: string; map: string; bar: string }
  views?: FigureView[]
  rows: number
  columns: number
  aspect?: number
  note?: string
  path?: string
  cell?: [number, number] | null
  scale: Scale
  caption: string
  provenance: string
  dark?: boolean
}

/** The row of a query, all N weights of it; with `reverse`, what each token's row has for it; with
 * `rollout`, its row of a rollout. */
export interface CaptionOptions {
  row: Float32Array | number[]
  where: string
  token: number
  prefix: number
  columns: number
  reverse?: boolean
  rollout?: boolean
}
export function caption(options: CaptionOptions): string
/** "98.3 % on CLS" where patches beside the query's own share less than a tenth of the row; ''
 * otherwise. */
export function elsewhere(
  options: Omit<CaptionOptions, 'where' | 'row'> & { row: Float32Array }
): string
export function scoreCaption(options: CaptionOptions & { stage: string }): string
export function tokenName(token: number, prefix: number, columns: number): string
export function percent(share: number): string
export function times(weight: number, tokens: number): string
/** The `count` largest entries of a row, ties by index. */
export function topOf(row: Numbers, count: number): { token: number; weight: number }[]
