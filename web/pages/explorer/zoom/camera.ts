/* The camera of the zoom: which part of the world is seen, and how it flies from one to another. A
 * flight is the shortest that looks smooth (van Wijk and Nuij, "Smooth and efficient zooming and
 * panning", 2003). */

export interface Box {
  x: number
  y: number
  width: number
  height: number
}
/** The middle of what is seen, and how wide that is, in units of the world. */
export interface View {
  x: number
  y: number
  w: number
}
interface Size {
  width: number
  height: number
}

const bend = Math.SQRT2 // how much a flight rises
const msOfLength = 480
const flightMost = 1600 // ms
const widest = 12000,
  narrowest = 2

/** The view that has all of a box. */
export const viewOf = ({ x, y, width, height }: Box, screen: Size): View => ({
  x: x + width / 2,
  y: y + height / 2,
  w: Math.max(width, (height * screen.width) / screen.height)
})

/** A flight: where it is at a share of its time, and its length. */
export function flightOf(from: View, to: View): { length: number; at(share: number): View } {
  const dx = to.x - from.x,
    dy = to.y - from.y,
    far = Math.hypot(dx, dy)
  if (far < 1e-6 * from.w) {
    const length = Math.abs(Math.log(to.w / from.w)) / bend
    return { length, at: (t) => ({ ...to, w: from.w * (to.w / from.w) ** t }) }
  }
  const rise = (w: number, sign: number) => {
    const b = (to.w ** 2 - from.w ** 2 + sign * bend ** 4 * far ** 2) / (2 * w * bend ** 2 * far)
    return Math.log(Math.sqrt(b ** 2 + 1) - b)
  }
  const start = rise(from.w, 1),
    length = (rise(to.w, -1) - start) / bend
  return {
    length,
    at(t) {
      const s = bend * t * length + start,
        along = (from.w / (bend ** 2 * far)) * (Math.cosh(start) * Math.tanh(s) - Math.sinh(start))
      return {
        x: from.x + along * dx,
        y: from.y + along * dy,
        w: (from.w * Math.cosh(start)) / Math.cosh(s)
      }
    }
  }
}

const eased = (t: number) => (t < 0.5 ? 2 * t * t : 1 - 2 * (1 - t) ** 2)

export class Camera {
  view: View = { x: 500, y: 500, w: 2000 }
  size: Size = { width: 1, height: 1 }
  #frame = 0
  #onMove

  constructor(onMove: () => void) {
    this.#onMove = onMove
  }

  /** Pixels of the screen a unit of the world. */
  get scale() {
    return this.size.width / this.view.w
  }
  get flying() {
    return this.#frame !== 0
  }

  toScreen(x: number, y: number) {
    const { view, scale, size } = this
    return { x: (x - view.x) * scale + size.width / 2, y: (y - view.y) * scale + size.height / 2 }
  }
  toWorld(x: number, y: number) {
    const { view, scale, size } = this
    return { x: (x - size.width / 2) / scale + view.x, y: (y - size.height / 2) / scale + view.y }
  }

  jump(to: View) {
    cancelAnimationFrame(this.#frame)
    this.#frame = 0
    this.view = { ...to, w: Math.min(widest, Math.max(narrowest, to.w)) }
    this.#onMove()
  }

  fly(to: View) {
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return this.jump(to)
    cancelAnimationFrame(this.#frame)
    const flight = flightOf(this.view, to),
      takes = Math.min(flightMost, 250 + msOfLength * flight.length)
    let began = 0
    const step = (now: number) => {
      began ||= now
      const t = Math.min(1, (now - began) / takes)
      this.view = t < 1 ? flight.at(eased(t)) : to
      this.#frame = t < 1 ? requestAnimationFrame(step) : 0
      this.#onMove()
    }
    this.#frame = requestAnimationFrame(step)
  }

  panBy(dx: number, dy: number) {
    const { view, scale } = this
    this.jump({ ...view, x: view.x - dx / scale, y: view.y - dy / scale })
  }

  /** What is at a place of the screen stays there. */
  zoomBy(factor: number, at: { x: number; y: number }) {
    const held = this.toWorld(at.x, at.y),
      w = Math.min(widest, Math.max(narrowest, this.view.w / factor)),
      share = w / this.view.w
    this.jump({
      x: held.x + (this.view.x - held.x) * share,
      y: held.y + (this.view.y - held.y) * share,
      w
    })
  }

  stop() {
    cancelAnimationFrame(this.#frame)
    this.#frame = 0
  }
}
