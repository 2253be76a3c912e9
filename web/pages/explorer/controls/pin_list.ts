/* The list of pins below the views: what each row is, a note to write on, and buttons that show it,
 * take it as B or away. Loaded with the first pin. */
import { element, made } from '../../shared/elements.js'
import { fromHash, longestSettings } from '../state/address.js'
import { keysOfPlace, sourceOf } from '../state/place.js'
import { largestOf } from '../../plot/raster.js'
import { makeScale } from '../../plot/scale.js'
import { laterStyles } from '../later_styles.js'
import { stageWords } from '../../shared/scores.js'
import { drawRow } from '../views/parts/row_picture.js'
import { say } from '../../languages/say.js'
import type { Page, Pin, State } from '../types.js'
import type { PageSource, SavedMaps } from '../../shared/types.js'

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

/** The map of a pin over its picture. */
function mapOf(page: Page, { title, shape, row, picture }: Pin) {
  const { prefixTokens, rows, columns, tokens } = shape,
    weights = row.subarray(prefixTokens),
    canvas = made('canvas', { role: 'img', ariaLabel: say('pinList.map', { title }) })
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

/** The field for a note on a pin. */
function noteOf(pin: Pin) {
  const input = made('input', {
    type: 'text',
    value: pin.note,
    maxLength: 500,
    placeholder: say('pinList.note'),
    ariaLabel: say('pinList.note2', { title: pin.title })
  })
  input.addEventListener('input', () => {
    pin.note = input.value
  })
  return input
}

/** A line of the list; its buttons are told apart by the row's name. */
function lineOf(page: Page, pin: Pin) {
  const { store } = page,
    { title, name, score } = pin
  const button = (text: string, label: string, act: () => unknown) => {
    const element = made('button', {
      type: 'button',
      textContent: text,
      ariaLabel: `${label}: ${title}`
    })
    element.addEventListener('click', () => Promise.resolve(act()).catch(page.showError))
    return element
  }
  const canvas = mapOf(page, pin),
    input = noteOf(pin)
  const line = made(
    'li',
    {},
    canvas,
    made(
      'div',
      {},
      made('b', { textContent: title }),
      made('span', {
        textContent: `${name}${score === 'softmax' ? '' : say('pinList.stage', { score: stageWords[score] })}`
      }),
      input
    ),
    made(
      'div',
      {},
      button(say('pinList.show'), say('pinList.show'), () => showPin(page, pin)),
      button(say('pinList.b'), say('pinList.compareB'), () =>
        store.set({ pinned: pin, view: 'compare' })
      ),
      button(say('pinList.remove'), say('pinList.remove'), () => {
        const next = line.nextElementSibling ?? line.previousElementSibling,
          { pins, pinned } = store.get()
        store.set({
          pins: pins.filter((other) => other !== pin),
          pinned: pinned === pin ? null : pinned
        })
        ;(
          next?.querySelector('button:last-child') ?? document.querySelector('#head-menu summary')
        ).focus()
      })
    )
  )
  return line
}

/** Lines stay as they are while others come and go, so that the focus does. */
export async function createPinList(page: Page) {
  await laterStyles()
  const { store } = page,
    host = element('pins'),
    list = made('ul'),
    lines = new Map()
  host.replaceChildren(
    made('h2', { textContent: say('pinList.pins') }),
    list,
    made('p', {
      className: 'hint',
      textContent: say('pinList.pinsNotesStoredOnly')
    })
  )
  const draw = ({ pins, pinned }: Pick<State, 'pins' | 'pinned'>) => {
    for (const [pin, line] of lines)
      if (!pins.includes(pin)) {
        line.remove()
        lines.delete(pin)
      }
    for (const pin of pins) if (!lines.has(pin)) lines.set(pin, list.appendChild(lineOf(page, pin)))
    for (const [pin, line] of lines)
      line.querySelectorAll('button')[1].setAttribute('aria-pressed', pin === pinned)
    host.hidden = !pins.length
  }
  store.on(['pins', 'pinned'], draw)
  draw(store.get())
}
