/* Class map: which patches speak for a class, by a method of the reader's choice, and the judge of
 * that map: how fast the answer goes where its first patches leave, and comes where they alone are
 * there. Of a drawn scene it is known where the class is. docs/explain.md has methods and metrics. */
import { html, nothing, render } from 'lit-html'
import { live } from 'lit-html/directives/live.js'
import { divergingTable } from '../../../plot/diverging.js'
import { percent } from '../../../plot/caption.js'
import { fixed } from '../../../plot/parts/numbers.js'
import { plainScale, signedScale } from '../../../plot/scale.js'
import { pictureNow } from '../../state/place.js'
import { isChanged } from '../../../shared/changes.js'
import { explainerOf, numbersOf } from '../../model/explainer.js'
import { say } from '../../../languages/say.js'
import { drawing } from '../parts/canvas.js'
import { drawRow } from '../parts/row_picture.js'
import { bar } from '../parts/bar.js'
import { curves } from './curves.js'
import { labelOf, Targets, topClasses, wordsOf } from './targets.js'
import type { Explanation, PatchMap } from 'heed'
import type { Seen } from '../../model/explainer.js'
import type { Score } from './targets.js'
import type { MakeView, Page, View } from '../../types.js'
import type { Of } from '../../../shared/types.js'

const diverging = divergingTable(),
  steps = 10, // of the curves
  nodes = 8, // of integrated gradients
  light = 5e9, // parameters x tokens of a model whose curves are drawn unasked
  rest = 150 // ms that the pointer stays on a label before its map is made

/** The maps that are offered, in this order. */
const offered = [
  'relevancy',
  'gradient-rollout',
  'gradcam',
  'attnlrp',
  'cplrp',
  'ledger',
  'ig',
  'inputxgrad',
  'attention',
  'rollout'
] as const satisfies PatchMap[]
type Offered = (typeof offered)[number]
/* What was chosen stays while another view is shown. */
let chosen: Offered = 'relevancy'

/** What the metrics say of a map. `inside`: only where it is known where the class is. */
interface Verdict {
  deletion: number
  insertion: number
  curves: { deletion: Float32Array; insertion: Float32Array }
  inside?: number
}

/** Where a drawn scene has the shape of a class, pixel by pixel; null: that is not known. */
export function maskOf({ picture, engine }: Page, target: string | number, side: number) {
  const { drawing: scene, owner } = picture,
    { rows, columns } = engine.shape,
    label = engine.model.labels[Number(target)]
  if (!scene || !owner || owner.length !== rows * columns) return null
  const inside = Array.from(owner as Uint8Array, (one) => scene.objects[one]?.shape === label)
  if (!inside.includes(true)) return null
  const mask = new Uint8Array(rows * columns * side * side)
  for (let at = 0; at < mask.length; at++) {
    const y = Math.floor(at / (columns * side)),
      x = at % (columns * side)
    mask[at] = Number(inside[Math.floor(y / side) * columns + Math.floor(x / side)])
  }
  return mask
}

/** Maps of one run and one score at a time. */
class Maps {
  #key = ''
  #maps = new Map<string, Float32Array>()
  #verdicts = new Map<string, Verdict>()

  /** Forgets those of another run. */
  of(run: string) {
    if (run !== this.#key) {
      this.#maps.clear()
      this.#verdicts.clear()
    }
    this.#key = run
  }
  kept(name: Offered, score: Score) {
    return this.#maps.get(`${name} ${score.name}`)
  }
  verdict(name: Offered, score: Score) {
    return this.#verdicts.get(`${name} ${score.name}`)
  }

  /** keep: what the last map was made on stays for the next label. */
  async make(
    names: readonly Offered[],
    { session }: Seen,
    score: Score,
    signal: AbortSignal,
    keep = false
  ) {
    const missing = names.filter((name) => !this.kept(name, score))
    if (!missing.length) return
    const found = await session.explain({
      maps: missing,
      ...score.options,
      igSteps: nodes,
      keep,
      signal
    })
    for (const name of missing)
      this.#maps.set(`${name} ${score.name}`, numbersOf(found, `map.${name}`))
  }

  async judge(
    name: Offered,
    { session }: Seen,
    score: Score,
    mask: Uint8Array | null,
    signal: AbortSignal
  ) {
    if (this.verdict(name, score)) return
    const found = await session.explain({
        methods: ['deletion', 'insertion', ...(mask ? (['localisation'] as const) : [])],
        curves: 'tokens',
        map: this.kept(name, score),
        ...(mask && { mask }),
        ...score.options,
        steps,
        signal
      }),
      /* The score itself where it is no class of a softmax. */
      named = (metric: string) =>
        (`${metric}.tokens.probability` in found
          ? `${metric}.tokens.probability`
          : `${metric}.tokens`) as keyof Explanation,
      area = (metric: string) => numbersOf(found, `${named(metric)}.area` as keyof Explanation)[0]
    this.#verdicts.set(`${name} ${score.name}`, {
      deletion: area('deletion'),
      insertion: area('insertion'),
      curves: {
        deletion: numbersOf(found, named('deletion')),
        insertion: numbersOf(found, named('insertion'))
      },
      ...(mask && { inside: numbersOf(found, 'localisation.rank')[0] })
    })
  }
}

class ClassMap implements View {
  keys = ['drawn', 'ran']
  #page
  #element
  #left
  #redraw
  #targets
  #maps = new Maps()
  #hovered: number | null = null
  #timer: ReturnType<typeof setTimeout> | undefined
  #running: AbortController | null = null
  #words = ''

  constructor(page: Page, element: HTMLElement, left: AbortSignal, redraw: () => void) {
    this.#page = page
    this.#element = element
    this.#left = left
    this.#redraw = redraw
    this.#targets = new Targets(page, left)
    left.addEventListener('abort', () => {
      clearTimeout(this.#timer)
      this.#running?.abort()
    })
  }

  /* -------------------------------------------------------------------------------- computing */

  async #score(logits: ArrayLike<number> | null): Promise<Score | null> {
    if (this.#hovered === null) return this.#targets.score(logits)
    return {
      options: { target: String(this.#hovered) },
      name: labelOf(this.#page, this.#hovered)
    }
  }

  get #isLight() {
    const { model, shape } = this.#page.engine
    return model.parameters * shape.tokens <= light
  }

  #mask(score: Score) {
    return maskOf(this.#page, score.options.target, this.#page.engine.model.patch)
  }

  #look(label: number | null) {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      if (this.#hovered === label) return
      this.#hovered = label
      this.#redraw()
    }, rest)
  }

  /** Does work that can be stopped, and says how it stands. */
  async #work(job: (signal: AbortSignal) => Promise<void>) {
    const own = (this.#running = new AbortController())
    try {
      await job(AbortSignal.any([own.signal, this.#left]))
      this.#words = ''
    } catch (error) {
      if (!own.signal.aborted && !this.#left.aborted) throw error
      this.#words = say('frames.stopped')
    } finally {
      this.#running = null
      if (!this.#left.aborted) this.#redraw()
    }
  }

  #judge(names: readonly Offered[], seen: Seen, score: Score) {
    return this.#work(async (signal) => {
      const mask = this.#mask(score)
      for (const [i, name] of names.entries()) {
        this.#words = say('classMap.judging', { at: i + 1, of: names.length })
        this.#redraw()
        await this.#maps.make([name], seen, score, signal)
        await this.#maps.judge(name, seen, score, mask, signal)
      }
    }).catch(this.#page.showError)
  }

  /* ---------------------------------------------------------------------------------- showing */

  #map(weights: Float32Array, score: Score) {
    const { engine, store, table } = this.#page,
      { rows, columns } = engine.shape,
      largest = weights.reduce((most, value) => Math.max(most, Math.abs(value)), 0),
      both = weights.some((value) => value < 0),
      label = say('classMap.scale'),
      scale = both ? signedScale(label, largest) : plainScale(label, largest),
      colours = both ? diverging : table,
      title = say('classMap.mapOf', { name: score.name, map: say(`classMap.name.${chosen}`) }),
      { strength } = store.get(),
      row = { weights, rows, columns, scale, table: colours, strength }
    return html`<figure><figcaption><b>${title}</b></figcaption><div class="raster"><canvas role="img" aria-label=${title} ${drawing((canvas) => drawRow(canvas, pictureNow(this.#page), row))}></canvas></div>${bar(scale, colours)}</figure>`
  }

  #curves(seen: Seen, score: Score) {
    const verdict = this.#maps.verdict(chosen, score)
    if (!verdict)
      return html`<p class="row"><button type="button" name="curves" ?disabled=${Boolean(this.#running)} @click=${() => this.#judge([chosen], seen, score)}>${say('classMap.drawCurves')}</button></p>`
    const { deletion, insertion } = verdict,
      said = say('classMap.areas', {
        deletion: fixed(deletion, 3),
        insertion: fixed(insertion, 3)
      })
    return html`<figure><figcaption><b>${say('classMap.curves')}</b></figcaption>${curves(verdict.curves, said)}<p class="hint">${said}</p></figure>`
  }

  #labels(logits: ArrayLike<number> | null) {
    if (!logits) return nothing
    const { store } = this.#page,
      target = this.#targets.chosen(logits)
    return html`<ul class="labels" aria-label=${say('classMap.labels')}>${topClasses(
      this.#page,
      logits
    ).map(
      ({ index, share }) =>
        html`<li><button type="button" data-class=${index} aria-pressed=${String(index) === target} @pointerenter=${() => this.#look(index)} @pointerleave=${() => this.#look(null)} @focus=${() => this.#look(index)} @blur=${() => this.#look(null)} @click=${() => {
          this.#hovered = null
          store.set({ target: String(index) })
        }}>${labelOf(this.#page, index)} ${percent(share)}</button></li>`
    )}</ul>`
  }

  #table(score: Score) {
    const verdicts = offered.flatMap((name) => {
      const verdict = this.#maps.verdict(name, score)
      return verdict ? [{ name, ...verdict }] : []
    })
    if (verdicts.length < 2) return nothing
    const known = verdicts.every(({ inside }) => inside !== undefined),
      best = {
        deletion: Math.min(...verdicts.map(({ deletion }) => deletion)),
        insertion: Math.max(...verdicts.map(({ insertion }) => insertion)),
        inside: Math.max(...verdicts.map(({ inside }) => inside ?? 0))
      },
      cell = (metric: keyof typeof best, value = 0) =>
        html`<td>${value === best[metric] ? html`<strong>${fixed(value, 3)}</strong>` : fixed(value, 3)}</td>`,
      caption = say('classMap.verdicts', { name: score.name })
    return html`<div class="scroll" tabindex="0" role="region" aria-label=${caption}><table class="verdicts"><caption>${caption}</caption><thead><tr><th scope="col">${say('classMap.map')}</th><th scope="col">${say('classMap.deletion')}</th><th scope="col">${say('classMap.insertion')}</th>${known ? html`<th scope="col">${say('classMap.inside')}</th>` : nothing}</tr></thead><tbody>${verdicts.map(
      ({ name, deletion, insertion, inside }) =>
        html`<tr><th scope="row"><button type="button" data-map=${name} aria-pressed=${name === chosen} @click=${() => this.#choose(name)}>${say(`classMap.name.${name}`)}</button></th>${cell('deletion', deletion)}${cell('insertion', insertion)}${known ? cell('inside', inside) : nothing}</tr>`
    )}</tbody></table></div><p class="hint">${say('classMap.verdictsSay')}${known ? ` ${say('classMap.insideSays', { name: score.name })}` : ''}</p>`
  }

  #choose(name: Offered) {
    chosen = name
    this.#redraw()
  }

  #figures(seen: Seen, score: Score) {
    const weights = this.#maps.kept(chosen, score)
    if (!weights) return nothing
    return html`<div class="causes">${this.#map(weights, score)}${this.#curves(seen, score)}</div>
      <p class="row"><button type="button" name="compare" ?disabled=${Boolean(this.#running)} @click=${() => this.#judge(offered, seen, score)}>${say('classMap.compare')}</button> <button type="button" name="stop" ?hidden=${!this.#running} @click=${() => this.#running?.abort()}>${say('frames.stop')}</button></p>
      ${this.#table(score)}`
  }

  #show(said: string, seen?: Seen, score?: Score) {
    const { result } = this.#page.engine,
      changed =
        result.changes && isChanged(result.changes) ? ` ${say('explainer.withoutChanges')}` : ''
    render(
      html`<div class="row">${this.#targets.show(result.logits, this.#redraw)} <label>${say('classMap.map')} <select name="map" @change=${({ target }: Of<HTMLSelectElement>) => this.#choose(target.value as Offered)}>${offered.map((name) => html`<option value=${name} .selected=${live(name === chosen)}>${say(`classMap.name.${name}`)}</option>`)}</select></label></div>
      ${this.#labels(result.logits)}${seen && score ? this.#figures(seen, score) : nothing}<p class="hint" role="status">${said}</p><p class="hint">${say(`classMap.about.${chosen}`)} ${say('classMap.about')}${changed}</p>`,
      this.#element
    )
  }

  async draw(latest: () => boolean) {
    try {
      const { logits } = this.#page.engine.result
      if (!this.#element.hasChildNodes()) this.#show(say('explainer.running'))
      const seen = await explainerOf(this.#page).own(),
        score = await this.#score(logits)
      if (!latest()) return
      if (!score) return this.#show(say('targets.needsText'))
      this.#maps.of(String(this.#page.store.get().ran))
      await this.#maps.make([chosen], seen, score, this.#left, this.#isLight)
      if (!latest()) return
      this.#show(this.#words, seen, score)
      if (this.#isLight && !this.#running && !this.#maps.verdict(chosen, score))
        await this.#judge([chosen], seen, score)
    } catch (error) {
      if (latest()) this.#show(wordsOf(error as Error))
    }
  }
}

export const view: MakeView = (page, element, { left, redraw }) =>
  new ClassMap(page, element, left, redraw)
