/* Models of one's own: buttons that open files, a folder, an address, and the demo model again. */
import { demoModel } from '../../heed/demo.js'
import { say } from '../../languages/say.js'
/** @import {Page, Runner} from '../../../types/pages.js' */

/** @type {<Id extends string>(id: Id) => ElementOf<Id>} */
const element = (id) => document.getElementById(id)

/**
 * Whatever it is that was opened.
 * @param {Page} page
 * @param {File[]} files
 */
export const openFiles = (page, files) =>
  import('./open_files.js').then((opened) => opened.openFiles(page, files)).catch(page.showError)

/** @param {Runner} engine */
export const showFacts = ({ model, shape, size }) =>
  (element('model-facts').textContent = say('modelButtons.layersHeadsTokensMb', {
    layers: shape.layers,
    heads: shape.heads,
    tokens: shape.tokens,
    megabytes: (model.weightBytes / 1e6).toFixed(1),
    size: size ? say('modelButtons.pixels', { size: size.join(' × ') }) : '',
    note: model.note ? say('modelButtons.fromOnnx') : ''
  }))

/** @param {Page} page */
const openLibrary = (page) => import('./library.js').then((library) => library.openLibrary(page))

/** @param {Page} page */
export function connectModels(page) {
  /**
   * @param {string} id
   * @param {() => unknown} act
   */
  const on = (id, act) =>
    element(id).addEventListener('click', () => Promise.resolve(act()).catch(page.showError))
  on('open-folder', () => import('./open_files.js').then(({ pickFolder }) => pickFolder(page)))
  on('open', () => openLibrary(page))
  on('open-address', async () => (await openLibrary(page)).focus())
  on('tensors', () => import('./tensor_report.js').then(({ showTensors }) => showTensors(page)))
  on('size', () => import('./picture_size.js').then(({ showSizes }) => showSizes(page)))
  const showKept = async () => (await caches.has('heed-models')) && openLibrary(page)
  showKept().catch(() => {}) // a browser that keeps nothing, or not for this page, as in a sandboxed frame
  on('open-model', () => element('model-files').click())
  element('model-files').addEventListener('change', ({ target }) => {
    if (/** @type {FileList} */ (target.files).length)
      openFiles(page, [.../** @type {FileList} */ (target.files)])
    target.value = ''
  })
  on('demo-model', async () => {
    if (await page.openModel(demoModel, say('modelButtons.demoModelWhichShape')))
      element('demo-model').hidden = true
  })
}
