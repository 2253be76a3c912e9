/* The figure that is saved: picture with its map, what the view beside it shows, colour bars with
 * numbers, names of heads and axes, caption and provenance, as SVG text of its own. Pictures come in
 * as data URLs. The PNG is this SVG, drawn larger. */
import {
  aboutParts,
  described,
  escape,
  inks,
  language,
  lengthOf,
  sans,
  wrap
} from './parts/svg_text.js'
import { ticksThatFit } from './scale.js'
import type { FigureCells, FigureOptions, FigureView, Scale } from 'heed/plot'

const image = (
  href: string | undefined,
  x: number,
  y: number,
  width: number,
  height: number,
  extra: string = ''
) =>
  `<image xlink:href="${escape(href as string)}" x="${x}" y="${y}" width="${width}" height="${height}" preserveAspectRatio="none" ${extra}/>`

const size = 13,
  character = 7.4, // pixels, of 13
  line = 18
const frames = [
  ['#000', 4],
  ['#fff', 2]
] as const
const short = (value: number) => String(Number(value.toFixed(1)))

/**
 * What stands on the picture, on a ground of its own.
 * @param times of the usual size
 */
const noted = (note: string, x: number, y: number, times: number = 1) =>
  `<rect x="${short(x)}" y="${short(y)}" width="${short(times * (lengthOf(note) * character + 14))}" height="${short(times * 24)}" rx="4" fill="#000" fill-opacity="0.78"/><text x="${short(x + times * 7)}" y="${short(y + times * 17)}" fill="#fff"${times === 1 ? '' : ` font-size="${short(times * size)}"`}>${escape(note)}</text>`

/** How wide the widest of some names is; 0: there is none. */
const widest = (names: string[] = []) => Math.max(0, ...names.map(lengthOf)) * character

/**
 * Every name, or every second and so on where they would meet.
 * @param needed pixels that a name takes
 * @param room pixels that it has
 * @param place its attributes
 */
const along = (names: string[], needed: number, room: number, place: (i: number) => string) =>
  names
    .map((name, i) =>
      i % Math.ceil(needed / room) ? '' : `<text ${place(i)}>${escape(name)}</text>`
    )
    .join('')

/**
 * Names of a picture's cells, and a frame around the chosen map.
 * @param box of the picture
 * @param grid patches of a map
 */
function drawCells(
  { columns, lines, above = [], left = [], inside = [], chosen = -1 }: FigureCells,
  { x, y, across, down }: { x: number; y: number; across: number; down: number },
  grid: { rows: number; columns: number }
) {
  const width = across / columns,
    height = down / lines,
    small = 0.7
  const placeOf = (i: number): [x: number, y: number] => [
    x + (i % columns) * width,
    y + Math.floor(i / columns) * height
  ]
  const named = inside.map((name, i) => {
      const [first] = name.split(':'),
        fits = small * (widest([name]) + 14) <= width
      return noted(fits ? name : first, ...placeOf(i), small)
    }),
    [fromX, fromY] = placeOf(chosen)
  return [
    along(
      above,
      widest(above) + 4,
      width,
      (i) => `x="${short(x + (i + 0.5) * width)}" y="${y - 5}" text-anchor="middle"`
    ),
    along(
      left,
      size,
      height,
      (i) => `x="${short(x - 6)}" y="${short(y + (i + 0.5) * height + 4.5)}" text-anchor="end"`
    ),
    ...named,
    ...(chosen < 0 ? [] : frames).map(
      ([stroke, thick]) =>
        `<rect x="${short(fromX)}" y="${short(fromY)}" width="${short((width * grid.columns) / (grid.columns + 1))}" height="${short((height * grid.rows) / (grid.rows + 1))}" fill="none" stroke="${stroke}" stroke-width="${thick}"/>`
    )
  ].join('')
}

function bar(scale: Scale, href: string | undefined, x: number, y: number, width: number) {
  const ticks = ticksThatFit(scale.ticks, width / character).map(
    ({ at, text }) =>
      `<path d="M${(x + at * width).toFixed(1)} ${y + 12}v4" stroke="currentColor"/><text x="${(x + at * width).toFixed(1)}" y="${y + 28}" text-anchor="${at === 0 ? 'start' : at === 1 ? 'end' : 'middle'}">${escape(text)}</text>`
  )
  return `${image(href, x, y, width, 12)}${ticks.join('')}<text x="${x}" y="${y + 46}">${escape(scale.label)}</text>`
}

/** Pictures of the view in two columns, one alone as large as the map, each with its title above and
 * its bar below. Returns the drawing and its height. */
function beside(
  views: FigureView[],
  { x, y, width, height }: { x: number; y: number; width: number; height: number },
  grid: { rows: number; columns: number }
): [drawing: string, height: number] {
  const side = views.length > 1 ? (width - 16) / 2 : width,
    titles = views.map(({ title }) => (title ? wrap(title, side / character) : [])),
    drawn: string[] = []
  let top = 0,
    bottom = 0
  views.forEach(({ href, aspect, scale, bar: colours, cells }, i) => {
    const first = i - (i % 2), // of the two side by side, which begin at one height
      upper =
        line * Math.max(titles[first].length, titles[first + 1]?.length ?? 0) +
        (cells?.above?.length ? line : 0),
      gutter = cells?.left?.length ? Math.ceil(widest(cells.left)) + 6 : 0,
      across = Math.min(side - gutter, (height - upper) * aspect),
      down = across / aspect,
      column = x + (i % 2) * (side + 16),
      at = column + gutter
    if (i % 2 === 0) top = bottom && bottom + 8
    const box = { x: at, y: y + top + upper, across, down }
    drawn.push(
      ...titles[i].map(
        (text, j) => `<text x="${column}" y="${y + top + line * j + size}">${escape(text)}</text>`
      ),
      image(href, at, box.y, across, down, 'image-rendering="pixelated"'),
      cells ? drawCells(cells, box, grid) : '',
      scale ? bar(scale, colours, at, box.y + down + 14, across) : ''
    )
    bottom = Math.max(bottom, top + upper + down + (scale ? 66 : 0))
  })
  return [drawn.join('\n'), bottom]
}

/** pictures: { picture, map, bar } as data URLs; views: what stands beside them; cell: the query as
 * [row, column] or null; note: what stands on the picture; about: title, description and metadata of the SVG. */
export function figure({
  pictures,
  views = [],
  rows,
  columns,
  aspect = 1,
  path,
  cell,
  note = '',
  scale,
  caption,
  provenance,
  about,
  dark = false
}: FigureOptions) {
  const width = 448,
    height = Math.round(width / aspect),
    left = 16,
    [panels, reach] = beside(
      views,
      { x: left + width + 24, y: left, width, height },
      { rows, columns }
    )
  const total = left * 2 + width + (views.length ? width + 24 : 0),
    lines = wrap(caption, total / character),
    from = wrap(provenance, total / 5.9),
    below = Math.max(height, reach - 66) + left
  const bottom = below + 66 + lines.length * 18 + 14 + from.length * 13
  const scaled = `translate(${left} ${left}) scale(${width / columns} ${height / rows})`
  const { ground, ink } = inks[dark ? 'dark' : 'light'],
    thin = 'vector-effect="non-scaling-stroke"'
  const marks = `${path ? `<path d="${path}" ${thin}/>` : ''}${cell ? `<rect x="${cell[1]}" y="${cell[0]}" width="1" height="1" ${thin}/>` : ''}`
  const strokes = frames.map(
    ([stroke, size]) =>
      `<g fill="none" stroke="${stroke}" stroke-width="${size}" transform="${scaled}">${marks}</g>`
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="${total}" height="${bottom}" viewBox="0 0 ${total} ${bottom}" font-family="${sans}" ${language} font-size="13" color="${ink}" fill="${ink}"${about ? ` ${described}` : ''}>
${about ? aboutParts(about) : ''}
<rect width="${total}" height="${bottom}" fill="${ground}"/>
${image(pictures.picture, left, left, width, height)}
${image(pictures.map, left, left, width, height, 'image-rendering="pixelated"')}
${strokes.join('\n')}
${note && noted(note, left + 8, left + 8)}
${panels}
${bar(scale, pictures.bar, left, left + height + 14, width)}
${lines.map((line, i) => `<text x="${left}" y="${below + 84 + i * 18}">${escape(line)}</text>`).join('\n')}
${from.map((line, i) => `<text x="${left}" y="${bottom - 10 - (from.length - 1 - i) * 13}" font-size="10" opacity="0.75">${escape(line)}</text>`).join('\n')}
</svg>
`
}
