/* The tour: four steps on the page itself, in a card beside the picture. Each sets the state that it
 * is about, so that its address shows the step; Escape or Skip ends it, and what it changed of the
 * model is undone. Loaded when it is asked for. */
import { percent, topOf } from '../../plot/caption.js'
import { keep } from '../../shared/page_settings.js'
import { laterStyles } from '../later_styles.js'
import { unchanged } from '../state/changes.js'
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
    title: 'Drag the star.',
    text: 'Two shapes here are the same. The model looks from one to the other, and computes the map anew while you drag.'
  },
  {
    state: { ...start, view: 'heads', head: 2 },
    title: 'Another head.',
    text: 'Each head attends to something else. This one is head 2 of the same layer; choose others in the grid.'
  },
  {
    state: { ...start, view: 'heads', layer: 0, head: 0 },
    title: 'Another layer.',
    text: 'Early layers look near the patch. Later layers compare shapes: layer 3 found the other star.'
  },
  {
    state: { ...start, view: 'intervene', off: ['2.3'] },
    title: 'Take a head out.',
    text: 'Head 2.3 is out: now head 3.0 no longer finds the other star.'
  }
]

const markup = `<section id="tour" aria-labelledby="tour-title"><h2 id="tour-title" tabindex="-1"></h2><p id="tour-text" aria-live="polite"></p>
  <div class="row"><span id="tour-at"></span><button type="button" id="tour-back">Back</button><button type="button" id="tour-next">Next</button><button type="button" id="tour-end">Skip</button></div></section>`

/** @type {<Id extends string>(id: Id) => ElementOf<Id>} */
const element = (id) => document.getElementById(id)

/**
 * The model's answer in words.
 * @param {Page} page
 */
function answerOf({ engine }) {
  const { logits } = engine.result
  if (!logits) return 'no answer'
  const [{ token, weight }] = topOf(engine.explain.softmax(logits), 1)
  return `${engine.model.labels[token]} ${percent(weight)}`
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
      ? `${text} The answer was ${before || '…'}; it is now ${out ? answerOf(page) : before}. Put it back and take out 3.0 instead: the answer stays, other heads stand in.`
      : text
    element('tour-at').textContent = `${at} of ${steps.length}`
    element('tour-back').disabled = at === 1
    element('tour-next').textContent = last ? 'Done' : 'Next'
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
