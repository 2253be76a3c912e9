/* The zoom: one scene from the picture to the answer. The picture opens into tiles, a tile into its
 * numbers, these into query, key, products and shares, and the shares are the map; behind it stand
 * all heads as lanes, and the answer. Every number is of the run and the row that the stage has, also
 * while a shape is dragged. Loaded when it is first opened. */
import { html, nothing, render, svg } from 'lit-html'
import { say } from '../../languages/say.js'
import { percent } from '../../plot/caption.js'
import { element } from '../../shared/elements.js'
import { toggled } from '../controls/controls.js'
import { laterStyles } from '../later_styles.js'
import { moreViews } from '../views/more_views.js'
import { patchAt } from '../views/stage/shape_drag.js'
import { views } from '../views/view_list.js'
import { Camera, flightOf, viewOf } from './camera.js'
import { cardsOf } from './cards.js'
import { canMeasure, isQuick, measureHeads, measurePath } from './head_effects.js'
import { answerOfWorld, byLoss, lanesOf, points } from './lanes_scene.js'
import { LayerRuns } from './layer_values.js'
import { drawHeads, drawInset, drawPicture, overPicture } from './picture_scene.js'
import { stopNames, stops } from './stops.js'
import { factsOf } from './zoom_facts.js'
import { connectKeys, connectPointers, connectWheel } from './zoom_input.js'
import { noteOf, sentenceOf, textOf, titleOf } from './zoom_words.js'
import { worldOf } from './world.js'
import type { Page, State } from '../types.js'
import type { Effects, Path } from './head_effects.js'
import type { Stop } from './stops.js'
import type { World } from './world.js'
import type { Facts } from './zoom_facts.js'

const narrowBelow = 700 // pixels of the window, as in style.css
const clamp = (value: number) => Math.min(1, Math.max(0, value))
/* Stops whose picture is large enough to be dragged on. */
const onPicture: Stop[] = ['picture', 'tiles', 'map']

/* Stops whose numbers a run may not have kept. */
const ofLayer: Stop[] = ['numbers', 'query', 'products', 'softmax', 'mask', 'values']

/** What of the state the scene cannot show, as it can. */
function shownState({ store, engine }: Page): Partial<State> {
  const { view, layer, head, query, reverse, score } = store.get(),
    { layers, rows, columns } = engine.shape
  return {
    ...(view === 'rollout' && { view: 'heads' as const }),
    ...(layer === 'pool' && { layer: layers - 1 }),
    ...(head === 'mean' && { head: 0 }),
    ...(!Array.isArray(query) && {
      query: [rows >> 1, columns >> 1] as [row: number, column: number]
    }),
    ...(reverse && { reverse: false }),
    ...(score !== 'softmax' && { score: 'softmax' as const })
  }
}

const titleOfView = ({ view, more }: Partial<State>) =>
  more ? moreViews[more].title : views[view as keyof typeof views].title

/** In shares of the small picture. */
function onInset({ x, y }: { x: number; y: number }) {
  const { width, height } = element('zoom-inset').getBoundingClientRect()
  return { x: x / width, y: y / height }
}

class Zoom {
  #page
  #place = element('zoom')
  #camera = new Camera(() => this.#follow())
  #open = null as AbortController | null
  #measure = null as AbortController | null
  #facts = null as Facts | null
  #world = null as World | null
  #effects = null as Effects | null
  #effectsOf: unknown[] = [] // the picture and model that they are of
  #path = null as Path | null
  #pathOf: unknown[] = [] // the run and the row that it is of
  #following = null as AbortController | null
  #free = false
  #layers
  #before = {} as Partial<State>
  #shown = '' as Stop | ''
  #scrolled = 0 // where the page was

  constructor(page: Page) {
    this.#page = page
    this.#layers = new LayerRuns(page)
    this.#place.replaceChildren() // what stood there until now
    page.store.on(['drawn', 'zoom', 'off'], () => this.#changed())
  }

  get #stop(): Stop {
    return this.#page.store.get().zoom || 'picture'
  }

  #changed() {
    const { zoom } = this.#page.store.get()
    if (!zoom) return this.#leave()
    if (!this.#open) return this.#enter()
    this.#update()
  }

  #enter() {
    const open = (this.#open = new AbortController()),
      { store } = this.#page,
      wanted = shownState(this.#page)
    this.#before = Object.fromEntries(
      Object.keys(wanted).map((key) => [key, store.get()[key as keyof State]])
    )
    this.#shown = ''
    this.#scrolled = scrollY
    scrollTo(0, 0)
    document.documentElement.classList.add('zooming')
    this.#render()
    const driven = {
      page: this.#page,
      camera: this.#camera,
      scene: element('zoom-scene'),
      onPicture: this.#onPicture,
      press: this.#press,
      step: this.#step,
      along: this.#along,
      freed: () => {
        this.#free = true
      }
    }
    connectWheel(driven, open.signal)
    connectPointers(driven, open.signal)
    connectPointers(
      { ...driven, scene: element('zoom-inset'), onPicture: onInset, fixed: true },
      open.signal
    )
    connectKeys(driven, { close: this.#close, signal: open.signal })
    const sized = new ResizeObserver(() => this.#resize())
    sized.observe(element('zoom-scene'))
    open.signal.addEventListener('abort', () => sized.disconnect())
    store.set({ ...wanted, hover: null })
    this.#update()
    if (document.activeElement !== document.body)
      element('zoom-title').focus({ preventScroll: true })
    this.#arrive()
  }

  /** The twins light up, and the lines grow from the patch to its key, where the point comes last. */
  #arrive() {
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return
    for (const twins of this.#place.querySelectorAll('.twins'))
      twins.animate({ opacity: [0, 1] }, 600)
    for (const arc of this.#place.querySelectorAll<SVGPathElement>('.arc')) {
      const length = arc.getTotalLength() * (arc.getScreenCTM()?.a ?? 1) // lines are as wide at any scale, and so are dashes
      arc.animate(
        { strokeDasharray: [`0 ${length}`, `${length} 0`] },
        { duration: 900, delay: 300, fill: 'backwards', easing: 'ease-in-out' }
      )
    }
    this.#place
      .querySelector('.point')
      ?.animate({ opacity: [0, 1] }, { duration: 150, delay: 1150, fill: 'backwards' })
  }

  #leave() {
    if (!this.#open) return
    this.#open.abort()
    this.#open = null
    this.#measure?.abort()
    this.#following?.abort()
    this.#layers.close()
    this.#camera.stop()
    document.documentElement.classList.remove('zooming')
    scrollTo(0, this.#scrolled)
    element('zoom-in').focus({ preventScroll: true })
  }

  #close = () => this.#page.store.set({ ...this.#before, zoom: '' })

  /** To the view that has the numbers of a stop. */
  #openView = (view: Partial<State>) => this.#page.store.set({ ...this.#before, ...view, zoom: '' })

  /** What is drawn is new. */
  #update() {
    if (!this.#open) return
    const { drawn, engine } = this.#page
    if (!engine.result) return this.#follow() // another model, not run yet
    this.#facts = drawn && factsOf(this.#page, this.#layers.values)
    if (!drawn || !this.#facts) return this.#render()
    const { state, query } = this.#facts
    this.#world = worldOf(
      drawn.shape,
      innerWidth < narrowBelow,
      { count: state?.length ?? 0, depth: query?.length ?? 0 },
      this.#facts
    )
    drawPicture(this.#page, element('zoom-picture'))
    drawInset(this.#page, element('zoom-inset'), this.#facts)
    this.#followEffects()
    this.#render()
    this.#drawHeads()
    if (!drawn.of.light) this.#measureSoon()
    if (ofLayer.includes(this.#stop))
      this.#layers.want(() => this.#update()).catch(this.#page.showError)
    this.#rest()
  }

  #resize() {
    const { clientWidth: width, clientHeight: height } = element('zoom-scene')
    if (!width || !height) return
    this.#camera.size = { width, height }
    this.#update()
  }

  /** What was measured is of one picture and model; while a shape moves nothing is. */
  #followEffects() {
    const { engine, picture, drawn } = this.#page,
      now = [picture, engine.opened, engine.size, drawn.of.fit]
    if (!drawn.of.light && now.every((one, i) => one === this.#effectsOf[i])) return
    this.#measure?.abort()
    this.#measure = null
    this.#effects = null
    this.#effectsOf = now
  }

  /** The heads are taken out one by one as soon as they are in sight. */
  #measureSoon(pressed = false) {
    if (this.#stop === 'layers' && (pressed || isQuick(this.#page))) this.#followPath()
    if (this.#measure || (this.#stop !== 'heads' && this.#stop !== 'answer')) return
    if (!canMeasure(this.#page) || !(pressed || isQuick(this.#page))) return
    const stop = (this.#measure = new AbortController())
    measureHeads(
      this.#page,
      (effects) => {
        this.#effects = effects
        this.#render()
      },
      stop.signal
    ).catch((error) => stop.signal.aborted || this.#page.showError(error))
  }

  /** Which heads the one on the stage needs and moves, once they are asked for. */
  #followPath() {
    const { drawn } = this.#page,
      facts = this.#facts as Facts,
      now = [drawn.of, facts.layer, facts.head, facts.token]
    if (!canMeasure(this.#page) || now.every((one, i) => one === this.#pathOf[i])) return
    this.#following?.abort()
    const stop = (this.#following = new AbortController())
    this.#path = null
    this.#pathOf = now
    measurePath(this.#page, facts, stop.signal)
      .then((path) => {
        if (stop.signal.aborted) return
        this.#path = path
        this.#render()
      })
      .catch((error) => stop.signal.aborted || this.#page.showError(error))
  }

  #drawHeads() {
    if (this.#world && (this.#stop === 'heads' || this.#stop === 'layers' || this.#free))
      drawHeads(this.#page, element('zoom-heads'), this.#world).catch(this.#page.showError)
  }

  #step = (by: number) => {
    const at = stopNames.indexOf(this.#stop),
      next = stopNames[Math.min(stopNames.length - 1, Math.max(0, at + by))]
    if (next === this.#stop) return this.#go()
    this.#page.store.set({ zoom: next })
  }

  /** To where the stop is. */
  #go() {
    if (!this.#world) return
    this.#free = false
    this.#drawHeads()
    this.#measureSoon()
    const to = viewOf(this.#world.boxes[this.#stop], this.#camera.size)
    if (this.#shown) this.#camera.fly(to)
    else this.#camera.jump(to)
    this.#shown = this.#stop
    const current = this.#place.querySelector('[aria-current]') as HTMLElement,
      list = current.parentElement as HTMLElement
    list.scrollLeft =
      current.offsetLeft - list.offsetLeft - (list.offsetWidth - current.offsetWidth) / 2
  }

  #rest() {
    if (!this.#world) return
    if (this.#shown !== this.#stop) return this.#go()
    if (this.#free || this.#camera.flying) return this.#follow()
    this.#camera.jump(viewOf(this.#world.boxes[this.#stop], this.#camera.size))
  }

  #along = (share: number) => {
    if (!this.#world || matchMedia('(prefers-reduced-motion: reduce)').matches) return
    const at = stopNames.indexOf(this.#stop) + share,
      last = stopNames.length - 1,
      low = Math.min(last - 1, Math.max(0, Math.floor(at))),
      [from, to] = [low, low + 1].map((i) =>
        viewOf((this.#world as World).boxes[stopNames[i]], this.#camera.size)
      )
    this.#free = true
    this.#camera.jump(flightOf(from, to).at(clamp(at - low)))
  }

  #onPicture = ({ x, y }: { x: number; y: number }) => {
    const world = this.#world
    if (!world || this.#veil() > 0.5) return null
    const at = this.#camera.toWorld(x, y),
      share = { x: at.x / world.picture.width, y: at.y / world.picture.height }
    return share.x >= 0 && share.x < 1 && share.y >= 0 && share.y < 1 ? share : null
  }

  #press = (on: { x: number; y: number } | null, target: Element) => {
    const { store, engine } = this.#page,
      head = (target.closest('[data-head]') as HTMLElement | null)?.dataset.head
    if (head) return canMeasure(this.#page) && this.#toggle(head)
    if (!on || !engine.result) return
    const { x, y, width, height } = engine.result.region
    const query = patchAt(this.#page, { x: x + on.x * width, y: y + on.y * height }),
      leaves = target !== element('zoom-inset') && this.#stop !== 'tiles'
    store.set({ ...(leaves && { ...this.#before, zoom: '' as const }), query })
  }

  #toggle(head: string) {
    const { store } = this.#page
    store.set({ off: toggled(store.get().off, head) })
  }

  /** How much of the picture is behind the cards. */
  #veil() {
    return this.#world ? clamp((9 - this.#camera.view.w / this.#world.tile.width) / 3) : 0
  }

  /** Everything to where the camera is. */
  #follow() {
    const world = this.#world
    if (!world || !this.#open) return
    const { scale, view, size } = this.#camera,
      root = element('zoom-root'),
      origin = this.#camera.toScreen(0, 0),
      veil = this.#veil(),
      { pitch, lanes, narrow } = world,
      beyond = narrow
        ? view.y + size.height / 2 / scale - world.picture.height
        : view.x + view.w / 2 - world.picture.width
    root.setAttribute('transform', `translate(${origin.x} ${origin.y}) scale(${scale})`)
    root.style.setProperty('--veil', String(veil))
    root.style.setProperty('--lanes', String(clamp((beyond - 380) / 500)))
    root.dataset.near = veil > 0.02 ? 'cards' : 'picture'
    const picture = element('zoom-picture'),
      heads = element('zoom-heads')
    picture.style.transform = `translate(${origin.x}px, ${origin.y}px) scale(${(scale * world.picture.width) / picture.width})`
    const corner = this.#camera.toScreen(lanes.x, lanes.y)
    heads.style.transform = `translate(${corner.x}px, ${corner.y}px) scale(${(scale * lanes.k * pitch.map) / world.shape.columns})`
    heads.style.opacity = String(veil > 0.02 ? 0 : clamp((beyond - 380) / 500)) // cards lie on the lanes of a narrow screen
  }

  #render() {
    const page = this.#page,
      facts = this.#facts,
      stop = this.#stop,
      first = facts?.answer[0],
      moving = page.drawn?.of.light ? 'off' : 'polite' // numbers that change at each frame are not read out
    render(
      html`<div class="zoom-head"><h1 id="zoom-title" tabindex="-1">${titleOf(page, facts)}</h1><p id="zoom-answer" aria-live=${moving}>${first ? html`<span>${say('zoom.answers')}</span> ${first.label} <b>${percent(first.share)}</b>` : nothing}</p><button type="button" id="zoom-close" @click=${this.#close}>${say('zoom.close')}</button></div>
<div id="zoom-said"><canvas id="zoom-inset" width="320" height="320" aria-hidden="true" ?hidden=${onPicture.includes(stop)}></canvas><h2 id="zoom-stop">${say(stops[stop].title)}</h2>${facts ? this.#said(facts, stop) : html`<p>${say('zoom.nothing')}</p>`}</div>
<div id="zoom-scene"><canvas id="zoom-picture" aria-hidden="true"></canvas><svg id="zoom-drawing" role="img" aria-labelledby="zoom-stop zoom-sentence"><g id="zoom-root" data-stop=${stop}>${facts && this.#world ? this.#scene(facts, this.#world) : nothing}</g></svg><canvas id="zoom-heads" aria-hidden="true"></canvas></div>
<nav id="zoom-stops" aria-label=${say('zoom.stops')}><button type="button" id="zoom-back" aria-label=${say('tour.back')} ?disabled=${stop === stopNames[0]} @click=${() => this.#step(-1)}>‹</button><div>${stopNames.map((name) => html`<button type="button" data-stop=${name} aria-current=${name === stop ? 'step' : nothing} @click=${() => (name === stop ? this.#go() : page.store.set({ zoom: name }))}>${say(stops[name].title)}</button>`)}</div><button type="button" id="zoom-next" aria-label=${say('tour.next')} ?disabled=${stop === stopNames.at(-1)} @click=${() => this.#step(1)}>›</button></nav>`,
      this.#place
    )
  }

  #said(facts: Facts, stop: Stop) {
    const page = this.#page,
      text = textOf(page, stop),
      note = noteOf(facts, stop),
      { step, view } = stops[stop] as { step?: number; view?: Partial<State> },
      learn = document.querySelector('.pages a[href*=learn]') as HTMLAnchorElement
    return html`${text ? html`<p>${text}</p>` : nothing}<p id="zoom-sentence" aria-live=${page.drawn.of.light ? 'off' : 'polite'}>${sentenceOf(
      page,
      facts,
      stop,
      { effects: this.#effects, measuring: Boolean(this.#measure), path: this.#pathNow() }
    )}</p>${note ? html`<p>${note}</p>` : nothing}${stop === 'heads' ? this.#headButtons() : nothing}${stop === 'layers' ? this.#pathButton() : nothing}${stop === 'answer' ? this.#ownButtons() : nothing}<p class="row">${step ? html`<a href=${`${learn.getAttribute('href')}#step=${step}`}>${say('zoom.learn', { step })}</a>` : nothing}${view ? html`<button type="button" id="zoom-view" @click=${() => this.#openView(view)}>${say('zoom.bench', { view: titleOfView(view) })}</button>` : nothing}</p>`
  }

  /** Of the heads that the answer needs most, and of those that are out. */
  #headButtons() {
    const { heads, layers } = this.#page.engine.shape,
      { off } = this.#page.store.get()
    if (!canMeasure(this.#page)) return html`<p>${say('ablation.needsModelSmallEnough')}</p>`
    if (!this.#measure)
      return html`<p><button type="button" id="zoom-measure" @click=${() => {
        this.#measureSoon(true)
        this.#render()
      }}>${say('zoom.measure', { count: layers * heads })}</button></p>`
    const most = this.#effects ? byLoss(this.#effects, heads).slice(0, 4) : [],
      out = off.filter((name) => !most.some((one) => one.name === name)),
      button = (name: string, text: string) =>
        html`<button type="button" data-out=${name} aria-pressed=${off.includes(name)} @click=${() => this.#toggle(name)}>${say('zoom.takeOut', { head: name })} ${text}</button>`
    return html`<div class="row" role="group" aria-label=${say('zoom.heads')}>${most.map(({ name, loss }) => button(name, `(${points(loss)})`))}${out.map((name) => button(name, ''))}</div>`
  }

  #pathNow() {
    const { drawn } = this.#page
    return this.#pathOf[0] === drawn.of && this.#facts?.token === this.#pathOf[3]
      ? this.#path
      : null
  }

  #pathButton() {
    if (!canMeasure(this.#page)) return html`<p>${say('ablation.needsModelSmallEnough')}</p>`
    if (isQuick(this.#page) || this.#pathNow()) return nothing
    return html`<p><button type="button" id="zoom-measure" @click=${() => this.#measureSoon(true)}>${say('zoom.measurePath')}</button></p>`
  }

  #ownButtons() {
    const own = (then: () => void) => () => {
      this.#close()
      then()
    }
    return html`<div class="row"><button type="button" id="zoom-own-photo" @click=${own(() => element('picture-file').click())}>${say('zoom.ownPhoto')}</button><button type="button" id="zoom-own-model" @click=${own(
      () => {
        document.querySelector<HTMLElement>('[popovertarget=open]')?.click()
      }
    )}>${say('zoom.ownModel')}</button></div>`
  }

  #scene(facts: Facts, world: World) {
    const { layer, head, off } = this.#page.store.get()
    return svg`${overPicture(this.#page, facts, world, this.#stop)}<g class="cards">${cardsOf(facts, world)}</g>${lanesOf(world, this.#effects, { off, layer, head, path: this.#stop === 'heads' ? null : this.#pathNow() })}${answerOfWorld(world, facts.answer)}`
  }
}

const zooms = new WeakMap<Page, Zoom>()

/**
 * Follows the state from now on.
 * @param ready once what is pressed is heard here
 */
export async function connectZoom(page: Page, ready: () => void) {
  await Promise.all([laterStyles(), laterStyles('explorer/zoom/zoom.css')])
  ready()
  if (!zooms.has(page)) zooms.set(page, new Zoom(page))
  page.store.tell('drawn')
}
