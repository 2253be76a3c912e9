/* Pictures from the camera: one from a dialog, or a stream for who runs the model on its frames.
 * Loaded when asked for. */

import { laterStyles } from '../later_styles.js'
import { say } from '../../languages/say.js'
/** @import {Page} from '../../../types/pages.js' */

/** @type {<Id extends string>(id: Id) => ElementOf<Id>} */
const element = (id) => document.getElementById(id)

const markup = `<dialog id="camera-dialog" aria-labelledby="camera-title">
  <h2 id="camera-title">${say('camera.camera')}</h2>
  <video id="video" playsinline muted></video>
  <div class="row after"><button type="button" id="shoot">${say('camera.takePicture')}</button><button type="button" id="camera-live">${say('camera.live')}</button><button type="button" id="camera-close">${say('dialog.close')}</button></div>
</dialog>`

/* By the name of the browser's error. */
const whys = /** @type {Record<string, string>} */ ({
  NotAllowedError:
    'The camera is not allowed for this page. Allow it in the browser’s settings for this site, or open a file.',
  NotFoundError: 'No camera was found. Connect one, or open a file.',
  NotReadableError: 'The camera is in use elsewhere. Close what uses it, or open a file.'
})

/** The camera's stream; one sentence where there is none. */
export async function cameraStream() {
  if (!navigator.mediaDevices)
    throw new Error('The camera needs a page over https, or on this machine. Open a file instead.')
  try {
    return await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } })
  } catch (error) {
    const { name } = /** @type {Error} */ (error)
    throw new Error(whys[name] ?? `The camera cannot be used (found ${name}). Open a file instead.`)
  }
}

/** @param {MediaStream | null} stream */
export function stopStream(stream) {
  for (const track of stream?.getTracks() ?? []) track.stop()
}

/** @param {Page} page */
export async function openCamera(page) {
  if (!element('camera-dialog')) document.body.insertAdjacentHTML('beforeend', markup)
  const dialog = element('camera-dialog'),
    video = element('video')
  element('shoot').onclick = async () => {
    const source = await createImageBitmap(video)
    dialog.close()
    await page.run({
      source,
      width: source.width,
      height: source.height,
      name: say('camera.camera')
    })
  }
  element('camera-live').onclick = async () => {
    const { startCamera } = await import('../views/frames.js')
    dialog.close()
    startCamera(page)
  }
  element('camera-close').onclick = () => dialog.close()
  dialog.onclose = () => stopStream(/** @type {MediaStream | null} */ (video.srcObject))
  await laterStyles()
  video.srcObject = await cameraStream()
  dialog.showModal()
  await video.play()
}
