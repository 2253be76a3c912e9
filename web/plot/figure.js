/* The figure that is saved: picture with its map, colour bar with numbers, caption and provenance, as SVG text of its own.
 * Pictures come in as data URLs. The PNG is this SVG, drawn larger. */

const escape = (text) => String(text).replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign])

function wrap(text, width) {
  const lines = ['']
  for (const word of text.split(' ').flatMap((word) => word.match(new RegExp(`.{1,${Math.floor(width) - 1}}`, 'g')) ?? [''])) {
    if (lines.at(-1).length + word.length >= width) lines.push('')
    lines.push(`${lines.pop()} ${word}`.trim())
  }
  return lines
}

const image = (href, x, y, width, height, extra = '') =>
  `<image href="${escape(href)}" x="${x}" y="${y}" width="${width}" height="${height}" preserveAspectRatio="none" ${extra}/>`

function bar(scale, href, x, y, width) {
  const ticks = scale.ticks.map(({ at, text }) =>
    `<path d="M${(x + at * width).toFixed(1)} ${y + 12}v4" stroke="currentColor"/><text x="${(x + at * width).toFixed(1)}" y="${y + 28}" text-anchor="${at === 0 ? 'start' : at === 1 ? 'end' : 'middle'}">${escape(text)}</text>`)
  return `${image(href, x, y, width, 12)}${ticks.join('')}<text x="${x}" y="${y + 46}">${escape(scale.label)}</text>`
}

/** pictures: { picture, map, heads, bar } as data URLs (heads optional); cell: the query as [row, column] or null. */
export function figure({ pictures, rows, columns, aspect = 1, headsAspect = 1, path, cell, scale, caption, provenance, dark = false }) {
  const width = 448, height = Math.round(width / aspect), left = 16, grid = pictures.heads ? width : 0
  const total = left * 2 + width + (grid ? grid + 24 : 0), lines = wrap(caption, total / 7.4), from = wrap(provenance, total / 5.9), below = height + left
  const bottom = below + 66 + lines.length * 18 + 14 + from.length * 13
  const scaled = `translate(${left} ${left}) scale(${width / columns} ${height / rows})`
  const thin = 'vector-effect="non-scaling-stroke"'
  const marks = `${path ? `<path d="${path}" ${thin}/>` : ''}${cell ? `<rect x="${cell[1]}" y="${cell[0]}" width="1" height="1" ${thin}/>` : ''}`
  const strokes = [['#000', 4], ['#fff', 2]].map(([stroke, size]) => `<g fill="none" stroke="${stroke}" stroke-width="${size}" transform="${scaled}">${marks}</g>`)
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${total}" height="${bottom}" viewBox="0 0 ${total} ${bottom}" font-family="system-ui,sans-serif" font-size="13" color="${dark ? '#e8ecf2' : '#1a2230'}" fill="${dark ? '#e8ecf2' : '#1a2230'}">
<rect width="${total}" height="${bottom}" fill="${dark ? '#12161c' : '#fff'}"/>
${image(pictures.picture, left, left, width, height)}
${image(pictures.map, left, left, width, height, 'image-rendering="pixelated"')}
${strokes.join('\n')}
${pictures.heads ? image(pictures.heads, left + width + 24, left, Math.min(grid, height * headsAspect), Math.min(height, grid / headsAspect), 'image-rendering="pixelated"') : ''}
${bar(scale, pictures.bar, left, below + 14, width)}
${lines.map((line, i) => `<text x="${left}" y="${below + 84 + i * 18}">${escape(line)}</text>`).join('\n')}
${from.map((line, i) => `<text x="${left}" y="${bottom - 10 - (from.length - 1 - i) * 13}" font-size="10" opacity="0.75">${escape(line)}</text>`).join('\n')}
</svg>
`
}
