/* Plots: data in, rasters and SVG out. Weights are [rows * columns] values of patches in raster
 * order unless stated otherwise. Arguments are not validated. */

export type Numbers = ArrayLike<number> & Iterable<number>
/** 256 RGB colours, [256 * 3], from `runtime.colormap(name)` or divergingTable(). */
export type ColourTable = ArrayLike<number>

/** An RGBA image with one pixel per patch, to be enlarged without smoothing. Use it as `new
 * ImageData(raster.data, raster.width)`. */
export interface Raster {
  /** RGBA, [height * width * 4]; this type names an array with its own ArrayBuffer in every
   * TypeScript from 5 on. */
  data: ReturnType<Uint8ClampedArray['slice']>
  width: number
  height: number
}

export interface Tick {
  /** Position along the scale, 0 to 1. */
  at: number
  text: string
}
/** The unit and extent of a scale. 'uniform': weight x tokens. 'share': percent of the row. 'log':
 * weight x tokens, logarithmic. 'own': fraction of each map's largest weight. 'all': weight x
 * tokens, up to the largest weight of all heads. */
export type ScaleKind = 'uniform' | 'share' | 'log' | 'own' | 'all'
export interface Scale {
  kind: ScaleKind | 'signed' | 'plain'
  /** Set when zero is in the middle of the scale; use a diverging table. */
  signed?: boolean
  /** Set when the values are not fractions of a row. */
  numbers?: boolean
  /** Name of the unit. */
  label: string
  /** Value at the end of the scale, in the scale's unit. */
  top: number
  /** Weight at the end of the scale. */
  end: number
  /** Ticks in ascending order; the last has `at` 1. */
  ticks: Tick[]
  /** Returns the position of a weight: 0 to 1, or above 1 beyond the end. own: the largest
   * weight of the map, used by the kind 'own' alone. */
  position(weight: number, own?: number): number
}
/** The units of the scales, as labels. */
export const scaleKinds: Readonly<Record<ScaleKind, string>>
/** Returns 1, 2, 2.5 or 5 times a power of ten, so that about `steps` (default 4) steps reach
 * `top`. */
export function stepTo(top: number, steps?: number): number

export interface BarLength {
  /** Length of the bar in characters. Default 40. */
  length?: number
  /** Width of every label in characters. Default: its own length plus 1. */
  label?: number
}
/** Creates a scale. tokens: length N of a row. largest: the largest weight of all maps that share
 * the scale; for 'all', of every head and layer. Every kind but 'own' ends at min(4, N) x uniform
 * or above. locked: the weight at the end instead, 1 x uniform at least. beyond: the largest drawn weight, when it exceeds the scale; the last tick then starts
 * with "≥". */
export function makeScale(
  kind: ScaleKind,
  of: BarLength & { tokens: number; largest: number; locked?: number; beyond?: number }
): Scale
/** Creates one scale for many maps. largests: the largest weight of each map, or a list of them for each
 * group, such as the heads of a layer. to: the weight at the end of the scale; default: the largest of
 * them. The kind 'uniform' becomes logarithmic when in any group more than half of the maps that reach
 * uniform stay below a quarter of the end. */
export function gridScale(
  kind: ScaleKind,
  of: BarLength & {
    tokens: number
    largests: number[] | number[][]
    to?: number
    locked?: number
    beyond?: number
  }
): Scale
/** Returns the ticks whose labels do not overlap on a bar of `length` characters. The last is
 * always included. */
export function ticksThatFit(ticks: Tick[], length: number, label?: number): Tick[]
/** Creates a scale from 0 to `largest` for values that are not fractions of a row. */
export function plainScale(label: string, largest: number): Scale
/** Creates a scale from -largest to largest, for a diverging table. -Infinity has no position. */
export function signedScale(label: string, largest: number): Scale
/** Returns a colour table for values of both signs: blue below zero, orange above. */
export function divergingTable(): Uint8Array

export interface MapOptions {
  weights: Numbers
  rows: number
  columns: number
  scale: Scale
  table: ColourTable
}
/** Draws a map or a matrix, one pixel per value. */
export function heat(map: MapOptions): Raster
/** Draws a row as a raster of height 1. With more weights than `width`, a pixel shows the weight
 * that is farthest from 0. */
export function strip(options: {
  weights: Float32Array | number[]
  width?: number
  scale: Scale
  table: ColourTable
}): Raster
/** Draws maps[layer][head] in one raster: layers down, heads across, one clear pixel between maps.
 * null leaves a place empty. */
export function heads(options: {
  maps: (Numbers | null)[][]
  rows: number
  columns: number
  scale: Scale
  table: ColourTable
}): Raster

export type OverlayStyle = 'colour' | 'spotlight' | 'contour' | 'mass'
/** The names of the styles, as labels. */
export const overlayStyles: Readonly<Record<OverlayStyle, string>>
/** Draws a map over an image. raster: to be laid over the image. path: outlines as an SVG path, in
 * units of one patch. */
export function overlay(options: OverlayOptions): { raster: Raster; path: string }
export interface OverlayOptions extends MapOptions {
  weights: Float32Array | number[]
  /** Default 'colour'. */
  style?: OverlayStyle
  /** Opacity of the map, 0 to 1. Default 0.8. */
  strength?: number
  /** The patches that the style 'mass' leaves bright and outlines, [rows * columns], from
   * massMask(weights, massShare) of heed/explain. Default: none. */
  mask?: ArrayLike<number>
}
/** The fraction of the weight that the style 'mass' is named after, 0.6. */
export const massShare: number

/** Returns the outline of the patches that are truthy in `inside`, as an SVG path in units of one
 * patch. */
export function outline(inside: ArrayLike<unknown>, rows: number, columns: number): string

/** Creates a transparent raster. */
export function newRaster(width: number, height: number): Raster
/** Sets pixel `index` to the table's colour at position t, clamped to 0 to 1. NaN is grey. alpha: 0
 * to 255, default 255. */
export function putColour(
  raster: Raster,
  index: number,
  table: ColourTable,
  t: number,
  alpha?: number
): void
/** Returns the largest weight, at least 0. */
export function largestOf(weights: Iterable<number>): number

/** Draws a dot per head in two of its statistics. Returns the content of an SVG of 320 x 240. */
export function scatter(options: ScatterOptions): string
export interface ScatterOptions {
  points: { x: number; y: number; name: string; layer: number; faint?: boolean }[]
  /** Number of layers; a dot's colour is its layer. */
  layers: number
  /** Index of the point with a ring. */
  chosen?: number
  labels: { x: string; y: string }
  table: ColourTable
  /** Values of uniform attention, drawn as broken lines. */
  reference?: { x?: number; y?: number }
}

/** Counts the finite scores in 32 equal steps from `low` to `high`. Returns null when no score is
 * finite. */
export function countScores(
  scores: ArrayLike<number>
): { counts: number[]; low: number; high: number } | null

/** Draws the histogram of a row's scores and the softmax curve. largest: the text at the end of the
 * curve; most: that at the top of the bars, without it English. Returns the content of an SVG of 240 x 82. */
export function histogram(options: {
  scores: ArrayLike<number>
  largest: string
  most?: (count: number) => string
}): string

/** Returns an SVG document with image, map, colour bar, views, caption and provenance. */
export function figure(options: FigureOptions): string
/** Cells of equal size that a picture is made of, line by line; a matrix is one. above, left: names
 * of columns and lines, or of axes. inside: names of cells. chosen: the cell that has a frame, as in
 * a raster of `heads`. */
export interface FigureCells {
  columns: number
  lines: number
  above?: string[]
  left?: string[]
  inside?: string[]
  chosen?: number
}
/** A picture beside the map. href and bar: data URLs. aspect: width / height. scale: the scale of
 * `bar`. title: what stands above it. */
export interface FigureView {
  href: string
  aspect: number
  scale?: Scale
  bar?: string
  title?: string
  cells?: FigureCells
}
/** Title and description of an SVG for those who do not see it, and metadata for programs. */
export interface FigureAbout {
  title: string
  description: string
  metadata: string
}
export interface FigureOptions {
  /** Data URLs. */
  pictures: { picture: string; map: string; bar: string }
  views?: FigureView[]
  rows: number
  columns: number
  /** Width / height of the image. Default 1. */
  aspect?: number
  /** Text on the image, as `elsewhere` returns it. */
  note?: string
  /** Outlines in units of one patch. */
  path?: string
  /** [row, column] of the query. */
  cell?: [number, number] | null
  scale: Scale
  caption: string
  provenance: string
  /** Title, description and metadata of the SVG. */
  about?: FigureAbout
  dark?: boolean
}

/** A row of attention weights [N] and where it is from. reverse: a column, the attention that the
 * token receives. rollout: a row of a rollout. where: the name of the map, such as "Layer 3, head
 * 0". token: -1 is the probe of a pooling attention. prefix: number of tokens before the patches. names: their names, `tokenNames` of a session;
 * without, the first is CLS and the others are registers. */
export interface CaptionOptions {
  row: Float32Array | number[]
  where: string
  token: number
  prefix: number
  columns: number
  names?: string[]
  reverse?: boolean
  rollout?: boolean
  /** What lies on a patch, by its number: "the teal star". Where most of the weight is on one such thing, the
   * caption names it; else it names a part of the picture. */
  objectAt?: (patch: number) => string | undefined
}
/** What captions and names of tokens are made of, in English; another language may be put there, by
 * functions of the same arguments. */
export const captionWords: {
  itself: string
  probe: string
  patch(row: number, column: number): string
  register(number: number): string
  together(first: string, others?: string): string
  nowhere(where: string, name: string, reverse?: boolean): string
  received(where: string, name: string, by: string, share: string, times: string): string
  given(
    where: string,
    name: string,
    share: string,
    group: string,
    most: string,
    as: string,
    rollout?: boolean
  ): string
  patches(count: number, place: string): string
  onObject(name: string): string
  around: string
  spread: string
  parts: string[]
  alone(
    where: string,
    name: string,
    most: string,
    share: string,
    times: string,
    rollout?: boolean
  ): string
  noWeight(from: boolean): string
  lies(share: string, name: string, from: boolean): string
  barred(where: string, name: string, reverse?: boolean): string
  scores(
    where: string,
    name: string,
    least: string,
    highest: string,
    at: string,
    barred: number,
    reverse?: boolean
  ): string
}
/** Returns the sentence below a map: how few patches hold half of the row and where they lie, and the
 * largest weight. */
export function caption(options: CaptionOptions): string
/** Returns a note such as "98.3 % on CLS" when the other patches hold less than a tenth of the row,
 * otherwise ''. */
export function elsewhere(
  options: Omit<CaptionOptions, 'where' | 'row'> & { row: Float32Array }
): string
/** Returns the sentence below a map of scores before the softmax. stage: the name of the scores. */
export function scoreCaption(options: CaptionOptions & { stage: string }): string
/** Returns the name of a token: "CLS", "register 1" or "patch (2, 10)". names: as in
 * CaptionOptions. */
export function tokenName(token: number, prefix: number, columns: number, names?: string[]): string
/** Returns the name of all tokens before the patches together, such as "CLS and registers". */
export function prefixName(prefix: number, names?: string[]): string
/** Formats a fraction as percent. */
export function percent(share: number): string
/** Formats weight x tokens as "N × uniform". */
export function times(weight: number, tokens: number): string
/** Returns the `count` largest entries of a row in descending order; ties are in index order. */
export function topOf(row: Numbers, count: number): { token: number; weight: number }[]
