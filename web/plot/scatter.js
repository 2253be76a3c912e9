/* One dot a head in two of its numbers, as the inside of an SVG of 320 x 240: axes with numbers, colour by layer. */

const frame = { left: 44, right: 312, top: 10, bottom: 200 }

/** points: [{ x, y, name, layer }]; layers: how many; table: 256 RGB. A chosen point has a ring. */
export function scatter({ points, layers, chosen, labels, table }) {
  const end = (key) => Math.max(1e-9, ...points.map((point) => point[key])) * 1.05
  const ends = { x: end('x'), y: end('y') }
  const px = (x) => (frame.left + (x / ends.x) * (frame.right - frame.left)).toFixed(1)
  const py = (y) => (frame.bottom - (y / ends.y) * (frame.bottom - frame.top)).toFixed(1)
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const x = ends.x * share, y = ends.y * share, form = (value, top) => value.toFixed(top < 1 ? 2 : top < 20 ? 1 : 0)
    return `<path class="rule" d="M${px(x)} ${frame.top}V${frame.bottom}M${frame.left} ${py(y)}H${frame.right}"/><text x="${px(x)}" y="215" text-anchor="middle">${form(x, ends.x)}</text><text x="38" y="${Number(py(y)) + 4}" text-anchor="end">${form(y, ends.y)}</text>`
  })
  const dots = points.map(({ x, y, name, layer }, index) => {
    const entry = Math.round((layer / Math.max(1, layers - 1)) * 255) * 3
    return `<circle data-index="${index}" cx="${px(x)}" cy="${py(y)}" r="${index === chosen ? 8 : 5}" class="${index === chosen ? 'chosen' : ''}" fill="rgb(${table[entry]},${table[entry + 1]},${table[entry + 2]})"><title>${name}</title></circle>`
  })
  return `${ticks.join('')}<text x="178" y="234" text-anchor="middle">${labels.x}</text><text x="10" y="105" text-anchor="middle" transform="rotate(-90 10 105)">${labels.y}</text>${dots.join('')}`
}
