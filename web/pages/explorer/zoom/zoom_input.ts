/* What drives the zoom: the wheel and keys go along the way of stops; two fingers, Control with the
 * wheel and a drag of the ground move the camera freely; a drag of a shape moves the shape. */
import { dragOf, objectAt, sceneOf } from '../views/stage/shape_drag.js'
import type { Page } from '../types.js'
import type { Camera } from './camera.js'

const pressMost = 4, // pixels; what moves more is a drag
  wheelOfStop = 240, // pixels of a wheel from stop to stop
  wheelRest = 160 // ms

interface Point {
  x: number
  y: number
}
export interface Driven {
  page: Page
  camera: Camera
  scene: HTMLElement
  /** In shares of the picture; null: the place is not on it. */
  onPicture(at: Point): Point | null
  /** A press without a drag. */
  press(on: Point | null, target: Element): void
  /** To another stop. */
  step(by: number): void
  /** Part of the way, in stops from the last one. */
  along(share: number): void
  /** The camera was moved by hand. */
  freed(): void
  /** A place that does not move the camera. */
  fixed?: boolean
}

const pointIn = (element: Element, { clientX, clientY }: MouseEvent): Point => {
  const { left, top } = element.getBoundingClientRect()
  return { x: clientX - left, y: clientY - top }
}

/** In the picture's own pixels. */
const pixelsOf = ({ engine }: Page, { x, y }: Point): Point => {
  const { region } = engine.result
  return { x: region.x + x * region.width, y: region.y + y * region.height }
}

/** A drag of the shape at a place of the picture; undefined: there is none. */
function shapeDrag(page: Page, from: Point | null) {
  if (!from || !page.picture?.drawing || !page.engine.result) return undefined
  const scene = sceneOf(page),
    start = pixelsOf(page, from),
    under = objectAt(scene, start)
  if (under < 0) return undefined
  return () => {
    scene.chosen = under
    scene.begin()
    const drag = dragOf(scene, start, { turning: false, carrying: true })
    return { to: (at: Point) => drag(pixelsOf(page, at)), end: () => scene.settle() }
  }
}

export function connectWheel({ camera, scene, step, along, freed }: Driven, signal: AbortSignal) {
  let turned = 0,
    resting: ReturnType<typeof setTimeout> | undefined
  const rest = () => {
    const by = Math.abs(turned) > 0.25 ? Math.sign(turned) * Math.ceil(Math.abs(turned)) : 0
    turned = 0
    step(by)
  }
  const wheel = (event: WheelEvent) => {
    event.preventDefault()
    const delta = event.deltaY * [1, 24, 400][event.deltaMode]
    if (event.ctrlKey) {
      camera.zoomBy(Math.exp(-delta / 100), pointIn(scene, event))
      return freed()
    }
    turned += delta / wheelOfStop
    along(turned)
    clearTimeout(resting)
    resting = setTimeout(rest, wheelRest)
  }
  scene.addEventListener('wheel', wheel, { passive: false, signal })
  signal.addEventListener('abort', () => clearTimeout(resting))
}

class Pointers {
  #driven
  #fingers = new Map<number, Point>()
  #from: Point | null = null
  #moved = false
  #spread = 0
  #dragging: { to(at: Point): void; end(): void } | null = null
  #begin: ReturnType<typeof shapeDrag>
  #target: Element | null = null

  constructor(driven: Driven) {
    this.#driven = driven
  }

  #middle() {
    const [a, b] = [...this.#fingers.values()]
    return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, apart: Math.hypot(a.x - b.x, a.y - b.y) }
  }

  #drop() {
    this.#dragging?.end()
    this.#dragging = null
  }

  down = (event: PointerEvent) => {
    const { page, scene, onPicture } = this.#driven
    if (event.button !== 0) return
    const at = pointIn(scene, event)
    this.#fingers.set(event.pointerId, at)
    scene.setPointerCapture(event.pointerId)
    if (this.#fingers.size === 2) {
      this.#drop()
      this.#begin = undefined
      this.#spread = this.#middle().apart
      this.#moved = true
      return
    }
    this.#target = event.target as Element
    this.#from = at
    this.#moved = false
    this.#begin = shapeDrag(page, onPicture(at))
  }

  #pinch(event: PointerEvent) {
    const { camera, scene, freed } = this.#driven,
      before = this.#middle()
    this.#fingers.set(event.pointerId, pointIn(scene, event))
    const { x, y, apart } = this.#middle()
    camera.panBy(x - before.x, y - before.y)
    camera.zoomBy(apart / (this.#spread || apart || 1), { x, y })
    this.#spread = apart
    freed()
  }

  move = (event: PointerEvent) => {
    const { camera, scene, onPicture, freed } = this.#driven,
      last = this.#fingers.get(event.pointerId)
    if (!last) return
    if (this.#fingers.size === 2) return this.#driven.fixed ? undefined : this.#pinch(event)
    const at = pointIn(scene, event),
      from = this.#from ?? at
    if (!this.#moved && Math.hypot(at.x - from.x, at.y - from.y) < pressMost) return
    if (!this.#moved && this.#begin) this.#dragging = this.#begin()
    this.#moved = true
    this.#fingers.set(event.pointerId, at)
    if (this.#dragging) {
      const on = onPicture(at)
      if (on) this.#dragging.to(on)
      return
    }
    if (this.#driven.fixed) return
    camera.panBy(at.x - last.x, at.y - last.y)
    freed()
  }

  up = (event: PointerEvent) => {
    if (!this.#fingers.delete(event.pointerId)) return
    this.#drop()
    if (!this.#moved && event.type === 'pointerup' && this.#from && this.#target)
      this.#driven.press(this.#driven.onPicture(this.#from), this.#target)
    this.#moved = true
  }
}

export function connectPointers(driven: Driven, signal: AbortSignal) {
  const pointers = new Pointers(driven),
    { scene } = driven
  scene.addEventListener('pointerdown', pointers.down, { signal })
  scene.addEventListener('pointermove', pointers.move, { signal })
  for (const type of ['pointerup', 'pointercancel'] as const)
    scene.addEventListener(type, pointers.up, { signal })
}

const keys: Record<string, number> = {
  ArrowRight: 1,
  ArrowDown: 1,
  PageDown: 1,
  ArrowLeft: -1,
  ArrowUp: -1,
  PageUp: -1,
  Home: -99,
  End: 99
}

export function connectKeys(
  { camera, step, freed }: Driven,
  { close, signal }: { close(): void; signal: AbortSignal }
) {
  const press = (event: KeyboardEvent) => {
    const { key, target } = event
    if (event.altKey || event.ctrlKey || event.metaKey) return
    if ((target as Element).closest?.('input, select, textarea, dialog, .top')) return
    if (key === 'Escape') close()
    else if (key in keys) step(keys[key])
    else if (key === '+' || key === '-' || key === '=') {
      camera.zoomBy(key === '-' ? 0.8 : 1.25, {
        x: camera.size.width / 2,
        y: camera.size.height / 2
      })
      freed()
    } else return
    event.preventDefault()
    event.stopPropagation()
  }
  addEventListener('keydown', press, { capture: true, signal })
}
