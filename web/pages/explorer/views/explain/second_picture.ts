/* The second picture of a view: a drawn scene by its number (the state's `other`), a file, or the one
 * that was on the stage. It is kept while other views are shown. */
import { html, type TemplateResult } from 'lit-html'
import { live } from 'lit-html/directives/live.js'
import { cutOut } from '../../model/seen_region.js'
import { canvasOf } from '../../state/place.js'
import { decode } from '../../open/decode_picture.js'
import { scenePictures } from '../../../shared/scene_pictures.js'
import { say } from '../../../languages/say.js'
import type { Page } from '../../types.js'
import type { Of, PagePicture } from '../../../shared/types.js'
import type { Seen } from '../../model/explainer.js'

const usual = 7, // the scene where nothing is chosen
  latest = 999999999

/* Not a scene: it is in no address. */
let chosen: PagePicture | null = null
let scene: PagePicture | null = null

/** The second picture of the page. */
export async function secondPicture(page: Page): Promise<PagePicture> {
  if (chosen) return chosen
  const seed = page.store.get().other ?? usual
  if (scene?.scene !== seed) [scene] = await scenePictures(page, [seed])
  return scene as PagePicture
}

const whole = ({ width, height }: PagePicture) => ({ x: 0, y: 0, width, height })

/** What the model saw of a picture that was run. */
export const canvasOfSeen = ({ engine }: Page, { picture, result }: Seen) =>
  cutOut(picture, result.region ?? whole(picture), canvasOf(engine.shape))

/** The controls that choose it. */
export function secondControls(page: Page, redraw: () => void): TemplateResult {
  const { store } = page,
    { other } = store.get()
  function take(picture: PagePicture | null) {
    chosen = picture
    redraw()
  }
  async function open({ target }: Of<HTMLInputElement>) {
    const [file] = target.files ?? []
    target.value = ''
    if (file) take(await decode(file, file.name))
  }
  return html`<div class="row second"><span>${say('second.other', { name: chosen?.name ?? say('scenePictures.scene', { seed: other ?? usual }) })}</span>
    <label>${say('second.scene')} <input name="other" type="number" min="0" max=${latest} .value=${live(chosen ? '' : String(other ?? usual))} @change=${({
      target
    }: Of<HTMLInputElement>) => {
      if (!target.value || !target.checkValidity()) return
      chosen = null
      const seed = Number(target.value)
      store.set({ other: seed === usual ? null : seed })
      redraw()
    }}></label><button type="button" name="other-open" @click=${({ target }: Of<HTMLButtonElement>) => (target.nextElementSibling as HTMLElement).click()}>${say('second.open')}</button><input type="file" name="other-file" accept="image/*" hidden @change=${(event: Of<HTMLInputElement>) => open(event).catch(page.showError)}><button type="button" name="take" @click=${() => take(page.picture)}>${say('second.take')}</button></div>`
}
