/* Patching: the output of one head of a second picture, put into the run of the picture on the stage
 * (activation patching; Meng et al. 2022, Heimersheim and Nanda 2024), for all heads: how much of
 * the way to the second picture's score it leads. The table fills layer by layer. */
import { html, nothing, render } from 'lit-html'
import { percent } from '../../../plot/caption.js'
import { divergingTable } from '../../../plot/diverging.js'
import { heat } from '../../../plot/heat.js'
import { signedScale } from '../../../plot/scale.js'
import { explainerOf, numbersOf } from '../../model/explainer.js'
import { say } from '../../../languages/say.js'
import { drawing, showing } from '../parts/canvas.js'
import { bar } from '../parts/bar.js'
import { Lanes } from './lanes.js'
import { canvasOfSeen, secondControls, secondPicture } from './second_picture.js'
import { signed, Targets, topClasses, wordsOf } from './targets.js'
import type { Score } from './targets.js'
import type { MakeView, Page, View } from '../../types.js'
import type { Explainer, Seen } from '../../model/explainer.js'

const diverging = divergingTable(),
  least = 1e-6 // of the larger score: what is nearer is the same

/** How far a patch leads from the score of B to that of A; NaN where both are the same. */
export const effectOf = (patched: number, own: number, other: number) =>
  Math.abs(other - own) < least * Math.max(Math.abs(own), Math.abs(other))
    ? NaN
    : (patched - own) / (other - own)

interface Sweep {
  key: string
  name: string
  pictures: [own: Seen, other: Seen]
  scores: [own: number, other: number]
  /** [layers * heads], NaN until it is computed. */
  patched: Float32Array
  layers: number
  done: boolean
}

const share = (value: number) => percent(Math.abs(value))

const effectAt = ({ patched, scores }: Sweep, index: number) =>
  effectOf(patched[index], scores[0], scores[1])

/** The table of one run in one picture, filled layer by layer. onLayer: whether to go on. */
async function sweepHeads(
  sweep: Sweep,
  { options }: Score,
  { layers, heads }: { layers: number; heads: number },
  { signal, onLayer }: { signal: AbortSignal; onLayer: () => boolean }
) {
  const [own, other] = sweep.pictures
  for (let layer = 0; layer < layers; layer++) {
    const found = await own.session.explain({
      methods: ['patch'],
      sites: [`heads.${layer}`],
      source: other.session,
      ...options,
      signal
    })
    const row = numbersOf(found, 'patch.heads').subarray(layer * heads, (layer + 1) * heads)
    sweep.patched.set(row, layer * heads)
    sweep.scores = [...numbersOf(found, 'patch.scores')] as [number, number]
    sweep.layers = layer + 1
    if (!onLayer()) return
  }
  sweep.done = true
}

class Patching implements View {
  keys = ['drawn', 'ran']
  #page
  #element
  #left
  #redraw
  #explainer: Explainer
  #targets
  #lanes
  #sweep: Sweep | null = null
  #other: Seen | null = null
  #running: AbortController | null = null
  #words = ''

  constructor(page: Page, element: HTMLElement, left: AbortSignal, redraw: () => void) {
    this.#page = page
    this.#element = element
    this.#left = left
    this.#redraw = redraw
    this.#explainer = explainerOf(page)
    this.#targets = new Targets(page, left, (logits) => this.#usualTarget(logits))
    this.#lanes = new Lanes({
      label: say('patching.table'),
      name: (layer, head) => this.#cellWords(layer, head),
      onPick: (layer, head) => {
        page.store.set({ layer, head })
        this.#show()
      }
    })
    left.addEventListener('abort', () => this.#running?.abort())
  }

  /* Without a choice: the class of the second picture less that of the first, else that class. */
  #usualTarget(logits: ArrayLike<number>) {
    const [{ index: own }] = topClasses(this.#page, logits, 1),
      theirs = this.#other?.result.logits,
      other = theirs ? topClasses(this.#page, theirs, 1)[0].index : own
    return other === own ? String(own) : `${other}-${own}`
  }

  /** What patching a head does, in words. */
  #cellWords(layer: number, head: number) {
    const sweep = this.#sweep,
      index = layer * this.#page.engine.shape.heads + head,
      name = `${layer}.${head}`
    if (!sweep || Number.isNaN(sweep.patched[index])) return say('patching.notYet', { name })
    const effect = effectAt(sweep, index),
      values = {
        name,
        score: sweep.name,
        from: signed(sweep.scores[0]),
        to: signed(sweep.patched[index]),
        other: signed(sweep.scores[1]),
        share: share(effect)
      }
    if (Number.isNaN(effect)) return say('patching.sameScores', values)
    return effect < 0 ? say('patching.away', values) : say('patching.towards', values)
  }

  /** Of which run, score and second picture a table is. */
  #key() {
    const { ran, target, other } = this.#page.store.get()
    return `${ran} ${target} ${other}`
  }

  async #sweepAll(stop: AbortController) {
    const { shape } = this.#page.engine,
      { layers, heads } = shape,
      key = this.#key(),
      own = await this.#explainer.own(),
      other = await this.#explainer.see('other', await secondPicture(this.#page))
    this.#other = other
    const score = await this.#targets.score(own.result.logits)
    if (!score) throw new Error(say('targets.needsText'))
    const sweep: Sweep = {
      key,
      name: score.name,
      pictures: [own, other],
      scores: [NaN, NaN],
      patched: new Float32Array(layers * heads).fill(NaN),
      layers: 0,
      done: false
    }
    const onLayer = () => {
      if (key !== this.#key() || stop.signal.aborted) return false
      this.#sweep = sweep
      this.#show(say('patching.layer', { layer: sweep.layers, layers }))
      return true
    }
    await sweepHeads(sweep, score, shape, { signal: stop.signal, onLayer })
    return sweep.done
  }

  async #run() {
    const stop = (this.#running = new AbortController())
    let words = say('frames.stopped')
    this.#show(say('explainer.running'))
    try {
      if (await this.#sweepAll(stop)) words = ''
    } catch (error) {
      if (!stop.signal.aborted) words = wordsOf(error as Error)
    } finally {
      if (this.#running === stop) this.#running = null
      if (!this.#left.aborted) this.#show(words)
    }
  }

  #picture(title: string, seen: Seen, score: number) {
    const draw = drawing((canvas) => {
      const from = canvasOfSeen(this.#page, seen)
      canvas.width = from.width
      canvas.height = from.height
      canvas.getContext('2d')?.drawImage(from, 0, 0)
    })
    return html`<figure><figcaption><b>${title}</b> ${seen.picture.name}<br>${say('patching.scoreIs', { score: signed(score) })}</figcaption><div class="raster"><canvas role="img" aria-label=${`${title} ${seen.picture.name}`} ${draw}></canvas></div></figure>`
  }

  #table(sweep: Sweep) {
    const { layers, heads } = this.#page.engine.shape,
      { layer, head } = this.#page.store.get(),
      effects = Float32Array.from(sweep.patched, (_, i) => effectAt(sweep, i)),
      scale = signedScale(say('patching.effect'), 1),
      chosen: [number, number] | null = layer !== 'pool' && head !== 'mean' ? [layer, head] : null,
      names = Array.from({ length: heads }, (_, i) => String(i)),
      raster = heat({ weights: effects, rows: layers, columns: heads, scale, table: diverging }),
      ground = html`<canvas aria-hidden="true" ${showing(raster)}></canvas>`
    return html`<figure><figcaption><b>${say('patching.table')}</b> ${say('patching.tableSays')}</figcaption>${this.#lanes.show(effects, layers, names, { end: 1, chosen, ground })}${bar(scale, diverging)}</figure>
    <p class="said" aria-live="polite">${chosen ? this.#cellWords(...chosen) : say('patching.choose')}</p>`
  }

  #show(words = this.#words) {
    const sweep = this.#sweep,
      { logits } = this.#page.engine.result
    this.#words = words
    render(
      html`${secondControls(this.#page, this.#redraw)}
      <div class="row">${this.#targets.show(logits, this.#redraw)}<button type="button" name="run" ?disabled=${Boolean(this.#running)} @click=${() => this.#run()}>${say('patching.run')}</button><button type="button" name="stop" ?hidden=${!this.#running} @click=${() => this.#running?.abort()}>${say('frames.stop')}</button></div>
      <p class="hint" role="status">${words}</p>
      ${sweep ? html`<div class="patching"><div class="pair">${this.#picture(say('patching.into'), sweep.pictures[0], sweep.scores[0])}${this.#picture(say('patching.from'), sweep.pictures[1], sweep.scores[1])}</div><div>${this.#table(sweep)}</div></div>` : nothing}
      <p class="hint">${say('patching.about')}</p>`,
      this.#element
    )
  }

  async draw(latest: () => boolean) {
    if (this.#sweep && this.#sweep.key !== this.#key()) {
      this.#running?.abort()
      this.#sweep = null
      this.#words = ''
    }
    try {
      const picture = await secondPicture(this.#page),
        seen = await this.#explainer.see('other', picture)
      if (!latest()) return
      if (this.#sweep && this.#sweep.pictures[1].picture !== picture) this.#sweep = null
      this.#other = seen
    } catch (error) {
      if (latest()) this.#words = wordsOf(error as Error)
    }
    if (latest()) this.#show()
  }
}

export const view: MakeView = (page, element, { left, redraw }) =>
  new Patching(page, element, left, redraw)
