/* Pictures from the camera: one from a dialog, or a stream for who runs the model on its frames.
 * Loaded when asked for. */

import { element } from '../../shared/elements.js'
import { laterStyles } from '../later_styles.js'
import { say } from '../../languages/say.js'
import type { Page } from '../types.js'

const markup = `<dialog id="camera-dialog" aria-labelledby="camera-title">
  <h2 id="camera-title">${say('camera.camera')}</h2>
  <video id="video" playsinline muted></video>
  <div class="row after"><button type="button" id="shoot">${say('camera.takePicture')}</button><button type="button" id="camera-live">${say('camera.live')}</button><button type="button" id="camera-close">${say('dialog.close')}</button></div>
</dialog>`

/* By the name of the browser's error. */
const whys = {
  NotAllowedError: say('errors.cameraDenied'),
  NotFoundError: say('errors.noCamera'),
  NotReadableError: say('errors.cameraBusy')
} as Record<string, string>

/** The camera's stream; one sentence where there is none. */
export async function cameraStream() {
  if (!navigator.mediaDevices) throw new Error(say('errors.cameraHttps'))
  try {
    return await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } })
  } catch (error) {
    const { name } = error as Error
    throw new Error(whys[name] ?? say('errors.camera', { name }))
  }
}

export function stopStream(stream: MediaStream | null) {
  for (const track of stream?.getTracks() ?? []) track.stop()
}

export async function openCamera(page: Page) {
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
    const { startCamera } = await import('../views/pictures/frames.js')
    dialog.close()
    startCamera(page)
  }
  element('camera-close').onclick = () => dialog.close()
  dialog.onclose = () => stopStream(video.srcObject as MediaStream | null)
  await laterStyles()
  video.srcObject = await cameraStream()
  dialog.showModal()
  await video.play()
}
