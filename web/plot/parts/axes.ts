/* The axes of a plot of dots. */
import { fixed } from './numbers.js'
import { stepTo } from '../scale.js'

/** Where both axes end, from 0, and what stands at their ticks. */
export function axesOf(
  points: { x: number; y: number }[],
  reference: { x?: number; y?: number } = {}
) {
  const end = (key: 'x' | 'y') =>
    Math.max(1e-9, reference[key] ?? 0, ...points.map((point) => point[key])) * 1.05
  const steps = (top: number) => {
    const step = stepTo(top, 5),
      digits = step >= 1 ? 0 : step >= 0.1 ? 1 : 2
    return Array.from(
      { length: Math.floor(top / step + 1e-9) + 1 },
      (_, i): [value: number, text: string] => [
        i * step,
        fixed(i * step, step === 2.5 || step === 0.25 ? digits + 1 : digits)
      ]
    )
  }
  const ends = { x: end('x'), y: end('y') }
  return { ends, ticks: { x: steps(ends.x), y: steps(ends.y) } }
}
