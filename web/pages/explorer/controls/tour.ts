/* The tour: four steps on the page itself, in a card beside the picture. Each sets the state that it
 * is about, so that its address shows the step; Escape or Skip ends it, and what it changed of the
 * model is undone. It is of the demo model, which it opens where another is open. What a step says of
 * heads is counted from their maps (tour_facts.js). Loaded when it is asked for. */
import { html, render } from 'lit-html'
import { element } from '../../shared/elements.js'
import { percent, topOf } from '../../plot/caption.js'
import { keep } from '../../shared/page_settings.js'
import { laterStyles } from '../later_styles.js'
import { unchanged } from '../../shared/changes.js'
import { demoModel } from '../../heed/demo.js'
import { className } from '../../shared/names.js'
import { sourceOf } from '../state/place.js'
import { probabilitiesOf } from '../model/probabilities.js'
import { otherHead, sayBroken, sayLayers, sayOther, sayTwins, twinOf } from './tour_facts.js'
import { say } from '../../languages/say.js'
import type { Page, State } from '../types.js'

/* Which head to take out was chosen by the sweep of scene 159: without 2.3 the answer changes from
 * star 100.0 % to cross 79.1 %, without 3.0 to star 99.9 %. */
const start = {
  ...unchanged,
  layer: 3,
  head: 0,
  query: [2, 10],
  reverse: false,
  score: 'softmax'
} as Partial<State>

/** The scene that the tour is of. */
const scene = 159

/** text: of the maps that are there once the state is; nothing until then. */
const steps: {
  state: (page: Page) => Partial<State>
  title: (page: Page) => string
  text: (page: Page) => string | undefined
}[] = [
  {
    state: () => ({ ...start, view: 'heads' }),
    title: (page) => say('tour.drag', { shape: twinOf(page) }),
    text: sayTwins
  },
  {
    state: (page) => ({ ...start, view: 'heads', ...otherHead(page), scale: 'own' }),
    title: () => say('tour.anotherHead'),
    text: sayOther
  },
  {
    state: () => ({ ...start, view: 'heads', layer: 0, head: 0 }),
    title: () => say('tour.anotherLayer'),
    text: sayLayers
  },
  {
    state: () => ({ ...start, view: 'intervene', off: ['2.3'] }),
    title: () => say('tour.takeHeadOut'),
    text: sayBroken
  }
]

/** The model's answer in words. */
function answerOf({ engine }: Page) {
  const { logits } = engine.result
  if (!logits) return say('tour.noAnswer')
  const [{ token, weight }] = topOf(probabilitiesOf(engine, logits), 1)
  return `${className(engine.model.labels[token])} ${percent(weight)}`
}

let go: ((step: number) => Promise<void>) | undefined

/** @param before the answer of the whole model */
function textOf(page: Page, at: number, before: string) {
  const text = steps[at - 1].text(page)
  if (at < steps.length) return text
  if (!page.engine.result?.changes?.off.includes('2.3') || !text) return undefined
  const now = say('tour.answerWasNow', { text, before: before || '…', after: answerOf(page) })
  return page.store.get().scene === scene ? `${now} ${say('tour.instead')}` : now // known of that scene alone
}

/* The demo model and a scene that it was made for: others have no such shapes. */
const isOfTour = (page: Page) => sourceOf(page) === demoModel && Boolean(page.picture?.drawing)

function createTour(page: Page) {
  const { store } = page,
    place = document.createElement('section')
  document.querySelector('.panel').prepend(place)
  place.id = 'tour'
  place.setAttribute('aria-labelledby', 'tour-title')
  let at = 0,
    before = '',
    scale = store.get().scale // of who takes the tour: a step may have its own
  const move = (by: number) => () => go?.(at + by).catch(page.showError)

  function show() {
    const last = at === steps.length
    render(
      html`<h2 id="tour-title" tabindex="-1">${steps[at - 1].title(page)}</h2><p id="tour-text" aria-live="polite">${textOf(page, at, before) ?? '…'}</p>
  <div class="row"><span id="tour-at">${say('tour.atOfSteps', { at, steps: steps.length })}</span><button type="button" id="tour-back" ?disabled=${at === 1} @click=${move(-1)}>${say('tour.back')}</button><button type="button" id="tour-next" @click=${move(1)}>${last ? say('tour.done') : say('tour.next')}</button><button type="button" id="tour-end" ?hidden=${last} @click=${end}>${say('tour.skip')}</button></div>`,
      place
    )
  }

  function leave() {
    place.hidden = true
    at = 0
    keep('invite', 'off')
  }

  function end() {
    leave()
    store.set({ ...start, view: 'heads', scale, tour: 0 })
    element('patches').querySelector('[tabindex="0"]')?.focus()
  }

  go = async (step) => {
    if (step < 1 || step > steps.length) return end()
    const first = place.hidden || !at
    place.hidden = false
    if (first) ({ scale } = store.get())
    if (sourceOf(page) !== demoModel)
      await page.openModel(demoModel, say('modelButtons.demoModelWhichShape'))
    if (store.get().scene !== scene && step !== at) await page.openScene(scene)
    at = step
    if (!page.engine.result.changes?.off.length) before = answerOf(page)
    store.set({ scale, ...steps[at - 1].state(page), hover: null, tour: at })
    show()
    if (first) element('tour-title').focus()
    place.scrollIntoView({ block: 'nearest' })
  }
  place.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return
    event.stopPropagation()
    end()
  })
  store.on(['ran'], () => {
    if (!at || page.engine.result.light) return
    if (!isOfTour(page)) {
      leave()
      return store.set({ ...unchanged, scale, tour: 0 })
    }
    if (!page.engine.result.changes?.off.length) before = answerOf(page)
    show()
  })
}

/** @param step 1 is the first */
export async function openTour(page: Page, step: number) {
  await laterStyles()
  if (!go) createTour(page)
  await go?.(step)
}
