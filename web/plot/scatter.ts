/* One dot a head in two of its numbers, as the inside of an SVG of 320 x 240: axes with numbers,
 * colour by layer. */
import { axesOf } from './parts/axes.js'
import type { ScatterOptions } from 'heed/plot'

const frame = { left: 44, right: 312, top: 10, bottom: 200 }

/** points: [{ x, y, name, layer, faint }]; layers: how many; table: 256 RGB. A chosen point has a
 * ring; reference:
 * { x, y } where uniform attention would be, a broken line each. */
export function scatter({ points, layers, chosen, labels, table, reference = {} }: ScatterOptions) {
  const { ends, ticks: at } = axesOf(points, reference)
  const px = (x: number) => (frame.left + (x / ends.x) * (frame.right - frame.left)).toFixed(1)
  const py = (y: number) => (frame.bottom - (y / ends.y) * (frame.bottom - frame.top)).toFixed(1)
  const ticks = [
    ...at.x.map(
      ([x, text]) =>
        `<path class="rule" d="M${px(x)} ${frame.top}V${frame.bottom}"/><text x="${px(x)}" y="215" text-anchor="middle">${text}</text>`
    ),
    ...at.y.map(
      ([y, text]) =>
        `<path class="rule" d="M${frame.left} ${py(y)}H${frame.right}"/><text x="38" y="${Number(py(y)) + 4}" text-anchor="end">${text}</text>`
    )
  ]
  const lines = [
    reference.x === undefined ? '' : `M${px(reference.x)} ${frame.top}V${frame.bottom}`,
    reference.y === undefined ? '' : `M${frame.left} ${py(reference.y)}H${frame.right}`
  ].join('')
  const dots = points.map(({ x, y, name, layer, faint }, index) => {
    const entry = Math.round((layer / Math.max(1, layers - 1)) * 255) * 3
    return `<circle data-index="${index}" cx="${px(x)}" cy="${py(y)}" r="${index === chosen ? 8 : 5}" class="${index === chosen ? 'chosen' : faint ? 'faint' : ''}" fill="rgb(${table[entry]},${table[entry + 1]},${table[entry + 2]})"><title>${name}</title></circle>`
  })
  return `${ticks.join('')}${lines && `<path class="reference" d="${lines}"/>`}<text x="178" y="234" text-anchor="middle">${labels.x}</text><text x="10" y="105" text-anchor="middle" transform="rotate(-90 10 105)">${labels.y}</text>${dots.join('')}`
}
