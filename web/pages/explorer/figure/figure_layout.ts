/* A figure for print as a list of shapes: texts, paths, dots and rasters, in points from the upper
 * left. Pure: a figure and a table of colours in, no document. Scales are those of web/plot: a
 * figure's file says where a scale ends, and makeScale makes it again. */
import { heat } from '../../plot/heat.js'
import { overlay } from '../../plot/overlay.js'
import { axesOf } from '../../plot/parts/axes.js'
import { inks } from '../../plot/parts/svg_text.js'
import { headGrid } from './figure_heads.js'
import {
  bar,
  box,
  fonts,
  gap,
  label,
  line,
  lines,
  margin,
  panels,
  points,
  scaleAgain,
  settingsOf,
  short,
  shownPanels,
  size,
  stroke,
  tableOf
} from './figure_parts.js'
import { say } from '../../languages/say.js'
import type { ColourTable } from 'heed/plot'
import type { Drawn, Tools } from './figure_parts.js'
import type { Figure, FigureLayout, FigureMap, FigurePanel, FigureShape } from '../types.js'

/** The patch that is the query. */
function queryMark(
  { figure: { grid }, state: { query, layer } }: Tools,
  x: number,
  y: number,
  width: number,
  height: number
): FigureShape[] {
  if (!Array.isArray(query) || layer === 'pool') return []
  if (query[0] >= grid.rows || query[1] >= grid.columns) return [] // of a file
  const [row, column] = query,
    across = width / grid.columns,
    down = height / grid.rows,
    d = box(x + column * across, y + row * down, across, down)
  return [stroke(d, '#000', 1.5), stroke(d, '#fff', 0.75)]
}

/** A note on the picture, on a ground of its own. */
function noted(note: string, x: number, y: number, width: number): FigureShape[] {
  const said = lines(note, width - 10, 3),
    across = Math.min(width - 4, Math.max(...said.map(({ length }) => length)) * 0.62 * size + 6)
  return [
    {
      kind: 'path',
      d: box(x + 2, y + 2, across, said.length * line + 3),
      fill: '#000000c8'
    },
    ...said.map((text, i) => label(x + 5, y + 9.5 + i * line, text, { fill: '#fff' }))
  ]
}

/** Weights over a picture, with the bar below. */
function mapOnPicture(tools: Tools, map: FigureMap, x: number, y: number, width: number): Drawn {
  const {
      figure: { grid, parts },
      state: { style, strength }
    } = tools,
    { rows, columns, tokens } = grid,
    height = (width * rows) / columns,
    scale = scaleAgain(map.scale, tokens)
  const { raster, path } = overlay({
      weights: map.values,
      rows,
      columns,
      scale,
      table: tableOf(tools, scale),
      style,
      strength,
      mask: map.mask
    }),
    below = bar(tools, scale, x, y + height + 4, width)
  return {
    shapes: [
      { kind: 'image', x, y, width, height, href: map.png ?? parts.picture },
      { kind: 'image', x, y, width, height, raster },
      ...contours(path, x, y, width / columns, height / rows),
      ...queryMark(tools, x, y, width, height),
      ...(map.note ? noted(map.note, x, y, width) : []),
      stroke(box(x, y, width, height), tools.ink),
      ...below.shapes
    ],
    height: height + 4 + below.height
  }
}

/** Outlines in units of one patch, as `outline` of web/plot writes them, on paper. */
function contours(path: string, x: number, y: number, across: number, down: number): FigureShape[] {
  if (!path) return []
  const d = path.replace(/([MHV])(\d+)(?: (\d+))?/g, (_, sign, first, second) =>
    sign === 'M'
      ? `M${short(x + first * across)} ${short(y + second * down)}`
      : sign === 'H'
        ? `H${short(x + first * across)}`
        : `V${short(y + first * down)}`
  )
  return [stroke(d, '#000', 1.25), stroke(d, '#fff', 0.6)]
}

/** A raster of values without a picture, with the bar below. */
function mapAlone(tools: Tools, map: FigureMap, x: number, y: number, width: number): Drawn {
  const { rows, columns, tokens } = tools.figure.grid,
    height = (width * rows) / columns,
    scale = scaleAgain(map.scale, tokens),
    below = bar(tools, scale, x, y + height + 4, width)
  return {
    shapes: [
      {
        kind: 'image',
        x,
        y,
        width,
        height,
        raster: heat({ weights: map.values, rows, columns, scale, table: tableOf(tools, scale) })
      },
      ...queryMark(tools, x, y, width, height),
      stroke(box(x, y, width, height), tools.ink),
      ...below.shapes
    ],
    height: height + 4 + below.height
  }
}

/**
 * Where the names of tokens stand along an axis of a matrix: the first token before the patches,
 * then the middles of rows of patches.
 * @param room points that a token has
 */
function tokenTicks({ rows, columns, names }: Figure['grid'], room: number) {
  const prefix = names.length,
    step = Math.max(1, Math.ceil(14 / (columns * room))),
    first = prefix ? [{ at: prefix / 2, text: names[0] }] : []
  return [
    ...first,
    ...Array.from({ length: rows }, (_, r) => ({
      at: prefix + (r + 0.5) * columns,
      text: String(r)
    })).filter(({ at }, r) => r % step === 0 && (!prefix || at * room > 15))
  ]
}

/** A head's matrix: queries down, keys across; a line parts what stands before the patches. */
function matrix(tools: Tools, x: number, y: number, width: number): Drawn {
  const { figure, state, ink } = tools,
    { grid } = figure,
    { tokens, columns, names } = grid,
    map = figure.parts.matrix as FigureMap,
    gutter = 30,
    side = width - gutter,
    room = side / tokens,
    left = x + gutter,
    scale = scaleAgain(map.scale, tokens),
    prefix = names.length
  const ticks = tokenTicks(grid, room),
    { query } = state,
    token = Array.isArray(query)
      ? prefix + query[0] * columns + query[1]
      : query === 'cls'
        ? 0
        : query,
    at = (state.reverse ? left : y) + (token + 0.5) * room,
    mark = state.reverse
      ? `M${short(at)} ${short(y - 0.5)}l-2 -3.5h4z`
      : `M${short(left - 0.5)} ${short(at)}l-3.5 -2v4z`
  const below = bar(tools, scale, left, y + side + 24, side)
  return {
    shapes: [
      {
        kind: 'image',
        x: left,
        y,
        width: side,
        height: side,
        raster: heat({
          weights: map.values,
          rows: tokens,
          columns: tokens,
          scale,
          table: tableOf(tools, scale)
        })
      },
      stroke(
        box(left, y, side, side) +
          (prefix
            ? `M${short(left)} ${short(y + prefix * room)}h${short(side)}M${short(left + prefix * room)} ${short(y)}v${short(side)}`
            : ''),
        ink
      ),
      { kind: 'path', d: mark, fill: ink },
      ...ticks.flatMap(({ at, text }) => [
        label(left - 5, y + at * room + 2.5, text, { anchor: 'end' }),
        label(left + at * room, y + side + 9, text, { anchor: 'middle' })
      ]),
      label(x + 6, y + side / 2, say('composer.queryAxis'), { anchor: 'middle', turned: true }),
      label(left + side / 2, y + side + 18, say('composer.keyAxis'), { anchor: 'middle' }),
      ...below.shapes
    ],
    height: side + 24 + below.height
  }
}

/**
 * The dot of a head, coloured by its layer; that of the chosen head has a ring.
 * @param layers the last of them
 */
function dot(
  { state, table, ink }: Tools,
  { layer, head }: { layer: number; head: number },
  x: number,
  y: number,
  layers: number
): FigureShape {
  const entry = Math.round((layer / layers) * 255) * 3,
    chosen = layer === state.layer && head === state.head
  return {
    kind: 'dot',
    x,
    y,
    radius: chosen ? 3 : 2,
    fill: `rgb(${table[entry]},${table[entry + 1]},${table[entry + 2]})`,
    stroke: chosen ? ink : undefined,
    name: `layer ${layer}, head ${head}`
  }
}

/** A dot a head in two of its numbers; broken lines where uniform attention would be. */
function statistics(tools: Tools, x: number, y: number, width: number): Drawn {
  const { figure, ink } = tools,
    found = figure.parts.statistics as NonNullable<Figure['parts']['statistics']>,
    { ends, ticks } = axesOf(found.points, found.uniform),
    layers = Math.max(1, ...found.points.map(({ layer }) => layer)),
    height = Math.min((width - 32) * 0.8, 160),
    up = lines(found.labels.y, height, 2),
    left = x + 22 + up.length * line,
    across = width - (left - x) - 2,
    bottom = y + height
  const px = (value: number) => left + (value / ends.x) * across,
    py = (value: number) => bottom - (value / ends.y) * height
  const fit = Math.max(1, Math.ceil((ticks.x.length * 18) / across)),
    named = lines(found.labels.x, across, 2),
    below = bar(
      tools,
      {
        label: 'layer',
        ticks: [
          { at: 0, text: '0' },
          { at: 1, text: String(layers) }
        ]
      },
      left,
      bottom + 14 + named.length * line,
      across
    )
  return {
    shapes: [
      stroke(
        `M${short(left)} ${short(y)}V${short(bottom)}H${short(left + across)}` +
          ticks.x.map(([value]) => `M${short(px(value))} ${short(bottom)}v1.5`).join('') +
          ticks.y.map(([value]) => `M${short(left)} ${short(py(value))}h-1.5`).join(''),
        ink
      ),
      {
        ...stroke(
          `M${short(px(found.uniform.x))} ${short(y)}V${short(bottom)}M${short(left)} ${short(py(found.uniform.y))}h${short(across)}`,
          ink
        ),
        dash: true
      },
      ...ticks.x
        .filter((_, i) => i % fit === 0)
        .map(([value, text]) => label(px(value), bottom + 9, text, { anchor: 'middle' })),
      ...ticks.y.map(([value, text]) => label(left - 3, py(value) + 2.5, text, { anchor: 'end' })),
      ...named.map((text, i) =>
        label(left + across / 2, bottom + 9 + line * (i + 1), text, { anchor: 'middle' })
      ),
      ...up.map((text, i) =>
        label(x + 6 + i * line, y + height / 2, text, { anchor: 'middle', turned: true })
      ),
      ...found.points.map((point) => dot(tools, point, px(point.x), py(point.y), layers)),
      ...below.shapes
    ],
    height: height + 14 + named.length * line + below.height
  }
}

/** A, B on one scale and A - B on its own, side by side. */
function comparison(tools: Tools, x: number, y: number, width: number): Drawn {
  const { a, b, less, facts } = tools.figure.parts.comparison as NonNullable<
      Figure['parts']['comparison']
    >,
    side = (width - 2 * gap) / 3,
    said = [`A: ${a.title}`, `B: ${b.title}`, `A − B: ${less.title}`].map((text) =>
      lines(text, side, 5)
    ),
    top = Math.max(...said.map(({ length }) => length)) * line + 1
  const drawn = [a, b, less].map((map, i) => {
    const { query, layer } = map.settings ? settingsOf(map.settings) : tools.state,
      own = {
        ...tools,
        state: { ...tools.state, query, layer, style: 'colour' as const }
      }
    return (map === less ? mapAlone : mapOnPicture)(own, map, x + i * (side + gap), y + top, side)
  })
  const height = top + Math.max(...drawn.map((one) => one.height)),
    last = lines(facts, width)
  return {
    shapes: [
      ...said.flatMap((texts, i) =>
        texts.map((text, j) => label(x + i * (side + gap), y + 6 + j * line, text))
      ),
      ...drawn.flatMap(({ shapes }) => shapes),
      ...last.map((text, i) => label(x, y + height + line * (i + 1), text))
    ],
    height: height + line * last.length + 2
  }
}

const drawPanel: Record<FigurePanel, (tools: Tools, x: number, y: number, width: number) => Drawn> =
  {
    picture: (tools, x, y, width) => {
      const { grid, parts } = tools.figure,
        height = (width * grid.rows) / grid.columns
      return {
        shapes: [
          { kind: 'image', x, y, width, height, href: parts.picture },
          ...queryMark(tools, x, y, width, height),
          stroke(box(x, y, width, height), tools.ink)
        ],
        height
      }
    },
    map: (tools, x, y, width) =>
      mapOnPicture(tools, tools.figure.parts.map as FigureMap, x, y, width),
    rollout: (tools, x, y, width) =>
      mapOnPicture(tools, tools.figure.parts.rollout as FigureMap, x, y, width),
    heads: headGrid,
    matrix,
    statistics,
    comparison
  }

const titleOf: Record<FigurePanel, (figure: Figure) => string> = {
  picture: ({ from }) => from.picture,
  map: ({ parts }) => (parts.map as FigureMap).title,
  heads: ({ parts }) => parts.heads?.title ?? '',
  matrix: ({ parts }) => (parts.matrix as FigureMap).title,
  rollout: ({ parts }) => (parts.rollout as FigureMap).title,
  statistics: ({ parts }) => parts.statistics?.title ?? '',
  comparison: () => panels.comparison
}

/** The title of a panel: that of the look, where it has one. */
export const titleIn = (figure: Figure, name: FigurePanel) =>
  figure.look.titles?.[name] ?? titleOf[name](figure)

/** The panels in lines: those of many maps have one to themselves, the others share it. */
function linesOfPanels(shown: FigurePanel[], width: number) {
  const most = width < 340 ? 2 : 4, // 120 mm
    found: FigurePanel[][] = []
  let open: FigurePanel[] = []
  const close = () => {
    const count = Math.ceil(open.length / most),
      each = Math.ceil(open.length / count)
    for (let i = 0; i < open.length; i += each) found.push(open.slice(i, i + each))
    open = []
  }
  for (const name of shown)
    if (name === 'heads' || name === 'comparison') {
      close()
      found.push([name])
    } else open.push(name)
  close()
  return found
}

/** A figure as shapes. table: 256 colours, those that its settings name. */
export function layoutFigure(figure: Figure, { table }: { table: ColourTable }): FigureLayout {
  const { look, from } = figure,
    width = look.width * points,
    { ink, ground } = inks[look.dark ? 'dark' : 'light'],
    tools = { figure, state: settingsOf(from.settings), table, ink, ground },
    shown = shownPanels(figure)
  const groups: FigureLayout['groups'] = []
  let y = margin
  for (const names of linesOfPanels(shown, width)) {
    const inner = width - 2 * margin,
      wide = names[0] === 'heads' || names[0] === 'comparison',
      side = Math.min(
        (inner - gap * (names.length - 1)) / names.length,
        wide ? inner : 88 * points
      ),
      indent = look.letters ? 10 : 0
    const titles = names.map((name) => lines(titleIn(figure, name), side - indent)),
      top = Math.max(...titles.map(({ length }) => length)) * line + 3
    const drawn = names.map((name, i) => {
      const x = margin + i * (side + gap),
        { shapes, height } = drawPanel[name](tools, x, y + top, side),
        letter = String.fromCharCode(97 + groups.length)
      groups.push({
        name,
        shapes: [
          ...(look.letters ? [label(x, y + 7, letter, { bold: true, size: 8 })] : []),
          ...titles[i].map((text, j) => label(x + indent, y + 7 + j * line, text)),
          ...shapes
        ]
      })
      return height
    })
    y += top + Math.max(...drawn) + gap
  }
  return {
    width,
    height: Math.max(20, y - gap + margin),
    ground,
    ink,
    font: fonts[look.font][1],
    groups
  }
}
