/* Shapes of a drawn scene are dragged on the picture, beside every view: a press alone chooses the
 * query there, a drag that begins on a shape takes the shape along, and model and map follow. Where a
 * view has a use of its own for presses, as a brush, shapes stay. Loaded with the first touch of the
 * picture. */
import { element } from '../../../shared/elements.js'
import { editedPicture } from '../../open/edited_scene.js'
import { editsOf } from '../../state/scene_edits.js'
import type { Scene, SceneObject } from 'heed'
import type { Page } from '../../types.js'

/* Other moves wait for the next frame. */
const moves = 'onpointerrawupdate' in globalThis ? 'pointerrawupdate' : 'pointermove'
/* A press that moves less than this, in pixels of the screen, chooses the query. */
const pressMost = 4

/** The scene in objects as it is being changed: each change is drawn and run. */
export class EditedScene {
  page
  edits
  moved = false // since the last change that was settled
  /** The chosen object. */
  chosen = 0
  /** changed, and not run yet */
  latest: Scene | null = null
  waiting: { scene: Scene; live: boolean } | null = null
  running = false
  /** what was shown before the change that is being made */
  before: ReturnType<typeof this.edits.begin> | null = null
  /** Told when a press on the picture has chosen an object. */
  onChoose = () => {}

  constructor(page: Page) {
    this.page = page
    this.edits = editsOf(page)
  }

  get current(): Scene {
    return this.latest ?? this.page.picture.drawing
  }

  change(objects: SceneObject[], live: boolean = false) {
    this.begin()
    this.moved = true
    this.latest = { ...this.current, objects }
    this.waiting = { scene: this.latest, live }
    this.follow()
  }

  /** Before a change, where more than the scene changes with it. */
  begin() {
    this.before ??= this.edits.begin()
  }

  /** Changes the chosen object. */
  patch(patch: Partial<SceneObject>, live?: boolean) {
    const { objects } = this.current,
      same = Object.entries(patch).every(
        ([key, value]) => Reflect.get(objects[this.chosen], key) === value
      )
    if (same) return // a press alone
    this.change(
      objects.map((object, i) => (i === this.chosen ? { ...object, ...patch } : object)),
      live
    )
  }

  /** Runs it as it is, no longer as one of many changes. */
  settle() {
    if (this.moved) this.change(this.current.objects)
    else this.before = null
  }

  add() {
    const { objects } = this.current
    this.chosen = objects.length
    this.change([
      ...objects,
      { shape: 'disc', colour: 'red', x: 112, y: 112, radius: 24, angle: 0 }
    ])
  }

  remove() {
    const objects = this.current.objects.filter((_, i) => i !== this.chosen)
    this.chosen = Math.max(0, this.chosen - 1)
    this.change(objects)
  }

  /** One run at a time; of the changes that came meanwhile only the last is drawn. */
  async follow() {
    const { page } = this
    if (this.running) return
    this.running = true
    while (this.waiting) {
      const { scene, live } = this.waiting,
        before = this.before as ReturnType<typeof this.edits.begin>
      this.waiting = null
      if (!live) {
        this.before = null
        this.moved = false
      }
      try {
        if (live) await page.run(await editedPicture(page, scene), { live })
        else await this.edits.commit(before, scene)
      } catch (error) {
        page.showError(error)
      }
    }
    this.running = false
    this.latest = null
  }
}

const scenes: WeakMap<Page, EditedScene> = new WeakMap()
/** The page's scene: one for the picture and for the view that changes it. */
export function sceneOf(page: Page) {
  const scene = scenes.get(page) ?? new EditedScene(page)
  scenes.set(page, scene)
  return scene
}

/** in the picture's pixels */
export type Place = { x: number; y: number }

const inside = (value: number) => Math.round(Math.min(216, Math.max(8, value)) * 16) / 16

/** Where the pointer is in the part of the picture that the model saw. */
function placeOf({ engine }: Page, event: PointerEvent): Place {
  const box = element('patches').getBoundingClientRect(),
    { x, y, width, height } = engine.result.region
  return {
    x: x + ((event.clientX - box.left) / box.width) * width,
    y: y + ((event.clientY - box.top) / box.height) * height
  }
}

/** The patch at a place, the nearest where it is outside what the model saw. */
export function patchAt({ engine }: Page, place: Place): [row: number, column: number] {
  const { rows, columns } = engine.shape,
    { x, y, width, height } = engine.result.region,
    nth = (share: number, count: number) =>
      Math.min(count - 1, Math.max(0, Math.floor(share * count)))
  return [nth((place.y - y) / height, rows), nth((place.x - x) / width, columns)]
}

/** The object at a place, the upper one where two are; -1: none. */
export const objectAt = (scene: EditedScene, at: Place) =>
  scene.current.objects.findLastIndex(
    ({ x, y, radius }) => Math.hypot(x - at.x, y - at.y) <= radius
  )

/** Whether a shape takes the query along: one that the query is on. */
function carries({ page, chosen }: EditedScene) {
  const { query } = page.store.get(),
    { rows, columns } = page.engine.shape
  return (
    Array.isArray(query) &&
    rows === 14 &&
    columns === 14 &&
    page.picture.owner[query[0] * 14 + query[1]] === chosen
  )
}

/**
 * A drag of the chosen object that began at a place: to each further place the object goes, or
 * turns.
 * @param how carrying: the query goes along
 */
export function dragOf(
  scene: EditedScene,
  from: Place,
  { turning, carrying }: { turning: boolean; carrying: boolean }
): (to: Place) => void {
  const { page, chosen } = scene,
    { x, y, angle = 0 } = scene.current.objects[chosen],
    heading = (at: Place) => (Math.atan2(y - at.y, at.x - x) * 180) / Math.PI
  if (turning)
    return (to) =>
      scene.patch({ angle: Math.round(angle + heading(to) - heading(from) + 720) % 360 }, true)
  return (to) => {
    const place = { x: inside(x + to.x - from.x), y: inside(y + to.y - from.y) }
    if (carrying) page.store.set({ query: patchAt(page, place), hover: null })
    scene.patch(place, true)
  }
}

/** The patches take a pointer's moves until it is lifted; nobody else hears of them. */
function followPointer(
  page: Page,
  pointer: number,
  onMove: (to: Place) => void,
  onEnd: () => void
) {
  const surface = element('patches'),
    stop = new AbortController(),
    options = { capture: true, signal: stop.signal }
  try {
    surface.setPointerCapture(pointer)
  } catch {} // a finger that was lifted meanwhile
  surface.addEventListener(moves as 'pointermove', (event) => onMove(placeOf(page, event)), options)
  surface.addEventListener('pointermove', (event) => event.stopImmediatePropagation(), options)
  for (const type of ['pointerup', 'pointercancel'])
    surface.addEventListener(
      type,
      () => {
        stop.abort()
        onEnd()
      },
      options
    )
}

/** Calls take() once a press has become a drag; a lifted pointer was a press. A finger's drag is one
 * across, as one down the page scrolls it. */
function awaitDrag(from: PointerEvent, take: () => void) {
  const surface = element('patches'),
    stop = new AbortController(),
    options = { capture: true, signal: stop.signal }
  surface.addEventListener(
    'pointermove',
    (event) => {
      const across = Math.abs(event.clientX - from.clientX),
        far = Math.hypot(across, event.clientY - from.clientY)
      if (far < pressMost || (from.pointerType === 'touch' && across < far * 0.8)) return
      event.stopImmediatePropagation()
      stop.abort()
      surface.dispatchEvent(new PointerEvent('pointercancel', { pointerId: from.pointerId })) // the grid's press is over
      take()
    },
    options
  )
  for (const type of ['pointerup', 'pointercancel'])
    surface.addEventListener(type, () => stop.abort(), options)
}

const connected: WeakSet<Page> = new WeakSet()

/** A press on an object of the picture and a move drag it. Beside the view that changes scenes the
 * press alone chooses it, and with Shift held it turns. */
export function connectDrag(page: Page) {
  if (connected.has(page)) return
  connected.add(page)
  const scene = sceneOf(page)
  function begin(event: PointerEvent) {
    const editing = page.store.get().view === 'scene',
      { shiftKey: turning } = event
    if (event.button !== 0 || !page.picture?.drawing || !page.engine.result) return
    if (page.paint || (turning && !editing)) return
    const from = placeOf(page, event),
      under = objectAt(scene, from)
    if (under < 0) return
    const drag = (carrying: boolean) => {
      scene.chosen = under
      scene.begin()
      followPointer(page, event.pointerId, dragOf(scene, from, { turning, carrying }), () =>
        scene.settle()
      )
      scene.onChoose()
    }
    if (!editing) return awaitDrag(event, () => drag(true))
    event.stopImmediatePropagation()
    event.preventDefault()
    scene.chosen = under
    drag(carries(scene))
  }
  element('patches').addEventListener('pointerdown', begin, { capture: true })
}
