/* The tour: four steps on the page itself, in a card beside the picture. Each sets the state that it
 * is about, so that its address shows the step; Escape or Skip ends it, and what it changed of the
 * model is undone. Loaded when it is asked for. */
import { percent, topOf } from '../../plot/caption.js'
import { keep } from '../../shared/page_settings.js'
import { laterStyles } from '../later_styles.js'
import { unchanged } from '../state/changes.js'
import { className } from '../../shared/names.js'
import { say } from '../../languages/say.js'
/** @import {Page, State} from '../../../types/pages.js' */

/* Which head to take out was chosen by the sweep of scene 159: without 2.3 the answer changes from
 * star 100.0 % to cross 79.1 %, without 3.0 to star 99.9 %. */
const start = /** @type {Partial<State>} */ ({
  ...unchanged,
  layer: 3,
  head: 0,
  query: [2, 10],
  reverse: false,
  score: 'softmax'
})

/** @type {{state: Partial<State>, title: string, text: string}[]} */
const steps = [
  {
    state: { ...start, view: 'scene' },
    title: say('tour.dragStar'),
    text: say('tour.twoShapesHereSame')
  },
  {
    state: { ...start, view: 'heads', head: 2 },
    title: say('tour.anotherHead'),
    text: say('tour.eachHeadAttendsSomething')
  },
  {
    state: { ...start, view: 'heads', layer: 0, head: 0 },
    title: say('tour.anotherLayer'),
    text: say('tour.earlyLayersLookNear')
  },
  {
    state: { ...start, view: 'intervene', off: ['2.3'] },
    title: say('tour.takeHeadOut'),
    text: say('tour.head23Out')
  }
]

const markup = `<section id="tour" aria-labelledby="tour-title"><h2 id="tour-title" tabindex="-1"></h2><p id="tour-text" aria-live="polite"></p>
  <div class="row"><span id="tour-at"></span><button type="button" id="tour-back">${say('tour.back')}</button><button type="button" id="tour-next">${say('tour.next')}</button><button type="button" id="tour-end">${say('tour.skip')}</button></div></section>`

/** @type {<Id extends string>(id: Id) => ElementOf<Id>} */
const element = (id) => document.getElementById(id)

/**
 * The model's answer in words.
 * @param {Page} page
 */
function answerOf({ engine }) {
  const { logits } = engine.result
  if (!logits) return say('tour.noAnswer')
  const [{ token, weight }] = topOf(engine.explain.softmax(logits), 1)
  return `${className(engine.model.labels[token])} ${percent(weight)}`
}

/** @type {((step: number) => Promise<void>) | undefined} */
let go

/** @param {Page} page */
function createTour(page) {
  const { store } = page
  document.querySelector('.panel').insertAdjacentHTML('afterbegin', markup)
  let at = 0,
    before = ''

  function show() {
    const { title, text } = steps[at - 1],
      last = at === steps.length,
      out = store.get().off.includes('2.3')
    element('tour-title').textContent = title
    element('tour-text').textContent = last
      ? say('tour.answerWasNowPut', {
          text,
          before: before || '…',
          after: out ? answerOf(page) : before
        })
      : text
    element('tour-at').textContent = say('tour.atOfSteps', { at, steps: steps.length })
    element('tour-back').disabled = at === 1
    element('tour-next').textContent = last ? say('tour.done') : say('tour.next')
    element('tour-end').hidden = last
  }

  function end() {
    element('tour').hidden = true
    at = 0
    store.set({ ...start, view: 'heads', tour: 0 })
    keep('invite', 'off')
    element('patches').querySelector('[tabindex="0"]')?.focus()
  }

  go = async (step) => {
    if (step < 1 || step > steps.length) return end()
    const first = element('tour').hidden || !at
    element('tour').hidden = false
    if (store.get().scene !== 159 && step !== at) await page.openScene(159)
    at = step
    if (!store.get().off.length) before = answerOf(page)
    store.set({ ...steps[at - 1].state, hover: null, tour: at })
    show()
    if (first) element('tour-title').focus()
    element('tour').scrollIntoView({ block: 'nearest' })
  }
  element('tour-next').addEventListener('click', () => go?.(at + 1).catch(page.showError))
  element('tour-back').addEventListener('click', () => go?.(at - 1).catch(page.showError))
  element('tour-end').addEventListener('click', end)
  element('tour').addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return
    event.stopPropagation()
    end()
  })
  store.on(['ran'], () => {
    if (at !== steps.length) return
    if (!store.get().off.length) before = answerOf(page)
    show()
  })
}

/**
 * @param {Page} page
 * @param {number} step 1 is the first
 */
export async function openTour(page, step) {
  await laterStyles()
  if (!go) createTour(page)
  await go?.(step)
}
