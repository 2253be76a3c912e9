/* The story: ten chapters of text drive one figure. The chapter in the middle of the window, or the
 * one that arrow keys lead to, is the one that is shown; the address has it. The model comes with
 * the first chapter that needs it. */
import { html, nothing, render } from 'lit-html'
import { element } from '../shared/elements.js'
import { say } from '../languages/say.js'
import type { PageSource } from '../shared/types.js'
import type { Story } from './story_steps.js'

const chapters = [...document.querySelectorAll('.chapter')] as HTMLElement[]
let at = 0,
  temperature = 1,
  scrolled = 0, // until when the chapters on the way of a scroll are not meant
  opened = false, // a link's chapter, until it is drawn or someone moves on
  loading = null as Promise<Story> | null,
  story = null as Story | null

async function load() {
  const [{ createRunner }, { scenePictures }, { demoModel }, made] = await Promise.all([
      import('../shared/model_runner.js'),
      import('../shared/scene_pictures.js'),
      import('../heed/demo.js'),
      import('./story_steps.js')
    ]),
    engine = await createRunner({ threads: 1 }),
    [picture] = await scenePictures({ engine }, [made.at.scene]),
    canvas = Object.assign(document.createElement('canvas'), {
      width: picture.width,
      height: picture.height
    })
  canvas.getContext('2d')?.putImageData(picture.source as ImageData, 0, 0)
  story = await made.makeStory(engine, picture, canvas.toDataURL(), demoModel as PageSource)
  return story
}

/** @param rows the first is the head of a table */
function tableOf([head, ...rows]: string[][]) {
  const width = Math.max(...rows.map((row) => row.length)),
    last = head.length - 1
  const names = head.map(
    (text, i) => html`<th scope="col" colspan=${i === last ? width - i : nothing}>${text}</th>`
  )
  const line = ([name, ...cells]: string[]) =>
    html`<tr><th scope="row">${name}</th>${cells.map((text) => html`<td>${text}</td>`)}</tr>`
  return html`<table><tr>${names}</tr>${rows.map(line)}</table>`
}

/* What the chapter shows, and the answers of all. */
async function draw() {
  if (!story) return
  const { steps } = await import('./story_steps.js'),
    now = story
  const { svg, rows, said } = steps[at](now, temperature)
  element('story-picture').innerHTML = svg
  render(rows ? tableOf(rows) : nothing, element('story-numbers'))
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
      element('story-said').textContent = (error as Error).message
    })
}

function show(next: number, { scroll = false }: { scroll?: boolean } = {}) {
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
const chapterIn = (hash: string) =>
  Number(/^(10|[1-9])$/.exec(new URLSearchParams(hash.slice(1)).get('step') ?? '')?.[0] ?? 0)

export function openChapter(hash: string) {
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
        if (isIntersecting && Date.now() > scrolled) show(chapters.indexOf(target as HTMLElement))
    },
    {
      rootMargin: matchMedia('(max-width: 700px)').matches
        ? '-72% 0px -18% 0px' // below the figure, as scroll-padding has it
        : '-45% 0px -45% 0px'
    }
  )
  for (const chapter of chapters) seen.observe(chapter)
  /* Wherever the focus is, while the story is what the window shows. */
  addEventListener('keydown', (event) => {
    const { key, target } = event,
      { top, bottom } = element('story').getBoundingClientRect(),
      by = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[key] ?? 0
    if (!by || event.altKey || event.ctrlKey || event.metaKey) return
    if (top > innerHeight / 2 || bottom < innerHeight / 2) return
    if ((target as Element).closest?.('input, select, textarea, .scroll, .top, dialog')) return
    const next = Math.min(chapters.length - 1, Math.max(0, at + by))
    if (next === at) return
    event.preventDefault()
    scrolled = Date.now() + 800 // the chapters on the way are not meant
    show(next, { scroll: true })
  })
  element('story').addEventListener('toggle', start, true)
  for (const button of element('story').querySelectorAll('[data-bench]') as NodeListOf<HTMLElement>)
    button.addEventListener('click', () => {
      const bench = element(button.dataset.bench as 'given')
      bench.closest('section')?.scrollIntoView()
      bench.focus({ preventScroll: true })
    })
  element('story-temperature').addEventListener('input', ({ target }) => {
    temperature = Number((target as HTMLInputElement).value)
    show(4)
    draw().catch(() => {})
  })
  openChapter(location.hash)
}
