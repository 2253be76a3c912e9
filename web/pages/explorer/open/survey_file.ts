/* A survey that `heed survey --json` wrote: a dot for each head, mean weights by offset, and a table, in
 * a dialog. Loaded when such a file is opened. */
import { html } from 'lit-html'
import { unsafeSVG } from 'lit-html/directives/unsafe-svg.js'
import { showDialog } from '../controls/dialog.js'
import { showing } from '../views/parts/canvas.js'
import { heads as headsRaster } from '../../plot/heads.js'
import { makeScale } from '../../plot/scale.js'
import { scatter } from '../../plot/scatter.js'
import { fixed } from '../../plot/parts/numbers.js'
import { say } from '../../languages/say.js'
import type { Page } from '../types.js'

export interface SurveyShape {
  layers: number
  heads: number
  prefix: number
  rows: number
  columns: number
}
export interface SurveyHead {
  layer: number
  head: number
  place_share: number
  sharpness: number
  habit: string
  by_offset: number[][]
  prefix_mass: { mean: number }
  entropy_patches: { mean: number }
  distance: { mean: number }
}
export interface Survey {
  images: number
  shape: SurveyShape
  heads: SurveyHead[]
}

const most = 4096 // layers, heads and sides of the grid, as heed has it

/** What a document of JSON has of a survey, or null where it is none. */
export function surveyIn(document: any): Survey | null {
  const { shape, heads, quantile_error: error } = document ?? {}
  if (!shape || !Array.isArray(heads) || typeof error !== 'object') return null
  const sides = [shape.layers, shape.heads, shape.rows, shape.columns]
  if (!sides.every((side) => Number.isInteger(side) && side > 0 && side <= most)) return null
  const width = 2 * shape.columns - 1,
    isHead = (of: any, at: number) =>
      of?.layer === Math.floor(at / shape.heads) &&
      of.head === at % shape.heads &&
      [
        of.place_share,
        of.sharpness,
        of.prefix_mass?.mean,
        of.entropy_patches?.mean,
        of.distance?.mean
      ].every(Number.isFinite) &&
      of.by_offset?.length === 2 * shape.rows - 1 &&
      of.by_offset.every((row: any) => row?.length === width && row.every(Number.isFinite))
  return heads.length === shape.layers * shape.heads && heads.every(isHead)
    ? { images: Number(document.images), shape, heads }
    : null
}

/** Mean weights by offset in raster order; NaN where fewer than a quarter of the patches have such a
 * neighbour. */
export const offsetMap = ({ rows, columns }: SurveyShape, { by_offset: weights }: SurveyHead) =>
  weights.flatMap((line, r) =>
    line.map((weight, c) =>
      4 * (rows - Math.abs(r - rows + 1)) * (columns - Math.abs(c - columns + 1)) < rows * columns
        ? NaN
        : weight
    )
  )

function dots({ heads, shape }: Survey, table: Page['table']) {
  const points = heads.map(({ layer, head, place_share: share, sharpness }) => ({
    x: 100 * share,
    y: sharpness,
    layer,
    name: say('manyPictures.layerHead', { layer, head })
  }))
  return scatter({
    points,
    layers: shape.layers,
    labels: { x: say('surveyFile.share'), y: say('surveyFile.sharpness') },
    table
  })
}

function maps({ heads, shape }: Survey, table: Page['table']) {
  const tokens = shape.prefix + shape.rows * shape.columns,
    of = heads.map((head) => offsetMap(shape, head))
  return headsRaster({
    maps: Array.from({ length: shape.layers }, (_, layer) =>
      of.slice(layer * shape.heads, (layer + 1) * shape.heads)
    ),
    rows: 2 * shape.rows - 1,
    columns: 2 * shape.columns - 1,
    scale: makeScale('own', { tokens, largest: 1 }),
    table
  })
}

export async function showSurvey({ table }: Page, survey: Survey, name: string) {
  const percent = (share: number) => fixed(100 * share, 1)
  await showDialog({
    title: say('surveyFile.title', { name }),
    label: say('surveyFile.heads'),
    text: say('surveyFile.text', { images: survey.images }),
    above: html`<svg class="plot" viewBox="0 0 320 240" role="img" aria-label=${say('surveyFile.dots')}>${unsafeSVG(dots(survey, table))}</svg><p>${say('surveyFile.maps')}</p><canvas class="offsets" role="img" aria-label=${say('surveyFile.maps')} ${showing(maps(survey, table))}></canvas>`,
    figures: true,
    columns: [
      say('surveyFile.head'),
      say('surveyFile.habit'),
      say('surveyFile.share'),
      say('surveyFile.sharpness'),
      say('surveyFile.prefix'),
      say('surveyFile.entropy'),
      say('surveyFile.distance')
    ],
    rows: survey.heads.map((of) => [
      `${of.layer}.${of.head}`,
      of.habit,
      percent(of.place_share),
      fixed(of.sharpness, 1),
      percent(of.prefix_mass.mean),
      fixed(of.entropy_patches.mean, 2),
      fixed(of.distance.mean, 1)
    ])
  })
}
