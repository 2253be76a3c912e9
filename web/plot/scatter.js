/* One dot a head in two of its numbers, as the inside of an SVG of 320 x 240: axes with numbers,
 * colour by layer. */
import { stepTo } from './scale.js'
/** @import {ScatterOptions} from './index.js' */

const frame = { left: 44, right: 312, top: 10, bottom: 200 }

/**
 * points: [{ x, y, name, layer, faint }]; layers: how many; table: 256 RGB. A chosen point has a
 * ring; reference:
 * { x, y } where uniform attention would be, a broken line each.
 * @param {ScatterOptions} options
 */
export function scatter({ points, layers, chosen, labels, table, reference = {} }) {
  /** @param {'x' | 'y'} key */
  const end = (key) =>
    Math.max(1e-9, reference[key] ?? 0, ...points.map((point) => point[key])) * 1.05
  const ends = { x: end('x'), y: end('y') }
  /** @param {number} x */
  const px = (x) => (frame.left + (x / ends.x) * (frame.right - frame.left)).toFixed(1)
  /** @param {number} y */
  const py = (y) => (frame.bottom - (y / ends.y) * (frame.bottom - frame.top)).toFixed(1)
  /** @param {number} top */
  const steps = (top) => {
    const step = stepTo(top, 5),
      digits = step >= 1 ? 0 : step >= 0.1 ? 1 : 2
    return Array.from(
      { length: Math.floor(top / step + 1e-9) + 1 },
      /** @returns {[value: number, text: string]} */
      (_, i) => [i * step, (i * step).toFixed(step === 2.5 || step === 0.25 ? digits + 1 : digits)]
    )
  }
  const ticks = [
    ...steps(ends.x).map(
      ([x, text]) =>
        `<path class="rule" d="M${px(x)} ${frame.top}V${frame.bottom}"/><text x="${px(x)}" y="215" text-anchor="middle">${text}</text>`
    ),
    ...steps(ends.y).map(
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
