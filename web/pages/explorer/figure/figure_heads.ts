/* The grid of heads: layers down, heads across, each map alone or over the picture. */
import { heads } from '../../plot/heads.js'
import { overlay } from '../../plot/overlay.js'
import {
  accent,
  bar,
  box,
  chosenHeads,
  label,
  scaleAgain,
  stroke,
  tableOf
} from './figure_parts.js'
import type { Scale } from 'heed/plot'
import type { Drawn, Tools } from './figure_parts.js'
import type { Figure, FigureShape } from '../types.js'

type Maps = NonNullable<Figure['parts']['heads']>['maps']

/**
 * The numbers of layers or heads beside a grid: all, or every second and so on where they would
 * meet.
 * @param room points that a number takes
 */
function numbersAlong(
  all: (number | 'pool')[],
  room: number,
  place: (index: number) => number[],
  anchor: 'middle' | 'end'
) {
  const [a, b] = [place(0), place(1)],
    skip = Math.ceil(room / Math.hypot(a[0] - b[0], a[1] - b[1]))
  return all.flatMap((number, i) =>
    i % skip ? [] : [label(place(i)[0], place(i)[1], String(number), { anchor })]
  )
}

/** Each head's map over the picture, at its place in the grid. */
function headsOverPicture(
  tools: Tools,
  shown: Maps,
  scale: Scale,
  placeOf: (entry: Maps[number]) => {
    x: number
    y: number
    width: number
    height: number
  }
): FigureShape[] {
  const {
    figure: {
      grid: { rows, columns },
      parts
    },
    state: { strength }
  } = tools
  return shown.flatMap((entry) => {
    const { raster } = overlay({
        weights: entry.values,
        rows,
        columns,
        scale,
        table: tableOf(tools, scale),
        strength
      }),
      place = placeOf(entry)
    return [
      { kind: 'image' as const, ...place, href: parts.picture },
      { kind: 'image' as const, ...place, raster }
    ]
  })
}

/** All maps as one picture. */
function headsAlone(
  tools: Tools,
  {
    shown,
    layers,
    across,
    scale
  }: { shown: Maps; layers: Maps[number]['layer'][]; across: number[]; scale: Scale },
  x: number,
  y: number,
  [width, height]: number[]
): FigureShape {
  const { rows, columns } = tools.figure.grid,
    valuesOf = (layer: Maps[number]['layer'], head: number) =>
      shown.find((entry) => entry.layer === layer && entry.head === head)?.values ?? null,
    raster = heads({
      maps: layers.map((layer) => across.map((head) => valuesOf(layer, head))),
      rows,
      columns,
      scale,
      table: tableOf(tools, scale)
    })
  return { kind: 'image', x, y, width, height, raster }
}

/** Layers down and heads across, with their names; the chosen head has a frame. The raster has one
 * clear pixel after each map. */
export function headGrid(tools: Tools, x: number, y: number, width: number): Drawn {
  const { figure, state } = tools,
    { grid, look } = figure,
    { maps, scale: saved } = figure.parts.heads as NonNullable<Figure['parts']['heads']>,
    shown = chosenHeads(look.heads, maps),
    layers = [...new Set(shown.map(({ layer }) => layer))],
    across = [...new Set(shown.map(({ head }) => head))].sort((a, b) => a - b),
    scale = scaleAgain(saved, grid.tokens)
  const gutter = 24,
    top = 18,
    unit = Math.min((width - gutter) / (across.length * (grid.columns + 1)), 60 / grid.columns),
    step = [(grid.columns + 1) * unit, (grid.rows + 1) * unit],
    full = [step[0] * across.length, step[1] * layers.length]
  const left = x + gutter,
    upper = y + top,
    middle = [left + (full[0] - unit) / 2, upper + (full[1] - unit) / 2],
    at = [across.indexOf(state.head as number), layers.indexOf(state.layer)],
    frame = box(
      left + at[0] * step[0] - unit / 2,
      upper + at[1] * step[1] - unit / 2,
      step[0],
      step[1]
    ),
    below = bar(tools, scale, left, upper + full[1] + 3, Math.min(width - gutter, 200))
  return {
    shapes: [
      label(middle[0], y + 7, 'head', { anchor: 'middle' }),
      label(x + 7, middle[1], 'layer', { anchor: 'middle', turned: true }),
      ...numbersAlong(
        across,
        10,
        (i) => [left + i * step[0] + (grid.columns * unit) / 2, y + 15.5],
        'middle'
      ),
      ...numbersAlong(
        layers,
        7.5,
        (i) => [left - 3, upper + i * step[1] + (grid.rows * unit) / 2 + 2.5],
        'end'
      ),
      ...(look.over
        ? headsOverPicture(tools, shown, scale, ({ layer, head }) => ({
            x: left + across.indexOf(head) * step[0],
            y: upper + layers.indexOf(layer) * step[1],
            width: grid.columns * unit,
            height: grid.rows * unit
          }))
        : [headsAlone(tools, { shown, layers, across, scale }, left, upper, full)]),
      ...(at[0] >= 0 && at[1] >= 0
        ? [stroke(frame, tools.ground, 2.2), stroke(frame, accent, 1.2)]
        : []),
      ...below.shapes
    ],
    height: top + full[1] + 3 + below.height
  }
}
