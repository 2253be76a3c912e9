/* Models of one's own: files that were chosen, what is kept, and the demo model again. The menus Open and Model
 * have the buttons (menus.js). */
import { element } from '../../shared/elements.js'
import { fixed } from '../../plot/parts/numbers.js'
import { demoModel } from '../../heed/demo.js'
import { say } from '../../languages/say.js'
import type { Page } from '../types.js'
import type { Runner } from '../../shared/model_runner.js'

/** Whatever it is that was opened. */
export const openFiles = (page: Page, files: File[]) =>
  import('./open_files.js').then((opened) => opened.openFiles(page, files)).catch(page.showError)

export const showFacts = ({ model, shape, size }: Runner) =>
  (element('model-facts').textContent = say('modelButtons.layersHeadsTokensMb', {
    layers: shape.layers,
    heads: shape.heads,
    tokens: shape.tokens,
    megabytes: fixed(model.weightBytes / 1e6, model.weightBytes < 1e5 ? 3 : 1),
    size: size ? say('modelButtons.pixels', { size: size.join(' × ') }) : '',
    note: model.note ? say('modelButtons.fromOnnx') : ''
  }))

export function connectModels(page: Page) {
  const showKept = async () =>
    (await caches.has('heed-models')) && (await import('./library.js')).openLibrary(page)
  showKept().catch(() => {}) // a browser that keeps nothing, or not for this page, as in a sandboxed frame
  element('model-files').addEventListener('change', ({ target }) => {
    if ((target.files as FileList).length) openFiles(page, [...(target.files as FileList)])
    target.value = ''
  })
  element('demo-model').addEventListener('click', () =>
    page.openModel(demoModel, say('modelButtons.demoModelWhichShape'), { anew: true })
  )
}
