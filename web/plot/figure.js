/* The figure that is saved: picture with its map, what the view beside it shows, colour bars with
 * numbers, caption and provenance, as SVG text of its own. Pictures come in as data URLs. The PNG
 * is this SVG, drawn larger. */
import { aboutParts, described, escape, inks, language, sans, wrap } from './parts/svg_text.js'
import { ticksThatFit } from './scale.js'
/** @import {FigureOptions, FigureView, Scale} from './index.js' */

/**
 * @param {string | undefined} href
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 * @param {string} [extra]
 */
const image = (href, x, y, width, height, extra = '') =>
  `<image xlink:href="${escape(/** @type {string} */ (href))}" x="${x}" y="${y}" width="${width}" height="${height}" preserveAspectRatio="none" ${extra}/>`

const character = 7.4 // pixels, of 13

/**
 * What stands on the picture, on a ground of its own.
 * @param {string} note
 * @param {number} x
 * @param {number} y
 */
const noted = (note, x, y) =>
  `<rect x="${x}" y="${y}" width="${note.length * character + 14}" height="24" rx="4" fill="#000" fill-opacity="0.78"/><text x="${x + 7}" y="${y + 17}" fill="#fff">${escape(note)}</text>`

/**
 * @param {Scale} scale
 * @param {string | undefined} href
 * @param {number} x
 * @param {number} y
 * @param {number} width
 */
function bar(scale, href, x, y, width) {
  const ticks = ticksThatFit(scale.ticks, width / character).map(
    ({ at, text }) =>
      `<path d="M${(x + at * width).toFixed(1)} ${y + 12}v4" stroke="currentColor"/><text x="${(x + at * width).toFixed(1)}" y="${y + 28}" text-anchor="${at === 0 ? 'start' : at === 1 ? 'end' : 'middle'}">${escape(text)}</text>`
  )
  return `${image(href, x, y, width, 12)}${ticks.join('')}<text x="${x}" y="${y + 46}">${escape(scale.label)}</text>`
}

/**
 * Pictures of the view in two columns, one alone as large as the map, each with its bar below.
 * Returns the drawing and its height.
 * @param {FigureView[]} views
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 * @returns {[drawing: string, height: number]}
 */
function beside(views, x, y, width, height) {
  const side = views.length > 1 ? (width - 16) / 2 : width,
    drawn = /** @type {string[]} */ ([])
  let top = 0,
    bottom = 0
  views.forEach(({ href, aspect, scale, bar: colours }, i) => {
    const across = Math.min(side, height * aspect),
      down = across / aspect,
      at = x + (i % 2) * (side + 16)
    if (i % 2 === 0) top = bottom
    drawn.push(
      image(href, at, y + top, across, down, 'image-rendering="pixelated"'),
      scale ? bar(scale, colours, at, y + top + down + 14, across) : ''
    )
    bottom = Math.max(bottom, top + down + (scale ? 66 : 0))
  })
  return [drawn.join('\n'), bottom]
}

/**
 * pictures: { picture, map, bar } as data URLs; views: what stands beside them; cell: the query as
 * [row, column] or null; note: what stands on the picture; about: what the SVG says of itself.
 * @param {FigureOptions} options
 */
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
}) {
  const width = 448,
    height = Math.round(width / aspect),
    left = 16,
    [panels, reach] = beside(views, left + width + 24, left, width, height)
  const total = left * 2 + width + (views.length ? width + 24 : 0),
    lines = wrap(caption, total / character),
    from = wrap(provenance, total / 5.9),
    below = Math.max(height, reach - 66) + left
  const bottom = below + 66 + lines.length * 18 + 14 + from.length * 13
  const scaled = `translate(${left} ${left}) scale(${width / columns} ${height / rows})`
  const { ground, ink } = inks[dark ? 'dark' : 'light'],
    thin = 'vector-effect="non-scaling-stroke"'
  const marks = `${path ? `<path d="${path}" ${thin}/>` : ''}${cell ? `<rect x="${cell[1]}" y="${cell[0]}" width="1" height="1" ${thin}/>` : ''}`
  const strokes = [
    ['#000', 4],
    ['#fff', 2]
  ].map(
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
