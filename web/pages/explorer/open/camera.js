/* A picture from the camera, in a dialog. Loaded when asked for. */

import { laterStyles } from '../later_styles.js'
/** @import {Page} from '../../../types/pages.js' */

/** @type {<Id extends string>(id: Id) => ElementOf<Id>} */
const element = (id) => document.getElementById(id)

const markup = `<dialog id="camera-dialog" aria-labelledby="camera-title">
  <h2 id="camera-title">Camera</h2>
  <video id="video" playsinline muted></video>
  <div class="row"><button type="button" id="shoot">Take picture</button><button type="button" id="camera-close">Close</button></div>
</dialog>`

/** @param {Page} page */
export async function openCamera(page) {
  if (!element('camera-dialog')) document.body.insertAdjacentHTML('beforeend', markup)
  const dialog = element('camera-dialog'),
    video = element('video')
  element('shoot').onclick = async () => {
    const source = await createImageBitmap(video)
    dialog.close()
    await page.run({ source, width: source.width, height: source.height, name: 'Camera' })
  }
  element('camera-close').onclick = () => dialog.close()
  dialog.onclose = () => {
    for (const track of /** @type {MediaStream | null} */ (video.srcObject)?.getTracks() ?? [])
      track.stop()
  }
  await laterStyles()
  try {
    video.srcObject = await navigator.mediaDevices.getUserMedia({
      video: { facingMode: 'environment' }
    })
    dialog.showModal()
    await video.play()
  } catch (error) {
    throw new Error(
      `The camera cannot be used (${/** @type {Error} */ (error).name ?? error}). Allow it for this page, or open a file.`
    )
  }
}
