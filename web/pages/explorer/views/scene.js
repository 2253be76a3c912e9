/* The drawn scene in objects: dragged on the stage, or changed here by keyboard; renderer and model
 * follow at once. */
import { sceneColours, sceneShapes } from '../../heed/index.js'
import { editedPicture } from '../open/edited_scene.js'
import { editsOf } from '../state/scene_edits.js'
import { className } from '../../shared/names.js'
import { say } from '../../languages/say.js'
/** @import {Scene, SceneObject} from '../../../src/index.js' */
/** @import {Field, MakeView, Page} from '../../../types/pages.js' */

/** @type {<Id extends string>(id: Id) => ElementOf<Id>} */
const element = (id) => document.getElementById(id)
/** @type {Record<string, [text: string, min: number, max: number]>} */
const ranges = {
  x: [say('dots.across'), 8, 216],
  y: [say('scene.down'), 8, 216],
  radius: [say('scene.size'), 8, 48],
  angle: [say('scene.turn'), 0, 359]
}
const mostObjects = 16
/* Other moves wait for the next frame. */
const moves = 'onpointerrawupdate' in globalThis ? 'pointerrawupdate' : 'pointermove'

const markup = `<p class="hint">${say('scene.dragShapeImageShift')}</p>
    <div class="fields three"><label>${say('scene.object')} <select name="object"></select></label><label>${say('scene.shape')} <select name="shape"></select></label><label>${say('scene.colour')} <select name="colour"></select></label></div>
    ${Object.entries(ranges)
      .map(
        ([name, [text, min, max]]) =>
          `<p><label class="range">${text} <input type="range" name="${name}" min="${min}" max="${max}" step="1"> <output></output></label></p>`
      )
      .join('')}
    <p class="row after"><button type="button" name="add">${say('scene.addShape')}</button><button type="button" name="remove">${say('scene.remove')}</button></p><p class="row after"><button type="button" name="undo">${say('scene.undo')}</button><button type="button" name="redo">${say('scene.redo')}</button></p><p class="hint"></p>`

/**
 * The scene in objects as it is being changed: each change is drawn and run.
 */
class EditedScene {
  moved = false // since the last change that was settled
  /** The chosen object. */
  chosen = 0
  /** @type {Scene | null} changed, and not run yet */
  latest = null
  /** @type {{scene: Scene, live: boolean} | null} */
  waiting = null
  running = false
  /** @type {ReturnType<typeof this.edits.begin> | null} what was shown before the change that is being made */
  before = null

  /** @param {Page} page */
  constructor(page) {
    this.page = page
    this.edits = editsOf(page)
  }

  /** @returns {Scene} */
  get current() {
    return this.latest ?? this.page.picture.drawing
  }

  /**
   * @param {SceneObject[]} objects
   * @param {boolean} [live]
   */
  change(objects, live = false) {
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

  /**
   * Changes the chosen object.
   * @param {Partial<SceneObject>} patch
   * @param {boolean} [live]
   */
  patch(patch, live) {
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
        before = /** @type {ReturnType<typeof this.edits.begin>} */ (this.before)
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

/** @typedef {{x: number, y: number}} Place in the picture's pixels */

/** @param {number} value */
const inside = (value) => Math.round(Math.min(216, Math.max(8, value)) * 16) / 16

/**
 * @param {PointerEvent} event
 * @returns {Place}
 */
function placeOf(event) {
  const box = element('patches').getBoundingClientRect()
  return {
    x: ((event.clientX - box.left) / box.width) * 224,
    y: ((event.clientY - box.top) / box.height) * 224
  }
}

/**
 * A drag of the chosen object that began at a place: to each further place the object goes, or
 * turns. The query goes along with the shape that it is on.
 * @param {EditedScene} scene
 * @param {Place} from
 * @param {boolean} turning
 * @returns {(to: Place) => void}
 */
function dragOf(scene, from, turning) {
  const { page, chosen } = scene,
    { x, y, angle = 0 } = scene.current.objects[chosen],
    heading = (/** @type {Place} */ at) => (Math.atan2(y - at.y, at.x - x) * 180) / Math.PI
  const { query } = page.store.get(),
    { rows, columns } = page.engine.shape,
    carries =
      Array.isArray(query) &&
      rows === 14 &&
      columns === 14 &&
      page.picture.owner[query[0] * 14 + query[1]] === chosen
  if (turning)
    return (to) =>
      scene.patch({ angle: Math.round(angle + heading(to) - heading(from) + 720) % 360 }, true)
  return (to) => {
    const place = { x: inside(x + to.x - from.x), y: inside(y + to.y - from.y) }
    if (carries)
      page.store.set({ query: [Math.floor(place.y / 16), Math.floor(place.x / 16)], hover: null })
    scene.patch(place, true)
  }
}

/**
 * The patches take a pointer's moves until it is lifted; nobody else hears of them.
 * @param {number} pointer
 * @param {(to: Place) => void} onMove
 * @param {() => void} onEnd
 */
function followPointer(pointer, onMove, onEnd) {
  const surface = element('patches'),
    stop = new AbortController(),
    options = { capture: true, signal: stop.signal }
  surface.setPointerCapture(pointer)
  surface.addEventListener(
    /** @type {'pointermove'} */ (moves),
    (event) => onMove(placeOf(event)),
    options
  )
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

/**
 * A press on an object of the picture chooses and drags it, with Shift held turns it.
 * @param {EditedScene} scene
 * @param {() => void} draw
 * @param {AbortSignal} left
 */
function connectDrag(scene, draw, left) {
  const { page } = scene
  /** @param {PointerEvent} event */
  function begin(event) {
    if (page.store.get().view !== 'scene' || !page.picture.drawing || event.button !== 0) return
    const from = placeOf(event),
      under = scene.current.objects.findLastIndex(
        ({ x, y, radius }) => Math.hypot(x - from.x, y - from.y) <= radius
      )
    if (under < 0) return
    event.stopImmediatePropagation()
    event.preventDefault()
    scene.chosen = under
    scene.begin()
    followPointer(event.pointerId, dragOf(scene, from, event.shiftKey), () => scene.settle())
    draw()
  }
  element('patches').addEventListener('pointerdown', begin, { capture: true, signal: left })
}

/**
 * @param {EditedScene} scene
 * @param {(name: string) => Field} field
 * @param {() => void} draw
 */
function connectFields(scene, field, draw) {
  for (const name of ['shape', 'colour'])
    field(name).addEventListener('change', ({ target }) => scene.patch({ [name]: target.value }))
  for (const name of Object.keys(ranges)) {
    field(name).addEventListener('input', ({ target }) =>
      scene.patch({ [name]: Number(target.value) }, true)
    )
    field(name).addEventListener('change', () => scene.settle())
  }
  field('object').addEventListener('change', ({ target }) => {
    scene.chosen = Number(target.value)
    draw()
  })
  field('add').addEventListener('click', () => scene.add())
  field('remove').addEventListener('click', () => scene.remove())
  field('undo').addEventListener('click', () => scene.edits.undo().catch(scene.page.showError))
  field('redo').addEventListener('click', () => scene.edits.redo().catch(scene.page.showError))
  field('shape').append(...sceneShapes.map((name) => new Option(className(name), name)))
  field('colour').append(...sceneColours.map((name) => new Option(colourName(name), name)))
}

/**
 * The numbers of an object in its fields, but for the one that is being edited.
 * @param {(name: string) => Field} field
 * @param {any} object
 */
function showObject(field, object) {
  for (const name of ['shape', 'colour', ...Object.keys(ranges)]) {
    if (document.activeElement !== field(name)) field(name).value = object[name] ?? 0
    if (name in ranges)
      field(name).nextElementSibling.textContent =
        `${Math.round(object[name] ?? 0)}${name === 'angle' ? '°' : ''}`
  }
}

/** @param {string} name */
const colourName = (name) => say('names.colours').split(' ')[sceneColours.indexOf(name)]

/** @type {MakeView} */
export function view(page, panel, { left }) {
  panel.innerHTML = markup
  /** @param {string} name */
  const field = (name) => /** @type {Field} */ (panel.querySelector(`[name=${name}]`))
  const edited = new EditedScene(page)
  let listed = '' // which objects are
  connectFields(edited, field, draw)
  connectDrag(edited, draw, left)

  /** @param {SceneObject[]} objects */
  function listObjects(objects) {
    const names = objects.map(({ shape, colour }) =>
      say('scene.colourShape', { colour: colourName(colour), shape: className(shape) })
    )
    if (String(names) !== listed)
      field('object').replaceChildren(...names.map((name, i) => new Option(name, String(i))))
    listed = String(names)
    field('object').value = String(edited.chosen)
  }

  function draw() {
    const { drawing, twins } = page.picture,
      scene = /** @type {Scene | undefined} */ (drawing)
    for (const input of /** @type {NodeListOf<HTMLInputElement>} */ (
      panel.querySelectorAll('select, input, button')
    ))
      input.disabled = !scene
    if (!scene) return (panel.lastElementChild.textContent = say('scene.imageNotGeneratedScene'))
    const { objects } = scene
    edited.chosen = Math.min(edited.chosen, objects.length - 1)
    listObjects(objects)
    showObject(field, objects[edited.chosen])
    field('add').disabled = objects.length >= mostObjects
    field('remove').disabled = objects.length <= 1
    for (const [name, other, can] of /** @type {const} */ ([
      ['undo', 'redo', edited.edits.canUndo],
      ['redo', 'undo', edited.edits.canRedo]
    ])) {
      const had = document.activeElement === field(name)
      field(name).disabled = !can
      if (had && !can) field(other).focus() // a disabled button would lose the focus
    }
    panel.lastElementChild.textContent = twins
      ? say('scene.shapeOccursTwice', { shape: className(objects[twins[0]].shape) })
      : say('scene.noSingleShapeOccurs')
  }
  return { keys: ['ran', 'measured'], draw }
}
