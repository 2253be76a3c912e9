/* What panels of a figure are made of: texts, lines, boxes and the bars of scales, in points; and the names
 * that panels, fonts and sizes have. */
import { barRaster } from '../../plot/parts/bar_raster.js'
import { divergingTable } from '../../plot/diverging.js'
import { sans, wrap } from '../../plot/parts/svg_text.js'
import { makeScale, plainScale, signedScale, ticksThatFit } from '../../plot/scale.js'
import { fromHash, longestSettings } from '../state/address.js'
import { say } from '../../languages/say.js'
import type { ColourTable, Scale } from 'heed/plot'
import type { Figure, FigureScale, FigureShape, State } from '../types.js'

/** The panels, in the order that they stand in. */
export const panels = {
  picture: say('composer.picture'),
  map: say('composer.map'),
  heads: say('view.heads'),
  matrix: say('view.matrix'),
  rollout: say('view.rollout'),
  statistics: say('view.statistics'),
  comparison: say('composer.comparison')
}
/** What the fonts are called, and the families that are asked for. */
export const fonts = {
  sans: [say('composer.sans'), sans],
  serif: [say('composer.serif'), "'Times New Roman', Times, 'Liberation Serif', serif"],
  latin: ['Latin Modern', "'Latin Modern Roman', 'CMU Serif', 'Times New Roman', serif"]
}
/** Widths that journals have, and those that are taken, in mm. */
export const widths = { usual: [85, 180], least: 40, most: 300 }

/** What a page has, in mm: A4. */
export const sheet = { width: 210, height: 297 }

/** Points in a millimetre. */
export const points = 72 / 25.4

export const size = 7, // of text
  line = 8.5, // from one line of text to the next
  gap = 10, // between panels
  hair = 0.25,
  barHeight = 2 * points,
  margin = 2
export const accent = '#d6006c' // of the chosen head: in none of the tables
export const diverging = divergingTable()

export const settingsOf = (settings: string) => fromHash(settings, longestSettings)

/** How many characters there is room for in `width` points. */
export const characters = (width: number) => Math.max(4, Math.floor(width / (0.58 * size)))

/** Lines of text within a width; what is beyond `most` lines is cut. */
export function lines(text: string, width: number, most: number = 3) {
  const all = wrap(text, characters(width) + 1)
  return all.length > most
    ? [...all.slice(0, most - 1), `${(all[most - 1] as string).slice(0, -1)}…`]
    : all
}

/** The scale that a figure names, once more. */
export function scaleAgain({ kind, label, end, largest }: FigureScale, tokens: number): Scale {
  if (kind === 'signed') return signedScale(label, end)
  if (kind === 'plain') return plainScale(label, end)
  const beyond = largest > end * (1 + 1e-6) ? largest : 0 // not by what digits lose
  return makeScale(kind, { tokens, largest: end, locked: kind === 'own' ? 0 : end, beyond })
}

/** The heads that a text names, of those that there are: "all", or layers and heads such as
 * "0, 3.0-3.2, pool". Throws what cannot be read. */
export function chosenHeads<Entry extends { layer: State['layer']; head: number }>(
  text: string,
  all: Entry[]
): Entry[] {
  const asked = text.trim().toLowerCase()
  if (asked === 'all' || asked === '') return all
  const tests = asked.split(/[\s,;]+/).map((part) => {
    const [, layer, first, last] =
      /^(\d{1,4}|pool)(?:\.(\d{1,4})(?:-(?:(?:\d{1,4}|pool)\.)?(\d{1,4}))?)?$/.exec(part) ?? []
    const from = first === undefined ? 0 : Number(first),
      to = first === undefined ? Infinity : Number(last ?? first)
    const test = (entry: Entry) =>
      String(entry.layer) === layer && entry.head >= from && entry.head <= to
    if (layer === undefined || !all.some(test))
      throw new Error(say('composer.headsWrong', { part: part.slice(0, 40) }))
    return test
  })
  return all.filter((entry) => tests.some((test) => test(entry)))
}

/** The names of the panels that a figure has and shows. */
export const shownPanels = ({ look, parts }: Figure) =>
  [...new Set(look.panels)].filter((name) => parts[name])

/** What all panels need. */
export interface Tools {
  figure: Figure
  state: State
  table: ColourTable
  ink: string
  ground: string
}
export type Drawn = { shapes: FigureShape[]; height: number }

export const tableOf = ({ table }: Tools, scale: Scale) => (scale.signed ? diverging : table)

export const label = (
  x: number,
  y: number,
  text: string,
  more: Partial<Extract<FigureShape, { kind: 'text' }>> = {}
): FigureShape => ({ kind: 'text', x, y, text, size, ...more })

export const stroke = (
  d: string,
  stroke: string,
  width: number = hair
): Extract<FigureShape, { kind: 'path' }> => ({ kind: 'path', d, stroke, size: width })

export const short = (value: number) => String(Number(value.toFixed(2)))
export const box = (x: number, y: number, width: number, height: number) =>
  `M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}z`

/** The bar of a scale with ticks and unit; the unit may stand for something else, as for layers. */
export function bar(
  tools: Tools,
  scale: Pick<Scale, 'ticks' | 'label' | 'signed'>,
  x: number,
  y: number,
  width: number
): Drawn {
  const ticks = ticksThatFit(scale.ticks, characters(width)),
    below = y + barHeight,
    named = lines(scale.label, width, 2)
  return {
    shapes: [
      {
        kind: 'image',
        x,
        y,
        width,
        height: barHeight,
        raster: barRaster(scale.signed ? diverging : tools.table)
      },
      stroke(
        box(x, y, width, barHeight) +
          ticks.map(({ at }) => `M${short(x + at * width)} ${short(below)}v1.5`).join(''),
        tools.ink
      ),
      ...ticks.map(({ at, text }) =>
        label(x + at * width, below + 8, text, {
          anchor: at === 0 ? 'start' : at === 1 ? 'end' : 'middle'
        })
      ),
      ...named.map((text, i) => label(x, below + 8 + line * (i + 1), text))
    ],
    height: barHeight + 10 + line * named.length
  }
}
