/* The drawn scene in objects: dragged on the stage (shape_drag.js), or changed here by keyboard;
 * renderer and model follow at once. */
import { html, render } from 'lit-html'
import { live } from 'lit-html/directives/live.js'
import { sceneColours, sceneShapes } from '../../../heed/index.js'
import { connectDrag, sceneOf } from '../stage/shape_drag.js'
import { className } from '../../../shared/names.js'
import { say } from '../../../languages/say.js'
import type { Scene, SceneObject } from 'heed'
import type { MakeView } from '../../types.js'
import type { Of } from '../../../shared/types.js'

const ranges: Record<string, [text: string, min: number, max: number]> = {
  x: [say('dots.across'), 8, 216],
  y: [say('scene.down'), 8, 216],
  radius: [say('scene.size'), 8, 48],
  angle: [say('scene.turn'), 0, 359]
}
const mostObjects = 16

const colourName = (name: string) => say('names.colours').split(' ')[sceneColours.indexOf(name)]

export const view: MakeView = (page, panel, { left }) => {
  const edited = sceneOf(page)
  connectDrag(page)
  edited.onChoose = draw
  left.addEventListener('abort', () => (edited.onChoose = () => {}))
  const patch =
    (name: string) =>
    ({ target }: Of<HTMLSelectElement>) =>
      edited.patch({ [name]: target.value })

  /* A disabled button would lose the focus. */
  const history = (name: 'undo' | 'redo', other: 'undo' | 'redo', can: boolean) =>
    html`<button type="button" name=${name} ?disabled=${!can} @click=${async ({
      target
    }: Of<HTMLButtonElement>) => {
      await edited.edits[name]().catch(page.showError)
      if (target.disabled) panel.querySelector(`[name=${other}]`).focus()
    }}>${say(`scene.${name}`)}</button>`

  function range(name: 'x' | 'y' | 'radius' | 'angle', object: Partial<SceneObject>) {
    const [text, min, max] = ranges[name],
      value = object[name] ?? 0
    return html`<p><label class="range">${text} <input type="range" name=${name} min=${min} max=${max} step="1" .value=${live(String(value))} ?disabled=${!page.picture.drawing} @input=${({ target }: Of<HTMLInputElement>) => edited.patch({ [name]: Number(target.value) }, true)} @change=${() => edited.settle()}> <output>${Math.round(value)}${name === 'angle' ? '°' : ''}</output></label></p>`
  }

  function draw() {
    const { drawing, twins } = page.picture,
      scene = drawing as Scene | undefined,
      objects = scene?.objects ?? [],
      none = !scene
    edited.chosen = Math.min(edited.chosen, objects.length - 1)
    const object: Partial<SceneObject> = objects[edited.chosen] ?? {}
    const option = (value: string | number, chosen: boolean, text: string) =>
      html`<option value=${value} .selected=${live(chosen)}>${text}</option>`
    const said = none
      ? say('scene.imageNotGeneratedScene')
      : twins
        ? say('scene.shapeOccursTwice', { shape: className(objects[twins[0]].shape) })
        : say('scene.noSingleShapeOccurs')
    render(
      html`<p class="hint">${say('scene.dragShapeImageShift')}</p>
      <div class="fields three"><label>${say('scene.object')} <select name="object" ?disabled=${none} @change=${({
        target
      }: Of<HTMLSelectElement>) => {
        edited.chosen = Number(target.value)
        draw()
      }}>${objects.map(({ shape, colour }, i) => option(i, i === edited.chosen, say('scene.colourShape', { colour: colourName(colour), shape: className(shape) })))}</select></label><label>${say('scene.shape')} <select name="shape" ?disabled=${none} @change=${patch('shape')}>${sceneShapes.map((name) => option(name, name === object.shape, className(name)))}</select></label><label>${say('scene.colour')} <select name="colour" ?disabled=${none} @change=${patch('colour')}>${sceneColours.map((name) => option(name, name === object.colour, colourName(name)))}</select></label></div>
      ${(['x', 'y', 'radius', 'angle'] as const).map((name) => range(name, object))}
      <p class="row after"><button type="button" name="add" ?disabled=${none || objects.length >= mostObjects} @click=${() => edited.add()}>${say('scene.addShape')}</button><button type="button" name="remove" ?disabled=${objects.length <= 1} @click=${() => edited.remove()}>${say('scene.remove')}</button></p><p class="row after">${history('undo', 'redo', !none && edited.edits.canUndo)}${history('redo', 'undo', !none && edited.edits.canRedo)}</p><p class="hint">${said}</p>`,
      panel
    )
  }
  return { keys: ['ran', 'measured'], draw }
}
