/* The story: ten chapters of text drive one figure. The chapter in the middle of the window, or the
 * one that arrow keys lead to, is the one that is shown; the address has it. The model comes with
 * the first chapter that needs it. */
import { say } from '../languages/say.js'
/** @import {PageSource} from '../../types/pages.js' */
/** @import {Story} from './story_steps.js' */

/** @type {<Id extends string>(id: Id) => ElementOf<Id>} */
const element = (id) => document.getElementById(id)
const chapters = /** @type {HTMLElement[]} */ ([...document.querySelectorAll('.chapter')])
let at = 0,
  temperature = 1,
  scrolled = 0, // until when the chapters on the way of a scroll are not meant
  opened = false, // a link's chapter, until it is drawn or someone moves on
  loading = /** @type {Promise<Story> | null} */ (null),
  story = /** @type {Story | null} */ (null)

async function load() {
  const [{ createRunner }, { scenePictures }, { demoModel }, made] = await Promise.all([
      import('../explorer/model/model_runner.js'),
      import('../explorer/open/scene_pictures.js'),
      import('../heed/demo.js'),
      import('./story_steps.js')
    ]),
    engine = await createRunner({ threads: 1 }),
    [picture] = await scenePictures({ engine }, [made.at.scene]),
    canvas = Object.assign(document.createElement('canvas'), {
      width: picture.width,
      height: picture.height
    })
  canvas.getContext('2d')?.putImageData(/** @type {ImageData} */ (picture.source), 0, 0)
  story = await made.makeStory(
    engine,
    picture,
    canvas.toDataURL(),
    /** @type {PageSource} */ (demoModel)
  )
  return story
}

/** @param {string[][]} rows the first is the head of a table */
function tableOf([head, ...rows]) {
  const table = document.createElement('table'),
    width = Math.max(...rows.map((row) => row.length)),
    line = (/** @type {string[]} */ row, /** @type {'td' | 'th'} */ tag) => {
      const tr = document.createElement('tr')
      row.forEach((textContent, i) => {
        const cell = Object.assign(document.createElement(i ? tag : 'th'), {
          textContent,
          scope: tag === 'th' ? 'col' : 'row'
        })
        if (tag === 'th' && i === row.length - 1) cell.colSpan = width - i
        tr.append(cell)
      })
      return tr
    }
  table.append(line(head, 'th'), ...rows.map((row) => line(row, 'td')))
  return table
}

/* What the chapter shows, and the answers of all. */
async function draw() {
  if (!story) return
  const { steps } = await import('./story_steps.js'),
    now = story
  const { svg, rows, said } = steps[at](now, temperature)
  element('story-picture').innerHTML = svg
  element('story-numbers').replaceChildren(...(rows ? [tableOf(rows)] : []))
  element('story-said').textContent = said
  chapters.forEach((chapter, i) => {
    chapter.querySelector('[data-look]').textContent = steps[i](now, temperature).answer
  })
  element('story').dataset.shown = String(at + 1)
}

/* The figure is taller once it is drawn: a link's chapter is brought to the middle again. */
function stay() {
  if (!opened) return
  opened = false
  scrolled = Date.now() + 800
  chapters[at].scrollIntoView({ block: 'center' })
}

function start() {
  if (loading) return
  element('story-said').textContent = say('learn.loading')
  loading = load()
  loading
    .then(draw)
    .then(stay)
    .catch((error) => {
      loading = null
      scrolled = 0
      element('story-said').textContent = /** @type {Error} */ (error).message
    })
}

/**
 * @param {number} next
 * @param {{scroll?: boolean}} [how]
 */
function show(next, { scroll = false } = {}) {
  const changed = next !== at
  at = next
  chapters.forEach((chapter, i) => chapter.classList.toggle('current', i === at))
  if (scroll) {
    chapters[at].focus({ preventScroll: true })
    chapters[at].scrollIntoView({
      block: 'center',
      behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth'
    })
  }
  if (!changed) return
  start() // the first chapter needs no model
  draw().catch(() => {}) // said by start
  dispatchEvent(new CustomEvent('chapter', { detail: at + 1 }))
}

/** The chapter that a link opens; 0: none. */
const chapterIn = (/** @type {string} */ hash) =>
  Number(/^(10|[1-9])$/.exec(new URLSearchParams(hash.slice(1)).get('step') ?? '')?.[0] ?? 0)

/** @param {string} hash */
export function openChapter(hash) {
  const asked = chapterIn(hash)
  if (!asked) return
  opened = !story && asked > 1
  scrolled = opened ? Infinity : Date.now() + 800
  show(asked - 1, { scroll: true })
}

export function connectStory() {
  for (const type of ['wheel', 'touchmove', 'keydown'])
    addEventListener(
      type,
      () => {
        if (opened) scrolled = 0
        opened = false
      },
      { passive: true, capture: true }
    )
  const seen = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries)
        if (isIntersecting && Date.now() > scrolled)
          show(chapters.indexOf(/** @type {any} */ (target)))
    },
    {
      rootMargin: matchMedia('(max-width: 700px)').matches
        ? '-72% 0px -18% 0px' // below the figure, as scroll-padding has it
        : '-45% 0px -45% 0px'
    }
  )
  for (const chapter of chapters) seen.observe(chapter)
  element('story').addEventListener('keydown', (event) => {
    const { key, target } = event,
      by = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[key] ?? 0
    if (!by || event.altKey || event.ctrlKey || event.metaKey || target instanceof HTMLInputElement)
      return
    const next = Math.min(chapters.length - 1, Math.max(0, at + by))
    if (next === at) return
    event.preventDefault()
    scrolled = Date.now() + 800 // the chapters on the way are not meant
    show(next, { scroll: true })
  })
  element('story').addEventListener('toggle', start, true)
  for (const button of /** @type {NodeListOf<HTMLElement>} */ (
    element('story').querySelectorAll('[data-bench]')
  ))
    button.addEventListener('click', () => {
      const bench = document.getElementById(/** @type {'given'} */ (button.dataset.bench))
      bench.closest('section')?.scrollIntoView()
      bench.focus({ preventScroll: true })
    })
  element('story-temperature').addEventListener('input', ({ target }) => {
    temperature = Number(/** @type {HTMLInputElement} */ (target).value)
    show(4)
    draw().catch(() => {})
  })
  openChapter(location.hash)
}
