/* Where pictures come from: drawn scenes, files that were chosen, drop, paste. The menu Open has the buttons
 * (menus.js). */
import { openFiles } from './model_buttons.js'
import { scenePictures, twinPatch } from './scene_pictures.js'
import { className } from '../../shared/names.js'
import { say } from '../../languages/say.js'
/** @import {Page, PagePicture} from '../../../types/pages.js' */

/** @type {<Id extends string>(id: Id) => ElementOf<Id>} */
const element = (id) => document.getElementById(id)
const samples = [159, 7, 42, 1009]

/**
 * @param {Page} page
 * @param {PagePicture} picture
 */
async function openScene(page, picture) {
  const patch = twinPatch(/** @type {object} */ (picture))
  await page.run(picture)
  if (patch && page.engine.shape.rows === 14) page.store.set({ query: patch })
}

/** @param {Page} page */
async function connectSamples(page) {
  const pictures = await scenePictures(page, samples)
  element('samples').replaceChildren(
    ...pictures.map((picture) => {
      const { name, drawing, twins } = /** @type {Required<PagePicture>} */ (picture),
        title = say('pictureSources.twice', {
          name,
          shape: className(drawing.objects[twins[0]].shape)
        }),
        button = Object.assign(document.createElement('button'), {
          type: 'button',
          ariaLabel: title,
          title
        })
      const canvas = button.appendChild(
        Object.assign(document.createElement('canvas'), {
          width: picture.width,
          height: picture.height
        })
      )
      canvas.getContext('2d')?.putImageData(/** @type {ImageData} */ (picture.source), 0, 0)
      button.addEventListener('click', () => openScene(page, picture))
      return button
    })
  )
  const mark = () =>
    pictures.forEach(({ scene }, i) =>
      element('samples').children[i].setAttribute('aria-pressed', scene === page.store.get().scene)
    )
  page.store.on(['scene', 'ran'], mark)
  mark()
  element('another').addEventListener('click', async () => {
    const [picture] = await scenePictures(page, [1 + Math.floor(Math.random() * 1e6)])
    await openScene(page, picture)
  })
}

/**
 * @param {Page} page
 * @param {File[]} files
 */
const openPictures = (page, files) =>
  import('./many_pictures.js')
    .then((opened) => opened.openPictures(page, files))
    .catch(page.showError)

/**
 * @param {Page} page
 * @param {File[]} files
 */
function take(page, files) {
  return files.every(({ type }) => type.startsWith('image/'))
    ? openPictures(page, files)
    : openFiles(page, files)
}

/** @param {Page} page */
function connectDropAndPaste(page) {
  /** @param {boolean} on */
  const mark = (on) => document.body.classList.toggle('dropping', on)
  addEventListener('dragover', (event) => {
    event.preventDefault()
    mark(true)
  })
  addEventListener('dragleave', () => mark(false))
  addEventListener('drop', (event) => {
    event.preventDefault()
    mark(false)
    if (/** @type {DataTransfer} */ (event.dataTransfer).files.length)
      take(page, [.../** @type {DataTransfer} */ (event.dataTransfer).files])
  })
  addEventListener('paste', (event) => {
    const files = [...(event.clipboardData?.files ?? [])]
    if (files.length) take(page, files)
  })
}

/** @param {Page} page */
export async function connectPictures(page) {
  element('picture-file').addEventListener('change', ({ target }) => {
    if (/** @type {FileList} */ (target.files).length)
      openPictures(page, [.../** @type {FileList} */ (target.files)])
    target.value = ''
  })
  connectDropAndPaste(page)
  await connectSamples(page)
}
