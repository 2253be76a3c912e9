/* The list of pins below the views: what each row is, a note to write on, and buttons that show it,
 * take it as B or away. Loaded with the first pin. */
import { html, render } from 'lit-html'
import { repeat } from 'lit-html/directives/repeat.js'
import { element } from '../../shared/elements.js'
import { fromHash, longestSettings } from '../state/address.js'
import { keysOfPlace, sourceOf } from '../state/place.js'
import { largestOf } from '../../plot/raster.js'
import { makeScale } from '../../plot/scale.js'
import { laterStyles } from '../later_styles.js'
import { stageWords } from '../../shared/scores.js'
import { drawRow } from '../views/parts/row_picture.js'
import { say } from '../../languages/say.js'
import type { Page, Pin, State } from '../types.js'
import type { Of, PageSource, SavedMaps } from '../../shared/types.js'

/** Picture, model and place of a pin on the stage; the view stays, unless the row is of the
 * rollout. */
export async function showPin(page: Page, { source, model, image, settings }: Pin) {
  const { store } = page,
    state = fromHash(settings, longestSettings),
    view = [state.view, store.get().view].includes('rollout') ? state.view : store.get().view
  if (source !== sourceOf(page)) {
    if (!source || (source as SavedMaps).attention)
      throw new Error(say('pinList.rowBelongsWhichNot', { model: String(model) }))
    await page.openModel(source as PageSource, model as string)
  }
  if (image !== page.picture) await page.run(image)
  page.fit({
    ...Object.fromEntries(keysOfPlace.map((key) => [key, state[key as keyof State]])),
    view
  })
}

/** The map of a pin over its picture, in the colours that the page had when it was pinned. */
function mapOf(page: Page, { title, shape, row, picture }: Pin) {
  const { prefixTokens, rows, columns, tokens } = shape,
    weights = row.subarray(prefixTokens),
    canvas = Object.assign(document.createElement('canvas'), {
      role: 'img',
      ariaLabel: say('pinList.map', { title })
    })
  drawRow(canvas, picture, {
    weights,
    rows,
    columns,
    scale: makeScale('uniform', { tokens, largest: largestOf(weights) }),
    table: page.table,
    strength: 0.8
  })
  return canvas
}

/** Takes a pin away; the focus goes to the line after it, or before it. */
function remove({ store }: Page, pin: Pin, line: HTMLElement) {
  const next = line.nextElementSibling ?? line.previousElementSibling,
    { pins, pinned } = store.get()
  store.set({
    pins: pins.filter((other) => other !== pin),
    pinned: pinned === pin ? null : pinned
  })
  ;(
    next?.querySelector('button:last-child') ?? document.querySelector('[popovertarget=head-menu]')
  ).focus()
}

/** A line of the list; its buttons are told apart by the row's name. */
function lineOf(page: Page, pin: Pin, map: HTMLCanvasElement) {
  const { store } = page,
    { title, name, score, note } = pin,
    stage = score === 'softmax' ? '' : say('pinList.stage', { score: stageWords[score] }),
    show = () => showPin(page, pin).catch(page.showError),
    compare = () => store.set({ pinned: pin, view: 'compare' }),
    write = ({ target }: Of<HTMLInputElement>) => {
      pin.note = target.value
    }
  return html`<li>${map}<div><b>${title}</b><span>${name}${stage}</span><input type="text" maxlength="500" placeholder=${say('pinList.note')} aria-label=${say('pinList.note2', { title })} .value=${note} @input=${write}></div><div><button type="button" aria-label=${`${say('pinList.show')}: ${title}`} @click=${show}>${say('pinList.show')}</button><button type="button" aria-label=${`${say('pinList.compareB')}: ${title}`} aria-pressed=${pin === store.get().pinned} @click=${compare}>${say('pinList.b')}</button><button type="button" aria-label=${`${say('pinList.remove')}: ${title}`} @click=${({ target }: Of<HTMLElement>) => remove(page, pin, target.closest('li') as HTMLElement)}>${say('pinList.remove')}</button></div></li>`
}

/** Lines stay as they are while others come and go, so that the focus does. */
export async function createPinList(page: Page) {
  await laterStyles()
  const { store } = page,
    host = element('pins'),
    maps: WeakMap<Pin, HTMLCanvasElement> = new WeakMap()
  function line(pin: Pin) {
    const map = maps.get(pin) ?? mapOf(page, pin)
    maps.set(pin, map)
    return lineOf(page, pin, map)
  }
  function draw() {
    const { pins } = store.get()
    render(
      html`<h2>${say('pinList.pins')}</h2><ul>${repeat(pins, (pin) => pin, line)}</ul><p class="hint">${say('pinList.pinsNotesStoredOnly')}</p>`,
      host
    )
    host.hidden = !pins.length
  }
  store.on(['pins', 'pinned'], draw)
  draw()
}
