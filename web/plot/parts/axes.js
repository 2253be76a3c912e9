/* The axes of a plot of dots. */
import { fixed } from './numbers.js'
import { stepTo } from '../scale.js'

/**
 * Where both axes end, from 0, and what stands at their ticks.
 * @param {{x: number, y: number}[]} points
 * @param {{x?: number, y?: number}} reference
 */
export function axesOf(points, reference = {}) {
  /** @param {'x' | 'y'} key */
  const end = (key) =>
    Math.max(1e-9, reference[key] ?? 0, ...points.map((point) => point[key])) * 1.05
  /** @param {number} top */
  const steps = (top) => {
    const step = stepTo(top, 5),
      digits = step >= 1 ? 0 : step >= 0.1 ? 1 : 2
    return Array.from(
      { length: Math.floor(top / step + 1e-9) + 1 },
      /** @returns {[value: number, text: string]} */
      (_, i) => [i * step, fixed(i * step, step === 2.5 || step === 0.25 ? digits + 1 : digits)]
    )
  }
  const ends = { x: end('x'), y: end('y') }
  return { ends, ticks: { x: steps(ends.x), y: steps(ends.y) } }
}
