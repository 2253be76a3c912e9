/* The drawn scene in objects: dragged on the stage (shape_drag.js), or changed here by keyboard;
 * renderer and model follow at once. */
import { sceneColours, sceneShapes } from '../../heed/index.js'
import { connectDrag, sceneOf } from './shape_drag.js'
import { className } from '../../shared/names.js'
import { say } from '../../languages/say.js'
import type { Scene, SceneObject } from 'heed'
import type { EditedScene } from './shape_drag.js'
import type { Field, MakeView } from '../../../types/pages.js'

const ranges: Record<string, [text: string, min: number, max: number]> = {
  x: [say('dots.across'), 8, 216],
  y: [say('scene.down'), 8, 216],
  radius: [say('scene.size'), 8, 48],
  angle: [say('scene.turn'), 0, 359]
}
const mostObjects = 16

const markup = `<p class="hint">${say('scene.dragShapeImageShift')}</p>
    <div class="fields three"><label>${say('scene.object')} <select name="object"></select></label><label>${say('scene.shape')} <select name="shape"></select></label><label>${say('scene.colour')} <select name="colour"></select></label></div>
    ${Object.entries(ranges)
      .map(
        ([name, [text, min, max]]) =>
          `<p><label class="range">${text} <input type="range" name="${name}" min="${min}" max="${max}" step="1"> <output></output></label></p>`
      )
      .join('')}
    <p class="row after"><button type="button" name="add">${say('scene.addShape')}</button><button type="button" name="remove">${say('scene.remove')}</button></p><p class="row after"><button type="button" name="undo">${say('scene.undo')}</button><button type="button" name="redo">${say('scene.redo')}</button></p><p class="hint"></p>`

function connectFields(scene: EditedScene, field: (name: string) => Field, draw: () => void) {
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

/** The numbers of an object in its fields, but for the one that is being edited. */
function showObject(field: (name: string) => Field, object: any) {
  for (const name of ['shape', 'colour', ...Object.keys(ranges)]) {
    if (document.activeElement !== field(name)) field(name).value = object[name] ?? 0
    if (name in ranges)
      field(name).nextElementSibling.textContent =
        `${Math.round(object[name] ?? 0)}${name === 'angle' ? '°' : ''}`
  }
}

const colourName = (name: string) => say('names.colours').split(' ')[sceneColours.indexOf(name)]

export const view: MakeView = (page, panel, { left }) => {
  panel.innerHTML = markup
  const field = (name: string) => panel.querySelector(`[name=${name}]`) as Field
  const edited = sceneOf(page)
  let listed = '' // which objects are
  connectFields(edited, field, draw)
  connectDrag(page)
  edited.onChoose = draw
  left.addEventListener('abort', () => (edited.onChoose = () => {}))

  function listObjects(objects: SceneObject[]) {
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
      scene = drawing as Scene | undefined
    for (const input of panel.querySelectorAll(
      'select, input, button'
    ) as NodeListOf<HTMLInputElement>)
      input.disabled = !scene
    if (!scene) return (panel.lastElementChild.textContent = say('scene.imageNotGeneratedScene'))
    const { objects } = scene
    edited.chosen = Math.min(edited.chosen, objects.length - 1)
    listObjects(objects)
    showObject(field, objects[edited.chosen])
    field('add').disabled = objects.length >= mostObjects
    field('remove').disabled = objects.length <= 1
    for (const [name, other, can] of [
      ['undo', 'redo', edited.edits.canUndo],
      ['redo', 'undo', edited.edits.canRedo]
    ] as const) {
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
