/* Where pictures come from: drawn scenes, files that were chosen, drop, paste. The menu Open has the buttons
 * (menus.js). */
import { element } from '../../shared/elements.js'
import { openFiles } from './model_buttons.js'
import { scenePictures, twinPatch } from '../../shared/scene_pictures.js'
import { className } from '../../shared/names.js'
import { say } from '../../languages/say.js'
import type { Page } from '../types.js'
import type { PagePicture } from '../../shared/types.js'

const samples = [159, 7, 42, 1009]

async function openScene(page: Page, picture: PagePicture) {
  const patch = twinPatch(picture as object)
  await page.run(picture)
  if (patch && page.engine.shape.rows === 14) page.store.set({ query: patch })
}

async function connectSamples(page: Page) {
  const pictures = await scenePictures(page, samples)
  element('samples').replaceChildren(
    ...pictures.map((picture) => {
      const { name, drawing, twins } = picture as Required<PagePicture>,
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
      canvas.getContext('2d')?.putImageData(picture.source as ImageData, 0, 0)
      button.addEventListener('click', () => openScene(page, picture))
      return button
    })
  )
  /* A frame of the camera leaves the state's scene, and is none. */
  const mark = () => {
    const shown = page.picture && !page.picture.drawing ? null : page.store.get().scene
    pictures.forEach(({ scene }, i) =>
      element('samples').children[i].setAttribute('aria-pressed', scene === shown)
    )
  }
  page.store.on(['scene', 'ran'], mark)
  mark()
  element('another').addEventListener('click', async () => {
    const [picture] = await scenePictures(page, [1 + Math.floor(Math.random() * 1e6)])
    await openScene(page, picture)
  })
}

const openPictures = (page: Page, files: File[]) =>
  import('./many_pictures.js')
    .then((opened) => opened.openPictures(page, files))
    .catch(page.showError)

function take(page: Page, files: File[]) {
  const isVideo = (page.engine.parts?.frames ?? 0) > 1
  return files.every(
    ({ type }) => type.startsWith('image/') || (isVideo && type.startsWith('video/'))
  )
    ? openPictures(page, files)
    : openFiles(page, files)
}

function connectDropAndPaste(page: Page) {
  const mark = (on: boolean) => document.body.classList.toggle('dropping', on)
  addEventListener('dragover', (event) => {
    event.preventDefault()
    mark(true)
  })
  addEventListener('dragleave', () => mark(false))
  addEventListener('drop', (event) => {
    event.preventDefault()
    mark(false)
    if ((event.dataTransfer as DataTransfer).files.length)
      take(page, [...(event.dataTransfer as DataTransfer).files])
  })
  addEventListener('paste', (event) => {
    const files = [...(event.clipboardData?.files ?? [])]
    if (files.length) take(page, files)
  })
}

export async function connectPictures(page: Page) {
  element('picture-file').addEventListener('change', ({ target }) => {
    if ((target.files as FileList).length) openPictures(page, [...(target.files as FileList)])
    target.value = ''
  })
  connectDropAndPaste(page)
  await connectSamples(page)
}
