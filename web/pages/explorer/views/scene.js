/* The drawn scene in objects: dragged on the stage, or changed here by keyboard; renderer and model
 * follow at once. */
import { sceneColours, sceneShapes } from '../../heed/index.js'
import { pictureOf } from '../open/scene_pictures.js'
/** @import {Scene, SceneObject} from '../../../src/index.js' */
/** @import {Field, MakeView, Page} from '../../../types/pages.js' */

/** @type {<Id extends string>(id: Id) => ElementOf<Id>} */
const element = (id) => document.getElementById(id)
/** @type {Record<string, [text: string, min: number, max: number]>} */
const ranges = {
  x: ['Across', 8, 216],
  y: ['Down', 8, 216],
  radius: ['Size', 8, 48],
  angle: ['Turn', 0, 359]
}
const mostObjects = 16
/* Other moves wait for the next frame. */
const moves = 'onpointerrawupdate' in globalThis ? 'pointerrawupdate' : 'pointermove'

/** @type {MakeView} */
export function view(page, panel, { left }) {
  const { store, engine } = page
  panel.innerHTML = `<p class="hint">Drag a shape on the image, with Shift to rotate it, or change it here. The maps update.</p>
    <div class="fields three"><label>Object <select name="object"></select></label><label>Shape <select name="shape"></select></label><label>Colour <select name="colour"></select></label></div>
    ${Object.entries(ranges)
      .map(
        ([name, [text, min, max]]) =>
          `<p><label class="range">${text} <input type="range" name="${name}" min="${min}" max="${max}" step="1"> <output></output></label></p>`
      )
      .join('')}
    <p class="row after"><button type="button" name="add">Add a shape</button><button type="button" name="remove">Remove it</button></p><p class="hint"></p>`
  /** @param {string} name */
  const field = (name) => /** @type {Field} */ (panel.querySelector(`[name=${name}]`))
  let chosen = 0,
    waiting = /** @type {{scene: Scene, live: boolean} | null} */ (null),
    latest = /** @type {Scene | null} */ (null),
    running = false,
    listed = ''

  /* One run at a time; of the changes that came meanwhile only the last is drawn. */
  async function follow() {
    if (running) return
    running = true
    while (waiting) {
      const { scene, live } = waiting
      waiting = null
      try {
        await page.run(pictureOf('Your scene', null, await engine.scene(scene)), { live })
      } catch (error) {
        page.showError(error)
      }
    }
    running = false
    latest = null
  }

  /**
   * @param {SceneObject[]} objects
   * @param {boolean} [live]
   */
  function change(objects, live = false) {
    latest = { ...current(), objects }
    waiting = { scene: /** @type {Scene} */ (latest), live }
    follow()
  }

  /** @returns {Scene} */
  const current = () => latest ?? page.picture.drawing
  /** @param {Partial<SceneObject>} patch */
  const changed = (patch) =>
    current().objects.map((object, i) => (i === chosen ? { ...object, ...patch } : object))

  for (const name of ['shape', 'colour'])
    field(name).addEventListener('change', ({ target }) =>
      change(changed({ [name]: target.value }))
    )
  for (const name of Object.keys(ranges)) {
    field(name).addEventListener('input', ({ target }) =>
      change(changed({ [name]: Number(target.value) }), true)
    )
    field(name).addEventListener('change', () => change(current().objects))
  }
  field('object').addEventListener('change', ({ target }) => {
    chosen = Number(target.value)
    draw()
  })
  field('add').addEventListener('click', () => {
    chosen = current().objects.length
    change([
      ...current().objects,
      { shape: 'disc', colour: 'red', x: 112, y: 112, radius: 24, angle: 0 }
    ])
  })
  field('remove').addEventListener('click', () => {
    const objects = current().objects.filter((_, i) => i !== chosen)
    chosen = Math.max(0, chosen - 1)
    change(objects)
  })
  field('shape').append(...sceneShapes.map((name) => new Option(name)))
  field('colour').append(...sceneColours.map((name) => new Option(name)))

  /* In the picture's pixels. */
  /** @param {PointerEvent} event */
  function placeOf(event) {
    const box = element('patches').getBoundingClientRect()
    return {
      x: ((event.clientX - box.left) / box.width) * 224,
      y: ((event.clientY - box.top) / box.height) * 224
    }
  }

  /** @param {PointerEvent} event */
  function drag(event) {
    if (store.get().view !== 'scene' || !page.picture.drawing || event.button !== 0) return
    const from = placeOf(event),
      { objects } = current()
    const under = objects.findLastIndex(
      ({ x, y, radius }) => Math.hypot(x - from.x, y - from.y) <= radius
    )
    if (under < 0) return
    event.stopImmediatePropagation()
    event.preventDefault()
    chosen = under
    const { x, y, angle = 0 } = objects[under],
      turning = event.shiftKey,
      heading = (/** @type {{x: number, y: number}} */ at) =>
        (Math.atan2(y - at.y, at.x - x) * 180) / Math.PI
    const { query } = store.get(),
      surface = element('patches'),
      stop = new AbortController()
    const carries = query !== 'cls' && page.picture.owner[query[0] * 14 + query[1]] === under // the query goes along with the shape that it is on
    surface.setPointerCapture(event.pointerId)
    const move = (/** @type {PointerEvent} */ at) => {
      const to = placeOf(at),
        place = { x: inside(x + to.x - from.x), y: inside(y + to.y - from.y) }
      if (turning)
        return change(
          changed({ angle: Math.round(angle + heading(to) - heading(from) + 720) % 360 }),
          true
        )
      if (carries)
        store.set({ query: [Math.floor(place.y / 16), Math.floor(place.x / 16)], hover: null })
      change(changed(place), true)
    }
    surface.addEventListener(/** @type {'pointermove'} */ (moves), move, {
      capture: true,
      signal: stop.signal
    })
    surface.addEventListener('pointermove', (at) => at.stopImmediatePropagation(), {
      capture: true,
      signal: stop.signal
    })
    for (const type of ['pointerup', 'pointercancel'])
      surface.addEventListener(
        type,
        () => {
          stop.abort()
          change(current().objects)
        },
        { capture: true, signal: stop.signal }
      )
    draw()
  }
  /** @param {number} value */
  const inside = (value) => Math.round(Math.min(216, Math.max(8, value)) * 16) / 16
  element('patches').addEventListener('pointerdown', drag, { capture: true, signal: left })

  function draw() {
    /** @type {Scene | undefined} */
    const scene = page.picture.drawing
    for (const input of /** @type {NodeListOf<HTMLInputElement>} */ (
      panel.querySelectorAll('select, input, button')
    ))
      input.disabled = !scene
    if (!scene)
      return (panel.lastElementChild.textContent =
        'This image is not a generated scene. Choose one of the samples.')
    chosen = Math.min(chosen, scene.objects.length - 1)
    const names = scene.objects.map(({ shape, colour }) => `${colour} ${shape}`)
    if (String(names) !== listed)
      field('object').replaceChildren(...names.map((name, i) => new Option(name, String(i))))
    listed = String(names)
    field('object').value = String(chosen)
    const object = scene.objects[chosen]
    for (const name of ['shape', 'colour', ...Object.keys(ranges)]) {
      if (document.activeElement !== field(name))
        field(name).value = /** @type {any} */ (object)[name] ?? 0
      if (name in ranges)
        field(name).nextElementSibling.textContent =
          `${Math.round(/** @type {any} */ (object)[name] ?? 0)}${name === 'angle' ? '°' : ''}`
    }
    field('add').disabled = scene.objects.length >= mostObjects
    field('remove').disabled = scene.objects.length <= 1
    const { twins } = page.picture
    panel.lastElementChild.textContent = twins
      ? `The shape that occurs twice: ${scene.objects[twins[0]].shape}.`
      : 'No single shape occurs exactly twice: the demo model was not trained on such scenes.'
  }
  return { keys: ['ran', 'measured'], draw }
}
